/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collect/fabric_watch.h"

#include "console/collect/baseline.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/baseline/kept_errors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct fabric_watch {
	struct fabric_watch_opts o;
	char *dir;
	struct baseline base;
	const struct fabric *now;	/* own reference */
	const struct error_set *was;	/* of the last run, or of this one's first reading */
	const struct error_set *errors; /* read last ... */
	const struct error_set *due;	/* ... and not between two others */
	bool opened, told;
	struct stat seen; /* the baseline's file, as it was read or written last; no inode: none */
};

struct fabric_watch *fabric_watch_new(const struct fabric_watch_opts *o)
{
	struct fabric_watch *w = xcalloc(1, sizeof(*w));

	w->o = *o;
	w->dir = baseline_dir(o->state_dir);
	return w;
}

void fabric_watch_free(struct fabric_watch *w)
{
	if (!w)
		return;
	baseline_close(&w->base);
	fabric_put(w->now);
	error_set_put(w->was);
	error_set_put(w->errors);
	error_set_put(w->due);
	free(w->dir);
	free(w);
}

static void fabric_watch_tell(struct fabric_watch *w, const struct err *err)
{
	if (!w->told)
		log_add(LOG_WARN, "baseline", "%s", err->text);
	w->told = true;
}

static struct stat fabric_watch_file(const struct fabric_watch *w)
{
	struct stat st;

	if (!w->base.path || stat(w->base.path, &st))
		memset(&st, 0, sizeof(st));
	return st;
}

static void fabric_watch_open(struct fabric_watch *w, const char *name, const struct fabric *f)
{
	struct err err = { "" };

	w->opened = true;
	if (baseline_open(&w->base, w->dir, name, f, w->o.names, &err))
		fabric_watch_tell(w, &err);
	w->seen = fabric_watch_file(w);
}

/* Somebody has accepted another one, edited or removed it, while this runs for months. */
static void fabric_watch_open_again(struct fabric_watch *w, const struct fabric *f)
{
	struct stat now = fabric_watch_file(w);
	char *name;

	if (!w->base.name || (now.st_ino == w->seen.st_ino && now.st_size == w->seen.st_size &&
			      now.st_mtim.tv_sec == w->seen.st_mtim.tv_sec &&
			      now.st_mtim.tv_nsec == w->seen.st_mtim.tv_nsec))
		return;
	name = xstrdup(w->base.name);
	baseline_close(&w->base);
	w->told = false;
	fabric_watch_open(w, name, f);
	free(name);
}

/* --- the fabric ------------------------------------------------------------------------------ */

/* Has it all that is expected, as it is expected, and more? */
static bool fabric_watch_grown(const struct fabric_watch *w, const struct fabric *f)
{
	struct findings *l = findings_new();
	bool grown;

	findings_add_fabric(l, w->base.fabric, f);
	grown = l->n && !findings_count(l);
	findings_put(l);
	return grown;
}

static void fabric_watch_learn(struct fabric_watch *w, const struct fabric *f)
{
	struct err err = { "" };

	if (!w->o.key || !w->base.path || w->base.accepted ||
	    (w->base.fabric && !fabric_watch_grown(w, f)))
		return;
	if (baseline_write(&w->base, f, false, &err))
		fabric_watch_tell(w, &err);
	w->seen = fabric_watch_file(w);
}

void fabric_watch_fabric(struct fabric_watch *w, const struct fabric *f, bool partial)
{
	if (!w->opened)
		fabric_watch_open(w, w->o.name, f);
	else
		fabric_watch_open_again(w, f);
	fabric_put(w->now);
	w->now = fabric_get(f);
	if (!partial)
		fabric_watch_learn(w, f);
}

const char *fabric_watch_name(const struct fabric_watch *w)
{
	return w->base.name;
}

/* --- counters -------------------------------------------------------------------------------- */

/* Ports that do not answer keep what was read of them last. */
static struct error_set *fabric_watch_merged(const struct error_set *was,
					     const struct error_set *now)
{
	struct error_set *all = error_set_new((was ? was->n : 0) + now->n);

	for (uint32_t i = 0; i < now->n; i++)
		all->port[all->n++] = now->port[i];
	for (uint32_t i = 0; was && i < was->n; i++)
		if (!error_set_find(now, was->port[i].guid, was->port[i].port))
			all->port[all->n++] = was->port[i];
	all->time_s = now->time_s;
	all->asked = now->asked;
	error_set_sort(all);
	return all;
}

static void fabric_watch_keep(struct fabric_watch *w)
{
	char *path = baseline_errors_path(w->dir, w->base.name, w->o.key);
	struct error_set *last = NULL, *all;
	struct err err = { "" };
	int rc;

	if (!w->was) {
		rc = kept_errors_read(&last, path, &err);
		if (rc && rc != -ENOENT)
			fabric_watch_tell(w, &err);
		w->was = last;
	}
	all = fabric_watch_merged(w->was, w->errors);
	rc = store_mkdir(w->dir, &err);
	if (!rc)
		rc = kept_errors_write(path, all, &err);
	if (rc)
		fabric_watch_tell(w, &err);
	error_set_put(all);
	free(path);
}

void fabric_watch_errors(struct fabric_watch *w, const struct error_set *s, bool between)
{
	if (w->due && !between) { /* within a run: from one reading to the next */
		const struct error_set *before = w->was;

		w->was = fabric_watch_merged(before, w->due);
		error_set_put(before);
	}
	if (!between || !w->due) {
		error_set_put(w->due);
		w->due = error_set_get(s);
	}
	error_set_put(w->errors);
	w->errors = s;
	if (w->o.key && w->base.name)
		fabric_watch_keep(w);
}

const struct findings *fabric_watch_findings(const struct fabric_watch *w)
{
	const struct error_set *was = w->was ? w->was : w->due;
	struct findings *l = findings_new();

	if (w->base.fabric) {
		l->expected = fabric_get(w->base.fabric);
		l->path = xstrdup(w->base.path);
		l->accepted = w->base.accepted;
		l->since_s = w->base.since_s;
	}
	if (w->base.fabric && w->now)
		findings_add_fabric(l, w->base.fabric, w->now);
	l->errors = error_set_get(w->errors);
	if (w->errors && was && was != w->errors && w->now)
		findings_add_errors(l, was, w->errors,
				    w->o.limit ? w->o.limit : error_limits_default, w->now);
	return l;
}
