/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/session_read.h"

#include "console/record/audit.h"
#include "console/record/record.h"
#include "fabric/base/file_progress.h"
#include "fabric/base/mem.h"
#include "fabric/base/vec.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void session_read_take_report(struct session_row *row, const char *file,
				     const struct audit_report *r)
{
	snprintf(row->file, sizeof(row->file), "%s", file);
	snprintf(row->sid, sizeof(row->sid), "%s", r->sid[0] ? r->sid : file);
	snprintf(row->start, sizeof(row->start), "%s", r->start);
	snprintf(row->end, sizeof(row->end), "%s", r->end);
	snprintf(row->fabric, sizeof(row->fabric), "%s", r->fabric);
	snprintf(row->mode, sizeof(row->mode), "%s", r->mode);
	snprintf(row->what, sizeof(row->what), "%s", r->what);
	digest_hex(row->head, &r->head);
	row->part = r->part;
	row->uid = r->uid;
	row->updates = r->updates;
	row->lines = r->lines;
	row->gaps = r->gaps;
	row->bytes = r->bytes + r->cast_bytes;
	row->open_end = !r->ended && !r->rotated;
	row->ok = r->ok;
	row->screen = r->cast == AUDIT_CAST_GOOD;
	row->epoch = r->epoch;
}

/* Of many files one after the other, told to outer as one. */
struct span {
	struct progress progress;
	struct progress *outer;
	uint64_t before, of, all; /* bytes: of those done, of this one, together */
};

static void session_read_span_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct span *s = ctx;
	uint64_t here = total ? (uint64_t)((double)done / (double)total * (double)s->of) : 0;

	if (progress_step(s->outer, step, s->before + here, s->all))
		atomic_store(&s->progress.cancel, true);
}

static uint64_t session_read_size_of(const char *dir, const char *file)
{
	char *path = xasprintf("%s/%s", dir, file);
	struct stat st;
	uint64_t size = stat(path, &st) ? 0 : (uint64_t)st.st_size;

	free(path);
	return size;
}

static void session_read_span_begin(struct span *s, const char *dir, char **files, uint32_t n)
{
	*s = (struct span){ .outer = file_progress(), .progress.report = session_read_span_report };
	s->progress.ctx = s;
	atomic_init(&s->progress.cancel, false);
	for (uint32_t i = 0; i < n; i++)
		s->all += session_read_size_of(dir, files[i]);
	file_progress_set(&s->progress);
}

static void session_read_rows(struct sessions *s, session_stop_fn *stop, void *arg)
{
	uint32_t n;
	char **files = record_files(s->dir, &n);
	struct span span;

	session_read_span_begin(&span, s->dir, files, n);
	s->row = xcalloc(n ? n : 1, sizeof(*s->row));
	for (uint32_t i = n; i--;) {
		char *path = xasprintf("%s/%s", s->dir, files[i]);
		struct audit_report r = { 0 };
		struct err err = { "" };
		int rc;

		span.of = session_read_size_of(s->dir, files[i]);
		rc = stop && stop(arg) ? -ECANCELED : audit_verify(&r, path, NULL, &err);
		span.before += span.of;
		if (rc)
			snprintf(r.what, sizeof(r.what), "%.255s", err.text);
		if (rc != -ECANCELED)
			session_read_take_report(&s->row[s->nrow++], files[i], &r);
		free(path);
		free(files[i]);
	}
	free(files);
	file_progress_set(span.outer);
}

