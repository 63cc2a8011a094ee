/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/write_judge.h"

#include "engines/verify/verify.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define VLS    16
#define NEVER  UINT32_MAX
#define ALWAYS 0u

/* Which of old and new there is at a time: old up to turn, new from turn on.  The special turns:
 * ALWAYS new, NEVER (old); both when any is set. */
struct world {
	const struct fabric *f;
	const struct tables *t[2];
	uint32_t *turn;	      /* by switch * stride + lid */
	uint32_t *sl2vl_turn; /* by switch */
	bool any;	      /* turns other than ALWAYS and NEVER mean old or new at any time */
	bool *drained;	      /* by LID */
	bool *lossy;	      /* by LID: old or new tables alone lose some of its packets */
	uint32_t n;	      /* vertices: channel * VLS + VL */
	uint8_t *was;	      /* edges of the old tables, [from * n + to] where n is small */
};

/* ---- dependencies ---- */

/* Time at which a packet that is there from time on can meet version k; NEVER: it cannot. */
static uint32_t meets(const struct world *w, uint32_t turn, int k, uint32_t time)
{
	if (turn == ALWAYS || turn == NEVER)
		return (k == 1) == (turn == ALWAYS) ? time : NEVER;
	if (w->any)
		return time;
	if (k == 0)
		return time < turn ? time : NEVER;
	return time > turn ? time : turn;
}

struct flight {
	uint32_t chan, time;
	uint8_t sl, vl;
};

struct flood {
	const struct world *w;
	uint32_t lid;
	uint8_t *edges;
	uint32_t *seen; /* [(chan * VLS + sl) * VLS + vl]: earliest time + 1 */
	struct flight *stack;
	size_t n, cap;
	bool lost; /* some packet may be dropped for its VL */
};

/* VL that the link on that port makes of vl: as OpenSM cuts tables off, modulo OperVLs; VLS when
 * the packet is dropped. */
static uint8_t vl_on_link(struct flood *fl, uint32_t sw, uint8_t out, uint8_t vl)
{
	const struct fabric *f = fl->w->f;
	const struct port *p = fabric_port(f, sw, out);
	uint8_t has = p->op_vls ? p->op_vls : 15;

	if (p->chan != FAB_NONE) {
		const struct port *q = fabric_port(f, f->chan_dst[p->chan], f->chan_rport[p->chan]);

		has = q->op_vls && q->op_vls < has ? q->op_vls : has;
	}
	fl->lost |= vl >= has;
	return vl >= 15 ? VLS : vl % has;
}

static void push(struct flood *fl, struct flight p)
{
	uint32_t *seen = &fl->seen[(p.chan * VLS + p.sl) * VLS + p.vl];

	if (*seen && *seen <= p.time + 1)
		return;
	*seen = p.time + 1;
	if (fl->n == fl->cap) {
		fl->cap = fl->cap ? 2 * fl->cap : 64;
		fl->stack = xrealloc(fl->stack, fl->cap, sizeof(*fl->stack));
	}
	fl->stack[fl->n++] = p;
}

/* A packet is on sw, came in by port in at that time; from: the vertex it holds, or NEVER. */
static void forward(struct flood *fl, uint32_t sw, uint8_t in, uint8_t sl, uint32_t time,
		    uint32_t from)
{
	const struct world *w = fl->w;
	uint32_t stride = w->t[0]->stride;

	for (int k = 0; k < 2; k++) {
		uint32_t at = meets(w, w->turn[sw * stride + fl->lid], k, time), c;
		uint8_t out = tables_row(w->t[k], sw)[fl->lid], dport = 0;

		c = fabric_chan(w->f, sw, out);
		bool here = fabric_lid_switch(w->f, fl->lid, &dport) == sw && dport == out;

		if (at == NEVER || (here ? !out || in == out : c == FAB_NONE))
			continue;
		for (int j = 0; j < 2; j++) {
			uint32_t then = meets(w, w->sl2vl_turn[sw], j, at);
			uint8_t vl = tables_vl(w->t[j], w->f, sw, in, out, sl);

			vl = then == NEVER ? VLS : vl_on_link(fl, sw, out, vl);
			if (vl == VLS || here)
				continue;
			if (from != NEVER)
				fl->edges[(size_t)from * w->n + c * VLS + vl] = 1;
			push(fl, (struct flight){ c, then, sl, vl });
		}
	}
}

