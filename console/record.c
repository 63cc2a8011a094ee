/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record.h"

#include "console/record_last.h"
#include "fabric/base/mem.h"
#include "fabric/update/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define LOGINUID_UNSET 4294967295u

struct record {
	char *path, *dir;
	json_t *user; /* the same in every line */
	char sid[48];
	int fd;
	bool syslog;
	pthread_mutex_t lock;
	uint64_t seq;  /* of the next line */
	uint64_t lost; /* lines that could not be written since the last one that was */
	uint64_t lost_all;
	off_t size;
	struct digest head;   /* of the last line; zeros before the first */
	struct digest logged; /* the one that syslog has */
};

const char *record_dir(const char *dir)
{
	const char *env = getenv("IBROUTE_RECORD_DIR");

	if (dir)
		return dir;
	return env && *env ? env : RECORD_DIR;
}

/* Length of the UTF-8 sequence that begins there, 0 when there is none. */
static size_t utf8_len(const unsigned char *s)
{
	size_t n = s[0] < 0x80	     ? 1
		   : s[0] >> 5 == 6  ? 2
		   : s[0] >> 4 == 14 ? 3
		   : s[0] >> 3 == 30 ? 4
				     : 0;
	char seq[5] = "";
	json_t *j;

	if (n < 2)
		return n;
	for (size_t i = 0; i < n; i++) {
		if (i && s[i] >> 6 != 2)
			return 0;
		seq[i] = (char)s[i];
	}
	j = json_string(seq); /* also knows overlong forms and surrogates */
	json_decref(j);
	return j ? n : 0;
}

json_t *record_str(const char *s)
{
	json_t *j = json_string(s);
	char *clean;

	if (j)
		return j;
	clean = xstrdup(s);
	for (char *p = clean; *p;) {
		size_t n = utf8_len((const unsigned char *)p);

		if (!n)
			*p = '?';
		p += n ? n : 1;
	}
	j = json_string(clean);
	free(clean);
	return j;
}

static void stamp(char *buf, size_t size)
{
	struct timespec t;
	struct tm tm;
	char day[24];

	clock_gettime(CLOCK_REALTIME, &t);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", gmtime_r(&t.tv_sec, &tm));
	snprintf(buf, size, "%s.%03ldZ", day, t.tv_nsec / 1000000);
}

/* One line without its newline; prev is the last key. */
static char *make_line(const struct record *r, const char *type, json_t *data)
{
	char ts[40], prev[DIGEST_HEX];
	struct timespec mono;
	json_t *line;
	char *text;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	stamp(ts, sizeof(ts));
	line = json_pack("{s:i, s:I, s:s, s:I, s:s, s:s, s:O, s:O, s:s}", "v", 1, "seq",
			 (json_int_t)r->seq, "ts", ts, "mono_ns",
			 (json_int_t)mono.tv_sec * 1000000000 + mono.tv_nsec, "sid", r->sid, "type",
			 type, "user", r->user, "data", data, "prev", digest_hex(prev, &r->head));
	text = line ? json_dumps(line, JSON_COMPACT) : NULL;
	json_decref(line);
	return text;
}

static int put_line(struct record *r, const char *type, json_t *data, struct err *err)
{
	char *line = make_line(r, type, data), *out;
	size_t len;
	int rc;

	if (!line)
		return err_set(err, -EINVAL, "%s: a %s entry cannot be put into JSON", r->path,
			       type);
	len = strlen(line);
	out = xasprintf("%s\n", line);
	rc = store_append(r->fd, r->path, out, len + 1, err);
	if (!rc) {
		digest_of(&r->head, line, len);
		r->size += (off_t)len + 1;
		r->seq++;
	} else if (ftruncate(r->fd, r->size)) {
		err_set(err, rc, "%s: a line is cut and cannot be taken back", r->path);
	}
	free(out);
	free(line);
	return rc;
}

/* What was lost must show before anything else is written. */
static int put_gap(struct record *r, struct err *err)
{
	json_t *gap;
	int rc;

	if (!r->lost)
		return 0;
	gap = json_pack("{s:I}", "lost", (json_int_t)r->lost);
	rc = put_line(r, "record.gap", gap, err);
	json_decref(gap);
	if (!rc)
		r->lost = 0;
	return rc;
}

/* With the lock held; data is only borrowed. */
static int add(struct record *r, const char *type, json_t *data, struct err *err)
{
	int rc;

	if (!data)
		rc = err_set(err, -EINVAL, "%s: a %s entry cannot be put into JSON", r->path, type);
	else
		rc = put_gap(r, err);
	if (!rc)
		rc = put_line(r, type, data, err);
	if (rc) {
		r->lost++;
		r->lost_all++;
	}
	return rc;
}

int record_add(struct record *r, const char *type, json_t *data, struct err *err)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = add(r, type, data, err);
	pthread_mutex_unlock(&r->lock);
	json_decref(data);
	return rc;
}

