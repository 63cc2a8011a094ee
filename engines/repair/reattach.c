/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/reattach.h"

#include "engines/repair/path_fit.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>

#define SLACK	  1 /* hops more than necessary, rather than another entry */
#define DETOUR	  2 /* the same, rather than another VL */
#define UNDER_WAY (UINT16_MAX - 1)
#define NOBODY	  UINT32_MAX
#define TURNS	  4 /* ways around a break that are tried where other entries change for it */
#define SPOILT	  8 /* one changed entry in so many: for fewer no other way is tried */
#define SIBLINGS  4 /* LIDs of the same switch that weigh as much as all on a channel */

enum place { STANDS, PENDING, ASKED, ATTACHED };

struct candidate {
	uint32_t chan;
	uint16_t hops;
	bool stands; /* not below a break: in no order of writes is there a circle */
	uint64_t cost;
};

/* Switches by the length of their next try. */
struct reattach_queue {
	uint32_t *head;		/* by length: the last entry */
	uint32_t *next, *sw, n; /* by entry */
	uint32_t cap, most;
	uint32_t now; /* length that is tried */
};

struct reattach {
	struct repair_state *r;
	struct lid_tree tree; /* chan and hops, of switches with the stamp of this LID */
	const struct dest *d;
	uint32_t *stamp, serial, *path, *line;
	/* of those below a break */
	uint32_t *broken, n;
	uint8_t *place;	 /* by switch: enum place */
	uint8_t *kept;	 /* by switch: the entry that it had */
	uint8_t *sl;	 /* by switch: of some source at it or below it; FAB_SLS: of none */
	uint16_t *goal;	 /* by switch: length of its next try ... */
	uint16_t *first; /* ... and of the first that was tried */
	uint32_t *count; /* by switch: terminals at it and below it */
	uint32_t *attached, nattached;
	struct reattach_queue q;
	struct candidate list[FAB_MAX_PORT + 1];
	uint32_t nlist;
	uint32_t turn;	 /* which of the equally short entries comes first where one has gone */
	uint32_t spoilt; /* entries that led there, but would have closed a cycle */
	bool any_vl;
};

struct reattach *reattach_new(struct repair_state *r)
{
	struct reattach *x = xcalloc(1, sizeof(*x));
	uint32_t n = r->f->nsw;

	x->r = r;
	lid_tree_init(&x->tree, r->f);
	x->stamp = xcalloc(n, sizeof(*x->stamp));
	x->path = xcalloc(n, sizeof(*x->path));
	x->line = xcalloc(n, sizeof(*x->line));
	x->broken = xcalloc(n, sizeof(*x->broken));
	x->place = xcalloc(n, sizeof(*x->place));
	x->kept = xcalloc(n, sizeof(*x->kept));
	x->sl = xcalloc(n, sizeof(*x->sl));
	x->goal = xcalloc(n, sizeof(*x->goal));
	x->first = xcalloc(n, sizeof(*x->first));
	x->count = xcalloc(n, sizeof(*x->count));
	x->attached = xcalloc(n, sizeof(*x->attached));
	x->q.head = xcalloc(n + 2u, sizeof(*x->q.head));
	for (uint32_t i = 0; i < n + 2u; i++)
		x->q.head[i] = NOBODY;
	return x;
}

void reattach_free(struct reattach *x)
{
	if (!x)
		return;
	lid_tree_done(&x->tree);
	free(x->stamp);
	free(x->path);
	free(x->line);
	free(x->broken);
	free(x->place);
	free(x->kept);
	free(x->sl);
	free(x->goal);
	free(x->first);
	free(x->count);
	free(x->attached);
	free(x->q.head);
	free(x->q.next);
	free(x->q.sw);
	free(x);
}

const struct lid_tree *reattach_tree(const struct reattach *x)
{
	return &x->tree;
}

/* --- the tree as far as it is looked at ------------------------------------------------------ */

static void reattach_set(struct reattach *x, uint32_t sw, uint32_t c, uint16_t hops)
{
	x->stamp[sw] = x->serial;
	x->tree.chan[sw] = c;
	x->tree.hops[sw] = hops;
}

