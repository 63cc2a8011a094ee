/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load_fabric.h"

#include "console/io/input_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/process/apart.h"
#include "fabric/format/native/demand_apart.h"
#include "fabric/format/native/lid_choice_file.h"
#include "fabric/format/site/guid_list_apart.h"
#include "fabric/format/site/node_name_map.h"
#include "fabric/format/slurm/jobs_apart.h"
#include "fabric/format/slurm/slurm_topology.h"
#include "fabric/format/slurm/slurm_topology_bytes.h"
#include "fabric/format/slurm/slurm_yaml.h"
#include "fabric/model/tables/lid_choice_bytes.h"
#include "fabric/model/topology/host_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A list on its way through a process of its own; the thing that is made of it. */
struct list_reading {
	FILE *file;
	const char *path;
	const struct fabric *f; /* NULL: it is not needed */
	union {
		struct name_map *names;
		struct slurm_topology *racks;
		struct lid_choice *choice;
	} made;
	bool yaml; /* racks */
};

static int load_lists_apart(struct list_reading *x,
			    int (*read)(void *, bytes_out *, struct read_report *, struct err *),
			    int (*take)(void *, struct bytes_in *, struct err *),
			    struct read_report *report, struct err *err)
{
	struct apart a = { .path = x->path, .file = x->file, .read = read, .take = take, .ctx = x };

	return apart_read(&a, report, err);
}

/* --- names and GUIDs -------------------------------------------------------------------------- */

static void load_lists_put_name(void *ctx, uint64_t guid, const char *name)
{
	bytes_out *out = ctx;

	bytes_put(out, &guid, sizeof(guid));
	bytes_put_text(out, name);
}

static int load_lists_read_names(void *ctx, bytes_out *out, struct read_report *report,
				 struct err *err)
{
	struct list_reading *x = ctx;
	struct name_map *m = name_map_new();
	int rc = node_name_map_read(m, x->file, x->path, err);

	(void)report;
	if (!rc)
		name_map_each(m, load_lists_put_name, out);
	return rc;
}

/* Up to the report behind them. */
static int load_lists_take_names(void *ctx, struct bytes_in *in, struct err *err)
{
	struct list_reading *x = ctx;

	(void)err;
	x->made.names = name_map_new();
	while (in->left > sizeof(struct read_report)) {
		uint64_t guid;
		char *name;

		bytes_take(in, &guid, sizeof(guid));
		name = bytes_take_text(in);
		if (!name || in->bad) {
			free(name);
			return -EPROTO;
		}
		name_map_add(x->made.names, guid, name);
		free(name);
	}
	return 0;
}

int load_fabric_names(struct name_map **out, const char *path, struct err *err)
{
	struct list_reading x = { 0 };
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	*out = NULL;
	if (rc)
		return rc;
	x.file = in.file;
	x.path = in.path;
	rc = load_lists_apart(&x, load_lists_read_names, load_lists_take_names, NULL, err);
	input_file_close(&in);
	if (rc)
		name_map_free(x.made.names);
	else
		*out = x.made.names;
	return rc;
}

int load_fabric_guids(uint64_t **out, size_t *n, const char *path, struct err *err)
{
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	*out = NULL;
	if (rc)
		return rc;
	rc = guid_list_apart_read(out, n, in.file, in.path, err);
	if (!rc && !*n)
		rc = err_set(err, -ENODATA, "%s: no GUID in it", path);
	input_file_close(&in);
	return rc;
}

/* --- racks ------------------------------------------------------------------------------------ */

static int load_lists_read_racks(void *ctx, bytes_out *out, struct read_report *report,
				 struct err *err)
{
	struct list_reading *x = ctx;
	struct slurm_topology *topo;
	int rc = x->yaml ? slurm_yaml_read(&topo, x->file, x->path, report, err)
			 : slurm_topology_read(&topo, x->file, x->path, report, err);

	if (!rc)
		slurm_topology_put(out, topo);
	return rc;
}

static int load_lists_take_racks(void *ctx, struct bytes_in *in, struct err *err)
{
	struct list_reading *x = ctx;

	(void)err;
	return slurm_topology_take(&x->made.racks, in);
}

