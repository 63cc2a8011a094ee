/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top plan: what would be written to which switches, kept in a file for apply. */
#include "console/cli/commands.h"

#include "console/auto/auto_policy.h"
#include "console/cli/text/engines_help.h"
#include "console/cli/text/message_summary.h"
#include "console/cli/text/plan_jobs.h"
#include "console/cli/text/plan_text.h"
#include "console/cli/text/summary.h"
#include "console/collector/link/collected.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/input/options.h"
#include "console/input/route_file.h"
#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "console/live/agents.h"
#include "console/live/live_sls.h"
#include "console/plan/command_inputs.h"
#include "console/plan/gate_json.h"
#include "console/plan/route_report.h"
#include "console/plan/safe_part.h"
#include "engines/engine_spec.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"
#include "fabric/plan/drain_names.h"
#include "fabric/plan/file/planfile.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan_cmd {
	struct options o;
	struct live_opts live;
	const char *file;
	struct route_file from; /* instead of an engine */
	struct command_inputs in;
	struct adaptive adaptive;
	bool detailed, no_drain;
	bool sls_known;	     /* of the installed tables, also where all are 0 */
	double min_gain_pct; /* 0: any plan will do */
	uint32_t rest;	     /* LIDs that stay as installed, with no_drain */
};

enum { OPT_MIN_GAIN = 1300 };

static const struct argp_option table[] = {
	{ "engine", 'e', "NAME", 0,
	  "the engine, one of those listed below; file:FILE is the same as --tables FILE", 0 },
	OPTION_PARAM(PARAM_TABLES),
	OPTION_PARAM(PARAM_TABLES_PATH_SL),
	OPTION_PARAM(PARAM_TABLES_SL2VL),
	OPTION(OPT_TOPOLOGY),
	OPTION(OPT_STRICT),
	OPTION_SAYING(OPT_LFTS,
		      "with --topology: the installed tables, opensm-lfts.dump or another format"),
	OPTION_SAYING(OPT_PATH_SL, "SLs for --lfts; without --topology the same as "
				   "--tables-path-sl: lines of 0xsrc_guid dlid sl"),
	OPTION_SAYING(OPT_SL2VL, "SL2VL tables for --lfts; without --topology the same as "
				 "--tables-sl2vl: opensm-sl2vl.dump, or as for ibdmchk -d"),
	OPTIONS_ENGINE,
	OPTIONS_METRICS,
	OPTIONS_MOMENT,
	OPTION_PARAM(PARAM_VLS),
	OPTION_PARAM(PARAM_DEMAND),
	OPTION_PARAM(PARAM_RANKS),
	OPTION_PARAM(PARAM_SEED),
	OPTION_PARAM(PARAM_THREADS),
	OPTION_PARAM(PARAM_ROOTS),
	OPTION_COLLECTOR(CMDLINE_KEY(struct plan_cmd, live.collector), 0),
	{ "output", 'o', "FILE", 0, "write the plan to FILE, for apply", 0 },
	{ "no-drain", CMDLINE_KEY(struct plan_cmd, no_drain), NULL, 0,
	  "only the part of the new routing that nobody has to drain for: LIDs that need the drain "
	  "keep their installed paths",
	  0 },
	{ "min-gain", OPT_MIN_GAIN, "PERCENT", 0,
	  "a plan that lowers the predicted mean time of the jobs (where it is not known, the maximum "
	  "job EFI) by less is not written to FILE, and counts as one that changes nothing",
	  0 },
	{ "detailed-exitcode", CMDLINE_KEY(struct plan_cmd, detailed), NULL, 0,
	  "exit with 2 instead of 0 if the plan "
	  "changes anything",
	  0 },
	OPTION_SAYING(OPT_JSON, "print the summary as JSON"),
	{ 0 },
};

