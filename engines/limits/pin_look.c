/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the installed tables do with packets to pinned ends. */
#include "engines/limits/pin_priv.h"

#include "engines/graph/cdg.h"
#include "fabric/base/mem.h"
#include "fabric/base/plural.h"
#include "fabric/model/end_find.h"
#include "fabric/model/route_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEP  "paths"
#define OFTEN 16 /* LIDs between two reports */

struct look {
	struct pinned *p;
	uint16_t *seen; /* by switch: VLs on which the way to the LID at hand is known from here */
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
			       "is pinned: pin hosts that are reached",
			       sl, d->lid, l->name);
	if (escape && (vl == p->vls || sl == p->vls))
		return err_set(err, -EINVAL,
			       "routes to %s, which is pinned, use %cL %u as installed, and escape "
			       "LIDs need that for themselves: allow more VLs, route without "
			       "escape LIDs, or do not pin it",
			       l->name, vl == p->vls ? 'V' : 'S', p->vls);
	if (vl >= p->vls)
		return err_set(err, -EINVAL,
			       "routes to %s, which is pinned, use VL %u as installed, and only %u "
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

/* No way may come through what is excluded; one that begins or ends on such a switch does not. */
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
					"the installed routes to %s, which is pinned, go over "
					"the cable %s/%u, which is excluded: only one of "
					"both can be",
					l->name, f->sw_name[u], f->chan_port[c]);
			if (x->exclude_sw && x->exclude_sw[w] && w != d->sw)
				return err_set(err, -EINVAL,
					       "the installed routes to %s, which is pinned, come "
					       "through switch %s, which is excluded: only one of "
					       "both can be",
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
			"routes cannot stay as they are",
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
				"the installed routes to %s close a cycle of dependencies with "
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

int pin_look(struct pinned *p, const struct engine_params *params, struct progress *progress,
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
