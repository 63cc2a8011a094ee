/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/paper/sar_installed.h"

#include "engines/graph/graph.h"
#include "engines/vl/layers_verdict.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH  64   /* LIDs that are looked at together */
/* of the blocks in use, unless the caller says otherwise */
#define BUDGET	     0.05
#define BUDGET_LEAST 8

struct walker {
	const struct fabric *f;
	const struct tables *t;
	uint32_t *out; /* by fabric port: channel */
	uint32_t *hop; /* by LID of the batch * nsw + switch: next switch, FAB_NONE: none */
	bool *leads;   /* by switch */
};

static void sar_installed_gather(struct walker *w, const struct dest *d, uint32_t n)
{
	const struct fabric *f = w->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		const uint8_t *row = tables_row(w->t, u);

		for (uint32_t k = 0; k < n; k++) {
			uint8_t port = row[d[k].lid];
			uint32_t c =
				port <= f->sw_nports[u] ? w->out[f->port_off[u] + port] : FAB_NONE;

			w->hop[(size_t)k * f->nsw + u] = c == FAB_NONE ? c : f->chan_dst[c];
		}
	}
}

/* Does every switch lead to the root?  If not, *from is one that does not. */
static bool sar_installed_all_lead(struct walker *w, const uint32_t *hop, uint32_t root,
				   uint32_t *from)
{
	memset(w->leads, 0, w->f->nsw * sizeof(*w->leads));
	w->leads[root] = true;
	for (*from = 0; *from < w->f->nsw; ++*from) {
		uint32_t n = 0, u;

		for (u = *from; !w->leads[u]; u = hop[u])
			if (hop[u] == FAB_NONE || ++n == w->f->nsw)
				return false;
		for (u = *from; !w->leads[u]; u = hop[u])
			w->leads[u] = true;
	}
	return true;
}

static bool sar_installed_check_batch(struct walker *w, const struct dest *d, uint32_t n,
				      struct err *err)
{
	sar_installed_gather(w, d, n);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t from = d[k].sw;

		if (tables_row(w->t, from)[d[k].lid] == d[k].port &&
		    sar_installed_all_lead(w, w->hop + (size_t)k * w->f->nsw, d[k].sw, &from))
			continue;
		err_set(err, -EINVAL, "they do not lead from switch %s to LID %u",
			w->f->sw_name[from], d[k].lid);
		return false;
	}
	return true;
}

int sar_installed_check(bool *usable, const struct tables *t, const struct fabric *f, uint8_t lmc,
			struct progress *progress, struct err *why)
{
	struct walker w = { .f = f, .t = t };
	struct arena *mem;
	struct dest *dests;
	struct pace pace;
	uint32_t n;
	int rc;

	*usable = false;
	if (!digest_equal(&t->fingerprint, &f->fingerprint) || t->nsw != f->nsw ||
	    t->nend != f->nend || t->max_lid != f->max_lid) {
		err_set(why, -EINVAL, "they are of another fabric");
		return 0;
	}
	dests = graph_dests_by_lid(&n, f, lmc);
	mem = arena_new();
	w.out = arena_alloc(mem, f->nport, sizeof(*w.out));
	for (uint32_t p = 0; p < f->nport; p++)
		w.out[p] = f->port[p].chan;
	w.hop = arena_alloc(mem, (size_t)f->nsw * BATCH, sizeof(*w.hop));
	w.leads = arena_alloc(mem, f->nsw, sizeof(*w.leads));
	rc = pace_begin(&pace, progress, "paths", n + 1ull) ? -ECANCELED : 0;
	*usable = true;
	for (uint32_t i = 0; i < n && *usable && !rc; i += BATCH) {
		uint32_t k = n - i < BATCH ? n - i : BATCH;

		*usable = sar_installed_check_batch(&w, dests + i, k, why);
		rc = pace_tick(&pace, i, 4ull * k * f->nsw) ? -ECANCELED : 0;
	}
	free(dests);
	arena_free(mem);
	return rc;
}

void sar_installed_copy_lfts(struct tables *out, const struct tables *t)
{
	memcpy(out->lft, t->lft, (size_t)t->nsw * t->stride);
}

static int sar_installed_sound(bool *ok, const struct tables *t, const struct fabric *f,
			       const struct engine_params *params, struct progress *progress,
			       struct err *err)
{
	struct verdict *v;
	int rc = layers_verdict(&v, f, t, params->threads, progress, err);

	if (rc)
		return rc;
	*ok = verdict_ok(v) && v->vls_used <= graph_vls(f, params);
	verdict_free(v);
	return 0;
}

static void sar_installed_copy(struct tables *out, const struct tables *t, const struct fabric *f)
{
	size_t rows = tables_sl_rows(t->sl_kind, t->nsw, t->nend);

	sar_installed_copy_lfts(out, t);
	tables_sl_form(out, t->sl_kind, f);
	out->sl_const = t->sl_const;
	if (rows)
		memcpy(out->sl, t->sl, rows * t->stride);
	tables_sl2vl_form(out, t->sl2vl_kind, f);
	if (t->sl2vl_kind != SL2VL_IDENTITY)
		memcpy(out->sl2vl, t->sl2vl, tables_sl2vl_bytes(t));
	out->vls = t->vls;
	out->sls = t->sls;
}

int sar_installed_keep(struct tables **out, const struct fabric *f,
		       const struct engine_params *params, struct progress *progress,
		       struct err *err)
{
	const struct tables *current = params->current;
	struct tables *t;
	bool sound = false;
	int rc = 0;

	if (!params->escape)
		rc = sar_installed_sound(&sound, current, f, params, progress, err);
	if (rc)
		return rc;
	t = graph_tables(f, "sar", params, progress);
	if (sound) {
		sar_installed_copy(t, current, f);
	} else {
		sar_installed_copy_lfts(t, current);
		rc = vl_layers_assign(t, f, params, progress, err);
	}
	if (rc)
		tables_put(t);
	else
		*out = t;
	return rc;
}

uint64_t sar_installed_blocks(const struct fabric *f)
{
	uint64_t n = 0;

	for (uint32_t lid = 0; lid <= f->max_lid;) {
		if (f->lid_end[lid] == FAB_NONE) {
			lid++;
			continue;
		}
		n += f->nsw;
		lid += LFT_BLOCK - lid % LFT_BLOCK;
	}
	return n;
}

uint64_t sar_installed_budget(const struct fabric *f, const struct engine_params *params)
{
	bool given = params->sar_change > 0;
	double share = given ? params->sar_change : BUDGET;
	uint64_t blocks = (uint64_t)(share * (double)sar_installed_blocks(f));
	uint64_t least = given ? 1 : BUDGET_LEAST;

	return blocks > least ? blocks : least;
}
