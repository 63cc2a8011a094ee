/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/cli/text/engines_help.h"
#include "console/config/exits.h"
#include "console/input/options.h"
#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "console/plan/command_inputs.h"
#include "console/plan/deadlock_test.h"
#include "engines/engine_spec.h"
#include "fabric/model/tables/vl_fold.h"

#include <stdlib.h>

#define PRESET_MS 1
#define ROUNDS	  4 /* of random pairs */

static const struct argp_option table[] = {
	OPTION(OPT_TOPOLOGY),
	OPTIONS_TABLES,
	OPTION(OPT_PATH_SL),
	OPTION(OPT_SL2VL),
	OPTION_SAYING(
		OPT_ENGINE,
		"compute the tables with this engine, as \"route\" does, instead of reading them"),
	OPTION_PARAM(PARAM_JOBS),
	OPTION_PARAM(PARAM_VLS),
	OPTION_PARAM(PARAM_LMC),
	OPTION_PARAM(PARAM_ROOTS),
	OPTION_PARAM(PARAM_EXCLUDE),
	OPTION_PARAM(PARAM_SAR_METHOD),
	OPTION_PARAM(PARAM_ESCAPE),
	{ "fold-vls", OPT_FOLD_VLS, "K", 0,
	  "simulate links with at most K data VLs: packets on VL v use VL v modulo K", 0 },
	{ "time-ms", OPT_TIME_MS, "T", 0, "simulate T milliseconds at most (default: 1)", 0 },
	OPTION_SAYING(OPT_PARAM + PARAM_SEED, "random seed for the engine and the traffic "
					      "(default: 1)"),
	OPTION_PARAM(PARAM_THREADS),
	OPTION(OPT_NAME_MAP),
	OPTION_SAYING(OPT_TERMINALS_ONLY,
		      "ignore paths to the switches' own LIDs when the tables are verified"),
	OPTION_SAYING(OPT_JSON, "print the result as JSON"),
	{ 0 },
};

static error_t cmd_deadlock_take(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (key == ARGP_KEY_END) {
		options_need(o->topology, "topology", state);
		if (!o->lfts == !o->engine)
			argp_error(state, "one of --engine, --lfts, --fdbs and --tables is needed");
		if (o->text[PARAM_EXCLUDE] && !o->engine)
			argp_error(state, "--exclude needs --engine; \"check\" verifies which "
					  "switches and cables given tables use");
		return 0;
	}
	return options_take(o, key, arg, state);
}

static const struct argp argp = {
	.options = table,
	.parser = cmd_deadlock_take,
	.doc = "Simulates packets that are forwarded by tables. If the channel dependency graph "
	       "has a cycle, packets are sent on exactly the paths that form it, until they "
	       "deadlock; if not, on paths that would form a cycle if all used one VL, and "
	       "between random terminals (host ports).\vTwo terminals of each switch send "
	       "continuously, in packets of 2 KiB; the buffer of each link and VL has 800 credits "
	       "of 64 bytes; links have the rate given by the topology, else 10 GiB/s (the "
	       "parameters of HOTI16). Exit codes: 0 no deadlock in that time; 1 a deadlock, and "
	       "which channels wait for which, or tables that do not connect everything; 64 bad "
	       "options; 255 an input could not be read.",
	.help_filter = engines_help,
};

/* Takes over the tables that are given, or makes them. */
static int cmd_deadlock_get_tables(struct tables **out, const struct options *o,
				   struct command_inputs *s, struct progress *progress,
				   struct err *err)
{
	struct engine_spec spec;
	struct tables *t = s->installed;
	int rc;

	if (o->engine) {
		rc = engine_spec_parse(&spec, o->engine, err);
		if (rc)
			return EXIT_BAD_USAGE;
		engine_spec_apply(&spec, &s->params);
		s->params.current = s->installed;
		rc = engine_run(spec.engine, &t, s->f, s->jobs, NULL, &s->params, progress, err);
		if (rc)
			return EXIT_FINDINGS;
	}
	s->installed = NULL;
	*out = t;
	if (o->fold_vls) {
		*out = vl_fold(s->f, t, o->fold_vls);
		tables_put(t);
	}
	return 0;
}

