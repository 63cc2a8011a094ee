/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/journal/journal.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/stamp.h"
#include "fabric/plan/file/changefile.h"
#include "fabric/update/journal/journal_rebuild.h"
#include "fabric/update/journal/journal_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JOURNAL_ID "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._"

struct journal {
	char *dir;
	struct txn_info info;
	struct changes *changes;
	uint64_t seq; /* of the next line */
	off_t cut;    /* a line that failed begins here and could not be removed; -1: none */
	int lock, log;
};

const char *journal_base(const char *dir)
{
	const char *env = getenv("IBROUTE_STATE_DIR");

	if (dir)
		return dir;
	return env && *env ? env : JOURNAL_BASE;
}

/* ---- head ---- */

static void journal_who_am_i(struct txn_head *h)
{
	const char *sudo = getenv("SUDO_USER");
	struct passwd pw, *found = NULL;
	char buf[1024];

	if (!h->pid)
		h->pid = getpid();
	if (!h->time_s)
		h->time_s = time(NULL);
	if (!h->host[0] && gethostname(h->host, sizeof(h->host) - 1))
		strcpy(h->host, "localhost");
	if (h->user[0])
		return;
	if (sudo && *sudo && getuid() == 0)
		snprintf(h->user, sizeof(h->user), "%s", sudo);
	else if (!getpwuid_r(getuid(), &pw, buf, sizeof(buf), &found) && found)
		snprintf(h->user, sizeof(h->user), "%s", pw.pw_name);
	else
		snprintf(h->user, sizeof(h->user), "uid %u", (unsigned)getuid());
}

