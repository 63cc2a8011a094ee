/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/campaign/failures_args.h"

#include "console/cli/text/engines_help.h"
#include "console/config/cmdline.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

enum { OPT_YEARS = 700, OPT_REPAIR_DAYS, OPT_SEEDS };

static const struct argp_option table[] = {
	OPTION_SAYING(
		OPT_TOPOLOGY,
		"the fabric: ibnetdiscover output or another topology file, or a specification "
		"such as torus:dims=4x4"),
	OPTION(OPT_STRICT),
	{ "engines", OPT_ENGINES, "A,B,...", 0, "engines, from the list below, as in \"compare\"",
	  0 },
	{ "kill", CMDLINE_KEY(struct failures_args, kill), "KINDS", 0,
	  "what fails: cables (default), switches, linecards (18 neighbouring ports of a switch), "
	  "separated by commas",
	  0 },
	{ "rate", CMDLINE_KEY(struct failures_args, rate), "LIST", 0,
	  "shares of these that have failed: 0..10%/0.5%, or 1%,2%,5% (default: 0..5%/1%)", 0 },
	{ "mtbf", CMDLINE_KEY(struct failures_args, mtbf), "LIST", 0,
	  "instead of --rate: mean hours between failures of a part, cable=400000,switch=200000, over "
	  "--years",
	  0 },
	{ "years", OPT_YEARS, "N", 0, "with --mtbf: that long, four steps a year (default: 5)", 0 },
	{ "repaired-after", OPT_REPAIR_DAYS, "DAYS", 0,
	  "with --mtbf: parts come back after DAYS (default: they are bypassed for good)",
	  0 },
	{ "seeds", OPT_SEEDS, "N", 0, "draw the failures N times (default: 20)", 0 },
	{ "repair", CMDLINE_KEY(struct failures_args, repair), NULL, 0,
	  "also what the engine repair makes of the tables of the step before", 0 },
	{ "packets", CMDLINE_KEY(struct failures_args, packets), NULL, 0,
	  "also what hosts get through it as packets in simulated time, for shifts and all-to-all; "
	  "deadlocks would show",
	  0 },
	{ "output", 'o', "DIR", 0,
	  "folder for the lines, tables and the report; a campaign that was interrupted continues "
	  "there",
	  0 },
	{ "again", CMDLINE_KEY(struct failures_args, again), NULL, 0,
	  "begin again instead of continuing what is in the folder", 0 },
	{ "dump", CMDLINE_KEY(struct failures_args, dump), "SEED,STEP", 0,
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
	CMDLINE_FIELD('o', struct failures_args, out),
	CMDLINE_FIELD(OPT_YEARS, struct failures_args, years, "--years", 0.25, 49),
	CMDLINE_FIELD(OPT_REPAIR_DAYS, struct failures_args, repair_days, "--repaired-after", 0.01,
		      36500),
	CMDLINE_FIELD(OPT_SEEDS, struct failures_args, seeds, "--seeds", 1, 1000),
	{ 0 },
};

static void failures_args_take_engines(struct failures_args *c, const struct argp_state *state)
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

static void failures_args_take_damage(struct failures_args *c, const struct argp_state *state)
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

static error_t failures_args_take(int key, char *arg, struct argp_state *state)
{
	struct failures_args *c = state->input;

	if (key == ARGP_KEY_END) {
		options_need(c->o.topology, "topology", state);
		failures_args_take_damage(c, state);
		if (c->dump)
			return 0;
		options_need(c->o.engine, "engines", state);
		options_need(c->out, "output", state);
		failures_args_take_engines(c, state);
		return 0;
	}
	return cmdline_take(fields, c, key, arg, state) ? options_take(&c->o, key, arg, state) : 0;
}

const struct argp failures_argp = {
	.options = table,
	.parser = failures_args_take,
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

int failures_args_load(struct failures_args *a, struct err *err)
{
	struct life_rules *r = &a->x.rules;
	int rc = command_inputs_load(&a->in, &a->o, err);

	if (rc)
		return rc;
	r->f = a->in.f;
	r->jobs = a->in.jobs;
	r->params = a->in.params;
	r->bisections = a->o.bisections < 0 ? 50 : a->o.bisections;
	r->pattern = a->o.pattern;
	r->repair = a->repair;
	r->packets = a->packets;
	a->x.first_seed = a->in.params.seed;
	a->x.seeds = a->seeds;
	a->x.threads = a->in.params.threads;
	a->x.again = a->again;
	a->x.dir = a->out;
	return 0;
}

struct failures_args *failures_args_new(void)
{
	struct failures_args *a = xcalloc(1, sizeof(*a));

	options_init(&a->o);
	a->years = 5;
	a->seeds = 20;
	return a;
}

void failures_args_free(struct failures_args *a)
{
	command_inputs_free(&a->in);
	free(a);
}
