/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * First fit from nothing: a few waves are fixed beforehand, each with its graph, and one LID after
 * the other joins them all when none of the graphs gets a cycle; who does not fit needs the drain.
 * The end, when new tables meet old SLs, is one graph more.  Graphs only grow, so that who did not
 * fit would not fit beside those that did in the end, either.
 *
 * Where nearly everything changes that finds more in less time than starting from all the old
 * dependencies, which leave no place for new ones.
 */
#include "engines/transition/transition_priv.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS	   3 /* waves of LFTs */
#define MAX_STAGES (LEVELS + 2)
#define LOOKS	   16384 /* to learn why one did not fit */

/* Ages of a LID that changes as a whole: one run of the flow each. */
enum run { RUN_OLD, RUN_BOTH, RUN_NEW, RUN_SL2VL, RUN_END, RUNS };

struct fit {
	struct search *s;
	bool sl2vl; /* stage 0 is the wave of the SL2VL tables */
	bool end;   /* the last stage is the end */
	uint32_t nstages, nwaves;
	struct tgraph *g[MAX_STAGES];
	VEC(struct tdep) dep[RUNS]; /* of the LID at hand, where ran */
	bool ran[RUNS], sound[RUNS];
	VEC(struct tdep) part;		    /* of a LID that changes in parts */
	VEC(struct tdep) added[MAX_STAGES]; /* of the LID at hand */
	uint32_t failed;		    /* stage in which it did not fit last */
	uint8_t *level;			    /* by switch: when its entry changes, from 0 */
	uint32_t nlevels;
	uint8_t *lft;
	uint64_t limit, enough;
	struct found *r;
};

static struct tgraph *transition_fit_new_graph(struct search *s)
{
	return tgraph_new(s->f, &s->turns, mixture_nvl(s->flow), &s->pace);
}

/* Has no choice of its own: the same dependencies in all waves. */
static bool transition_fit_is_static(const struct fit *x, const struct item *it)
{
	return !x->sl2vl && !it->lft && !(it->sl && x->s->sl_waves == AGE_BOTH);
}

static uint64_t transition_fit_count_work(struct fit *x, uint32_t g, uint64_t before)
{
	uint64_t now = tgraph_work(x->g[g]);

	x->s->graphs_done += now - before;
	return now;
}

/* Those that have no choice; what cycles they make is none of ours. */
static int transition_fit_put_static(struct fit *x, const uint8_t *drained)
{
	struct search *s = x->s;
	const struct tdep *d;
	uint32_t n;

	search_step(s, "paths that stay");
	for (uint32_t i = 0; i < s->n; i++) {
		const struct item *it = &s->item[i];
		struct ages a = { .lft_all = AGE_OLD, .sl = AGE_OLD, .sl2vl = AGE_OLD };

		if (drained[i] || !transition_fit_is_static(x, it))
			continue;
		mixture_load(s->flow, it->lid);
		mixture_run(s->flow, &a);
		d = mixture_deps(s->flow, &n);
		for (uint32_t g = 0; g < x->nwaves; g++)
			tgraph_put_all(x->g[g], d, n);
		s->graphs_done += (uint64_t)n * x->nwaves;
		if (search_at(s, i + 1))
			return -ECANCELED;
	}
	for (uint32_t g = 0; g < x->nwaves; g++)
		if (!tgraph_sort(x->g[g])) {
			tgraph_contract(x->g[g]);
			tgraph_sort(x->g[g]);
		}
	return 0;
}

/* In the end all LIDs are there, with the new SLs at least. */
static int transition_fit_put_end(struct fit *x)
{
	const struct ages a = { .lft_all = AGE_NEW, .sl = AGE_NEW, .sl2vl = AGE_NEW };
	struct search *s = x->s;
	const struct tdep *d;
	uint32_t n;

	if (x->end && s->end) {
		x->g[x->nwaves] = s->end;
		s->end = NULL;
		return 0;
	}
	if (x->end)
		x->g[x->nwaves] = transition_fit_new_graph(s);
	search_step(s, "paths at the end");
	for (uint32_t i = 0; i < s->n && x->end; i++) {
		mixture_load(s->flow, s->item[i].lid);
		mixture_run(s->flow, &a);
		d = mixture_deps(s->flow, &n);
		tgraph_put_all(x->g[x->nwaves], d, n);
		s->graphs_done += n;
		if (search_at(s, i + 1))
			return -ECANCELED;
	}
	if (x->end)
		tgraph_sort(x->g[x->nwaves]); /* which was looked at before */
	return 0;
}

