/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_tables.h"

#include "fabric/format/kind/file_kind.h"
#include "console/io/input_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/process/apart.h"
#include "fabric/format/native/tables_apart.h"
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_lfts.h"
#include "fabric/format/opensm/sl/ibdm_sl2vl.h"
#include "fabric/format/opensm/sl/osm_sl2vl.h"
#include "fabric/format/opensm/sl/path_sl.h"
#include "fabric/model/tables/carry.h"
#include "fabric/model/tables/graft.h"
#include "fabric/model/tables/tables_bytes.h"
#include "fabric/plan/file/plan_apart.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static void load_tables_tell_grafted(const char *path, const struct graft_report *grafted)
{
	char text[100];

	if (graft_report_text(text, sizeof(text), grafted))
		log_add(LOG_INFO, "tables", "%s: the hosts have changed since: %s", path, text);
}

static void load_tables_tell_carried(const char *path, const struct carry_report *carried)
{
	char text[200];

	if (carry_report_text(text, sizeof(text), carried))
		log_add(LOG_WARN, "tables", "%s: the fabric has changed since: %s%s%s", path, text,
			carried->gone[0] ? "; gone: " : "", carried->gone);
}

static int load_tables_text(struct tables **out, const struct input_file *in,
			    const struct fabric *f, bool before, struct read_report *report,
			    struct err *err)
{
	bool fdbs = strstr(in->head, "dump_ucast_routes:") || !strncmp(in->head, "Switch 0x", 9);
	tables_reader *read = fdbs ? osm_fdbs_read : osm_lfts_read;
	enum file_kind kind = file_kind_of(in->head);

	if (kind != FILE_LFTS && kind != FILE_UNKNOWN)
		return err_set(err, -EINVAL, "%s has no forwarding tables, but %s", in->path,
			       file_kind_text(kind));
	if (before)
		read = fdbs ? osm_fdbs_read_before : osm_lfts_read_before;
	return tables_apart_read(out, read, in->file, in->path, f, report, err);
}

static int load_tables_ibr(struct tables **out, const struct input_file *in, const struct fabric *f,
			   bool before, struct err *err)
{
	struct graft_report grafted;
	struct carry_report carried;
	int rc;

	if (before) {
		rc = tables_apart_read_ibr_before(out, in->file, in->path, f, &carried, err);
		if (!rc)
			load_tables_tell_carried(in->path, &carried);
		return rc;
	}
	rc = tables_apart_read_ibr(out, in->file, in->path, f, &grafted, err);
	if (!rc)
		load_tables_tell_grafted(in->path, &grafted);
	return rc;
}

/* "X-log-paths.ndat.gz" goes with "X-nodes.ndat.gz"; NULL for other names.  The caller frees. */
static char *load_tables_netloc_nodes(const char *path)
{
	static const char *const kinds[] = { "-log-paths.ndat", "-phy-paths.ndat" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *at = strstr(path, kinds[i]);

		if (at)
			return xasprintf("%.*s-nodes.ndat%s", (int)(at - path), path,
					 at + strlen(kinds[i]));
	}
	return NULL;
}

static int load_tables_netloc(struct tables **out, const char *path, const char *nodes,
			      const struct fabric *f, struct err *err)
{
	struct read_report report;
	int rc = tables_apart_netloc(out, path, nodes, f, &report, err);

	if (!rc)
		input_file_tell(&report);
	return rc;
}

static bool load_tables_is_plan(const char *head)
{
	static const char begin[] = "{\"schema\":\"ibroute-top plan/";

	return !strncmp(head, begin, sizeof(begin) - 1);
}

/* On the fabric that it was made for, or on one with other hosts. */
static int load_tables_of_plan(struct tables **out, const struct plan *p, const struct fabric *f,
			       const char *path, struct err *err)
{
	struct endports *was = endports_of(p->fabric);
	struct graft_report grafted;
	struct tables *on;
	struct err why;
	int rc = plan_staleness_of_switches(p, f, &why);

	if (!rc)
		rc = tables_graft(&on, f, p->to, was, &grafted, &why);
	endports_put(was);
	if (rc)
		return err_set(err, rc, "%s: plan %s does not match: %s", path, p->id, why.text);
	*out = tables_onto(f, on, on);
	tables_put(on);
	load_tables_tell_grafted(path, &grafted);
	return 0;
}

/* What still stands of it on any later state of that fabric. */
static int load_tables_of_plan_before(struct tables **out, const struct plan *p,
				      const struct fabric *f, const char *path, struct err *err)
{
	struct endports *was = endports_of(p->fabric);
	struct carry_report carried;
	struct err why;
	int rc = tables_carry(out, f, p->to, was, &carried, &why);

	endports_put(was);
	if (rc)
		return err_set(err, rc, "%s: plan %s does not match: %s", path, p->id, why.text);
	load_tables_tell_carried(path, &carried);
	return 0;
}

