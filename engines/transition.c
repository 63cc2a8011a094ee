/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/transition.h"

#include "engines/transition_flow.h"
#include "engines/transition_graph.h"
#include "fabric/base/mem.h"
#include "fabric/base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EFFORT	    300000000ull
#define FINE_EFFORT 100000000ull /* for moving LIDs switch by switch, per attempt */

enum place { STAYS, WAITS, DONE, DRAINED };

struct item {
	uint16_t lid;
	bool lft, sl; /* what changes */
	bool moving;  /* in the wave at hand */
	uint8_t place, why;
	uint8_t *lft_age;  /* by switch; NULL: all alike */
	uint8_t *lft_wide; /* while moving in part: the same with AGE_BOTH */
};

struct move {
	uint32_t item, wave;
	uint8_t *lft_wide; /* AGE_BOTH: these switches; NULL: all that change */
};

/* What a search has found. */
struct found {
	VEC(struct move) moves;
	uint8_t *drained; /* by item: 0, or why + 1 */
	uint32_t ndrain, nwaves, sl2vl_wave, first_lft;
	bool old_cyclic;
};

struct search {
	const struct fabric *f;
	struct turns turns;
	struct flow *flow;
	struct tgraph *g;
	struct pace pace;
	struct item *item;
	uint32_t n, nwait;
	uint8_t sl_waves; /* ages of SLs during the waves */
	uint8_t sl2vl;	  /* age of the SL2VL tables at present */
	bool descending, sl2vl_last, may_drain;
	uint32_t certain; /* LIDs that need the drain for certain */
	uint32_t wave;
	uint64_t fine; /* work left for moving in parts */
	uint64_t ticked, graphs_done;
	struct found *found;
};

static uint64_t work_of(const struct search *s)
{
	return flow_work(s->flow) + s->graphs_done + (s->g ? tgraph_work(s->g) : 0);
}

static bool tick(struct search *s)
{
	uint64_t now = work_of(s), more = now - s->ticked;

	s->ticked = now;
	return pace_tick(&s->pace, s->n - s->nwait, more);
}

static void new_graph(struct search *s)
{
	if (s->g)
		s->graphs_done += tgraph_work(s->g);
	tgraph_free(s->g);
	s->g = tgraph_new(s->f, &s->turns, flow_nvl(s->flow));
}

/* ---- dependencies of one LID ---- */

static struct ages now_of(const struct search *s, const struct item *it)
{
	return (struct ages){ .lft = it->lft_age,
			      .lft_all = it->place == DONE ? AGE_NEW : AGE_OLD,
			      .sl = s->sl_waves,
			      .sl2vl = s->sl2vl };
}

static struct ages wide_of(const struct search *s, const struct item *it)
{
	return (struct ages){
		.lft = it->lft_wide, .lft_all = AGE_BOTH, .sl = s->sl_waves, .sl2vl = s->sl2vl
	};
}

static bool run(struct search *s, const struct item *it, const struct ages *a)
{
	flow_load(s->flow, it->lid);
	return flow_run(s->flow, a);
}

static void put(struct search *s, const struct item *it, struct ages a)
{
	const struct tdep *d;
	uint32_t n;

	run(s, it, &a);
	d = flow_deps(s->flow, &n);
	for (uint32_t i = 0; i < n; i++)
		tgraph_put(s->g, &d[i]);
}

static void take_away(struct search *s, const struct item *it, struct ages a)
{
	const struct tdep *d;
	uint32_t n;

	run(s, it, &a);
	d = flow_deps(s->flow, &n);
	for (uint32_t i = 0; i < n; i++)
		tgraph_remove(s->g, &d[i]);
}

enum added { ADDED, CYCLE, LOOP };

/* All of them, or none. */
static enum added add(struct search *s, const struct item *it, struct ages a, bool blame)
{
	const struct tdep *d;
	uint32_t n, i = 0;

	if (!run(s, it, &a))
		return LOOP;
	d = flow_deps(s->flow, &n);
	while (i < n && tgraph_add(s->g, &d[i]))
		i++;
	if (i == n)
		return ADDED;
	if (blame)
		tgraph_blame(s->g);
	while (i-- > 0)
		tgraph_remove(s->g, &d[i]);
	return CYCLE;
}

