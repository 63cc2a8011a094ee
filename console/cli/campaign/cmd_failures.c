/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/campaign/failures/failures.h"
#include "console/cli/text/engines_help.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/input/options.h"
#include "console/io/output_file.h"
#include "console/plan/command_inputs.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/ibnetdiscover/ibnd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct failures_cmd {
	struct options o;
	const char *kill, *rate, *mtbf, *out, *dump;
	double years, repair_days;
	unsigned seeds;
	bool repair, again;
	struct failures x;
};

enum { OPT_YEARS = 700, OPT_REPAIR_DAYS, OPT_SEEDS };

static const struct argp_option table[] = {
	OPTION_SAYING(
		OPT_TOPOLOGY,
		"the fabric: ibnetdiscover output or another topology file, or a specification "
		"such as torus:dims=4x4"),
	{ "engines", OPT_ENGINES, "A,B,...", 0, "engines, from the list below, as in \"compare\"",
	  0 },
	{ "kill", CMDLINE_KEY(struct failures_cmd, kill), "KINDS", 0,
	  "what fails: cables (default), switches, linecards (18 neighbouring ports of a switch), "
	  "separated by commas",
	  0 },
	{ "rate", CMDLINE_KEY(struct failures_cmd, rate), "LIST", 0,
	  "shares of these that have failed: 0..10%/0.5%, or 1%,2%,5% (default: 0..5%/1%)", 0 },
	{ "mtbf", CMDLINE_KEY(struct failures_cmd, mtbf), "LIST", 0,
	  "instead of --rate: mean hours between failures of a part, cable=400000,switch=200000, over "
	  "--years",
	  0 },
	{ "years", OPT_YEARS, "N", 0, "with --mtbf: that long, four steps a year (default: 5)", 0 },
	{ "repaired-after", OPT_REPAIR_DAYS, "DAYS", 0,
	  "with --mtbf: parts come back after DAYS (default: they are bypassed for good)",
	  0 },
	{ "seeds", OPT_SEEDS, "N", 0, "draw the failures N times (default: 20)", 0 },
	{ "repair", CMDLINE_KEY(struct failures_cmd, repair), NULL, 0,
	  "also what the engine repair makes of the tables of the step before", 0 },
	{ "output", 'o', "DIR", 0,
	  "folder for the lines, tables and the report; a campaign that was interrupted continues "
	  "there",
	  0 },
	{ "again", CMDLINE_KEY(struct failures_cmd, again), NULL, 0,
	  "begin again instead of continuing what is in the folder", 0 },
	{ "dump", CMDLINE_KEY(struct failures_cmd, dump), "SEED,STEP", 0,
	  "only write the fabric of that seed and step (from 0) to stdout, as ibnetdiscover does, to "
	  "look at it",
	  0 },
	OPTION_PARAM(PARAM_JOBS),
	OPTIONS_MOMENT,
	OPTION(OPT_BISECTIONS),
	OPTION(OPT_PATTERN),
	OPTION_PARAM(PARAM_VLS),
	OPTION_PARAM(PARAM_LMC),
	OPTION_PARAM(PARAM_SEED),
	OPTION_PARAM(PARAM_THREADS),
	OPTION(OPT_NAME_MAP),
	{ 0 },
};

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD('o', struct failures_cmd, out),
	CMDLINE_FIELD(OPT_YEARS, struct failures_cmd, years, "--years", 0.25, 49),
	CMDLINE_FIELD(OPT_REPAIR_DAYS, struct failures_cmd, repair_days, "--repaired-after", 0.01,
		      36500),
	CMDLINE_FIELD(OPT_SEEDS, struct failures_cmd, seeds, "--seeds", 1, 1000),
	{ 0 },
};

static void cmd_failures_take_engines(struct failures_cmd *c, const struct argp_state *state)
{
	char *copy = xstrdup(c->o.engine), *rest = copy, *word;
	struct failures *x = &c->x;
	struct err err;

	while ((word = strsep(&rest, ","))) {
		if (x->nengine == LIVES_ENGINES)
			argp_error(state, "--engines: at most %d are allowed", LIVES_ENGINES);
		if (engine_spec_parse(&x->engine[x->nengine], word, &err))
			argp_error(state, "--engines: %s", err.text);
		if (engine_spec_repairs(word))
			argp_error(state, "--engines: repair needs the tables of before: --repair");
		for (size_t i = 0; i < x->nengine; i++)
			if (!strcmp(x->engine[i].label, word))
				argp_error(state, "--engines: %s is there twice", word);
		x->nengine++;
	}
	free(copy);
}

