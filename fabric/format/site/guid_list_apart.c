/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/guid_list_apart.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/process/apart.h"
#include "fabric/format/site/guid_list.h"

#include <errno.h>
#include <stdlib.h>

struct guids_reading {
	FILE *file;
	const char *path;
	uint64_t *v;
	uint32_t n;
};

static int guid_list_apart_work(void *ctx, bytes_out *out, struct read_report *report,
				struct err *err)
{
	struct guids_reading *x = ctx;
	uint64_t *v;
	size_t n;
	int rc = guid_list_read(&v, &n, x->file, x->path, err);

	(void)report;
	if (rc)
		return rc;
	x->n = (uint32_t)n;
	bytes_put(out, &x->n, sizeof(x->n));
	bytes_put(out, v, x->n * sizeof(*v));
	return 0;
}

static int guid_list_apart_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct guids_reading *x = ctx;

	(void)err;
	bytes_take(in, &x->n, sizeof(x->n));
	if (in->bad || x->n > in->left / sizeof(*x->v))
		return -EPROTO;
	x->v = xcalloc(x->n, sizeof(*x->v));
	bytes_take(in, x->v, x->n * sizeof(*x->v));
	return 0;
}

int guid_list_apart_read(uint64_t **out, size_t *n, FILE *file, const char *path, struct err *err)
{
	struct guids_reading x = { .file = file, .path = path };
	struct apart a = { .path = path,
			   .file = file,
			   .read = guid_list_apart_work,
			   .take = guid_list_apart_take,
			   .ctx = &x };
	int rc = apart_read(&a, NULL, err);

	*out = NULL;
	*n = 0;
	if (rc) {
		free(x.v);
		return rc;
	}
	*out = x.v;
	*n = x.n;
	return 0;
}
