/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/transition/transition_priv.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE    2		/* waves in which no LID was through */
#define FINE_EFFORT 10000000ull /* for moving LIDs switch by switch, per attempt */
#define LOOKS	    16384	/* for one dependency of old SLs alone */
#define TRIES	    16		/* new dependencies for one LID there */

uint64_t search_work(const struct search *s)
{
	return mixture_work(s->flow) + s->graphs_done + (s->g ? tgraph_work(s->g) : 0);
}

bool search_tick(struct search *s)
{
	uint64_t now = search_work(s), more = now - s->ticked;
	struct progress *p = s->pace.progress;

	s->ticked = now;
	if (p)
		p->work = p->most && now > p->most ? p->most : now;
	return pace_tick(&s->pace, s->at, more);
}

void search_most(struct search *s, uint64_t more)
{
	struct progress *p = s->pace.progress;
	uint64_t most = search_work(s) + more;

	if (p && (!p->most || most < p->most))
		p->most = most;
}

void search_step(struct search *s, const char *name)
{
	if (s->in_a_step)
		return;
	s->pace.step = name;
	if (s->pace.progress)
		s->pace.progress->last = false;
	s->pace.done = s->at = 0;
}

bool search_at(struct search *s, uint32_t done)
{
	if (!s->in_a_step)
		s->at = done;
	return search_tick(s);
}

bool search_show(struct search *s, uint64_t work)
{
	return pace_tick(&s->pace, s->at, work);
}

struct tgraph *search_take_graph(struct search *s)
{
	struct tgraph *g = s->g;

	if (g)
		s->graphs_done += tgraph_work(g);
	s->g = NULL;
	return g;
}

void search_no_graph(struct search *s)
{
	tgraph_free(search_take_graph(s));
}

void search_graph(struct search *s)
{
	search_no_graph(s);
	s->g = tgraph_new(s->f, &s->turns, mixture_nvl(s->flow), &s->pace);
}

bool search_sort(struct search *s)
{
	return tgraph_sort(s->g);
}

/* ---- dependencies of one LID ---- */

static struct ages transition_search_now_of(const struct search *s, const struct item *it)
{
	return (struct ages){ .lft = it->lft_age,
			      .lft_all = it->place == DONE ? AGE_NEW : AGE_OLD,
			      .sl = s->sl_waves,
			      .sl2vl = s->sl2vl };
}

static struct ages transition_search_wide_of(const struct search *s, const struct item *it)
{
	return (struct ages){
		.lft = it->lft_wide, .lft_all = AGE_BOTH, .sl = s->sl_waves, .sl2vl = s->sl2vl
	};
}

static bool transition_search_run(struct search *s, const struct item *it, const struct ages *a)
{
	mixture_load(s->flow, it->lid);
	return mixture_run(s->flow, a);
}

static bool transition_search_loses_with(struct search *s, const struct item *it, uint8_t age)
{
	const struct ages a = { .lft_all = age, .sl = age, .sl2vl = age };

	return !transition_search_run(s, it, &a) || mixture_loses(s->flow);
}

bool search_run(struct search *s, struct item *it, const struct ages *a)
{
	if (!transition_search_run(s, it, a))
		return false;
	if (!mixture_loses(s->flow) || it->losses == LOSSES_IGNORED)
		return true;
	if (it->losses == LOSSES_COUNT)
		return false;
	it->losses = transition_search_loses_with(s, it, AGE_OLD) ||
				     transition_search_loses_with(s, it, AGE_NEW)
			     ? LOSSES_IGNORED
			     : LOSSES_COUNT;
	return search_run(s, it, a);
}

void search_put_run(struct search *s)
{
	uint32_t n;
	const struct tdep *d = mixture_deps(s->flow, &n);

	tgraph_put_all(s->g, d, n);
}

void search_put(struct search *s, const struct item *it, struct ages a)
{
	transition_search_run(s, it, &a);
	search_put_run(s);
}

void search_take(struct search *s, const struct item *it, struct ages a)
{
	const struct tdep *d;
	uint32_t n;

	transition_search_run(s, it, &a);
	d = mixture_deps(s->flow, &n);
	tgraph_remove_all(s->g, d, n);
}

enum added search_add(struct search *s, struct item *it, struct ages a, bool blame)
{
	const struct tdep *d;
	uint32_t n, i = 0, more;

