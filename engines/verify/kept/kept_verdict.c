/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/kept/kept_verdict.h"

#include "engines/verify/kept/flow_counts.h"
#include "engines/verify/kept/moved_paths.h"
#include "engines/verify/kept/wait_order.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_LIDS 16

enum lack { LACKS_NOTHING, LACKS_PATHS, LACKS_ORDER };

struct kept_verdict {
	const struct fabric *f;
	bool terminals_only;
	struct moved_paths moved;
	struct flow_counts flows;
	struct wait_order order;
	bool *down, *dead; /* by channel; by LID: on a switch that is gone */
	uint64_t nsources, nlids;
	uint64_t hops, routes;
	uint64_t *at_hops; /* counted routes by hops */
	uint32_t *run;	   /* by LID: its first change, plus 1 */
	enum lack lack;
};

static bool kept_verdict_is_source(const struct kept_verdict *k, uint32_t sw)
{
	return k->f->term_off[sw] != k->f->term_off[sw + 1];
}

static bool kept_verdict_judges(const struct kept_verdict *k, uint32_t lid)
{
	uint32_t end = fabric_lid_end(k->f, lid);

	return end != FAB_NONE && !k->dead[lid] && (!k->terminals_only || end < k->f->nend);
}

/* --- paths that come or go -------------------------------------------------------------------- */

/* Hops of counted routes of those switches, the LID's own where own is set. */
static void kept_verdict_add_hops(struct kept_verdict *k, bool own, int sign)
{
	const struct moved_paths *m = &k->moved;
	const struct fabric *f = k->f;
	uint32_t end = fabric_lid_end(f, m->lid);

	if (end >= f->nterm || f->term_lid[end] != m->lid)
		return;
	for (uint32_t i = 0; i < m->norder + own; i++) {
		uint32_t sw = i < m->norder ? m->order[i] : m->dsw;
		uint64_t n = f->sw_nterm[sw] - (uint64_t)(sw == m->dsw);

		if (k->flows.gone[sw] || !n)
			continue;
		n = sign > 0 ? n : -n;
		k->routes += n;
		k->hops += n * m->hops[sw];
		k->at_hops[m->hops[sw]] += n;
	}
}

static void kept_verdict_count(struct kept_verdict *k, bool before, bool own, int sign)
{
	bool fine;

	moved_paths_follow(&k->moved, before);
	fine = flow_counts_add(&k->flows, &k->moved, sign) &&
	       (!own || flow_counts_add_own(&k->flows, &k->moved, sign));
	if (!fine && k->lack == LACKS_NOTHING)
		k->lack = LACKS_PATHS;
	kept_verdict_add_hops(k, own, sign);
}

/* All paths to a LID. */
static void kept_verdict_count_lid(struct kept_verdict *k, bool before, int sign)
{
	const struct moved_paths *m = &k->moved;

	moved_paths_take(&k->moved, FAB_NONE);
	if (sign > 0 && tables_row(m->t, m->dsw)[m->lid] != m->dport && k->lack == LACKS_NOTHING)
		k->lack = LACKS_PATHS;
	k->nlids += sign > 0 ? 1 : (uint64_t)-1;
	kept_verdict_count(k, before, true, sign);
}

static bool kept_verdict_allow(void *ctx, uint32_t c, unsigned vl, uint32_t e, unsigned vl2)
{
	struct kept_verdict *k = ctx;

	if (wait_order_add(&k->order, c, vl, e, vl2))
		return true;
	k->lack = LACKS_ORDER;
	return false;
}

/* --- made once -------------------------------------------------------------------------------- */

static struct kept_verdict *kept_verdict_blank(const struct fabric *f, bool terminals_only)
{
	struct kept_verdict *k = xcalloc(1, sizeof(*k));

	k->f = fabric_get(f);
	k->terminals_only = terminals_only;
	moved_paths_init(&k->moved, f);
	k->down = xcalloc(f->nchan, sizeof(*k->down));
	k->dead = xcalloc(f->max_lid + 1u, sizeof(*k->dead));
	k->run = xcalloc(f->max_lid + 1u, sizeof(*k->run));
	k->at_hops = xcalloc(f->nsw + 1u, sizeof(*k->at_hops));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		k->nsources += kept_verdict_is_source(k, sw);
	return k;
}