static uint8_t *reattach_entry(const struct reattach *x, uint32_t sw)
{
	return &tables_row(x->r->t, sw)[x->d->lid];
}

/* Hops from a switch by the tables. */
static uint16_t reattach_hops(struct reattach *x, uint32_t sw)
{
	uint32_t n = 0;
	uint16_t h;

	while (x->stamp[sw] != x->serial) {
		uint32_t c = repair_state_chan(x->r, sw, *reattach_entry(x, sw));

		x->place[sw] = STANDS;
		reattach_set(x, sw, c, UNDER_WAY);
		x->path[n++] = sw;
		if (c == FAB_NONE)
			break;
		sw = x->r->f->chan_dst[c];
	}
	h = x->tree.hops[sw];
	while (n) {
		h = h >= UNDER_WAY ? LID_TREE_BROKEN : (uint16_t)(h + 1);
		x->tree.hops[x->path[--n]] = h;
	}
	return x->tree.hops[sw] == UNDER_WAY ? LID_TREE_BROKEN : h;
}

static void reattach_begin(struct reattach *x, uint32_t dest)
{
	x->d = &x->r->dests[dest];
	x->tree.dst = x->d->sw;
	x->serial++;
	x->n = x->nattached = 0;
	x->any_vl = false;
	x->turn = 0;
	x->spoilt = 0;
	reattach_set(x, x->d->sw, FAB_NONE, 0);
	x->place[x->d->sw] = STANDS;
	repair_state_forget_led(x->r);
}

static void reattach_add_broken(struct reattach *x, uint32_t sw)
{
	reattach_set(x, sw, FAB_NONE, LID_TREE_BROKEN);
	x->place[sw] = PENDING;
	x->kept[sw] = *reattach_entry(x, sw);
	x->goal[sw] = LID_TREE_BROKEN;
	x->first[sw] = 0;
	x->broken[x->n++] = sw;
}

/* All whose entries lead to those that are there. */
static void reattach_add_below(struct reattach *x, uint32_t first)
{
	const struct repair_state *r = x->r;
	const struct fabric *f = r->f;
	const uint8_t *lft = r->t->lft + x->d->lid;

	for (uint32_t i = first; i < x->n; i++) {
		uint32_t u = x->broken[i];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (lft[(size_t)v * r->t->stride] == f->chan_rport[c] && v != x->d->sw &&
			    !r->down[f->chan_rev[c]] && x->stamp[v] != x->serial)
				reattach_add_broken(x, v);
		}
	}
}

/* --- loads ------------------------------------------------------------------------------------ */

static void reattach_take(struct reattach *x, uint32_t c, uint32_t terminals)
{
	struct repair_state *r = x->r;
	uint64_t load = (uint64_t)terminals * chan_weight(&r->weights, c);

	r->load[c] -= load < r->load[c] ? load : r->load[c];
}

/* Of all that goes over a switch at a break, to the end of the path that there was. */
static void reattach_take_rest(struct reattach *x, uint32_t sw, uint32_t terminals)
{
	const struct fabric *f = x->r->f;

	for (uint32_t left = f->nsw; left && sw != x->d->sw; left--) {
		uint32_t c = fabric_chan(f, sw, *reattach_entry(x, sw));

		if (c == FAB_NONE)
			return;
		reattach_take(x, c, terminals);
		sw = f->chan_dst[c];
	}
}

static void reattach_take_loads(struct reattach *x, uint32_t breaks)
{
	const struct fabric *f = x->r->f;

	if (!repair_state_counts(x->r, x->d))
		return;
	for (uint32_t i = 0; i < x->n; i++)
		x->count[x->broken[i]] = f->sw_nterm[x->broken[i]];
	for (uint32_t i = x->n; i-- > breaks;) {
		uint32_t sw = x->broken[i], c = fabric_chan(f, sw, x->kept[sw]);

		reattach_take(x, c, x->count[sw]);
		x->count[f->chan_dst[c]] += x->count[sw];
	}
	for (uint32_t i = 0; i < breaks; i++)
		reattach_take_rest(x, x->broken[i], x->count[x->broken[i]]);
}

