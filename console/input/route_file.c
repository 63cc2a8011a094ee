/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/route_file.h"

#include "console/input/load/load_tables.h"
#include "console/io/input_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct engine route_file_engine = {
	.name = ROUTE_FILE,
	.summary = "not an engine: reads tables from a file: tables.ibr, opensm-lfts.dump, "
		   "ibroute, fdbs, a saved plan",
};

static bool route_file_given(const char *path)
{
	return path && path[0];
}

/* Its contents as they were read; the whole path, since a record is read elsewhere. */
static int route_file_add_file(struct plan_files *files, const char *kind, const char *path,
			       struct input_file_watch *w, struct err *err)
{
	char whole[PATH_MAX], hex[DIGEST_HEX], key[32];
	const char *base;
	struct input_file in;

	if (!w->summed) { /* by a reader that opens files itself */
		int rc = input_file_open(&in, path, err);

		if (rc)
			return rc;
		input_file_close(&in);
	}
	if (!strcmp(path, "-"))
		path = "stdin";
	else if (realpath(path, whole))
		path = whole;
	base = strrchr(path, '/');
	plan_files_add(files, kind, path, &w->sha256);
	snprintf(key, sizeof(key), "file_%s", kind);
	notes_set(w->notes, key, 0, "%s: %s, SHA-256 %s", kind, base ? base + 1 : path,
		  digest_hex(hex, &w->sha256));
	w->summed = false;
	return 0;
}

bool route_file_sls_known(const struct tables *t)
{
	return tables_know_sls(t);
}

/* Also where all of them are 0. */
static bool route_file_sls_told(const struct route_file *from, const struct tables *t)
{
	return route_file_given(from->path_sl) || route_file_sls_known(t);
}

static int route_file_read_all(struct tables **out, struct plan_files *files,
			       const struct route_file *from, const struct fabric *f,
			       struct input_file_watch *w, struct err *err)
{
	int rc = load_tables(out, from->tables, f, err);

	if (!rc)
		rc = route_file_add_file(files, "tables", from->tables, w, err);
	if (!rc && route_file_given(from->path_sl))
		rc = load_path_sl(*out, from->path_sl, f, err);
	if (!rc && route_file_given(from->path_sl))
		rc = route_file_add_file(files, "path-sl", from->path_sl, w, err);
	if (!rc && route_file_given(from->sl2vl) && !route_file_sls_told(from, *out))
		rc = err_set(err, -EINVAL,
			     "%s needs the service levels of the paths: a file of path SLs is "
			     "needed, too",
			     from->sl2vl);
	if (!rc && route_file_given(from->sl2vl))
		rc = load_sl2vl(*out, from->sl2vl, f, err);
	if (!rc && route_file_given(from->sl2vl))
		rc = route_file_add_file(files, "sl2vl", from->sl2vl, w, err);
	return rc;
}

int route_file_read(struct tables **out, struct plan_files *files, struct notes *notes,
		    const struct route_file *from, const struct fabric *f, struct err *err)
{
	struct input_file_watch w = { .notes = notes }, *before = input_file_watch_set(&w);
	int rc;

	*out = NULL;
	memset(files, 0, sizeof(*files));
	rc = route_file_read_all(out, files, from, f, &w, err);
	input_file_watch_set(before);
	if (rc) {
		tables_put(*out);
		*out = NULL;
		return rc;
	}
	if (!route_file_sls_told(from, *out))
		notes_set(notes, "sls_assumed", 0,
			  "no service levels in the file: all paths are assumed to use SL 0; if "
			  "they are deadlock-free on one VL, they are so with any SLs");
	return 0;
}
