/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/vl/vl_first_fit.h"

#include "engines/graph/lft_columns.h"
#include "engines/vl/cdg.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 8		/* batches that are looked at by all threads before one inserts */
#define OPEN  UINT8_MAX /* path without a layer yet */
#define SAME  254	/* layer of the LID before, which has the same path */
#define FEW   64	/* paths that may differ from those of the LID before to be handled alone */
#define AHEAD 16	/* paths asked for before they are placed */
#define OFTEN 256	/* insertions between two reports */
#define TRIES 64	/* LIDs as a whole that may fail more often than not */

/* The paths to one LID, by position: a switch comes after its next switch. */
struct order {
	uint32_t *at; /* switch at a position */
	uint32_t *pos, *depth, *count, *stack;
	uint32_t *parent; /* position of the next switch */
	uint32_t *chan;
	uint32_t *hop, *next; /* by switch: channel and switch that follow, of one LID */
	uint32_t *moved;      /* switches with another next channel than for the LID before */
	uint32_t nmoved;
	bool *need;	/* an open path comes through */
	bool *inner;	/* it may be that paths come through */
	bool *same;	/* path is that of the LID before */
	bool *kept;	/* path is that of the tables to keep */
	uint16_t *have; /* layers that hold the whole path */
	uint16_t *pass; /* layers of kept paths that come through */
};

/* Switches, LID after LID of a batch. */
struct list {
	uint32_t *at, n, room;
	uint32_t *turn;		   /* of theirs, the first */
	uint32_t end[COLUMNS_MAX]; /* of those of a LID */
};

/* LIDs of one destination switch. */
struct batch {
	const struct dest *d;
	uint32_t n;
	struct lft_columns col;
	uint8_t *layer;		/* by LID * nsw + switch */
	struct lft_columns old; /* in the tables to keep ... */
	uint8_t *was;	  /* ... and the SLs there, by LID * nsw + switch; OPEN: not to be kept */
	struct list open; /* paths without a layer, in order */
	struct list miss; /* turns of theirs that are not in layer 0, by where they begin */
	uint32_t bad_sw;  /* from here the tables do not lead to bad_lid; FAB_NONE: they do */
	uint16_t bad_lid;
	uint16_t twin; /* LID of before with the same paths as the only one here; 0: none */
};

struct fit {
	const struct fabric *f;
	struct arena *arena;
	struct tables *t;
	const struct tables *keep; /* NULL: none */
	const uint16_t *fixed;	   /* by turn: layers that have it; NULL: none */
	unsigned most;		   /* layers that may be kept */
	struct turns turns;
	/* by turn: layers that have it, the first eight apart so that they stay in the cache ... */
	uint8_t *has[2];
	uint16_t *never; /* ... and layers where it alone would close a cycle */
	struct cdg_work *work;
	struct cdg *cdg[FIRST_FIT_MAX];
	unsigned n; /* layers in use */
	uint32_t *out;
	struct batch batch[CHUNK];
	struct order *order; /* by worker */
	struct pool *pool;
	uint32_t *path;		 /* channels of the path at hand */
	uint32_t fitted, failed; /* LIDs as a whole */
	bool tries;
	uint32_t *added; /* turns of it that were added: index of the first channel */
	struct pace *pace;
	uint32_t done;	 /* LIDs, when a chunk began */
	uint64_t unseen; /* work that was not reported yet */
	uint64_t looked; /* work of the searches that was reported */
};

/* Layers that have a turn. */
static inline uint16_t first_fit_layers_of(const struct fit *l, uint32_t turn)
{
	return (uint16_t)(l->n <= 8 ? l->has[0][turn] : l->has[0][turn] | l->has[1][turn] << 8);
}

static inline void first_fit_note_layer(struct fit *l, uint32_t turn, unsigned k)
{
	l->has[k / 8][turn] |= (uint8_t)(1u << k % 8);
}

/*
 * --- the paths to one LID in an order in which each comes after the one it joins --------------
 *
 * Kept from one LID of a destination switch to the next, at whose tree only what has moved is
 * looked at.
 */

static void first_fit_order_init(struct order *o, struct arena *a, uint32_t n)
{
	o->at = arena_array(a, uint32_t, n);
	o->pos = arena_array(a, uint32_t, n);
	o->depth = arena_array(a, uint32_t, n);
	o->count = arena_array(a, uint32_t, n + 1);
	o->stack = arena_array(a, uint32_t, n);
	o->parent = arena_array(a, uint32_t, n);
	o->chan = arena_array(a, uint32_t, n);
	o->hop = arena_array(a, uint32_t, n);
	o->next = arena_array(a, uint32_t, n);
	o->moved = arena_array(a, uint32_t, n);
	o->need = arena_array(a, bool, n);
	o->inner = arena_array(a, bool, n);
	o->same = arena_array(a, bool, n);
	o->kept = arena_array(a, bool, n);
	o->have = arena_array(a, uint16_t, n);
	o->pass = arena_array(a, uint16_t, n);
}

