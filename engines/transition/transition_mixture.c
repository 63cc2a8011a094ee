/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/transition/transition_mixture.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <stdlib.h>
#include <string.h>

#define DATA_VLS 15
#define ALL_VLS	 0x7fffu
#define DROPPED	 0x8000u /* among VLs: the packet gets none */
#define TILE	 16	 /* switches of which a block is turned at a time */

struct mixture_flow {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct turns *turns;
	const struct tables *t[2]; /* old, new */
	struct pace *pace;
	uint32_t nvl;
	bool sl2vl_changes;

	bool full;			 /* SL2VL: look into the tables' rows */
	bool by_end;			 /* ends of one switch differ in SL or SL2VL */
	uint16_t kind_vl[2][2][FAB_SLS]; /* unless full: [table][input is a switch][SL] */
	uint16_t *carries;		 /* by port of a switch: VLs that its link has */

	/* by age of the SL2VL tables: an SL has one VL everywhere, which every link has */
	bool plain[AGE_BOTH + 1];
	uint16_t vl_of[AGE_BOTH + 1][FAB_SLS]; /* where plain: its bit */

	uint32_t *chan_of; /* by port: as fabric_chan(), but close together */
	uint32_t block;	   /* that is loaded */
	uint8_t *port;	   /* [(table * LFT_BLOCK + lid % LFT_BLOCK) * nsw + switch] */
	uint16_t *sent;	   /* the same: SLs that its ends use */

	uint32_t lid, dsw;
	uint8_t dport;
	uint32_t *hop; /* [switch * 2 + table]: channel or FAB_NONE */
	bool has_hops[2];
	bool lft_changes;
	bool loses; /* the last run */

	uint32_t *slot; /* [switch * 2 + i]: channels of the run, FAB_NONE beyond */
	uint32_t *to;	/* the switches where they lead */
	uint32_t *degree, *order;
	uint8_t chosen;		 /* age of all entries of which slot and order are; 0: of no such */
	bool ordered;		 /* what mixture_order_hops() said of them */
	uint16_t (*vl)[FAB_SLS]; /* by slot and SL: VLs */
	uint16_t *sls;		 /* by slot: SLs with something in vl */
	VEC(struct tdep) dep;
	uint64_t work;
};

/* ---- set-up ---- */

static bool mixture_rows_alike(const struct fabric *f, const struct tables *t, uint32_t sw)
{
	uint32_t first = f->term_off[sw], end = f->term_off[sw + 1];

	for (uint32_t i = first; i < end; i++)
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
			uint32_t a = f->term_port[f->term_list[first]];
			uint32_t b = f->term_port[f->term_list[i]], out = f->chan_port[c];

			if (memcmp(tables_sl2vl_row(t, sw, a, out), tables_sl2vl_row(t, sw, b, out),
				   FAB_SLS))
				return false;
		}
	return true;
}

static bool mixture_ends_differ(const struct fabric *f, const struct tables *t, struct pace *pace)
{
	if (t->sl_kind == SL_BY_TERM)
		return true;
	for (uint32_t sw = 0; t->sl2vl_kind == SL2VL_FULL && sw < f->nsw; sw++)
		if (!mixture_rows_alike(f, t, sw) ||
		    pace_work(pace, 4ull * f->sw_nterm[sw] * f->sw_nports[sw]))
			return true;
	return false;
}

/* SLs that paths have. */
static uint32_t mixture_sls_in_use(const struct fabric *f, const struct tables *t,
				   struct pace *pace)
{
	uint32_t mask = 0;

	if (t->sl_kind != SL_BY_TERM && t->sl_kind != SL_BY_SWITCH)
		return tables_sl_mask(t, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		mask |= tables_sl_mask_at(t, f, sw);
		if (pace_work(pace,
			      t->max_lid * (t->sl_kind == SL_BY_TERM ? 1ull + f->sw_nterm[sw] : 1)))
			break;
	}
	return mask;
}

static uint16_t mixture_vl_bit(uint8_t vl)
{
	return vl < DATA_VLS ? (uint16_t)(1u << vl) : DROPPED;
}

