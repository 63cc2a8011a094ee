/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SLs and SL2VL that hold pinned routes beside others. */
#include "engines/limits/pin_priv.h"

#include <string.h>

/* --- SLs --------------------------------------------------------------------------------- */

/* SLs by terminal that are the same for all of a switch need no such table. */
static bool pin_same_by_switch(const struct pinned *p)
{
	const struct fabric *f = p->f;

	for (uint32_t e = 0; e < f->nend; e++) {
		uint32_t first = f->term_list[f->term_off[f->term_sw[e]]];

		for (uint32_t i = 0; i < p->n; i++)
			if (p->cur->sl[(size_t)e * p->cur->stride + p->dest[i].lid] !=
			    p->cur->sl[(size_t)first * p->cur->stride + p->dest[i].lid])
				return false;
	}
	return true;
}

static enum sl_kind pin_form_needed(const struct pinned *p, const struct tables *t)
{
	enum sl_kind kind = p->cur->sl_kind;

	if (kind == SL_CONST)
		kind = t->sl_kind == SL_CONST && t->sl_const == p->cur->sl_const ? SL_CONST
										 : SL_BY_DLID;
	if (kind == SL_BY_TERM && pin_same_by_switch(p))
		kind = SL_BY_SWITCH;
	return kind > t->sl_kind ? kind : t->sl_kind;
}

static uint32_t pin_rows_of(const struct pinned *p, enum sl_kind kind)
{
	return kind == SL_CONST	      ? 0
	       : kind == SL_BY_DLID   ? 1
	       : kind == SL_BY_SWITCH ? p->f->nsw
				      : p->f->nend;
}

/* An end whose packets row r is for, and its switch; FAB_NONE: nobody's. */
static uint32_t pin_end_of_row(const struct pinned *p, enum sl_kind kind, uint32_t r, uint32_t *sw)
{
	const struct fabric *f = p->f;

	if (kind == SL_BY_TERM) {
		*sw = f->term_sw[r];
		return r;
	}
	*sw = r;
	return f->term_off[r] < f->term_off[r + 1] ? f->term_list[f->term_off[r]] : FAB_NONE;
}

static void pin_widen(const struct pinned *p, struct tables *t, enum sl_kind kind)
{
	struct tables old = *t;

	if (kind == t->sl_kind)
		return;
	tables_sl_form(t, kind, p->f);
	for (uint32_t r = 0; r < pin_rows_of(p, kind); r++) {
		uint8_t *row = t->sl + (size_t)r * t->stride;
		uint32_t sw = 0, end = kind == SL_BY_DLID ? 0 : pin_end_of_row(p, kind, r, &sw);

		for (uint32_t lid = 0; lid < t->stride; lid++)
			row[lid] = end == FAB_NONE ? 0 : tables_path_sl(&old, end, sw, lid);
	}
}

void pin_put_sls(const struct pinned *p, struct tables *t)
{
	enum sl_kind kind = pin_form_needed(p, t);

	pin_widen(p, t, kind);
	for (uint32_t r = 0; r < pin_rows_of(p, kind); r++) {
		uint8_t *row = t->sl + (size_t)r * t->stride;
		uint32_t sw = 0, end = kind == SL_BY_DLID ? 0 : pin_end_of_row(p, kind, r, &sw);

		for (uint32_t i = 0; end != FAB_NONE && i < p->n; i++)
			row[p->dest[i].lid] = tables_path_sl(p->cur, end, sw, p->dest[i].lid);
	}
}

/* --- SL2VL ------------------------------------------------------------------------------- */

/* Does an SL have the same VLs in both, wherever a packet may come and go? */
static bool pin_same_column(const struct pinned *p, const struct tables *t, uint8_t sl)
{
	const struct fabric *f = p->f;

	if (p->cur->sl2vl_kind == SL2VL_IDENTITY && t->sl2vl_kind == SL2VL_IDENTITY)
		return true;
	if (t->sl2vl_kind == SL2VL_IDENTITY)
		return p->vl[sl] == sl;
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t sw = f->chan_src[c];
		uint8_t out = f->chan_port[c];

		for (uint32_t in = 1; in <= f->sw_nports[sw]; in++) {
			const struct port *port = fabric_port(f, sw, (uint8_t)in);

			if (in == out || (port->chan == FAB_NONE && port->term == FAB_NONE))
				continue;
			if (tables_vl(p->cur, f, sw, (uint8_t)in, out, sl) !=
			    tables_vl(t, f, sw, (uint8_t)in, out, sl))
				return false;
		}
	}
	return true;
}