static int load_lists_racks(struct slurm_topology **out, struct list_reading *x,
			    struct read_report *report, struct err *err)
{
	int rc = load_lists_apart(x, load_lists_read_racks, load_lists_take_racks, report, err);

	if (rc)
		slurm_topology_free(x->made.racks);
	else
		*out = x->made.racks;
	return rc;
}

/* A program of SLURM's own, since libslurm may end the process that calls it.  What is preloaded
 * for a simulated adapter is none of its business. */
static int load_lists_ask_racks(struct slurm_topology **out, struct err *err)
{
	struct read_report report = { 0 };
	struct err why = { "" };
	FILE *in =
		popen("unset LD_PRELOAD; exec timeout 20 scontrol show topology 2>/dev/null", "re");
	struct list_reading x = { .file = in, .path = "scontrol show topology" };
	int rc, status;

	if (!in)
		return err_set(err, -errno, "scontrol cannot be started: %s", strerror(errno));
	rc = load_lists_racks(out, &x, &report, &why);
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
static char *load_lists_racks_file(const char *path)
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
	struct list_reading x = { 0 };
	struct read_report report = { 0 };
	struct input_file in;
	bool lines = false;
	char *file;
	int rc;

	*out = NULL;
	if (!strcmp(path, "slurm") && access(path, F_OK))
		return load_lists_ask_racks(out, err);
	file = load_lists_racks_file(path);
	rc = input_file_open(&in, file, err);
	if (rc)
		goto out;
	x.file = in.file;
	x.path = in.path;
	x.yaml = slurm_yaml_is(in.head);
	rc = load_lists_racks(out, &x, &report, err);
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

/* --- jobs ------------------------------------------------------------------------------------- */

static void load_lists_tell_unknown_nodes(const struct jobset *js, const char *path)
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
		load_lists_tell_unknown_nodes(*out, in.path);
	if (!rc)
		load_fabric_tell_names(*out, f);
	job_log_free(log);
	return rc;
}

/* --- for engines ------------------------------------------------------------------------------ */

static int load_lists_read_choice(void *ctx, bytes_out *out, struct read_report *report,
				  struct err *err)
{
	struct list_reading *x = ctx;
	struct lid_choice *c;
	int rc = lid_choice_read(&c, x->file, x->path, x->f, report, err);

	if (!rc)
		lid_choice_put(out, c);
	return rc;
}

static int load_lists_take_choice(void *ctx, struct bytes_in *in, struct err *err)
{
	struct list_reading *x = ctx;

	(void)err;
	return lid_choice_take(&x->made.choice, in, x->f);
}

int load_fabric_lid_choice(struct lid_choice **out, const char *path, const struct fabric *f,
			   struct err *err)
{
	struct list_reading x = { .f = f };
	struct read_report report;
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	*out = NULL;
	if (rc)
		return rc;
	x.file = in.file;
	x.path = in.path;
	rc = load_lists_apart(&x, load_lists_read_choice, load_lists_take_choice, &report, err);
	if (rc)
		lid_choice_free(x.made.choice);
	else
		*out = x.made.choice;
	return input_file_end(&in, &report, rc);
}

static int load_lists_demand(struct demand **out, const char *path, struct demand_input *ranks,
			     const struct fabric *f, struct err *err)
{
	struct demand_input d = { 0 };
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	if (rc)
		return rc;
	d.file = in.file;
	d.path = in.path;
	rc = demand_apart_read(out, &d, ranks, f, err);
	if (!rc && ranks->file)
		input_file_tell(&ranks->report);
	return input_file_end(&in, &d.report, rc);
}

int load_fabric_demand(struct demand **out, const char *path, const char *ranks,
		       const struct fabric *f, struct err *err)
{
	struct demand_input of_ranks = { 0 };
	struct input_file in;
	int rc = ranks ? input_file_open(&in, ranks, err) : 0;

	*out = NULL;
	if (rc)
		return rc;
	if (ranks) {
		of_ranks.file = in.file;
		of_ranks.path = in.path;
	}
	rc = load_lists_demand(out, path, &of_ranks, f, err);
	if (ranks)
		input_file_close(&in);
	return rc;
}
