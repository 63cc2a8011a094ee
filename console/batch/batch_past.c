/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --at and --view history: the samples of a snapshot. */
#include "console/batch/batch_record.h"

#include "console/app/app_priv.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/when.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- which sample ------------------------------------------------------------------------- */

/* The newest sample that is not later; 0: none. */
static uint64_t batch_past_at_time(const struct sample_history *p, int64_t time_s)
{
	uint64_t found = 0;

	for (uint64_t i = sample_history_oldest(p); i && i <= sample_history_newest(p); i++)
		if (sample_history_time(p, i) <= time_s)
			found = i;
	return found;
}

static bool batch_past_whole_number(const char *text, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(text, &end, 10);
	return !errno && isdigit((unsigned char)*text) && !*end;
}

static bool batch_past_time_of(const char *text, int64_t *out)
{
	struct tm tm = { 0 };
	const char *end;
	long unix_s;

	if (*text == '@' && batch_past_whole_number(text + 1, &unix_s)) {
		*out = unix_s;
		return true;
	}
	end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!end || (strcmp(end, "Z") != 0 && *end))
		return false;
	*out = timegm(&tm);
	return true;
}

int batch_go_to(struct app *a, const char *at, struct err *err)
{
	const struct sample_history *p = a->samples;
	uint64_t oldest = sample_history_oldest(p), newest = sample_history_newest(p), serial = 0;
	const struct mark *mark;
	uint32_t n = sample_history_marks(p, &mark);
	int64_t time_s;
	long back;

	if (feed_has_past(a->feed)) {
		if (when_parse_past(&time_s, at, (int64_t)time(NULL)))
			return app_collector_past_now(a, time_s * 1000 + 999, err);
		return err_set(err, -EINVAL,
			       "--at: '%s' is not a time that has been; such as 03:10, -90m, "
			       "2026-11-20T23:19:51Z",
			       at);
	}
	if (!oldest && a->opts.jobs_at_s)
		return 0; /* the jobs are of that time */
	if (!oldest)
		return err_set(err, -ENOENT, "--at: this snapshot has no samples");
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(mark[i].name, at))
			serial = mark[i].serial;
	if (!serial && *at == '-' && batch_past_whole_number(at + 1, &back))
		serial = (uint64_t)back <= newest - oldest ? newest - (uint64_t)back : 0;
	else if (!serial && batch_past_time_of(at, &time_s))
		serial = batch_past_at_time(p, time_s);
	else if (!serial)
		return err_set(err, -EINVAL,
			       "--at: '%s' is not a bookmark, -N, or a time such as "
			       "2026-11-20T23:19:51Z; --view history lists the samples",
			       at);
	if (!serial)
		return err_set(err, -ENOENT, "--at: '%s' is before the oldest of %u samples", at,
			       sample_history_count(p));
	app_history_go(a, serial);
	return 0;
}

/* --- the list ----------------------------------------------------------------------------- */

/* Of the seconds until the next sample; NULL: none. */
static const char *batch_past_note(const struct app *a, int64_t from_s, int64_t next_s)
{
	const struct state *s = &a->state;
	const struct row_note *n = s->fabric
					   ? row_notes_moment(s->row_notes, s->fabric, from_s,
							      next_s > from_s ? next_s - 1 : from_s)
					   : NULL;

	return n ? n->text : NULL;
}

static json_t *batch_past_json(uint64_t back, int64_t time_s, const char *mark, const char *note)
{
	char when[FIGURE_LEN];

	return json_pack("{s:I, s:s, s:o, s:o}", "back", (json_int_t)back, "ts",
			 figure_utc(when, time_s), "mark", *mark ? json_text(mark) : json_null(),
			 "note", note ? json_text(note) : json_null());
}

static int64_t batch_past_next(const struct sample_history *p, uint64_t serial)
{
	return serial < sample_history_newest(p) ? sample_history_time(p, serial + 1) : 0;
}

json_t *batch_history_json(struct app *a)
{
	const struct sample_history *p = a->samples;
	uint64_t newest = sample_history_newest(p);
	json_t *list = json_array();

	for (uint64_t i = sample_history_oldest(p); i && i <= newest; i++)
		json_array_append_new(list,
				      batch_past_json(newest - i, sample_history_time(p, i),
						      sample_history_mark_name(p, i),
						      batch_past_note(a, sample_history_time(p, i),
								      batch_past_next(p, i))));
	return list;
}

void batch_history_text(FILE *out, struct app *a)
{
	const struct sample_history *p = a->samples;
	uint64_t newest = sample_history_newest(p);
	char when[FIGURE_LEN];

	fputs("back  ts                    mark\n", out);
	for (uint64_t i = sample_history_oldest(p); i && i <= newest; i++) {
		const char *mark = sample_history_mark_name(p, i);
		const char *note =
			batch_past_note(a, sample_history_time(p, i), batch_past_next(p, i));

		fprintf(out, "%4llu  %s  %s%s%s\n", (unsigned long long)(newest - i),
			figure_utc(when, sample_history_time(p, i)), *mark ? mark : "-",
			note ? "  \" " : "", note ? note : "");
	}
}

json_t *batch_at_json(const struct app *a, const struct state_history_at *p)
{
	if (!p->on)
		return json_null();
	return batch_past_json(p->back, p->time_s, p->mark,
			       batch_past_note(a, p->time_s, p->time_s + 1));
}
