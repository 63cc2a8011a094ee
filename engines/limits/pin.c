/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/limits/pin.h"

#include "engines/graph/graph.h"
#include "engines/vl/cdg.h"
#include "engines/vl/layers_verdict.h"
#include "engines/vl/vl_first_fit.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/model/tables/route_limits.h"
#include "fabric/model/topology/end_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIN_DIFFERS 255 /* an SL has no VL of its own: it depends on the hop */

struct pinned {
	const struct fabric *f;
	const struct tables *cur; /* installed */
	const bool *pin;	  /* by end */
	const char *text;	  /* for people; NULL: there is none */
	uint32_t nend, hosts;	  /* pinned */
	unsigned vls;		  /* that traffic may use */
	struct dest *dest;	  /* their traffic LIDs, by end, then LID */
	uint32_t n;
	uint16_t sls, on_vls; /* bits: SLs and VLs of their paths */
	uint8_t vl[FAB_SLS];  /* by SL: its VL wherever traffic goes; or PIN_DIFFERS */
	uint16_t rises[16];   /* by VL: bits of the VLs that a packet may be on one hop later */
	bool in_order;	      /* those lead nowhere back to a VL that was left */
	struct turns turns;
	uint16_t *turn; /* by turn: VLs on which a pinned path takes it */
};

/* --- what the installed tables do with packets to pinned ends -------------------------------- */

#define STEP  "paths"
#define OFTEN 16 /* LIDs between two reports */

struct look {
	struct pinned *p;
	uint16_t *seen; /* by switch: VLs on which the path to the LID at hand is known from here */
	bool *leads;	/* by switch */
	unsigned all_vls;
	const struct route_limits *limits;
	char name[64]; /* of the end at hand */
};

/* --- SL2VL ------------------------------------------------------------------------------- */

static bool pin_carries(const struct fabric *f, uint32_t sw, uint32_t port)
{
	const struct port *x = fabric_port(f, sw, (uint8_t)port);

	return x->chan != FAB_NONE || x->term != FAB_NONE;
}

/* The VLs that an SL has between two ports of a switch, compared with what is known of it. */
static void pin_learn_vl(struct pinned *p, uint32_t sw, uint32_t in, uint32_t out)
{
	for (uint8_t sl = 0; sl < FAB_SLS; sl++) {
		uint8_t vl = tables_vl(p->cur, p->f, sw, (uint8_t)in, (uint8_t)out, sl);

		p->vl[sl] = p->vl[sl] == FAB_SLS ? vl : p->vl[sl] == vl ? vl : PIN_DIFFERS;
	}
}

static void pin_learn_vls(struct pinned *p)
{
	const struct fabric *f = p->f;

	memset(p->vl, FAB_SLS, sizeof(p->vl));
	for (uint8_t sl = 0; sl < FAB_SLS && p->cur->sl2vl_kind == SL2VL_IDENTITY; sl++)
		p->vl[sl] = sl;
	if (p->cur->sl2vl_kind == SL2VL_IDENTITY)
		return;
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t sw = f->chan_src[c];

		for (uint32_t in = 1; in <= f->sw_nports[sw]; in++)
			if (in != f->chan_port[c] && pin_carries(f, sw, in))
				pin_learn_vl(p, sw, in, f->chan_port[c]);
	}
	for (uint8_t sl = 0; sl < FAB_SLS; sl++)
		p->vl[sl] = p->vl[sl] == FAB_SLS ? PIN_DIFFERS : p->vl[sl];
}

/* --- paths ------------------------------------------------------------------------------- */

static uint32_t pin_next_chan(const struct pinned *p, uint32_t sw, uint16_t lid)
{
	return fabric_chan(p->f, sw, tables_row(p->cur, sw)[lid]);
}

/* Does every switch lead to the LID?  If not, *from is one that does not. */
static bool pin_all_lead(struct look *l, const struct dest *d, uint32_t *from)
{
	const struct fabric *f = l->p->f;

	memset(l->leads, 0, f->nsw * sizeof(*l->leads));
	l->leads[d->sw] = tables_row(l->p->cur, d->sw)[d->lid] == d->port;
	for (*from = 0; *from < f->nsw; ++*from) {
		uint32_t n = 0, u, c;

		for (u = *from; !l->leads[u]; u = f->chan_dst[c]) {
			c = pin_next_chan(l->p, u, d->lid);
			if (u == d->sw || c == FAB_NONE || ++n == f->nsw)
				return false;
		}
		for (u = *from; !l->leads[u]; u = f->chan_dst[pin_next_chan(l->p, u, d->lid)])
			l->leads[u] = true;
	}
	return true;
}

