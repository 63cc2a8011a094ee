/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/commands.h"

#include "console/app/app_opts.h"
#include "console/collector/collector.h"
#include "console/collector/collector_dir.h"
#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/exits.h"
#include "console/config/mkey.h"
#include "console/config/user_path.h"
#include "console/input/load/load_io_nodes.h"
#include "console/input/load/load_names.h"
#include "console/session/demo.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/jobs/source.h"
#include "fabric/update/journal/journal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SWEEP_S	   60
#define TABLES_S   30
#define KEEP_DAYS  30
#define KEEP_MIB   2048
#define ERRORS_KEY "collector" /* of the error counters of the last run */

struct collect_cmd {
	struct app_opts o;
	const char *dir, *history;
	uint64_t days, mib;
};

/* --- options --------------------------------------------------------------------------------- */

enum { OPT_COLLECT_DAYS = 0x2000, OPT_COLLECT_SIZE };

static const struct argp_option cmd_collect_rows[] = {
	{ "dir", CMDLINE_KEY(struct collect_cmd, dir), "DIR", 0,
	  "directory for the sockets of viewers (default: " COLLECTOR_DIR ", or NAME in it, with "
	  "--name)",
	  1 },
	{ "history", CMDLINE_KEY(struct collect_cmd, history), "FILE|none", 0,
	  "SQLite file in which samples, jobs, tables and events are kept (default: history.db in the "
	  "state directory); none: nothing is kept",
	  1 },
	{ "keep-days", OPT_COLLECT_DAYS, "N", 0,
	  "keep N days (default: 30): samples of the last hour all, of the last day every 10 s, "
	  "of the last week every minute, older ones every 5 minutes",
	  1 },
	{ "keep-size", OPT_COLLECT_SIZE, "N", 0,
	  "keep at most N MiB; the oldest goes first (default: 2048)", 1 },
	OPTION_CONFIG(2),
	{ "name", OPT_LIVE_FABRIC, "NAME", 0, "name of the fabric", 2 },
	OPTION_LIVE_NODE_NAMES(2),
	{ "io-nodes", OPT_IO_NODES, "LIST|FILE", 0, "hosts for storage and I/O, as for the console",
	  2 },
	OPTION_LIVE_ADAPTIVE(2),
	OPTIONS_LIVE_PORT(2),
	{ "outstanding_smps", OPT_LIVE_WINDOW, "N", 0,
	  "maximum number of outstanding MADs (default: 32)", 2 },
	{ "socket", OPT_LIVE_SOCKET, "FILE", 0, "socket of OpenSM's plugin", 2 },
	{ "state-dir", OPT_LIVE_STATE_DIR, "DIR", 0,
	  "directory for the baseline, the error counters and the history; updates are there, too",
	  2 },
	{ "record-dir", OPT_LIVE_RECORD_DIR, "DIR", 0,
	  "directory of the records of sessions, of which an index is kept", 2 },
	{ "interval", 'd', "SECONDS", 0, "interval between polls of the counters (default: 2 s)",
	  3 },
	{ "sweep-interval", OPT_SWEEP_INTERVAL, "SECONDS", 0,
	  "interval between discoveries of the fabric (default: 60 s); changes that the SM reports "
	  "are looked at when they happen",
	  3 },
	{ "jobs", CMDLINE_KEY(struct app_opts, jobs), "SOURCE", 0,
	  "where running jobs are read from: slurm (default, where there is one), none, or a jobs file",
	  3 },
	{ "jobs-interval", OPT_JOBS_INTERVAL, "SECONDS", 0,
	  "interval between queries to SLURM (default: 10 s)", 3 },
	{ "demo", OPT_DEMO, "SPEC", OPTION_ARG_OPTIONAL,
	  "collect from a simulated fabric, to try it", 4 },
	{ "seed", OPT_SEED, "N", 0, "seed of the simulated fabric (default: 1)", 4 },
	{ 0 }
};

static const struct cmdline_field cmd_collect_fields[] = {
	CMDLINE_FIELD(OPT_COLLECT_DAYS, struct collect_cmd, days, "--keep-days", 1, 36500),
	CMDLINE_FIELD(OPT_COLLECT_SIZE, struct collect_cmd, mib, "--keep-size", 1, 1e9),
	{ 0 }
};

