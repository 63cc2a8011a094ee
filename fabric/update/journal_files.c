/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a journal that do not change any more. */
#include "fabric/update/journal_text.h"

#include "fabric/base/mem.h"
#include "fabric/base/store.h"
#include "fabric/plan/changefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int txn_head_load(struct txn_head *h, struct digest *sum, const char *path, struct err *err)
{
	char *data;
	size_t len;
	int rc = store_read(&data, &len, path, err);

	if (rc)
		return rc;
	rc = txn_head_decode(h, sum, data, len, path, err);
	free(data);
	return rc;
}

int txn_changes_load(struct changes **out, const char *dir, const struct digest *sum,
		     struct err *err)
{
	char *path = xasprintf("%s/changes.bin", dir), *data = NULL;
	struct digest d;
	size_t len;
	int rc = store_read(&data, &len, path, err);

	if (rc)
		goto out;
	digest_of(&d, data, len);
	if (!digest_equal(&d, sum))
		rc = err_set(err, -EBADMSG,
			     "%s: damaged (its checksum is not the one of head.json); "
			     "the old tables must come from elsewhere",
			     path);
	else
		rc = changefile_decode(out, (const uint8_t *)data, len, path, err);
out:
	free(data);
	free(path);
	return rc;
}

int journal_look(struct txn_head *head, struct changes **out, const char *base, const char *id,
		 struct err *err)
{
	char *dir = xasprintf("%s/%s", journal_base(base), id);
	char *path = xasprintf("%s/head.json", dir);
	struct digest sum;
	int rc = txn_head_load(head, &sum, path, err);

	if (!rc)
		rc = txn_changes_load(out, dir, &sum, err);
	free(path);
	free(dir);
	return rc;
}
