/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moments of a history. */
#include "console/collector/history/history_priv.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/time/stamp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was packed says how long it was; the file may say anything. */
static int history_take_row(struct frame **out, struct history *h, enum frame_kind kind,
			    sqlite3_stmt *q, struct err *err)
{
	int64_t time_ms = sqlite3_column_int64(q, 0), size = sqlite3_column_int64(q, 1);
	const void *body = sqlite3_column_blob(q, 2);
	int len = sqlite3_column_bytes(q, 2);
	uint8_t *data;

	if (size <= 0 || size > FRAME_MAX || !body || len <= 0)
		return err_set(err, -EIO, "%s: a row of the history is damaged", h->path);
	if (!h->unpacker)
		h->unpacker = history_unpacker_new();
	data = xcalloc((size_t)size, 1);
	if (history_unpack(h->unpacker, data, (size_t)size, body, (size_t)len)) {
		free(data);
		return err_set(err, -EIO, "%s: a row of the history is damaged", h->path);
	}
	*out = frame_kept(kind, time_ms, data, (uint32_t)size);
	return 0;
}

/* Neighbours have the same. */
static int history_find_base(struct history *h, int64_t id, struct err *err)
{
	sqlite3_stmt *q;
	struct frame *f;
	int code, rc;

	if (h->base && h->base_id == id)
		return 0;
	q = history_query(h, HQ_BASE);
	if (!q)
		return history_error(h, "read", err);
	sqlite3_bind_int64(q, 1, id);
	code = sqlite3_step(q);
	if (code == SQLITE_ROW)
		rc = history_take_row(&f, h, FRAME_SAMPLE, q, err);
	else if (code == SQLITE_DONE) /* it went since */
		rc = err_set(err, -ENOENT, "nothing is kept of that time any more");
	else
		rc = history_error(h, "read", err);
	sqlite3_reset(q);
	if (rc)
		return rc;
	history_set_base(h, f, id);
	frame_put(f);
	return 0;
}

int history_last(struct frame **out, struct history *h, enum frame_kind kind, int64_t at_ms,
		 struct err *err)
{
	sqlite3_stmt *q = history_query(h, HQ_LAST);
	int64_t base_id;
	int code, rc;

	*out = NULL;
	if (!q)
		return history_error(h, "read", err);
	sqlite3_bind_int(q, 1, (int)kind);
	sqlite3_bind_int64(q, 2, at_ms);
	code = sqlite3_step(q);
	if (code == SQLITE_ROW)
		rc = history_take_row(out, h, kind, q, err);
	else if (code == SQLITE_DONE)
		rc = err_set(err, -ENOENT, "nothing is kept of that time");
	else
		rc = history_error(h, "read", err);
	base_id = code == SQLITE_ROW && h->has_bases ? sqlite3_column_int64(q, 3) : 0;
	sqlite3_reset(q);
	if (!rc && base_id)
		rc = history_find_base(h, base_id, err);
	if (!rc && base_id)
		(*out)->base = frame_get(h->base);
	if (rc) {
		frame_put(*out);
		*out = NULL;
	}
	return rc;
}

static void history_line(struct log_line *to, sqlite3_stmt *q)
{
	const unsigned char *area = sqlite3_column_text(q, 2), *text = sqlite3_column_text(q, 3);
	int64_t level = sqlite3_column_int64(q, 1);

	to->time_ns = (uint64_t)sqlite3_column_int64(q, 0) * 1000000;
	to->level = level >= LOG_DEBUG && level <= LOG_ERROR ? (enum log_level)level : LOG_INFO;
	snprintf(to->area, sizeof(to->area), "%s", area ? (const char *)area : "");
	snprintf(to->text, sizeof(to->text), "%s", text ? (const char *)text : "");
}

struct log_line history_missing(int64_t at_ms, const struct err *why)
{
	struct log_line line = { .time_ns = (uint64_t)at_ms * 1000000,
				 .level = LOG_ERROR,
				 .area = "history" };

	snprintf(line.text, sizeof(line.text), "%.*s", (int)sizeof(line.text) - 1, why->text);
	return line;
}

/* Into lines, from the end of HISTORY_LINES: how many; -EIO: not all that there are. */
static int history_lines_of(struct log_line *lines, uint32_t *n, struct history *h,
			    enum history_query which, int64_t at_ms, struct err *err)
{
	sqlite3_stmt *q = history_query(h, which);
	int code = SQLITE_ERROR;