static int pin_check_vl(struct look *l, const struct dest *d, uint8_t sl, uint8_t vl,
			struct err *err)
{
	const struct pinned *p = l->p;
	bool escape = p->vls < l->all_vls; /* on the VL, and the SL, of that number */

	if (sl >= FAB_SLS || vl == VL_DROP)
		return err_set(err, -EINVAL,
			       "the installed tables drop packets of SL %u to LID %u of %s, which "
			       "is pinned: pin only hosts that are reachable",
			       sl, d->lid, l->name);
	if (escape && (vl == p->vls || sl == p->vls))
		return err_set(err, -EINVAL,
			       "paths to %s, which is pinned, use %cL %u as installed, and escape "
			       "LIDs need it exclusively: allow more VLs, route without escape "
			       "LIDs, or do not pin it",
			       l->name, vl == p->vls ? 'V' : 'S', p->vls);
	if (vl >= p->vls)
		return err_set(err, -EINVAL,
			       "paths to %s, which is pinned, use VL %u as installed, and only %u "
			       "VL%s may be used: allow %u, or do not pin it",
			       l->name, vl, p->vls, plural(p->vls), vl + 1);
	return 0;
}

/* Packets of an SL that is on one VL everywhere, from switch u. */
static void pin_add_way(struct look *l, const struct dest *d, uint32_t u, uint8_t vl)
{
	struct pinned *p = l->p;
	const uint16_t bit = (uint16_t)(1u << vl);

	while (u != d->sw && !(l->seen[u] & bit)) {
		uint32_t c = pin_next_chan(p, u, d->lid), w = p->f->chan_dst[c];

		l->seen[u] |= bit;
		p->on_vls |= bit;
		if (w != d->sw)
			p->turn[turns_at(&p->turns, c, pin_next_chan(p, w, d->lid))] |= bit;
		u = w;
	}
}

/* Hop by hop, where the VL depends on the ports. */
static int pin_add_hops(struct look *l, const struct dest *d, uint32_t end, uint8_t sl,
			struct err *err)
{
	struct pinned *p = l->p;
	const struct fabric *f = p->f;
	uint32_t u = f->term_sw[end], before = FAB_NONE;
	uint8_t in = f->term_port[end], was = 0;

	while (u != d->sw) {
		uint32_t c = pin_next_chan(p, u, d->lid);
		uint8_t vl = tables_vl(p->cur, f, u, in, f->chan_port[c], sl);
		int rc = pin_check_vl(l, d, sl, vl, err);

		if (rc)
			return rc;
		p->on_vls |= (uint16_t)(1u << vl);
		if (before != FAB_NONE && was == vl)
			p->turn[turns_at(&p->turns, before, c)] |= (uint16_t)(1u << vl);
		else if (before != FAB_NONE)
			p->rises[was] |= (uint16_t)(1u << vl);
		before = c;
		was = vl;
		in = f->chan_rport[c];
		u = f->chan_dst[c];
	}
	return 0;
}

/* From one end on another switch. */
static int pin_add_path(struct look *l, const struct dest *d, uint32_t end, struct err *err)
{
	struct pinned *p = l->p;
	uint32_t u = p->f->term_sw[end];
	uint8_t sl = tables_path_sl(p->cur, end, u, d->lid);
	int rc = sl < FAB_SLS ? 0 : pin_check_vl(l, d, sl, 0, err);

	if (rc)
		return rc;
	p->sls |= (uint16_t)(1u << sl);
	if (p->vl[sl] == PIN_DIFFERS)
		return pin_add_hops(l, d, end, sl, err);
	rc = pin_check_vl(l, d, sl, p->vl[sl], err);
	if (!rc)
		pin_add_way(l, d, u, p->vl[sl]);
	return rc;
}

/* From those of one other switch; the first stands for all where they are on the same VLs. */
static int pin_add_paths(struct look *l, const struct dest *d, uint32_t u, struct err *err)
{
	const struct fabric *f = l->p->f;
	const struct tables *cur = l->p->cur;
	uint32_t i = f->term_off[u];
	uint8_t sl = tables_path_sl(cur, f->term_list[i], u, d->lid);
	bool by_port = cur->sl2vl_kind == SL2VL_FULL && sl < FAB_SLS && l->p->vl[sl] == PIN_DIFFERS;
	int rc = pin_add_path(l, d, f->term_list[i++], err);

	while (!rc && i < f->term_off[u + 1] && (by_port || cur->sl_kind == SL_BY_TERM))
		rc = pin_add_path(l, d, f->term_list[i++], err);
	return rc;
}

