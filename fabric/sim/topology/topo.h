/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topo: fabrics made from a line of text, "type:key=value,key=value,...".
 *
 * Examples: "fattree2:leaves=18,spines=18,hosts=18", "hyperx:dims=12x8,hosts=7,fail=15",
 * "dragonfly:p=8", "xgft:h=3,m=18x18x36,w=1x18x18".  topo_types() lists what there is.
 * The same text gives the same fabric on every machine.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/builder.h"

#include <stddef.h>

struct topo_key {
	const char *name;
	const char *fallback; /* value when left out, as text for people; NULL: must be given */
	const char *what;
};

struct topo_net;
struct topo_spec;

struct topo_type {
	const char *name;
	const char *summary;
	const char *example;
	const struct topo_key *keys; /* ends with a NULL name */
	int (*make)(struct topo_net *net, const struct topo_spec *spec, struct err *err);
};

/* The types in the order of --help; the keys that every type takes, ended by a NULL name. */
const struct topo_type *const *topo_types(size_t *n);
const struct topo_key *topo_common_keys(void);

/*
 * Builds the fabric of that text; the caller owns the builder and freezes it.
 *
 * Switch i has node GUID 0x0002000000000000 + 16 i, host i 0x0001000000000000 + 16 i with
 * its port one above; hosts are on the lowest ports of their switch.  LIDs are left to
 * builder_freeze() unless the text has lids=random or lmc=, then the builder carries them.
 * Failed cables leave their port numbers free.
 *
 * -EINVAL: the sentence names the key and what is allowed; -ENOSPC: too large.
 */
int topo_build(struct builder **out, const char *spec, struct err *err);
