/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_balance.h"

#include "engines/nue/nue_escape_paths.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH	    64 /* LIDs that are chosen while those before are written */
#define COLUMNS	    16 /* LIDs that are written to the LFTs together */
#define AGAIN	    4  /* times that LIDs over the fullest channels are routed again */
#define VAIN	    16
#define FEW_MOVED   8  /* one position in so many goes on to an edge that costs the same */
#define AHEAD	    8  /* switches whose paths are made beside a batch */
#define UNUSED	    16 /* whose paths wait, at most */
#define TOGETHER    32 /* whose paths are made before all batches, at a time */
#define PATHS_BYTES (160u << 20) /* for the paths to all switches at a time */

/* A destination switch and how many of its LIDs are done. */
struct target {
	const struct nue_trees *trees;
	uint32_t sw;
	uint32_t i; /* index in its layer */
	struct nue_escape_paths paths;
	uint32_t made_in; /* the loop in which these are made; 0: none */
};

/* LIDs whose edges are chosen, on their way to the LFTs. */
struct batch {
	uint32_t n;
	uint16_t lid[BATCH];
	uint8_t own[BATCH]; /* port at the destination switch */
	const struct nue_escape_paths *paths[BATCH];
	uint32_t *taken; /* by LID * switches + position: edge chosen there */
};

struct balancer {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	struct tables *t;
	uint8_t lmc;
	bool parallel; /* cables */
	struct pool *pool;
	struct nue_escape_paths_maker **maker; /* by worker; NULL: not there yet */
	uint8_t **port;			       /* by worker: by LID of some * nsw + switch */
	struct target *target;		       /* all of them */
	uint32_t ntarget;
	uint32_t at;			/* that before which all are done ... */
	uint32_t left;			/* ... when the batch before was handed over */
	uint32_t dropped;		/* that before which paths are no longer kept */
	uint32_t next;			/* from which on no paths are made */
	uint32_t unused;		/* whose paths are made, or being made, for later */
	struct target *ahead[TOGETHER]; /* those being made */
	uint32_t nahead;
	uint32_t loop; /* how many times others have been given something to do */
	struct batch batch[2];
	unsigned filling;	    /* which of both; others write the other one */
	const struct target *last;  /* the LID before was one of its: b->cost is that ... */
	const uint32_t *last_taken; /* ... of these edges */
	const struct chan_weights *weights;
	uint64_t *load;
	uint64_t *cost;	  /* by position: load of the whole path */
	uint32_t near;	  /* edges from the last one on that are tried before all are looked at */
	uint32_t *top;	  /* by position: place of the channel chosen there */
	uint32_t *taken;  /* by position: edge of a LID that is routed again */
	uint32_t *before; /* taken before that */
	uint32_t *sum;	  /* by position: terminals that come through */
	struct pace pace;
	unsigned again; /* times that all LIDs have been routed */
	bool *full;	/* by LID: due again */
	uint32_t vain;	/* LIDs routed again in a row for nothing */
	uint64_t done, work;
};

/* What a choice looks at. */
struct sight {
	const uint32_t *chan;
	const uint16_t *to;
	const uint64_t *load, *cost;
};

static inline uint64_t nue_balance_cost(struct sight s, uint32_t e)
{
	return s.cost[s.to[e]] + s.load[s.chan[e]];
}

/* The first edge of k to end - 1 that costs so much, or end. */
static inline uint32_t nue_balance_first_at(struct sight s, uint32_t k, uint32_t end, uint64_t cost)
{
	while (k < end && nue_balance_cost(s, k) != cost)
		k++;
	return k;
}

/* The first of the cheapest edges of a position.  No branch in the loop: nobody could foretell it.
 */
static inline uint32_t nue_balance_cheapest(struct sight s, uint32_t e, uint32_t end,
					    uint64_t *cost)
{
	uint32_t best = e;
	uint64_t least = nue_balance_cost(s, e);

	for (e++; e < end; e++) {
		uint64_t x = nue_balance_cost(s, e);
		bool less = x < least;

		least = less ? x : least;
		best = less ? e : best;
	}
	*cost = least;
	return best;
}

