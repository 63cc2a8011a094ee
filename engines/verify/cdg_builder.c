/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/cdg_builder.h"

#include "engines/verify/verify_arrivals.h"
#include "engines/verify/verify_rows.h"
#include "engines/verify/verify_source_sls.h"
#include "engines/verify/verify_walk.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DATA_VLS 15 /* 0 to 14 */
#define AHEAD	 64 /* turns asked for before they are needed */
#define FEW	 8  /* a share of all switches: so many changed ones are followed one by one */
#define UNKNOWN	 UINT32_MAX
#define GROUP	 16 /* switches compared at once */

/* The path from one switch to LIDs close to each other often begins alike.  What is known of it
 * already need not be looked for in tables larger than caches. */
struct last_turn {
	uint32_t from, onto; /* channels; UNKNOWN before the first */
	uint32_t row;	     /* by_port: of the turn, or UNKNOWN */
	uint32_t sls;	     /* not by_port: what is kept of the turn, at least */
};

/*
 * Two representations of a turn.  Where SL2VL depends only on the kind of node at the input port,
 * a packet's VLs on both sides of a turn follow from its SL and from whether it entered
 * the first switch of the turn from a terminal or from a switch: two masks of SLs are enough.
 * Where it depends on the ports, the SLs on each VL before the turn are kept (lanes as in
 * verify_rows.h); those after it follow from the row of the turn.
 */
struct cdg_builder {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct tables *t;
	const struct cdg_builder
		*parent; /* what is marked shared belongs to it; NULL: to this one */
	bool by_port;

	/* turn of channel c onto channel e: turn_base[c] + e; e = chan_off[dst+1]: delivered */
	size_t *turn_base; /* shared */
	size_t nturns;
	bool turns;		/* are they kept? */
	uint32_t *turn;		/* SLs from terminals | SLs from switches << 16 */
	struct last_turn *last; /* per switch: where its traffic turned last */
	uint32_t *changed;	/* switches whose path or SLs differ from before */

	struct source_sls sources; /* for one block of LIDs */
	const uint16_t *sent;	   /* of the LID in hand: SLs by switch */
	uint32_t before;	   /* LID added last, of the same block and not lost; 0: none */

	uint8_t vl_sent[FAB_SLS], vl_passing[FAB_SLS]; /* not by_port */
	uint16_t drop_sent, drop_passing;
	uint16_t *passing;   /* per switch: SLs that other switches brought */
	uint32_t seen;	     /* all SLs: sent | passing << 16 */
	uint32_t *delivered; /* per port, masks like a turn's */

	struct rows rows;   /* by_port; shared */
	uint64_t *turn_sls; /* by_port: [turn * nwords + word] = SLs by VL before the turn */
	uint64_t *last_sls; /* by_port: per switch, what is kept of its last turn, at least */
	uint64_t *flow;	    /* by_port: per switch, SLs by VL that leave it */
	uint64_t all[ROWS_MAX_WORDS]; /* by_port: over all channels */
	uint16_t *port_vl;	      /* by_port: VLs per port of delivery */
	struct arrivals arrivals;     /* by_port: of the LID before */
};

/* The turn of the traffic of u towards the LID walked last.  False when it was the last one, too.
 */
static inline bool cdg_builder_turn_of(struct cdg_builder *d, const struct walk *w, uint32_t u)
{
	uint32_t c = w->chan[u], e = w->chan[d->f->chan_dst[c]], k, n = d->rows.nwords;
	struct last_turn *l = &d->last[u];

	if (l->from == c && l->onto == e)
		return false;
	*l = (struct last_turn){ .from = c, .onto = e, .row = UNKNOWN };
	for (k = 0; d->by_port && k < n; k++)
		d->last_sls[(size_t)u * n + k] = 0;
	return true;
}

static inline size_t cdg_builder_last_at(const struct cdg_builder *d, uint32_t u)
{
	return d->turn_base[d->last[u].from] + d->last[u].onto;
}

/* Turns of some switches of the order from first on; those that are not known are asked for early:
 * they lie anywhere in tables larger than caches.  Returns where to stop. */
static inline uint32_t cdg_builder_look_ahead(struct cdg_builder *d, const struct walk *w,
					      uint32_t first)
{
	uint32_t i, end = w->norder - 1 < first + AHEAD ? w->norder - 1 : first + AHEAD;

	for (i = first; i < end; i++) {
		size_t at;

		if (!cdg_builder_turn_of(d, w, w->order[i]))
			continue;
		at = cdg_builder_last_at(d, w->order[i]);
		if (d->by_port)
			__builtin_prefetch(&d->rows.turn[at]);
		if (d->turns && d->by_port)
			__builtin_prefetch(&d->turn_sls[at * d->rows.nwords], 1);
		else if (d->turns)
			__builtin_prefetch(&d->turn[at], 1);
	}
	return end;
}

