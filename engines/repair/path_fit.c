/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/path_fit.h"

#include <string.h>

/* Packets with that SL get from each switch behind c to the end. */
static void path_fit_remember(struct repair_state *r, const struct lid_tree *x, uint32_t c,
			      uint8_t sl)
{
	for (uint32_t v = r->f->chan_dst[c]; v != x->dst; v = r->f->chan_dst[x->chan[v]]) {
		if (r->led[v] >> sl & 1)
			return;
		if (!r->led[v])
			r->led_list[r->nled++] = v;
		r->led[v] |= (uint16_t)(1u << sl);
	}
}

/* From the channel c of sw to the end of the path; vl: on that channel. */
static bool path_fit_rest(struct repair_state *r, const struct lid_tree *x, uint32_t c, uint8_t sl,
			  unsigned vl)
{
	const struct fabric *f = r->f;
	bool by_sl = r->was->sl2vl_kind != SL2VL_FULL;
	uint32_t first = c;

	while (vl < r->nvl) {
		uint32_t v = f->chan_dst[c], e = x->chan[v];
		bool known = by_sl && v != x->dst && r->led[v] >> sl & 1;
		unsigned next;

		r->vls |= 1u << vl;
		if (v == x->dst) {
			if (by_sl)
				path_fit_remember(r, x, first, sl);
			return true;
		}
		next = tables_vl_row(r->was, f, v, f->chan_rport[c], f->chan_port[e])[sl];
		if (next >= r->nvl || !dependencies_add(r->deps, c, vl, e, next))
			return false;
		if (known) {
			path_fit_remember(r, x, first, sl);
			return true;
		}
		c = e;
		vl = next;
	}
	return false;
}

static bool path_fit_source(struct repair_state *r, const struct lid_tree *x, uint32_t sw,
			    uint8_t in, uint8_t sl)
{
	uint32_t c = x->chan[sw];

	return sl < FAB_SLS &&
	       path_fit_rest(r, x, c, sl,
			     tables_vl_row(r->was, r->f, sw, in, r->f->chan_port[c])[sl]);
}

/* All of a switch's own; sl FAB_SLS: as the tables say. */
static bool path_fit_all(struct repair_state *r, const struct lid_tree *x, uint32_t sw,
			 uint32_t lid, uint8_t sl)
{
	uint32_t before = r->deps->nadded;
	unsigned vls = r->vls;

	dependencies_settle(r->deps);
	for (uint32_t i = r->source_off[sw]; i < r->source_off[sw + 1]; i++) {
		uint8_t own = sl < FAB_SLS ? sl : repair_state_sl(r, i, sw, lid);

		if (path_fit_source(r, x, sw, r->f->term_port[r->source[i]], own)) {
			r->sls |= 1u << own;
			continue;
		}
		dependencies_undo(r->deps, before);
		repair_state_forget_led(r);
		r->vls = vls;
		return false;
	}
	return true;
}

bool path_fit_as_is(struct repair_state *r, const struct lid_tree *x, uint32_t sw, uint32_t lid)
{
	return !r->deps || path_fit_all(r, x, sw, lid, FAB_SLS);
}

/* SLs by switch, as all others were. */
static void path_fit_widen(struct tables *t, const struct fabric *f)
{
	enum sl_kind kind = t->sl_kind;
	const uint8_t *row = t->sl;
	uint8_t sl = t->sl_const;

	if (kind != SL_CONST && kind != SL_BY_DLID)
		return;
	tables_sl_form(t, SL_BY_SWITCH, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint8_t *to = t->sl + (size_t)sw * t->stride;

		if (kind == SL_CONST)
			memset(to, sl, t->stride);
		else
			memcpy(to, row, t->stride);
	}
}

void path_fit_set(struct repair_state *r, uint32_t sw, uint32_t lid, uint8_t sl)
{
	const struct fabric *f = r->f;
	struct tables *t = r->t;

	path_fit_widen(t, f);
	if (t->sl_kind == SL_BY_SWITCH)
		t->sl[(size_t)sw * t->stride + lid] = sl;
	for (uint32_t k = f->term_off[sw]; t->sl_kind == SL_BY_TERM && k < f->term_off[sw + 1]; k++)
		t->sl[(size_t)f->term_list[k] * t->stride + lid] = sl;
}

bool path_fit_on(struct repair_state *r, const struct lid_tree *x, uint32_t sw, uint32_t lid,
		 uint8_t sl)
{
	if (!path_fit_all(r, x, sw, lid, sl))
		return false;
	path_fit_set(r, sw, lid, sl);
	return true;
}

bool path_fit_through(struct repair_state *r, const struct lid_tree *x, uint32_t sw, uint8_t sl)
{
	uint32_t before, c = x->chan[sw];
	unsigned vls = r->vls;
	uint8_t out = r->f->chan_port[c];
	bool fits;

	if (!r->deps || sl >= FAB_SLS)
		return true;
	before = r->deps->nadded;
	dependencies_settle(r->deps);
	fits = path_fit_rest(r, x, c, sl, tables_vl_row(r->was, r->f, sw, 0, out)[sl]);
	dependencies_undo(r->deps, before);
	repair_state_forget_led(r);
	r->vls = vls;
	return fits;
}
