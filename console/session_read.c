/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session_read.h"

#include "console/audit.h"
#include "console/record_last.h"
#include "fabric/base/mem.h"
#include "fabric/base/vec.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_report(struct session_row *row, const char *file, const struct audit_report *r)
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

static void read_rows(struct sessions *s, session_stop_fn *stop, void *arg)
{
	uint32_t n;
	char **files = record_files(s->dir, &n);

	s->row = xcalloc(n ? n : 1, sizeof(*s->row));
	for (uint32_t i = n; i--;) {
		char *path = xasprintf("%s/%s", s->dir, files[i]);
		struct audit_report r = { 0 };
		struct err err = { "" };
		int rc = stop && stop(arg) ? -ECANCELED : audit_verify(&r, path, NULL, &err);

		if (rc)
			snprintf(r.what, sizeof(r.what), "%.255s", err.text);
		if (rc != -ECANCELED)
			take_report(&s->row[s->nrow++], files[i], &r);
		free(path);
		free(files[i]);
	}
	free(files);
}

static const char *text_of(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

/* What a line says, in a few words. */
static void take_action(struct session_action *a, const json_t *j)
{
	const json_t *data = json_object_get(j, "data");
	const char *ts = text_of(j, "ts"), *type = text_of(j, "type");

	memset(a, 0, sizeof(*a));
	a->seq = (uint64_t)json_integer_value(json_object_get(j, "seq"));
	snprintf(a->time, sizeof(a->time), "%.8s", strlen(ts) > 19 ? ts + 11 : ts);
	snprintf(a->what, sizeof(a->what), "%s", type);
	a->loud = !strncmp(type, "rollback", 8) || !strcmp(type, "record.gap") ||
		  json_integer_value(json_object_get(data, "status"));
	if (!strcmp(type, "key.action"))
		snprintf(a->text, sizeof(a->text), "%.60s %.120s", text_of(data, "action"),
			 text_of(data, "detail"));
	else if (json_object_get(data, "phase"))
		snprintf(a->text, sizeof(a->text), "%.20s %.160s", text_of(data, "phase"),
			 text_of(data, "text"));
	else if (text_of(data, "text")[0])
		snprintf(a->text, sizeof(a->text), "%.199s", text_of(data, "text"));
	else if (json_object_get(data, "engine"))
		snprintf(a->text, sizeof(a->text), "%.16s %.16s %.140s", text_of(data, "plan"),
			 text_of(data, "engine"), text_of(data, "params"));
	else if (json_object_get(data, "fabric"))
		snprintf(a->text, sizeof(a->text), "fabric %.64s on %.64s", text_of(data, "fabric"),
			 text_of(data, "host"));
	else
		snprintf(a->text, sizeof(a->text), "%.64s %.64s", text_of(data, "txn"),
			 text_of(data, "outcome"));
}

static void read_actions(struct sessions *s)
{
	char *path = xasprintf("%s/%s", s->dir, s->opened), *line = NULL;
	VEC(struct session_action) v = { 0 };
	FILE *f = fopen(path, "re");
	size_t cap = 0;

	if (!f)
		snprintf(s->why, sizeof(s->why), "%.200s cannot be opened", path);
	while (f && getline(&line, &cap, f) > 0) {
		json_t *j = json_loads(line, 0, NULL);
		struct session_action a;

		if (j) {
			take_action(&a, j);
			vec_push(&v, a);
		}
		json_decref(j);
	}
	s->action = v.v;
	s->naction = (uint32_t)v.n;
	free(line);
	if (f)
		fclose(f);
	free(path);
}

struct sessions *session_read(const char *dir, const char *open, session_stop_fn *stop, void *arg)
{
	struct sessions *s = xcalloc(1, sizeof(*s));

	snprintf(s->dir, sizeof(s->dir), "%s", dir);
	snprintf(s->opened, sizeof(s->opened), "%s", open);
	read_rows(s, stop, arg);
	if (s->opened[0])
		read_actions(s);
	return s;
}
