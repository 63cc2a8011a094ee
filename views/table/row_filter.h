/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_filter: what an operator types, or a script says, to see fewer rows.
 *
 *	util>80 tier~spine                 terms side by side must all hold; so with "and", "&"
 *	(errors>0 or state!=active) not leaf3	"or" may be "|"
 *	a=leaf17                           texts in any case; = takes * for anything
 *	wait=unknown                       what nobody reported
 *	leaf17/33                          a word: must occur in the row, in any case
 *	leaf0[12]|spine*7			with * ? [..] for letters, | between several
 *	~^leaf0[12]/3			a regular expression in the same place
 *	"and so on"                        quoted: the same, whatever is in it
 *
 * Comparisons: < <= = != >= > and ~ (a regular expression, POSIX extended, in any case) between
 * a name of views/table/fields.h and a value: a number, with k M G T behind it as one likes, a
 *text, or a GUID.  Comparing with what is unknown is neither true nor false, nor is its "not": such
 *a row is left out, unless another term of an "or" takes it.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "views/table/fields.h"

#include <stdbool.h>

struct row_filter;

/* Compiles.  -EINVAL: err says what is wrong, and column (may be NULL) where, from 1.  An empty
 * text gives a filter that takes every row. */
int row_filter_new(struct row_filter **out, enum row_kind kind, const char *text, unsigned *column,
		   struct err *err);
void row_filter_free(struct row_filter *f); /* NULL is fine */
/* What the fields that it names need (enum field_need); words need the fabric alone. */
unsigned row_filter_needs(const struct row_filter *f);
/* f NULL: true.  rows are of the kind that f was made for. */
bool row_filter_match(const struct row_filter *f, const struct rows *r, uint32_t row);

/*
 * As it is being typed: compiles text when it differs from the last one.  A text that is not
 * finished leaves the filter as it was; why and column say what is wrong with it.
 */
struct typed_filter {
	struct row_filter *filter; /* NULL: every row */
	char text[128];		   /* compiled, or tried, last */
	char why[160];		   /* "" fine */
	unsigned column;	   /* of the mistake, from 1 */
};

/* True when the filter is another one now. */
bool typed_filter_set(struct typed_filter *t, enum row_kind kind, const char *text);
void typed_filter_done(struct typed_filter *t);
