/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_list: the records of a directory and what was done in one of them, as view 9 shows it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct session_row {
	char file[80]; /* its name in the directory */
	char sid[64];
	uint32_t part;		 /* from 1 on */
	char start[40], end[40]; /* UTC, as recorded; of the last line when it has no end */
	char fabric[64], mode[16];
	uint32_t uid;
	uint64_t updates, lines, bytes, gaps;
	bool open_end; /* open, killed, or its tail was cut */
	bool now;      /* it is the one that goes on here */
	bool ok;       /* every line as written */
	bool screen;   /* was recorded and is there */
	bool told;     /* by the index of a collector: nobody has verified it */
	uint64_t epoch;
	char what[256]; /* the finding; "" none */
	char head[65];
};

struct session_action {
	uint64_t seq;
	char time[16]; /* of the day, UTC */
	char what[32];
	char text[200];
	bool loud; /* it went wrong, or wants to be seen */
};

/* Newest first. */
struct sessions {
	char dir[200];
	uint64_t serial; /* another one each time that they are read */
	struct session_row *row;
	uint32_t nrow;

	char opened[80]; /* file whose actions these are; "" none */
	char why[256];	 /* they could not be read */
	struct session_action *action;
	uint32_t naction;
};

/* "whole", "CHANGED", ...: what verifying it found. */
const char *session_verdict(const struct session_row *row);
/* Changed, or with gaps, or without an end. */
bool session_problem(const struct session_row *row);

void sessions_free(struct sessions *s); /* NULL is fine */