	*n = 0;
	if (q) {
		sqlite3_bind_int64(q, 1, at_ms);
		sqlite3_bind_int(q, 2, HISTORY_LINES);
	}
	while (q && (code = sqlite3_step(q)) == SQLITE_ROW && *n < HISTORY_LINES)
		history_line(&lines[HISTORY_LINES - ++*n], q); /* the newest comes first */
	if (code != SQLITE_DONE && code != SQLITE_ROW)
		history_error(h, "read", err);
	if (q)
		sqlite3_reset(q);
	return code == SQLITE_DONE || code == SQLITE_ROW ? 0 : -EIO;
}

void history_lines(struct frame **out, struct history *h, int64_t at_ms,
		   const struct log_line *also, uint32_t n)
{
	struct log_line *lines = xcalloc(HISTORY_LINES + HISTORY_LINES_ALSO + 1, sizeof(*lines));
	uint32_t own, more = n < HISTORY_LINES_ALSO ? n : HISTORY_LINES_ALSO;
	struct err err = { "" };

	if (more)
		memcpy(lines + HISTORY_LINES, also, more * sizeof(*lines));
	/* the log itself may be whole where the tables of what was done are not */
	if (history_lines_of(lines, &own, h, HQ_LINES, at_ms, &err)) {
		history_lines_of(lines, &own, h, HQ_EVENTS, at_ms, &err);
		lines[HISTORY_LINES + more++] = history_missing(at_ms, &err);
	}
	*out = frame_of_lines(lines + HISTORY_LINES - own, own + more);
	free(lines);
}

/* -ENOENT: it has not so many. */
static int history_nth(int64_t *time_ms, struct history *h, enum history_query which, int64_t at_ms,
		       int64_t n, struct err *err)
{
	sqlite3_stmt *q = history_query(h, which);
	int code;

	if (!q)
		return history_error(h, "read", err);
	sqlite3_bind_int(q, 1, FRAME_SAMPLE);
	sqlite3_bind_int64(q, 2, at_ms);
	sqlite3_bind_int64(q, 3, n);
	code = sqlite3_step(q);
	if (code == SQLITE_ROW)
		*time_ms = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return history_error(h, "read", err);
	return code == SQLITE_ROW ? 0 : err_set(err, -ENOENT, "nothing is kept of that time");
}

static int history_first(int64_t *time_ms, struct history *h, struct err *err)
{
	*time_ms = history_oldest_ms(h);
	return *time_ms ? 0 : err_set(err, -ENOENT, "nothing is kept of that time");
}

static int history_too_early(struct history *h, struct err *err)
{
	char begin[STAMP_LEN];
	int64_t oldest = history_oldest_ms(h);

	if (!oldest)
		return err_set(err, -ENOENT, "nothing is kept yet");
	return err_set(err, -ENOENT, "nothing is kept from before %s",
		       stamp_local(begin, sizeof(begin), "%Y-%m-%d %H:%M:%S", oldest / 1000));
}

int history_sample_at(int64_t *time_ms, struct history *h, int64_t at_ms, int32_t step,
		      struct err *err)
{
	int rc;

	if (step > 0) {
		rc = history_nth(time_ms, h, HQ_AFTER, at_ms, step - 1, err);
		return rc == -ENOENT ? history_nth(time_ms, h, HQ_BEFORE, INT64_MAX, 0, err) : rc;
	}
	rc = history_nth(time_ms, h, HQ_BEFORE, at_ms, -(int64_t)step, err);
	if (rc == -ENOENT && !step)
		return history_too_early(h, err);
	return rc == -ENOENT ? history_first(time_ms, h, err) : rc;
}

/* A moment is the last sample until the end of an event's second. */
int history_event(struct log_line *out, struct history *h, int64_t at_ms, int32_t by,
		  struct err *err)
{
	sqlite3_stmt *q;
	int64_t from_ms = at_ms;
	int code, rc = 0;

	if (by > 0)
		rc = history_nth(&from_ms, h, HQ_AFTER, at_ms, 0, err);
	if (rc)
		return rc;
	q = history_query(h, by > 0 ? HQ_LINE_FROM : HQ_LINE_BEFORE);
	if (!q)
		return history_error(h, "read", err);
	sqlite3_bind_int64(q, 1, from_ms / 1000 * 1000);
	code = sqlite3_step(q);
	if (code == SQLITE_ROW)
		history_line(out, q);
	else
		rc = code == SQLITE_DONE ? err_set(err, -ENOENT, "no such event is kept")
					 : history_error(h, "read", err);
	sqlite3_reset(q);
	return rc;
}

int64_t history_sample_time(struct history *h, enum history_query which)
{
	sqlite3_stmt *q = history_query(h, which);
	int64_t t = 0;

	if (!q)
		return 0;
	sqlite3_bind_int(q, 1, FRAME_SAMPLE);
	if (sqlite3_step(q) == SQLITE_ROW)
		t = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	return t;
}

int64_t history_oldest_ms(struct history *h)
{
	return history_sample_time(h, HQ_OLDEST);
}
