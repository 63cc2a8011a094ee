/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record.h"

#include "console/record/cast.h"
#include "console/record/record_last.h"
#include "console/record/record_place.h"
#include "fabric/base/clock.h"
#include "fabric/base/mem.h"
#include "fabric/base/store.h"
#include "fabric/base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

struct record_part {
	char *cast; /* path; NULL: dropped, or there was none */
	uint64_t bytes;
	bool keep; /* something in it was marked */
};

struct record {
	char *first, *path, *dir; /* path: of the part being written */
	char *user;		  /* the same in every line, as JSON */
	struct record_text line;  /* the last one; kept for its room */
	char sid[48];
	char host[72];
	char place[PATH_MAX]; /* dir, as the log is told of it */
	int fd;
	bool syslog;
	pthread_mutex_t lock;
	uint64_t seq;  /* of the next line */
	uint64_t lost; /* lines that could not be written since the last one that was */
	uint64_t lost_all;
	off_t size;
	struct digest head;   /* of the last line; zeros before the first */
	struct digest logged; /* the one that syslog has */

	unsigned part; /* from 1 on */
	uint64_t part_bytes, cast_bytes;
	uint64_t rotate_at; /* of size, or of the cast's */

	struct cast *cast; /* of this part; NULL: nothing was shown in it yet */
	double epoch_s;
	uint64_t frames_lost;
	struct err screen; /* why the last frame could not be written, "" = it could */
	struct err ended;  /* why an ended part may not be on disk, for good; "" = all are */
	VEC(struct record_part) parts;
	struct record_hmac *seal; /* NULL: the directory is not sealed */
};

const char *record_dir(const char *dir)
{
	const char *env = getenv("IBROUTE_RECORD_DIR");

	if (dir)
		return dir;
	return env && *env ? env : RECORD_DIR;
}

static void record_cast_state(char *buf, size_t size, const struct cast *cast)
{
	char hex[DIGEST_HEX];
	struct digest d;

	cast_digest(&d, cast);
	snprintf(buf, size, "{\"off\":%" PRIu64 ",\"sha256\":\"%s\"}", cast_size(cast),
		 digest_hex(hex, &d));
}

/* data: one JSON value. */
static int record_put_text(struct record *r, const char *type, const char *data, struct err *err)
{
	char cast[120];
	struct record_line l = { .seq = r->seq,
				 .sid = r->sid,
				 .type = type,
				 .user = r->user,
				 .data = data,
				 .cast = r->cast ? cast : NULL,
				 .seal = r->seal,
				 .prev = &r->head };
	int rc;

	if (r->cast)
		record_cast_state(cast, sizeof(cast), r->cast);
	record_line_put(&r->line, &l);
	vec_push(&r->line, '\n');
	rc = store_append(r->fd, r->path, r->line.v, r->line.n, err);
	if (!rc) {
		digest_of(&r->head, r->line.v, r->line.n - 1);
		r->size += (off_t)r->line.n;
		r->seq++;
		if (r->seal)
			record_hmac_forward(r->seal);
	} else if (ftruncate(r->fd, r->size)) {
		err_set(err, rc, "%s: a line is cut and cannot be taken back", r->path);
	}
	return rc;
}

static int record_put_line(struct record *r, const char *type, const json_t *data, struct err *err)
{
	char *text = json_dumps(data, JSON_COMPACT);
	int rc = text ? record_put_text(r, type, text, err)
		      : err_set(err, -EINVAL, "%s: a %s entry cannot be put into JSON", r->path,
				type);

	free(text);
	return rc;
}

static const char *record_file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Before the first line of a part but the first, whenever that can be written. */
static int record_put_part(struct record *r, struct err *err)
{
	char hex[DIGEST_HEX];
	json_t *data;
	int rc;

	if (r->part == 1 || r->size)
		return 0;
	data = json_pack("{s:i, s:s}", "part", (int)r->part, "head", digest_hex(hex, &r->head));
	rc = record_put_line(r, "record.part", data, err);
	json_decref(data);
	return rc;
}

