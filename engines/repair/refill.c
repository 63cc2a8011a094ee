/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/refill.h"

#include "engines/graph/lft_columns.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/route_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS	   12 /* from the most loaded channels down to the mean */
#define BLOCKS_MIN 8
#define MOVES	   3  /* channels that are tried for an entry */
#define TAIL	   64 /* channels of a path that are looked at */
#define SIBLINGS   2  /* LIDs of the same switch that weigh as much as all on a channel */

struct refill_move {
	uint32_t chan;
	double gain;
};

struct refill {
	struct repair_state *r;
	struct reattach *reattach;
	struct lft_columns columns;
	struct lid_tree tree;
	uint32_t *count; /* by switch: terminals whose paths pass it */
	bool *near;	 /* by switch: on a path of an entry that has moved, or before it */
	bool *moved;	 /* by switch: its entry has */
	bool *leads;	 /* by switch: its path passes a channel that is loaded so much */
	bool *done;	 /* by destination: entries of it have moved */
	bool *hot;	 /* by LID */
	uint64_t *block; /* by switch * nblock / 64: bits of blocks that change */
	uint32_t nblock; /* of a switch */
	uint64_t changed, most;
	const struct dest *d; /* the destination at hand */
	uint64_t least;	      /* load of a channel from which on entries leave it */
	uint64_t top;	      /* that of the most loaded, which none may pass */
	struct pace pace;
};

static void refill_begin(struct refill *s, struct repair_state *r, struct reattach *x, double share)
{
	const struct fabric *f = r->f;

	*s = (struct refill){ .r = r, .reattach = x, .nblock = f->max_lid / LFT_BLOCK + 1u };
	s->most = (uint64_t)(share * f->nsw * s->nblock);
	if (s->most < BLOCKS_MIN)
		s->most = BLOCKS_MIN;
	lft_columns_init(&s->columns, f, r->out);
	lid_tree_init(&s->tree, f);
	s->count = xcalloc(f->nsw, sizeof(*s->count));
	s->near = xcalloc(f->nsw, sizeof(*s->near));
	s->moved = xcalloc(f->nsw, sizeof(*s->moved));
	s->leads = xcalloc(f->nsw, sizeof(*s->leads));
	s->done = xcalloc(r->ndest, sizeof(*s->done));
	s->hot = xcalloc(f->max_lid + 1u, sizeof(*s->hot));
	s->block = xcalloc((size_t)f->nsw * (s->nblock / 64 + 1), sizeof(*s->block));
}

