/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_fabric.h"

#include "fabric/format/kind/file_kind.h"
#include "console/io/input_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/process/apart.h"
#include "fabric/format/ibdiagnet/db_csv.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/ibnetdiscover/ibnd_cache.h"
#include "fabric/format/netloc/netloc.h"
#include "fabric/format/opensm/guid2lid.h"
#include "fabric/format/opensm/osm_neighbors.h"
#include "fabric/format/opensm/osm_subnet.h"
#include "fabric/format/slurm/slurm_topology.h"
#include "fabric/format/slurm/slurm_yaml.h"
#include "fabric/model/topology/builder_bytes.h"
#include "fabric/sim/topology/topo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "dragonfly:p=8" and the like, when there is no such file. */
static bool load_fabric_is_spec(const char *path)
{
	size_t n, len = strcspn(path, ":");
	const struct topo_type *const *types = topo_types(&n);

	if (!path[len] || !access(path, F_OK))
		return false;
	for (size_t i = 0; i < n; i++)
		if (strlen(types[i]->name) == len && !strncmp(types[i]->name, path, len))
			return true;
	return false;
}

enum fabric_form {
	FORM_IBND,
	FORM_CACHE,
	FORM_NEIGHBORS,
	FORM_SUBNET_LST,
	FORM_DB_CSV,
	FORM_NETLOC,
	FORM_SLURM
};

/* Told by words that no other form has: a prompt or a byte order mark may stand before them. */
static enum fabric_form load_fabric_form(const char *head)
{
	if (ibnd_cache_begins(head))
		return FORM_CACHE;
	if (!strncmp(head, "\x1f\x8b", 2) || strstr(head, "\"node_info\"") ||
	    strstr(head, "\"network_info\"") || strstr(head, "\"edge_info\""))
		return FORM_NETLOC;
	if (osm_neighbors_begin(head))
		return FORM_NEIGHBORS;
	if (strstr(head, " NodeGUID:"))
		return FORM_SUBNET_LST;
	if (db_csv_begins(head))
		return FORM_DB_CSV;
	if (strcasestr(head, "SwitchName=") || strcasestr(head, "BlockName=") ||
	    slurm_yaml_is(head))
		return FORM_SLURM;
	return FORM_IBND;
}

/* A scheduler's view as a fabric: names, no real GUIDs, one link per pair. */
static int load_fabric_read_slurm(struct builder *b, const struct input_file *in,
				  struct read_report *report, struct err *err)
{
	struct slurm_topology *topo;
	int rc = slurm_yaml_is(in->head)
			 ? slurm_yaml_read(&topo, in->file, in->path, report, err)
			 : slurm_topology_read(&topo, in->file, in->path, report, err);

	if (rc)
		return rc;
	rc = slurm_topology_build(b, topo, err);
	slurm_topology_free(topo);
	return rc;
}

/* OpenSM's cache has the LIDs in a file beside it.  NULL: there is none. */
static FILE *load_fabric_open_beside(char **path, const char *of)
{
	const char *slash = strrchr(of, '/');

	*path = xasprintf("%.*sguid2lid", slash ? (int)(slash - of) + 1 : 0, of);
	return fopen(*path, "re");
}

/* The file of a fabric on its way through a process of its own. */
struct fabric_reading {
	const struct input_file *in;
	enum fabric_form form;
	FILE *beside; /* guid2lid of a neighbors file, or NULL */
	char *beside_path;
	struct read_report of_lids;
	struct builder *b;
};

static int load_fabric_read_neighbors(struct builder *b, struct fabric_reading *x,
				      struct read_report *report, struct err *err)
{
	struct guid_lid *lids = NULL;
	uint32_t n = 0;
	int rc = x->beside ? guid2lid_read(&lids, &n, x->beside, x->beside_path, &x->of_lids, err)
			   : 0;

	if (!rc)
		rc = osm_neighbors_read(b, x->in->file, x->in->path, lids, n, report, err);
	free(lids);
	return rc;
}

static int load_fabric_read_form(struct builder **b, struct fabric_reading *x,
				 struct read_report *report, struct err *err)
{
	const struct input_file *in = x->in;
	struct ibnd_report ibnd;
	int rc;

