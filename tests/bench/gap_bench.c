/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gap_bench: the longest time between two reports of progress, which bounds that of a cancel, for
 * each engine and each judge of its tables on fabrics that fill the LID space, with 100 jobs.  CPU
 * time of the thread, so that what else runs does not matter (much: it shares the caches).
 *
 *   gap_bench MS [NAME[,NAME...] SPEC...]   fails when a gap is longer than MS milliseconds
 *
 * Names are those of engines and of judges: verify, metrics, predict, transition (from the tables
 * of the engine before), none.  Without one of a judge: all of them.  An engine that refuses a
 * fabric has to do so without a gap, too.
 */
#include "tests/bench/bench_kit.h"

#include "engines/engine.h"
#include "engines/metrics/metrics.h"
#include "engines/predict/predict.h"
#include "engines/transition/transition.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS 100

static const char *const judge_names[] = { "verify", "metrics", "predict", "transition", "none" };
enum { VERIFY = 1, METRICS = 2, PREDICT = 4, TRANSITION = 8, NO_JUDGE = 16 };

static const char *const full[] = {
	"kary:k=27,n=3,hosts=54",
	"fattree3:k=54,fail=1%",
	"torus:dims=16x16x16,hosts=10",
	"hyperx:dims=24x24,hosts=20,lmc=2",
	"dragonfly:p=8,lmc=1",
};

/* A gap: the steps before and after it, "" at the ends. */
struct watch {
	double last, longest;
	char step[16], before[16], after[16];
	uint64_t at;
};

static double thread_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void look(struct watch *w, const char *step, uint64_t done)
{
	double gap = thread_s() - w->last;

	if (gap > w->longest) {
		w->longest = gap;
		memcpy(w->before, w->step, sizeof(w->before));
		snprintf(w->after, sizeof(w->after), "%s", step);
		w->at = done;
	}
	snprintf(w->step, sizeof(w->step), "%s", step);
	w->last = thread_s();
}

static void report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	(void)total;
	look(ctx, step, done);
}

static struct watch watch_begin(void)
{
	return (struct watch){ .last = thread_s() };
}

/* True when it is too long. */
static bool watch_end(struct watch *w, const char *spec, const char *what, double max_s,
		      const char *result)
{
	look(w, "end", 0);
	printf("%-36s %-10s %6.1f ms between %s and %s %llu%s  %s\n", spec, what, 1e3 * w->longest,
	       *w->before ? w->before : "begin", w->after, (unsigned long long)w->at,
	       w->longest > max_s ? "  TOO LONG" : "", result);
	fflush(stdout);
	return w->longest > max_s;
}

static bool watch_engine(struct tables **t, const struct engine *e, const char *spec,
			 const struct fabric *f, const struct jobset *jobs, double max_s)
{
	struct engine_params params = { .vls = 15, .threads = 1 };
	struct watch w = watch_begin();
	struct progress p = { .report = report, .ctx = &w };
	struct err err = { "" };
	int rc = engine_run(e, t, f, e->uses_jobs ? jobs : NULL, NULL, &params, &p, &err);

	if (rc)
		*t = NULL;
	return watch_end(&w, spec, e->name, max_s, err.text);
}

static bool watch_verify(const struct tables *t, const char *spec, const struct fabric *f,
			 double max_s)
{
	struct verify_opts opts = { .certificate = true, .threads = 1 };
	struct watch w = watch_begin();
	struct progress p = { .report = report, .ctx = &w };
	struct verdict *v;
	char text[256];

	if (verify_tables(&v, f, t, &opts, &p, NULL))
		return true;
	verdict_sentence(text, sizeof(text), v, f);
	verdict_free(v);
	return watch_end(&w, spec, "verify", max_s, text);
}

static bool watch_metrics(const struct tables *t, const char *spec, const struct fabric *f,
			  const struct jobset *jobs, double max_s)
{
	struct metrics_opts opts = { .threads = 1 };
	struct watch w = watch_begin();
	struct progress p = { .report = report, .ctx = &w };
	struct err err = { "" };
	struct metrics *m;

	if (!metrics_compute(&m, f, t, jobs, &opts, &p, &err))
		metrics_free(m);
	return watch_end(&w, spec, "metrics", max_s, err.text);
}

