/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots: all that is known, collected by the thread that draws, and written by one of its own.
 */
#include "console/app/app_priv.h"

#include "console/lib/user_path.h"
#include "fabric/base/mem.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/format/slurm/slurm_topology.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct snapshot {
	const struct fabric *fabric;
	const struct tables *tables; /* may be NULL, as the next two */
	const struct jobset *jobs;
	const struct job_list *job_list;
	const struct name_map *names;	    /* the console's, which outlives it; or NULL */
	const struct slurm_topology *racks; /* likewise */
	struct state_sm sm;
	char source[sizeof(((struct state *)NULL)->source)];
	double interval_s;
	bool sls_known;
	struct events events;
	struct sample_history *past;
	char *screen; /* NULL: there is none */
	char dir[PATH_TEXT];
};

static int app_snapshot_open_in(FILE **out, const char *dir, const char *name, struct err *err)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	*out = fopen(path, "we");
	return *out ? 0 : err_set(err, -errno, "%s: %s", path, strerror(errno));
}

static int app_snapshot_closed(FILE *f, int rc, const char *dir, struct err *err)
{
	bool bad = ferror(f) != 0;

	if (fclose(f) || bad)
		return rc ? rc
			  : err_set(err, -EIO, "%s: cannot write all of it: %s", dir,
				    strerror(errno));
	return rc;
}

static int app_snapshot_save_fabric(const struct snapshot *s, const char *dir, struct err *err)
{
	FILE *f;
	int rc = app_snapshot_open_in(&f, dir, SNAPSHOT_FABRIC, err);

	return rc ? rc : app_snapshot_closed(f, ibnd_write(f, s->fabric, err), dir, err);
}

static int app_snapshot_save_jobs(const struct snapshot *s, const char *dir, struct err *err)
{
	FILE *f;
	int rc = app_snapshot_open_in(&f, dir, SNAPSHOT_JOBS, err);

	if (rc)
		return rc;
	for (uint32_t j = 0; s->jobs && j < s->jobs->njob; j++)
		fprintf(f, "%lu %s\n", (unsigned long)s->jobs->jobs[j].id, s->jobs->jobs[j].nodes);
	return app_snapshot_closed(f, 0, dir, err);
}

/* Not as text too, of which large fabrics make gigabytes: dump-lfts does that from here. */
static int app_snapshot_save_tables(const struct snapshot *s, const char *dir, struct err *err)
{
	char *path;
	FILE *f;
	int rc;

	if (!s->tables)
		return 0;
	rc = app_snapshot_open_in(&f, dir, SNAPSHOT_TABLES, err);
	if (rc)
		return rc;
	path = xasprintf("%s/%s", dir, SNAPSHOT_TABLES);
	rc = tables_ibr_write_fd(fileno(f), s->tables, path, err);
	free(path);
	return app_snapshot_closed(f, rc, dir, err);
}

/* Node names are whatever somebody typed into a node: no control characters, and UTF-8. */
static json_t *app_snapshot_text(const char *text)
{
	json_t *j = json_string(text);

	return j ? j : json_string("?");
}

static int app_snapshot_save_json(json_t *j, const char *dir, const char *name, struct err *err)
{
	FILE *f;
	int rc = app_snapshot_open_in(&f, dir, name, err);

	if (!rc) {
		json_dumpf(j, f, JSON_INDENT(1));
		fputc('\n', f);
		rc = app_snapshot_closed(f, 0, dir, err);
	}
	json_decref(j);
	return rc;
}

static int app_snapshot_save_list(const struct snapshot *s, const char *dir, struct err *err)
{
	const struct job_list *l = s->job_list;
	json_t *top, *jobs = json_array();

	if (!l) {
		json_decref(jobs);
		return 0;
	}
	for (uint32_t i = 0; i < l->njob; i++) {
		const struct job_rec *r = &l->jobs[i];
		json_t *hosts = json_array();

		for (uint32_t h = 0; h < r->nhost; h++)
			json_array_append_new(hosts, app_snapshot_text(r->hosts[h]));
		json_array_append_new(jobs, json_pack("{s:I, s:o, s:o, s:o, s:o, s:I}", "id",
						      (json_int_t)r->id, "name",
						      app_snapshot_text(r->name), "user",
						      app_snapshot_text(r->user), "nodes",
						      app_snapshot_text(r->nodes), "hosts", hosts,
						      "start_s", (json_int_t)r->start_s));
	}
	top = json_pack("{s:o, s:I, s:i, s:i, s:o}", "source", app_snapshot_text(l->source),
			"time_s", (json_int_t)l->time_s, "pending", (int)l->pending, "other",
			(int)l->other, "jobs", jobs);
	return app_snapshot_save_json(top, dir, SNAPSHOT_LIST, err);
}

