/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_search.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/route_limits.h"

#include <errno.h>
#include <string.h>

#define ENOUGH	       0.002 /* of the cost: a round that saves less is the last one */
#define GAIN	       0.01  /* of what the flows cost, for which they are moved ... */
#define HOP_PRICE      0.05  /* ... and for each hop more than necessary */
#define FAVOR	       2     /* times that count ... */
#define SLOWER_JOB     1.04  /* ... jobs that take so many times as long as before ... */
#define SLOWER_PATTERN 1.005 /* ... and so patterns */
#define FAIR	       8     /* the exponent where before and after are compared */

/* Blunt first, so that more than the slowest flow of each job is seen. */
static const struct round {
	unsigned exponent;
	double price; /* of a block, in shares of the cost by blocks in use */
} rounds[] = { { 4, 1 }, { 4, 0.2 }, { 6, 0.05 }, { 8, 0.02 }, { 8, 0.01 }, { 8, 0.01 } };

#define ROUNDS ((uint32_t)(sizeof(rounds) / sizeof(*rounds)))

int sar_search_init(struct sar_search *s, const struct sar_jobs *jobs,
		    const struct engine_params *params, uint32_t flows, uint64_t sample,
		    struct progress *progress)
{
	*s = (struct sar_search){ .f = jobs->f, .params = params, .jobs = jobs };
	if (pace_begin(&s->pace, progress, "paths", 3 * ROUNDS))
		return -ECANCELED;
	sar_traffic_init(&s->x, s->f, jobs->jobs, flows, sample, &s->pace);
	sar_contention_init(&s->k, s->f, &s->x, params->ignore_rates, &s->pace);
	s->job = arena_array(s->x.mem, struct favor, s->x.njob);
	s->pattern = arena_array(s->x.mem, struct favor, s->x.phases);
	s->plain = arena_array(s->x.mem, float, (size_t)s->x.njob * s->x.phases);
	return pace_cancelled(&s->pace) ? -ECANCELED : 0;
}

void sar_search_done(struct sar_search *s)
{
	if (s->k.mem)
		sar_contention_done(&s->k);
	if (s->x.mem)
		sar_traffic_done(&s->x);
}

int sar_search_time(struct sar_search *s, const struct tables *t, struct sar_clock *out)
{
	struct lft_hops hops;
	int rc;

	lft_hops_init(&hops, s->f, t);
	rc = sar_contention_time(&s->k, &hops, out);
	lft_hops_done(&hops);
	return rc;
}

/* Some turns of jobs: those of one in all phases, or of all in one. */
struct turns_of {
	size_t first, step, n;
};

/* Where they take longer than they did, they count more from now on. */
static void sar_search_favor(struct sar_search *s, struct turns_of t, struct favor *favor,
			     bool first, double slower)
{
	double cost = 0;

	for (size_t i = t.first, k = 0; k < t.n; k++, i += t.step)
		cost += (double)s->plain[i] * s->k.norm[i];
	if (first)
		*favor = (struct favor){ .was = cost, .times = 1 };
	if (cost > slower * favor->was)
		favor->times *= FAVOR;
}

/* Jobs in the all-to-all, and the other patterns. */
static void sar_search_favor_all(struct sar_search *s, bool first, double patterns)
{
	size_t phases = s->x.phases, njob = s->x.njob;

	if (first)
		memcpy(s->plain, s->x.worth, njob * phases * sizeof(*s->plain));
	for (size_t j = 0; j < njob; j++)
		sar_search_favor(s, (struct turns_of){ j * phases, 1, s->x.alltoall }, &s->job[j],
				 first, SLOWER_JOB);
	for (size_t p = s->x.alltoall; p < phases; p++)
		sar_search_favor(s, (struct turns_of){ p, phases, njob }, &s->pattern[p], first,
				 SLOWER_PATTERN);
	for (size_t i = 0; i < njob * phases; i++) {
		double times = s->job[i / phases].times;

		if (i % phases >= s->x.alltoall)
			times *= patterns * s->pattern[i % phases].times;
		s->x.worth[i] = (float)times * s->plain[i];
	}
}

static bool sar_search_is_pinned(const struct sar_search *s, uint32_t term)
{
	const struct route_limits *limits = s->params->limits;

	return limits && limits->pin && limits->pin[term];
}

static double sar_search_improve(struct sar_search *s, struct sar_mover *m, uint32_t term,
				 const struct sar_mover_rule *rule)
{
	struct dest d = { .sw = s->f->term_sw[term],
			  .end = term,
			  .lid = s->f->term_lid[term],
			  .port = s->f->term_port[term] };
	double saved = sar_mover_improve(m, &d, rule);

	if (rule->detour && saved > 0)
		sar_mover_tidy(m, &d);
	return saved;
}

/* All trees once, as long as there is work left. -ECANCELED. */
static int sar_search_round(struct sar_search *s, struct sar_mover *m,
			    const struct sar_mover_rule *rule, double *saved)
{
	uint64_t before = sar_mover_work(m);

	*saved = 0;
	for (uint32_t c = 0; c < s->jobs->ncrew; c++) {
		const struct sar_job_members *crew = &s->jobs->crew[c];

		for (uint32_t i = 0; i < crew->nterm && before < s->work_most; i++) {
			uint64_t work;

			if (!sar_search_is_pinned(s, crew->terms[i]))
				*saved += sar_search_improve(s, m, crew->terms[i], rule);
			work = sar_mover_work(m);
			if (pace_work(&s->pace, work - before))
				return -ECANCELED;
			before = work;
		}
	}
	return 0;
}

static struct sar_mover_rule sar_search_rule(const struct sar_search *s,
					     const struct sar_search_opts *opts, double price)
{
	double blocks = (double)opts->blocks_all;

	return (struct sar_mover_rule){ .gain = GAIN,
					.hop = HOP_PRICE,
					.block = blocks > 0 ? price * s->k.cost / blocks : 0,
					.limit = opts->limit,
					.detour = opts->detour };
}

int sar_search_run(struct sar_search *s, struct tables *t, const struct sar_search_opts *opts,
		   uint64_t *blocks)
{
	struct sar_mover *m = sar_mover_new(s->f, t, opts->from, &s->k);
	double saved = 0;
	int rc = 0;

	s->k.work = 0;
	for (uint32_t i = 0; i < ROUNDS && !rc && sar_mover_work(m) < s->work_most; i++) {
		struct sar_mover_rule rule;

		rc = sar_contention_measure(&s->k, sar_mover_hops(m),
					    opts->fair ? FAIR : rounds[i].exponent);
		if (!rc && opts->fair)
			sar_search_favor_all(s, !i, opts->patterns);
		if (!rc)
			rc = sar_contention_weigh(&s->k, sar_mover_hops(m));
		rule = sar_search_rule(s, opts, rounds[i].price);
		if (!rc)
			rc = sar_search_round(s, m, &rule, &saved);
		s->pace.done += s->pace.done + 1 < s->pace.total;
		if (saved < ENOUGH * s->k.cost && i >= ROUNDS / 2)
			break;
	}
	*blocks = sar_mover_blocks(m);
	sar_mover_free(m);
	return rc;
}