static int sync_locked(struct record *r, struct err *err)
{
	char hex[DIGEST_HEX];
	int rc = put_gap(r, err);

	if (!rc)
		rc = store_sync(r->fd, r->path, err);
	if (rc || !r->syslog || digest_equal(&r->head, &r->logged))
		return rc;
	syslog(LOG_AUTHPRIV | LOG_INFO, "ibroute-top IBROUTE_HEAD=%s sid=%s seq=%" PRIu64,
	       digest_hex(hex, &r->head), r->sid, r->seq);
	r->logged = r->head;
	return 0;
}

int record_whole(struct record *r, struct err *err)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = put_gap(r, err);
	pthread_mutex_unlock(&r->lock);
	return rc;
}

int record_sync(struct record *r, struct err *err)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = sync_locked(r, err);
	pthread_mutex_unlock(&r->lock);
	return rc;
}

static json_t *loginuid(void)
{
	FILE *f = fopen("/proc/self/loginuid", "re");
	uint32_t id = LOGINUID_UNSET;

	if (f && fscanf(f, "%" SCNu32, &id) != 1)
		id = LOGINUID_UNSET;
	if (f)
		fclose(f);
	return id == LOGINUID_UNSET ? json_null() : json_integer(id);
}

static int make_dir(const char *dir, struct err *err)
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

/* A file of its own for each session, also for several in the same second. */
static int create(struct record *r, struct err *err)
{
	time_t now = time(NULL);
	struct tm tm;
	char when[24];

	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	for (unsigned i = 1; i < 1000; i++) {
		snprintf(r->sid, sizeof(r->sid), "%s-%ld", when, (long)getpid());
		if (i > 1)
			snprintf(r->sid, sizeof(r->sid), "%s-%ld-%u", when, (long)getpid(), i);
		free(r->path);
		r->path = xasprintf("%s/%s.jsonl", r->dir, r->sid);
		r->fd = open(r->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
		if (r->fd >= 0 || errno != EEXIST)
			break;
	}
	if (r->fd < 0)
		return err_set(err, -errno, "%s: cannot be created: %s", r->path, strerror(errno));
	/* whatever the umask: the group may read, nobody else */
	if (fchmod(r->fd, 0640) || flock(r->fd, LOCK_EX | LOCK_NB))
		return err_set(err, -errno, "%s: cannot be locked: %s", r->path, strerror(errno));
	return 0;
}

static int first_line(struct record *r, const struct record_opts *o, struct err *err)
{
	char sid[64] = "", host[72] = "", hex[DIGEST_HEX];
	struct digest last;
	json_t *data, *genesis = json_null();
	int rc;

	if (gethostname(host, sizeof(host) - 1))
		host[0] = '\0';
	if (record_last(sid, sizeof(sid), &last, r->dir, r->sid))
		genesis = json_pack("{s:o, s:s}", "sid", record_str(sid), "head",
				    digest_hex(hex, &last));
	data = json_pack("{s:s, s:o, s:s, s:o, s:I, s:o}", "program", "ibroute-top", "fabric",
			 o->fabric ? record_str(o->fabric) : json_null(), "mode",
			 o->mode ? o->mode : "ro", "host", record_str(host), "pid",
			 (json_int_t)getpid(), "genesis", genesis);
	rc = add(r, "session.start", data, err);
	json_decref(data);
	return rc;
}

static void free_record(struct record *r)
{
	if (r->fd >= 0)
		close(r->fd);
	pthread_mutex_destroy(&r->lock);
	free(r->path);
	free(r->dir);
	json_decref(r->user);
	free(r);
}

int record_open(struct record **out, const struct record_opts *o, struct err *err)
{
	static const struct record_opts plain;
	struct record *r = xcalloc(1, sizeof(*r));
	const char *ssh = getenv("SSH_CONNECTION");
	int rc;

	o = o ? o : &plain;
	r->fd = -1;
	r->dir = xstrdup(record_dir(o->dir));
	r->syslog = o->syslog;
	r->user = json_pack("{s:I, s:o, s:o}", "uid", (json_int_t)getuid(), "loginuid", loginuid(),
			    "ssh", ssh ? record_str(ssh) : json_null());
	pthread_mutex_init(&r->lock, NULL);
	rc = make_dir(r->dir, err);
	if (!rc)
		rc = create(r, err);
	if (!rc)
		rc = first_line(r, o, err);
	if (!rc)
		rc = sync_locked(r, err);
	if (!rc)
		rc = store_sync_dir(r->dir, err);
	if (rc) {
		free_record(r);
		return rc;
	}
	*out = r;
	return 0;
}

int record_close(struct record *r, struct err *err)
{
	json_t *data;
	int rc;

	if (!r)
		return 0;
	data = json_pack("{s:I, s:I}", "lines", (json_int_t)r->seq, "lost",
			 (json_int_t)r->lost_all);
	rc = record_add(r, "session.end", data, err);
	if (!rc)
		rc = record_sync(r, err);
	free_record(r);
	return rc;
}

const char *record_sid(const struct record *r)
{
	return r->sid;
}

const char *record_path(const struct record *r)
{
	return r->path;
}

uint64_t record_seq(struct record *r)
{
	uint64_t seq;

	pthread_mutex_lock(&r->lock);
	seq = r->seq;
	pthread_mutex_unlock(&r->lock);
	return seq;
}