static void refill_done(struct refill *s)
{
	lft_columns_done(&s->columns);
	lid_tree_done(&s->tree);
	free(s->count);
	free(s->near);
	free(s->moved);
	free(s->leads);
	free(s->done);
	free(s->hot);
	free(s->block);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static uint64_t *refill_block(const struct refill *s, uint32_t sw, uint32_t lid, uint64_t *bit)
{
	uint32_t b = lid / LFT_BLOCK;

	*bit = 1ull << b % 64;
	return &s->block[(size_t)sw * (s->nblock / 64 + 1) + b / 64];
}

static bool refill_may_change(const struct refill *s, uint32_t sw, uint32_t lid)
{
	uint64_t bit, *at = refill_block(s, sw, lid, &bit);

	return s->changed < s->most || *at & bit;
}

static void refill_note_block(struct refill *s, uint32_t sw, uint32_t lid)
{
	uint64_t bit, *at = refill_block(s, sw, lid, &bit);

	s->changed += !(*at & bit);
	*at |= bit;
}

/* --- one entry -------------------------------------------------------------------------------- */

/* Channels of the path from c on, that first; 0: they are too many. */
static uint32_t refill_tail(const struct refill *s, uint32_t c, uint32_t tail[TAIL])
{
	uint32_t n = 0;

	for (; c != FAB_NONE && n < TAIL; c = s->tree.chan[s->r->f->chan_dst[c]])
		tail[n++] = c;
	return c == FAB_NONE ? n : 0;
}

/* Routes over a channel to other LIDs, times its weight. */
static double refill_others(const struct refill *s, uint32_t c)
{
	uint32_t u = s->r->f->chan_src[c], own = s->tree.chan[u] == c ? s->count[u] : 0;
	uint64_t mine = (uint64_t)own * chan_weight(&s->r->weights, c);

	return s->r->load[c] > mine ? (double)(s->r->load[c] - mine) : 0;
}

/* How many pairs of routes to different LIDs share channels less, with their weights, where routes
 * go over the other one of two paths. */
static double refill_gain(const struct refill *s, uint32_t from, uint32_t to, uint32_t routes)
{
	const struct repair_state *r = s->r;
	uint32_t old[TAIL], new[TAIL], n = refill_tail(s, from, old), m = refill_tail(s, to, new);
	double gain = 0;

	if (!n || !m)
		return 0;
	while (n && m && old[n - 1] == new[m - 1])
		n--, m--;
	for (uint32_t i = 0; i < n; i++)
		gain += (double)routes * chan_weight(&r->weights, old[i]) *
			refill_others(s, old[i]);
	for (uint32_t i = 0; i < m; i++) {
		uint64_t load = (uint64_t)routes * chan_weight(&r->weights, new[i]);

		if (r->load[new[i]] + load > s->top)
			return 0;
		gain -= (double)load * refill_others(s, new[i]);
	}
	return gain;
}

/* Has no entry of the way moved?  Its packets are not led elsewhere meanwhile, then. */
static bool refill_is_clear(const struct refill *s, uint32_t c)
{
	for (; c != FAB_NONE; c = s->tree.chan[s->r->f->chan_dst[c]])
		if (s->moved[s->r->f->chan_src[c]])
			return false;
	return true;
}

static bool refill_may_lead(const struct refill *s, uint32_t u, uint32_t c)
{
	const struct repair_state *r = s->r;
	uint32_t v = r->f->chan_dst[c], was = s->tree.chan[u];

	return c != was && !r->down[c] && s->tree.hops[v] < s->tree.hops[u] &&
	       refill_is_clear(s, s->tree.chan[v]);
}

/* Of fewer LIDs of one switch on a channel: the same shift puts them there. */
static double refill_spread(const struct refill *s, uint32_t from, uint32_t to, uint32_t routes)
{
	const struct repair_state *r = s->r;
	double was = repair_state_siblings(r, s->d, from), is = repair_state_siblings(r, s->d, to);

	return (was - is) * routes * (double)r->load[to] / SIBLINGS;
}

/* The best channels to move an entry to, best first; returns how many. */
static uint32_t refill_find(const struct refill *s, uint32_t u, struct refill_move list[MOVES])
{
	const struct repair_state *r = s->r;
	uint32_t n = 0;

	for (uint32_t c = r->f->chan_off[u]; c < r->f->chan_off[u + 1]; c++) {
		struct refill_move m = { c, 0 };
		uint32_t i;

		if (!refill_may_lead(s, u, c))
			continue;
		m.gain = refill_gain(s, s->tree.chan[u], c, s->count[u]);
		if (m.gain <= 0)
			continue;
		m.gain += refill_spread(s, s->tree.chan[u], c, s->count[u]);
		if (m.gain <= 0)
			continue;
		for (i = n < MOVES ? n++ : MOVES; i > 0 && list[i - 1].gain < m.gain; i--)
			if (i < MOVES)
				list[i] = list[i - 1];
		if (i < MOVES)
			list[i] = m;
	}
	return n;
}

static bool refill_move_to(struct refill *s, uint32_t dest, uint32_t u, uint32_t c)
{
	const struct repair_state *r = s->r;
	uint16_t lid = r->dests[dest].lid;
	uint8_t sl = repair_state_own_sl(r, u, lid);
	/* back to where it never was */
	struct entry_change m = { u, lid, r->f->chan_port[c], tables_row(r->t, u)[lid], sl, sl };

	return reattach_move_back(s->reattach, dest, &m, 1);
}

/* --- one LID ---------------------------------------------------------------------------------- */

static void refill_read(struct refill *s, uint32_t dest)
{
	const struct repair_state *r = s->r;

	s->d = &r->dests[dest];
	lft_columns_read(&s->columns, r->t, s->d, 1);
	lid_tree_read(&s->tree, lft_columns_at(&s->columns, 0), r->out, r->dests[dest].sw);
	memcpy(s->count, r->f->sw_nterm, r->f->nsw * sizeof(*s->count));
	for (uint32_t i = 0; i + 1 < s->tree.norder; i++) {
		uint32_t u = s->tree.order[i];

		s->count[r->f->chan_dst[s->tree.chan[u]]] += s->count[u];
	}
	s->leads[r->dests[dest].sw] = false;
	for (uint32_t i = s->tree.norder - 1; i-- > 0;) {
		uint32_t u = s->tree.order[i], c = s->tree.chan[u];

		s->leads[u] = r->load[c] >= s->least || s->leads[r->f->chan_dst[c]];
	}
}

/* Whoever sends over u, and where that led and leads now, stays in this step. */
static void refill_mark_near(struct refill *s, uint32_t u, uint32_t c)
{
	const struct fabric *f = s->r->f;

	for (uint32_t e = s->tree.chan[u]; e != FAB_NONE; e = s->tree.chan[f->chan_dst[e]])
		s->near[f->chan_src[e]] = true;
	for (uint32_t e = s->tree.chan[f->chan_dst[c]]; e != FAB_NONE;
	     e = s->tree.chan[f->chan_dst[e]])
		s->near[f->chan_src[e]] = true;
}

/* Whose path leads over an entry that has moved: found from the nearest on. */
static void refill_mark_before(struct refill *s, uint32_t u)
{
	const struct fabric *f = s->r->f;

	for (uint32_t i = s->tree.norder; i-- > 0;) {
		uint32_t v = s->tree.order[i], c = s->tree.chan[v];

		if (c != FAB_NONE && (f->chan_dst[c] == u || s->count[f->chan_dst[c]] == FAB_NONE))
			s->count[v] = FAB_NONE;
	}
	for (uint32_t v = 0; v < f->nsw; v++)
		if (s->count[v] == FAB_NONE)
			s->near[v] = true;
}

static void refill_entry(struct refill *s, uint32_t dest, uint32_t u)
{
	struct refill_move list[MOVES];
	uint32_t n = refill_find(s, u, list);

	for (uint32_t i = 0; i < n; i++) {
		if (!refill_move_to(s, dest, u, list[i].chan))
			continue;
		refill_note_block(s, u, s->r->dests[dest].lid);
		refill_mark_near(s, u, list[i].chan);
		refill_mark_before(s, u);
		refill_read(s, dest);
		s->done[dest] = s->moved[u] = true;
		return;
	}
}

/* From the farthest switches on, which few others send over. */
static void refill_lid(struct refill *s, uint32_t dest)
{
	const struct repair_state *r = s->r;
	uint32_t n, *order;

	refill_read(s, dest);
	n = s->tree.norder;
	order = memcpy(xcalloc(n + 1u, sizeof(*order)), s->tree.order, n * sizeof(*order));
	memset(s->near, 0, r->f->nsw * sizeof(*s->near));
	memset(s->moved, 0, r->f->nsw * sizeof(*s->moved));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = order[i], c = s->tree.chan[u];

		if (c != FAB_NONE && s->leads[u] && s->count[u] && !s->near[u] &&
		    refill_may_change(s, u, r->dests[dest].lid))
			refill_entry(s, dest, u);
	}
	free(order);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* LIDs that are led over a channel with so much load. */
static bool refill_find_hot(struct refill *s)
{
	const struct repair_state *r = s->r;
	const struct fabric *f = r->f;
	bool found = false;

	memset(s->hot, 0, (f->max_lid + 1u) * sizeof(*s->hot));
	for (uint32_t u = 0; u < f->nsw; u++) {
		const uint8_t *row = tables_row(r->t, u);
		bool port[FAB_NO_PORT + 1] = { false }, any = false;

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			any |= port[f->chan_port[c]] = !r->down[c] && r->load[c] >= s->least;
		for (uint32_t lid = 1; any && lid <= f->max_lid; lid++)
			s->hot[lid] |= port[row[lid]];
		found |= any;
	}
	return found;
}

static bool refill_may_move(const struct refill *s, uint32_t dest)
{
	const struct repair_state *r = s->r;
	const struct dest *d = &r->dests[dest];
	const struct route_limits *l = r->params->limits;

	return s->hot[d->lid] && !s->done[dest] && repair_state_counts(r, d) &&
	       !(l && l->pin && l->pin[d->end]);
}

/* Loads from which on: the nearer to the mean the later. */
static void refill_find_threshold(struct refill *s, unsigned round)
{
	const struct repair_state *r = s->r;
	uint64_t max = 0, sum = 0;
	uint32_t n = 0;

	for (uint32_t c = 0; c < r->f->nchan; c++) {
		if (r->down[c])
			continue;
		max = r->load[c] > max ? r->load[c] : max;
		sum += r->load[c];
		n++;
	}
	s->top = max;
	s->least = n ? max - (max - sum / n) * round / ROUNDS : 0;
}

static int refill_round(struct refill *s, unsigned round)
{
	const struct repair_state *r = s->r;

	refill_find_threshold(s, round);
	if (!s->least || !refill_find_hot(s))
		return 0;
	for (uint32_t i = 0; i < r->ndest && s->changed < s->most; i++) {
		if (!refill_may_move(s, i))
			continue;
		refill_lid(s, i);
		if (pace_work(&s->pace, 4ull * r->f->nsw))
			return -ECANCELED;
	}
	return 0;
}

int refill(struct repair_state *r, struct reattach *x, double share, struct progress *progress)
{
	struct refill s;
	int rc;

	refill_begin(&s, r, x, share);
	rc = pace_begin(&s.pace, progress, "steps", ROUNDS) ? -ECANCELED : 0;
	for (unsigned round = 1; round <= ROUNDS && !rc && s.changed < s.most; round++) {
		rc = refill_round(&s, round);
		if (!rc && pace_tick(&s.pace, round, r->f->nchan))
			rc = -ECANCELED;
	}
	refill_done(&s);
	return rc;
}
