/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/fresh_gap.h"

#include "engines/metrics/metrics.h"
#include "engines/time/shift_time.h"
#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/process/isolate.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHIFTS 64
#define END_MS 10 /* between two tries to end it */

struct fresh_question {
	const struct fabric *f;
	const struct tables *t;
	struct policy *policy;
};

/* As the process that computes sees it. */
struct fresh_work {
	struct fresh_gap *g;
	struct fresh_question q;
	struct isolated result;
};

struct fresh_figures {
	double time; /* of shifts: 1 is without contention */
	uint64_t efi;
	unsigned vls;
};

struct fresh_gap {
	struct table_selection_log log;
	pthread_mutex_t lock;
	pthread_cond_t asked;
	pthread_t thread;
	bool runs, ends;
	struct fresh_question next; /* f NULL: none */
	_Atomic pid_t *child;	    /* shared with it; 0: there is none */
};

static void fresh_gap_drop(struct fresh_question *q)
{
	fabric_put(q->f);
	tables_put(q->t);
	policy_put(q->policy);
	*q = (struct fresh_question){ 0 };
}

/* --- in a process of its own ------------------------------------------------------------------ */

static int fresh_gap_measure(struct fresh_figures *out, const struct fabric *f,
			     const struct tables *t, struct err *err)
{
	struct shift_time_opts so = { .shifts = SHIFTS, .seed = 1, .threads = 1 };
	struct metrics_opts mo = { .threads = 1 };
	struct shift_time shift;
	struct metrics *m;
	int rc = shift_time_compute(&shift, f, t, &so, NULL, err);

	if (!rc)
		rc = metrics_compute(&m, f, t, NULL, &mo, NULL, err);
	if (rc)
		return rc;
	*out = (struct fresh_figures){ 1 / shift.sync.mean, m->efi_max, m->vls_used };
	metrics_free(m);
	return 0;
}

static void fresh_gap_keep_quiet(void *ctx, const char *sentence)
{
	(void)ctx;
	(void)sentence;
}

/* Beside everything else that the machine does. */
static void fresh_gap_make_way(const struct fresh_gap *g)
{
	atomic_store(g->child, getpid());
	errno = nice(19) < 0 ? errno : 0;
}

static int fresh_gap_isolated(void *ctx, struct isolated_out *result, struct err *err)
{
	static const struct table_selection_log quiet = { fresh_gap_keep_quiet, NULL };
	const struct fresh_work *x = ctx;
	const struct fresh_question *q = &x->q;
	struct engine_params params = q->policy->params;
	struct fresh_figures both[2];
	struct route_limits *l;
	struct tables *fresh;
	int rc;

	fresh_gap_make_way(x->g);
	table_selection_limits(&l, q->f, q->policy, &quiet);
	params.threads = 1;
	params.limits = l;
	engine_spec_apply(&q->policy->spec, &params);
	rc = engine_run(q->policy->spec.engine, &fresh, q->f, NULL, NULL, &params, NULL, err);
	if (!rc)
		rc = fresh_gap_measure(&both[0], q->f, q->t, err);
	if (!rc)
		rc = fresh_gap_measure(&both[1], q->f, fresh, err);
	if (!rc)
		isolated_put(result, both, sizeof(both));
	return rc;
}

/* --- the thread ------------------------------------------------------------------------------- */

static void fresh_gap_tell(const struct fresh_gap *g, const struct fresh_question *q,
			   const struct fresh_figures both[2])
{
	char text[300];

	snprintf(text, sizeof(text),
		 "the repaired routing against a fresh one by %s: time of shifts %.3f and %.3f "
		 "(%+.1f %%), maximum EFI %" PRIu64 " and %" PRIu64 ", %u and %u VLs",
		 q->policy->spec.label, both[0].time, both[1].time,
		 100 * (both[0].time / both[1].time - 1), both[0].efi, both[1].efi, both[0].vls,
		 both[1].vls);
	g->log.say(g->log.ctx, text);
}

