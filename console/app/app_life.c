/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a console comes to life and ends, with or without a screen. */
#include "console/app/app_priv.h"

#include "console/config/exits.h"
#include "console/config/user_path.h"
#include "console/input/load/load_io_nodes.h"
#include "console/input/load/load_names.h"
#include "console/input/load/load_racks.h"
#include "console/io/glossary_page.h"
#include "console/live/agents.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/format/slurm/slurm_topology.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWEEP_S	 60
#define TABLES_S 30
/* Until alerts are delivered, at the end: of a line of cron, and of who has pressed q. */
#define ALERTS_WAIT_MS	30000
#define ALERTS_LEAVE_MS 2000

/* --- the log ----------------------------------------------------------------------------- */

/* Whoever reads stderr may be slow: other threads, the poller above all, do not write to it. */
static void app_life_sink(void *ctx, const struct log_line *line)
{
	struct app *a = ctx;
	struct msg *msg = msg_new(MSG_LOG);

	alerts_line(a->alerts, line);
	msg->printed = pthread_equal(pthread_self(), a->thread);
	if (msg->printed)
		app_print_log(a, line);
	msg->line = *line;
	if (line->level > LOG_DEBUG) {
		pthread_mutex_lock(&a->events_lock);
		events_add(&a->events, line);
		a->warned += line->level >= LOG_WARN;
		pthread_mutex_unlock(&a->events_lock);
	}
	mailbox_send(a->box, msg); /* wakes the loop */
}

/* --- start ------------------------------------------------------------------------------- */

/* Where an ordinary user may write: sessions on simulated fabrics and files. */
static char *app_life_home_dir(const char *leaf)
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	const struct passwd *pw = home && *home ? NULL : getpwuid(getuid());
	char *base, *dir;

	if (pw)
		home = pw->pw_dir;
	if (xdg && *xdg)
		base = xasprintf("%s/ibroute-top", xdg);
	else
		base = xasprintf("%s/.local/state/ibroute-top", home ? home : "/nonexistent");
	for (char *slash = strchr(base + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(base, 0755);
		*slash = '/';
	}
	mkdir(base, 0700);
	dir = xasprintf("%s/%s", base, leaf);
	free(base);
	return dir;
}

/* NULL: there are none, or what is simulated tells. */
static const struct job_source_type *app_life_jobs(const struct app_opts *o)
{
	if (o->demo || (o->load && !o->jobs) || (o->jobs && !strcmp(o->jobs, "none")))
		return NULL;
	return !o->jobs || !strcmp(o->jobs, "slurm") ? &job_source_slurm : &job_source_file;
}

static struct source_opts app_life_source_opts(const struct app_opts *o)
{
	return (struct source_opts){ .path = o->jobs,
				     .at_s = o->jobs_at_s,
				     .interval_ms = o->jobs_interval_s * 1000 };
}

/* Routes can be looked at without a batch system. */
static void app_life_open_slurm(struct app *a)
{
	struct source_opts so = app_life_source_opts(&a->opts);
	struct state_jobs *s = &a->state.jobs_source;
	struct err err;

	if (!source_open(&a->source, &job_source_slurm, &so, &err))
		return;
	s->state = JOBS_UNREACHABLE;
	snprintf(s->sentence, sizeof(s->sentence), "%.255s", err.text);
	log_add(LOG_WARN, "jobs", "%s", err.text);
}

static void app_life_start_updates(struct app *a)
{
	if (a->opts.no_screen)
		return;
	app_opts_dog(&a->dog, &a->opts);
	if (a->demo)
		demo_watchdog(a->demo, &a->dog);
	a->update = update_thread_new(&a->dog, a->box);
}

/* Which port it is is known since a collector has said its own. */
static void app_life_refresh(struct app *a)
{
	if (!a->update && a->state.collector.on && (a->opts.rw || a->opts.automatic.on))
		app_life_start_updates(a);
}

static const struct app_part app_life_part = { .refresh = app_life_refresh };

/* --- what is read and opened before a fabric can be looked at, by a thread of its own -------- */