static void journal_choose_id(struct txn_head *h, const char *base)
{
	char stamp[20];

	stamp_utc(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", h->time_s);
	for (unsigned i = 1; i < 10000; i++) {
		char *path;
		bool taken;

		snprintf(h->id, sizeof(h->id), "%s-%ld", stamp, (long)h->pid);
		if (i > 1)
			snprintf(h->id, sizeof(h->id), "%s-%ld-%u", stamp, (long)h->pid, i);
		path = xasprintf("%s/%s", base, h->id);
		taken = access(path, F_OK) == 0;
		free(path);
		if (!taken)
			return;
	}
}

/* ---- what is on the disk ---- */

static int journal_head_load(struct txn_head *h, struct digest *sum, const char *dir,
			     struct err *err)
{
	char *path = xasprintf("%s/head.json", dir), *data = NULL;
	size_t len;
	int rc = store_read(&data, &len, path, err);

	if (!rc)
		rc = txn_head_decode(h, sum, data, len, path, err);
	free(data);
	free(path);
	return rc;
}

static int journal_changes_load(struct changes **out, const char *dir, const struct digest *sum,
				struct err *err)
{
	char *path = xasprintf("%s/changes.bin", dir), *data = NULL;
	struct digest d;
	size_t len;
	int rc = store_read(&data, &len, path, err);

	if (rc)
		goto out;
	digest_of(&d, data, len);
	if (!digest_equal(&d, sum))
		rc = err_set(err, -EBADMSG, "%s: damaged (its checksum does not match head.json)",
			     path);
	else
		rc = changefile_decode(out, (const uint8_t *)data, len, path, err);
out:
	free(data);
	free(path);
	return rc;
}

/* Head and changes, from the plan where they are damaged. -EBADMSG: lost. */
static int journal_load(struct changes **l, struct txn_info *t, const char *dir, const char *id,
			struct err *err)
{
	struct err why = { "" };
	struct txn_head h;
	struct digest sum;
	int head = journal_head_load(&t->head, &sum, dir, &why);
	int rc = head ? head : journal_changes_load(l, dir, &sum, &why);

	t->broken[0] = '\0';
	t->lost = false;
	if (rc) {
		snprintf(t->broken, sizeof(t->broken), "%.*s", (int)sizeof(t->broken) - 1,
			 why.text);
		t->lost = journal_rebuild(&h, l, dir, id, NULL);
	}
	if (head)
		t->head = h;
	snprintf(t->head.id, sizeof(t->head.id), "%.47s", id);
	if (!t->lost)
		return 0;
	return err_set(err, rc == -ENOENT ? -EBADMSG : rc, "%.300s", why.text);
}

/* A log that is missing is one without a whole line. */
static int journal_log_load(struct txn_info *info, size_t *valid, uint64_t *seq, const char *dir,
			    struct err *err)
{
	char *path = xasprintf("%s/state.log", dir), *agents = xasprintf("%s/agents.json", dir);
	char *data = NULL;
	size_t len = 0;
	int rc = store_read(&data, &len, path, err);

	if (!rc || rc == -ENOENT) {
		rc = 0;
		*valid = txn_log_decode(info, seq, data, len);
		/* the line that says so may be lost */
		info->asked = info->asked || access(agents, F_OK) == 0;
	}
	free(data);
	free(agents);
	free(path);
	return rc;
}

static int journal_add_line(struct journal *j, enum txn_state s, uint32_t wave, const char *said,
			    bool sync, struct err *err)
{
	char *path = xasprintf("%s/state.log", j->dir);
	char *line = txn_mark_line(j->seq, s, wave, j->info.why, said, time(NULL));
	off_t before;
	int rc = 0;

	/* the reader would stop at half a line, and everything behind it be lost */
	if (j->cut >= 0 && ftruncate(j->log, j->cut))
		rc = err_set(err, -errno, "%s: a step is truncated and cannot be removed", path);
	else
		j->cut = -1;
	before = lseek(j->log, 0, SEEK_END);
	if (!rc)
		rc = store_append(j->log, path, line, strlen(line), err);
	if (!rc && sync)
		rc = store_sync(j->log, path, err);
	if (rc) {
		if (j->cut < 0 && ftruncate(j->log, before))
			j->cut = before;
	} else {
		j->seq++;
	}
	free(line);
	free(path);
	return rc;
}

int journal_mark(struct journal *j, enum txn_state s, uint32_t wave, const char *said,
		 struct err *err)
{
	int rc = journal_add_line(j, s, wave, said, true, err);

	if (rc)
		return rc;
	j->info.state = s;
	j->info.wave = wave;
	j->info.state_s = time(NULL);
	snprintf(j->info.said, sizeof(j->info.said), "%s", said ? said : "");
	j->info.asked = j->info.asked || s == TXN_UNPATH || s == TXN_REPATH;
	return 0;
}

void journal_because(struct journal *j, enum coord_why why)
{
	if (!j->info.why)
		j->info.why = why;
}

int journal_wave(struct journal *j, uint32_t wave, struct err *err)
{
	int rc;

	if (j->info.state != TXN_WRITING)
		return journal_mark(j, TXN_WRITING, wave, NULL, err);
	rc = journal_add_line(j, TXN_WRITING, wave, NULL, false, err);
	if (!rc)
		j->info.wave = wave;
	return rc;
}

int journal_take(struct journal *j, struct err *err)
{
	int rc = journal_add_line(j, TXN_TAKEN, j->info.wave, NULL, true, err);

	j->info.taken += !rc;
	return rc;
}

static int journal_put_list(const struct journal *j, const char *name, const struct txn_agent *v,
			    uint32_t n, struct err *err)
{
	char *path = xasprintf("%s/%s", j->dir, name), *all = txn_agents_encode(v, n);
	int rc = store_replace(path, all, strlen(all), 0600, err);

	free(all);
	free(path);
	return rc;
}

int journal_put_agents(struct journal *j, const struct txn_agent *v, uint32_t n, struct err *err)
{
	return journal_put_list(j, "agents.json", v, n, err);
}

int journal_put_away(struct journal *j, const struct txn_agent *v, uint32_t n, struct err *err)
{
	return journal_put_list(j, "away.json", v, n, err);
}

static int journal_read_list(struct txn_agent **out, uint32_t *n, const char *dir, const char *name,
			     struct err *err)
{
	char *path = xasprintf("%s/%s", dir, name), *data = NULL;
	size_t len;
	int rc = store_read(&data, &len, path, err);

	if (!rc && txn_agents_decode(out, n, data, len))
		rc = err_set(err, -EBADMSG, "%s: damaged", path);
	free(data);
	free(path);
	return rc;
}

int journal_agents(struct txn_agent **out, uint32_t *n, const struct journal *j, struct err *err)
{
	return journal_read_list(out, n, j->dir, "agents.json", err);
}

int journal_read_agents(struct txn_agent **out, uint32_t *n, const char *base, const char *id,
			bool away, struct err *err)
{
	char *dir = xasprintf("%s/%s", journal_base(base), id);
	int rc = journal_read_list(out, n, dir, away ? "away.json" : "agents.json", err);

	free(dir);
	return rc;
}

/* ---- one transaction ---- */

/* Above all that agents may have heard, also when the clock was set back. */
static uint64_t journal_next_number(const char *base, int64_t now)
{
	uint64_t next = now > 0 ? (uint64_t)now : 1;
	struct txn_info *list;
	uint32_t n;

	if (journal_list(&list, &n, base, NULL))
		return next;
	for (uint32_t i = 0; i < n; i++)
		if (list[i].head.number >= next)
			next = list[i].head.number + 1;
	free(list);
	return next;
}

static struct journal *journal_alloc(const char *base, const char *id)
{
	struct journal *j = xcalloc(1, sizeof(*j));

	j->dir = xasprintf("%s/%s", base, id);
	snprintf(j->info.head.id, sizeof(j->info.head.id), "%.47s", id);
	j->lock = j->log = -1;
	j->cut = -1;
	return j;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	if (j->log >= 0)
		close(j->log);
	store_unlock(j->lock);
	changes_free(j->changes);
	free(j->dir);
	free(j);
}

const struct txn_info *journal_info(const struct journal *j)
{
	return &j->info;
}

struct changes *journal_changes(struct journal *j)
{
	return j->changes;
}

static int journal_open_log(struct journal *j, struct err *err)
{
	char *path = xasprintf("%s/state.log", j->dir);
	size_t valid;
	int rc = journal_log_load(&j->info, &valid, &j->seq, j->dir, err);

	if (rc)
		goto out;
	j->log = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (j->log < 0 || ftruncate(j->log, (off_t)valid))
		rc = err_set(err, -errno, "%s: cannot be written: %s", path, strerror(errno));
	else if (!j->seq)
		rc = store_sync_dir(j->dir, err);
out:
	free(path);
	return rc;
}

static char *journal_holder_text(void)
{
	struct txn_head me = { 0 };

	journal_who_am_i(&me);
	return xasprintf("%s on %s, process %ld", me.user, me.host, (long)me.pid);
}

static int journal_take_lock(struct journal *j, const char *dir, struct err *err)
{
	char *path = xasprintf("%s/lock", dir), *holder = journal_holder_text();
	int rc = store_lock(&j->lock, path, holder, false, err);

	free(holder);
	free(path);
	return rc;
}

static int journal_put_contents(const char *dir, const struct txn_head *h, const struct changes *l,
				struct err *err)
{
	char *changes = xasprintf("%s/changes.bin", dir), *path = xasprintf("%s/head.json", dir);
	struct digest sum;
	uint8_t *data;
	char *head;
	size_t len;
	int rc;

	changefile_encode(&data, &len, l);
	digest_of(&sum, data, len);
	head = txn_head_encode(h, &sum);
	unlink(changes);
	unlink(path);
	rc = store_write(changes, data, len, err);
	if (!rc)
		rc = store_write(path, head, strlen(head), err);
	free(data);
	free(head);
	free(changes);
	free(path);
	return rc;
}

/* For who comes next; where it fails, the plan is still there. */
static void journal_repair(const struct journal *j)
{
	struct err err = { "" };

	if (journal_put_contents(j->dir, &j->info.head, j->changes, &err) ||
	    store_sync_dir(j->dir, &err))
		log_add(LOG_WARN, "journal", "%s", err.text);
}

/* Head and changes as they are on the disk, or as the plan has them; the log is opened behind what
 * it holds. */
static int journal_read_back(struct journal *j, bool lost, struct err *err)
{
	char id[sizeof(j->info.head.id)];
	int rc;

	memcpy(id, j->info.head.id, sizeof(id));
	rc = journal_load(&j->changes, &j->info, j->dir, id, err);
	if (rc && lost) {
		j->changes = xcalloc(1, sizeof(*j->changes));
		rc = 0;
	} else if (!rc && j->info.broken[0]) {
		log_add(LOG_WARN, "journal", "%s; the plan file beside it replaces it",
			j->info.broken);
		journal_repair(j);
	}
	return rc ? rc : journal_open_log(j, err);
}

/* Root's, or that of who works here: nobody else can have put anything into it. */
static bool journal_owned(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static int journal_open_any(struct journal **out, const char *base, const char *id, bool lost,
			    struct err *err)
{
	struct journal *j;
	struct stat st;
	int rc;

	base = journal_base(base);
	j = journal_alloc(base, id);
	if (strchr(id, '/') || id[0] == '.' || stat(j->dir, &st)) {
		rc = err_set(err, -ENOENT, "%s: no transaction of that name in %s", id, base);
		goto out;
	}
	if (!journal_owned(&st)) {
		rc = err_set(
			err, -EPERM,
			"%s belongs to user %u, who may have written anything into it: work on "
			"it as that user, or, if it can be trusted, make it yours (chown -R)",
			j->dir, (unsigned)st.st_uid);
		goto out;
	}
	rc = journal_take_lock(j, j->dir, err);
	if (!rc)
		rc = journal_read_back(j, lost, err);
	j->info.live = true;
out:
	if (rc)
		journal_close(j);
	else
		*out = j;
	return rc;
}

int journal_open(struct journal **out, const char *base, const char *id, struct err *err)
{
	return journal_open_any(out, base, id, false, err);
}

int journal_open_lost(struct journal **out, const char *base, const char *id, struct err *err)
{
	return journal_open_any(out, base, id, true, err);
}

void journal_adopt(struct journal *j, const struct txn_head *head, struct changes *l)
{
	char id[sizeof(head->id)];

	memcpy(id, j->info.head.id, sizeof(id));
	changes_free(j->changes);
	j->changes = l;
	j->info.head = *head;
	memcpy(j->info.head.id, id, sizeof(id));
	j->info.lost = false;
	journal_repair(j);
}

int journal_look(struct txn_head *head, struct changes **out, const char *base, const char *id,
		 struct err *err)
{
	char *dir = xasprintf("%s/%s", journal_base(base), id);
	struct txn_info t;
	struct stat st;
	int rc = stat(dir, &st) ? err_set(err, -ENOENT, "%s: no transaction of that name", dir)
				: journal_load(out, &t, dir, id, err);

	*head = t.head;
	free(dir);
	return rc;
}

/* Everything under a temporary name, then the rename that makes it a transaction. */
static int journal_put_files(const char *tmp, const struct txn_head *h, const struct changes *l,
			     struct err *err)
{
	char *line = txn_mark_line(0, TXN_PREPARED, 0, WHY_NONE, NULL, time(NULL));
	char *p_log = xasprintf("%s/state.log", tmp);
	int rc = journal_put_contents(tmp, h, l, err);

	if (!rc)
		rc = store_write(p_log, line, strlen(line), err);
	if (!rc)
		rc = store_sync_dir(tmp, err);
	free(line);
	free(p_log);
	return rc;
}

static int journal_busy(struct err *err, const struct txn_info *t)
{
	if (t->live)
		return err_set(
			err, -EBUSY,
			"another update of this fabric is in progress: %s, plan %s, by %s on %s, "
			"process %ld",
			t->head.id, t->head.plan, t->head.user, t->head.host, (long)t->head.pid);
	return err_set(err, -EBUSY,
		       "transaction %s (plan %s, by %s) was left in state %s: roll it back first "
		       "(ibroute-top rollback %s)",
		       t->head.id, t->head.plan, t->head.user, txn_state_name(t->state),
		       t->head.id);
}

static bool journal_touches(const char *base, const struct txn_info *t, const struct fabric *f)
{
	char *dir = xasprintf("%s/%s", base, t->head.id);
	struct changes *l = NULL;
	struct txn_info now;
	bool yes = true; /* what cannot be read might */

	if (!journal_load(&l, &now, dir, t->head.id, NULL))
		yes = changes_bind(l, f) < l->n;
	changes_free(l);
	free(dir);
	return yes;
}

static int journal_check_free(const char *base, const struct fabric *f, struct err *err)
{
	struct txn_info *list;
	uint32_t n;
	int rc = journal_list(&list, &n, base, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < n && !rc; i++)
		if (!txn_state_final(list[i].state) && journal_touches(base, &list[i], f))
			rc = journal_busy(err, &list[i]);
	free(list);
	return rc;
}

static int journal_begin_locked(struct journal *j, const char *base, const struct fabric *f,
				const struct changes *l, struct err *err)
{
	char *tmp = xasprintf("%s/.new-%s", base, j->info.head.id);
	int rc = journal_check_free(base, f, err);

	if (rc)
		goto out;
	store_remove(tmp);
	rc = store_mkdir(tmp, err);
	if (!rc)
		rc = journal_take_lock(j, tmp, err);
	if (!rc)
		rc = journal_put_files(tmp, &j->info.head, l, err);
	if (!rc && rename(tmp, j->dir))
		rc = err_set(err, -errno, "%s: cannot rename: %s", tmp, strerror(errno));
	if (rc) {
		store_remove(tmp);
		goto out;
	}
	rc = store_sync_dir(base, err);
	if (rc)
		store_remove(j->dir);
out:
	free(tmp);
	return rc;
}

int journal_begin(struct journal **out, const char *base, const struct fabric *f,
		  const struct txn_head *head, const struct changes *l, struct err *err)
{
	struct journal *j = NULL;
	struct txn_head h = *head;
	char *gate, *holder = journal_holder_text();
	int fd = -1, rc;

	base = journal_base(base);
	gate = xasprintf("%s/lock", base);
	rc = store_mkdir(base, err);
	if (!rc)
		rc = store_lock(&fd, gate, holder, true, err);
	if (rc)
		goto out;
	journal_who_am_i(&h);
	if (!h.id[0])
		journal_choose_id(&h, base);
	if (!h.number)
		h.number = journal_next_number(base, h.time_s);
	h.nlft = l->nlft;
	h.nsl2vl = l->nsl2vl;
	h.nwaves = l->nwaves;
	j = journal_alloc(base, h.id);
	j->info.head = h;
	rc = journal_begin_locked(j, base, f, l, err);
	/* a rollback needs what is on the disk: read it back right away */
	if (!rc)
		rc = journal_read_back(j, false, err);
out:
	store_unlock(fd);
	free(gate);
	free(holder);
	if (rc) {
		journal_close(j);
		return rc;
	}
	j->info.live = true;
	changes_bind(j->changes, f);
	*out = j;
	return 0;
}

/* ---- all of them ---- */

/* What is over is not read in full, nor what somebody works on. */
static int journal_look_at(struct txn_info *t, const char *dir, const char *id, struct err *err)
{
	struct changes *l = NULL;
	struct digest sum;
	uint64_t seq;
	size_t valid;
	int rc = journal_log_load(t, &valid, &seq, dir, err);

	if (rc)
		return rc;
	if ((txn_state_final(t->state) || t->live) && !journal_head_load(&t->head, &sum, dir, NULL))
		return 0;
	rc = journal_load(&l, t, dir, id, err);
	changes_free(l);
	return rc;
}

void journal_read(struct txn_info *t, const char *base, const char *id)
{
	char *dir = xasprintf("%s/%s", journal_base(base), id), *lock = xasprintf("%s/lock", dir);
	char *guard = xasprintf("%s/%s", dir, JOURNAL_SUPERVISOR);
	struct err err = { "" };

	*t = (struct txn_info){ .state = TXN_WRITING };
	t->guarded = store_locked(guard);
	t->held = store_locked(lock);
	t->live = t->held || t->guarded;
	if (journal_look_at(t, dir, id, &err))
		snprintf(t->broken, sizeof(t->broken), "%.*s", (int)sizeof(t->broken) - 1,
			 err.text);
	snprintf(t->head.id, sizeof(t->head.id), "%.47s", id);
	free(guard);
	free(lock);
	free(dir);
}

static int journal_by_id(const void *a, const void *b)
{
	return strcmp(((const struct txn_info *)a)->head.id, ((const struct txn_info *)b)->head.id);
}

/* A directory with the name of a transaction; the records of sessions, which may be in the same
 * folder, are files. */
static bool journal_is_txn(struct stat *st, int base, const char *name)
{
	int len = 0;

	sscanf(name, "%*8[0-9]T%*6[0-9]Z-%n", &len);
	return len == (int)sizeof("20261120T231951Z-") - 1 &&
	       strlen(name) < sizeof(((struct txn_head *)0)->id) &&
	       name[strspn(name, JOURNAL_ID)] == '\0' && !fstatat(base, name, st, 0) &&
	       S_ISDIR(st->st_mode);
}

bool journal_of_others(const char *base)
{
	DIR *d = opendir(journal_base(base));
	bool others = false;
	struct dirent *e;
	struct stat st;

	if (!d)
		return false;
	if (!fstat(dirfd(d), &st))
		others = !journal_owned(&st);
	while (!others && (e = readdir(d)))
		others = journal_is_txn(&st, dirfd(d), e->d_name) && !journal_owned(&st);
	closedir(d);
	return others;
}

bool journal_is_ours(const char *base, const char *id)
{
	char *dir = xasprintf("%s/%s", journal_base(base), id);
	struct stat st;
	bool ours = !stat(dir, &st) && journal_owned(&st);

	free(dir);
	return ours;
}

int journal_names(char ***names, uint32_t *n, const char *base, struct err *err)
{
	VEC(char *) v = { 0 };
	struct dirent *e;
	struct stat st;
	DIR *d;

	base = journal_base(base);
	*names = NULL;
	*n = 0;
	d = opendir(base);
	if (!d && errno == ENOENT)
		return 0;
	if (!d)
		return err_set(err, -errno, "%s: cannot read: %s", base, strerror(errno));
	while ((e = readdir(d)))
		if (journal_is_txn(&st, dirfd(d), e->d_name))
			vec_push(&v, xstrdup(e->d_name));
	closedir(d);
	*names = v.v;
	*n = (uint32_t)v.n;
	return 0;
}

int journal_list(struct txn_info **list, uint32_t *n, const char *base, struct err *err)
{
	char **names;
	int rc = journal_names(&names, n, base, err);

	*list = NULL;
	if (rc)
		return rc;
	if (*n)
		*list = xcalloc(*n, sizeof(**list));
	for (uint32_t i = 0; i < *n; i++) {
		journal_read(&(*list)[i], base, names[i]);
		free(names[i]);
	}
	free(names);
	if (*n)
		qsort(*list, *n, sizeof(**list), journal_by_id);
	return 0;
}

bool journal_newest(struct txn_info *out, const char *base, const char *id, int64_t pid,
		    bool unfinished)
{
	struct txn_info *list;
	bool found = false;
	uint32_t n;

	if (journal_list(&list, &n, base, NULL))
		return false;
	for (uint32_t i = n; i-- > 0 && !found;) {
		found = id[0] ? !strcmp(list[i].head.id, id)
			      : pid && list[i].head.pid == pid &&
					!(unfinished && txn_state_final(list[i].state));
		*out = list[i];
	}
	free(list);
	return found;
}

int journal_find(struct txn_info **list, uint32_t *n, const char *base, const struct fabric *f,
		 struct err *err)
{
	uint32_t all, kept = 0;
	int rc;

	base = journal_base(base);
	rc = journal_list(list, &all, base, err);
	*n = 0;
	if (rc)
		return rc;
	for (uint32_t i = 0; i < all; i++) {
		struct txn_info *t = &(*list)[i];

		if (txn_state_final(t->state) || t->live || (f && !journal_touches(base, t, f)))
			continue;
		(*list)[kept++] = *t;
	}
	*n = kept;
	return 0;
}
