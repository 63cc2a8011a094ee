/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/replay/rerun.h"

#include "console/campaign/replay/rerun_page.h"
#include "console/campaign/replay/rerun_state.h"
#include "console/campaign/replay/table1.h"
#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/clock.h"
#include "fabric/jobs/filter.h"
#include "fabric/version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAVE_TIMES 20	/* a state is saved after so many times what saving the last one took */
#define SAVE_S	   .005 /* of the first */

struct rerunning {
	struct rerun *r;
	struct moments *m;
	struct rerun_jobs *jobs;
	struct rerun_state state;
	FILE *out[RERUN_FILES];
	struct pool *pool;
	double saved_s, save_s; /* when, and how long it took */
	/* of a time */
	const struct jobset *js;
	uint32_t index;
	struct way_step step[WAYS_MOST];
	struct err err[WAYS_MOST];
	int rc[WAYS_MOST];
	size_t turn[WAYS_MOST]; /* which ways are at work */
};

/* --- what it is a replay of --------------------------------------------------------------- */

static void rerun_digest_log(char hex[DIGEST_HEX], const struct job_log *log)
{
	struct digest_stream *s = digest_begin();
	struct digest d;

	for (uint32_t i = 0; i < log->n; i++) {
		const struct job_record *r = &log->jobs[i];

		digest_add_u64(s, r->id);
		digest_add_u64(s, r->task);
		digest_add_u64(s, (uint64_t)r->start_s);
		digest_add_u64(s, (uint64_t)r->end_s);
		digest_add(s, r->nodes, strlen(r->nodes) + 1);
	}
	digest_end(&d, s);
	digest_hex(hex, &d);
}

static json_t *rerun_time_or_null(int64_t s)
{
	return s == JOB_LOG_ALL ? json_null() : json_integer(s);
}

static void rerun_add_rules(json_t *o, const struct way_rules *r)
{
	json_object_set_new(o, "vls", json_integer(r->params.vls));
	json_object_set_new(o, "seed", json_integer((json_int_t)r->seed));
	json_object_set_new(o, "pattern", json_string(predict_pattern_name(r->pattern)));
	json_object_set_new(o, "job_nodes_min", json_integer(r->params.job_nodes_min));
	json_object_set_new(o, "auto_period_s", json_integer(r->limits.period_s));
	json_object_set_new(o, "auto_gain", json_real(r->limits.gain));
	json_object_set_new(o, "auto_min_age_s", json_integer(r->min_age_s));
	json_object_set_new(o, "accept_slower", json_boolean(r->limits.accept_slower));
	json_object_set_new(o, "agents", json_boolean(!r->no_agents));
}

static json_t *rerun_meta(const struct rerunning *x)
{
	const struct rerun *r = x->r;
	const struct fabric *f = r->rules.f;
	json_t *o = json_object(), *ways = json_array();
	char hex[DIGEST_HEX];

	json_object_set_new(o, "replay", json_integer(RERUN_VERSION));
	json_object_set_new(o, "program", json_string(IBROUTE_VERSION));
	json_object_set_new(o, "fabric", json_text(f->name));
	digest_hex(hex, &f->fingerprint);
	json_object_set_new(o, "fingerprint", json_string(hex));
	json_object_set_new(o, "switches", json_integer(f->nsw));
	json_object_set_new(o, "terminals", json_integer(f->nterm));
	json_object_set_new(o, "cables", json_integer(f->nchan / 2));
	json_object_set_new(o, "history", json_text(r->history));
	rerun_digest_log(hex, r->log);
	json_object_set_new(o, "history_sha256", json_string(hex));
	json_object_set_new(o, "history_jobs", json_integer(r->log->n));
	json_object_set_new(o, "every_s", json_integer(r->every_s));
	json_object_set_new(o, "from", rerun_time_or_null(r->from_s));
	json_object_set_new(o, "to", rerun_time_or_null(r->to_s));
	json_object_set_new(o, "times", json_integer(moments_count(x->m)));
	for (size_t i = 0; i < r->nway; i++)
		json_array_append_new(ways, json_text(r->way[i].label));
	json_object_set_new(o, "routings", ways);
	rerun_add_rules(o, &r->rules);
	return o;
}

static int rerun_write_json(FILE *out, const void *what, struct err *err)
{
	return output_file_json(out, what, err);
}

/* What is there must be of the same. */
static int rerun_check_meta(const struct rerunning *x, json_t *meta, struct err *err)
{
	char *path = xasprintf("%s/replay.json", x->r->dir);
	json_t *there = json_load_file(path, 0, NULL);
	char *a = json_dumps(there, JSON_COMPACT | JSON_REAL_PRECISION(6)),
	     *b = json_dumps(meta, JSON_COMPACT | JSON_REAL_PRECISION(6));
	int rc = 0;

	if (!x->r->again && !access(path, F_OK) && (!a || !b || strcmp(a, b)))
		rc = err_set(err, -EEXIST,
			     "%s has a replay of another fabric, history, version or with other "
			     "options: take another folder, or --again to begin again",
			     x->r->dir);
	if (!rc)
		rc = output_file_write(path, rerun_write_json, meta, err);
	free(a);
	free(b);
	json_decref(there);
	free(path);
	return rc;
}

