/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/cells/campaign.h"

#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/plural.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define VERSION 1

void campaign_init(struct campaign *c, const char *dir, struct failures *x)
{
	*c = (struct campaign){ .dir = dir, .x = x, .meta = failures_meta(x) };
	c->n = x->seeds * (uint32_t)x->nengine;
	c->cell = xcalloc(c->n, sizeof(*c->cell));
	for (uint32_t i = 0; i < c->n; i++)
		cell_init(&c->cell[i], x, c->meta, i % x->nengine,
			  x->first_seed + i / x->nengine);
}

void campaign_done(struct campaign *c)
{
	json_decref(c->meta);
	free(c->cell);
}

/* --- what it is of ------------------------------------------------------------------------------- */

static char *campaign_path(const char *dir)
{
	return xasprintf("%s/campaign.json", dir);
}

static int campaign_put(FILE *out, const void *what, struct err *err)
{
	return output_file_json(out, what, err);
}

static json_t *campaign_load(const char *dir, struct err *err)
{
	char *path = campaign_path(dir);
	json_error_t why;
	json_t *there = json_load_file(path, 0, &why);

	if (access(path, F_OK))
		err_set(err, -ENOENT, "%s: no campaign was planned there ('campaign plan %s ...')",
			path, dir);
	else if (!there)
		err_set(err, -EINVAL, "%s:%d: %s", path, why.line, why.text);
	else if (json_integer_value(json_object_get(there, "campaign")) != VERSION)
		err_set(err, -EINVAL, "%s: not a campaign of this version", path);
	else if (!json_is_array(json_object_get(there, "arguments")))
		err_set(err, -EINVAL, "%s: damaged: it has no arguments", path);
	else {
		free(path);
		return there;
	}
	json_decref(there);
	free(path);
	return NULL;
}

/* As files have it. */
static json_t *campaign_of(const struct campaign *c)
{
	char *text = json_dumps(c->meta, JSON_REAL_PRECISION(6));
	json_t *of = json_loads(text, 0, NULL);

	free(text);
	return of;
}

