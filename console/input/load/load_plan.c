/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_plan.h"

#include "console/io/progress_line.h"

int load_plan_bytes(struct plan_bytes *bytes, struct plan **out, const char *path, struct err *err)
{
	struct progress_line watch;
	int rc;

	progress_line_files(&watch);
	rc = plan_bytes_load(bytes, out, path, err);
	progress_line_files_end(&watch);
	return rc;
}

int load_plan(struct plan **out, const char *path, struct err *err)
{
	struct plan_bytes bytes;
	int rc = load_plan_bytes(&bytes, out, path, err);

	plan_bytes_clear(&bytes);
	return rc;
}
