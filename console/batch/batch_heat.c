/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A heatmap as numbers: the highest value of each cell of a matrix. */
#include "console/batch/batch_record.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"
#include "views/canvas/text.h"
#include "views/data/row_notes.h"
#include "views/data/state/racks.h"
#include "views/heatmap/heat_cells.h"
#include "views/heatmap/heat_window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct heat {
	struct racks *racks;
	struct heat_layout *layout;
	const struct heat_plane *plane;
	double *cell;	 /* nrow * ncol; NAN: unknown */
	uint32_t *count; /* channels of the cell */
};

static void batch_heat_fill_row(struct heat *h, const struct batch_record *r, uint32_t row)
{
	const struct rows links = { ROWS_LINKS, r->s, r->v };
	const struct heat_plane *p = h->plane;

	for (uint32_t i = p->row_off[row]; i < p->row_off[row + 1]; i++) {
		size_t at = (size_t)row * p->ncol + p->col[i];
		uint32_t chan = p->chan[i];
		struct value v;

		if (r->o->down)
			chan = r->s->fabric->chan_rev[chan];
		field_get(&v, r->o->metric, &links, chan);
		h->count[at]++;
		if (value_known(&v, r->o->metric))
			h->cell[at] = isnan(h->cell[at]) ? v.num : fmax(h->cell[at], v.num);
	}
}

static void batch_heat_close(struct heat *h)
{
	free(h->cell);
	free(h->count);
	heat_layout_free(h->layout);
	racks_free(h->racks);
}

static int batch_heat_refuse(const struct heat_layout *l, const char *wanted, struct err *err)
{
	char names[300] = "";

	for (uint32_t i = 0; i < l->nplane; i++) {
		size_t n = strlen(names);

		snprintf(names + n, sizeof(names) - n, "%s'%s'", i ? ", " : "", l->plane[i].title);
	}
	return err_set(err, -ENOENT, "--layout '%s': this fabric has %s", wanted,
		       names[0] ? names : "no heatmap layout");
}

static int batch_heat_open(struct heat *h, const struct batch_record *r, struct err *err)
{
	const struct fabric *f = r->s->fabric;
	uint32_t plane = 0;
	size_t n;
	int rc;

	*h = (struct heat){ .racks = racks_new(f, r->s->racks_file, r->s->racks_path) };
	h->layout = heat_layout_new(f, r->v->topology, h->racks);
	if (r->o->layout)
		plane = heat_plane_named(h->layout, r->o->layout);
	if (plane >= h->layout->nplane) {
		rc = batch_heat_refuse(h->layout, r->o->layout, err);
		batch_heat_close(h);
		return rc;
	}
	h->plane = &h->layout->plane[plane];
	n = (size_t)h->plane->nrow * h->plane->ncol;
	h->cell = xcalloc(n, sizeof(*h->cell));
	h->count = xcalloc(n, sizeof(*h->count));
	for (size_t i = 0; i < n; i++)
		h->cell[i] = NAN;
	for (uint32_t row = 0; row < h->plane->nrow; row++)
		batch_heat_fill_row(h, r, row);
	return 0;
}

int batch_heat_check(const struct batch_record *r, struct err *err)
{
	struct heat h;
	int rc = batch_heat_open(&h, r, err);

	if (!rc)
		batch_heat_close(&h);
	return rc;
}

static json_t *batch_heat_labels(const struct heat *h, const struct batch_record *r, bool rows)
{
	json_t *list = json_array();
	char name[NAME_LEN];
	uint32_t n = rows ? h->plane->nrow : h->plane->ncol;

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, json_text((rows ? heat_row_label : heat_col_label)(
						    name, h->plane, r->s->fabric, i)));
	return list;
}

static json_t *batch_heat_figure(const struct batch_record *r, double v)
{
	double scale = pow(10, r->o->metric->decimals);

	if (isnan(v))
		return json_null();
	return r->o->metric->kind == VALUE_NUMBER ? json_real(round(v * scale) / scale)
						  : json_integer((json_int_t)v);
}

/* Calls put() for each cable of the matrix that has a note. */
static void batch_heat_notes(const struct heat *h, const struct batch_record *r,
			     void (*put)(void *to, const struct heat *h, const struct fabric *f,
					 uint32_t row, uint32_t i, const char *note),
			     void *to)
{
	const struct fabric *f = r->s->fabric;
	const struct heat_plane *p = h->plane;

	for (uint32_t row = 0; r->s->row_notes && row < p->nrow; row++)
		for (uint32_t i = p->row_off[row]; i < p->row_off[row + 1]; i++) {
			const struct row_note *note =
				row_notes_chan(r->s->row_notes, f, p->chan[i]);

			if (note)
				put(to, h, f, row, i, note->text);
		}
}

