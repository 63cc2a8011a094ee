/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known_tables: tables of an update's waves that were judged before its first wave, by their hash.
 *
 * While a wave is written jobs stand still: to judge its tables takes longer than to write them.
 * Part of an update (sm_update.h), under the session's lock: nothing here allocates but what says
 * so.
 */
#pragma once

#include "engines/opensm/table_selection.h"

struct known_tables;

struct known {
	const struct tables *t;
	struct table_judged judged;
	bool step;     /* it was judged as one */
	char *exclude; /* what the policy excluded then, which no step is asked for; may be NULL */
};

struct known_tables *known_tables_new(void);   /* allocates */
void known_tables_free(struct known_tables *); /* NULL is fine */

/* Takes over what x refers to; false: there are too many, or they take too much memory, and x is
 * still the caller's. */
bool known_tables_add(struct known_tables *k, const struct known *x);
/* NULL: they are not known as that. */
const struct known *known_tables_find(const struct known_tables *k, const struct digest *hash,
				      bool step);
/* The same of tables that were taken from here. */
const struct known *known_tables_of(const struct known_tables *k, const struct tables *t);
/* What was added last, borrowed; NULL: nothing. */
const struct tables *known_tables_last(const struct known_tables *k);
void known_free(const struct known *x);
