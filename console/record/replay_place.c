/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/replay.h"

#include "console/lib/progress_line.h"
#include "console/record/audit_cast.h"
#include "console/record/record_last.h"
#include "fabric/base/file_progress.h"
#include "fabric/base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Events up to a time of the session. */
static uint32_t replay_up_to(const struct cast_events *e, double at_s)
{
	uint32_t n = 0;

	while (n < e->n && e->v[n].at_s <= at_s)
		n++;
	return n;
}

static bool replay_take_clock(double *at_s, const char *where)
{
	unsigned h = 0, m = 0;
	double s = 0;
	int end = 0;

	if (sscanf(where, "%u:%u:%lf%n", &h, &m, &s, &end) == 3 && !where[end]) {
		*at_s = h * 3600.0 + m * 60.0 + s;
		return true;
	}
	end = 0;
	if (sscanf(where, "%u:%lf%n", &m, &s, &end) == 2 && end && !where[end]) {
		*at_s = m * 60.0 + s;
		return true;
	}
	end = 0;
	if (sscanf(where, "%lfs%n", &s, &end) == 1 && end && !where[end]) {
		*at_s = s;
		return true;
	}
	return false;
}

static bool replay_take_date(double *at_s, const struct cast_events *e, const char *where)
{
	struct tm tm = { 0 };
	char *end = strptime(where, "%Y-%m-%dT%H:%M:%S", &tm);
	double fraction = 0;

	if (!end)
		return false;
	if (*end == '.')
		fraction = strtod(end, &end);
	if (*end && strcmp(end, "Z"))
		return false;
	*at_s = (double)(timegm(&tm) - e->file[0].timestamp) + fraction + e->file[0].at_s;
	return true;
}

/* Where the cast was when the line with that seq was written. */
static bool replay_find_seq(uint32_t *n, const struct cast_events *e, uint32_t file,
			    const char *record, int64_t seq)
{
	FILE *f = fopen(record, "re");
	bool found = false;
	struct file_pace pace = { 0 };
	struct progress_line watch;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	progress_line_files(&watch);
	while (f && !found && (len = getline(&line, &cap, f)) > 0) {
		json_t *j = json_loads(line, 0, NULL);
		const json_t *cast = json_object_get(j, "cast");

		if (json_integer_value(json_object_get(j, "seq")) == seq && cast) {
			uint64_t off = (uint64_t)json_integer_value(json_object_get(cast, "off"));

			*n = cast_events_find(e, file, off);
			found = true;
		}
		json_decref(j);
		file_progress_read(&pace, f, (size_t)len);
	}
	progress_line_files_end(&watch);
	free(line);
	if (f)
		fclose(f);
	return found;
}

static bool replay_take_seq(uint32_t *n, const struct cast_events *e, const char *where)
{
	char *end;
	int64_t seq = strtoll(where, &end, 10);
	bool found = false;

	if (*end || end == where)
		return false;
	for (uint32_t i = 0; i < e->nfiles && !found; i++) {
		const char *cast = e->file[i].path, *dot = strrchr(cast, '.');
		char *record = xasprintf("%.*s.jsonl", (int)(dot ? dot - cast : 0), cast);

		found = replay_find_seq(n, e, i, record, seq);
		free(record);
	}
	return found;
}

static bool replay_take_mark(uint32_t *n, const struct cast_events *e, const char *where)
{
	for (uint32_t i = 0; i < e->n; i++) {
		if (e->v[i].code != 'm' || !strcasestr(e->v[i].text, where))
			continue;
		/* what came with it is on the screen with the next frame */
		*n = i + 1;
		return true;
	}
	return false;
}

int replay_place(uint32_t *n, const struct cast_events *e, const char *path, const char *where,
		 struct err *err)
{
	double at_s;

	if (replay_take_clock(&at_s, where) || replay_take_date(&at_s, e, where)) {
		*n = replay_up_to(e, at_s);
		return 0;
	}
	if (replay_take_seq(n, e, where) || replay_take_mark(n, e, where))
		return 0;
	return err_set(
		err, -EINVAL,
		"%s: nothing called '%s' in this session: a phase or action as marked in it, "
		"the seq of a line, 1:30, 90s, or 2026-11-20T23:19:51Z",
		path, where);
}