static int cmd_deadlock_judge(struct verdict **out, const struct command_inputs *s,
			      const struct tables *t, struct progress *progress, struct err *err)
{
	struct verify_opts opts = { .terminals_only = s->eval.terminals_only,
				    .threads = s->eval.threads };
	char text[512];

	if (verify_tables(out, s->f, t, &opts, progress, err))
		return EXIT_FINDINGS;
	if ((*out)->connected && (*out)->loop_free)
		return 0;
	verdict_sentence(text, sizeof(text), *out, s->f);
	err_set(err, EXIT_FINDINGS, "these tables lose packets, which hides deadlocks: %s", text);
	return EXIT_FINDINGS;
}

/* The paths that would wait for each other if there were one VL for all. */
static int cmd_deadlock_aim_at_one_vl(struct deadlock_test *stress, const struct command_inputs *s,
				      const struct tables *t, struct progress *progress,
				      struct err *err)
{
	struct tables *one = vl_fold(s->f, t, 1);
	struct verdict *v = NULL;
	int rc = cmd_deadlock_judge(&v, s, one, progress, err);

	if (!rc && v->cycle)
		deadlock_test_aim(stress, t, v->cycle, v->ncycle);
	verdict_free(v);
	tables_put(one);
	return rc;
}

static int cmd_deadlock_tell(const struct options *o, const struct deadlock_test *stress,
			     const struct verdict *v, struct err *err)
{
	json_t *json;

	if (o->json) {
		json = deadlock_test_json(stress);
		json_object_set_new(json, "deadlock_free", json_boolean(v->deadlock_free));
		json_object_set_new(json, "vls_used", json_integer(v->vls_used));
		return output_file_print_json(json, err) ? -EIO : output_file_flush_stdout(err);
	}
	if (v->deadlock_free)
		printf("The channel dependencies of the tables have no cycle; VLs used: %u.\n",
		       v->vls_used);
	else
		printf("The channel dependencies of the tables have a cycle of %u; VLs used: %u.\n",
		       v->ncycle, v->vls_used);
	deadlock_test_print(stdout, stress);
	return output_file_flush_stdout(err);
}

/* v, where they passed, and the simulation of what they carry. */
static int cmd_deadlock_simulate(struct deadlock_test *stress, struct verdict **v,
				 const struct options *o, const struct command_inputs *s,
				 const struct tables *t, struct progress *progress, struct err *err)
{
	uint64_t limit_ns = (o->time_ms ? o->time_ms : PRESET_MS) * 1000000ULL;
	int rc = cmd_deadlock_judge(v, s, t, progress, err);

	if (rc)
		return rc;
	deadlock_test_init(stress, s->f, t, o->params.seed);
	if ((*v)->cycle) {
		deadlock_test_aim(stress, t, (*v)->cycle, (*v)->ncycle);
	} else {
		rc = cmd_deadlock_aim_at_one_vl(stress, s, t, progress, err);
		deadlock_test_spread(stress, t, ROUNDS, o->params.seed);
	}
	if (!rc && deadlock_test_run(stress, limit_ns, progress, err))
		rc = EXIT_FINDINGS;
	return rc;
}

static int cmd_deadlock_drive(const struct options *o, const struct command_inputs *s,
			      const struct tables *t, struct progress_line *w, struct err *err)
{
	struct deadlock_test stress = { 0 };
	struct verdict *v = NULL;
	int rc = cmd_deadlock_simulate(&stress, &v, o, s, t, &w->progress, err);

	progress_line_stop(w);
	if (!rc && cmd_deadlock_tell(o, &stress, v, err))
		rc = EXIT_FINDINGS;
	if (!rc && stress.ncycle) {
		rc = EXIT_FINDINGS;
		err_set(err, rc, "these tables can deadlock");
	}
	deadlock_test_free(&stress);
	verdict_free(v);
	return rc;
}

static int cmd_deadlock_deadlock(const struct options *o, struct err *err)
{
	struct tables *t = NULL;
	struct progress_line w;
	struct command_inputs s;
	int rc = command_inputs_load(&s, o, err);

	progress_line_start(&w);
	if (!rc)
		rc = cmd_deadlock_get_tables(&t, o, &s, &w.progress, err);
	if (!rc)
		rc = cmd_deadlock_drive(o, &s, t, &w, err);
	progress_line_stop(&w);
	tables_put(t);
	command_inputs_free(&s);
	return rc;
}

int cmd_deadlock(int argc, char **argv)
{
	return options_run(argc, argv, &argp, cmd_deadlock_deadlock);
}
