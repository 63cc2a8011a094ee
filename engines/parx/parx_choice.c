/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/parx/parx_choice.h"

#include "engines/geometry/topology_kind.h"
#include "engines/parx/parx_rules.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct finder {
	const struct fabric *f;
	const struct tables *t;
	const bool *pin; /* by end, paths to which do not count; NULL: none */
	struct grid *grid;
	struct parx_rules rules;
	uint8_t lmc;
	uint32_t nlid; /* that a lid_set can hold */
	/* for the destination switch at hand, by LID * nsw + source */
	uint32_t *hops;	 /* most over the terminals there */
	uint32_t *meets; /* by source: bit i, LID i takes a cable of a shortest path in the grid */
	uint32_t *next;	 /* by switch: next channel to the LID at hand */
	double *load;	 /* by channel; 0 between uses */
	VEC(struct lid_except) except;
};

static bool parx_choice_counts(const struct finder *x, uint32_t end)
{
	return end < x->f->nterm && !(x->pin && x->pin[end]);
}

/* Do both ends of a channel lie on shortest paths of the full grid from src to dst? */
static bool parx_choice_between(const struct grid *g, uint32_t src, uint32_t dst, uint32_t a,
				uint32_t b)
{
	const uint16_t *s = grid_coord(g, src), *d = grid_coord(g, dst);
	const uint16_t *x = grid_coord(g, a), *y = grid_coord(g, b);
	bool ok = true;

	for (uint32_t k = 0; k < g->ndims; k++)
		ok &= (x[k] == s[k] || x[k] == d[k]) && (y[k] == s[k] || y[k] == d[k]);
	return ok;
}

static int parx_choice_walk(struct finder *x, uint32_t src, uint32_t dst, uint32_t lid, uint32_t i,
			    struct err *err)
{
	const struct fabric *f = x->f;
	uint32_t *hops = &x->hops[(size_t)i * f->nsw + src], n = 0;

	for (uint32_t u = src; u != dst; n++) {
		uint32_t c = x->next[u];

		if (c == FAB_NONE || n > f->nsw)
			return err_set(err, -EINVAL,
				       "the tables do not lead from switch %s to LID %u",
				       f->sw_name[src], lid);
		if (!(x->meets[src] >> i & 1) &&
		    parx_choice_between(x->grid, src, dst, u, f->chan_dst[c]))
			x->meets[src] |= 1u << i;
		u = f->chan_dst[c];
	}
	*hops = n > *hops ? n : *hops;
	return 0;
}

static int parx_choice_walk_all(struct finder *x, uint32_t dst, uint32_t lid, uint32_t i,
				struct err *err)
{
	const struct fabric *f = x->f;
	int rc = 0;

	for (uint32_t u = 0; u < f->nsw; u++)
		x->next[u] = fabric_chan(f, u, tables_row(x->t, u)[lid]);
	for (uint32_t u = 0; u < f->nsw && !rc; u++)
		rc = parx_choice_walk(x, u, dst, lid, i, err);
	return rc;
}

/* LIDs with the fewest hops. */
static uint32_t parx_choice_nearest(const struct finder *x, uint32_t src)
{
	uint32_t least = UINT32_MAX, lids = 0;

	for (uint32_t i = 0; i < x->nlid; i++) {
		uint32_t n = x->hops[(size_t)i * x->f->nsw + src];

		if (n < least)
			lids = 0;
		least = n < least ? n : least;
		lids |= (uint32_t)(n == least) << i;
	}
	return lids;
}

/* Most messages on one cable when each terminal of dst gets one from src, spread over those LIDs.
 */
static double parx_choice_fullest(struct finder *x, uint32_t src, uint32_t dst, uint32_t lids)
{
	const struct fabric *f = x->f;
	double part = 1.0 / __builtin_popcount(lids), most = 0;

	for (int take = 0; take < 2; take++)
		for (uint32_t k = f->term_off[dst]; k < f->term_off[dst + 1]; k++)
			for (uint32_t i = 0; parx_choice_counts(x, f->term_list[k]) && i < x->nlid;
			     i++)
				for (uint32_t u = src; lids >> i & 1 && u != dst;) {
					uint32_t lid = f->term_lid[f->term_list[k]] + i;
					uint32_t c = fabric_chan(f, u, tables_row(x->t, u)[lid]);

					x->load[c] = take ? 0 : x->load[c] + part;
					most = x->load[c] > most ? x->load[c] : most;
					u = f->chan_dst[c];
				}
	return most;
}

