/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/live/unfinished.h"

#include "fabric/update/journal/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void unfinished_warn(const char *base)
{
	const char *option = base ? " --state-dir " : "", *dir = base ? base : "";
	struct txn_info *list = NULL;
	uint32_t n = 0;

	if (journal_find(&list, &n, base, NULL, NULL))
		return;
	for (uint32_t i = 0; i < n; i++)
		fprintf(stderr,
			"ibroute-top: update %s of fabric %s was interrupted in state %s: "
			"switches may hold a mixture of old and new tables. Check with "
			"'ibroute-top status %s --read%s%s', end it with 'ibroute-top rollback "
			"%s%s%s'\n",
			list[i].head.id, list[i].head.fabric, txn_state_name(list[i].state),
			list[i].head.id, option, dir, list[i].head.id, option, dir);
	free(list);
}

void unfinished_warn_of(const char *base)
{
	if (strcmp(journal_base(base), journal_base(NULL)) != 0)
		unfinished_warn(base);
}

void unfinished_warn_open(const struct osm_status *s)
{
	if (s->update[0])
		fprintf(stderr,
			"ibroute-top: update %s of %s is in progress: OpenSM takes no other one "
			"until it has ended\n",
			s->update, s->owner);
}
