/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/process/apart.h"

#include "fabric/base/process/isolate.h"

#include <errno.h>

static int apart_work(void *ctx, struct isolated_out *result, struct err *err)
{
	const struct apart *a = ctx;
	struct read_report report = { .lines = 0 };
	bytes_out found = { 0 };
	int rc = a->read(a->ctx, &found, &report, err);

	if (rc)
		return rc;
	isolated_give(result, &found);
	isolated_put(result, &report, sizeof(report));
	return 0;
}

static int apart_take(const struct apart *a, struct bytes_in *in, struct read_report *report,
		      struct err *err)
{
	struct err why = { "what its reader has sent cannot be right" };
	struct read_report r;
	int rc = a->take(a->ctx, in, &why);

	bytes_take(in, &r, sizeof(r));
	if (!rc && !bytes_at_end(in))
		rc = -EPROTO;
	if (rc)
		return err_set(err, rc, "%s: %s", a->path, why.text);
	read_report_sanitize(&r);
	if (report)
		*report = r;
	return 0;
}

int apart_read(const struct apart *a, struct read_report *report, struct err *err)
{
	struct isolated result;
	struct bytes_in in;
	int rc = isolated_read(&result, (FILE *const[2]){ a->file, a->beside }, apart_work,
			       (void *)(uintptr_t)a, err);

	if (rc)
		return rc;
	in = (struct bytes_in){ .at = result.data, .left = result.len };
	rc = apart_take(a, &in, report, err);
	isolated_free(&result);
	return rc;
}