static uint16_t mixture_vls_of_port(const struct port *p)
{
	return p->op_vls ? (uint16_t)((1u << p->op_vls) - 1) & ALL_VLS : ALL_VLS;
}

/* The smaller of both ends, where OperVLs are known. */
static uint16_t mixture_vls_of_link(const struct fabric *f, const struct port *p)
{
	uint16_t vls = mixture_vls_of_port(p);

	if (p->chan != FAB_NONE)
		vls &= mixture_vls_of_port(
			fabric_port(f, f->chan_dst[p->chan], f->chan_rport[p->chan]));
	return vls;
}

/* What an output port makes of VLs: one that the link does not have is lost, or folds onto
 * another where OpenSM cuts the table off. */
static uint16_t mixture_carried(struct mixture_flow *x, size_t port, uint16_t vls)
{
	uint16_t has = x->carries[port], kept = vls & has;
	uint32_t beyond = vls & ALL_VLS & ~(uint32_t)has;

	if (vls == kept)
		return vls;
	x->loses = true;
	for (; beyond; beyond &= beyond - 1)
		kept |= (uint16_t)(1u << __builtin_ctz(beyond) % __builtin_popcount(has));
	return kept;
}

/* SLs that no path has do not matter. */
static void mixture_load_kinds(struct mixture_flow *x, int k, uint32_t sls)
{
	const struct tables *t = x->t[k];

	for (uint32_t kind = 0; kind < 2; kind++)
		for (uint8_t sl = 0; sl < FAB_SLS; sl++)
			if (sls >> sl & 1)
				x->kind_vl[k][kind][sl] = mixture_vl_bit(
					t->sl2vl_kind == SL2VL_IDENTITY
						? sl
						: t->sl2vl[(kind + 1) * FAB_SLS + sl]);
}

/* VLs that a table can give from one port of a switch to another, and whether they change. */
static uint32_t mixture_look_at_row(struct mixture_flow *x, uint32_t sw, uint8_t in, uint8_t out,
				    uint32_t sls)
{
	uint32_t vls = 0;

	for (; sls; sls &= sls - 1) {
		uint8_t sl = (uint8_t)__builtin_ctz(sls);
		uint8_t a = tables_vl(x->t[0], x->f, sw, in, out, sl);
		uint8_t b = tables_vl(x->t[1], x->f, sw, in, out, sl);

		vls |= (uint32_t)mixture_vl_bit(a) | mixture_vl_bit(b);
		x->sl2vl_changes |= a != b;
	}
	return vls;
}

/* Highest VL on channels that a table can give, and whether the two tables differ on one. */
static void mixture_look_at_sl2vl(struct mixture_flow *x, uint32_t sls)
{
	const struct fabric *f = x->f;
	uint32_t vls = 1;

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t sw = f->chan_src[c];

		for (uint32_t in = 1; in <= f->sw_nports[sw]; in++) {
			const struct port *p = fabric_port(f, sw, (uint8_t)in);

			if (p->chan != FAB_NONE || p->term != FAB_NONE)
				vls |= mixture_look_at_row(x, sw, (uint8_t)in, f->chan_port[c],
							   sls);
		}
		if (pace_work(x->pace, 4ull * FAB_SLS * f->sw_nports[sw]))
			break;
	}
	x->nvl = 32u - (uint32_t)__builtin_clz(vls & ALL_VLS);
}

static void mixture_size_vls(struct mixture_flow *x, uint32_t sls)
{
	uint32_t vls = 1;

	if (x->full) {
		mixture_look_at_sl2vl(x, sls);
		return;
	}
	x->sl2vl_changes = memcmp(x->kind_vl[0], x->kind_vl[1], sizeof(x->kind_vl[0])) != 0;
	for (uint32_t i = 0; i < 4 * FAB_SLS; i++)
		vls |= (&x->kind_vl[0][0][0])[i];
	x->nvl = 32u - (uint32_t)__builtin_clz(vls & ALL_VLS);
}