struct starting {
	const struct app_opts *opts; /* the console's, which outlive it, as the next one */
	struct mailbox *box;
	struct record *record; /* borrowed; NULL: it may go on without */
	bool no_record;
	bool collected;		      /* a collector tells of the fabric */
	struct name_map *names;	      /* what was made; NULL: none, or handed over */
	struct slurm_topology *racks; /* likewise */
	struct job_source *jobs;      /* likewise, of a file */
	struct demo *demo;	      /* likewise */
	struct wire *wire;	      /* likewise */
};

static int app_life_open_demo(struct starting *s, const struct wire_opts *wo, struct err *err)
{
	const struct app_opts *o = s->opts;
	struct demo_opts d = { .spec = o->demo_spec, .name = o->live.name, .seed = o->params.seed };
	int rc = demo_start(&s->demo, &d, s->box, err);

	return rc ? rc : demo_wire(&s->wire, s->demo, wo, err);
}

static int app_life_open_port(struct starting *s, struct wire_opts *wo, struct err *err)
{
	struct err why;
	int rc;

	wo->notices = s->opts->rw; /* agents may have to be asked */
	rc = wire_open_umad(&s->wire, wo, err);
	if (rc == -EBUSY && wo->notices) {
		log_add(LOG_WARN, "agents", "%s", err->text);
		wo->notices = false;
		rc = wire_open_umad(&s->wire, wo, err);
	}
	if (rc != -ENODEV)
		return rc;
	why = *err;
	return err_set(err, rc, "%s; --demo runs on a simulated fabric, --load shows a dump",
		       why.text);
}

static int app_life_open_wire(struct starting *s, struct err *err)
{
	const struct live_opts *l = &s->opts->live;
	struct wire_opts wo = { .ca = l->ca,
				.port = l->port,
				.window = l->window,
				.timeout_ms = l->timeout_ms,
				.m_key = l->m_key,
				.m_keys = l->m_keys };

	return s->opts->demo ? app_life_open_demo(s, &wo, err) : app_life_open_port(s, &wo, err);
}

static int app_life_starting_run(void *ctx, struct err *err)
{
	struct starting *s = ctx;
	const struct app_opts *o = s->opts;
	struct source_opts so = app_life_source_opts(o);
	int rc = s->record ? record_opened(s->record, true, err) : 0;

	s->no_record = rc;
	if (!rc && o->live.node_names)
		rc = load_names(&s->names, o->live.node_names, err);
	if (!rc && o->live.io_nodes)
		rc = load_io_nodes(&s->names, o->live.io_nodes, err);
	if (!rc && o->racks)
		rc = load_racks(&s->racks, o->racks, err);
	if (!rc && app_life_jobs(o) == &job_source_file && !s->collected)
		rc = source_open(&s->jobs, &job_source_file, &so, err);
	return rc || o->load || s->collected ? rc : app_life_open_wire(s, err);
}

static void app_life_starting_free(void *ctx)
{
	struct starting *s = ctx;

	wire_close(s->wire);
	demo_stop(s->demo);
	source_close(s->jobs);
	slurm_topology_free(s->racks);
	name_map_free(s->names);
	free(s);
}

static void app_life_start_poller(struct app *a, struct wire *w)
{
	struct poller_opts po = {
		.interval_s = a->state.poll.interval_s,
		.sweep_s = a->opts.sweep_s > 0 ? a->opts.sweep_s : SWEEP_S,
		.tables_s = TABLES_S,
		.fabric_name = a->opts.live.name ? a->opts.live.name
			       : a->opts.demo	 ? "demo"
						 : NULL,
		.names = a->names,
		.racks = a->racks,
		.racks_path = a->opts.racks,
		.socket = a->opts.live.socket,
		.adaptive = a->opts.live.adaptive,
		.simulated = a->opts.demo,
		.needs = a->opts.needs,
		.exact = a->opts.no_screen,
		.watch = true,
		.state_dir = a->opts.live.state_dir,
		.watch_key = a->opts.watch_key[0] && !a->opts.unwatched ? a->opts.watch_key : NULL,
		.error_limits = a->opts.error_limits,
		.want_errors = a->opts.watch_key[0],
		.count_updates = a->opts.count_updates,
	};
	struct mad_local local;
	struct poller *p;
	struct err err;

	if (!a->demo) {
		wire_local(w, &local);
		snprintf(a->state.source, sizeof(a->state.source), "%s/%u", local.ca, local.port);
	}
	if (poller_start(&p, w, &po, a->box, &err)) {
		app_give_up(a, NULL, 0, &err);
		return;
	}
	a->feed = poller_feed(p);
	app_life_start_updates(a);
}

