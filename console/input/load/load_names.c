/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_names.h"

#include "console/io/input_file.h"
#include "fabric/base/process/apart.h"
#include "fabric/format/site/guid_list_apart.h"
#include "fabric/format/site/node_name_map.h"

#include <errno.h>
#include <stdlib.h>

/* A map on its way through a process of its own. */
struct names_reading {
	const struct input_file *in;
	struct name_map *names;
};

static void load_names_put(void *ctx, uint64_t guid, const char *name)
{
	bytes_out *out = ctx;

	bytes_put(out, &guid, sizeof(guid));
	bytes_put_text(out, name);
}

static int load_names_read(void *ctx, bytes_out *out, struct read_report *report, struct err *err)
{
	struct names_reading *x = ctx;
	struct name_map *m = name_map_new();
	int rc = node_name_map_read(m, x->in->file, x->in->path, err);

	(void)report;
	if (!rc)
		name_map_each(m, load_names_put, out);
	return rc;
}

/* Up to the report behind them. */
static int load_names_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct names_reading *x = ctx;

	(void)err;
	x->names = name_map_new();
	while (in->left > sizeof(struct read_report)) {
		uint64_t guid;
		char *name;

		bytes_take(in, &guid, sizeof(guid));
		name = bytes_take_text(in);
		if (!name || in->bad) {
			free(name);
			return -EPROTO;
		}
		name_map_add(x->names, guid, name);
		free(name);
	}
	return 0;
}

int load_names(struct name_map **out, const char *path, struct err *err)
{
	struct names_reading x = { .names = NULL };
	struct apart a = { .read = load_names_read, .take = load_names_take, .ctx = &x };
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	*out = NULL;
	if (rc)
		return rc;
	x.in = &in;
	a.path = in.path;
	a.file = in.file;
	rc = apart_read(&a, NULL, err);
	input_file_close(&in);
	if (rc)
		name_map_free(x.names);
	else
		*out = x.names;
	return rc;
}

int load_guids(uint64_t **out, size_t *n, const char *path, struct err *err)
{
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	*out = NULL;
	if (rc)
		return rc;
	rc = guid_list_apart_read(out, n, in.file, in.path, err);
	if (!rc && !*n)
		rc = err_set(err, -ENODATA, "%s: no GUID in it", path);
	input_file_close(&in);
	return rc;
}