/* Does an SL have one VL at that age, whatever the ports are, and every link that VL? */
static void mixture_find_plain(struct mixture_flow *x, unsigned age, uint32_t sls)
{
	uint32_t has = ALL_VLS, vls = 0;

	for (uint32_t i = 0; i < x->f->nport; i++)
		has &= x->carries[i];
	x->plain[age] = !x->full && !x->by_end;
	for (uint32_t m = sls; m; m &= m - 1) {
		uint32_t sl = (uint32_t)__builtin_ctz(m), of[2] = { 0, 0 };

		for (uint32_t k = 0; k < 2; k++)
			for (uint32_t from = 0; from < 2; from++)
				of[from] |= age >> k & 1 ? x->kind_vl[k][from][sl] : 0u;
		x->plain[age] &= of[0] == of[1] && !(of[0] & (of[0] - 1));
		x->vl_of[age][sl] = (uint16_t)of[0];
		vls |= of[0];
	}
	x->plain[age] &= !(vls & ~has);
}

struct mixture_flow *mixture_new(const struct fabric *f, const struct turns *turns,
				 const struct tables *old, const struct tables *new,
				 struct pace *pace)
{
	struct arena *mem = arena_new();
	struct mixture_flow *x = arena_alloc(mem, 1, sizeof(*x));
	uint32_t sls = mixture_sls_in_use(f, old, pace) | mixture_sls_in_use(f, new, pace);

	x->mem = mem;
	x->f = f;
	x->turns = turns;
	x->t[0] = old;
	x->t[1] = new;
	x->pace = pace;
	x->full = old->sl2vl_kind == SL2VL_FULL || new->sl2vl_kind == SL2VL_FULL;
	x->by_end = mixture_ends_differ(f, old, pace) || mixture_ends_differ(f, new, pace);
	for (int k = 0; k < 2 && !x->full; k++)
		mixture_load_kinds(x, k, sls);
	mixture_size_vls(x, sls);
	x->block = FAB_NONE;
	x->chan_of = arena_alloc(mem, f->nport, sizeof(*x->chan_of));
	x->carries = arena_alloc(mem, f->nport, sizeof(*x->carries));
	for (uint32_t i = 0; i < f->nport; i++) {
		x->chan_of[i] = f->port[i].chan;
		x->carries[i] = mixture_vls_of_link(f, &f->port[i]);
	}
	for (unsigned age = AGE_OLD; age <= AGE_BOTH; age++)
		mixture_find_plain(x, age, sls);
	x->port = arena_alloc(mem, 2 * LFT_BLOCK, f->nsw);
	x->sent = arena_alloc(mem, (size_t)2 * LFT_BLOCK * f->nsw, sizeof(*x->sent));
	x->hop = arena_alloc(mem, 2 * (size_t)f->nsw, sizeof(*x->hop));
	x->slot = arena_alloc(mem, 2 * (size_t)f->nsw, sizeof(*x->slot));
	x->to = arena_alloc(mem, 2 * (size_t)f->nsw, sizeof(*x->to));
	x->degree = arena_alloc(mem, f->nsw, sizeof(*x->degree));
	x->order = arena_alloc(mem, f->nsw, sizeof(*x->order));
	x->vl = arena_alloc(mem, 2 * (size_t)f->nsw, sizeof(*x->vl));
	x->sls = arena_alloc(mem, 2 * (size_t)f->nsw, sizeof(*x->sls));
	if (!pace_cancelled(pace))
		return x;
	mixture_free(x);
	return NULL;
}

void mixture_free(struct mixture_flow *x)
{
	if (!x)
		return;
	vec_free(&x->dep);
	arena_free(x->mem);
}

uint32_t mixture_nvl(const struct mixture_flow *x)
{
	return x->nvl;
}

bool mixture_sl2vl_changes(const struct mixture_flow *x)
{
	return x->sl2vl_changes;
}

uint64_t mixture_work(const struct mixture_flow *x)
{
	return x->work;
}

/* ---- one LID ---- */

