/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/audit/record_prune.h"

#include "console/record/audit/audit.h"
#include "console/record/record_end.h"
#include "console/record/record_files.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/log.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"
#include "fabric/update/journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DAY_S 86400
#define MIB   (1024 * 1024)

/* Files of one session, as they are in the list. */
struct prune_session {
	size_t from, to;
	bool goes;
	uint64_t bytes;
	time_t newest;
};

struct prune {
	const struct record_prune_opts *o;
	struct record_files files;
	VEC(struct prune_session) sessions;
	struct audit_dir *index; /* as it was at first */
	struct txn_info *txn;	 /* updates of this machine */
	uint32_t ntxn;
	uint64_t bytes; /* of all that is left */
};

bool record_keep_said(const struct record_keep *k)
{
	return k->days >= 0 || k->sessions >= 0 || k->mib >= 0;
}

/* --- what there is ------------------------------------------------------------------------- */

static uint64_t record_prune_size(const char *path, time_t *newest)
{
	char *cast = record_cast_path(path);
	uint64_t bytes = 0;
	struct stat st;

	if (!stat(cast, &st))
		bytes += (uint64_t)st.st_size;
	if (!stat(path, &st)) {
		bytes += (uint64_t)st.st_size;
		*newest = st.st_mtime > *newest ? st.st_mtime : *newest;
	}
	free(cast);
	return bytes;
}

static void record_prune_list(struct prune *p)
{
	char sid[64], last[64] = "";

	record_files_list(&p->files, p->o->dir);
	for (size_t i = 0; i < p->files.n; i++) {
		struct prune_session *s;

		record_name(sid, sizeof(sid), p->files.v[i]);
		if (!i || strcmp(sid, last))
			vec_push(&p->sessions, (struct prune_session){ .from = i });
		s = &p->sessions.v[p->sessions.n - 1];
		s->to = i + 1;
		s->bytes += record_prune_size(p->files.v[i], &s->newest);
		memcpy(last, sid, sizeof(last));
	}
	for (size_t i = 0; i < p->sessions.n; i++)
		p->bytes += p->sessions.v[i].bytes;
}

/* --- what stays ---------------------------------------------------------------------------- */

/* A session holds a lock on the part that it writes. */
static bool record_prune_is_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool open_now = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return open_now;
}

/* It names an update that has not ended, whose record somebody will want. */
static bool record_prune_is_needed(const struct prune *p, const char *path)
{
	bool needed = false;
	char *data;
	size_t len;

	if (!p->ntxn || store_read(&data, &len, path, NULL))
		return false;
	for (uint32_t i = 0; i < p->ntxn && !needed; i++)
		needed = memmem(data, len, p->txn[i].head.id, strlen(p->txn[i].head.id));
	free(data);
	return needed;
}

static bool record_prune_stays(const struct prune *p, const struct prune_session *s)
{
	for (size_t i = s->from; i < s->to; i++)
		if (record_prune_is_open(p->files.v[i]) || record_prune_is_needed(p, p->files.v[i]))
			return true;
	return false;
}

/* left: sessions from this one on. */
static bool record_prune_goes(const struct prune *p, const struct prune_session *s, size_t left)
{
	const struct record_keep *k = &p->o->keep;
	bool old = k->days < 0 || s->newest < time(NULL) - (time_t)k->days * DAY_S;
	bool behind = k->sessions < 0 || left > (size_t)k->sessions;

	if ((k->days >= 0 || k->sessions >= 0) && old && behind)
		return true;
	return k->mib >= 0 && p->bytes > (uint64_t)k->mib * MIB;
}

/* Updates that have not ended are the first *n of the list then. */
static int record_prune_unfinished(struct prune *p, struct err *err)
{
	uint32_t all, n = 0;
	int rc = journal_list(&p->txn, &all, p->o->state_dir, err);

	for (uint32_t i = 0; !rc && i < all; i++)
		if (!txn_state_final(p->txn[i].state))
			p->txn[n++] = p->txn[i];
	p->ntxn = n;
	return rc;
}

/* --- what goes ----------------------------------------------------------------------------- */

static int record_prune_tell(const struct prune *p, const char *path, struct err *err)
{
	struct audit_report r;
	char hex[DIGEST_HEX];
	int rc = audit_verify(&r, path, &(const struct audit_opts){ .dir = p->index }, err);

	if (rc)
		return rc;
	return p->o->tell(p->o->ctx,
			  json_pack("{s:o, s:o, s:I, s:b, s:s, s:I}", "file",
				    json_text(record_file_name(path)), "sid", json_text(r.sid),
				    "lines", (json_int_t)r.lines, "whole", r.ok, "head",
				    digest_hex(hex, &r.head), "epoch", (json_int_t)r.epoch),
			  err);
}

