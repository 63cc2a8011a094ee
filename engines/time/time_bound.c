/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/time_bound.h"

#include "engines/predict/job_ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SWITCHES_MAX 600

/* Lengths of channels, and what follows from them. */
struct measure {
	const double *length; /* NULL: all are 1 */
	double *dist;	      /* from switch * nsw + to switch */
	double room;	      /* sum(length * capacity) */
	double *todo;	      /* per job: what its flows of the phase at hand are long */
};

struct time_floor {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct jobset *jobs;
	struct job_ranks *ranks;
	uint32_t phases;
	uint64_t seed;
	double *cap;		  /* per channel */
	double *cap_out, *cap_in; /* per switch */
	bool *counts;		  /* per job: it sends over links */
	uint32_t *shift;	  /* job * phases + phase */
	double *least;		  /* per job: by itself */
	uint32_t *out, *in;	  /* per switch: flows of one job; 0 between uses */
	struct rank_flows list;
	struct measure measure[2];
	uint32_t nmeasure;
};

/* --- distances ------------------------------------------------------------------------------- */

static double time_bound_length(const struct measure *m, uint32_t c)
{
	return m->length ? m->length[c] : 1;
}

/* Dijkstra without a heap. */
static void time_bound_find_from(struct measure *m, const struct fabric *f, uint32_t source,
				 bool *done)
{
	double *dist = m->dist + (size_t)source * f->nsw;

	memset(done, 0, f->nsw * sizeof(*done));
	for (uint32_t u = 0; u < f->nsw; u++)
		dist[u] = HUGE_VAL;
	dist[source] = 0;
	for (;;) {
		uint32_t at = FAB_NONE;

		for (uint32_t u = 0; u < f->nsw; u++)
			if (!done[u] && dist[u] < (at == FAB_NONE ? HUGE_VAL : dist[at]))
				at = u;
		if (at == FAB_NONE)
			return;
		done[at] = true;
		for (uint32_t c = f->chan_off[at]; c < f->chan_off[at + 1]; c++)
			dist[f->chan_dst[c]] =
				fmin(dist[f->chan_dst[c]], dist[at] + time_bound_length(m, c));
	}
}

static bool time_bound_find_distances(struct time_floor *b, const double *lengths,
				      struct progress *progress)
{
	struct measure *m = &b->measure[b->nmeasure++];
	bool *done = arena_alloc(b->mem, b->f->nsw, sizeof(*done));

	*m = (struct measure){ .length = lengths };
	m->dist = arena_alloc(b->mem, (size_t)b->f->nsw * b->f->nsw, sizeof(*m->dist));
	m->todo = arena_alloc(b->mem, b->jobs->njob, sizeof(*m->todo));
	for (uint32_t c = 0; c < b->f->nchan; c++)
		m->room += time_bound_length(m, c) * b->cap[c];
	for (uint32_t u = 0; u < b->f->nsw; u++) {
		time_bound_find_from(m, b->f, u, done);
		if (u % 64 == 0 && progress_step(progress, "phases", 0, 1))
			return true;
	}
	return false;
}

/* --- phases ---------------------------------------------------------------------------------- */

/* What a switch's channels need for that many flows. */
static void time_bound_take_share(double *least, uint32_t flows, double cap)
{
	if (flows && cap > 0)
		*least = fmax(*least, flows / cap);
}

static void time_bound_look_at_job(struct time_floor *b, uint32_t phase, uint32_t j)
{
	const struct fabric *f = b->f;
	double *least = &b->least[j];

	b->list.flows.n = 0;
	job_ranks_shift(&b->list, &b->ranks[j], b->shift[(size_t)j * b->phases + phase]);
	*least = 1;
	for (uint32_t i = 0; i < b->nmeasure; i++)
		b->measure[i].todo[j] = 0;
	for (size_t k = 0; k < b->list.flows.n; k++) {
		uint32_t from = f->term_sw[b->list.flows.v[k].src];
		uint32_t to = f->term_sw[b->list.flows.v[k].dst];

		if (from == to)
			continue;
		b->counts[j] = true;
		b->out[from]++;
		b->in[to]++;
		for (uint32_t i = 0; i < b->nmeasure; i++)
			b->measure[i].todo[j] +=
				b->measure[i].dist[(size_t)from * f->nsw + to];
	}
	for (size_t k = 0; k < b->list.flows.n; k++) {
		uint32_t from = f->term_sw[b->list.flows.v[k].src];
		uint32_t to = f->term_sw[b->list.flows.v[k].dst];

		time_bound_take_share(least, b->out[from], b->cap_out[from]);
		time_bound_take_share(least, b->in[to], b->cap_in[to]);
		b->out[from] = b->in[to] = 0;
	}
}

