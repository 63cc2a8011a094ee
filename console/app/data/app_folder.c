/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/data/app_folder.h"

#include "console/app/app_priv.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/process/apart.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file of it on its way through a process of its own. */
struct folder_reading {
	struct app_folder *to;
	FILE *file;
	const char *path;
};

static int app_folder_run(struct app_folder *to, const char *folder, const char *name,
			  int (*read)(void *, bytes_out *, struct read_report *, struct err *),
			  int (*take)(void *, struct bytes_in *, struct err *), struct err *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct folder_reading x = { .to = to, .file = fopen(path, "re"), .path = path };
	struct apart a = { .path = path, .file = x.file, .read = read, .take = take, .ctx = &x };
	int rc = 0;

	if (x.file)
		rc = apart_read(&a, NULL, err);
	else if (errno != ENOENT)
		rc = err_set(err, -errno, "%s cannot be read: %s", path, strerror(errno));
	if (x.file)
		fclose(x.file);
	free(path);
	return rc;
}

/* ---- there ---- */

static int app_folder_json(json_t **out, const struct folder_reading *x, struct err *err)
{
	json_error_t why = { .line = 0 };

	*out = json_text_clean(json_loadf(x->file, 0, &why));
	if (*out)
		return 0;
	return err_set(err, -EBADMSG, "%s:%d: truncated or damaged: %s", x->path, why.line,
		       why.text);
}

static void app_folder_sm(struct state_sm *sm, const json_t *j)
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
	snprintf(sm->adaptive, sizeof(sm->adaptive), "%.299s",
		 json_string_at(j, "adaptive_routing"));
}

struct state_head {
	double interval_s;
	uint64_t guid;
	uint16_t lid;
	uint8_t sls_told, sls_known, known, lost;
};

static int app_folder_put_state(void *ctx, bytes_out *out, struct read_report *report,
				struct err *err)
{
	struct state_sm sm = { .known = false };
	struct state_head h = { 0 };
	json_t *j;
	int rc = app_folder_json(&j, ctx, err);

	(void)report;
	if (rc)
		return rc;
	app_folder_sm(&sm, json_object_get(j, "sm"));
	if (json_is_number(json_object_get(j, "interval_s")))
		h.interval_s = json_number_value(json_object_get(j, "interval_s"));
	h.sls_told = json_object_get(j, "sls_known") != NULL;
	h.sls_known = json_is_true(json_object_get(j, "sls_known"));
	h.known = sm.known;
	h.lost = sm.lost;
	h.lid = sm.lid;
	h.guid = sm.guid;
	bytes_put(out, &h, sizeof(h));
	bytes_put_text(out, json_string_value(json_object_get(j, "fabric")));
	bytes_put_text(out, sm.name);
	bytes_put_text(out, sm.state);
	bytes_put_text(out, sm.engine);
	bytes_put_text(out, sm.requested);
	bytes_put_text(out, sm.adaptive);
	return 0;
}

struct list_head {
	int64_t time_s;
	uint32_t pending, other, njob;
};

struct job_head {
	uint64_t id;
	int64_t start_s;
	uint32_t nhost;
};

static void app_folder_put_job(bytes_out *out, const json_t *j)
{
	const json_t *hosts = json_object_get(j, "hosts"), *host;
	struct job_head h = { .id = (uint64_t)json_integer_at(j, "id"),
			      .start_s = json_integer_at(j, "start_s") };
	size_t i;

	json_array_foreach(hosts, i, host) h.nhost += json_is_string(host);
	bytes_put(out, &h, sizeof(h));
	bytes_put_text(out, json_string_at(j, "name"));
	bytes_put_text(out, json_string_at(j, "user"));
	bytes_put_text(out, json_string_at(j, "nodes"));
	for (int a = 0; a < JOB_ATTRS; a++)
		bytes_put_text(out, json_string_at(j, job_attr_key((enum job_attr)a)));
	json_array_foreach(hosts, i, host) if (json_is_string(host))
		bytes_put_text(out, json_string_value(host));
}

static int app_folder_put_jobs(void *ctx, bytes_out *out, struct read_report *report,
			       struct err *err)
{
	json_t *j, *jobs, *job;
	struct list_head h = { 0 };
	size_t i;
	int rc = app_folder_json(&j, ctx, err);

	(void)report;
	if (rc)
		return rc;
	jobs = json_object_get(j, "jobs");
	h.time_s = json_integer_at(j, "time_s");
	h.pending = (uint32_t)json_integer_at(j, "pending");
	h.other = (uint32_t)json_integer_at(j, "other");
	h.njob = (uint32_t)json_array_size(jobs);
	bytes_put(out, &h, sizeof(h));
	bytes_put_text(out, json_string_at(j, "source"));
	json_array_foreach(jobs, i, job) app_folder_put_job(out, job);
	return 0;
}

static void app_folder_add_event(struct events *to, const json_t *j)
{
	struct log_line l = { .level = LOG_INFO };

	for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
		if (!strcmp(log_level_name((enum log_level)level), json_string_at(j, "level")))
			l.level = (enum log_level)level;
	l.time_ns = (uint64_t)json_integer_at(j, "time_ns");
	snprintf(l.area, sizeof(l.area), "%s", json_string_at(j, "area"));
	snprintf(l.text, sizeof(l.text), "%s", json_string_at(j, "text"));
	if (l.text[0])
		events_add(to, &l);
}