/* What was lost must show before anything else is written. */
static int record_put_gap(struct record *r, struct err *err)
{
	json_t *gap;
	int rc = record_put_part(r, err);

	if (rc || (!r->lost && !r->frames_lost))
		return rc;
	gap = json_pack("{s:I}", "lost", (json_int_t)r->lost);
	if (r->frames_lost)
		json_object_set_new(gap, "frames", json_integer((json_int_t)r->frames_lost));
	rc = record_put_line(r, "record.gap", gap, err);
	json_decref(gap);
	if (!rc)
		r->lost = r->frames_lost = 0;
	return rc;
}

/* The next part, open as fd, is the one that is written from here on. */
static void record_enter_part(struct record *r, int fd, char *path)
{
	close(r->fd);
	free(r->path);
	r->fd = fd;
	r->path = path;
	r->part++;
	r->size = 0;
	if (r->cast)
		r->parts.v[r->parts.n - 1].bytes = cast_size(r->cast);
	cast_free(r->cast);
	r->cast = NULL;
}

/* Ends this part; the next begins with record_put_part().  Behind the line that ends it nothing is
 * added, also when it cannot be synced: that is what record_sync_locked() says from then on. */
static int record_rotate(struct record *r, struct err *err)
{
	char *next = record_part_path(r->dir, r->sid, r->part + 1, "jsonl");
	json_t *data;
	int fd, rc = record_file(&fd, next, err);

	if (rc) {
		free(next);
		return rc;
	}
	if (r->cast && cast_end(r->cast, err))
		r->frames_lost++;
	data = json_pack("{s:o}", "next", record_str(record_file_of(next)));
	rc = record_put_line(r, "record.rotate", data, err);
	json_decref(data);
	if (rc) {
		close(fd);
		unlink(next);
		free(next);
		return rc;
	}
	rc = store_sync(r->fd, r->path, err);
	record_enter_part(r, fd, next);
	if (!rc)
		rc = store_sync_dir(r->dir, err);
	if (rc)
		r->ended = *err;
	return rc;
}

/* Of the screens before this part's, the oldest go when all are more than may be kept. */
static int record_drop_casts(struct record *r, struct err *err)
{
	uint64_t all = 0;
	int rc = 0;

	for (size_t i = 0; i < r->parts.n; i++)
		all += r->parts.v[i].cast ? r->parts.v[i].bytes : 0;
	for (size_t i = 0; !rc && i < r->parts.n && all > r->cast_bytes; i++) {
		struct record_part *p = &r->parts.v[i];
		json_t *data;

		if (!p->cast || p->keep)
			continue;
		data = json_pack("{s:o, s:s}", "file", record_str(record_file_of(p->cast)), "why",
				 "the screens of this session are longer than may be kept");
		rc = record_put_line(r, "record.drop", data, err);
		json_decref(data);
		if (rc)
			break;
		unlink(p->cast);
		free(p->cast);
		p->cast = NULL;
		all -= p->bytes;
	}
	return rc;
}

/* A part too long is ended; where that cannot be done, it goes on until it is as long again. */
static void record_rotate_when_due(struct record *r)
{
	uint64_t size = (uint64_t)r->size, shown = r->cast ? cast_size(r->cast) : 0;
	struct err err;
	int rc;

	if (size < r->rotate_at && shown < r->rotate_at)
		return;
	rc = record_rotate(r, &err);
	r->rotate_at = rc ? r->rotate_at + r->part_bytes : r->part_bytes;
	if (!rc)
		rc = record_put_part(r, &err);
	if (!rc)
		record_drop_casts(r, &err);
}

/* With the lock held.  data NULL: it could not be made. */
static int record_do_add_text(struct record *r, const char *type, const char *data, struct err *err)
{
	int rc;

	if (!data) {
		rc = err_set(err, -EINVAL, "%s: a %s entry cannot be put into JSON", r->path, type);
	} else {
		record_rotate_when_due(r);
		rc = record_put_gap(r, err);
	}
	if (!rc)
		rc = record_put_text(r, type, data, err);
	if (rc) {
		r->lost++;
		r->lost_all++;
	}
	return rc;
}

/* data is only borrowed. */
static int record_do_add(struct record *r, const char *type, const json_t *data, struct err *err)
{
	char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;
	int rc = record_do_add_text(r, type, text, err);

	free(text);
	return rc;
}

int record_add(struct record *r, const char *type, json_t *data, struct err *err)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = record_do_add(r, type, data, err);
	pthread_mutex_unlock(&r->lock);
	json_decref(data);
	return rc;
}

