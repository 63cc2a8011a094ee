/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layers for all paths but the pinned ones, whose dependencies are there first. */
#include "engines/limits/pin_priv.h"

#include "engines/graph/vl_first_fit.h"
#include "fabric/base/plural.h"

#include <errno.h>
#include <stdlib.h>

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
		  "its paths and the pinned ones need %s%u VLs without deadlocks",
		  more ? "more than " : "", layers - more);
	return err_set(err, -ENOSPC,
		       "the paths of %s need %s%u VLs without deadlocks beside the routes to %u "
		       "pinned host%s, and %u may be used; allow more VLs, take another engine, or "
		       "pin fewer",
		       t->engine, more ? "more than " : "", layers - more, p->hosts,
		       plural(p->hosts), p->vls);
}

static int pin_turn_back(const struct pinned *p, const struct tables *t, struct err *err)
{
	return err_set(
		err, -ENOSPC,
		"packets to the %u pinned host%s change between VLs and back as installed, "
		"and beside that the paths of %s are not free of deadlocks on the VLs that it "
		"gives them: take another engine, or pin fewer",
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

int pin_layers(const struct pinned *p, struct tables *t, const struct engine_params *params,
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
			"the routes to pinned hosts take SLs that change VLs on their way, "
			"which leaves too few of the 16 SLs for the %u VLs of the other paths: "
			"pin fewer hosts, or take another engine",
			layers);
	pin_name_sls(p, t, sl_of, layers);
	t->vls = (uint8_t)layers;
	notes_set(params->notes, "vls_needed", layers,
		  "%u VL%s keep%s its paths free of deadlocks beside the pinned ones", layers,
		  plural(layers), layers == 1 ? "s" : "");
	if (params->spread)
		notes_set(params->notes, "vls_spread", layers,
			  "not spread over more than these VLs: pinned routes keep theirs");
	return 0;
}
