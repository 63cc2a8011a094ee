/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collect/acts.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <stdlib.h>
#include <string.h>

bool act_same(const struct act *a, const struct act *b)
{
	return a->kind == b->kind && a->begin_ms == b->begin_ms && a->end_ms == b->end_ms &&
	       a->blocks == b->blocks && a->bytes == b->bytes && !strcmp(a->id, b->id) &&
	       !strcmp(a->fabric, b->fabric) && !strcmp(a->user, b->user) &&
	       !strcmp(a->state, b->state) && !strcmp(a->text, b->text);
}

struct acts *acts_new(void)
{
	struct acts *l = xcalloc(1, sizeof(*l));

	l->refs = 1;
	return l;
}

const struct acts *acts_get(const struct acts *l)
{
	__atomic_add_fetch(&((struct acts *)l)->refs, 1, __ATOMIC_RELAXED);
	return l;
}

void acts_put(const struct acts *l)
{
	struct acts *own = (struct acts *)l;

	if (!l || __atomic_sub_fetch(&own->refs, 1, __ATOMIC_ACQ_REL))
		return;
	vec_free(own);
	free(own);
}
