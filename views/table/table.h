/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table: rows with a cursor, sorting, filter, tags, search and columns of choice, the same in
 * every view that has rows, over the fields of views/table/fields.h.
 *
 * How a view gets one: a struct table in its own part (zeroed), a static struct table_ops that
 * says what it shows, and .table in its struct view: a function that returns both.  The shell then
 * opens the lines for filter, search and commands, and hands to table_input() what the view's own
 * input() has left.  In draw(): table_draw().  For the row under the cursor: table_cursor().  In
 * done(): table_done().
 *
 * Rows have the numbers of rows_count(); their key stays with what they show when the numbers
 * change.  They are sorted again when the data change, and not while the cursor has just moved: a
 * row that runs away under the cursor helps nobody.
 */
#pragma once

#include "views/canvas/canvas.h"
#include "views/canvas/list.h"
#include "views/data/state/request.h"
#include "views/data/state/state.h"
#include "views/table/fields.h"
#include "views/table/order.h"
#include "views/table/row_filter.h"

#include <stdbool.h>
#include <stdint.h>

struct context;

/* What the functions below are given. */
struct table_in {
	void *own; /* the view's part */
	struct context *ctx;
	const struct state *s;
};

/* A column as it is usually shown. */
struct table_col {
	const char *field; /* of views/table/fields.h; NULL: a picture, drawn by draw() */
	const char *title; /* head; NULL: that of the field */
	uint16_t width;	   /* in cells; 0: a share of what is left over */
	uint16_t from_w;   /* shown in tables at least this wide ... */
	uint16_t to_w;	   /* ... and narrower than this; 0: in all */
	/* Says which row it is: the last to go where it is narrow.  The cells it needs, for a
	 * width of 0, where names() knows no better; else just not 0. */
	uint16_t keep;
};

struct table_ops {
	enum row_kind kind;
	const char *what; /* "links": for titles and empty tables */
	const char *one;  /* "link" */
	const struct table_col *col;
	uint32_t ncol;
	const char *sort; /* field at the start; NULL: in natural order */
	const char *only; /* title while only problems are shown; NULL: "with problems" */

	/* all of these may be NULL */
	/* another field to start with, as the data are */
	const char *(*sort_by)(const struct table_in *in);
	/* cells that the longest name in its kept columns needs */
	int (*names)(const struct table_in *in);
	/* cells that those columns get at most, of what is left over */
	int (*names_most)(const struct table_in *in);
	/* what only this view leaves out */
	bool (*wanted)(const struct table_in *in, uint32_t row);
	/* Changes when wanted() or draw() would say something else. */
	uint64_t (*version)(const struct table_in *in);
	/* Draws column col (index in ops->col) at (x, y) of r, w cells wide; false: as text. */
	bool (*draw)(const struct table_in *in, uint32_t row, uint32_t col, struct canvas *c,
		     struct rect r, int x, int y, int w);
	/* Does draw() leave that cell blank?  Columns in which all are leave. */
	bool (*blank)(const struct table_in *in, uint32_t row, uint32_t col);
	/* The cursor was put on a row by a key, a command or the mouse. */
	void (*moved)(const struct table_in *in, uint32_t row);
	/* Enter, or the row was clicked again. */
	void (*open)(const struct table_in *in, uint32_t row);
};

#define TABLE_COLS 24

struct table_shown {
	const struct field *field;   /* NULL: a picture */
	const struct table_col *col; /* NULL: not a usual column */
	int x, w;
};

/* What rows were made from. */
struct table_made {
	const void *set[3];  /* whose change means other rows */
	const void *data[5]; /* what is in them */
	double figure[4];
	uint64_t version;
};

struct table_place {
	uint64_t key;
	uint32_t row;
};

struct table {
	struct list list;
	struct typed_filter filter;
	char filter_text[128];
	char find[128];
	const struct field *sort;
	bool ready, sort_chosen, reverse, problems, tagged_only, held, moved, stale;
	int64_t moved_s;
	uint64_t cursor_key;
	char columns[160]; /* as asked for; "" the usual ones */
	struct row_order order;
	uint32_t *row; /* shown: rows of fields.h */
	uint32_t nrow, all;
	uint64_t *key;		      /* of all rows, by row */
	const struct fabric *keys_of; /* held by order; with keys_n */
	uint32_t keys_n;
	uint64_t *tag; /* keys, ascending */
	uint32_t ntag;
	uint64_t tagged_last; /* the row where the next range begins; 0: none */
	struct table_made made;
	struct rect at; /* where the rows were drawn last, without the head */
	struct table_shown shown[TABLE_COLS];
	uint32_t nshown;
};

void table_done(struct table *t);

/* The sign of that order: up for ascending; figures descend unless reverse. */
uint32_t table_arrow(const struct field *sort, bool reverse);
/* Sorted by that field from now on. */
void table_sort(struct table *t, const struct field *f);

/* Brings the rows up to date; table_draw() and table_input() do it by themselves. */
void table_follow(struct table *t, const struct table_ops *ops, const struct table_in *in);

/* A rule with the title, the head, and rows: r.h lines. */
void table_draw(struct table *t, const struct table_ops *ops, const struct table_in *in,
		struct canvas *c, struct rect r, const char *title);

/* A cell that draw() writes as text: what is searched for is marked, as in other cells. */
void table_text(const struct table *t, struct canvas *c, struct rect r, int x, int y, int w,
		enum role role, const char *text);

/* True when the request was one of tables. */
bool table_input(struct table *t, const struct table_ops *ops, const struct table_in *in,
		 const struct input *input);

/* The row under the cursor, FAB_NONE in an empty table. */
uint32_t table_cursor(const struct table *t);
/* Puts the cursor on a row; false when it is not shown. */
bool table_select(struct table *t, uint64_t key);
/* The same, and ends what hides it: filter, tagged or problems only; false: the view leaves it out,
 * or there is none. */
bool table_reveal(struct table *t, const struct table_ops *ops, const struct table_in *in,
		  uint64_t key);
/* Is it shown while only rows with a problem are? */
bool table_problem(const struct rows *r, uint32_t row);
/* The key of a row: GUID and port, job id, ... */
uint64_t table_key(const struct rows *r, uint32_t row);
bool table_is_tagged(const struct table *t, uint64_t key);

/* As typed so far: a text that is not finished keeps the filter that was there, and
 * t->filter.why says what is missing. */
void table_filter(struct table *t, const char *text, const struct table_ops *ops);
/* Searches as it is typed: the cursor stays or goes to the next row that has the text. */
void table_find(struct table *t, const char *text, const struct table_ops *ops,
		const struct table_in *in);

/* "util,wait,link"; "": the usual ones.  false: the rows have no such. */
bool table_columns(struct table *t, const char *columns, const struct table_ops *ops);
/* Columns in B/s, whose unit is not in their heads but the operator's choice. */
bool table_shows_rates(const struct table *t);
/* Is there a search, or are not all rows shown?  Esc ends that first. */
bool table_narrowed(const struct table *t);
/* "12 of 72 links  filter: util>80  tagged: 3" */
void table_context(const struct table *t, const struct table_ops *ops, char *buf, size_t len);
