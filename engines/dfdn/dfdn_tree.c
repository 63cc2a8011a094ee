/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfdn/dfdn_tree.h"

#include "engines/graph/updown.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/tile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS	   8  /* hops found level by level */
#define GROUP	   16 /* switches compared at once */
#define MANY_MOVED 64 /* not worth sorting */
#define TAPE_STEPS (8u << 20)

/* A switch's own LID is routed like that of its first terminal (min_load_tree.h), so it has no tree
 * of its own where there is one. */
static void dfdn_tree_list_dests(struct dfdn_tree *x, uint8_t lmc)
{
	const struct fabric *f = x->f;

	x->dests = arena_alloc(x->mem, graph_count_lids(f, lmc) + 128, sizeof(*x->dests));
	for (uint32_t u = 0; u < f->nsw; u++) {
		for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1]; k++)
			x->ndest += graph_end_dests(x->dests + x->ndest, f, lmc, f->term_list[k]);
		if (!f->sw_nterm[u])
			x->ndest += graph_end_dests(x->dests + x->ndest, f, lmc, f->nend + u);
	}
}

void dfdn_tree_init(struct dfdn_tree *x, const struct fabric *f, const struct tables *t,
		    uint8_t lmc)
{
	*x = (struct dfdn_tree){ .mem = arena_new(), .f = f, .t = t, .n = f->nsw };
	turns_init(&x->turns, f);
	dfdn_tree_list_dests(x, lmc);
	x->at = arena_alloc(x->mem, f->nsw, sizeof(*x->at));
	x->source = arena_alloc(x->mem, f->nsw, sizeof(*x->source));
	x->parent = arena_alloc(x->mem, f->nsw, sizeof(*x->parent));
	x->turn = arena_alloc(x->mem, f->nsw, sizeof(*x->turn));
	x->same = arena_alloc(x->mem, f->nsw, sizeof(*x->same));
	memset(x->same, true, f->nsw * sizeof(*x->same));
	x->kids = arena_alloc(x->mem, f->nsw, sizeof(*x->kids));
	x->is_source = arena_alloc(x->mem, f->nsw, sizeof(*x->is_source));
	for (uint32_t u = 0; u < f->nsw; u++)
		x->is_source[u] = f->term_off[u] < f->term_off[u + 1];
	x->out = arena_alloc(x->mem, f->nsw, sizeof(*x->out));
	x->next = arena_alloc(x->mem, f->nsw, sizeof(*x->next));
	x->left = arena_alloc(x->mem, f->nsw, sizeof(*x->left));
	x->news = arena_alloc(x->mem, f->nsw, sizeof(*x->news));
	x->pos = arena_alloc(x->mem, f->nsw, sizeof(*x->pos));
	x->depth = arena_alloc(x->mem, f->nsw, sizeof(*x->depth));
	x->count = arena_alloc(x->mem, f->nsw + 1, sizeof(*x->count));
	x->chan = arena_alloc(x->mem, f->nsw, sizeof(*x->chan));
	x->port = arena_alloc(x->mem, (size_t)f->nsw * DFDN_TREE_LIDS, sizeof(*x->port));
}

void dfdn_tree_done(struct dfdn_tree *x)
{
	arena_free(x->mem);
	free(x->tape);
	turns_done(&x->turns);
}

/* Output ports of all switches towards n LIDs, as many at once as follow each other. */
static void dfdn_tree_gather(struct dfdn_tree *x, const struct dest *d, uint32_t n)
{
	for (uint32_t k = 0, run; k < n; k += run) {
		for (run = 1; k + run < n && d[k + run].lid == d[k].lid + run;)
			run++;
		tile_turn(x->port + (size_t)k * x->n, x->n, x->t->lft + d[k].lid, x->t->stride,
			  x->n, run);
	}
}

/* Where all switches forward. */
static void dfdn_tree_find_next(struct dfdn_tree *x, const uint8_t *port, uint32_t root)
{
	const struct fabric *f = x->f;

	for (uint32_t u = 0; u < x->n; u++) {
		uint32_t c = u == root ? 0 : fabric_chan(f, u, port[u]);

		x->out[u] = c;
		x->next[u] = f->chan_dst[c];
		x->depth[u] = FAB_NONE;
	}
	x->depth[root] = 0;
}

/* Of n switches in left those that forward to one at depth - 1: into at, and out of left.  No
 * branch could foresee which.  Returns how many. */