/* What a plan is to install.  It has its own fabric with it. */
static int load_tables_plan(struct tables **out, const struct input_file *in,
			    const struct fabric *f, bool before, struct err *err)
{
	struct plan *p = NULL;
	struct stat st;
	void *data;
	int rc;

	if (fstat(fileno(in->file), &st))
		return err_set(err, -errno, "%s cannot be read: %s", in->path, strerror(errno));
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fileno(in->file), 0);
	if (data == MAP_FAILED)
		return err_set(err, -errno, "%s cannot be read: %s", in->path, strerror(errno));
	rc = plan_decode_apart(&p, data, (size_t)st.st_size, in->path, err);
	munmap(data, (size_t)st.st_size);
	if (!rc)
		rc = before ? load_tables_of_plan_before(out, p, f, in->path, err)
			    : load_tables_of_plan(out, p, f, in->path, err);
	plan_free(p);
	return rc;
}

static int load_tables_read(struct tables **out, const struct input_file *in,
			    const struct fabric *f, bool before, struct read_report *report,
			    struct err *err)
{
	memset(report, 0, sizeof(*report));
	if (!strncmp(in->head, "IBROUTE\n", 8))
		return load_tables_ibr(out, in, f, before, err);
	if (load_tables_is_plan(in->head))
		return load_tables_plan(out, in, f, before, err);
	return load_tables_text(out, in, f, before, report, err);
}

/* Tables of other hosts alone are grafted, those of other switches or cables carried over.  Why
 * they are not of this fabric says more than why they are of none of its older states. */
static int load_tables_of_any_state(struct tables **out, const struct input_file *in,
				    const struct fabric *f, struct read_report *report,
				    struct err *err)
{
	int rc = load_tables_read(out, in, f, false, report, err);
	struct err why;

	if (rc != -ESTALE)
		return rc;
	rewind(in->file);
	return load_tables_read(out, in, f, true, report, &why) ? rc : 0;
}

static int load_tables_file(struct tables **out, const char *path, const struct fabric *f,
			    bool before, struct err *err)
{
	char *nodes = load_tables_netloc_nodes(path);
	struct read_report report;
	struct input_file in;
	int rc;

	*out = NULL;
	if (nodes) {
		rc = load_tables_netloc(out, path, nodes, f, err);
		free(nodes);
		return rc;
	}
	rc = input_file_open(&in, path, err);
	if (rc)
		return rc;
	rc = before ? load_tables_read(out, &in, f, true, &report, err)
		    : load_tables_of_any_state(out, &in, f, &report, err);
	return input_file_end(&in, &report, rc);
}

/* Of a folder, as route and snapshots write it, the tables in it. */
static int load_tables_any(struct tables **out, const char *path, const struct fabric *f,
			   bool before, struct err *err)
{
	struct stat st;
	char *inside;
	int rc;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return load_tables_file(out, path, f, before, err);
	inside = xasprintf("%s/tables.ibr", path);
	rc = load_tables_file(out, inside, f, before, err);
	free(inside);
	return rc;
}

int load_tables(struct tables **out, const char *path, const struct fabric *f, struct err *err)
{
	return load_tables_any(out, path, f, false, err);
}

int load_tables_before(struct tables **out, const char *path, const struct fabric *f,
		       struct err *err)
{
	return load_tables_any(out, path, f, true, err);
}

/* --- SLs and VLs ---------------------------------------------------------------------------- */

struct levels_reading {
	struct tables *t;
	const struct input_file *in;
	const struct fabric *f;
	bool sls; /* of paths; else SL2VL */
	int (*read)(struct tables *t, FILE *file, const char *path, const struct fabric *f,
		    struct read_report *report, struct err *err);
};

static int load_tables_read_levels(void *ctx, bytes_out *out, struct read_report *report,
				   struct err *err)
{
	struct levels_reading *x = ctx;
	int rc = x->read(x->t, x->in->file, x->in->path, x->f, report, err);

	if (!rc && x->sls)
		tables_bytes_put_sl(out, x->t);
	else if (!rc)
		tables_bytes_put_sl2vl(out, x->t);
	return rc;
}

static int load_tables_take_levels(void *ctx, struct bytes_in *in, struct err *err)
{
	struct levels_reading *x = ctx;

	(void)err;
	return x->sls ? tables_bytes_take_sl(x->t, in, x->f)
		      : tables_bytes_take_sl2vl(x->t, in, x->f);
}

static int load_tables_levels(struct levels_reading *x, struct input_file *in, struct err *err)
{
	struct apart a = { .path = in->path,
			   .file = in->file,
			   .read = load_tables_read_levels,
			   .take = load_tables_take_levels,
			   .ctx = x };
	struct read_report report;

	x->in = in;
	return input_file_end(in, &report, apart_read(&a, &report, err));
}

int load_path_sl(struct tables *t, const char *path, const struct fabric *f, struct err *err)
{
	struct levels_reading x = { .t = t, .f = f, .sls = true, .read = path_sl_read };
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	return rc ? rc : load_tables_levels(&x, &in, err);
}

int load_sl2vl(struct tables *t, const char *path, const struct fabric *f, struct err *err)
{
	struct levels_reading x = { .t = t, .f = f };
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	if (rc)
		return rc;
	x.read = strstr(in.head, "Switch 0x") || strstr(in.head, "Channel Adapter 0x")
			 ? osm_sl2vl_read
			 : ibdm_sl2vl_read;
	return load_tables_levels(&x, &in, err);
}
