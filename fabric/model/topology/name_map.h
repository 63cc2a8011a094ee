/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_map: what administrators say of nodes: their own names, as in infiniband-diags'
 * --node-name-map, and which hosts are for storage and I/O. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct name_map;

struct name_map *name_map_new(void);
void name_map_free(struct name_map *m);					     /* NULL is fine */
void name_map_add(struct name_map *m, uint64_t node_guid, const char *name); /* last one wins */
/* Calls fn for each name, ascending by GUID. */
void name_map_each(const struct name_map *m,
		   void (*fn)(void *ctx, uint64_t node_guid, const char *name), void *ctx);
/* Of storage and I/O: the hosts of that name, or the port or node of that GUID. */
void name_map_add_io(struct name_map *m, const char *name);
void name_map_add_io_guid(struct name_map *m, uint64_t guid);
/* m may be NULL. */
bool name_map_is_io(const struct name_map *m, const char *name, uint64_t port_guid,
		    uint64_t node_guid);
/* NULL when the map (or m itself) has no name for the node. */
const char *name_map_find(const struct name_map *m, uint64_t node_guid);
