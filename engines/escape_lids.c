/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/escape_lids.h"

#include "engines/graph/graph.h"
#include "engines/updn.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int escape_lids_traffic_params(struct engine_params *out, const struct fabric *f,
			       const struct engine_params *params, struct err *err)
{
	unsigned vls = graph_vls(f, params);

	if (!f->lmc)
		return err_set(err, -EINVAL,
			       "escape LIDs are the upper half of every terminal's LIDs, but with "
			       "LMC 0 there is only one LID; use LMC 1 or more");
	if (vls < 2)
		return err_set(err, -EINVAL,
			       "escape LIDs need their own VL besides that of the traffic, but "
			       "only 1 may be used; allow 2 or more, or route without escape LIDs");
	*out = *params;
	out->vls = vls - 1;
	return 0;
}

/* Escape LIDs in the order of graph_dests_by_lid(): counted terminals first. */
static struct dest *escape_lids_dests(uint32_t *n, const struct fabric *f)
{
	struct dest *out = xcalloc((size_t)f->nend << (f->lmc - 1), sizeof(*out));

	*n = 0;
	for (int counted = 1; counted >= 0; counted--)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			uint32_t end = f->lid_end[lid];

			if (!fabric_lid_escape(f, lid) || (end < f->nterm) != counted)
				continue;
			out[(*n)++] = (struct dest){ .sw = f->term_sw[end],
						     .end = end,
						     .lid = (uint16_t)lid,
						     .port = f->term_port[end] };
		}
	return out;
}

/* Gives every SL of the traffic that is from the SL to instead, with its VLs. */
static void escape_lids_move_sl(struct tables *t, uint8_t from, uint8_t to)
{
	size_t n = tables_sl2vl_bytes(t);

	if (t->sl_kind == SL_CONST)
		t->sl_const = t->sl_const == from ? to : t->sl_const;
	for (size_t i = 0; t->sl && i < tables_sl_bytes(t); i++)
		t->sl[i] = t->sl[i] == from ? to : t->sl[i];
	for (size_t i = 0; i < n; i += FAB_SLS)
		t->sl2vl[i + to] = t->sl2vl[i + from];
}

static int escape_lids_free_sl(struct tables *t, const struct fabric *f, uint8_t sl,
			       struct err *err)
{
	uint16_t used = tables_sl_mask(t, f);

	if (!(used >> sl & 1))
		return 0;
	if (used == UINT16_MAX)
		return err_set(err, -ENOSPC,
			       "%s uses all 16 SLs for the traffic, which leaves none for the "
			       "escape LIDs; use another engine, or route without escape LIDs",
			       t->engine);
	/* one SL stands for one VL, unless a table says otherwise */
	if (t->sl2vl_kind == SL2VL_IDENTITY)
		return err_set(err, -ENOSPC,
			       "%s uses VL %u for the traffic, but escape LIDs need it "
			       "exclusively; route without escape LIDs",
			       t->engine, sl);
	escape_lids_move_sl(t, sl, (uint8_t)__builtin_ctz(~(unsigned)used));
	return 0;
}

/* Rows for destinations where one SL for all was enough. */
static void escape_lids_widen_sl(struct tables *t, const struct fabric *f)
{
	uint8_t sl = t->sl_const;

	if (t->sl_kind != SL_CONST)
		return;
	tables_sl_form(t, SL_BY_DLID, f);
	memset(t->sl, sl, t->stride);
}

static void escape_lids_set_sl(struct tables *t, const struct fabric *f, uint8_t sl)
{
	size_t rows, n = tables_sl2vl_bytes(t);

	escape_lids_widen_sl(t, f);
	rows = tables_sl_rows(t->sl_kind, t->nsw, t->nend);
	for (size_t r = 0; r < rows; r++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			if (fabric_lid_escape(f, lid))
				t->sl[r * t->stride + lid] = sl;
	for (size_t i = 0; i < n; i += FAB_SLS)
		t->sl2vl[i + sl] = sl;
}

int escape_lids_add(struct tables *t, const struct fabric *f, const struct engine_params *params,
		    struct progress *progress, struct err *err)
{
	uint8_t vl = (uint8_t)(graph_vls(f, params) - 1);
	uint32_t n;
	struct dest *dests;
	size_t len = strlen(t->params);
	int rc = escape_lids_free_sl(t, f, vl, err);

	if (rc)
		return rc;
	dests = escape_lids_dests(&n, f);
	rc = updn_route_dests(t, f, dests, n, params, "escape", progress, err);
	free(dests);
	if (rc)
		return rc;
	escape_lids_set_sl(t, f, vl);
	t->escape = true;
	t->vls = (uint8_t)(vl + 1);
	t->sls++;
	snprintf(t->params + len, sizeof(t->params) - len, " escape");
	notes_set(params->notes, "escape_lids_vl", vl, "escape LIDs on VL %u and SL %u", vl, vl);
	return 0;
}
