/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record.h"

#include "console/lib/progress_line.h"
#include "console/record/cast.h"
#include "console/record/record_hmac.h"
#include "console/record/record_queue.h"
#include "fabric/base/clock.h"
#include "fabric/base/digest.h"
#include "fabric/base/err.h"
#include "fabric/base/file_progress.h"
#include "fabric/base/log.h"
#include "fabric/base/mem.h"
#include "fabric/base/plain.h"
#include "fabric/base/store.h"
#include "fabric/base/vec.h"
#include "fabric/base/version.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

static const char *record_file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

unsigned record_name(char *sid, size_t size, const char *path)
{
	const char *name = record_file_of(path), *dot = strchr(name, '.');
	unsigned part = 1;

	snprintf(sid, size, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
	if (dot && sscanf(dot, ".%u.", &part) != 1)
		part = 1;
	return part;
}

char *record_cast_path(const char *path)
{
	const char *dot = strrchr(record_file_of(path), '.');

	return xasprintf("%.*s.cast", dot ? (int)(dot - path) : (int)strlen(path), path);
}

static int record_by_name(const void *a, const void *b)
{
	char sid_a[64], sid_b[64];
	unsigned part_a = record_name(sid_a, sizeof(sid_a), *(char *const *)a);
	unsigned part_b = record_name(sid_b, sizeof(sid_b), *(char *const *)b);
	int by_sid = strverscmp(sid_a, sid_b);

	return by_sid ? by_sid : (part_a > part_b) - (part_a < part_b);
}

void record_files_list(struct record_files *out, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	*out = (struct record_files){ NULL, 0, 0 };
	while (d && (e = readdir(d))) {
		const char *dot = strrchr(e->d_name, '.');

		if (dot && dot > e->d_name && !strcmp(dot, ".jsonl"))
			vec_push(out, xasprintf("%s/%s", dir, e->d_name));
	}
	if (d)
		closedir(d);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), record_by_name);
}

void record_files_free(struct record_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->v[i]);
	vec_free(files);
}

int record_dir_check(const char *dir, struct err *err)
{
	DIR *d = opendir(dir);

	if (!d)
		return err_set(err, -errno, "%s: cannot be listed: %s", dir, strerror(errno));
	closedir(d);
	return 0;
}

static bool record_find_last_line(struct digest *head, int64_t *seq, const char *path)
{
	char *data, *end, *begin;
	json_t *j;
	size_t len;

	if (store_read(&data, &len, path, NULL))
		return false;
	end = memrchr(data, '\n', len); /* what follows is incomplete */
	if (end) {
		begin = memrchr(data, '\n', (size_t)(end - data));
		begin = begin ? begin + 1 : data;
		digest_of(head, begin, (size_t)(end - begin));
		j = json_loadb(begin, (size_t)(end - begin), 0, NULL);
		*seq = json_integer_value(json_object_get(j, "seq"));
		json_decref(j);
	}
	free(data);
	return end;
}

/* The newest session other than sid: its name, and hash and number of its last whole line. */
static bool record_find_previous(char *sid_out, size_t size, struct digest *head, int64_t *seq,
				 const char *dir, const char *sid)
{
	struct record_files files;
	bool found = false;

	record_files_list(&files, dir);
	for (size_t i = files.n; i-- && !found;) {
		record_name(sid_out, size, files.v[i]);
		found = strcmp(sid_out, sid) && record_find_last_line(head, seq, files.v[i]);
	}
	record_files_free(&files);
	return found;
}

