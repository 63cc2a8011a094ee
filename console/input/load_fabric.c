/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load_fabric.h"

#include "console/lib/input_file.h"
#include "console/lib/progress_line.h"
#include "fabric/base/bytes_io.h"
#include "fabric/base/isolate.h"
#include "fabric/base/log.h"
#include "fabric/base/mem.h"
#include "fabric/base/plural.h"
#include "fabric/base/vec.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/ibnetdiscover/ibnd_cache.h"
#include "fabric/format/native/demand_file.h"
#include "fabric/format/native/guid_list.h"
#include "fabric/format/native/lid_choice_file.h"
#include "fabric/format/native/names.h"
#include "fabric/format/native/netloc.h"
#include "fabric/format/native/rank_file.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/format/opensm/guid2lid.h"
#include "fabric/format/opensm/ibdm_sl2vl.h"
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_lfts.h"
#include "fabric/format/opensm/osm_neighbors.h"
#include "fabric/format/opensm/osm_sl2vl.h"
#include "fabric/format/opensm/osm_subnet.h"
#include "fabric/format/opensm/path_sl.h"
#include "fabric/format/slurm/jobs_apart.h"
#include "fabric/format/slurm/slurm_topology.h"
#include "fabric/format/slurm/slurm_yaml.h"
#include "fabric/model/builder_bytes.h"
#include "fabric/model/graft.h"
#include "fabric/model/host_names.h"
#include "fabric/plan/planfile.h"
#include "fabric/sim/topology/topo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the fabric --------------------------------------------------------------------------- */

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
	if (strcasestr(head, "SwitchName=") || slurm_yaml_is(head))
		return FORM_SLURM;
	return FORM_IBND;
}

static int load_fabric_read_topology(struct slurm_topology **out, const struct input_file *in,
				     struct read_report *report, struct err *err)
{
	return slurm_yaml_is(in->head) ? slurm_yaml_read(out, in->file, in->path, report, err)
				       : slurm_topology_read(out, in->file, in->path, report, err);
}

/* A scheduler's view as a fabric: names, no real GUIDs, one link per pair. */
static int load_fabric_read_slurm(struct builder *b, const struct input_file *in,
				  struct read_report *report, struct err *err)
{
	struct slurm_topology *topo;
	int rc = load_fabric_read_topology(&topo, in, report, err);

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
	struct read_report report, of_lids;
};

static int load_fabric_read_neighbors(struct builder *b, struct fabric_reading *x, struct err *err)
{
	struct guid_lid *lids = NULL;
	uint32_t n = 0;
	int rc = x->beside ? guid2lid_read(&lids, &n, x->beside, x->beside_path, &x->of_lids, err)
			   : 0;

	if (!rc)
		rc = osm_neighbors_read(b, x->in->file, x->in->path, lids, n, &x->report, err);
	free(lids);
	return rc;
}

static int load_fabric_read_form(struct builder **b, struct fabric_reading *x, struct err *err)
{
	const struct input_file *in = x->in;
	struct ibnd_report ibnd;
	int rc;

	if (x->form == FORM_IBND) {
		rc = ibnd_read(b, in->file, in->path, &ibnd, err);
		x->report = ibnd.read;
		return rc;
	}
	*b = builder_new();
	switch (x->form) {
	case FORM_CACHE:
		return ibnd_cache_read(*b, in->file, in->path, &x->report, err);
	case FORM_NEIGHBORS:
		return load_fabric_read_neighbors(*b, x, err);
	case FORM_SUBNET_LST:
		return osm_subnet_read(*b, in->file, in->path, &x->report, err);
	default:
		return load_fabric_read_slurm(*b, in, &x->report, err);
	}
}

static int load_fabric_read_apart(void *ctx, struct isolated_out *result, struct err *err)
{
	struct fabric_reading *x = ctx;
	struct builder *b = NULL;
	bytes_out out = { 0 };
	int rc = load_fabric_read_form(&b, x, err);

	if (rc)
		return rc;
	bytes_put(&out, &x->of_lids, sizeof(x->of_lids));
	bytes_put(&out, &x->report, sizeof(x->report));
	builder_put(&out, b);
	isolated_put(result, out.v, out.n);
	return 0;
}

static int load_fabric_take_read(struct builder **out, struct fabric_reading *x,
				 const struct isolated *result, struct err *err)
{
	struct bytes_in in = { .at = result->data, .left = result->len };

	bytes_take(&in, &x->of_lids, sizeof(x->of_lids));
	bytes_take(&in, &x->report, sizeof(x->report));
	read_report_sanitize(&x->of_lids);
	read_report_sanitize(&x->report);
	input_file_tell(&x->of_lids);
	return builder_take(out, &in, err);
}

