/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --view sessions and actions. */
#include "console/batch/batch.h"

#include "console/batch/batch_record.h"

#include "console/config/exits.h"
#include "console/record/audit/session_read.h"
#include "console/record/record_files.h"
#include "fabric/base/process/confine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file of a session by a prefix of its name; sid NULL: the newest. */
static int batch_sessions_find_file(char out[80], const struct sessions *s, const char *sid,
				    struct err *err)
{
	size_t len = strlen(sid ? sid : "");

	for (uint32_t i = 0; i < s->nrow; i++)
		if (!strncmp(s->row[i].file, sid ? sid : "", len)) {
			snprintf(out, 80, "%s", s->row[i].file);
			return 0;
		}
	return err_set(err, -ENOENT, "no session%s%s in %s; --view sessions lists them",
		       sid ? " " : "", sid ? sid : "", s->dir);
}

static int batch_sessions_open_records(struct sessions **out, const struct batch_opts *o,
				       const char *dir, struct err *err)
{
	struct sessions *s;
	char file[80];
	int rc;

	if (access(dir, R_OK | X_OK))
		return err_set(err, -errno, "%s: cannot read the records: %s", dir,
			       strerror(errno));
	s = session_read(dir, "", NULL, NULL, NULL);
	if (o->kind == ROWS_ACTIONS) {
		rc = batch_sessions_find_file(file, s, o->session, err);
		sessions_free(s);
		if (rc)
			return rc;
		s = session_read(dir, file, NULL, NULL, NULL);
		if (s->why[0]) {
			rc = err_set(err, -EIO, "%s", s->why);
			sessions_free(s);
			return rc;
		}
	}
	*out = s;
	return 0;
}

static uint64_t batch_sessions_count_findings(const struct batch_record *r)
{
	const struct sessions *s = r->s->sessions;
	uint64_t n = 0;

	if (r->o->filter)
		return r->rows->n;
	for (uint32_t i = 0; i < s->nrow; i++)
		n += !s->row[i].ok;
	return n;
}

static int batch_sessions_print(const struct batch_record *r, struct err *err)
{
	size_t len;
	char *text = batch_record_text(r, &len);
	int rc = batch_record_write(text, len, err);

	free(text);
	return rc;
}

int batch_sessions(const struct batch_opts *o, const char *record)
{
	const char *dir = record_dir(record);
	struct row_order order = { 0 };
	struct fabric_summary v = { 0 };
	struct state s;
	struct sessions *all = NULL;
	struct err err = { "" };
	struct batch_record r = { .s = &s, .v = &v, .o = o, .rows = &order, .complete = true };
	const struct rows rows = { o->kind, &s, &v };
	int rc;

	confine_to_reading(NULL); /* others' records may be among them */
	rc = batch_sessions_open_records(&all, o, dir, &err);
	if (rc) {
		fprintf(stderr, "ibroute-top: %s\n", err.text);
		return EXIT_UNREADABLE;
	}
	state_init(&s);
	s.sessions = all;
	snprintf(s.source, sizeof(s.source), "%s", dir);
	rows_select(&order, &rows, o->filter, o->sort, o->reverse);
	r.findings = batch_sessions_count_findings(&r);
	if (o->top && order.n > o->top)
		order.n = o->top;
	rc = o->formed ? batch_sessions_print(&r, &err) : 0;
	if (rc == -EPIPE)
		rc = 128 + SIGPIPE;
	else if (rc)
		fprintf(stderr, "ibroute-top: %s\n", err.text);
	else
		rc = o->check && r.findings ? EXIT_FINDINGS : EXIT_OK;
	row_order_done(&order);
	sessions_free(all);
	return rc < 0 ? EXIT_FINDINGS : rc;
}