/* All paths; true: cancelled. */
static bool kept_verdict_count_all(struct kept_verdict *k, const struct tables *t,
				   struct progress *progress)
{
	for (uint32_t lid = 1; lid <= k->f->max_lid && k->lack == LACKS_NOTHING; lid++) {
		if (lid % REPORT_LIDS == 1 && progress_step(progress, "verify", lid, k->f->max_lid))
			return true;
		if (!kept_verdict_judges(k, lid))
			continue;
		moved_paths_find(&k->moved, t, lid, NULL, 0);
		kept_verdict_count_lid(k, false, 1);
	}
	return false;
}

static int kept_verdict_begin(struct kept_verdict *k, const struct tables *t,
			      struct progress *progress, struct err *err)
{
	if (t->sl_kind == SL_BY_TERM || flow_counts_init(&k->flows, k->f, t))
		return err_set(err, -ENOTSUP, "no verdict is kept of tables with %s",
			       t->sl_kind == SL_BY_TERM ? "SLs by source"
							: "more than 32 pairs of SL and VL");
	if (kept_verdict_count_all(k, t, progress))
		return err_set(err, -ECANCELED, "checking the tables was cancelled");
	if (k->lack == LACKS_NOTHING && !wait_order_init(&k->order, &k->flows))
		k->lack = LACKS_ORDER;
	if (k->lack != LACKS_NOTHING)
		return err_set(err, -EDOM, "the tables %s",
			       k->lack == LACKS_ORDER ? "can deadlock" : "leave paths out");
	k->flows.watch = (struct flow_watch){ kept_verdict_allow, k };
	return 0;
}

int kept_verdict_new(struct kept_verdict **out, const struct fabric *f, const struct tables *t,
		     bool terminals_only, struct progress *progress, struct err *err)
{
	struct kept_verdict *k;
	int rc = tables_check_fabric(t, f, err);

	*out = NULL;
	if (rc)
		return rc;
	if (!tables_know_vls(t))
		return err_set(err, -EAGAIN,
			       "the SL2VL tables (%s) are unknown: no verdict without them",
			       t->engine);
	k = kept_verdict_blank(f, terminals_only);
	rc = kept_verdict_begin(k, t, progress, err);
	if (rc)
		kept_verdict_free(k);
	else
		*out = k;
	return rc;
}

void kept_verdict_free(struct kept_verdict *k)
{
	if (!k)
		return;
	moved_paths_done(&k->moved);
	flow_counts_done(&k->flows);
	wait_order_done(&k->order);
	free(k->down);
	free(k->dead);
	free(k->run);
	free(k->at_hops);
	fabric_put(k->f);
	free(k);
}

/* --- kept up ---------------------------------------------------------------------------------- */

/* The changes of a LID, as it was before them or is now. */
static void kept_verdict_find(struct kept_verdict *k, const struct tables *t,
			      const struct entry_changes *c, uint32_t lid)
{
	uint32_t first = k->run[lid] - 1, n = k->run[lid] ? entry_changes_run(c, first) : 0;

	moved_paths_find(&k->moved, t, lid, n ? c->list + first : NULL, n);
}

/* Switches that are gone, or have come back, take their paths and those to them along. */
static void kept_verdict_count_switch(struct kept_verdict *k, const struct tables *t,
				      const struct entry_changes *c, uint32_t sw, int sign)
{
	bool before = sign < 0;

	if (before)
		k->flows.gone[sw] = false;
	k->nsources -= before && kept_verdict_is_source(k, sw);
	for (uint32_t lid = 1; lid <= k->f->max_lid; lid++) {
		uint8_t port;

		if (!kept_verdict_judges(k, lid) || fabric_lid_switch(k->f, lid, &port) == sw)
			continue;
		kept_verdict_find(k, t, c, lid);
		moved_paths_take(&k->moved, sw);
		kept_verdict_count(k, before, false, sign);
	}
}