/* No path may come through what is excluded; one that begins or ends on such a switch does not. */
static int pin_check_excluded(const struct look *l, const struct dest *d, struct err *err)
{
	const struct fabric *f = l->p->f;
	const struct route_limits *x = l->limits;

	if (!x->exclude_sw && !x->exclude_chan)
		return 0;
	for (uint32_t first = 0; first < f->nsw; first++) {
		for (uint32_t u = first; u != d->sw;) {
			uint32_t c = pin_next_chan(l->p, u, d->lid), w = f->chan_dst[c];

			if (x->exclude_chan && x->exclude_chan[c])
				return err_set(
					err, -EINVAL,
					"the installed paths to %s, which is pinned, cross cable "
					"%s/%u, which is excluded: choose one of the two",
					l->name, f->sw_name[u], f->chan_port[c]);
			if (x->exclude_sw && x->exclude_sw[w] && w != d->sw)
				return err_set(err, -EINVAL,
					       "the installed paths to %s, which is pinned, pass "
					       "switch %s, which is excluded: choose one of the "
					       "two",
					       l->name, f->sw_name[w]);
			u = w;
		}
	}
	return 0;
}

static int pin_look_at(struct look *l, const struct dest *d, struct err *err)
{
	const struct fabric *f = l->p->f;
	uint32_t from = d->sw;
	int rc;

	end_name(l->name, sizeof(l->name), f, d->end);
	if (!pin_all_lead(l, d, &from))
		return err_set(
			err, -EINVAL,
			"the installed tables do not lead from switch %s to LID %u of %s: its "
			"paths cannot stay as they are",
			f->sw_name[from], d->lid, l->name);
	memset(l->seen, 0, f->nsw * sizeof(*l->seen));
	rc = pin_check_excluded(l, d, err);
	for (uint32_t u = 0; u < f->nsw && !rc; u++)
		if (u != d->sw && f->term_off[u] < f->term_off[u + 1])
			rc = pin_add_paths(l, d, u, err);
	return rc;
}

/* --- cycles ------------------------------------------------------------------------------ */

/* VLs that lead to each other leave no order in which their layers could be looked at alone. */
static bool pin_vls_in_order(const struct pinned *p)
{
	uint16_t left = UINT16_MAX;

	for (bool found = true; found && left;) {
		found = false;
		for (unsigned v = 0; v < 16; v++)
			if (left >> v & 1 && !(p->rises[v] & left)) {
				left &= (uint16_t) ~(1u << v);
				found = true;
			}
	}
	return !left;
}

struct layering {
	struct cdg_work *work;
	struct cdg *cdg[16]; /* by VL; NULL: without turns */
	uint16_t *left;	     /* by turn: VLs on which it is to be added */
};

/* One turn, on all its VLs; false when that closes a cycle. */
static bool pin_add_turn(struct layering *y, uint32_t turn, uint32_t c, uint32_t e)
{
	for (uint16_t left = y->left[turn]; left; left &= (uint16_t)(left - 1)) {
		unsigned v = (unsigned)__builtin_ctz(left);

		if (!y->cdg[v])
			y->cdg[v] = cdg_new(y->work);
		if (!cdg_add(y->cdg[v], c, e))
			return false;
	}
	y->left[turn] = 0;
	return true;
}

static bool pin_add_turns(const struct pinned *p, struct layering *y, const struct dest *d)
{
	for (uint32_t u = 0; u < p->f->nsw; u++) {
		uint32_t c = u == d->sw ? FAB_NONE : pin_next_chan(p, u, d->lid);
		uint32_t w = c == FAB_NONE ? d->sw : p->f->chan_dst[c], e;

		if (w == d->sw)
			continue;
		e = pin_next_chan(p, w, d->lid);
		if (!pin_add_turn(y, turns_at(&p->turns, c, e), c, e))
			return false;
	}
	return true;
}