static int app_snapshot_save_state(const struct snapshot *s, const char *dir, struct err *err)
{
	const struct state_sm *sm = &s->sm;
	char guid[24];
	json_t *j = json_pack("{s:s, s:o, s:I, s:o, s:f, s:b}", "schema", "ibroute-top-snapshot/1",
			      "fabric", app_snapshot_text(s->fabric->name), "time_s",
			      (json_int_t)time(NULL), "source", app_snapshot_text(s->source),
			      "interval_s", s->interval_s, "sls_known", (int)s->sls_known);

	snprintf(guid, sizeof(guid), "0x%016lx", (unsigned long)sm->guid);
	if (sm->known)
		json_object_set_new(j, "sm",
				    json_pack("{s:b, s:i, s:s, s:o, s:o, s:o, s:o}", "lost",
					      (int)sm->lost, "lid", (int)sm->lid, "guid", guid,
					      "name", app_snapshot_text(sm->name), "state",
					      app_snapshot_text(sm->state), "engine",
					      app_snapshot_text(sm->engine), "requested",
					      app_snapshot_text(sm->requested)));
	return app_snapshot_save_json(j, dir, SNAPSHOT_STATE, err);
}

static int app_snapshot_save_events(const struct snapshot *s, const char *dir, struct err *err)
{
	FILE *f;
	int rc = app_snapshot_open_in(&f, dir, SNAPSHOT_EVENTS, err);

	if (rc)
		return rc;
	for (uint32_t i = events_count(&s->events); i-- > 0;) {
		const struct log_line *l = events_get(&s->events, i);
		json_t *j =
			json_pack("{s:I, s:s, s:o, s:o}", "time_ns", (json_int_t)l->time_ns,
				  "level", log_level_name(l->level), "area",
				  app_snapshot_text(l->area), "text", app_snapshot_text(l->text));

		json_dumpf(j, f, JSON_COMPACT);
		fputc('\n', f);
		json_decref(j);
	}
	return app_snapshot_closed(f, 0, dir, err);
}

static int app_snapshot_save_past(const struct snapshot *s, const char *dir, struct err *err)
{
	struct backdrop b = { .fabric = s->fabric, .tables = s->tables, .jobs = s->jobs };
	FILE *f;
	int rc = app_snapshot_open_in(&f, dir, SNAPSHOT_HISTORY, err);

	return rc ? rc
		  : app_snapshot_closed(f, sample_history_write(f, s->past, &b, err), dir, err);
}

/* What --node-name-map has said: dumps carry NodeDescriptions only. */
static int app_snapshot_save_names(const struct snapshot *s, const char *dir, struct err *err)
{
	const struct fabric *fab = s->fabric;
	FILE *f;
	int rc = s->names ? app_snapshot_open_in(&f, dir, SNAPSHOT_NAMES, err) : 0;

	if (rc || !s->names)
		return rc;
	for (uint32_t i = 0; i < fab->nsw; i++)
		if (name_map_find(s->names, fab->sw_guid[i]))
			fprintf(f, "0x%016lx \"%s\"\n", (unsigned long)fab->sw_guid[i],
				name_map_find(s->names, fab->sw_guid[i]));
	for (uint32_t i = 0; i < fab->nend; i++)
		if (name_map_find(s->names, fab->term_node_guid[i]))
			fprintf(f, "0x%016lx \"%s\"\n", (unsigned long)fab->term_node_guid[i],
				name_map_find(s->names, fab->term_node_guid[i]));
	return app_snapshot_closed(f, 0, dir, err);
}

static int app_snapshot_save_racks(const struct snapshot *s, const char *dir, struct err *err)
{
	FILE *f;
	int rc = s->racks ? app_snapshot_open_in(&f, dir, SNAPSHOT_RACKS, err) : 0;

	if (rc || !s->racks)
		return rc;
	slurm_topology_write(f, s->racks);
	return app_snapshot_closed(f, 0, dir, err);
}

static int app_snapshot_save_screen(const struct snapshot *s, const char *dir, struct err *err)
{
	FILE *f;
	int rc = s->screen ? app_snapshot_open_in(&f, dir, "screen.txt", err) : 0;

	if (rc || !s->screen)
		return rc;
	fputs(s->screen, f);
	return app_snapshot_closed(f, 0, dir, err);
}

static int app_snapshot_save_data(const struct snapshot *s, const char *dir, struct err *err)
{
	int rc = app_snapshot_save_fabric(s, dir, err);

	if (!rc)
		rc = app_snapshot_save_tables(s, dir, err);
	if (!rc)
		rc = app_snapshot_save_jobs(s, dir, err);
	if (!rc)
		rc = app_snapshot_save_list(s, dir, err);
	if (!rc)
		rc = app_snapshot_save_state(s, dir, err);
	if (!rc)
		rc = app_snapshot_save_events(s, dir, err);
	if (!rc)
		rc = app_snapshot_save_names(s, dir, err);
	if (!rc)
		rc = app_snapshot_save_racks(s, dir, err);
	if (!rc)
		rc = app_snapshot_save_past(s, dir, err);
	return rc ? rc : app_snapshot_save_screen(s, dir, err);
}

