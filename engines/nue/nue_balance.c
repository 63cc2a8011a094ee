/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_balance.h"

#include "engines/nue/nue_escape_paths.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH	    64 /* LIDs that are written to the LFTs together */
#define AGAIN	    4  /* times that LIDs over the fullest channels are routed again */
#define VAIN	    16
#define AHEAD	    8	 /* switches whose paths are made together */
#define WIDE_EDGES  4096 /* of a level whose switches threads share for each LID */
#define WIDE_LIDS   4	 /* LIDs from which on it is worth to look for these */
#define PARTS_MAX   8
#define PATHS_BYTES (160u << 20) /* for the paths to all switches at a time */

/* A destination switch and how many of its LIDs are done. */
struct target {
	const struct nue_trees *trees;
	uint32_t sw;
	uint32_t i; /* index in its layer */
	struct nue_escape_paths paths;
};

/* Positions as many hops away, or of several levels; wide: of one, and with many edges. */
struct segment {
	uint32_t first, end;
	bool wide;
};

struct balancer {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	struct tables *t;
	uint8_t lmc;
	bool parallel; /* cables */
	struct pool *pool;
	struct nue_escape_paths_maker **maker; /* by worker; NULL: not there yet */
	struct target *ahead[AHEAD];	       /* those whose paths are made */
	uint32_t nahead;
	const struct nue_escape_paths *in; /* whose segments are known; NULL: none */
	struct segment *segment;
	uint32_t nsegment;
	const struct segment *at; /* the one that threads share */
	const struct chan_weights *weights;
	uint64_t *load;
	uint64_t *cost;	  /* by position: load of the whole path */
	uint32_t *top;	  /* by position: place of the channel chosen there */
	uint32_t *taken;  /* by position: edge chosen there */
	uint32_t *before; /* taken before that */
	uint32_t *sum;	  /* by position: terminals that come through */
	uint8_t *port;	  /* by LID of the batch * nsw + switch */
	uint16_t lid[BATCH];
	uint32_t nlid;
	struct pace pace;
	unsigned again; /* times that all LIDs have been routed */
	bool *full;	/* by LID: due again */
	uint32_t vain;	/* LIDs routed again in a row for nothing */
	uint64_t done, work;
};

static void nue_balance_flush(struct balancer *b)
{
	const struct fabric *f = b->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint8_t *row = tables_row(b->t, u);

		for (uint32_t k = 0; k < b->nlid; k++)
			row[b->lid[k]] = b->port[(size_t)k * f->nsw + u];
	}
	b->nlid = 0;
}

/* The least loaded path of every switch, from the destination outwards.  No branch in the inner
 * loop: nobody could foretell it. */
static void nue_balance_choose_some(struct balancer *b, const struct nue_escape_paths *w,
				    uint32_t from, uint32_t behind)
{
	const uint32_t *chan = w->chan;
	const uint16_t *to = w->to;
	uint64_t *cost = b->cost;
	uint32_t end = w->off[from];

	for (uint32_t p = from; p < behind; p++) {
		uint32_t best = end;
		uint64_t least = cost[to[best]] + b->load[chan[best]];

		end = w->off[p + 1];
		for (uint32_t e = best + 1; e < end; e++) {
			uint64_t x = cost[to[e]] + b->load[chan[e]];
			bool less = x < least;

			least = less ? x : least;
			best = less ? e : best;
		}
		cost[p] = least;
		b->taken[p] = best;
	}
}

static uint32_t nue_balance_parts(const struct balancer *b)
{
	uint32_t n = pool_threads(b->pool);

	return n < PARTS_MAX ? n : PARTS_MAX;
}

static bool nue_balance_choose_part(void *ctx, unsigned worker, uint32_t part)
{
	struct balancer *b = ctx;
	uint64_t n = b->at->end - b->at->first, parts = nue_balance_parts(b);

	(void)worker;
	nue_balance_choose_some(b, b->in, b->at->first + (uint32_t)(n * part / parts),
				b->at->first + (uint32_t)(n * (part + 1) / parts));
	return false;
}