/* ---- the drain ---- */

static void drain(struct search *s, uint32_t i, enum transition_why why)
{
	struct item *it = &s->item[i];

	s->nwait -= it->place == WAITS;
	it->place = DRAINED;
	it->why = (uint8_t)why;
	s->found->drained[i] = (uint8_t)(why + 1);
	s->found->ndrain++;
}

/* False when this search may not drain. */
static bool drain_flowing(struct search *s, uint32_t i, enum transition_why why)
{
	if (!s->may_drain)
		return false;
	take_away(s, &s->item[i], now_of(s, &s->item[i]));
	drain(s, i, why);
	return true;
}

/* ---- steps of an attempt: 0, -EDEADLK (may not drain), -ECANCELED ---- */

/* The i-th item of a pass. */
static uint32_t nth(const struct search *s, uint32_t i)
{
	return s->descending ? s->n - 1 - i : i;
}

static int begin(struct search *s)
{
	uint8_t sl = s->sl_waves;

	new_graph(s);
	s->sl2vl = AGE_OLD;
	s->sl_waves = AGE_OLD;
	for (uint32_t i = 0; i < s->n; i++) {
		struct ages a = now_of(s, &s->item[i]);

		if (s->item[i].place == DRAINED)
			continue;
		put(s, &s->item[i], a);
		if (tick(s))
			return -ECANCELED;
	}
	s->sl_waves = sl;
	if (!tgraph_sort(s->g)) {
		s->found->old_cyclic = true;
		tgraph_contract(s->g);
		tgraph_sort(s->g);
	}
	return 0;
}

/* Where hosts may use new SLs from the beginning. */
static int widen_sl(struct search *s)
{
	for (uint32_t k = 0; k < s->n && s->sl_waves == AGE_BOTH; k++) {
		uint32_t i = nth(s, k);
		struct ages a = now_of(s, &s->item[i]), old = a;

		if (s->item[i].place == DRAINED || !s->item[i].sl)
			continue;
		old.sl = AGE_OLD;
		if (add(s, &s->item[i], a, false) == ADDED) {
			take_away(s, &s->item[i], old);
		} else if (s->may_drain) {
			take_away(s, &s->item[i], old);
			drain(s, i, TRANSITION_NO_ORDER);
		} else {
			return -EDEADLK;
		}
		if (tick(s))
			return -ECANCELED;
	}
	return 0;
}

/* The wave in which the SL2VL tables are written. */
static int change_sl2vl(struct search *s)
{
	for (uint32_t k = 0; k < s->n; k++) {
		uint32_t i = nth(s, k);
		struct ages a = now_of(s, &s->item[i]);

		if (s->item[i].place == DRAINED)
			continue;
		a.sl2vl = AGE_BOTH;
		if (add(s, &s->item[i], a, false) == ADDED)
			take_away(s, &s->item[i], now_of(s, &s->item[i]));
		else if (!drain_flowing(s, i, TRANSITION_NO_ORDER))
			return -EDEADLK;
		if (tick(s))
			return -ECANCELED;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		struct ages a;

		if (s->item[i].place == DRAINED)
			continue;
		s->sl2vl = AGE_NEW;
		a = now_of(s, &s->item[i]);
		put(s, &s->item[i], a);
		a.sl2vl = AGE_BOTH;
		take_away(s, &s->item[i], a);
		if (tick(s))
			return -ECANCELED;
	}
	s->sl2vl = AGE_NEW;
	s->found->sl2vl_wave = s->wave++;
	return 0;
}

static void note_move(struct search *s, uint32_t i)
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

/* All entries that are still old at once. */
static enum added try_whole(struct search *s, uint32_t i)
{
	struct item *it = &s->item[i];
	enum added how;

	if (it->lft_age) {
		it->lft_wide = xcalloc(s->f->nsw, 1);
		for (uint32_t sw = 0; sw < s->f->nsw; sw++)
			it->lft_wide[sw] = it->lft_age[sw] == AGE_OLD ? AGE_BOTH : it->lft_age[sw];
	}
	how = add(s, it, wide_of(s, it), true);
	if (how == ADDED) {
		note_move(s, i);
		return how;
	}
	free(it->lft_wide);
	it->lft_wide = NULL;
	return how;
}