/* Positions from p on, at which no edge arrives: costs matter only where there is a choice. */
static void nue_balance_choose_outer(struct balancer *b, const struct nue_escape_paths *w,
				     uint32_t p, uint32_t *taken)
{
	const struct sight s = { w->chan, w->to, b->load, b->cost };
	uint32_t end = w->off[p];

	for (; p < w->n; p++) {
		uint32_t first = end;

		end = w->off[p + 1];
		taken[p] =
			end == first + 1 ? first : nue_balance_cheapest(s, first, end, &b->cost[p]);
	}
}

/* The least loaded path of every switch, from the destination outwards.  last: what was chosen
 * before, with costs that are still there; or NULL.  Loads have only grown since, so edges before
 * it cost more than it did, and what costs as much as it did is the cheapest.  Where only few
 * others do, as in damaged trees, all are looked at from then on. */
static void nue_balance_choose_free(struct balancer *b, const struct nue_escape_paths *w,
				    const uint32_t *last, uint32_t *taken)
{
	const struct sight s = { w->chan, w->to, b->load, b->cost };
	uint32_t end = w->off[1], near = last ? b->near : 0, moved = 0;
	uint32_t n = last || !w->ninner ? w->n : w->ninner;
	uint64_t *cost = b->cost;

	cost[0] = 0;
	for (uint32_t p = 1; p < n; p++) {
		uint32_t first = end, k = last ? last[p] : end, behind, e;

		end = w->off[p + 1];
		behind = end - k < near ? end : k + near;
		e = nue_balance_first_at(s, k, behind, cost[p]);
		if (e == behind)
			e = nue_balance_cheapest(s, first, end, &cost[p]);
		else
			moved += e != k;
		taken[p] = e;
	}
	nue_balance_choose_outer(b, w, n, taken);
	if (!last)
		b->near = FAB_MAX_PORT;
	else if (moved < w->n / FEW_MOVED)
		b->near = 1;
}

/* The same among edges that are bound. */
static void nue_balance_choose_bound(struct balancer *b, const struct nue_escape_paths *w,
				     const uint32_t *place, uint32_t *taken)
{
	b->cost[0] = 0;
	b->top[0] = UINT32_MAX;
	for (uint32_t p = 1; p < w->n; p++) {
		uint32_t best = w->off[p];
		uint64_t least = b->cost[w->to[best]] + b->load[w->chan[best]];

		for (uint32_t e = best + 1; e < w->off[p + 1]; e++) {
			uint64_t x = b->cost[w->to[e]] + b->load[w->chan[e]];
			bool less = (x < least) & (place[w->chan[e]] < b->top[w->to[e]]);

			least = less ? x : least;
			best = less ? e : best;
		}
		b->cost[p] = least;
		taken[p] = best;
		b->top[p] = place[w->chan[best]];
	}
}

static void nue_balance_choose(struct balancer *b, const struct target *t, const uint32_t *last,
			       uint32_t *taken)
{
	if (t->paths.bound)
		nue_balance_choose_bound(b, &t->paths, t->trees->place, taken);
	else
		nue_balance_choose_free(b, &t->paths, last, taken);
}

static void nue_balance_sum_up(struct balancer *b, const struct nue_escape_paths *w)
{
	memcpy(b->sum, w->ends, w->n * sizeof(*b->sum));
	for (uint32_t p = w->n; p-- > 1;)
		b->sum[w->to[b->taken[p]]] += b->sum[p];
}

static void nue_balance_add_loads(struct balancer *b, const struct nue_escape_paths *w,
				  const uint32_t *taken)
{
	memcpy(b->sum, w->ends, w->n * sizeof(*b->sum));
	for (uint32_t p = w->n; p-- > 1;) {
		uint32_t e = taken[p];

		b->sum[w->to[e]] += b->sum[p];
		b->load[w->chan[e]] += (uint64_t)b->sum[p] * chan_weight(b->weights, w->chan[e]);
	}
}