static void reattach_add_load(struct reattach *x, uint32_t sw)
{
	struct repair_state *r = x->r;
	uint32_t n = r->f->sw_nterm[sw];

	if (!n || !repair_state_counts(r, x->d))
		return;
	for (uint32_t c = x->tree.chan[sw]; c != FAB_NONE; c = x->tree.chan[r->f->chan_dst[c]])
		r->load[c] += (uint64_t)n * chan_weight(&r->weights, c);
}

/* --- who is next ------------------------------------------------------------------------------ */

static void reattach_push(struct reattach *x, uint32_t sw, uint32_t length)
{
	struct reattach_queue *q = &x->q;

	length = length > q->now ? length : q->now;
	if (length > x->r->f->nsw)
		return;
	x->goal[sw] = (uint16_t)length;
	if (q->n == q->cap) {
		q->cap = q->cap ? 2 * q->cap : 256;
		q->next = xrealloc(q->next, q->cap, sizeof(*q->next));
		q->sw = xrealloc(q->sw, q->cap, sizeof(*q->sw));
	}
	q->sw[q->n] = sw;
	q->next[q->n] = q->head[length];
	q->head[length] = q->n++;
	if (length > q->most)
		q->most = length;
}

/* The nearest neighbour that has a path, plus one. */
static void reattach_find_goal(struct reattach *x, uint32_t sw)
{
	const struct repair_state *r = x->r;
	uint32_t best = LID_TREE_BROKEN;

	for (uint32_t c = r->f->chan_off[sw]; c < r->f->chan_off[sw + 1]; c++) {
		uint32_t h = r->down[c] ? LID_TREE_BROKEN : reattach_hops(x, r->f->chan_dst[c]);

		best = h < best ? h : best;
	}
	if (best < LID_TREE_BROKEN)
		reattach_push(x, sw, best + 1);
}

static void reattach_tell_neighbours(struct reattach *x, uint32_t sw)
{
	const struct repair_state *r = x->r;
	const struct fabric *f = r->f;
	uint32_t length = x->tree.hops[sw] + 1u;

	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
		uint32_t v = f->chan_dst[c];

		if (x->stamp[v] == x->serial && x->place[v] == PENDING && x->goal[v] > length &&
		    !r->down[f->chan_rev[c]])
			reattach_push(x, v, length);
	}
}

/* SLs that are led through each, from the farthest on. */
static void reattach_find_sls(struct reattach *x)
{
	const struct repair_state *r = x->r;

	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t sw = x->broken[i];

		x->sl[sw] = repair_state_has_ends(r, sw)
				    ? repair_state_sl(r, r->source_off[sw], sw, x->d->lid)
				    : FAB_SLS;
	}
	for (uint32_t i = x->n; i-- > 0;) {
		uint32_t sw = x->broken[i], c = repair_state_chan(r, sw, x->kept[sw]);
		uint32_t v = c == FAB_NONE ? sw : r->f->chan_dst[c];

		if (x->stamp[v] == x->serial && x->place[v] == PENDING && x->sl[v] == FAB_SLS)
			x->sl[v] = x->sl[sw];
	}
}

/* --- one switch ------------------------------------------------------------------------------- */

static uint64_t reattach_cost(const struct reattach *x, uint32_t c)
{
	const struct repair_state *r = x->r;
	uint64_t cost = r->load[c] * repair_state_siblings(r, x->d, c) / SIBLINGS;

	for (; c != FAB_NONE; c = x->tree.chan[r->f->chan_dst[c]])
		cost += r->load[c] + chan_weight(&r->weights, c);
	return cost;
}

static bool reattach_better(const struct candidate *a, const struct candidate *b)
{
	if (a->hops != b->hops)
		return a->hops < b->hops;
	if (a->stands != b->stands)
		return a->stands;
	return a->cost != b->cost ? a->cost < b->cost : a->chan < b->chan;
}

static void reattach_insert(struct reattach *x, struct candidate c)
{
	uint32_t i = x->nlist++;

	for (; i > 0 && reattach_better(&c, &x->list[i - 1]); i--)
		x->list[i] = x->list[i - 1];
	x->list[i] = c;
}

