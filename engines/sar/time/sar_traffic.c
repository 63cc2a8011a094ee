/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_traffic.h"

#include "engines/predict/job_ranks.h"
#include "fabric/base/hash/rng.h"

#include <stdlib.h>
#include <string.h>

#define PHASES_MIN 24
#define PHASES_MAX 512
#define SEED	   0x5a17     /* not that of any prediction */
#define SLICE	   (1u << 16) /* flows between two looks at the progress */
#define OTHERS	   0.05	      /* of what the objective counts is each other pattern */

static const enum predict_pattern others[] = { PREDICT_SHIFT, PREDICT_RING, PREDICT_STENCIL2,
					       PREDICT_STENCIL3 };

#define NOTHERS ((uint32_t)(sizeof(others) / sizeof(*others)))

struct raw_flow {
	uint32_t dst;
	struct sar_flow to;
};

struct draft {
	struct sar_traffic *x;
	const struct fabric *f;
	const struct jobset *jobs;
	const struct demand *demand;
	struct job_ranks *ranks;
	struct rank_flows list; /* of one job in one phase */
	VEC(struct raw_flow) raw;
	uint64_t sample;
	struct pace *pace;
	uint32_t *distance; /* by alltoall phase, of one job */
	uint32_t *order;    /* distances in random order */
};

static uint32_t sar_traffic_phases(const struct sar_traffic *x, const struct jobset *jobs,
				   uint32_t flows)
{
	uint64_t nodes = 1;
	uint32_t n;

	for (uint32_t j = 0; j < jobs->njob; j++)
		nodes += jobs->jobs[j].multi ? jobs->jobs[j].nterm : 0;
	n = x->objective == PREDICT_ALLTOALL ? (uint32_t)(flows / nodes) : 0;
	return n < PHASES_MIN ? PHASES_MIN : n > PHASES_MAX ? PHASES_MAX : n;
}

/* Each distance once before any comes again. */
static void sar_traffic_draw(struct draft *d, uint32_t j)
{
	uint32_t n = d->ranks[j].nrank - 1;
	struct rng r;

	rng_seed(&r, SEED + d->sample);
	rng_seed(&r, rng_u64(&r) + d->jobs->jobs[j].id);
	for (uint32_t i = 0; i < n; i++)
		d->order[i] = i + 1;
	for (uint32_t p = 0; p < d->x->alltoall; p++) {
		if (p % n == 0)
			rng_shuffle_u32(&r, d->order, n);
		d->distance[p] = d->order[p % n];
	}
}

/* Takes the flows in the list between switches. */
static void sar_traffic_take(struct draft *d, uint32_t j, uint32_t phase, double worth)
{
	uint32_t at = j * d->x->phases + phase;

	worth *= phase >= d->x->of[d->x->objective].first &&
				 phase < d->x->of[d->x->objective].first +
						 d->x->of[d->x->objective].n
			 ? 1
			 : OTHERS;
	for (size_t i = 0; i < d->list.flows.n; i++) {
		const struct flow *fl = &d->list.flows.v[i];
		struct raw_flow raw = { fl->dst,
					{ d->f->term_sw[fl->src], at, (uint16_t)phase, 1 } };

		if (raw.to.sw == d->f->term_sw[fl->dst])
			continue;
		vec_push(&d->raw, raw);
		d->x->worth[at] = (float)worth;
	}
	d->list.flows.n = 0;
}

static void sar_traffic_add_job(struct draft *d, uint32_t j)
{
	const struct job_ranks *t = &d->ranks[j];
	uint32_t n = d->x->alltoall;

	if (t->nrank < 2 || !d->jobs->jobs[j].multi)
		return;
	sar_traffic_draw(d, j);
	for (uint32_t p = 0; p < n; p++) {
		pace_work(d->pace, 8ull * t->nrank);
		job_ranks_shift(&d->list, t, d->distance[p]);
		sar_traffic_take(d, j, p, 1);
	}
	for (uint32_t k = 0; k < NOTHERS; k++) {
		if (others[k] == PREDICT_SHIFT)
			job_ranks_shift(&d->list, t, t->nrank / 2);
		else
			job_ranks_exchange(&d->list, t, others[k]);
		sar_traffic_take(d, j, n + k, (double)n / job_ranks_messages(t, others[k]));
	}
}

