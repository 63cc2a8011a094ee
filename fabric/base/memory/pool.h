/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool: threads that share a loop.
 *
 * The results of a loop must not depend on which thread runs which turn of it: write to places
 * that belong to the turn, or to a worker's own place that is summed up exactly afterwards.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pool;

/* threads: workers, the caller's thread included; 0: one per core that this process may use. */
struct pool *pool_new(unsigned threads);
void pool_free(struct pool *p); /* NULL is fine */
unsigned pool_threads(const struct pool *p);
/* Calls turn(ctx, worker, i) once for every i from 0 to n-1, handed out in ascending order to
 * workers 0 (the caller, the only one that may report progress) to pool_threads()-1.  Once a turn
 * returns true no more are handed out; returns whether one did.  Not to be nested. */
bool pool_for(struct pool *p, uint32_t n, bool (*turn)(void *ctx, unsigned worker, uint32_t i),
	      void *ctx);

/* The same loop by the others alone, while the caller does something else; what it needs stays
 * until pool_end(), in which the caller takes the turns that are left.  Any other loop ends it
 * first.  No loop waits for a thread that has not come to it in time. */
void pool_begin(struct pool *p, uint32_t n, bool (*turn)(void *ctx, unsigned worker, uint32_t i),
		void *ctx);
void pool_end(struct pool *p); /* where none was begun: nothing */
