/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibnd_ids: from the quoted id of a node to its number in the builder. */
#pragma once

#include "fabric/model/topology/builder.h"

#include <stdbool.h>
#include <stdint.h>

struct ibnd_ids;

struct ibnd_ids *ibnd_ids_new(void);
void ibnd_ids_free(struct ibnd_ids *m); /* NULL is fine */
/* The last one wins; id is copied. */
void ibnd_ids_set(struct ibnd_ids *m, const char *id, uint32_t node);
uint32_t ibnd_ids_find(const struct ibnd_ids *m, const char *id); /* or FAB_NONE */

/* True for "S-<hex>", "H-<hex>", "R-<hex>": kind and GUID from the id. */
bool ibnd_id_guid(enum node_kind *kind, uint64_t *guid, const char *id);
