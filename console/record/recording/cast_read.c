/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/recording/cast_read.h"

#include "console/io/progress_line.h"
#include "console/record/record_files.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <jansson.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_LINES 1000 /* read between two progress reports */
#define MAX_SIDE       2000 /* columns or rows; larger ones are invalid */
#define MAX_S	       1e9  /* since the session began */

static bool cast_read_take_header(struct cast_file *f, const json_t *j)
{
	f->w = (int)json_integer_at(j, "width");
	f->h = (int)json_integer_at(j, "height");
	f->timestamp = json_integer_at(j, "timestamp");
	f->at_s = json_number_value(json_object_get(j, "at_s"));
	return json_integer_at(j, "version") == 2 && f->w > 0 && f->h > 0 && f->w <= MAX_SIDE &&
	       f->h <= MAX_SIDE;
}

/* Length of a control sequence that our recordings have: colours, the place of the cursor, an empty
 * screen, no line wrap, no cursor; 0: it is none of them. */
static size_t cast_read_sequence(const char *s)
{
	static const char *const whole[] = { "\x1b[2J", "\x1b[?7l", "\x1b[?25l", "\x1b[?7h",
					     "\x1b[?25h" };
	size_t len;

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		if (!strncmp(s, whole[i], strlen(whole[i])))
			return strlen(whole[i]);
	if (strncmp(s, "\x1b[", 2))
		return 0;
	len = 2 + strspn(s + 2, "0123456789;");
	return s[len] == 'm' || s[len] == 'H' ? len + 1 : 0;
}

/* What a recording draws with is kept; nothing else in it steers a terminal that gets it. */
static char *cast_read_output(const char *text)
{
	char *out = xstrdup(text), *to = out;

	while (*to) {
		size_t n = cast_read_sequence(to);
		const char *next = to;

		if (!n && !strchr("\r\n", *to) && plain_next(&next) == '?')
			memset(to, '?', (size_t)(next - to));
		to += n ? n : next > to ? (size_t)(next - to) : 1;
	}
	return out;
}

static char *cast_read_text(char code, const char *text)
{
	return code == 'o' ? cast_read_output(text) : plain_text(xstrdup(text), "");
}

static bool cast_read_take_event(struct cast_events *e, const json_t *j, uint64_t end)
{
	const struct cast_file *f = &e->file[e->nfiles - 1];
	const char *code = json_string_value(json_array_get(j, 1));
	const char *text = json_string_value(json_array_get(j, 2));
	const json_t *at = json_array_get(j, 0);

	if (!json_is_number(at) || !code || !text || code[0] < 'a' || code[0] > 'z' ||
	    fabs(f->at_s + json_number_value(at)) > MAX_S)
		return false;
	e->v[e->n++] = (struct cast_event){ .at_s = f->at_s + json_number_value(at),
					    .code = code[0],
					    .file = e->nfiles - 1,
					    .end = end,
					    .text = cast_read_text(code[0], text) };
	return true;
}

static uint32_t cast_read_count_lines(const char *data, size_t len)
{
	uint32_t n = 0;

	for (const char *p = data; (p = memchr(p, '\n', len - (size_t)(p - data))); p++)
		n++;
	return n;
}

static int cast_read_take_lines(struct cast_events *e, const char *data, size_t len,
				struct err *err)
{
	struct cast_file *f = &e->file[e->nfiles - 1];
	uint32_t line = 0;
	size_t at = 0;
	const char *nl;

	e->v = xrealloc(e->v, (size_t)e->n + cast_read_count_lines(data, len) + 1, sizeof(*e->v));
	for (; (nl = memchr(data + at, '\n', len - at)); at = (size_t)(nl - data) + 1) {
		json_error_t why;
		json_t *j = json_loadb(data + at, (size_t)(nl - data) - at, 0, &why);
		bool good = j && (line ? cast_read_take_event(e, j, (uint64_t)(nl - data) + 1)
				       : cast_read_take_header(f, j));

		json_decref(j);
		if (line++ % PROGRESS_LINES == 0 &&
		    progress_step(file_progress(), "parsing", at, len))
			return err_set(err, -ECANCELED, "%s: reading it was cancelled", f->path);
		if (!good)
			return err_set(err, -EINVAL, "%s:%u: not a line of an asciicast v2%s%s",
				       f->path, line, j ? "" : ": ", j ? "" : why.text);
	}
	return line ? 0 : err_set(err, -EINVAL, "%s: not an asciicast: empty", f->path);
}

int cast_read(struct cast_events *e, const char *path, struct err *err)
{
	struct progress_line watch;
	char *data;
	size_t len;
	int rc;

	progress_line_files(&watch);
	rc = store_read(&data, &len, path, err);
	if (!rc) {
		e->file = xrealloc(e->file, e->nfiles + 1, sizeof(*e->file));
		e->file[e->nfiles++] = (struct cast_file){ .path = xstrdup(path) };
		rc = cast_read_take_lines(e, data, len, err);
		free(data);
	}
	progress_line_files_end(&watch);
	return rc;
}

/* The later parts; one without a screen, or a dropped one, has no file. */
static int cast_read_parts(struct cast_events *e, const char *dir, const char *sid, unsigned part,
			   struct err *err)
{
	struct record_files files;
	char name[64];
	int rc = 0;

	record_files_list(&files, dir);
	for (size_t i = 0; i < files.n && !rc; i++) {
		char *cast = record_cast_path(files.v[i]);
		unsigned which = record_name(name, sizeof(name), files.v[i]);

		if (!strcmp(name, sid) && which > part && !access(cast, R_OK))
			rc = cast_read(e, cast, err);
		free(cast);
	}
	record_files_free(&files);
	return rc;
}

int cast_read_session(struct cast_events *e, const char *path, struct err *err)
{
	char *cast = record_cast_path(path), *for_dir = xstrdup(path), sid[64];
	unsigned part = record_name(sid, sizeof(sid), path);
	int rc = cast_read(e, cast, err);

	if (!rc)
		rc = cast_read_parts(e, dirname(for_dir), sid, part, err);
	free(cast);
	free(for_dir);
	return rc;
}

void cast_events_free(struct cast_events *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		free(e->v[i].text);
	for (uint32_t i = 0; i < e->nfiles; i++)
		free(e->file[i].path);
	free(e->v);
	free(e->file);
	memset(e, 0, sizeof(*e));
}

double cast_events_end(const struct cast_events *e)
{
	return e->n ? e->v[e->n - 1].at_s : 0;
}

uint32_t cast_events_find(const struct cast_events *e, uint32_t file, uint64_t bytes)
{
	uint32_t i = 0;

	while (i < e->n && (e->v[i].file < file || (e->v[i].file == file && e->v[i].end <= bytes)))
		i++;
	return i;
}
