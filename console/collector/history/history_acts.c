/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/history/history_acts.h"

#include "console/collector/history/history_priv.h"
#include "fabric/base/memory/vec.h"

#include <stdio.h>

static int history_act_step(struct history *h, sqlite3_stmt *q, struct err *err)
{
	int code = sqlite3_step(q);

	sqlite3_reset(q);
	return code == SQLITE_DONE ? 0 : history_error(h, "written", err);
}

static void history_bind_text(sqlite3_stmt *q, int at, const char *text)
{
	sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
}

/* In the order of the columns of history_create(); the first ones of all kinds are alike. */
int history_put_act(struct history *h, const struct act *a, struct err *err)
{
	static const enum history_query put[ACT_KINDS] = { HQ_BASELINE, HQ_UPDATE, HQ_RECORD };
	sqlite3_stmt *q = history_query(h, put[a->kind]);

	if (!q)
		return history_error(h, "written", err);
	history_bind_text(q, 1, a->id);
	sqlite3_bind_int64(q, 2, a->begin_ms);
	sqlite3_bind_int64(q, 3, a->end_ms);
	history_bind_text(q, 4, a->fabric);
	history_bind_text(q, 5, a->user);
	history_bind_text(q, 6, a->state);
	if (a->kind == ACT_RECORD) {
		history_bind_text(q, 7, a->text);
		sqlite3_bind_int64(q, 8, (int64_t)a->bytes);
	}
	if (a->kind == ACT_UPDATE) {
		history_bind_text(q, 7, a->text);
		sqlite3_bind_int64(q, 8, (int64_t)a->blocks);
		history_bind_text(q, 9, a->host);
		history_bind_text(q, 10, a->plan);
		history_bind_text(q, 11, a->engine);
	}
	return history_act_step(h, q, err);
}

/* --- reading --------------------------------------------------------------------------------- */

static void history_act_text(char *to, size_t size, sqlite3_stmt *q, int at)
{
	const unsigned char *text = sqlite3_column_text(q, at);

	snprintf(to, size, "%s", text ? (const char *)text : "");
}

#define ACT_TEXT(field, at) history_act_text(a->field, sizeof(a->field), q, at)

static void history_act_of_row(struct act *a, enum act_kind kind, sqlite3_stmt *q)
{
	*a = (struct act){ .kind = kind,
			   .begin_ms = sqlite3_column_int64(q, 1),
			   .end_ms = sqlite3_column_int64(q, 2) };
	ACT_TEXT(id, 0);
	ACT_TEXT(fabric, 3);
	ACT_TEXT(user, 4);
	ACT_TEXT(state, 5);
	if (kind == ACT_BASELINE)
		return;
	ACT_TEXT(text, 6);
	*(kind == ACT_RECORD ? &a->bytes : &a->blocks) = (uint64_t)sqlite3_column_int64(q, 7);
	if (kind == ACT_RECORD)
		return;
	ACT_TEXT(host, 8);
	ACT_TEXT(plan, 9);
	ACT_TEXT(engine, 10);
}

int history_acts(struct acts **out, struct history *h, struct err *err)
{
	static const enum history_query get[ACT_KINDS] = { HQ_BASELINES, HQ_UPDATES, HQ_RECORDS };
	struct acts *l = acts_new();

	*out = NULL;
	for (int kind = 0; kind < ACT_KINDS; kind++) {
		sqlite3_stmt *q = history_query(h, get[kind]);
		int code = SQLITE_ERROR;
		struct act a;

		if (q)
			sqlite3_bind_int(q, 1, HISTORY_ACTS);
		while (q && (code = sqlite3_step(q)) == SQLITE_ROW) {
			history_act_of_row(&a, (enum act_kind)kind, q);
			vec_push(l, a);
		}
		if (q)
			sqlite3_reset(q);
		if (code != SQLITE_DONE) {
			acts_put(l);
			return history_error(h, "read", err);
		}
	}
	*out = l;
	return 0;
}
