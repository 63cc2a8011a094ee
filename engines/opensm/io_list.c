/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/io_list.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/process/apart.h"
#include "fabric/base/text/hostlist.h"
#include "fabric/format/site/io_nodes.h"
#include "fabric/model/topology/name_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOSTS_MAX 250000 /* no subnet has as many */

struct io_file {
	FILE *file;
	const char *path;
	struct name_map *names;
	uint64_t hosts; /* so far */
};

static int io_list_add_hosts(struct io_file *x, const char *text, struct err *err)
{
	struct hostlist *h;
	uint32_t n;
	int rc = hostlist_measure(&n, text, err);

	if (!rc && (x->hosts += n) > HOSTS_MAX)
		rc = err_set(err, -E2BIG, "%s: more than %d hosts", x->path, HOSTS_MAX);
	if (!rc)
		rc = hostlist_parse(&h, text, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < hostlist_count(h); i++)
		name_map_add_io(x->names, hostlist_names(h)[i]);
	hostlist_free(h);
	return 0;
}

static void io_list_put(void *ctx, uint64_t guid, const char *hosts)
{
	bytes_out *out = ctx;

	bytes_put(out, &guid, sizeof(guid));
	bytes_put_text(out, hosts ? hosts : "");
}

static int io_list_read(void *ctx, bytes_out *out, struct read_report *report, struct err *err)
{
	struct io_file *x = ctx;

	(void)report;
	return io_nodes_read(x->file, x->path, io_list_put, out, err);
}

static int io_list_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct io_file *x = ctx;
	int rc = 0;

	while (!rc && in->left > sizeof(struct read_report)) {
		uint64_t guid;
		char *text;

		bytes_take(in, &guid, sizeof(guid));
		text = bytes_take_text(in);
		if (!text || in->bad)
			rc = -EPROTO;
		else if (*text)
			rc = io_list_add_hosts(x, text, err);
		else
			name_map_add_io_guid(x->names, guid);
		free(text);
	}
	return rc;
}

static int io_list_read_file(struct io_file *x, const char *path, struct err *err)
{
	struct apart a = { .path = path, .read = io_list_read, .take = io_list_take, .ctx = x };
	int rc;

	x->path = path;
	x->file = a.file = fopen(path, "re");
	if (!x->file)
		return err_set(err, -errno, "%s cannot be opened: %s", path, strerror(errno));
	rc = apart_read(&a, NULL, err);
	fclose(x->file);
	return rc;
}

static int io_list_of_policy(struct io_file *x, const char *text, const char *policy_path,
			     struct err *err)
{
	char *path = policy_beside(policy_path, text);
	int rc;

	x->path = text;
	if (strchr(text, '/') || !access(path, R_OK))
		rc = io_list_read_file(x, path, err);
	else
		rc = io_list_add_hosts(x, text, err);
	free(path);
	return rc;
}

static int io_list_mark_named(struct fabric *f, const struct name_map *names)
{
	int n = 0;

	for (uint32_t t = 0; t < f->nterm; t++)
		if (f->term_kind[t] == TERM_COMPUTE &&
		    name_map_is_io(names, f->term_name[t], f->term_guid[t], f->term_node_guid[t])) {
			f->term_kind[t] = TERM_STORAGE;
			n++;
		}
	return n;
}

int io_list_mark(struct fabric *f, const struct policy *p, const char *policy_path,
		 const char *guid_file, struct err *err)
{
	const char *text = p ? p->text[PARAM_IO_NODES] : NULL;
	struct io_file x = { .names = name_map_new() };
	int rc = 0;

	if (text)
		rc = io_list_of_policy(&x, text, policy_path, err);
	else if (guid_file && *guid_file)
		rc = io_list_read_file(&x, guid_file, err);
	if (!rc)
		rc = io_list_mark_named(f, x.names);
	name_map_free(x.names);
	return rc;
}
