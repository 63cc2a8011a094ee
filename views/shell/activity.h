/* SPDX-License-Identifier: GPL-2.0-or-later */
/* activity: what is being read and what is being computed, as the last line shows it. */
#ifndef VIEWS_SHELL_ACTIVITY_H
#define VIEWS_SHELL_ACTIVITY_H

#include "views/data/state.h"

struct activity {
	char tables[160]; /* reading of tables that somebody waits for; "" none */
	char work[200];	  /* what is computed for long; "" nothing */
};

/* How far each is and the key that ends it, in that many columns with two between them: details of
 * both are left out until they fit, no word is cut.  What does not fit at all is left out, the work
 * first.  tables: also the reading of tables. */
void activity_fit(struct activity *out, const struct state *s, int width, bool tables);

#endif