static void cmd_plan_check_sources(struct plan_cmd *c, const struct argp_state *state)
{
	bool file = c->o.engine && !strncmp(c->o.engine, ROUTE_FILE, strlen(ROUTE_FILE)) &&
		    strchr(":", c->o.engine[strlen(ROUTE_FILE)]);

	c->from = (struct route_file){ c->o.text[PARAM_TABLES], c->o.text[PARAM_TABLES_PATH_SL],
				       c->o.text[PARAM_TABLES_SL2VL] };
	if (file && c->o.engine[strlen(ROUTE_FILE)] && !c->from.tables) /* "file:PATH" */
		c->from.tables = c->o.engine + strlen(ROUTE_FILE) + 1;
	if (file)
		c->o.engine = NULL;
	if (!c->o.engine == !c->from.tables)
		argp_error(state, file ? "--engine file reads the tables of --tables FILE"
				       : "either --engine or --tables is needed");
	if (c->from.tables && !c->o.topology) { /* what is installed tells itself */
		if (!c->from.path_sl)
			c->from.path_sl = c->o.path_sl;
		if (!c->from.sl2vl)
			c->from.sl2vl = c->o.sl2vl;
		c->o.path_sl = c->o.sl2vl = NULL;
	}
	if (!c->from.tables && (c->from.path_sl || c->from.sl2vl))
		argp_error(state, "--tables-path-sl and --tables-sl2vl need --tables");
	if (!c->o.topology != !c->o.lfts || (!c->o.topology && (c->o.path_sl || c->o.sl2vl)))
		argp_error(state, "--topology and --lfts need each other; --path-sl and --sl2vl "
				  "need both, or --tables without them");
}

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD('o', struct plan_cmd, file),
	CMDLINE_FIELD(OPT_MIN_GAIN, struct plan_cmd, min_gain_pct, "--min-gain", 0, 99),
	{ 0 },
};

static error_t cmd_plan_take(int key, char *arg, struct argp_state *state)
{
	struct plan_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->live;
		return 0;
	case 'e':
		return options_take(&c->o, OPT_ENGINE, arg, state);
	case ARGP_KEY_END:
		cmd_plan_check_sources(c, state);
		return 0;
	default:
		return cmdline_take(fields, c, key, arg, state)
			       ? options_take(&c->o, key, arg, state)
			       : 0;
	}
}

/* What the options name, beside the fabric that is there. */
static int cmd_plan_inputs(struct route_inputs *out, const struct plan_cmd *c, const struct live *l,
			   struct err *err)
{
	struct engine_spec spec;
	int rc = c->from.tables ? 0 : engine_spec_parse(&spec, c->o.engine, err);

	if (rc)
		return rc;
	*out = command_inputs_route(&c->in, c->from.tables ? NULL : &spec);
	out->file = c->from;
	out->sm = l->sm;
	return 0;
}

/* What the handler reaches. */
static struct progress *volatile searching;

static void cmd_plan_on_interrupt(int sig)
{
	struct progress *p = searching;

	(void)sig;
	if (p)
		atomic_store(&p->cancel, true);
}

/* An interrupt ends the search, a second one the program. */
static int cmd_plan_order_writes(struct route_report *next, const struct route_inputs *in,
				 struct err *err)
{
	struct sigaction sa = { .sa_handler = cmd_plan_on_interrupt,
				.sa_flags = (int)SA_RESETHAND },
			 old;
	struct progress_line w;
	bool guard = !sigaction(SIGINT, NULL, &old) && old.sa_handler != SIG_IGN;
	int rc;

	progress_line_start(&w);
	searching = &w.progress;
	if (guard)
		sigaction(SIGINT, &sa, NULL);
	rc = route_report_steps(next, in, ROUTE_ORDER, &w.progress, err);
	if (guard)
		sigaction(SIGINT, &old, NULL);
	searching = NULL;
	progress_line_stop(&w);
	return rc;
}

/* How many LIDs need the drain is all that people want; JSON has them one by one. */
static void cmd_plan_print_waves(const struct plan *p, const struct transition *t)
{
	char text[400];

	if (!t || plan_empty(p))
		return;
	printf("order of writes: %u wave%s, %u block writes; ", t->nwaves, plural(t->nwaves),
	       p->changes->nlft);
	if (t->ndrain)
		printf("%u of %u changing LIDs need a drain%s", t->ndrain, t->lids,
		       t->irreducible ? "" : " (perhaps fewer)");
	else
		printf("no LID needs a drain");
	if (t->old_cyclic)
		printf("; the installed tables have credit loops");
	if (plan_sls_assumed(p))
		printf("; hosts are assumed to use SL 0 now (SLs are not stored in switches)");
	putchar('\n');
	drain_text(text, sizeof(text), &p->drain, p->fabric, p->jobs);
	printf("drain: %s\n", text);
	plan_print_strangers(stdout, p);
	plan_print_names(stdout, p);
	if (drain_needed(&p->drain))
		printf("plan --no-drain makes one of the part that nobody has to drain for, if "
		       "there is one\n");
	if (drain_needed(&p->drain) && !p->drain.escape &&
	    !drain_has_escape_lids(&p->drain, p->fabric))
		printf("first install a routing with --escape (needs LMC 1 or more): it has LIDs "
		       "for traffic to move to\n");
}

