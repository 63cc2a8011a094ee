/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console: start, loop, end.  One thread draws and reads keys; it never blocks on the wire,
 * on SLURM or on an engine. */
#include "console/app.h"

#include "console/app_priv.h"
#include "console/auto_run.h"
#include "console/batch.h"
#include "console/exits.h"
#include "console/loadfab.h"
#include "fabric/base/clock.h"
#include "fabric/base/mem.h"
#include "fabric/base/stderrlog.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MS 250  /* between two frames when only data changed */
#define TICK_MS	 1000 /* ages grow */
#define SWEEP_S	 60
#define TABLES_S 30

static volatile sig_atomic_t deadly_signal;

static void on_signal(int sig)
{
	deadly_signal = sig;
}

/* --- the log ----------------------------------------------------------------------------- */

static void sink(void *ctx, const struct log_line *line)
{
	struct app *a = ctx;
	struct msg *msg = msg_new(MSG_LOG);

	if (a->opts.batch.on && line->level >= LOG_WARN)
		fprintf(stderr, "ibroute-top: %s: %s: %s\n", log_level_name(line->level), line->area,
			line->text);
	if (line->level > LOG_DEBUG) {
		pthread_mutex_lock(&a->events_lock);
		events_add(&a->events, line);
		if (!strcmp(line->area, "watch"))
			a->watch_at = clock_s();
		pthread_mutex_unlock(&a->events_lock);
	}
	mailbox_send(a->box, msg); /* wakes the loop */
}

/* --- the screen -------------------------------------------------------------------------- */

static void resize(struct app *a)
{
	int w, h;

	terminal_size(a->term, &w, &h);
	if (a->canvas && a->canvas->w == w && a->canvas->h == h)
		return;
	canvas_free(a->canvas);
	a->canvas = canvas_new(w, h, terminal_ascii(a->term));
	a->dirty = true;
}

static void draw(struct app *a)
{
	if (!a->term)
		return;
	resize(a);
	app_refresh(a);
	pthread_mutex_lock(&a->events_lock);
	ui_draw(a->ui, a->canvas, app_shown(a));
	pthread_mutex_unlock(&a->events_lock);
	terminal_show(a->term, a->canvas);
	app_record_screen(a);
	a->dirty = false;
}

/* --- start ------------------------------------------------------------------------------- */

/* Where an ordinary user may write: sessions on simulated fabrics and files. */
static char *home_dir(const char *leaf)
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *base, *dir;

	if (xdg && *xdg)
		base = xasprintf("%s/ibroute-top", xdg);
	else
		base = xasprintf("%s/.local/state/ibroute-top", home ? home : "/tmp");
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

