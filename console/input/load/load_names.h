/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_names: node-name-maps and lists of GUIDs from files; "-" is stdin. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/name_map.h"

#include <stddef.h>
#include <stdint.h>

/* A node-name-map (fabric/format/site/node_name_map.h); the caller owns *out. */
int load_names(struct name_map **out, const char *path, struct err *err);

/* A GUID a line, # comments.  The caller frees *out. */
int load_guids(uint64_t **out, size_t *n, const char *path, struct err *err);
