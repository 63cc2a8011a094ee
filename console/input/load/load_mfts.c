/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_mfts.h"

#include "console/io/input_file.h"
#include "fabric/base/process/apart.h"
#include "fabric/format/opensm/mft_text.h"

#include <string.h>

struct mfts_reading {
	const struct input_file *in;
	const struct fabric *f;
	struct mcast *m;
};

static int load_mfts_read(void *ctx, bytes_out *out, struct read_report *report, struct err *err)
{
	struct mfts_reading *x = ctx;
	int rc = mft_text_read(x->m, x->in->file, x->in->path, x->f, report, err);

	if (!rc)
		mcast_put(out, x->m);
	return rc;
}

static int load_mfts_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct mfts_reading *x = ctx;

	(void)err;
	return mcast_take(x->m, in, x->f);
}

int load_mfts(struct mcast *m, const char *path, const struct fabric *f, struct err *err)
{
	struct input_file in;
	struct mfts_reading x = { .in = &in, .f = f, .m = m };
	struct apart a = { .read = load_mfts_read, .take = load_mfts_take, .ctx = &x };

	memset(m, 0, sizeof(*m));
	return input_file_read_apart(&a, &in, path, err);
}
