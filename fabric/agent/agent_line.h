/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_line: what a client says to the node's agent over its Unix socket, one line at a time.
 * ibroute-agent.h documents the protocol.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define AGENT_LINE_MAX 256 /* bytes, with its end */
#define AGENT_JOB_MAX  64  /* bytes of a job's name, with its 0 */
#define AGENT_WHY_MAX  128

enum agent_verb {
	AGENT_HELLO,	  /* HELLO version job rank where */
	AGENT_DONE,	  /* DONE seq */
	AGENT_FAILED,	  /* FAILED seq [why] */
	AGENT_BYE,	  /* BYE */
	AGENT_ADD_JOB,	  /* ADD job [uid] */
	AGENT_END_JOB,	  /* END job */
	AGENT_GET_STATUS, /* STATUS */
	AGENT_FORGET	  /* FORGET */
};

/* Where a client's queue pairs are. */
enum agent_where { AGENT_AT_BASE, AGENT_AT_DRAINED, AGENT_AT_ESCAPE };

const char *agent_where_name(enum agent_where w); /* "base", "drained", "escape" */

struct agent_line {
	enum agent_verb verb;
	uint32_t version, rank, seq;
	uid_t uid; /* of ADD: the job's user, (uid_t)-1 where none is named */
	enum agent_where where;
	char job[AGENT_JOB_MAX];
	char why[AGENT_WHY_MAX]; /* plain text */
};

/* line: n bytes without the newline, any bytes at all.  -EINVAL with the reason. */
int agent_line_parse(struct agent_line *out, const char *line, size_t n, struct err *err);

/* Letters, digits and _ . + - : @, shorter than AGENT_JOB_MAX. */
int agent_job_check(const char *job, struct err *err);
