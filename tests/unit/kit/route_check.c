/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/route_check.h"

#include "engines/graph/balance/balanced_sssp.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct tables *must_route(const struct engine *e, const struct fabric *f, const struct jobset *jobs,
			  const struct engine_params *params)
{
	struct engine_params none = { 0 };
	struct tables *t = NULL;
	struct err err = { "" };
	int rc = engine_run(e, &t, f, jobs, NULL, params ? params : &none, NULL, &err);

	if (rc)
		fail_msg("%s on %u switches: %s", e->name, f->nsw, err.text);
	assert_string_equal(t->engine, e->name);
	return t;
}

struct tables *even_paths(const struct fabric *f)
{
	static const struct balanced_sssp_how how = { .rounds = BALANCED_SSSP_ROUNDS };
	struct engine_params params = { .vls = 15 };
	struct tables *t = tables_new(f, "dfsssp");

	assert_int_equal(balanced_sssp_route(t, f, &params, &how, NULL), 0);
	assert_int_equal(vl_layers_assign(t, f, &params, NULL, NULL), 0);
	return t;
}

/* Channel that a switch uses for a LID; FAB_NONE when it ends there. */
static uint32_t next_chan(const struct fabric *f, const struct tables *t, uint32_t sw, uint32_t lid)
{
	uint8_t out, port = tables_row(t, sw)[lid];
	uint32_t c, dst = fabric_lid_switch(f, lid, &out);

	if (sw == dst) {
		assert_int_equal(port, out);
		return FAB_NONE;
	}
	c = fabric_chan(f, sw, port);
	if (c == FAB_NONE)
		fail_msg("switch %u has no channel on port %u for LID %u", sw, port, lid);
	return c;
}

static uint32_t walk(const struct fabric *f, const struct tables *t, uint32_t sw, uint32_t lid)
{
	uint32_t c, hops = 0;

	while ((c = next_chan(f, t, sw, lid)) != FAB_NONE) {
		sw = f->chan_dst[c];
		if (++hops > f->nsw)
			fail_msg("LID %u goes in circles at switch %u", lid, sw);
	}
	return hops;
}

void assert_complete(const struct fabric *f, const struct tables *t)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		for (uint32_t u = 0; u < f->nsw; u++) {
			if (f->lid_end[lid] == FAB_NONE)
				assert_int_equal(tables_row(t, u)[lid], FAB_NO_PORT);
			else
				walk(f, t, u, lid);
		}
	}
}

void bfs_hops(uint32_t *hops, const struct fabric *f, uint32_t from)
{
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue)), head = 0, tail = 0;

	memset(hops, 0xff, f->nsw * sizeof(*hops));
	hops[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t u = queue[head++];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (hops[v] != FAB_NONE)
				continue;
			hops[v] = hops[u] + 1;
			queue[tail++] = v;
		}
	}
	free(queue);
}

void assert_shortest(const struct fabric *f, const struct tables *t)
{
	uint32_t *hops = xcalloc(f->nsw, sizeof(*hops));

	for (uint32_t u = 0; u < f->nsw; u++) {
		bfs_hops(hops, f, u);
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			uint8_t port;
			uint32_t dst = fabric_lid_switch(f, lid, &port);

			if (dst != FAB_NONE)
				assert_int_equal(walk(f, t, u, lid), hops[dst]);
		}
	}
	free(hops);
}

/* Marks the turns of every path from a switch with terminals, by VL. */
static void mark_turns(bool *turn, const struct fabric *f, const struct tables *t, unsigned vl)
{
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		for (uint32_t u = 0; u < f->nsw && f->lid_end[lid] != FAB_NONE; u++) {
			uint32_t sw = u, last = FAB_NONE, c;

			if (f->term_off[u] == f->term_off[u + 1] ||
			    tables_path_sl(t, f->term_list[f->term_off[u]], u, lid) != vl)
				continue;
			while ((c = next_chan(f, t, sw, lid)) != FAB_NONE) {
				if (last != FAB_NONE)
					turn[(size_t)last * f->nchan + c] = true;
				last = c;
				sw = f->chan_dst[c];
			}
		}
	}
}