static void kept_verdict_count_lids_of(struct kept_verdict *k, const struct tables *t,
				       const struct entry_changes *c, uint32_t sw, int sign)
{
	for (uint32_t lid = 1; lid <= k->f->max_lid; lid++) {
		uint8_t port;

		if (fabric_lid_switch(k->f, lid, &port) != sw)
			continue;
		k->dead[lid] = false;
		if (kept_verdict_judges(k, lid)) {
			kept_verdict_find(k, t, c, lid);
			kept_verdict_count_lid(k, sign < 0, sign);
		}
		k->dead[lid] = sign < 0;
	}
}

static bool kept_verdict_is_cut_off(const struct kept_verdict *k, uint32_t sw)
{
	const struct fabric *f = k->f;

	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
		if (!k->down[c])
			return false;
	return f->chan_off[sw] != f->chan_off[sw + 1];
}

/* Those that are gone now, or have come back: sign -1 or 1 by switch. */
static int8_t *kept_verdict_take_cables(struct kept_verdict *k, const bool *down, bool *any)
{
	int8_t *turned = xcalloc(k->f->nsw, sizeof(*turned));

	for (uint32_t c = 0; c < k->f->nchan; c++)
		if (k->down[c] != down[c])
			turned[k->f->chan_src[c]] = 1;
	memcpy(k->down, down, k->f->nchan * sizeof(*down));
	*any = false;
	for (uint32_t sw = 0; sw < k->f->nsw; sw++) {
		bool gone;

		if (!turned[sw])
			continue;
		gone = kept_verdict_is_cut_off(k, sw);
		turned[sw] = gone == k->flows.gone[sw] ? 0 : gone ? -1 : 1;
		*any |= turned[sw] != 0;
	}
	return turned;
}

/* All LIDs of switches that went are taken off while everybody sends to them, and those of
 * switches that came back are put on when everybody does again. */
static void kept_verdict_count_gone(struct kept_verdict *k, const struct tables *t,
				    const struct entry_changes *c, const int8_t *turned)
{
	for (uint32_t sw = 0; sw < k->f->nsw; sw++)
		if (turned[sw] < 0)
			kept_verdict_count_lids_of(k, t, c, sw, -1);
	for (uint32_t sw = 0; sw < k->f->nsw; sw++)
		if (turned[sw] < 0) {
			kept_verdict_count_switch(k, t, c, sw, -1);
			k->flows.gone[sw] = true;
		}
}

static void kept_verdict_count_returned(struct kept_verdict *k, const struct tables *t,
					const struct entry_changes *c, const int8_t *turned)
{
	for (uint32_t sw = 0; sw < k->f->nsw; sw++)
		if (turned[sw] > 0) {
			k->flows.gone[sw] = false;
			k->nsources += kept_verdict_is_source(k, sw);
			kept_verdict_count_switch(k, t, c, sw, 1);
		}
	for (uint32_t sw = 0; sw < k->f->nsw; sw++)
		if (turned[sw] > 0)
			kept_verdict_count_lids_of(k, t, c, sw, 1);
}

static void kept_verdict_count_changes(struct kept_verdict *k, const struct tables *t,
				       const struct entry_changes *c, int sign)
{
	for (uint32_t i = 0; i < c->n; i += entry_changes_run(c, i)) {
		uint32_t lid = c->list[i].lid, own;

		if (!kept_verdict_judges(k, lid))
			continue;
		kept_verdict_find(k, t, c, lid);
		own = k->moved.dsw;
		if (sign > 0 && tables_row(t, own)[lid] != k->moved.dport &&
		    k->lack == LACKS_NOTHING)
			k->lack = LACKS_PATHS;
		kept_verdict_count(k, sign < 0, k->moved.changed[own] == k->moved.round, sign);
	}
}

/* Nothing may use what is down. */
static bool kept_verdict_spares_down(const struct kept_verdict *k)
{
	for (uint32_t c = 0; c < k->f->nchan; c++)
		for (uint32_t i = 0; k->down[c] && i < k->flows.n; i++)
			if (k->flows.chan[(size_t)c * k->flows.n + i])
				return false;
	return true;
}

