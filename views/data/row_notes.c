/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/row_notes.h"

#include "fabric/base/message/plain.h"

#include <stdio.h>
#include <string.h>

static int row_notes_cmp(const struct note_subject *a, const struct note_subject *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	if (strcmp(a->fabric, b->fabric) != 0)
		return strcmp(a->fabric, b->fabric);
	return a->begun_s < b->begun_s ? -1 : a->begun_s > b->begun_s;
}

bool note_subject_same(const struct note_subject *a, const struct note_subject *b)
{
	return row_notes_cmp(a, b) == 0;
}

/* The first that is not before it. */
static size_t row_notes_place(const struct row_notes *all, const struct note_subject *on)
{
	size_t lo = 0, hi = all->list.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (row_notes_cmp(&all->list.v[mid].on, on) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct row_note *row_notes_find(const struct row_notes *all, const struct note_subject *on)
{
	size_t at;

	if (!all)
		return NULL;
	at = row_notes_place(all, on);
	return at < all->list.n && note_subject_same(&all->list.v[at].on, on) ? &all->list.v[at]
									      : NULL;
}

bool row_notes_put(struct row_notes *all, const struct row_note *note)
{
	size_t at = row_notes_place(all, &note->on);

	if (at < all->list.n && note_subject_same(&all->list.v[at].on, &note->on)) {
		all->list.v[at] = *note;
		return true;
	}
	if (all->list.n == NOTE_MOST)
		return false;
	vec_reserve(&all->list, all->list.n + 1);
	memmove(all->list.v + at + 1, all->list.v + at, (all->list.n - at) * sizeof(*note));
	all->list.v[at] = *note;
	all->list.n++;
	return true;
}

void row_notes_done(struct row_notes *all)
{
	vec_free(&all->list);
}

/* --- of what they are ------------------------------------------------------------------------ */

void note_subject_port(struct note_subject *out, const struct fabric *f, uint32_t sw, uint8_t port)
{
	*out = (struct note_subject){ .kind = NOTE_LINK, .id = f->sw_guid[sw], .port = port };
}

void note_subject_switch(struct note_subject *out, const struct fabric *f, uint32_t sw)
{
	*out = (struct note_subject){ .kind = NOTE_SWITCH, .id = f->sw_guid[sw] };
}

void note_subject_host(struct note_subject *out, const struct fabric *f, uint32_t term)
{
	*out = (struct note_subject){ .kind = NOTE_HOST, .id = f->term_guid[term] };
}

static void note_subject_name_fabric(struct note_subject *out, const struct fabric *f)
{
	snprintf(out->fabric, sizeof(out->fabric), "%s", f ? f->name : "");
	plain_text(out->fabric, "");
}

void note_subject_job(struct note_subject *out, const struct fabric *f, const struct job *job)
{
	*out = (struct note_subject){ .kind = NOTE_JOB, .id = job->id, .begun_s = job->start_s };
	note_subject_name_fabric(out, f);
}

void note_subject_moment(struct note_subject *out, const struct fabric *f, int64_t time_s)
{
	*out = (struct note_subject){ .kind = NOTE_TIME, .id = (uint64_t)time_s };
	note_subject_name_fabric(out, f);
}

const struct row_note *row_notes_switch(const struct row_notes *all, const struct fabric *f,
					uint32_t sw)
{
	struct note_subject on;

	note_subject_switch(&on, f, sw);
	return row_notes_find(all, &on);
}

const struct row_note *row_notes_port(const struct row_notes *all, const struct fabric *f,
				      uint32_t sw, uint8_t port)
{
	const struct port *p = fabric_port(f, sw, port);
	const struct row_note *note;
	struct note_subject on;

	if (p->term != FAB_NONE) {
		note_subject_host(&on, f, p->term);
		return row_notes_find(all, &on);
	}
	note_subject_port(&on, f, sw, port);
	note = row_notes_find(all, &on);
	if (note || p->chan == FAB_NONE)
		return note;
	note_subject_port(&on, f, f->chan_dst[p->chan], f->chan_rport[p->chan]);
	return row_notes_find(all, &on);
}

const struct row_note *row_notes_chan(const struct row_notes *all, const struct fabric *f,
				      uint32_t chan)
{
	return row_notes_port(all, f, f->chan_src[chan], f->chan_port[chan]);
}

const struct row_note *row_notes_job(const struct row_notes *all, const struct fabric *f,
				     const struct job *job)
{
	const struct row_note *perhaps = NULL;
	struct note_subject on;

	if (!all)
		return NULL;
	note_subject_job(&on, f, job);
	on.begun_s = 0;
	for (size_t at = row_notes_place(all, &on); at < all->list.n; at++) {
		const struct row_note *note = &all->list.v[at];

		if (note->on.kind != NOTE_JOB || note->on.id != job->id ||
		    strcmp(note->on.fabric, on.fabric) != 0)
			break;
		if (note->on.begun_s == job->start_s && job->start_s)
			return note;
		if (!job->start_s || (!note->on.begun_s && note->time_s >= job->start_s))
			perhaps = note;
	}
	return perhaps;
}

const char *row_note_append(char *buf, size_t len, const struct row_note *note)
{
	size_t n = strlen(buf);

	if (note && n < len)
		snprintf(buf + n, len - n, " %c %s", NOTE_POINT, note->text);
	return buf;
}

const struct row_note *row_notes_moment(const struct row_notes *all, const struct fabric *f,
					int64_t from_s, int64_t to_s)
{
	struct note_subject on;

	if (!all)
		return NULL;
	note_subject_moment(&on, f, from_s);
	for (size_t at = row_notes_place(all, &on); at < all->list.n; at++) {
		const struct row_note *note = &all->list.v[at];

		if (note->on.kind != NOTE_TIME || (int64_t)note->on.id > to_s)
			break;
		if (!strcmp(note->on.fabric, on.fabric))
			return note;
	}
	return NULL;
}