int record_lines(const char *path, record_line_fn *fn, void *ctx, struct err *err)
{
	FILE *f = fopen(path, "re");
	struct file_pace pace = { 0 };
	struct progress_line watch;
	bool more = true, cancelled = false;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	if (!f)
		return err_set(err, -errno, "%s: cannot open: %s", path, strerror(errno));
	progress_line_files(&watch);
	while (more && !cancelled && (len = getline(&line, &cap, f)) > 0) {
		json_t *j = json_loads(line, 0, NULL);

		more = !j || fn(ctx, j);
		json_decref(j);
		cancelled = file_progress_read(&pace, f, (size_t)len);
	}
	progress_line_files_end(&watch);
	free(line);
	fclose(f);
	return cancelled ? err_set(err, -ECANCELED, "%s: reading it was cancelled", path) : 0;
}

const char *record_text(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

json_int_t record_int(const json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}

json_t *record_str(const char *s)
{
	json_t *j = json_string(s);
	char *clean;

	if (j)
		return j;
	clean = plain_text(xstrdup(s), "\n\t");
	j = json_string(clean);
	free(clean);
	return j;
}

static void record_stamp(char *buf, size_t size, const struct timespec *t)
{
	struct tm tm;
	char day[24];

	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", gmtime_r(&t->tv_sec, &tm));
	snprintf(buf, size, "%s.%03ldZ", day, t->tv_nsec / 1000000);
}

bool record_line_ends(const char *type)
{
	return !strcmp(type, "session.end") || !strcmp(type, "record.rotate");
}

#define LOGINUID_UNSET 4294967295u

/* The directory, with its parents; a new one is 0750.  -ENOTDIR: it is not a directory. */
static int record_mkdir(const char *dir, struct err *err)
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

/* DIR/SID.jsonl, and of part 2 on DIR/SID.2.jsonl; caller frees. */
static char *record_part_path(const char *dir, const char *sid, unsigned part, const char *suffix)
{
	if (part == 1)
		return xasprintf("%s/%s.%s", dir, sid, suffix);
	return xasprintf("%s/%s.%u.%s", dir, sid, part, suffix);
}

/* A new file (0640), locked, to append to; *fd is the caller's.  -EEXIST when it exists. */
static int record_file(int *fd, const char *path, struct err *err)
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

static json_t *record_loginuid(void)
{
	FILE *f = fopen("/proc/self/loginuid", "re");
	uint32_t id = LOGINUID_UNSET;

	if (f && fscanf(f, "%" SCNu32, &id) != 1)
		id = LOGINUID_UNSET;
	if (f)
		fclose(f);
	return id == LOGINUID_UNSET ? json_null() : json_integer(id);
}

/* {"uid":..,"loginuid":..,"ssh":..} of this process; caller frees. */
static char *record_user(void)
{
	const char *ssh = getenv("SSH_CONNECTION");
	json_t *user = json_pack("{s:I, s:o, s:o}", "uid", (json_int_t)getuid(), "loginuid",
				 record_loginuid(), "ssh", ssh ? record_str(ssh) : json_null());
	char *text = json_dumps(user, JSON_COMPACT);

	json_decref(user);
	return text;
}

struct record_part {
	char *cast; /* path; NULL: dropped, or there was none */
	uint64_t bytes;
	bool keep; /* it has a marker */
};

/* What others may ask for while something is written. */
struct record_seen {
	char *path; /* of its first part; NULL: not open */
	uint64_t seq, cast_bytes;
	struct digest head;
	bool failing;	   /* to write a line, or frames since then */
	struct err failed; /* why, since it was asked last; "": it has not */
};

struct record {
	struct record_time began;
	struct record_opts opts;    /* its strings are the caller's, until it is open */
	struct record_queue *queue; /* NULL: whoever adds writes */
	pthread_mutex_t seen_lock;
	struct record_seen seen;

	/* all below is of whoever writes */
	char *path, *dir; /* path: of the part being written */
	char *user;	  /* the same in every line, as JSON */
	char sid[48];
	char host[72];
	char place[PATH_MAX]; /* realpath() of dir, for syslog */
	int fd;
	pthread_mutex_t lock;
	struct record_time at; /* of what is being written */
	uint64_t seq;	       /* of the next line */
	uint64_t lost;	       /* lines that could not be written since the last one that was */
	uint64_t lost_all;
	off_t size;
	struct digest head;   /* of the last line; zeros before the first */
	struct digest logged; /* the one that syslog has */

	unsigned part; /* from 1 on */
	uint64_t part_bytes, cast_bytes;
	uint64_t rotate_at; /* of size, or of the cast's */

	struct cast *cast; /* of this part; NULL: nothing was shown in it yet */
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

static void record_put_cast(char *buf, size_t size, const struct cast *cast)
{
	char hex[DIGEST_HEX];
	struct digest d;

	cast_digest(&d, cast);
	snprintf(buf, size, ",\"cast\":{\"off\":%" PRIu64 ",\"sha256\":\"%s\"}", cast_size(cast),
		 digest_hex(hex, &d));
}

/* Replaces the zeros in a line. */
static void record_put_mac(char *line, const struct record_hmac *seal)
{
	size_t len = strlen(line);
	char hex[DIGEST_HEX];
	struct digest mac;

	record_hmac_line(&mac, seal, line, len);
	memcpy(line + len - RECORD_MAC_TAIL, digest_hex(hex, &mac), DIGEST_HEX - 1);
}

/* Takes the line; the caller frees the result. */
static char *record_with_self(char *line)
{
	size_t at = strlen(line) - 1 - RECORD_PREV_TAIL;
	char hex[DIGEST_HEX], *all;
	struct digest self;

	digest_of(&self, line, at);
	all = xasprintf("%.*s" RECORD_SELF_KEY "%s\"%s", (int)at, line, digest_hex(hex, &self),
			line + at);
	free(line);
	return all;
}

/* Without a newline; data: one JSON object.  The caller frees it. */
static char *record_line(const struct record *r, const char *type, const char *data)
{
	char ts[40], hex[DIGEST_HEX], cast[140] = "", seal[160] = "", *line;

	record_stamp(ts, sizeof(ts), &r->at.wall);
	if (r->cast)
		record_put_cast(cast, sizeof(cast), r->cast);
	if (r->seal)
		snprintf(seal, sizeof(seal),
			 ",\"seal\":{\"epoch\":%" PRIu64 "," RECORD_MAC_KEY "%0*d\"}",
			 r->seal->epoch, DIGEST_HEX - 1, 0);
	line = xasprintf(
		"{\"v\":1,\"seq\":%" PRIu64 ",\"ts\":\"%s\",\"mono_ns\":%" PRIu64
		",\"sid\":\"%s\",\"type\":\"%s\",\"user\":%s,\"data\":%s%s%s," RECORD_PREV_KEY
		"%s\"}",
		r->seq, ts, r->at.mono_ns, r->sid, type, r->user, data, cast, seal,
		digest_hex(hex, &r->head));
	if (r->seal)
		record_put_mac(line, r->seal);
	return record_line_ends(type) ? record_with_self(line) : line;
}

/* data: one JSON object; NULL: it could not be encoded. */
static int record_put_text(struct record *r, const char *type, const char *data, struct err *err)
{
	char *line;
	size_t len;
	int rc;

	if (!data)
		return err_set(err, -EINVAL, "%s: a %s entry cannot be encoded as JSON", r->path,
			       type);
	line = record_line(r, type, data);
	len = strlen(line);
	line[len] = '\n'; /* instead of the zero */
	rc = store_append(r->fd, r->path, line, len + 1, err);
	if (!rc) {
		digest_of(&r->head, line, len);
		r->size += (off_t)len + 1;
		r->seq++;
		if (r->seal)
			record_hmac_forward(r->seal);
	} else if (ftruncate(r->fd, r->size)) {
		err_set(err, rc, "%s: a line is truncated and cannot be removed", r->path);
	}
	free(line);
	return rc;
}

/* Takes the reference of data. */
static int record_put_line(struct record *r, const char *type, json_t *data, struct err *err)
{
	char *text = json_dumps(data, JSON_COMPACT);
	int rc = record_put_text(r, type, text, err);

	free(text);
	json_decref(data);
	return rc;
}

/* The first line of a later part, as soon as it can be written. */
static int record_put_part(struct record *r, struct err *err)
{
	char hex[DIGEST_HEX];

	if (r->part == 1 || r->size)
		return 0;
	return record_put_line(
		r, "record.part",
		json_pack("{s:i, s:s}", "part", (int)r->part, "head", digest_hex(hex, &r->head)),
		err);
}

/* Records a gap before anything else is written. */
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
	if (!rc)
		r->lost = r->frames_lost = 0;
	return rc;
}

/* Continues with the next part, open as fd. */
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

/* Ends this part; the next begins with record_put_part().  Nothing is added after the line that
 * ends it, even when it cannot be synced: record_sync() fails from then on. */
static int record_rotate(struct record *r, struct err *err)
{
	char *next = record_part_path(r->dir, r->sid, r->part + 1, "jsonl");
	int fd, rc = record_file(&fd, next, err);

	if (rc) {
		free(next);
		return rc;
	}
	if (r->cast && cast_end(r->cast, err))
		r->frames_lost++;
	rc = record_put_line(r, "record.rotate",
			     json_pack("{s:o}", "next", record_str(record_file_of(next))), err);
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

/* Removes the oldest screens of earlier parts while all together exceed the limit. */
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
				 "the screen recording of this session has reached its size limit");
		rc = record_put_line(r, "record.drop", data, err);
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

static int record_write_line(struct record *r, const struct record_entry *e, struct err *err)
{
	int rc;

	record_rotate_when_due(r);
	rc = record_put_gap(r, err);
	if (!rc)
		rc = record_put_text(r, e->type, e->text, err);
	if (rc) {
		r->lost++;
		r->lost_all++;
	}
	return rc;
}

/* --- the screen -------------------------------------------------------------------------- */

static double record_second(const struct record_time *t)
{
	return (double)t->mono_ns / 1e9;
}

static int record_open_cast(struct record *r, const struct canvas *c, int colours, struct err *err)
{
	struct record_part p = { .cast = record_part_path(r->dir, r->sid, r->part, "cast") };
	int rc = cast_open(&r->cast, p.cast, c->w, c->h, colours, record_second(&r->began),
			   record_second(&r->at), err);

	if (rc) {
		free(p.cast);
		return rc;
	}
	cast_at(r->cast, record_second(&r->at));
	vec_push(&r->parts, p);
	return 0;
}

static int record_write_frame(struct record *r, const struct record_entry *e, struct err *err)
{
	int rc = 0;

	record_rotate_when_due(r);
	if (!r->cast)
		rc = record_open_cast(r, e->screen, e->colours, &r->screen);
	if (!rc)
		rc = cast_frame(r->cast, e->screen, e->colours, &r->screen);
	if (rc)
		r->frames_lost++;
	else
		r->screen.text[0] = '\0';
	if (rc && err)
		*err = r->screen;
	return rc;
}

static int record_write_mark(struct record *r, const struct record_entry *e, struct err *err)
{
	(void)err;
	if (r->cast) {
		r->parts.v[r->parts.n - 1].keep = true;
		if (cast_mark(r->cast, e->text, &r->screen))
			r->frames_lost++;
	}
	return 0;
}

/* --- on disk ----------------------------------------------------------------------------- */

/* fsync(2) may succeed after it has failed once, with data lost: a failed part stays failed. */
static int record_write_whole(struct record *r, const struct record_entry *e, struct err *err)
{
	int rc = record_put_gap(r, err);

	(void)e;
	if (rc || !r->ended.text[0])
		return rc;
	return err_set(err, -EIO,
		       "a finished part of the record may not be on disk: %.250s; a new session "
		       "starts a new record",
		       r->ended.text);
}

static int record_write_sync(struct record *r, const struct record_entry *e, struct err *err)
{
	char hex[DIGEST_HEX];
	int rc = record_write_whole(r, e, err);

	if (!rc && r->screen.text[0])
		rc = err_set(err, -EIO, "the screen cannot be recorded: %s", r->screen.text);
	if (!rc && r->cast)
		rc = cast_sync(r->cast, err);
	if (!rc)
		rc = store_sync(r->fd, r->path, err);
	if (rc || !r->opts.syslog || digest_equal(&r->head, &r->logged))
		return rc;
	syslog(LOG_AUTHPRIV | LOG_INFO,
	       "ibroute-top IBROUTE_HEAD=%s sid=%s seq=%" PRIu64 " host=%s dir=%s",
	       digest_hex(hex, &r->head), r->sid, r->seq, r->host, r->place);
	r->logged = r->head;
	return 0;
}

/* --- whoever writes -------------------------------------------------------------------------- */

static void record_set_time(struct record *r, const struct record_time *at)
{
	r->at = *at;
	if (!at->mono_ns)
		record_time_now(&r->at);
	if (r->cast)
		cast_at(r->cast, record_second(&r->at));
}

/* A frame was lost, which the next one is not. */
static void record_count_lost(struct record *r, const struct record_entry *e)
{
	r->lost += e->lost_lines;
	r->lost_all += e->lost_lines;
	r->frames_lost += e->lost_frames;
	if (e->lost_frames)
		err_set(&r->screen, 0, "the disk was too slow for %" PRIu64 " frames",
			e->lost_frames);
}

static void record_show(struct record *r, const struct record_entry *e, int rc,
			const struct err *err)
{
	struct record_seen *s = &r->seen;

	pthread_mutex_lock(&r->seen_lock);
	s->seq = r->seq;
	s->head = r->head;
	s->cast_bytes = r->cast ? cast_size(r->cast) : 0;
	if (rc && e->what <= RECORD_FRAME) {
		s->failing = true;
		s->failed = *err;
	} else if (e->what == RECORD_FRAME) {
		s->failing = false;
	}
	pthread_mutex_unlock(&r->seen_lock);
}

typedef int record_write_fn(struct record *r, const struct record_entry *e, struct err *err);

static int record_write(void *of, const struct record_entry *e, struct err *err)
{
	static record_write_fn *const write[] = {
		[RECORD_LINE] = record_write_line, [RECORD_FRAME] = record_write_frame,
		[RECORD_MARK] = record_write_mark, [RECORD_WHOLE] = record_write_whole,
		[RECORD_SYNC] = record_write_sync,
	};
	struct record *r = of;
	struct err why = { "" };
	int rc;

	pthread_mutex_lock(&r->lock);
	record_set_time(r, &e->at);
	record_count_lost(r, e);
	rc = write[e->what](r, e, &why);
	record_show(r, e, rc, &why);
	pthread_mutex_unlock(&r->lock);
	if (rc && err)
		*err = why;
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

static int record_first_line(struct record *r, struct err *err)
{
	char sid[64] = "", hex[DIGEST_HEX];
	struct digest last;
	int64_t seq;
	const struct record_opts *o = &r->opts;
	struct record_entry e = { .what = RECORD_LINE, .at = r->began, .type = "session.start" };
	json_t *data, *genesis = json_null();
	char *text;
	int rc;

	if (record_find_previous(sid, sizeof(sid), &last, &seq, r->dir, r->sid))
		genesis = json_pack("{s:o, s:I, s:s}", "sid", record_str(sid), "seq",
				    (json_int_t)seq, "head", digest_hex(hex, &last));
	data = json_pack("{s:s, s:s, s:o, s:s, s:o, s:I, s:o}", "program", "ibroute-top", "version",
			 IBROUTE_VERSION, "fabric", o->fabric ? record_str(o->fabric) : json_null(),
			 "mode", o->mode ? o->mode : "ro", "host", record_str(r->host), "pid",
			 (json_int_t)getpid(), "genesis", genesis);
	e.text = text = json_dumps(data, JSON_COMPACT);
	rc = record_write(r, &e, err);
	free(text);
	json_decref(data);
	return rc;
}

static void record_free(struct record *r)
{
	if (r->fd >= 0)
		close(r->fd);
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->seen_lock);
	record_hmac_end(r->seal);
	cast_free(r->cast);
	for (size_t i = 0; i < r->parts.n; i++)
		free(r->parts.v[i].cast);
	vec_free(&r->parts);
	free(r->seen.path);
	free(r->path);
	free(r->dir);
	free(r->user);
	free(r);
}

static struct record *record_new(const struct record_opts *o)
{
	struct record *r = xcalloc(1, sizeof(*r));

	if (o)
		r->opts = *o;
	o = &r->opts;
	r->fd = -1;
	r->dir = xstrdup(record_dir(o->dir));
	r->part = 1;
	r->part_bytes = r->rotate_at = o->part_bytes ? o->part_bytes : RECORD_PART_BYTES;
	r->cast_bytes = o->cast_bytes ? o->cast_bytes : RECORD_CAST_BYTES;
	record_time_now(&r->began);
	r->user = record_user();
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->seen_lock, NULL);
	return r;
}

