/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/auto/auto_opts.h"

#include "console/input/options.h"
#include "console/lib/cmdline.h"
#include "views/data/request.h"

#include <stdlib.h>
#include <string.h>

enum {
	OPT_AUTO = 820,
	OPT_AUTO_ENGINE,
	OPT_AUTO_ESCAPE,
	OPT_STRANGERS,
	OPT_AUTO_PIN,
	OPT_AUTO_NODES,
	OPT_GAIN,
	OPT_AGE,
	OPT_QUIET,
	OPT_AUTO_EXCLUDE
};

static const struct argp_option rows[] = {
	{ "auto", OPT_AUTO, "MINUTES", OPTION_ARG_OPTIONAL,
	  "look so often (preset: 5) whether other jobs run, compute routes for them, and propose "
	  "those that gain enough; with --rw also write them, when nobody has to drain or all who "
	  "have to have agents. Without a terminal this runs as a service that tells what it does "
	  "on stdout",
	  0 },
	{ "auto-engine", OPT_AUTO_ENGINE, "NAME", 0, "by this engine (preset: sar)", 0 },
	{ "auto-escape", OPT_AUTO_ESCAPE, NULL, 0,
	  "with escape LIDs (preset: where OpenSM with our plugin tells that there are some)", 0 },
	{ "auto-strangers", OPT_STRANGERS, NULL, 0,
	  "write also when LIDs that no job has, such as those of idle hosts and servers, need the "
	  "drain: packets to them may get lost (preset: that is left to an operator)",
	  0 },
	{ "auto-pin", OPT_AUTO_PIN, "LIST", 0,
	  "routes to these hosts stay as installed: n[0001-0016], or job:81234 as long as that job "
	  "runs, with commas between",
	  0 },
	{ "auto-job-nodes-min", OPT_AUTO_NODES, "N", 0,
	  "jobs with fewer nodes do not count for the engine (preset: all do)", 0 },
	{ "auto-exclude", OPT_AUTO_EXCLUDE, "LIST", 0,
	  "around these switches and cables, as plan --exclude; what is not there is left out", 0 },
	{ "auto-gain", OPT_GAIN, "PERCENT", 0,
	  "by how much the maximum effective EFI has to fall, more than that (preset: 5)", 0 },
	{ "auto-min-age", OPT_AGE, "SECONDS", 0,
	  "jobs that have run for less do not count (preset: 60)", 0 },
	{ "auto-confirm", OPT_QUIET, "SECONDS", 0,
	  "keep what was written once the watch conditions have been quiet for so long "
	  "(preset: 60); else it rolls back",
	  0 },
	{ 0 },
};

static void auto_opts_set_engine(struct auto_opts *o, const char *arg, struct argp_state *s)
{
	struct err err = { "" };

	if (engine_spec_parse(&o->engine, arg, &err))
		argp_error(s, "--auto-engine: %s", err.text);
}

/* The previews of the console have so much room for it. */
static const char *auto_opts_list(const struct argp_state *s, const char *option, const char *arg)
{
	if (strlen(arg) >= PATH_TEXT)
		argp_error(s, "%s: more than %d characters", option, PATH_TEXT - 1);
	return arg;
}

static error_t auto_opts_take(int key, char *arg, struct argp_state *s)
{
	struct auto_opts *o = s->input;

	switch (key) {
	case OPT_AUTO:
		o->on = true;
		if (arg)
			o->period_s =
				(uint32_t)(60 * cmdline_real(s, "--auto", arg, 1.0 / 60, 1440) +
					   0.5);
		return 0;
	case OPT_AUTO_ENGINE:
		auto_opts_set_engine(o, arg, s);
		return 0;
	case OPT_AUTO_EXCLUDE:
		o->exclude = auto_opts_list(s, "--auto-exclude", arg);
		return 0;
	case OPT_AUTO_ESCAPE:
		o->escape = true;
		return 0;
	case OPT_STRANGERS:
		o->strangers = true;
		return 0;
	case OPT_AUTO_PIN:
		o->pin = auto_opts_list(s, "--auto-pin", arg);
		return 0;
	case OPT_AUTO_NODES:
		o->job_nodes_min = (unsigned)options_number(PARAM_JOB_NODES_MIN,
							    "--auto-job-nodes-min", arg, s);
		return 0;
	case OPT_GAIN:
		o->gain_pct = cmdline_real(s, "--auto-gain", arg, 0, 99);
		return 0;
	case OPT_AGE:
		o->min_age_s = (unsigned)cmdline_count(s, "--auto-min-age", arg, 0, 86400);
		return 0;
	case OPT_QUIET:
		o->confirm_s = (unsigned)cmdline_count(s, "--auto-confirm", arg, 1, 86400);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp auto_argp = { .options = rows, .parser = auto_opts_take };

void auto_opts_init(struct auto_opts *o)
{
	*o = (struct auto_opts){ .period_s = 300, .gain_pct = 5, .min_age_s = 60, .confirm_s = 60 };
	engine_spec_parse(&o->engine, "sar", NULL);
}

void auto_opts_limits(struct auto_limits *out, const struct auto_opts *o, bool armed)
{
	*out = (struct auto_limits){ .period_s = o->period_s,
				     .gain = o->gain_pct / 100,
				     .armed = armed };
}