/* Fills hop and next for LID k. */
static void first_fit_find_hops(struct order *o, const struct fabric *f,
				const struct lft_columns *col, uint32_t k)
{
	lft_columns_chans(col, k, o->hop);
	for (uint32_t u = 0; u < f->nsw; u++)
		o->next[u] = o->hop[u] == FAB_NONE ? FAB_NONE : f->chan_dst[o->hop[u]];
}

/* Fills parent and chan from hop and next. */
static void first_fit_put_in_order(struct order *o, uint32_t n)
{
	memset(o->inner, 0, n * sizeof(*o->inner));
	memset(o->same, 0, n * sizeof(*o->same));
	for (uint32_t i = 1; i < n; i++) {
		uint32_t u = o->at[i];

		o->chan[i] = o->hop[u];
		o->parent[i] = o->pos[o->next[u]];
		o->inner[o->parent[i]] = true;
	}
	o->inner[0] = true;
}

static bool first_fit_by_position(const struct order *o, uint32_t a, uint32_t b)
{
	return o->pos[o->moved[a]] < o->pos[o->moved[b]];
}

/* Few, and nearly sorted: switches of a level come in ascending order. */
static void first_fit_sort_moved(struct order *o)
{
	for (uint32_t i = 1; i < o->nmoved; i++) {
		for (uint32_t k = i; k && first_fit_by_position(o, k, k - 1); k--) {
			uint32_t u = o->moved[k];

			o->moved[k] = o->moved[k - 1];
			o->moved[k - 1] = u;
		}
	}
}

/* Fills same where first_fit_order_find() said *few: not the paths of who has moved, nor those
 * through there. */
static void first_fit_order_spread_moves(struct order *o, uint32_t n)
{
	bool *same = o->same;

	memset(same, 1, n * sizeof(*same));
	for (uint32_t m = 0; m < o->nmoved; m++)
		same[o->pos[o->moved[m]]] = false;
	for (uint32_t i = 1; i < n; i++)
		same[i] &= same[o->parent[i]];
}

/* From LID k - 1 to LID k, at whatever has moved; false when the positions do not suit this tree.
 */
static bool first_fit_move_on(struct order *o, const struct fabric *f,
			      const struct lft_columns *col, uint32_t k, bool *few)
{
	o->nmoved = lft_columns_differ(lft_columns_at(col, k), lft_columns_at(col, k - 1), f->nsw,
				       o->moved);
	*few = o->nmoved <= FEW;
	for (uint32_t m = 0; m < o->nmoved; m++) {
		uint32_t u = o->moved[m], i = o->pos[u], c = lft_columns_chan(col, k, u);

		if (c == FAB_NONE)
			return false;
		*few &= !o->inner[i];
		o->chan[i] = c;
		o->parent[i] = o->pos[f->chan_dst[c]];
		if (o->parent[i] >= i)
			return false;
	}
	for (uint32_t m = 0; m < o->nmoved; m++) {
		uint32_t p = o->parent[o->pos[o->moved[m]]];

		*few &= o->inner[p];
		o->inner[p] = true;
	}
	if (*few)
		first_fit_sort_moved(o);
	else
		first_fit_order_spread_moves(o, f->nsw);
	return true;
}

/* Positions by hops to the LID, then by switch; all LIDs of a switch share them as long as
 * their paths are equally long.  Returns a switch from which there is no path, or FAB_NONE. */
static uint32_t first_fit_order_by_depth(struct order *o, uint32_t n, uint32_t root)
{
	uint32_t *depth = o->depth, *count = o->count;

	memset(count, 0, (n + 1) * sizeof(*count));
	memset(depth, 0xff, n * sizeof(*depth));
	depth[root] = 0;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t u = s, k = 0;

		while (depth[u] == FAB_NONE && k < n && o->next[u] != FAB_NONE) {
			o->stack[k++] = u;
			u = o->next[u];
		}
		if (depth[u] == FAB_NONE)
			return s;
		for (uint32_t from = depth[u]; k--;)
			depth[o->stack[k]] = ++from;
		count[depth[s] + 1]++;
	}
	for (uint32_t i = 1; i <= n; i++)
		count[i] += count[i - 1];
	for (uint32_t u = 0; u < n; u++) {
		o->pos[u] = count[depth[u]]++;
		o->at[o->pos[u]] = u;
	}
	return FAB_NONE;
}

