/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/cli/text/multicast_text.h"
#include "console/cli/text/partitions_text.h"
#include "console/cli/text/summary.h"
#include "console/config/exits.h"
#include "console/input/load/load_mfts.h"
#include "console/input/load/load_partitions.h"
#include "console/input/options.h"
#include "console/io/output_file.h"
#include "console/plan/command_inputs.h"
#include "console/plan/route_report.h"

static const struct argp_option table[] = {
	OPTION(OPT_TOPOLOGY),
	OPTION(OPT_STRICT),
	OPTIONS_TABLES,
	OPTION(OPT_PATH_SL),
	OPTION(OPT_SL2VL),
	OPTION(OPT_MFTS),
	OPTION(OPT_PARTITIONS),
	OPTION_PARAM(PARAM_JOBS),
	OPTIONS_MOMENT,
	OPTION_PARAM(PARAM_LMC),
	OPTION(OPT_NAME_MAP),
	OPTION(OPT_ADAPTIVE),
	OPTION(OPT_ALL_LIDS),
	{ "lid-choice", OPT_LID_CHOICE, "FILE", 0,
	  "lid-choice.txt of these tables: check the path guarantees of PARX for every pair", 0 },
	OPTION_SAYING(OPT_PARAM + PARAM_EXCLUDE,
		      "switches and cables that no path may use: spine11, leaf7/33, GUIDs"),
	OPTIONS_METRICS,
	OPTION_PARAM(PARAM_SEED),
	OPTION_PARAM(PARAM_THREADS),
	OPTION_SAYING(
		OPT_TERMINALS_ONLY,
		"ignore paths to the switches' own LIDs: other engines often do not keep those "
		"deadlock-free"),
	OPTION_SAYING(OPT_JSON, "print the findings as JSON"),
	{ 0 },
};

static error_t cmd_check_take(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (key == ARGP_KEY_END) {
		options_need(o->topology, "topology", state);
		if (!o->lfts)
			argp_error(state, "one of --lfts, --fdbs and --tables is needed");
		if (o->partitions && !o->text[PARAM_JOBS])
			argp_error(state, "--partitions needs --jobs");
		return 0;
	}
	return options_take(o, key, arg, state);
}

static const struct argp argp = {
	.options = table,
	.parser = cmd_check_take,
	.doc = "Verifies tables from any source: that every terminal (host port) reaches every "
	       "terminal and switch, that there are no forwarding loops, that no deadlock is "
	       "possible, and that the VLs used exist on all links; with --mfts also that the entries of each "
	       "multicast group are a tree, with --partitions that the hosts of a job may talk to each other.\vWithout --path-sl all paths use SL 0; without --sl2vl "
	       "each SL uses the VL of the same number. In JSON, unknown values are null. Exit "
	       "codes: 0 everything holds; 1 something does not, and an example is printed; 64 "
	       "bad options; 255 an input could not be read.",
};

/* What is looked at beside the tables. */
struct beside {
	struct mcast m;
	struct mcast_verdict mcast; /* with --mfts */
	struct partitions p;	    /* with --partitions */
	uint32_t split;		    /* jobs whose hosts may not all talk */
};

static void cmd_check_add_beside(json_t *summary, const struct options *o, struct beside *x,
				 const struct command_inputs *s)
{
	if (o->mfts)
		json_object_set_new(summary, "multicast", multicast_text_json(&x->mcast, s->f));
	if (o->partitions)
		json_object_set_new(summary, "partitions",
				    partitions_text_json(&x->split, &x->p, s->f, s->jobs));
}

static void cmd_check_print_beside(const struct options *o, struct beside *x,
				   const struct command_inputs *s)
{
	if (o->mfts)
		multicast_text_print(stdout, &x->mcast, s->f);
	if (o->partitions)
		x->split = partitions_text_print(stdout, &x->p, s->f, s->jobs);
}

static int cmd_check_tell(const struct options *o, const struct route_report *e, struct beside *x,
			  const struct command_inputs *s, struct err *err)
{
	json_t *summary;
	int rc = 0;

	if (o->json) {
		summary = summary_json_all(e, o->per_job);
		summary_add_adaptive(summary, o->adaptive);
		cmd_check_add_beside(summary, o, x, s);
		rc = output_file_print_json(summary, err);
	} else {
		summary_print_all(stdout, e, o->per_job);
		summary_print_adaptive(stdout, o->adaptive);
		cmd_check_print_beside(o, x, s);
	}
	return rc ? rc : output_file_flush_stdout(err);
}

static int cmd_check_report(const struct options *o, struct command_inputs *s, struct beside *x,
			    struct err *err)
{
	struct route_report e = { 0 };
	struct route_inputs in = command_inputs_route(s, NULL);
	struct lid_choice *choice = s->choice;
	int rc = 0;

	in.tables = s->installed;
	in.opts.certificate = true;
	s->choice = NULL;
	if (o->mfts)
		mcast_judge(&x->mcast, &x->m, s->f);
	if (route_report_run(&e, &in, ROUTE_JUDGE, err) ||
	    (choice && route_report_choice(&e, &in, choice, err)) ||
	    cmd_check_tell(o, &e, x, s, err))
		rc = EXIT_FINDINGS;
	else if (!route_report_ok(&e))
		rc = err_set(err, EXIT_FINDINGS, "these tables are faulty");
	else if (x->mcast.nfault)
		rc = err_set(err, EXIT_FINDINGS, "these multicast tables are faulty");
	else if (x->split)
		rc = err_set(err, EXIT_FINDINGS, "hosts of a job may not talk to each other");
	route_report_free(&e);
	return rc;
}

static int cmd_check_check(const struct options *o, struct err *err)
{
	struct command_inputs s;
	struct beside x = { .split = 0 };
	int rc = command_inputs_load(&s, o, err);

	if (!rc && o->mfts && load_mfts(&x.m, o->mfts, s.f, err))
		rc = EXIT_UNREADABLE;
	if (!rc && o->partitions && load_partitions(&x.p, o->partitions, s.f, err))
		rc = EXIT_UNREADABLE;
	if (!rc)
		rc = cmd_check_report(o, &s, &x, err);
	mcast_verdict_end(&x.mcast);
	mcast_end(&x.m);
	partitions_end(&x.p);
	command_inputs_free(&s);
	return rc;
}

int cmd_check(int argc, char **argv)
{
	return options_run(argc, argv, &argp, cmd_check_check);
}