/* In the order of the ends, so that the sentence names the first that is too much. */
static int pin_check_cycles(const struct pinned *p, struct progress *progress, struct err *err)
{
	struct layering y = { .work = cdg_work_new(p->f) };
	char name[64];
	int rc = 0;

	y.left = xcalloc(p->turns.n, sizeof(*y.left));
	memcpy(y.left, p->turn, p->turns.n * sizeof(*y.left));
	for (uint32_t i = 0; i < p->n && !rc; i++) {
		if (!pin_add_turns(p, &y, &p->dest[i]))
			rc = err_set(
				err, -EDEADLK,
				"the installed paths to %s close a cycle of dependencies with "
				"those to other pinned hosts, so they cannot all stay: do not pin "
				"it",
				end_name(name, sizeof(name), p->f, p->dest[i].end));
		else if (i % OFTEN == 0 && progress_step(progress, STEP, p->n + i, 2ull * p->n))
			rc = -ECANCELED;
	}
	for (unsigned v = 0; v < 16; v++)
		cdg_free(y.cdg[v]);
	cdg_work_free(y.work);
	free(y.left);
	return rc;
}

/* Fills what follows dest; errors as those of pin_new(). */
static int pin_look(struct pinned *p, const struct engine_params *params, struct progress *progress,
		    struct err *err)
{
	struct look l = { .p = p, .limits = params->limits, .all_vls = graph_vls(p->f, params) };
	int rc = 0;

	pin_learn_vls(p);
	turns_init(&p->turns, p->f);
	p->turn = xcalloc(p->turns.n, sizeof(*p->turn));
	l.seen = xcalloc(p->f->nsw, sizeof(*l.seen));
	l.leads = xcalloc(p->f->nsw, sizeof(*l.leads));
	for (uint32_t i = 0; i < p->n && !rc; i++) {
		rc = pin_look_at(&l, &p->dest[i], err);
		if (!rc && i % OFTEN == 0 && progress_step(progress, STEP, i, 2ull * p->n))
			rc = -ECANCELED;
	}
	free(l.seen);
	free(l.leads);
	p->in_order = pin_vls_in_order(p);
	return rc ? rc : pin_check_cycles(p, progress, err);
}

/* --- SLs and SL2VL that hold pinned routes beside others
 * --------------------------------------------------------------------------------- */

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

/* The SLs of the pinned routes into t, whose other SLs stay, in a form that holds both. */
static void pin_put_sls(const struct pinned *p, struct tables *t)
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

/* Makes the SL2VL of t agree with the installed one for the pinned SLs; other paths that have
 * one of these get a free SL with their VLs.  False where there are not enough of them. */
static bool pin_put_sl2vl(const struct pinned *p, struct tables *t)
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

/* SL for each of n VLs that all traffic of that SL stays on: sl_of[vl].  False: too few SLs. */
static bool pin_sl_of_vl(const struct pinned *p, uint8_t *sl_of, unsigned n)
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

/* t->sl holds VLs: makes them SLs by sl_of, with the SL2VL that goes with them. */
static void pin_name_sls(const struct pinned *p, struct tables *t, const uint8_t *sl_of, unsigned n)
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

/* --- layers for all other paths, beside the dependencies of the pinned ones ------------------ */

/* The LIDs that are left, switch by switch. */
static struct dest *pin_others(uint32_t *n, const struct pinned *p,
			       const struct engine_params *params)
{
	struct dest *all = graph_dests_by_switch(n, p->f, graph_lmc(p->f, params));
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *n; i++)
		if (all[i].end >= p->f->nend || !p->pin[all[i].end])
			all[kept++] = all[i];
	*n = kept;
	return all;
}

static int pin_too_few(const struct pinned *p, const struct tables *t, unsigned layers,
		       struct notes *notes, struct err *err)
{
	bool more = layers > FIRST_FIT_MAX;

	notes_set(notes, "vls_needed", layers,
		  "its paths and the pinned ones need %s%u VLs to be deadlock-free",
		  more ? "more than " : "", layers - more);
	return err_set(err, -ENOSPC,
		       "the paths of %s need %s%u VLs to be deadlock-free together with the paths "
		       "to %u pinned host%s, and %u may be used; allow more VLs, use another "
		       "engine, or pin fewer",
		       t->engine, more ? "more than " : "", layers - more, p->hosts,
		       plural(p->hosts), p->vls);
}

static int pin_turn_back(const struct pinned *p, const struct tables *t, struct err *err)
{
	return err_set(
		err, -ENOSPC,
		"packets to the %u pinned host%s change between VLs and back as installed, and "
		"together with them the paths of %s are not deadlock-free on their VLs: use "
		"another engine, or pin fewer",
		p->hosts, plural(p->hosts), t->engine);
}