/* Positions for LID k of the columns, which hangs on switch root; k - 1 was the one before.
 * FAB_NONE, or a switch from which there is no path.  *few: all that differs from the LID before is
 * in moved, by position, which leads to who has stayed; same is not filled then.  O(nsw). */
static uint32_t first_fit_order_find(struct order *o, const struct fabric *f,
				     const struct lft_columns *col, uint32_t k, uint32_t root,
				     bool *few)
{
	uint32_t bad;

	if (k && first_fit_move_on(o, f, col, k, few))
		return FAB_NONE;
	*few = false;
	first_fit_find_hops(o, f, col, k);
	bad = first_fit_order_by_depth(o, f->nsw, root);
	if (bad == FAB_NONE)
		first_fit_put_in_order(o, f->nsw);
	return bad;
}

/* --- what is known of a batch before anything of its chunk is inserted ----------------------- */

/* SL that all terminals of the switch use there, or OPEN. */
static uint8_t first_fit_sl_of_switch(const struct tables *t, const struct fabric *f, uint32_t u,
				      uint32_t lid)
{
	uint32_t k = f->term_off[u], end = f->term_off[u + 1];
	uint8_t sl;

	if (k == end)
		return OPEN;
	sl = tables_path_sl(t, f->term_list[k], u, lid);
	while (t->sl_kind == SL_BY_TERM && ++k < end)
		if (tables_path_sl(t, f->term_list[k], u, lid) != sl)
			return OPEN;
	return sl;
}

/* Paths and SLs of the tables to keep. */
static void first_fit_read_old(const struct fit *l, struct batch *b)
{
	const struct fabric *f = l->f;

	lft_columns_read(&b->old, l->keep, b->d, b->n);
	for (uint32_t u = 0; u < f->nsw; u++)
		for (uint32_t k = 0; k < b->n; k++) {
			uint8_t sl = first_fit_sl_of_switch(l->keep, f, u, b->d[k].lid);

			b->was[(size_t)k * f->nsw + u] = sl < l->most ? sl : OPEN;
		}
}

/* Which paths to LID k are the same in the tables to keep. */
static void first_fit_compare(struct order *o, const struct batch *b, uint32_t k, uint32_t nsw)
{
	o->kept[0] = true;
	for (uint32_t i = 1; i < nsw; i++)
		o->kept[i] = o->kept[o->parent[i]] &&
			     lft_columns_chan(&b->old, k, o->at[i]) == o->chan[i];
}

/* The order of LID k of a batch; false when its paths do not arrive, which the batch then tells. */
static bool first_fit_order(const struct fit *l, struct order *o, struct batch *b, uint32_t k,
			    bool *few)
{
	b->bad_sw = first_fit_order_find(o, l->f, &b->col, k, b->d->sw, few);
	b->bad_lid = b->d[k].lid;
	return b->bad_sw == FAB_NONE;
}

static void first_fit_list_add(struct list *l, uint32_t sw, uint32_t turn)
{
	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 1024;
		l->at = xrealloc(l->at, l->room, sizeof(*l->at));
		l->turn = xrealloc(l->turn, l->room, sizeof(*l->turn));
	}
	l->turn[l->n] = turn;
	l->at[l->n++] = sw;
}

/* The first turn of the path from position i, which is not next to the LID's switch. */
static inline uint32_t first_fit_first_turn(const struct fit *l, const struct order *o, uint32_t i)
{
	return turns_at(&l->turns, o->chan[i], o->chan[o->parent[i]]);
}

/* Notes which layers hold the whole path from position i. */
static inline void first_fit_find_layers(const struct fit *l, struct order *o, uint32_t i)
{
	uint32_t p = o->parent[i];

	o->have[i] =
		p ? o->have[p] & first_fit_layers_of(l, first_fit_first_turn(l, o, i)) : UINT16_MAX;
}

static uint8_t first_fit_first_layer(const struct fit *l, const struct order *o, uint32_t i)
{
	uint32_t u = o->at[i];

	if (o->have[i])
		return (uint8_t)__builtin_ctz(o->have[i]);
	return l->f->term_off[u] < l->f->term_off[u + 1] ? OPEN : 0;
}

static void first_fit_look_at_path(const struct fit *l, struct order *o, struct batch *b,
				   uint32_t i, uint8_t *layer)
{
	uint32_t u = o->at[i];

	first_fit_find_layers(l, o, i);
	layer[u] = first_fit_first_layer(l, o, i);
	if (layer[u] == OPEN)
		first_fit_list_add(&b->open, u, first_fit_first_turn(l, o, i));
}