/* What was begun stays for record_free(). */
static int record_begin(struct record *r, struct err *err)
{
	const struct record_entry sync = { .what = RECORD_SYNC, .at = r->began };
	int rc = record_mkdir(r->dir, err);

	if (gethostname(r->host, sizeof(r->host) - 1))
		r->host[0] = '\0';
	if (!realpath(r->dir, r->place))
		r->place[0] = '\0';
	if (!rc)
		rc = record_hmac_begin(&r->seal, r->dir, err);
	if (!rc)
		rc = record_create(r, err);
	if (!rc)
		rc = record_first_line(r, err);
	if (!rc)
		rc = record_write(r, &sync, err);
	return rc ? rc : store_sync_dir(r->dir, err);
}

static int record_do_open(void *of, struct err *err)
{
	struct record *r = of;
	int rc = record_begin(r, err);

	/* the session was never started: nothing else is in the file */
	if (rc && r->fd >= 0 && !r->seq)
		unlink(r->path);
	if (rc)
		return rc;
	pthread_mutex_lock(&r->seen_lock);
	r->seen.path = xstrdup(r->path);
	pthread_mutex_unlock(&r->seen_lock);
	return 0;
}

int record_open(struct record **out, const struct record_opts *o, struct err *err)
{
	struct record *r = record_new(o);
	int rc = record_do_open(r, err);

	if (rc)
		record_free(r);
	else
		*out = r;
	return rc;
}

