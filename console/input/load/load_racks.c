/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_racks.h"

#include "console/io/input_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/process/apart.h"
#include "fabric/format/slurm/slurm_topology.h"
#include "fabric/format/slurm/slurm_topology_bytes.h"
#include "fabric/format/slurm/slurm_yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A topology on its way through a process of its own. */
struct racks_reading {
	FILE *file;
	const char *path;
	struct slurm_topology *racks;
	bool yaml;
};

static int load_racks_read(void *ctx, bytes_out *out, struct read_report *report, struct err *err)
{
	struct racks_reading *x = ctx;
	struct slurm_topology *topo;
	int rc = x->yaml ? slurm_yaml_read(&topo, x->file, x->path, report, err)
			 : slurm_topology_read(&topo, x->file, x->path, report, err);

	if (!rc)
		slurm_topology_put(out, topo);
	return rc;
}

static int load_racks_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct racks_reading *x = ctx;

	(void)err;
	return slurm_topology_take(&x->racks, in);
}

static int load_racks_apart(struct slurm_topology **out, struct racks_reading *x,
			    struct read_report *report, struct err *err)
{
	struct apart a = { .path = x->path,
			   .file = x->file,
			   .read = load_racks_read,
			   .take = load_racks_take,
			   .ctx = x };
	int rc = apart_read(&a, report, err);

	if (rc)
		slurm_topology_free(x->racks);
	else
		*out = x->racks;
	return rc;
}

#define LOAD_RACKS_COMMAND "scontrol show topology"

/* A program of SLURM's own, since libslurm may end the process that calls it.  What is preloaded
 * for a simulated adapter is none of its business. */
static int load_racks_ask(struct slurm_topology **out, struct err *err)
{
	struct read_report report = { 0 };
	struct err why = { "" };
	FILE *in =
		popen("unset LD_PRELOAD; exec timeout 20 " LOAD_RACKS_COMMAND " 2>/dev/null", "re");
	struct racks_reading x = { .file = in, .path = LOAD_RACKS_COMMAND };
	int rc, status;

	if (!in)
		return err_set(err, -errno, "scontrol cannot be started: %s", strerror(errno));
	rc = load_racks_apart(out, &x, &report, &why);
	status = pclose(in);
	if (!rc && !status)
		return 0;
	slurm_topology_free(*out);
	*out = NULL;
	return err_set(err, -EIO, "racks: SLURM reports no topology (exit code %d): %s",
		       WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		       rc ? why.text : LOAD_RACKS_COMMAND " failed");
}

/* Of a folder with SLURM's configuration the file that SLURM takes: topology.yaml, where there is
 * one.  The caller frees. */
static char *load_racks_file(const char *path)
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

static bool load_racks_asks(const char *path)
{
	return !strcmp(path, "slurm") && access(path, F_OK);
}

char *load_racks_source(const char *path)
{
	return load_racks_asks(path) ? xstrdup(LOAD_RACKS_COMMAND) : load_racks_file(path);
}

int load_racks(struct slurm_topology **out, const char *path, struct err *err)
{
	struct racks_reading x = { 0 };
	struct read_report report = { 0 };
	struct input_file in;
	bool lines = false;
	char *file;
	int rc;

	*out = NULL;
	if (load_racks_asks(path))
		return load_racks_ask(out, err);
	file = load_racks_file(path);
	rc = input_file_open(&in, file, err);
	if (rc)
		goto out;
	x.file = in.file;
	x.path = in.path;
	x.yaml = slurm_yaml_is(in.head);
	rc = load_racks_apart(out, &x, &report, err);
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
