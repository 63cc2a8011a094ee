/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots: all that is known, collected by the thread that draws, and written by one of its own.
 */
#include "console/app/app_priv.h"

#include "console/config/user_path.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/stamp.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/format/slurm/slurm_topology.h"
#include "fabric/format/slurm/slurm_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stddef.h>
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

/* A file of the folder that is being written. */
struct snapshot_out {
	FILE *f;
	const struct snapshot *s;
	const char *path;
	struct err *err;
};

static int app_snapshot_put_fabric(const struct snapshot_out *o)
{
	return ibnd_write(o->f, o->s->fabric, o->err);
}

static int app_snapshot_put_jobs(const struct snapshot_out *o)
{
	for (uint32_t j = 0; o->s->jobs && j < o->s->jobs->njob; j++)
		fprintf(o->f, "%lu %s\n", (unsigned long)o->s->jobs->jobs[j].id,
			o->s->jobs->jobs[j].nodes);
	return 0;
}

/* Not as text too, of which large fabrics make gigabytes: dump-lfts does that from here. */
static int app_snapshot_put_tables(const struct snapshot_out *o)
{
	return tables_ibr_write_fd(fileno(o->f), o->s->tables, o->s->fabric, o->path, o->err);
}

static int app_snapshot_put_json(FILE *f, json_t *j, size_t flags)
{
	json_dumpf(j, f, flags);
	fputc('\n', f);
	json_decref(j);
	return 0;
}

static json_t *app_snapshot_job(const struct job_rec *r)
{
	json_t *hosts = json_array(), *j;

	for (uint32_t h = 0; h < r->nhost; h++)
		json_array_append_new(hosts, json_text(r->hosts[h]));
	j = json_pack("{s:I, s:o, s:o, s:o, s:o, s:I}", "id", (json_int_t)r->id, "name",
		      json_text(r->name), "user", json_text(r->user), "nodes", json_text(r->nodes),
		      "hosts", hosts, "start_s", (json_int_t)r->start_s);
	for (int a = 0; j && a < JOB_ATTRS; a++)
		if (r->attr[a][0])
			json_object_set_new(j, job_attr_key((enum job_attr)a),
					    json_text(r->attr[a]));
	return j;
}

static int app_snapshot_put_list(const struct snapshot_out *o)
{
	const struct job_list *l = o->s->job_list;
	json_t *jobs = json_array();

	for (uint32_t i = 0; i < l->njob; i++)
		json_array_append_new(jobs, app_snapshot_job(&l->jobs[i]));
	return app_snapshot_put_json(o->f,
				     json_pack("{s:o, s:I, s:i, s:i, s:o}", "source",
					       json_text(l->source), "time_s",
					       (json_int_t)l->time_s, "pending", (int)l->pending,
					       "other", (int)l->other, "jobs", jobs),
				     JSON_INDENT(1));
}

static int app_snapshot_put_state(const struct snapshot_out *o)
{
	const struct state_sm *sm = &o->s->sm;
	char guid[24];
	json_t *j = json_pack("{s:s, s:o, s:I, s:o, s:f, s:b}", "schema", "ibroute-top-snapshot/1",
			      "fabric", json_text(o->s->fabric->name), "time_s",
			      (json_int_t)time(NULL), "source", json_text(o->s->source),
			      "interval_s", o->s->interval_s, "sls_known", (int)o->s->sls_known);

	snprintf(guid, sizeof(guid), "0x%016lx", (unsigned long)sm->guid);
	if (sm->known)
		json_object_set_new(j, "sm",
				    json_pack("{s:b, s:i, s:s, s:o, s:o, s:o, s:o, s:o}", "lost",
					      (int)sm->lost, "lid", (int)sm->lid, "guid", guid,
					      "name", json_text(sm->name), "state",
					      json_text(sm->state), "engine", json_text(sm->engine),
					      "requested", json_text(sm->requested),
					      "adaptive_routing", json_text(sm->adaptive)));
	return app_snapshot_put_json(o->f, j, JSON_INDENT(1));
}