/* Switches whose path to the LID, or SL, is another than to the LID before it: into changed. */
static uint32_t cdg_builder_find_changed(struct cdg_builder *d, struct walk *w)
{
	const uint16_t *old = source_sls_to(&d->sources, w->before);
	static const bool none[GROUP];
	uint32_t u, i, len, n = 0, nsw = d->f->nsw;

	walk_fresh(w);
	for (u = 0; u < nsw; u += len) {
		len = nsw - u < GROUP ? nsw - u : GROUP;
		if (!memcmp(old + u, d->sent + u, len * sizeof(*old)) &&
		    !memcmp(none, w->fresh + u, len * sizeof(*none)))
			continue;
		for (i = u; i < u + len; i++) {
			d->changed[n] = i;
			n += w->fresh[i] || old[i] != d->sent[i];
		}
	}
	return n;
}

/* --- what was collected, and its graph ------------------------------------------------------- */

/* VLs of masks of SLs as a turn keeps them. */
static uint16_t cdg_builder_masks_to_vls(const struct cdg_builder *d, uint32_t masks)
{
	uint32_t vls = 0, x;

	for (x = masks & 0xffff; x; x &= x - 1)
		vls |= 1u << d->vl_sent[__builtin_ctz(x)];
	for (x = masks >> 16; x; x &= x - 1)
		vls |= 1u << d->vl_passing[__builtin_ctz(x)];
	return (uint16_t)vls;
}

/* VLs whose lane holds an SL. */
static uint16_t cdg_builder_lanes_to_vls(const uint64_t *words, uint32_t n)
{
	uint32_t vl, vls = 0;

	for (vl = 0; vl < 4 * n; vl++)
		vls |= (words[vl / 4] >> vl % 4 * 16 & 0xffff ? 1u : 0) << vl;
	return (uint16_t)vls;
}

uint16_t cdg_builder_vls(const struct cdg_builder *d)
{
	return d->by_port ? cdg_builder_lanes_to_vls(d->all, d->rows.nwords)
			  : cdg_builder_masks_to_vls(d, d->seen);
}

uint16_t cdg_builder_sls(const struct cdg_builder *d)
{
	uint32_t k, sls = d->seen | d->seen >> 16;

	for (k = 0; k < ROWS_MAX_WORDS; k++)
		sls |= rows_fold(d->all[k]);
	return (uint16_t)sls;
}

static uint32_t cdg_builder_turns_of(const struct cdg_builder *d, uint32_t c, size_t *first)
{
	uint32_t v = d->f->chan_dst[c];

	*first = d->turn_base[c] + d->f->chan_off[v];
	return d->f->chan_off[v + 1] - d->f->chan_off[v];
}

static uint16_t cdg_builder_chan_vls(const struct cdg_builder *d, uint32_t c)
{
	uint32_t masks = 0, i, n;
	size_t first;

	n = cdg_builder_turns_of(d, c, &first);
	if (d->by_port) {
		uint64_t words[ROWS_MAX_WORDS] = { 0 };
		uint32_t k, nwords = d->rows.nwords;

		for (i = 0; i <= n; i++) {
			for (k = 0; k < nwords; k++)
				words[k] |= d->turn_sls[(first + i) * nwords + k];
		}
		return cdg_builder_lanes_to_vls(words, nwords);
	}
	for (i = 0; i <= n; i++)
		masks |= d->turn[first + i];
	return cdg_builder_masks_to_vls(d, masks);
}

static uint16_t cdg_builder_port_vls(const struct cdg_builder *d, size_t port)
{
	return d->by_port ? d->port_vl[port] : cdg_builder_masks_to_vls(d, d->delivered[port]);
}

/* OperVLs of the link on a port: the smaller of both ends; 0 unknown. */
static uint8_t cdg_builder_link_op_vls(const struct fabric *f, uint32_t sw, uint32_t p)
{
	const struct port *port = fabric_port(f, sw, (uint8_t)p);
	uint8_t far;

	if (port->chan == FAB_NONE)
		return port->op_vls;
	far = fabric_port(f, f->chan_dst[port->chan], f->chan_rport[port->chan])->op_vls;
	if (!port->op_vls || !far)
		return port->op_vls | far;
	return port->op_vls < far ? port->op_vls : far;
}

bool cdg_builder_vls_fit(const struct cdg_builder *d, struct vl_misfit *first)
{
	const struct fabric *f = d->f;
	uint32_t sw, p;

	for (sw = 0; sw < f->nsw; sw++) {
		for (p = 1; p <= f->sw_nports[sw]; p++) {
			uint32_t c = fabric_chan(f, sw, (uint8_t)p), vls;
			uint8_t op_vls = cdg_builder_link_op_vls(f, sw, p);

			vls = c != FAB_NONE ? cdg_builder_chan_vls(d, c)
					    : cdg_builder_port_vls(d, f->port_off[sw] + p);
			if (!op_vls || !(vls >> op_vls))
				continue;
			first->sw = sw;
			first->port = (uint8_t)p;
			first->vl = (uint8_t)(31 - __builtin_clz(vls));
			first->op_vls = op_vls;
			return false;
		}
	}
	return true;
}