static uint32_t dfdn_tree_take_level(struct dfdn_tree *x, uint32_t *at, uint32_t *n, uint32_t depth)
{
	uint32_t found = 0, stay = 0;

	for (uint32_t i = 0; i < *n; i++) {
		uint32_t u = x->left[i];
		bool here = x->depth[x->next[u]] == depth - 1;

		at[found] = u;
		found += here;
		x->left[stay] = u;
		stay += !here;
		x->depth[u] = here ? depth : FAB_NONE;
	}
	*n = stay;
	return found;
}

/* Those of switches that are far away are followed one by one. */
static void dfdn_tree_follow_all(struct dfdn_tree *x)
{
	uint32_t *depth = x->depth, *count = x->count, *stack = x->left, n = x->n;

	memset(count, 0, (n + 1) * sizeof(*count));
	for (uint32_t s = 0; s < n; s++) {
		uint32_t u = s, k = 0;

		for (; depth[u] == FAB_NONE; u = x->next[u])
			stack[k++] = u;
		for (uint32_t from = depth[u]; k--;)
			depth[stack[k]] = ++from;
		count[depth[s] + 1]++;
	}
	for (uint32_t i = 1; i <= n; i++)
		count[i] += count[i - 1];
	for (uint32_t u = 0; u < n; u++)
		x->at[count[depth[u]]++] = u;
}

/* Positions by hops to the switch, then by switch; all its LIDs share them. */
static void dfdn_tree_order(struct dfdn_tree *x, uint32_t root, const uint8_t *port)
{
	uint32_t n = 0, known = 1;

	dfdn_tree_find_next(x, port, root);
	x->at[0] = root;
	for (uint32_t u = 0; u < x->n; u++) {
		x->left[n] = u;
		n += u != root;
	}
	for (uint32_t depth = 1; depth <= LEVELS && n; depth++)
		known += dfdn_tree_take_level(x, x->at + known, &n, depth);
	if (n)
		dfdn_tree_follow_all(x);
	for (uint32_t i = 0; i < x->n; i++) {
		x->pos[x->at[i]] = i;
		x->source[i] = x->is_source[x->at[i]];
	}
}

/* All positions. */
static void dfdn_tree_show_all(struct dfdn_tree *x)
{
	memset(x->kids, 0, x->n * sizeof(*x->kids));
	x->parent[0] = 0;
	for (uint32_t i = 1; i < x->n; i++) {
		uint32_t u = x->at[i];

		x->chan[i] = x->out[u];
		x->parent[i] = x->pos[x->next[u]];
		x->kids[x->parent[i]] = true;
		x->turn[i] = turns_at(&x->turns, x->chan[i], x->chan[x->parent[i]]);
		x->news[i - 1] = i;
	}
	x->nnews = x->n - 1;
}

/* Positions that go elsewhere than to the LID before. */
static uint32_t dfdn_tree_find_moved(struct dfdn_tree *x, const uint8_t *port)
{
	const uint8_t *prev = port - x->n;
	uint32_t n = 0, len;

	for (uint32_t u = 0; u < x->n; u += len) {
		len = x->n - u < GROUP ? x->n - u : GROUP;
		if (!memcmp(port + u, prev + u, len))
			continue;
		for (uint32_t v = u; v < u + len; v++) {
			x->news[n] = x->pos[v];
			n += port[v] != prev[v] && x->pos[v];
		}
	}
	return n;
}

static void dfdn_tree_move(struct dfdn_tree *x, uint32_t i, uint8_t port)
{
	x->chan[i] = fabric_chan(x->f, x->at[i], port);
	x->parent[i] = x->pos[x->f->chan_dst[x->chan[i]]];
	x->kids[x->parent[i]] = true;
	x->same[i] = false;
}