static uint16_t mixture_sl_bit(uint8_t sl)
{
	return sl < FAB_SLS ? (uint16_t)(1u << sl) : 0;
}

/* Of the ends on one switch, each with its own. */
static uint16_t mixture_sls_of_ends(const struct mixture_flow *x, const struct tables *t,
				    uint32_t sw, uint32_t lid)
{
	const struct fabric *f = x->f;
	uint16_t sls = 0;

	for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++)
		sls |= mixture_sl_bit(tables_path_sl(t, f->term_list[i], sw, lid));
	return sls;
}

/* SLs that the ends on a few switches use for a block's LIDs. */
static void mixture_load_sls(struct mixture_flow *x, int k, uint32_t block, uint32_t first,
			     uint32_t n)
{
	const struct tables *t = x->t[k];
	const uint32_t *off = x->f->term_off + first;
	uint32_t lid = block * LFT_BLOCK;
	uint16_t *to = x->sent + (size_t)k * LFT_BLOCK * x->f->nsw + first;
	uint16_t ends[TILE], one;

	for (uint32_t j = 0; j < n; j++)
		ends[j] = off[j] == off[j + 1] ? 0 : UINT16_MAX;
	for (uint32_t i = 0; i < LFT_BLOCK; i++, lid++, to += x->f->nsw)
		switch (t->sl_kind) {
		case SL_BY_TERM:
			for (uint32_t j = 0; j < n; j++)
				to[j] = mixture_sls_of_ends(x, t, first + j, lid);
			break;
		case SL_BY_SWITCH:
			for (uint32_t j = 0; j < n; j++)
				to[j] = ends[j] &
					mixture_sl_bit(
						t->sl[(first + j) * (size_t)t->stride + lid]);
			break;
		default:
			one = mixture_sl_bit(tables_path_sl(t, 0, 0, lid));
			for (uint32_t j = 0; j < n; j++)
				to[j] = ends[j] & one;
		}
}

/* Where the tile after that is: each row is a miss of the cache. */
static void mixture_fetch_tile(const struct mixture_flow *x, int k, uint32_t block, uint32_t first)
{
	const struct tables *t = x->t[k];

	for (uint32_t sw = first; sw < first + TILE && sw < x->f->nsw; sw++) {
		__builtin_prefetch(tables_row(t, sw) + (size_t)block * LFT_BLOCK);
		if (t->sl_kind == SL_BY_SWITCH)
			__builtin_prefetch(t->sl + (size_t)sw * t->stride + block * LFT_BLOCK);
	}
}

/* In tiles: rows are read and columns written a line of the cache at a time. */
static void mixture_load_block(struct mixture_flow *x, uint32_t block)
{
	uint32_t nsw = x->f->nsw, first = 0, n;

	x->block = block;
	for (; first < nsw; first += n) {
		n = nsw - first < TILE ? nsw - first : TILE;
		for (int k = 0; k < 2; k++) {
			const uint8_t *row[TILE];

			mixture_fetch_tile(x, k, block, first + TILE);
			for (uint32_t j = 0; j < n; j++)
				row[j] = tables_row(x->t[k], first + j) + (size_t)block * LFT_BLOCK;
			for (uint32_t i = 0; i < LFT_BLOCK; i++) {
				uint8_t *to = x->port + ((size_t)k * LFT_BLOCK + i) * nsw + first;

				for (uint32_t j = 0; j < n; j++)
					to[j] = row[j][i];
			}
			mixture_load_sls(x, k, block, first, n);
		}
		pace_work(x->pace, 8ull * LFT_BLOCK * n);
	}
}

/* The channels that one of the tables takes. */
static void mixture_load_hops(struct mixture_flow *x, uint32_t k)
{
	const struct fabric *f = x->f;
	const uint8_t *port = x->port + ((size_t)k * LFT_BLOCK + x->lid % LFT_BLOCK) * f->nsw;
	uint32_t *hop = x->hop + k;

	if (x->has_hops[k])
		return;
	x->has_hops[k] = true;
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		hop[2 * sw] = port[sw] <= f->sw_nports[sw] ? x->chan_of[f->port_off[sw] + port[sw]]
							   : FAB_NONE;
	if (x->dsw != FAB_NONE && port[x->dsw] == x->dport)
		hop[2 * x->dsw] = FAB_NONE;
}