/* The VLs after a turn for each VL before it, where SL2VL depends on the ports. */
static void cdg_builder_turn_rows_by_port(const struct cdg_builder *d, size_t turn,
					  uint16_t row[FAB_SLS])
{
	const uint64_t *words = d->turn_sls + turn * d->rows.nwords;
	const uint8_t *vls = d->rows.vl + (size_t)d->rows.turn[turn] * FAB_SLS;
	uint32_t vl, x;

	for (vl = 0; vl < DATA_VLS && vl < 4 * d->rows.nwords; vl++) {
		for (x = words[vl / 4] >> vl % 4 * 16 & 0xffff; x; x &= x - 1) {
			uint8_t next = vls[__builtin_ctz(x)];

			if (next < DATA_VLS)
				row[vl] |= (uint16_t)(1u << next);
		}
	}
}

/* Adds the VLs after a turn to the row of each VL before it. */
static void cdg_builder_turn_rows(const struct cdg_builder *d, size_t turn, uint16_t row[FAB_SLS])
{
	uint32_t x, m;

	memset(row, 0, FAB_SLS * sizeof(*row));
	if (d->by_port) {
		cdg_builder_turn_rows_by_port(d, turn, row);
		return;
	}
	m = d->turn[turn];
	for (x = m & 0xffff & ~(uint32_t)d->drop_passing; x; x &= x - 1) {
		uint32_t sl = (uint32_t)__builtin_ctz(x);

		row[d->vl_sent[sl]] |= (uint16_t)(1u << d->vl_passing[sl]);
	}
	for (x = m >> 16; x; x &= x - 1) {
		uint32_t vl = d->vl_passing[__builtin_ctz(x)];

		row[vl] |= (uint16_t)(1u << vl);
	}
}

/* Edges out of the vertices of channel c; only counted unless store. */
static uint64_t cdg_builder_emit(const struct cdg_builder *d, uint32_t c, struct depgraph *g,
				 uint64_t at, bool store)
{
	uint16_t row[FAB_MAX_PORT + 1][FAB_SLS];
	uint32_t v = d->f->chan_dst[c], i, vl, x, n;
	size_t first;

	n = cdg_builder_turns_of(d, c, &first);
	for (i = 0; i < n; i++)
		cdg_builder_turn_rows(d, first + i, row[i]);
	for (vl = 0; vl < g->nvl; vl++) {
		g->off[(size_t)c * g->nvl + vl] = at;
		for (i = 0; i < n; i++) {
			for (x = row[i][vl]; x; x &= x - 1, at++) {
				if (store)
					g->to[at] = (d->f->chan_off[v] + i) * g->nvl +
						    (uint32_t)__builtin_ctz(x);
			}
		}
	}
	return at;
}

struct depgraph *cdg_builder_graph(const struct cdg_builder *d, struct progress *progress)
{
	struct depgraph *g = xcalloc(1, sizeof(*g));
	uint32_t c, x, vls = cdg_builder_vls(d);
	uint64_t n;
	int pass;

	g->nvl = vls ? 32u - (uint32_t)__builtin_clz(vls) : 1;
	g->n = d->f->nchan * g->nvl;
	g->used = xcalloc(g->n, sizeof(*g->used));
	g->off = xcalloc((size_t)g->n + 1, sizeof(*g->off));
	for (c = 0; c < d->f->nchan; c++) {
		for (x = cdg_builder_chan_vls(d, c); x; x &= x - 1, g->nused++)
			g->used[c * g->nvl + (uint32_t)__builtin_ctz(x)] = true;
	}
	for (pass = 0; pass < 2; pass++) {
		for (c = 0, n = 0; c < d->f->nchan; c++) {
			n = cdg_builder_emit(d, c, g, n, pass == 1);
			if (!(c % 4096))
				progress_step(progress, "verify", d->f->max_lid, d->f->max_lid);
		}
		g->off[g->n] = n;
		if (pass == 0)
			g->to = xcalloc(n, sizeof(*g->to));
	}
	return g;
}

/* --- where SL2VL does not depend on the ports ------------------------------------------------ */

/* SLs (as masks) that the traffic of u brings to its turn. */
static inline void cdg_builder_keep_sls(struct cdg_builder *d, uint32_t u, uint32_t sls)
{
	struct last_turn *l = &d->last[u];

	if (!(sls & ~l->sls))
		return;
	d->turn[cdg_builder_last_at(d, u)] |= sls;
	l->sls |= sls;
}