/* The LIDs of the rule that lead around, or all that do where the former have no room for all. */
static uint32_t parx_choice_large(struct finder *x, uint32_t src, uint32_t dst, uint32_t rule,
				  uint32_t around)
{
	uint32_t some = rule & around;
	double full;

	if (!some || some == around)
		return around;
	full = parx_choice_fullest(x, src, dst, some);
	return full > 1.001 && parx_choice_fullest(x, src, dst, around) < full - 0.001 ? around
										       : some;
}

static void parx_choice_choose(struct finder *x, uint32_t src, uint32_t dst)
{
	uint32_t s = x->rules.half[src], d = x->rules.half[dst];
	struct lid_set rule = parx_rules_lids(&x->rules, x->lmc, s, d), lids = rule;
	uint32_t near = parx_choice_nearest(x, src), around = x->rules.all & ~x->meets[src];

	lids.small = rule.small & near ? rule.small & near : near;
	if (s & d && around)
		lids.large = parx_choice_large(x, src, dst, rule.large, around);
	if (lids.small == rule.small && lids.large == rule.large)
		return;
	vec_push(&x->except, (struct lid_except){ src, dst, lids });
}

static int parx_choice_judge_switch(struct finder *x, uint32_t dst, struct err *err)
{
	const struct fabric *f = x->f;

	if (!f->sw_nterm[dst])
		return 0;
	memset(x->hops, 0, (size_t)x->nlid * f->nsw * sizeof(*x->hops));
	memset(x->meets, 0, f->nsw * sizeof(*x->meets));
	for (uint32_t k = f->term_off[dst]; k < f->term_off[dst + 1]; k++) {
		uint32_t term = f->term_list[k];

		for (uint32_t i = 0; parx_choice_counts(x, term) && i < x->nlid; i++) {
			int rc = parx_choice_walk_all(x, dst, f->term_lid[term] + i, i, err);

			if (rc)
				return rc;
		}
	}
	for (uint32_t u = 0; u < f->nsw; u++)
		if (u != dst)
			parx_choice_choose(x, u, dst);
	return 0;
}

/* The number whose Gray code has the bits of the upper halves, the first dimension's on top. */
static uint32_t parx_choice_quadrant(const struct parx_rules *r, uint32_t half)
{
	uint32_t q = 0, bit = 0;

	for (uint32_t d = 0; 2 * d < r->n; d++) {
		bit ^= half >> (2 * d + 1) & 1;
		q = q << 1 | bit;
	}
	return q;
}

struct class
{
	uint32_t quadrant, half;
};

static int parx_choice_by_quadrant(const void *x, const void *y)
{
	const struct class *a = x, *b = y;

	if (a->quadrant != b->quadrant)
		return a->quadrant < b->quadrant ? -1 : 1;
	return (a->half > b->half) - (a->half < b->half);
}

/* The different halves that switches are in; returns how many. */
static uint32_t parx_choice_list_classes(struct class *out, const struct finder *x)
{
	uint32_t n = 0, nsw = x->f->nsw;

	for (uint32_t u = 0; u < nsw; u++) {
		uint32_t half = x->rules.half[u];

		out[u] = (struct class){ parx_choice_quadrant(&x->rules, half), half };
	}
	qsort(out, nsw, sizeof(*out), parx_choice_by_quadrant);
	for (uint32_t u = 0; u < nsw; u++)
		if (!n || parx_choice_by_quadrant(&out[n - 1], &out[u]))
			out[n++] = out[u];
	return n;
}