/* Takes away channels that no other one leads to until none is left. */
static uint32_t count_in_cycles(const bool *turn, uint32_t n)
{
	bool *gone = xcalloc(n, sizeof(*gone)), more = true;
	uint32_t left = n;

	while (more) {
		more = false;
		for (uint32_t c = 0; c < n; c++) {
			bool led = false;

			for (uint32_t b = 0; b < n && !gone[c]; b++)
				led |= !gone[b] && turn[(size_t)b * n + c];
			if (gone[c] || led)
				continue;
			gone[c] = more = true;
			left--;
		}
	}
	free(gone);
	return left;
}

void assert_no_deadlock(const struct fabric *f, const struct tables *t)
{
	assert_int_equal(t->sl2vl_kind, SL2VL_IDENTITY);
	assert_in_range(t->vls, 1, 15);
	for (unsigned vl = 0; vl < FAB_SLS; vl++) {
		bool *turn = xcalloc((size_t)f->nchan * f->nchan, sizeof(*turn));

		mark_turns(turn, f, t, vl);
		if (vl >= t->vls)
			assert_null(memchr(turn, true, (size_t)f->nchan * f->nchan));
		assert_int_equal(count_in_cycles(turn, f->nchan), 0);
		free(turn);
	}
}

void assert_same_tables(const struct tables *a, const struct tables *b)
{
	assert_int_equal(a->stride, b->stride);
	assert_memory_equal(a->lft, b->lft, (size_t)a->nsw * a->stride);
	assert_int_equal(a->sl_kind, b->sl_kind);
	assert_int_equal(a->vls, b->vls);
	if (a->sl_kind == SL_BY_DLID)
		assert_memory_equal(a->sl, b->sl, a->stride);
	if (a->sl_kind == SL_BY_SWITCH)
		assert_memory_equal(a->sl, b->sl, (size_t)a->nsw * a->stride);
}

static uint64_t *count_pairs(const struct fabric *f, const struct tables *t, const int *job)
{
	uint64_t *routes = xcalloc(f->nchan, sizeof(*routes));

	for (uint32_t s = 0; s < f->nterm; s++) {
		for (uint32_t d = 0; d < f->nterm; d++) {
			uint32_t sw = f->term_sw[s], c;

			if (s == d || (job && (job[s] != job[d] || job[s] < 0)))
				continue;
			while ((c = next_chan(f, t, sw, f->term_lid[d])) != FAB_NONE) {
				routes[c]++;
				sw = f->chan_dst[c];
			}
		}
	}
	return routes;
}

static uint64_t max_of(uint64_t *routes, uint32_t n)
{
	uint64_t max = 0;

	for (uint32_t c = 0; c < n; c++)
		max = routes[c] > max ? routes[c] : max;
	free(routes);
	return max;
}

uint64_t *count_routes(const struct fabric *f, const struct tables *t)
{
	return count_pairs(f, t, NULL);
}

uint64_t max_routes(const struct fabric *f, const struct tables *t)
{
	return max_of(count_pairs(f, t, NULL), f->nchan);
}

uint64_t max_job_routes(const struct fabric *f, const struct tables *t, const int *job)
{
	return max_of(count_pairs(f, t, job), f->nchan);
}

uint64_t *naive_costs(const struct fabric *f, const uint64_t *load, uint32_t dst)
{
	uint64_t base = 1ull << 32, *cost = xcalloc(f->nsw, sizeof(*cost));
	bool more = true;

	for (uint32_t u = 0; u < f->nsw; u++)
		cost[u] = u == dst ? 0 : UINT64_MAX / 2;
	while (more) {
		more = false;
		for (uint32_t c = 0; c < f->nchan; c++) {
			uint64_t v = cost[f->chan_dst[c]] + base + load[c];

			if (v >= cost[f->chan_src[c]])
				continue;
			cost[f->chan_src[c]] = v;
			more = true;
		}
	}
	return cost;
}
