/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --load: a dump, or a folder that key w wrote with all that was known. */
#include "console/app/app_priv.h"
#include "console/app/data/app_folder.h"

#include "console/campaign/folder/campaign_folder.h"
#include "console/config/exits.h"
#include "console/input/load/load_adaptive.h"
#include "console/input/load/load_fabric.h"
#include "console/input/load/load_tables.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file of a snapshot's folder, NULL when it holds none; freed at the end. */
static char *app_load_file_of(struct app *a, const char *name)
{
	char *path = xasprintf("%s/%s", a->folder, name);
	size_t i = 0;

	if (access(path, R_OK)) {
		free(path);
		return NULL;
	}
	while (a->snapshot[i])
		i++;
	return a->snapshot[i] = path;
}

void app_load_folder(struct app *a)
{
	struct stat st;
	char *fabric;

	if (!a->opts.load || stat(a->opts.load, &st) || !S_ISDIR(st.st_mode))
		return;
	a->folder = xstrdup(a->opts.load);
	fabric = app_load_file_of(a, SNAPSHOT_FABRIC);
	if (!fabric && campaign_folder_is(a->folder))
		a->campaign = xstrdup(a->folder);
	if (!fabric)
		return;
	a->opts.load = fabric;
	if (!a->opts.lfts)
		a->opts.lfts = app_load_file_of(a, SNAPSHOT_TABLES);
	if (!a->opts.lfts)
		a->opts.lfts = app_load_file_of(a, SNAPSHOT_LFTS);
	if (!a->opts.live.node_names)
		a->opts.live.node_names = app_load_file_of(a, SNAPSHOT_NAMES);
	if (!a->opts.racks)
		a->opts.racks = app_load_file_of(a, SNAPSHOT_RACKS);
	/* with names and users; the text is for folders that have no more */
	if (!a->opts.jobs && !app_load_file_of(a, SNAPSHOT_LIST))
		a->opts.jobs = app_load_file_of(a, SNAPSHOT_JOBS);
}

void app_load_free(struct app *a)
{
	for (size_t i = 0; i < sizeof(a->snapshot) / sizeof(a->snapshot[0]); i++)
		free(a->snapshot[i]);
	free(a->folder);
	free(a->campaign);
}

/* The newest moment is what is on the screen first. */
static void app_load_show_newest(struct app *a)
{
	struct snapshot_at m;

	for (uint64_t i = sample_history_oldest(a->samples);
	     i && i <= sample_history_newest(a->samples); i++) {
		if (!sample_history_get(&m, a->samples, i))
			continue;
		history_push(a->state.history, a->state.fabric, m.rates);
		sample_put(a->state.sample);
		rates_put(a->state.rates);
		a->state.sample = sample_get(m.sample);
		a->state.rates = m.rates ? rates_get(m.rates) : NULL;
		a->state.history_at.time_s = m.time_s;
		snapshot_at_done(&m);
	}
	if (!a->state.sample)
		return;
	a->state.poll.asked = a->state.sample->asked;
	a->state.poll.answered = a->state.sample->answered;
	a->state.poll.partial = a->state.sample->answered < a->state.sample->asked;
	a->sample_took = (double)a->state.sample->took_ns / 1e9;
}

/* --- the files, read by a thread of their own ------------------------------------------------ */

/* First the fabric with its tables, and of a folder what else there is; then the history, which
 * needs these as the console has them. */
struct loading {
	const struct app_opts *opts;  /* the console's, which outlive it, as the next three */
	const struct name_map *names; /* may be NULL, as the next */
	const struct slurm_topology *racks;
	const char *folder;	     /* NULL: a file */
	struct fabric *fabric;	     /* until it is handed over */
	bool incomplete;	     /* the file does not have all of it */
	struct engine_list *engines; /* of that, as the next */
	const struct fabric_shape *shape;
	struct tables *tables; /* likewise; NULL: none */
	struct app_folder was; /* of a folder: what it says besides */
	struct sample_history *past;
	const struct jobset *jobset; /* that the samples are of, with the next two */
	const struct fabric *of;
	const struct tables *installed;
};

static FILE *app_load_open_past(char **path, const struct loading *l)
{
	*path = xasprintf("%s/%s", l->folder, SNAPSHOT_HISTORY);
	return fopen(*path, "re");
}

/* Text dumps leave these out. */
static int app_load_port_states(const struct loading *l, struct err *err)
{
	char *path;
	FILE *in = app_load_open_past(&path, l);
	int rc = in ? sample_history_read_ports(in, l->fabric, path, err) : 0;

	if (in)
		fclose(in);
	free(path);
	return rc;
}

/* What is not worked out again by the thread that draws. */
static void app_load_look_at(struct loading *l)
{
	l->engines = engine_list_new(l->fabric);
	l->shape = fabric_shape_new(l->fabric, l->racks, l->opts->racks);
}

/* The name that was typed to confirm updates is not in dumps. */
static int app_load_run(void *ctx, struct err *err)
{
	struct loading *l = ctx;
	int rc = l->folder ? app_folder_read_state(&l->was, l->folder, err) : 0;
	const char *saved = l->was.fabric;
	struct load_fabric_opts of = {
		.name = l->opts->live.name ? l->opts->live.name
			: saved && *saved  ? saved
					   : NULL,
		.names = l->names,
		.lmc = -1,
		.strict =
			l->folder || l->opts->strict, /* a folder's other files are of all of it */
	};

	if (!rc)
		rc = load_fabric_of(&l->fabric, &l->incomplete, l->opts->load, &of, err);
	if (!rc && l->folder)
		rc = app_load_port_states(l, err);
	if (!rc && l->opts->lfts)
		rc = load_tables(&l->tables, l->opts->lfts, l->fabric, err);
	if (!rc && l->folder)
		rc = app_folder_read_rest(&l->was, l->folder, !l->opts->jobs, err);
	if (!rc)
		app_load_look_at(l);
	return rc;
}