static void only(const struct search *s, struct item *it, const uint32_t *sw, uint32_t n)
{
	if (it->lft_age)
		memcpy(it->lft_wide, it->lft_age, s->f->nsw);
	else
		memset(it->lft_wide, AGE_OLD, s->f->nsw);
	for (uint32_t k = 0; k < n; k++)
		it->lft_wide[sw[k]] = AGE_BOTH;
}

/* The entries that may change together without a loop, from the destination outwards. */
static uint32_t without_loop(struct search *s, struct item *it, uint32_t *list)
{
	const uint32_t *order;
	uint32_t n = 0;

	only(s, it, NULL, 0);
	flow_load(s->flow, it->lid);
	flow_grow(s->flow, it->lft_wide);
	order = flow_outwards(s->flow);
	for (uint32_t k = 0; k < s->f->nsw; k++)
		if (it->lft_wide[order[k]] == AGE_BOTH)
			list[n++] = order[k];
	return n;
}

/* Some of the entries that are still old; in fine steps when nothing else moves. */
static bool try_part(struct search *s, uint32_t i, bool fine)
{
	struct item *it = &s->item[i];
	uint32_t *list = xcalloc(s->f->nsw, sizeof(*list)), n, k;
	bool done = false;

	it->lft_wide = xcalloc(s->f->nsw, 1);
	n = without_loop(s, it, list);
	for (k = n; k > 0 && !done; k = fine ? k / 2 : 0) {
		only(s, it, list, k);
		done = add(s, it, wide_of(s, it), false) == ADDED;
	}
	for (k = 1; fine && k < n && !done && s->fine > s->f->nsw; k++) {
		only(s, it, list + k, 1);
		done = add(s, it, wide_of(s, it), false) == ADDED;
		s->fine -= s->f->nsw;
	}
	if (done) {
		note_move(s, i);
	} else {
		free(it->lft_wide);
		it->lft_wide = NULL;
	}
	free(list);
	return done;
}

/* Everything that waits at once, with one look at the whole graph. */
static bool all_at_once(struct search *s)
{
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		struct item *it = &s->item[i];
		struct ages a = wide_of(s, it);

		if (it->place != WAITS)
			continue;
		if (!run(s, it, &a))
			break;
		put(s, it, a);
		if (tick(s))
			break;
	}
	if (i == s->n && tgraph_sort(s->g)) {
		for (i = 0; i < s->n; i++)
			if (s->item[i].place == WAITS)
				note_move(s, i);
		return true;
	}
	while (i-- > 0)
		if (s->item[i].place == WAITS)
			take_away(s, &s->item[i], wide_of(s, &s->item[i]));
	return false;
}

/* The end of a wave: what moved is new. */
static int settle(struct search *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct item *it = &s->item[i];
		struct ages wide = wide_of(s, it), now = now_of(s, it);
		uint8_t *age = it->lft_age;
		bool left = false;

		if (!it->moving)
			continue;
		it->moving = false;
		take_away(s, it, now);
		take_away(s, it, wide);
		for (uint32_t sw = 0; it->lft_wide && sw < s->f->nsw; sw++) {
			it->lft_wide[sw] =
				it->lft_wide[sw] == AGE_BOTH ? AGE_NEW : it->lft_wide[sw];
			left |= it->lft_wide[sw] == AGE_OLD && flow_lft_changes_at(s->flow, sw);
		}
		free(age);
		it->lft_age = left ? it->lft_wide : NULL;
		if (!left) {
			free(it->lft_wide);
			it->place = DONE;
			s->nwait--;
		}
		it->lft_wide = NULL;
		put(s, it, now_of(s, it));
		if (tick(s))
			return -ECANCELED;
	}
	s->wave++;
	return 0;
}

/* How much of what kept others from moving is this LID's. */
static uint64_t guilt(struct search *s, const struct item *it)
{
	struct ages a = now_of(s, it);
	const struct tdep *d;
	uint64_t points = 0;
	uint32_t n;

	run(s, it, &a);
	d = flow_deps(s->flow, &n);
	for (uint32_t i = 0; i < n; i++)
		points += tgraph_blamed(s->g, &d[i]);
	return points;
}

