/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/repair_state.h"

#include "engines/graph/lft_columns.h"
#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void repair_state_copy_sls(struct tables *t, const struct tables *was,
				  const struct fabric *f)
{
	tables_sl_form(t, was->sl_kind, f);
	t->sl_const = was->sl_const;
	if (t->sl)
		memcpy(t->sl, was->sl, tables_sl_bytes(t));
	tables_sl2vl_form(t, was->sl2vl_kind, f);
	if (t->sl2vl)
		memcpy(t->sl2vl, was->sl2vl, tables_sl2vl_bytes(t));
}

/* Who adds the escape LIDs finds none. */
static void repair_state_drop_escape(struct tables *t, const struct fabric *f)
{
	size_t rows = tables_sl_rows(t->sl_kind, t->nsw, t->nend);

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		if (!fabric_lid_escape(f, lid))
			continue;
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			tables_row(t, sw)[lid] = FAB_NO_PORT;
		for (size_t i = 0; i < rows; i++)
			t->sl[i * t->stride + lid] = 0;
	}
}

void repair_state_begin(struct repair_state *r)
{
	struct tables *t = tables_new_blank(r->f, "repair");

	tables_put(r->t);
	memcpy(t->lft, r->was->lft, (size_t)t->nsw * t->stride);
	repair_state_copy_sls(t, r->was, r->f);
	if (r->params->escape)
		repair_state_drop_escape(t, r->f);
	t->vls = (uint8_t)repair_state_vls(r->was);
	t->sls = r->was->escape ? 0 : r->was->sls;
	t->seed = r->params->seed;
	snprintf(t->params, sizeof(t->params), "from %s%s", r->was->engine,
		 r->params->ignore_rates ? ",ignore-rates" : "");
	r->t = t;
}

/* Do packets of both ends get the same VLs, whatever port of their switch they leave by? */
static bool repair_state_alike(const struct repair_state *r, uint32_t a, uint32_t b)
{
	const struct fabric *f = r->f;
	uint32_t sw = f->term_sw[a];

	if (r->was->sl_kind == SL_BY_TERM)
		return false;
	if (r->was->sl2vl_kind != SL2VL_FULL)
		return true;
	return !memcmp(tables_sl2vl_row(r->was, sw, f->term_port[a], 0),
		       tables_sl2vl_row(r->was, sw, f->term_port[b], 0),
		       (f->sw_nports[sw] + 1u) * (size_t)FAB_SLS);
}

static void repair_state_find_sources(struct repair_state *r)
{
	const struct fabric *f = r->f;
	uint32_t n = 0;

	r->source_off = xcalloc(f->nsw + 1u, sizeof(*r->source_off));
	r->source = xcalloc(f->nend, sizeof(*r->source));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++) {
			uint32_t end = f->term_list[k], i = r->source_off[sw];

			while (i < n && !repair_state_alike(r, r->source[i], end))
				i++;
			if (i == n)
				r->source[n++] = end;
		}
		r->source_off[sw + 1] = n;
	}
}

uint32_t repair_state_siblings(const struct repair_state *r, const struct dest *d, uint32_t chan)
{
	const struct fabric *f = r->f;
	const uint8_t *row = tables_row(r->t, f->chan_src[chan]);
	uint32_t offset, n = 0;

	if (!repair_state_counts(r, d) || !f->sw_nterm[f->chan_src[chan]])
		return 0;
	offset = d->lid - f->term_lid[d->end];
	for (uint32_t k = f->term_off[d->sw]; k < f->term_off[d->sw + 1]; k++)
		n += f->term_list[k] != d->end &&
		     row[f->term_lid[f->term_list[k]] + offset] == f->chan_port[chan];
	return n;
}

void repair_state_forget_led(struct repair_state *r)
{
	while (r->nled)
		r->led[r->led_list[--r->nled]] = 0;
}

void repair_state_init(struct repair_state *r, const struct fabric *f,
		       const struct engine_params *params)
{
	unsigned vls = graph_vls(f, params), installed;

	memset(r, 0, sizeof(*r));
	r->f = f;
	r->params = params;
	r->was = params->current;
	installed = repair_state_vls(r->was);
	r->nvl = installed && installed < vls ? installed + 1 : vls;
	repair_state_begin(r);
	r->dests = graph_dests_by_switch(&r->ndest, f, graph_lmc(f, params));
	r->out = lft_columns_ports(f);
	r->down = xcalloc(f->nchan, sizeof(*r->down));
	r->gone = xcalloc(f->nsw, sizeof(*r->gone));
	r->broken = xcalloc(r->ndest, sizeof(*r->broken));
	r->load = xcalloc(f->nchan, sizeof(*r->load));
	r->led = xcalloc(f->nsw, sizeof(*r->led));
	r->led_list = xcalloc(f->nsw, sizeof(*r->led_list));
	chan_weights_init(&r->weights, f, params->ignore_rates);
	repair_state_find_sources(r);
}

void repair_state_count_vls(struct repair_state *r)
{
	unsigned vls = r->vls ? 32 - (unsigned)__builtin_clz(r->vls) : 1;
	unsigned sls = r->sls ? 32 - (unsigned)__builtin_clz(r->sls) : 1;

	if (r->t->vls < vls)
		r->t->vls = (uint8_t)vls;
	if (r->t->sls < sls)
		r->t->sls = (uint8_t)sls;
}

void repair_state_done(struct repair_state *r)
{
	tables_put(r->t);
	free(r->dests);
	free(r->out);
	free(r->down);
	free(r->gone);
	free(r->broken);
	free(r->load);
	free(r->led);
	free(r->led_list);
	chan_weights_done(&r->weights);
	dependencies_free(r->deps);
	free(r->source_off);
	free(r->source);
	memset(r, 0, sizeof(*r));
}
