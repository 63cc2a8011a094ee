/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What history.c, history_thin.c and history_find.c share. */
#pragma once

#include "console/collector/history/history.h"
#include "console/collector/history/history_pack.h"

#include <sqlite3.h>

#define HISTORY_TIERS 3
/* The first sample in each of these is whole, the others are what it has to be added to: it is what
 * is left of them in the end, and goes with the last of them. */
#define HISTORY_GROUP_MS 300000ll

static inline int64_t history_group(int64_t time_ms)
{
	return time_ms / HISTORY_GROUP_MS * HISTORY_GROUP_MS;
}

enum history_query {
	HQ_ADD,
	HQ_EVENT,
	HQ_LAST,
	HQ_BASE,
	HQ_LINES,
	HQ_EVENTS,
	HQ_LINE_FROM,
	HQ_EVENT_FROM,
	HQ_LINE_BEFORE,
	HQ_EVENT_BEFORE,
	HQ_BEFORE,
	HQ_AFTER,
	HQ_OLDEST,
	HQ_THIN,
	HQ_OLD,
	HQ_OLD_STATE,
	HQ_OLD_EVENTS,
	HQ_FIFTIETH,
	HQ_BASELINE,
	HQ_UPDATE,
	HQ_RECORD,
	HQ_BASELINES,
	HQ_UPDATES,
	HQ_RECORDS,
	HQ_OLD_BASELINES,
	HQ_OLD_UPDATES,
	HQ_OLD_RECORDS,
	HQ_COUNT
};

struct history {
	sqlite3 *db;
	char *path;
	struct history_keep keep;
	bool writes;
	sqlite3_stmt *q[HQ_COUNT];
	struct digest last[FRAME_KINDS]; /* added last, where known */
	bool known[FRAME_KINDS];
	bool has_bases;		  /* and tables of acts: not of format 1 */
	const struct frame *base; /* the last whole sample that was written, or read as one */
	int64_t base_id;
	const struct frame *before;	   /* the last sample, as it came */
	struct history_unpacker *unpacker; /* NULL: nothing was read */
	int64_t thin_until[HISTORY_TIERS]; /* samples before are as far apart as they are to be */
};

/* Reset, and without parameters; NULL: it cannot be prepared. */
sqlite3_stmt *history_query(struct history *h, enum history_query q);
/* The time that a query of samples gives: HQ_OLDEST, HQ_FIFTIETH, the first behind the oldest
 * fiftieth; 0: there is none. */
int64_t history_sample_time(struct history *h, enum history_query which);
/* Keeps a reference; NULL: none. */
void history_set_base(struct history *h, const struct frame *f, int64_t id);
/* What SQLite says as -errno, with a sentence that names the file. */
int history_error(struct history *h, const char *doing, struct err *err);
