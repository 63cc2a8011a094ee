/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collector/history/history.h"

#include "console/collector/frame/frame_parts.h"
#include "console/collector/history/history_priv.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HISTORY_FORMAT	2 /* 1: without bases, in zlib */
#define HISTORY_WAIT_MS 5000

/* Updates and baselines as lines of the log, those that ended at such a time. */
#define HISTORY_ACT_LINES(when)                                                                    \
	"UNION ALL "                                                                               \
	"SELECT end_ms, 1, 'update', id || ': ' || state || ', ' || engine || ', ' || blocks || "  \
	"' blocks, by ' || user || CASE text WHEN '' THEN '' ELSE ': ' || text END "               \
	"FROM txn WHERE end_ms " when " UNION ALL "                                                \
	"SELECT end_ms, 1, 'baseline', 'of ' || fabric || ': ' || state || ' by ' || user "        \
	"FROM baseline WHERE end_ms " when " "
/* The first line of the log. */
#define HISTORY_EVENT(when, way)                                                                   \
	"SELECT time_ms, level, area, text FROM event WHERE time_ms " when                         \
	" ORDER BY time_ms " way ", id " way " LIMIT 1"

static const char *const history_sql[HQ_COUNT] = {
	[HQ_ADD] = "INSERT INTO frame(kind, time_ms, size, body, base) VALUES(?1, ?2, ?3, ?4, ?5)",
	[HQ_EVENT] = "INSERT INTO event(time_ms, level, area, text) VALUES(?1, ?2, ?3, ?4)",
	[HQ_LAST] = "SELECT time_ms, size, body, base FROM frame WHERE kind = ?1 AND time_ms <= ?2 "
		    "ORDER BY time_ms DESC, id DESC LIMIT 1",
	[HQ_BASE] = "SELECT time_ms, size, body FROM frame WHERE id = ?1 AND base IS NULL",
	[HQ_EVENTS] = "SELECT time_ms, level, area, text FROM event WHERE time_ms <= ?1 "
		      "ORDER BY time_ms DESC, id DESC LIMIT ?2",
	/* what was done is told with the log, when it ended, whoever kept a log then */
	[HQ_LINES] =
		"SELECT time_ms, level, area, text FROM (SELECT time_ms, level, area, text, id "
		"FROM event WHERE time_ms <= ?1 ORDER BY time_ms DESC, id DESC LIMIT ?2) " HISTORY_ACT_LINES(
			"<= ?1") "ORDER BY 1 DESC LIMIT ?2",
	[HQ_EVENT_FROM] = HISTORY_EVENT(">= ?1", ""),
	[HQ_LINE_FROM] = "SELECT * FROM (" HISTORY_EVENT(">= ?1", "") ") " HISTORY_ACT_LINES(
		">= ?1") "ORDER BY 1 LIMIT 1",
	[HQ_EVENT_BEFORE] = HISTORY_EVENT("< ?1", "DESC"),
	[HQ_LINE_BEFORE] = "SELECT * FROM (" HISTORY_EVENT("< ?1", "DESC") ") " HISTORY_ACT_LINES(
		"< ?1") "ORDER BY 1 DESC LIMIT 1",
	[HQ_BEFORE] = "SELECT time_ms FROM frame WHERE kind = ?1 AND time_ms <= ?2 "
		      "ORDER BY time_ms DESC LIMIT 1 OFFSET ?3",
	[HQ_AFTER] = "SELECT time_ms FROM frame WHERE kind = ?1 AND time_ms > ?2 "
		     "ORDER BY time_ms LIMIT 1 OFFSET ?3",
	[HQ_OLDEST] = "SELECT min(time_ms) FROM frame WHERE kind = ?1",
	[HQ_THIN] =
		"DELETE FROM frame WHERE kind = ?1 AND time_ms >= ?2 AND time_ms < ?3 AND id NOT IN "
		"(SELECT min(id) FROM frame WHERE kind = ?1 AND time_ms >= ?2 AND time_ms < ?3 "
		"GROUP BY time_ms / ?4) AND (base IS NOT NULL OR NOT EXISTS "
		"(SELECT 1 FROM frame f WHERE f.kind = ?1 AND f.time_ms >= frame.time_ms / ?5 * ?5 "
		"AND f.time_ms < frame.time_ms / ?5 * ?5 + ?5 AND f.base = frame.id))",
	[HQ_OLD] = "DELETE FROM frame WHERE kind = ?1 AND time_ms < ?2",
	/* the last before is what was true then */
	[HQ_OLD_STATE] = "DELETE FROM frame WHERE kind = ?1 AND time_ms < "
			 "(SELECT max(time_ms) FROM frame WHERE kind = ?1 AND time_ms <= ?2)",
	[HQ_OLD_EVENTS] = "DELETE FROM event WHERE time_ms < ?1",
	[HQ_FIFTIETH] = "SELECT time_ms FROM frame WHERE kind = ?1 ORDER BY time_ms LIMIT 1 OFFSET "
			"(SELECT count(*) / 50 + 1 FROM frame WHERE kind = ?1)",
	[HQ_BASELINE] =
		"INSERT OR REPLACE INTO baseline(id, begin_ms, end_ms, fabric, user, state) "
		"VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
	[HQ_UPDATE] =
		"INSERT OR REPLACE INTO txn(id, begin_ms, end_ms, fabric, user, state, text, "
		"blocks, host, plan, engine) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
	[HQ_RECORD] = "INSERT OR REPLACE INTO record(file, begin_ms, end_ms, fabric, user, state, "
		      "session, bytes) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[HQ_BASELINES] = "SELECT id, begin_ms, end_ms, fabric, user, state FROM baseline "
			 "ORDER BY begin_ms DESC LIMIT ?1",
	[HQ_UPDATES] =
		"SELECT id, begin_ms, end_ms, fabric, user, state, text, blocks, host, plan, "
		"engine FROM txn ORDER BY begin_ms DESC LIMIT ?1",
	[HQ_RECORDS] =
		"SELECT file, begin_ms, end_ms, fabric, user, state, session, bytes FROM record "
		"ORDER BY begin_ms DESC LIMIT ?1",
	/* the last one before is what counted then */
	[HQ_OLD_BASELINES] =
		"DELETE FROM baseline WHERE begin_ms < (SELECT max(begin_ms) FROM baseline b WHERE "
		"b.fabric = baseline.fabric AND b.begin_ms <= ?1)",
	[HQ_OLD_UPDATES] = "DELETE FROM txn WHERE end_ms < ?1",
	[HQ_OLD_RECORDS] = "DELETE FROM record WHERE end_ms < ?1",
};