static int app_load_past_run(void *ctx, struct err *err)
{
	struct loading *l = ctx;
	char *path;
	FILE *in = app_load_open_past(&path, l);
	int rc = 0;

	l->past = sample_history_new((size_t)SAMPLE_HISTORY_MB << 20, SAMPLE_HISTORY_MAX);
	if (in) {
		rc = sample_history_read(l->past, in, l->of, l->installed, l->jobset, path, err);
		fclose(in);
	}
	free(path);
	return rc;
}

static void app_load_done_with(void *ctx)
{
	struct loading *l = ctx;

	fabric_put(l->fabric);
	free(l->engines);
	fabric_shape_put(l->shape);
	tables_put(l->tables);
	app_folder_clear(&l->was);
	sample_history_free(l->past);
	jobset_put(l->jobset);
	tables_put(l->installed);
	fabric_put(l->of);
	free(l);
}

/* --- what was read becomes state ------------------------------------------------------------- */

static void app_load_past_done(void *owner, void *ctx)
{
	struct loading *l = ctx;
	struct app *a = owner;

	sample_history_free(a->samples);
	a->samples = l->past;
	l->past = NULL;
	app_load_show_newest(a);
}

static const struct file_work_ops app_load_past_ops = {
	.what = "loading",
	.waited = true,
	.run = app_load_past_run,
	.done = app_load_past_done,
	.failed = app_give_up,
	.free = app_load_done_with,
};

static void app_load_take_state(struct app *a, const struct app_folder *was)
{
	if (was->interval_s > 0)
		a->state.poll.interval_s = was->interval_s;
	if (was->sls_told)
		a->state.sls_known = was->sls_known;
	if (was->sm.known)
		a->state.sm = was->sm;
}

/* Of a file nothing else tells; a snapshot has what was known then. */
static void app_load_take_declared(struct app *a)
{
	struct adaptive adaptive;

	load_adaptive_declared(&adaptive, a->opts.live.adaptive);
	if (adaptive.state == ADAPTIVE_YES && !a->state.sm.adaptive[0])
		adaptive_text(a->state.sm.adaptive, sizeof(a->state.sm.adaptive), &adaptive);
}

static void app_load_take_jobs(struct app *a, const struct job_list *l)
{
	app_set_list(a, l);
	a->state.jobs_source.state = JOBS_OK;
	snprintf(a->state.jobs_source.source, sizeof(a->state.jobs_source.source), "%.31s",
		 l->source);
}

static void app_load_take_events(struct app *a, const struct events *e)
{
	pthread_mutex_lock(&a->events_lock);
	for (uint32_t i = events_count(e); i-- > 0;)
		events_add(&a->events, events_get(e, i));
	pthread_mutex_unlock(&a->events_lock);
}

static void app_load_begin_past(struct app *a)
{
	struct loading *l = xcalloc(1, sizeof(*l));
	struct err err = { "" };

	l->folder = a->folder;
	l->of = fabric_get(a->state.fabric);
	l->installed = a->state.tables ? tables_get(a->state.tables) : NULL;
	l->jobset = a->state.jobs ? jobset_get(a->state.jobs) : NULL;
	if (app_files_begin(a, &app_load_past_ops, l, &err))
		app_give_up(a, NULL, 0, &err);
}

static void app_load_done(void *owner, void *ctx)
{
	struct loading *l = ctx;
	struct app *a = owner;
	struct fabric *f = l->fabric;
	struct tables *t = l->tables;

	app_load_take_events(a, &l->was.events);
	snprintf(a->state.source, sizeof(a->state.source), "file %.58s",
		 a->folder ? a->folder : a->opts.load);
	log_add(LOG_INFO, "load", "%u switch%s, %u host%s, %u cable%s; %s; %s", f->nsw,
		plural_es(f->nsw), f->nterm, plural(f->nterm), f->nchan / 2, plural(f->nchan / 2),
		t ? "tables too" : "no tables (--lfts)", a->opts.load);
	l->fabric = NULL;
	l->tables = NULL;
	a->fabric_partial = a->state.incomplete = l->incomplete;
	app_set_fabric(a, f, l->engines, l->shape);
	if (t)
		app_set_tables(a, t, false);
	if (a->folder)
		app_load_take_state(a, &l->was);
	app_load_take_declared(a);
	if (!a->folder)
		return;
	if (l->was.jobs)
		app_load_take_jobs(a, l->was.jobs);
	l->was.jobs = NULL;
	app_load_begin_past(a);
}

static const struct file_work_ops app_load_ops = {
	.what = "loading",
	.waited = true,
	.run = app_load_run,
	.done = app_load_done,
	.failed = app_give_up,
	.free = app_load_done_with,
};

void app_load(struct app *a)
{
	struct loading *l = xcalloc(1, sizeof(*l));
	struct err err;

	l->opts = &a->opts;
	l->names = a->names;
	l->racks = a->racks;
	l->folder = a->folder;
	if (app_files_begin(a, &app_load_ops, l, &err))
		app_give_up(a, NULL, 0, &err);
}