/* Those of the console are taken as the console takes them. */
static error_t cmd_collect_take(int key, char *arg, struct argp_state *s)
{
	struct collect_cmd *c = s->input;
	struct argp_state console = *s;

	if (key == CMDLINE_KEY(struct collect_cmd, dir) ||
	    key == CMDLINE_KEY(struct collect_cmd, history) || key == OPT_COLLECT_DAYS ||
	    key == OPT_COLLECT_SIZE)
		return cmdline_take(cmd_collect_fields, c, key, arg, s);
	if (key == ARGP_KEY_INIT)
		s->child_inputs[0] = &c->o.alert;
	if (key == ARGP_KEY_INIT || key == ARGP_KEY_FINI || key == ARGP_KEY_SUCCESS)
		return 0;
	console.input = &c->o;
	return app_argp.parser(key, arg, &console);
}

/* --- what it watches ------------------------------------------------------------------------- */

struct collect_run {
	struct collect_cmd *c;
	struct collector_opts o;
	struct mailbox *box;
	struct name_map *names;
	struct demo *demo;
	struct job_source *jobs;
	struct wire *wire;
	char *dir, *history, source[64];
};

static volatile sig_atomic_t cmd_collect_signal;

static void cmd_collect_on_signal(int sig)
{
	cmd_collect_signal = sig;
}

static void cmd_collect_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = cmd_collect_on_signal };

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int cmd_collect_open_jobs(struct collect_run *r, struct err *err)
{
	const struct app_opts *o = &r->c->o;
	struct source_opts so = { .path = o->jobs, .interval_ms = o->jobs_interval_s * 1000 };
	const struct job_source_type *type;

	r->o.jobs = o->demo ? "sim" : "";
	if (o->demo || (o->jobs && !strcmp(o->jobs, "none")))
		return 0;
	type = !o->jobs || !strcmp(o->jobs, "slurm") ? &job_source_slurm : &job_source_file;
	r->o.jobs = type->name;
	return source_open(&r->jobs, type, &so, err);
}

static int cmd_collect_open_wire(struct collect_run *r, struct err *err)
{
	const struct app_opts *o = &r->c->o;
	const struct live_opts *l = &o->live;
	struct wire_opts wo = { .ca = l->ca,
				.port = l->port,
				.window = l->window,
				.timeout_ms = l->timeout_ms,
				.m_key = l->m_key,
				.m_keys = l->m_keys,
				.notices = !o->demo };
	struct demo_opts d = { .spec = o->demo_spec, .name = l->name, .seed = o->params.seed };
	struct mad_local local;
	int rc;

	if (o->demo) {
		snprintf(r->source, sizeof(r->source), "demo %.50s",
			 o->demo_spec ? o->demo_spec : DEMO_SPEC);
		rc = demo_start(&r->demo, &d, r->box, err);
		return rc ? rc : demo_wire(&r->wire, r->demo, &wo, err);
	}
	rc = wire_open_umad(&r->wire, &wo, err);
	if (rc == -EBUSY) { /* link changes are then seen when they are looked for */
		fprintf(stderr, "warning: %s\n", err->text);
		wo.notices = false;
		rc = wire_open_umad(&r->wire, &wo, err);
	}
	if (rc)
		return rc;
	wire_local(r->wire, &local);
	snprintf(r->source, sizeof(r->source), "%s/%u", local.ca, local.port);
	return 0;
}

static void cmd_collect_poller(struct collect_run *r)
{
	const struct app_opts *o = &r->c->o;

	r->o.poll = (struct poller_opts){
		.interval_s = o->interval_s,
		.sweep_s = o->sweep_s > 0 ? o->sweep_s : SWEEP_S,
		.tables_s = TABLES_S,
		.fabric_name = o->live.name ? o->live.name
			       : o->demo    ? "demo"
					    : NULL,
		.names = r->names,
		.socket = o->live.socket,
		.adaptive = o->live.adaptive,
		.simulated = o->demo,
		.watch = true,
		.state_dir = o->live.state_dir ? o->live.state_dir
			     : r->demo	       ? demo_dir(r->demo)
					       : NULL,
		.watch_key = ERRORS_KEY,
		.want_errors = true,
		.count_updates = true,
	};
}