#define ACT_COLUMNS                                                                                \
	"begin_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, fabric TEXT NOT NULL, user TEXT "     \
	"NOT NULL, state TEXT NOT NULL"
static const char history_act_tables[] =
	"CREATE TABLE baseline(id TEXT PRIMARY KEY, " ACT_COLUMNS ");"
	"CREATE TABLE txn(id TEXT PRIMARY KEY, " ACT_COLUMNS
	", text TEXT NOT NULL, blocks INTEGER NOT "
	"NULL, host TEXT NOT NULL, plan TEXT NOT NULL, engine TEXT NOT NULL);"
	"CREATE TABLE record(file TEXT PRIMARY KEY, " ACT_COLUMNS ", session TEXT NOT NULL, bytes "
	"INTEGER NOT NULL)";

static const char history_last_format_1[] =
	"SELECT time_ms, size, body, NULL FROM frame WHERE kind = ?1 AND time_ms <= ?2 "
	"ORDER BY time_ms DESC, id DESC LIMIT 1";

int history_error(struct history *h, const char *doing, struct err *err)
{
	int code = h->db ? sqlite3_errcode(h->db) : SQLITE_NOMEM, rc = -EIO;

	if (code == SQLITE_FULL)
		rc = -ENOSPC;
	return err_set(err, rc, "%s: history cannot be %s: %s", h->path, doing,
		       h->db ? sqlite3_errmsg(h->db) : "no memory");
}

sqlite3_stmt *history_query(struct history *h, enum history_query q)
{
	const char *sql = h->has_bases		? history_sql[q]
			  : q == HQ_LAST	? history_last_format_1
			  : q == HQ_LINES	? history_sql[HQ_EVENTS]
			  : q == HQ_LINE_FROM	? history_sql[HQ_EVENT_FROM]
			  : q == HQ_LINE_BEFORE ? history_sql[HQ_EVENT_BEFORE]
						: history_sql[q];

	if (!h->q[q] && sqlite3_prepare_v3(h->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &h->q[q],
					   NULL) != SQLITE_OK)
		return NULL;
	sqlite3_reset(h->q[q]);
	sqlite3_clear_bindings(h->q[q]);
	return h->q[q];
}

/* --- open ------------------------------------------------------------------------------------ */