static void nue_balance_choose_free(struct balancer *b, const struct nue_escape_paths *w)
{
	b->cost[0] = 0;
	if (b->in != w)
		nue_balance_choose_some(b, w, 1, w->n);
	for (uint32_t k = 0; b->in == w && k < b->nsegment; k++) {
		b->at = &b->segment[k];
		if (b->at->wide)
			pool_for(b->pool, nue_balance_parts(b), nue_balance_choose_part, b);
		else
			nue_balance_choose_some(b, w, b->at->first, b->at->end);
	}
}

static void nue_balance_add_segment(struct balancer *b, uint32_t first, uint32_t end, bool wide)
{
	struct segment *last = b->nsegment ? &b->segment[b->nsegment - 1] : NULL;

	if (last && !last->wide && !wide)
		last->end = end;
	else
		b->segment[b->nsegment++] = (struct segment){ first, end, wide };
}

/* Levels of the paths to a switch with so many LIDs, where threads gain. */
static void nue_balance_find_segments(struct balancer *b, const struct target *t, uint32_t lids)
{
	const struct nue_escape_paths *w = &t->paths;
	const uint16_t *hops = t->trees->hops + (size_t)t->i * b->f->nsw;
	bool any = false;

	b->in = NULL;
	b->nsegment = 0;
	if (w->bound || lids < WIDE_LIDS || !pool_is_quick(b->pool))
		return;
	for (uint32_t first = 1, p = 1; p <= w->n; p++) {
		bool wide = w->off[p] - w->off[first] >= WIDE_EDGES;

		if (p == first || (p < w->n && hops[w->sw[p]] == hops[w->sw[first]]))
			continue;
		nue_balance_add_segment(b, first, p, wide);
		any |= wide;
		first = p;
	}
	if (any)
		b->in = w;
}

/* The same among edges that are bound. */
static void nue_balance_choose_bound(struct balancer *b, const struct nue_escape_paths *w,
				     const uint32_t *place)
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
		b->taken[p] = best;
		b->top[p] = place[w->chan[best]];
	}
}

static void nue_balance_choose(struct balancer *b, const struct target *t)
{
	if (t->paths.bound)
		nue_balance_choose_bound(b, &t->paths, t->trees->place);
	else
		nue_balance_choose_free(b, &t->paths);
}

static void nue_balance_sum_up(struct balancer *b, const struct nue_escape_paths *w)
{
	memcpy(b->sum, w->ends, w->n * sizeof(*b->sum));
	for (uint32_t p = w->n; p-- > 1;)
		b->sum[w->to[b->taken[p]]] += b->sum[p];
}

static void nue_balance_add_loads(struct balancer *b, const struct nue_escape_paths *w)
{
	memcpy(b->sum, w->ends, w->n * sizeof(*b->sum));
	for (uint32_t p = w->n; p-- > 1;) {
		uint32_t e = b->taken[p];

		b->sum[w->to[e]] += b->sum[p];
		b->load[w->chan[e]] += (uint64_t)b->sum[p] * chan_weight(b->weights, w->chan[e]);
	}
}

