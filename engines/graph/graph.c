/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/graph.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILL_BYTES (4u << 20) /* of tables between two reports */
#define PAGE_BYTES 4096

uint8_t graph_lmc(const struct fabric *f, const struct engine_params *params)
{
	return (uint8_t)(f->lmc - (params && params->escape && f->lmc));
}

uint32_t graph_end_dests(struct dest *out, const struct fabric *f, uint8_t lmc, uint32_t end)
{
	if (end >= f->nend) {
		uint32_t sw = end - f->nend;

		*out = (struct dest){ .sw = sw, .end = end, .lid = f->sw_lid[sw] };
		return 1;
	}
	for (uint32_t k = 0; k < 1u << lmc; k++)
		out[k] = (struct dest){ .sw = f->term_sw[end],
					.end = end,
					.lid = (uint16_t)(f->term_lid[end] + k),
					.port = f->term_port[end] };
	return 1u << lmc;
}

uint32_t graph_count_lids(const struct fabric *f, uint8_t lmc)
{
	return (f->nend << lmc) + f->nsw;
}

static int graph_dest_class(const struct fabric *f, uint32_t end)
{
	return end < f->nterm ? 0 : end < f->nend ? 1 : 2;
}

struct dest *graph_dests_by_lid(uint32_t *n, const struct fabric *f, uint8_t lmc)
{
	struct dest *out = xcalloc(graph_count_lids(f, lmc), sizeof(*out));

	*n = 0;
	for (int class = 0; class < 3; class ++) {
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			uint32_t end = f->lid_end[lid];
			uint8_t port;

			if (end == FAB_NONE || graph_dest_class(f, end) != class)
				continue;
			if (end < f->nend && lid - f->term_lid[end] >= 1u << lmc)
				continue;
			out[*n].sw = fabric_lid_switch(f, lid, &port);
			out[*n].end = end;
			out[*n].lid = (uint16_t)lid;
			out[(*n)++].port = port;
		}
	}
	return out;
}

struct dest *graph_dests_by_switch(uint32_t *n, const struct fabric *f, uint8_t lmc)
{
	return graph_dests_in_order(n, f, lmc, NULL);
}

struct dest *graph_dests_in_order(uint32_t *n, const struct fabric *f, uint8_t lmc,
				  const uint32_t *switches)
{
	struct dest *out = xcalloc(graph_count_lids(f, lmc) + 128, sizeof(*out));

	*n = 0;
	for (int terms = 1; terms >= 0; terms--) {
		for (uint32_t i = 0; i < f->nsw; i++) {
			uint32_t u = switches ? switches[i] : i;

			for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1]; k++)
				if ((f->term_list[k] < f->nterm) == terms)
					*n += graph_end_dests(out + *n, f, lmc, f->term_list[k]);
			if (!terms)
				*n += graph_end_dests(out + *n, f, lmc, f->nend + u);
		}
	}
	return out;
}

/* Something on the switch that an operator knows by name. */
static void graph_name_of(char *buf, size_t len, const struct fabric *f, uint32_t sw)
{
	if (f->term_off[sw] < f->term_off[sw + 1])
		snprintf(buf, len, "%s (on switch %s)", f->term_name[f->term_list[f->term_off[sw]]],
			 f->sw_name[sw]);
	else
		snprintf(buf, len, "switch %s", f->sw_name[sw]);
}

/* Prefers a pair with terminals on both sides. */
static int graph_refuse_disconnected(const struct fabric *f, const uint32_t *hops, struct err *err)
{
	uint32_t side[2] = { FAB_NONE, FAB_NONE };
	char a[160], b[160];

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t *s = &side[hops[u] != FAB_NONE];

		if (*s == FAB_NONE || (!f->sw_nterm[*s] && f->sw_nterm[u]))
			*s = u;
	}
	graph_name_of(a, sizeof(a), f, side[1]);
	graph_name_of(b, sizeof(b), f, side[0]);
	return err_set(
		err, -ENETUNREACH,
		"the fabric is not connected: no cables lead from %s to %s; connect the parts or "
		"route them separately",
		a, b);
}