static int parx_choice_by_switches(const void *x, const void *y)
{
	const struct lid_except *a = x, *b = y;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

/* Of two classes.  A class of the middle of every dimension has one switch, and no rule. */
static struct lid_set parx_choice_class_lids(const struct finder *x, uint32_t src_half,
					     uint32_t dst_half)
{
	struct lid_set lids = parx_rules_lids(&x->rules, x->lmc, src_half, dst_half);
	uint32_t all = x->nlid < 32 ? (1u << x->nlid) - 1 : UINT32_MAX;

	lids.small = lids.small ? lids.small : all;
	lids.large = lids.large ? lids.large : all;
	return lids;
}

static struct lid_choice *parx_choice_make_choice(struct finder *x)
{
	const struct fabric *f = x->f;
	struct class *class = xcalloc(f->nsw, sizeof(*class));
	uint32_t n = parx_choice_list_classes(class, x);
	struct lid_choice *c = lid_choice_new(f->nsw, n, (uint32_t)x->except.n);
	char dims[96];

	snprintf(c->topology, sizeof(c->topology), "hyperx %s",
		 grid_dims_text(dims, sizeof(dims), x->grid));
	c->lmc = x->lmc;
	for (uint32_t u = 0; u < f->nsw; u++)
		while (class[c->class[u]].half != x->rules.half[u])
			c->class[u]++;
	for (uint32_t i = 0; i < n; i++) {
		c->quadrant[i] = class[i].quadrant;
		for (uint32_t k = 0; k < n; k++)
			c->lids[(size_t)i * n + k] =
				parx_choice_class_lids(x, class[i].half, class[k].half);
	}
	if (x->except.n) {
		qsort(x->except.v, x->except.n, sizeof(*x->except.v), parx_choice_by_switches);
		memcpy(c->except, x->except.v, x->except.n * sizeof(*x->except.v));
	}
	free(class);
	return c;
}

static int parx_choice_do_find(struct lid_choice **out, struct finder *x, struct err *err)
{
	const struct fabric *f = x->f;
	int rc = 0;

	parx_rules_init(&x->rules, x->grid);
	x->hops = xcalloc((size_t)x->nlid * f->nsw, sizeof(*x->hops));
	x->meets = xcalloc(f->nsw, sizeof(*x->meets));
	x->next = xcalloc(f->nsw, sizeof(*x->next));
	x->load = xcalloc(f->nchan + 1u, sizeof(*x->load));
	for (uint32_t u = 0; u < f->nsw && !rc; u++)
		rc = parx_choice_judge_switch(x, u, err);
	if (!rc)
		*out = parx_choice_make_choice(x);
	parx_rules_done(&x->rules);
	free(x->hops);
	free(x->meets);
	free(x->next);
	free(x->load);
	vec_free(&x->except);
	return rc;
}

int parx_choice_find(struct lid_choice **out, const struct fabric *f, const struct tables *t,
		     const bool *pin, struct err *err)
{
	struct finder x = {
		.f = f, .t = t, .pin = pin, .lmc = (uint8_t)(f->lmc - (t->escape && f->lmc))
	};
	struct topology_kind *topology;
	char dims[96];
	int rc = topology_kind_find(&topology, f, TOPOLOGY_HYPERX, NULL, err);

	if (rc)
		return rc;
	x.grid = topology->grid;
	x.nlid = x.lmc < 5 ? 1u << x.lmc : 32;
	if (x.lmc < parx_lmc(x.grid->ndims))
		rc = err_set(err, -EINVAL,
			     "a choice of LIDs needs %u LIDs per port on a HyperX of %s, and the "
			     "fabric has %u",
			     1u << parx_lmc(x.grid->ndims),
			     grid_dims_text(dims, sizeof(dims), x.grid), 1u << x.lmc);
	else
		rc = parx_choice_do_find(out, &x, err);
	topology_kind_free(topology);
	return rc;
}

static uint32_t parx_choice_list_lids(const struct parx_lids *p, uint32_t dst, uint32_t set,
				      uint16_t *lids)
{
	uint32_t n = 0;

	for (; set; set &= set - 1)
		lids[n++] = (uint16_t)(p->f->term_lid[dst] + (uint32_t)__builtin_ctz(set));
	return n;
}

uint32_t parx_small_lids(void *ctx, uint32_t src, uint32_t dst, uint16_t *lids)
{
	const struct parx_lids *p = ctx;

	return parx_choice_list_lids(
		p, dst, lid_choice_get(p->choice, p->f->term_sw[src], p->f->term_sw[dst]).small,
		lids);
}

uint32_t parx_large_lids(void *ctx, uint32_t src, uint32_t dst, uint16_t *lids)
{
	const struct parx_lids *p = ctx;

	return parx_choice_list_lids(
		p, dst, lid_choice_get(p->choice, p->f->term_sw[src], p->f->term_sw[dst]).large,
		lids);
}

int parx_choice_seek(struct lid_choice **out, struct parx_verdict *v, const struct fabric *f,
		     const struct tables *t, const bool *pin, struct progress *progress)
{
	struct err err;
	int rc = f->lmc ? parx_choice_find(out, f, t, pin, &err) : -EINVAL;

	if (f->lmc && !rc)
		rc = parx_check(v, f, t, *out, pin, progress, &err);
	else
		*out = NULL;
	if (*out && (rc || !parx_verdict_ok(v))) {
		lid_choice_free(*out);
		*out = NULL;
	}
	return rc == -ECANCELED ? rc : 0;
}