/* Line by line: what is no event is left out; the newest are kept. */
static int app_folder_put_events(void *ctx, bytes_out *out, struct read_report *report,
				 struct err *err)
{
	struct folder_reading *x = ctx;
	struct events *e = xcalloc(1, sizeof(*e));
	char *line = NULL;
	size_t cap = 0;

	(void)report;
	(void)err;
	while (getline(&line, &cap, x->file) > 0) {
		json_t *j = json_text_clean(json_loads(line, 0, NULL));

		app_folder_add_event(e, j);
		json_decref(j);
	}
	for (uint32_t i = events_count(e); i-- > 0;)
		bytes_put(out, events_get(e, i), sizeof(struct log_line));
	free(line);
	free(e);
	return 0;
}

/* ---- here ---- */

static void app_folder_take_text(char *to, size_t size, struct bytes_in *in)
{
	char *text = bytes_take_text(in);

	snprintf(to, size, "%s", text ? text : "");
	free(text);
}

static int app_folder_take_state(void *ctx, struct bytes_in *in, struct err *err)
{
	struct app_folder *f = ((struct folder_reading *)ctx)->to;
	struct state_head h;

	(void)err;
	bytes_take(in, &h, sizeof(h));
	f->interval_s = h.interval_s > 0 && h.interval_s < 1e9 ? h.interval_s : 0;
	f->sls_told = h.sls_told;
	f->sls_known = h.sls_known;
	f->sm.known = h.known;
	f->sm.lost = h.lost;
	f->sm.lid = h.lid;
	f->sm.guid = h.guid;
	f->fabric = bytes_take_text(in);
	app_folder_take_text(f->sm.name, sizeof(f->sm.name), in);
	app_folder_take_text(f->sm.state, sizeof(f->sm.state), in);
	app_folder_take_text(f->sm.engine, sizeof(f->sm.engine), in);
	app_folder_take_text(f->sm.requested, sizeof(f->sm.requested), in);
	app_folder_take_text(f->sm.adaptive, sizeof(f->sm.adaptive), in);
	return in->bad ? -EPROTO : 0;
}

static int app_folder_take_job(struct job_list *l, struct bytes_in *in)
{
	struct job_rec r = { .id = 0 };
	struct job_head h;
	char *name, *user, *nodes, **hosts, *attr[JOB_ATTRS];
	uint32_t n = 0;

	bytes_take(in, &h, sizeof(h));
	name = bytes_take_text(in);
	user = bytes_take_text(in);
	nodes = bytes_take_text(in);
	for (int a = 0; a < JOB_ATTRS; a++)
		r.attr[a] = attr[a] = bytes_take_text(in);
	in->bad |= !name || !user || !nodes || h.nhost > in->left / sizeof(uint32_t);
	hosts = xcalloc(in->bad ? 0 : h.nhost, sizeof(*hosts));
	for (; !in->bad && n < h.nhost; n++) {
		hosts[n] = bytes_take_text(in);
		in->bad |= !hosts[n];
	}
	r.id = h.id;
	r.name = name;
	r.user = user;
	r.nodes = nodes;
	r.hosts = (const char *const *)hosts;
	r.nhost = n;
	r.start_s = h.start_s;
	if (!in->bad && n)
		job_list_add(l, &r);
	for (int a = 0; a < JOB_ATTRS; a++)
		free(attr[a]);
	while (n)
		free(hosts[--n]);
	free(hosts);
	free(name);
	free(user);
	free(nodes);
	return in->bad ? -EPROTO : 0;
}

static int app_folder_take_jobs(void *ctx, struct bytes_in *in, struct err *err)
{
	struct app_folder *f = ((struct folder_reading *)ctx)->to;
	struct job_list *l;
	struct list_head h;
	char source[sizeof(l->source)];
	int rc = 0;

	(void)err;
	bytes_take(in, &h, sizeof(h));
	app_folder_take_text(source, sizeof(source), in);
	f->jobs = l = job_list_new(source, h.time_s);
	for (uint32_t i = 0; i < h.njob && !rc; i++)
		rc = app_folder_take_job(l, in);
	l->pending = h.pending;
	l->other = h.other;
	job_list_sort(l);
	return rc;
}

static int app_folder_take_events(void *ctx, struct bytes_in *in, struct err *err)
{
	struct app_folder *f = ((struct folder_reading *)ctx)->to;

	(void)err;
	while (in->left > sizeof(struct read_report)) {
		struct log_line l;

		bytes_take(in, &l, sizeof(l));
		if (in->bad || l.level > LOG_ERROR)
			return -EPROTO;
		l.area[sizeof(l.area) - 1] = '\0';
		l.text[sizeof(l.text) - 1] = '\0';
		plain_text(l.area, "");
		plain_text(l.text, "");
		events_add(&f->events, &l);
	}
	return 0;
}

int app_folder_read_state(struct app_folder *f, const char *folder, struct err *err)
{
	return app_folder_run(f, folder, SNAPSHOT_STATE, app_folder_put_state,
			      app_folder_take_state, err);
}

int app_folder_read_rest(struct app_folder *f, const char *folder, bool jobs, struct err *err)
{
	int rc = jobs ? app_folder_run(f, folder, SNAPSHOT_LIST, app_folder_put_jobs,
				       app_folder_take_jobs, err)
		      : 0;

	return rc ? rc
		  : app_folder_run(f, folder, SNAPSHOT_EVENTS, app_folder_put_events,
				   app_folder_take_events, err);
}

void app_folder_clear(struct app_folder *f)
{
	free(f->fabric);
	job_list_put(f->jobs);
	f->fabric = NULL;
	f->jobs = NULL;
}