int graph_check_connected(const struct fabric *f, struct err *err)
{
	uint32_t *queue, *hops;
	int rc = 0;

	if (!f->nsw)
		return err_set(err, -EINVAL,
			       "the fabric has no switch, so there is nothing to route");
	queue = xcalloc(f->nsw, sizeof(*queue));
	hops = xcalloc(f->nsw, sizeof(*hops));
	if (fabric_hops(hops, queue, f, 1) < f->nsw)
		rc = graph_refuse_disconnected(f, hops, err);
	free(hops);
	free(queue);
	return rc;
}

unsigned graph_vls(const struct fabric *f, const struct engine_params *params)
{
	unsigned vls = params ? params->vls : 0;

	if (!vls)
		vls = fabric_min_op_vls(f);
	if (!vls)
		vls = 8;
	return vls < 15 ? vls : 15;
}

/* New rows, some at a time, which threads take. */
struct filling {
	uint8_t *row;
	size_t stride;
	uint32_t n, slice;
	uint8_t with;
	struct progress *progress;
	const char *step;
};

static bool graph_fill_some(void *ctx, unsigned worker, uint32_t i)
{
	const struct filling *x = ctx;
	uint32_t from = i * x->slice, left = x->n - from, n = left < x->slice ? left : x->slice;

	memset(x->row + from * x->stride, x->with, n * x->stride);
	return !worker && i && progress_step(x->progress, x->step, 0, x->n);
}

/* The first look at many pages takes long.  pool: NULL, or threads that share it. */
static void graph_fill(struct filling *x, struct pool *pool)
{
	uint32_t n;
	bool stop = false;

	x->slice = FILL_BYTES / (uint32_t)x->stride + 1;
	n = (x->n + x->slice - 1) / x->slice;
	if (pool)
		pool_for(pool, n, graph_fill_some, x);
	for (uint32_t i = 0; i < n && !pool && !stop; i++)
		stop = graph_fill_some(x, 0, i); /* the next step says so */
}

struct tables *graph_tables(const struct fabric *f, const char *engine,
			    const struct engine_params *params, struct progress *progress)
{
	struct tables *t = tables_new_blank(f, engine);
	struct filling x = { t->lft, t->stride, f->nsw, 0, FAB_NO_PORT, progress, "paths" };
	bool large = (size_t)f->nsw * t->stride > FILL_BYTES;
	struct pool *pool = large && params ? pool_new(params->threads) : NULL;

	graph_fill(&x, pool);
	pool_free(pool);
	snprintf(t->params, sizeof(t->params), "vls=%u%s", graph_vls(f, params),
		 params && params->ignore_rates ? ",ignore-rates" : "");
	t->seed = params ? params->seed : 0;
	return t;
}

void graph_sls_by_switch(struct tables *t, const struct fabric *f, struct pool *pool,
			 struct progress *progress, const char *step)
{
	struct filling x = { NULL, t->stride, f->nsw, 0, 0, progress, step };

	tables_sl_form(t, SL_BY_SWITCH, f);
	x.row = t->sl;
	graph_fill(&x, pool);
}

void pace_touch(struct pace *p, void *block, size_t bytes)
{
	volatile uint8_t *page = block;

	for (size_t at = 0; at < bytes; at += PAGE_BYTES) {
		page[at] = 0;
		if (at && at % FILL_BYTES == 0 &&
		    progress_step(p->progress, p->step, p->done, p->total))
			return;
	}
}

void turns_init(struct turns *t, const struct fabric *f)
{
	t->base = xcalloc(f->nchan, sizeof(*t->base));
	t->n = 0;
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t v = f->chan_dst[c];

		t->base[c] = t->n - f->chan_off[v];
		t->n += f->chan_off[v + 1] - f->chan_off[v];
	}
}

void turns_done(struct turns *t)
{
	free(t->base);
	t->base = NULL;
}
