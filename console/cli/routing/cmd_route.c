/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/cli/text/engines_help.h"
#include "console/cli/text/summary.h"
#include "console/config/exits.h"
#include "console/input/options.h"
#include "console/input/route_folder.h"
#include "console/io/output_file.h"
#include "console/plan/command_inputs.h"
#include "engines/engine_spec.h"

#include <string.h>

static const struct argp_option table[] = {
	OPTION_SAYING(
		OPT_ENGINE,
		"the engine, one of those listed below; :HOW is the number of data VLs that it may use, "
		"the method of sar, or the engine whose paths dfdn uses (dfdn:minhop; default: sssp, "
		"those of dfsssp)"),
	OPTION(OPT_TOPOLOGY),
	OPTION(OPT_STRICT),
	OPTION_PARAM(PARAM_JOBS),
	OPTIONS_MOMENT,
	OPTIONS_ROUTE,
	OPTION(OPT_NAME_MAP),
	OPTION(OPT_ADAPTIVE),
	OPTIONS_TABLES,
	OPTION(OPT_PATH_SL),
	OPTION(OPT_SL2VL),
	{ "out", OPT_OUT, "DIR", 0,
	  "write the files to this folder, created if needed. Without it nothing is written", 0 },
	{ "formats", OPT_FORMATS, "LIST", 0,
	  "opensm (default): opensm-lfts.dump, opensm-sl2vl.dump, path-sl.dump; ibdm: "
	  "opensm-subnet.lst, opensm.fdbs, ibdm-sl2vl.dump, path-sl.dump, as ibdmchk reads them; "
	  "path-sl: path-sl.dump even above 4,000 terminals (host ports); ibr: tables.ibr, which "
	  "is always written, like summary.json; mpi: mpi-env.txt, variables for UCX by host, for "
	  "parx (OpenSM's text takes about 66 bytes per switch "
	  "and LID)",
	  0 },
	OPTION_SAYING(OPT_JSON, "print the summary as JSON"),
	{ 0 },
};

static error_t cmd_route_take(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (key == ARGP_KEY_END) {
		options_need(o->engine, "engine", state);
		options_need(o->topology, "topology", state);
		if (!o->lfts && (o->path_sl || o->sl2vl))
			argp_error(state, "--path-sl and --sl2vl need one of --lfts, --fdbs, "
					  "--tables");
		return 0;
	}
	return options_take(o, key, arg, state);
}

static const struct argp argp = {
	.options = table,
	.parser = cmd_route_take,
	.doc = "Computes a routing, verifies it, prints its metrics, and writes it to files.\vIf "
	       "installed tables are given (--lfts, --fdbs or --tables), the summary has the "
	       "number of entries and blocks that would change. --engine repair takes tables of "
	       "an older state of the fabric: hosts, switches and cables that went, came or moved "
	       "since are found by GUID and port. In JSON, unknown values are null: "
	       "metrics of jobs without --jobs, changes without installed tables. Exit codes: 0 "
	       "the routing passed all checks; 1 the engine refused, a check failed, or a file "
	       "could not be written; 64 bad options; 255 an input could not be read.",
	.help_filter = engines_help,
};

static int cmd_route_finish(const struct options *o, const struct route_report *e, struct err *err)
{
	json_t *summary = summary_json_all(e, o->per_job);
	int rc = 0;

	summary_add_adaptive(summary, o->adaptive);
	if (o->out)
		rc = route_folder_write(o->out, e, o->formats, summary, err);
	if (!rc && o->json) {
		rc = output_file_json(stdout, summary, err);
	} else if (!rc) {
		summary_print_all(stdout, e, o->per_job);
		summary_print_adaptive(stdout, o->adaptive);
	}
	json_decref(summary);
	return rc ? rc : output_file_flush_stdout(err);
}

static int cmd_route_route(const struct options *o, struct err *err)
{
	struct route_report e = { 0 };
	struct engine_spec spec;
	struct command_inputs s;
	struct route_inputs in;
	int rc;

	if (engine_spec_parse(&spec, o->engine, err))
		return EXIT_BAD_USAGE;
	rc = command_inputs_load(&s, o, err);
	if (!rc) {
		in = command_inputs_route(&s, &spec);
		if (route_report_run(&e, &in, ROUTE_MAKE | ROUTE_JUDGE | ROUTE_DIFF, err))
			rc = EXIT_FINDINGS;
	}
	if (!rc && cmd_route_finish(o, &e, err))
		rc = EXIT_FINDINGS;
	if (!rc && !route_report_ok(&e)) {
		rc = EXIT_FINDINGS;
		err_set(err, rc, "this routing must not be used: see the verdict");
	}
	route_report_free(&e);
	command_inputs_free(&s);
	return rc;
}

int cmd_route(int argc, char **argv)
{
	return options_run(argc, argv, &argp, cmd_route_route);
}
