/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/update/txn_find.h"

#include "console/config/exits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int txn_find(struct txn_info *out, const char *base, const char *typed, struct err *err)
{
	bool last = !strcmp(typed, "last");
	struct txn_info *list;
	uint32_t n, hits = 0;
	int rc = journal_list(&list, &n, base, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < n; i++) {
		bool whole = !strcmp(list[i].head.id, typed);

		if (!*typed || (!last && strncmp(list[i].head.id, typed, strlen(typed))))
			continue;
		*out = list[i];
		hits = last || whole ? 1 : hits + 1;
		if (whole)
			break;
	}
	free(list);
	if (hits == 1)
		return 0;
	if (hits)
		return err_set(err, -EINVAL,
			       "%s: the ID of %u updates starts with this; 'status' "
			       "lists them",
			       typed, hits);
	if (last)
		return err_set(err, -ENOENT, "no update in %s", journal_base(base));
	return err_set(err, -ENOENT, "%s: no update with this ID in %s", typed, journal_base(base));
}

int txn_find_exit(int rc)
{
	return rc == -ENOENT || rc == -EINVAL ? EXIT_REFUSED : EXIT_UNREADABLE;
}
