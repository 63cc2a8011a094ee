/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records as text: a header line, then a table with columns two blanks apart. */
#include "console/batch/batch_record.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/message/plural.h"
#include "views/canvas/text.h"
#include "views/data/state/session_list.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void batch_text_print_head(FILE *out, const struct batch_record *r)
{
	const struct state *s = r->s;
	char when[FIGURE_LEN];

	if (!s->fabric) {
		fprintf(out, "%s: %u record%s\n", s->source, s->sessions->nrow,
			plural(s->sessions->nrow));
		return;
	}
	fprintf(out, "%s %s (%s): %u switch%s, %u host%s",
		figure_utc(when, s->history_at.on ? s->history_at.time_s : s->now_s),
		s->fabric->name, s->source, s->fabric->nsw, plural_es(s->fabric->nsw),
		s->fabric->nterm, plural(s->fabric->nterm));
	if (s->rates)
		fprintf(out, ", rates over %.1f s", s->rates->interval_s);
	if (s->poll.answered < s->poll.asked)
		fprintf(out, ", %u of %u port%s not responding", s->poll.asked - s->poll.answered,
			s->poll.asked, plural(s->poll.asked));
	if (!r->complete)
		fputs(", INCOMPLETE", out);
	fputc('\n', out);
}

static const char *batch_text_shown(char *buf, const struct batch_record *r,
				    const struct rows *rows, size_t col, uint32_t row)
{
	const struct field *f = r->o->field[col];
	struct value v;
	const char *text;

	field_get(&v, f, rows, row);
	text = value_text(buf, &v, f);
	if (text == v.buf)
		text = strcpy(buf, v.buf);
	return *text ? text : "-";
}

static bool batch_text_right_aligned(const struct field *f)
{
	return f->kind == VALUE_NUMBER || f->kind == VALUE_COUNT;
}

/* Names of nodes may have control characters. */
static void batch_text_print_value(FILE *out, const struct field *f, const char *text, int width,
				   bool last)
{
	char *clean = plain_text(xstrdup(text), "");
	int pad = width - text_width(clean);

	if (pad > 0 && batch_text_right_aligned(f))
		fprintf(out, "%*s", pad, "");
	fputs(clean, out);
	free(clean);
	if (last)
		fputc('\n', out);
	else
		fprintf(out, "%*s", (pad > 0 && !batch_text_right_aligned(f) ? pad : 0) + 2, "");
}

static void batch_text_print_table(FILE *out, const struct batch_record *r)
{
	const struct rows rows = { r->o->kind, r->s, r->v };
	const struct batch_opts *o = r->o;
	int width[BATCH_FIELDS];
	char buf[VALUE_LEN];

	for (size_t c = 0; c < o->nfield; c++) {
		width[c] = text_width(o->field[c]->name);
		for (uint32_t i = 0; i < r->rows->n; i++) {
			int w = text_width(batch_text_shown(buf, r, &rows, c, r->rows->row[i]));

			width[c] = w > width[c] ? w : width[c];
		}
	}
	for (size_t c = 0; c < o->nfield; c++)
		batch_text_print_value(out, o->field[c], o->field[c]->name, width[c],
				       c + 1 == o->nfield);
	for (uint32_t i = 0; i < r->rows->n; i++)
		for (size_t c = 0; c < o->nfield; c++)
			batch_text_print_value(out, o->field[c],
					       batch_text_shown(buf, r, &rows, c, r->rows->row[i]),
					       width[c], c + 1 == o->nfield);
}

/* The values of the JSON record, one per line. */
static void batch_text_print_figures(FILE *out, const json_t *object, const char *prefix)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)object, key, v)
	{
		if (json_is_object(v)) {
			char *deeper = xasprintf("%s%s.", prefix, key);

			batch_text_print_figures(out, v, deeper);
			free(deeper);
		} else if (!json_is_array(v)) {
			fprintf(out, "  %s%s ", prefix, key);
			if (json_is_string(v))
				fputs(json_string_value(v), out);
			else if (json_is_null(v))
				fputc('-', out);
			else
				json_dumpf(v, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
			fputc('\n', out);
		}
	}
}

void batch_print_text(FILE *out, const struct batch_record *r)
{
	json_t *j;

	batch_text_print_head(out, r);
	if (r->o->kind == BATCH_HEATMAP) {
		batch_heat_text(out, r);
	} else if (r->o->kind == BATCH_HISTORY) {
		batch_history_text(out, r->a);
	} else if (r->o->kind != BATCH_OVERVIEW) {
		batch_text_print_table(out, r);
	} else {
		j = batch_json(r);
		batch_text_print_figures(out, json_object_get(j, "overview"), "");
		json_decref(j);
	}
	fputc('\n', out);
}