/* Nothing moves: the LIDs most in the way are to be drained. */
static int give_up_some(struct search *s)
{
	uint64_t *points = xcalloc(s->n, sizeof(*points));
	uint32_t many = s->nwait / 64 + 1;
	int rc = s->may_drain ? 0 : -EDEADLK;

	for (uint32_t i = 0; i < s->n && !rc; i++) {
		if (s->item[i].place == WAITS)
			points[i] = guilt(s, &s->item[i]) + 1;
		if (tick(s))
			rc = -ECANCELED;
	}
	while (many-- > 0 && !rc) {
		uint32_t worst = 0;

		for (uint32_t i = 1; i < s->n; i++)
			worst = points[i] > points[worst] ? i : worst;
		points[worst] = 0;
		drain_flowing(s, worst, TRANSITION_NO_ORDER);
	}
	free(points);
	return rc;
}

static int pass(struct search *s, uint32_t *moved, bool fine)
{
	*moved = 0;
	for (uint32_t k = 0; k < s->n; k++) {
		uint32_t i = nth(s, k);
		enum added how;

		if (s->item[i].place != WAITS)
			continue;
		how = fine ? LOOP : try_whole(s, i);
		*moved += how == ADDED || (how == LOOP && try_part(s, i, fine));
		if (tick(s))
			return -ECANCELED;
	}
	return 0;
}

static int lft_waves(struct search *s)
{
	uint32_t moved = 0;
	int rc = 0;

	s->found->first_lft = s->wave;
	if (s->nwait && all_at_once(s))
		return settle(s);
	while (s->nwait && !rc) {
		tgraph_forgive(s->g);
		rc = pass(s, &moved, false);
		if (!rc && !moved)
			rc = pass(s, &moved, true);
		if (!rc)
			rc = moved ? settle(s) : give_up_some(s);
	}
	return rc;
}

static void reset(struct search *s, const uint8_t *drained)
{
	s->wave = s->nwait = 0;
	s->fine = FINE_EFFORT;
	for (uint32_t i = 0; i < s->n; i++) {
		struct item *it = &s->item[i];

		free(it->lft_age);
		free(it->lft_wide);
		it->lft_age = it->lft_wide = NULL;
		it->moving = false;
		it->place = it->lft ? WAITS : STAYS;
		s->nwait += it->lft;
		if (drained[i])
			drain(s, i, drained[i] - 1);
	}
}

static void found_free(struct found *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->moves.n; i++)
		free(r->moves.v[i].lft_wide);
	vec_free(&r->moves);
	free(r->drained);
	free(r);
}

/* One way through everything, from those drained; *out NULL unless 0. */
static int attempt(struct found **out, struct search *s, const uint8_t *drained)
{
	bool sl2vl = flow_sl2vl_changes(s->flow);
	int rc;

	*out = NULL;
	s->found = xcalloc(1, sizeof(*s->found));
	s->found->drained = xcalloc(s->n, 1);
	reset(s, drained);
	rc = begin(s);
	if (!rc)
		rc = widen_sl(s);
	if (!rc && sl2vl && !s->sl2vl_last)
		rc = change_sl2vl(s);
	if (!rc)
		rc = lft_waves(s);
	if (!rc && sl2vl && s->sl2vl_last)
		rc = change_sl2vl(s);
	s->found->nwaves = s->wave;
	if (rc)
		found_free(s->found);
	else
		*out = s->found;
	s->found = NULL;
	return rc;
}

/* ---- what is certain beforehand ---- */

static int bad_new(const struct search *s, uint32_t lid, struct err *err)
{
	return err_set(
		err, -EINVAL,
		"the new tables of fabric %s have %s (LID %u): check them before an order of "
		"writes is looked for",
		s->f->name, lid ? "a forwarding loop" : "a cycle of dependencies", lid);
}

/* New tables with new SLs; drained gets those that loop in the old ones. */
static int look_at_ends(struct search *s, uint8_t *drained, struct err *err)
{
	const struct ages old = { .lft_all = AGE_OLD, .sl = AGE_OLD, .sl2vl = AGE_OLD };
	const struct ages new = { .lft_all = AGE_NEW, .sl = AGE_NEW, .sl2vl = AGE_NEW };

	new_graph(s);
	for (uint32_t i = 0; i < s->n; i++) {
		struct item *it = &s->item[i];

		flow_load(s->flow, it->lid);
		it->lft = flow_lft_changes(s->flow);
		it->sl = flow_sl_changes(s->flow);
		if (it->lft && !flow_run(s->flow, &old))
			drained[i] = TRANSITION_OLD_LOOP + 1;
		if (!flow_run(s->flow, &new))
			return bad_new(s, it->lid, err);
		put(s, it, new);
		if (tick(s))
			return -ECANCELED;
	}
	return tgraph_sort(s->g) ? 0 : bad_new(s, 0, err);
}

