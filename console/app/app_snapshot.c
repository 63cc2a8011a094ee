/* SPDX-License-Identifier: GPL-2.0-or-later */
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
			  : err_set(err, -EIO, "%s: not all could be written: %s", dir,
				    strerror(errno));
	return rc;
}

static int app_snapshot_save_fabric(const struct app *a, const char *dir, struct err *err)
{
	FILE *f;
	int rc = app_snapshot_open_in(&f, dir, SNAPSHOT_FABRIC, err);

	return rc ? rc : app_snapshot_closed(f, ibnd_write(f, a->fabric, err), dir, err);
}

static int app_snapshot_save_jobs(const struct app *a, const char *dir, struct err *err)
{
	FILE *f;
	int rc = app_snapshot_open_in(&f, dir, SNAPSHOT_JOBS, err);

	if (rc)
		return rc;
	for (uint32_t j = 0; a->jobs && j < a->jobs->njob; j++)
		fprintf(f, "%lu %s\n", (unsigned long)a->jobs->jobs[j].id, a->jobs->jobs[j].nodes);
	return app_snapshot_closed(f, 0, dir, err);
}

/* Not as text too, of which large fabrics make gigabytes: dump-lfts does that from here. */
static int app_snapshot_save_tables(const struct app *a, const char *dir, struct err *err)
{
	char *path;
	FILE *f;
	int rc;

	if (!a->tables)
		return 0;
	rc = app_snapshot_open_in(&f, dir, SNAPSHOT_TABLES, err);
	if (rc)
		return rc;
	path = xasprintf("%s/%s", dir, SNAPSHOT_TABLES);
	rc = tables_ibr_write_fd(fileno(f), a->tables, path, err);
	free(path);
	return app_snapshot_closed(f, rc, dir, err);
}

