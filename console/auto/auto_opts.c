/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/auto/auto_opts.h"

#include "console/config/cmdline.h"
#include "console/config/param_check.h"
#include "console/input/options.h"
#include "views/data/state/request.h"

#include <stdlib.h>
#include <string.h>

enum {
	OPT_AUTO = 820,
	OPT_AUTO_ENGINE,
	OPT_AUTO_PIN,
	OPT_AUTO_NODES,
	OPT_GAIN,
	OPT_AGE,
	OPT_QUIET,
	OPT_AUTO_EXCLUDE,
	OPT_AUTO_DRAIN,
	OPT_AUTO_PATTERN
};

static const struct argp_option rows[] = {
	{ "auto", OPT_AUTO, "MINUTES", OPTION_ARG_OPTIONAL,
	  "automatic mode: check every N minutes (default: 5) whether other jobs are running, "
	  "compute a plan for them, and propose it if it gains enough; with --rw also apply it, "
	  "if no job has to drain or all that have to drain have agents. Without a terminal this "
	  "runs as a service that logs to stdout",
	  0 },
	{ "auto-engine", OPT_AUTO_ENGINE, "NAME", 0,
	  "engine that computes the plans (default: "
	  "sar)",
	  0 },
	{ "auto-escape", CMDLINE_KEY(struct auto_opts, escape), NULL, 0,
	  "compute plans with escape LIDs (default: if OpenSM's plugin reports that there are "
	  "some)",
	  0 },
	{ "accept-strangers", CMDLINE_KEY(struct auto_opts, strangers), NULL, 0,
	  "apply also if LIDs of no job, such as those of idle hosts and servers, would have to "
	  "drain: packets to them may be lost (default: the automatic mode leaves such plans to "
	  "an operator, and view 7 asks for this with O)",
	  0 },
	{ "auto-strangers", 0, NULL, OPTION_ALIAS, NULL, 0 },
	{ "auto-drain", OPT_AUTO_DRAIN, "needed|none|all", 0,
	  "what --rw may write: needed: plans for which jobs drain that have to, if they have "
	  "agents (default); none: only plans, or their parts, that nobody has to drain for, in an "
	  "order of safe writes; all: only plans where all jobs whose paths change have agents, "
	  "which drain, so that packets keep their order",
	  0 },
	{ "auto-pin", OPT_AUTO_PIN, "LIST", 0,
	  "keep the installed paths to these hosts, as plan --pin: a list such as "
	  "n[0001-0016],job:81234; a job counts while it runs",
	  0 },
	{ "auto-job-nodes-min", OPT_AUTO_NODES, "N", 0,
	  "ignore jobs with fewer nodes when computing plans (default: none)", 0 },
	{ "auto-exclude", OPT_AUTO_EXCLUDE, "LIST", 0,
	  "exclude these switches and cables, as plan --exclude; those not in the fabric are "
	  "ignored",
	  0 },
	{ "auto-gain", OPT_GAIN, "PERCENT", 0,
	  "required gain: a plan must lower the predicted mean time of the jobs by more than this "
	  "(default: 5 %); where times are not known, the maximum job EFI (paths of jobs over one "
	  "link)",
	  0 },
	{ "auto-pattern", OPT_AUTO_PATTERN, "NAME", 0,
	  "communication pattern of the jobs whose time decides: shift, alltoall (default), ring, "
	  "stencil2d, stencil3d",
	  0 },
	{ "auto-demand", CMDLINE_KEY(struct auto_opts, demand), "FILE", 0,
	  "demand between nodes, as plan --demand, read again for each plan: parx routes for it, and "
	  "a plan that makes it more than 2 % slower counts as slower (default: the setting demand)",
	  0 },
	{ "auto-ranks", CMDLINE_KEY(struct auto_opts, ranks), "FILE", 0,
	  "nodes of the ranks in it, as plan --ranks (default: the setting ranks)", 0 },
	{ "accept-slower", CMDLINE_KEY(struct auto_opts, accept_slower), NULL, 0,
	  "apply also what makes a communication pattern more than 2 % slower than the installed "
	  "routing, or a single job more than 10 % (default: such plans are only proposed, and view "
	  "7 asks for this with O)",
	  0 },
	{ "auto-accept-slower", 0, NULL, OPTION_ALIAS, NULL, 0 },
	{ "auto-min-age", OPT_AGE, "SECONDS", 0,
	  "ignore jobs that have run for less (default: 60 s)", 0 },
	{ "auto-confirm", OPT_QUIET, "SECONDS", 0,
	  "confirm an update after N seconds without a failed watch condition (default: 60 s); "
	  "otherwise it is rolled back",
	  0 },
	{ 0 },
};

