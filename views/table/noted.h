/* SPDX-License-Identifier: GPL-2.0-or-later */
/* noted: notes on rows of tables. */
#pragma once

#include "views/data/row_notes.h"
#include "views/table/table.h"

/* NULL: none.  An event has that of its moment. */
const struct row_note *noted_row(const struct rows *r, uint32_t row);
/* What a note on it is of; false: rows of this kind have none. */
bool noted_subject(struct note_subject *out, const struct rows *r, uint32_t row);

/* What a note would be on, and its name: the row under the cursor of t (NULL: no table, as ops),
 * the switch or cable that a view without a table is at, else the moment that is shown.  There is a
 * fabric. */
void noted_here_subject(struct note_subject *on, char *what, size_t len, const struct table *t,
			const struct table_ops *ops, const struct table_in *in);
/* The note on that, else one of the moment of the past that is shown; NULL: none. */
const struct row_note *noted_here(const struct table *t, const struct table_ops *ops,
				  const struct table_in *in);

/* Where what a note is on is now. */
struct noted_place {
	uint32_t sw, job; /* the switch, or an index in the jobs; FAB_NONE: not that */
	uint8_t port;	  /* of the switch; 0: none */
};

/* false: it is not there now, or it is a moment. */
bool noted_find(struct noted_place *out, const struct note_subject *on, const struct fabric *f,
		const struct jobset *jobs);