static bool campaign_same(const json_t *a, const json_t *b)
{
	char *x = json_dumps(a, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
	char *y = json_dumps(b, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
	bool same = x && y && !strcmp(x, y);

	free(x);
	free(y);
	return same;
}

int campaign_room(const struct campaign *c, struct err *err)
{
	char *path = campaign_path(c->dir);
	json_t *there = access(path, F_OK) ? NULL : campaign_load(c->dir, err);
	json_t *own = campaign_of(c);
	int rc = 0;

	if (!access(path, F_OK) && !(there && campaign_same(json_object_get(there, "of"), own)))
		rc = err_set(err, -EEXIST, "%s has another campaign already: take another folder",
			     c->dir);
	json_decref(own);
	json_decref(there);
	free(path);
	return rc;
}

int campaign_plan(const struct campaign *c, const json_t *arguments, struct err *err)
{
	char *path = campaign_path(c->dir), *cells = xasprintf("%s/cells", c->dir);
	json_t *new = json_object();
	int rc = output_file_folder(cells, err);

	json_object_set_new(new, "campaign", json_integer(VERSION));
	json_object_set_new(new, "of", campaign_of(c));
	json_object_set(new, "arguments", (json_t *)(uintptr_t)arguments);
	if (!rc)
		rc = output_file_write(path, campaign_put, new, err);
	json_decref(new);
	free(cells);
	free(path);
	return rc;
}

int campaign_arguments(json_t **out, const char *dir, struct err *err)
{
	json_t *there = campaign_load(dir, err);

	if (!there)
		return -EINVAL;
	*out = json_incref(json_object_get(there, "arguments"));
	json_decref(there);
	return 0;
}

int campaign_check(const struct campaign *c, struct err *err)
{
	json_t *there = campaign_load(c->dir, err), *of = json_object_get(there, "of");
	const char *then = json_string_value(json_object_get(of, "program"));
	const char *now = json_string_value(json_object_get(c->meta, "program"));
	json_t *own = campaign_of(c);
	int rc = there ? 0 : -EINVAL;

	if (!rc && (!then || strcmp(then, now)))
		rc = err_set(err, -EXDEV,
			     "%s was planned by ibroute-top %s, this is %s: versions are not mixed",
			     c->dir, then ? then : "?", now);
	else if (!rc && !campaign_same(of, own))
		rc = err_set(err, -EXDEV,
			     "%s was planned for another fabric or other jobs than its inputs are "
			     "now",
			     c->dir);
	json_decref(own);
	json_decref(there);
	return rc;
}

/* --- work ------------------------------------------------------------------------------------------ */

struct campaign_work {
	struct campaign *c;
	struct progress_line watch;
	VEC(uint32_t) todo;
	struct err err;
	int rc;
	pthread_mutex_t lock;
};

/* Files are written one at a time. */
static int campaign_cell(struct campaign_work *w, const struct cell *cell, struct err *err)
{
	struct campaign *c = w->c;
	struct failures_life life;
	int rc;

	memset(&life, 0, sizeof(life));
	rc = failures_life(&life, c->x, cell->engine, cell->seed, err);
	pthread_mutex_lock(&w->lock);
	if (!rc)
		rc = cell_write(c->dir, cell, c->meta, &life, err);
	pthread_mutex_unlock(&w->lock);
	cell_life_free(&life);
	return rc;
}

static bool campaign_turn(void *ctx, unsigned worker, uint32_t i)
{
	struct campaign_work *w = ctx;
	struct err err = { "" };
	int rc;

	if (!worker)
		progress_step(&w->watch.progress, "cells", i, w->todo.n);
	rc = campaign_cell(w, &w->c->cell[w->todo.v[i]], &err);
	pthread_mutex_lock(&w->lock);
	if (rc && !w->rc) {
		w->rc = rc;
		w->err = err;
	}
	rc = w->rc;
	pthread_mutex_unlock(&w->lock);
	return rc != 0;
}

static double campaign_cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

int campaign_run(struct campaign_counts *out, struct campaign *c, uint32_t shard, uint32_t shards,
		 uint32_t most, struct err *err)
{
	struct campaign_work w = { .c = c, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct pool *pool = pool_new(c->x->threads);

	*out = (struct campaign_counts){ .cpu_s = campaign_cpu_s() };
	for (uint32_t i = shard; i < c->n; i += shards)
		if (cell_look(c->dir, &c->cell[i]) == CELL_THERE)
			out->there++;
		else if (!most || w.todo.n < most)
			vec_push(&w.todo, i);
	c->x->rules.bounds =
		life_bounds_new(c->x->first_seed, c->x->seeds, c->x->rules.damage.nstep);
	progress_line_start(&w.watch);
	pool_for(pool, (uint32_t)w.todo.n, campaign_turn, &w);
	progress_line_stop(&w.watch);
	life_bounds_free(c->x->rules.bounds);
	c->x->rules.bounds = NULL;
	out->computed = (uint32_t)w.todo.n;
	out->cpu_s = campaign_cpu_s() - out->cpu_s;
	if (w.rc)
		*err = w.err;
	vec_free(&w.todo);
	pool_free(pool);
	return w.rc;
}

/* --- what there is ----------------------------------------------------------------------------------- */

static char *campaign_tasks(const bool *left, uint32_t shards)
{
	char *text = xstrdup("");

	for (uint32_t k = 0; k < shards; k++) {
		uint32_t last = k;
		char *longer;

		if (!left[k])
			continue;
		while (last + 1 < shards && left[last + 1])
			last++;
		longer = last > k ? xasprintf("%s%s%u-%u", text, *text ? "," : "", k, last)
				  : xasprintf("%s%s%u", text, *text ? "," : "", k);
		free(text);
		text = longer;
		k = last;
	}
	return text;
}

void campaign_look(struct campaign_status *out, const struct campaign *c, uint32_t shards)
{
	bool *left = xcalloc(shards, sizeof(*left));

	*out = (struct campaign_status){ 0 };
	for (uint32_t i = 0; i < c->n; i++) {
		enum cell_state s = cell_look(c->dir, &c->cell[i]);

		out->there += s == CELL_THERE;
		out->missing += s == CELL_MISSING;
		out->damaged += s == CELL_DAMAGED;
		left[i % shards] |= s != CELL_THERE;
	}
	out->tasks = campaign_tasks(left, shards);
	free(left);
}

/* --- merge --------------------------------------------------------------------------------------------- */

static int campaign_no_others(const struct campaign *c, struct err *err)
{
	char *path = xasprintf("%s/cells", c->dir);
	DIR *d = opendir(path);
	struct dirent *e;
	int rc = d ? 0 : err_set(err, -errno, "%s cannot be read: %s", path, strerror(errno));

	while (!rc && (e = readdir(d)))
		rc = cell_foreign(c->dir, e->d_name, c->meta, err);
	if (d)
		closedir(d);
	free(path);
	return rc;
}

struct campaign_lines {
	const struct campaign *c;
	int file; /* which of the lines of each cell */
};

static int campaign_put_lines(FILE *out, const void *what, struct err *err)
{
	const struct campaign_lines *l = what;
	int rc = 0;

	for (uint32_t i = 0; i < l->c->n && !rc; i++) {
		struct failures_life life;

		rc = cell_read(&life, l->c->dir, &l->c->cell[i], err);
		if (!rc && fwrite(life.text[l->file], 1, life.len[l->file], out) != life.len[l->file])
			rc = err_set(err, -EIO, "%s/%s cannot be written: %s", l->c->dir,
				     failures_files[l->file], strerror(errno));
		cell_life_free(&life);
	}
	return rc;
}

int campaign_merge(const struct campaign *c, struct err *err)
{
	struct campaign_lines l = { c, 0 };
	int rc = campaign_no_others(c, err);

	for (l.file = 0; l.file < FAILURES_FILES && !rc; l.file++) {
		char *path = xasprintf("%s/%s", c->dir, failures_files[l.file]);

		rc = output_file_write(path, campaign_put_lines, &l, err);
		free(path);
	}
	if (!rc) {
		char *path = xasprintf("%s/failures.json", c->dir);

		rc = output_file_write(path, campaign_put, c->meta, err);
		free(path);
	}
	return rc ? rc : failures_report(c->dir, c->meta, err);
}
