/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fabkit: tables and jobs for the tests of verify and metrics, made without any engine. */
#pragma once

#include "fabric/base/hash/rng.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

/* Shortest ways, over the first channel that is nearer; missing where there is none. */
struct tables *kit_bfs(const struct fabric *f);
/* Always on to switch sw + 1 modulo nsw (net_ring). */
struct tables *kit_clockwise(const struct fabric *f);
/* On a ring (net_ring) as on a chain: without the cable between switch cut and the next one. */
struct tables *kit_cut_ring(const struct fabric *f, uint32_t cut);
/* Per LID a random tree towards its switch: complete, rarely shortest. */
struct tables *kit_random_trees(const struct fabric *f, struct rng *r);

/* First channel from a switch to another; fails the test when there is none. */
uint32_t kit_chan(const struct fabric *f, uint32_t from, uint32_t to);

/* Fill every entry of that form with random values below n. */
void kit_random_sl(struct tables *t, const struct fabric *f, enum sl_kind kind, uint32_t n,
		   struct rng *r);
void kit_random_sl2vl(struct tables *t, const struct fabric *f, enum sl2vl_kind kind, uint32_t n,
		      struct rng *r);

/* Job k consists of the terminals with bit k in member[term]; k < njob <= 64. */
struct jobset *kit_jobs(const struct fabric *f, const uint64_t *member, uint32_t njob);
/* Every terminal in each of njob jobs with that chance (per cent). */
struct jobset *kit_random_jobs(const struct fabric *f, uint32_t njob, uint32_t chance,
			       struct rng *r);
/* Jobs of 2 to most hosts until none is left, side by side or scattered at random. */
struct jobset *kit_placed_jobs(const struct fabric *f, uint64_t seed, uint32_t most,
			       bool scattered);