static const char *session_read_text_of(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

/* What a line says, in a few words. */
static void session_read_take_action(struct session_action *a, const json_t *j)
{
	const json_t *data = json_object_get(j, "data");
	const char *ts = session_read_text_of(j, "ts"), *type = session_read_text_of(j, "type");

	memset(a, 0, sizeof(*a));
	a->seq = (uint64_t)json_integer_value(json_object_get(j, "seq"));
	snprintf(a->time, sizeof(a->time), "%.8s", strlen(ts) > 19 ? ts + 11 : ts);
	snprintf(a->what, sizeof(a->what), "%s", type);
	a->loud = !strncmp(type, "rollback", 8) || !strcmp(type, "record.gap") ||
		  !strcmp(type, "error") || json_integer_value(json_object_get(data, "status"));
	if (!strcmp(type, "key.action"))
		snprintf(a->text, sizeof(a->text), "%.60s %.120s",
			 session_read_text_of(data, "action"),
			 session_read_text_of(data, "detail"));
	else if (json_object_get(data, "phase"))
		snprintf(a->text, sizeof(a->text), "%.20s %.160s",
			 session_read_text_of(data, "phase"), session_read_text_of(data, "text"));
	else if (session_read_text_of(data, "text")[0])
		snprintf(a->text, sizeof(a->text), "%.199s", session_read_text_of(data, "text"));
	else if (json_object_get(data, "engine"))
		snprintf(a->text, sizeof(a->text), "%.16s %.16s %.140s",
			 session_read_text_of(data, "plan"), session_read_text_of(data, "engine"),
			 session_read_text_of(data, "params"));
	else if (!strcmp(type, "apply.begin"))
		snprintf(a->text, sizeof(a->text),
			 "%.16s: %" JSON_INTEGER_FORMAT " blocks, %" JSON_INTEGER_FORMAT " tables",
			 session_read_text_of(data, "plan"),
			 json_integer_value(json_object_get(data, "lft_blocks")),
			 json_integer_value(json_object_get(data, "sl2vl_tables")));
	else if (json_object_get(data, "fabric"))
		snprintf(a->text, sizeof(a->text), "fabric %.64s on %.64s",
			 session_read_text_of(data, "fabric"), session_read_text_of(data, "host"));
	else
		snprintf(a->text, sizeof(a->text), "%.64s %.64s", session_read_text_of(data, "txn"),
			 session_read_text_of(data, "outcome"));
}

static void session_read_take_actions(struct sessions *s, FILE *f)
{
	VEC(struct session_action) v = { 0 };
	struct file_pace pace = { 0 };
	char *line = NULL;
	size_t cap = 0;
	ssize_t got;

	while ((got = getline(&line, &cap, f)) > 0) {
		json_t *j = json_loads(line, 0, NULL);
		struct session_action a;

		if (j) {
			session_read_take_action(&a, j);
			vec_push(&v, a);
		}
		json_decref(j);
		if (file_progress_read(&pace, f, (size_t)got)) {
			snprintf(s->why, sizeof(s->why), "reading it was stopped");
			break;
		}
	}
	s->action = v.v;
	s->naction = (uint32_t)v.n;
	free(line);
}

static void session_read_actions(struct sessions *s)
{
	char *path = xasprintf("%s/%s", s->dir, s->opened);
	FILE *f = fopen(path, "re");

	if (f)
		session_read_take_actions(s, f);
	else
		snprintf(s->why, sizeof(s->why), "%.200s cannot be opened", path);
	if (f)
		fclose(f);
	free(path);
}

static void session_read_take_rows(struct sessions *s, const struct sessions *known)
{
	s->nrow = known->nrow;
	s->row = xcalloc(s->nrow ? s->nrow : 1, sizeof(*s->row));
	if (s->nrow)
		memcpy(s->row, known->row, s->nrow * sizeof(*s->row));
}

struct sessions *session_read(const char *dir, const char *open, const struct sessions *known,
			      session_stop_fn *stop, void *arg)
{
	struct sessions *s = xcalloc(1, sizeof(*s));

	snprintf(s->dir, sizeof(s->dir), "%s", dir);
	snprintf(s->opened, sizeof(s->opened), "%s", open);
	if (known)
		session_read_take_rows(s, known);
	else
		session_read_rows(s, stop, arg);
	if (s->opened[0])
		session_read_actions(s);
	return s;
}