/* --- going on ----------------------------------------------------------------------------- */

static int rerun_open_files(struct rerunning *x, struct err *err)
{
	for (int i = 0; i < RERUN_FILES; i++) {
		char *path = xasprintf("%s/%s", x->r->dir, rerun_file_names[i]);
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		int rc = fd < 0 || ftruncate(fd, x->state.bytes[i]) ||
					 lseek(fd, 0, SEEK_END) != x->state.bytes[i]
				 ? -errno
				 : 0;

		x->out[i] = rc ? NULL : fdopen(fd, "w");
		if (!rc && !x->out[i])
			rc = -errno;
		if (rc && fd >= 0)
			close(fd);
		if (rc)
			err_set(err, rc, "%s cannot be written: %s", path, strerror(-rc));
		free(path);
		if (rc)
			return rc;
	}
	return 0;
}

static int rerun_sync(struct rerunning *x, struct err *err)
{
	for (int i = 0; i < RERUN_FILES; i++) {
		errno = 0;
		if (fflush(x->out[i]) || ferror(x->out[i]) || fdatasync(fileno(x->out[i])))
			return err_set(err, errno ? -errno : -EIO, "%s/%s cannot be written: %s",
				       x->r->dir, rerun_file_names[i],
				       strerror(errno ? errno : EIO));
		x->state.bytes[i] = ftello(x->out[i]);
	}
	return 0;
}

static int rerun_save(struct rerunning *x, struct err *err)
{
	double begin = clock_s();
	int rc = rerun_sync(x, err);

	if (!rc)
		rc = rerun_state_save(x->r, &x->state, x->jobs, err);
	x->saved_s = clock_s();
	x->save_s = x->saved_s - begin;
	return rc;
}

static void rerun_remember(struct rerunning *x, struct way *w, const struct jobset *js)
{
	struct job_filter filter = { .min_age_s = x->r->rules.min_age_s,
				     .min_nodes = x->r->rules.params.job_nodes_min };

	jobset_put(w->routed_for);
	w->routed_for = w->mode == WAY_AUTOMATIC
				? job_filter_apply(&filter, js, x->r->rules.f, js->time_s)
				: (struct jobset *)(uintptr_t)jobset_get(js);
}

/* What ways were routed for: of the times before the one to go on with. */
static int rerun_recall(struct rerunning *x, const bool has_routed[WAYS_MOST], struct err *err)
{
	for (uint32_t i = 0; i < x->state.next; i++) {
		struct jobset *js = NULL;
		int rc = 0;

		for (size_t k = 0; k < x->r->nway && !rc; k++) {
			struct way *w = &x->r->way[k];

			if (!has_routed[k] || w->routed_at != i)
				continue;
			if (!js)
				rc = moments_jobs(&js, x->m, i, "history", err);
			if (!rc)
				rerun_remember(x, w, js);
		}
		jobset_put(js);
		if (rc)
			return rc;
	}
	return 0;
}

static int rerun_resume(struct rerunning *x, struct err *err)
{
	bool has_routed[WAYS_MOST] = { false };
	int rc;

	if (x->r->again)
		rerun_state_drop(x->r);
	rc = rerun_state_load(x->r, &x->state, x->jobs, has_routed, err);
	if (rc == -ENOENT)
		rc = 0;
	else if (!rc && x->state.next > moments_count(x->m))
		rc = err_set(err, -EPROTO, "%s: the state is of another history", x->r->dir);
	if (!rc)
		rc = rerun_recall(x, has_routed, err);
	return rc ? rc : rerun_open_files(x, err);
}

/* --- a time ------------------------------------------------------------------------------- */

static bool rerun_turn(void *ctx, unsigned worker, uint32_t i)
{
	struct rerunning *x = ctx;
	size_t k = x->turn[i];

	(void)worker;
	x->rc[k] =
		way_at(&x->step[k], &x->r->way[k], &x->r->rules, x->js, x->index, NULL, &x->err[k]);
	return x->rc[k] != 0;
}

/* Those of fixed tables come first when nobody has any: the others begin with the first of them. */
static void rerun_begin_ways(struct rerunning *x)
{
	const struct tables *first = x->r->installed;

	for (size_t i = 0; i < x->r->nway && !first; i++)
		if (x->r->way[i].mode == WAY_FIXED)
			first = x->r->way[i].t;
	for (size_t i = 0; i < x->r->nway && first; i++)
		if (x->r->way[i].mode == WAY_AUTOMATIC && !x->r->way[i].t)
			x->r->way[i].t = tables_get(first);
}

static uint32_t rerun_ways_of(struct rerunning *x, bool fixed, bool others)
{
	uint32_t n = 0;

	for (size_t i = 0; i < x->r->nway; i++)
		if (x->r->way[i].mode == WAY_FIXED ? fixed : others)
			x->turn[n++] = i;
	return n;
}