bool kept_verdict_update(struct kept_verdict *k, const struct tables *t, const bool *down,
			 const struct entry_changes *changes)
{
	int8_t *turned;
	bool any;

	if (k->lack != LACKS_NOTHING)
		return false;
	turned = kept_verdict_take_cables(k, down, &any);
	k->flows.t = t;
	for (uint32_t i = 0; i < changes->n; i += entry_changes_run(changes, i))
		k->run[changes->list[i].lid] = i + 1;
	if (any)
		kept_verdict_count_gone(k, t, changes, turned);
	kept_verdict_count_changes(k, t, changes, -1);
	kept_verdict_count_changes(k, t, changes, 1);
	if (any)
		kept_verdict_count_returned(k, t, changes, turned);
	for (uint32_t i = 0; i < changes->n; i += entry_changes_run(changes, i))
		k->run[changes->list[i].lid] = 0;
	if (k->lack == LACKS_NOTHING && !kept_verdict_spares_down(k))
		k->lack = LACKS_PATHS;
	free(turned);
	return k->lack == LACKS_NOTHING;
}

/* --- what it says ----------------------------------------------------------------------------- */

static uint8_t kept_verdict_op_vls(const struct fabric *f, uint32_t sw, uint8_t p)
{
	const struct port *near = fabric_port(f, sw, p), *far;

	if (near->chan == FAB_NONE)
		return near->op_vls;
	far = fabric_port(f, f->chan_dst[near->chan], f->chan_rport[near->chan]);
	if (!near->op_vls || !far->op_vls)
		return near->op_vls | far->op_vls;
	return near->op_vls < far->op_vls ? near->op_vls : far->op_vls;
}

/* VLs that are used on a port, as bits. */
static uint32_t kept_verdict_port_vls(const struct kept_verdict *k, uint32_t sw, uint8_t p)
{
	const struct flow_counts *x = &k->flows;
	uint32_t c = fabric_chan(k->f, sw, p), vls = 0;

	for (uint32_t i = 0; c != FAB_NONE && i < x->n; i++)
		if (x->chan[(size_t)c * x->n + i])
			vls |= 1u << x->lane[i].vl;
	for (uint32_t vl = 0; c == FAB_NONE && vl < FLOW_VLS; vl++)
		if (x->port[(size_t)(k->f->port_off[sw] + p) * FLOW_VLS + vl])
			vls |= 1u << vl;
	return vls;
}

static void kept_verdict_find_misfit(const struct kept_verdict *k, struct verdict *v)
{
	const struct fabric *f = k->f;

	v->vls_fit = true;
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t p = 1; p <= f->sw_nports[sw]; p++) {
			uint32_t vls = kept_verdict_port_vls(k, sw, (uint8_t)p);
			uint8_t op_vls = kept_verdict_op_vls(f, sw, (uint8_t)p);

			if (!op_vls || !(vls >> op_vls))
				continue;
			v->vls_fit = false;
			v->misfit_sw = sw;
			v->misfit_port = (uint8_t)p;
			v->misfit_vl = (uint8_t)(31 - __builtin_clz(vls));
			v->misfit_op_vls = op_vls;
			return;
		}
}

static void kept_verdict_figures(const struct kept_verdict *k, struct verdict *v)
{
	uint32_t sls = 0, vls = 0;

	for (uint32_t i = 0; i < k->flows.n; i++) {
		if (!k->flows.of_lane[i])
			continue;
		sls |= 1u << k->flows.lane[i].sl;
		vls |= 1u << k->flows.lane[i].vl;
	}
	v->vl_mask = (uint16_t)vls;
	v->vls_used = (uint32_t)__builtin_popcount(vls);
	v->sls_used = (uint32_t)__builtin_popcount(sls);
	v->pairs = k->nsources * k->nlids;
	for (uint32_t h = 0; h <= k->f->nsw; h++)
		if (k->at_hops[h])
			v->hops_max = h;
	v->hops_mean = k->routes ? (double)k->hops / (double)k->routes : 0;
	v->vertices = k->flows.vertices;
	v->edges = k->flows.edges;
	v->nvl = vls ? 32u - (uint32_t)__builtin_clz(vls) : 1;
}

void kept_verdict_get(const struct kept_verdict *k, struct verdict *out)
{
	*out = (struct verdict){ .terminals_only = k->terminals_only };
	out->connected = out->loop_free = k->lack != LACKS_PATHS;
	out->deadlock_free = k->lack == LACKS_NOTHING;
	if (k->lack != LACKS_NOTHING)
		return;
	kept_verdict_figures(k, out);
	kept_verdict_find_misfit(k, out);
}
