/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_detours.h"

#include "engines/nue/shift_detours.h"
#include "engines/predict/predict.h"
#include "engines/time/shift_time.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <string.h>

#define BISECTIONS 100
#define FULLER_PCT 30

/* How much traffic counts that is no shift, and for how many rounds. */
struct nue_detours_try {
	uint32_t others;
	unsigned rounds;
};

/* What is tried, one after another, each from where the last one ended. */
struct nue_detours_plan {
	struct nue_detours_try tries[5]; /* 0 rounds: none */
	unsigned ebb;			 /* as in shift_figures_worth() */
};

/* Where nothing has moved shifts gain much by little; what more VLs give is for all traffic. */
static const struct nue_detours_plan one_vl = { { { 40, 1 }, { 30, 2 } }, 5 };
static const struct nue_detours_plan more_vls = {
	{ { 60, 1 }, { 40, 1 }, { 28, 1 }, { 18, 1 }, { 10, 1 } }, 20
};

#define TRIES (sizeof(one_vl.tries) / sizeof(*one_vl.tries))
/* Bisections lower than that share of those with fewer VLs do not come back. */
#define TOO_LOW 0.99

struct nue_detours {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	struct nue_turns **layer; /* by layer */
	struct nue_turns **turns; /* by LID */
	const uint16_t **hops;	  /* by destination switch: the fewest to it, by switch */
	unsigned threads;
	struct progress *progress;

	const struct nue_detours_plan *plan;
	struct shift_figures least; /* that no figure may be below; 0: any may be */
	struct shift_figures from;  /* what it has to be worth more than */
	struct tables *best;	    /* what was worth most so far ... */
	struct shift_figures figures;
	double worth;
	bool better; /* ... and is no longer what there was */
	bool over;   /* the next tries will be worth less */
};

int nue_detours_judge(struct shift_figures *out, const struct fabric *f, const struct tables *t,
		      unsigned threads, struct progress *progress, struct err *err)
{
	struct shift_time_opts so = { .shifts = SHIFT_TIME_ALL, .seed = 1, .threads = threads };
	struct ebb_opts eo = { .bisections = BISECTIONS, .seed = 1, .threads = threads };
	struct shift_time s;
	struct ebb ebb;
	int rc = shift_time_compute(&s, f, t, &so, progress, err);

	if (!rc)
		rc = predict_ebb(&ebb, f, t, &eo, progress, err);
	if (!rc)
		*out = (struct shift_figures){ s.sync.mean, s.rate.mean, ebb.mean };
	return rc;
}

static void nue_detours_init(struct nue_detours *x, const struct nue_layer *layer,
			     const struct nue_trees *trees, uint32_t k)
{
	const struct fabric *f = layer->net->f;
	struct nue_turns **by_switch;

	*x = (struct nue_detours){ .mem = arena_new(), .f = f };
	x->layer = arena_array(x->mem, struct nue_turns *, k);
	x->turns = arena_array(x->mem, struct nue_turns *, f->max_lid + 1u);
	x->hops = arena_array(x->mem, const uint16_t *, f->nsw);
	by_switch = arena_array(x->mem, struct nue_turns *, f->nsw);
	for (uint32_t l = 0; l < k; l++) {
		x->layer[l] = nue_turns_new(f, trees[l].place);
		for (uint32_t i = 0; i < layer[l].ndst; i++) {
			by_switch[layer[l].dst[i]] = x->layer[l];
			x->hops[layer[l].dst[i]] = layer[l].dist + (size_t)i * f->nsw;
		}
	}
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port;
		uint32_t u = fabric_lid_switch(f, lid, &port);

		x->turns[lid] = u == FAB_NONE ? NULL : by_switch[u];
	}
}

static void nue_detours_done(struct nue_detours *x, uint32_t k)
{
	for (uint32_t l = 0; l < k; l++)
		nue_turns_free(x->layer[l]);
	arena_free(x->mem);
}

/* Does no message get less than with fewer VLs? */
static bool nue_detours_suits(const struct nue_detours *x, const struct shift_figures *is)
{
	return is->rate >= x->least.rate && is->ebb >= x->least.ebb && is->sync >= x->least.sync;
}

