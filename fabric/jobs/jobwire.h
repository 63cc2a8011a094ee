/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobwire: what a SLURM poller (ibroute-slurm, or this program for squeue) writes to its stdout.
 *
 * JSON, an object a line; the first tells the version of the protocol, and who speaks:
 *
 *   {"ibroute-slurm": 2, "slurm": "22.5.8"}
 *   {"job": 7, "name": "wrf", "user": "sato", "nodes": "n[0001-0002]", "start": 1700000000,
 *    "label": "5_1", "partition": "gpu", "account": "met", "reservation": "", "features": "ib"}
 *   {"end": 1700000042, "jobs": 1, "pending": 3, "other": 0, "failed": [5]}   a list is whole
 *   {"same": 1700000052}                       asked again, nothing has changed since
 *   {"fail": 1700000062, "text": "..."}        asked in vain
 *
 * A component of a heterogeneous job has the leader's number and "het", its offset; end, same and
 * fail have the time of the question.  Version 2 has the keys of job_attr.h, of which those of
 * empty texts may be missing; "label" is the job as SLURM shows it where that is not the number.  A
 * helper of version 1, built before, says none of them, and is understood.  Keys that are not known
 * are left alone, so that a later helper may say more; a change that an older reader would take
 * wrongly is another version.  The reader trusts no input: lengths, types, ranges and node lists
 * are checked, control characters in texts become '?'.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/jobs/job_list.h"

#include <stddef.h>
#include <stdint.h>

#define JOBWIRE_VERSION	 2
#define JOBWIRE_OLDEST	 1	    /* that is read */
#define JOBWIRE_MAX_LINE (8u << 20) /* bytes */
#define JOBWIRE_MAX_JOBS 1000000u   /* of a list */

enum jobwire_type {
	JOBWIRE_HELLO = 1, /* the poller runs; text: version of SLURM */
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

/* Lines to write; the caller frees them.  job_list_sort() is the reader's: components go as they
 * were added.  HELLO has no time, SAME no text. */
char *jobwire_list(size_t *len, const struct job_list *l);
char *jobwire_text(size_t *len, enum jobwire_type type, int64_t time_s, const char *text);

struct jobwire_reader;

struct jobwire_reader *jobwire_reader_new(void);
void jobwire_reader_free(struct jobwire_reader *r); /* NULL is fine */
void jobwire_feed(struct jobwire_reader *r, const void *data, size_t len);
/* 1: *out holds a message; 0: more bytes are needed; -EPROTONOSUPPORT: the other side speaks
 * another version; -EPROTO: what came is not this protocol (err says where); then nothing more can
 * be read. */
int jobwire_next(struct jobwire_msg *out, struct jobwire_reader *r, struct err *err);