/* Of the r-th LID of a switch: first come the base LIDs of its ends, then their next ones. */
static uint32_t nue_balance_target_end(const struct balancer *b, const struct target *t, uint32_t r)
{
	const uint32_t *off = b->f->term_off;

	return b->f->term_list[off[t->sw] + r % (off[t->sw + 1] - off[t->sw])];
}

static uint16_t nue_balance_target_lid(const struct balancer *b, const struct target *t, uint32_t r)
{
	const uint32_t *off = b->f->term_off;

	return (uint16_t)(b->f->term_lid[nue_balance_target_end(b, t, r)] +
			  r / (off[t->sw + 1] - off[t->sw]));
}

static uint32_t nue_balance_target_lids(const struct balancer *b, const struct target *t)
{
	uint32_t u = t->sw;

	return (b->f->term_off[u + 1] - b->f->term_off[u]) << b->lmc;
}

/* The first time all LIDs are due, later those that are too full, until many in a row have nowhere
 * to go. */
static bool nue_balance_is_due(const struct balancer *b, const struct target *t, uint32_t r)
{
	return !b->again || (b->vain < VAIN && b->full[nue_balance_target_lid(b, t, r)]);
}

/* The first LID of a switch that is due, or how many it has. */
static uint32_t nue_balance_first_due(const struct balancer *b, const struct target *t)
{
	uint32_t lids = nue_balance_target_lids(b, t), r = 0;

	while (r < lids && !nue_balance_is_due(b, t, r))
		r++;
	return r;
}

/* --- batches -----------------------------------------------------------------------------------
 */

static void nue_balance_write_column(uint8_t *port, const struct nue_escape_paths *w,
				     const uint32_t *taken, uint8_t own)
{
	port[w->sw[0]] = own;
	for (uint32_t p = 1; p < w->n; p++)
		port[w->sw[p]] = w->port[taken[p]];
}

/* Some LIDs of the batch that is not being filled. */
static void nue_balance_write_some(struct balancer *b, unsigned worker, uint32_t from)
{
	const struct batch *x = &b->batch[!b->filling];
	uint32_t nsw = b->f->nsw, n = x->n - from < COLUMNS ? x->n - from : COLUMNS;
	uint8_t *port;

	if (!b->port[worker])
		b->port[worker] = xcalloc((size_t)nsw * COLUMNS, 1);
	port = b->port[worker];
	for (uint32_t k = 0; k < n; k++)
		nue_balance_write_column(port + (size_t)k * nsw, x->paths[from + k],
					 x->taken + (size_t)(from + k) * nsw, x->own[from + k]);
	for (uint32_t u = 0; u < nsw; u++) {
		uint8_t *row = tables_row(b->t, u);

		for (uint32_t k = 0; k < n; k++)
			row[x->lid[from + k]] = port[(size_t)k * nsw + u];
	}
}

static void nue_balance_make(struct balancer *b, unsigned worker, struct target *t)
{
	if (!b->maker[worker])
		b->maker[worker] = nue_escape_paths_maker_new(b->f);
	nue_escape_paths_make(&t->paths, b->maker[worker], t->trees, t->i, b->parallel);
}

static bool nue_balance_do_beside(void *ctx, unsigned worker, uint32_t i)
{
	struct balancer *b = ctx;

	if (i < b->nahead)
		nue_balance_make(b, worker, b->ahead[i]);
	else
		nue_balance_write_some(b, worker, (i - b->nahead) * COLUMNS);
	return false;
}