/* Takes t where it is worth more than what was best so far. */
static int nue_detours_consider(struct nue_detours *x, const struct tables *t, struct err *err)
{
	struct shift_figures is;
	int rc = nue_detours_judge(&is, x->f, t, x->threads, x->progress, err);
	double worth = rc ? 0 : shift_figures_worth(&x->from, &is, x->plan->ebb);

	x->over = is.ebb < TOO_LOW * x->least.ebb || (x->better && worth < x->worth);
	if (rc || worth <= x->worth || !nue_detours_suits(x, &is))
		return rc;
	x->worth = worth;
	x->figures = is;
	x->better = true;
	memcpy(x->best->lft, t->lft, (size_t)t->nsw * t->stride);
	return 0;
}

/* What t is held against. */
static int nue_detours_begin(struct nue_detours *x, const struct shift_figures *least,
			     struct err *err)
{
	int rc;

	x->worth = 1;
	if (least->rate > 0) {
		x->plan = &more_vls;
		x->least = x->from = *least;
		return 0;
	}
	x->plan = &one_vl;
	rc = nue_detours_judge(&x->from, x->f, x->best, x->threads, x->progress, err);
	x->figures = x->from;
	x->better = true;
	return rc;
}

static int nue_detours_try_all(struct nue_detours *x, struct tables *t,
			       const struct shift_detours_how *how, struct err *err)
{
	struct shift_detours *search = shift_detours_new(t, x->f, how);
	uint64_t moved = 1;
	struct pace p;
	int rc = pace_begin(&p, x->progress, "paths", 1) ? -ECANCELED : 0;

	for (size_t i = 0; i < TRIES && !rc && moved && !x->over; i++) {
		const struct nue_detours_try *y = &x->plan->tries[i];

		rc = shift_detours_move(&moved, search, y->others, y->rounds, &p);
		if (!rc && moved)
			rc = nue_detours_consider(x, t, err);
	}
	shift_detours_free(search);
	return rc;
}

int nue_detours_move(bool *better, struct shift_figures *figures, struct tables *t,
		     const struct nue_layer *layer, const struct nue_trees *trees, uint32_t k,
		     unsigned threads, struct progress *progress, struct err *err)
{
	struct shift_detours_how how = { .weights = &layer->net->weights,
					 .more = NUE_DETOURS_MORE,
					 .fuller_pct = FULLER_PCT };
	struct tables *other = tables_new(layer->net->f, t->engine);
	struct nue_detours x;
	int rc;

	nue_detours_init(&x, layer, trees, k);
	x.threads = threads;
	x.progress = progress;
	x.best = t;
	how.turns = x.turns;
	how.hops = x.hops;
	memcpy(other->lft, t->lft, (size_t)t->nsw * t->stride);
	rc = nue_detours_begin(&x, figures, err);
	if (!rc)
		rc = nue_detours_try_all(&x, other, &how, err);
	*better = x.better;
	if (x.better)
		*figures = x.figures;
	tables_put(other);
	nue_detours_done(&x, k);
	return rc;
}

static uint32_t nue_detours_walk(const struct tables *t, const struct fabric *f, uint32_t u,
				 uint32_t term)
{
	uint32_t hops = 0;

	for (; u != f->term_sw[term]; hops++)
		u = f->chan_dst[fabric_chan(f, u, tables_row(t, u)[f->term_lid[term]])];
	return hops;
}

/* Is a path from switch u to a terminal at dst longer? */
static bool nue_detours_has(const struct tables *t, const struct fabric *f, uint32_t u,
			    uint32_t dst, uint32_t least)
{
	for (uint32_t e = f->term_off[dst]; e < f->term_off[dst + 1]; e++)
		if (nue_detours_walk(t, f, u, f->term_list[e]) > least)
			return true;
	return false;
}

uint64_t nue_detours_count(const struct tables *t, const struct nue_layer *layer, uint32_t k)
{
	const struct fabric *f = layer->net->f;
	uint64_t n = 0;

	for (uint32_t l = 0; l < k; l++)
		for (uint32_t i = 0; i < layer[l].ndst; i++)
			for (uint32_t u = 0; u < f->nsw; u++)
				n += !layer->net->idle[u] &&
				     nue_detours_has(t, f, u, layer[l].dst[i],
						     layer[l].dist[(size_t)i * f->nsw + u]);
	return n;
}
