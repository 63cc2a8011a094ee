/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/noted.h"

#include "views/data/context.h"
#include "views/data/lists/weak_list.h"
#include "views/table/tagged.h"

#include <stdio.h>

static int64_t noted_event_s(const struct rows *r, uint32_t row)
{
	return (int64_t)(events_get(r->s->events, row)->time_ns / 1000000000);
}

static uint8_t noted_port(const struct rows *r, uint32_t row, uint32_t *sw)
{
	*sw = rows_switch(r, row);
	return (uint8_t)(row - r->s->fabric->port_off[*sw]);
}

static const struct weak_part *noted_part(const struct rows *r, uint32_t row)
{
	return &state_weak(r->s)->report->part[row];
}

const struct row_note *noted_row(const struct rows *r, uint32_t row)
{
	const struct row_notes *all = r->s->row_notes;
	const struct fabric *f = r->s->fabric;
	const struct weak_part *part;
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
		return row_notes_job(all, f, &r->v->jobs->jobs[row]);
	case ROWS_FAILURES:
		part = noted_part(r, row);
		return part->chan == FAB_NONE ? row_notes_switch(all, f, part->sw)
					      : row_notes_chan(all, f, part->chan);
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
	const struct weak_part *part;
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
		note_subject_job(out, f, &r->v->jobs->jobs[row]);
		return true;
	case ROWS_FAILURES:
		part = noted_part(r, row);
		if (part->chan == FAB_NONE)
			note_subject_switch(out, f, part->sw);
		else
			note_subject_port(out, f, f->chan_src[part->chan],
					  f->chan_port[part->chan]);
		return true;
	case ROWS_EVENTS:
		note_subject_moment(out, f, noted_event_s(r, row));
		return true;
	default:
		return false;
	}
}

/* --- where the operator is ------------------------------------------------------------------- */

/* false: no row is under the cursor, or rows of that kind have no notes. */
static bool noted_cursor(struct note_subject *on, char *what, size_t len, const struct table *t,
			 const struct table_ops *ops, const struct table_in *in)
{
	struct rows rows = { .s = in->s, .v = &in->ctx->summary };
	char label[VALUE_LEN], time[FIGURE_LEN];

	if (!t || table_cursor(t) == FAB_NONE)
		return false;
	rows.kind = ops->kind;
	if (!noted_subject(on, &rows, table_cursor(t)))
		return false;
	snprintf(what, len, "%s",
		 on->kind == NOTE_TIME ? figure_time(time, (int64_t)on->id)
				       : tagged_name(label, &rows, table_cursor(t)));
	return true;
}

/* false: it does not run any more. */
static bool noted_job_at(struct note_subject *on, char *what, size_t len, const struct table_in *in,
			 uint64_t job)
{
	const struct jobset *jobs = in->ctx->summary.jobs;
	const struct row_note *note;
	struct noted_place at;
	char id[JOB_ID_LEN];

	if (!noted_find(&at, &(struct note_subject){ .kind = NOTE_JOB, .id = job }, in->s->fabric,
			jobs))
		return false;
	note_subject_job(on, in->s->fabric, &jobs->jobs[at.job]);
	note = row_notes_job(in->s->row_notes, in->s->fabric, &jobs->jobs[at.job]);
	if (note)
		*on = note->on;
	snprintf(what, len, "job %s", jobset_id_text(id, jobs, job));
	return true;
}

/* What the view was drawn with under its cursor. */
static bool noted_row_at(struct note_subject *on, char *what, size_t len, const struct table_in *in)
{
	const struct context_row *at = &in->ctx->row;
	const struct fabric *f = in->s->fabric;
	const struct row_note *note;

	if (at->job)
		return noted_job_at(on, what, len, in, at->job);
	if (at->sw >= f->nsw || at->port > f->sw_nports[at->sw])
		return false;
	if (!at->port) {
		note_subject_switch(on, f, at->sw);
		switch_label(what, len, f, at->sw);
		return true;
	}
	note = row_notes_port(in->s->row_notes, f, at->sw, at->port);
	if (note)
		*on = note->on;
	else if (fabric_port(f, at->sw, at->port)->term != FAB_NONE)
		note_subject_host(on, f, fabric_port(f, at->sw, at->port)->term);
	else
		note_subject_port(on, f, at->sw, at->port);
	port_label(what, len, f, at->sw, at->port);
	return true;
}