/* Those whose paths will be wanted soon. */
static void nue_balance_plan_ahead(struct balancer *b)
{
	b->nahead = 0;
	for (; b->next < b->ntarget && b->nahead < AHEAD && b->unused < UNUSED; b->next++) {
		struct target *t = &b->target[b->next];

		t->made_in = 0;
		if (nue_balance_first_due(b, t) == nue_balance_target_lids(b, t))
			continue;
		t->made_in = b->loop;
		b->ahead[b->nahead++] = t;
		b->unused++;
	}
}

/* The others write the batch, and make paths, while the next one is filled. */
static void nue_balance_hand_over(struct balancer *b)
{
	uint32_t parts;

	pool_end(b->pool);
	b->batch[!b->filling].n = 0;
	for (; b->dropped < b->left; b->dropped++)
		nue_escape_paths_done(&b->target[b->dropped].paths);
	b->left = b->at;
	b->filling = !b->filling;
	b->loop++;
	nue_balance_plan_ahead(b);
	parts = (b->batch[!b->filling].n + COLUMNS - 1) / COLUMNS;
	if (b->nahead + parts)
		pool_begin(b->pool, b->nahead + parts, nue_balance_do_beside, b);
}

/* Until all is written; no more paths are made. */
static void nue_balance_settle(struct balancer *b)
{
	b->next = b->ntarget;
	nue_balance_hand_over(b);
	nue_balance_hand_over(b);
}

/* Where the edges of the next LID go. */
static uint32_t *nue_balance_room(struct balancer *b)
{
	struct batch *x = &b->batch[b->filling];

	return x->taken + (size_t)x->n * b->f->nsw;
}

static void nue_balance_add_lid(struct balancer *b, const struct nue_escape_paths *w, uint16_t lid,
				uint8_t own)
{
	struct batch *x = &b->batch[b->filling];

	x->paths[x->n] = w;
	x->lid[x->n] = lid;
	x->own[x->n++] = own;
	if (x->n == BATCH)
		nue_balance_hand_over(b);
}

/* -----------------------------------------------------------------------------------------------
 */

static void nue_balance_route_lid(struct balancer *b, struct target *t, uint32_t r)
{
	uint32_t end = nue_balance_target_end(b, t, r), *taken = nue_balance_room(b);

	nue_balance_choose(b, t, b->last == t ? b->last_taken : NULL, taken);
	b->last = t;
	b->last_taken = taken;
	if (end < b->f->nterm)
		nue_balance_add_loads(b, &t->paths, taken);
	nue_balance_add_lid(b, &t->paths, nue_balance_target_lid(b, t, r), b->f->term_port[end]);
}

/* The LID's edges, as written. */
static void nue_balance_read_lid(struct balancer *b, const struct nue_escape_paths *w, uint16_t lid)
{
	for (uint32_t p = 1; p < w->n; p++) {
		uint8_t port = tables_row(b->t, w->sw[p])[lid];
		uint32_t e = w->off[p];

		while (w->port[e] != port)
			e++;
		b->taken[p] = e;
	}
}

static void nue_balance_take_loads_away(struct balancer *b, const struct nue_escape_paths *w)
{
	for (uint32_t p = 1; p < w->n; p++) {
		uint32_t c = w->chan[b->taken[p]];

		b->load[c] -= (uint64_t)b->sum[p] * chan_weight(b->weights, c);
	}
}

/* The fullest channel with a path of this LID. */
static uint64_t nue_balance_fullest(const struct balancer *b, const struct nue_escape_paths *w)
{
	uint64_t max = 0;

	for (uint32_t p = 1; p < w->n; p++) {
		uint64_t load = b->load[w->chan[b->taken[p]]];

		max = b->sum[p] && load > max ? load : max;
	}
	return max;
}

static void nue_balance_swap_taken(struct balancer *b)
{
	uint32_t *taken = b->taken;

	b->taken = b->before;
	b->before = taken;
}

