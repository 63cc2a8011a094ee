/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_partitions.h"

#include "console/io/input_file.h"
#include "fabric/base/process/apart.h"
#include "fabric/format/opensm/partitions_conf.h"

struct partitions_reading {
	const struct input_file *in;
	const struct fabric *f;
	struct partitions *p;
};

static int load_partitions_read(void *ctx, bytes_out *out, struct read_report *report,
				struct err *err)
{
	struct partitions_reading *x = ctx;
	int rc = partitions_conf_read(x->p, x->in->file, x->in->path, x->f, report, err);

	if (!rc)
		partitions_put(out, x->p);
	return rc;
}

static int load_partitions_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct partitions_reading *x = ctx;

	(void)err;
	return partitions_take(x->p, in);
}

int load_partitions(struct partitions *p, const char *path, const struct fabric *f, struct err *err)
{
	struct input_file in;
	struct partitions_reading x = { .in = &in, .f = f, .p = p };
	struct apart a = { .read = load_partitions_read, .take = load_partitions_take, .ctx = &x };

	partitions_begin(p, f);
	return input_file_read_apart(&a, &in, path, err);
}
