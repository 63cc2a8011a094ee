/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a history does not keep for ever. */
#include "console/collector/history/history_priv.h"

#include <errno.h>
#include <stdio.h>

#define MINUTE_MS 60000ll
#define HOUR_MS	  (60 * MINUTE_MS)
#define DAY_MS	  (24 * HOUR_MS)
#define WINDOW_MS (2 * HOUR_MS) /* at a time: readers and the next sample wait meanwhile */
#define PAGES	  2000		/* given back at a time */

/* Counters only add up: of fewer samples the rates are means over more time, and still right. */
static const struct {
	int64_t age_ms, step_ms;
} history_tiers[HISTORY_TIERS] = {
	{ HOUR_MS, 10000 },
	{ DAY_MS, MINUTE_MS },
	{ 7 * DAY_MS, 5 * MINUTE_MS },
};

static int history_step(struct history *h, sqlite3_stmt *q, struct err *err)
{
	int code = sqlite3_step(q);

	sqlite3_reset(q);
	return code == SQLITE_DONE ? 0 : history_error(h, "written", err);
}

static int history_thin_tier(struct history *h, int tier, int64_t now_ms, bool *more,
			     struct err *err)
{
	int64_t step = history_tiers[tier].step_ms, from = h->thin_until[tier];
	int64_t until = (now_ms - history_tiers[tier].age_ms) / step * step;
	sqlite3_stmt *q;
	int rc;

	if (!from)
		from = history_oldest_ms(h) / step * step;
	if (!from || until <= from)
		return 0;
	if (until - from > WINDOW_MS) {
		until = from + WINDOW_MS;
		*more = true;
	}
	q = history_query(h, HQ_THIN);
	if (!q)
		return history_error(h, "written", err);
	sqlite3_bind_int(q, 1, FRAME_SAMPLE);
	sqlite3_bind_int64(q, 2, from);
	sqlite3_bind_int64(q, 3, until);
	sqlite3_bind_int64(q, 4, step);
	sqlite3_bind_int64(q, 5, HISTORY_GROUP_MS);
	rc = history_step(h, q, err);
	if (!rc)
		h->thin_until[tier] = until;
	return rc;
}

static int history_forget_kind(struct history *h, enum frame_kind kind, int64_t at_ms,
			       struct err *err)
{
	sqlite3_stmt *q = history_query(h, kind == FRAME_SAMPLE ? HQ_OLD : HQ_OLD_STATE);

	if (!q)
		return history_error(h, "written", err);
	if (kind == FRAME_SAMPLE && h->base && h->base->head.time_ms < at_ms)
		history_set_base(h, NULL, 0);
	sqlite3_bind_int(q, 1, (int)kind);
	sqlite3_bind_int64(q, 2, kind == FRAME_SAMPLE ? history_group(at_ms) : at_ms);
	return history_step(h, q, err);
}

static int history_forget_until(struct history *h, int64_t at_ms, struct err *err)
{
	sqlite3_stmt *q;
	int rc = 0;

	for (int k = FRAME_FABRIC; k <= FRAME_FINDINGS && !rc; k++)
		rc = history_forget_kind(h, (enum frame_kind)k, at_ms, err);
	if (rc)
		return rc;
	q = history_query(h, HQ_OLD_EVENTS);
	if (!q)
		return history_error(h, "written", err);
	sqlite3_bind_int64(q, 1, at_ms);
	return history_step(h, q, err);
}

static int history_forget_acts(struct history *h, int64_t at_ms, struct err *err)
{
	static const enum history_query of[] = { HQ_OLD_BASELINES, HQ_OLD_UPDATES, HQ_OLD_RECORDS };
	int rc = 0;

	for (size_t i = 0; i < sizeof(of) / sizeof(*of) && !rc; i++) {
		sqlite3_stmt *q = history_query(h, of[i]);

		if (!q)
			return history_error(h, "written", err);
		sqlite3_bind_int64(q, 1, at_ms);
		rc = history_step(h, q, err);
	}
	return rc;
}

static int64_t history_newest_ms(struct history *h)
{
	int64_t t = 0;

	return history_sample_at(&t, h, INT64_MAX, 0, NULL) ? 0 : t;
}

static int64_t history_pragma(struct history *h, const char *name)
{
	sqlite3_stmt *q = NULL;
	char sql[64];
	int64_t v = 0;

	snprintf(sql, sizeof(sql), "PRAGMA %s", name);
	if (sqlite3_prepare_v2(h->db, sql, -1, &q, NULL) == SQLITE_OK &&
	    sqlite3_step(q) == SQLITE_ROW)
		v = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return v;
}

uint64_t history_bytes(struct history *h)
{
	return (uint64_t)(history_pragma(h, "page_count") * history_pragma(h, "page_size"));
}

static int history_fit(struct history *h, bool *more, struct err *err)
{
	int64_t until;

	if (history_bytes(h) <= h->keep.bytes)
		return 0;
	if (history_pragma(h, "freelist_count") < PAGES / 4) {
		until = history_sample_time(h, HQ_FIFTIETH);
		until = until ? history_group(until + HISTORY_GROUP_MS - 1) : 0;
		/* what is left is larger by itself */
		if (!until || until > history_newest_ms(h))
			return 0;
		if (history_forget_until(h, until, err))
			return -EIO;
	}
	*more = true;
	return 0;
}

int history_thin(struct history *h, int64_t now_ms, bool *more, struct err *err)
{
	char vacuum[48];
	int rc = 0;

	*more = false;
	for (int i = 0; i < HISTORY_TIERS && !rc; i++)
		rc = history_thin_tier(h, i, now_ms, more, err);
	if (!rc)
		rc = history_forget_until(h, now_ms - h->keep.age_ms, err);
	/* whoever puts them there tells of a damage */
	if (!rc && history_forget_acts(h, now_ms - h->keep.age_ms, err) == -ENOSPC)
		rc = -ENOSPC;
	if (!rc)
		rc = history_fit(h, more, err);
	snprintf(vacuum, sizeof(vacuum), "PRAGMA incremental_vacuum(%d)", PAGES);
	if (!rc && sqlite3_exec(h->db, vacuum, NULL, NULL, NULL) != SQLITE_OK)
		rc = history_error(h, "written", err);
	return rc;
}