/* Does a path over that channel arrive, in at most that many hops? */
static bool reattach_leads(struct reattach *x, uint32_t c, uint32_t length)
{
	uint32_t v;

	if (c == FAB_NONE || x->r->down[c])
		return false;
	v = x->r->f->chan_dst[c];
	return reattach_hops(x, v) < length && x->place[v] != PENDING && x->place[v] != ASKED;
}

static void reattach_find_candidates(struct reattach *x, uint32_t sw)
{
	const struct fabric *f = x->r->f;

	x->nlist = 0;
	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
		uint32_t v = f->chan_dst[c];

		if (reattach_leads(x, c, x->goal[sw]))
			reattach_insert(x, (struct candidate){ c, x->tree.hops[v],
							       x->place[v] == STANDS,
							       reattach_cost(x, c) });
	}
}

/* The first of the shortest that stand goes behind the others of these, so often. */
static void reattach_take_turns(struct reattach *x)
{
	const struct candidate *l = x->list;
	uint32_t n = 0;

	while (n < x->nlist && l[n].hops == l[0].hops && l[n].stands == l[0].stands)
		n++;
	for (uint32_t k = 0; n > 1 && k < x->turn; k++) {
		struct candidate first = x->list[0];

		for (uint32_t i = 1; i < n; i++)
			x->list[i - 1] = x->list[i];
		x->list[n - 1] = first;
	}
}

static bool reattach_fits(struct reattach *x, uint32_t sw, uint32_t c)
{
	x->tree.chan[sw] = c;
	if (repair_state_has_ends(x->r, sw))
		return path_fit_as_is(x->r, &x->tree, sw, x->d->lid);
	return path_fit_through(x->r, &x->tree, sw, x->sl[sw]);
}

static bool reattach_fits_elsewhere(struct reattach *x, uint32_t sw, uint32_t c)
{
	struct repair_state *r = x->r;
	unsigned sls = x->any_vl ? (1u << FAB_SLS) - 1 : r->sls;

	x->tree.chan[sw] = c;
	if (!repair_state_has_ends(r, sw))
		return x->any_vl; /* nobody needs to be led through it */
	for (unsigned m = sls; m; m &= m - 1)
		if (path_fit_on(r, &x->tree, sw, x->d->lid, (uint8_t)__builtin_ctz(m)))
			return true;
	return false;
}

/* The entry that it has where that leads there, else the best; with the SLs that its paths have,
 * else with others. */
static bool reattach_choose(struct reattach *x, uint32_t sw)
{
	uint32_t c = repair_state_chan(x->r, sw, x->kept[sw]);
	bool keeps = reattach_leads(x, c, x->goal[sw] + SLACK);

	if (keeps && reattach_fits(x, sw, c))
		return true;
	x->spoilt += keeps;
	reattach_find_candidates(x, sw);
	if (c == FAB_NONE)
		reattach_take_turns(x);
	for (uint32_t i = 0; i < x->nlist; i++)
		if (reattach_fits(x, sw, x->list[i].chan))
			return true;
	if (keeps && reattach_fits_elsewhere(x, sw, c))
		return true;
	for (uint32_t i = 0; i < x->nlist; i++)
		if (reattach_fits_elsewhere(x, sw, x->list[i].chan))
			return true;
	x->tree.chan[sw] = FAB_NONE;
	return false;
}

static void reattach_record(struct reattach *x, uint32_t sw, uint8_t sl_was)
{
	struct repair_state *r = x->r;
	uint8_t port = r->f->chan_port[x->tree.chan[sw]];
	uint8_t sl = repair_state_own_sl(r, sw, x->d->lid);

	*reattach_entry(x, sw) = port;
	if (port != x->kept[sw] || sl != sl_was)
		entry_changes_add(r->changes, (struct entry_change){ sw, x->d->lid, x->kept[sw],
								     port, sl_was, sl });
}

