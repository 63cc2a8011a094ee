/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/pool.h"

#include "fabric/base/memory/mem.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct pool {
	unsigned n; /* workers, the caller's thread included */
	pthread_t *thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, idle;
	uint64_t round; /* of loops; guarded by lock like the next two */
	unsigned busy;	/* threads still in the loop */
	bool quit;

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

static void *pool_run(void *arg)
{
	struct seat *seat = arg;
	struct pool *p = seat->pool;
	unsigned worker = seat->worker;
	uint64_t seen = 0;

	free(seat);
	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!p->quit && p->round == seen)
			pthread_cond_wait(&p->wake, &p->lock);
		if (p->quit)
			break;
		seen = p->round;
		pthread_mutex_unlock(&p->lock);
		pool_work(p, worker);
		pthread_mutex_lock(&p->lock);
		if (!--p->busy)
			pthread_cond_signal(&p->idle);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
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
	pthread_mutex_lock(&p->lock);
	p->quit = true;
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

bool pool_for(struct pool *p, uint32_t n, bool (*turn)(void *ctx, unsigned worker, uint32_t i),
	      void *ctx)
{
	bool alone = p->n == 1 || n < 2;

	p->turn = turn;
	p->ctx = ctx;
	p->end = n;
	atomic_store(&p->next, 0);
	atomic_store(&p->stop, false);
	if (!alone) {
		pthread_mutex_lock(&p->lock);
		p->round++;
		p->busy = p->n - 1;
		pthread_cond_broadcast(&p->wake);
		pthread_mutex_unlock(&p->lock);
	}
	pool_work(p, 0);
	if (!alone) {
		pthread_mutex_lock(&p->lock);
		while (p->busy)
			pthread_cond_wait(&p->idle, &p->lock);
		pthread_mutex_unlock(&p->lock);
	}
	return atomic_load(&p->stop);
}
