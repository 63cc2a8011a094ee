/* SPDX-License-Identifier: GPL-2.0-or-later */
/* small_net: small fabrics for the tests of the engines, cable by cable. */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdint.h>

struct net_opts {
	int lmc;
	uint64_t random_lids; /* seed; 0: LIDs in GUID order */
	uint32_t storage;     /* so many of the last hosts are storage */
	uint32_t aggregation; /* aggregation nodes, on switches 0, 1, ... */
};

/* opts may be NULL.  Hosts are "n0000" onwards, switch by switch.  The caller owns them. */
struct fabric *net_tree(uint32_t leaves, uint32_t spines, uint32_t hosts, const struct net_opts *o);
/* The same with a host on the first two spines each, and without the cable of the last leaf to
 * the last spine. */
struct fabric *net_broken_tree(uint32_t leaves, uint32_t spines, uint32_t hosts);
/* The last leaf and the spines have a single host each. */
struct fabric *net_uneven_tree(uint32_t leaves, uint32_t spines, uint32_t hosts);
struct fabric *net_ring(uint32_t switches, uint32_t hosts, const struct net_opts *o);
/* A chain that is cut behind switch cut (FAB_NONE: whole). */
struct fabric *net_chain(uint32_t switches, uint32_t hosts, uint32_t cut, const struct net_opts *o);
struct fabric *net_torus(uint32_t x, uint32_t y, uint32_t hosts, const struct net_opts *o);
/* One switch in the middle of the others, which are also a ring. */
struct fabric *net_star(uint32_t rays);
/* Connected, with parallel cables now and then; 0..hosts hosts on each switch. */
struct fabric *net_random(uint64_t seed, uint32_t switches, uint32_t links, uint32_t hosts,
			  const struct net_opts *o);

/* Sets the data rate of both directions of a channel's cable. */
void net_set_rate(struct fabric *f, uint32_t chan, uint32_t Mbps);

/* The same of the end that the channel leaves only. */
void net_set_rate_of_end(struct fabric *f, uint32_t chan, uint32_t Mbps);

/* What the generators make of that line of text; fails the test with their sentence. */
struct fabric *net_spec(const char *spec);

/* The same, where wanted with a cable between the first two switches, which are leaves, and with an
 * aggregation node on each switch. */
struct fabric *net_with_extras(const struct fabric *f, bool beside, bool aggregation);
