/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/audit/session_read.h"

#include "console/record/audit/audit.h"
#include "console/record/record_files.h"
#include "console/record/record_read.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/text/json_text.h"

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

/* Progress over several files, reported as one. */
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

static uint64_t session_read_size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

static void session_read_span_begin(struct span *s, const struct record_files *files)
{
	*s = (struct span){ .outer = file_progress(), .progress.report = session_read_span_report };
	s->progress.ctx = s;
	atomic_init(&s->progress.cancel, false);
	for (size_t i = 0; i < files->n; i++)
		s->all += session_read_size_of(files->v[i]);
	file_progress_set(&s->progress);
}

static void session_read_rows(struct sessions *s, session_stop_fn *stop, void *arg)
{
	struct audit_opts opts = { 0 };
	struct audit_dir *index = audit_dir_read(s->dir);
	struct record_files files;
	struct span span;

	opts.dir = index;
	record_files_list(&files, s->dir);
	session_read_span_begin(&span, &files);
	s->row = xcalloc(files.n ? files.n : 1, sizeof(*s->row));
	for (size_t i = files.n; i-- && !(stop && stop(arg));) {
		const char *path = files.v[i];
		struct audit_report r = { 0 };
		struct err err = { "" };
		int rc;

		span.of = session_read_size_of(path);
		rc = audit_verify(&r, path, &opts, &err);
		span.before += span.of;
		if (rc)
			snprintf(r.what, sizeof(r.what), "%.255s", err.text);
		if (rc != -ECANCELED)
			session_read_take_report(&s->row[s->nrow++], strrchr(path, '/') + 1, &r);
	}
	record_files_free(&files);
	audit_dir_free(index);
	file_progress_set(span.outer);
}

/* An entry in a few words. */
static void session_read_take_action(struct session_action *a, const json_t *j)
{
	const json_t *data = json_object_get(j, "data");
	const char *ts = json_string_at(j, "ts"), *type = json_string_at(j, "type");

	memset(a, 0, sizeof(*a));
	a->seq = (uint64_t)json_integer_at(j, "seq");
	snprintf(a->time, sizeof(a->time), "%.8s", strlen(ts) > 19 ? ts + 11 : ts);
	snprintf(a->what, sizeof(a->what), "%s", type);
	a->loud = !strncmp(type, "rollback", 8) || !strcmp(type, "record.gap") ||
		  !strcmp(type, "error") || json_integer_at(data, "status");
	if (!strcmp(type, "key.action"))
		snprintf(a->text, sizeof(a->text), "%.60s %.120s", json_string_at(data, "action"),
			 json_string_at(data, "detail"));
	else if (json_object_get(data, "phase"))
		snprintf(a->text, sizeof(a->text), "%.20s %.160s", json_string_at(data, "phase"),
			 json_string_at(data, "text"));
	else if (json_string_at(data, "text")[0])
		snprintf(a->text, sizeof(a->text), "%.199s", json_string_at(data, "text"));
	else if (json_object_get(data, "engine"))
		snprintf(a->text, sizeof(a->text), "%.16s %.16s %.140s",
			 json_string_at(data, "plan"), json_string_at(data, "engine"),
			 json_string_at(data, "params"));
	else if (!strcmp(type, "apply.begin"))
		snprintf(a->text, sizeof(a->text),
			 "%.16s: %" JSON_INTEGER_FORMAT " blocks, %" JSON_INTEGER_FORMAT
			 " SL2VL tables",
			 json_string_at(data, "plan"), json_integer_at(data, "lft_blocks"),
			 json_integer_at(data, "sl2vl_tables"));
	else if (json_object_get(data, "fabric"))
		snprintf(a->text, sizeof(a->text), "fabric %.64s on %.64s",
			 json_string_at(data, "fabric"), json_string_at(data, "host"));
	else
		snprintf(a->text, sizeof(a->text), "%.64s %.64s", json_string_at(data, "txn"),
			 json_string_at(data, "outcome"));
}

struct actions {
	VEC(struct session_action) list;
};

static bool session_read_line(void *ctx, json_t *line)
{
	struct actions *actions = ctx;
	struct session_action a;

	session_read_take_action(&a, line);
	plain_text(a.text, ""); /* what was cut within a character */
	vec_push(&actions->list, a);
	return true;
}

static void session_read_actions(struct sessions *s)
{
	char *path = xasprintf("%s/%s", s->dir, s->opened);
	struct actions actions = { 0 };
	int rc = record_lines(path, session_read_line, &actions, NULL);

	if (rc == -ECANCELED)
		snprintf(s->why, sizeof(s->why), "reading it was stopped");
	else if (rc)
		snprintf(s->why, sizeof(s->why), "%.200s cannot be opened", path);
	s->action = actions.list.v;
	s->naction = (uint32_t)actions.list.n;
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