/* sls: bit 0 old, bit 1 new ones. */
static void flood(struct flood *fl, uint32_t lid, uint32_t sls)
{
	const struct world *w = fl->w;
	const struct fabric *f = w->f;

	fl->lid = lid;
	memset(fl->seen, 0, (size_t)f->nchan * VLS * VLS * sizeof(*fl->seen));
	for (uint32_t end = 0; end < f->nend; end++)
		for (int k = 0; k < 2; k++)
			if (sls >> k & 1)
				forward(fl, f->term_sw[end], f->term_port[end],
					tables_path_sl(w->t[k], end, f->term_sw[end], lid), 0,
					NEVER);
	while (fl->n) {
		struct flight p = fl->stack[--fl->n];

		forward(fl, f->chan_dst[p.chan], f->chan_rport[p.chan], p.sl, p.time,
			p.chan * VLS + p.vl);
	}
}

static void flood_begin(struct flood *fl, const struct world *w, uint8_t *edges)
{
	*fl = (struct flood){ .w = w, .edges = edges };
	fl->seen = xcalloc((size_t)w->f->nchan * VLS * VLS, sizeof(*fl->seen));
}

static void flood_end(struct flood *fl)
{
	free(fl->seen);
	free(fl->stack);
}

/* ---- cycles ---- */

/* Takes away what has nothing before or nothing behind, again and again; how many are left. */
static uint32_t peel(const uint8_t *edges, uint32_t n, uint32_t *left)
{
	uint32_t *out = xcalloc(n, sizeof(*out)), *in = xcalloc(n, sizeof(*in)), k = 0, before;
	bool *gone = xcalloc(n, sizeof(*gone));

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			out[i] += edges[(size_t)i * n + j];
			in[j] += edges[(size_t)i * n + j];
		}
	do {
		before = k;
		for (uint32_t i = 0; i < n; i++) {
			if (gone[i] || (out[i] && in[i]))
				continue;
			gone[i] = true;
			k++;
			for (uint32_t j = 0; j < n && (out[i] || in[i]); j++) {
				in[j] -= edges[(size_t)i * n + j] && !gone[j] ? 1 : 0;
				out[j] -= edges[(size_t)j * n + i] && !gone[j] ? 1 : 0;
			}
		}
	} while (k != before);
	k = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!gone[i])
			left[k++] = i;
	free(out);
	free(in);
	free(gone);
	return k;
}

/* Is some dependency that the old tables did not have on a cycle? */
static bool bad_cycle(const uint8_t *edges, const uint8_t *was, uint32_t n)
{
	uint32_t *v = xcalloc(n, sizeof(*v)), k = peel(edges, n, v);
	uint8_t *reach = xcalloc(k, k);
	bool bad = false;

	for (uint32_t i = 0; i < k; i++)
		for (uint32_t j = 0; j < k; j++)
			reach[i * k + j] = edges[(size_t)v[i] * n + v[j]];
	for (uint32_t m = 0; m < k; m++)
		for (uint32_t i = 0; i < k; i++)
			for (uint32_t j = 0; reach[i * k + m] && j < k; j++)
				reach[i * k + j] |= reach[m * k + j];
	for (uint32_t i = 0; i < k; i++)
		for (uint32_t j = 0; j < k; j++)
			bad |= edges[(size_t)v[i] * n + v[j]] && reach[j * k + i] &&
			       !(was && was[(size_t)v[i] * n + v[j]]);
	free(v);
	free(reach);
	return bad;
}

