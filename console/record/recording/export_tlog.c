/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/recording/export_tlog.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Number of code points. */
static size_t export_tlog_characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* The session of SID.cast or SID.2.cast; the caller frees it. */
static char *export_tlog_session_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = xstrdup(slash ? slash + 1 : path);

	name[strcspn(name, ".")] = '\0';
	return name;
}

struct tlog {
	FILE *f;
	const char *rec;
	int64_t start; /* unix time */
	int id;
};

static void export_tlog_message(struct tlog *t, double at_s, const char *timing, const char *out)
{
	json_t *j =
		json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:I, s:f, s:s, s:s, s:[], s:o, "
			  "s:[]}",
			  "ver", "2.3", "host", "", "rec", t->rec, "user", "", "term",
			  "xterm-256color", "session", 1, "id", ++t->id, "pos",
			  (json_int_t)(at_s * 1e3), "time", (double)t->start + at_s, "timing",
			  timing, "in_txt", "", "in_bin", "out_txt", json_string(out), "out_bin");

	json_dumpf(j, t->f, JSON_COMPACT | JSON_REAL_PRECISION(14));
	fputc('\n', t->f);
	json_decref(j);
}

int export_tlog(FILE *f, const struct cast_events *e, struct err *err)
{
	const struct cast_file *first = &e->file[0];
	char *rec = export_tlog_session_of(first->path);
	struct tlog t = { .f = f, .rec = rec, .start = first->timestamp };
	char timing[40];
	int rc = 0;

	snprintf(timing, sizeof(timing), "=%dx%d", first->w, first->h);
	export_tlog_message(&t, 0, timing, "");
	for (uint32_t i = 0; i < e->n && !rc; i++) {
		const struct cast_event *ev = &e->v[i];

		if (i % EXPORT_TELL == 0)
			rc = file_progress_write(i, e->n, err);
		if (ev->code == 'o')
			snprintf(timing, sizeof(timing), ">%zu", export_tlog_characters(ev->text));
		else if (ev->code == 'r')
			snprintf(timing, sizeof(timing), "=%.30s", ev->text);
		else
			continue;
		export_tlog_message(&t, ev->at_s, timing, ev->code == 'o' ? ev->text : "");
	}
	free(rec);
	return rc;
}
