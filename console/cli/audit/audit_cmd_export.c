/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit export: records in the formats of others. */
#include "console/cli/audit/audit_cmd.h"

#include "console/config/exits.h"
#include "console/io/output_file.h"
#include "console/io/progress_line.h"
#include "console/record/audit/audit_report.h"
#include "console/record/record_files.h"
#include "console/record/recording/cast_read.h"
#include "console/record/recording/export_tlog.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/process/confine.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At event i, of which each takes little. */
static int audit_cmd_export_tell(const struct cast_events *e, uint32_t i, struct err *err)
{
	return i % EXPORT_TELL ? 0 : file_progress_write(i, e->n, err);
}

static int audit_cmd_export_write_timing(FILE *f, const void *events, struct err *err)
{
	const struct cast_events *e = events;
	double last = 0;
	int rc = 0;

	for (uint32_t i = 0; i < e->n && !rc; i++) {
		rc = audit_cmd_export_tell(e, i, err);
		if (e->v[i].code != 'o')
			continue;
		fprintf(f, "%.6f %zu\n", e->v[i].at_s - last, strlen(e->v[i].text));
		last = e->v[i].at_s;
	}
	return rc;
}

static int audit_cmd_export_write_script(FILE *f, const void *events, struct err *err)
{
	const struct cast_events *e = events;
	int rc = 0;

	fputs("Script started\n", f);
	for (uint32_t i = 0; i < e->n && !rc; i++) {
		rc = audit_cmd_export_tell(e, i, err);
		if (e->v[i].code == 'o')
			fputs(e->v[i].text, f);
	}
	return rc;
}

static void audit_cmd_export_put(FILE *f, json_t *j)
{
	json_dumpf(j, f, JSON_COMPACT | JSON_REAL_PRECISION(9));
	fputc('\n', f);
	json_decref(j);
}

/* As version 2, but with the size in "term" and with times since the event before. */
static int audit_cmd_export_version_3(FILE *f, const void *events, struct err *err)
{
	const struct cast_events *e = events;
	const struct cast_file *first = &e->file[0];
	double last = 0;
	int rc = 0;

	audit_cmd_export_put(f, json_pack("{s:i, s:{s:i, s:i, s:s}, s:I, s:s}", "version", 3,
					  "term", "cols", first->w, "rows", first->h, "type",
					  "xterm-256color", "timestamp",
					  (json_int_t)first->timestamp, "title", "ibroute-top"));
	for (uint32_t i = 0; i < e->n && !rc; i++) {
		char code[2] = { e->v[i].code, '\0' };
		double after = e->v[i].at_s - last;

		audit_cmd_export_put(
			f, json_pack("[f, s, s]", after > 0 ? after : 0, code, e->v[i].text));
		last = e->v[i].at_s;
		rc = audit_cmd_export_tell(e, i, err);
	}
	return rc;
}

static int audit_cmd_export_tlog(FILE *f, const void *events, struct err *err)
{
	return export_tlog(f, events, err);
}

/* Typescript and timing as scriptreplay(1) reads them: bytes behind a first line, and the seconds
 * before each piece.  What was asked for comes last, so that both are there when it is. */
static int audit_cmd_export_script(const struct cast_events *e, const char *path, struct err *err)
{
	char *timing = xasprintf("%s.timing", path);
	int rc = output_file_write(timing, audit_cmd_export_write_timing, e, err);

	free(timing);
	return rc ? rc : output_file_write(path, audit_cmd_export_write_script, e, err);
}

static int audit_cmd_export_convert(const struct audit_options *o, const struct cast_events *e,
				    struct err *err)
{
	struct progress_line watch;
	int rc;

	if (o->out)
		progress_line_files(&watch);
	else
		progress_line_output(&watch);
	rc = o->script
		     ? audit_cmd_export_script(e, o->out, err)
		     : output_file_write(
			       o->out, o->tlog ? audit_cmd_export_tlog : audit_cmd_export_version_3,
			       e, err);
	progress_line_files_end(&watch);
	return rc;
}

struct report_text {
	char *text;
	size_t len;
};

static int audit_cmd_export_write_text(FILE *f, const void *what, struct err *err)
{
	const struct report_text *t = what;

	(void)err; /* reported when it is closed */
	fwrite(t->text, 1, t->len, f);
	return 0;
}

/* Pictures are files of their own, so the text that names them is written last. */
static int audit_cmd_export_report(const struct audit_options *o, struct err *err)
{
	char *dir = xstrdup(record_dir(o->record_dir));
	struct report_text t = { NULL, 0 };
	struct report_doc d = { .format = o->format, .path = o->out };
	struct audit_change c;
	int rc = audit_change_read(&c, o->report, o->n ? o->names : &dir, o->n ? o->n : 1, err);

	free(dir);
	if (rc)
		return rc;
	d.f = open_memstream(&t.text, &t.len);
	audit_report_write(&d, &c);
	fclose(d.f);
	if (d.rc)
		*err = d.err;
	rc = d.rc ? d.rc : output_file_write(o->out, audit_cmd_export_write_text, &t, err);
	free(t.text);
	audit_change_free(&c);
	return rc;
}

/* Pictures and timing are written beside it. */
static void audit_cmd_export_confine(const char *out)
{
	const char *slash = out ? strrchr(out, '/') : NULL;
	char *dir = slash ? xasprintf("%.*s", (int)(slash - out) + 1, out) : xstrdup(".");

	if (out)
		confine_to_writing(dir, false, NULL);
	else
		confine_to_reading(NULL);
	free(dir);
}

int audit_cmd_export(const struct audit_options *o)
{
	struct cast_events e = { 0 };
	struct err err = { "" };
	int rc;

	output_file_guard_signals();
	audit_cmd_export_confine(o->out);
	if (o->report)
		rc = audit_cmd_export_report(o, &err);
	else if (o->script && !o->out)
		rc = err_set(&err, -EINVAL, "--script writes two files and needs -o FILE");
	else
		rc = cast_read_session(&e, o->names[0], &err);
	if (!rc && !o->report)
		rc = audit_cmd_export_convert(o, &e, &err);
	cast_events_free(&e);
	if (rc)
		fprintf(stderr, "ibroute-top: %s\n", err.text);
	return rc == -EINVAL ? EXIT_BAD_USAGE : rc ? EXIT_UNREADABLE : EXIT_OK;
}