	if (!search_run(s, it, &a))
		return LOOP;
	d = mixture_deps(s->flow, &n);
	do {
		more = tgraph_add_some(s->g, d + i, n - i, SOME);
		i += more;
		search_tick(s);
	} while (more == SOME);
	if (i == n)
		return ADDED;
	if (blame) {
		tgraph_blame(s->g);
		it->stuck = true;
		it->by = d[i];
	}
	tgraph_remove_all(s->g, d, i);
	return CYCLE;
}

/* ---- the drain ---- */

static void transition_search_drain(struct search *s, uint32_t i, enum transition_why why)
{
	struct item *it = &s->item[i];

	s->nwait -= it->place == WAITS;
	it->place = DRAINED;
	it->why = (uint8_t)why;
	s->found->drained[i] = (uint8_t)(why + 1);
	s->found->ndrain++;
}

/* False when this search may not drain. */
static bool transition_search_drain_flowing(struct search *s, uint32_t i, enum transition_why why)
{
	if (!s->may_drain)
		return false;
	search_take(s, &s->item[i], transition_search_now_of(s, &s->item[i]));
	transition_search_drain(s, i, why);
	return true;
}

/* ---- steps of an attempt: 0, -EDEADLK (may not drain), -ECANCELED ---- */

/* The i-th item of a pass. */
static uint32_t transition_search_nth(const struct search *s, uint32_t i)
{
	return s->descending ? s->n - 1 - i : i;
}

static int transition_search_begin(struct search *s)
{
	uint8_t sl = s->sl_waves;

	search_step(s, "old routes");
	search_graph(s);
	s->sl2vl = AGE_OLD;
	s->sl_waves = AGE_OLD;
	for (uint32_t i = 0; i < s->n; i++) {
		struct ages a = transition_search_now_of(s, &s->item[i]);

		if (s->item[i].place == DRAINED)
			continue;
		search_put(s, &s->item[i], a);
		if (search_at(s, i + 1))
			return -ECANCELED;
	}
	s->sl_waves = sl;
	s->old_cyclic = !search_sort(s);
	if (s->old_cyclic) {
		s->found->old_cyclic = true;
		tgraph_contract(s->g);
		tgraph_sort(s->g);
	}
	return 0;
}

/* Where hosts may use new SLs from the beginning. */
static int transition_search_widen_sl(struct search *s)
{
	for (uint32_t k = 0; k < s->n && s->sl_waves == AGE_BOTH; k++) {
		uint32_t i = transition_search_nth(s, k);
		struct ages a = transition_search_now_of(s, &s->item[i]), old = a;

		if (s->item[i].place == DRAINED || !s->item[i].sl)
			continue;
		old.sl = AGE_OLD;
		if (search_add(s, &s->item[i], a, false) == ADDED) {
			search_take(s, &s->item[i], old);
		} else if (s->may_drain) {
			search_take(s, &s->item[i], old);
			transition_search_drain(s, i, TRANSITION_NO_ORDER);
		} else {
			return -EDEADLK;
		}
		if (search_tick(s))
			return -ECANCELED;
	}
	return 0;
}

/* The wave in which the SL2VL tables are written. */
static int transition_search_change_sl2vl(struct search *s)
{
	search_step(s, "SL2VL wave");
	for (uint32_t k = 0; k < s->n; k++) {
		uint32_t i = transition_search_nth(s, k);
		struct ages a = transition_search_now_of(s, &s->item[i]);

		if (s->item[i].place == DRAINED)
			continue;
		a.sl2vl = AGE_BOTH;
		if (search_add(s, &s->item[i], a, false) == ADDED)
			search_take(s, &s->item[i], transition_search_now_of(s, &s->item[i]));
		else if (!transition_search_drain_flowing(s, i, TRANSITION_NO_ORDER))
			return -EDEADLK;
		if (search_at(s, k + 1))
			return -ECANCELED;
		if (s->big && search_work(s) > s->hurry)
			return -EAGAIN;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		struct ages a;

		if (s->item[i].place == DRAINED)
			continue;
		s->sl2vl = AGE_NEW;
		a = transition_search_now_of(s, &s->item[i]);
		search_put(s, &s->item[i], a);
		a.sl2vl = AGE_BOTH;
		search_take(s, &s->item[i], a);
		if (search_tick(s))
			return -ECANCELED;
	}
	s->sl2vl = AGE_NEW;
	s->found->sl2vl_wave = s->wave++;
	return 0;
}