/* Node names are whatever somebody typed into a node: no control characters, and UTF-8. */
static json_t *app_snapshot_text(const char *s)
{
	json_t *j = json_string(s);

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

static int app_snapshot_save_list(const struct app *a, const char *dir, struct err *err)
{
	const struct job_list *l = a->job_list;
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

static int app_snapshot_save_state(const struct app *a, const char *dir, struct err *err)
{
	const struct state_sm *sm = &a->state.sm;
	char guid[24];
	json_t *j = json_pack("{s:s, s:o, s:I, s:o, s:f, s:b}", "schema", "ibroute-top-snapshot/1",
			      "fabric", app_snapshot_text(a->fabric->name), "time_s",
			      (json_int_t)time(NULL), "source", app_snapshot_text(a->state.source),
			      "interval_s", a->state.poll.interval_s, "sls_known",
			      (int)a->state.sls_known);

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

static int app_snapshot_save_events(struct app *a, const char *dir, struct err *err)
{
	FILE *f;
	int rc = app_snapshot_open_in(&f, dir, SNAPSHOT_EVENTS, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&a->events_lock);
	for (uint32_t i = events_count(&a->events); i-- > 0;) {
		const struct log_line *l = events_get(&a->events, i);
		json_t *j =
			json_pack("{s:I, s:s, s:o, s:o}", "time_ns", (json_int_t)l->time_ns,
				  "level", log_level_name(l->level), "area",
				  app_snapshot_text(l->area), "text", app_snapshot_text(l->text));

		json_dumpf(j, f, JSON_COMPACT);
		fputc('\n', f);
		json_decref(j);
	}
	pthread_mutex_unlock(&a->events_lock);
	return app_snapshot_closed(f, 0, dir, err);
}

static int app_snapshot_save_past(struct app *a, const char *dir, struct err *err)
{
	struct backdrop b = { .fabric = a->fabric, .tables = a->tables, .jobs = a->jobs };
	FILE *f;
	int rc = app_snapshot_open_in(&f, dir, SNAPSHOT_PAST, err);

	return rc ? rc
		  : app_snapshot_closed(f, sample_history_write(f, a->past, &b, err), dir, err);
}

/* What --node-name-map has said: dumps carry NodeDescriptions only. */
static int app_snapshot_save_names(const struct app *a, const char *dir, struct err *err)
{
	const struct fabric *fab = a->fabric;
	FILE *f;
	int rc = a->names ? app_snapshot_open_in(&f, dir, SNAPSHOT_NAMES, err) : 0;

	if (rc || !a->names)
		return rc;
	for (uint32_t i = 0; i < fab->nsw; i++)
		if (name_map_find(a->names, fab->sw_guid[i]))
			fprintf(f, "0x%016lx \"%s\"\n", (unsigned long)fab->sw_guid[i],
				name_map_find(a->names, fab->sw_guid[i]));
	for (uint32_t i = 0; i < fab->nend; i++)
		if (name_map_find(a->names, fab->term_node_guid[i]))
			fprintf(f, "0x%016lx \"%s\"\n", (unsigned long)fab->term_node_guid[i],
				name_map_find(a->names, fab->term_node_guid[i]));
	return app_snapshot_closed(f, 0, dir, err);
}

static int app_snapshot_save_racks(const struct app *a, const char *dir, struct err *err)
{
	FILE *f;
	int rc = a->racks ? app_snapshot_open_in(&f, dir, SNAPSHOT_RACKS, err) : 0;

	if (rc || !a->racks)
		return rc;
	slurm_topology_write(f, a->racks);
	return app_snapshot_closed(f, 0, dir, err);
}

static int app_snapshot_save_screen(const struct app *a, const char *dir, struct err *err)
{
	char *text = canvas_dump(a->canvas);
	FILE *f;
	int rc = app_snapshot_open_in(&f, dir, "screen.txt", err);

	if (!rc) {
		fputs(text, f);
		rc = app_snapshot_closed(f, 0, dir, err);
	}
	free(text);
	return rc;
}

static int app_snapshot_save_data(struct app *a, const char *dir, struct err *err)
{
	int rc = app_snapshot_save_fabric(a, dir, err);

	if (!rc)
		rc = app_snapshot_save_tables(a, dir, err);
	if (!rc)
		rc = app_snapshot_save_jobs(a, dir, err);
	if (!rc)
		rc = app_snapshot_save_list(a, dir, err);
	if (!rc)
		rc = app_snapshot_save_state(a, dir, err);
	if (!rc)
		rc = app_snapshot_save_events(a, dir, err);
	if (!rc)
		rc = app_snapshot_save_names(a, dir, err);
	if (!rc)
		rc = app_snapshot_save_racks(a, dir, err);
	return rc ? rc : app_snapshot_save_past(a, dir, err);
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
static int app_snapshot_save_whole(struct app *a, const char *dir, bool screen, struct err *err)
{
	size_t len = strlen(dir);
	struct stat st;
	char *part;
	int rc;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	part = xasprintf("%.*s.part", (int)len, dir);
	rc = !lstat(dir, &st) ? -EEXIST : mkdir(part, 0755) ? -errno : 0;
	if (rc) {
		free(part);
		return err_set(err, rc, "cannot create the folder %s: %s", dir, strerror(-rc));
	}
	rc = app_snapshot_save_data(a, part, err);
	if (!rc && screen)
		rc = app_snapshot_save_screen(a, part, err);
	if (!rc && renameat2(AT_FDCWD, part, AT_FDCWD, dir, RENAME_NOREPLACE))
		rc = err_set(err, -errno, "cannot create the folder %s: %s", dir, strerror(errno));
	if (rc)
		app_snapshot_drop(part);
	free(part);
	return rc;
}

int app_snapshot(struct app *a, const char *to, char *dir, size_t len, struct err *err)
{
	time_t now = time(NULL);
	struct tm tm;
	char when[32];

	if (!a->fabric)
		return err_set(err, -EAGAIN,
			       "there is nothing to save yet: the fabric is not known");
	strftime(when, sizeof(when), "%Y%m%dT%H%M%S", localtime_r(&now, &tm));
	snprintf(dir, len, "ibroute-%s-%s", a->fabric->name, when);
	for (char *c = dir; *c; c++)
		if (*c == '/')
			*c = '_';
	if (to[0]) {
		snprintf(dir, len, "%s", to);
		user_path_expand(dir, len);
	}
	return app_snapshot_save_whole(a, dir, true, err);
}

int app_snapshot_to(struct app *a, const char *dir, struct err *err)
{
	return app_snapshot_save_whole(a, dir, false, err);
}
