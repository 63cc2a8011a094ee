/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/app_opts.h"

#include "console/app/terminal/terminal.h"
#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/mkey.h"
#include "console/config/param_check.h"
#include "console/session/demo.h"
#include "fabric/jobs/slurm_here.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "what to show:", 1 },
	{ "demo", OPT_DEMO, "SPEC", OPTION_ARG_OPTIONAL,
	  "simulated fabric with jobs and traffic (default: " DEMO_SPEC "; see 'topo --help')", 1 },
	{ "load", CMDLINE_KEY(struct app_opts, load), "FILE", 0,
	  "dump (ibnetdiscover text or cache, opensm-subnet.lst, OpenSM's neighbors, ...), or a "
	  "snapshot folder saved with :save or --save",
	  1 },
	{ "load-cache", 0, NULL, OPTION_ALIAS, NULL, 1 },
	{ "strict", CMDLINE_KEY(struct app_opts, strict), NULL, 0,
	  "with --load: refuse a dump that is damaged or truncated (default: load what is in it, with a "
	  "warning for each gap)",
	  1 },
	{ "lfts", CMDLINE_KEY(struct app_opts, lfts), "FILE", 0,
	  "with --load: tables of the dump (opensm-lfts.dump, opensm.fdbs, .ibr)", 1 },
	{ "profile", OPT_CONFIG_PROFILE, "NAME", 0,
	  "use the settings in section [fabric NAME] of the configuration file", 1 },
	{ "fabric", 0, NULL, OPTION_ALIAS, NULL, 1 },
	{ "config", OPT_CONFIG_FILE, "FILE", 0,
	  "configuration file, instead of the default ones ('config show' lists them)", 1 },
	{ "tab", OPT_TAB, "SPEC", 0,
	  "one of several fabrics, each with a tab: NAME (its profile), NAME=port:CA:PORT, "
	  "NAME=collector:DIR, NAME=load:PATH or NAME=demo:SPEC; NAME=ro:... stays read-only with --rw; "
	  "may be given several times, or with blanks between; none: not those of the configuration file",
	  1 },
	{ "name", OPT_LIVE_FABRIC, "NAME", 0,
	  "name of the fabric; has to be typed to start and "
	  "confirm updates",
	  1 },
	OPTION_LIVE_NODE_NAMES(1),
	{ "io-nodes", OPT_IO_NODES, "LIST|FILE", 0,
	  "hosts for storage and I/O: io[01-16], a file of GUIDs and host lists, opensm:FILE (the "
	  "io_guid_file of this opensm.conf), or feature:NAME of SLURM's nodes",
	  1 },
	{ "racks", CMDLINE_KEY(struct app_opts, racks), "FILE|DIR|slurm", 0,
	  "racks for the heatmap: SLURM's topology.yaml or topology.conf (or their folder), a "
	  "file with lines such as SwitchName=rack1 Switches=leaf[01-04], or slurm: the output of "
	  "scontrol show topology",
	  1 },
	OPTION_LIVE_ADAPTIVE(1),
	{ 0, 0, 0, 0, "the port to the fabric:", 2 },
	OPTIONS_LIVE_PORT(2),
	{ "outstanding_smps", 'o', "N", 0, "maximum number of outstanding MADs (default: 32)", 2 },
	{ 0, 0, 0, 0, "polling:", 3 },
	{ "collector", CMDLINE_KEY(struct app_opts, collector), "DIR|none", 0,
	  "read from the collector of this directory (see 'collect --help'), which also keeps the past; "
	  "none: poll the fabric from here (default: the collector of this machine, if there is one "
	  "and neither --Ca, --Port nor a jobs file is given)",
	  3 },
	{ "interval", 'd', "SECONDS", 0, "interval between polls of the counters (default: 2 s)",
	  3 },
	{ "sweep-interval", OPT_SWEEP_INTERVAL, "SECONDS", 0,
	  "interval between discoveries of the fabric (default: 60 s); where one takes long, they "
	  "are at most a twentieth of the time",
	  3 },
	{ "jobs", CMDLINE_KEY(struct app_opts, jobs), "SOURCE", 0,
	  "where running jobs are read from: slurm (default, where there is one), none, or a jobs file; --demo has "
	  "its own jobs",
	  3 },
	{ "jobs-interval", OPT_JOBS_INTERVAL, "SECONDS", 0,
	  "interval between queries to SLURM (default: 10 s)", 3 },
	{ 0, 0, 0, 0, "updates:", 4 },
	{ "rw", CMDLINE_KEY(struct app_opts, rw), 0, 0,
	  "allow updates: tables can be written to the switches, after the "
	  "fabric's name was typed (default: read-only)",
	  4 },
	OPTIONS_LIVE_DIRS(4),
	OPTIONS_LIVE_INSTALLER(4),
	{ "keep-days", OPT_KEEP_DAYS, "N", 0,
	  "at the start, remove records of sessions older than N days (default: none)", 4 },
	{ "keep-sessions", OPT_KEEP_SESSIONS, "N", 0,
	  "at the start, remove records of all but the last N sessions; with --keep-days, of those "
	  "only the older ones",
	  4 },
	{ "keep-size", OPT_KEEP_SIZE, "N", 0,
	  "at the start, remove the oldest records until the others take at most N MiB", 4 },
	{ 0, 0, 0, 0, "screen:", 5 },
	{ "ascii", CMDLINE_KEY(struct app_opts, ascii), 0, 0, "use only ASCII characters", 5 },
	{ "no-mouse", CMDLINE_KEY(struct app_opts, no_mouse), 0, 0,
	  "leave the mouse to the terminal", 5 },
	{ "bell", CMDLINE_KEY(struct app_opts, bell), 0, 0,
	  "ring the terminal's bell for warnings and errors (view 8), at most once in two seconds",
	  5 },
	{ "set", OPT_SET, "NAME=VALUE", 0,
	  "change a setting of the configuration file for this run: palette, units, columns, "
	  "warn-util, ...",
	  5 },
	{ "theme", CMDLINE_KEY(struct app_opts, theme), "dark|light|mono|FILE", 0,
	  "colours (default: dark); light is for terminals with a light background; a file has a line for each "
	  "role, such as: good = 28 (see the manual)",
	  5 },
	{ "png-font", CMDLINE_KEY(struct app_opts, png_font), "FILE", 0,
	  "font of pictures that :export writes as .png (default: the first monospaced one that is installed)",
	  5 },
	{ "png-size", OPT_PNG_SIZE, "PIXELS", 0, "size of its letters (default: 16)", 5 },
	{ "color", OPT_COLOUR, "auto|16|256|true|never", 0,
	  "number of colours (default: auto, what the terminal supports)", 5 },
	{ "mono", 'M', 0, 0, "same as --color=never", 5 },
	{ "seed", OPT_SEED, "N", 0, "seed of the simulated fabric and of the engines (default: 1)",
	  6 },
	{ 0 }
};

