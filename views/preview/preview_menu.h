/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_menu: the engines to choose from, what is computed, and what to press next. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/canvas/list.h"
#include "views/data/state/request.h"
#include "views/data/state/state.h"

/* NULL: there are not so many. */
static inline const struct engine_choice *preview_choice(const struct state *s, uint32_t i)
{
	return i < s->preview.nengines ? &s->preview.engines[i] : NULL;
}

/* Are there paths that the installed tables lack? */
bool preview_menu_repairs(const struct state *s);

/* l is of the engines; o: for the next preview; told: what the options of the plan that is looked
 * at did stands in place of what its engine is for. */
void preview_menu_draw(struct list *l, const struct preview_options *o, const struct state *s,
		       struct canvas *c, struct rect r, bool told);