static json_t *cmd_plan_waves_json(const struct plan *p, const struct transition *t)
{
	json_t *drain = json_array();

	if (!t)
		return json_null();
	for (uint32_t i = 0; i < t->ndrain; i++)
		json_array_append_new(drain, json_pack("{s:i, s:s}", "lid", t->drain[i].lid, "why",
						       drain_why_name(t->drain[i].why)));
	return json_pack("{s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:o, s:o, s:o}", "waves",
			 (json_int_t)t->nwaves, "block_writes", (json_int_t)p->changes->nlft,
			 "lids", (json_int_t)t->lids, "irreducible", t->irreducible, "old_cyclic",
			 t->old_cyclic, "escape", p->drain.escape, "sl_assumed",
			 plan_sls_assumed(p), "drain", drain, "drain_jobs", plan_drain_jobs_json(p),
			 "ambiguous_names", drain_names_json(&p->drain, p->fabric, p->jobs));
}

/* As the automatic mode counts it. */
static double cmd_plan_gain(const struct route_report both[2])
{
	const struct time_gate *g = &both[1].message_gate[MESSAGES_LARGE];
	struct auto_plan p = { .before = both[0].m ? both[0].m->eff_efi_max : 0,
			       .after = both[1].m ? both[1].m->eff_efi_max : 0 };

	if (g->known && !both[0].m->unreachable) {
		p.time_before = g->of[g->pattern].before;
		p.time_after = g->of[g->pattern].after;
	}
	return auto_gain(&p);
}

static bool cmd_plan_gains(const struct plan_cmd *c, const struct route_report both[2])
{
	return c->min_gain_pct <= 0 || 100 * cmd_plan_gain(both) >= c->min_gain_pct;
}

static int cmd_plan_print_json(const struct plan_cmd *c, const struct plan *p,
			       const struct transition *t, const struct route_report both[2],
			       struct err *err)
{
	const struct route_report *now = &both[0], *next = &both[1];
	json_t *j = json_object(), *after = summary_json(next);

	summary_add_verdict(after, next);
	json_object_set_new(j, "schema", json_string("ibroute-top/1"));
	json_object_set_new(j, "plan", json_string(p->id));
	json_object_set_new(j, "fabric", json_text(p->fabric->name));
	if (p->files.n) {
		json_object_set_new(j, "files", plan_files_encode(&p->files));
		json_object_set_new(j, "service_levels_known",
				    json_boolean(!notes_find(&next->notes, "sls_assumed")));
	}
	plan_add_cost(j, p);
	json_object_set_new(j, "adaptive_routing", adaptive_json(&c->adaptive));
	json_object_set_new(j, "transition", cmd_plan_waves_json(p, t));
	json_object_set_new(j, "gain", json_real(cmd_plan_gain(both)));
	json_object_set_new(j, "rest_lids", json_integer(c->rest));
	json_object_set_new(j, "time_gate", gate_json(&next->gate));
	if (next->messages)
		gate_json_add_messages(json_object_get(j, "time_gate"), next->message_gate);
	json_object_set_new(j, "before", summary_json(now));
	json_object_set_new(j, "after", after);
	if (c->o.per_job)
		json_object_set_new(j, "per_job", plan_jobs_json(p, both));
	return output_file_print_json(j, err);
}