/* What simulated switches held dies with them, and so do the journals of their updates. */
static char *demo_dir(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xasprintf("%s/ibroute-demo-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (mkdtemp(dir))
		return dir;
	free(dir);
	return home_dir("state");
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_demo_dir(const char *dir)
{
	if (dir && strstr(dir, "/ibroute-demo-"))
		nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static int open_record(struct app *a, struct err *err)
{
	struct record_opts ro = { .dir = a->opts.record_dir,
				  .fabric = a->opts.name,
				  .mode = a->opts.demo	 ? "demo"
					  : a->opts.load ? "file"
					  : a->opts.rw	 ? "rw"
							 : "ro",
				  .syslog = !a->opts.demo };
	int rc = record_open(&a->record, &ro, err);

	a->state.recording = !rc;
	if (rc && a->opts.rw)
		return rc;
	if (rc)
		log_add(LOG_WARN, "record", "this session is not recorded: %s", err->text);
	return 0;
}

static int read_names(struct app *a, struct err *err)
{
	return a->opts.node_names ? loadfab_names(&a->names, a->opts.node_names, err) : 0;
}

static int open_jobs(struct app *a, struct err *err)
{
	struct source_opts so = { .interval_ms = a->opts.jobs_interval_s * 1000 };
	const char *name = a->opts.jobs;
	const struct job_source_type *type = &job_source_file;

	if (a->opts.demo || (a->opts.load && !name) || (name && !strcmp(name, "none")))
		return 0;
	if (!name || !strcmp(name, "slurm"))
		type = &job_source_slurm;
	else
		so.path = name;
	snprintf(a->state.jobs_source.source, sizeof(a->state.jobs_source.source), "%s",
		 type->name);
	a->state.jobs_source.state = JOBS_WAITING;
	if (type != &job_source_slurm)
		return job_source_open(&a->source, type, &so, err);
	if (job_source_open(&a->source, type, &so, err)) {
		/* routes can be looked at without a batch system */
		a->state.jobs_source.state = JOBS_UNREACHABLE;
		snprintf(a->state.jobs_source.sentence, sizeof(a->state.jobs_source.sentence),
			 "%.255s", err->text);
		log_add(LOG_WARN, "jobs", "%s", err->text);
	}
	return 0;
}

/* The file of a snapshot's folder, NULL when it holds none; freed at the end. */
static char *snapshot_file(struct app *a, const char *name)
{
	char *path = xasprintf("%s/%s", a->opts.load, name);
	size_t i = 0;

	if (access(path, R_OK)) {
		free(path);
		return NULL;
	}
	while (a->snapshot[i])
		i++;
	return a->snapshot[i] = path;
}

/* --load of a folder that w wrote: all that it holds, unless said otherwise. */
static void open_snapshot(struct app *a)
{
	struct stat st;
	char *fabric;

	if (!a->opts.load || stat(a->opts.load, &st) || !S_ISDIR(st.st_mode))
		return;
	fabric = snapshot_file(a, SNAPSHOT_FABRIC);
	if (!fabric)
		return;
	if (!a->opts.lfts)
		a->opts.lfts = snapshot_file(a, SNAPSHOT_LFTS);
	if (!a->opts.jobs)
		a->opts.jobs = snapshot_file(a, SNAPSHOT_JOBS);
	a->opts.load = fabric;
}

static int load_file(struct app *a, struct err *err)
{
	struct fabric *f;
	struct tables *t = NULL;
	int rc = loadfab_fabric(&f, a->opts.load, a->opts.name, a->names, err);

	if (rc)
		return rc;
	if (a->opts.lfts)
		rc = loadfab_tables(&t, a->opts.lfts, f, err);
	if (rc) {
		fabric_put(f);
		return rc;
	}
	a->state.mode = RUN_FILE;
	snprintf(a->state.source, sizeof(a->state.source), "file %.58s", a->opts.load);
	log_add(LOG_INFO, "load", "%u switches, %u hosts, %u cables between switches; %s; %s",
		f->nsw, f->nterm, f->nchan / 2, t ? "tables too" : "no tables (--lfts)",
		a->opts.load);
	app_set_fabric(a, f);
	if (t)
		app_set_tables(a, t, false);
	return 0;
}

static int open_wire(struct wire **w, struct app *a, struct err *err)
{
	struct wire_opts wo = { .ca = a->opts.ca,
				.port = a->opts.port,
				.window = a->opts.window,
				.timeout_ms = a->opts.timeout_ms,
				.m_key = a->opts.m_key };
	struct demo_opts d = { .spec = a->opts.demo_spec,
			       .name = a->opts.name,
			       .seed = a->opts.seed };
	struct mad_local local;
	int rc;

	if (a->opts.demo) {
		/* thousands of switches take seconds: the screen says what it waits for */
		snprintf(a->state.source, sizeof(a->state.source), "demo %.58s",
			 d.spec ? d.spec : DEMO_SPEC);
		a->state.poll.preparing = true;
		draw(a);
		rc = demo_start(&a->demo, &d, a->box, err);
		a->state.poll.preparing = false;
		if (!rc) {
			a->first = tables_get(demo_tables(a->demo));
			rc = demo_wire(w, a->demo, &wo, err);
		}
		snprintf(a->state.jobs_source.source, sizeof(a->state.jobs_source.source), "sim");
		a->state.jobs_source.state = JOBS_WAITING;
		return rc;
	}
	wo.notices = a->opts.rw; /* agents may have to be asked */
	rc = wire_open_umad(w, &wo, err);
	if (rc == -EBUSY && wo.notices) {
		log_add(LOG_WARN, "agents", "%s", err->text);
		wo.notices = false;
		rc = wire_open_umad(w, &wo, err);
	}
	if (rc)
		return rc;
	wire_local(*w, &local);
	snprintf(a->state.source, sizeof(a->state.source), "%s/%u", local.ca, local.port);
	return 0;
}

/* What is simulated is in this process and nowhere else. */
static void start_updater(struct app *a)
{
	const struct app_opts *o = &a->opts;

	if (o->demo || o->batch.on) {
		a->updater = poller_updater(a->poller);
		return;
	}
	app_opts_dog(&a->dog, o);
	a->updater = update_link_new(&a->dog, a->box);
}

static int start_fabric(struct app *a, struct err *err)
{
	struct poller_opts po = {
		.interval_s = a->opts.interval_s,
		.sweep_s = SWEEP_S,
		.tables_s = TABLES_S,
		.fabric_name = a->opts.name   ? a->opts.name
			       : a->opts.demo ? "demo"
					      : NULL,
		.names = a->names,
		.journal_dir = a->opts.state_dir,
		.accept_sl_change = a->opts.demo,
		.simulated = a->opts.demo,
		.want_sl2vl = true,
	};
	struct wire *w;
	int rc;

	if (a->opts.load)
		return load_file(a, err);
	rc = open_wire(&w, a, err);
	if (rc)
		return rc;
	a->poller = poller_start(w, &po, a->box, a->record);
	start_updater(a);
	return 0;
}

static int start_screen(struct app *a, struct err *err)
{
	struct terminal_opts to = { .colours = a->opts.colours, .ascii = a->opts.ascii };
	int rc = terminal_open(&a->term, &to, err);

	if (rc)
		return EXIT_BAD_USAGE;
	a->state.colours = terminal_colours(a->term);
	return open_record(a, err) ? EXIT_NO_RECORD : 0;
}

static int start(struct app *a, struct err *err)
{
	int rc = a->opts.batch.on ? 0 : start_screen(a, err);

	if (rc)
		return rc;
	if (read_names(a, err) || open_jobs(a, err))
		return EXIT_BAD_USAGE;
	return start_fabric(a, err) ? EXIT_UNREADABLE : 0;
}

/* --- loop
 * ------------------------------------------------------------------------------------------ */

static void handle_key(struct app *a, uint32_t key)
{
	struct request r = { .type = REQ_NONE };
	const struct state *shown;
	struct input in;

	if (key == K_EOF) {
		a->quit = true;
		return;
	}
	if (key == K_RESIZE) {
		resize(a);
		return;
	}
	pthread_mutex_lock(&a->events_lock);
	shown = app_shown(a);
	keymap_translate(&in, key, ui_view(a->ui), ui_typing(a->ui, shown), shown->rw);
	ui_input(a->ui, &in, shown, &r);
	pthread_mutex_unlock(&a->events_lock);
	app_act(a, &r);
}

/* True when there was one. */
static bool take_keys(struct app *a)
{
	bool any = false;
	uint32_t key;

	while (!a->quit && (key = terminal_key(a->term)) != K_NONE) {
		handle_key(a, key);
		any = true;
	}
	return any;
}

static void loop(struct app *a)
{
	double shown = 0;

	while (!a->quit && !deadly_signal) {
		struct pollfd fds[3] = {
			{ .fd = terminal_fd(a->term), .events = POLLIN },
			{ .fd = mailbox_fd(a->box), .events = POLLIN },
			{ .fd = a->source ? job_source_fd(a->source) : -1, .events = POLLIN },
		};
		double left = shown + (a->dirty ? FRAME_MS : TICK_MS) / 1e3 - clock_s();

		/* data waits for the next frame, so it need not wake us before that */
		if (a->dirty)
			fds[1].fd = -1;
		poll(fds, 3, left > 0 ? (int)ceil(left * 1e3) : 0);
		if (take_keys(a)) {
			app_take_messages(a);
			draw(a);
			shown = clock_s();
			continue;
		}
		app_take_messages(a);
		app_take_jobs(a);
		app_auto_tick(a);
		if (clock_s() - shown >= (a->dirty ? FRAME_MS : TICK_MS) / 1e3) {
			draw(a);
			shown = clock_s();
		}
	}
}

/* --- end
 * --------------------------------------------------------------------------------------------- */

static void end(struct app *a)
{
	struct err err;

	if (a->updater.ops && a->updater.ops->free)
		a->updater.ops->free(a->updater.ctx);
	poller_stop(a->poller);
	worker_stop(a->worker);
	a->worker = NULL;
	demo_stop(a->demo);
	job_source_close(a->source);
	log_set_sink(NULL, NULL);
	terminal_close(a->term);
	if (a->record && record_close(a->record, &err))
		fprintf(stderr, "ibroute-top: %s\n", err.text);
	fputs(a->farewell, stdout);
	/* nobody has to wait for it before a screen that is still there */
	poller_free(a->poller);
	app_data_free(a);
	tdiff_free(a->apply_diff);
	ui_free(a->ui);
	canvas_free(a->canvas);
	name_map_free(a->names);
	mailbox_free(a->box);
	pthread_mutex_destroy(&a->events_lock);
	remove_demo_dir(a->own_dirs[1]);
	for (size_t i = 0; i < SNAPSHOT_FILES; i++)
		free(a->snapshot[i]);
	free(a->own_dirs[0]);
	free(a->own_dirs[1]);
	free(a);
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void prepare(struct app *a)
{
	const struct binding *keys;
	size_t n;

	state_init(&a->state);
	a->state.rw = a->opts.rw;
	a->state.poll.interval_s = a->opts.interval_s;
	a->state.events = &a->events;
	a->start = clock_s();
	app_auto_start(a);
	pthread_mutex_init(&a->events_lock, NULL);
	a->box = mailbox_new();
	a->past = past_new((size_t)PAST_MB << 20, PAST_SAMPLES);
	keys = keymap_all(&n);
	a->ui = ui_new(keys, n);
	a->worker = worker_start(a->box);
	log_set_sink(sink, a);
	open_snapshot(a);
	if (a->opts.demo || a->opts.load) {
		if (!a->opts.record_dir)
			a->opts.record_dir = a->own_dirs[0] = home_dir("record");
		if (!a->opts.state_dir)
			a->opts.state_dir = a->own_dirs[1] =
				a->opts.demo ? demo_dir() : home_dir("state");
	}
}

/* --auto without a terminal */
static int run_service(const struct app_opts *o)
{
	if (!o->demo)
		return auto_run(o);
	fprintf(stderr, "ibroute-top: --auto without a terminal needs a fabric, not --demo\n");
	return EXIT_BAD_USAGE;
}

int app_main(int argc, char **argv)
{
	struct app *a = xcalloc(1, sizeof(*a));
	struct stderrlog *captured = NULL;
	struct err err = { "" };
	int rc = app_opts_parse(&a->opts, argc, argv);

	if (rc) {
		free(a);
		return rc;
	}
	if (a->opts.automatic.on && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) {
		rc = run_service(&a->opts);
		free(a);
		return rc;
	}
	prepare(a);
	if (a->opts.batch.on)
		catch_signals(); /* making a large fabric takes long, too */
	rc = start(a, &err);
	if (!rc && a->opts.batch.on) {
		rc = batch_run(a, &deadly_signal);
	} else if (!rc) {
		catch_signals();
		if (stderrlog_start(&captured, "libs", &err))
			log_add(LOG_WARN, "libs", "%s", err.text);
		loop(a);
		rc = deadly_signal ? 128 + deadly_signal : a->exit_code;
		err.text[0] = '\0';
	}
	end(a);
	stderrlog_stop(captured);
	if (err.text[0])
		fprintf(stderr, "ibroute-top: %s\n", err.text);
	return rc;
}
