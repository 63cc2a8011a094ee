/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/io_list.h"

#include "fabric/format/site/io_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int io_list_read_file(struct io_names *x, const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");
	int rc;

	if (!file)
		return err_set(err, -errno, "%s cannot be opened: %s", path, strerror(errno));
	rc = io_names_read(x, file, path, err);
	fclose(file);
	return rc;
}

static int io_list_of_policy(struct io_names *x, const char *text, const char *policy_path,
			     struct err *err)
{
	char *path = policy_beside(policy_path, text);
	int rc;

	x->path = text;
	if (strchr(text, '/') || !access(path, R_OK))
		rc = io_list_read_file(x, path, err);
	else
		rc = io_names_add(x, text, err);
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
	struct io_names x = { .names = name_map_new() };
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