static bool cdg_builder_add_all_by_sl(struct cdg_builder *d, const struct walk *w)
{
	const uint32_t *dst = d->f->chan_dst;
	uint16_t *passing = d->passing;
	uint32_t i, n = w->norder, m, dsw = w->dsw, lost = 0, seen = 0, end = 0;
	uint16_t stay_sent = (uint16_t)~d->drop_sent, stay_passing = (uint16_t)~d->drop_passing;

	for (i = 0; i + 1 < n; i++) {
		uint32_t u = w->order[i], v = dst[w->chan[u]], on;

		if (d->turns && i == end)
			end = cdg_builder_look_ahead(d, w, i);
		lost |= d->sent[u] & d->drop_sent;
		m = (d->sent[u] & stay_sent) | (uint32_t)passing[u] << 16;
		passing[u] = 0;
		if (!m)
			continue;
		seen |= m;
		if (d->turns)
			cdg_builder_keep_sls(d, u, m);
		on = (m | m >> 16) & 0xffff;
		lost |= on & d->drop_passing;
		passing[v] |= (uint16_t)(on & stay_passing);
	}
	d->seen |= seen;
	if (!n)
		return lost != 0;
	lost |= d->sent[dsw] & d->drop_sent;
	if (w->dport)
		d->delivered[d->f->port_off[dsw] + w->dport] |=
			(d->sent[dsw] & stay_sent) | (uint32_t)passing[dsw] << 16;
	passing[dsw] = 0;
	return lost != 0;
}

/* SLs that others than dsw send and that no SL2VL drops. */
static uint16_t cdg_builder_sent_by_others(const struct cdg_builder *d, uint32_t dsw)
{
	uint32_t sw;
	uint16_t all = 0;

	for (sw = 0; sw < dsw; sw++)
		all |= d->sent[sw];
	for (sw = dsw + 1; sw < d->f->nsw; sw++)
		all |= d->sent[sw];
	return all & (uint16_t) ~(d->drop_sent | d->drop_passing);
}

/* What u sends, as far as the LID's switch.  SLs that are lost. */
static uint32_t cdg_builder_follow_by_sl(struct cdg_builder *d, const struct walk *w, uint32_t u)
{
	uint32_t m = d->sent[u] & (uint16_t)~d->drop_sent;
	uint32_t lost = d->sent[u] & (d->drop_sent | d->drop_passing);

	for (; m && u != w->dsw; u = d->f->chan_dst[w->chan[u]]) {
		d->seen |= m;
		cdg_builder_turn_of(d, w, u);
		cdg_builder_keep_sls(d, u, m);
		m = ((m | m >> 16) & (uint16_t)~d->drop_passing) << 16;
	}
	return lost;
}

/*
 * The same as cdg_builder_add_all_by_sl() where all turns of the LID before it, on the same switch,
 * are known: only traffic on another path, or with another SL, can bring new ones.
 */
static bool cdg_builder_add_fresh_by_sl(struct cdg_builder *d, struct walk *w)
{
	uint32_t i, m, n = cdg_builder_find_changed(d, w), dsw = w->dsw, lost = 0;

	if (n > d->f->nsw / FEW)
		return cdg_builder_add_all_by_sl(d, w);
	for (i = 0; i < n; i++)
		if (d->changed[i] != dsw)
			lost |= cdg_builder_follow_by_sl(d, w, d->changed[i]);
	lost |= d->sent[dsw] & d->drop_sent;
	m = (uint32_t)cdg_builder_sent_by_others(d, dsw) << 16 |
	    (d->sent[dsw] & (uint16_t)~d->drop_sent);
	if (w->dport)
		d->delivered[d->f->port_off[dsw] + w->dport] |= m;
	return lost != 0;
}

static bool cdg_builder_add_by_sl(struct cdg_builder *d, struct walk *w, uint32_t lid)
{
	bool lost;

	lost = d->turns && w->before && w->before == d->before ? cdg_builder_add_fresh_by_sl(d, w)
							       : cdg_builder_add_all_by_sl(d, w);
	d->before = lost ? 0 : lid;
	return lost;
}

/* --- where SL2VL depends on the ports -------------------------------------------------------- */

/* One end sends with one SL by that row: onto a VL of words, or nowhere. */
static bool cdg_builder_send(uint64_t *words, const uint8_t *row, uint8_t sl)
{
	uint8_t vl;

	if (sl >= FAB_SLS)
		return true;
	vl = row[sl];
	if (vl >= DATA_VLS)
		return true;
	words[vl / 4] |= 1ull << (vl % 4 * 16 + sl);
	return false;
}