int record_add_text(struct record *r, const char *type, const char *data, struct err *err)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = record_do_add_text(r, type, data, err);
	pthread_mutex_unlock(&r->lock);
	return rc;
}

void record_error(struct record *r, const char *area, const char *text)
{
	record_add(r, "error",
		   json_pack("{s:o, s:o}", "area", record_str(area), "text", record_str(text)),
		   NULL);
}

/* --- the screen -------------------------------------------------------------------------- */

static int record_open_cast(struct record *r, const struct canvas *c, int colours, struct err *err)
{
	struct record_part p = { .cast = record_part_path(r->dir, r->sid, r->part, "cast") };
	int rc = cast_open(&r->cast, p.cast, c->w, c->h, colours, r->epoch_s, err);

	if (rc)
		free(p.cast);
	else
		vec_push(&r->parts, p);
	return rc;
}

int record_screen(struct record *r, const struct canvas *c, int colours, struct err *err)
{
	int rc = 0;

	pthread_mutex_lock(&r->lock);
	record_rotate_when_due(r);
	if (!r->cast)
		rc = record_open_cast(r, c, colours, &r->screen);
	if (!rc)
		rc = cast_frame(r->cast, c, colours, &r->screen);
	if (rc)
		r->frames_lost++;
	else
		r->screen.text[0] = '\0';
	if (rc && err)
		*err = r->screen;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

void record_mark(struct record *r, const char *label)
{
	pthread_mutex_lock(&r->lock);
	if (r->cast) {
		r->parts.v[r->parts.n - 1].keep = true;
		if (cast_mark(r->cast, label, &r->screen))
			r->frames_lost++;
	}
	pthread_mutex_unlock(&r->lock);
}

/* --- on disk ----------------------------------------------------------------------------- */

/* A sync that failed once says nothing when it is tried again (fsync(2)): a part that it failed on
 * is not vouched for any more. */
static int record_do_whole(struct record *r, struct err *err)
{
	int rc = record_put_gap(r, err);

	if (rc || !r->ended.text[0])
		return rc;
	return err_set(err, -EIO,
		       "an ended part of the record may not be on disk: %.250s; a new session "
		       "begins a new record",
		       r->ended.text);
}

static int record_sync_locked(struct record *r, struct err *err)
{
	char hex[DIGEST_HEX];
	int rc = record_do_whole(r, err);

	if (!rc && r->screen.text[0])
		rc = err_set(err, -EIO, "the screen cannot be recorded: %s", r->screen.text);
	if (!rc && r->cast)
		rc = cast_sync(r->cast, err);
	if (!rc)
		rc = store_sync(r->fd, r->path, err);
	if (rc || !r->syslog || digest_equal(&r->head, &r->logged))
		return rc;
	syslog(LOG_AUTHPRIV | LOG_INFO,
	       "ibroute-top IBROUTE_HEAD=%s sid=%s seq=%" PRIu64 " host=%s dir=%s",
	       digest_hex(hex, &r->head), r->sid, r->seq, r->host, r->place);
	r->logged = r->head;
	return 0;
}

int record_whole(struct record *r, struct err *err)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = record_do_whole(r, err);
	pthread_mutex_unlock(&r->lock);
	return rc;
}

int record_sync(struct record *r, struct err *err)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = record_sync_locked(r, err);
	pthread_mutex_unlock(&r->lock);
	return rc;
}

/* A file of its own for each session, also for several in the same second. */
static int record_create(struct record *r, struct err *err)
{
	time_t now = time(NULL);
	struct tm tm;
	char when[24];

	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	for (unsigned i = 1; i < 1000; i++) {
		int rc;

		snprintf(r->sid, sizeof(r->sid), "%s-%ld", when, (long)getpid());
		if (i > 1)
			snprintf(r->sid, sizeof(r->sid), "%s-%ld-%u", when, (long)getpid(), i);
		free(r->path);
		r->path = record_part_path(r->dir, r->sid, 1, "jsonl");
		rc = record_file(&r->fd, r->path, err);
		if (rc != -EEXIST)
			return rc;
	}
	return -EEXIST;
}