/* Once more, if that makes the fullest of the LID's channels less full. */
static void nue_balance_reroute_lid(struct balancer *b, struct target *t, uint32_t r)
{
	const struct nue_escape_paths *w = &t->paths;
	uint16_t lid = nue_balance_target_lid(b, t, r);
	uint64_t was;

	nue_balance_read_lid(b, w, lid);
	nue_balance_sum_up(b, w);
	was = nue_balance_fullest(b, w);
	nue_balance_take_loads_away(b, w);
	nue_balance_swap_taken(b);
	nue_balance_choose(b, t, NULL, b->taken);
	nue_balance_add_loads(b, w, b->taken);
	if (nue_balance_fullest(b, w) < was) {
		memcpy(nue_balance_room(b), b->taken, b->f->nsw * sizeof(*b->taken));
		nue_balance_add_lid(b, w, lid, b->f->term_port[nue_balance_target_end(b, t, r)]);
		b->vain = 0;
		return;
	}
	b->vain++;
	nue_balance_take_loads_away(b, w);
	nue_balance_swap_taken(b);
	nue_balance_add_loads(b, w, b->taken);
}

static bool nue_balance_tick(struct balancer *b, const struct target *t, uint32_t lids,
			     uint64_t more)
{
	uint64_t work = lids * (2ull * t->paths.nedge + t->paths.n) + more;

	b->done += lids;
	b->work += work;
	return pace_tick(&b->pace, b->done, work);
}

static bool nue_balance_one_lid(struct balancer *b, struct target *t, uint32_t r)
{
	if (!nue_balance_is_due(b, t, r))
		return false;
	if (b->again)
		nue_balance_reroute_lid(b, t, r);
	else
		nue_balance_route_lid(b, t, r);
	return nue_balance_tick(b, t, !b->again, (uint64_t)t->paths.nedge + t->paths.n);
}

/* One whose paths are made; it may have LIDs no more that are due. */
static bool nue_balance_one_switch(struct balancer *b, struct target *t)
{
	uint32_t lids = nue_balance_target_lids(b, t), r = nue_balance_first_due(b, t);
	bool stop = false;

	if (r < lids)
		stop = nue_balance_tick(b, t, 0, b->f->nchan);
	for (; r < lids && !stop; r++)
		stop = nue_balance_one_lid(b, t, r);
	return stop;
}

static int nue_balance_by_switch(struct balancer *b)
{
	bool stop = false;

	b->at = b->left = b->dropped = b->next = b->unused = 0;
	for (; b->at < b->ntarget && !stop; b->at++) {
		struct target *t = &b->target[b->at];

		if (b->at == b->next)
			nue_balance_hand_over(b);
		if (!t->made_in)
			continue;
		if (t->made_in == b->loop)
			nue_balance_hand_over(b);
		b->unused--;
		stop = nue_balance_one_switch(b, t);
	}
	nue_balance_settle(b);
	return stop ? -ECANCELED : 0;
}

static int nue_balance_by_round(struct balancer *b)
{
	struct target *t = b->target;
	uint32_t n = b->ntarget;
	bool more = true, stop = false;

	b->at = b->left = b->dropped = 0;
	b->next = n;
	for (uint32_t r = 0; more && !stop; r++) {
		more = false;
		for (uint32_t i = 0; i < n && !stop; i++) {
			if (r >= nue_balance_target_lids(b, &t[i]))
				continue;
			more = true;
			stop = nue_balance_one_lid(b, &t[i], r);
		}
	}
	nue_balance_settle(b);
	return stop ? -ECANCELED : 0;
}

static bool nue_balance_make_one(void *ctx, unsigned worker, uint32_t i)
{
	struct balancer *b = ctx;

	nue_balance_make(b, worker, b->ahead[i]);
	return false;
}

/* Lists some of the next switches with LIDs; returns how many it has looked at. */
static uint32_t nue_balance_list_some(struct balancer *b, struct target *t, uint32_t n)
{
	uint32_t i = 0;

	for (b->nahead = 0; i < n && b->nahead < TOGETHER; i++)
		if (nue_balance_target_lids(b, &t[i]))
			b->ahead[b->nahead++] = &t[i];
	return i;
}

