/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame: the status line, the tabs, and the two lines at the bottom of every view. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/state/request.h"
#include "views/data/state/state.h"

struct frame_text {
	const char *back;  /* where Esc leads; NULL: it is not told */
	const char *note;  /* one line for the operator; "" none */
	char context[400]; /* metric, sort, filter of the view */
	bool hints;	   /* keys that it names are keys: it has no words from outside */
	bool typing;
	uint64_t job; /* whose links are marked; 0: none */
};

/* The keymap, and the labels of keys as in struct view. */
struct frame_keys {
	const struct binding *binding;
	size_t n;
	const char *(*label)(const void *own, const struct binding *b); /* may be NULL */
	const void *own;
};

/* The keys of that request (view: of REQ_VIEW), as help shows them; "" none. */
const char *frame_key_of(const struct frame_keys *keys, enum req req, enum view_id view);

void frame_draw(struct canvas *c, const struct state *s, enum view_id view,
		const struct frame_text *t, const struct frame_keys *keys);

/* The view whose tab is at column x of a screen of width w; VIEW_COUNT: none. */
enum view_id frame_tab_at(int w, enum view_id view, int x);

/* The key that ends or clears a text whose hint is at column x; 0: none. */
uint32_t frame_typing_key_at(int x);
/* The binding whose hint is at column x of the line of keys; NULL: none. */
const struct binding *frame_hint_at(int w, const struct state *s, enum view_id view,
				    const struct frame_keys *keys, int x);