static int dfdn_tree_ascending(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* What differs from the LID before: those that moved, and all behind them. */
static void dfdn_tree_show_changes(struct dfdn_tree *x, const uint8_t *port)
{
	uint32_t moved = dfdn_tree_find_moved(x, port), n = 0;
	bool behind = moved > MANY_MOVED;

	for (uint32_t k = 0; k < moved; k++)
		dfdn_tree_move(x, x->news[k], port[x->at[x->news[k]]]);
	for (uint32_t k = 0; k < moved; k++)
		behind |= x->kids[x->news[k]];
	if (behind) {
		for (uint32_t i = 1; i < x->n; i++) {
			x->same[i] &= x->same[x->parent[i]];
			x->news[n] = i;
			n += !x->same[i];
		}
	} else {
		qsort(x->news, moved, sizeof(*x->news), dfdn_tree_ascending);
		n = moved;
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = x->news[k];

		x->turn[i] = turns_at(&x->turns, x->chan[i], x->chan[x->parent[i]]);
		x->same[i] = true;
	}
	x->nnews = n;
}

/* Keeps the tree at hand for later visits. */
static void dfdn_tree_record(struct dfdn_tree *x, bool restart)
{
	struct dfdn_step *step;

	if (x->ntape + x->n > x->tape_room) {
		x->tape_room += x->tape_room / 2 + 64 * x->n;
		x->tape = xrealloc(x->tape, x->tape_room, sizeof(*x->tape));
	}
	step = x->tape + x->ntape;
	(step++)->turn = x->nnews;
	for (uint32_t k = 0; k < x->nnews; k++, step++) {
		uint32_t i = x->news[k];

		step->turn = x->turn[i];
		step->parent = (uint16_t)x->parent[i];
		step->place = (uint16_t)(restart ? x->at[i] : i);
	}
	x->ntape += x->nnews + 1;
}

/* The next tree of the tape. */
static void dfdn_tree_replay(struct dfdn_tree *x, uint32_t root, bool restart)
{
	const struct dfdn_step *step = x->tape + x->ntape;

	x->nnews = (step++)->turn;
	for (uint32_t k = 0; k < x->nnews; k++, step++) {
		uint32_t i = restart ? k + 1 : step->place;

		x->news[k] = i;
		x->parent[i] = step->parent;
		x->turn[i] = step->turn;
		x->at[i] = restart ? step->place : x->at[i];
	}
	x->ntape += x->nnews + 1;
	if (!restart)
		return;
	x->at[0] = root;
	x->parent[0] = 0;
	for (uint32_t i = 0; i < x->n; i++)
		x->source[i] = x->is_source[x->at[i]];
}

/* The tape of the first visit serves all others, unless it gets long. */
static void dfdn_tree_start_tape(struct dfdn_tree *x)
{
	if (!x->visits)
		x->recording = x->n <= UINT16_MAX;
	x->ntape = 0;
}

static void dfdn_tree_watch_tape(struct dfdn_tree *x, uint32_t done)
{
	if (x->recording && x->ntape > (uint64_t)TAPE_STEPS * done / x->ndest + 64 * x->n) {
		x->recording = false;
		free(x->tape);
		x->tape = NULL;
	}
}

/* How many visits there will be is not known: each takes half of what is left. */
static bool dfdn_tree_tell(struct dfdn_tree *x, struct pace *p, uint32_t done)
{
	unsigned shift = x->visits < 30 ? x->visits : 30;
	uint64_t left = p->total >> shift, share = left - (left >> 1);
	uint64_t work = 4ull * x->n + x->work;

	x->work = 0;
	return pace_tick(p, p->total - left + share * done / (x->ndest + 1), work);
}

/* The trees of one block of LIDs. */
static int dfdn_tree_visit_block(struct dfdn_tree *x, const struct dfdn_visit *v,
				 const struct dest *d, uint32_t n, struct pace *p, bool *stop)
{
	if (!x->taped)
		dfdn_tree_gather(x, d, n);
	for (uint32_t k = 0; k < n && !*stop; k++) {
		const uint8_t *port = x->port + (size_t)k * x->n;
		bool restart = !k || d[k].sw != d[k - 1].sw;

		if (x->taped) {
			dfdn_tree_replay(x, d[k].sw, restart);
		} else if (restart) {
			dfdn_tree_order(x, d[k].sw, port);
			dfdn_tree_show_all(x);
		} else {
			dfdn_tree_show_changes(x, port);
		}
		if (x->recording)
			dfdn_tree_record(x, restart);
		*stop = v->tree(v->ctx, x, k);
		if (dfdn_tree_tell(x, p, (uint32_t)(d - x->dests) + k))
			return -ECANCELED;
	}
	if (v->lids && !*stop)
		v->lids(v->ctx, d, n);
	return 0;
}

int dfdn_tree_visit(struct dfdn_tree *x, const struct dfdn_visit *v, struct pace *p)
{
	bool stop = false;
	int rc = 0;

	dfdn_tree_start_tape(x);
	for (uint32_t done = 0; done < x->ndest && !stop && !rc; done += DFDN_TREE_LIDS) {
		uint32_t left = x->ndest - done;

		rc = dfdn_tree_visit_block(x, v, x->dests + done,
					   left < DFDN_TREE_LIDS ? left : DFDN_TREE_LIDS, p, &stop);
		dfdn_tree_watch_tape(x, done + DFDN_TREE_LIDS);
	}
	x->taped |= x->recording && !stop && !rc;
	x->recording = false;
	x->visits++;
	return rc;
}

/* --- where the VL must rise ------------------------------------------------------------- */

struct rise_walk {
	struct dfdn_rises *r;
	uint32_t *rises; /* by position, from there on */
	uint32_t *hops;
	bool *crossed; /* by position: on the path of some source */
	bool *used;    /* by turn */
};

/* Marks the turns of the path from a position that is on that of a source, as far as they are not:
 * others may have joined a path that is as it was for the LID before, but that nobody used. */
static void dfdn_tree_use_path(struct rise_walk *s, const struct dfdn_tree *x, uint32_t i)
{
	bool known = false;

	for (uint32_t p = x->parent[i]; p && !known; i = p, p = x->parent[i]) {
		s->used[x->turn[i]] = true;
		known = s->crossed[p];
		s->crossed[p] = true;
	}
}

static bool dfdn_tree_follow_rises(void *ctx, const struct dfdn_tree *x, uint32_t k)
{
	struct rise_walk *s = ctx;
	uint32_t most = s->r->most, longest = s->r->longest;

	(void)k;
	for (uint32_t a = 0; a < x->nnews; a++) {
		uint32_t i = x->news[a], p = x->parent[i];

		s->rises[i] = p ? s->rises[p] + s->r->rise[x->turn[i]] : 0;
		s->hops[i] = s->hops[p] + 1;
		s->crossed[i] = x->source[i];
		most = x->source[i] && s->rises[i] > most ? s->rises[i] : most;
		longest = x->source[i] && s->hops[i] > longest ? s->hops[i] : longest;
	}
	s->r->most = most;
	s->r->longest = longest;
	for (uint32_t a = x->nnews; a--;)
		if (s->crossed[x->news[a]])
			dfdn_tree_use_path(s, x, x->news[a]);
	return false;
}

/* Takes away channels that no other one leads to. */
static bool dfdn_tree_acyclic(const struct fabric *f, const struct turns *turns, const bool *used)
{
	uint32_t *in = xcalloc(f->nchan, sizeof(*in)), *queue = xcalloc(f->nchan, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	for (uint32_t c = 0; c < f->nchan; c++)
		for (uint32_t v = f->chan_dst[c], e = f->chan_off[v]; e < f->chan_off[v + 1]; e++)
			in[e] += used[turns_at(turns, c, e)];
	for (uint32_t c = 0; c < f->nchan; c++)
		if (!in[c])
			queue[tail++] = c;
	while (head < tail) {
		uint32_t c = queue[head++], v = f->chan_dst[c];

		for (uint32_t e = f->chan_off[v]; e < f->chan_off[v + 1]; e++)
			if (used[turns_at(turns, c, e)] && !--in[e])
				queue[tail++] = e;
	}
	free(in);
	free(queue);
	return tail == f->nchan;
}

/* Turns from a channel that leads down to one that leads up. */
static void dfdn_tree_mark_rises(struct dfdn_rises *r, const struct dfdn_tree *tree,
				 const uint32_t *roots, uint32_t nroots)
{
	const struct fabric *f = tree->f;
	struct updown ud;

	updown_init(&ud, f, roots, nroots);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t sw = f->chan_dst[c];

		if (updown_is_up(&ud, f, c))
			continue;
		for (uint32_t e = f->chan_off[sw]; e < f->chan_off[sw + 1]; e++)
			r->rise[turns_at(&tree->turns, c, e)] = updown_is_up(&ud, f, e);
	}
	updown_done(&ud);
}

int dfdn_tree_find_rises(struct dfdn_rises *r, struct dfdn_tree *tree, const uint32_t *roots,
			 uint32_t nroots, struct pace *p)
{
	struct arena *mem = arena_new();
	struct rise_walk s = { .r = r };
	struct dfdn_visit v = { .tree = dfdn_tree_follow_rises, .ctx = &s };
	int rc;

	*r = (struct dfdn_rises){ .rise = xcalloc(tree->turns.n, 1) };
	dfdn_tree_mark_rises(r, tree, roots, nroots);
	s.rises = arena_alloc(mem, tree->n, sizeof(*s.rises));
	s.hops = arena_alloc(mem, tree->n, sizeof(*s.hops));
	s.crossed = arena_alloc(mem, tree->n, sizeof(*s.crossed));
	s.used = arena_alloc(mem, tree->turns.n, sizeof(*s.used));
	rc = dfdn_tree_visit(tree, &v, p);
	r->needless = !rc && (!r->most || dfdn_tree_acyclic(tree->f, &tree->turns, s.used));
	arena_free(mem);
	return rc;
}

void dfdn_tree_free_rises(struct dfdn_rises *r)
{
	free(r->rise);
	*r = (struct dfdn_rises){ 0 };
}