/* Keeps the paths of all switches; -ENOMEM when they are too many. */
static int nue_balance_make_paths(struct balancer *b)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < b->ntarget;) {
		i += nue_balance_list_some(b, &b->target[i], b->ntarget - i);
		pool_for(b->pool, b->nahead, nue_balance_make_one, b);
		for (uint32_t k = 0; k < b->nahead; k++) {
			bytes += nue_escape_paths_bytes(&b->ahead[k]->paths);
			if (nue_balance_tick(b, b->ahead[k], 0, b->f->nchan))
				return -ECANCELED;
		}
		if (bytes > PATHS_BYTES)
			return -ENOMEM;
	}
	return 0;
}

static void nue_balance_drop_paths(struct target *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		nue_escape_paths_done(&t[i].paths);
}

static uint64_t nue_balance_load_max(const struct balancer *b)
{
	uint64_t max = 0;

	for (uint32_t c = 0; c < b->f->nchan; c++)
		max = b->load[c] > max ? b->load[c] : max;
	return max;
}

/* Marks the LIDs of terminals over channels with that load or more. */
static void nue_balance_mark_full(struct balancer *b, uint64_t load)
{
	const struct fabric *f = b->f;

	memset(b->full, 0, (f->max_lid + 1u) * sizeof(*b->full));
	for (uint32_t c = 0; c < f->nchan; c++) {
		const uint8_t *row = tables_row(b->t, f->chan_src[c]);

		for (uint32_t lid = 1; lid <= f->max_lid && b->load[c] >= load; lid++)
			b->full[lid] |= row[lid] == f->chan_port[c] && f->lid_end[lid] < f->nterm;
	}
}

/* Is it worth while to route full LIDs once more?  Not when the fullest channel is hardly above the
 * mean of those in use, nor when the last time gained less than one per cent (last: 0 the first
 * time). */
static bool nue_balance_is_uneven(const struct balancer *b, uint64_t max, uint64_t last)
{
	uint64_t sum = 0, used = 0;

	for (uint32_t c = 0; c < b->f->nchan; c++) {
		sum += b->load[c];
		used += b->load[c] > 0;
	}
	return used && max > sum / used + sum / used / 32 && (!last || max + max / 100 < last);
}

static int nue_balance_route_targets(struct balancer *b, bool rounds)
{
	int rc = rounds ? nue_balance_make_paths(b) : -ENOMEM;
	uint64_t max = 0, last;
	bool more;

	if (rc == -ENOMEM) {
		nue_balance_drop_paths(b->target, b->ntarget);
		rounds = false;
		rc = 0;
	}
	do {
		last = max;
		if (!rc)
			rc = rounds ? nue_balance_by_round(b) : nue_balance_by_switch(b);
		max = nue_balance_load_max(b);
		more = !rc && b->again++ < AGAIN && nue_balance_is_uneven(b, max, last);
		if (more)
			nue_balance_mark_full(b, max - max / 50);
		b->vain = 0;
	} while (more);
	nue_balance_drop_paths(b->target, b->ntarget);
	return rc;
}

#define TELL_SWITCHES 128 /* between two reports of progress */

/* A switch is reached like the first LID there, which needs no turn of its own; a switch
 * without ends by its tree. */
static uint8_t nue_balance_port_to(const struct balancer *b, const struct target *t, uint32_t u)
{
	const struct fabric *f = b->f;
	uint32_t end = f->term_off[t->sw];

	if (u == t->sw)
		return 0;
	if (end < f->term_off[t->sw + 1])
		return tables_row(b->t, u)[f->term_lid[f->term_list[end]]];
	return f->chan_port[nue_trees_next(t->trees, f, t->i, u)];
}