/* Layers of all paths to LID k that are whole in one. */
static void first_fit_look_at_lid(const struct fit *l, struct order *o, struct batch *b, uint32_t k)
{
	uint8_t *layer = b->layer + (size_t)k * l->f->nsw;

	layer[o->at[0]] = 0;
	for (uint32_t i = 1; i < l->f->nsw; i++) {
		if (o->same[i])
			layer[o->at[i]] = SAME;
		else
			first_fit_look_at_path(l, o, b, i, layer);
	}
}

/* The same where all that differs from the LID before is in moved. */
static void first_fit_look_at_moved(const struct fit *l, struct order *o, struct batch *b,
				    uint32_t k)
{
	uint8_t *layer = b->layer + (size_t)k * l->f->nsw;

	memset(layer, SAME, l->f->nsw);
	layer[o->at[0]] = 0;
	for (uint32_t m = 0; m < o->nmoved; m++)
		first_fit_look_at_path(l, o, b, o->pos[o->moved[m]], layer);
}

/* The same where layers are to be kept. */
static void first_fit_look_for_kept(const struct fit *l, struct order *o, struct batch *b,
				    uint32_t k)
{
	uint8_t *layer = b->layer + (size_t)k * l->f->nsw;
	const uint8_t *was = b->was + (size_t)k * l->f->nsw;

	first_fit_compare(o, b, k, l->f->nsw);
	layer[o->at[0]] = was[o->at[0]] != OPEN ? was[o->at[0]] : 0;
	for (uint32_t i = 1; i < l->f->nsw; i++) {
		uint32_t u = o->at[i];

		if (!o->same[i])
			first_fit_find_layers(l, o, i);
		if (o->kept[i] && was[u] != OPEN && o->have[i] >> was[u] & 1)
			layer[u] = was[u];
		else
			layer[u] = first_fit_first_layer(l, o, i);
		if (layer[u] == OPEN)
			first_fit_list_add(&b->open, u, first_fit_first_turn(l, o, i));
	}
}

/* The turns of open paths to LID k that layer 0 does not have. */
static void first_fit_list_missing(const struct fit *l, struct order *o, struct batch *b,
				   uint32_t k)
{
	const struct fabric *f = l->f;
	const uint8_t *layer = b->layer + (size_t)k * f->nsw;
	bool *need = o->need;

	for (uint32_t i = 0; i < f->nsw; i++)
		need[i] = layer[o->at[i]] == OPEN;
	for (uint32_t i = f->nsw; i-- > 1;) {
		uint32_t p = o->parent[i];

		need[p] |= need[i];
		if (need[i] && p &&
		    !(first_fit_layers_of(l, turns_at(&l->turns, o->chan[i], o->chan[p])) & 1))
			first_fit_list_add(&b->miss, o->at[i], first_fit_first_turn(l, o, i));
	}
}

/* The LID of the first terminal where a switch's own LID is alone in the batch, else 0. */
static uint16_t first_fit_maybe_twin(const struct fit *l, const struct batch *b)
{
	const struct fabric *f = l->f;
	uint32_t k = f->term_off[b->d->sw], end = f->term_off[b->d->sw + 1];

	while (k < end && f->term_list[k] >= f->nterm)
		k++;
	return b->n > 1 || b->d->end < f->nend || k == end ? 0 : f->term_lid[f->term_list[k]];
}

/* Which of nbatch switches' own LIDs take the paths of a terminal: their twin. */
static void first_fit_find_equal(struct fit *l, uint32_t nbatch)
{
	bool differ[CHUNK] = { false };
	uint32_t some = 0;

	for (uint32_t i = 0; i < nbatch; i++)
		some |= l->batch[i].twin =
			l->keep || l->fixed ? 0 : first_fit_maybe_twin(l, &l->batch[i]);
	for (uint32_t u = 0; some && u < l->f->nsw; u++) {
		const uint8_t *row = tables_row(l->t, u);

		for (uint32_t i = 0; i < nbatch; i++) {
			const struct batch *b = &l->batch[i];

			differ[i] |= row[b->d->lid] != row[b->twin] && u != b->d->sw;
		}
	}
	for (uint32_t i = 0; i < nbatch; i++)
		l->batch[i].twin = differ[i] ? 0 : l->batch[i].twin;
}

