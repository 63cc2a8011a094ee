/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_filter: what an operator types to see fewer rows.  Words separated by blanks, all of which
 * must hold: "util>80", "wait>=1", "efi=0", or any other text, which must occur in the row.
 */
#ifndef VIEWS_ROW_FILTER_H
#define VIEWS_ROW_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#define FILTER_TERMS 8

enum filter_op { FILTER_TEXT, FILTER_LT, FILTER_LE, FILTER_EQ, FILTER_GE, FILTER_GT };

struct row_filter_term {
	enum filter_op op;
	int field; /* index in the caller's names */
	double value;
	char text[64];
};

struct row_filter {
	int n;
	struct row_filter_term term[FILTER_TERMS];
};

/* fields: names of figures, ending with NULL.  What is no expression over them is text. */
void row_filter_parse(struct row_filter *f, const char *text, const char *const *fields);
/* value: of each field, NAN = unknown, which fulfils no comparison. */
bool row_filter_match(const struct row_filter *f, const char *row, const double *value);

#endif