static void reattach_try(struct reattach *x, uint32_t sw)
{
	uint8_t sl = repair_state_own_sl(x->r, sw, x->d->lid);

	if (!x->first[sw])
		x->first[sw] = x->goal[sw];
	if (!reattach_choose(x, sw)) {
		if (x->any_vl || x->goal[sw] < x->first[sw] + DETOUR)
			reattach_push(x, sw, x->goal[sw] + 1u);
		return;
	}
	x->tree.hops[sw] = (uint16_t)(x->tree.hops[x->r->f->chan_dst[x->tree.chan[sw]]] + 1);
	x->place[sw] = ATTACHED;
	x->attached[x->nattached++] = sw;
	reattach_record(x, sw, sl);
	reattach_add_load(x, sw);
	reattach_tell_neighbours(x, sw);
}

/* Those before it to which its entry leads, as long as they are not tried later. */
static void reattach_try_in_line(struct reattach *x, uint32_t sw)
{
	const struct repair_state *r = x->r;
	uint32_t n = 0;

	for (;;) {
		uint32_t c = repair_state_chan(r, sw, x->kept[sw]);

		x->place[sw] = ASKED;
		x->line[n++] = sw;
		if (c == FAB_NONE)
			break;
		sw = r->f->chan_dst[c];
		if (x->stamp[sw] != x->serial || x->place[sw] != PENDING || x->goal[sw] > x->q.now)
			break;
	}
	for (uint32_t i = 0; i < n; i++)
		x->place[x->line[i]] = PENDING;
	while (n)
		reattach_try(x, x->line[--n]);
}

/* --- one LID ---------------------------------------------------------------------------------- */

static void reattach_run_queue(struct reattach *x)
{
	struct reattach_queue *q = &x->q;

	for (q->now = 1; q->now <= q->most; q->now++)
		while (q->head[q->now] != NOBODY) {
			uint32_t i = q->head[q->now], sw = q->sw[i];

			q->head[q->now] = q->next[i];
			if (x->place[sw] == PENDING && x->goal[sw] == q->now)
				reattach_try_in_line(x, sw);
		}
	q->n = q->most = q->now = 0;
}

/* As it was before, but for the loads of the paths that were broken. */
static void reattach_undo(struct reattach *x, uint32_t changes, uint32_t deps)
{
	struct repair_state *r = x->r;

	for (uint32_t i = 0; i < x->nattached && repair_state_counts(r, x->d); i++) {
		uint32_t c = x->tree.chan[x->attached[i]];

		for (; c != FAB_NONE; c = x->tree.chan[r->f->chan_dst[c]])
			reattach_take(x, c, r->f->sw_nterm[x->attached[i]]);
	}
	x->nattached = 0;
	while (r->changes->n > changes) {
		const struct entry_change *e = &r->changes->list[--r->changes->n];

		*reattach_entry(x, e->sw) = e->port_was;
		if (e->sl != e->sl_was)
			path_fit_set(r, e->sw, e->lid, e->sl_was);
	}
	if (r->deps)
		dependencies_undo_settled(r->deps, deps);
}

static bool reattach_all(struct reattach *x)
{
	uint32_t changes = x->r->changes->n, deps = x->r->deps ? x->r->deps->nadded : 0;

	reattach_find_sls(x);
	for (int any = 0; any < 2 && x->nattached < x->n; any++) {
		x->any_vl = any;
		for (uint32_t i = 0; i < x->n; i++)
			if (x->place[x->broken[i]] == PENDING)
				reattach_find_goal(x, x->broken[i]);
		reattach_run_queue(x);
	}
	if (x->nattached == x->n)
		return true;
	reattach_undo(x, changes, deps);
	return false;
}

/* What there was before they were attached. */
struct reattach_before {
	uint32_t changes, deps;
	unsigned sls, vls; /* in use */
};

static void reattach_detach(struct reattach *x, const struct reattach_before *b)
{
	reattach_undo(x, b->changes, b->deps);
	repair_state_forget_led(x->r);
	x->r->sls = b->sls;
	x->r->vls = b->vls;
	x->spoilt = 0;
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t sw = x->broken[i];

		reattach_set(x, sw, FAB_NONE, LID_TREE_BROKEN);
		x->place[sw] = PENDING;
		x->goal[sw] = LID_TREE_BROKEN;
		x->first[sw] = 0;
	}
}

/* Where entries had to change only because they would have closed a cycle with others, the next
 * best ways around the breaks may spare them. */