static void app_opts_colours(struct argp_state *s, struct app_opts *o, const char *arg)
{
	if (!strcmp(arg, "auto"))
		o->colours = -1;
	else if (!strcmp(arg, "never"))
		o->colours = 0;
	else if (!strcmp(arg, "16") || !strcmp(arg, "256"))
		o->colours = atoi(arg);
	else if (!strcmp(arg, "true"))
		o->colours = COLOURS_TRUE;
	else
		argp_error(s, "--color: '%s' is not one of auto, 16, 256, true, never", arg);
}

/* The form of previews has so much room for a text. */
static void app_opts_param(struct argp_state *s, struct app_opts *o, const struct param *p,
			   const char *value)
{
	struct err err;

	if ((*value || p->id >= PARAM_TEXTS) && param_check(p, value, &err))
		argp_error(s, "--%s", err.text);
	else if (p->id >= PARAM_TEXTS)
		param_set_or_unset(&o->params, p, value, NULL);
	else if (strlen(value) >= PATH_TEXT)
		argp_error(s, "--%s: more than %d characters", p->option, PATH_TEXT - 1);
	else
		o->text[p->id] = value;
}

/* What is not of engines is of the screen, and set once there is one. */
static void app_opts_set(struct argp_state *s, struct app_opts *o, const char *arg)
{
	size_t n = strcspn(arg, "=");
	const struct param *p = arg[n] ? param_named(arg, n) : NULL;

	if (p && p->config)
		app_opts_param(s, o, p, arg + n + 1);
	else if (o->nset == SETS_MAX)
		argp_error(s, "--set: at most %d are possible", SETS_MAX);
	else
		o->set[o->nset++] = arg;
}

/* The automatic mode has some of its own. */
static void app_opts_lists(struct app_opts *o)
{
	if (!o->automatic.pin)
		o->automatic.pin = o->text[PARAM_PIN];
	if (!o->automatic.exclude)
		o->automatic.exclude = o->text[PARAM_EXCLUDE];
	if (!o->automatic.demand)
		o->automatic.demand = o->text[PARAM_DEMAND];
	if (!o->automatic.ranks)
		o->automatic.ranks = o->text[PARAM_RANKS];
	o->live.io_nodes = o->text[PARAM_IO_NODES];
}

static void app_opts_check_auto(const struct app_opts *o, struct argp_state *s)
{
	if (o->load)
		argp_error(s, "--auto needs a live fabric; it cannot be used with --load");
	if (o->jobs && !strcmp(o->jobs, "none"))
		argp_error(s, "--auto needs jobs: --jobs slurm or a file");
	if (o->automatic.confirm_s >= o->dog.confirm_s)
		argp_error(s,
			   "--auto-confirm %u must be less than --confirm-timeout %u, after which "
			   "the update is rolled back",
			   o->automatic.confirm_s, o->dog.confirm_s);
}

