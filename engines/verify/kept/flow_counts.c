/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/kept/flow_counts.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- lanes ------------------------------------------------------------------------------------ */

static void flow_counts_add_lane(struct flow_counts *x, uint32_t sl, uint32_t vl)
{
	if (vl >= FLOW_VLS || x->of[sl][vl] != NO_LANE)
		return;
	if (x->n < FLOW_LANES) {
		x->lane[x->n].sl = (uint8_t)sl;
		x->lane[x->n].vl = (uint8_t)vl;
		x->of[sl][vl] = (uint8_t)x->n;
	}
	x->n++;
}

/* Those of all SLs that are in use, of those below them and of the next one. */
static int flow_counts_find_lanes(struct flow_counts *x)
{
	const struct tables *t = x->t;
	uint32_t mask = tables_sl_mask(t, x->f),
		 sls = mask ? 33u - (uint32_t)__builtin_clz(mask) : 1;
	size_t rows = t->sl2vl_kind == SL2VL_IDENTITY ? 0 : tables_sl2vl_bytes(t) / FAB_SLS;

	memset(x->of, NO_LANE, sizeof(x->of));
	if (sls > FAB_SLS)
		sls = FAB_SLS;
	for (uint32_t sl = 0; sl < sls; sl++) {
		for (size_t i = 0; i < rows; i++)
			flow_counts_add_lane(x, sl, t->sl2vl[i * FAB_SLS + sl]);
		if (!rows)
			flow_counts_add_lane(x, sl, sl);
	}
	return x->n > FLOW_LANES ? -ENOTSUP : 0;
}

static void flow_counts_look_at_vls(struct flow_counts *x)
{
	uint32_t seen = 0;

	x->by_vl = true;
	for (uint32_t k = 0; k < x->n; k++) {
		x->by_vl &= !(seen >> x->lane[k].vl & 1);
		seen |= 1u << x->lane[k].vl;
	}
}

/* --- sources ---------------------------------------------------------------------------------- */

static bool flow_counts_alike(const struct flow_counts *x, uint32_t a, uint32_t b)
{
	const struct fabric *f = x->f;
	uint32_t sw = f->term_sw[a];

	return x->t->sl2vl_kind != SL2VL_FULL ||
	       !memcmp(tables_sl2vl_row(x->t, sw, f->term_port[a], 0),
		       tables_sl2vl_row(x->t, sw, f->term_port[b], 0),
		       (f->sw_nports[sw] + 1u) * (size_t)FAB_SLS);
}

static void flow_counts_find_sources(struct flow_counts *x)
{
	const struct fabric *f = x->f;
	uint32_t n = 0;

	x->source_off = xcalloc(f->nsw + 1u, sizeof(*x->source_off));
	x->source = xcalloc(f->nend, sizeof(*x->source));
	x->ends = xcalloc(f->nend, sizeof(*x->ends));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++) {
			uint32_t k = x->source_off[sw];

			while (k < n && !flow_counts_alike(x, x->source[k], f->term_list[i]))
				k++;
			x->source[k] = k < n ? x->source[k] : f->term_list[i];
			x->ends[k]++;
			n += k == n;
		}
		x->source_off[sw + 1] = n;
	}
}

/* ---------------------------------------------------------------------------------------------- */

int flow_counts_init(struct flow_counts *x, const struct fabric *f, const struct tables *t)
{
	memset(x, 0, sizeof(*x));
	x->f = f;
	x->t = t;
	if (flow_counts_find_lanes(x))
		return -ENOTSUP;
	flow_counts_look_at_vls(x);
	x->base = xcalloc(f->nchan, sizeof(*x->base));
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t v = f->chan_dst[c];

		x->base[c] = x->nturns - f->chan_off[v]; /* may wrap; a channel brings it back */
		x->nturns += f->chan_off[v + 1] - f->chan_off[v] + 1;
	}
	x->turn = xcalloc_large(x->nturns * x->n, sizeof(*x->turn));
	x->chan = xcalloc((size_t)f->nchan * x->n, sizeof(*x->chan));
	x->port = xcalloc((size_t)f->nport * FLOW_VLS, sizeof(*x->port));
	x->flow = xcalloc((size_t)f->nsw * x->n, sizeof(*x->flow));
	x->gone = xcalloc(f->nsw, 1);
	flow_counts_find_sources(x);
	return 0;
}

