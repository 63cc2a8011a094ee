/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_net: switches, hosts per switch and cables, while a generator draws them. */
#pragma once

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stdint.h>

struct topo_group {
	const char *prefix; /* of the names: "leaf" gives leaf01, leaf02, ... */
	uint32_t first, count;
};

struct topo_cable {
	uint32_t a, b;
	bool failed; /* the ports stay, the cable is gone */
};

struct topo_net {
	VEC(struct topo_group) groups;
	VEC(struct topo_cable) cables;
	VEC(uint32_t) nports; /* of each switch, hosts included */
	VEC(uint32_t) hosts;  /* on each switch, on its first ports */
	uint32_t nhost;
	uint32_t overfull; /* first switch that ran out of ports; UINT32_MAX none */
};

void topo_net_init(struct topo_net *net);
void topo_net_free(struct topo_net *net);

/* Adds switches of one kind; first, when not NULL, is the index of the first of them.
 * -ENOSPC: more switches and hosts than a subnet has LIDs. */
int topo_net_group(uint32_t *first, struct topo_net *net, const char *prefix, uint64_t count,
		   uint64_t hosts, struct err *err);

/* Puts more hosts on a switch; before its first cable. */
void topo_net_more_hosts(struct topo_net *net, uint32_t sw, uint32_t n);

/* Adds n parallel cables.  A switch without free ports is reported by topo_net_check(). */
void topo_net_cable(struct topo_net *net, uint32_t a, uint32_t b, uint32_t n);
int topo_net_check(const struct topo_net *net, struct err *err);

/* Name of a switch: its group's prefix and its number, padded to the width of the last. */
void topo_net_name(char *buf, size_t len, const struct topo_net *net, uint32_t sw);

/* Lets that many cables fail at random; without disconnect only such that every two switches
 * stay connected: -EINVAL when there are not enough of them. */
int topo_net_fail(struct topo_net *net, uint64_t count, bool disconnect, struct rng *rng,
		  struct err *err);
