/* SPDX-License-Identifier: GPL-2.0-or-later */
/* link_detail: all that is known of one link between switches, on a page of its own. */
#pragma once

#include "views/view.h"

void link_detail_draw(const struct context *ctx, const struct state *s, struct canvas *c,
		      struct rect r, uint32_t chan);
