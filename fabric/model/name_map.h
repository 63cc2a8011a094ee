/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_map: the administrators' own names, as in infiniband-diags' --node-name-map. */
#pragma once

#include <stdint.h>

struct name_map;

struct name_map *name_map_new(void);
void name_map_free(struct name_map *m);					     /* NULL is fine */
void name_map_add(struct name_map *m, uint64_t node_guid, const char *name); /* last one wins */
/* Calls fn for each name, ascending by GUID. */
void name_map_each(const struct name_map *m,
		   void (*fn)(void *ctx, uint64_t node_guid, const char *name), void *ctx);
/* NULL when the map (or m itself) has no name for the node. */
const char *name_map_find(const struct name_map *m, uint64_t node_guid);
