/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --view activity: baselines, updates and records that a collector keeps. */
#include "console/app/app_priv.h"
#include "console/batch/batch_record.h"
#include "console/collect/acts.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/stamp.h"

#include <errno.h>

static const char *const batch_activity_kinds[ACT_KINDS] = { "baseline", "update", "record" };

static json_t *batch_activity_word(const char *text)
{
	return *text ? json_text(text) : json_null();
}

static json_t *batch_activity_time(int64_t ms)
{
	char buf[STAMP_LEN];

	return json_text(stamp_utc(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%SZ", ms / 1000));
}

static json_t *batch_activity_row(const struct act *a)
{
	json_t *j = json_object();

	json_object_set_new(j, "kind", json_string(batch_activity_kinds[a->kind]));
	json_object_set_new(j, "id", json_text(a->id));
	json_object_set_new(j, "begin", batch_activity_time(a->begin_ms));
	json_object_set_new(j, "end", batch_activity_time(a->end_ms));
	json_object_set_new(j, "fabric", batch_activity_word(a->fabric));
	json_object_set_new(j, "user", batch_activity_word(a->user));
	json_object_set_new(j, "state", batch_activity_word(a->state));
	if (a->kind == ACT_BASELINE)
		return j;
	if (a->kind == ACT_RECORD) {
		json_object_set_new(j, "session", batch_activity_word(a->text));
		json_object_set_new(j, "bytes", json_integer((json_int_t)a->bytes));
		return j;
	}
	json_object_set_new(j, "host", batch_activity_word(a->host));
	json_object_set_new(j, "plan", batch_activity_word(a->plan));
	json_object_set_new(j, "engine", batch_activity_word(a->engine));
	json_object_set_new(j, "blocks", json_integer((json_int_t)a->blocks));
	json_object_set_new(j, "text", batch_activity_word(a->text));
	return j;
}

json_t *batch_activity_json(const struct app *a)
{
	json_t *list = json_array();

	for (size_t i = 0; a->acts && i < a->acts->n; i++)
		json_array_append_new(list, batch_activity_row(&a->acts->v[i]));
	return list;
}

void batch_activity_text(FILE *out, const struct app *a)
{
	fputs("begin                 kind      state         user          what\n", out);
	for (size_t i = 0; a->acts && i < a->acts->n; i++) {
		const struct act *x = &a->acts->v[i];
		char begin[STAMP_LEN];

		fprintf(out, "%s  %-8s  %-12s  %-12s  %s",
			stamp_utc(begin, sizeof(begin), "%Y-%m-%dT%H:%M:%SZ", x->begin_ms / 1000),
			batch_activity_kinds[x->kind], x->state, x->user, x->id);
		if (x->kind == ACT_UPDATE)
			fprintf(out, "  %s, %llu blocks%s%s", x->engine,
				(unsigned long long)x->blocks, x->text[0] ? ": " : "", x->text);
		fputc('\n', out);
	}
}

int batch_activity_check(const struct app *a, struct err *err)
{
	if (a->acts)
		return 0;
	return err_set(
		err, -ENOENT,
		a->state.collector.on
			? "--view activity: this collector keeps no history"
			: "--view activity is what a collector keeps, and none is read from");
}