void flow_counts_done(struct flow_counts *x)
{
	free(x->base);
	free(x->turn);
	free(x->chan);
	free(x->port);
	free(x->flow);
	free(x->gone);
	free(x->source_off);
	free(x->source);
	free(x->ends);
	memset(x, 0, sizeof(*x));
}

uint8_t flow_counts_next_vl(const struct flow_counts *x, uint32_t c, uint32_t e, uint32_t lane)
{
	return tables_vl_row(x->t, x->f, x->f->chan_dst[c], x->f->chan_rport[c],
			     x->f->chan_port[e])[x->lane[lane].sl];
}

/* --- one count -------------------------------------------------------------------------------- */

/* Does another lane of the same VL use the channel? */
static bool flow_counts_vl_used(const struct flow_counts *x, uint32_t c, uint32_t lane)
{
	if (x->by_vl)
		return false;
	for (uint32_t k = 0; k < x->n; k++)
		if (k != lane && x->lane[k].vl == x->lane[lane].vl && x->chan[(size_t)c * x->n + k])
			return true;
	return false;
}

static void flow_counts_count_chan(struct flow_counts *x, uint32_t c, uint32_t lane, uint32_t n,
				   int sign)
{
	uint32_t *at = &x->chan[(size_t)c * x->n + lane], was = *at;

	*at = sign > 0 ? was + n : was - n;
	x->of_lane[lane] = sign > 0 ? x->of_lane[lane] + n : x->of_lane[lane] - n;
	if ((!was || !*at) && !flow_counts_vl_used(x, c, lane))
		x->vertices += sign > 0 ? 1 : (uint64_t)-1;
}

/* Does another lane make the same dependency? */
static bool flow_counts_edge_used(const struct flow_counts *x, uint32_t c, uint32_t e,
				  uint32_t lane, uint8_t vl2)
{
	if (x->by_vl)
		return false;
	for (uint32_t k = 0; k < x->n; k++)
		if (k != lane && x->lane[k].vl == x->lane[lane].vl &&
		    flow_counts_of_turn(x, c, e, k) && flow_counts_next_vl(x, c, e, k) == vl2)
			return true;
	return false;
}

static bool flow_counts_count_turn(struct flow_counts *x, uint32_t c, uint32_t e, uint32_t lane,
				   uint8_t vl2, uint32_t n, int sign)
{
	uint32_t *at = &x->turn[(x->base[c] + e) * x->n + lane], was = *at;

	*at = sign > 0 ? was + n : was - n;
	if ((was && *at) || flow_counts_edge_used(x, c, e, lane, vl2))
		return true;
	x->edges += sign > 0 ? 1 : (uint64_t)-1;
	return sign < 0 || !x->watch.added ||
	       x->watch.added(x->watch.ctx, c, x->lane[lane].vl, e, vl2);
}

/* --- what flows ------------------------------------------------------------------------------- */

/* n ends on a lane of channel c: what is on the next one then, by lane.  False: it is lost. */
static bool flow_counts_step(struct flow_counts *x, const struct moved_paths *m, uint32_t c,
			     uint32_t lane, uint32_t n, int sign, uint32_t *next)
{
	const struct fabric *f = x->f;
	uint32_t v = f->chan_dst[c], e = m->chan[v];
	uint8_t sl = x->lane[lane].sl, vl;

	flow_counts_count_chan(x, c, lane, n, sign);
	if (v == m->dsw) {
		vl = tables_vl_row(x->t, f, v, f->chan_rport[c], m->dport)[sl];
		if (!m->dport && x->t->sl2vl_kind == SL2VL_FULL)
			return true;
		if (vl >= FLOW_VLS)
			return false;
		if (m->dport)
			x->port[(size_t)(f->port_off[v] + m->dport) * FLOW_VLS + vl] +=
				sign > 0 ? n : -n;
		return true;
	}
	vl = flow_counts_next_vl(x, c, e, lane);
	if (vl >= FLOW_VLS || x->of[sl][vl] == NO_LANE)
		return false;
	*next = x->of[sl][vl];
	return flow_counts_count_turn(x, c, e, lane, vl, n, sign);
}

