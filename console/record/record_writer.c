/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_writer.h"

#include "console/record/record_end.h"
#include "console/record/record_files.h"
#include "console/record/record_line.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

typedef int record_writer_fn(struct record_writer *w, const struct record_entry *e,
			     struct err *err);

/* The directory, with its parents; a new one is 0750.  -ENOTDIR: it is not a directory. */
static int record_writer_mkdir(const char *dir, struct err *err)
{
	struct stat st;
	int rc;

	if (!stat(dir, &st))
		return S_ISDIR(st.st_mode) ? 0 : err_set(err, -ENOTDIR, "%s: not a directory", dir);
	rc = store_mkdir(dir, err);
	if (!rc && chmod(dir, 0750))
		rc = err_set(err, -errno, "%s: %s", dir, strerror(errno));
	return rc;
}

/* A new file (0640), locked, to append to; *fd is the caller's.  -EEXIST when it exists. */
static int record_writer_file(int *fd, const char *path, struct err *err)
{
	int rc;

	*fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
	if (*fd < 0)
		return err_set(err, -errno, "%s: cannot be created: %s", path, strerror(errno));
	/* regardless of the umask: readable by the group */
	if (!fchmod(*fd, 0640) && !flock(*fd, LOCK_EX | LOCK_NB))
		return 0;
	rc = err_set(err, -errno, "%s: cannot be locked: %s", path, strerror(errno));
	close(*fd);
	*fd = -1;
	return rc;
}

/* Behind a line: it cannot be cut off any more. */
static int record_writer_count(struct record_writer *w, struct err *err)
{
	record_hmac_forward(w->seal);
	return record_end_put(w->end_fd, w->seal, w->seq, w->end_path, err);
}

/* data: one JSON object; NULL: it could not be encoded. */
static int record_writer_put_text(struct record_writer *w, const char *type, const char *data,
				  struct err *err)
{
	char *line;
	size_t len;
	int rc;

	if (!data)
		return err_set(err, -EINVAL, "%s: a %s entry cannot be encoded as JSON", w->path,
			       type);
	line = record_line_text(&(const struct record_line){
		.seq = w->seq,
		.at = &w->at,
		.sid = w->sid,
		.type = type,
		.user = w->user,
		.data = data,
		.cast = w->cast,
		.seal = w->seal,
		.prev = &w->head,
	});
	len = strlen(line);
	line[len] = '\n'; /* instead of the zero */
	rc = store_append(w->fd, w->path, line, len + 1, err);
	if (!rc) {
		digest_of(&w->head, line, len);
		w->size += (off_t)len + 1;
		w->seq++;
		if (w->seal)
			rc = record_writer_count(w, err);
	} else if (ftruncate(w->fd, w->size)) {
		err_set(err, rc, "%s: a line is truncated and cannot be removed", w->path);
	}
	free(line);
	return rc;
}

/* Takes the reference of data. */
static int record_writer_put_line(struct record_writer *w, const char *type, json_t *data,
				  struct err *err)
{
	char *text = json_dumps(data, JSON_COMPACT);
	int rc = record_writer_put_text(w, type, text, err);

	free(text);
	json_decref(data);
	return rc;
}

/* The first line of a later part, as soon as it can be written. */
static int record_writer_put_part(struct record_writer *w, struct err *err)
{
	char hex[DIGEST_HEX];

	if (w->part == 1 || w->size)
		return 0;
	return record_writer_put_line(
		w, "record.part",
		json_pack("{s:i, s:s}", "part", (int)w->part, "head", digest_hex(hex, &w->head)),
		err);
}

/* Records a gap before anything else is written. */
static int record_writer_put_gap(struct record_writer *w, struct err *err)
{
	json_t *gap;
	int rc = record_writer_put_part(w, err);

	if (rc || (!w->lost && !w->frames_lost))
		return rc;
	gap = json_pack("{s:I}", "lost", (json_int_t)w->lost);
	if (w->frames_lost)
		json_object_set_new(gap, "frames", json_integer((json_int_t)w->frames_lost));
	rc = record_writer_put_line(w, "record.gap", gap, err);
	if (!rc)
		w->lost = w->frames_lost = 0;
	return rc;
}

/* Continues with the next part, open as fd. */
static void record_writer_enter_part(struct record_writer *w, int fd, char *path)
{
	close(w->fd);
	free(w->path);
	w->fd = fd;
	w->path = path;
	w->part++;
	w->size = 0;
	if (w->cast)
		w->parts.v[w->parts.n - 1].bytes = cast_size(w->cast);
	cast_free(w->cast);
	w->cast = NULL;
}

/* Ends this part; the next begins with record_writer_put_part().  Nothing is added after the line
 * that ends it, even when it cannot be synced: record_sync() fails from then on. */