/* Only the vertices in use, so that small matrices are looked at. */
static uint32_t pack(uint8_t **edges, uint8_t **was, const uint8_t *e, const uint8_t *o, uint32_t n)
{
	uint32_t *v = xcalloc(n, sizeof(*v)), k = 0;
	bool *used = xcalloc(n, sizeof(*used));

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *row = e + (size_t)i * n, *at = row;

		while ((at = memchr(at, 1, (size_t)(row + n - at)))) {
			used[i] = used[at - row] = true;
			at++;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		if (used[i])
			v[k++] = i;
	*edges = xcalloc((size_t)k * k, 1);
	*was = xcalloc((size_t)k * k, 1);
	for (uint32_t i = 0; i < k; i++)
		for (uint32_t j = 0; j < k; j++) {
			(*edges)[i * k + j] = e[(size_t)v[i] * n + v[j]];
			(*was)[i * k + j] = o ? o[(size_t)v[i] * n + v[j]] : 0;
		}
	free(v);
	free(used);
	return k;
}

static bool closes_cycle(const struct world *w, const uint8_t *edges)
{
	uint8_t *e, *was;
	uint32_t k = pack(&e, &was, edges, w->was, w->n);
	bool bad = bad_cycle(e, was, k);

	free(e);
	free(was);
	return bad;
}

/* ---- loops ---- */

/* All LIDs that a block holds, from every switch, in the tables as they are at time. */
static bool loops_now(const struct world *w, uint32_t block, uint32_t time)
{
	const struct fabric *f = w->f;
	uint32_t stride = w->t[0]->stride;

	for (uint32_t lid = block * LFT_BLOCK; lid < (block + 1) * LFT_BLOCK; lid++)
		for (uint32_t from = 0; from < f->nsw && lid <= f->max_lid; from++) {
			uint32_t sw = from, hops = 0, c;
			uint8_t dport = 0;

			if (w->drained[lid] || f->lid_end[lid] == FAB_NONE)
				continue;
			do {
				uint32_t turn = w->turn[sw * stride + lid];
				int k = turn == ALWAYS || (turn != NEVER && time >= turn);
				uint8_t out = tables_row(w->t[k], sw)[lid];

				if (fabric_lid_switch(f, lid, &dport) == sw && dport == out)
					break;
				c = fabric_chan(f, sw, out);
				sw = c == FAB_NONE ? sw : f->chan_dst[c];
			} while (c != FAB_NONE && ++hops <= f->nsw);
			if (hops > f->nsw)
				return true;
		}
	return false;
}

/* Any way round in the hops that one LID may take in this wave? */
static bool may_loop(const struct world *w, uint32_t lid)
{
	const struct fabric *f = w->f;
	uint32_t stride = w->t[0]->stride, n = f->nsw, left;
	uint8_t *edge = xcalloc((size_t)n * n, 1), dport = 0;
	uint32_t *v = xcalloc(n, sizeof(*v));

	for (uint32_t sw = 0; sw < n; sw++)
		for (int k = 0; k < 2; k++) {
			uint32_t turn = w->turn[sw * stride + lid], c;
			uint8_t out = tables_row(w->t[k], sw)[lid];

			c = fabric_chan(f, sw, out);
			if (meets(w, turn, k, 1) == NEVER || c == FAB_NONE ||
			    (fabric_lid_switch(f, lid, &dport) == sw && dport == out))
				continue;
			edge[sw * n + f->chan_dst[c]] = 1;
		}
	left = peel(edge, n, v);
	free(edge);
	free(v);
	return left > 0;
}

/* ---- a wave ---- */

struct play {
	struct world w;
	const struct transition *t;
	const struct tables *old, *new;
	uint32_t first, end; /* writes of the wave */
	bool sl2vl;	     /* the SL2VL tables are written in it */
	uint32_t sls;
	bool lost;	/* packets that neither tables lose */
	uint8_t *fixed; /* dependencies of LIDs that the wave leaves alone */
	bool *touched;	/* by LID */
	struct rng rng;
	struct judge_count *count;
};

static void set_turn(struct play *p, const struct transition_write *x, uint32_t turn)
{
	uint32_t stride = p->old->stride;

	for (uint32_t k = 0; k < LFT_BLOCK; k++)
		if (x->now >> k & 1)
			p->w.turn[x->sw * stride + x->block * LFT_BLOCK + k] = turn;
}

static void collect(struct play *p, uint8_t *edges, bool touched)
{
	struct flood fl;

	flood_begin(&fl, &p->w, edges);
	for (uint32_t lid = 1; lid <= p->w.f->max_lid; lid++)
		if (p->w.f->lid_end[lid] != FAB_NONE && !p->w.drained[lid] &&
		    p->touched[lid] == touched) {
			fl.lost = false;
			flood(&fl, lid, p->sls);
			p->lost |= fl.lost && !p->w.lossy[lid];
		}
	flood_end(&fl);
}

static const char *all_orders(struct play *p)
{
	uint8_t *edges = xcalloc((size_t)p->w.n, p->w.n);
	const char *what = NULL;

	p->w.any = true;
	for (uint32_t lid = 1; lid <= p->w.f->max_lid; lid++)
		if (p->touched[lid] && !p->w.drained[lid] && p->w.f->lid_end[lid] != FAB_NONE &&
		    may_loop(&p->w, lid))
			what = "a mixture inside a wave may loop";
	collect(p, edges, true);
	collect(p, edges, false);
	if (closes_cycle(&p->w, edges))
		what = "a mixture inside a wave closes a cycle of dependencies";
	if (p->lost)
		what = "a mixture inside a wave loses packets";
	p->w.any = false;
	free(edges);
	return what;
}

/* The tables as they are after the first n writes of an order, for verify. */
static const char *point_state(struct play *p, uint32_t time)
{
	struct tables *now = tables_new(p->w.f, "mixture");
	uint32_t stride = p->old->stride;
	struct verdict *v;
	const char *what = NULL;

	for (uint32_t sw = 0; sw < p->w.f->nsw; sw++)
		for (uint32_t lid = 0; lid <= p->w.f->max_lid; lid++) {
			uint32_t turn = p->w.turn[sw * stride + lid];
			bool new = turn == ALWAYS || (turn != NEVER && time >= turn);

			tables_row(now, sw)[lid] = tables_row(new ? p->new : p->old, sw)[lid];
		}
	tables_sl_form(now, p->old->sl_kind, p->w.f);
	now->sl_const = p->old->sl_const;
	if (now->sl)
		memcpy(now->sl, p->old->sl,
		       stride * (p->old->sl_kind == SL_BY_DLID	   ? 1
				 : p->old->sl_kind == SL_BY_SWITCH ? p->w.f->nsw
								   : p->w.f->nend));
	if (verify_tables(&v, p->w.f, now, NULL, NULL, NULL))
		what = "verify refuses a mixture";
	else if (!v->loop_free)
		what = "verify finds a loop in a mixture";
	else if (v->connected && !v->deadlock_free && !p->t->old_cyclic)
		what = "verify finds a deadlock in a mixture";
	if (!what || strcmp(what, "verify refuses a mixture") != 0)
		verdict_free(v);
	tables_put(now);
	p->count->verified++;
	return what;
}

static bool plain(const struct play *p)
{
	return p->old->sl2vl_kind == SL2VL_IDENTITY && p->new->sl2vl_kind == SL2VL_IDENTITY &&
	       !p->t->ndrain;
}

static const char *one_order(struct play *p, uint32_t *order, uint32_t n, bool look)
{
	uint32_t nlft = p->end - p->first;
	uint8_t *edges;
	const char *what = NULL;

	rng_shuffle_u32(&p->rng, order, n);
	for (uint32_t i = 0; i < n; i++) {
		if (order[i] < nlft)
			set_turn(p, &p->t->writes[p->first + order[i]], i + 1);
		else
			p->w.sl2vl_turn[order[i] - nlft] = i + 1;
	}
	for (uint32_t i = 0; i < n && !what; i++) {
		p->count->states++;
		if (order[i] < nlft &&
		    loops_now(&p->w, p->t->writes[p->first + order[i]].block, i + 1))
			what = "a packet loops";
	}
	edges = xcalloc((size_t)p->w.n, p->w.n);
	memcpy(edges, p->fixed, (size_t)p->w.n * p->w.n);
	collect(p, edges, true);
	if (!what && closes_cycle(&p->w, edges))
		what = "packets of one order close a cycle";
	if (!what && look && plain(p))
		what = point_state(p, (uint32_t)rng_below(&p->rng, n + 1));
	free(edges);
	p->count->orders++;
	return what;
}

static const char *play_wave(struct play *p, uint32_t orders)
{
	uint32_t nlft = p->end - p->first, n = nlft + (p->sl2vl ? p->w.f->nsw : 0);
	uint32_t *order = xcalloc(n, sizeof(*order));
	const char *what;

	memset(p->touched, p->sl2vl, p->w.f->max_lid + 1u);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = p->first; i < p->end; i++) {
		set_turn(p, &p->t->writes[i], 1);
		for (uint32_t k = 0; k < LFT_BLOCK; k++)
			if (p->t->writes[i].now >> k & 1)
				p->touched[p->t->writes[i].block * LFT_BLOCK + k] = true;
	}
	for (uint32_t sw = 0; p->sl2vl && sw < p->w.f->nsw; sw++)
		p->w.sl2vl_turn[sw] = 1;
	what = all_orders(p);
	memset(p->fixed, 0, (size_t)p->w.n * p->w.n);
	collect(p, p->fixed, false);
	for (uint32_t i = 0; i < orders && n && !what; i++)
		what = one_order(p, order, n, i < 4);
	for (uint32_t i = p->first; i < p->end; i++)
		set_turn(p, &p->t->writes[i], ALWAYS);
	for (uint32_t sw = 0; p->sl2vl && sw < p->w.f->nsw; sw++)
		p->w.sl2vl_turn[sw] = ALWAYS;
	p->count->waves++;
	free(order);
	return what;
}

