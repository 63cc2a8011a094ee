/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of conditions and limits as they are typed. */
#include "fabric/update/watchdog/watch_conditions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A link that trained anew or drops what it should carry is never right; a few symbol errors
 * are: a port at the limit of its bit error rate of 1e-12 makes some in a minute. */
const struct watch_limits watch_limits_preset = {
	.symbol = 50, .rcv = 50, .discard = 100, .downed = 0
};

static const char *const names[WATCHES] = { "sm", "errors", "reach", "jobs" };

const char *watch_name(enum watch_what w)
{
	return names[w];
}

int watch_parse(unsigned *mask, const char *list, struct err *err)
{
	*mask = 0;
	while (*list) {
		size_t len = strcspn(list, ",");
		int k = 0;

		while (k < WATCHES && (strlen(names[k]) != len || memcmp(names[k], list, len)))
			k++;
		if (k == WATCHES)
			return err_set(err, -EINVAL,
				       "'%.*s' is nothing to watch: sm, errors, reach, jobs",
				       (int)len, list);
		*mask |= 1u << k;
		list += len + (list[len] == ',');
	}
	return 0;
}

int watch_limits_parse(struct watch_limits *l, const char *list, struct err *err)
{
	const struct {
		const char *name;
		uint64_t *to;
	} known[] = { { "symbol", &l->symbol },
		      { "rcv", &l->rcv },
		      { "discard", &l->discard },
		      { "downed", &l->downed } };

	while (*list) {
		size_t len = strcspn(list, "=,"), k = 0;
		char *end;

		while (k < 4 && (strlen(known[k].name) != len || memcmp(known[k].name, list, len)))
			k++;
		if (k == 4 || list[len] != '=' || list[len + 1] < '0' || list[len + 1] > '9')
			return err_set(err, -EINVAL,
				       "'%s': symbol=N, rcv=N, discard=N, downed=N are the limits",
				       list);
		*known[k].to = strtoull(list + len + 1, &end, 10);
		if (*end && *end != ',')
			return err_set(err, -EINVAL, "'%s' is not a number", list + len + 1);
		list = end + (*end == ',');
	}
	return 0;
}