/* In the end packets with old SLs meet the new tables: who cannot stay, alone or with others. */
static int look_at_old_sls(struct search *s, uint8_t *drained)
{
	const struct ages both = { .lft_all = AGE_NEW, .sl = AGE_BOTH, .sl2vl = AGE_NEW };

	for (int together = 0; together < 2; together++)
		for (uint32_t i = 0; i < s->n; i++) {
			struct item *it = &s->item[i];

			if (!it->sl || drained[i])
				continue;
			if (add(s, it, both, false) != ADDED)
				drained[i] = (together ? TRANSITION_OTHERS : TRANSITION_OLD_SL) + 1;
			else if (!together)
				take_away(s, it, both);
			if (tick(s))
				return -ECANCELED;
		}
	return 0;
}

static uint32_t count_certain(const struct search *s, const uint8_t *drained)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += drained[i] == TRANSITION_OLD_LOOP + 1 || drained[i] == TRANSITION_OLD_SL + 1;
	return n;
}

/* ---- the best of several attempts ---- */

static bool better(const struct found *a, const struct found *b)
{
	if (!b || a->ndrain != b->ndrain)
		return !b || a->ndrain < b->ndrain;
	return a->nwaves < b->nwaves;
}

/* SL2VL before or after, LIDs ascending or descending. */
static int try_ways(struct found **best, struct search *s, const uint8_t *drained, uint64_t effort)
{
	uint64_t limit = 0;

	s->may_drain = true;
	for (uint32_t k = 0; k < 4; k++) {
		struct found *r;
		int rc;

		s->descending = k & 1;
		s->sl2vl_last = k >> 1;
		if (s->sl2vl_last && !flow_sl2vl_changes(s->flow))
			break;
		rc = attempt(&r, s, drained);
		if (rc)
			return rc;
		if (better(r, *best)) {
			found_free(*best);
			*best = r;
		} else {
			found_free(r);
		}
		limit = limit ? limit : work_of(s) + effort / 2;
		if ((*best)->ndrain == s->certain || work_of(s) > limit)
			break;
	}
	return 0;
}

/* Does the end stay without a cycle, however long the old SLs of all but those drained last? */
static int end_holds(struct search *s, const uint8_t *drained, bool *holds)
{
	struct ages a = { .lft_all = AGE_NEW, .sl2vl = AGE_NEW };

	new_graph(s);
	for (uint32_t i = 0; i < s->n; i++) {
		a.sl = drained[i] ? AGE_NEW : AGE_BOTH;
		put(s, &s->item[i], a);
		if (tick(s))
			return -ECANCELED;
	}
	*holds = tgraph_sort(s->g);
	return 0;
}

/* 0 with *out when these need not be drained more; NULL when they must, as far as is found. */
static int without(struct found **out, struct search *s, const uint8_t *drained)
{
	bool holds = false;
	int rc = end_holds(s, drained, &holds);

	*out = NULL;
	for (uint32_t k = 0; holds && k < 4 && !*out && rc != -ECANCELED; k++) {
		s->descending = k & 1;
		s->sl2vl_last = k >> 1;
		if (s->sl2vl_last && !flow_sl2vl_changes(s->flow))
			break;
		rc = attempt(out, s, drained);
	}
	return rc == -ECANCELED ? rc : 0;
}

