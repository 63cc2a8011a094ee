/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame: what a collector tells its viewers and keeps, as bytes: a head, a part that changes with
 * every telling, and a body by which two of a kind are known to say the same.
 *
 * Immutable once it is made; shared between threads by reference count.
 */
#pragma once

#include "console/session/message.h"
#include "fabric/base/file/bytes_io.h"
#include "fabric/base/hash/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_MAGIC   0x33726269u /* "ibr3": raised with the format of any frame */
#define FRAME_MAX     (1u << 30)  /* bytes behind a head */
#define FRAME_ASK_MAX 64	  /* the same of what a viewer sends */

enum frame_kind {
	/* from a collector */
	FRAME_HELLO = 1, /* the first one */
	FRAME_FABRIC,
	FRAME_TABLES, /* of the last fabric, as the next */
	FRAME_SAMPLE,
	FRAME_JOBS,
	FRAME_SOURCE, /* how the jobs are known */
	FRAME_SM,
	FRAME_FINDINGS,
	FRAME_NOTE, /* a message that is only words and numbers */
	FRAME_LOG,
	FRAME_PAST,    /* the answer to FRAME_ASK_PAST */
	FRAME_LINES,   /* in it */
	FRAME_ACTS,    /* who has done what, see acts.h */
	FRAME_UPDATES, /* see update_watch.h */
	FRAME_KINDS,
	/* from a viewer */
	FRAME_ASK_PAST = 64,
	FRAME_ASK_WANT, /* enum want_type in a byte; see viewers.h for who may */
};

struct frame_head {
	uint32_t magic, len; /* of what follows */
	uint32_t kind, zero;
	int64_t time_ms; /* of the wall clock, when it was found out */
};

struct frame {
	struct frame_head head;
	const uint8_t *data;	 /* head.len of them */
	uint32_t body, body_len; /* of these: what makes two of them the same */
	const struct frame
		*base; /* a sample that is kept as the difference to this one; else NULL */
	int refs;
};

struct hello {
	double interval_s; /* between two samples */
	int64_t since_ms;  /* the collector was started */
	int64_t oldest_ms; /* what it keeps begins then; 0: it keeps nothing */
	uint8_t may_write;
	char source[64]; /* "mlx5_0/1" */
	char jobs[24];	 /* "slurm", "file"; "" there are none */
	char version[24];
};

/* A question about the past. */
enum past_what { PAST_SAMPLE, PAST_EVENT };

struct past_ask {
	uint64_t serial; /* comes back */
	int64_t at_ms;
	int32_t step;  /* 0: the sample at that time or the last before; 1: the next after, -1: the
			  one before, 5: five after, ... */
	uint32_t what; /* PAST_EVENT: the moment of the next event after (step 1) or before (-1) the
			  sample at that time; of another number: as PAST_SAMPLE */
};

/* What is to be found of a moment.  Borrowed: NULL where nothing is kept. */
struct past_answer {
	uint64_t serial;
	int32_t rc;	  /* -ENOENT: nothing is kept there; -EIO: it cannot be read */
	int64_t time_ms;  /* of the sample */
	const char *text; /* why not; of an event: "1763608200 AREA: what" */
	const struct frame *fabric, *tables, *jobs;
	const struct frame *before, *sample; /* perhaps each with a base */
	const struct frame *events;	     /* of frame_of_lines() */
};

/* Each is the caller's. */
struct frame *frame_of_hello(const struct hello *h);
/* NULL: not for others.  Of MSG_FABRIC the findings are a frame of their own. */
struct frame *frame_of_msg(const struct msg *m);
/* Of MSG_SAMPLE, in columns, for frame_sample_kept(); time_ms: of the frame that others were sent.
 */
struct frame *frame_of_columns(const struct msg *m, int64_t time_ms);
/* Such a frame as it is kept, rounded as sample_columns_rounded() does for half of the bytes, with
 * the one before it, and as the difference to base, a whole one that is kept; both may be NULL.
 * NULL: they are not of columns, or of another fabric. */
struct frame *frame_sample_kept(const struct frame *f, const struct frame *before,
				const struct frame *base);
struct frame *frame_of_findings(const struct findings *l);
/* n lines of the log, oldest first. */
struct frame *frame_of_lines(const struct log_line *lines, uint32_t n);
struct frame *frame_of_past(const struct past_answer *a);
/* From where it was kept; takes data, which is from malloc(). */
struct frame *frame_kept(enum frame_kind kind, int64_t time_ms, uint8_t *data, uint32_t len);

const struct frame *frame_get(const struct frame *f); /* thread-safe; returns f */
void frame_put(const struct frame *f);		      /* NULL is fine */

/* Equal ones of a kind need not be kept twice. */
void frame_digest(struct digest *out, const struct frame *f);
