/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_notes: what an operator noted on a cable, a switch, a host, a job or a moment, shown wherever
 * that appears.
 */
#pragma once

#include "fabric/base/memory/vec.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOTE_TEXT   200 /* bytes, with the zero */
#define NOTE_FABRIC 48
#define NOTE_MOST   4096 /* notes */
#define NOTE_POINT  '"'	 /* left of what has a note */

enum note_kind { NOTE_LINK, NOTE_SWITCH, NOTE_HOST, NOTE_JOB, NOTE_TIME, NOTE_KINDS };

struct note_subject {
	enum note_kind kind;
	uint8_t port; /* LINK: of the switch */
	uint64_t id;  /* GUID of a switch or a host's port, number of a job, Unix time */
	char fabric[NOTE_FABRIC]; /* JOB and TIME: others have theirs; else "" */
	int64_t begun_s; /* JOB: when it did, for numbers come again; 0 unknown, and else */
};

struct row_note {
	struct note_subject on;
	int64_t time_s; /* when it was written */
	char text[NOTE_TEXT];
};

struct row_notes {
	VEC(struct row_note) list; /* by subject */
};

/* In place of one on the same; false: there are NOTE_MOST. */
bool row_notes_put(struct row_notes *all, const struct row_note *note);
void row_notes_done(struct row_notes *all);
/* NULL: none; all may be NULL. */
const struct row_note *row_notes_find(const struct row_notes *all, const struct note_subject *on);
bool note_subject_same(const struct note_subject *a, const struct note_subject *b);

/* The cable of a channel from either of its ends, a port by itself (also without a cable). */
const struct row_note *row_notes_chan(const struct row_notes *all, const struct fabric *f,
				      uint32_t chan);
const struct row_note *row_notes_port(const struct row_notes *all, const struct fabric *f,
				      uint32_t sw, uint8_t port);
const struct row_note *row_notes_switch(const struct row_notes *all, const struct fabric *f,
					uint32_t sw);
/* Of this one, not of another that had its number.  Of a note that does not say when its job began,
 * one that began before it was written. */
const struct row_note *row_notes_job(const struct row_notes *all, const struct fabric *f,
				     const struct job *job);
/* The first of a moment from ... to, both included. */
const struct row_note *row_notes_moment(const struct row_notes *all, const struct fabric *f,
					int64_t from_s, int64_t to_s);
/* Behind a text, with its sign; NULL: nothing.  Returns buf. */
const char *row_note_append(char *buf, size_t len, const struct row_note *note);

void note_subject_port(struct note_subject *out, const struct fabric *f, uint32_t sw, uint8_t port);
void note_subject_switch(struct note_subject *out, const struct fabric *f, uint32_t sw);
void note_subject_host(struct note_subject *out, const struct fabric *f, uint32_t term);
void note_subject_job(struct note_subject *out, const struct fabric *f, const struct job *job);
void note_subject_moment(struct note_subject *out, const struct fabric *f, int64_t time_s);
