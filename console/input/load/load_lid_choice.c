/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_lid_choice.h"

#include "console/io/input_file.h"
#include "fabric/base/process/apart.h"
#include "fabric/format/native/lid_choice_file.h"
#include "fabric/model/tables/lid_choice_bytes.h"

/* A choice on its way through a process of its own. */
struct choice_reading {
	const struct input_file *in;
	const struct fabric *f;
	struct lid_choice *choice;
};

static int load_lid_choice_read(void *ctx, bytes_out *out, struct read_report *report,
				struct err *err)
{
	struct choice_reading *x = ctx;
	struct lid_choice *c;
	int rc = lid_choice_read(&c, x->in->file, x->in->path, x->f, report, err);

	if (!rc)
		lid_choice_put(out, c);
	return rc;
}

static int load_lid_choice_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct choice_reading *x = ctx;

	(void)err;
	return lid_choice_take(&x->choice, in, x->f);
}

int load_lid_choice(struct lid_choice **out, const char *path, const struct fabric *f,
		    struct err *err)
{
	struct input_file in;
	struct choice_reading x = { .in = &in, .f = f };
	struct apart a = { .read = load_lid_choice_read, .take = load_lid_choice_take, .ctx = &x };
	int rc = input_file_read_apart(&a, &in, path, err);

	if (rc)
		lid_choice_free(x.choice);
	*out = rc ? NULL : x.choice;
	return rc;
}