/* Which entries of the LID change in which wave, in as few as this finds; false: too many.  The
 * LID is loaded. */
static bool transition_fit_choose_levels(struct fit *x, const struct item *it)
{
	struct search *s = x->s;
	struct ages a = { .lft_all = AGE_BOTH };
	uint32_t nsw = s->f->nsw;

	memset(x->level, 0, nsw);
	x->nlevels = it->lft;
	if (!it->lft || mixture_no_loop(s->flow, &a))
		return true;
	memset(x->lft, AGE_OLD, nsw);
	for (x->nlevels = 0; x->nlevels < LEVELS; x->nlevels++) {
		bool left = false;

		mixture_grow(s->flow, x->lft);
		for (uint32_t sw = 0; sw < nsw; sw++) {
			if (x->lft[sw] == AGE_BOTH) {
				x->level[sw] = (uint8_t)x->nlevels;
				x->lft[sw] = AGE_NEW;
			}
			left |= x->lft[sw] == AGE_OLD && mixture_lft_changes_at(s->flow, sw);
		}
		if (!left) {
			x->nlevels++;
			return true;
		}
	}
	return false;
}

static uint8_t transition_fit_age_in(uint32_t level, uint32_t now)
{
	return level > now ? AGE_OLD : level == now ? AGE_BOTH : AGE_NEW;
}

/* Of which run are the dependencies of a LID in a stage when its first level changes in the LFT
 * wave first?  RUNS: of none, it changes in parts. */
static enum run transition_fit_run_in(const struct fit *x, uint32_t stage, uint32_t first)
{
	if (stage == x->nwaves)
		return RUN_END;
	if (x->sl2vl && !stage)
		return RUN_SL2VL;
	if (!x->nlevels)
		return RUN_OLD;
	if (x->nlevels > 1)
		return RUNS;
	stage -= x->sl2vl;
	return stage < first ? RUN_OLD : stage == first ? RUN_BOTH : RUN_NEW;
}

static struct ages transition_fit_ages_of(const struct fit *x, enum run run)
{
	struct ages a = { .lft_all = AGE_OLD,
			  .sl = x->s->sl_waves,
			  .sl2vl = x->sl2vl ? AGE_NEW : AGE_OLD };

	if (run == RUN_SL2VL)
		a.sl2vl = AGE_BOTH;
	if (run == RUN_BOTH)
		a.lft_all = AGE_BOTH;
	if (run == RUN_NEW)
		a.lft_all = AGE_NEW;
	if (run == RUN_END)
		a = (struct ages){ .lft_all = AGE_NEW, .sl = AGE_BOTH, .sl2vl = AGE_NEW };
	return a;
}

static bool transition_fit_run_parts(struct fit *x, struct item *it, uint32_t stage, uint32_t first)
{
	struct ages a = transition_fit_ages_of(x, RUN_BOTH);
	const struct tdep *d;
	uint32_t n;

	a.lft = x->lft;
	for (uint32_t sw = 0; sw < x->s->f->nsw; sw++)
		x->lft[sw] = transition_fit_age_in(first + x->level[sw], stage - x->sl2vl);
	x->part.n = 0;
	if (!search_run(x->s, it, &a))
		return false;
	d = mixture_deps(x->s->flow, &n);
	for (uint32_t i = 0; i < n; i++)
		vec_push(&x->part, d[i]);
	return true;
}

/* The dependencies in a stage; false: a loop, or losses. */
static bool transition_fit_deps_in(struct fit *x, struct item *it, uint32_t stage, uint32_t first,
				   const struct tdep **d, uint32_t *n)
{
	enum run run = transition_fit_run_in(x, stage, first);
	struct ages a = transition_fit_ages_of(x, run);
	const struct tdep *v;
	uint32_t k;

	if (run == RUNS) {
		if (!transition_fit_run_parts(x, it, stage, first))
			return false;
		*d = x->part.v;
		*n = (uint32_t)x->part.n;
		return true;
	}
	if (!x->ran[run]) {
		x->ran[run] = true;
		x->sound[run] = search_run(x->s, it, &a);
		x->dep[run].n = 0;
		v = mixture_deps(x->s->flow, &k);
		for (uint32_t i = 0; i < k; i++)
			vec_push(&x->dep[run], v[i]);
	}
	*d = x->dep[run].v;
	*n = (uint32_t)x->dep[run].n;
	return x->sound[run];
}

