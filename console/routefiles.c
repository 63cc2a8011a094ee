/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/routefiles.h"

#include "console/options.h"
#include "console/outfile.h"
#include "console/summary.h"
#include "fabric/base/mem.h"
#include "fabric/files/ibdm_sl2vl.h"
#include "fabric/files/osm_fdbs.h"
#include "fabric/files/osm_lfts.h"
#include "fabric/files/osm_sl2vl.h"
#include "fabric/files/osm_subnet.h"
#include "fabric/files/path_sl.h"
#include "fabric/files/tables_ibr.h"

#include <stdlib.h>

static int write_ibr(FILE *file, const struct fabric *f, const struct tables *t, struct err *err)
{
	(void)f;
	return tables_ibr_write_fd(fileno(file), t, "tables.ibr", err);
}

static int write_subnet(FILE *file, const struct fabric *f, const struct tables *t, struct err *err)
{
	(void)t;
	return osm_subnet_write(file, f, err);
}

static const struct {
	const char *name;
	unsigned formats; /* any of them asks for it; 0: always */
	int (*write)(FILE *file, const struct fabric *f, const struct tables *t, struct err *err);
} files[] = {
	{ "tables.ibr", 0, write_ibr },
	{ "opensm-lfts.dump", FORMAT_OPENSM, osm_lfts_write },
	{ "opensm-sl2vl.dump", FORMAT_OPENSM, osm_sl2vl_write },
	{ "path-sl.dump", FORMAT_OPENSM | FORMAT_IBDM | FORMAT_PATH_SL, path_sl_write },
	{ "opensm-subnet.lst", FORMAT_IBDM, write_subnet },
	{ "opensm.fdbs", FORMAT_IBDM, osm_fdbs_write },
	{ "ibdm-sl2vl.dump", FORMAT_IBDM, ibdm_sl2vl_write },
};

static int write_one(const char *dir, size_t i, const struct evaluation *e, struct err *err)
{
	char *path = xasprintf("%s/%s", dir, files[i].name);
	struct outfile o;
	int rc = outfile_open(&o, path, err);

	if (!rc) {
		struct err why;

		rc = files[i].write(o.file, e->f, e->t, &why);
		if (rc)
			err_set(err, rc, "%s: %s", path, why.text);
		rc = outfile_end(&o, rc, err);
	}
	free(path);
	return rc;
}

static int write_summary(const char *dir, const json_t *summary, struct err *err)
{
	char *path = xasprintf("%s/summary.json", dir);
	struct outfile o;
	int rc = outfile_open(&o, path, err);

	if (!rc)
		rc = outfile_end(&o, summary_dump(o.file, summary, err), err);
	free(path);
	return rc;
}

int routefiles_write(const char *dir, const struct evaluation *e, unsigned formats, json_t *summary,
		     struct err *err)
{
	json_t *written = json_array(), *left_out = json_object();
	int rc = outfile_folder(dir, err);

	json_object_set_new(summary, "files", written);
	json_object_set_new(summary, "left_out", left_out);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !rc; i++) {
		if (files[i].formats && !(files[i].formats & formats))
			continue;
		if (files[i].write == path_sl_write && !(formats & FORMAT_PATH_SL) &&
		    e->f->nterm > PATH_SL_TERMINALS) {
			json_object_set_new(left_out, files[i].name,
					    json_sprintf("a line per source and LID, and more than "
							 "%d terminals: ask with --formats path-sl",
							 PATH_SL_TERMINALS));
			continue;
		}
		rc = write_one(dir, i, e, err);
		json_array_append_new(written, json_string(files[i].name));
	}
	if (!rc) {
		json_array_append_new(written, json_string("summary.json"));
		rc = write_summary(dir, summary, err);
	}
	return rc;
}
