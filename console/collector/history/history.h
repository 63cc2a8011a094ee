/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history: what a collector found out, kept in a file of SQLite for whoever looks back.
 *
 * Each frame of samples, fabrics, tables, jobs, the SM and findings is a row, compressed, those
 * that say the same as the one before left out; lines of the log are rows of their own.  One
 * writer, any number of readers, each with a struct of its own, in a thread of its own.
 */
#pragma once

#include "console/collector/frame/frame.h"

#include <stdbool.h>
#include <stdint.h>

struct history_keep {
	int64_t age_ms; /* what is older goes */
	uint64_t bytes; /* of the file: the oldest goes until it has no more */
};

struct history;

/* keep NULL: to be read only.  -ENOENT: there is no such file to be read.  One that is damaged is
 * set aside by the writer (*aside: under that name, for the caller to free; else NULL) and a
 * new one begins; for a reader it is -EIO. */
int history_open(struct history **out, const char *path, const struct history_keep *keep,
		 char **aside, struct err *err);
void history_close(struct history *h); /* NULL is fine */

/* Of a kind that is kept; others are left out.  -ENOSPC: the disk is full; -EIO: the file is
 * damaged. O(log rows) and the compression. */
int history_add(struct history *h, const struct frame *f, struct err *err);
/* Removes what is too old, and samples between which there is to be more time by now (see
 * history_thin.h), a part at a time.  0, or as above; *more: call again. */
int history_thin(struct history *h, int64_t now_ms, bool *more, struct err *err);

/* The last of that kind until at_ms, with it; -ENOENT: there is none; -EIO: it cannot be read. */
int history_last(struct frame **out, struct history *h, enum frame_kind kind, int64_t at_ms,
		 struct err *err);
/* The last lines of the log until at_ms, at most HISTORY_LINES, and n others behind them: a frame
 * of frame_of_lines().  What of it cannot be read is a line, too. */
#define HISTORY_LINES	   256
#define HISTORY_LINES_ALSO 8
void history_lines(struct frame **out, struct history *h, int64_t at_ms,
		   const struct log_line *also, uint32_t n);
/* A line of that time that says what is missing. */
struct log_line history_missing(int64_t at_ms, const struct err *why);
/* Times of samples: the last until at_ms (with it), or step so many before or after it, as far as
 * there are any.  -ENOENT: there is none, or, without a step, none until then. */
int history_sample_at(int64_t *time_ms, struct history *h, int64_t at_ms, int32_t step,
		      struct err *err);
/* The next event of another sample than the one at that time: after it, or with by < 0 before.
 * -ENOENT: there is none. */
int history_event(struct log_line *out, struct history *h, int64_t at_ms, int32_t by,
		  struct err *err);
/* 0: nothing is kept. */
int64_t history_oldest_ms(struct history *h);
uint64_t history_bytes(struct history *h); /* of the file */