/* -ENOSPC, too, when they do not fit the VLs; *layers: those that it takes. */
static int pin_fit(const struct pinned *p, struct tables *t, const struct engine_params *params,
		   bool keep, unsigned *layers, struct progress *progress, struct err *err)
{
	struct pace pace;
	uint32_t n;
	struct dest *dests = pin_others(&n, p, params);
	int rc = pace_begin(&pace, progress, "layers", n) ? -ECANCELED : 0;

	*layers = 0;
	tables_sl_form(t, SL_CONST, p->f);
	tables_sl2vl_form(t, SL2VL_IDENTITY, p->f);
	if (!rc)
		rc = vl_first_fit(t, p->f, dests, n, keep ? p->cur : NULL, p->turn, p->vls,
				  params->threads, layers, &pace, err);
	free(dests);
	if (rc == -ENOSPC)
		*layers = FIRST_FIT_MAX + 1;
	return !rc && *layers > p->vls ? -ENOSPC : rc;
}

static int pin_layers(const struct pinned *p, struct tables *t, const struct engine_params *params,
		      struct progress *progress, struct err *err)
{
	/* paths that are as installed keep their SLs, too, where an SL stands for its VL */
	bool keep = p->cur->sl2vl_kind == SL2VL_IDENTITY;
	uint8_t sl_of[FAB_SLS];
	unsigned layers;
	int rc = p->in_order ? 0 : pin_turn_back(p, t, err);

	if (!rc)
		rc = pin_fit(p, t, params, keep, &layers, progress, err);

	if (rc == -ENOSPC && p->in_order && keep)
		rc = pin_fit(p, t, params, false, &layers, progress, err);
	if (rc == -ENOSPC && p->in_order)
		return pin_too_few(p, t, layers, params->notes, err);
	if (rc)
		return rc;
	layers = layers ? layers : 1;
	if (!pin_sl_of_vl(p, sl_of, layers))
		return err_set(
			err, -ENOSPC,
			"the paths to pinned hosts use SLs that change VLs along the path, which "
			"leaves too few of the 16 SLs for the %u VLs of the other paths: pin "
			"fewer hosts, or use another engine",
			layers);
	pin_name_sls(p, t, sl_of, layers);
	t->vls = (uint8_t)layers;
	notes_set(params->notes, "vls_needed", layers,
		  "%u VL%s keep%s its paths deadlock-free together with the pinned ones", layers,
		  plural(layers), layers == 1 ? "s" : "");
	if (params->spread)
		notes_set(params->notes, "vls_spread", layers,
			  "not spread over more than these VLs: pinned paths keep theirs");
	return 0;
}

/* --- pinning --------------------------------------------------------------------------------- */

static void pin_find_dests(struct pinned *p, uint8_t lmc)
{
	p->dest = xcalloc((size_t)p->nend << lmc, sizeof(*p->dest));
	for (uint32_t e = 0; e < p->f->nend; e++)
		if (p->pin[e])
			p->n += graph_end_dests(p->dest + p->n, p->f, lmc, e);
}

static int pin_check_known(const struct pinned *p, struct err *err)
{
	if (!p->cur)
		return err_set(err, -EINVAL,
			       "paths to %u pinned host%s must stay as installed, but the "
			       "installed tables are unknown: give them, or pin no hosts",
			       p->hosts, plural(p->hosts));
	if (!digest_equal(&p->cur->fingerprint, &p->f->fingerprint) || p->cur->nsw != p->f->nsw ||
	    p->cur->nend != p->f->nend || p->cur->max_lid != p->f->max_lid)
		return err_set(err, -EINVAL,
			       "routes to %u pinned host%s are to stay as installed, but the "
			       "installed tables are of another fabric, or of one that has changed "
			       "since: read them again, or pin no hosts",
			       p->hosts, plural(p->hosts));
	return 0;
}

int pin_new(struct pinned **out, const struct fabric *f, const struct engine_params *params,
	    struct progress *progress, struct err *err)
{
	const bool *pin = params->limits ? params->limits->pin : NULL;
	struct pinned *p;
	int rc;

	*out = NULL;
	if (!pin)
		return 0;
	p = xcalloc(1, sizeof(*p));
	p->f = f;
	p->cur = params->current;
	p->pin = pin;
	p->text = params->limits->pin_text;
	p->hosts = route_limits_pinned(params->limits, f);
	p->vls = graph_vls(f, params) - params->escape;
	for (uint32_t e = 0; e < f->nend; e++)
		p->nend += pin[e];
	rc = p->nend ? pin_check_known(p, err) : 0;
	if (!rc && p->nend) {
		pin_find_dests(p, graph_lmc(f, params));
		rc = pin_look(p, params, progress, err);
	}
	if (rc || !p->nend)
		pin_free(p);
	else
		*out = p;
	return rc;
}