static void transition_search_note_move(struct search *s, uint32_t i)
{
	struct item *it = &s->item[i];
	struct move m = { .item = i, .wave = s->wave };

	if (it->lft_wide) {
		m.lft_wide = xcalloc(s->f->nsw, 1);
		memcpy(m.lft_wide, it->lft_wide, s->f->nsw);
	}
	vec_push(&s->found->moves, m);
	it->moving = true;
}

/* Does what it was stuck at still close a cycle, without the rest of it? */
static bool transition_search_still_stuck(struct search *s, struct item *it)
{
	if (!it->stuck)
		return false;
	if (!tgraph_add(s->g, &it->by)) {
		tgraph_blame(s->g);
		return true;
	}
	tgraph_remove(s->g, &it->by);
	it->stuck = false;
	return false;
}

/* All entries that are still old at once. */
static enum added transition_search_try_whole(struct search *s, uint32_t i)
{
	struct item *it = &s->item[i];
	enum added how;

	if (transition_search_still_stuck(s, it))
		return CYCLE;

	if (it->lft_age) {
		it->lft_wide = xcalloc(s->f->nsw, 1);
		for (uint32_t sw = 0; sw < s->f->nsw; sw++)
			it->lft_wide[sw] = it->lft_age[sw] == AGE_OLD ? AGE_BOTH : it->lft_age[sw];
	}
	how = search_add(s, it, transition_search_wide_of(s, it), true);
	if (how == ADDED) {
		transition_search_note_move(s, i);
		return how;
	}
	free(it->lft_wide);
	it->lft_wide = NULL;
	return how;
}

static void transition_search_only(const struct search *s, struct item *it, const uint32_t *sw,
				   uint32_t n)
{
	if (it->lft_age)
		memcpy(it->lft_wide, it->lft_age, s->f->nsw);
	else
		memset(it->lft_wide, AGE_OLD, s->f->nsw);
	for (uint32_t k = 0; k < n; k++)
		it->lft_wide[sw[k]] = AGE_BOTH;
}

/* The entries that may change together without a loop, from the destination outwards. */
static uint32_t transition_search_without_loop(struct search *s, struct item *it, uint32_t *list)
{
	const uint32_t *order;
	uint32_t n = 0;

	transition_search_only(s, it, NULL, 0);
	mixture_load(s->flow, it->lid);
	mixture_grow(s->flow, it->lft_wide);
	order = mixture_outwards(s->flow);
	for (uint32_t k = 0; k < s->f->nsw; k++)
		if (it->lft_wide[order[k]] == AGE_BOTH)
			list[n++] = order[k];
	return n;
}

/* Some of the entries that are still old; in fine steps when nothing else moves. */
static bool transition_search_try_part(struct search *s, uint32_t i, bool fine)
{
	struct item *it = &s->item[i];
	uint32_t *list = xcalloc(s->f->nsw, sizeof(*list)), n, k;
	bool done = false;

	it->lft_wide = xcalloc(s->f->nsw, 1);
	n = transition_search_without_loop(s, it, list);
	for (k = n; k > 0 && !done; k = fine ? k / 2 : 0) {
		transition_search_only(s, it, list, k);
		done = search_add(s, it, transition_search_wide_of(s, it), false) == ADDED;
	}
	for (k = 1; fine && k < n && !done && s->fine > s->f->nsw; k++) {
		transition_search_only(s, it, list + k, 1);
		done = search_add(s, it, transition_search_wide_of(s, it), false) == ADDED;
		s->fine -= s->f->nsw;
	}
	if (done) {
		transition_search_note_move(s, i);
	} else {
		free(it->lft_wide);
		it->lft_wide = NULL;
	}
	free(list);
	return done;
}

/* Everything that waits at once, with one look at the whole graph. */
static bool transition_search_all_at_once(struct search *s)
{
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		struct item *it = &s->item[i];
		struct ages a = transition_search_wide_of(s, it);

		if (it->place != WAITS)
			continue;
		if (!search_run(s, it, &a))
			break;
		search_put(s, it, a);
		if (search_tick(s))
			break;
	}
	if (i == s->n && search_sort(s)) {
		for (i = 0; i < s->n; i++)
			if (s->item[i].place == WAITS)
				transition_search_note_move(s, i);
		return true;
	}
	while (i-- > 0) {
		if (s->item[i].place == WAITS)
			search_take(s, &s->item[i], transition_search_wide_of(s, &s->item[i]));
		search_tick(s); /* whether cancelled shows at the next step */
	}
	return false;
}