static void cmd_failures_take_damage(struct failures_cmd *c, const struct argp_state *state)
{
	struct damage_rules *d = &c->x.rules.damage;
	struct err err;
	int rc;

	if (c->mtbf) {
		if (c->rate || c->kill)
			argp_error(state,
				   "--mtbf says what fails: --kill and --rate cannot be used "
				   "with it");
		rc = damage_parse_mtbf(d, c->mtbf, &err);
		damage_years(d, c->years);
		d->repair_days = c->repair_days;
	} else {
		if (c->repair_days > 0)
			argp_error(state, "--repaired-after needs --mtbf");
		rc = damage_parse_kinds(d, c->kill ? c->kill : "cables", &err);
		if (!rc)
			rc = damage_parse_rates(d, c->rate ? c->rate : "0..5%/1%", &err);
	}
	if (rc)
		argp_error(state, "%s: %s", c->mtbf ? "--mtbf" : "--kill, --rate", err.text);
}

static error_t cmd_failures_take(int key, char *arg, struct argp_state *state)
{
	struct failures_cmd *c = state->input;

	if (key == ARGP_KEY_END) {
		options_need(c->o.topology, "topology", state);
		cmd_failures_take_damage(c, state);
		if (c->dump)
			return 0;
		options_need(c->o.engine, "engines", state);
		options_need(c->out, "output", state);
		cmd_failures_take_engines(c, state);
		return 0;
	}
	return cmdline_take(fields, c, key, arg, state) ? options_take(&c->o, key, arg, state) : 0;
}

static const struct argp argp = {
	.options = table,
	.parser = cmd_failures_take,
	.doc = "Lets cables, switches and linecards of a fabric fail, the same ones for all engines, "
	       "and routes what is left: which engines still have a routing, what they retain of the "
	       "throughput, and what a change costs. What fails at 1 % has failed at 2 %. Hosts that "
	       "are cut off are counted; the part with the most hosts is routed.\vThe folder gets "
	       "cells.jsonl (a line for each seed, engine and step, with the metrics of \"compare\"), "
	       "seconds.jsonl (CPU), failures.txt, .md and .csv, and report.html. It can be "
	       "interrupted at any moment; the same command continues. Exit codes: 0 done, whatever "
	       "engines refused; 1 the folder is of another campaign, or cannot be written; 64 bad "
	       "options; 255 an input could not be read.",
	.help_filter = engines_help,
};

static int cmd_failures_write_net(FILE *out, const void *f, struct err *err)
{
	return ibnd_write(out, f, err);
}

static int cmd_failures_dump(const struct failures_cmd *c, struct err *err)
{
	unsigned long long seed;
	unsigned step;
	struct damage *d;
	struct damage_state state;
	struct fabric *f = NULL;
	int n = 0, rc;

	if (sscanf(c->dump, "%llu,%u%n", &seed, &step, &n) != 2 || c->dump[n] ||
	    step >= c->x.rules.damage.nstep) {
		err_set(err, -1, "--dump: '%s' is not SEED,STEP with a step from 0 to %u", c->dump,
			c->x.rules.damage.nstep - 1);
		return EXIT_BAD_USAGE;
	}
	d = damage_new(c->x.rules.f, &c->x.rules.damage, seed);
	rc = damage_at(&f, &state, d, step, err);
	if (!rc)
		rc = output_file_write(NULL, cmd_failures_write_net, f, err);
	if (f)
		fabric_put(f);
	damage_free(d);
	return rc ? EXIT_FINDINGS : 0;
}

static int cmd_failures_show(const char *dir, struct err *err)
{
	char *path = xasprintf("%s/failures.txt", dir);
	int rc = output_file_print(path, err);

	free(path);
	if (rc)
		return EXIT_FINDINGS;
	printf("\nwritten to %s: report.html, failures.md, failures.csv, cells.jsonl\n", dir);
	return output_file_flush_stdout(err) ? EXIT_FINDINGS : 0;
}

static int cmd_failures_run(struct failures_cmd *c, struct err *err)
{
	struct command_inputs in;
	int rc = command_inputs_load(&in, &c->o, err);

	if (!rc) {
		c->x.rules.f = in.f;
		c->x.rules.jobs = in.jobs;
		c->x.rules.params = in.params;
		c->x.rules.bisections = c->o.bisections < 0 ? 50 : c->o.bisections;
		c->x.rules.pattern = c->o.pattern;
		c->x.rules.repair = c->repair;
		c->x.first_seed = in.params.seed;
		c->x.seeds = c->seeds;
		c->x.threads = in.params.threads;
		c->x.again = c->again;
		c->x.dir = c->out;
		if (c->dump)
			rc = cmd_failures_dump(c, err);
		else if (failures_run(&c->x, err) || cmd_failures_show(c->out, err))
			rc = EXIT_FINDINGS;
	}
	command_inputs_free(&in);
	return rc;
}

int cmd_failures(int argc, char **argv)
{
	struct failures_cmd *c = xcalloc(1, sizeof(*c));
	struct err err = { "" };
	int rc;

	options_init(&c->o);
	c->years = 5;
	c->seeds = 20;
	options_parse(&argp, argc, argv, c);
	output_file_guard_signals();
	rc = cmd_failures_run(c, &err);
	free(c);
	return cmdline_end(argv[0], rc, &err);
}