void pin_free(struct pinned *p)
{
	if (!p)
		return;
	if (p->turn)
		turns_done(&p->turns);
	free(p->turn);
	free(p->dest);
	free(p);
}

static void pin_put_lfts(const struct pinned *p, struct tables *t)
{
	for (uint32_t u = 0; u < p->f->nsw; u++) {
		const uint8_t *from = tables_row(p->cur, u);
		uint8_t *to = tables_row(t, u);

		for (uint32_t i = 0; i < p->n; i++)
			to[p->dest[i].lid] = from[p->dest[i].lid];
	}
}

/* The same fabric as if nobody owned the escape LIDs, which are not routed yet. */
static uint32_t *pin_owners_of_traffic(const struct fabric *f, bool escape)
{
	uint32_t *end = xcalloc(f->max_lid + 1u, sizeof(*end));

	for (uint32_t lid = 0; lid <= f->max_lid; lid++)
		end[lid] = escape && fabric_lid_escape(f, lid) ? FAB_NONE : f->lid_end[lid];
	return end;
}

/* Free of deadlocks as it is? */
static int pin_is_sound(bool *ok, const struct pinned *p, const struct tables *t,
			const struct engine_params *params, struct progress *progress,
			struct err *err)
{
	struct fabric f = *p->f;
	struct verdict *v;
	int rc;

	f.lid_end = pin_owners_of_traffic(p->f, params->escape);
	rc = layers_verdict(&v, &f, t, params->threads, progress, err);
	free(f.lid_end);
	if (rc)
		return rc;
	*ok = v->connected && v->loop_free && v->deadlock_free;
	verdict_free(v);
	return 0;
}

int pin_apply(const struct pinned *p, struct tables *t, const struct engine_params *params,
	      struct progress *progress, struct err *err)
{
	unsigned vls = 32u - (unsigned)__builtin_clz((unsigned)p->on_vls | 1);
	bool ok;
	int rc = 0;

	pin_put_lfts(p, t);
	ok = pin_put_sl2vl(p, t);
	if (ok) {
		pin_put_sls(p, t);
		rc = pin_is_sound(&ok, p, t, params, progress, err);
	}
	if (!rc && !ok) {
		rc = pin_layers(p, t, params, progress, err);
		if (!rc)
			pin_put_sls(p, t);
	}
	if (rc)
		return rc;
	t->vls = t->vls > vls ? t->vls : (uint8_t)vls;
	t->sls = (uint8_t)__builtin_popcount(tables_sl_mask(t, p->f));
	notes_set(params->notes, "pinned", p->hosts,
		  "paths to %u pinned host%s stay as installed%s", p->hosts, plural(p->hosts),
		  ok ? "" : ": the other paths have layers of their own");
	return 0;
}

void pin_tell(const struct pinned *p, struct tables *t)
{
	size_t len = strlen(t->params), room = sizeof(t->params) - len;

	if (!p->text)
		return;
	if ((size_t)snprintf(t->params + len, room, " pin=%s", p->text) >= room && room > 4)
		memcpy(t->params + sizeof(t->params) - 4, "...", 4);
}

static bool pin_same_entries(const struct pinned *p, const struct tables *t, uint16_t lid)
{
	for (uint32_t u = 0; u < p->f->nsw; u++)
		if (tables_row(t, u)[lid] != tables_row(p->cur, u)[lid])
			return false;
	return true;
}

int pin_check_escape(const struct pinned *p, const struct tables *t, struct notes *notes,
		     struct err *err)
{
	const struct fabric *f = p->f;
	uint32_t changed = 0;
	char name[64];

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint32_t end = fabric_lid_end(f, lid);

		if (!fabric_lid_escape(f, lid) || !p->pin[end])
			continue;
		if (!p->cur->escape) /* the same entries would be on another VL */
			return err_set(
				err, -EINVAL,
				"LID %u of %s, which is pinned, would become an escape LID with "
				"paths other than those installed: route without escape LIDs, or "
				"do not pin it",
				lid, end_name(name, sizeof(name), f, end));
		changed += !pin_same_entries(p, t, (uint16_t)lid);
	}
	if (changed)
		notes_set(notes, "pinned_escape", changed,
			  "%u escape LID%s of pinned hosts get other paths: they are not in use "
			  "now",
			  changed, plural(changed));
	return 0;
}
