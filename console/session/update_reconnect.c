/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/update_reconnect.h"

#include "fabric/base/clock.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOBODY_MS 3000 /* that a worker may be away while its supervisor starts another */

static bool update_reconnect_find(struct txn_info *out, const char *base, char id[48], pid_t worker)
{
	struct txn_info *list;
	bool found = false;
	uint32_t n;

	if (journal_list(&list, &n, base, NULL))
		return false;
	for (uint32_t i = n; i-- > 0 && !found;) {
		found = *id ? !strcmp(list[i].head.id, id) : worker && list[i].head.pid == worker;
		*out = list[i];
	}
	free(list);
	if (found)
		snprintf(id, 48, "%s", out->head.id);
	return found;
}

static bool update_reconnect_follows(struct control_link *l, const char *base, const char *id)
{
	char *dir = xasprintf("%s/%s", journal_base(base), id);
	bool ok = !control_connect(l, dir, NULL) && !control_ask(l, CONTROL_FOLLOW, 0);

	free(dir);
	return ok;
}

int update_reconnect(struct control_link *l, struct txn_info *t, const char *base, char id[48],
		     pid_t worker, bool (*stop)(void *ctx), void *ctx)
{
	uint64_t seen = clock_ms();

	while (clock_ms() - seen < NOBODY_MS && !(stop && stop(ctx))) {
		struct timespec pause = { .tv_nsec = 50000000 };

		if (!update_reconnect_find(t, base, id, worker))
			return -ENOENT;
		if (txn_state_final(t->state))
			return 0;
		if (t->live)
			seen = clock_ms();
		if (update_reconnect_follows(l, base, id))
			return 1;
		nanosleep(&pause, NULL);
	}
	return 0;
}
