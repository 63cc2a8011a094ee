/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine_list: which engines suit a fabric.  On large ones that takes a while: whoever has found or
 * read the fabric finds out, not who draws. */
#pragma once

#include "fabric/model/topology/fabric.h"
#include "views/data/state/state.h"

struct engine_list {
	struct engine_choice v[ENGINES_MAX];
	uint32_t n;
};

/* The caller frees them. */
struct engine_list *engine_list_new(const struct fabric *f);
struct engine_list *engine_list_copy(const struct engine_list *l);
