/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/job_ranks.h"

#include <string.h>

static bool job_ranks_same_node(const struct fabric *f, uint32_t a, uint32_t b)
{
	return !strcmp(f->term_name[a], f->term_name[b]);
}

/* alone: a node of its own, whatever its name is. */
static void job_ranks_add(struct job_ranks *t, const struct fabric *f, uint32_t term, bool alone)
{
	uint32_t at = t->off[t->nrank];

	if (!at || alone || !job_ranks_same_node(f, t->term[at - 1], term))
		t->nrank++;
	t->term[at++] = term;
	t->off[t->nrank] = at;
}

static void job_ranks_reserve(struct job_ranks *t, struct arena *mem, uint32_t nterm)
{
	t->off = arena_alloc(mem, nterm + 1u, sizeof(*t->off));
	t->term = arena_alloc(mem, nterm, sizeof(*t->term));
}

struct job_ranks *job_ranks_new(struct arena *mem, const struct fabric *f,
				const struct jobset *jobs)
{
	struct job_ranks *teams = arena_alloc(mem, jobs->njob, sizeof(*teams));

	for (uint32_t j = 0; j < jobs->njob; j++)
		job_ranks_reserve(&teams[j], mem, jobs->jobs[j].nterm);
	for (uint32_t i = 0; i < f->nterm; i++) {
		uint32_t term = f->term_by_name[i];

		for (uint32_t k = jobs->term_off[term]; k < jobs->term_off[term + 1]; k++)
			job_ranks_add(&teams[jobs->term_job[k]], f, term, false);
	}
	return teams;
}

/* Ports with the name of the one at that place in the order of names. */
static uint32_t job_ranks_namesakes(const struct fabric *f, uint32_t first)
{
	uint32_t n = 1;

	while (first + n < f->nterm &&
	       job_ranks_same_node(f, f->term_by_name[first], f->term_by_name[first + n]))
		n++;
	return n;
}

struct job_ranks *job_ranks_all(struct arena *mem, const struct fabric *f)
{
	struct job_ranks *t = arena_alloc(mem, 1, sizeof(*t));
	uint32_t n;

	job_ranks_reserve(t, mem, f->nterm);
	for (uint32_t i = 0; i < f->nterm; i += n) {
		n = job_ranks_namesakes(f, i);
		for (uint32_t k = i; k < i + n; k++)
			job_ranks_add(t, f, f->term_by_name[k], n > JOB_RANKS_RAILS);
	}
	return t;
}

static void job_ranks_connect(struct rank_flows *out, const struct job_ranks *t, uint32_t from,
			      uint32_t to)
{
	uint32_t rails = t->off[to + 1] - t->off[to], i;

	for (i = t->off[from]; i < t->off[from + 1]; i++) {
		uint32_t rail = (i - t->off[from]) % rails;
		struct flow fl = { t->term[i], t->term[t->off[to] + rail] };

		vec_push(&out->flows, fl);
	}
}

void job_ranks_shift(struct rank_flows *out, const struct job_ranks *t, uint32_t shift)
{
	uint32_t i;

	if (!t->nrank || shift % t->nrank == 0)
		return;
	for (i = 0; i < t->nrank; i++)
		job_ranks_connect(out, t, i, (i + shift) % t->nrank);
}

/* Ranks along each dimension: 1 where there is nobody to send to. */
struct lattice {
	uint32_t size[3];
};

/* The largest divisor of n whose power is not above n. */
static uint32_t job_ranks_side(uint32_t n, unsigned power)
{
	uint32_t d, best = 1;

	for (d = 1; (uint64_t)d * d * (power == 3 ? d : 1) <= n; d++) {
		if (n % d == 0)
			best = d;
	}
	return best;
}

static struct lattice job_ranks_lattice(uint32_t nrank, enum predict_pattern pattern)
{
	struct lattice g = { { nrank, 1, 1 } };

	if (!nrank || pattern == PREDICT_RING)
		return g;
	if (pattern == PREDICT_STENCIL3)
		g.size[2] = job_ranks_side(nrank, 3);
	g.size[1] = job_ranks_side(nrank / g.size[2], 2);
	g.size[0] = nrank / g.size[2] / g.size[1];
	return g;
}

/* Both neighbours of every rank in a dimension of that many ranks, stride apart. */
static void job_ranks_neighbours(struct rank_flows *out, const struct job_ranks *t, uint32_t size,
				 uint32_t stride)
{
	uint32_t i, at, line;

	if (size < 2)
		return;
	for (i = 0; i < t->nrank; i++) {
		at = i / stride % size;
		line = i - at * stride;
		job_ranks_connect(out, t, i, line + (at + 1) % size * stride);
		if (size > 2)
			job_ranks_connect(out, t, i, line + (at + size - 1) % size * stride);
	}
}

void job_ranks_exchange(struct rank_flows *out, const struct job_ranks *t,
			enum predict_pattern pattern)
{
	struct lattice g = job_ranks_lattice(t->nrank, pattern);

	job_ranks_neighbours(out, t, g.size[0], 1);
	job_ranks_neighbours(out, t, g.size[1], g.size[0]);
	job_ranks_neighbours(out, t, g.size[2], g.size[0] * g.size[1]);
}

uint32_t job_ranks_messages(const struct job_ranks *t, enum predict_pattern pattern)
{
	struct lattice g = job_ranks_lattice(t->nrank, pattern);
	uint32_t n = 0;

	if (pattern == PREDICT_SHIFT || pattern == PREDICT_ALLTOALL)
		return 1;
	for (unsigned d = 0; d < 3; d++)
		n += g.size[d] < 2 ? 0 : g.size[d] == 2 ? 1 : 2;
	return n ? n : 1;
}
