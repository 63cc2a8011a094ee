/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/beside/beside.h"

#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define END_MS 10 /* between two tries to end it */

/* As the process that computes sees it. */
struct beside_work {
	struct beside *b;
	struct beside_question q;
	struct isolated result;
};

struct beside {
	const struct beside_ops *ops;
	void *ctx;
	pthread_mutex_t lock;
	pthread_cond_t asked;
	pthread_t thread;
	bool runs, ends;
	struct beside_question next; /* f NULL: none */
	uint64_t due;		     /* clock_ms() from which on it is answered */
	_Atomic pid_t *child;	     /* shared with it; 0: there is none */
};

static void beside_drop(struct beside_question *q)
{
	fabric_put(q->f);
	tables_put(q->t);
	policy_put(q->policy);
	*q = (struct beside_question){ 0 };
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Beside everything else that the machine does. */
static int beside_isolated(void *ctx, struct isolated_out *result, struct err *err)
{
	const struct beside_work *x = ctx;

	atomic_store(x->b->child, getpid());
	errno = nice(19) < 0 ? errno : 0;
	return x->b->ops->work(&x->q, result, err);
}

static int beside_work(void *ctx, struct err *err)
{
	struct beside_work *x = ctx;
	int rc = isolated_run(&x->result, beside_isolated, x, err);

	atomic_store(x->b->child, 0);
	if (!rc)
		x->b->ops->done(x->b->ctx, &x->q, &x->result);
	return rc;
}

static void beside_answer(struct beside *b, struct beside_question *q)
{
	struct beside_work x = { b, *q, { 0 } };
	struct err why = { "" };
	int rc = guarded_call(beside_work, &x, &why);
	bool ends;

	pthread_mutex_lock(&b->lock);
	ends = b->ends;
	pthread_mutex_unlock(&b->lock);
	if (rc && !ends)
		b->ops->failed(b->ctx, &why);
	isolated_free(&x.result);
}

/* Until there is one and it is due; under the lock. */
static void beside_wait(struct beside *b)
{
	struct timespec until = { .tv_sec = (time_t)(b->due / 1000),
				  .tv_nsec = (long)(b->due % 1000) * 1000000 };

	if (!b->next.f)
		pthread_cond_wait(&b->asked, &b->lock);
	else
		pthread_cond_clockwait(&b->asked, &b->lock, CLOCK_MONOTONIC, &until);
}

static void *beside_run(void *arg)
{
	struct beside *b = arg;

	pthread_mutex_lock(&b->lock);
	while (!b->ends) {
		struct beside_question q = b->next;

		if (!q.f || clock_ms() < b->due) {
			beside_wait(b);
			continue;
		}
		b->next = (struct beside_question){ 0 };
		pthread_mutex_unlock(&b->lock);
		beside_answer(b, &q);
		beside_drop(&q);
		pthread_mutex_lock(&b->lock);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

struct beside *beside_new(const struct beside_ops *ops, void *ctx)
{
	struct beside *b = xcalloc(1, sizeof(*b));
	void *shared = mmap(NULL, sizeof(*b->child), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED) {
		free(b);
		return NULL;
	}
	b->child = shared;
	b->ops = ops;
	b->ctx = ctx;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->asked, NULL);
	return b;
}

/* --- the side of OpenSM ----------------------------------------------------------------------- */

/* OpenSM's signals are for its own threads. */
static bool beside_start(struct beside *b)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&b->thread, NULL, beside_run, b);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !rc;
}

void beside_ask(struct beside *b, const struct fabric *f, const struct tables *t,
		struct policy *policy)
{
	struct beside_question q, old;

	if (!b)
		return;
	q = (struct beside_question){ fabric_get(f), tables_get(t), policy_get(policy) };
	pthread_mutex_lock(&b->lock);
	old = b->next;
	b->next = q;
	if (old.t != t)
		b->due = clock_ms() + (b->ops->patience ? 1000ull * b->ops->patience(&q) : 0);
	if (!b->runs)
		b->runs = beside_start(b);
	pthread_cond_signal(&b->asked);
	pthread_mutex_unlock(&b->lock);
	beside_drop(&old);
}

void beside_forget(struct beside *b)
{
	struct beside_question old;

	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	old = b->next;
	b->next = (struct beside_question){ 0 };
	pthread_mutex_unlock(&b->lock);
	beside_drop(&old);
}

/* Only as long as it is ours: its number may be somebody else's afterwards. */
static void beside_kill_child(const struct beside *b)
{
	pid_t child = atomic_load(b->child);
	siginfo_t info;

	if (child && !waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT))
		kill(child, SIGKILL);
}

static void beside_stop(struct beside *b)
{
	pthread_mutex_lock(&b->lock);
	b->ends = true;
	pthread_cond_signal(&b->asked);
	pthread_mutex_unlock(&b->lock);
	while (pthread_tryjoin_np(b->thread, NULL)) {
		beside_kill_child(b);
		poll(NULL, 0, END_MS);
	}
}

void beside_free(struct beside *b)
{
	if (!b)
		return;
	if (b->runs)
		beside_stop(b);
	beside_drop(&b->next);
	munmap(b->child, sizeof(*b->child));
	pthread_cond_destroy(&b->asked);
	pthread_mutex_destroy(&b->lock);
	free(b);
}
