/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/cli/text/engines_help.h"
#include "console/config/exits.h"
#include "console/deadlock/deadlock_text.h"
#include "console/deadlock/deadlock_traffic.h"
#include "console/input/options.h"
#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "console/plan/command_inputs.h"
#include "engines/engine_spec.h"
#include "fabric/model/tables/vl_fold.h"

#include <stdlib.h>
#include <string.h>

#define PRESET_MS   1
#define MESSAGE_KiB 128 /* of HOTI16 */
#define ROUNDS	    4	/* of random pairs; shifts of an all-to-all */

static const struct argp_option table[] = {
	OPTION(OPT_TOPOLOGY),
	OPTION(OPT_STRICT),
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
	{ "protocol", OPT_PROTOCOL, "NAME", 0,
	  "saturate (default): two terminals of each switch send continuously; hoti16: each of them "
	  "sends one message to another one, none receives two, and the VLs of a port share its "
	  "buffer",
	  0 },
	{ "message-kib", OPT_MESSAGE_KIB, "N", 0, "with hoti16: size of a message (default: 128)",
	  0 },
	{ "buffers", OPT_BUFFERS, "vl|port", 0,
	  "the 800 credits are those of each VL of a port, or shared by its VLs, each of which "
	  "keeps room for one packet (default: as the protocol says)",
	  0 },
	OPTION_SAYING(OPT_PATTERN,
		      "the jobs of --jobs send instead, all at the same time: shift, "
		      "alltoall (four shifts by chance), ring, stencil2d, stencil3d, or "
		      "none (default)"),
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

static bool cmd_deadlock_hoti16(const struct options *o)
{
	return o->protocol && !strcmp(o->protocol, "hoti16");
}

static void cmd_deadlock_check_traffic(const struct options *o, struct argp_state *state)
{
	if (o->protocol && strcmp(o->protocol, "saturate") && !cmd_deadlock_hoti16(o))
		argp_error(state, "--protocol: \"%s\" is not saturate or hoti16", o->protocol);
	if (o->buffers && strcmp(o->buffers, "vl") && strcmp(o->buffers, "port"))
		argp_error(state, "--buffers: \"%s\" is not vl or port", o->buffers);
	if (o->message_KiB && !cmd_deadlock_hoti16(o))
		argp_error(state, "--message-kib needs --protocol hoti16");
	if (o->pattern_said && !o->text[PARAM_JOBS])
		argp_error(state, "--pattern needs --jobs");
}

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
		cmd_deadlock_check_traffic(o, state);
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
	       "parameters of HOTI16). With --protocol hoti16 it ends when all messages have "
	       "arrived. Exit codes: 0 no deadlock in that time; 1 a deadlock, and "
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

static const char *cmd_deadlock_pattern(const struct options *o)
{
	return o->pattern_said ? predict_pattern_name(o->pattern) : NULL;
}

/* v is of the tables `of`: t, or t on one VL. */
static int cmd_deadlock_add_traffic(struct deadlock_test *stress, const struct options *o,
				    const struct command_inputs *s, const struct tables *t,
				    const struct tables *of, const struct verdict *v,
				    struct progress *progress, struct err *err)
{
	if (o->pattern_said) {
		deadlock_traffic_jobs(stress, t, of, s->jobs, o->pattern, ROUNDS, v->cycle,
				      v->ncycle);
		return 0;
	}
	if (cmd_deadlock_hoti16(o))
		return deadlock_traffic_pairs(stress, t, of, v->cycle, v->ncycle, progress, err)
			       ? EXIT_FINDINGS
			       : 0;
	if (v->cycle)
		deadlock_traffic_aim(stress, t, v->cycle, v->ncycle);
	if (t != of)
		deadlock_traffic_spread(stress, t, ROUNDS);
	return 0;
}

/* Without a cycle: the paths that would wait for each other if there were one VL for all. */
static int cmd_deadlock_aim_at_one_vl(struct deadlock_test *stress, const struct options *o,
				      const struct command_inputs *s, const struct tables *t,
				      struct progress *progress, struct err *err)
{
	struct tables *one = vl_fold(s->f, t, 1);
	struct verdict *v = NULL;
	int rc = cmd_deadlock_judge(&v, s, one, progress, err);

	if (!rc)
		rc = cmd_deadlock_add_traffic(stress, o, s, t, one, v, progress, err);
	verdict_free(v);
	tables_put(one);
	return rc;
}

static int cmd_deadlock_tell(const struct options *o, const struct deadlock_test *stress,
			     const struct verdict *v, struct err *err)
{
	json_t *json;

	if (o->json) {
		json = deadlock_text_json(stress, cmd_deadlock_pattern(o));
		json_object_set_new(json, "deadlock_free", json_boolean(v->deadlock_free));
		json_object_set_new(json, "vls_used", json_integer(v->vls_used));
		json_object_set_new(json, "protocol",
				    json_string(o->protocol ? o->protocol : "saturate"));
		return output_file_print_json(json, err) ? -EIO : output_file_flush_stdout(err);
	}
	if (v->deadlock_free)
		printf("The channel dependencies of the tables have no cycle; VLs used: %u.\n",
		       v->vls_used);
	else
		printf("The channel dependencies of the tables have a cycle of %u; VLs used: %u.\n",
		       v->ncycle, v->vls_used);
	deadlock_text_print(stdout, stress, cmd_deadlock_pattern(o));
	return output_file_flush_stdout(err);
}

static void cmd_deadlock_init(struct deadlock_test *stress, const struct options *o,
			      const struct command_inputs *s, const struct tables *t,
			      const struct verdict *v)
{
	bool hoti16 = cmd_deadlock_hoti16(o);
	struct deadlock_test_opts opts = { .seed = o->params.seed, .shared = hoti16 };

	if (hoti16)
		opts.message = (o->message_KiB ? o->message_KiB : MESSAGE_KiB) * 1024ULL;
	if (o->buffers)
		opts.shared = !strcmp(o->buffers, "port");
	if (opts.shared && v->vl_mask)
		opts.vls = 32 - (unsigned)__builtin_clz(v->vl_mask);
	deadlock_test_init(stress, s->f, t, &opts);
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
	cmd_deadlock_init(stress, o, s, t, *v);
	if ((*v)->cycle)
		rc = cmd_deadlock_add_traffic(stress, o, s, t, t, *v, progress, err);
	else
		rc = cmd_deadlock_aim_at_one_vl(stress, o, s, t, progress, err);
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
