/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top topology: the fabric as SLURM is told of it, and what an installed file says else. */
#include "console/cli/commands.h"

#include "console/collector/link/collected.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/input/load/load_racks.h"
#include "console/input/options.h"
#include "console/io/output_file.h"
#include "console/live/live_fabric.h"
#include "console/plan/command_inputs.h"
#include "console/topology/slurm_compare.h"
#include "console/topology/slurm_view.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"
#include "fabric/format/slurm/slurm_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_SLURM = 1024, OPT_COMPARE };

struct topology_cmd {
	struct options o;
	struct live_opts live;
	const char *compare, *out;
	bool slurm, blocks, yaml;
};

static const struct argp_option table[] = {
	{ "slurm", OPT_SLURM, "tree|block", OPTION_ARG_OPTIONAL,
	  "write SLURM's topology.conf, for topology/tree (default) or topology/block", 0 },
	{ "yaml", CMDLINE_KEY(struct topology_cmd, yaml), NULL, 0,
	  "write topology.yaml instead (SLURM 25.05 and later)", 0 },
	{ "compare", OPT_COMPARE, "FILE", 0,
	  "print what an installed topology.conf or topology.yaml says else than the fabric; a "
	  "folder: the file that SLURM takes there; slurm: what scontrol shows",
	  0 },
	OPTION(OPT_TOPOLOGY),
	OPTION(OPT_STRICT),
	OPTION_PARAM(PARAM_IO_NODES),
	{ "output", 'o', "FILE", 0, "write to FILE, which is replaced as a whole (default: stdout)",
	  0 },
	OPTION_COLLECTOR(CMDLINE_KEY(struct topology_cmd, live.collector), 0),
	OPTION_SAYING(OPT_JSON, "with --compare: print the differences as JSON"),
	{ 0 },
};

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD('o', struct topology_cmd, out),
	CMDLINE_FIELD(OPT_COMPARE, struct topology_cmd, compare),
	{ 0 },
};

static error_t cmd_topology_take(int key, char *arg, struct argp_state *state)
{
	struct topology_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->live;
		return 0;
	case OPT_SLURM:
		if (arg && strcmp(arg, "tree") && strcmp(arg, "block"))
			argp_error(state, "--slurm: '%s' is not one of tree, block", arg);
		c->slurm = true;
		c->blocks = arg && !strcmp(arg, "block");
		return 0;
	case ARGP_KEY_END:
		if (c->slurm == (c->compare != NULL))
			argp_error(state, "either --slurm or --compare FILE is needed");
		if (c->yaml && !c->slurm)
			argp_error(state, "--yaml needs --slurm");
		return 0;
	default:
		return cmdline_take(fields, c, key, arg, state)
			       ? options_take(&c->o, key, arg, state)
			       : 0;
	}
}

/* What a file is written from. */
struct topology_text {
	const struct slurm_view *view;
	const struct slurm_topology *topo;
	bool yaml;
};

static int cmd_topology_print(FILE *out, const void *what, struct err *err)
{
	const struct topology_text *x = what;

	(void)err;
	slurm_view_comments(out, x->view, slurm_topology_is_blocks(x->topo));
	if (x->yaml)
		slurm_yaml_write(out, x->topo, "fabric");
	else
		slurm_topology_write(out, x->topo);
	return 0;
}

static int cmd_topology_write(const struct topology_cmd *c, const struct slurm_view *view,
			      struct err *err)
{
	struct topology_text x = { .view = view, .yaml = c->yaml };
	struct slurm_topology *topo;
	int rc;

	if (slurm_view_topology(&topo, view, c->blocks, err))
		return EXIT_FINDINGS;
	x.topo = topo;
	output_file_guard_signals();
	rc = output_file_write(c->out, cmd_topology_print, &x, err);
	slurm_topology_free(topo);
	return rc ? EXIT_FINDINGS : EXIT_OK;
}

static json_t *cmd_topology_json_one(const struct slurm_difference *d)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", slurm_difference_kind_name(d->kind),
			 "line", d->line ? json_integer((json_int_t)d->line) : json_null(),
			 "switch", d->name[0] ? json_text(d->name) : json_null(), "hosts",
			 d->hosts ? json_text(d->hosts) : json_null(), "text", json_text(d->text));
}