/* The rows of some switches. */
static bool nue_balance_route_switches_at(void *ctx, unsigned worker, uint32_t part)
{
	struct balancer *b = ctx;
	uint32_t from = part * TELL_SWITCHES, end = from + TELL_SWITCHES;

	for (uint32_t u = from; u < end && u < b->f->nsw; u++)
		for (uint32_t i = 0; i < b->ntarget; i++)
			tables_row(b->t, u)[b->f->sw_lid[b->target[i].sw]] =
				nue_balance_port_to(b, &b->target[i], u);
	return !worker && pace_work(&b->pace, b->pace.work_max);
}

static int nue_balance_route_switches(struct balancer *b)
{
	uint32_t parts = (b->f->nsw + TELL_SWITCHES - 1) / TELL_SWITCHES;

	return pool_for(b->pool, parts, nue_balance_route_switches_at, b) ? -ECANCELED : 0;
}

/* By switch. */
static struct target *nue_balance_list_targets(const struct nue_layer *layer,
					       const struct nue_trees *trees, uint32_t k,
					       uint32_t nsw)
{
	struct target *t = xcalloc(nsw, sizeof(*t));

	for (uint32_t l = 0; l < k; l++)
		for (uint32_t i = 0; i < layer[l].ndst; i++)
			t[layer[l].dst[i]] = (struct target){ .trees = &trees[l],
							      .sw = layer[l].dst[i],
							      .i = i };
	return t;
}

static void nue_balance_init(struct balancer *b, struct tables *t, const struct nue_net *net,
			     struct pool *pool)
{
	const struct fabric *f = net->f;
	size_t edges = (size_t)f->nsw * BATCH;

	*b = (struct balancer){ .mem = arena_new(), .f = f, .t = t, .weights = &net->weights };
	b->pool = pool;
	b->maker = arena_alloc(b->mem, pool_threads(pool), sizeof(*b->maker));
	b->port = arena_alloc(b->mem, pool_threads(pool), sizeof(*b->port));
	for (unsigned i = 0; i < 2; i++)
		b->batch[i].taken = arena_alloc(b->mem, edges, sizeof(*b->batch[i].taken));
	b->load = xcalloc(f->nchan, sizeof(*b->load));
	chan_weights_start(b->load, b->weights, f);
	b->cost = arena_alloc(b->mem, f->nsw, sizeof(*b->cost));
	b->top = arena_alloc(b->mem, f->nsw, sizeof(*b->top));
	b->taken = arena_alloc(b->mem, f->nsw, sizeof(*b->taken));
	b->before = arena_alloc(b->mem, f->nsw, sizeof(*b->before));
	b->sum = arena_alloc(b->mem, f->nsw, sizeof(*b->sum));
	b->full = arena_alloc(b->mem, f->max_lid + 1u, sizeof(*b->full));
}

int nue_balance(struct nue_load *out, struct tables *t, const struct nue_layer *layer,
		const struct nue_trees *trees, uint32_t k, uint8_t lmc, bool by_rounds,
		struct pool *pool, struct progress *progress)
{
	const struct fabric *f = layer->net->f;
	struct target *target = nue_balance_list_targets(layer, trees, k, f->nsw);
	struct balancer b;
	int rc;

	nue_balance_init(&b, t, layer->net, pool);
	b.lmc = lmc;
	b.target = target;
	b.ntarget = f->nsw;
	b.parallel = layer->net->parallel;
	rc = pace_begin(&b.pace, progress, "paths", (uint64_t)f->nend << lmc) ? -ECANCELED : 0;
	if (!rc)
		rc = nue_balance_route_targets(&b, by_rounds);
	if (!rc)
		rc = nue_balance_route_switches(&b);
	*out = (struct nue_load){ .chan = b.load, .max = nue_balance_load_max(&b), .work = b.work };
	for (unsigned w = 0; w < pool_threads(pool); w++) {
		nue_escape_paths_maker_free(b.maker[w]);
		free(b.port[w]);
	}
	arena_free(b.mem);
	free(target);
	return rc;
}

void nue_load_done(struct nue_load *l)
{
	free(l->chan);
	l->chan = NULL;
}
