/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list: cursor and scroll position over rows, for every view that has rows. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/state/request.h"

#include <stdbool.h>
#include <stdint.h>

struct list {
	uint32_t cursor, top;
	uint32_t page; /* visible rows, from the last list_fit() */
};

/* Moves by a request; false: it is not a movement. */
bool list_move(struct list *l, enum req req, uint32_t nrow);
/* By three rows where the mouse's wheel was turned, else false. */
bool list_wheel(struct list *l, enum req req, uint32_t nrow);
/* Keeps cursor within nrow rows and on a page of that height.  Call before drawing. */
void list_fit(struct list *l, uint32_t nrow, int height);
/* "rows 1-17 of 48", at the right end of line y; nothing when all rows are in sight. */
void list_draw_range(const struct list *l, uint32_t nrow, struct canvas *c, struct rect r, int y);
/* Marks line y, already drawn, as the one under the cursor. */
void list_draw_cursor(struct canvas *c, struct rect r, int y);

/* Lines for details below the rows: want, or what is left of the height after title, headers and
 * three rows; 0 if that is less than two. */
int list_detail_lines(int height, int want);

/* A line of text being typed. */
struct entry {
	bool active;
	char text[PATH_TEXT];
};

enum entry_result { ENTRY_NONE, ENTRY_CHANGED, ENTRY_DONE, ENTRY_LEFT };

void entry_open(struct entry *e, const char *text);
enum entry_result entry_input(struct entry *e, const struct input *in);
/* "label: text_"; returns the column after it. */
int entry_draw(const struct entry *e, struct canvas *c, struct rect r, int x, int y,
	       const char *label);

/* An entry that filters rows until it is changed or cancelled with REQ_BACK. */
bool filter_type(struct entry *e, const struct input *in); /* false: nothing is being typed */
bool filter_ask(struct entry *e, enum req req); /* opens or empties it; false: something else */