static bool transition_fit_add_stage(struct fit *x, struct item *it, uint32_t g, uint32_t first)
{
	struct search *s = x->s;
	uint64_t before = tgraph_work(x->g[g]);
	const struct tdep *d;
	uint32_t n, i = 0, more;

	x->added[g].n = 0;
	if (!transition_fit_deps_in(x, it, g, first, &d, &n) ||
	    tgraph_closed_any(x->g[g], d, n) < n)
		return false;
	s->graphs_done += n;
	do {
		more = n ? tgraph_add_some(x->g[g], d + i, n - i, SOME) : 0;
		i += more;
		before = transition_fit_count_work(x, g, before);
		search_tick(s); /* shows that it lives; whether cancelled is asked soon enough */
	} while (more == SOME);
	vec_reserve(&x->added[g], i);
	x->added[g].n = i;
	if (i)
		memcpy(x->added[g].v, d, i * sizeof(*d));
	return i == n;
}

/* Does what did not go in close a cycle alone?  Then others that need it are known at once: the
 * graph only grows. */
static void transition_fit_learn(struct fit *x, struct item *it, uint32_t g, uint32_t first)
{
	const struct tdep *d;
	uint32_t n;

	if (transition_fit_deps_in(x, it, g, first, &d, &n) && x->added[g].n < n)
		tgraph_closes(x->g[g], &d[x->added[g].n], LOOKS);
}

/* Is it known of a stage that it does not fit there?  Asked of all of them before it is added to
 * the first: most that do not fit show here, and adding is what costs. */
static bool transition_fit_known_closed(struct fit *x, struct item *it, uint32_t first,
					uint32_t from)
{
	const struct tdep *d;
	uint32_t n;

	for (uint32_t g = x->nstages; g-- > from;) {
		if (transition_fit_run_in(x, g, first) == RUNS) /* costs a run each time */
			continue;
		x->failed = g;
		if (!transition_fit_deps_in(x, it, g, first, &d, &n) ||
		    tgraph_closed_any(x->g[g], d, n) < n)
			return true;
	}
	return false;
}

/* In those stages, or in none; the end first, where most fail. */
static bool transition_fit_add_stages(struct fit *x, struct item *it, uint32_t first, uint32_t from)
{
	if (transition_fit_known_closed(x, it, first, from))
		return false;
	for (uint32_t g = x->nstages; g-- > from;) {
		if (transition_fit_add_stage(x, it, g, first))
			continue;
		x->failed = g;
		for (uint32_t k = g; k < x->nstages; k++)
			tgraph_remove_all(x->g[k], x->added[k].v, (uint32_t)x->added[k].n);
		transition_fit_learn(x, it, g, first);
		return false;
	}
	return true;
}

static void transition_fit_note_moves(struct fit *x, uint32_t item, uint32_t first)
{
	uint32_t nsw = x->s->f->nsw;

	for (uint32_t k = 0; k < x->nlevels; k++) {
		struct move m = { .item = item, .wave = x->sl2vl + first + k };

		if (x->nlevels > 1) {
			m.lft_wide = xcalloc(nsw, 1);
			for (uint32_t sw = 0; sw < nsw; sw++)
				m.lft_wide[sw] = transition_fit_age_in(x->level[sw], k);
		}
		vec_push(&x->r->moves, m);
	}
}

static bool transition_fit_fits(struct fit *x, uint32_t i)
{
	struct item *it = &x->s->item[i];

	memset(x->ran, 0, sizeof(x->ran));
	mixture_load(x->s->flow, it->lid);
	x->failed = 0;
	if (transition_fit_is_static(x, it))
		return transition_fit_add_stages(x, it, 0, x->nwaves);
	if (!transition_fit_choose_levels(x, it))
		return false;
	for (uint32_t first = 0; first + x->nlevels <= LEVELS; first++) {
		if (transition_fit_add_stages(x, it, first, 0)) {
			transition_fit_note_moves(x, i, first);
			return true;
		}
		if (search_work(x->s) > x->limit) {
			x->r->over_budget |= first + x->nlevels < LEVELS;
			break;
		}
		if (!it->lft || x->failed == x->nwaves || search_tick(x->s))
			break;
	}
	return false;
}