/* The end of a wave: what moved is new. */
static int transition_search_settle(struct search *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct item *it = &s->item[i];
		struct ages wide = transition_search_wide_of(s, it),
			    now = transition_search_now_of(s, it);
		uint8_t *age = it->lft_age;
		bool left = false;

		if (!it->moving)
			continue;
		it->moving = it->stuck = false;
		search_take(s, it, now);
		search_take(s, it, wide);
		for (uint32_t sw = 0; it->lft_wide && sw < s->f->nsw; sw++) {
			it->lft_wide[sw] =
				it->lft_wide[sw] == AGE_BOTH ? AGE_NEW : it->lft_wide[sw];
			left |= it->lft_wide[sw] == AGE_OLD && mixture_lft_changes_at(s->flow, sw);
		}
		free(age);
		it->lft_age = left ? it->lft_wide : NULL;
		if (!left) {
			free(it->lft_wide);
			it->place = DONE;
			s->nwait--;
		}
		it->lft_wide = NULL;
		search_put(s, it, transition_search_now_of(s, it));
		if (search_at(s, s->n - s->nwait))
			return -ECANCELED;
	}
	s->wave++;
	return 0;
}

/* How much of what kept others from moving is this LID's. */
static uint64_t transition_search_conflict_score(struct search *s, const struct item *it)
{
	struct ages a = transition_search_now_of(s, it);
	const struct tdep *d;
	uint64_t points = 0;
	uint32_t n;

	transition_search_run(s, it, &a);
	d = mixture_deps(s->flow, &n);
	for (uint32_t i = 0; i < n; i++)
		points += tgraph_blamed(s->g, &d[i]);
	return points;
}

struct guilty {
	uint64_t points;
	uint32_t item;
};

static int transition_search_by_points(const void *a, const void *b)
{
	const struct guilty *x = a, *y = b;

	if (x->points != y->points)
		return x->points > y->points ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

/* Nothing moves: the LIDs that block most are to be drained. */
static int transition_search_give_up_some(struct search *s)
{
	struct guilty *list = xcalloc(s->n, sizeof(*list));
	uint32_t many = search_work(s) > s->hurry ? s->nwait / 2 + 1 : s->nwait / 64 + 1, n = 0;
	int rc = s->may_drain ? 0 : -EDEADLK;

	for (uint32_t i = 0; i < s->n && !rc; i++) {
		if (s->item[i].place == WAITS)
			list[n++] =
				(struct guilty){ transition_search_conflict_score(s, &s->item[i]),
						 i };
		if (search_tick(s))
			rc = -ECANCELED;
	}
	if (n)
		qsort(list, n, sizeof(*list), transition_search_by_points);
	for (uint32_t i = 0; i < n && i < many && !rc; i++) {
		transition_search_drain_flowing(s, list[i].item, TRANSITION_NO_ORDER);
		if (search_tick(s))
			rc = -ECANCELED;
	}
	free(list);
	return rc;
}

static int transition_search_pass(struct search *s, uint32_t *moved, bool fine)
{
	*moved = 0;
	for (uint32_t k = 0; k < s->n; k++) {
		uint32_t i = transition_search_nth(s, k);
		enum added how;

		if (s->item[i].place != WAITS)
			continue;
		how = fine ? LOOP : transition_search_try_whole(s, i);
		*moved += how == ADDED || (how == LOOP && transition_search_try_part(s, i, fine));
		if (search_tick(s))
			return -ECANCELED;
	}
	return 0;
}

static int transition_search_lft_waves(struct search *s)
{
	uint32_t moved = 0, idle = 0; /* idle: waves since one was through */
	int rc = 0;

	search_step(s, "LFT waves");
	s->found->first_lft = s->wave;
	s->at = s->in_a_step ? s->at : s->n - s->nwait;
	if (s->nwait && transition_search_all_at_once(s))
		return transition_search_settle(s);
	if (s->nwait && s->big)
		return -EAGAIN;
	while (s->nwait && !rc) {
		uint32_t before = s->nwait;
		bool over_budget;

		tgraph_forgive(s->g);
		rc = transition_search_pass(s, &moved, false);
		if (!rc && !moved && search_work(s) < s->hurry)
			rc = transition_search_pass(s, &moved, true);
		if (!rc && moved)
			rc = transition_search_settle(s);
		idle = s->nwait < before ? 0 : idle + 1;
		over_budget = search_work(s) > s->hurry || (s->may_drain && idle >= PATIENCE);
		if (!rc && s->nwait && (!moved || over_budget)) {
			rc = transition_search_give_up_some(s);
			idle = 0;
		}
	}
	return rc;
}

static void transition_search_reset(struct search *s, const uint8_t *drained)
{
	s->wave = s->nwait = 0;
	s->fine = FINE_EFFORT;
	for (uint32_t i = 0; i < s->n; i++) {
		struct item *it = &s->item[i];

		free(it->lft_age);
		free(it->lft_wide);
		it->lft_age = it->lft_wide = NULL;
		it->moving = it->stuck = false;
		it->place = it->lft ? WAITS : STAYS;
		s->nwait += it->lft;
		if (drained[i])
			transition_search_drain(s, i, drained[i] - 1);
	}
}

void found_free(struct found *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->moves.n; i++)
		free(r->moves.v[i].lft_wide);
	vec_free(&r->moves);
	free(r->drained);
	free(r);
}

