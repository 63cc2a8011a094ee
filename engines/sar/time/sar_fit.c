/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_fit.h"

#include "engines/graph/graph.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int sar_fit_assign(struct tables *t, const struct fabric *f, const struct sar_fit_opts *opts,
			  const struct engine_params *params, struct progress *progress,
			  struct err *err)
{
	if (opts->keep)
		return vl_layers_assign_from(t, f, opts->keep, params, progress, err);
	return vl_layers_assign(t, f, params, progress, err);
}

/* Row by row, as they lie in memory: LIDs with a path on no VL of those wanted, or all. */
static void sar_fit_find_beyond(bool *go, const struct tables *t, unsigned few, bool all,
				struct pace *pace)
{
	memset(go, all, t->stride);
	for (uint32_t u = 0; !all && t->sl_kind != SL_CONST && u < t->nsw; u++) {
		const uint8_t *sl = t->sl + (t->sl_kind == SL_BY_DLID ? 0 : (size_t)u * t->stride);

		for (uint32_t lid = 0; lid < t->stride; lid++)
			go[lid] |= sl[lid] >= few;
		pace_work(pace, t->stride / 4);
		if (t->sl_kind == SL_BY_DLID)
			break;
	}
}

/* LIDs beyond the VLs wanted, or all, take the other trees; returns how many had not. */
static uint32_t sar_fit_go_back(struct tables *t, const struct sar_fit_opts *opts, bool all,
				struct pace *pace)
{
	bool *go = xcalloc(t->stride, sizeof(*go)), *went = xcalloc(t->stride, sizeof(*went));
	uint32_t n = 0;

	sar_fit_find_beyond(go, t, opts->few, all, pace);
	for (uint32_t u = 0; opts->plain && u < t->nsw; u++) {
		const uint8_t *plain = tables_row(opts->plain, u);
		uint8_t *row = tables_row(t, u);

		for (uint32_t lid = 0; lid < t->stride; lid++) {
			went[lid] |= go[lid] & (row[lid] != plain[lid]);
			row[lid] = go[lid] ? plain[lid] : row[lid];
		}
		pace_work(pace, t->stride / 2);
	}
	for (uint32_t lid = 0; lid < t->stride; lid++)
		n += went[lid];
	free(go);
	free(went);
	return n;
}

int sar_fit_layers(struct tables *t, const struct fabric *f, const struct sar_fit_opts *opts,
		   const struct engine_params *params, uint32_t *back, struct progress *progress,
		   struct err *err)
{
	struct engine_params any = *params;
	struct notes notes = { 0 };
	struct pace pace;
	uint32_t more = 1;
	int rc = 0;

	any.vls = 15;
	any.spread = false;
	any.notes = &notes;
	*back = 0;
	for (unsigned i = 1; more; i++) {
		rc = sar_fit_assign(t, f, opts, &any, progress, err);
		if ((rc && rc != -ENOSPC) || (!rc && t->vls <= opts->few))
			break;
		if (pace_begin(&pace, progress, "layers", t->nsw))
			rc = -ECANCELED;
		if (rc == -ECANCELED)
			break;
		more = sar_fit_go_back(t, opts, rc || i >= opts->tries, &pace);
		*back += more;
	}
	if (rc == -ENOSPC || (!rc && (t->vls > graph_vls(f, params) || params->spread)))
		rc = sar_fit_assign(t, f, opts, params, progress, err);
	else if (!rc)
		notes_set_all(params->notes, &notes);
	notes_done(&notes);
	return rc;
}
