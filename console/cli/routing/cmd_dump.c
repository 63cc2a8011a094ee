/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top dump-lfts: the tables that are installed, or of files, in the formats of others. */
#include "console/cli/commands.h"

#include "console/collector/link/collected.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/input/route_file.h"
#include "console/input/route_folder.h"
#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "console/plan/tables_source.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_lfts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPT_FORMAT = 700 };

struct dump_cmd {
	struct tables_source_opts s;
	unsigned format; /* enum output_format */
	const char *dir;
};

static const struct argp_option table[] = {
	{ "format", OPT_FORMAT, "opensm|ibdm|ibr", 0,
	  "opensm-lfts.dump (default), opensm.fdbs, or tables.ibr with SLs and VLs", 0 },
	{ "output", 'o', "DIR", 0,
	  "write files to this folder, including SL2VL tables and known service levels (default: "
	  "only the LFTs, to stdout)",
	  0 },
	{ "plan", CMDLINE_KEY(struct dump_cmd, s.plan), "FILE", 0,
	  "the tables that this plan would install", 0 },
	{ 0 },
};

static error_t cmd_dump_take(int key, char *arg, struct argp_state *state)
{
	struct dump_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->s;
		return 0;
	case OPT_FORMAT:
		c->format = !strcmp(arg, "opensm") ? FORMAT_OPENSM
			    : !strcmp(arg, "ibdm") ? FORMAT_IBDM
			    : !strcmp(arg, "ibr")  ? FORMAT_IBR
						   : 0;
		if (!c->format)
			argp_error(state, "--format: '%s' is not one of opensm, ibdm, ibr", arg);
		return 0;
	case 'o':
		c->dir = arg;
		return 0;
	default:
		return cmdline_take(NULL, c, key, arg, state);
	}
}

static int cmd_dump_dump(const struct dump_cmd *c, const struct tables_source *s, struct err *err)
{
	const struct tables *t = s->planned ? s->planned : s->t;
	struct progress_line watch;
	int rc;

	if (c->dir) {
		rc = route_folder_tables(c->dir, s->f, t, c->format, route_file_sls_known(t), err);
		return rc ? EXIT_FINDINGS : 0;
	}
	progress_line_output(&watch);
	switch (c->format) {
	case FORMAT_IBDM:
		rc = osm_fdbs_write(stdout, s->f, t, err);
		break;
	case FORMAT_IBR:
		rc = tables_ibr_write_fd(STDOUT_FILENO, t, s->f, "stdout", err);
		break;
	default:
		rc = osm_lfts_write(stdout, s->f, t, err);
	}
	progress_line_files_end(&watch);
	if (!rc)
		rc = output_file_flush_stdout(err);
	return rc ? EXIT_FINDINGS : 0;
}

int cmd_dump_lfts(int argc, char **argv)
{
	static const struct argp_child children[] = { { &tables_source_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = table,
		.parser = cmd_dump_take,
		.children = children,
		.doc = "Writes the forwarding tables of all switches: the installed ones, or "
		       "those of files or of a plan. The output can be loaded by 'opensm -R file "
		       "-U FILE', by the console and by all commands of ibroute-top.\vExit codes: "
		       "0 written; 1 not written; 64 bad options; 255 the fabric or a file could "
		       "not be read.",
	};
	struct dump_cmd c = { .format = FORMAT_OPENSM };
	struct tables_source s = { .f = NULL };
	struct err err = { "" };
	int rc;

	tables_source_opts_init(&c.s);
	cmdline_parse(&argp, argc, argv, &c);
	c.s.live.lfts_only = !c.dir && c.format != FORMAT_IBR;
	c.s.live.collected = collected_open;
	rc = tables_source_open(&s, &c.s, &err);
	if (!rc)
		rc = cmd_dump_dump(&c, &s, &err);
	cmdline_end(argv[0], rc, &err);
	tables_source_close(&s);
	return rc;
}
