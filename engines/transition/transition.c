/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/transition/transition.h"

#include "engines/transition/transition_priv.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Work is counted in looks at a hop or at a dependency; a round is one look at all of them. */
#define ROUNDS	      4
#define LEAST_WORK    40000000ull
#define BIG_WORK      25000000ull
#define BIG_EFFORT    160000000ull
#define LOOKS_PER_HOP 8
#define ALONE_EFFORT  400000000ull
#define FIT_EFFORT    3000000000ull /* of the first fit: a minute or two */
#define FITS	      8
#define MANY_CERTAIN  8 /* one in so many LIDs */
#define PASS_LOOKS    8 /* for each LID and switch at most, in one round: measured 3 to 6 */

/* ---- what is certain beforehand ---- */

static int transition_loop_in_new(const struct search *s, uint32_t lid, struct err *err)
{
	return err_set(err, -EINVAL,
		       "the new tables of fabric %s have a forwarding loop to LID %u: no order of "
		       "writes is searched",
		       s->f->name, lid);
}

static int transition_cycle_in_new(const struct search *s, struct err *err)
{
	return err_set(
		err, -EINVAL,
		"the new tables of fabric %s have a cycle of dependencies: no order of writes is "
		"searched",
		s->f->name);
}

/* 0, or -ECANCELED; *any: does anything change that packets can notice?  drained gets those that
 * loop in the old tables. */
static int transition_look_for_changes(struct search *s, bool *any, uint8_t *drained)
{
	const struct ages old = { .lft_all = AGE_OLD };

	search_step(s, "changes");
	*any = mixture_sl2vl_changes(s->flow);
	for (uint32_t i = 0; i < s->n; i++) {
		mixture_load(s->flow, s->item[i].lid);
		s->item[i].lft = mixture_lft_changes(s->flow);
		s->item[i].sl = mixture_sl_changes(s->flow);
		*any |= s->item[i].lft | s->item[i].sl;
		if (s->item[i].lft)
			mixture_load(s->flow, s->item[i].lid); /* counts as another round */
		if (s->item[i].lft && !mixture_no_loop(s->flow, &old))
			drained[i] = TRANSITION_OLD_LOOP + 1;
		if (search_at(s, i + 1))
			return -ECANCELED;
	}
	return 0;
}

static struct found *transition_nothing_found(const struct search *s)
{
	struct found *r = xcalloc(1, sizeof(*r));

	r->drained = xcalloc(s->n, 1);
	return r;
}

/* The new tables with new SLs. */
static int transition_put_new(struct search *s, struct err *err)
{
	const struct ages a = { .lft_all = AGE_NEW, .sl = AGE_NEW, .sl2vl = AGE_NEW };

	search_step(s, "new routes");
	search_graph(s);
	for (uint32_t i = 0; i < s->n; i++) {
		struct item *it = &s->item[i];

		mixture_load(s->flow, it->lid);
		if (!mixture_no_loop(s->flow, &a))
			return transition_loop_in_new(s, it->lid, err);
		search_put(s, it, a);
		if (search_at(s, i + 1))
			return -ECANCELED;
	}
	return search_sort(s) ? 0 : transition_cycle_in_new(s, err);
}

/* In the end packets with old SLs meet the new tables: who cannot stay, alone (sure) or with
 * others. */
static int transition_look_at_old_sls(struct search *s, uint8_t *drained, bool sure)
{
	const struct ages both = { .lft_all = AGE_NEW, .sl = AGE_BOTH, .sl2vl = AGE_NEW };

	search_step(s, sure ? "old SLs one by one" : "old SLs together");
	for (uint32_t i = 0; i < s->n; i++) {
		struct item *it = &s->item[i];

		if (!it->sl || drained[i])
			continue;
		if (search_add(s, it, both, false) != ADDED)
			drained[i] = (sure ? TRANSITION_OLD_SL : TRANSITION_OTHERS) + 1;
		else if (sure)
			search_take(s, it, both);
		if (search_at(s, i + 1))
			return -ECANCELED;
	}
	return 0;
}

/* Does the end stay without a cycle, however long the old SLs of all but those drained last? */
static int transition_end_holds(struct search *s, const uint8_t *drained, bool *holds)
{
	struct ages a = { .lft_all = AGE_NEW, .sl2vl = AGE_NEW };

	*holds = true;
	search_step(s, "old SLs at the end");
	search_graph(s);
	for (uint32_t i = 0; i < s->n && *holds; i++) {
		a.sl = drained[i] ? AGE_NEW : AGE_BOTH;
		*holds = search_run(s, &s->item[i], &a);
		search_put_run(s);
		if (search_at(s, i + 1))
			return -ECANCELED;
	}
	*holds = *holds && search_sort(s);
	return 0;
}