static bool reattach_best(struct reattach *x)
{
	struct repair_state *r = x->r;
	struct reattach_before b = { r->changes->n, r->deps ? r->deps->nadded : 0, r->sls, r->vls };
	uint32_t least, best = 0;

	if (!reattach_all(x))
		return false;
	least = r->changes->n - b.changes;
	for (x->turn = 1; x->turn < TURNS && x->spoilt * SPOILT > least; x->turn++) {
		reattach_detach(x, &b);
		if (reattach_all(x) && r->changes->n - b.changes < least) {
			least = r->changes->n - b.changes;
			best = x->turn;
		}
	}
	if (best + 1 == x->turn)
		return true;
	reattach_detach(x, &b);
	x->turn = best;
	return reattach_all(x);
}

bool reattach_lid(struct reattach *x, uint32_t dest, const uint32_t *at, uint32_t n)
{
	reattach_begin(x, dest);
	for (uint32_t i = 0; i < n; i++)
		reattach_add_broken(x, at[i]);
	reattach_add_below(x, 0);
	reattach_take_loads(x, n);
	return reattach_best(x);
}

bool reattach_known(struct reattach *x, uint32_t dest, const uint32_t *broken, uint32_t n)
{
	reattach_begin(x, dest);
	for (uint32_t i = 0; i < n; i++)
		reattach_add_broken(x, broken[i]);
	return reattach_all(x);
}

/* --- paths that are moved though they arrive -------------------------------------------------- */

static void reattach_put(struct reattach *x, const struct entry_change *m, uint32_t n, bool back)
{
	for (uint32_t i = 0; i < n; i++) {
		*reattach_entry(x, m[i].sw) = back ? m[i].port_was : m[i].port;
		if (m[i].sl != m[i].sl_was)
			path_fit_set(x->r, m[i].sw, m[i].lid, back ? m[i].sl_was : m[i].sl);
	}
}

/* Where the entries of those that were moved, or lie below, lead now; false: some lead nowhere. */
static bool reattach_look_again(struct reattach *x)
{
	bool arrive = true;

	for (uint32_t i = 0; i < x->n; i++)
		x->stamp[x->broken[i]] = 0;
	for (uint32_t i = 0; i < x->n; i++)
		arrive &= reattach_hops(x, x->broken[i]) != LID_TREE_BROKEN;
	return arrive;
}

static bool reattach_all_fit(struct reattach *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t sw = x->broken[i];

		if (repair_state_has_ends(x->r, sw) &&
		    !path_fit_as_is(x->r, &x->tree, sw, x->d->lid))
			return false;
	}
	return true;
}

bool reattach_stands(struct reattach *x, uint32_t dest, uint32_t sw)
{
	reattach_begin(x, dest);
	if (sw == x->d->sw)
		return true;
	if (reattach_hops(x, sw) == LID_TREE_BROKEN)
		return false;
	return !repair_state_has_ends(x->r, sw) || path_fit_as_is(x->r, &x->tree, sw, x->d->lid);
}

bool reattach_move_back(struct reattach *x, uint32_t dest, const struct entry_change *moves,
			uint32_t n)
{
	struct repair_state *r = x->r;
	uint32_t deps = r->deps->nadded;
	bool fits;

	reattach_begin(x, dest);
	for (uint32_t i = 0; i < n; i++)
		reattach_add_broken(x, moves[i].sw);
	reattach_add_below(x, 0);
	reattach_take_loads(x, n);
	reattach_put(x, moves, n, true);
	fits = reattach_look_again(x) && reattach_all_fit(x);
	if (!fits) {
		dependencies_undo_settled(r->deps, deps);
		reattach_put(x, moves, n, false);
		reattach_look_again(x);
	}
	for (uint32_t i = 0; i < x->n; i++)
		reattach_add_load(x, x->broken[i]);
	for (uint32_t i = 0; i < n && fits; i++)
		entry_changes_add(r->changes,
				  (struct entry_change){ moves[i].sw, moves[i].lid, moves[i].port,
							 moves[i].port_was, moves[i].sl,
							 moves[i].sl_was });
	return fits;
}
