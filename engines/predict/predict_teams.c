/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/predict_teams.h"

#include "fabric/base/mem.h"

#include <string.h>

static bool predict_teams_same_node(const struct fabric *f, uint32_t a, uint32_t b)
{
	return !strcmp(f->term_name[a], f->term_name[b]);
}

struct team *teams_new(struct arena *mem, const struct fabric *f, const struct jobset *jobs)
{
	struct team *teams = arena_alloc(mem, jobs->njob, sizeof(*teams));
	uint32_t *n = arena_alloc(mem, jobs->njob, sizeof(*n));
	uint32_t i, k, j;

	for (j = 0; j < jobs->njob; j++) {
		teams[j].off = arena_alloc(mem, jobs->jobs[j].nterm + 1u, sizeof(*teams[j].off));
		teams[j].term = arena_alloc(mem, jobs->jobs[j].nterm, sizeof(*teams[j].term));
	}
	for (i = 0; i < f->nterm; i++) {
		uint32_t term = f->term_by_name[i];

		for (k = jobs->term_off[term]; k < jobs->term_off[term + 1]; k++) {
			struct team *t = &teams[jobs->term_job[k]];
			uint32_t *at = &n[jobs->term_job[k]];

			if (!*at || !predict_teams_same_node(f, t->term[*at - 1], term))
				t->nrank++;
			t->term[(*at)++] = term;
			t->off[t->nrank] = *at;
		}
	}
	return teams;
}

static void predict_teams_connect(struct flow_list *out, const struct team *t, uint32_t from,
				  uint32_t to)
{
	uint32_t rails = t->off[to + 1] - t->off[to], i;

	for (i = t->off[from]; i < t->off[from + 1]; i++) {
		uint32_t rail = (i - t->off[from]) % rails;
		struct flow fl = { t->term[i], t->term[t->off[to] + rail] };

		vec_push(&out->flows, fl);
	}
}

void team_shift(struct flow_list *out, const struct team *t, uint32_t shift)
{
	uint32_t i;

	if (!t->nrank || shift % t->nrank == 0)
		return;
	for (i = 0; i < t->nrank; i++)
		predict_teams_connect(out, t, i, (i + shift) % t->nrank);
}

/* Both neighbours of every rank in a dimension of that many ranks, stride apart. */
static void predict_teams_neighbours(struct flow_list *out, const struct team *t, uint32_t size,
				     uint32_t stride)
{
	uint32_t i, at, line;

	if (size < 2)
		return;
	for (i = 0; i < t->nrank; i++) {
		at = i / stride % size;
		line = i - at * stride;
		predict_teams_connect(out, t, i, line + (at + 1) % size * stride);
		if (size > 2)
			predict_teams_connect(out, t, i, line + (at + size - 1) % size * stride);
	}
}

void team_ring(struct flow_list *out, const struct team *t)
{
	predict_teams_neighbours(out, t, t->nrank, 1);
}

/* The largest divisor of n whose power is not above n. */
static uint32_t predict_teams_side(uint32_t n, unsigned power)
{
	uint32_t d, best = 1;

	for (d = 1; (uint64_t)d * d * (power == 3 ? d : 1) <= n; d++) {
		if (n % d == 0)
			best = d;
	}
	return best;
}

void team_stencil(struct flow_list *out, const struct team *t, unsigned dims)
{
	uint32_t a, b, z = 1;

	if (!t->nrank)
		return;
	if (dims == 3)
		z = predict_teams_side(t->nrank, 3);
	b = predict_teams_side(t->nrank / z, 2);
	a = t->nrank / z / b;
	predict_teams_neighbours(out, t, a, 1);
	predict_teams_neighbours(out, t, b, a);
	predict_teams_neighbours(out, t, z, a * b);
}