static const struct cmdline_field fields[] = {
	/* these two are read before all others, by cmdline_parse() */
	CMDLINE_FIELD(OPT_CONFIG_FILE, struct app_opts, config),
	CMDLINE_FIELD(OPT_CONFIG_PROFILE, struct app_opts, profile),
	CMDLINE_FIELD('d', struct app_opts, interval_s, "--interval"),
	CMDLINE_FIELD(OPT_SWEEP_INTERVAL, struct app_opts, sweep_s, "--sweep-interval"),
	CMDLINE_FIELD(OPT_JOBS_INTERVAL, struct app_opts, jobs_interval_s, "--jobs-interval"),
	CMDLINE_FIELD(OPT_KEEP_DAYS, struct app_opts, keep.days, "--keep-days"),
	CMDLINE_FIELD(OPT_KEEP_SESSIONS, struct app_opts, keep.sessions, "--keep-sessions"),
	CMDLINE_FIELD(OPT_KEEP_SIZE, struct app_opts, keep.mib, "--keep-size"),
	CMDLINE_FIELD(OPT_PNG_SIZE, struct app_opts, png_size, "--png-size"),
	{ 0 },
};

static error_t app_opts_take(int key, char *arg, struct argp_state *s)
{
	struct app_opts *o = s->input;

	switch (key) {
	case OPT_SEED:
		app_opts_param(s, o, param_of(PARAM_SEED), arg);
		return 0;
	case OPT_IO_NODES:
		app_opts_param(s, o, param_of(PARAM_IO_NODES), arg);
		return 0;
	case OPT_SET:
		app_opts_set(s, o, arg);
		return 0;
	case OPT_TAB:
		if (o->ntab == TABS_MAX)
			argp_error(s, "--tab: at most %d are possible", TABS_MAX);
		else
			o->tab[o->ntab++] = arg;
		return 0;
	case OPT_COLOUR:
		app_opts_colours(s, o, arg);
		return 0;
	case 'M':
		o->colours = 0;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(s, "'%s' is neither a command nor an option", arg);
		return 0;
	case ARGP_KEY_END:
		if (o->demo && o->load)
			argp_error(s, "--demo and --load cannot be used together");
		if (o->load && o->rw)
			argp_error(s, "--rw needs a live fabric; it cannot be used with --load");
		if (o->collector && strcmp(o->collector, "none") && (o->demo || o->load))
			argp_error(s, "--collector cannot be used with --demo or --load");
		if (o->lfts && !o->load)
			argp_error(s, "--lfts needs --load");
		if (o->strict && !o->load)
			argp_error(s, "--strict needs --load");
		if (o->automatic.on)
			app_opts_check_auto(o, s);
		else if (!o->jobs && !o->demo && !o->load && !slurm_here())
			o->jobs = "none";
		app_opts_lists(o);
		return 0;
	case OPT_DEMO:
		o->demo = true;
		o->demo_spec = arg;
		return 0;
	case 'o':
		return live_opts_take(&o->live, OPT_LIVE_WINDOW, arg, s);
	case ARGP_KEY_INIT:
		s->child_inputs[0] = &o->automatic;
		s->child_inputs[1] = &o->dog;
		s->child_inputs[2] = &o->alert;
		return 0;
	default:
		return cmdline_take(fields, o, key, arg, s) ? live_opts_take(&o->live, key, arg, s)
							    : 0;
	}
}

static const struct argp_child children[] = {
	{ &auto_argp, 0, "Automatic mode:", 7 },
	{ &watchdog_argp, 0, "Rollback and watch options of updates:", 8 },
	{ &alert_argp, 0, "Alerts, with and without a screen:", 8 },
	{ 0 },
};

const struct argp app_argp = {
	.options = options,
	.parser = app_opts_take,
	.children = children,
};

void app_opts_init(struct app_opts *o)
{
	*o = (struct app_opts){ .interval_s = 2, .jobs_interval_s = 10, .colours = -1 };
	param_defaults(&o->params);
	auto_opts_init(&o->automatic);
	watchdog_config_init(&o->dog);
	alert_opts_init(&o->alert);
}

int app_opts_ask_m_key(struct app_opts *o, struct err *err)
{
	return o->live.ask_m_key ? mkey_ask(&o->live.m_key, err) : 0;
}

void app_opts_dog(struct watchdog_config *out, const struct app_opts *o)
{
	bool none = o->jobs && !strcmp(o->jobs, "none");

	*out = o->dog;
	out->live = o->live;
	out->agents.strangers = o->automatic.strangers;
	out->live.ask_m_key = false; /* that is done */
	out->live.jobs = none ? NULL : o->jobs ? o->jobs : "slurm";
}
