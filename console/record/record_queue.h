/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_queue: what is to be recorded, in the order in which it came, and the thread that writes
 * it: whoever adds to it does not wait for the disk.
 *
 * When more than so many bytes wait, nothing is taken until half of them are written.  What was
 * lost meanwhile is noted with the next entry.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "views/canvas/canvas.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum record_what { RECORD_LINE, RECORD_FRAME, RECORD_MARK, RECORD_WHOLE, RECORD_SYNC };

struct record_time {
	struct timespec wall;
	uint64_t mono_ns; /* clock_ns(); 0: not known yet */
};

struct record_entry {
	enum record_what what;
	struct record_time at;
	const char *type;
	const char *text; /* data of a line, NULL: it could not be encoded; label of a marker */
	const struct canvas *screen;
	int colours;
	uint64_t lost_lines, lost_frames; /* just before it */
};

/* In the queue's thread: open once, then write for each entry, where open did not fail. */
struct record_queue_ops {
	int (*open)(void *of, struct err *err);
	int (*write)(void *of, const struct record_entry *e, struct err *err);
};

struct record_queue;

void record_time_now(struct record_time *t);

/* -errno: there is no thread. */
int record_queue_start(struct record_queue **out, const struct record_queue_ops *ops, void *of,
		       size_t bytes, struct err *err);
/* What open() returned; without wait -EINPROGRESS when it has not returned yet. */
int record_queue_opened(struct record_queue *q, bool wait, struct err *err);
/* Copies the entry, with the time of now.  -ENOBUFS: the queue is full. */
int record_queue_add(struct record_queue *q, const struct record_entry *e, struct err *err);
/* The same, also to a full queue; waits for it, and returns what write() or open() did. */
int record_queue_ask(struct record_queue *q, const struct record_entry *e, struct err *err);
bool record_queue_full(struct record_queue *q, struct err *err);
/* After all of it was written; lost: what was lost since the last entry.  Frees it. */
void record_queue_end(struct record_queue *q, struct record_entry *lost);
