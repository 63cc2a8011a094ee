/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which LIDs need the drain whatever becomes of the others: packets that keep the old SL meet the
 * new tables in the end, and one dependency of theirs alone closes a cycle with those of the
 * new SLs.
 *
 * The trees of many LIDs have dependencies in common, so what was found about one is kept.
 */
#include "engines/transition/transition_priv.h"

#include <errno.h>

#define LOOKS 16384 /* for one dependency */
#define TRIES 16    /* new dependencies for one LID */

static bool transition_search_closes_cycle(struct search *s, bool try_new)
{
	uint32_t n, left = TRIES;
	const struct tdep *d = mixture_deps(s->flow, &n);

	if (tgraph_closed_any(s->g, d, n) < n)
		return true;
	for (uint32_t i = 0; i < n && left && try_new; i++) {
		if (tgraph_agrees(s->g, &d[i]) || tgraph_tried(s->g, &d[i]))
			continue;
		left--;
		if (tgraph_closes(s->g, &d[i], LOOKS))
			return true;
	}
	return false;
}

int transition_search_alone(struct search *s, uint8_t *drained, uint64_t effort)
{
	const struct ages old = { .lft_all = AGE_NEW, .sl = AGE_OLD, .sl2vl = AGE_NEW };
	uint64_t limit = search_work(s) + effort;
	int rc = 0;

	search_step(s, "old SLs alone");
	for (uint32_t i = 0; i < s->n && !rc; i++) {
		struct item *it = &s->item[i];

		if (!it->sl || drained[i])
			continue;
		if (!search_run(s, it, &old) ||
		    transition_search_closes_cycle(s, search_work(s) < limit))
			drained[i] = TRANSITION_OLD_SL + 1;
		if (search_at(s, i + 1))
			rc = -ECANCELED;
	}
	return rc;
}