static int record_writer_rotate(struct record_writer *w, struct err *err)
{
	char *next = record_part_path(w->dir, w->sid, w->part + 1, "jsonl");
	int fd, rc = record_writer_file(&fd, next, err);

	if (rc) {
		free(next);
		return rc;
	}
	if (w->cast && cast_end(w->cast, err))
		w->frames_lost++;
	rc = record_writer_put_line(w, "record.rotate",
				    json_pack("{s:o}", "next", json_text(record_file_name(next))),
				    err);
	if (rc) {
		close(fd);
		unlink(next);
		free(next);
		return rc;
	}
	rc = store_sync(w->fd, w->path, err);
	record_writer_enter_part(w, fd, next);
	if (!rc)
		rc = store_sync_dir(w->dir, err);
	if (rc)
		w->ended = *err;
	return rc;
}

/* Removes the oldest screens of earlier parts while all together exceed the limit. */
static int record_writer_drop_casts(struct record_writer *w, struct err *err)
{
	uint64_t all = 0;
	int rc = 0;

	for (size_t i = 0; i < w->parts.n; i++)
		all += w->parts.v[i].cast ? w->parts.v[i].bytes : 0;
	for (size_t i = 0; !rc && i < w->parts.n && all > w->cast_bytes; i++) {
		struct record_part *p = &w->parts.v[i];
		json_t *data;

		if (!p->cast || p->keep)
			continue;
		data = json_pack("{s:o, s:s}", "file", json_text(record_file_name(p->cast)), "why",
				 "the screen recording of this session has reached its size limit");
		rc = record_writer_put_line(w, "record.drop", data, err);
		if (rc)
			break;
		unlink(p->cast);
		free(p->cast);
		p->cast = NULL;
		all -= p->bytes;
	}
	return rc;
}

/* Rotates a part that is too long; after a failure, tries again when it has grown by as much. */
static void record_writer_rotate_when_due(struct record_writer *w)
{
	uint64_t size = (uint64_t)w->size, shown = w->cast ? cast_size(w->cast) : 0;
	struct err err;
	int rc;

	if (size < w->rotate_at && shown < w->rotate_at)
		return;
	rc = record_writer_rotate(w, &err);
	w->rotate_at = rc ? w->rotate_at + w->part_bytes : w->part_bytes;
	if (!rc)
		rc = record_writer_put_part(w, &err);
	if (!rc)
		record_writer_drop_casts(w, &err);
}

static int record_writer_line(struct record_writer *w, const struct record_entry *e,
			      struct err *err)
{
	int rc;

	record_writer_rotate_when_due(w);
	rc = record_writer_put_gap(w, err);
	if (!rc)
		rc = record_writer_put_text(w, e->type, e->text, err);
	if (rc) {
		w->lost++;
		w->lost_all++;
	}
	return rc;
}

static double record_writer_second(const struct record_time *t)
{
	return (double)t->mono_ns / 1e9;
}

static int record_writer_open_cast(struct record_writer *w, const struct canvas *c, int colours,
				   struct err *err)
{
	struct record_part p = { .cast = record_part_path(w->dir, w->sid, w->part, "cast") };
	int rc = cast_open(&w->cast, p.cast, c->w, c->h, colours, record_writer_second(&w->began),
			   record_writer_second(&w->at), err);

	if (rc) {
		free(p.cast);
		return rc;
	}
	cast_at(w->cast, record_writer_second(&w->at));
	vec_push(&w->parts, p);
	return 0;
}

static int record_writer_frame(struct record_writer *w, const struct record_entry *e,
			       struct err *err)
{
	int rc = 0;

	record_writer_rotate_when_due(w);
	if (!w->cast)
		rc = record_writer_open_cast(w, e->screen, e->colours, &w->screen);
	if (!rc)
		rc = cast_frame(w->cast, e->screen, e->colours, &w->screen);
	if (rc)
		w->frames_lost++;
	else
		w->screen.text[0] = '\0';
	if (rc && err)
		*err = w->screen;
	return rc;
}

static int record_writer_mark(struct record_writer *w, const struct record_entry *e,
			      struct err *err)
{
	(void)err;
	if (w->cast) {
		w->parts.v[w->parts.n - 1].keep = true;
		if (cast_mark(w->cast, e->text, &w->screen))
			w->frames_lost++;
	}
	return 0;
}

/* fsync(2) may succeed after it has failed once, with data lost: a failed part stays failed. */
static int record_writer_whole(struct record_writer *w, const struct record_entry *e,
			       struct err *err)
{
	int rc = record_writer_put_gap(w, err);

	(void)e;
	if (rc || !w->ended.text[0])
		return rc;
	return err_set(err, -EIO,
		       "a finished part of the record may not be on disk: %.250s; a new session "
		       "starts a new record",
		       w->ended.text);
}

static int record_writer_sync(struct record_writer *w, const struct record_entry *e,
			      struct err *err)
{
	char hex[DIGEST_HEX];
	int rc = record_writer_whole(w, e, err);

