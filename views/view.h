/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view: one screen.  A function from read-only state to cells on a canvas, and one from a
 * translated key to what is wanted; it never reaches a terminal, a wire or a file.
 */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/context.h"
#include "views/data/state/request.h"
#include "views/data/state/state.h"

#include <stdbool.h>
#include <stddef.h>

struct table;
struct table_ops;

/* What a picture shows, by names that :layout and :metric take; "" as it is. */
struct view_choice {
	char layout[96];
	char metric[48];
};

struct view {
	size_t size;		 /* of its own part of the shell, zeroed at the start */
	void (*done)(void *own); /* may be NULL */

	/* r: what lies between the tabs and the footer. */
	void (*draw)(void *own, struct context *ctx, struct canvas *c, struct rect r,
		     const struct state *s);
	/* Fills out for what is the application's; true when the input meant something here. */
	bool (*input)(void *own, struct context *ctx, const struct input *in, const struct state *s,
		      struct request *out);
	/* True while keys are text (filter, confirmation).  May be NULL. */
	bool (*typing)(const void *own, const struct state *s);
	/* A short word on what is shown (metric, sort, filter), for the last line.  May be NULL. */
	void (*context)(const void *own, const struct state *s, char *buf, size_t len);
	/* What a key does here now, for the line of keys; NULL: nothing, it is not named.  May be
	 * NULL: always as the keymap has it. */
	const char *(*label)(const void *own, const struct binding *b);
	/* What Esc leaves here before it leads to another view ("switches"); "": that is named
	 * elsewhere; NULL: nothing.  May be NULL. */
	const char *(*inside)(const void *own);
	/* What :layout may be given, the i-th; NULL: no more.  May be NULL. */
	const char *(*layout)(const void *own, const struct state *s, uint32_t i);
	/* What is chosen; false: nothing yet.  Both may be NULL. */
	bool (*chosen)(const void *own, const struct context *ctx, const struct state *s,
		       struct view_choice *out);
	/* To be so from its next frame on. */
	void (*choose)(void *own, const struct view_choice *choice);
	/* Its table, see views/table/table.h; NULL: it has none now.  The shell does filter,
	 * search, sorting, tags, columns and the mouse for it, and its context.  May be NULL. */
	struct table *(*table)(void *own, const struct table_ops **ops);
};

extern const struct view view_overview, view_heatmap, view_links, view_jobs, view_preview,
	view_apply, view_events, view_help, view_topology, view_switches, view_paths, view_sessions,
	view_weak, view_campaign;