static int app_snapshot_put_events(const struct snapshot_out *o)
{
	for (uint32_t i = events_count(&o->s->events); i-- > 0;) {
		const struct log_line *l = events_get(&o->s->events, i);

		app_snapshot_put_json(o->f,
				      json_pack("{s:I, s:s, s:o, s:o}", "time_ns",
						(json_int_t)l->time_ns, "level",
						log_level_name(l->level), "area",
						json_text(l->area), "text", json_text(l->text)),
				      JSON_COMPACT);
	}
	return 0;
}

static int app_snapshot_put_past(const struct snapshot_out *o)
{
	struct backdrop b = { .fabric = o->s->fabric, .tables = o->s->tables, .jobs = o->s->jobs };

	return sample_history_write(o->f, o->s->past, &b, o->err);
}

static void app_snapshot_put_name(FILE *f, const struct name_map *names, uint64_t guid)
{
	const char *name = name_map_find(names, guid);

	if (name)
		fprintf(f, "0x%016lx \"%s\"\n", (unsigned long)guid, name);
}

/* What --node-name-map has said: dumps carry NodeDescriptions only. */
static int app_snapshot_put_names(const struct snapshot_out *o)
{
	for (uint32_t i = 0; i < o->s->fabric->nsw; i++)
		app_snapshot_put_name(o->f, o->s->names, o->s->fabric->sw_guid[i]);
	for (uint32_t i = 0; i < o->s->fabric->nend; i++)
		app_snapshot_put_name(o->f, o->s->names, o->s->fabric->term_node_guid[i]);
	return 0;
}

static int app_snapshot_put_racks(const struct snapshot_out *o)
{
	slurm_topology_write(o->f, o->s->racks);
	return 0;
}

static int app_snapshot_put_screen(const struct snapshot_out *o)
{
	fputs(o->s->screen, o->f);
	return 0;
}

static const struct snapshot_file {
	const char *name;
	int (*put)(const struct snapshot_out *o); /* 0, or -errno with a sentence */
	size_t of; /* the pointer in struct snapshot without which there is no such file */
} snapshot_files[] = {
#define FILE_OF(name, put, of)                                                                     \
	{                                                                                          \
		name, app_snapshot_put_##put, offsetof(struct snapshot, of)                        \
	}
	FILE_OF(SNAPSHOT_FABRIC, fabric, fabric), FILE_OF(SNAPSHOT_TABLES, tables, tables),
	FILE_OF(SNAPSHOT_JOBS, jobs, fabric),	  FILE_OF(SNAPSHOT_LIST, list, job_list),
	FILE_OF(SNAPSHOT_STATE, state, fabric),	  FILE_OF(SNAPSHOT_EVENTS, events, fabric),
	FILE_OF(SNAPSHOT_NAMES, names, names),	  FILE_OF(SNAPSHOT_RACKS, racks, racks),
	FILE_OF(SNAPSHOT_HISTORY, past, past),	  FILE_OF("screen.txt", screen, screen),
};

static int app_snapshot_save(const struct snapshot_file *file, const struct snapshot *s,
			     const char *dir, struct err *err)
{
	char *path = xasprintf("%s/%s", dir, file->name);
	struct snapshot_out o = { fopen(path, "we"), s, path, err };
	bool bad;
	int rc;

	if (o.f) {
		rc = file->put(&o);
		bad = ferror(o.f) != 0;
		if ((fclose(o.f) || bad) && !rc)
			rc = err_set(err, -EIO, "%s: cannot write all of it: %s", dir,
				     strerror(errno));
	} else {
		rc = err_set(err, -errno, "%s: %s", path, strerror(errno));
	}
	free(path);
	return rc;
}

static int app_snapshot_save_data(const struct snapshot *s, const char *dir, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(snapshot_files) / sizeof(*snapshot_files); i++)
		if (*(void *const *)((const char *)s + snapshot_files[i].of))
			rc = app_snapshot_save(&snapshot_files[i], s, dir, err);
	return rc;
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
	char when[STAMP_LEN];

	stamp_local(when, sizeof(when), "%Y%m%dT%H%M%S", time(NULL));
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
