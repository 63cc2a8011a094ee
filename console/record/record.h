/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: an audit log of a session, one JSON object a line, each with the SHA-256 of the line
 * before (a chain); and beside it a recording of the screen, where there is one.
 *
 * Its lines are those of record_line.h, its files those of record_files.h: when one is too long,
 * record.rotate ends a part and record.part begins the next one.  Secrets such as M_Keys must not
 * be given.  Thread-safe.
 *
 * record_start() has a thread of its own for all that (record_queue.h), with the time and in the
 * order in which it was added; what is on disk after a crash is a prefix of that.
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "views/canvas/canvas.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_PART_BYTES  (16u << 20)
#define RECORD_CAST_BYTES  (256u << 20)
#define RECORD_QUEUE_BYTES (16u << 20)

struct record;

struct record_opts {
	const char *dir;    /* NULL: the default */
	const char *fabric; /* its name, may be NULL */
	const char *mode;   /* "ro", "rw", "demo", ... for the first line */
	bool syslog;	    /* heads also to syslog, as IBROUTE_HEAD= */
	/* Size of a part, and of all screens of the session, 0: as above; beyond it the oldest
	 * parts of the screen without a marker are removed (record.drop). */
	uint64_t part_bytes, cast_bytes;
	size_t queue_bytes; /* that wait to be written; 0: as above */
};

/* Creates DIR/SID.jsonl (0640) with session.start, which names the last session's head.
 * Fails when it cannot be written and synced: then nothing may be changed in the fabric. */
int record_open(struct record **out, const struct record_opts *o, struct err *err);
/* The same in a thread of its own, which writes all that is added from now on: only record_whole(),
 * record_sync() and record_close() wait for the disk.  Strings of o must live until it is open, or
 * closed.  -errno: there is no thread. */
int record_start(struct record **out, const struct record_opts *o, struct err *err);
/* 0, -EINPROGRESS where it does not wait, or why it could not be opened: then what is added is
 * dropped, and nothing may be changed in the fabric. */
int record_opened(struct record *r, bool wait, struct err *err);
/* After record_start(): is something lost, now or since it was asked last, and why? */
bool record_lost(struct record *r, struct err *err);

/* Adds a line; takes the reference of data (NULL is an error: it could not be encoded).  After a
 * failed write the line is removed, and the next one is preceded by record.gap.  After
 * record_start() 0 says that it will be written; -ENOBUFS: too much waits for the disk. */
int record_add(struct record *r, const char *type, json_t *data, struct err *err);
/* The same with data as text of one JSON object, borrowed: faster for thousands of numbers. */
int record_add_text(struct record *r, const char *type, const char *data, struct err *err);
/* record_add() for whoever goes on without it: the log tells what failed.  r NULL: no record. */
void record_note(struct record *r, const char *type, json_t *data);
/* Records an error message that the operator has seen. */
void record_error(struct record *r, const char *area, const char *text);
/* Records a frame, where it differs from the last one; colours: of the terminal (256, 16, 0).
 * After a failure record_sync() fails until a frame can be written again. */
int record_screen(struct record *r, const struct canvas *c, int colours, struct err *err);
/* A marker in the recorded screen that players can jump to. */
void record_mark(struct record *r, const char *label);
/* 0: nothing was lost, and no sync of an ended part failed; does not sync.  After such a failure it
 * and record_sync() always fail. */
int record_whole(struct record *r, struct err *err);
int record_sync(struct record *r, struct err *err);  /* on disk when 0; heads to syslog */
int record_close(struct record *r, struct err *err); /* session.end, sync, free; NULL is fine */

const char *record_sid(const struct record *r);
const char *record_path(struct record *r); /* of its first part; "": it is not open */
uint64_t record_seq(struct record *r);	   /* lines so far */
bool record_is_first(struct record *r);	   /* it is open, and its folder had none before */
void record_head(struct record *r, struct digest *head, uint64_t *cast_bytes);