int record_start(struct record **out, const struct record_opts *o, struct err *err)
{
	static const struct record_queue_ops ops = { .open = record_do_open,
						     .write = record_write };
	struct record *r = record_new(o);
	size_t bytes = o->queue_bytes ? o->queue_bytes : RECORD_QUEUE_BYTES;
	int rc = record_queue_start(&r->queue, &ops, r, bytes, err);

	if (rc)
		record_free(r);
	else
		*out = r;
	return rc;
}

int record_opened(struct record *r, bool wait, struct err *err)
{
	return r->queue ? record_queue_opened(r->queue, wait, err) : 0;
}

/* --- whoever adds to it ---------------------------------------------------------------------- */

static int record_give(struct record *r, const struct record_entry *e, struct err *err)
{
	return r->queue ? record_queue_add(r->queue, e, err) : record_write(r, e, err);
}

static int record_ask(struct record *r, enum record_what what, struct err *err)
{
	const struct record_entry e = { .what = what };

	return r->queue ? record_queue_ask(r->queue, &e, err) : record_write(r, &e, err);
}

int record_add_text(struct record *r, const char *type, const char *data, struct err *err)
{
	const struct record_entry e = { .what = RECORD_LINE, .type = type, .text = data };

	return record_give(r, &e, err);
}

