/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobwire: what the SLURM poller sends to its parent.
 *
 * Frames of 16 bytes (magic, version, type, length, CRC-32, all little endian) and a payload.
 *  The reader trusts no input: lengths, counts and strings are checked, control characters in
 * texts become '?'.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/jobs/job_list.h"

#include <stddef.h>
#include <stdint.h>

#define JOBWIRE_VERSION	  2
#define JOBWIRE_MAX_BYTES (64u << 20) /* of a payload */

enum jobwire_type {
	JOBWIRE_HELLO = 1, /* the poller runs; text: version of libslurm */
	JOBWIRE_LIST,	   /* the jobs */
	JOBWIRE_SAME,	   /* asked again, nothing changed since the last list */
	JOBWIRE_FAIL,	   /* asked in vain; text: why */
};

struct jobwire_msg {
	enum jobwire_type type;
	int64_t time_s;	       /* Unix time of the question */
	char text[400];	       /* HELLO, FAIL */
	struct job_list *list; /* LIST: sorted; the caller's */
};

/* One frame to write; the caller frees it. */
uint8_t *jobwire_list(size_t *len, const struct job_list *l);
uint8_t *jobwire_text(size_t *len, enum jobwire_type type, int64_t time_s, const char *text);

struct jobwire_reader;

struct jobwire_reader *jobwire_reader_new(void);
void jobwire_reader_free(struct jobwire_reader *r); /* NULL is fine */
void jobwire_feed(struct jobwire_reader *r, const void *data, size_t len);
/* 1: *out holds a message; 0: more bytes are needed; -EPROTO: what came is not this protocol
 * (err says where), and nothing more can be read. */
int jobwire_next(struct jobwire_msg *out, struct jobwire_reader *r, struct err *err);