static int history_exec(struct history *h, const char *sql)
{
	return sqlite3_exec(h->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

static int history_format(struct history *h)
{
	sqlite3_stmt *q = NULL;
	int format = -1;

	if (sqlite3_prepare_v2(h->db, "PRAGMA user_version", -1, &q, NULL) == SQLITE_OK &&
	    sqlite3_step(q) == SQLITE_ROW)
		format = sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	return format;
}

static int history_create(struct history *h)
{
	char version[48];
	int rc;

	snprintf(version, sizeof(version), "PRAGMA user_version = %d", HISTORY_FORMAT);
	rc = history_exec(h, "PRAGMA auto_vacuum = INCREMENTAL");
	if (!rc)
		rc = history_exec(h, "PRAGMA journal_mode = WAL");
	if (!rc)
		rc = history_exec(
			h,
			"BEGIN;"
			"CREATE TABLE frame(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, time_ms "
			"INTEGER NOT NULL, size INTEGER NOT NULL, base INTEGER, body BLOB NOT NULL);"
			"CREATE INDEX frame_at ON frame(kind, time_ms);"
			"CREATE TABLE event(id INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, level "
			"INTEGER NOT NULL, area TEXT NOT NULL, text TEXT NOT NULL);"
			"CREATE INDEX event_at ON event(time_ms)");
	if (!rc)
		rc = history_exec(h, history_act_tables);
	if (!rc)
		rc = history_exec(h, version);
	return rc ? rc : history_exec(h, "COMMIT");
}

/* Rows that are there stay what they are. */
static int history_upgrade(struct history *h)
{
	char version[48];
	int rc;

	snprintf(version, sizeof(version), "PRAGMA user_version = %d", HISTORY_FORMAT);
	rc = history_exec(h, "BEGIN; ALTER TABLE frame ADD COLUMN base INTEGER");
	if (!rc)
		rc = history_exec(h, history_act_tables);
	if (!rc)
		rc = history_exec(h, version);
	return rc ? rc : history_exec(h, "COMMIT");
}

static int history_begin(struct history *h, struct err *err)
{
	int format, rc = 0;

	sqlite3_busy_timeout(h->db, HISTORY_WAIT_MS);
	format = history_format(h);
	h->has_bases = h->writes || format > 1;
	if (h->writes && !format)
		rc = history_create(h);
	else if (h->writes && format == 1)
		rc = history_upgrade(h);
	if (rc || format < 0)
		return history_error(h, "read", err);
	if (format > HISTORY_FORMAT)
		return err_set(err, -EPROTO,
			       "%s: history of a newer version of ibroute-top (format %d, this one "
			       "knows %d)",
			       h->path, format, HISTORY_FORMAT);
	/* a crash of the machine may cost the last samples, never the file */
	if (h->writes && (history_exec(h, "PRAGMA synchronous = NORMAL") ||
			  history_exec(h, "PRAGMA wal_autocheckpoint = 400")))
		return history_error(h, "written", err);
	return 0;
}

static int history_open_once(struct history **out, const char *path,
			     const struct history_keep *keep, struct err *err)
{
	struct history *h = xcalloc(1, sizeof(*h));
	int flags = keep ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	int rc;

	h->path = xstrdup(path);
	h->writes = keep != NULL;
	if (keep)
		h->keep = *keep;
	if (sqlite3_open_v2(path, &h->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		rc = history_error(h, "opened", err);
	else
		rc = history_begin(h, err);
	if (!rc && h->writes && !history_query(h, HQ_ADD))
		rc = history_error(h, "written", err);
	if (rc)
		history_close(h);
	else
		*out = h;
	return rc;
}

/* With what SQLite has beside it, which belongs to it. */
static int history_set_aside(char **aside, const char *path, struct err *err)
{
	static const char *const beside[] = { "-wal", "-shm" };
	char stamp[STAMP_LEN];

	*aside = xasprintf("%s.damaged-%s", path,
			   stamp_utc(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", time(NULL)));
	if (rename(path, *aside)) {
		int rc = err_set(err, -errno, "%s: damaged, and cannot be renamed: %m", path);

		free(*aside);
		*aside = NULL;
		return rc;
	}
	for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
		char *from = xasprintf("%s%s", path, beside[i]);

		unlink(from);
		free(from);
	}
	return 0;
}

static bool history_is_damaged(const char *path)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *q = NULL;
	int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_prepare_v2(db, "SELECT count(*) FROM sqlite_schema", -1, &q, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(q);
	sqlite3_finalize(q);
	sqlite3_close(db);
	return code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
}

/* Jobs and their users are in it: SQLite gives what it makes the mode of what is there. */
static void history_touch(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
}

int history_open(struct history **out, const char *path, const struct history_keep *keep,
		 char **aside, struct err *err)
{
	struct stat st;
	int rc;

	*out = NULL;
	if (aside)
		*aside = NULL;
	if (stat(path, &st) && !keep)
		return err_set(err, -ENOENT, "%s: %m", path);
	if (keep)
		history_touch(path);
	rc = history_open_once(out, path, keep, err);
	if (!rc || !keep || !aside || !history_is_damaged(path))
		return rc;
	rc = history_set_aside(aside, path, err);
	if (!rc)
		history_touch(path);
	return rc ? rc : history_open_once(out, path, keep, err);
}

void history_close(struct history *h)
{
	if (!h)
		return;
	for (int i = 0; i < HQ_COUNT; i++)
		sqlite3_finalize(h->q[i]);
	frame_put(h->base);
	frame_put(h->before);
	history_unpacker_free(h->unpacker);
	sqlite3_close(h->db);
	free(h->path);
	free(h);
}

/* --- add ------------------------------------------------------------------------------------- */

static bool history_keeps(enum frame_kind kind)
{
	return kind >= FRAME_FABRIC && kind <= FRAME_FINDINGS && kind != FRAME_SOURCE;
}

/* Has it been said already? */
static bool history_is_known(struct history *h, const struct frame *f)
{
	enum frame_kind kind = (enum frame_kind)f->head.kind;
	struct digest d;

	frame_digest(&d, f);
	if (h->known[kind] && digest_equal(&d, &h->last[kind]))
		return true;
	h->last[kind] = d;
	h->known[kind] = true;
	/* tables that are of another fabric by now are said again */
	if (kind == FRAME_FABRIC)
		h->known[FRAME_TABLES] = false;
	return false;
}

static int history_add_event(struct history *h, const struct frame *f, struct err *err)
{
	struct bytes_in in = { .at = f->data, .left = f->head.len };
	sqlite3_stmt *q = history_query(h, HQ_EVENT);
	struct log_part line;
	char *area, *text;
	int code = SQLITE_ERROR;

	bytes_take(&in, &line, sizeof(line));
	area = bytes_take_text(&in);
	text = bytes_take_text(&in);
	if (q) {
		sqlite3_bind_int64(q, 1, f->head.time_ms);
		sqlite3_bind_int64(q, 2, (int64_t)line.level);
		sqlite3_bind_text(q, 3, area ? area : "", -1, SQLITE_STATIC);
		sqlite3_bind_text(q, 4, text ? text : "", -1, SQLITE_STATIC);
		code = sqlite3_step(q);
		sqlite3_reset(q);
	}
	free(area);
	free(text);
	return code == SQLITE_DONE ? 0 : history_error(h, "written", err);
}

/* A row of these bytes; base_id 0: they are whole. */
static int history_add_row(struct history *h, const struct frame *f, int64_t base_id,
			   struct err *err)
{
	uint8_t *packed = NULL;
	size_t len = 0;
	sqlite3_stmt *q;
	int code = SQLITE_ERROR;

	if (history_pack(&packed, &len, f->data, f->head.len))
		return err_set(err, -ENOMEM, "%s: no memory to compress a sample", h->path);
	q = history_query(h, HQ_ADD);
	if (q) {
		sqlite3_bind_int(q, 1, (int)f->head.kind);
		sqlite3_bind_int64(q, 2, f->head.time_ms);
		sqlite3_bind_int64(q, 3, f->head.len);
		sqlite3_bind_blob64(q, 4, packed, len, SQLITE_STATIC);
		if (base_id)
			sqlite3_bind_int64(q, 5, base_id);
		code = sqlite3_step(q);
		sqlite3_reset(q);
	}
	free(packed);
	return code == SQLITE_DONE ? 0 : history_error(h, "written", err);
}

void history_set_base(struct history *h, const struct frame *f, int64_t id)
{
	frame_put(h->base);
	h->base = f ? frame_get(f) : NULL;
	h->base_id = id;
}

static int history_add_sample(struct history *h, const struct frame *f, struct err *err)
{
	struct frame *kept = NULL;
	const struct frame *row;
	int rc;

	if (h->base && history_group(h->base->head.time_ms) == history_group(f->head.time_ms))
		kept = frame_sample_kept(f, h->before, h->base);
	if (!kept)
		kept = frame_sample_kept(f, h->before, NULL);
	row = kept ? kept : f;
	rc = history_add_row(h, row, row->base ? h->base_id : 0, err);
	if (!row->base)
		history_set_base(h, rc ? NULL : row, sqlite3_last_insert_rowid(h->db));
	frame_put(kept);
	frame_put(h->before);
	h->before = frame_get(f);
	return rc;
}

int history_add(struct history *h, const struct frame *f, struct err *err)
{
	enum frame_kind kind = (enum frame_kind)f->head.kind;
	int rc;

	if (kind == FRAME_LOG)
		return history_add_event(h, f, err);
	if (kind == FRAME_SAMPLE)
		return history_add_sample(h, f, err);
	if (!history_keeps(kind) || history_is_known(h, f))
		return 0;
	rc = history_add_row(h, f, 0, err);
	if (rc)
		h->known[kind] = false;
	return rc;
}