void mixture_load(struct mixture_flow *x, uint32_t lid)
{
	const struct fabric *f = x->f;
	const uint8_t *old;

	x->work += f->nsw; /* also where nothing is left to do: what work limits stays the same */
	if (x->lid == lid)
		return;
	if (x->block != lid / LFT_BLOCK)
		mixture_load_block(x, lid / LFT_BLOCK);
	x->lid = lid;
	x->chosen = 0;
	x->dport = 0;
	x->dsw = fabric_lid_switch(f, lid, &x->dport);
	old = x->port + (size_t)(lid % LFT_BLOCK) * f->nsw;
	x->lft_changes = memcmp(old, old + (size_t)LFT_BLOCK * f->nsw, f->nsw) != 0;
	x->has_hops[0] = x->has_hops[1] = false;
}

static const uint8_t *mixture_port_row(const struct mixture_flow *x, uint32_t k)
{
	return x->port + ((size_t)k * LFT_BLOCK + x->lid % LFT_BLOCK) * x->f->nsw;
}

static const uint16_t *mixture_sent_row(const struct mixture_flow *x, uint32_t k)
{
	return x->sent + ((size_t)k * LFT_BLOCK + x->lid % LFT_BLOCK) * x->f->nsw;
}

bool mixture_lft_changes(const struct mixture_flow *x)
{
	return x->lft_changes;
}

bool mixture_lft_changes_at(const struct mixture_flow *x, uint32_t sw)
{
	return mixture_port_row(x, 0)[sw] != mixture_port_row(x, 1)[sw];
}

bool mixture_sl_changes(const struct mixture_flow *x)
{
	const struct fabric *f = x->f;

	if (x->t[0]->sl_kind != SL_BY_TERM && x->t[1]->sl_kind != SL_BY_TERM)
		return memcmp(mixture_sent_row(x, 0), mixture_sent_row(x, 1),
			      f->nsw * sizeof(uint16_t)) != 0;
	for (uint32_t end = 0; end < f->nend; end++)
		if (tables_path_sl(x->t[0], end, f->term_sw[end], x->lid) !=
		    tables_path_sl(x->t[1], end, f->term_sw[end], x->lid))
			return true;
	return false;
}

/* ---- a run ---- */

static uint16_t mixture_vls_at(struct mixture_flow *x, uint32_t sw, uint32_t in, uint8_t out,
			       uint32_t sl, uint8_t age, bool from_switch)
{
	uint16_t vls = 0;

	for (int k = 0; k < 2; k++) {
		if (!(age >> k & 1))
			continue;
		if (!x->full)
			vls |= x->kind_vl[k][from_switch][sl];
		else if (x->t[k]->sl2vl_kind == SL2VL_FULL)
			vls |= mixture_vl_bit(tables_sl2vl_row(x->t[k], sw, in, out)[sl]);
		else
			vls |= mixture_vl_bit(
				tables_vl(x->t[k], x->f, sw, (uint8_t)in, out, (uint8_t)sl));
	}
	return mixture_carried(x, x->f->port_off[sw] + out, vls);
}

static void mixture_send_from(struct mixture_flow *x, uint32_t s, uint32_t end, uint32_t sls,
			      uint8_t age)
{
	const struct fabric *f = x->f;

	for (uint32_t m = sls; m; m &= m - 1) {
		uint32_t sl = (uint32_t)__builtin_ctz(m);
		uint16_t vls = mixture_vls_at(x, s / 2, f->term_port[end], f->chan_port[x->slot[s]],
					      sl, age, false);

		x->vl[s][sl] |= vls;
		x->sls[s] |= (uint16_t)((vls != 0) << sl);
	}
}