/* What could not be finished must not look like a snapshot. */
static void app_snapshot_drop(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0); /* but . and .. */
	if (d)
		closedir(d);
	rmdir(dir);
}

/* The folder gets its name when all is in it; one of that name is left alone: its files would mix
 * with those of another snapshot. */
static int app_snapshot_write(const struct snapshot *s, struct err *err)
{
	size_t len = strlen(s->dir);
	struct stat st;
	char *part;
	int rc;

	while (len > 1 && s->dir[len - 1] == '/')
		len--;
	part = xasprintf("%.*s.part", (int)len, s->dir);
	rc = !lstat(s->dir, &st) ? -EEXIST : mkdir(part, 0755) ? -errno : 0;
	if (rc) {
		free(part);
		return err_set(err, rc, "cannot create the folder %s: %s", s->dir, strerror(-rc));
	}
	rc = app_snapshot_save_data(s, part, err);
	if (!rc && renameat2(AT_FDCWD, part, AT_FDCWD, s->dir, RENAME_NOREPLACE))
		rc = err_set(err, -errno, "cannot create the folder %s: %s", s->dir,
			     strerror(errno));
	if (rc)
		app_snapshot_drop(part);
	free(part);
	return rc;
}

static int app_snapshot_run(void *ctx, struct err *err)
{
	struct snapshot *s = ctx;

	user_path_expand(s->dir, sizeof(s->dir));
	return app_snapshot_write(s, err);
}

static void app_snapshot_free(void *ctx)
{
	struct snapshot *s = ctx;

	sample_history_free(s->past);
	job_list_put(s->job_list);
	jobset_put(s->jobs);
	tables_put(s->tables);
	fabric_put(s->fabric);
	free(s->screen);
	free(s);
}

static struct snapshot *app_snapshot_collect(struct app *a, bool screen)
{
	struct snapshot *s = xcalloc(1, sizeof(*s));

	s->fabric = fabric_get(a->state.fabric);
	s->tables = a->state.tables ? tables_get(a->state.tables) : NULL;
	s->jobs = a->state.jobs ? jobset_get(a->state.jobs) : NULL;
	s->job_list = a->job_list ? job_list_get(a->job_list) : NULL;
	s->names = a->names;
	s->racks = a->racks;
	s->sm = a->state.sm;
	memcpy(s->source, a->state.source, sizeof(s->source));
	s->interval_s = a->state.poll.interval_s;
	s->sls_known = a->state.sls_known;
	pthread_mutex_lock(&a->events_lock);
	s->events = a->events;
	pthread_mutex_unlock(&a->events_lock);
	s->past = sample_history_copy(a->samples);
	s->screen = screen ? canvas_dump(a->canvas) : NULL;
	return s;
}

static void app_snapshot_done(void *owner, void *ctx)
{
	struct app *a = owner;
	const struct snapshot *s = ctx;

	app_record_action(a, "snapshot", s->dir);
	shell_say(a->shell, "saved; show it with: ibroute-top --load %s", s->dir);
}

static void app_snapshot_failed(void *owner, void *ctx, int rc, const struct err *why)
{
	struct app *a = owner;

	(void)ctx;
	if (rc == -ECANCELED)
		shell_say(a->shell, "cancelled: nothing was saved");
	else
		app_fail(a, "snapshot", why->text);
}

static const struct file_work_ops app_snapshot_ops = {
	.what = "snapshot",
	.waited = true,
	.run = app_snapshot_run,
	.done = app_snapshot_done,
	.failed = app_snapshot_failed,
	.free = app_snapshot_free,
};

/* A name made from fabric and time, in this folder. */
static void app_snapshot_name(char *dir, size_t len, const struct fabric *f)
{
	time_t now = time(NULL);
	struct tm tm;
	char when[32];

	strftime(when, sizeof(when), "%Y%m%dT%H%M%S", localtime_r(&now, &tm));
	snprintf(dir, len, "ibroute-%s-%s", f->name, when);
	for (char *c = dir; *c; c++)
		if (*c == '/')
			*c = '_';
}

void app_snapshot(struct app *a, const char *to)
{
	struct snapshot *s;

	if (!a->state.fabric) {
		app_fail(a, "snapshot", "nothing to save yet: the fabric has not been discovered");
		return;
	}
	s = app_snapshot_collect(a, true);
	if (to[0])
		snprintf(s->dir, sizeof(s->dir), "%s", to);
	else
		app_snapshot_name(s->dir, sizeof(s->dir), a->state.fabric);
	app_files_start(a, &app_snapshot_ops, s);
}

int app_snapshot_to(struct app *a, const char *dir, struct err *err)
{
	struct snapshot *s = app_snapshot_collect(a, false);
	int rc;

	snprintf(s->dir, sizeof(s->dir), "%s", dir);
	rc = app_snapshot_write(s, err);
	app_snapshot_free(s);
	return rc;
}
