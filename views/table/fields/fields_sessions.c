/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of recorded sessions, and of what was done in one. */
#include "views/data/lists/session_list.h"
#include "views/table/fields/fields_priv.h"

#include <stdio.h>

static const struct session_row *fields_sessions_row_of(const struct rows *r, uint32_t row)
{
	return &r->s->sessions->row[row];
}

void session_label(char *buf, const struct rows *r, uint32_t row)
{
	const struct session_row *s = fields_sessions_row_of(r, row);

	snprintf(buf, VALUE_LEN, "%.79s %.63s %.20s %.80s", s->file, s->fabric, session_verdict(s),
		 s->what);
}

GETTER(fields_sessions_get_sid, field_text_if(c, fields_sessions_row_of(r, row)->sid))
GETTER(fields_sessions_get_part, c->num = fields_sessions_row_of(r, row)->part)
GETTER(fields_sessions_get_start, field_text_if(c, fields_sessions_row_of(r, row)->start))
GETTER(fields_sessions_get_end, field_text_if(c, fields_sessions_row_of(r, row)->end))
GETTER(fields_sessions_get_uid, c->num = fields_sessions_row_of(r, row)->uid)
GETTER(fields_sessions_get_mode, field_text_if(c, fields_sessions_row_of(r, row)->mode))
GETTER(fields_sessions_get_fabric, field_text_if(c, fields_sessions_row_of(r, row)->fabric))
GETTER(fields_sessions_get_updates, c->num = (double)fields_sessions_row_of(r, row)->updates)
GETTER(fields_sessions_get_lines, c->num = (double)fields_sessions_row_of(r, row)->lines)
GETTER(fields_sessions_get_kib,
       c->num = (double)((fields_sessions_row_of(r, row)->bytes + 1023) / 1024))
GETTER(fields_sessions_get_gaps, c->num = (double)fields_sessions_row_of(r, row)->gaps)
GETTER(fields_sessions_get_record, c->text = session_verdict(fields_sessions_row_of(r, row)))
GETTER(fields_sessions_get_ok, c->num = fields_sessions_row_of(r, row)->ok)
GETTER(fields_sessions_get_screen, c->num = fields_sessions_row_of(r, row)->screen)

static void fields_sessions_get_epoch(struct value *c, const struct rows *r, uint32_t row)
{
	if (fields_sessions_row_of(r, row)->epoch)
		c->num = (double)fields_sessions_row_of(r, row)->epoch;
}

GETTER(fields_sessions_get_finding, field_text_if(c, fields_sessions_row_of(r, row)->what))
GETTER(fields_sessions_get_head, field_text_if(c, fields_sessions_row_of(r, row)->head))
GETTER(fields_sessions_get_file, field_text_if(c, fields_sessions_row_of(r, row)->file))

static const struct session_action *fields_sessions_action_of(const struct rows *r, uint32_t row)
{
	return &r->s->sessions->action[row];
}

void action_label(char *buf, const struct rows *r, uint32_t row)
{
	snprintf(buf, VALUE_LEN, "%s %s", fields_sessions_action_of(r, row)->what,
		 fields_sessions_action_of(r, row)->text);
}

GETTER(fields_sessions_get_seq, c->num = (double)fields_sessions_action_of(r, row)->seq)
GETTER(fields_sessions_get_time, field_text_if(c, fields_sessions_action_of(r, row)->time))
GETTER(fields_sessions_get_type, field_text_if(c, fields_sessions_action_of(r, row)->what))
GETTER(fields_sessions_get_text, field_text_if(c, fields_sessions_action_of(r, row)->text))
GETTER(fields_sessions_get_loud, c->num = fields_sessions_action_of(r, row)->loud)

/* clang-format off */
const struct field fields_sessions[] = {
	{ "sid", "session", "session", "", VALUE_TEXT, 0, true, "its id", fields_sessions_get_sid, 0, NEED_ALL },
	{ "part", NULL, "part", "", VALUE_COUNT, 0, true, "part of the session, from 1", fields_sessions_get_part, 0, NEED_ALL },
	{ "start", "begin", "begin", "", VALUE_TEXT, 0, true, "first line, UTC", fields_sessions_get_start, 0, NEED_ALL },
	{ "end", "until", "end", "", VALUE_TEXT, 0, true, "last line, UTC", fields_sessions_get_end, 0, NEED_ALL },
	{ "uid", "user", "uid", "", VALUE_COUNT, 0, true, "user ID", fields_sessions_get_uid, 0, NEED_ALL },
	{ "mode", NULL, "mode", "", VALUE_TEXT, 0, true, "rw: the routing could be changed, else ro", fields_sessions_get_mode, 0, NEED_ALL },
	{ "fabric", NULL, "fabric", "", VALUE_TEXT, 0, true, "its name", fields_sessions_get_fabric, 0, NEED_ALL },
	{ "updates", NULL, "updates", "", VALUE_COUNT, 0, true, "updates started or rolled back", fields_sessions_get_updates, 0, NEED_ALL },
	{ "lines", NULL, "lines", "", VALUE_COUNT, 0, true, "valid lines before the first finding", fields_sessions_get_lines, 0, NEED_ALL },
	{ "size_KiB", "size", "KiB", "", VALUE_COUNT, 0, true, "size of record and screen together", fields_sessions_get_kib, 0, NEED_ALL },
	{ "gaps", NULL, "gaps", "", VALUE_COUNT, 0, false, "number of times that recording failed", fields_sessions_get_gaps, 0, NEED_ALL },
	{ "record", "chain", "record", "", VALUE_TEXT, 0, true, "intact, CHANGED, or intact with gaps, in progress, without an end", fields_sessions_get_record, 0, NEED_ALL },
	{ "ok", NULL, "ok", "", VALUE_FLAG, 0, false, "every line is unchanged", fields_sessions_get_ok, 0, NEED_ALL },
	{ "screen", NULL, "screen", "", VALUE_FLAG, 0, false, "the screen was recorded and is unchanged", fields_sessions_get_screen, 0, NEED_ALL },
	{ "epoch", "sealed", "epoch", "", VALUE_COUNT, 0, false, "epoch of the seal; unknown: not sealed", fields_sessions_get_epoch, 0, NEED_ALL },
	{ "finding", "what", "finding", "", VALUE_TEXT, 0, false, "the first finding", fields_sessions_get_finding, 0, NEED_ALL },
	{ "head", NULL, "head", "", VALUE_TEXT, 0, false, "hash of its last valid line", fields_sessions_get_head, 0, NEED_ALL },
	{ "file", NULL, "file", "", VALUE_TEXT, 0, false, "its file name", fields_sessions_get_file, 0, NEED_ALL },
};
FIELDS_END(fields_sessions);

const struct field fields_actions[] = {
	{ "seq", "line", "seq", "", VALUE_COUNT, 0, true, "number of the line in its session", fields_sessions_get_seq, 0, NEED_ALL },
	{ "time", NULL, "time", "", VALUE_TEXT, 0, true, "time of day, UTC", fields_sessions_get_time, 0, NEED_ALL },
	{ "type", NULL, "what", "", VALUE_TEXT, 0, true, "as in the record: key.action, phase.begin, ...", fields_sessions_get_type, 0, NEED_ALL },
	{ "text", NULL, "text", "", VALUE_TEXT, 0, true, "description", fields_sessions_get_text, 0, NEED_ALL },
	{ "loud", NULL, "loud", "", VALUE_FLAG, 0, false, "a failure, or needs attention", fields_sessions_get_loud, 0, NEED_ALL },
};
FIELDS_END(fields_actions);
/* clang-format on */
