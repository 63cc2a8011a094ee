/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/pool.h"

#include "fabric/base/memory/mem.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SPINS                                                                                      \
	2000 /* looks before a thread sleeps: some microseconds, less than it takes to wake one */

struct pool {
	unsigned n; /* workers, the caller's thread included */
	bool spins; /* there is a core for each */
	bool begun; /* a loop that the caller has not ended */
	pthread_t *thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, idle;
	atomic_uint round; /* of loops; written under lock, like the next two */
	atomic_uint busy;  /* threads still in the loop */
	atomic_bool quit;

	/* the loop: set before the round begins */
	bool (*turn)(void *ctx, unsigned worker, uint32_t i);
	void *ctx;
	uint32_t end;
	atomic_uint next;
	atomic_bool stop;
};

struct seat {
	struct pool *pool;
	unsigned worker;
};

static void pool_work(struct pool *p, unsigned worker)
{
	while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
		uint32_t i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);

		if (i >= p->end)
			return;
		if (p->turn(p->ctx, worker, i))
			atomic_store_explicit(&p->stop, true, memory_order_relaxed);
	}
}

static void pool_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static bool pool_called(struct pool *p, unsigned seen)
{
	return atomic_load(&p->round) != seen || atomic_load(&p->quit);
}

/* Loops often follow each other closely. */
static void pool_wait_for_round(struct pool *p, unsigned seen)
{
	for (unsigned i = 0; p->spins && i < SPINS && !pool_called(p, seen); i++)
		pool_pause();
	if (pool_called(p, seen))
		return;
	pthread_mutex_lock(&p->lock);
	while (!pool_called(p, seen))
		pthread_cond_wait(&p->wake, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void pool_wait_for_others(struct pool *p)
{
	for (unsigned i = 0; p->spins && i < SPINS && atomic_load(&p->busy); i++)
		pool_pause();
	if (!atomic_load(&p->busy))
		return;
	pthread_mutex_lock(&p->lock);
	while (atomic_load(&p->busy))
		pthread_cond_wait(&p->idle, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void *pool_run(void *arg)
{
	struct seat *seat = arg;
	struct pool *p = seat->pool;
	unsigned worker = seat->worker, seen = 0;

	free(seat);
	for (;;) {
		pool_wait_for_round(p, seen);
		if (atomic_load(&p->quit))
			return NULL;
		seen++;
		pool_work(p, worker);
		pthread_mutex_lock(&p->lock);
		if (atomic_fetch_sub(&p->busy, 1) == 1)
			pthread_cond_signal(&p->idle);
		pthread_mutex_unlock(&p->lock);
	}
}

static unsigned pool_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned)CPU_COUNT(&set);
}

struct pool *pool_new(unsigned threads)
{
	struct pool *p = xcalloc(1, sizeof(*p));
	unsigned want = threads ? threads : pool_cores();

	p->n = 1;
	p->spins = want <= pool_cores();
	p->thread = xcalloc(want, sizeof(*p->thread));
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	pthread_cond_init(&p->idle, NULL);
	while (p->n < want) {
		struct seat *seat = xcalloc(1, sizeof(*seat));

		*seat = (struct seat){ .pool = p, .worker = p->n };
		if (pthread_create(&p->thread[p->n], NULL, pool_run, seat)) {
			free(seat); /* fewer workers do the same */
			break;
		}
		p->n++;
	}
	return p;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	pool_end(p);
	pthread_mutex_lock(&p->lock);
	atomic_store(&p->quit, true);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 1; i < p->n; i++)
		pthread_join(p->thread[i], NULL);
	pthread_cond_destroy(&p->idle);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p->thread);
	free(p);
}

unsigned pool_threads(const struct pool *p)
{
	return p->n;
}

static void pool_set(struct pool *p, uint32_t n,
		     bool (*turn)(void *ctx, unsigned worker, uint32_t i), void *ctx)
{
	p->turn = turn;
	p->ctx = ctx;
	p->end = n;
	atomic_store(&p->next, 0);
	atomic_store(&p->stop, false);
}

static void pool_call(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	atomic_store(&p->busy, p->n - 1);
	atomic_fetch_add(&p->round, 1);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

bool pool_for(struct pool *p, uint32_t n, bool (*turn)(void *ctx, unsigned worker, uint32_t i),
	      void *ctx)
{
	bool alone = p->n == 1 || n < 2;

	pool_end(p);
	pool_set(p, n, turn, ctx);
	if (!alone)
		pool_call(p);
	pool_work(p, 0);
	if (!alone)
		pool_wait_for_others(p);
	return atomic_load(&p->stop);
}

void pool_begin(struct pool *p, uint32_t n, bool (*turn)(void *ctx, unsigned worker, uint32_t i),
		void *ctx)
{
	pool_end(p);
	pool_set(p, n, turn, ctx);
	p->begun = true;
	if (p->n > 1)
		pool_call(p);
}

void pool_end(struct pool *p)
{
	if (!p->begun)
		return;
	p->begun = false;
	pool_work(p, 0);
	if (p->n > 1)
		pool_wait_for_others(p);
}