static bool transition_sls_change(const struct search *s)
{
	uint32_t i = 0;

	while (i < s->n && !s->item[i].sl)
		i++;
	return i < s->n;
}

static uint32_t transition_count_certain(const struct search *s, const uint8_t *drained)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += drained[i] == TRANSITION_OLD_LOOP + 1 || drained[i] == TRANSITION_OLD_SL + 1;
	return n;
}

static void transition_free_end(struct search *s)
{
	tgraph_free(s->end);
	s->end = NULL;
}

/* sure gets those that cannot stay whatever becomes of the others, drained some more that cannot
 * stay together.  When so much changes that many are sure to go, the rest can hardly ever all stay;
 * which cannot is found one by one. */
static int transition_look_at_end(struct search *s, uint8_t *sure, uint8_t *drained,
				  struct err *err)
{
	int rc = transition_put_new(s, err);

	s->end_holds = !transition_sls_change(s);
	if (!rc && !s->end_holds)
		rc = transition_search_alone(s, sure, s->big ? ALONE_EFFORT : s->effort);
	if (!rc && !s->end_holds && !s->big)
		rc = transition_look_at_old_sls(s, sure, true);
	memcpy(drained, sure, s->n);
	if (!rc && !s->end_holds && s->big)
		s->end = search_take_graph(s);
	if (rc || s->end_holds ||
	    (s->huge && transition_count_certain(s, sure) > s->n / MANY_CERTAIN))
		return rc;
	if (s->big) {
		rc = transition_end_holds(s, sure, &s->end_holds);
		if (s->end_holds)
			transition_free_end(s);
		return rc;
	}
	rc = transition_look_at_old_sls(s, drained, false);
	s->end_holds = !memcmp(drained, sure, s->n);
	return rc;
}

/* ---- the best of several attempts ---- */

static bool transition_better(const struct found *a, const struct found *b)
{
	if (!b || a->ndrain != b->ndrain)
		return !b || a->ndrain < b->ndrain;
	if (a->over_budget != b->over_budget)
		return b->over_budget;
	return a->nwaves < b->nwaves;
}

static void transition_keep_better(struct found **best, struct found *r)
{
	bool proved = *best && !(*best)->over_budget;

	if (r && transition_better(r, *best) && !(proved && r->over_budget)) {
		found_free(*best);
		*best = r;
	} else {
		found_free(r);
	}
}

/* Those that did not fit come first the next time. */
static void transition_drained_first(uint32_t *order, uint32_t n, const struct found *r)
{
	uint32_t *next = xcalloc(n, sizeof(*next)), k = 0;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < n; i++)
			if ((r->drained[order[i]] == 0) == pass)
				next[k++] = order[i];
	memcpy(order, next, n * sizeof(*order));
	free(next);
}

/* First fit, again and again as long as there is effort left; when so much changes the first time
 * is for going through all of it. */
static int transition_fit_several(struct found **best, struct search *s, const uint8_t *drained,
				  uint64_t effort)
{
	uint64_t limit = search_work(s) + effort;
	uint32_t *order = xcalloc(s->n, sizeof(*order));
	int rc = 0;

	for (uint32_t i = 0; i < s->n; i++)
		order[i] = i;
	for (uint32_t k = 0; k < FITS && !rc; k++) {
		bool first = s->big && !k;
		struct found *r;

		rc = search_first_fit(&r, s, order, drained,
				      first ? search_work(s) + FIT_EFFORT : limit,
				      k + 1 < FITS ? limit : 0);
		if (rc)
			break;
		transition_drained_first(order, s->n, r);
		transition_keep_better(best, r);
		if ((*best)->ndrain == s->certain || search_work(s) > limit)
			break;
	}
	free(order);
	return rc;
}

/* ---- how much more it can be ---- */

static void transition_most_rounds(struct search *s, uint64_t rounds, uint64_t more)
{
	if (s->big)
		search_most(s, rounds * PASS_LOOKS * s->n * s->f->nsw + more);
}

/* Several first fits, of which the last may have begun just before the effort was spent, and the
 * writes. */
static void transition_most_fits(struct search *s, uint64_t rounds, uint64_t more)
{
	transition_most_rounds(s, rounds + 4, more + FIT_EFFORT + BIG_EFFORT);
}