static void app_life_starting_done(void *owner, void *ctx)
{
	struct starting *s = ctx;
	struct app *a = owner;
	struct wire *w = s->wire;
	bool collected = s->collected;

	a->state.poll.preparing = false;
	a->state.racks_file = a->racks = s->racks;
	a->state.racks_path = a->opts.racks;
	a->names = s->names;
	a->source = s->jobs;
	a->demo = s->demo;
	*s = (struct starting){ 0 };
	if (a->demo) {
		a->first = tables_get(demo_tables(a->demo));
		if (!a->opts.live.state_dir) {
			a->opts.live.state_dir = demo_dir(a->demo);
			a->opts.unwatched = true;
		}
	}
	if (app_life_jobs(&a->opts) == &job_source_slurm && !collected)
		app_life_open_slurm(a);
	if (a->campaign)
		app_campaign_read(a, a->campaign);
	else if (a->opts.load)
		app_load(a);
	else if (collected)
		app_collector_start(a);
	else
		app_life_start_poller(a, w);
}

static void app_life_starting_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	const struct starting *s = ctx;
	struct app *a = owner;

	app_give_up(a, NULL, rc, why);
	if (s->no_record)
		a->exit_code = EXIT_NO_RECORD;
}

static const struct file_work_ops app_life_starting = {
	.what = "starting",
	.waited = true,
	.run = app_life_starting_run,
	.done = app_life_starting_done,
	.failed = app_life_starting_failed,
	.free = app_life_starting_free,
};

static int app_life_start_fabric(struct app *a, struct err *err)
{
	const struct job_source_type *jobs = app_life_jobs(&a->opts);
	struct starting *s = xcalloc(1, sizeof(*s));
	const char *spec = a->opts.demo_spec;
	int rc;

	s->opts = &a->opts;
	s->box = a->box;
	s->record = a->opts.rw ? a->record : NULL;
	s->collected = app_collector_wanted(a);
	if (a->opts.load)
		a->state.mode = RUN_FILE;
	if (a->opts.demo)
		snprintf(a->state.source, sizeof(a->state.source), "demo %.58s",
			 spec ? spec : DEMO_SPEC);
	/* thousands of switches take seconds: the screen says what it waits for */
	a->state.poll.preparing = a->opts.demo;
	if (jobs || a->opts.demo) {
		snprintf(a->state.jobs_source.source, sizeof(a->state.jobs_source.source), "%s",
			 jobs ? jobs->name : "sim");
		a->state.jobs_source.state = JOBS_WAITING;
	}
	rc = app_files_begin(a, &app_life_starting, s, err);
	if (!rc && a->failed.text[0])
		return err_set(err, -EIO, "%s", a->failed.text);
	return rc;
}

static int app_life_start_screen(struct app *a, struct err *err)
{
	struct terminal_opts to = { .colours = a->opts.colours,
				    .ascii = a->opts.ascii,
				    .no_mouse = a->opts.no_mouse };
	/* several fabrics: when it is this one's turn */
	int rc = a->fabrics.away ? 0 : terminal_open(&a->term, &to, err);

	if (rc)
		return EXIT_BAD_USAGE;
	if (a->term)
		a->state.colours = terminal_colours(a->term);
	return app_record_start(a, err) ? EXIT_NO_RECORD : 0;
}

static void app_life_preview_options(struct app *a)
{
	struct preview_options *o = &shell_context(a->shell)->options;

	o->params = a->opts.params;
	for (int i = 0; i < PARAM_TEXTS; i++)
		snprintf(o->text[i], PATH_TEXT, "%s", a->opts.text[i] ? a->opts.text[i] : "");
}

int app_start(struct app *a, struct err *err)
{
	int rc;

	if (worker_start(&a->worker, a->box, err))
		return EXIT_UNREADABLE;
	rc = a->opts.no_screen || a->headless ? 0 : app_life_start_screen(a, err);
	if (rc)
		return rc;
	if (app_set_all(a, err))
		return EXIT_BAD_USAGE;
	app_settings_kept(a);
	app_saved_read(a);
	app_notes_read(a);
	app_life_preview_options(a);
	if (a->term || a->fabrics.away)
		shell_goto(a->shell, a->start_view);
	if (a->opts.tour)
		shell_tour_begin(a->shell);
	return app_life_start_fabric(a, err) ? EXIT_UNREADABLE : 0;
}