static int load_fabric_read_file(struct builder **out, struct fabric_reading *x, struct err *err)
{
	struct isolated result;
	int rc;

	if (x->form == FORM_NEIGHBORS)
		x->beside = load_fabric_open_beside(&x->beside_path, x->in->path);
	rc = isolated_read(&result, (FILE *const[2]){ x->in->file, x->beside },
			   load_fabric_read_apart, x, err);
	if (!rc)
		rc = load_fabric_take_read(out, x, &result, err);
	isolated_free(&result);
	if (x->beside)
		fclose(x->beside);
	free(x->beside_path);
	return rc;
}

static int load_fabric_read_fabric(struct builder **out, const char *path, struct err *err)
{
	struct fabric_reading x = { .form = FORM_IBND };
	struct input_file in;
	char fd_path[32];
	int rc = input_file_open(&in, path, err);

	*out = NULL;
	if (rc)
		return rc;
	x.in = &in;
	x.form = load_fabric_form(in.head);
	if (x.form != FORM_NETLOC) {
		rc = load_fabric_read_file(out, &x, err);
		return input_file_end(&in, &x.report, rc);
	}
	/* its reader opens the file itself; this also names what came through a pipe */
	*out = builder_new();
	snprintf(fd_path, sizeof(fd_path), "/dev/fd/%d", fileno(in.file));
	rc = netloc_nodes_read(*out, strcmp(path, "-") ? path : fd_path, &x.report, err);
	return input_file_end(&in, &x.report, rc);
}

int load_fabric_lmc(struct fabric **out, const char *path, const char *name,
		    const struct name_map *names, int lmc, struct err *err)
{
	struct freeze_opts opts = { .name = name, .lmc = lmc, .names = names };
	struct builder *b = NULL;
	int rc = load_fabric_is_spec(path) ? topo_build(&b, path, err)
					   : load_fabric_read_fabric(&b, path, err);

	*out = NULL;
	if (!rc)
		rc = builder_freeze(out, b, &opts, err);
	builder_free(b);
	return rc;
}

/* --- tables ------------------------------------------------------------------------------- */

static void load_fabric_tell_grafted(const char *path, const struct graft_report *grafted)
{
	char text[100];

	if (graft_report_text(text, sizeof(text), grafted))
		log_add(LOG_INFO, "tables", "%s: the hosts have changed since: %s", path, text);
}

static int load_fabric_ibr(struct tables **out, const struct input_file *in, const struct fabric *f,
			   struct err *err)
{
	struct graft_report grafted;
	int rc;

	/* the stream has read ahead, its descriptor must not have */
	if (lseek(fileno(in->file), 0, SEEK_SET) < 0)
		return err_set(err, -errno, "%s cannot be read: %s", in->path, strerror(errno));
	rc = tables_ibr_read_fd(out, fileno(in->file), f, &grafted, in->path, err);
	if (!rc)
		load_fabric_tell_grafted(in->path, &grafted);
	return rc;
}

/* "X-log-paths.ndat.gz" goes with "X-nodes.ndat.gz"; NULL for other names.  The caller frees. */
static char *load_fabric_netloc_nodes_path(const char *path)
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

static int load_fabric_netloc_paths(struct tables **out, const char *path, const char *nodes,
				    const struct fabric *f, struct err *err)
{
	struct read_report report;
	int rc;

	memset(&report, 0, sizeof(report));
	rc = netloc_paths_read(out, path, nodes, f, &report, err);
	if (!rc)
		input_file_tell(&report);
	return rc;
}

static bool load_fabric_is_plan(const char *head)
{
	static const char begin[] = "{\"schema\":\"ibroute-top plan/";

	return !strncmp(head, begin, sizeof(begin) - 1);
}

/* On the fabric that it was made for, or on one with other hosts. */
static int load_fabric_plan_tables(struct tables **out, const struct plan *p,
				   const struct fabric *f, const char *path, struct err *err)
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
	load_fabric_tell_grafted(path, &grafted);
	return 0;
}

/* What a plan is to install.  It has its own fabric with it. */
static int load_fabric_load_plan(struct tables **out, const struct input_file *in,
				 const struct fabric *f, struct err *err)
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
	rc = plan_decode(&p, data, (size_t)st.st_size, in->path, err);
	munmap(data, (size_t)st.st_size);
	if (!rc)
		rc = load_fabric_plan_tables(out, p, f, in->path, err);
	plan_free(p);
	return rc;
}