/* At so many LIDs, since a first look at the work: does it look as if nothing long follows? */
static void transition_fit_tell_last(const struct fit *x, uint32_t done, uint64_t from)
{
	const struct search *s = x->s;
	struct progress *p = s->pace.progress;
	uint64_t spent = search_work(s) - from;

	if (p)
		p->last = s->big && done > s->n / 8 &&
			  (double)from + (double)spent * s->n / done > (double)x->enough;
}

static int transition_fit_join_all(struct fit *x, const uint32_t *order, const uint8_t *drained)
{
	struct search *s = x->s;

	uint64_t from = search_work(s);

	search_step(s, "paths that change");
	for (uint32_t k = 0; k < s->n; k++) {
		uint32_t i = order[k];
		bool over_budget = search_work(s) > x->limit;

		x->r->drained[i] = drained[i];
		x->r->ndrain += drained[i] != 0;
		if (drained[i] ||
		    (transition_fit_is_static(x, &s->item[i]) && !(x->end && s->item[i].sl)))
			continue;
		if (over_budget || !transition_fit_fits(x, i)) {
			x->r->drained[i] = !over_budget && x->end && x->failed == x->nwaves
						   ? TRANSITION_OTHERS + 1
						   : TRANSITION_NO_ORDER + 1;
			x->r->ndrain++;
			x->r->over_budget |= over_budget;
		}
		transition_fit_tell_last(x, k + 1, from);
		if (search_at(s, k + 1))
			return -ECANCELED;
	}
	return 0;
}

static int transition_fit_by_wave(const void *a, const void *b)
{
	const struct move *x = a, *y = b;

	if (x->wave != y->wave)
		return x->wave < y->wave ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

/* Waves in which nothing moves are none; entries without traffic need one that is. */
static void transition_fit_close_gaps(struct fit *x)
{
	struct found *r = x->r;
	uint32_t last = FAB_NONE;

	r->nwaves = r->first_lft = x->sl2vl;
	if (r->moves.n)
		qsort(r->moves.v, r->moves.n, sizeof(*r->moves.v), transition_fit_by_wave);
	for (size_t i = 0; i < r->moves.n; i++) {
		uint32_t wave = r->moves.v[i].wave;

		r->nwaves += wave != last;
		last = wave;
		r->moves.v[i].wave = r->nwaves - 1;
	}
}

/* Waves of LFTs that have to be looked at: where no LFT changes, one mixture is like the other, and
 * that of the SL2VL tables holds all of them. */
static uint32_t transition_fit_count_levels(const struct search *s, bool sl2vl)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->item[i].lft)
			return LEVELS;
	return !sl2vl;
}

int search_first_fit(struct found **out, struct search *s, const uint32_t *order,
		     const uint8_t *drained, uint64_t limit, uint64_t enough)
{
	struct fit x = {
		.s = s, .sl2vl = mixture_sl2vl_changes(s->flow), .limit = limit, .enough = enough
	};
	int rc;

	search_no_graph(s);
	x.nwaves = transition_fit_count_levels(s, x.sl2vl) + x.sl2vl;
	x.end = !s->end_holds;
	x.nstages = x.nwaves + x.end;
	x.r = xcalloc(1, sizeof(*x.r));
	x.r->drained = xcalloc(s->n, 1);
	x.r->old_cyclic = s->old_cyclic;
	x.level = xcalloc(s->f->nsw, 1);
	x.lft = xcalloc(s->f->nsw, 1);
	for (uint32_t g = 0; g < x.nwaves; g++)
		x.g[g] = transition_fit_new_graph(s);
	rc = transition_fit_put_static(&x, drained);
	if (!rc)
		rc = transition_fit_put_end(&x);
	if (!rc)
		rc = transition_fit_join_all(&x, order, drained);
	if (!rc)
		transition_fit_close_gaps(&x);
	*out = rc ? NULL : x.r;
	if (rc)
		found_free(x.r);
	for (uint32_t g = 0; g < x.nstages; g++) {
		tgraph_free(x.g[g]);
		vec_free(&x.added[g]);
	}
	for (uint32_t k = 0; k < RUNS; k++)
		vec_free(&x.dep[k]);
	vec_free(&x.part);
	free(x.level);
	free(x.lft);
	return rc;
}