static int cmd_plan_show(const struct plan_cmd *c, struct route_report *both,
			 const struct route_inputs *in, struct err *err)
{
	struct route_report *next = &both[1];
	struct err why = { "" };
	char adaptive[300];
	int rc = 0;

	/* tables that must not be installed have no order of writes; the verdict says why */
	if (verdict_ok(next->v) && !next->transition &&
	    cmd_plan_order_writes(next, in, &why) == -ECANCELED)
		return err_set(err, -ECANCELED, "%s; there is no plan", why.text);
	if (c->o.json) {
		rc = cmd_plan_print_json(c, next->plan, next->transition, both, err);
	} else {
		summary_print_table(stdout, both, 2);
		message_summary_print(stdout, next);
		summary_print_notes(stdout, next);
		if (adaptive_text(adaptive, sizeof(adaptive), &c->adaptive)[0])
			printf("%s\n", adaptive);
		summary_print_verdict(stdout, next);
		summary_print_gate(stdout, next);
		plan_print(stdout, next->plan);
		cmd_plan_print_waves(next->plan, next->transition);
		if (c->rest)
			printf("as installed stay the paths to %u LID%s that would need a drain\n",
			       c->rest, plural(c->rest));
		if (why.text[0])
			printf("order of writes: none found; %s\n", why.text);
		if (c->o.per_job)
			plan_print_jobs(stdout, next->plan, both);
	}
	return rc;
}

/* Dumps mostly do not tell how many VLs a port has; the fabric itself does. */
static int cmd_plan_carries(const struct plan_cmd *c, const struct plan *p, struct err *err)
{
	int rc = plan_check_weights(p, p->from, err);

	if (!rc)
		rc = plan_check_vls(p, err);
	if (rc != -ENODATA)
		return rc;
	if (!c->o.topology)
		return err_set(err, rc, "%s: the switch did not respond; try again",
			       strdupa(err->text));
	fprintf(stderr, "note: %s in this dump; apply reads it from the fabric before it writes\n",
		err->text);
	err->text[0] = '\0';
	return 0;
}

/* The installed tables in both[0], the proposed ones with their plan in both[1]. */
static int cmd_plan_report(struct route_report both[2], const struct route_inputs *in,
			   struct err *err)
{
	struct route_inputs found = { .f = in->f,
				      .jobs = in->jobs,
				      .demand = in->demand,
				      .tables = in->installed,
				      .opts = in->opts };
	struct progress_line w;
	int rc = route_report_run(&both[1], in, ROUTE_MAKE | ROUTE_JUDGE, err);

	found.opts.terminals_only = true;
	found.opts.seek_choice = both[1].messages != NULL;
	if (!rc)
		rc = route_report_run(&both[0], &found, ROUTE_JUDGE, err);
	if (rc)
		return rc;
	route_report_compare_times(&both[1], &both[0]);
	progress_line_start(&w);
	rc = route_report_steps(&both[1], in, ROUTE_DIFF | ROUTE_PLAN, &w.progress, err);
	progress_line_stop(&w);
	return rc;
}

/* With --no-drain: both[1] becomes a report of the part that needs none, where that is not all. */
static int cmd_plan_part(struct plan_cmd *c, struct route_report both[2],
			 const struct route_inputs *in, struct err *err)
{
	struct route_report *next = &both[1], part = { 0 };
	struct progress_line w;
	int rc;

	if (!c->no_drain || !verdict_ok(next->v))
		return 0;
	rc = cmd_plan_order_writes(next, in, err);
	if (rc || !drain_needed(&next->plan->drain))
		return rc;
	progress_line_start(&w);
	rc = safe_part_find(&part, &c->rest, next, in, &w.progress, err);
	if (!rc)
		rc = route_report_steps(&part, in,
					(ROUTE_JUDGE & ~(unsigned)ROUTE_VERIFY) | ROUTE_DIFF,
					&w.progress, err);
	progress_line_stop(&w);
	if (rc) {
		route_report_free(&part);
		return rc;
	}
	route_report_free(next);
	*next = part;
	route_report_compare_times(next, &both[0]);
	return 0;
}

