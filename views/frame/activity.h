/* SPDX-License-Identifier: GPL-2.0-or-later */
/* activity: what is being read and what is being computed, as the last line shows it. */
#pragma once

#include "views/data/state/state.h"

struct activity {
	char tables[160]; /* tables being read; "" none */
	char work[200];	  /* a long computation; "" none */
};

/* Progress of both and the keys that stop them.  Details are left out until they fit into width
 * columns, with two between them; then the work, then the tables.  tables: whether to show those.
 */
void activity_fit(struct activity *out, const struct state *s, int width, bool tables);
