/* SPDX-License-Identifier: GPL-2.0-or-later */
/* busy: what is being read and what is being computed, as the last line tells it. */
#ifndef VIEWS_BUSY_H
#define VIEWS_BUSY_H

#include "views/state.h"

struct busy {
	char tables[160]; /* reading of tables that somebody waits for; "" none */
	char work[200];	  /* what is computed for long; "" nothing */
};

/* How far each is and the key that ends it, in so many columns with two between them: less is told
 * of both until they fit, no word is cut.  What does not fit at all is left out, the work first. */
void busy_fit(struct busy *out, const struct state *s, int room);
/* Only the work. */
void busy_fit_work(struct busy *out, const struct state *s, int room);

#endif