/* SLs that an end, or each end, on a switch may use. */
static uint32_t mixture_sls_sent(const struct mixture_flow *x, uint32_t sw, uint32_t term,
				 uint8_t age)
{
	uint32_t sls = 0;

	for (uint32_t k = 0; k < 2; k++) {
		if (!(age >> k & 1))
			continue;
		sls |= x->by_end ? mixture_sl_bit(tables_path_sl(x->t[k], term, sw, x->lid))
				 : mixture_sent_row(x, k)[sw];
	}
	return sls;
}

/* The ends of a switch that have to be looked at: one, or all where they differ. */
static uint32_t mixture_last_sender(const struct mixture_flow *x, uint32_t sw)
{
	uint32_t i = x->f->term_off[sw], end = x->f->term_off[sw + 1];

	return i < end && !x->by_end ? i + 1 : end;
}

/* What the ends on a switch may put on one of its channels. */
static void mixture_send(struct mixture_flow *x, uint32_t s, const struct ages *a)
{
	const struct fabric *f = x->f;
	uint32_t sw = s / 2, end = mixture_last_sender(x, sw);

	for (uint32_t i = f->term_off[sw]; i < end; i++)
		mixture_send_from(x, s, f->term_list[i],
				  mixture_sls_sent(x, sw, f->term_list[i], a->sl), a->sl2vl);
}

/* What leaves for the LID's own end; only whether it is lost there matters. */
static void mixture_deliver(struct mixture_flow *x, uint32_t in, uint32_t sls, uint8_t age,
			    bool from_switch)
{
	for (; sls && x->dport; sls &= sls - 1)
		mixture_vls_at(x, x->dsw, in, x->dport, (uint32_t)__builtin_ctz(sls), age,
			       from_switch);
}

static void mixture_deliver_near(struct mixture_flow *x, const struct ages *a)
{
	const struct fabric *f = x->f;
	uint32_t end = x->dsw == FAB_NONE ? 0 : mixture_last_sender(x, x->dsw);

	for (uint32_t i = end ? f->term_off[x->dsw] : 0; i < end; i++) {
		uint32_t term = f->term_list[i];

		if (f->term_port[term] != x->dport || !x->by_end)
			mixture_deliver(x, f->term_port[term],
					mixture_sls_sent(x, x->dsw, term, a->sl), a->sl2vl, false);
	}
}

/* What comes over slot s turns onto slot o of the switch where s leads. */
static void mixture_turn(struct mixture_flow *x, uint32_t s, uint32_t o, const struct ages *a)
{
	uint32_t c = x->slot[s], e = x->slot[o], nvl = x->nvl, before = 0;
	uint32_t turn_no = turns_at(x->turns, c, e);
	uint16_t after[DATA_VLS];

	for (uint32_t m = x->sls[s]; m; m &= m - 1) {
		uint32_t sl = (uint32_t)__builtin_ctz(m);
		uint16_t vls = mixture_vls_at(x, o / 2, x->f->chan_rport[c], x->f->chan_port[e], sl,
					      a->sl2vl, true);

		if (!vls)
			continue;
		x->vl[o][sl] |= vls;
		x->sls[o] |= (uint16_t)(1u << sl);
		for (uint32_t b = x->vl[s][sl]; b; b &= b - 1) {
			uint32_t vl = (uint32_t)__builtin_ctz(b);

			after[vl] = (uint16_t)((before >> vl & 1 ? after[vl] : 0) | vls);
			before |= 1u << vl;
		}
	}
	for (; before; before &= before - 1) {
		uint32_t vl = (uint32_t)__builtin_ctz(before);

		for (uint32_t b = after[vl]; b; b &= b - 1)
			vec_push(&x->dep, (struct tdep){ turn_no, c * nvl + vl,
							 e * nvl + (uint32_t)__builtin_ctz(b) });
	}
}

static void mixture_choose_one(struct mixture_flow *x, uint32_t k)
{
	const struct fabric *f = x->f;

	mixture_load_hops(x, k);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t c = x->hop[2 * sw + k];

		x->slot[2 * sw] = c;
		x->slot[2 * sw + 1] = FAB_NONE;
		if (c != FAB_NONE)
			x->degree[x->to[2 * sw] = f->chan_dst[c]]++;
	}
}

