/* SPDX-License-Identifier: GPL-2.0-or-later */
/* switches: into a switch from elsewhere. */
#pragma once

#include "views/data/context.h"
#include "views/data/state/state.h"

/* Goes to view 4, into a switch, and there to a port; 0: none.  own: the view's part.  false: that
 * port is not among those that are shown. */
bool switches_go_to(void *own, struct context *ctx, const struct state *s, uint32_t sw,
		    uint8_t port);
