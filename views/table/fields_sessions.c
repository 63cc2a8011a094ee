/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of recorded sessions, and of what was done in one. */
#include "views/sessions/sessions.h"
#include "views/table/fields_priv.h"

#include <stdio.h>

static const struct session_row *row_of(const struct rows *r, uint32_t row)
{
	return &r->s->sessions->row[row];
}

static void text_if(struct value *c, const char *text)
{
	c->text = text[0] ? text : NULL;
}

void session_label(char *buf, const struct rows *r, uint32_t row)
{
	const struct session_row *s = row_of(r, row);

	snprintf(buf, VALUE_LEN, "%.79s %.63s %.20s %.80s", s->file, s->fabric, session_verdict(s),
		 s->what);
}

static void get_sid(struct value *c, const struct rows *r, uint32_t row)
{
	text_if(c, row_of(r, row)->sid);
}

static void get_part(struct value *c, const struct rows *r, uint32_t row)
{
	c->num = row_of(r, row)->part;
}

static void get_start(struct value *c, const struct rows *r, uint32_t row)
{
	text_if(c, row_of(r, row)->start);
}

static void get_end(struct value *c, const struct rows *r, uint32_t row)
{
	text_if(c, row_of(r, row)->end);
}

static void get_uid(struct value *c, const struct rows *r, uint32_t row)
{
	c->num = row_of(r, row)->uid;
}

static void get_mode(struct value *c, const struct rows *r, uint32_t row)
{
	text_if(c, row_of(r, row)->mode);
}

static void get_fabric(struct value *c, const struct rows *r, uint32_t row)
{
	text_if(c, row_of(r, row)->fabric);
}

static void get_updates(struct value *c, const struct rows *r, uint32_t row)
{
	c->num = (double)row_of(r, row)->updates;
}

static void get_lines(struct value *c, const struct rows *r, uint32_t row)
{
	c->num = (double)row_of(r, row)->lines;
}

static void get_kib(struct value *c, const struct rows *r, uint32_t row)
{
	c->num = (double)((row_of(r, row)->bytes + 1023) / 1024);
}

static void get_gaps(struct value *c, const struct rows *r, uint32_t row)
{
	c->num = (double)row_of(r, row)->gaps;
}

static void get_record(struct value *c, const struct rows *r, uint32_t row)
{
	c->text = session_verdict(row_of(r, row));
}

static void get_ok(struct value *c, const struct rows *r, uint32_t row)
{
	c->num = row_of(r, row)->ok;
}

static void get_screen(struct value *c, const struct rows *r, uint32_t row)
{
	c->num = row_of(r, row)->screen;
}

static void get_epoch(struct value *c, const struct rows *r, uint32_t row)
{
	if (row_of(r, row)->epoch)
		c->num = (double)row_of(r, row)->epoch;
}

static void get_finding(struct value *c, const struct rows *r, uint32_t row)
{
	text_if(c, row_of(r, row)->what);
}

static void get_head(struct value *c, const struct rows *r, uint32_t row)
{
	text_if(c, row_of(r, row)->head);
}

static void get_file(struct value *c, const struct rows *r, uint32_t row)
{
	text_if(c, row_of(r, row)->file);
}

static const struct session_action *action_of(const struct rows *r, uint32_t row)
{
	return &r->s->sessions->action[row];
}

void action_label(char *buf, const struct rows *r, uint32_t row)
{
	snprintf(buf, VALUE_LEN, "%s %s", action_of(r, row)->what, action_of(r, row)->text);
}

static void get_seq(struct value *c, const struct rows *r, uint32_t row)
{
	c->num = (double)action_of(r, row)->seq;
}

static void get_time(struct value *c, const struct rows *r, uint32_t row)
{
	text_if(c, action_of(r, row)->time);
}

static void get_type(struct value *c, const struct rows *r, uint32_t row)
{
	text_if(c, action_of(r, row)->what);
}

static void get_text(struct value *c, const struct rows *r, uint32_t row)
{
	text_if(c, action_of(r, row)->text);
}

static void get_loud(struct value *c, const struct rows *r, uint32_t row)
{
	c->num = action_of(r, row)->loud;
}

/* clang-format off */
const struct field fields_sessions[] = {
	{ "sid", "session", "session", "", VALUE_TEXT, 0, true, "its id", get_sid },
	{ "part", NULL, "part", "", VALUE_COUNT, 0, true, "of the session, from 1 on", get_part },
	{ "start", "begin", "begin", "", VALUE_TEXT, 0, true, "first line, UTC", get_start },
	{ "end", "until", "end", "", VALUE_TEXT, 0, true, "last line, UTC", get_end },
	{ "uid", "user", "uid", "", VALUE_COUNT, 0, true, "who ran it", get_uid },
	{ "mode", NULL, "mode", "", VALUE_TEXT, 0, true, "rw where routes could be written, else ro", get_mode },
	{ "fabric", NULL, "fabric", "", VALUE_TEXT, 0, true, "its name", get_fabric },
	{ "updates", NULL, "updates", "", VALUE_COUNT, 0, true, "updates that it began, or rolled back", get_updates },
	{ "lines", NULL, "lines", "", VALUE_COUNT, 0, true, "good ones before the first finding", get_lines },
	{ "size_KiB", "size", "KiB", "", VALUE_COUNT, 0, true, "of lines and screen together", get_kib },
	{ "gaps", NULL, "gaps", "", VALUE_COUNT, 0, false, "times that something could not be recorded", get_gaps },
	{ "record", "chain", "record", "", VALUE_TEXT, 0, true, "whole, CHANGED, whole with gaps, whole without an end", get_record },
	{ "ok", NULL, "ok", "", VALUE_FLAG, 0, false, "every line is as it was written", get_ok },
	{ "screen", NULL, "screen", "", VALUE_FLAG, 0, false, "was recorded, is there and unchanged", get_screen },
	{ "epoch", "sealed", "epoch", "", VALUE_COUNT, 0, false, "of the seal; unknown: not sealed", get_epoch },
	{ "finding", "what", "finding", "", VALUE_TEXT, 0, false, "what is wrong with it", get_finding },
	{ "head", NULL, "head", "", VALUE_TEXT, 0, false, "hash of its last good line", get_head },
	{ "file", NULL, "file", "", VALUE_TEXT, 0, false, "its name in the directory", get_file },
};
FIELDS_END(fields_sessions);

const struct field fields_actions[] = {
	{ "seq", "line", "seq", "", VALUE_COUNT, 0, true, "number of the line in its session", get_seq },
	{ "time", NULL, "time", "", VALUE_TEXT, 0, true, "of the day, UTC", get_time },
	{ "type", NULL, "what", "", VALUE_TEXT, 0, true, "as in the record: key.action, phase.begin, ...", get_type },
	{ "text", NULL, "text", "", VALUE_TEXT, 0, true, "what it says", get_text },
	{ "loud", NULL, "loud", "", VALUE_FLAG, 0, false, "it went wrong, or wants to be seen", get_loud },
};
FIELDS_END(fields_actions);
/* clang-format on */