static void batch_heat_note_json(void *to, const struct heat *h, const struct fabric *f,
				 uint32_t row, uint32_t i, const char *note)
{
	char link[VALUE_LEN];

	json_array_append_new(
		to,
		json_pack("{s:i, s:i, s:o, s:o}", "row", (int)row, "column", (int)h->plane->col[i],
			  "link", json_text(chan_label(link, sizeof(link), f, h->plane->chan[i])),
			  "note", json_text(note)));
}

static void batch_heat_note_text(void *to, const struct heat *h, const struct fabric *f,
				 uint32_t row, uint32_t i, const char *note)
{
	char link[VALUE_LEN];

	(void)row;
	fprintf(to, "\" %s: %s\n", chan_label(link, sizeof(link), f, h->plane->chan[i]), note);
}

json_t *batch_heat_json(const struct batch_record *r)
{
	json_t *j, *cells, *cables, *notes;
	struct heat h;

	if (batch_heat_open(&h, r, NULL))
		return json_object();
	cells = json_array();
	cables = json_array();
	for (uint32_t y = 0; y < h.plane->nrow; y++) {
		json_t *row = json_array(), *counts = json_array();

		for (uint32_t x = 0; x < h.plane->ncol; x++) {
			size_t at = (size_t)y * h.plane->ncol + x;

			json_array_append_new(row, batch_heat_figure(r, h.cell[at]));
			json_array_append_new(counts, json_integer(h.count[at]));
		}
		json_array_append_new(cells, row);
		json_array_append_new(cables, counts);
	}
	notes = json_array();
	batch_heat_notes(&h, r, batch_heat_note_json, notes);
	j = json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "layout", h.plane->title,
		      "direction", json_text(h.plane->dir[r->o->down]), "metric",
		      r->o->metric->name, "rows", batch_heat_labels(&h, r, true), "columns",
		      batch_heat_labels(&h, r, false), "cells", cells, "cables", cables, "notes",
		      notes);
	batch_heat_close(&h);
	return j;
}

/* Columns that the labels of all rows, or of all columns, need; at least `least`. */
static int batch_heat_label_width(const struct heat *h, const struct batch_record *r, bool rows,
				  int least)
{
	uint32_t n = rows ? h->plane->nrow : h->plane->ncol;
	char name[NAME_LEN];

	for (uint32_t i = 0; i < n; i++) {
		int w = text_width(
			(rows ? heat_row_label : heat_col_label)(name, h->plane, r->s->fabric, i));

		least = w > least ? w : least;
	}
	return least;
}

static void batch_heat_print_cell(FILE *out, const struct heat *h, const struct batch_record *r,
				  size_t at, int width)
{
	char text[32] = ""; /* no cable */

	if (h->count[at] && isnan(h->cell[at]))
		strcpy(text, "-");
	else if (h->count[at])
		snprintf(text, sizeof(text), "%.*f", r->o->metric->decimals ? 1 : 0, h->cell[at]);
	fprintf(out, " %*s", width, text);
}

void batch_heat_text(FILE *out, const struct batch_record *r)
{
	struct heat h;
	char name[NAME_LEN];
	int wide, width;

	if (batch_heat_open(&h, r, NULL))
		return;
	wide = batch_heat_label_width(&h, r, true, 0);
	width = batch_heat_label_width(&h, r, false, 7);
	fprintf(out, "%s, %s, %s\n%*s", h.plane->title, h.plane->dir[r->o->down],
		r->o->metric->name, wide, "");
	for (uint32_t x = 0; x < h.plane->ncol; x++)
		fprintf(out, " %*s", width, heat_col_label(name, h.plane, r->s->fabric, x));
	fputc('\n', out);
	for (uint32_t y = 0; y < h.plane->nrow; y++) {
		fprintf(out, "%-*s", wide, heat_row_label(name, h.plane, r->s->fabric, y));
		for (uint32_t x = 0; x < h.plane->ncol; x++)
			batch_heat_print_cell(out, &h, r, (size_t)y * h.plane->ncol + x, width);
		fputc('\n', out);
	}
	batch_heat_notes(&h, r, batch_heat_note_text, out);
	batch_heat_close(&h);
}