int load_fabric_plan_bytes(struct plan_bytes *bytes, struct plan **out, const char *path,
			   struct err *err)
{
	struct progress_line watch;
	int rc;

	progress_line_files(&watch);
	rc = plan_bytes_load(bytes, out, path, err);
	progress_line_files_end(&watch);
	return rc;
}

int load_fabric_plan(struct plan **out, const char *path, struct err *err)
{
	struct plan_bytes bytes;
	int rc = load_fabric_plan_bytes(&bytes, out, path, err);

	plan_bytes_clear(&bytes);
	return rc;
}

int load_fabric_tables(struct tables **out, const char *path, const struct fabric *f,
		       struct err *err)
{
	char *nodes = load_fabric_netloc_nodes_path(path);
	struct read_report report;
	struct input_file in;
	int rc;

	*out = NULL;
	if (nodes) {
		rc = load_fabric_netloc_paths(out, path, nodes, f, err);
		free(nodes);
		return rc;
	}
	rc = input_file_open(&in, path, err);
	if (rc)
		return rc;
	memset(&report, 0, sizeof(report));
	if (!strncmp(in.head, "IBROUTE\n", 8))
		rc = load_fabric_ibr(out, &in, f, err);
	else if (load_fabric_is_plan(in.head))
		rc = load_fabric_load_plan(out, &in, f, err);
	else if (strstr(in.head, "dump_ucast_routes:") || !strncmp(in.head, "Switch 0x", 9))
		rc = osm_fdbs_read(out, in.file, in.path, f, &report, err);
	else
		rc = osm_lfts_read(out, in.file, in.path, f, &report, err);
	return input_file_end(&in, &report, rc);
}

int load_fabric_path_sl(struct tables *t, const char *path, const struct fabric *f, struct err *err)
{
	struct read_report report;
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	if (rc)
		return rc;
	return input_file_end(&in, &report, path_sl_read(t, in.file, in.path, f, &report, err));
}

int load_fabric_sl2vl(struct tables *t, const char *path, const struct fabric *f, struct err *err)
{
	struct read_report report;
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	if (rc)
		return rc;
	if (strstr(in.head, "Switch 0x") || strstr(in.head, "Channel Adapter 0x"))
		rc = osm_sl2vl_read(t, in.file, in.path, f, &report, err);
	else
		rc = ibdm_sl2vl_read(t, in.file, in.path, f, &report, err);
	return input_file_end(&in, &report, rc);
}

/* --- names, jobs, GUIDs ------------------------------------------------------------------- */

int load_fabric_names(struct name_map **out, const char *path, struct err *err)
{
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	*out = NULL;
	if (rc)
		return rc;
	*out = name_map_new();
	rc = names_read(*out, in.file, in.path, err);
	input_file_close(&in);
	if (rc) {
		name_map_free(*out);
		*out = NULL;
	}
	return rc;
}

/* A program of SLURM's own, since libslurm may end the process that calls it.  What is preloaded
 * for a simulated adapter is none of its business. */
static int load_fabric_ask_racks(struct slurm_topology **out, struct err *err)
{
	struct read_report report = { 0 };
	struct err why = { "" };
	FILE *in =
		popen("unset LD_PRELOAD; exec timeout 20 scontrol show topology 2>/dev/null", "re");
	int rc, status;

	if (!in)
		return err_set(err, -errno, "scontrol cannot be started: %s", strerror(errno));
	rc = slurm_topology_read(out, in, "scontrol show topology", &report, &why);
	status = pclose(in);
	if (!rc && !status)
		return 0;
	slurm_topology_free(*out);
	*out = NULL;
	return err_set(err, -EIO, "racks: SLURM reports no topology (exit code %d): %s",
		       WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		       rc ? why.text : "scontrol show topology failed");
}

/* Of a folder with SLURM's configuration the file that SLURM takes: topology.yaml, where there is
 * one.  The caller frees. */
static char *load_fabric_racks_file(const char *path)
{
	size_t len = strlen(path), conf = strlen("topology.conf");
	bool is_conf = len >= conf && !strcmp(path + len - conf, "topology.conf");
	struct stat st;
	char *yaml;

	if (!is_conf && (stat(path, &st) || !S_ISDIR(st.st_mode)))
		return xstrdup(path);
	yaml = is_conf ? xasprintf("%.*stopology.yaml", (int)(len - conf), path)
		       : xasprintf("%s/topology.yaml", path);
	if (is_conf && !access(yaml, F_OK))
		log_add(LOG_WARN, "racks", "reading %s, although SLURM itself would use %s", path,
			yaml);
	if (!is_conf && !access(yaml, F_OK))
		return yaml;
	free(yaml);
	return is_conf ? xstrdup(path) : xasprintf("%s/topology.conf", path);
}