int record_add(struct record *r, const char *type, json_t *data, struct err *err)
{
	char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;
	int rc = record_add_text(r, type, text, err);

	free(text);
	json_decref(data);
	return rc;
}

void record_note(struct record *r, const char *type, json_t *data)
{
	struct err err;

	if (!r)
		json_decref(data);
	else if (record_add(r, type, data, &err))
		log_add(LOG_ERROR, "record", "%s", err.text);
}

void record_error(struct record *r, const char *area, const char *text)
{
	record_add(r, "error",
		   json_pack("{s:o, s:o}", "area", record_str(area), "text", record_str(text)),
		   NULL);
}

int record_screen(struct record *r, const struct canvas *c, int colours, struct err *err)
{
	const struct record_entry e = { .what = RECORD_FRAME, .screen = c, .colours = colours };

	return record_give(r, &e, err);
}

void record_mark(struct record *r, const char *label)
{
	const struct record_entry e = { .what = RECORD_MARK, .text = label };

	record_give(r, &e, NULL);
}

int record_whole(struct record *r, struct err *err)
{
	return record_ask(r, RECORD_WHOLE, err);
}

int record_sync(struct record *r, struct err *err)
{
	return record_ask(r, RECORD_SYNC, err);
}

bool record_lost(struct record *r, struct err *err)
{
	bool lost;

	if (r->queue && record_queue_full(r->queue, err))
		return true;
	pthread_mutex_lock(&r->seen_lock);
	lost = r->seen.failed.text[0];
	if (lost)
		*err = r->seen.failed;
	if (!r->seen.failing)
		r->seen.failed.text[0] = '\0';
	pthread_mutex_unlock(&r->seen_lock);
	return lost;
}