/* The row, switch or cable that a view without a table is at; false: it is at none. */
static bool noted_at(struct note_subject *on, char *what, size_t len, const struct table_in *in)
{
	const struct context *ctx = in->ctx;
	const struct fabric *f = in->s->fabric;
	const struct row_note *note;

	if (ctx->view == VIEW_OVERVIEW || ctx->view == VIEW_HEATMAP || ctx->view == VIEW_TOPOLOGY)
		return ctx->row.view == ctx->view && noted_row_at(on, what, len, in);
	if (ctx->view == VIEW_SWITCHES && ctx->sw < f->nsw) {
		note_subject_switch(on, f, ctx->sw);
		switch_label(what, len, f, ctx->sw);
		return true;
	}
	if (ctx->view != VIEW_PATHS || ctx->chan >= f->nchan)
		return false;
	note = row_notes_chan(in->s->row_notes, f, ctx->chan);
	note_subject_port(on, f, f->chan_src[ctx->chan], f->chan_port[ctx->chan]);
	if (note)
		*on = note->on;
	chan_label(what, len, f, ctx->chan);
	return true;
}

void noted_here_subject(struct note_subject *on, char *what, size_t len, const struct table *t,
			const struct table_ops *ops, const struct table_in *in)
{
	char time[FIGURE_LEN];

	if (noted_cursor(on, what, len, t, ops, in) || noted_at(on, what, len, in))
		return;
	note_subject_moment(on, in->s->fabric, state_time_s(in->s));
	snprintf(what, len, "%s", figure_time(time, (int64_t)on->id));
}

const struct row_note *noted_here(const struct table *t, const struct table_ops *ops,
				  const struct table_in *in)
{
	const struct state *s = in->s;
	int64_t at = state_time_s(s),
		for_s = (int64_t)(s->poll.interval_s > 1 ? s->poll.interval_s : 1);
	const struct row_note *note;
	struct note_subject on;
	char what[PATH_TEXT];

	if (!s->row_notes || !s->row_notes->list.n || !s->fabric)
		return NULL;
	noted_here_subject(&on, what, sizeof(what), t, ops, in);
	note = row_notes_find(s->row_notes, &on);
	if (!note && s->history_at.on)
		note = row_notes_moment(s->row_notes, s->fabric, at, at + for_s - 1);
	return note;
}

/* --- where it leads -------------------------------------------------------------------------- */

static bool noted_find_port(struct noted_place *out, const struct note_subject *on,
			    const struct fabric *f)
{
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (f->sw_guid[sw] == on->id) {
			out->sw = sw;
			out->port = on->kind == NOTE_LINK ? on->port : 0;
			return true;
		}
	return false;
}

static bool noted_find_host(struct noted_place *out, uint64_t guid, const struct fabric *f)
{
	for (uint32_t t = 0; t < f->nend; t++)
		if (f->term_guid[t] == guid) {
			out->sw = f->term_sw[t];
			out->port = f->term_port[t];
			return true;
		}
	return false;
}

static bool noted_find_job(struct noted_place *out, const struct note_subject *on,
			   const struct jobset *jobs)
{
	for (uint32_t j = 0; jobs && j < jobs->njob; j++)
		if (jobs->jobs[j].id == on->id && (!on->begun_s || !jobs->jobs[j].start_s ||
						   jobs->jobs[j].start_s == on->begun_s)) {
			out->job = j;
			return true;
		}
	return false;
}

bool noted_find(struct noted_place *out, const struct note_subject *on, const struct fabric *f,
		const struct jobset *jobs)
{
	*out = (struct noted_place){ .sw = FAB_NONE, .job = FAB_NONE };
	switch (on->kind) {
	case NOTE_LINK:
	case NOTE_SWITCH:
		return noted_find_port(out, on, f);
	case NOTE_HOST:
		return noted_find_host(out, on->id, f);
	case NOTE_JOB:
		return noted_find_job(out, on, jobs);
	default:
		return false;
	}
}