static json_t *cmd_topology_json(const struct slurm_compare *k, const char *path)
{
	json_t *all = json_array();

	for (size_t i = 0; i < k->n; i++)
		json_array_append_new(all, cmd_topology_json_one(&k->v[i]));
	return json_pack("{s:s, s:o, s:i, s:i, s:o}", "schema", "ibroute-top/1", "file",
			 json_text(path), "switches", (int)k->switches, "hosts", (int)k->hosts,
			 "differences", all);
}

static int cmd_topology_tell_to(FILE *out, const void *what, struct err *err)
{
	const struct slurm_compare *k = ((const void *const *)what)[0];
	const char *path = ((const void *const *)what)[1];

	(void)err;
	for (size_t i = 0; i < k->n; i++)
		if (k->v[i].line)
			fprintf(out, "%s:%llu: %s\n", path, (unsigned long long)k->v[i].line,
				k->v[i].text);
		else
			fprintf(out, "%s: %s\n", path, k->v[i].text);
	fprintf(out, "%s: %u switch%s and %u host%s compared, %zu difference%s\n", path,
		k->switches, plural_es(k->switches), k->hosts, plural(k->hosts), k->n,
		plural(k->n));
	return 0;
}

static int cmd_topology_json_to(FILE *out, const void *what, struct err *err)
{
	json_t *j =
		cmd_topology_json(((const void *const *)what)[0], ((const void *const *)what)[1]);
	int rc = output_file_json(out, j, err);

	json_decref(j);
	return rc;
}

static int cmd_topology_compare(const struct topology_cmd *c, const struct slurm_view *view,
				struct err *err)
{
	struct slurm_topology *file;
	struct slurm_compare *k;
	char *path;
	int rc;

	if (load_racks(&file, c->compare, err))
		return EXIT_UNREADABLE;
	path = plain_text(load_racks_source(c->compare), "");
	k = slurm_compare_new(view, file);
	rc = output_file_write(c->out, c->o.json ? cmd_topology_json_to : cmd_topology_tell_to,
			       (const void *[]){ k, path }, err);
	rc = rc || k->n ? EXIT_FINDINGS : EXIT_OK;
	slurm_compare_free(k);
	slurm_topology_free(file);
	free(path);
	return rc;
}

static int cmd_topology_do(const struct topology_cmd *c, const struct fabric *f, struct err *err)
{
	struct slurm_view *view = slurm_view_new(f);
	int rc = c->compare ? cmd_topology_compare(c, view, err) : cmd_topology_write(c, view, err);

	slurm_view_free(view);
	return rc;
}

static int cmd_topology_run(struct topology_cmd *c, struct err *err)
{
	struct command_inputs in = { 0 };
	struct live l = { 0 };
	int rc;

	if (c->o.topology) {
		c->o.name = c->live.name;
		c->o.name_map = c->live.node_names;
		rc = command_inputs_load(&in, &c->o, err);
	} else {
		c->live.io_nodes = c->o.text[PARAM_IO_NODES];
		c->live.collected = collected_open;
		rc = live_discover(&l, &c->live, NULL, err) ? EXIT_UNREADABLE : 0;
	}
	if (!rc)
		rc = cmd_topology_do(c, c->o.topology ? in.f : l.f, err);
	command_inputs_free(&in);
	live_close(&l);
	return rc;
}

int cmd_topology(int argc, char **argv)
{
	static const struct argp argp = {
		.options = table,
		.parser = cmd_topology_take,
		.children = live_children,
		.doc = "Writes the topology file of SLURM for the fabric at this port, or that of a "
		       "dump, or compares an installed one with it. In a tree each host is under the "
		       "switch that it is on; switches of one level that reach each other from above "
		       "are one switch there, because SLURM takes a tree and no more; a dragonfly "
		       "has its groups, a HyperX the lines of its first dimension. Hosts for storage "
		       "and I/O are left out.\vExit codes: 0 written, or nothing differs; 1 "
		       "something differs, or the file could not be written; 64 bad options; 255 "
		       "the fabric or the file could not be read.",
	};
	struct topology_cmd c = { .compare = NULL };
	struct err err = { "" };
	int rc;

	options_init(&c.o);
	options_parse(&argp, argc, argv, &c);
	rc = cmd_topology_run(&c, &err);
	return cmdline_end(argv[0], rc, &err);
}