static int fresh_gap_work(void *ctx, struct err *err)
{
	struct fresh_work *x = ctx;
	struct fresh_figures both[2];
	int rc = isolated_run(&x->result, fresh_gap_isolated, x, err);

	atomic_store(x->g->child, 0);
	if (rc)
		return rc;
	memcpy(both, x->result.data, sizeof(both));
	fresh_gap_tell(x->g, &x->q, both);
	return 0;
}

static void fresh_gap_answer(struct fresh_gap *g, struct fresh_question *q)
{
	struct fresh_work x = { g, *q, { 0 } };
	char text[300];
	struct err why = { "" };
	int rc = guarded_call(fresh_gap_work, &x, &why);
	bool ends;

	pthread_mutex_lock(&g->lock);
	ends = g->ends;
	pthread_mutex_unlock(&g->lock);
	if (rc && !ends) {
		snprintf(text, sizeof(text), "no fresh routing to compare with: %.250s", why.text);
		g->log.say(g->log.ctx, text);
	}
	isolated_free(&x.result);
}

static void *fresh_gap_run(void *arg)
{
	struct fresh_gap *g = arg;

	pthread_mutex_lock(&g->lock);
	while (!g->ends) {
		struct fresh_question q = g->next;

		if (!q.f) {
			pthread_cond_wait(&g->asked, &g->lock);
			continue;
		}
		g->next = (struct fresh_question){ 0 };
		pthread_mutex_unlock(&g->lock);
		fresh_gap_answer(g, &q);
		fresh_gap_drop(&q);
		pthread_mutex_lock(&g->lock);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

struct fresh_gap *fresh_gap_new(const struct table_selection_log *log)
{
	struct fresh_gap *g = xcalloc(1, sizeof(*g));
	void *shared = mmap(NULL, sizeof(*g->child), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED) {
		free(g);
		return NULL;
	}
	g->child = shared;
	g->log = *log;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->asked, NULL);
	return g;
}

/* --- the side of OpenSM ----------------------------------------------------------------------- */

/* OpenSM's signals are for its own threads. */
static bool fresh_gap_start(struct fresh_gap *g)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&g->thread, NULL, fresh_gap_run, g);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !rc;
}

void fresh_gap_ask(struct fresh_gap *g, const struct fabric *f, const struct tables *t,
		   struct policy *policy)
{
	struct fresh_question q, old;

	if (!g)
		return;
	q = (struct fresh_question){ fabric_get(f), tables_get(t), policy_get(policy) };
	pthread_mutex_lock(&g->lock);
	old = g->next;
	g->next = q;
	if (!g->runs)
		g->runs = fresh_gap_start(g);
	pthread_cond_signal(&g->asked);
	pthread_mutex_unlock(&g->lock);
	fresh_gap_drop(&old);
}

/* Only as long as it is ours: its number may be somebody else's afterwards. */
static void fresh_gap_kill_child(const struct fresh_gap *g)
{
	pid_t child = atomic_load(g->child);
	siginfo_t info;

	if (child && !waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT))
		kill(child, SIGKILL);
}

static void fresh_gap_stop(struct fresh_gap *g)
{
	pthread_mutex_lock(&g->lock);
	g->ends = true;
	pthread_cond_signal(&g->asked);
	pthread_mutex_unlock(&g->lock);
	while (pthread_tryjoin_np(g->thread, NULL)) {
		fresh_gap_kill_child(g);
		poll(NULL, 0, END_MS);
	}
}

void fresh_gap_free(struct fresh_gap *g)
{
	if (!g)
		return;
	if (g->runs)
		fresh_gap_stop(g);
	fresh_gap_drop(&g->next);
	munmap(g->child, sizeof(*g->child));
	pthread_cond_destroy(&g->asked);
	pthread_mutex_destroy(&g->lock);
	free(g);
}