int search_attempt(struct found **out, struct search *s, const uint8_t *drained)
{
	bool sl2vl = mixture_sl2vl_changes(s->flow);
	uint32_t given;
	int rc;

	*out = NULL;
	s->found = xcalloc(1, sizeof(*s->found));
	s->found->drained = xcalloc(s->n, 1);
	s->hurry = search_work(s) + s->effort;
	transition_search_reset(s, drained);
	given = s->found->ndrain;
	rc = transition_search_begin(s);
	if (!rc)
		rc = transition_search_widen_sl(s);
	if (!rc && sl2vl && !s->sl2vl_last)
		rc = transition_search_change_sl2vl(s);
	if (!rc)
		rc = transition_search_lft_waves(s);
	if (!rc && sl2vl && s->sl2vl_last)
		rc = transition_search_change_sl2vl(s);
	s->found->nwaves = s->wave;
	s->found->over_budget = s->big && s->found->ndrain > given;
	s->over_budget = search_work(s) > s->hurry;
	if (rc)
		found_free(s->found);
	else
		*out = s->found;
	s->found = NULL;
	return rc;
}

/*
 * --- old SLs alone ---------------------------------------------------------------------------
 *
 * Which LIDs need the drain whatever becomes of the others: packets that keep the old SL meet the
 * new tables in the end, and one dependency of theirs alone closes a cycle with those of the
 * new SLs.
 *
 * The trees of many LIDs have dependencies in common, so what was found about one is kept.
 */

static bool transition_search_closes_cycle(struct search *s, bool try_new)
{
	uint32_t n, left = TRIES;
	const struct tdep *d = mixture_deps(s->flow, &n);

	if (tgraph_closed_any(s->g, d, n) < n)
		return true;
	for (uint32_t i = 0; i < n && left && try_new; i++) {
		if (tgraph_agrees(s->g, &d[i]) || tgraph_tried(s->g, &d[i]))
			continue;
		left--;
		if (tgraph_closes(s->g, &d[i], LOOKS))
			return true;
	}
	return false;
}

int transition_search_alone(struct search *s, uint8_t *drained, uint64_t effort)
{
	const struct ages old = { .lft_all = AGE_NEW, .sl = AGE_OLD, .sl2vl = AGE_NEW };
	uint64_t limit = search_work(s) + effort;
	int rc = 0;

	search_step(s, "old SLs alone");
	for (uint32_t i = 0; i < s->n && !rc; i++) {
		struct item *it = &s->item[i];

		if (!it->sl || drained[i])
			continue;
		if (!search_run(s, it, &old) ||
		    transition_search_closes_cycle(s, search_work(s) < limit))
			drained[i] = TRANSITION_OLD_SL + 1;
		if (search_at(s, i + 1))
			rc = -ECANCELED;
	}
	return rc;
}