/* After the last wave: all entries new, old SLs for as long as hosts like, the drained back. */
static const char *the_end(struct play *p)
{
	const struct fabric *f = p->w.f;
	uint8_t *edges = xcalloc((size_t)p->w.n, p->w.n);
	const char *what = NULL;
	struct flood fl;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t lid = 0; lid <= f->max_lid; lid++)
			if (tables_row(p->old, sw)[lid] != tables_row(p->new, sw)[lid] &&
			    p->w.turn[sw * p->old->stride + lid] != ALWAYS)
				what = "an entry is never written";
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		p->w.sl2vl_turn[sw] = ALWAYS;
	flood_begin(&fl, &p->w, edges);
	for (uint32_t lid = 1; lid <= f->max_lid && !what; lid++) {
		if (f->lid_end[lid] == FAB_NONE)
			continue;
		fl.lost = false;
		flood(&fl, lid, p->w.drained[lid] ? 2 : 3);
		if (fl.lost && !p->w.lossy[lid])
			what = "packets are lost in the end";
	}
	flood_end(&fl);
	if (!what && closes_cycle(&p->w, edges))
		what = "old SLs close a cycle in the end";
	free(edges);
	return what;
}

static void world_init(struct world *w, const struct fabric *f, const struct tables *old,
		       const struct tables *new)
{
	*w = (struct world){ .f = f, .t = { old, new }, .n = f->nchan * VLS };
	w->turn = xcalloc((size_t)f->nsw * old->stride, sizeof(*w->turn));
	memset(w->turn, 0xff, (size_t)f->nsw * old->stride * sizeof(*w->turn));
	w->sl2vl_turn = xcalloc(f->nsw, sizeof(*w->sl2vl_turn));
	memset(w->sl2vl_turn, 0xff, f->nsw * sizeof(*w->sl2vl_turn));
	w->drained = xcalloc((size_t)old->stride, sizeof(*w->drained));
	w->lossy = xcalloc((size_t)old->stride, sizeof(*w->lossy));
}

