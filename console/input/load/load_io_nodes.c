/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_io_nodes.h"

#include "console/io/input_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/process/apart.h"
#include "fabric/format/site/io_names.h"
#include "fabric/format/site/io_nodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPENSM	    "opensm"
#define OPENSM_CONF "/etc/opensm/opensm.conf"
#define FEATURE	    "feature:"

enum io_source { IO_LIST, IO_CONF, IO_FEATURES };

struct io_reading {
	enum io_source source;
	FILE *file;
	const char *feature;
	struct io_names to;
	char *conf_value; /* IO_CONF */
};

static int load_io_nodes_read(void *ctx, bytes_out *out, struct read_report *report,
			      struct err *err)
{
	struct io_reading *x = ctx;
	char *value = NULL;
	int rc;

	(void)report;
	if (x->source == IO_LIST)
		return io_nodes_read(x->file, x->to.path, io_names_put, out, err);
	if (x->source == IO_FEATURES)
		return io_nodes_read_features(x->file, x->to.path, x->feature, io_names_put, out,
					      err);
	rc = io_nodes_read_conf(&value, x->file, x->to.path, err);
	if (!rc)
		io_names_put(out, 0, value);
	free(value);
	return rc;
}

static int load_io_nodes_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct io_reading *x = ctx;
	uint64_t unused;
	char *text;
	int rc = 0;

	if (x->source != IO_CONF)
		return io_names_take(&x->to, in, err);
	while (io_names_next(&rc, &unused, &text, in)) {
		if (x->conf_value || !*text)
			rc = -EPROTO;
		else
			x->conf_value = xstrdup(text);
		free(text);
	}
	return rc;
}

static int load_io_nodes_apart(struct io_reading *x, struct err *err)
{
	struct apart a = { .path = x->to.path,
			   .file = x->file,
			   .read = load_io_nodes_read,
			   .take = load_io_nodes_take,
			   .ctx = x };

	return apart_read(&a, NULL, err);
}

static int load_io_nodes_file(struct io_reading *x, const char *path, struct err *err)
{
	struct input_file in;
	int rc = input_file_open(&in, path, err);

	if (rc)
		return rc;
	x->file = in.file;
	x->to.path = in.path;
	rc = load_io_nodes_apart(x, err);
	input_file_close(&in);
	return rc;
}

static int load_io_nodes_conf(struct io_reading *x, const char *path, struct err *err)
{
	char *list;
	int rc;

	x->source = IO_CONF;
	rc = load_io_nodes_file(x, path, err);
	if (rc)
		return rc;
	list = x->conf_value;
	x->source = IO_LIST;
	rc = load_io_nodes_file(x, list ? list : "", err);
	free(list);
	return rc;
}

/* A program of SLURM's own, since libslurm may end the process that calls it. */
static int load_io_nodes_ask(struct io_reading *x, const char *feature, struct err *err)
{
	struct err why = { "" };
	int rc, status;

	x->source = IO_FEATURES;
	x->feature = feature;
	x->to.path = "sinfo";
	x->file =
		popen("unset LD_PRELOAD; exec timeout 20 sinfo -h -N -o '%N %b' 2>/dev/null", "re");
	if (!x->file)
		return err_set(err, -errno, "sinfo cannot be started: %s", strerror(errno));
	rc = load_io_nodes_apart(x, &why);
	status = pclose(x->file);
	if (rc || status)
		return err_set(err, -EIO, "SLURM does not list its nodes (sinfo, exit code %d)%s%s",
			       WIFEXITED(status) ? WEXITSTATUS(status) : -1, rc ? ": " : "",
			       why.text);
	if (!x->to.hosts)
		return err_set(err, -ENOENT, "no node of SLURM has the feature %s", feature);
	return 0;
}

int load_io_nodes(struct name_map **names, const char *text, struct err *err)
{
	bool made = !*names;
	struct io_reading x = { .to.path = text };
	struct err why = { "" };
	int rc;

	if (made)
		*names = name_map_new();
	x.to.names = *names;
	if (!strcmp(text, OPENSM) || !strncmp(text, OPENSM ":", strlen(OPENSM ":")))
		rc = load_io_nodes_conf(
			&x, text[strlen(OPENSM)] ? text + strlen(OPENSM ":") : OPENSM_CONF, &why);
	else if (!strncmp(text, FEATURE, strlen(FEATURE)))
		rc = load_io_nodes_ask(&x, text + strlen(FEATURE), &why);
	else if (strchr(text, '/') || !access(text, R_OK))
		rc = load_io_nodes_file(&x, text, &why);
	else
		rc = io_names_add(&x.to, text, &why);
	if (!rc)
		return 0;
	if (made) {
		name_map_free(*names);
		*names = NULL;
	}
	return err_set(err, rc, "--io-nodes: %s", why.text);
}

int load_io_nodes_found(const struct fabric *f, const char *text, struct err *err)
{
	for (uint32_t i = 0; i < f->nterm; i++)
		if (f->term_kind[i] == TERM_STORAGE)
			return 0;
	return err_set(err, -ENOENT, "--io-nodes: no host of %s is among %s", f->name, text);
}
