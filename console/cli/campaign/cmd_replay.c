/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/campaign/replay/rerun.h"
#include "console/cli/text/engines_help.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/input/load/load_jobs.h"
#include "console/input/options.h"
#include "console/io/output_file.h"
#include "console/plan/command_inputs.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/when.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replay_cmd {
	struct options o;
	const char *history, *every, *from, *to, *out;
	double gain_pct;
	unsigned period_s, min_age_s;
	bool accept_slower, no_agents, again;
	struct rerun r;
};

enum { OPT_EVERY = 700, OPT_GAIN, OPT_PERIOD, OPT_AGE };

static const struct argp_option table[] = {
	OPTION_SAYING(
		OPT_TOPOLOGY,
		"the fabric: ibnetdiscover output or another topology file, or a specification "
		"such as torus:dims=4x4"),
	OPTION(OPT_STRICT),
	{ "history", CMDLINE_KEY(struct replay_cmd, history), "FILE|slurm", 0,
	  "the jobs: what sacct -P prints, the log of jobcomp/filetxt, jobid,start,end,nodelist, or "
	  "Standard Workload Format; slurm: what sacct says of --since",
	  0 },
	OPTION(OPT_SINCE),
	OPTION(OPT_PLACEMENT),
	{ "engines", OPT_ENGINES, "A,B,...", 0,
	  "routings to follow, from the list below, as in \"compare\"; installed: those of --lfts. "
	  "Engines that use jobs route as the automatic mode would; with @always behind the name, at "
	  "each change of the jobs, whatever it gains; with @scratch also without the tables of before",
	  0 },
	{ "every", OPT_EVERY, "job-change|TIME", 0,
	  "look at each time at which a job starts or ends, or every 10m, 1h, ... (default: 10m)",
	  0 },
	{ "from", CMDLINE_KEY(struct replay_cmd, from), "TIME", 0,
	  "begin there (default: where the history does)", 0 },
	{ "to", CMDLINE_KEY(struct replay_cmd, to), "TIME", 0, "end there", 0 },
	{ "output", 'o', "DIR", 0,
	  "folder for the lines, tables and the report; a replay that was interrupted continues there",
	  0 },
	{ "again", CMDLINE_KEY(struct replay_cmd, again), NULL, 0,
	  "begin again instead of continuing what is in the folder", 0 },
	{ "auto-gain", OPT_GAIN, "PERCENT", 0,
	  "new tables must lower the mean time of the jobs by more (default: 5)", 0 },
	{ "auto-period", OPT_PERIOD, "SECONDS", 0, "between two looks (default: 300)", 0 },
	{ "auto-min-age", OPT_AGE, "SECONDS", 0, "ignore jobs that have run for less (default: 60)",
	  0 },
	{ "accept-slower", CMDLINE_KEY(struct replay_cmd, accept_slower), NULL, 0,
	  "take also what makes a pattern or a job slower, as in the automatic mode", 0 },
	{ "no-agents", CMDLINE_KEY(struct replay_cmd, no_agents), NULL, 0,
	  "jobs have no agents: tables for which some would have to drain are not taken", 0 },
	OPTION(OPT_PATTERN),
	OPTIONS_TABLES,
	OPTION(OPT_PATH_SL),
	OPTION(OPT_SL2VL),
	OPTION_PARAM(PARAM_VLS),
	OPTION_PARAM(PARAM_LMC),
	OPTION_PARAM(PARAM_SEED),
	OPTION_PARAM(PARAM_THREADS),
	OPTION_PARAM(PARAM_ROOTS),
	OPTIONS_ENGINE,
	OPTION(OPT_NAME_MAP),
	{ 0 },
};

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD('o', struct replay_cmd, out),
	CMDLINE_FIELD(OPT_EVERY, struct replay_cmd, every),
	CMDLINE_FIELD(OPT_GAIN, struct replay_cmd, gain_pct, "--auto-gain", 0, 99),
	CMDLINE_FIELD(OPT_PERIOD, struct replay_cmd, period_s, "--auto-period", 1, 86400),
	CMDLINE_FIELD(OPT_AGE, struct replay_cmd, min_age_s, "--auto-min-age", 0, 86400),
	{ 0 },
};

static void cmd_replay_take_engines(struct replay_cmd *c, const struct argp_state *state)
{
	char *copy = xstrdup(c->o.engine), *rest = copy, *word;
	struct err err;

	while ((word = strsep(&rest, ","))) {
		if (c->r.nway == WAYS_MOST)
			argp_error(state, "--engines: at most %d are allowed", WAYS_MOST);
		if (way_parse(&c->r.way[c->r.nway], word, &err))
			argp_error(state, "--engines: %s", err.text);
		for (size_t i = 0; i < c->r.nway; i++)
			if (!strcmp(c->r.way[i].label, word))
				argp_error(state, "--engines: %s is there twice", word);
		if (!strcmp(word, "installed") && !c->o.lfts)
			argp_error(state, "--engines: installed needs one of --lfts, --fdbs and "
					  "--tables");
		c->r.nway++;
	}
	free(copy);
}