/* --- the end --------------------------------------------------------------------------------- */

/* All that waits is written, and from now on by the caller.  False: it was never open. */
static bool record_end_queue(struct record *r)
{
	struct record_entry lost;
	bool open = !record_opened(r, true, NULL);

	if (r->queue) {
		record_queue_end(r->queue, &lost);
		record_count_lost(r, &lost);
		r->queue = NULL;
	}
	return open;
}

int record_close(struct record *r, struct err *err)
{
	static const struct record_time now;
	int rc;

	if (!r)
		return 0;
	if (!record_end_queue(r)) {
		record_free(r);
		return 0;
	}
	record_set_time(r, &now);
	/* before the last line, which has the hash of the whole screen */
	if (r->cast && cast_end(r->cast, err))
		r->frames_lost++;
	r->rotate_at = UINT64_MAX; /* a new part would be empty */
	rc = record_add(r, "session.end",
			json_pack("{s:I, s:I}", "lines", (json_int_t)r->seq, "lost",
				  (json_int_t)r->lost_all),
			err);
	if (!rc)
		rc = record_sync(r, err);
	record_free(r);
	return rc;
}

const char *record_sid(const struct record *r)
{
	return r->sid;
}

const char *record_path(struct record *r)
{
	const char *path;

	pthread_mutex_lock(&r->seen_lock);
	path = r->seen.path;
	pthread_mutex_unlock(&r->seen_lock);
	return path ? path : "";
}

uint64_t record_seq(struct record *r)
{
	uint64_t seq;

	pthread_mutex_lock(&r->seen_lock);
	seq = r->seen.seq;
	pthread_mutex_unlock(&r->seen_lock);
	return seq;
}

void record_head(struct record *r, struct digest *head, uint64_t *cast_bytes)
{
	pthread_mutex_lock(&r->seen_lock);
	*head = r->seen.head;
	*cast_bytes = r->seen.cast_bytes;
	pthread_mutex_unlock(&r->seen_lock);
}