/* Leaves out of the drain what need not be there; true in *all when each was tried. */
static int shrink(struct found **best, struct search *s, bool *all, uint64_t effort)
{
	uint64_t limit = work_of(s) + effort;
	uint8_t *drained = xcalloc(s->n, 1);
	int rc = 0;

	s->may_drain = false;
	*all = true;
	for (uint32_t i = 0; i < s->n && !rc; i++) {
		uint8_t why = (*best)->drained[i];
		struct found *r = NULL;

		if (why != TRANSITION_NO_ORDER + 1 && why != TRANSITION_OTHERS + 1)
			continue;
		if (work_of(s) > limit) {
			*all = false;
			break;
		}
		memcpy(drained, (*best)->drained, s->n);
		drained[i] = 0;
		rc = without(&r, s, drained);
		if (r) {
			found_free(*best);
			*best = r;
		}
	}
	free(drained);
	return rc;
}

/* ---- the result ---- */

struct marks {
	uint64_t *now;	 /* by switch * blocks + block, for the wave at hand */
	uint32_t *first; /* first wave that writes the block, FAB_NONE: none */
	uint32_t nblocks;
	VEC(uint32_t) touched;
};

static void mark(struct marks *m, uint32_t sw, uint32_t lid)
{
	uint32_t at = sw * m->nblocks + lid / LFT_BLOCK;

	if (!m->now[at])
		vec_push(&m->touched, at);
	m->now[at] |= 1ull << (lid % LFT_BLOCK);
}

static int by_place(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

typedef VEC(struct transition_write) writes_vec;

static void flush(writes_vec *w, struct marks *m, uint32_t wave)
{
	if (!m->touched.n)
		return;
	qsort(m->touched.v, m->touched.n, sizeof(*m->touched.v), by_place);
	for (size_t i = 0; i < m->touched.n; i++) {
		uint32_t at = m->touched.v[i];

		if (m->first[at] == FAB_NONE)
			m->first[at] = wave;
		vec_push(w, (struct transition_write){ .wave = wave,
						       .sw = at / m->nblocks,
						       .block = at % m->nblocks,
						       .now = m->now[at] });
		m->now[at] = 0;
	}
	m->touched.n = 0;
}

static void mark_moves(struct search *s, struct marks *m, const struct found *r, size_t *k,
		       uint32_t wave)
{
	for (; *k < r->moves.n && r->moves.v[*k].wave == wave; ++*k) {
		const struct move *mv = &r->moves.v[*k];
		uint32_t lid = s->item[mv->item].lid;

		flow_load(s->flow, lid);
		for (uint32_t sw = 0; sw < s->f->nsw; sw++)
			if (flow_lft_changes_at(s->flow, sw) &&
			    (!mv->lft_wide || mv->lft_wide[sw] == AGE_BOTH))
				mark(m, sw, lid);
	}
}

static int by_write(const void *a, const void *b)
{
	const struct transition_write *x = a, *y = b;

	if (x->wave != y->wave)
		return x->wave < y->wave ? -1 : 1;
	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

/* Entries without traffic, of drained LIDs and of LIDs that nobody owns, go along with the first
 * write of their block. */
static void write_rest(writes_vec *w, struct search *s, struct marks *m, const struct tables *old,
		       const struct tables *new, const uint8_t *drained, uint32_t wave)
{
	size_t cells = (size_t)s->f->nsw * m->nblocks;
	uint64_t *silent = xcalloc(cells, sizeof(*silent));
	uint8_t *flows = xcalloc((size_t)m->nblocks * LFT_BLOCK, 1);

	for (uint32_t i = 0; i < s->n; i++)
		flows[s->item[i].lid] = !drained[i];
	for (size_t at = 0; at < cells; at++) {
		uint32_t sw = (uint32_t)(at / m->nblocks), lid = (uint32_t)(at % m->nblocks);
		const uint8_t *a, *b;

		lid *= LFT_BLOCK;
		a = tables_row(old, sw) + lid;
		b = tables_row(new, sw) + lid;
		for (uint32_t k = 0; k < LFT_BLOCK; k++)
			silent[at] |= (uint64_t)(a[k] != b[k] && !flows[lid + k]) << k;
		if (silent[at] && m->first[at] == FAB_NONE)
			vec_push(w, (struct transition_write){
					    .wave = wave, .sw = sw, .block = lid / LFT_BLOCK });
		if (silent[at] && m->first[at] == FAB_NONE)
			m->first[at] = wave;
	}
	for (size_t i = 0; i < w->n; i++) {
		size_t at = (size_t)w->v[i].sw * m->nblocks + w->v[i].block;

		if (m->first[at] == w->v[i].wave)
			w->v[i].now |= silent[at];
	}
	free(flows);
	free(silent);
}

static void fill_drain(struct transition *t, const struct search *s, const struct found *r)
{
	t->drain = xcalloc(r->ndrain, sizeof(*t->drain));
	for (uint32_t i = 0; i < s->n; i++) {
		t->lids += s->item[i].lft || s->item[i].sl;
		if (r->drained[i])
			t->drain[t->ndrain++] =
				(struct transition_drain){ s->item[i].lid,
							   (uint8_t)(r->drained[i] - 1) };
	}
}

static struct transition *result(struct search *s, const struct found *r, const struct tables *old,
				 const struct tables *new)
{
	struct transition *t = xcalloc(1, sizeof(*t));
	struct marks m = { .nblocks = tables_blocks(new) };
	size_t cells = (size_t)s->f->nsw * m.nblocks, k = 0;
	writes_vec w = { 0 };

	m.now = xcalloc(cells, sizeof(*m.now));
	m.first = xcalloc(cells, sizeof(*m.first));
	memset(m.first, 0xff, cells * sizeof(*m.first));
	for (uint32_t wave = 0; wave < r->nwaves; wave++) {
		mark_moves(s, &m, r, &k, wave);
		flush(&w, &m, wave);
	}
	write_rest(&w, s, &m, old, new, r->drained, r->first_lft);
	if (w.n)
		qsort(w.v, w.n, sizeof(*w.v), by_write);
	for (size_t i = 0; i < cells; i++)
		t->blocks += m.first[i] != FAB_NONE;
	t->writes = w.v;
	t->nwrites = (uint32_t)w.n;
	t->nwaves = r->nwaves;
	if (w.n && w.v[w.n - 1].wave >= t->nwaves)
		t->nwaves = w.v[w.n - 1].wave + 1;
	t->sl2vl_wave = r->sl2vl_wave;
	t->old_cyclic = r->old_cyclic;
	fill_drain(t, s, r);
	free(m.now);
	free(m.first);
	vec_free(&m.touched);
	return t;
}

static void search_init(struct search *s, const struct fabric *f, const struct tables *old,
			const struct tables *new, const struct transition_params *params)
{
	s->f = f;
	turns_init(&s->turns, f);
	s->flow = flow_new(f, &s->turns, old, new);
	s->sl_waves = params && params->sl_any ? AGE_BOTH : AGE_OLD;
	s->item = xcalloc((size_t)f->max_lid + 1, sizeof(*s->item));
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		if (f->lid_end[lid] != FAB_NONE)
			s->item[s->n++].lid = (uint16_t)lid;
}

static void search_done(struct search *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->item[i].lft_age);
		free(s->item[i].lft_wide);
	}
	free(s->item);
	tgraph_free(s->g);
	flow_free(s->flow);
	turns_done(&s->turns);
}