static int64_t cmd_replay_time(const char *text, const char *option, const struct argp_state *state)
{
	int64_t s;

	if (!text)
		return JOB_LOG_ALL;
	if (!when_parse(&s, text, NULL))
		argp_error(state,
			   "%s: '%s' is not a time such as 2026-11-20T10:00:00 or @1795168800",
			   option, text);
	return s;
}

static void cmd_replay_check(struct replay_cmd *c, struct argp_state *state)
{
	int64_t every_s = 600;

	options_need(c->o.topology, "topology", state);
	options_need(c->history, "history", state);
	options_need(c->o.engine, "engines", state);
	options_need(c->out, "output", state);
	if (c->every && !strcmp(c->every, "job-change"))
		every_s = 0;
	else if (c->every && (!when_parse_span(&every_s, c->every) || every_s > 366 * 86400))
		argp_error(state, "--every: '%s' is neither job-change nor a time such as 10m",
			   c->every);
	c->r.every_s = (uint32_t)every_s;
	c->r.from_s = cmd_replay_time(c->from, "--from", state);
	c->r.to_s = cmd_replay_time(c->to, "--to", state);
	cmd_replay_take_engines(c, state);
}

static error_t cmd_replay_take(int key, char *arg, struct argp_state *state)
{
	struct replay_cmd *c = state->input;

	if (key == ARGP_KEY_END) {
		cmd_replay_check(c, state);
		return 0;
	}
	return cmdline_take(fields, c, key, arg, state) ? options_take(&c->o, key, arg, state) : 0;
}

static const struct argp argp = {
	.options = table,
	.parser = cmd_replay_take,
	.doc = "Walks a history of jobs and shows what each routing would have done for them: the time "
	       "of the jobs, the load of the links, and what it costs (blocks and waves written, "
	       "drains, jobs touched, CPU).\vThe folder gets times.jsonl (a line for each time and "
	       "routing), jobs.jsonl (a line for each job on several switches: its mean time by each "
	       "routing), seconds.jsonl (CPU), table1.txt, .md and .csv (gains as in Table 1 of the "
	       "SC16 paper), summary.json and report.html. It can be interrupted at any moment; the "
	       "same command continues. Exit codes: 0 done; 1 the folder is of another replay, or "
	       "cannot be written; 64 bad options; 255 an input could not be read.",
	.help_filter = engines_help,
};

static void cmd_replay_set_rules(struct replay_cmd *c, const struct command_inputs *in)
{
	struct rerun *r = &c->r;

	r->rules = (struct way_rules){ .f = in->f,
				       .params = in->params,
				       .min_age_s = c->min_age_s,
				       .no_agents = c->no_agents,
				       .pattern = c->o.pattern,
				       .seed = in->params.seed };
	r->rules.limits = (struct auto_limits){ .period_s = c->period_s,
						.gain = c->gain_pct / 100,
						.accept_slower = c->accept_slower,
						.armed = true };
	r->installed = in->installed;
	r->threads = in->params.threads;
	r->again = c->again;
	r->dir = c->out;
}

static int cmd_replay_run(struct replay_cmd *c, struct err *err)
{
	struct command_inputs in;
	struct job_log *log = NULL;
	char source[32];
	int rc = command_inputs_load(&in, &c->o, err);

	if (!rc && load_job_log(&log, source, c->history, &c->o.moment, in.f, err))
		rc = EXIT_UNREADABLE;
	if (!rc) {
		cmd_replay_set_rules(c, &in);
		c->r.log = log;
		c->r.history = source;
		if (rerun_history(&c->r, err))
			rc = EXIT_FINDINGS;
	}
	rerun_free(&c->r);
	job_log_free(log);
	command_inputs_free(&in);
	return rc;
}

/* What is on the screen at the end is what people read first. */
static int cmd_replay_show(const char *dir, struct err *err)
{
	char *path = xasprintf("%s/table1.txt", dir);
	int rc = output_file_print(path, err);

	free(path);
	if (rc)
		return EXIT_FINDINGS;
	printf("\nwritten to %s: report.html, table1.md, times.jsonl, jobs.jsonl\n", dir);
	return output_file_flush_stdout(err) ? EXIT_FINDINGS : 0;
}

int cmd_replay(int argc, char **argv)
{
	struct replay_cmd *c = xcalloc(1, sizeof(*c));
	struct err err = { "" };
	int rc;

	options_init(&c->o);
	c->gain_pct = 5;
	c->period_s = 300;
	c->min_age_s = 60;
	options_parse(&argp, argc, argv, c);
	output_file_guard_signals();
	rc = cmd_replay_run(c, &err);
	if (!rc)
		rc = cmd_replay_show(c->out, &err);
	free(c);
	return cmdline_end(argv[0], rc, &err);
}