static int record_first_line(struct record *r, const struct record_opts *o, struct err *err)
{
	char sid[64] = "", hex[DIGEST_HEX];
	struct digest last;
	int64_t seq;
	json_t *data, *genesis = json_null();
	int rc;

	if (record_last(sid, sizeof(sid), &last, &seq, r->dir, r->sid))
		genesis = json_pack("{s:o, s:I, s:s}", "sid", record_str(sid), "seq",
				    (json_int_t)seq, "head", digest_hex(hex, &last));
	data = json_pack("{s:s, s:o, s:s, s:o, s:I, s:o}", "program", "ibroute-top", "fabric",
			 o->fabric ? record_str(o->fabric) : json_null(), "mode",
			 o->mode ? o->mode : "ro", "host", record_str(r->host), "pid",
			 (json_int_t)getpid(), "genesis", genesis);
	rc = record_do_add(r, "session.start", data, err);
	json_decref(data);
	return rc;
}

static void record_free_record(struct record *r)
{
	if (r->fd >= 0)
		close(r->fd);
	pthread_mutex_destroy(&r->lock);
	record_hmac_end(r->seal);
	cast_free(r->cast);
	for (size_t i = 0; i < r->parts.n; i++)
		free(r->parts.v[i].cast);
	vec_free(&r->parts);
	free(r->first);
	free(r->path);
	free(r->dir);
	vec_free(&r->line);
	free(r->user);
	free(r);
}

int record_open(struct record **out, const struct record_opts *o, struct err *err)
{
	static const struct record_opts plain;
	struct record *r = xcalloc(1, sizeof(*r));
	int rc;

	o = o ? o : &plain;
	r->fd = -1;
	r->dir = xstrdup(record_dir(o->dir));
	r->syslog = o->syslog;
	r->part = 1;
	r->part_bytes = r->rotate_at = o->part_bytes ? o->part_bytes : RECORD_PART_BYTES;
	r->cast_bytes = o->cast_bytes ? o->cast_bytes : RECORD_CAST_BYTES;
	r->epoch_s = clock_s();
	r->user = record_user();
	pthread_mutex_init(&r->lock, NULL);
	rc = record_mkdir(r->dir, err);
	if (gethostname(r->host, sizeof(r->host) - 1))
		r->host[0] = '\0';
	if (!realpath(r->dir, r->place))
		r->place[0] = '\0';
	if (!rc)
		rc = record_hmac_begin(&r->seal, r->dir, err);
	if (!rc)
		rc = record_create(r, err);
	if (!rc)
		rc = record_first_line(r, o, err);
	if (!rc)
		rc = record_sync_locked(r, err);
	if (!rc)
		rc = store_sync_dir(r->dir, err);
	if (rc) {
		/* a session that never began; nothing else was written */
		if (r->fd >= 0 && !r->seq)
			unlink(r->path);
		record_free_record(r);
		return rc;
	}
	r->first = xstrdup(r->path);
	*out = r;
	return 0;
}

/* The last line tells of the whole screen; a part that begins now would have nothing in it. */
static int record_last_line(struct record *r, struct err *err)
{
	json_t *data;
	int rc;

	if (r->cast && cast_end(r->cast, err))
		r->frames_lost++;
	data = json_pack("{s:I, s:I}", "lines", (json_int_t)r->seq, "lost",
			 (json_int_t)r->lost_all);
	r->rotate_at = UINT64_MAX;
	rc = record_do_add(r, "session.end", data, err);
	json_decref(data);
	return rc ? rc : record_sync_locked(r, err);
}

int record_close(struct record *r, struct err *err)
{
	int rc;

	if (!r)
		return 0;
	pthread_mutex_lock(&r->lock);
	rc = record_last_line(r, err);
	pthread_mutex_unlock(&r->lock);
	record_free_record(r);
	return rc;
}

const char *record_sid(const struct record *r)
{
	return r->sid;
}

const char *record_path(const struct record *r)
{
	return r->first;
}

uint64_t record_seq(struct record *r)
{
	uint64_t seq;

	pthread_mutex_lock(&r->lock);
	seq = r->seq;
	pthread_mutex_unlock(&r->lock);
	return seq;
}

void record_head(struct record *r, struct digest *head, uint64_t *cast_bytes)
{
	pthread_mutex_lock(&r->lock);
	*head = r->head;
	*cast_bytes = r->cast ? cast_size(r->cast) : 0;
	pthread_mutex_unlock(&r->lock);
}