static void rerun_route_all(struct rerunning *x)
{
	bool begun = false;

	for (size_t i = 0; i < x->r->nway; i++)
		begun = begun || x->r->way[i].t || x->r->way[i].dead;
	if (!begun || x->r->installed) {
		pool_for(x->pool, rerun_ways_of(x, true, false), rerun_turn, x);
		rerun_begin_ways(x);
		pool_for(x->pool, rerun_ways_of(x, false, true), rerun_turn, x);
	} else {
		pool_for(x->pool, rerun_ways_of(x, true, true), rerun_turn, x);
	}
}

static int rerun_time(struct rerunning *x, uint32_t i, struct err *err)
{
	struct jobset *js;
	int rc = moments_jobs(&js, x->m, i, "history", err);

	if (rc)
		return rc;
	x->js = js;
	x->index = i;
	memset(x->step, 0, sizeof(x->step));
	memset(x->rc, 0, sizeof(x->rc));
	if (js->nmulti) {
		rerun_route_all(x);
		for (size_t k = 0; k < x->r->nway && !rc; k++) {
			rc = x->rc[k];
			if (rc)
				*err = x->err[k];
			else
				rerun_line_write(x->out[0], x->out[2], js->time_s, js,
						 &x->r->way[k], &x->step[k]);
		}
	}
	if (!rc)
		rerun_jobs_add(x->jobs, x->m, js, x->r->way, x->step, x->out[1]);
	for (size_t k = 0; k < x->r->nway; k++)
		way_step_free(&x->step[k]);
	jobset_put(js);
	return rc;
}

static int rerun_all(struct rerunning *x, struct err *err)
{
	uint32_t n = moments_count(x->m);
	struct progress_line w;
	int rc = 0;

	progress_line_start(&w);
	x->saved_s = clock_s();
	x->save_s = SAVE_S;
	for (uint32_t i = x->state.next; i < n && !rc; i++) {
		progress_step(&w.progress, "times", i, n);
		rc = rerun_time(x, i, err);
		x->state.next = i + 1;
		if (!rc && clock_s() - x->saved_s > SAVE_TIMES * x->save_s)
			rc = rerun_save(x, err);
	}
	progress_line_stop(&w);
	if (!rc) {
		rerun_jobs_end(x->jobs, x->r->way, x->out[1]);
		rc = rerun_sync(x, err);
	}
	return rc;
}

/* --- the whole ---------------------------------------------------------------------------- */

static int rerun_report(const struct rerun *r, const json_t *meta, struct err *err)
{
	struct table1 *t;
	int rc = table1_read(&t, r->dir, err);

	if (rc)
		return rc;
	rc = table1_write(t, r->dir, meta, err);
	if (!rc)
		rc = rerun_page_write(r->dir, meta, t, err);
	table1_free(t);
	return rc;
}

/* Its lines are there, and no state. */
static bool rerun_is_done(const struct rerun *r)
{
	char *table = xasprintf("%s/table1.csv", r->dir),
	     *state = xasprintf("%s/state.json", r->dir);
	bool done = !r->again && !access(table, F_OK) && access(state, F_OK);

	free(table);
	free(state);
	return done;
}

static int rerun_work(struct rerunning *x, const json_t *meta, struct err *err)
{
	int rc = 0;

	if (!rerun_is_done(x->r)) {
		rc = rerun_resume(x, err);
		if (!rc)
			rc = rerun_all(x, err);
	}
	if (!rc)
		rc = rerun_report(x->r, meta, err);
	if (!rc)
		rerun_state_drop(x->r);
	return rc;
}

int rerun_history(struct rerun *r, struct err *err)
{
	struct rerunning x = { .r = r };
	json_t *meta;
	int rc;

	for (size_t i = 0; i < r->nway; i++) {
		if (r->way[i].mode == WAY_FIXED && !r->way[i].spec.engine)
			r->way[i].t = tables_get(r->installed);
		auto_policy_init(&r->way[i].policy, &r->rules.limits, 0);
	}
	x.m = moments_new(r->log, r->rules.f, r->every_s, r->from_s, r->to_s);
	x.jobs = rerun_jobs_new(r->log, r->nway);
	x.pool = pool_new(r->threads);
	meta = rerun_meta(&x);
	rc = output_file_folder(r->dir, err);
	if (!rc && !moments_count(x.m))
		rc = err_set(err, -ENODATA, "%s: the history has no time between --from and --to",
			     r->history);
	if (!rc)
		rc = rerun_check_meta(&x, meta, err);
	if (!rc)
		rc = rerun_work(&x, meta, err);
	for (int i = 0; i < RERUN_FILES; i++)
		if (x.out[i])
			fclose(x.out[i]);
	json_decref(meta);
	pool_free(x.pool);
	rerun_jobs_free(x.jobs);
	moments_free(x.m);
	return rc;
}

void rerun_free(struct rerun *r)
{
	for (size_t i = 0; i < r->nway; i++)
		way_free(&r->way[i]);
}
