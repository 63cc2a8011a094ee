/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/route_folder.h"

#include "console/input/options.h"
#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/native/lid_choice_file.h"
#include "fabric/format/native/mpi_env.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_lfts.h"
#include "fabric/format/opensm/osm_subnet.h"
#include "fabric/format/opensm/sl/ibdm_sl2vl.h"
#include "fabric/format/opensm/sl/osm_sl2vl.h"
#include "fabric/format/opensm/sl/path_sl.h"
#include "fabric/format/site/lid_policy.h"

#include <stdlib.h>

#define FORMAT_CHOICE (1u << 31) /* not asked for by name: whenever LIDs are to be chosen */

#define WRITER(name, call)                                                                         \
	static int name(FILE *file, const struct route_report *e, struct err *err)                 \
	{                                                                                          \
		return call;                                                                       \
	}

WRITER(route_folder_write_ibr, tables_ibr_write_fd(fileno(file), e->t, e->f, "tables.ibr", err))
WRITER(route_folder_write_lfts, osm_lfts_write(file, e->f, e->t, err))
WRITER(route_folder_write_sl2vl, osm_sl2vl_write(file, e->f, e->t, err))
WRITER(route_folder_write_path_sl, path_sl_write(file, e->f, e->t, err))
WRITER(route_folder_write_fdbs, osm_fdbs_write(file, e->f, e->t, err))
WRITER(route_folder_write_ibdm_sl2vl, ibdm_sl2vl_write(file, e->f, e->t, err))
WRITER(route_folder_write_choice, lid_choice_write(file, e->f, e->choice, err))
WRITER(route_folder_write_mpi, mpi_env_write(file, e->f, e->t, e->choice, e->jobs, err))
WRITER(route_folder_write_policy, lid_policy_write(file, e->f, e->choice, NULL, err))
WRITER(route_folder_write_subnet, osm_subnet_write(file, e->f, err))

static const struct {
	const char *name;
	unsigned formats; /* any of them asks for it; 0: always */
	int (*write)(FILE *file, const struct route_report *e, struct err *err);
} files[] = {
	{ "tables.ibr", 0, route_folder_write_ibr },
	{ "opensm-lfts.dump", FORMAT_OPENSM, route_folder_write_lfts },
	{ "opensm-sl2vl.dump", FORMAT_OPENSM, route_folder_write_sl2vl },
	{ "path-sl.dump", FORMAT_OPENSM | FORMAT_IBDM | FORMAT_PATH_SL,
	  route_folder_write_path_sl },
	{ "opensm-subnet.lst", FORMAT_IBDM, route_folder_write_subnet },
	{ "opensm.fdbs", FORMAT_IBDM, route_folder_write_fdbs },
	{ "ibdm-sl2vl.dump", FORMAT_IBDM, route_folder_write_ibdm_sl2vl },
	{ "lid-choice.txt", FORMAT_CHOICE, route_folder_write_choice },
	{ "guid2lid", FORMAT_CHOICE, route_folder_write_policy },
	{ "mpi-env.txt", FORMAT_MPI, route_folder_write_mpi },
};

static int route_folder_write_one(const char *dir, size_t i, const struct route_report *e,
				  struct err *err)
{
	char *path = xasprintf("%s/%s", dir, files[i].name);
	struct output_file o;
	int rc = output_file_open(&o, path, err);

	if (!rc) {
		struct progress_line watch;
		struct err why;

		progress_line_files(&watch);
		rc = files[i].write(o.file, e, &why);
		if (rc)
			err_set(err, rc, "%s: %s", path, why.text);
		rc = output_file_end(&o, rc, err);
		progress_line_files_end(&watch);
	}
	free(path);
	return rc;
}

static int route_folder_write_summary(const char *dir, const json_t *summary, struct err *err)
{
	char *path = xasprintf("%s/summary.json", dir);
	struct output_file o;
	int rc = output_file_open(&o, path, err);

	if (!rc)
		rc = output_file_end(&o, output_file_json(o.file, summary, err), err);
	free(path);
	return rc;
}

int route_folder_write(const char *dir, const struct route_report *e, unsigned formats,
		       json_t *summary, struct err *err)
{
	json_t *written = json_array(), *left_out = json_object();
	int rc = output_file_folder(dir, err);

	json_object_set_new(summary, "files", written);
	json_object_set_new(summary, "left_out", left_out);
	if (e->choice)
		formats |= FORMAT_CHOICE;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !rc; i++) {
		if (files[i].formats && !(files[i].formats & formats))
			continue;
		if (files[i].write == route_folder_write_path_sl && !(formats & FORMAT_PATH_SL) &&
		    e->f->nterm > PATH_SL_TERMINALS) {
			json_object_set_new(left_out, files[i].name,
					    json_sprintf("not written above %d terminals, as it "
							 "has one line per source and LID: "
							 "--formats path-sl writes it",
							 PATH_SL_TERMINALS));
			continue;
		}
		if (files[i].write == route_folder_write_mpi && !e->choice) {
			json_object_set_new(left_out, files[i].name,
					    json_string("these tables have no choice of LIDs: "
							"parx makes one"));
			continue;
		}
		rc = route_folder_write_one(dir, i, e, err);
		json_array_append_new(written, json_string(files[i].name));
	}
	if (!rc) {
		json_array_append_new(written, json_string("summary.json"));
		rc = route_folder_write_summary(dir, summary, err);
	}
	return rc;
}

int route_folder_tables(const char *dir, const struct fabric *f, const struct tables *t,
			unsigned formats, bool sls_known, struct err *err)
{
	const struct route_report e = { .f = f, .t = t };
	int rc = output_file_folder(dir, err);

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !rc; i++) {
		if (!(files[i].formats ? files[i].formats & formats : formats & FORMAT_IBR))
			continue;
		if (files[i].write == route_folder_write_path_sl &&
		    (!sls_known || f->nterm > PATH_SL_TERMINALS))
			continue;
		if (!tables_know_vls(t) && (files[i].write == route_folder_write_sl2vl ||
					    files[i].write == route_folder_write_ibdm_sl2vl))
			continue;
		rc = route_folder_write_one(dir, i, &e, err);
	}
	return rc;
}