static void world_done(struct world *w)
{
	free(w->turn);
	free(w->sl2vl_turn);
	free(w->drained);
	free(w->lossy);
	free(w->was);
}

/* Which LIDs lose packets where all is old, or all new. */
static void look_for_losses(struct world *w, uint32_t turn, uint32_t sls)
{
	uint8_t *edges = xcalloc((size_t)w->n, w->n);
	struct flood fl;

	for (uint32_t i = 0; i < w->f->nsw * w->t[0]->stride; i++)
		w->turn[i] = turn;
	for (uint32_t sw = 0; sw < w->f->nsw; sw++)
		w->sl2vl_turn[sw] = turn;
	flood_begin(&fl, w, edges);
	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++) {
		fl.lost = false;
		if (w->f->lid_end[lid] != FAB_NONE)
			flood(&fl, lid, sls);
		w->lossy[lid] |= fl.lost;
	}
	flood_end(&fl);
	free(edges);
}

static void remember_old(struct world *w)
{
	struct flood fl;

	w->was = xcalloc((size_t)w->n, w->n);
	flood_begin(&fl, w, w->was);
	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++)
		if (w->f->lid_end[lid] != FAB_NONE && !w->drained[lid])
			flood(&fl, lid, 1);
	flood_end(&fl);
}