static int record_prune_unlink(const char *path, struct err *err)
{
	if (!unlink(path) || errno == ENOENT)
		return 0;
	return err_set(err, -errno, "%s: cannot be removed: %s", path, strerror(errno));
}

static int record_prune_file(const struct prune *p, const char *path, struct err *err)
{
	time_t unused = 0;
	uint64_t bytes = record_prune_size(path, &unused);
	char *cast = record_cast_path(path);
	int rc = p->o->dry_run ? 0 : record_prune_unlink(cast, err);

	if (!rc && !p->o->dry_run)
		rc = record_prune_unlink(path, err);
	if (!rc)
		p->o->gone(p->o->ctx, path, bytes);
	free(cast);
	return rc;
}

static int record_prune_session(const struct prune *p, const struct prune_session *s,
				struct err *err)
{
	char *end = record_end_path(p->files.v[s->from]);
	int rc = 0;

	for (size_t i = s->from; i < s->to && !rc; i++)
		rc = record_prune_file(p, p->files.v[i], err);
	if (!rc && !p->o->dry_run)
		rc = record_prune_unlink(end, err);
	free(end);
	return rc;
}

/* Chooses, and tells all of it before the first one goes. */
static int record_prune_choose(struct prune *p, struct err *err)
{
	bool any = false;
	int rc = 0;

	for (size_t i = 0; i < p->sessions.n && !rc; i++) {
		struct prune_session *s = &p->sessions.v[i];

		s->goes = record_prune_goes(p, s, p->sessions.n - i) && !record_prune_stays(p, s);
		if (!s->goes)
			continue;
		any = true;
		p->bytes -= s->bytes;
		for (size_t k = s->from; k < s->to && !rc && !p->o->dry_run; k++)
			rc = record_prune_tell(p, p->files.v[k], err);
	}
	return !rc && any && !p->o->dry_run ? p->o->told(p->o->ctx, err) : rc;
}

int record_prune(const struct record_prune_opts *o, struct err *err)
{
	struct prune p = { .o = o };
	int rc = record_dir_check(o->dir, err);

	if (!rc)
		rc = record_prune_unfinished(&p, err);
	if (!rc) {
		record_prune_list(&p);
		p.index = audit_dir_read(o->dir);
	}
	if (!rc)
		rc = record_prune_choose(&p, err);
	for (size_t i = 0; i < p.sessions.n && !rc; i++)
		if (p.sessions.v[i].goes)
			rc = record_prune_session(&p, &p.sessions.v[i], err);
	audit_dir_free(p.index);
	record_files_free(&p.files);
	vec_free(&p.sessions);
	free(p.txn);
	return rc;
}

/* --- noted in the record of a session -------------------------------------------------------- */

struct prune_told {
	struct record *record;
	uint32_t n;
	uint64_t bytes;
};

static int record_prune_add(void *ctx, json_t *data, struct err *err)
{
	struct prune_told *t = ctx;

	return record_add(t->record, "record.prune", data, err);
}

static int record_prune_sync(void *ctx, struct err *err)
{
	struct prune_told *t = ctx;

	return record_sync(t->record, err);
}

static void record_prune_count(void *ctx, const char *path, uint64_t bytes)
{
	struct prune_told *t = ctx;

	(void)path;
	t->n++;
	t->bytes += bytes;
}

bool record_policy_said(const struct record_policy *p)
{
	return p->days || p->sessions || p->mib;
}

static int32_t record_prune_number(unsigned v)
{
	return v ? (int32_t)v : -1;
}

int record_prune_told(struct record *r, const char *dir, const char *state_dir,
		      const struct record_policy *policy, struct err *err)
{
	struct prune_told t = { .record = r };
	const struct record_prune_opts o = {
		.dir = record_dir(dir),
		.state_dir = state_dir,
		.keep = { record_prune_number(policy->days), record_prune_number(policy->sessions),
			  record_prune_number(policy->mib) },
		.tell = record_prune_add,
		.told = record_prune_sync,
		.gone = record_prune_count,
		.ctx = &t,
	};
	int rc = record_prune(&o, err);

	if (t.n)
		log_add(LOG_INFO, "record",
			"%u file%s of old sessions removed from %s: %" PRIu64 " KiB", t.n,
			plural(t.n), o.dir, t.bytes / 1024);
	return rc;
}