/* Ends that differ in their SLs send from u into channel c. */
static bool cdg_builder_send_each(const struct cdg_builder *d, uint64_t *words, uint32_t u,
				  uint32_t c, uint32_t lid)
{
	const struct fabric *f = d->f;
	bool lost = false;
	uint32_t i;

	for (i = f->term_off[u]; i < f->term_off[u + 1]; i++) {
		uint32_t end = f->term_list[i];
		const uint8_t *row = tables_sl2vl_row(d->t, u, f->term_port[end], f->chan_port[c]);

		lost |= cdg_builder_send(words, row, tables_path_sl(d->t, end, u, lid));
	}
	return lost;
}

/* The ends on the LID's own switch send straight to its port. */
static bool cdg_builder_send_here(struct cdg_builder *d, const struct walk *w, uint32_t lid)
{
	const struct fabric *f = d->f;
	uint64_t words[ROWS_MAX_WORDS] = { 0 };
	uint16_t *vls = &d->port_vl[f->port_off[w->dsw] + w->dport];
	bool lost = false;
	uint32_t i, vl;

	for (i = f->term_off[w->dsw]; i < f->term_off[w->dsw + 1]; i++) {
		uint32_t end = f->term_list[i];
		uint8_t sl = tables_path_sl(d->t, end, w->dsw, lid), in = f->term_port[end];

		if (sl < FAB_SLS && (!w->dport || in == w->dport))
			continue;
		lost |= cdg_builder_send(words, tables_sl2vl_row(d->t, w->dsw, in, w->dport), sl);
	}
	for (vl = 0; vl < DATA_VLS; vl++)
		*vls |= (uint16_t)((words[vl / 4] >> vl % 4 * 16 & 0xffff ? 1u : 0) << vl);
	return lost;
}

/* SLs that come over channel c leave by the LID's port. */
static bool cdg_builder_deliver(struct cdg_builder *d, const struct walk *w, uint32_t c,
				uint32_t sls)
{
	uint16_t *vls = &d->port_vl[d->f->port_off[w->dsw] + w->dport];
	const uint8_t *row;
	bool lost = false;

	if (!w->dport)
		return false;
	row = tables_sl2vl_row(d->t, w->dsw, d->f->chan_rport[c], w->dport);
	for (; sls; sls &= sls - 1) {
		uint8_t vl = row[__builtin_ctz(sls)];

		if (vl < DATA_VLS)
			*vls |= (uint16_t)(1u << vl);
		else
			lost = true;
	}
	return lost;
}

/* Adds what the ends on u send into channel c, all with the same SLs. */
static inline bool cdg_builder_send_alike(const struct cdg_builder *d, uint64_t *words, uint32_t u,
					  uint32_t c, uint32_t n)
{
	uint64_t sent = rows_spread(d->sent[u]);
	const struct rows *r = &d->rows;
	uint32_t i, k, lost = 0;

	if (r->one_src) {
		for (k = 0; k < n; k++)
			words[k] |= sent & r->lanes[r->src[0] * n + k];
		return (d->sent[u] & r->drop[r->src[0]]) != 0;
	}
	for (i = r->src_off[c]; i < r->src_off[c + 1]; i++) {
		lost |= d->sent[u] & r->drop[r->src[i]];
		for (k = 0; k < n; k++)
			words[k] |= sent & r->lanes[r->src[i] * n + k];
	}
	return lost != 0;
}

/* SLs by VL that the traffic of u brings to its turn; out: SLs of any VL. */
static inline uint32_t cdg_builder_keep_lanes(struct cdg_builder *d, uint32_t u,
					      const uint64_t *words, uint32_t n)
{
	uint64_t *last = d->last_sls + (size_t)u * n, any = 0, news = 0;
	uint32_t k;

	for (k = 0; k < n; k++) {
		any |= words[k];
		news |= words[k] & ~last[k];
	}
	for (k = 0; k < n && news; k++) {
		last[k] |= words[k];
		d->all[k] |= words[k];
		if (d->turns)
			d->turn_sls[cdg_builder_last_at(d, u) * n + k] |= words[k];
	}
	return rows_fold(any);
}

static inline uint32_t cdg_builder_last_row(struct cdg_builder *d, uint32_t u)
{
	struct last_turn *l = &d->last[u];

	if (l->row == UNKNOWN)
		l->row = d->rows.turn[cdg_builder_last_at(d, u)];
	return l->row;
}