static bool first_fit_look_at_batch(struct fit *l, struct order *o, struct batch *b)
{
	for (uint32_t k = 0; k < b->n; k++) {
		uint32_t nopen = b->open.n;
		bool few;

		if (!first_fit_order(l, o, b, k, &few))
			return true;
		if (few && l->keep)
			first_fit_order_spread_moves(o, l->f->nsw);
		if (l->keep)
			first_fit_look_for_kept(l, o, b, k);
		else if (few)
			first_fit_look_at_moved(l, o, b, k);
		else
			first_fit_look_at_lid(l, o, b, k);
		if (b->open.n > nopen && l->tries)
			first_fit_list_missing(l, o, b, k);
		b->open.end[k] = b->open.n;
		b->miss.end[k] = b->miss.n;
	}
	return false;
}

/* Paths and layers of a batch as far as they are known before anything of the chunk is inserted;
 * true when cancelled or a path does not arrive.  A pool's job, ctx a struct fit. */
static bool first_fit_look_ahead(void *ctx, unsigned worker, uint32_t i)
{
	struct fit *l = ctx;
	struct batch *b = &l->batch[i];

	if (!worker && progress_step(l->pace->progress, l->pace->step, l->done, l->pace->total))
		return true;
	b->open.n = b->miss.n = 0;
	b->open.end[0] = b->miss.end[0] = 0;
	b->bad_sw = FAB_NONE;
	if (b->twin)
		return false;
	lft_columns_read(&b->col, l->t, b->d, b->n);
	if (l->keep)
		first_fit_read_old(l, b);
	return first_fit_look_at_batch(l, &l->order[worker], b);
}

/* --- insertion ------------------------------------------------------------------------------- */

static void first_fit_init(struct fit *l, const struct fabric *f, struct tables *t,
			   const struct tables *keep, unsigned threads)
{
	*l = (struct fit){ .f = f, .t = t, .keep = keep, .arena = arena_new() };
	turns_init(&l->turns, f);
	l->has[0] = arena_array(l->arena, uint8_t, l->turns.n);
	l->has[1] = arena_array(l->arena, uint8_t, l->turns.n);
	l->never = arena_array(l->arena, uint16_t, l->turns.n);
	l->work = cdg_work_new(f);
	l->out = lft_columns_ports(f);
	for (int i = 0; i < CHUNK; i++) {
		lft_columns_init(&l->batch[i].col, f, l->out);
		l->batch[i].layer = arena_array(l->arena, uint8_t, (size_t)f->nsw * COLUMNS_MAX);
		if (!keep)
			continue;
		lft_columns_init(&l->batch[i].old, f, l->out);
		l->batch[i].was = arena_array(l->arena, uint8_t, (size_t)f->nsw * COLUMNS_MAX);
	}
	l->pool = pool_new(threads);
	l->order = arena_array(l->arena, struct order, pool_threads(l->pool));
	for (unsigned i = 0; i < pool_threads(l->pool); i++)
		first_fit_order_init(&l->order[i], l->arena, f->nsw);
	l->path = arena_array(l->arena, uint32_t, f->nsw);
	l->added = arena_array(l->arena, uint32_t, f->nsw);
}

static void first_fit_done(struct fit *l)
{
	turns_done(&l->turns);
	arena_free(l->arena);
	for (unsigned i = 0; i < l->n; i++)
		cdg_free(l->cdg[i]);
	cdg_work_free(l->work);
	for (int i = 0; i < CHUNK; i++) {
		lft_columns_done(&l->batch[i].col);
		lft_columns_done(&l->batch[i].old);
		free(l->batch[i].open.at);
		free(l->batch[i].open.turn);
		free(l->batch[i].miss.at);
		free(l->batch[i].miss.turn);
	}
	free(l->out);
	pool_free(l->pool);
}

static uint32_t first_fit_turn_of(const struct fit *l, uint32_t i)
{
	return turns_at(&l->turns, l->path[i], l->path[i + 1]);
}

/* Keeps the turns that were added to layer k for a path, or takes them out again. */
static void first_fit_settle(struct fit *l, unsigned k, uint32_t nadded, bool keep)
{
	for (uint32_t a = 0; a < nadded; a++) {
		uint32_t i = l->added[a];

		if (!keep) {
			cdg_remove(l->cdg[k], l->path[i], l->path[i + 1]);
			continue;
		}
		first_fit_note_layer(l, first_fit_turn_of(l, i), k);
		cdg_keep(l->cdg[k], l->path[i], l->path[i + 1]);
	}
}

/* A turn that did not fit: does it close a cycle without those added before it too? */
static void first_fit_judge_alone(struct fit *l, uint32_t i, unsigned k, bool alone)
{
	if (!alone && cdg_add(l->cdg[k], l->path[i], l->path[i + 1]))
		cdg_remove(l->cdg[k], l->path[i], l->path[i + 1]);
	else
		l->never[first_fit_turn_of(l, i)] |= (uint16_t)(1u << k);
}

