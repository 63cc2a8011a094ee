/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record.h"

#include "console/record/cast.h"
#include "console/record/record_hmac.h"
#include "fabric/base/clock.h"
#include "fabric/base/digest.h"
#include "fabric/base/err.h"
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

static const char record_suffix[] = ".jsonl";

unsigned record_name(char *sid, size_t size, const char *name)
{
	const char *dot = strchr(name, '.');
	unsigned part = 1;

	snprintf(sid, size, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
	if (dot && sscanf(dot, ".%u.", &part) != 1)
		part = 1;
	return part;
}

static int record_by_name(const void *a, const void *b)
{
	char sid_a[64], sid_b[64];
	unsigned part_a = record_name(sid_a, sizeof(sid_a), *(char *const *)a);
	unsigned part_b = record_name(sid_b, sizeof(sid_b), *(char *const *)b);
	int by_sid = strverscmp(sid_a, sid_b);

	return by_sid ? by_sid : (part_a > part_b) - (part_a < part_b);
}

char **record_files(const char *dir, uint32_t *n)
{
	VEC(char *) v = { 0 };
	DIR *d = opendir(dir);
	struct dirent *e;

	*n = 0;
	if (!d)
		return NULL;
	while ((e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (len > sizeof(record_suffix) &&
		    !strcmp(e->d_name + len - sizeof(record_suffix) + 1, record_suffix))
			vec_push(&v, xstrdup(e->d_name));
	}
	closedir(d);
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), record_by_name);
	*n = (uint32_t)v.n;
	return v.v;
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
	end = memrchr(data, '\n', len); /* what is behind it was cut */
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

bool record_last(char *sid_out, size_t size, struct digest *head, int64_t *seq, const char *dir,
		 const char *sid)
{
	uint32_t n;
	char **files = record_files(dir, &n), name[64];
	bool found = false;

	for (uint32_t i = n; i--;) {
		char *path = xasprintf("%s/%s", dir, files[i]);

		record_name(name, sizeof(name), files[i]);
		if (!found && strcmp(name, sid) && record_find_last_line(head, seq, path)) {
			snprintf(sid_out, size, "%s", name);
			found = true;
		}
		free(path);
		free(files[i]);
	}
	free(files);
	return found;
}

struct record_text {
	char *v; /* no string: n bytes of cap; freed by the owner */
	size_t n, cap;
};

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

static void record_stamp(char *buf, size_t size)
{
	struct timespec t;
	struct tm tm;
	char day[24];

	clock_gettime(CLOCK_REALTIME, &t);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", gmtime_r(&t.tv_sec, &tm));
	snprintf(buf, size, "%s.%03ldZ", day, t.tv_nsec / 1000000);
}

static void record_put(struct record_text *out, const char *text, size_t len)
{
	vec_reserve(out, out->n + len);
	memcpy(out->v + out->n, text, len);
	out->n += len;
}

static void record_line_put_text(struct record_text *out, const char *text)
{
	record_put(out, text, strlen(text));
}

static void record_put_head(struct record_text *out, const struct record_line *l)
{
	struct timespec mono;
	char head[200], ts[40];

	clock_gettime(CLOCK_MONOTONIC, &mono);
	record_stamp(ts, sizeof(ts));
	snprintf(head, sizeof(head),
		 "{\"v\":1,\"seq\":%" PRIu64 ",\"ts\":\"%s\",\"mono_ns\":%" PRId64
		 ",\"sid\":\"%s\"",
		 l->seq, ts, (int64_t)mono.tv_sec * 1000000000 + mono.tv_nsec, l->sid);
	record_line_put_text(out, head);
	record_line_put_text(out, ",\"type\":\"");
	record_line_put_text(out, l->type);
	record_line_put_text(out, "\",\"user\":");
	record_line_put_text(out, l->user);
}

static const char no_mac[] = "0000000000000000000000000000000000000000000000000000000000000000";

static void record_put_seal(struct record_text *out, const struct record_hmac *seal)
{
	char epoch[60];

	snprintf(epoch, sizeof(epoch), ",\"seal\":{\"epoch\":%" PRIu64 "," RECORD_MAC_KEY,
		 seal->epoch);
	record_line_put_text(out, epoch);
	record_line_put_text(out, no_mac);
	record_line_put_text(out, "\"}");
}

static void record_put_prev(struct record_text *out, const struct digest *prev)
{
	char hex[DIGEST_HEX];

	record_line_put_text(out, "," RECORD_PREV_KEY);
	record_line_put_text(out, digest_hex(hex, prev));
	record_line_put_text(out, "\"}");
}

static void record_put_mac(struct record_text *line, const struct record_hmac *seal)
{
	char hex[DIGEST_HEX];
	struct digest mac;

	record_hmac_line(&mac, seal, line->v, line->n);
	memcpy(line->v + line->n - RECORD_MAC_TAIL, digest_hex(hex, &mac), DIGEST_HEX - 1);
}

bool record_line_ends(const char *type)
{
	return !strcmp(type, "session.end") || !strcmp(type, "record.rotate");
}

static void record_put_self(struct record_text *line, const struct digest *prev)
{
	char hex[DIGEST_HEX];
	struct digest self;

	line->n -= 1 + RECORD_PREV_TAIL;
	digest_of(&self, line->v, line->n);
	record_line_put_text(line, RECORD_SELF_KEY);
	record_line_put_text(line, digest_hex(hex, &self));
	record_line_put_text(line, "\"");
	record_put_prev(line, prev);
}

/* Instead of what is in out: the line, whose last key is prev, without a newline. */
static void record_line_put(struct record_text *out, const struct record_line *l)
{
	size_t len = strlen(l->data);

	out->n = 0;
	vec_reserve(out, len + 1000);
	record_put_head(out, l);
	record_line_put_text(out, ",\"data\":");
	record_put(out, l->data, len);
	if (l->cast) {
		record_line_put_text(out, ",\"cast\":");
		record_line_put_text(out, l->cast);
	}
	if (l->seal)
		record_put_seal(out, l->seal);
	record_put_prev(out, l->prev);
	if (l->seal)
		record_put_mac(out, l->seal);
	if (record_line_ends(l->type))
		record_put_self(out, l->prev);
}

#define LOGINUID_UNSET 4294967295u

/* The directory, with its parents; a new one is 0750.  -ENOTDIR: something else is there. */
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

/* A new file (0640), locked, to append to; *fd is the caller's.  -EEXIST when it is there. */
static int record_file(int *fd, const char *path, struct err *err)
{
	int rc;

	*fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
	if (*fd < 0)
		return err_set(err, -errno, "%s: cannot be created: %s", path, strerror(errno));
	/* whatever the umask: the group may read, nobody else */
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
		err_set(err, rc, "%s: a line is truncated and cannot be removed", r->path);
	}
	return rc;
}

static int record_put_line(struct record *r, const char *type, const json_t *data, struct err *err)
{
	char *text = json_dumps(data, JSON_COMPACT);
	int rc = text ? record_put_text(r, type, text, err)
		      : err_set(err, -EINVAL, "%s: a %s entry cannot be encoded as JSON", r->path,
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
				 "the screen recording of this session has reached its size limit");
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
		rc = err_set(err, -EINVAL, "%s: a %s entry cannot be encoded as JSON", r->path,
			     type);
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
		       "a finished part of the record may not be on disk: %.250s; a new session "
		       "starts a new record",
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
	data = json_pack("{s:s, s:s, s:o, s:s, s:o, s:I, s:o}", "program", "ibroute-top", "version",
			 IBROUTE_VERSION, "fabric", o->fabric ? record_str(o->fabric) : json_null(),
			 "mode", o->mode ? o->mode : "ro", "host", record_str(r->host), "pid",
			 (json_int_t)getpid(), "genesis", genesis);
	rc = record_do_add(r, "session.start", data, err);
	json_decref(data);
	return rc;
}

static void record_free(struct record *r)
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
		record_free(r);
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
	record_free(r);
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