/* n: words of lanes; a constant where this is inlined. */
static inline __attribute__((always_inline)) bool
cdg_builder_add_words(struct cdg_builder *d, const struct walk *w, uint32_t lid, uint32_t n)
{
	bool each = d->t->sl_kind == SL_BY_TERM, lost = false;
	const struct rows *r = &d->rows;
	uint32_t i, k, end = 0;

	for (i = 0; i + 1 < w->norder; i++) {
		uint32_t u = w->order[i], c = w->chan[u], v = d->f->chan_dst[c], sls, row;
		uint64_t *flow = d->flow + (size_t)u * n;

		if (i == end)
			end = cdg_builder_look_ahead(d, w, i);
		lost |= each ? cdg_builder_send_each(d, flow, u, c, lid)
			     : cdg_builder_send_alike(d, flow, u, c, n);
		sls = cdg_builder_keep_lanes(d, u, flow, n);
		if (!sls)
			continue;
		for (k = 0; k < n; k++)
			flow[k] = 0;
		if (v == w->dsw) {
			lost |= cdg_builder_deliver(d, w, c, sls);
			continue;
		}
		row = cdg_builder_last_row(d, u);
		lost |= (sls & r->drop[row]) != 0;
		for (k = 0; k < n; k++)
			d->flow[(size_t)v * n + k] |= rows_spread(sls) & r->lanes[row * n + k];
	}
	return w->norder ? cdg_builder_send_here(d, w, lid) || lost : lost;
}

/* What u sends, as far as the LID's switch.  True when some SL is lost. */
static inline __attribute__((always_inline)) bool
cdg_builder_follow_words(struct cdg_builder *d, const struct walk *w, uint32_t u, uint32_t n)
{
	uint64_t words[ROWS_MAX_WORDS] = { 0 };
	const struct rows *r = &d->rows;
	bool lost = cdg_builder_send_alike(d, words, u, w->chan[u], n);

	for (;;) {
		uint32_t v = d->f->chan_dst[w->chan[u]], k, sls, row;

		cdg_builder_turn_of(d, w, u);
		sls = cdg_builder_keep_lanes(d, u, words, n);
		if (v == w->dsw || !sls)
			return lost;
		row = cdg_builder_last_row(d, u);
		lost |= (sls & r->drop[row]) != 0;
		for (k = 0; k < n; k++)
			words[k] = rows_spread(sls) & r->lanes[row * n + k];
		u = v;
	}
}

static bool cdg_builder_follow_by_port(struct cdg_builder *d, const struct walk *w, uint32_t u)
{
	switch (d->rows.nwords) {
	case 1:
		return cdg_builder_follow_words(d, w, u, 1);
	case 2:
		return cdg_builder_follow_words(d, w, u, 2);
	default:
		return cdg_builder_follow_words(d, w, u, 4);
	}
}

/* Where no SL is lost, what arrives is what was sent. */
static bool cdg_builder_deliver_all(struct cdg_builder *d, const struct walk *w, uint32_t lid)
{
	const struct fabric *f = d->f;
	bool lost = false;
	uint32_t c;

	for (c = f->chan_off[w->dsw]; c < f->chan_off[w->dsw + 1]; c++)
		lost |= cdg_builder_deliver(d, w, f->chan_rev[c], arrivals_sls(&d->arrivals, w, c));
	return cdg_builder_send_here(d, w, lid) || lost;
}

static bool cdg_builder_add_all_by_port(struct cdg_builder *d, const struct walk *w, uint32_t lid)
{
	switch (d->rows.nwords) {
	case 1:
		return cdg_builder_add_words(d, w, lid, 1);
	case 2:
		return cdg_builder_add_words(d, w, lid, 2);
	default:
		return cdg_builder_add_words(d, w, lid, 4);
	}
}

/* All traffic, and who arrives over which channel. */
static bool cdg_builder_add_whole_by_port(struct cdg_builder *d, const struct walk *w, uint32_t lid)
{
	bool lost = cdg_builder_add_all_by_port(d, w, lid);

	if (!lost && w->norder == d->f->nsw)
		arrivals_count(&d->arrivals, w, d->sent);
	return lost;
}

/* The same where that is known of the LID before it, on the same switch: only traffic that goes
 * another way, or with another SL, can bring something new. */
static bool cdg_builder_add_fresh_by_port(struct cdg_builder *d, struct walk *w, uint32_t lid)
{
	const uint16_t *old = source_sls_to(&d->sources, w->before);
	uint32_t i, n = cdg_builder_find_changed(d, w);
	bool lost = false;

	if (n > d->f->nsw / FEW)
		return cdg_builder_add_whole_by_port(d, w, lid);
	for (i = 0; i < n; i++)
		if (d->changed[i] != w->dsw)
			lost |= cdg_builder_follow_by_port(d, w, d->changed[i]);
	if (lost)
		return cdg_builder_add_all_by_port(d, w, lid);
	for (i = 0; i < n; i++)
		if (d->changed[i] != w->dsw)
			arrivals_update(&d->arrivals, w, d->changed[i], d->sent[d->changed[i]],
					old[d->changed[i]]);
	return cdg_builder_deliver_all(d, w, lid);
}