int transition_plan(struct transition **out, const struct fabric *f, const struct tables *old,
		    const struct tables *new, const struct transition_params *params,
		    struct progress *progress, struct err *err)
{
	uint64_t effort = params && params->effort ? params->effort : EFFORT;
	struct search s = { 0 };
	struct found *best = NULL;
	uint8_t *drained;
	bool all = true;
	int rc = -ECANCELED;

	if (!digest_equal(&old->fingerprint, &f->fingerprint) ||
	    !digest_equal(&new->fingerprint, &f->fingerprint))
		return err_set(err, -EINVAL, "the tables were made for another state of fabric %s",
			       f->name);
	search_init(&s, f, old, new, params);
	drained = xcalloc(s.n, 1);
	if (!pace_begin(&s.pace, progress, "transition", (uint64_t)s.n + 1))
		rc = look_at_ends(&s, drained, err);
	if (!rc)
		rc = look_at_old_sls(&s, drained);
	s.certain = count_certain(&s, drained);
	if (!rc)
		rc = try_ways(&best, &s, drained, effort);
	if (!rc)
		rc = shrink(&best, &s, &all, effort);
	if (!rc) {
		*out = result(&s, best, old, new);
		(*out)->irreducible = all;
	}
	if (rc == -ECANCELED)
		err_set(err, rc, "cancelled while looking for an order of the writes");
	found_free(best);
	free(drained);
	search_done(&s);
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
