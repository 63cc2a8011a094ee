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

static void sar_search_find_others(struct sar_search *s)
{
	s->others = arena_array(s->x.mem, uint32_t, s->f->nterm);
	for (uint32_t i = 0; i < s->f->nterm; i++)
		if (s->jobs->members_of[i] == FAB_NONE && s->x.off[i] < s->x.off[i + 1])
			s->others[s->nothers++] = i;
}

int sar_search_init(struct sar_search *s, const struct sar_jobs *jobs,
		    const struct sar_objective *objective, const struct engine_params *params,
		    uint32_t flows, uint64_t sample, struct progress *progress)
{
	*s = (struct sar_search){ .f = jobs->f, .params = params, .jobs = jobs };
	if (pace_begin(&s->pace, progress, "paths", 3 * ROUNDS))
		return -ECANCELED;
	sar_traffic_init(&s->x, s->f, jobs->jobs, objective, flows, sample, &s->pace);
	sar_contention_init(&s->k, s->f, &s->x, params->ignore_rates, &s->pace);
	s->job = arena_array(s->x.mem, struct favor, s->x.njob);
	s->plain = arena_array(s->x.mem, float, (size_t)s->x.njob * s->x.phases);
	sar_search_find_others(s);
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

/* What those jobs, from first on, cost in these phases. */
static double sar_search_cost(const struct sar_search *s, struct sar_phases of, uint32_t first,
			      uint32_t njob)
{
	double cost = 0;

	for (size_t j = first; j < (size_t)first + njob; j++)
		for (size_t p = of.first; p < (size_t)of.first + of.n; p++)
			cost += (double)s->plain[j * s->x.phases + p] *
				s->k.norm[j * s->x.phases + p];
	return cost;
}

/* What takes longer than it did counts more from now on. */
static void sar_search_favor(struct favor *favor, double cost, bool first, double slower)
{
	if (first)
		*favor = (struct favor){ .was = cost, .times = 1 };
	if (cost > slower * favor->was)
		favor->times *= FAVOR;
}

static void sar_search_weigh_pattern(struct sar_search *s, unsigned pattern, double patterns)
{
	struct sar_phases of = s->x.of[pattern];

	for (size_t j = 0; j < s->x.njob; j++)
		for (size_t p = of.first; p < (size_t)of.first + of.n; p++) {
			double times = s->job[j].times;

			if (pattern != s->x.objective)
				times *= patterns * s->pattern[pattern].times;
			s->x.worth[j * s->x.phases + p] =
				(float)times * s->plain[j * s->x.phases + p];
		}
}

/* Jobs in the objective, and the other patterns. */
static void sar_search_favor_all(struct sar_search *s, bool first, double patterns)
{
	const struct sar_traffic *x = &s->x;

	if (first)
		memcpy(s->plain, x->worth, (size_t)x->njob * x->phases * sizeof(*s->plain));
	for (uint32_t j = 0; j < x->njob; j++)
		sar_search_favor(&s->job[j], sar_search_cost(s, x->of[x->objective], j, 1), first,
				 SLOWER_JOB);
	for (unsigned p = 0; p < SAR_PATTERNS; p++) {
		if (p != x->objective)
			sar_search_favor(&s->pattern[p], sar_search_cost(s, x->of[p], 0, x->njob),
					 first, SLOWER_PATTERN);
		sar_search_weigh_pattern(s, p, patterns);
	}
}

bool sar_search_is_pinned(const struct sar_search *s, uint32_t term)
{
	const struct route_limits *limits = s->params->limits;

	return limits && limits->pin && limits->pin[term];
}

struct dest sar_search_dest(const struct sar_search *s, uint32_t term)
{
	return (struct dest){ .sw = s->f->term_sw[term],
			      .end = term,
			      .lid = s->f->term_lid[term],
			      .port = s->f->term_port[term] };
}

static double sar_search_improve(struct sar_search *s, struct sar_mover *m, uint32_t term,
				 const struct sar_mover_rule *rule)
{
	struct dest d = sar_search_dest(s, term);
	double saved = sar_mover_improve(m, &d, rule);

	if (rule->detour && saved > 0)
		sar_mover_tidy(m, &d);
	return saved;
}

/* Their trees, as long as there is work left. -ECANCELED. */
static int sar_search_terms(struct sar_search *s, struct sar_mover *m, const uint32_t *terms,
			    uint32_t n, const struct sar_mover_rule *rule, double *saved)
{
	uint64_t before = sar_mover_work(m);

	for (uint32_t i = 0; i < n && before < s->work_most; i++) {
		uint64_t work;

		if (!sar_search_is_pinned(s, terms[i]))
			*saved += sar_search_improve(s, m, terms[i], rule);
		work = sar_mover_work(m);
		if (pace_work(&s->pace, work - before))
			return -ECANCELED;
		before = work;
	}
	return 0;
}

/* All trees once. */
static int sar_search_round(struct sar_search *s, struct sar_mover *m,
			    const struct sar_mover_rule *rule, double *saved)
{
	int rc = 0;

	*saved = 0;
	for (uint32_t c = 0; c < s->jobs->ngroup && !rc; c++)
		rc = sar_search_terms(s, m, s->jobs->group[c].terms, s->jobs->group[c].nterm, rule,
				      saved);
	return rc ? rc : sar_search_terms(s, m, s->others, s->nothers, rule, saved);
}

/* As it was before t differed. */
static int sar_search_begin_fair(struct sar_search *s, const struct sar_search_opts *opts)
{
	struct lft_hops hops;
	int rc;

	lft_hops_init(&hops, s->f, opts->from);
	rc = sar_contention_measure(&s->k, &hops, FAIR);
	if (!rc)
		sar_search_favor_all(s, true, opts->patterns);
	lft_hops_done(&hops);
	return rc;
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

static int sar_search_undo_long_of(struct sar_search *s, struct sar_mover *m, const uint32_t *terms,
				   uint32_t n, const struct sar_mover_rule *rule)
{
	for (uint32_t i = 0; i < n; i++) {
		struct dest d = sar_search_dest(s, terms[i]);
		uint64_t before = sar_mover_work(m);

		if (sar_mover_is_long(m, &d, rule))
			sar_mover_undo(m, &d);
		if (pace_work(&s->pace, sar_mover_work(m) - before + s->f->nsw))
			return -ECANCELED;
	}
	return 0;
}

/* Where no block was left to keep ways of others short. */
static int sar_search_undo_long(struct sar_search *s, struct sar_mover *m, unsigned detour)
{
	struct sar_mover_rule rule = { .detour = detour };
	int rc = 0;

	for (uint32_t c = 0; c < s->jobs->ngroup && !rc; c++)
		rc = sar_search_undo_long_of(s, m, s->jobs->group[c].terms, s->jobs->group[c].nterm,
					     &rule);
	return rc ? rc : sar_search_undo_long_of(s, m, s->others, s->nothers, &rule);
}

int sar_search_run(struct sar_search *s, struct tables *t, const struct sar_search_opts *opts,
		   uint64_t *blocks)
{
	struct sar_mover *m = sar_mover_new(s->f, t, opts->from, &s->k);
	double saved = 0;
	int rc = 0;

	s->k.work = 0;
	if (opts->fair && opts->begun)
		rc = sar_search_begin_fair(s, opts);
	for (uint32_t i = 0; i < ROUNDS && !rc && sar_mover_work(m) < s->work_most; i++) {
		struct sar_mover_rule rule;

		rc = sar_contention_measure(&s->k, sar_mover_hops(m),
					    opts->fair ? FAIR : rounds[i].exponent);
		if (!rc && opts->fair)
			sar_search_favor_all(s, !i && !opts->begun, opts->patterns);
		if (!rc)
			rc = sar_contention_weigh(&s->k, sar_mover_hops(m));
		rule = sar_search_rule(s, opts, rounds[i].price);
		if (!rc)
			rc = sar_search_round(s, m, &rule, &saved);
		s->pace.done += s->pace.done + 1 < s->pace.total;
		if (saved < ENOUGH * s->k.cost && i >= ROUNDS / 2)
			break;
	}
	if (!rc && opts->detour && opts->limit < UINT64_MAX)
		rc = sar_search_undo_long(s, m, opts->detour);
	*blocks = sar_mover_blocks(m);
	sar_mover_free(m);
	return rc;
}