/* The same where only SLs and VLs are wanted, not who loses what. */
static bool cdg_builder_add_vls_by_port(struct cdg_builder *d, struct walk *w, uint32_t lid)
{
	uint32_t i,
		n = w->before && w->before == d->before ? cdg_builder_find_changed(d, w) : UNKNOWN;

	d->before = lid;
	if (n > d->f->nsw / FEW)
		return cdg_builder_add_all_by_port(d, w, lid);
	for (i = 0; i < n; i++)
		if (d->changed[i] != w->dsw)
			cdg_builder_follow_by_port(d, w, d->changed[i]);
	return false;
}

/* Ends of a switch that differ in their SLs may use a turn that no other end of it does. */
static bool cdg_builder_add_by_port(struct cdg_builder *d, struct walk *w, uint32_t lid)
{
	bool lost;

	if (d->t->sl_kind == SL_BY_TERM)
		return cdg_builder_add_all_by_port(d, w, lid);
	if (!d->turns)
		return cdg_builder_add_vls_by_port(d, w, lid);
	if (w->before && w->before == d->before)
		lost = cdg_builder_add_fresh_by_port(d, w, lid);
	else
		lost = cdg_builder_add_whole_by_port(d, w, lid);
	d->before = lost ? 0 : lid;
	return lost;
}

/* --- the builder ----------------------------------------------------------------------------- */

static bool cdg_builder_port_leads_somewhere(const struct fabric *f, uint32_t sw, uint32_t p)
{
	const struct port *port = fabric_port(f, sw, (uint8_t)p);

	return port->chan != FAB_NONE || port->term != FAB_NONE;
}

/* Folds full SL2VL tables to one row per kind of input where they say no more than that. */
static bool cdg_builder_fold_switch(struct cdg_builder *d, uint32_t sw, bool known[2])
{
	uint8_t *row[2] = { d->vl_sent, d->vl_passing };
	uint32_t in, out, nports = d->f->sw_nports[sw];

	for (in = 1; in <= nports; in++) {
		uint32_t k = fabric_chan(d->f, sw, (uint8_t)in) != FAB_NONE;

		for (out = 1; out <= nports && cdg_builder_port_leads_somewhere(d->f, sw, in);
		     out++) {
			const uint8_t *vl = tables_sl2vl_row(d->t, sw, in, out);

			if (in == out || !cdg_builder_port_leads_somewhere(d->f, sw, out))
				continue;
			if (!known[k])
				memcpy(row[k], vl, FAB_SLS);
			else if (memcmp(row[k], vl, FAB_SLS) != 0)
				return false;
			known[k] = true;
		}
	}
	return true;
}

static bool cdg_builder_depends_on_ports(struct cdg_builder *d)
{
	bool known[2] = { false, false };
	uint32_t sw;

	if (d->t->sl2vl_kind != SL2VL_FULL)
		return false;
	for (sw = 0; sw < d->f->nsw; sw++) {
		if (!cdg_builder_fold_switch(d, sw, known))
			return true;
	}
	return false;
}

static void cdg_builder_load_rows(struct cdg_builder *d)
{
	uint8_t sl;

	for (sl = 0; sl < FAB_SLS; sl++) {
		if (d->t->sl2vl_kind == SL2VL_IDENTITY) {
			d->vl_sent[sl] = d->vl_passing[sl] = sl;
		} else if (d->t->sl2vl_kind == SL2VL_BY_INPUT) {
			d->vl_sent[sl] = d->t->sl2vl[1 * FAB_SLS + sl];
			d->vl_passing[sl] = d->t->sl2vl[2 * FAB_SLS + sl];
		}
		d->drop_sent |= (uint16_t)((d->vl_sent[sl] >= DATA_VLS) << sl);
		d->drop_passing |= (uint16_t)((d->vl_passing[sl] >= DATA_VLS) << sl);
	}
}

/* What every worker has for itself. */
static void cdg_builder_make_own(struct cdg_builder *d)
{
	const struct fabric *f = d->f;
	size_t kept = d->turns ? d->nturns : 0;

	d->before = 0;
	source_sls_init(&d->sources, f, d->t, d->mem);
	d->changed = arena_alloc(d->mem, f->nsw, sizeof(*d->changed));
	d->last = arena_alloc(d->mem, f->nsw, sizeof(*d->last));
	memset(d->last, 0xff, f->nsw * sizeof(*d->last));
	if (d->by_port) {
		d->last_sls =
			arena_alloc(d->mem, (size_t)f->nsw * d->rows.nwords, sizeof(*d->last_sls));
		d->turn_sls = arena_alloc(d->mem, kept * d->rows.nwords, sizeof(*d->turn_sls));
		d->flow = arena_alloc(d->mem, (size_t)f->nsw * d->rows.nwords, sizeof(*d->flow));
		d->port_vl = arena_alloc(d->mem, f->nport, sizeof(*d->port_vl));
		arrivals_init(&d->arrivals, f, d->mem);
		return;
	}
	d->turn = arena_alloc(d->mem, kept, sizeof(*d->turn));
	d->passing = arena_alloc(d->mem, f->nsw, sizeof(*d->passing));
	d->delivered = arena_alloc(d->mem, f->nport, sizeof(*d->delivered));
}