static int time_bound_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Sum of the times of n jobs, at least; both lists are sorted by it. */
static double time_bound_sum(double *least, double *todo, uint32_t n, double room)
{
	double sent = 0, sum = 0;

	qsort(least, n, sizeof(*least), time_bound_ascending);
	qsort(todo, n, sizeof(*todo), time_bound_ascending);
	for (uint32_t i = 0; i < n; i++) {
		sent += todo[i];
		sum += fmax(least[i], room > 0 && isfinite(sent) ? sent / room : 0);
	}
	return sum;
}

static uint32_t time_bound_pack(double *to, const struct time_floor *b, const double *from)
{
	uint32_t n = 0;

	for (uint32_t j = 0; j < b->jobs->njob; j++)
		if (b->counts[j])
			to[n++] = from[j];
	return n;
}

/* Of the jobs that count, in one phase. */
static double time_bound_phase(struct time_floor *b, uint32_t phase, double *least, double *todo)
{
	double best = 0;
	uint32_t n = 0;

	for (uint32_t j = 0; j < b->jobs->njob; j++)
		if (b->counts[j])
			time_bound_look_at_job(b, phase, j);
	for (uint32_t i = 0; i < b->nmeasure; i++) {
		n = time_bound_pack(least, b, b->least);
		time_bound_pack(todo, b, b->measure[i].todo);
		best = fmax(best, time_bound_sum(least, todo, n, b->measure[i].room));
	}
	return n ? best / n : 0;
}

static void time_bound_find_capacities(struct time_floor *b)
{
	const struct fabric *f = b->f;
	struct predict_paths p;

	b->cap = arena_alloc(b->mem, f->nchan, sizeof(*b->cap));
	b->cap_out = arena_alloc(b->mem, f->nsw, sizeof(*b->cap_out));
	b->cap_in = arena_alloc(b->mem, f->nsw, sizeof(*b->cap_in));
	predict_paths_speeds(&p, f);
	for (uint32_t c = 0; c < f->nchan; c++) {
		b->cap[c] = 1 / (double)p.slow[c];
		b->cap_out[f->chan_src[c]] += b->cap[c];
		b->cap_in[f->chan_dst[c]] += b->cap[c];
	}
	predict_paths_done(&p);
}

static void time_bound_draw(struct time_floor *b)
{
	b->ranks = job_ranks_new(b->mem, b->f, b->jobs);
	b->shift = arena_alloc(b->mem, (size_t)b->jobs->njob * b->phases, sizeof(*b->shift));
	b->counts = arena_alloc(b->mem, b->jobs->njob, sizeof(*b->counts));
	b->least = arena_alloc(b->mem, b->jobs->njob, sizeof(*b->least));
	b->out = arena_alloc(b->mem, b->f->nsw, sizeof(*b->out));
	b->in = arena_alloc(b->mem, b->f->nsw, sizeof(*b->in));
	for (uint32_t j = 0; j < b->jobs->njob; j++) {
		job_time_shifts(b->shift + (size_t)j * b->phases, b->phases, b->ranks[j].nrank,
				b->seed, b->jobs->jobs[j].id);
		for (uint32_t i = 0; b->ranks[j].nrank > 1 && i < b->phases; i++)
			time_bound_look_at_job(b, i, j); /* does it count? */
	}
}

int time_bound_compute(double *out, const struct fabric *f, const struct jobset *jobs,
		       const double *lengths, const struct job_time_opts *opts,
		       struct progress *progress)
{
	struct time_floor b = { .mem = arena_new(), .f = f, .jobs = jobs };
	double *least = arena_alloc(b.mem, jobs->njob, sizeof(*least)), sum = 0;
	double *todo = arena_alloc(b.mem, jobs->njob, sizeof(*todo));
	bool stopped = false;

	b.phases = opts && opts->phases ? opts->phases : JOB_TIME_PHASES;
	b.seed = opts ? opts->seed : 0;
	*out = 0;
	if (f->nsw <= SWITCHES_MAX) {
		time_bound_find_capacities(&b);
		time_bound_draw(&b);
		stopped = time_bound_find_distances(&b, NULL, progress) ||
			  (lengths && time_bound_find_distances(&b, lengths, progress));
		for (uint32_t i = 0; i < b.phases && !stopped; i++) {
			sum += time_bound_phase(&b, i, least, todo);
			stopped = progress_step(progress, "phases", i, b.phases);
		}
		*out = sum / b.phases;
	}
	vec_free(&b.list.flows);
	arena_free(b.mem);
	return stopped ? -ECANCELED : 0;
}