/* Full tables in which each SL has the VLs of another one in the installed tables (from_cur) or in
 * those that t had. */
static void pin_mix_sl2vl(const struct pinned *p, struct tables *t, uint16_t from_cur,
			  const uint8_t *like)
{
	const struct fabric *f = p->f;
	struct tables old = *t;

	tables_sl2vl_form(t, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 0; out <= f->sw_nports[sw]; out++) {
				uint8_t *row = tables_sl2vl_row(t, sw, in, out);

				for (uint8_t sl = 0; sl < FAB_SLS; sl++)
					row[sl] =
						tables_vl(from_cur >> sl & 1 ? p->cur : &old, f, sw,
							  (uint8_t)in, (uint8_t)out, like[sl]);
			}
}

/* All SLs of t by that map. */
static void pin_rename_sls(const struct pinned *p, struct tables *t, const uint8_t *to)
{
	size_t n = (size_t)pin_rows_of(p, t->sl_kind) * t->stride;

	if (t->sl_kind == SL_CONST)
		t->sl_const = to[t->sl_const];
	for (size_t i = 0; i < n; i++)
		t->sl[i] = t->sl[i] < FAB_SLS ? to[t->sl[i]] : t->sl[i];
}

bool pin_put_sl2vl(const struct pinned *p, struct tables *t)
{
	uint16_t others = tables_sl_mask(t, p->f), used = others | p->sls, differs = 0;
	uint8_t to[FAB_SLS], like[FAB_SLS];

	for (uint8_t sl = 0; sl < FAB_SLS; sl++) {
		to[sl] = like[sl] = sl;
		if (p->sls >> sl & 1 && !pin_same_column(p, t, sl))
			differs |= (uint16_t)(1u << sl);
	}
	if (!differs)
		return true;
	for (uint8_t sl = 0; sl < FAB_SLS; sl++) {
		if (!(differs & others & 1u << sl))
			continue;
		if (used == UINT16_MAX)
			return false;
		to[sl] = (uint8_t)__builtin_ctz(~(unsigned)used);
		like[to[sl]] = sl;
		used |= (uint16_t)(1u << to[sl]);
	}
	pin_rename_sls(p, t, to);
	pin_mix_sl2vl(p, t, p->sls, like);
	return true;
}

bool pin_sl_of_vl(const struct pinned *p, uint8_t *sl_of, unsigned n)
{
	uint16_t used = p->sls;

	for (unsigned v = 0; v < n; v++) {
		sl_of[v] = FAB_SLS;
		for (uint8_t sl = 0; sl < FAB_SLS; sl++)
			if (p->sls >> sl & 1 && p->vl[sl] == v && (sl == v || sl_of[v] == FAB_SLS))
				sl_of[v] = sl;
		if (sl_of[v] == FAB_SLS && !(p->sls >> v & 1))
			sl_of[v] = (uint8_t)v;
		if (sl_of[v] < FAB_SLS)
			used |= (uint16_t)(1u << sl_of[v]);
	}
	for (unsigned v = 0; v < n; v++) {
		if (sl_of[v] < FAB_SLS)
			continue;
		if (used == UINT16_MAX)
			return false;
		sl_of[v] = (uint8_t)__builtin_ctz(~(unsigned)used);
		used |= (uint16_t)(1u << sl_of[v]);
	}
	return true;
}

void pin_name_sls(const struct pinned *p, struct tables *t, const uint8_t *sl_of, unsigned n)
{
	uint8_t to[FAB_SLS], like[FAB_SLS];
	bool plain = true;

	for (uint8_t i = 0; i < FAB_SLS; i++) {
		to[i] = i < n ? sl_of[i] : i;
		like[i] = i;
		plain = plain && (!(p->sls >> i & 1) || p->vl[i] == i);
	}
	for (uint8_t v = 0; v < n; v++) {
		like[sl_of[v]] = p->sls >> sl_of[v] & 1 ? sl_of[v] : v;
		plain = plain && sl_of[v] == v;
	}
	if (plain)
		return;
	pin_rename_sls(p, t, to);
	pin_mix_sl2vl(p, t, p->sls, like);
}