/* Where samples are kept. */
static int cmd_collect_history(struct collect_run *r, struct err *err)
{
	struct collect_cmd *c = r->c;
	const char *state = journal_base(c->o.live.state_dir);
	const char *name = c->o.live.name;
	char *folder;
	int rc;

	r->o.dirs.state =
		c->o.demo && !c->o.live.state_dir ? demo_dir(r->demo) : c->o.live.state_dir;
	r->o.dirs.record = c->o.demo && !c->o.live.record_dir ? "" : c->o.live.record_dir;
	r->o.keep = (struct history_keep){ .age_ms = (int64_t)c->days * 86400000,
					   .bytes = c->mib << 20 };
	if (c->history && !strcmp(c->history, "none"))
		return 0;
	if (c->history) {
		r->o.history = c->history;
		return 0;
	}
	if (c->o.demo && !c->o.live.state_dir)
		state = demo_dir(r->demo);
	folder = xasprintf("%s/collector", state);
	rc = store_mkdir(folder, err);
	r->history = xasprintf("%s/%s%shistory.db", folder, name && !strchr(name, '/') ? name : "",
			       name && !strchr(name, '/') ? "." : "");
	free(folder);
	r->o.history = r->history;
	return rc;
}

static int cmd_collect_open(struct collect_run *r, struct err *err)
{
	const struct live_opts *l = &r->c->o.live;
	int rc = app_opts_ask_m_key(&r->c->o, err);

	if (!rc && l->node_names)
		rc = load_names(&r->names, l->node_names, err);
	if (!rc && l->io_nodes)
		rc = load_io_nodes(&r->names, l->io_nodes, err);
	if (!rc)
		rc = cmd_collect_open_jobs(r, err);
	if (!rc)
		rc = cmd_collect_open_wire(r, err);
	if (!rc)
		rc = cmd_collect_history(r, err);
	return rc;
}

static int cmd_collect_run(struct collect_cmd *c, struct err *err)
{
	struct collect_run r = { .c = c, .box = mailbox_new() };
	int rc;

	r.dir = collector_dir_default(c->o.live.name);
	r.o.dir = c->dir ? c->dir : r.dir;
	rc = cmd_collect_open(&r, err);
	r.o.source = r.source;
	r.o.alert = &c->o.alert;
	cmd_collect_poller(&r);
	if (rc)
		wire_close(r.wire);
	else
		rc = collector_run(&r.o, r.wire, r.jobs, r.box, &cmd_collect_signal, err);
	demo_stop(r.demo);
	source_close(r.jobs);
	name_map_free(r.names);
	mailbox_free(r.box);
	free(r.dir);
	free(r.history);
	return rc;
}

int cmd_collect(int argc, char **argv)
{
	const struct argp_child children[] = {
		{ &alert_argp, 0, "Alerts:", 5 },
		{ 0 },
	};
	const struct argp argp = {
		.children = children,
		.options = cmd_collect_rows,
		.parser = cmd_collect_take,
		.args_doc = "",
		.doc = "Watch a fabric for all who want to see it, and keep what was seen. Consoles and "
		       "batch output of this machine read from it instead of polling: the groups " COLLECTOR_GROUP_LOOK
		       " and " COLLECTOR_GROUP_ASK " may look, " COLLECTOR_GROUP_ASK
		       " may also have it poll at once.\vIt runs "
		       "until a signal ends it, and writes nothing to the fabric. Exit codes: 0 ended "
		       "by SIGTERM or SIGINT; 64 bad options; 255 no port, no folder for the sockets, "
		       "or no history that could be written.",
	};
	struct collect_cmd c = { .days = KEEP_DAYS, .mib = KEEP_MIB };
	struct err err = { "" };
	int rc;

	app_opts_init(&c.o);
	if (cmdline_parse(&argp, argc, argv, &c))
		return EXIT_BAD_USAGE;
	cmd_collect_catch_signals();
	rc = cmd_collect_run(&c, &err);
	return cmdline_end(argv[0], rc ? EXIT_UNREADABLE : EXIT_OK, &err);
}