/* Puts the path of n channels into layer k unless that closes a cycle. */
static bool first_fit_fits(struct fit *l, uint32_t n, unsigned k)
{
	uint32_t nadded = 0, last = 0;
	bool ok = true;

	for (uint32_t i = 0; i + 1 < n && ok; i++) {
		if (first_fit_layers_of(l, first_fit_turn_of(l, i)) >> k & 1)
			continue;
		last = i;
		ok = cdg_add(l->cdg[k], l->path[i], l->path[i + 1]);
		if (ok)
			l->added[nadded++] = i;
	}
	first_fit_settle(l, k, nadded, ok);
	if (!ok)
		first_fit_judge_alone(l, last, k, !nadded);
	return ok;
}

/* Layer for the path from u to a LID of the batch; FIRST_FIT_MAX when there is none. */
static unsigned first_fit_place(struct fit *l, const struct batch *b, uint32_t lid, uint32_t u)
{
	const struct lft_columns *col = &b->col;
	uint32_t have = UINT16_MAX, never = 0, n = 0, c;

	for (c = lft_columns_chan(col, lid, u); c != FAB_NONE;
	     c = lft_columns_chan(col, lid, l->f->chan_dst[c]))
		l->path[n++] = c;
	for (uint32_t i = 0; i + 1 < n; i++)
		have &= first_fit_layers_of(l, first_fit_turn_of(l, i));
	if (have)
		return (unsigned)__builtin_ctz(have);
	for (uint32_t i = 0; i + 1 < n; i++)
		never |= l->never[first_fit_turn_of(l, i)];
	for (unsigned k = 0; k < FIRST_FIT_MAX; k++) {
		if (never >> k & 1)
			continue;
		if (k == l->n)
			l->cdg[l->n++] = cdg_new(l->work);
		if (first_fit_fits(l, n, k))
			return k;
	}
	return FIRST_FIT_MAX;
}

static bool first_fit_report(struct fit *l, uint32_t done, uint64_t work)
{
	uint64_t looked = cdg_work_done(l->work);

	work += 16 * (looked - l->looked);
	l->looked = looked;
	work += l->unseen;
	l->unseen = 0;
	return pace_tick(l->pace, done, work);
}

/* The channel from a switch towards LID k of the batch, and the one after it. */
static void first_fit_turn_from(const struct fit *l, const struct batch *b, uint32_t k, uint32_t u,
				uint32_t *c, uint32_t *e)
{
	*c = lft_columns_chan(&b->col, k, u);
	*e = lft_columns_chan(&b->col, k, l->f->chan_dst[*c]);
}

/* Puts n missing turns of LID k into layer 0 unless that closes a cycle. */
static bool first_fit_whole(struct fit *l, const struct batch *b, uint32_t k, const uint32_t *miss,
			    uint32_t n)
{
	uint32_t nadded = 0, c, e;
	bool ok = true;

	for (uint32_t i = 0; i < n && ok; i++) {
		first_fit_turn_from(l, b, k, miss[i], &c, &e);
		ok = !(l->never[turns_at(&l->turns, c, e)] & 1);
	}
	for (uint32_t i = 0; i < n && ok; i++) {
		first_fit_turn_from(l, b, k, miss[i], &c, &e);
		if (first_fit_layers_of(l, turns_at(&l->turns, c, e)) & 1)
			continue;
		ok = cdg_add(l->cdg[0], c, e);
		if (ok)
			l->added[nadded++] = miss[i];
	}
	for (uint32_t i = 0; i < nadded; i++) {
		first_fit_turn_from(l, b, k, l->added[i], &c, &e);
		if (!ok) {
			cdg_remove(l->cdg[0], c, e);
			continue;
		}
		first_fit_note_layer(l, turns_at(&l->turns, c, e), 0);
		cdg_keep(l->cdg[0], c, e);
	}
	l->unseen += 64 * nadded; /* new turns cost more than those that are there */
	return ok;
}

/* Begin of what the list has for LID k. */
static uint32_t first_fit_begin_of(const struct list *list, uint32_t k)
{
	return k ? list->end[k - 1] : 0;
}

/* All open paths to LID k at once; counts how often that works. */
static bool first_fit_insert_whole(struct fit *l, const struct batch *b, uint32_t k)
{
	uint32_t first = first_fit_begin_of(&b->miss, k);

	if (!l->tries)
		return false;
	if (!l->n)
		l->cdg[l->n++] = cdg_new(l->work);
	if (!first_fit_whole(l, b, k, b->miss.at + first, b->miss.end[k] - first)) {
		l->failed++;
		return false;
	}
	l->fitted++;
	return true;
}

