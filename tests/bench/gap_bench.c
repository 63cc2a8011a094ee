/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gap_bench: the longest time between two reports of progress, which bounds that of a cancel, for
 * each engine, verify and transition on fabrics that fill the LID space.  CPU time of the thread,
 * so that what else runs does not matter (much: it shares the caches).
 *
 *   gap_bench MS [ENGINE[,ENGINE...] SPEC...]   fails when a gap is longer than MS milliseconds
 *
 * An engine that refuses a fabric has to do so without a gap, too.
 */
#include "tests/bench/bench_kit.h"

#include "engines/engine.h"
#include "engines/transition.h"
#include "engines/verify.h"
#include "fabric/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const full[] = {
	"kary:k=27,n=3,hosts=54",
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
			 const struct fabric *f, double max_s)
{
	struct engine_params params = { .vls = 15, .threads = 1 };
	struct watch w = watch_begin();
	struct progress p = { .report = report, .ctx = &w };
	struct err err = { "" };
	int rc = engine_run(e, t, f, NULL, NULL, &params, &p, &err);

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
static int watch_all(const char *names, const char *spec, const struct fabric *f, double max_s,
		     struct err *err)
{
	char *copy = xstrdup(names), *save = NULL;
	struct tables *last = NULL, *t;
	int bad = 0;

	for (char *n = strtok_r(copy, ",", &save); n; n = strtok_r(NULL, ",", &save)) {
		const struct engine *e = engine_find(n, err);

		if (!e) {
			bad = -1;
			break;
		}
		bad += watch_engine(&t, e, spec, f, max_s);
		if (!t)
			continue;
		bad += watch_verify(t, spec, f, max_s);
		if (last)
			bad += watch_transition(last, t, spec, f, max_s);
		tables_put(last);
		last = t;
	}
	tables_put(last);
	free(copy);
	return bad;
}

int main(int argc, char **argv)
{
	struct err err = { "usage: gap_bench MS [ENGINE[,ENGINE...] SPEC...]" };
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
