/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/io/input_file.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/message/log.h"
#include "fabric/base/process/apart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUM_BYTES (1u << 20)
#define TOLD	  3 /* warnings of a file among notes */

static _Thread_local struct input_file_watch *watcher;

struct input_file_watch *input_file_watch_set(struct input_file_watch *w)
{
	struct input_file_watch *before = watcher;

	watcher = w;
	return before;
}

/* What comes through a pipe goes into an unnamed file, so that it can be read twice. */
static int input_file_spool(FILE **out, FILE *pipe)
{
	FILE *copy = tmpfile();
	char buf[65536];
	size_t n;

	if (!copy)
		return -errno;
	while ((n = fread(buf, 1, sizeof(buf), pipe)) > 0)
		if (fwrite(buf, 1, n, copy) != n)
			break;
	if (ferror(pipe) || ferror(copy) || fflush(copy)) {
		int rc = errno ? -errno : -EIO;

		fclose(copy);
		return rc;
	}
	rewind(copy);
	*out = copy;
	return 0;
}

static int input_file_open_any(struct input_file *in, const char *path)
{
	struct stat st;
	FILE *plain = strcmp(path, "-") ? fopen(path, "re") : stdin;
	int rc = 0;

	in->file = plain;
	if (!plain || fstat(fileno(plain), &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		rc = -EISDIR;
	else if (!S_ISREG(st.st_mode) || plain == stdin)
		rc = input_file_spool(&in->file, plain);
	if (in->file != plain && plain != stdin)
		fclose(plain);
	return rc;
}

static int input_file_sum_up(struct input_file *in, struct err *err)
{
	struct digest_stream *s;
	struct file_pace pace = { 0 };
	char *buf;
	size_t n;
	bool ended = false;

	if (!watcher)
		return 0;
	s = digest_begin();
	buf = xcalloc(SUM_BYTES, 1);
	while (!ended && (n = fread(buf, 1, SUM_BYTES, in->file)) > 0) {
		digest_add(s, buf, n);
		ended = file_progress_read(&pace, in->file, n);
	}
	free(buf);
	digest_end(&watcher->sha256, s);
	watcher->summed = true;
	if (ended)
		return err_set(err, -ECANCELED, "cancelled");
	if (ferror(in->file))
		return err_set(err, -EIO, "%s cannot be read: %s", in->path, strerror(errno));
	rewind(in->file);
	return 0;
}

int input_file_open(struct input_file *in, const char *path, struct err *err)
{
	size_t n;
	int rc;

	memset(in, 0, sizeof(*in));
	in->path = strcmp(path, "-") ? path : "stdin";
	rc = input_file_open_any(in, path);
	if (rc) {
		input_file_close(in);
		return err_set(err, rc, "%s cannot be read: %s", in->path, strerror(-rc));
	}
	n = fread(in->head, 1, INPUT_FILE_HEAD, in->file);
	for (size_t i = 0; i < n; i++)
		if (!in->head[i])
			in->head[i] = ' ';
	rewind(in->file);
	progress_line_files(&in->watch);
	rc = input_file_sum_up(in, err);
	if (rc)
		input_file_close(in);
	return rc;
}

void input_file_close(struct input_file *in)
{
	progress_line_files_end(&in->watch);
	if (in->file && in->file != stdin)
		fclose(in->file);
	in->file = NULL;
}

int input_file_end(struct input_file *in, const struct read_report *report, int rc)
{
	input_file_close(in);
	if (!rc)
		input_file_tell(report);
	return rc;
}

int input_file_read_apart(struct apart *a, struct input_file *in, const char *path, struct err *err)
{
	struct read_report report;
	int rc = input_file_open(in, path, err);

	if (rc)
		return rc;
	a->path = in->path;
	a->file = in->file;
	rc = apart_read(a, &report, err);
	return input_file_end(in, &report, rc);
}

void input_file_tell(const struct read_report *report)
{
	char line[512], key[32];

	for (uint32_t i = 0; i < report->nnotes; i++) {
		read_report_line(line, sizeof(line), report, i);
		log_add(LOG_WARN, "load", "%s", line);
		snprintf(key, sizeof(key), "file_warning_%u", i + 1);
		if (watcher && i < TOLD)
			notes_set(watcher->notes, key, report->warnings, "%s", line);
	}
	if (report->warnings > report->nnotes)
		log_add(LOG_WARN, "load", "%s: and %llu more of this kind", report->path,
			(unsigned long long)(report->warnings - report->nnotes));
}
