/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/pool.h"

#include "fabric/base/memory/mem.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SPINS                                                                                      \
	2000 /* looks before a thread sleeps: some microseconds, less than it takes to wake one */

/* What a loop's gate holds: its number, whether it is open, and how many threads are inside. */
#define GATE_LOOP   (UINT64_C(1) << 32)
#define GATE_OPEN   (UINT64_C(1) << 31)
#define GATE_INSIDE (GATE_OPEN - 1)

struct pool {
	unsigned n; /* workers, the caller's thread included */
	bool spins; /* there is a core for each */
	bool begun; /* a loop that the caller has not ended */
	pthread_t *thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, idle;
	atomic_uint_fast64_t gate;
	atomic_uint asleep;   /* others that nobody has woken yet; written under lock */
	atomic_bool deserted; /* the caller sleeps until nobody is inside; likewise */
	atomic_bool quit;

	/* the loop: set while the gate is closed and nobody is inside */
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

/* Is another loop than that of gate seen open? */
static bool pool_is_open(uint64_t gate, uint64_t seen)
{
	return (gate & GATE_OPEN) && gate / GATE_LOOP != seen / GATE_LOOP;
}

static bool pool_called(struct pool *p, uint64_t seen)
{
	return pool_is_open(atomic_load(&p->gate), seen) || atomic_load(&p->quit);
}

/* Loops often follow each other closely. */
static void pool_wait_for_loop(struct pool *p, uint64_t seen)
{
	for (unsigned i = 0; p->spins && i < SPINS && !pool_called(p, seen); i++)
		pool_pause();
	if (pool_called(p, seen))
		return;
	pthread_mutex_lock(&p->lock);
	for (;;) {
		atomic_fetch_add(&p->asleep, 1);
		if (pool_called(p, seen))
			break;
		pthread_cond_wait(&p->wake, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
}

/* False when the loop was closed before. */
static bool pool_enter(struct pool *p, uint64_t *seen)
{
	uint64_t gate = atomic_load(&p->gate);

	while (pool_is_open(gate, *seen)) {
		if (!atomic_compare_exchange_weak(&p->gate, &gate, gate + 1))
			continue;
		*seen = gate;
		return true;
	}
	return false;
}

static void pool_leave(struct pool *p)
{
	uint64_t gate = atomic_fetch_sub(&p->gate, 1);

	if ((gate & GATE_INSIDE) > 1 || !atomic_load(&p->deserted))
		return;
	pthread_mutex_lock(&p->lock);
	pthread_cond_signal(&p->idle);
	pthread_mutex_unlock(&p->lock);
}

static void *pool_run(void *arg)
{
	struct seat *seat = arg;
	struct pool *p = seat->pool;
	unsigned worker = seat->worker;
	uint64_t seen = 0;

	free(seat);
	for (;;) {
		pool_wait_for_loop(p, seen);
		if (atomic_load(&p->quit))
			return NULL;
		if (!pool_enter(p, &seen))
			continue;
		pool_work(p, worker);
		pool_leave(p);
	}
}

static void pool_open(struct pool *p)
{
	uint64_t gate = atomic_load(&p->gate);

	atomic_store(&p->gate, (gate / GATE_LOOP + 1) * GATE_LOOP + GATE_OPEN);
	if (!atomic_load(&p->asleep))
		return;
	pthread_mutex_lock(&p->lock);
	atomic_store(&p->asleep, 0);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

/* Waits for those that came in, which others no longer can. */
static void pool_close(struct pool *p)
{
	atomic_fetch_and(&p->gate, ~GATE_OPEN);
	for (unsigned i = 0; p->spins && i < SPINS && (atomic_load(&p->gate) & GATE_INSIDE); i++)
		pool_pause();
	if (!(atomic_load(&p->gate) & GATE_INSIDE))
		return;
	pthread_mutex_lock(&p->lock);
	atomic_store(&p->deserted, true);
	while (atomic_load(&p->gate) & GATE_INSIDE)
		pthread_cond_wait(&p->idle, &p->lock);
	atomic_store(&p->deserted, false);
	pthread_mutex_unlock(&p->lock);
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

bool pool_for(struct pool *p, uint32_t n, bool (*turn)(void *ctx, unsigned worker, uint32_t i),
	      void *ctx)
{
	bool alone = p->n == 1 || n < 2;

	pool_end(p);
	pool_set(p, n, turn, ctx);
	if (!alone)
		pool_open(p);
	pool_work(p, 0);
	if (!alone)
		pool_close(p);
	return atomic_load(&p->stop);
}

void pool_begin(struct pool *p, uint32_t n, bool (*turn)(void *ctx, unsigned worker, uint32_t i),
		void *ctx)
{
	pool_end(p);
	pool_set(p, n, turn, ctx);
	p->begun = true;
	if (p->n > 1)
		pool_open(p);
}

void pool_end(struct pool *p)
{
	if (!p->begun)
		return;
	p->begun = false;
	pool_work(p, 0);
	if (p->n > 1)
		pool_close(p);
}
