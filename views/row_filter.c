/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/row_filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of the operator at p, 0 when there is none. */
static size_t parse_op(enum filter_op *op, const char *p)
{
	bool eq = p[0] && p[1] == '=';

	switch (p[0]) {
	case '<':
		*op = eq ? FILTER_LE : FILTER_LT;
		return eq ? 2 : 1;
	case '>':
		*op = eq ? FILTER_GE : FILTER_GT;
		return eq ? 2 : 1;
	case '=':
		*op = FILTER_EQ;
		return eq ? 2 : 1;
	}
	return 0;
}

static bool parse_expression(struct row_filter_term *t, const char *word, const char *const *fields)
{
	size_t name = strcspn(word, "<>="), op;
	char *end;

	for (t->field = 0; fields[t->field]; t->field++)
		if (strlen(fields[t->field]) == name && !strncasecmp(fields[t->field], word, name))
			break;
	op = parse_op(&t->op, word + name);
	if (!fields[t->field] || !op)
		return false;
	t->value = strtod(word + name + op, &end);
	return end != word + name + op && (!*end || !strcmp(end, "%"));
}

void row_filter_parse(struct row_filter *f, const char *text, const char *const *fields)
{
	memset(f, 0, sizeof(*f));
	while (f->n < FILTER_TERMS) {
		struct row_filter_term *t = &f->term[f->n];
		size_t n;

		text += strspn(text, " ");
		n = strcspn(text, " ");
		if (!n)
			break;
		snprintf(t->text, sizeof(t->text), "%.*s", (int)n, text);
		if (!parse_expression(t, t->text, fields))
			t->op = FILTER_TEXT;
		text += n;
		f->n++;
	}
}

static bool term_match(const struct row_filter_term *t, const char *row, const double *value)
{
	double v;

	if (t->op == FILTER_TEXT)
		return strcasestr(row, t->text) != NULL;
	v = value[t->field];
	if (!isfinite(v))
		return false;
	switch (t->op) {
	case FILTER_LT:
		return v < t->value;
	case FILTER_LE:
		return v <= t->value;
	case FILTER_EQ:
		return v >= t->value && v <= t->value;
	case FILTER_GE:
		return v >= t->value;
	default:
		return v > t->value;
	}
}

bool row_filter_match(const struct row_filter *f, const char *row, const double *value)
{
	for (int i = 0; i < f->n; i++)
		if (!term_match(&f->term[i], row, value))
			return false;
	return true;
}