static void auto_opts_set_engine(struct auto_opts *o, const char *arg, struct argp_state *s)
{
	struct err err = { "" };

	if (engine_spec_parse(&o->engine, arg, &err))
		argp_error(s, "--auto-engine: %s", err.text);
}

/* What it names is looked up where the fabric is.  The previews of the console have so much room
 * for it. */
static const char *auto_opts_list(const struct argp_state *s, enum param_id id, const char *arg)
{
	struct err err;

	if (param_check(param_of(id), arg, &err))
		argp_error(s, "--auto-%s", err.text);
	if (strlen(arg) >= PATH_TEXT)
		argp_error(s, "--auto-%s: more than %d characters", param_of(id)->option,
			   PATH_TEXT - 1);
	return arg;
}

static void auto_opts_set_drain(struct auto_opts *o, const char *arg, struct argp_state *s)
{
	static const char *const names[] = { "needed", "none", "all" };
	unsigned i = 0;

	while (i < sizeof(names) / sizeof(*names) && strcmp(arg, names[i]) != 0)
		i++;
	if (i == sizeof(names) / sizeof(*names))
		argp_error(s, "--auto-drain: '%s' is none of needed, none, all", arg);
	else
		o->drain = (enum auto_drain)i;
}

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD(OPT_GAIN, struct auto_opts, gain_pct, "--auto-gain", 0, 99),
	CMDLINE_FIELD(OPT_AGE, struct auto_opts, min_age_s, "--auto-min-age", 0, 86400),
	CMDLINE_FIELD(OPT_QUIET, struct auto_opts, confirm_s, "--auto-confirm", 1, 86400),
	{ 0 },
};

static error_t auto_opts_take(int key, char *arg, struct argp_state *s)
{
	struct auto_opts *o = s->input;
	struct err err;

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
	case OPT_AUTO_DRAIN:
		auto_opts_set_drain(o, arg, s);
		return 0;
	case OPT_AUTO_PATTERN:
		if (predict_pattern_parse(&o->pattern, arg, &err))
			argp_error(s, "--auto-pattern: %s", err.text);
		return 0;
	case OPT_AUTO_EXCLUDE:
		o->exclude = auto_opts_list(s, PARAM_EXCLUDE, arg);
		return 0;
	case OPT_AUTO_PIN:
		o->pin = auto_opts_list(s, PARAM_PIN, arg);
		return 0;
	case OPT_AUTO_NODES:
		o->job_nodes_min = (unsigned)options_number(PARAM_JOB_NODES_MIN,
							    "--auto-job-nodes-min", arg, s);
		return 0;
	default:
		return cmdline_take(fields, o, key, arg, s);
	}
}

const struct argp auto_argp = { .options = rows, .parser = auto_opts_take };

void auto_opts_init(struct auto_opts *o)
{
	*o = (struct auto_opts){ .period_s = 300,
				 .gain_pct = 5,
				 .pattern = PREDICT_ALLTOALL,
				 .min_age_s = 60,
				 .confirm_s = 60 };
	engine_spec_parse(&o->engine, "sar", NULL);
}

void auto_opts_limits(struct auto_limits *out, const struct auto_opts *o, bool armed)
{
	*out = (struct auto_limits){ .period_s = o->period_s,
				     .gain = o->gain_pct / 100,
				     .accept_slower = o->accept_slower,
				     .drain = o->drain,
				     .armed = armed };
}