/* After it is known what changes: new routes, old SLs alone and at the end, old routes; or new
 * routes and the ways to move all at once. */
static void transition_most_of_all(struct search *s)
{
	transition_most_fits(s, transition_sls_change(s) ? 4 : 8,
			     transition_sls_change(s) ? ALONE_EFFORT : 0);
}

/* SL2VL before or after, LIDs ascending or descending. */
static int transition_try_ways(struct found **best, struct search *s, const uint8_t *drained,
			       uint64_t effort)
{
	uint64_t limit = 0;

	s->may_drain = true;
	for (uint32_t k = 0; k < 4; k++) {
		struct found *r;
		int rc;

		s->descending = k & 1;
		s->sl2vl_last = k >> 1;
		if (s->sl2vl_last && !mixture_sl2vl_changes(s->flow))
			break;
		rc = search_attempt(&r, s, drained);
		if (rc)
			return rc == -EAGAIN ? 0 : rc;
		transition_keep_better(best, r);
		limit = limit ? limit : search_work(s) + effort / 2;
		if ((*best)->ndrain == s->certain || search_work(s) > limit || s->over_budget)
			break;
	}
	return 0;
}

/* 0 with *out when these need not be drained more; NULL when they must, as far as is found. */
static int transition_without(struct found **out, struct search *s, const uint8_t *drained)
{
	bool holds = false;
	int rc = transition_end_holds(s, drained, &holds);

	*out = NULL;
	for (uint32_t k = 0; holds && k < 4 && !*out && rc != -ECANCELED; k++) {
		s->descending = k & 1;
		s->sl2vl_last = k >> 1;
		if (s->sl2vl_last && !mixture_sl2vl_changes(s->flow))
			break;
		rc = search_attempt(out, s, drained);
	}
	return rc == -ECANCELED ? rc : 0;
}

/* Leaves out of the drain what need not be there; true in *all when each was tried. */
static int transition_shrink(struct found **best, struct search *s, bool *all, uint64_t effort)
{
	uint64_t limit = search_work(s) + effort;
	uint8_t *drained = xcalloc(s->n, 1);
	int rc = 0;

	search_step(s, "a smaller drain");
	s->in_a_step = true;
	s->may_drain = false;
	*all = true;
	for (uint32_t i = 0; i < s->n && !rc; i++) {
		uint8_t why = (*best)->drained[i];
		struct found *r = NULL;

		s->at = i;
		if (why != TRANSITION_NO_ORDER + 1 && why != TRANSITION_OTHERS + 1)
			continue;
		if (search_work(s) > limit || s->over_budget) {
			*all = false;
			break;
		}
		memcpy(drained, (*best)->drained, s->n);
		drained[i] = 0;
		rc = transition_without(&r, s, drained);
		if (r) {
			found_free(*best);
			*best = r;
		}
	}
	s->in_a_step = false;
	free(drained);
	return rc;
}

/* -ECANCELED; transition_search_done() is needed also then. */
static int transition_search_init(struct search *s, const struct fabric *f,
				  const struct tables *old, const struct tables *new,
				  const struct transition_params *params, struct progress *progress)
{
	s->f = f;
	turns_init(&s->turns, f);
	s->big = params && params->quick;
	s->sl_waves = params && params->sl_any ? AGE_BOTH : AGE_OLD;
	s->item = xcalloc((size_t)f->max_lid + 1, sizeof(*s->item));
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		if (f->lid_end[lid] != FAB_NONE)
			s->item[s->n++].lid = (uint16_t)lid;
	if (pace_begin(&s->pace, progress, "comparing", (uint64_t)s->n + 1))
		return -ECANCELED;
	s->pace.work_max = 1u << 16; /* a look at a dependency misses the cache now and then */
	s->flow = mixture_new(f, &s->turns, old, new, &s->pace);
	return s->flow ? 0 : -ECANCELED;
}

static void transition_search_done(struct search *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->item[i].lft_age);
		free(s->item[i].lft_wide);
	}
	free(s->item);
	tgraph_free(s->g);
	transition_free_end(s);
	mixture_free(s->flow);
	turns_done(&s->turns);
}

/* Looks that trying whether everything that changes can move costs, more or less.  Other SL2VL
 * tables change all. */
static bool transition_is_big(const struct search *s)
{
	bool all = mixture_sl2vl_changes(s->flow);
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += all || s->item[i].lft;
	return n * s->f->nsw * LOOKS_PER_HOP > BIG_WORK;
}