	if (x->form == FORM_IBND) {
		rc = ibnd_read(b, in->file, in->path, &ibnd, err);
		*report = ibnd.read;
		return rc;
	}
	*b = builder_new();
	switch (x->form) {
	case FORM_CACHE:
		return ibnd_cache_read(*b, in->file, in->path, report, err);
	case FORM_NEIGHBORS:
		return load_fabric_read_neighbors(*b, x, report, err);
	case FORM_SUBNET_LST:
		return osm_subnet_read(*b, in->file, in->path, report, err);
	case FORM_DB_CSV:
		return db_csv_read(*b, in->file, in->path, report, err);
	case FORM_NETLOC:
		return netloc_nodes_read_fd(*b, fileno(in->file), in->path, report, err);
	default:
		return load_fabric_read_slurm(*b, in, report, err);
	}
}

static int load_fabric_read_apart(void *ctx, bytes_out *out, struct read_report *report,
				  struct err *err)
{
	struct fabric_reading *x = ctx;
	struct builder *b = NULL;
	int rc = load_fabric_read_form(&b, x, report, err);

	if (rc)
		return rc;
	bytes_put(out, &x->of_lids, sizeof(x->of_lids));
	builder_put(out, b);
	return 0;
}

static int load_fabric_take_read(void *ctx, struct bytes_in *in, struct err *err)
{
	struct fabric_reading *x = ctx;

	bytes_take(in, &x->of_lids, sizeof(x->of_lids));
	read_report_sanitize(&x->of_lids);
	return builder_take(&x->b, in, err);
}

/* The first line that says so; else only how many there are. */
static int load_fabric_refuse(const struct read_report *r, struct err *err)
{
	char line[512] = "";

	for (uint32_t i = 0; i < r->nnotes && !line[0]; i++)
		if (r->notes[i].gap)
			read_report_line(line, sizeof(line), r, i);
	return err_set(err, -ENODATA, "%s%sthe file is incomplete (%" PRIu64 " gap%s)",
		       line[0] ? line : r->path, line[0] ? "; " : ": ", r->gaps, plural(r->gaps));
}

/* What a reader reports of a damaged file that was loaded. */
static int load_fabric_judge(bool *incomplete, const struct read_report *r, bool strict,
			     struct err *err)
{
	*incomplete = r->gaps;
	if (!r->gaps)
		return 0;
	if (strict)
		return load_fabric_refuse(r, err);
	log_add(LOG_WARN, "load",
		"%s is incomplete (%" PRIu64
		" gap%s): only what is in it is loaded; --strict refuses it",
		r->path, r->gaps, plural(r->gaps));
	return 0;
}

static int load_fabric_read_fabric(struct builder **out, bool *incomplete, const char *path,
				   bool strict, struct err *err)
{
	struct fabric_reading x = { .form = FORM_IBND };
	struct apart a = { .read = load_fabric_read_apart,
			   .take = load_fabric_take_read,
			   .ctx = &x };
	struct read_report report = { .lines = 0 };
	const char *other; /* what it is else */
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	if (rc)
		return rc;
	x.in = &in;
	other = file_kind_text(file_kind_of(in.head));
	x.form = load_fabric_form(in.head);
	if (x.form == FORM_NEIGHBORS)
		x.beside = load_fabric_open_beside(&x.beside_path, in.path);
	a.path = in.path;
	a.file = in.file;
	a.beside = x.beside;
	rc = apart_read(&a, &report, err);
	if (!rc)
		input_file_tell(&x.of_lids);
	if (x.beside)
		fclose(x.beside);
	free(x.beside_path);
	*out = x.b;
	if (rc && other && x.form == FORM_IBND)
		err_set(err, rc, "%s is no fabric: it has %s", in.path, other);
	rc = input_file_end(&in, &report, rc);
	return rc ? rc : load_fabric_judge(incomplete, &report, strict, err);
}

int load_fabric_of(struct fabric **out, bool *incomplete, const char *path,
		   const struct load_fabric_opts *o, struct err *err)
{
	struct freeze_opts opts = { .name = o->name, .lmc = o->lmc, .names = o->names };
	struct builder *b = NULL;
	bool gaps = false;
	int rc = load_fabric_is_spec(path)
			 ? topo_build(&b, path, err)
			 : load_fabric_read_fabric(&b, &gaps, path, o->strict, err);

	*out = NULL;
	if (incomplete)
		*incomplete = gaps;
	if (!rc)
		rc = builder_freeze(out, b, &opts, err);
	builder_free(b);
	return rc;
}