/* Turns lie anywhere in tables larger than caches. */
static void first_fit_do_look_ahead(const struct fit *l, const struct list *open, uint32_t i)
{
	if (i + AHEAD < open->n) {
		__builtin_prefetch(&l->has[0][open->turn[i + AHEAD]]);
		__builtin_prefetch(&l->never[open->turn[i + AHEAD]]);
	}
}

/* The paths to LID k that are in no layer yet. */
static int first_fit_insert(struct fit *l, struct batch *b, uint32_t k, uint32_t done)
{
	uint32_t first = first_fit_begin_of(&b->open, k), end = b->open.end[k];
	uint8_t *layer = b->layer + (size_t)k * l->f->nsw;
	bool whole = first < end && first_fit_insert_whole(l, b, k);

	if (first < end && first_fit_report(l, done, 0))
		return -ECANCELED;
	for (uint32_t i = first; i < end; i++) {
		uint32_t u = b->open.at[i];
		unsigned to;

		first_fit_do_look_ahead(l, &b->open, i);
		to = whole ? 0 : first_fit_place(l, b, k, u);
		if (to == FIRST_FIT_MAX)
			return -ENOSPC;
		layer[u] = (uint8_t)to;
		if (i % OFTEN == OFTEN - 1 && first_fit_report(l, done, whole ? OFTEN : 4 * OFTEN))
			return -ECANCELED;
	}
	return 0;
}

/* Layers of LID k where they are those of the LID before it. */
static void first_fit_fill_same(uint8_t *layer, const uint8_t *before, uint32_t n)
{
	static const uint8_t same[8] = { SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME };

	for (uint32_t u = 0; u < n;) {
		uint32_t end = u + 8;

		if (end <= n && !memcmp(layer + u, same, 8)) {
			memcpy(layer + u, before + u, 8);
			u = end;
			continue;
		}
		for (end = end < n ? end : n; u < end; u++)
			layer[u] = layer[u] == SAME ? before[u] : layer[u];
	}
}

static bool first_fit_write_sls(void *ctx, unsigned worker, uint32_t i)
{
	struct fit *l = ctx;
	struct batch *b = &l->batch[i];
	uint32_t nsw = l->f->nsw;

	(void)worker;
	if (b->twin)
		return false;
	for (uint32_t k = 1; k < b->n; k++)
		first_fit_fill_same(b->layer + (size_t)k * nsw, b->layer + (k - 1ull) * nsw, nsw);
	lft_columns_turn_back(l->t->sl, b->layer, l->t->stride, nsw, b->d, b->n);
	return false;
}

/* After the others, whose SLs they take. */
static void first_fit_write_equal(struct fit *l, uint32_t nbatch)
{
	uint32_t twins = 0;

	for (uint32_t i = 0; i < nbatch; i++)
		twins += l->batch[i].twin != 0;
	for (uint32_t u = 0; twins && u < l->f->nsw; u++) {
		uint8_t *row = l->t->sl + (size_t)u * l->t->stride;

		for (uint32_t i = 0; i < nbatch; i++)
			if (l->batch[i].twin)
				row[l->batch[i].d->lid] = row[l->batch[i].twin];
	}
}

/* One chunk of nbatch batches with n LIDs; done: LIDs so far. */
static int first_fit_chunk(struct fit *l, uint32_t nbatch, uint32_t done, uint32_t n,
			   struct err *err)
{
	int rc = 0;

	l->tries = l->failed <= l->fitted + TRIES;
	l->done = done;
	first_fit_find_equal(l, nbatch);
	pool_for(l->pool, nbatch, first_fit_look_ahead, l);
	for (unsigned i = 0; i < l->n; i++)
		if (cdg_learn(l->cdg[i]))
			l->unseen += 16ull * l->f->nchan;
	if (first_fit_report(l, done, l->pace->work_max))
		return -ECANCELED;
	for (uint32_t i = 0; i < nbatch && !rc; i++) {
		const struct batch *b = &l->batch[i];

		if (b->bad_sw != FAB_NONE)
			return err_set(err, -EINVAL,
				       "the tables do not lead from switch %s to LID %u",
				       l->f->sw_name[b->bad_sw], b->bad_lid);
		for (uint32_t k = 0; k < b->n && !rc; k++)
			rc = first_fit_insert(l, &l->batch[i], k, done);
	}
	if (rc)
		return rc;
	if (l->n > 1 && l->t->sl_kind != SL_BY_SWITCH)
		graph_sls_by_switch(l->t, l->f, l->pool, l->pace->progress, l->pace->step);
	if (l->n > 1) {
		pool_for(l->pool, nbatch, first_fit_write_sls, l);
		first_fit_write_equal(l, nbatch);
	}
	return first_fit_report(l, done + n, 2 * (n + 4ull * nbatch) * l->f->nsw) ? -ECANCELED : 0;
}

