/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/file_install.h"

#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/format/opensm/osm_lfts.h"
#include "fabric/format/opensm/sl/osm_sl2vl.h"
#include "fabric/format/opensm/sl/path_sl.h"
#include "fabric/update/installer/staged_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SL_TERMINALS 4000 /* above, a line per source and LID is too much for anybody */

struct file_install {
	char *dir;
	const struct fabric *f;
	const struct tables *from, *to;
	struct staged_tables *stage;
};

typedef int (*write_fn)(FILE *file, const struct fabric *f, const struct tables *t,
			struct err *err);

/* Beside it, synced, renamed. */
static int file_install_save(const struct file_install *i, const char *name, write_fn fn,
			     const struct tables *t, struct err *err)
{
	char *path = xasprintf("%s/%s", i->dir, name), *tmp = xasprintf("%s/.%s", i->dir, name);
	FILE *file = fopen(tmp, "we");
	int rc = 0;

	if (!file)
		rc = err_set(err, -errno, "%s cannot be written: %s", tmp, strerror(errno));
	if (!rc)
		rc = fn(file, i->f, t, err);
	if (!rc && (fflush(file) || fsync(fileno(file))))
		rc = err_set(err, -errno, "%s cannot be written: %s", tmp, strerror(errno));
	if (file && fclose(file) && !rc)
		rc = err_set(err, -EIO, "%s cannot be written", tmp);
	if (!rc && rename(tmp, path))
		rc = err_set(err, -errno, "%s cannot be replaced: %s", path, strerror(errno));
	if (rc)
		unlink(tmp);
	free(tmp);
	free(path);
	return rc;
}

static int file_install_save_all(struct file_install *i, struct err *err)
{
	const struct tables *sl = i->to && staged_tables_is(i->stage, i->to) ? i->to : i->from;
	struct tables *t = staged_tables_tables(i->stage, sl);
	char *ibr = xasprintf("%s/tables.ibr", i->dir);
	int rc = file_install_save(i, "opensm-lfts.dump", osm_lfts_write, t, err);

	if (!rc)
		rc = file_install_save(i, "opensm-sl2vl.dump", osm_sl2vl_write, t, err);
	if (!rc && i->f->nterm <= PATH_SL_TERMINALS)
		rc = file_install_save(i, "path-sl.dump", path_sl_write, t, err);
	if (!rc)
		rc = tables_ibr_save(ibr, t, i->f, err);
	if (!rc)
		rc = store_sync_dir(i->dir, err);
	free(ibr);
	tables_put(t);
	return rc;
}

static int file_install_write(void *ctx, const struct fabric *f, struct install_item *items,
			      uint32_t n, struct progress *progress, struct err *err)
{
	struct file_install *i = ctx;
	int rc = progress_step(progress, "files", 0, n) ? -ECANCELED : 0;

	(void)f;
	if (!rc) {
		staged_tables_write(i->stage, items, n);
		rc = file_install_save_all(i, err);
	}
	for (uint32_t k = 0; k < n; k++)
		items[k].rc = rc;
	return rc;
}

static int file_install_read_lfts(struct tables **out, const struct file_install *i,
				  struct err *err)
{
	char *path = xasprintf("%s/opensm-lfts.dump", i->dir);
	struct read_report report = { 0 };
	FILE *file = fopen(path, "re");
	int rc;

	*out = NULL;
	if (!file) {
		rc = err_set(err, -errno, "%s cannot be opened: %s", path, strerror(errno));
	} else {
		rc = osm_lfts_read(out, file, path, i->f, &report, err);
		fclose(file);
	}
	free(path);
	return rc;
}

/* The dump has the entries of LIDs in use only. */
static int file_install_agree(const struct file_install *i, const struct tables *a,
			      const struct tables *b, struct err *err)
{
	for (uint32_t sw = 0; sw < i->f->nsw; sw++)
		for (uint32_t lid = 1; lid <= i->f->max_lid; lid++)
			if (fabric_lid_end(i->f, lid) != FAB_NONE &&
			    tables_row(a, sw)[lid] != tables_row(b, sw)[lid])
				return err_set(err, -EIO,
					       "%s: opensm-lfts.dump and tables.ibr differ at LID "
					       "%u of %s",
					       i->dir, lid, i->f->sw_name[sw]);
	return 0;
}

static int file_install_read(void *ctx, const struct fabric *f, struct install_item *items,
			     uint32_t n, struct progress *progress, struct err *err)
{
	struct file_install *i = ctx;
	struct tables *t = NULL, *lfts = NULL;
	char *ibr = xasprintf("%s/tables.ibr", i->dir);
	int rc = tables_ibr_load(&t, ibr, i->f, NULL, err);

	(void)f;
	(void)progress;
	if (!rc)
		rc = file_install_read_lfts(&lfts, i, err);
	if (!rc)
		rc = file_install_agree(i, t, lfts, err);
	if (!rc) {
		struct staged_tables *there = staged_tables_new(i->f, t);

		staged_tables_read(there, items, n);
		staged_tables_free(there);
	}
	for (uint32_t k = 0; k < n; k++)
		items[k].rc = rc;
	tables_put(lfts);
	tables_put(t);
	free(ibr);
	return rc;
}

int file_install_new(struct file_install **out, const char *dir, const struct fabric *f,
		     const struct tables *from, const struct tables *to, struct err *err)
{
	struct file_install *i = xcalloc(1, sizeof(*i));
	int rc = store_mkdir(dir, err);

	i->dir = xstrdup(dir);
	i->f = fabric_get(f);
	i->from = tables_get(from);
	i->to = to ? tables_get(to) : NULL;
	i->stage = staged_tables_new(f, from);
	if (!rc)
		rc = file_install_save_all(i, err);
	if (rc)
		file_install_free(i);
	*out = rc ? NULL : i;
	return rc;
}

void file_install_free(struct file_install *i)
{
	if (!i)
		return;
	staged_tables_free(i->stage);
	tables_put(i->from);
	tables_put(i->to);
	fabric_put(i->f);
	free(i->dir);
	free(i);
}

struct installer file_installer(struct file_install *i)
{
	static const struct installer_ops ops = {
		.name = "files",
		.carries_sl = true,
		.batch = UINT32_MAX,
		.write = file_install_write,
		.read = file_install_read,
	};

	return (struct installer){ .ops = &ops, .ctx = i };
}
