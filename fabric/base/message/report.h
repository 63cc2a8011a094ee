/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read_report: what a reader of files took, what it left out, and the first warnings. */
#pragma once

#include <stdint.h>

#define READ_REPORT_NOTES 16

struct read_note {
	uint64_t line; /* 0: the file as a whole */
	uint8_t gap;   /* not 0: one of read_report_gap() */
	char text[200];
};

struct read_report {
	char path[256];	   /* as shown to the operator */
	uint64_t lines;	   /* in the file */
	uint64_t records;  /* lines (or objects) taken over */
	uint64_t skipped;  /* lines that should have held something but could not be used */
	uint64_t gaps;	   /* of these, what the file names and does not have */
	uint64_t warnings; /* all of them, also those whose text was not kept */
	uint32_t nnotes;
	struct read_note notes[READ_REPORT_NOTES]; /* the first ones */
};

/* Every reader begins the report that it is given; NULL is fine for all four. */
void read_report_begin(struct read_report *r, const char *path);
void read_report_warn(struct read_report *r, uint64_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* As read_report_warn(), and counts the line as skipped. */
void read_report_skip(struct read_report *r, uint64_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As read_report_skip(): the file is damaged, and what it was to hold is not all there. */
void read_report_gap(struct read_report *r, uint64_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* "opensm.fdbs:17: ..." of note i; returns buf. */
char *read_report_line(char *buf, uint32_t len, const struct read_report *r, uint32_t i);

/* One that somebody else has filled may hold anything: afterwards its texts end and are plain. */
void read_report_sanitize(struct read_report *r);