/* The turn from the path at position i, into those layers. */
static void first_fit_add_kept(struct fit *l, uint32_t c, uint32_t e, uint16_t layers)
{
	uint32_t turn = turns_at(&l->turns, c, e);

	layers &= (uint16_t) ~(first_fit_layers_of(l, turn) | l->never[turn]);
	for (uint16_t todo = layers; todo; todo &= (uint16_t)(todo - 1)) {
		unsigned k = (unsigned)__builtin_ctz(todo);

		while (l->n <= k)
			l->cdg[l->n++] = cdg_new(l->work);
		if (cdg_add(l->cdg[k], c, e))
			first_fit_note_layer(l, turn, k);
	}
}

/* Those that are there whatever the paths are. */
static void first_fit_add_fixed(struct fit *l)
{
	const struct fabric *f = l->f;

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t w = f->chan_dst[c];

		for (uint32_t e = f->chan_off[w]; e < f->chan_off[w + 1]; e++) {
			uint16_t layers = l->fixed[turns_at(&l->turns, c, e)];

			if (layers)
				first_fit_add_kept(l, c, e, layers);
		}
	}
}

/* The paths to LID k that are to keep their layers. */
static void first_fit_keep_lid(struct fit *l, struct order *o, const struct batch *b, uint32_t k)
{
	const uint8_t *was = b->was + (size_t)k * l->f->nsw;

	first_fit_compare(o, b, k, l->f->nsw);
	for (uint32_t i = 0; i < l->f->nsw; i++) {
		uint8_t sl = o->kept[i] ? was[o->at[i]] : OPEN;

		o->pass[i] = sl == OPEN ? 0 : (uint16_t)(1u << sl);
		while (sl != OPEN && l->n <= sl)
			l->cdg[l->n++] = cdg_new(l->work);
	}
	for (uint32_t i = l->f->nsw; i-- > 1;) {
		uint32_t p = o->parent[i];

		o->pass[p] |= o->pass[i];
		if (p && o->pass[i])
			first_fit_add_kept(l, o->chan[i], o->chan[p], o->pass[i]);
	}
}

/* What is to stay goes in first, as a step of its own. */
static int first_fit_keep_layers(struct fit *l, const struct dest *dests, uint32_t n)
{
	const char *step = l->pace->step;
	struct order *o = &l->order[0];
	struct batch *b = &l->batch[0];

	l->pace->step = "kept layers";
	for (uint32_t done = 0; done < n; done += b->n) {
		b->d = dests + done;
		b->n = lft_columns_run(b->d, n - done);
		lft_columns_read(&b->col, l->t, b->d, b->n);
		first_fit_read_old(l, b);
		for (uint32_t k = 0; k < b->n; k++) {
			bool few;

			if (first_fit_order(l, o, b, k, &few))
				first_fit_keep_lid(l, o, b, k);
			if (first_fit_report(l, done + k, 8ull * l->f->nsw))
				return -ECANCELED;
		}
	}
	l->pace->step = step;
	return 0;
}

int vl_first_fit(struct tables *t, const struct fabric *f, const struct dest *dests, uint32_t n,
		 const struct tables *keep, const uint16_t *fixed, unsigned most, unsigned threads,
		 unsigned *layers, struct pace *pace, struct err *err)
{
	struct fit l;
	int rc = 0;

	first_fit_init(&l, f, t, keep, threads);
	l.most = most;
	l.pace = pace;
	l.fixed = fixed;
	if (fixed)
		first_fit_add_fixed(&l);
	if (keep)
		rc = first_fit_keep_layers(&l, dests, n);
	for (uint32_t done = 0; done < n && !rc;) {
		uint32_t nbatch = 0, next = done;

		while (nbatch < CHUNK && next < n) {
			struct batch *b = &l.batch[nbatch++];

			b->d = dests + next;
			b->n = lft_columns_run(dests + next, n - next);
			b->bad_sw = FAB_NONE;
			b->open.n = b->miss.n = 0;
			next += b->n;
		}
		rc = first_fit_chunk(&l, nbatch, done, next - done, err);
		done = next;
	}
	*layers = l.n;
	first_fit_done(&l);
	return rc;
}