int load_fabric_racks(struct slurm_topology **out, const char *path, struct err *err)
{
	struct read_report report = { 0 };
	struct input_file in;
	bool lines = false;
	char *file;
	int rc;

	*out = NULL;
	if (!strcmp(path, "slurm") && access(path, F_OK))
		return load_fabric_ask_racks(out, err);
	file = load_fabric_racks_file(path);
	rc = input_file_open(&in, file, err);
	if (rc)
		goto out;
	rc = load_fabric_read_topology(out, &in, &report, err);
	/* switches of the fabric that are named and have no line of their own are meant to be so */
	for (uint32_t i = 0; !rc && i < report.nnotes; i++)
		lines = lines || report.notes[i].line;
	if (lines)
		input_file_tell(&report);
	input_file_close(&in);
out:
	free(file);
	return rc;
}

static void load_fabric_tell_unknown_nodes(const struct jobset *js, const char *path)
{
	uint32_t jobs = 0, nodes = 0, named = 0;

	for (uint32_t i = 0; i < js->njob; i++) {
		jobs += js->jobs[i].unknown > 0;
		nodes += js->jobs[i].unknown;
		named += js->jobs[i].nnodes;
	}
	if (jobs)
		log_add(LOG_WARN, "jobs",
			"%s: %u of the %u nodes named by jobs are not in the fabric (%u of %u "
			"jobs)",
			path, nodes, named, jobs, js->njob);
}

void load_fabric_tell_names(const struct jobset *js, const struct fabric *f)
{
	uint32_t jobs = 0, first = FAB_NONE;
	char text[300];

	for (uint32_t i = 0; i < js->njob; i++) {
		uint32_t term = job_ambiguous(&js->jobs[i], f);

		jobs += term != FAB_NONE;
		if (first == FAB_NONE)
			first = term;
	}
	if (!jobs)
		return;
	host_names_text(text, sizeof(text), f, first);
	log_add(LOG_WARN, "jobs",
		"%u job%s run%s on nodes whose names several hosts may have: %s (a node-name-map "
		"says which is which)",
		jobs, plural(jobs), jobs == 1 ? "s" : "", text);
}

int load_fabric_jobs(struct jobset **out, const char *path, const struct fabric *f, struct err *err)
{
	struct job_log *log = NULL;
	struct read_report report;
	struct input_file in;
	char source[32];
	int rc = input_file_open(&in, path, err);

	*out = NULL;
	if (rc)
		return rc;
	snprintf(source, sizeof(source), "file %.26s", in.path);
	rc = jobs_apart_read(&log, in.file, in.path, &report, err);
	input_file_close(&in);
	if (rc)
		return rc;
	input_file_tell(&report);
	rc = job_log_jobset(out, log, f, JOB_LOG_ALL, source, err);
	if (!rc)
		load_fabric_tell_unknown_nodes(*out, in.path);
	if (!rc)
		load_fabric_tell_names(*out, f);
	job_log_free(log);
	return rc;
}

int load_fabric_lid_choice(struct lid_choice **out, const char *path, const struct fabric *f,
			   struct err *err)
{
	struct read_report report;
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	*out = NULL;
	if (rc)
		return rc;
	return input_file_end(&in, &report,
			      lid_choice_read(out, in.file, in.path, f, &report, err));
}

static int load_fabric_ranks(struct rank_file **out, const char *path, struct err *err)
{
	struct read_report report;
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	if (rc)
		return rc;
	return input_file_end(&in, &report, rank_file_read(out, in.file, in.path, &report, err));
}

int load_fabric_demand(struct demand **out, const char *path, const char *ranks,
		       const struct fabric *f, struct err *err)
{
	struct rank_file *nodes = NULL;
	struct read_report report;
	struct input_file in;
	int rc = ranks ? load_fabric_ranks(&nodes, ranks, err) : 0;

	*out = NULL;
	if (rc)
		return rc;
	rc = input_file_open(&in, path, err);
	if (!rc)
		rc = input_file_end(
			&in, &report,
			demand_file_read(out, in.file, in.path, nodes, f, &report, err));
	rank_file_free(nodes);
	return rc;
}

int load_fabric_guids(uint64_t **out, size_t *n, const char *path, struct err *err)
{
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	*out = NULL;
	if (rc)
		return rc;
	rc = guid_list_read(out, n, in.file, in.path, err);
	if (!rc && !*n)
		rc = err_set(err, -ENODATA, "%s: no GUID in it", path);
	input_file_close(&in);
	return rc;
}
