/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_demand.h"

#include "console/io/input_file.h"
#include "fabric/format/native/demand_apart.h"

static int load_demand_file(struct demand **out, const char *path, struct demand_input *ranks,
			    const struct fabric *f, struct err *err)
{
	struct demand_input d = { 0 };
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	if (rc)
		return rc;
	d.file = in.file;
	d.path = in.path;
	rc = demand_apart_read(out, &d, ranks, f, err);
	if (!rc && ranks->file)
		input_file_tell(&ranks->report);
	return input_file_end(&in, &d.report, rc);
}

int load_demand(struct demand **out, const char *path, const char *ranks, const struct fabric *f,
		struct err *err)
{
	struct demand_input of_ranks = { 0 };
	struct input_file in;
	int rc = ranks ? input_file_open(&in, ranks, err) : 0;

	*out = NULL;
	if (rc)
		return rc;
	if (ranks) {
		of_ranks.file = in.file;
		of_ranks.path = in.path;
	}
	rc = load_demand_file(out, path, &of_ranks, f, err);
	if (ranks)
		input_file_close(&in);
	return rc;
}