static int cmd_plan_make(struct plan_cmd *c, const struct live *l, struct err *err)
{
	struct route_report both[2] = { 0 };
	const struct plan *p;
	struct route_inputs in;
	int rc = EXIT_FINDINGS;

	if (cmd_plan_inputs(&in, c, l, err) || cmd_plan_report(both, &in, err) ||
	    cmd_plan_part(c, both, &in, err) || cmd_plan_show(c, both, &in, err))
		goto out;
	p = both[1].plan;
	if (!verdict_ok(both[1].v)) {
		err_set(err, rc, "this routing must not be installed: see the verdict");
		goto out;
	}
	if (l->osm && l->osm_status.replaces[0])
		fprintf(stderr, "note: %s\n", l->osm_status.replaces);
	if (!c->o.topology && p->drain.njob && agents_keyless(&c->live, &l->osm_status))
		fprintf(stderr, "note: " SITE_KEY_NONE " (ibroute-top agent --new-key)\n");
	rc = EXIT_REFUSED;
	if (c->file && !p->drain.known) {
		err_set(err, rc, "no safe order of writes, so no plan: nothing was written to %s",
			c->file);
		goto out;
	}
	if (cmd_plan_carries(c, p, err))
		goto out;
	if (!cmd_plan_gains(c, both)) {
		if (!c->o.json)
			printf("gain %.1f %%, less than %g %%: no plan\n",
			       100 * cmd_plan_gain(both), c->min_gain_pct);
		rc = EXIT_OK;
		goto out;
	}
	if (c->file && plan_save(c->file, p, err))
		goto out;
	if (c->file && !c->o.json)
		printf("written to %s; apply it with: ibroute-top apply %s%s\n", c->file,
		       time_gate_slower(&both[1].gate) ? "--accept-slower " : "", c->file);
	rc = c->detailed && !plan_empty(p) ? EXIT_CHANGES : EXIT_OK;
out:
	route_report_free(&both[0]);
	route_report_free(&both[1]);
	return rc;
}

/* With jobs that run, but nobody to ask, it would route as if there were none. */
static int cmd_plan_check_jobs(const struct plan_cmd *c, bool known, const char *why,
			       struct err *err)
{
	const char *engine = c->o.engine ? c->o.engine : "";

	if (known || c->live.no_jobs || strncmp(engine, "sar", 3) || !strchr(":", engine[3]))
		return 0;
	return err_set(err, EXIT_BAD_USAGE,
		       "sar routes for the running jobs, and %s: --jobs FILE names them, --jobs "
		       "none does without",
		       why);
}

static int cmd_plan_load_files(struct plan_cmd *c, struct err *err)
{
	if (cmd_plan_check_jobs(c, c->live.jobs, "a dump has none", err))
		return EXIT_BAD_USAGE;
	c->o.name = c->live.name;
	c->o.name_map = c->live.node_names;
	c->o.text[PARAM_JOBS] = c->live.jobs;
	load_adaptive_declared(&c->adaptive, c->live.adaptive);
	return command_inputs_load(&c->in, &c->o, err);
}

/* The fabric behind the port stays l's, and so does its wire. */
static int cmd_plan_load_live(struct plan_cmd *c, struct live *l, struct err *err)
{
	live_jobs_default(&c->live);
	c->live.io_nodes = c->o.text[PARAM_IO_NODES];
	c->live.collected = collected_open;
	c->live.moment = &c->o.moment;
	if (live_open(l, &c->live, NULL, err))
		return EXIT_UNREADABLE;
	if (cmd_plan_check_jobs(c, l->jobs,
				c->live.jobs ? "SLURM does not list them"
					     : "there is no SLURM here to ask",
				err))
		return EXIT_BAD_USAGE;
	live_sls_ask(l, &c->live);
	c->adaptive = l->adaptive;
	command_inputs_take_live(&c->in, l);
	return command_inputs_complete(&c->in, &c->o, err) ? EXIT_BAD_USAGE : 0;
}

int cmd_plan(int argc, char **argv)
{
	static const struct argp argp = {
		.options = table,
		.parser = cmd_plan_take,
		.children = live_children,
		.doc = "Computes a routing for the fabric at this port, or that of a dump, "
		       "compares it with the installed one, and saves both as a plan for apply. "
		       "Writes nothing to the fabric.\vExit codes: 0 done; 1 the engine refused "
		       "or a check failed; 2 changes (with --detailed-exitcode); 4 not possible "
		       "in this fabric; 64 bad options; 255 the fabric could not be read.",
		.help_filter = engines_help,
	};
	struct plan_cmd c = { 0 };
	struct live l = { 0 };
	struct err err = { "" };
	int rc;

	options_init(&c.o);
	options_parse(&argp, argc, argv, &c);
	rc = c.o.topology ? cmd_plan_load_files(&c, &err) : cmd_plan_load_live(&c, &l, &err);
	if (!rc)
		rc = cmd_plan_make(&c, &l, &err);
	cmdline_end(argv[0], rc, &err);
	command_inputs_free(&c.in);
	live_close(&l);
	return rc;
}