/* --- end --------------------------------------------------------------------------------- */

/* What came in since the loop has ended. */
static void app_life_print_rest(struct app *a)
{
	struct msg *msg;

	while (a->box && (msg = mailbox_take(a->box))) {
		if (msg->type == MSG_LOG && !msg->printed)
			app_print_log(a, &msg->line);
		msg_drop(msg);
	}
}

void app_end(struct app *a)
{
	struct err err;

	update_thread_free(a->update);
	feed_stop(a->feed);
	worker_stop(a->worker);
	a->worker = NULL;
	app_files_free(a);
	source_close(a->source);
	log_set_sink(NULL, NULL);
	app_life_print_rest(a);
	terminal_close(a->term);
	alerts_free(a->alerts, a->opts.no_screen ? ALERTS_WAIT_MS : ALERTS_LEAVE_MS);
	app_record_polls(a);
	if (a->record && record_close(a->record, &err))
		fprintf(stderr, "ibroute-top: %s\n", err.text);
	/* of several fabrics another one may have the screen; stderr is kept until it is left */
	fputs(a->farewell, a->opts.link ? stderr : stdout);
	/* nobody has to wait for it before a screen that is still there */
	feed_free(a->feed);
	demo_stop(a->demo); /* after the wire, which is in it */
	app_data_free(a);
	shell_free(a->shell);
	canvas_free(a->canvas);
	name_map_free(a->names);
	slurm_topology_free(a->racks);
	mailbox_free(a->box);
	pthread_mutex_destroy(&a->events_lock);
	app_load_free(a);
	free(a->own_dirs[0]);
	free(a->own_dirs[1]);
	free(a);
}

/* What is shown of an update hears last: what it waits for is settled by then. */
static const struct app_part *const app_life_parts[] = {
	&app_record_part,
	&app_prune_part,
	&app_activity_part,
	&app_against_part,
	&app_collector_part,
	&app_files_part,
	&app_history_part,
	&app_play_part,
	&app_peak_part,
	&app_set_part,
	&app_keys_part,
	&app_preview_part,
	&app_update_part,
	&app_progress_part,
	&app_effect_part,
	&app_auto_part,
	&app_sessions_part,
	&app_saved_part,
	&app_notes_part,
	&app_weak_part,
	&app_campaign_part,
	&app_failures_part,
	&app_updates_part,
	&app_life_part,
	NULL,
};

void app_prepare(struct app *a)
{
	const struct binding *keys;
	pthread_mutexattr_t again;
	size_t n;

	a->parts = app_life_parts;
	state_init(&a->state);
	a->state.glossary = glossary_page();
	a->state.rw = a->opts.rw;
	a->state.may_arm = a->opts.demo && !a->opts.rw;
	a->state.keyless = !a->opts.demo && agents_keyless(&a->opts.live, NULL);
	a->state.poll.interval_s = a->opts.interval_s;
	a->state.events = &a->events;
	a->start = clock_s();
	app_auto_start(a);
	pthread_mutexattr_init(&again);
	pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&a->events_lock, &again);
	pthread_mutexattr_destroy(&again);
	a->box = mailbox_new();
	a->samples = sample_history_new((size_t)SAMPLE_HISTORY_MB << 20, SAMPLE_HISTORY_MAX);
	keys = keymap_all(&n);
	a->shell = shell_new(keys, n);
	a->start_view = VIEW_OVERVIEW;
	a->state.setting = app_setting;
	a->state.setting_of = a;
	a->state.file_names = app_file_names;
	a->state.file_names_of = a;
	a->thread = pthread_self();
	app_fabrics_start(a);
	a->alerts = alerts_new(&a->opts.alert);
	log_set_sink(app_life_sink, a);
	app_load_folder(a);
	if (a->opts.demo || a->opts.load) {
		if (!a->opts.live.record_dir)
			a->opts.live.record_dir = a->own_dirs[0] = app_life_home_dir("record");
		if (!a->opts.live.state_dir && a->opts.load) /* a demo has its own */
			a->opts.live.state_dir = a->own_dirs[1] = app_life_home_dir("state");
	}
}
