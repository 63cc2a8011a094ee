/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/engine_list.h"

#include "console/input/route_file.h"
#include "engines/engine.h"
#include "fabric/base/memory/mem.h"

#include <stdio.h>

struct engine_list *engine_list_new(const struct fabric *f)
{
	struct engine_list *l = xcalloc(1, sizeof(*l));
	const struct engine *const *all;
	size_t n;

	all = engine_all(&n);
	for (size_t i = 0; i < n && i < ENGINES_MAX - 1; i++) {
		struct engine_choice *c = &l->v[l->n++];
		struct err err = { "" };

		c->engine = all[i];
		c->suits = !all[i]->suits || !all[i]->suits(f, &err);
		snprintf(c->why, sizeof(c->why), "%.255s", err.text);
	}
	l->v[l->n++] =
		(struct engine_choice){ .engine = &route_file_engine, .suits = true, .file = true };
	return l;
}

struct engine_list *engine_list_copy(const struct engine_list *l)
{
	struct engine_list *copy = xcalloc(1, sizeof(*copy));

	*copy = *l;
	return copy;
}