	if (!rc && w->screen.text[0])
		rc = err_set(err, -EIO, "the screen cannot be recorded: %s", w->screen.text);
	if (!rc && w->cast)
		rc = cast_sync(w->cast, err);
	if (!rc)
		rc = store_sync(w->fd, w->path, err);
	if (!rc && w->seal)
		rc = store_sync(w->end_fd, w->end_path, err);
	if (rc || !w->syslog || digest_equal(&w->head, &w->logged))
		return rc;
	syslog(LOG_AUTHPRIV | LOG_INFO,
	       "ibroute-top IBROUTE_HEAD=%s sid=%s seq=%" PRIu64 " host=%s dir=%s",
	       digest_hex(hex, &w->head), w->sid, w->seq, w->host, w->place);
	w->logged = w->head;
	return 0;
}

static void record_writer_set_time(struct record_writer *w, const struct record_time *at)
{
	w->at = *at;
	if (!at->mono_ns)
		record_time_now(&w->at);
	if (w->cast)
		cast_at(w->cast, record_writer_second(&w->at));
}

/* A frame was lost, which the next one is not. */
static void record_writer_count_lost(struct record_writer *w, const struct record_entry *e)
{
	w->lost += e->lost_lines;
	w->lost_all += e->lost_lines;
	w->frames_lost += e->lost_frames;
	if (e->lost_frames)
		err_set(&w->screen, 0, "the disk was too slow for %" PRIu64 " frames",
			e->lost_frames);
}

/* A file of its own for each session, also for several in the same second. */
static int record_writer_new_file(struct record_writer *w, struct err *err)
{
	char when[20];

	stamp_utc(when, sizeof(when), "%Y%m%dT%H%M%SZ", time(NULL));
	for (unsigned i = 1; i < 1000; i++) {
		int rc;

		snprintf(w->sid, sizeof(w->sid), "%s-%ld", when, (long)getpid());
		if (i > 1)
			snprintf(w->sid, sizeof(w->sid), "%s-%ld-%u", when, (long)getpid(), i);
		free(w->path);
		w->path = record_part_path(w->dir, w->sid, 1, "jsonl");
		rc = record_writer_file(&w->fd, w->path, err);
		if (rc != -EEXIST)
			return rc;
	}
	return -EEXIST;
}

int record_writer_write(struct record_writer *w, const struct record_entry *e, struct err *err)
{
	static record_writer_fn *const write[] = {
		[RECORD_LINE] = record_writer_line, [RECORD_FRAME] = record_writer_frame,
		[RECORD_MARK] = record_writer_mark, [RECORD_WHOLE] = record_writer_whole,
		[RECORD_SYNC] = record_writer_sync,
	};

	record_writer_set_time(w, &e->at);
	record_writer_count_lost(w, e);
	return write[e->what](w, e, err);
}

void record_writer_init(struct record_writer *w, const struct record_opts *o)
{
	*w = (struct record_writer){ .fd = -1, .end_fd = -1, .part = 1, .syslog = o->syslog };
	w->dir = xstrdup(record_dir(o->dir));
	w->part_bytes = w->rotate_at = o->part_bytes ? o->part_bytes : RECORD_PART_BYTES;
	w->cast_bytes = o->cast_bytes ? o->cast_bytes : RECORD_CAST_BYTES;
	record_time_now(&w->began);
	w->user = record_line_user();
}

int record_writer_create(struct record_writer *w, struct err *err)
{
	int rc = record_writer_mkdir(w->dir, err);

	if (gethostname(w->host, sizeof(w->host) - 1))
		w->host[0] = '\0';
	if (!realpath(w->dir, w->place))
		w->place[0] = '\0';
	if (!rc)
		rc = record_hmac_begin(&w->seal, w->dir, err);
	if (!rc)
		rc = record_writer_new_file(w, err);
	if (rc || !w->seal)
		return rc;
	w->end_path = record_end_path(w->path);
	return record_end_open(&w->end_fd, w->end_path, err);
}

void record_writer_remove(const struct record_writer *w)
{
	unlink(w->path);
	if (w->end_fd >= 0)
		unlink(w->end_path);
}

void record_writer_last(struct record_writer *w, const struct record_entry *lost, struct err *err)
{
	static const struct record_time now;

	record_writer_count_lost(w, lost);
	record_writer_set_time(w, &now);
	if (w->cast && cast_end(w->cast, err))
		w->frames_lost++;
	w->rotate_at = UINT64_MAX; /* a new part would be empty */
}

void record_writer_free(struct record_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->end_fd >= 0)
		close(w->end_fd);
	free(w->end_path);
	record_hmac_end(w->seal);
	cast_free(w->cast);
	for (size_t i = 0; i < w->parts.n; i++)
		free(w->parts.v[i].cast);
	vec_free(&w->parts);
	free(w->path);
	free(w->dir);
	free(w->user);
}