static void mixture_choose_some(struct mixture_flow *x, const uint8_t *lft, uint8_t age)
{
	const struct fabric *f = x->f;

	mixture_load_hops(x, 0);
	mixture_load_hops(x, 1);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t *slot = &x->slot[2 * sw], n = 0;

		slot[0] = slot[1] = FAB_NONE;
		age = lft ? lft[sw] : age;
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t c = x->hop[2 * sw + k];

			if (!(age >> k & 1) || c == FAB_NONE || c == slot[0])
				continue;
			slot[n] = c;
			x->to[2 * sw + n++] = f->chan_dst[c];
			x->degree[f->chan_dst[c]]++;
		}
	}
}

static void mixture_choose_hops(struct mixture_flow *x, const uint8_t *lft, uint8_t age)
{
	memset(x->degree, 0, x->f->nsw * sizeof(*x->degree));
	if (lft || age == AGE_BOTH)
		mixture_choose_some(x, lft, age);
	else
		mixture_choose_one(x, age == AGE_NEW);
}

/* False when not all switches can be ordered. */
static bool mixture_order_hops(struct mixture_flow *x)
{
	const struct fabric *f = x->f;
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (!x->degree[sw])
			x->order[n++] = sw;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t s = 2 * x->order[i]; s < 2 * x->order[i] + 2; s++) {
			uint32_t to;

			if (x->slot[s] == FAB_NONE)
				break;
			to = x->to[s];
			if (!--x->degree[to])
				x->order[n++] = to;
		}
	return n == f->nsw;
}

bool mixture_no_loop(struct mixture_flow *x, const struct ages *a)
{
	const uint8_t *lft = x->lft_changes ? a->lft : NULL;
	uint8_t age = x->lft_changes ? a->lft_all : AGE_OLD;

	x->work += x->f->nsw;
	if (!lft && x->chosen == age)
		return x->ordered;
	mixture_choose_hops(x, lft, age);
	x->ordered = mixture_order_hops(x);
	x->chosen = lft ? 0 : age;
	return x->ordered;
}

/* The VLs of SLs where they are plain. */
static uint32_t mixture_plain_vls(const struct mixture_flow *x, uint32_t sls, uint8_t age)
{
	uint32_t vls = 0;

	for (; sls; sls &= sls - 1)
		vls |= x->vl_of[age][__builtin_ctz(sls)];
	return vls;
}

/* As mixture_turn() for all, where a packet keeps its VL and none is lost. */
static void mixture_run_plain(struct mixture_flow *x, const struct ages *a)
{
	const struct fabric *f = x->f;
	const uint16_t *old = mixture_sent_row(x, 0), *new = mixture_sent_row(x, 1);
	uint32_t nvl = x->nvl, last = 0, vls = 0;
	struct tdep *d;

	vec_reserve(&x->dep, 4ull * f->nsw * nvl);
	d = x->dep.v;
	for (uint32_t i = 0; i < f->nsw; i++) {
		uint32_t sw = x->order[i];
		uint32_t sent = (a->sl & AGE_OLD ? old[sw] : 0u) | (a->sl & AGE_NEW ? new[sw] : 0u);

		for (uint32_t s = 2 * sw; s < 2 * sw + 2; s++) {
			uint32_t c = x->slot[s], sls = sent | x->sls[s], o;

			if (c == FAB_NONE)
				break;
			x->sls[s] = 0;
			o = 2 * x->to[s];
			vls = sls == last ? vls : mixture_plain_vls(x, sls, a->sl2vl);
			last = sls;
			for (uint32_t k = o; k < o + 2 && x->slot[k] != FAB_NONE; k++) {
				uint32_t e = x->slot[k], turn_no = turns_at(x->turns, c, e);

				x->sls[k] |= (uint16_t)sls;
				for (uint32_t m = vls; m; m &= m - 1) {
					uint32_t vl = (uint32_t)__builtin_ctz(m);

					*d++ = (struct tdep){ turn_no, c * nvl + vl, e * nvl + vl };
				}
			}
		}
	}
	x->dep.n = (size_t)(d - x->dep.v);
}

