/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --load: a dump, or a folder that key w wrote with all that was known. */
#include "console/app/app_priv.h"

#include "console/input/load_fabric.h"
#include "console/lib/exits.h"
#include "fabric/base/json_text.h"
#include "fabric/base/mem.h"
#include "fabric/base/plural.h"

#include <errno.h>
#include <jansson.h>
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
}

/* *out NULL: there is none, as in folders of earlier versions.  -EBADMSG: a damaged one. */
static int app_load_read_json(json_t **out, const char *folder, const char *name, struct err *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	json_error_t why = { .line = 0 };
	bool there = !access(path, F_OK);
	int rc = 0;

	*out = there ? json_text_clean(json_load_file(path, 0, &why)) : NULL;
	if (there && !*out)
		rc = err_set(err, -EBADMSG, "%s:%d: truncated or damaged: %s", path, why.line,
			     why.text);
	free(path);
	return rc;
}

/* --- jobs ----------------------------------------------------------------------------------- */

static void app_load_add_job(struct job_list *l, const json_t *j)
{
	const json_t *hosts = json_object_get(j, "hosts");
	size_t n = json_array_size(hosts);
	const char **names = xcalloc(n + 1, sizeof(*names));
	struct job_rec rec = {
		.id = (uint64_t)json_integer_at(j, "id"),
		.name = json_string_at(j, "name"),
		.user = json_string_at(j, "user"),
		.nodes = json_string_at(j, "nodes"),
		.hosts = names,
		.start_s = json_integer_at(j, "start_s"),
	};

	for (size_t i = 0; i < n; i++) {
		const char *name = json_string_value(json_array_get(hosts, i));

		if (name)
			names[rec.nhost++] = name;
	}
	if (rec.nhost)
		job_list_add(l, &rec);
	free(names);
}

static struct job_list *app_load_job_list(const json_t *j)
{
	struct job_list *l =
		job_list_new(json_string_at(j, "source"), json_integer_at(j, "time_s"));
	json_t *job;
	size_t i;

	json_array_foreach(json_object_get(j, "jobs"), i, job) app_load_add_job(l, job);
	l->pending = (uint32_t)json_integer_at(j, "pending");
	l->other = (uint32_t)json_integer_at(j, "other");
	job_list_sort(l);
	return l;
}

/* --- what was known of the fabric ------------------------------------------------------------ */

static void app_load_sm(struct state_sm *sm, const json_t *j)
{
	if (!json_is_object(j))
		return;
	sm->known = true;
	sm->lost = json_is_true(json_object_get(j, "lost"));
	sm->lid = (uint16_t)json_integer_at(j, "lid");
	sm->guid = strtoull(json_string_at(j, "guid"), NULL, 16);
	snprintf(sm->name, sizeof(sm->name), "%.63s", json_string_at(j, "name"));
	snprintf(sm->state, sizeof(sm->state), "%.15s", json_string_at(j, "state"));
	snprintf(sm->engine, sizeof(sm->engine), "%.23s", json_string_at(j, "engine"));
	snprintf(sm->requested, sizeof(sm->requested), "%.23s", json_string_at(j, "requested"));
}

/* Read once, and line by line: what is no event is left out. */
static void app_load_events(struct events *to, const char *folder)
{
	char *path = xasprintf("%s/%s", folder, SNAPSHOT_EVENTS), *line = NULL;
	FILE *f = fopen(path, "re");
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		json_t *j = json_text_clean(json_loads(line, 0, NULL));
		struct log_line l = { .level = LOG_INFO };

		for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
			if (!strcmp(log_level_name((enum log_level)level),
				    json_string_at(j, "level")))
				l.level = (enum log_level)level;
		l.time_ns = (uint64_t)json_integer_at(j, "time_ns");
		snprintf(l.area, sizeof(l.area), "%s", json_string_at(j, "area"));
		snprintf(l.text, sizeof(l.text), "%s", json_string_at(j, "text"));
		if (l.text[0])
			events_add(to, &l);
		json_decref(j);
	}
	if (f)
		fclose(f);
	free(line);
	free(path);
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
	struct engine_list *engines; /* of that, as the next */
	const struct fabric_shape *shape;
	struct tables *tables;	     /* likewise; NULL: none */
	json_t *state;		     /* NULL: none */
	const struct job_list *jobs; /* likewise */
	struct events events;
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

static int app_load_read_folder(struct loading *l, struct err *err)
{
	json_t *jobs = NULL;
	int rc = l->opts->jobs ? 0 : app_load_read_json(&jobs, l->folder, SNAPSHOT_LIST, err);

	if (!rc && jobs)
		l->jobs = app_load_job_list(jobs);
	json_decref(jobs);
	app_load_events(&l->events, l->folder);
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
	const char *saved;
	int rc = l->folder ? app_load_read_json(&l->state, l->folder, SNAPSHOT_STATE, err) : 0;

	saved = json_string_at(l->state, "fabric");
	if (!rc)
		rc = loadfab_fabric(&l->fabric, l->opts->load,
				    l->opts->live.name ? l->opts->live.name
				    : *saved	       ? saved
						       : NULL,
				    l->names, err);
	if (!rc && l->folder)
		rc = app_load_port_states(l, err);
	if (!rc && l->opts->lfts)
		rc = load_fabric_tables(&l->tables, l->opts->lfts, l->fabric, err);
	if (!rc && l->folder)
		rc = app_load_read_folder(l, err);
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
	job_list_put(l->jobs);
	json_decref(l->state);
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

static void app_load_take_state(struct app *a, const json_t *j)
{
	if (json_is_number(json_object_get(j, "interval_s")))
		a->state.poll.interval_s = json_number_value(json_object_get(j, "interval_s"));
	if (json_object_get(j, "sls_known"))
		a->state.sls_known = json_is_true(json_object_get(j, "sls_known"));
	app_load_sm(&a->state.sm, json_object_get(j, "sm"));
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

	app_load_take_events(a, &l->events);
	snprintf(a->state.source, sizeof(a->state.source), "file %.58s",
		 a->folder ? a->folder : a->opts.load);
	log_add(LOG_INFO, "load", "%u switch%s, %u host%s, %u cable%s; %s; %s", f->nsw,
		plural_es(f->nsw), f->nterm, plural(f->nterm), f->nchan / 2, plural(f->nchan / 2),
		t ? "tables too" : "no tables (--lfts)", a->opts.load);
	l->fabric = NULL;
	l->tables = NULL;
	app_set_fabric(a, f, l->engines, l->shape);
	if (t)
		app_set_tables(a, t, false);
	if (!a->folder)
		return;
	if (l->jobs)
		app_load_take_jobs(a, l->jobs);
	l->jobs = NULL;
	app_load_take_state(a, l->state);
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
