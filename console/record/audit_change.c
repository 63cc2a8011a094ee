/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/audit_report.h"

#include "console/lib/progress_line.h"
#include "console/record/record_last.h"
#include "fabric/base/file_progress.h"
#include "fabric/base/mem.h"
#include "fabric/base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct gather {
	struct audit_change *c;
	const char *id;
	VEC(json_t *) lines;
	VEC(struct report_file) files;
	int rc;
	struct err *err;
};

static const char *audit_text_of(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

/* The update a line is about; actions name it as their detail. */
static const char *audit_txn_of(const json_t *j)
{
	const json_t *data = json_object_get(j, "data");
	const char *txn = audit_text_of(data, "txn");

	if (txn[0] || strcmp(audit_text_of(j, "type"), "key.action"))
		return txn;
	return audit_text_of(data, "detail");
}

static bool audit_about(struct gather *g, const json_t *j)
{
	const char *txn = audit_txn_of(j);

	if (!txn[0] || strncmp(txn, g->id, strlen(g->id)))
		return false;
	/* details of other actions are no ids of updates */
	if (!strcmp(audit_text_of(j, "type"), "key.action") && strcmp(g->c->txn, txn))
		return false;
	if (g->c->txn[0] && strcmp(g->c->txn, txn)) {
		g->rc = err_set(g->err, -EINVAL, "%s and %s both begin with %s: say more of it",
				g->c->txn, txn, g->id);
		return false;
	}
	snprintf(g->c->txn, sizeof(g->c->txn), "%s", txn);
	return true;
}

/* What comes before an update has its id: its plan, what that means, the order to begin, and how it
 * begins.  The place among those; PENDING: none of them. */
#define PENDING 5
static int audit_pending_of(const json_t *j)
{
	const json_t *data = json_object_get(j, "data");
	const char *type = audit_text_of(j, "type");

	if (!strcmp(type, "plan.create"))
		return 0;
	if (!strcmp(type, "plan.figures"))
		return 1;
	if (!strcmp(type, "key.action") && !strcmp(audit_text_of(data, "action"), "apply.start"))
		return 2;
	if (!strcmp(type, "apply.begin"))
		return 3;
	if (!strcmp(type, "phase.begin") && !audit_txn_of(j)[0])
		return 4;
	return PENDING;
}

static void audit_one_line(struct gather *g, json_t *j, json_t **pending)
{
	int which = audit_pending_of(j);

	if (audit_about(g, j)) {
		for (int i = 0; i < PENDING; i++)
			if (pending[i])
				vec_push(&g->lines, pending[i]);
		memset(pending, 0, PENDING * sizeof(*pending));
		vec_push(&g->lines, json_incref(j));
	} else if (which < PENDING) {
		json_decref(pending[which]);
		pending[which] = json_incref(j);
	}
}

static void audit_one_file(struct gather *g, const char *path)
{
	FILE *f = fopen(path, "re");
	json_t *pending[PENDING] = { NULL };
	char *line = NULL;
	size_t cap = 0, before = g->lines.n;
	struct file_pace pace = { 0 };
	struct progress_line watch;
	ssize_t len;

	if (!f && !g->rc)
		g->rc = err_set(g->err, -errno, "%s: cannot open: %s", path, strerror(errno));
	progress_line_files(&watch);
	while (f && !g->rc && (len = getline(&line, &cap, f)) > 0) {
		json_t *j = json_loads(line, 0, NULL);

		if (j)
			audit_one_line(g, j, pending);
		json_decref(j);
		file_progress_read(&pace, f, (size_t)len);
	}
	progress_line_files_end(&watch);
	for (int i = 0; i < PENDING; i++)
		json_decref(pending[i]);
	if (g->lines.n > before) {
		struct report_file rf = { .path = xstrdup(path) };

		if (audit_verify(&rf.verdict, path, NULL, NULL))
			rf.verdict.ok = false;
		vec_push(&g->files, rf);
	}
	free(line);
	if (f)
		fclose(f);
}

static void audit_one_name(struct gather *g, const char *name)
{
	struct stat st;
	uint32_t n;
	char **files;

	if (stat(name, &st) || !S_ISDIR(st.st_mode)) {
		audit_one_file(g, name);
		return;
	}
	files = record_files(name, &n);
	for (uint32_t i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", name, files[i]);

		if (!g->rc)
			audit_one_file(g, path);
		free(path);
		free(files[i]);
	}
	free(files);
}

static int audit_by_time(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	int by_ts = strcmp(audit_text_of(x, "ts"), audit_text_of(y, "ts"));
	json_int_t sx = json_integer_value(json_object_get(x, "seq"));
	json_int_t sy = json_integer_value(json_object_get(y, "seq"));

	return by_ts ? by_ts : (sx > sy) - (sx < sy);
}

int audit_change_read(struct audit_change *out, const char *id, char *const *names, int n,
		      struct err *err)
{
	struct gather g = { .c = out, .id = id, .err = err };

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < n && !g.rc; i++)
		audit_one_name(&g, names[i]);
	if (!g.rc && !g.lines.n)
		g.rc = err_set(err, -ENOENT, "no record tells of an update %s", id);
	if (g.lines.n)
		qsort(g.lines.v, g.lines.n, sizeof(*g.lines.v), audit_by_time);
	out->line = g.lines.v;
	out->n = (uint32_t)g.lines.n;
	out->file = g.files.v;
	out->nfiles = (uint32_t)g.files.n;
	for (uint32_t i = 0; i < out->n; i++) {
		json_t *data = json_object_get(out->line[i], "data");

		if (!strcmp(audit_text_of(out->line[i], "type"), "plan.create"))
			out->plan = data;
		if (!strcmp(audit_text_of(out->line[i], "type"), "plan.figures"))
			out->figures = data;
	}
	if (g.rc)
		audit_change_free(out);
	return g.rc;
}

void audit_change_free(struct audit_change *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		json_decref(c->line[i]);
	for (uint32_t i = 0; i < c->nfiles; i++)
		free(c->file[i].path);
	free(c->line);
	free(c->file);
	memset(c, 0, sizeof(*c));
}