/* Both ways to predict, and the bisections of all. */
static bool watch_predict(const struct tables *t, const char *spec, const struct fabric *f,
			  const struct jobset *jobs, double max_s)
{
	struct predict_opts opts = { .pattern = PREDICT_ALLTOALL, .threads = 1 };
	struct ebb_opts ebb = { .threads = 1 };
	struct watch w = watch_begin();
	struct progress p = { .report = report, .ctx = &w };
	struct err err = { "" };
	struct prediction *jp = NULL;
	struct ebb_jobs *je = NULL;
	struct ebb all;

	if (!predict_ebb(&all, f, t, &ebb, &p, &err) &&
	    !predict_ebb_jobs(&je, f, t, jobs, &ebb, &p, &err) &&
	    !predict_jobs(&jp, f, t, jobs, &opts, &p, &err))
		prediction_free(jp);
	ebb_jobs_free(je);
	return watch_end(&w, spec, "predict", max_s, err.text);
}

static bool watch_transition(const struct tables *old, const struct tables *new, const char *spec,
			     const struct fabric *f, double max_s)
{
	struct watch w = watch_begin();
	struct progress p = { .report = report, .ctx = &w };
	struct transition *t;
	struct err err = { "" };

	if (!transition_plan(&t, f, old, new, NULL, &p, &err))
		transition_free(t);
	return watch_end(&w, spec, "transition", max_s, err.text);
}

/* How many gaps are too long. */
static int watch_judges(unsigned judges, const struct tables *last, const struct tables *t,
			const char *spec, const struct fabric *f, const struct jobset *jobs,
			double max_s)
{
	int bad = 0;

	if (judges & VERIFY)
		bad += watch_verify(t, spec, f, max_s);
	if (judges & METRICS)
		bad += watch_metrics(t, spec, f, jobs, max_s);
	if (judges & PREDICT)
		bad += watch_predict(t, spec, f, jobs, max_s);
	if (judges & TRANSITION && last)
		bad += watch_transition(last, t, spec, f, max_s);
	return bad;
}

/* Takes the judges out of the list of names, which then has engines alone. */
static unsigned find_judges(char *engines, const char *names)
{
	char *copy = xstrdup(names), *save = NULL;
	unsigned judges = 0, n = sizeof(judge_names) / sizeof(*judge_names);

	*engines = '\0';
	for (char *name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		unsigned k = 0;

		while (k < n && strcmp(judge_names[k], name))
			k++;
		judges |= k < n ? 1u << k : 0;
		if (k == n)
			strcat(strcat(engines, *engines ? "," : ""), name);
	}
	free(copy);
	return judges ? judges : VERIFY | METRICS | PREDICT | TRANSITION;
}

/* How many gaps are too long. */
static int watch_all(const char *names, const char *spec, const struct fabric *f, double max_s,
		     struct err *err)
{
	char *engines = xstrdup(names), *save = NULL;
	unsigned judges = find_judges(engines, names);
	struct jobset *jobs = make_jobs(f, JOBS);
	struct tables *last = NULL, *t;
	int bad = 0;

	for (char *n = strtok_r(engines, ",", &save); n; n = strtok_r(NULL, ",", &save)) {
		const struct engine *e = engine_find(n, err);

		if (!e) {
			bad = -1;
			break;
		}
		bad += watch_engine(&t, e, spec, f, jobs, max_s);
		if (!t)
			continue;
		bad += watch_judges(judges, last, t, spec, f, jobs, max_s);
		tables_put(last);
		last = t;
	}
	tables_put(last);
	jobset_put(jobs);
	free(engines);
	return bad;
}

int main(int argc, char **argv)
{
	struct err err = { "usage: gap_bench MS [NAME[,NAME...] SPEC...]" };
	const char *names = argc > 2 ? argv[2] : "minhop,updn,ftree,dor,dfsssp,sar,parx,dfdn,nue";
	const char *const *specs = argc > 3 ? (const char *const *)argv + 3 : full;
	int n = argc > 3 ? argc - 3 : (int)(sizeof(full) / sizeof(*full)), bad = argc < 2 ? -1 : 0;

	for (int i = 0; i < n && bad >= 0; i++) {
		struct fabric *f;
		int more;

		if (make_fabric(&f, specs[i], &err)) {
			bad = -1;
			break;
		}
		more = watch_all(names, specs[i], f, 1e-3 * atof(argv[1]), &err);
		bad = more < 0 ? -1 : bad + more;
		fabric_put(f);
	}
	if (bad < 0)
		fprintf(stderr, "gap_bench: %s\n", err.text);
	else
		printf("%d gap%s too long\n", bad, bad == 1 ? "" : "s");
	return bad != 0;
}
