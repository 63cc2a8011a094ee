/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/io_names.h"

#include "fabric/base/text/hostlist.h"
#include "fabric/format/site/io_nodes.h"

#include <errno.h>
#include <stdlib.h>

#define HOSTS_MAX 250000 /* no subnet has as many */

int io_names_add(struct io_names *x, const char *hosts, struct err *err)
{
	struct hostlist *h;
	uint32_t n;
	int rc = hostlist_measure(&n, hosts, err);

	if (!rc && x->hosts + n > HOSTS_MAX)
		rc = err_set(err, -E2BIG, "%s: more than %d hosts", x->path, HOSTS_MAX);
	if (!rc)
		rc = hostlist_parse(&h, hosts, err);
	if (rc)
		return rc;
	x->hosts += n;
	for (uint32_t i = 0; i < hostlist_count(h); i++)
		name_map_add_io(x->names, hostlist_names(h)[i]);
	hostlist_free(h);
	return 0;
}

/* --- there: a GUID and a text, one of which is not said --------------------------------------- */

void io_names_put(void *ctx, uint64_t guid, const char *hosts)
{
	bytes_out *out = ctx;

	bytes_put(out, &guid, sizeof(guid));
	bytes_put_text(out, hosts ? hosts : "");
}

struct io_names_file {
	struct io_names *x;
	FILE *file;
};

static int io_names_there(void *ctx, bytes_out *out, struct read_report *report, struct err *err)
{
	struct io_names_file *y = ctx;

	(void)report;
	return io_nodes_read(y->file, y->x->path, io_names_put, out, err);
}

/* --- here ------------------------------------------------------------------------------------ */

bool io_names_next(int *rc, uint64_t *guid, char **hosts, struct bytes_in *in)
{
	if (*rc || in->left <= sizeof(struct read_report))
		return false;
	bytes_take(in, guid, sizeof(*guid));
	*hosts = bytes_take_text(in);
	if (*hosts && !in->bad)
		return true;
	free(*hosts);
	*rc = -EPROTO;
	return false;
}

int io_names_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct io_names *x = ctx;
	uint64_t guid;
	char *hosts;
	int rc = 0;

	while (io_names_next(&rc, &guid, &hosts, in)) {
		if (*hosts)
			rc = io_names_add(x, hosts, err);
		else
			name_map_add_io_guid(x->names, guid);
		free(hosts);
	}
	return rc;
}

static int io_names_here(void *ctx, struct bytes_in *in, struct err *err)
{
	return io_names_take(((struct io_names_file *)ctx)->x, in, err);
}

int io_names_read(struct io_names *x, FILE *file, const char *path, struct err *err)
{
	struct io_names_file y = { x, file };
	struct apart a = {
		.path = path, .file = file, .read = io_names_there, .take = io_names_here, .ctx = &y
	};

	x->path = path;
	return apart_read(&a, NULL, err);
}
