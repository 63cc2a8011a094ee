/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dumps_tool: what roundtrip.sh needs of our readers and writers.
 *
 *   dumps_tool net SPEC              the generated fabric, for ibsim, on stdout
 *   dumps_tool back IN OUT LMC       reads OpenSM's dumps in folder IN, writes them to folder OUT
 */
#include "fabric/base/memory/mem.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/format/opensm/guid2lid.h"
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_lfts.h"
#include "fabric/format/opensm/osm_subnet.h"
#include "fabric/format/opensm/sl/ibdm_sl2vl.h"
#include "fabric/format/opensm/sl/osm_sl2vl.h"
#include "fabric/model/topology/builder.h"
#include "fabric/sim/topology/topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct err err;

static void must(int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "dumps_tool: %s\n", err.text);
	exit(1);
}

static FILE *open_in(const char *dir, const char *name, const char *mode, char path[600])
{
	FILE *f;

	snprintf(path, 600, "%s/%s", dir, name);
	f = fopen(path, mode);
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

static void must_be_clean(const struct read_report *r)
{
	char line[500];

	for (uint32_t i = 0; i < r->nnotes; i++)
		fprintf(stderr, "%s\n", read_report_line(line, sizeof(line), r, i));
	if (r->warnings)
		exit(1);
}

static struct fabric *frozen(struct builder *b, int lmc)
{
	struct freeze_opts opts = { .lmc = lmc };
	struct fabric *f = NULL;

	must(builder_freeze(&f, b, &opts, &err));
	builder_free(b);
	return f;
}

static void net(const char *spec)
{
	struct builder *b = NULL;
	struct fabric *f;

	must(topo_build(&b, spec, &err));
	f = frozen(b, -1);
	must(ibnd_write(stdout, f, &err));
	fabric_put(f);
}

static struct fabric *read_fabric(const char *dir, int lmc)
{
	struct builder *b = builder_new();
	struct read_report report;
	char path[600];
	FILE *in = open_in(dir, "opensm-subnet.lst", "r", path);

	must(osm_subnet_read(b, in, path, &report, &err));
	must_be_clean(&report);
	fclose(in);
	return frozen(b, lmc);
}

/* OpenSM's own record of the LIDs that it gave agrees with the fabric's. */
static void check_lids(const char *dir, const struct fabric *f)
{
	struct guid_lid *list = NULL;
	struct read_report report;
	uint32_t n, bad = 0;
	char path[600];
	FILE *in = open_in(dir, "guid2lid", "r", path);

	must(guid2lid_read(&list, &n, in, path, &report, &err));
	must_be_clean(&report);
	fclose(in);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t term = fabric_term_by_guid(f, list[i].port_guid);
		uint32_t sw = fabric_switch_by_guid(f, list[i].port_guid);

		if (term != FAB_NONE)
			bad += f->term_lid[term] != list[i].min_lid ||
			       list[i].max_lid - list[i].min_lid != (1 << f->lmc) - 1;
		else
			bad += sw == FAB_NONE || f->sw_lid[sw] != list[i].min_lid;
	}
	free(list);
	if (bad || n != f->nsw + f->nend) {
		fprintf(stderr, "guid2lid: %u entries, %u of them other than in the fabric\n", n,
			bad);
		exit(1);
	}
}

static struct tables *read_tables(const char *dir, const struct fabric *f)
{
	struct tables *lfts = NULL, *fdbs = NULL;
	struct read_report report;
	struct digest a, b;
	char path[600];
	FILE *in = open_in(dir, "opensm-lfts.dump", "r", path);

	must(osm_lfts_read(&lfts, in, path, f, &report, &err));
	must_be_clean(&report);
	fclose(in);
	in = open_in(dir, "opensm.fdbs", "r", path);
	must(osm_fdbs_read(&fdbs, in, path, f, &report, &err));
	must_be_clean(&report);
	fclose(in);
	tables_hash(&a, lfts, f);
	tables_hash(&b, fdbs, f);
	if (!digest_equal(&a, &b)) {
		fprintf(stderr, "opensm-lfts.dump and opensm.fdbs differ\n");
		exit(1);
	}
	tables_put(fdbs);
	return lfts;
}

static void read_sl2vl(struct tables *t, const char *dir, const struct fabric *f)
{
	struct read_report report;
	char path[600];
	FILE *in;

	snprintf(path, sizeof(path), "%s/opensm-sl2vl.dump", dir);
	if (access(path, R_OK))
		return; /* OpenSM writes none without QoS */
	in = open_in(dir, "opensm-sl2vl.dump", "r", path);
	must(osm_sl2vl_read(t, in, path, f, &report, &err));
	must_be_clean(&report);
	fclose(in);
}

static void write_one(const char *dir, const char *name, const struct fabric *f,
		      const struct tables *t,
		      int (*fn)(FILE *, const struct fabric *, const struct tables *, struct err *))
{
	char path[600];
	FILE *out = open_in(dir, name, "w", path);

	must(fn(out, f, t, &err));
	fclose(out);
}

static int write_subnet(FILE *out, const struct fabric *f, const struct tables *t, struct err *e)
{
	(void)t;
	return osm_subnet_write(out, f, e);
}

/* Through our own form too: what comes back must be the same tables. */
static struct tables *through_ibr(struct tables *t, const char *dir, const struct fabric *f)
{
	struct tables *back = NULL;
	struct digest a, b;
	char path[600];

	snprintf(path, sizeof(path), "%s/tables.ibr", dir);
	must(tables_ibr_save(path, t, f, &err));
	must(tables_ibr_load(&back, path, f, NULL, &err));
	tables_hash(&a, t, f);
	tables_hash(&b, back, f);
	if (!digest_equal(&a, &b)) {
		fprintf(stderr, "tables.ibr gives other tables back\n");
		exit(1);
	}
	tables_put(t);
	return back;
}

static void back(const char *in, const char *out, int lmc)
{
	struct fabric *f = read_fabric(in, lmc);
	struct tables *t = read_tables(in, f);

	check_lids(in, f);
	read_sl2vl(t, in, f);
	t = through_ibr(t, out, f);
	write_one(out, "opensm-subnet.lst", f, t, write_subnet);
	write_one(out, "opensm-lfts.dump", f, t, osm_lfts_write);
	write_one(out, "opensm.fdbs", f, t, osm_fdbs_write);
	write_one(out, "opensm-sl2vl.dump", f, t, osm_sl2vl_write);
	write_one(out, "ibdm.sl2vl", f, t, ibdm_sl2vl_write);
	tables_put(t);
	fabric_put(f);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "net")) {
		net(argv[2]);
	} else if (argc == 5 && !strcmp(argv[1], "back")) {
		back(argv[2], argv[3], atoi(argv[4]));
	} else {
		fprintf(stderr, "usage: dumps_tool net SPEC | back IN OUT LMC\n");
		return 64;
	}
	return 0;
}