/* What search_attempt() finds out otherwise. */
static int transition_look_for_old_cycles(struct search *s, const uint8_t *drained)
{
	const struct ages old = { .lft_all = AGE_OLD, .sl = AGE_OLD, .sl2vl = AGE_OLD };

	search_step(s, "old routes");
	search_graph(s);
	for (uint32_t i = 0; i < s->n; i++) {
		if (!drained[i])
			search_put(s, &s->item[i], old);
		if (search_at(s, i + 1))
			return -ECANCELED;
	}
	s->old_cyclic = !search_sort(s);
	return 0;
}

/* Who was drained while it was searched left dependencies behind that cycles of the old tables may
 * have: those who stay are looked at once more without them, until nobody else has to go. */
static int transition_without_drained(struct found **best, struct search *s)
{
	int rc = 0;

	s->may_drain = true;
	s->descending = false;
	s->sl2vl_last = false;
	for (bool more = (*best)->old_cyclic && (*best)->ndrain; more && !rc;) {
		struct found *r;

		rc = search_attempt(&r, s, (*best)->drained);
		if (rc)
			return rc == -EAGAIN ? 0 : rc;
		more = r->ndrain > (*best)->ndrain;
		found_free(*best);
		*best = r;
	}
	return rc;
}

static int transition_search_all(struct found **best, struct search *s, const uint8_t *sure,
				 const uint8_t *drained, uint64_t effort, bool *all)
{
	int rc;

	if (s->big && !s->end_holds)
		rc = transition_look_for_old_cycles(s, sure);
	else
		rc = transition_try_ways(best, s, drained, effort);
	transition_most_fits(s, 0, 0);
	if (!rc && (!*best || (*best)->ndrain > s->certain))
		rc = transition_fit_several(best, s, sure, s->big ? BIG_EFFORT : effort / 2);
	if (!rc && !s->big)
		rc = transition_shrink(best, s, all, effort);
	else if (!rc)
		*all = (*best)->ndrain == s->certain || !(*best)->over_budget;
	return rc ? rc : transition_without_drained(best, s);
}

/* The best that is found; *all as of transition_shrink(). */
static int transition_find(struct found **best, struct search *s, uint64_t effort, bool *all,
			   struct err *err)
{
	uint8_t *sure = xcalloc(s->n, 1), *drained = xcalloc(s->n, 1);
	bool any;
	int rc;

	*all = true;
	rc = transition_look_for_changes(s, &any, sure);
	if (!rc && !any) {
		*best = transition_nothing_found(s);
		goto out;
	}
	s->huge = transition_is_big(s);
	s->big |= s->huge;
	s->effort = s->big ? BIG_EFFORT : LEAST_WORK;
	transition_most_of_all(s);
	if (!rc)
		rc = transition_look_at_end(s, sure, drained, err);
	if (!s->huge)
		s->effort = ROUNDS * search_work(s) + 4 * LEAST_WORK;
	effort = effort ? effort : ROUNDS * search_work(s) + LEAST_WORK;
	s->certain = transition_count_certain(s, sure);
	transition_most_fits(s, s->end_holds ? 7 : 1, 0);
	if (!rc)
		rc = transition_search_all(best, s, sure, drained, effort, all);
out:
	free(sure);
	free(drained);
	return rc;
}

int transition_plan(struct transition **out, const struct fabric *f, const struct tables *old,
		    const struct tables *new, const struct transition_params *params,
		    struct progress *progress, struct err *err)
{
	struct search s = { 0 };
	struct found *best = NULL;
	bool all = false;
	int rc;

	if (!digest_equal(&old->fingerprint, &f->fingerprint) ||
	    !digest_equal(&new->fingerprint, &f->fingerprint))
		return err_set(err, -EINVAL, "the tables were made for another state of fabric %s",
			       f->name);
	progress_parts(progress, 0);
	rc = transition_search_init(&s, f, old, new, params, progress);
	if (!rc)
		rc = transition_find(&best, &s, params ? params->effort : 0, &all, err);
	if (pace_cancelled(&s.pace))
		rc = -ECANCELED; /* what graphs say after that is not to be relied on */
	if (!rc) {
		transition_most_rounds(&s, 1, 0);
		*out = transition_result(&s, best, old, new);
		if (*out)
			(*out)->irreducible = all;
		else
			rc = -ECANCELED;
	}
	if (rc == -ECANCELED)
		err_set(err, rc, "cancelled while searching for a write order");
	found_free(best);
	transition_search_done(&s);
	return rc;
}

void transition_free(struct transition *t)
{
	if (!t)
		return;
	free(t->writes);
	free(t->drain);
	free(t);
}