struct cdg_builder *cdg_builder_new(const struct fabric *f, const struct tables *t, bool turns,
				    struct progress *progress)
{
	struct cdg_builder *d = xcalloc(1, sizeof(*d));
	uint32_t c;

	d->mem = arena_new();
	d->f = f;
	d->t = t;
	d->turns = turns;
	d->turn_base = arena_alloc(d->mem, f->nchan, sizeof(*d->turn_base));
	for (c = 0; c < f->nchan; c++) {
		uint32_t v = f->chan_dst[c];

		/* may wrap; adding a channel of v brings it back */
		d->turn_base[c] = d->nturns - f->chan_off[v];
		d->nturns += f->chan_off[v + 1] - f->chan_off[v] + 1;
	}
	d->by_port = cdg_builder_depends_on_ports(d);
	if (d->by_port)
		rows_init(&d->rows, d->mem, f, t, d->turn_base, d->nturns, progress,
			  turns ? "verify" : "metrics");
	else
		cdg_builder_load_rows(d);
	cdg_builder_make_own(d);
	return d;
}

struct cdg_builder *cdg_builder_share(const struct cdg_builder *parent)
{
	struct cdg_builder *d = xcalloc(1, sizeof(*d));

	*d = *parent;
	d->mem = arena_new();
	d->parent = parent;
	d->seen = 0;
	memset(d->all, 0, sizeof(d->all));
	cdg_builder_make_own(d);
	return d;
}

size_t cdg_builder_own_bytes(const struct cdg_builder *d)
{
	size_t turn = d->by_port ? d->rows.nwords * sizeof(*d->turn_sls) : sizeof(*d->turn);

	return d->turns ? d->nturns * turn : 0;
}

void cdg_builder_merge(struct cdg_builder *into, const struct cdg_builder *from)
{
	size_t i, kept = into->turns ? into->nturns : 0;

	into->seen |= from->seen;
	for (i = 0; i < ROWS_MAX_WORDS; i++)
		into->all[i] |= from->all[i];
	if (into->by_port) {
		for (i = 0; i < kept * into->rows.nwords; i++)
			into->turn_sls[i] |= from->turn_sls[i];
		for (i = 0; i < into->f->nport; i++)
			into->port_vl[i] |= from->port_vl[i];
		return;
	}
	for (i = 0; i < kept; i++)
		into->turn[i] |= from->turn[i];
	for (i = 0; i < into->f->nport; i++)
		into->delivered[i] |= from->delivered[i];
}

void cdg_builder_free(struct cdg_builder *d)
{
	if (!d)
		return;
	if (!d->parent)
		rows_done(&d->rows);
	arena_free(d->mem);
	free(d);
}

/* Without turns there is nothing to learn from SLs that were seen both sent and passing. */
static bool cdg_builder_knows_all(const struct cdg_builder *d, uint32_t sls)
{
	return !d->turns && !(sls & (d->drop_sent | d->drop_passing)) &&
	       !((sls | sls << 16) & ~d->seen);
}

/* The same where SL2VL depends on the ports: all SLs and VLs that there can be were seen. */
static bool cdg_builder_knows_all_by_port(const struct cdg_builder *d)
{
	return !d->turns && cdg_builder_sls(d) == d->rows.sls && cdg_builder_vls(d) == d->rows.vls;
}

static void cdg_builder_load(struct cdg_builder *d, uint32_t lid)
{
	if (source_sls_load(&d->sources, lid / LFT_BLOCK))
		d->before = 0;
}

bool cdg_builder_wants(struct cdg_builder *d, uint32_t lid)
{
	if (d->by_port)
		return !cdg_builder_knows_all_by_port(d);
	cdg_builder_load(d, lid);
	return !cdg_builder_knows_all(d, d->sources.any[lid % LFT_BLOCK]);
}

bool cdg_builder_add(struct cdg_builder *d, struct walk *w, uint32_t lid)
{
	uint32_t k = lid % LFT_BLOCK;

	if (d->by_port && cdg_builder_knows_all_by_port(d))
		return false;
	cdg_builder_load(d, lid);
	d->sent = source_sls_to(&d->sources, lid);
	if (d->by_port)
		return cdg_builder_add_by_port(d, w, lid) || d->sources.bad[k];
	if (cdg_builder_knows_all(d, d->sources.any[k]))
		return d->sources.bad[k];
	return cdg_builder_add_by_sl(d, w, lid) || d->sources.bad[k];
}