const char *judge_transition(const struct fabric *f, const struct tables *old,
			     const struct tables *new, const struct transition *t, bool sl_any,
			     uint32_t orders, uint64_t seed, struct judge_count *count)
{
	struct play p = { .t = t, .old = old, .new = new, .count = count };
	const char *what = NULL;

	world_init(&p.w, f, old, new);
	for (uint32_t i = 0; i < t->ndrain; i++)
		p.w.drained[t->drain[i].lid] = true;
	look_for_losses(&p.w, ALWAYS, 2);
	look_for_losses(&p.w, NEVER, 1);
	remember_old(&p.w);
	p.sls = sl_any ? 3 : 1;
	p.fixed = xcalloc((size_t)p.w.n, p.w.n);
	p.touched = xcalloc(old->stride, sizeof(*p.touched));
	rng_seed(&p.rng, seed);
	for (uint32_t wave = 0; wave < t->nwaves && !what; wave++) {
		p.first = p.end;
		while (p.end < t->nwrites && t->writes[p.end].wave == wave)
			p.end++;
		p.sl2vl = wave == t->sl2vl_wave;
		what = play_wave(&p, orders);
	}
	if (!what)
		what = the_end(&p);
	free(p.fixed);
	free(p.touched);
	world_done(&p.w);
	return what;
}

/* ---- every order of single writes ---- */

struct one {
	uint32_t sw, lid;
};

static bool step_holds(struct world *w, const struct one *v, uint32_t n, uint32_t state, uint32_t k)
{
	uint8_t *edges = xcalloc((size_t)w->n, w->n);
	struct flood fl;
	bool ok;

	for (uint32_t i = 0; i < n; i++)
		w->turn[v[i].sw * w->t[0]->stride + v[i].lid] = i == k		 ? 1
								: state >> i & 1 ? ALWAYS
										 : NEVER;
	w->any = true;
	ok = !may_loop(w, v[k].lid);
	flood_begin(&fl, w, edges);
	for (uint32_t lid = 1; ok && lid <= w->f->max_lid; lid++)
		if (w->f->lid_end[lid] != FAB_NONE && !w->drained[lid])
			flood(&fl, lid, 1);
	flood_end(&fl);
	ok = ok && !closes_cycle(w, edges);
	free(edges);
	return ok;
}

bool judge_any_order(const struct fabric *f, const struct tables *old, const struct tables *new,
		     const bool *drained)
{
	struct world w;
	struct one v[16];
	uint32_t n = 0;
	bool *reached, all;

	world_init(&w, f, old, new);
	memcpy(w.drained, drained, (f->max_lid + 1u) * sizeof(*drained));
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			if (f->lid_end[lid] != FAB_NONE && !drained[lid] && n < 16 &&
			    tables_row(old, sw)[lid] != tables_row(new, sw)[lid])
				v[n++] = (struct one){ sw, lid };
	reached = xcalloc((size_t)1 << n, sizeof(*reached));
	reached[0] = true;
	for (uint32_t state = 0; state < 1u << n; state++)
		for (uint32_t k = 0; k < n && reached[state]; k++)
			if (!(state >> k & 1) && !reached[state | 1u << k])
				reached[state | 1u << k] = step_holds(&w, v, n, state, k);
	all = reached[(1u << n) - 1];
	free(reached);
	world_done(&w);
	return all;
}
