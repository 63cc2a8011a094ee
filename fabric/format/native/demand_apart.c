/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/demand_apart.h"

#include "fabric/base/process/apart.h"
#include "fabric/format/native/demand_file.h"
#include "fabric/model/traffic/demand_bytes.h"

struct demand_reading {
	struct demand_input *in, *ranks;
	const struct fabric *f;
	struct demand *d;
};

/* Ranks are needed for nothing else: only the demand comes back. */
static int demand_apart_work(void *ctx, bytes_out *out, struct read_report *report, struct err *err)
{
	struct demand_reading *x = ctx;
	struct rank_file *ranks = NULL;
	int rc = 0;

	if (x->ranks->file)
		rc = rank_file_read(&ranks, x->ranks->file, x->ranks->path, &x->ranks->report, err);
	if (!rc)
		rc = demand_file_read(&x->d, x->in->file, x->in->path, ranks, x->f, report, err);
	if (rc)
		return rc;
	bytes_put(out, &x->ranks->report, sizeof(x->ranks->report));
	demand_put_bytes(out, x->d);
	return 0;
}

static int demand_apart_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct demand_reading *x = ctx;

	(void)err;
	bytes_take(in, &x->ranks->report, sizeof(x->ranks->report));
	read_report_sanitize(&x->ranks->report);
	return demand_take_bytes(&x->d, in, x->f);
}

int demand_apart_read(struct demand **out, struct demand_input *in, struct demand_input *ranks,
		      const struct fabric *f, struct err *err)
{
	struct demand_reading x = { .in = in, .ranks = ranks, .f = f };
	struct apart a = { .path = in->path,
			   .file = in->file,
			   .beside = ranks->file,
			   .read = demand_apart_work,
			   .take = demand_apart_take,
			   .ctx = &x };
	int rc = apart_read(&a, &in->report, err);

	if (rc)
		demand_put(x.d);
	else
		*out = x.d;
	return rc;
}
