/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route_check: what every engine promises, looked at by walking its tables. */
#pragma once

#include "engines/engine.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

/* Routes, or fails the test with the engine's sentence. */
struct tables *must_route(const struct engine *e, const struct fabric *f, const struct jobset *jobs,
			  const struct engine_params *params);

/* Shortest paths, evenly loaded, with the VLs that they need: tables that engines can improve. */
struct tables *even_paths(const struct fabric *f);

/* Every switch reaches every LID in use; fails the test otherwise. */
void assert_complete(const struct fabric *f, const struct tables *t);

/* No path is longer than a breadth-first search of its own finds. */
void assert_shortest(const struct fabric *f, const struct tables *t);

/* The dependency graph of the paths from all ends has no cycle on any VL. */
void assert_no_deadlock(const struct fabric *f, const struct tables *t);

/* Equal bytes in LFT and SL. */
void assert_same_tables(const struct tables *a, const struct tables *b);

/* Hops from a switch to every other. */
void bfs_hops(uint32_t *hops, const struct fabric *f, uint32_t from);

/* Costs from every switch to dst by Bellman-Ford with weights P^2 + load, as the papers have them;
 * the caller frees them. */
uint64_t *naive_costs(const struct fabric *f, const uint64_t *load, uint32_t dst);

/* Routes over each channel: one per ordered pair of terminals, to the base LID. */
uint64_t *count_routes(const struct fabric *f, const struct tables *t);
uint64_t max_routes(const struct fabric *f, const struct tables *t);
/* The same for the pairs with equal job[term] >= 0. */
uint64_t max_job_routes(const struct fabric *f, const struct tables *t, const int *job);
