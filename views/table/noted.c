/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/noted.h"

static int64_t noted_event_s(const struct rows *r, uint32_t row)
{
	return (int64_t)(events_get(r->s->events, row)->time_ns / 1000000000);
}

static uint8_t noted_port(const struct rows *r, uint32_t row, uint32_t *sw)
{
	*sw = rows_switch(r, row);
	return (uint8_t)(row - r->s->fabric->port_off[*sw]);
}

const struct row_note *noted_row(const struct rows *r, uint32_t row)
{
	const struct row_notes *all = r->s->row_notes;
	const struct fabric *f = r->s->fabric;
	uint32_t sw;
	uint8_t port;

	if (!all || !all->list.n || !f)
		return NULL;
	switch (r->kind) {
	case ROWS_LINKS:
		return row_notes_chan(all, f, row);
	case ROWS_PORTS:
		port = noted_port(r, row, &sw);
		return row_notes_port(all, f, sw, port);
	case ROWS_SWITCHES:
		return row_notes_switch(all, f, row);
	case ROWS_JOBS:
		return row_notes_job(all, f, r->v->jobs->jobs[row].id);
	case ROWS_EVENTS:
		return row_notes_moment(all, f, noted_event_s(r, row), noted_event_s(r, row));
	default:
		return NULL;
	}
}

bool noted_subject(struct note_subject *out, const struct rows *r, uint32_t row)
{
	const struct row_note *note = noted_row(r, row);
	const struct fabric *f = r->s->fabric;
	uint32_t sw;
	uint8_t port;

	if (!f)
		return false;
	if (note) { /* from whichever end */
		*out = note->on;
		return true;
	}
	switch (r->kind) {
	case ROWS_LINKS:
		note_subject_port(out, f, f->chan_src[row], f->chan_port[row]);
		return true;
	case ROWS_PORTS:
		port = noted_port(r, row, &sw);
		if (f->port[row].term != FAB_NONE)
			note_subject_host(out, f, f->port[row].term);
		else
			note_subject_port(out, f, sw, port);
		return true;
	case ROWS_SWITCHES:
		note_subject_switch(out, f, row);
		return true;
	case ROWS_JOBS:
		note_subject_job(out, f, r->v->jobs->jobs[row].id);
		return true;
	case ROWS_EVENTS:
		note_subject_moment(out, f, noted_event_s(r, row));
		return true;
	default:
		return false;
	}
}