static void mixture_run_full(struct mixture_flow *x, const struct ages *a)
{
	const struct fabric *f = x->f;

	mixture_deliver_near(x, a);
	for (uint32_t i = 0; i < f->nsw; i++)
		for (uint32_t s = 2 * x->order[i]; s < 2 * x->order[i] + 2; s++) {
			uint32_t o;

			if (x->slot[s] == FAB_NONE)
				break;
			mixture_send(x, s, a);
			o = 2 * x->to[s];
			if (o == 2 * x->dsw)
				mixture_deliver(x, f->chan_rport[x->slot[s]], x->sls[s], a->sl2vl,
						true);
			for (uint32_t k = o; k < o + 2 && x->sls[s]; k++)
				if (x->slot[k] != FAB_NONE)
					mixture_turn(x, s, k, a);
			memset(x->vl[s], 0, sizeof(x->vl[s]));
			x->sls[s] = 0;
		}
}

bool mixture_run(struct mixture_flow *x, const struct ages *a)
{
	x->dep.n = 0;
	x->loses = false;
	if (!mixture_no_loop(x, a))
		return false;
	if (x->plain[a->sl2vl])
		mixture_run_plain(x, a);
	else
		mixture_run_full(x, a);
	x->work += x->dep.n;
	return true;
}

bool mixture_loses(const struct mixture_flow *x)
{
	return x->loses;
}

const struct tdep *mixture_deps(const struct mixture_flow *x, uint32_t *n)
{
	*n = (uint32_t)x->dep.n;
	return x->dep.v;
}

/* ---- loops ---- */

const uint32_t *mixture_outwards(struct mixture_flow *x)
{
	uint32_t nsw = x->f->nsw;

	x->work += nsw;
	x->chosen = 0;
	mixture_choose_hops(x, NULL, AGE_NEW);
	if (!mixture_order_hops(x))
		return NULL;
	for (uint32_t i = 0; i < nsw / 2; i++) {
		uint32_t sw = x->order[i];

		x->order[i] = x->order[nsw - 1 - i];
		x->order[nsw - 1 - i] = sw;
	}
	return x->order;
}

/* Do packets that leave there possibly come by again? */
static bool mixture_may_return(struct mixture_flow *x, uint32_t sw, uint32_t to, const uint8_t *lft,
			       uint32_t *stack, uint32_t *seen, uint32_t stamp)
{
	uint32_t n = 0;

	stack[n++] = to;
	seen[to] = stamp;
	while (n) {
		uint32_t v = stack[--n];

		if (v == sw)
			return true;
		x->work++;
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t c = x->hop[2 * v + k], w;

			if (!(lft[v] >> k & 1) || c == FAB_NONE)
				continue;
			w = x->f->chan_dst[c];
			if (seen[w] != stamp) {
				seen[w] = stamp;
				stack[n++] = w;
			}
		}
	}
	return false;
}

uint32_t mixture_grow(struct mixture_flow *x, uint8_t *lft)
{
	const uint32_t *order = mixture_outwards(x);
	uint32_t nsw = x->f->nsw, grown = 0;
	uint32_t *stack = xcalloc(2 * (size_t)nsw, sizeof(*stack)), *seen = stack + nsw;

	mixture_load_hops(x, 0);
	for (uint32_t i = 0; order && i < nsw; i++) {
		uint32_t sw = order[i], c = x->hop[2 * sw + 1];

		if (lft[sw] != AGE_OLD || !mixture_lft_changes_at(x, sw))
			continue;
		if (c != FAB_NONE &&
		    mixture_may_return(x, sw, x->f->chan_dst[c], lft, stack, seen, i + 1))
			continue;
		lft[sw] = AGE_BOTH;
		grown++;
	}
	free(stack);
	return grown;
}