/* On from there to the end, one by one. */
static bool flow_counts_rest(struct flow_counts *x, const struct moved_paths *m, uint32_t sw,
			     uint32_t lane, uint32_t n, int sign)
{
	while (sw != m->dsw) {
		uint32_t c = m->chan[sw], next = lane;

		if (!flow_counts_step(x, m, c, lane, n, sign, &next))
			return false;
		lane = next;
		sw = x->f->chan_dst[c];
	}
	return true;
}

/* What the ends of a switch send into their channel. */
static bool flow_counts_send(struct flow_counts *x, const struct moved_paths *m, uint32_t sw)
{
	const struct fabric *f = x->f;

	for (uint32_t i = x->source_off[sw]; i < x->source_off[sw + 1] && !x->gone[sw]; i++) {
		uint32_t end = x->source[i];
		uint8_t sl = moved_paths_sl(m, end, sw), vl;

		if (sl >= FAB_SLS)
			return false;
		vl = tables_vl_row(x->t, f, sw, f->term_port[end], f->chan_port[m->chan[sw]])[sl];
		if (vl >= FLOW_VLS || x->of[sl][vl] == NO_LANE)
			return false;
		x->flow[(size_t)sw * x->n + x->of[sl][vl]] += x->ends[i];
	}
	return true;
}

/* All that leaves a switch. */
static bool flow_counts_pass(struct flow_counts *x, const struct moved_paths *m, uint32_t sw,
			     int sign)
{
	uint32_t *flow = x->flow + (size_t)sw * x->n, c = m->chan[sw], v = x->f->chan_dst[c];
	bool on = v != m->dsw, moved = m->mark[v] == m->round, fine = true;

	for (uint32_t k = 0; k < x->n; k++) {
		uint32_t n = flow[k], next = k;

		flow[k] = 0;
		if (!n || !fine)
			continue;
		fine = flow_counts_step(x, m, c, k, n, sign, &next);
		if (fine && on && moved)
			x->flow[(size_t)v * x->n + next] += n;
		else if (fine && on)
			fine = flow_counts_rest(x, m, v, next, n, sign);
	}
	return fine;
}

/* Those that do not arrive, where nobody sends from them. */
static bool flow_counts_missing(const struct flow_counts *x, const struct moved_paths *m)
{
	for (uint32_t i = 0; m->norder < m->n && i < m->n; i++)
		if (m->hops[m->sw[i]] == FAB_NONE && !x->gone[m->sw[i]] &&
		    x->source_off[m->sw[i]] != x->source_off[m->sw[i] + 1])
			return true;
	return false;
}

bool flow_counts_add(struct flow_counts *x, const struct moved_paths *m, int sign)
{
	bool fine = !flow_counts_missing(x, m);

	for (uint32_t i = 0; i < m->norder && fine; i++)
		fine = flow_counts_send(x, m, m->order[i]) &&
		       flow_counts_pass(x, m, m->order[i], sign);
	return fine;
}

bool flow_counts_add_own(struct flow_counts *x, const struct moved_paths *m, int sign)
{
	const struct fabric *f = x->f;
	bool full = x->t->sl2vl_kind == SL2VL_FULL;

	for (uint32_t i = f->term_off[m->dsw]; i < f->term_off[m->dsw + 1]; i++) {
		uint32_t end = f->term_list[i];
		uint8_t sl = moved_paths_sl(m, end, m->dsw), vl;

		if (sl >= FAB_SLS)
			return false;
		if (full && (!m->dport || f->term_port[end] == m->dport))
			continue;
		vl = tables_vl_row(x->t, f, m->dsw, f->term_port[end], m->dport)[sl];
		if (vl >= FLOW_VLS)
			return false;
		if (m->dport)
			x->port[(size_t)(f->port_off[m->dsw] + m->dport) * FLOW_VLS + vl] +=
				sign > 0 ? 1 : (uint32_t)-1;
	}
	return true;
}