/* What the busiest host sends or gets counts as much as a message of each job. */
static void sar_traffic_add_demand(struct draft *d)
{
	const struct demand *w = d->demand;
	struct sar_traffic *x = d->x;
	uint32_t at = x->njob * x->phases - 1, phase = x->phases - 1;
	uint64_t *sent = xcalloc(d->f->nterm, sizeof(*sent)), busiest = 1;

	for (uint32_t dst = 0; dst < d->f->nterm; dst++) {
		uint64_t got = 0;

		for (uint32_t i = w->off[dst]; i < w->off[dst + 1]; i++) {
			struct raw_flow raw = {
				dst, { d->f->term_sw[w->src[i]], at, (uint16_t)phase, w->w[i] }
			};

			sent[w->src[i]] += w->w[i];
			got += w->w[i];
			if (raw.to.sw != d->f->term_sw[dst])
				vec_push(&d->raw, raw);
		}
		busiest = got > busiest ? got : busiest;
		pace_work(d->pace, 8ull * (w->off[dst + 1] - w->off[dst]));
	}
	for (uint32_t t = 0; t < d->f->nterm; t++)
		busiest = sent[t] > busiest ? sent[t] : busiest;
	x->worth[at] = (float)((double)x->alltoall * x->njob / (double)busiest);
	free(sent);
}

static void sar_traffic_lay_out(struct sar_traffic *x)
{
	x->of[PREDICT_ALLTOALL] = (struct sar_phases){ 0, x->alltoall };
	for (uint32_t k = 0; k < NOTHERS; k++)
		x->of[others[k]] = (struct sar_phases){ x->alltoall + k, 1 };
	x->phases = x->alltoall + NOTHERS;
	if (x->objective == SAR_DEMAND)
		x->of[SAR_DEMAND] = (struct sar_phases){ x->phases++, 1 };
}

static uint32_t sar_traffic_key(const struct raw_flow *r, bool by_switch)
{
	return by_switch ? r->to.sw : r->dst;
}

/* Stable, by a key below nkey; returns where each key begins, in the arena. */
static uint32_t *sar_traffic_sort(struct draft *d, struct raw_flow *out, const struct raw_flow *in,
				  size_t n, bool by_switch, uint32_t nkey)
{
	uint32_t *off = arena_array(d->x->mem, uint32_t, nkey + 2ull);

	for (size_t i = 0; i < n; i++)
		off[sar_traffic_key(&in[i], by_switch) + 2]++;
	for (uint32_t k = 2; k < nkey + 2; k++)
		off[k] += off[k - 1];
	pace_work(d->pace, 8ull * n);
	for (size_t i = 0; i < n; i++) {
		out[off[sar_traffic_key(&in[i], by_switch) + 1]++] = in[i];
		if (i % SLICE == SLICE - 1)
			pace_work(d->pace, 16ull * SLICE);
	}
	return off;
}

static void sar_traffic_store(struct draft *d)
{
	struct sar_traffic *x = d->x;
	size_t n = d->raw.n;
	struct raw_flow *sorted = xcalloc(n, sizeof(*sorted));
	uint32_t *in_phase = xcalloc(x->phases, sizeof(*in_phase));

	for (size_t i = 0; i < n; i++)
		in_phase[d->raw.v[i].to.phase]++;
	for (uint32_t p = 0; p < x->phases - x->of[SAR_DEMAND].n; p++)
		x->most = in_phase[p] > x->most ? in_phase[p] : x->most;
	free(in_phase);
	pace_work(d->pace, 8ull * n);
	sar_traffic_sort(d, sorted, d->raw.v, n, true, d->f->nsw);
	x->off = sar_traffic_sort(d, d->raw.v, sorted, n, false, d->f->nterm);
	free(sorted);
	pace_work(d->pace, 8ull * n);
	x->flows = arena_array(x->mem, struct sar_flow, n);
	for (size_t i = 0; i < n; i++)
		x->flows[i] = d->raw.v[i].to;
}

void sar_traffic_init(struct sar_traffic *x, const struct fabric *f, const struct jobset *jobs,
		      const struct sar_objective *objective, uint32_t flows, uint64_t sample,
		      struct pace *p)
{
	struct draft d = { .x = x,
			   .f = f,
			   .jobs = jobs,
			   .demand = objective->demand,
			   .sample = sample,
			   .pace = p };
	struct arena *scratch = arena_new();

	*x = (struct sar_traffic){ .mem = arena_new(),
				   .njob = jobs->njob + (objective->demand != NULL),
				   .objective =
					   objective->demand ? SAR_DEMAND : objective->pattern };
	x->alltoall = sar_traffic_phases(x, jobs, flows);
	sar_traffic_lay_out(x);
	x->worth = arena_array(x->mem, float, (size_t)x->njob * x->phases);
	d.ranks = job_ranks_new(scratch, f, jobs);
	d.distance = arena_array(scratch, uint32_t, x->alltoall);
	d.order = arena_array(scratch, uint32_t, f->nterm);
	for (uint32_t j = 0; j < jobs->njob && !pace_cancelled(p); j++)
		sar_traffic_add_job(&d, j);
	if (d.demand)
		sar_traffic_add_demand(&d);
	sar_traffic_store(&d);
	vec_free(&d.list.flows);
	vec_free(&d.raw);
	arena_free(scratch);
}

void sar_traffic_done(struct sar_traffic *x)
{
	arena_free(x->mem);
}
