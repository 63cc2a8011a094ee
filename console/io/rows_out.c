/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/io/rows_out.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/text/json_text.h"
#include "views/canvas/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- as text --------------------------------------------------------------------------------- */

static const char *rows_out_shown(char *buf, const struct rows_out *r, size_t col, uint32_t row)
{
	const struct field *f = r->field[col];
	struct value v;
	const char *text;

	field_get(&v, f, &r->rows, row);
	text = value_text(buf, &v, f);
	if (text == v.buf)
		text = strcpy(buf, v.buf);
	return *text ? text : "-";
}

static bool rows_out_right_aligned(const struct field *f)
{
	return f->kind == VALUE_NUMBER || f->kind == VALUE_COUNT;
}

/* Names of nodes may have control characters. */
static void rows_out_value(FILE *out, const struct field *f, const char *text, int width, bool last)
{
	char *clean = plain_text(xstrdup(text), "");
	int pad = width - text_width(clean);

	if (pad > 0 && rows_out_right_aligned(f))
		fprintf(out, "%*s", pad, "");
	fputs(clean, out);
	free(clean);
	if (last)
		fputc('\n', out);
	else
		fprintf(out, "%*s", (pad > 0 && !rows_out_right_aligned(f) ? pad : 0) + 2, "");
}

static int rows_out_width(const struct rows_out *r, size_t col)
{
	int width = text_width(r->field[col]->name);
	char buf[VALUE_LEN];

	for (uint32_t i = 0; i < r->n; i++) {
		int w = text_width(rows_out_shown(buf, r, col, r->row[i]));

		width = w > width ? w : width;
	}
	return width;
}

void rows_out_text(FILE *out, const struct rows_out *r)
{
	int *width = xcalloc(r->nfield + 1, sizeof(*width));
	char buf[VALUE_LEN];

	for (size_t c = 0; c < r->nfield; c++)
		width[c] = rows_out_width(r, c);
	for (size_t c = 0; c < r->nfield; c++)
		rows_out_value(out, r->field[c], r->field[c]->name, width[c], c + 1 == r->nfield);
	for (uint32_t i = 0; i < r->n; i++)
		for (size_t c = 0; c < r->nfield; c++)
			rows_out_value(out, r->field[c], rows_out_shown(buf, r, c, r->row[i]),
				       width[c], c + 1 == r->nfield);
	free(width);
}

/* --- as JSON --------------------------------------------------------------------------------- */

static json_t *rows_out_number(double v, int decimals)
{
	double scale = pow(10, decimals);

	return isfinite(v) ? json_real(round(v * scale) / scale) : json_null();
}

static json_t *rows_out_json_value(const struct value *v, const struct field *f)
{
	switch (f->kind) {
	case VALUE_NUMBER:
		return rows_out_number(v->num, f->decimals);
	case VALUE_COUNT:
		return isfinite(v->num) ? json_integer((json_int_t)v->num) : json_null();
	case VALUE_FLAG:
		return isfinite(v->num) ? json_boolean(v->num > 0.5) : json_null();
	case VALUE_TEXT:
		return v->text ? json_text(v->text) : json_null();
	case VALUE_GUID:
		return v->guid ? json_sprintf("0x%016lx", (unsigned long)v->guid) : json_null();
	}
	return json_null();
}

json_t *rows_out_json_row(const struct rows_out *r, uint32_t row)
{
	json_t *j = json_object();

	for (size_t i = 0; i < r->nfield; i++) {
		struct value v;

		field_get(&v, r->field[i], &r->rows, row);
		json_object_set_new(j, r->field[i]->name, rows_out_json_value(&v, r->field[i]));
	}
	return j;
}

json_t *rows_out_json(const struct rows_out *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->n; i++)
		json_array_append_new(list, rows_out_json_row(r, r->row[i]));
	return list;
}

/* --- as CSV ---------------------------------------------------------------------------------- */

/* A node may call itself what a spreadsheet takes for a formula: such a cell begins with a '. */
void rows_out_csv_text(FILE *out, const char *text)
{
	fputc('"', out);
	if (*text && strchr("=+-@\t\r", *text))
		fputc('\'', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void rows_out_csv_cell(FILE *out, const struct rows_out *r, size_t col, uint32_t row)
{
	struct value v;
	json_t *j;

	field_get(&v, r->field[col], &r->rows, row);
	j = rows_out_json_value(&v, r->field[col]);
	if (json_is_string(j))
		rows_out_csv_text(out, json_string_value(j));
	else if (!json_is_null(j))
		json_dumpf(j, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
	json_decref(j);
}

void rows_out_csv(FILE *out, const struct rows_out *r)
{
	for (size_t c = 0; c < r->nfield; c++)
		fprintf(out, "%s%s", c ? "," : "", r->field[c]->name);
	fputs("\r\n", out);
	for (uint32_t i = 0; i < r->n; i++) {
		for (size_t c = 0; c < r->nfield; c++) {
			if (c)
				fputc(',', out);
			rows_out_csv_cell(out, r, c, r->row[i]);
		}
		fputs("\r\n", out);
	}
}
