/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host_names: what ends are called, and whether a name is that of one host.
 *
 * A NodeDescription is a label that root on any node can change.  Ends of one name are taken for
 * the ports of one host if they are of one node (node GUID), of one machine (system image GUID), or
 * if the rest of the description names the devices apart ("n0031 mlx5_0", "n0031 mlx5_1"), or if
 * the node-name-map gives all of them that name.  Otherwise the name is ambiguous.
 */
#pragma once

#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/topology/name_map.h"

#include <stddef.h>
#include <stdint.h>

/* Where the map gives an end the name that another host has by its description, it is the end's in
 * the map: the other gets the end of its node GUID to it.  Then fills in term_by_name,
 * term_ambiguous and nambiguous.  For whoever makes a fabric.  O(nend log nend). */
void host_names_index(struct fabric *f);
/* The name of an end of that description: its first word, or the node GUID.  From the arena. */
char *host_names_of_desc(struct arena *a, const char *desc, uint64_t node_guid);

/* What the node-name-map said of its ends; the caller frees. */
struct name_map *host_names_map(const struct fabric *f);

/* Do two descriptions give the same name?  A file has ' for " and blanks for what is no text. */
bool host_names_same_desc(const char *a, const char *b);

/* The same fabric, other descriptions: desc has nend of them, NULL: as it was.  Shares f's arrays;
 * the caller owns one reference. */
struct fabric *fabric_renamed(const struct fabric *f, char *const *desc);

/* The ends that share the name of a counted one, itself included: how many, and the first of them
 * in term_by_name. */
uint32_t host_names_twins(const struct fabric *f, uint32_t term, uint32_t *first);
/* "n0003: port GUIDs 0x0000000000200001 (S1/3) and 0x... (S4/7)", at most three of them. */
void host_names_text(char *buf, size_t size, const struct fabric *f, uint32_t term);
/* The next ambiguous name behind position i of term_by_name: the position of its first end, or
 * FAB_NONE.  Begin with 0. */
uint32_t host_names_next_ambiguous(const struct fabric *f, uint32_t i);
