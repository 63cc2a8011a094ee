/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records as text: a header line, then a table with columns two blanks apart. */
#include "console/batch/batch_record.h"

#include "console/io/rows_out.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "views/canvas/text.h"
#include "views/data/lists/session_list.h"

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

static bool batch_text_any(const struct rows_out *t, const struct field *f)
{
	struct value v;

	for (uint32_t i = 0; i < t->n; i++) {
		field_get(&v, f, &t->rows, t->row[i]);
		if (value_known(&v, f))
			return true;
	}
	return false;
}

/* Without a column of notes where nobody has noted anything. */
static void batch_text_print_table(FILE *out, const struct batch_record *r)
{
	const struct field *field[BATCH_FIELDS];
	struct rows_out table = { .rows = { r->o->kind, r->s, r->v },
				  .row = r->rows->row,
				  .n = r->rows->n,
				  .field = field };

	for (size_t i = 0; i < r->o->nfield; i++) {
		const struct field *f = r->o->field[i];

		if (r->o->noted || strcmp(f->name, "note") != 0 || batch_text_any(&table, f))
			field[table.nfield++] = f;
	}
	rows_out_text(out, &table);
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
	} else if (r->o->kind == BATCH_ACTIVITY) {
		batch_activity_text(out, r->a);
	} else if (r->o->kind != BATCH_OVERVIEW) {
		batch_text_print_table(out, r);
	} else {
		j = batch_json(r);
		batch_text_print_figures(out, json_object_get(j, "overview"), "");
		json_decref(j);
	}
	fputc('\n', out);
}
