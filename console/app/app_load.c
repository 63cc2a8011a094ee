/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --load: a dump, or a folder that key w wrote with all that was known. */
#include "console/app/app_priv.h"

#include "console/input/load_fabric.h"
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
	if (!a->opts.node_names)
		a->opts.node_names = app_load_file_of(a, SNAPSHOT_NAMES);
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
static int app_load_read_json(json_t **out, const struct app *a, const char *name, struct err *err)
{
	char *path = xasprintf("%s/%s", a->folder, name);
	json_error_t why = { .line = 0 };
	bool there = !access(path, F_OK);
	int rc = 0;

	*out = there ? json_load_file(path, 0, &why) : NULL;
	if (there && !*out)
		rc = err_set(err, -EBADMSG, "%s:%d: cut off or damaged: %s", path, why.line,
			     why.text);
	free(path);
	return rc;
}

static const char *app_load_str(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

/* --- jobs ----------------------------------------------------------------------------------- */

static void app_load_add_job(struct job_list *l, const json_t *j)
{
	const json_t *hosts = json_object_get(j, "hosts");
	size_t n = json_array_size(hosts);
	const char **names = xcalloc(n + 1, sizeof(*names));
	struct job_rec rec = {
		.id = (uint64_t)json_integer_value(json_object_get(j, "id")),
		.name = app_load_str(j, "name"),
		.user = app_load_str(j, "user"),
		.nodes = app_load_str(j, "nodes"),
		.hosts = names,
		.start_s = json_integer_value(json_object_get(j, "start_s")),
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

static int app_load_jobs(struct app *a, struct err *err)
{
	struct job_list *l;
	json_t *j = NULL, *job;
	size_t i;
	int rc = a->opts.jobs ? 0 : app_load_read_json(&j, a, SNAPSHOT_LIST, err);

	if (rc || !j)
		return rc;
	l = job_list_new(app_load_str(j, "source"),
			 json_integer_value(json_object_get(j, "time_s")));
	json_array_foreach(json_object_get(j, "jobs"), i, job) app_load_add_job(l, job);
	l->pending = (uint32_t)json_integer_value(json_object_get(j, "pending"));
	l->other = (uint32_t)json_integer_value(json_object_get(j, "other"));
	job_list_sort(l);
	app_set_list(a, l);
	a->state.jobs_source.state = JOBS_OK;
	snprintf(a->state.jobs_source.source, sizeof(a->state.jobs_source.source), "%.31s",
		 l->source);
	json_decref(j);
	return 0;
}

/* --- what was known of the fabric ------------------------------------------------------------ */

static void app_load_sm(struct state_sm *sm, const json_t *j)
{
	if (!json_is_object(j))
		return;
	sm->known = true;
	sm->lost = json_is_true(json_object_get(j, "lost"));
	sm->lid = (uint16_t)json_integer_value(json_object_get(j, "lid"));
	sm->guid = strtoull(app_load_str(j, "guid"), NULL, 16);
	snprintf(sm->name, sizeof(sm->name), "%.63s", app_load_str(j, "name"));
	snprintf(sm->state, sizeof(sm->state), "%.15s", app_load_str(j, "state"));
	snprintf(sm->engine, sizeof(sm->engine), "%.23s", app_load_str(j, "engine"));
	snprintf(sm->requested, sizeof(sm->requested), "%.23s", app_load_str(j, "requested"));
}

/* Read once, and line by line: what is no event is left out. */
static void app_load_events(struct app *a)
{
	char *path = xasprintf("%s/%s", a->folder, SNAPSHOT_EVENTS), *line = NULL;
	FILE *f = fopen(path, "re");
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		json_t *j = json_loads(line, 0, NULL);
		struct log_line l = { .level = LOG_INFO };

		for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
			if (!strcmp(log_level_name((enum log_level)level),
				    app_load_str(j, "level")))
				l.level = (enum log_level)level;
		l.time_ns = (uint64_t)json_integer_value(json_object_get(j, "time_ns"));
		snprintf(l.area, sizeof(l.area), "%s", app_load_str(j, "area"));
		snprintf(l.text, sizeof(l.text), "%s", app_load_str(j, "text"));
		if (l.text[0])
			events_add(&a->events, &l);
		json_decref(j);
	}
	if (f)
		fclose(f);
	free(line);
	free(path);
}

static int app_load_past(struct app *a, struct fabric *f, bool ports_only, struct err *err)
{
	char *path = xasprintf("%s/%s", a->folder, SNAPSHOT_PAST);
	FILE *in = fopen(path, "re");
	int rc = 0;

	if (in) {
		rc = sample_history_read(ports_only ? NULL : a->past, in, f, a->tables, a->jobs,
					 path, err);
		fclose(in);
	}
	free(path);
	return rc;
}

/* The newest moment is what is on the screen first. */
static void app_load_show_newest(struct app *a)
{
	struct snapshot_at m;

	for (uint64_t i = sample_history_oldest(a->past); i && i <= sample_history_newest(a->past);
	     i++) {
		if (!sample_history_get(&m, a->past, i))
			continue;
		history_push(a->history, a->fabric, m.rates);
		sample_put(a->sample);
		rates_put(a->rates);
		a->sample = sample_get(m.sample);
		a->rates = m.rates ? rates_get(m.rates) : NULL;
		a->state.past.time_s = m.time_s;
		snapshot_at_done(&m);
	}
	if (!a->sample)
		return;
	a->state.sample = a->sample;
	a->state.rates = a->rates;
	a->state.poll.asked = a->sample->asked;
	a->state.poll.answered = a->sample->answered;
	a->state.poll.partial = a->sample->answered < a->sample->asked;
	a->sample_took = (double)a->sample->took_ns / 1e9;
}

static int app_load_load_folder(struct app *a, struct fabric *f, struct err *err)
{
	json_t *j;
	int rc = app_load_jobs(a, err);

	if (!rc)
		rc = app_load_read_json(&j, a, SNAPSHOT_STATE, err);
	if (rc)
		return rc;
	if (json_is_number(json_object_get(j, "interval_s")))
		a->state.poll.interval_s = json_number_value(json_object_get(j, "interval_s"));
	if (json_object_get(j, "sls_known"))
		a->state.sls_known = json_is_true(json_object_get(j, "sls_known"));
	app_load_sm(&a->state.sm, json_object_get(j, "sm"));
	json_decref(j);
	rc = app_load_past(a, f, false, err);
	if (!rc)
		app_load_show_newest(a);
	return rc;
}

/* The name that was typed to confirm updates is not in dumps. */
static int app_load_saved_name(char **out, const struct app *a, struct err *err)
{
	json_t *j = NULL;
	int rc = a->folder ? app_load_read_json(&j, a, SNAPSHOT_STATE, err) : 0;

	*out = *app_load_str(j, "fabric") ? xstrdup(app_load_str(j, "fabric")) : NULL;
	json_decref(j);
	return rc;
}

int app_load(struct app *a, struct err *err)
{
	struct fabric *f;
	struct tables *t = NULL;
	char *saved;
	int rc = app_load_saved_name(&saved, a, err);

	a->state.mode = RUN_FILE;
	if (!rc)
		rc = loadfab_fabric(&f, a->opts.load, a->opts.name ? a->opts.name : saved, a->names,
				    err);
	free(saved);
	if (rc)
		return rc;
	if (a->folder)
		rc = app_load_past(a, f, true, err);
	if (!rc && a->opts.lfts)
		rc = load_fabric_tables(&t, a->opts.lfts, f, err);
	if (rc) {
		fabric_put(f);
		return rc;
	}
	if (a->folder)
		app_load_events(a);
	snprintf(a->state.source, sizeof(a->state.source), "file %.58s",
		 a->folder ? a->folder : a->opts.load);
	log_add(LOG_INFO, "load", "%u switch%s, %u host%s, %u cable%s; %s; %s", f->nsw,
		plural_es(f->nsw), f->nterm, plural(f->nterm), f->nchan / 2, plural(f->nchan / 2),
		t ? "tables too" : "no tables (--lfts)", a->opts.load);
	app_set_fabric(a, f);
	if (t)
		app_set_tables(a, t, false);
	return a->folder ? app_load_load_folder(a, f, err) : 0;
}