static void nue_balance_write_lid(struct balancer *b, const struct nue_escape_paths *w,
				  uint16_t lid, uint8_t own)
{
	const struct fabric *f = b->f;
	uint8_t *port = b->port + (size_t)b->nlid * f->nsw;

	port[w->sw[0]] = own;
	for (uint32_t p = 1; p < w->n; p++)
		port[w->sw[p]] = w->port[b->taken[p]];
	b->lid[b->nlid++] = lid;
	if (b->nlid == BATCH)
		nue_balance_flush(b);
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

static void nue_balance_route_lid(struct balancer *b, struct target *t, uint32_t r)
{
	uint32_t end = nue_balance_target_end(b, t, r);

	nue_balance_choose(b, t);
	if (end < b->f->nterm)
		nue_balance_add_loads(b, &t->paths);
	nue_balance_write_lid(b, &t->paths, nue_balance_target_lid(b, t, r), b->f->term_port[end]);
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
	nue_balance_choose(b, t);
	nue_balance_add_loads(b, w);
	if (nue_balance_fullest(b, w) < was) {
		nue_balance_write_lid(b, w, lid, b->f->term_port[nue_balance_target_end(b, t, r)]);
		b->vain = 0;
		return;
	}
	b->vain++;
	nue_balance_take_loads_away(b, w);
	nue_balance_swap_taken(b);
	nue_balance_add_loads(b, w);
}

static uint32_t nue_balance_target_lids(const struct balancer *b, const struct target *t)
{
	uint32_t u = t->sw;

	return (b->f->term_off[u + 1] - b->f->term_off[u]) << b->lmc;
}

static bool nue_balance_tick(struct balancer *b, const struct target *t, uint32_t lids,
			     uint64_t more)
{
	uint64_t work = lids * (2ull * t->paths.nedge + t->paths.n) + more;

	b->done += lids;
	b->work += work;
	return pace_tick(&b->pace, b->done, work);
}

/* The first time all LIDs are due, later those that are too full, until many in a row have nowhere
 * to go. */
static bool nue_balance_is_due(const struct balancer *b, const struct target *t, uint32_t r)
{
	return !b->again || (b->vain < VAIN && b->full[nue_balance_target_lid(b, t, r)]);
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

/* The first LID of a switch that is due, or how many it has. */
static uint32_t nue_balance_first_due(const struct balancer *b, const struct target *t)
{
	uint32_t lids = nue_balance_target_lids(b, t), r = 0;

	while (r < lids && !nue_balance_is_due(b, t, r))
		r++;
	return r;
}

static bool nue_balance_make_ahead(void *ctx, unsigned worker, uint32_t i)
{
	struct balancer *b = ctx;
	struct target *t = b->ahead[i];

	if (!b->maker[worker])
		b->maker[worker] = nue_escape_paths_maker_new(b->f);
	nue_escape_paths_make(&t->paths, b->maker[worker], t->trees, t->i, b->parallel);
	return false;
}

/* One whose paths are made; it may have LIDs no more that are due. */
static bool nue_balance_one_switch(struct balancer *b, struct target *t)
{
	uint32_t lids = nue_balance_target_lids(b, t), r = nue_balance_first_due(b, t);
	bool stop = false;

	if (r < lids) {
		stop = nue_balance_tick(b, t, 0, b->f->nchan);
		nue_balance_find_segments(b, t, lids);
	}
	for (; r < lids && !stop; r++)
		stop = nue_balance_one_lid(b, t, r);
	b->in = NULL;
	return stop;
}

static int nue_balance_by_switch(struct balancer *b, struct target *t, uint32_t n)
{
	bool stop = false;

	for (uint32_t i = 0; i < n && !stop;) {
		for (b->nahead = 0; i < n && b->nahead < AHEAD; i++)
			if (nue_balance_first_due(b, &t[i]) < nue_balance_target_lids(b, &t[i]))
				b->ahead[b->nahead++] = &t[i];
		pool_for(b->pool, b->nahead, nue_balance_make_ahead, b);
		for (uint32_t k = 0; k < b->nahead; k++) {
			stop = stop || nue_balance_one_switch(b, b->ahead[k]);
			nue_escape_paths_done(&b->ahead[k]->paths);
		}
	}
	return stop ? -ECANCELED : 0;
}

static int nue_balance_by_round(struct balancer *b, struct target *t, uint32_t n)
{
	bool more = true, stop = false;

	for (uint32_t r = 0; more && !stop; r++) {
		more = false;
		for (uint32_t i = 0; i < n && !stop; i++) {
			if (r >= nue_balance_target_lids(b, &t[i]))
				continue;
			more = true;
			stop = nue_balance_one_lid(b, &t[i], r);
		}
	}
	return stop ? -ECANCELED : 0;
}

/* Keeps the paths of all switches; -ENOMEM when they are too many. */
static int nue_balance_make_paths(struct balancer *b, struct target *t, uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!nue_balance_target_lids(b, &t[i]))
			continue;
		b->ahead[0] = &t[i];
		nue_balance_make_ahead(b, 0, 0);
		bytes += nue_escape_paths_bytes(&t[i].paths);
		if (bytes > PATHS_BYTES)
			return -ENOMEM;
		if (nue_balance_tick(b, &t[i], 0, b->f->nchan))
			return -ECANCELED;
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

static int nue_balance_route_targets(struct balancer *b, struct target *t, uint32_t n, bool rounds)
{
	int rc = rounds ? nue_balance_make_paths(b, t, n) : -ENOMEM;
	uint64_t max = 0, last;
	bool more;

	if (rc == -ENOMEM) {
		nue_balance_drop_paths(t, n);
		rounds = false;
		rc = 0;
	}
	do {
		last = max;
		if (!rc)
			rc = rounds ? nue_balance_by_round(b, t, n)
				    : nue_balance_by_switch(b, t, n);
		nue_balance_flush(b);
		max = nue_balance_load_max(b);
		more = !rc && b->again++ < AGAIN && nue_balance_is_uneven(b, max, last);
		if (more)
			nue_balance_mark_full(b, max - max / 50);
		b->vain = 0;
	} while (more);
	nue_balance_drop_paths(t, n);
	return rc;
}

#define TELL_SWITCHES 128 /* between two reports of progress */

/* A switch is reached like the first LID there, which needs no turn of its own; a switch
 * without ends by its tree. */
static int nue_balance_route_switches(struct balancer *b, const struct target *t, uint32_t n)
{
	const struct fabric *f = b->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint8_t *row = tables_row(b->t, u);

		if (u % TELL_SWITCHES == 0 && pace_work(&b->pace, b->pace.work_max))
			return -ECANCELED;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t dst = t[i].sw, end = f->term_off[dst];

			if (u == dst)
				row[f->sw_lid[dst]] = 0;
			else if (end < f->term_off[dst + 1])
				row[f->sw_lid[dst]] = row[f->term_lid[f->term_list[end]]];
			else
				row[f->sw_lid[dst]] =
					f->chan_port[nue_trees_next(t[i].trees, f, t[i].i, u)];
		}
	}
	return 0;
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

	*b = (struct balancer){ .mem = arena_new(), .f = f, .t = t, .weights = &net->weights };
	b->pool = pool;
	b->maker = arena_alloc(b->mem, pool_threads(pool), sizeof(*b->maker));
	b->segment = arena_alloc(b->mem, f->nsw, sizeof(*b->segment));
	b->load = xcalloc(f->nchan, sizeof(*b->load));
	chan_weights_start(b->load, b->weights, f);
	b->cost = arena_alloc(b->mem, f->nsw, sizeof(*b->cost));
	b->top = arena_alloc(b->mem, f->nsw, sizeof(*b->top));
	b->taken = arena_alloc(b->mem, f->nsw, sizeof(*b->taken));
	b->before = arena_alloc(b->mem, f->nsw, sizeof(*b->before));
	b->sum = arena_alloc(b->mem, f->nsw, sizeof(*b->sum));
	b->full = arena_alloc(b->mem, f->max_lid + 1u, sizeof(*b->full));
	b->port = arena_alloc(b->mem, (size_t)f->nsw * BATCH, 1);
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
	b.parallel = layer->net->parallel;
	rc = pace_begin(&b.pace, progress, "paths", (uint64_t)f->nend << lmc) ? -ECANCELED : 0;
	if (!rc)
		rc = nue_balance_route_targets(&b, target, f->nsw, by_rounds);
	if (!rc)
		rc = nue_balance_route_switches(&b, target, f->nsw);
	*out = (struct nue_load){ .chan = b.load, .max = nue_balance_load_max(&b), .work = b.work };
	for (unsigned w = 0; w < pool_threads(pool); w++)
		nue_escape_paths_maker_free(b.maker[w]);
	arena_free(b.mem);
	free(target);
	return rc;
}

void nue_load_done(struct nue_load *l)
{
	free(l->chan);
	l->chan = NULL;
}
