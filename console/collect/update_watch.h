/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * update_watch: the updates of a fabric, counted: from their journals, of which those that are over
 * are read once, and from what those counted that were removed.
 */
#pragma once

#include "fabric/update/journal/journal_counts.h"

#include <stdbool.h>
#include <stdint.h>

/* Immutable once it is shared. */
struct update_counts {
	struct journal_counts by; /* of those that are over */
	uint32_t open;		  /* that a process works on */
	uint32_t left;		  /* that are not over and that none works on */
	int64_t step_ms;	  /* the last step of any, of any fabric; 0: there was none */
	/* the newest that was confirmed */
	int64_t confirmed_s; /* 0: there is none */
	struct txn_gain gain;
	int refs;
};

struct update_counts *update_counts_new(void);
const struct update_counts *update_counts_get(const struct update_counts *c); /* returns c */
void update_counts_put(const struct update_counts *c); /* both thread-safe; NULL is fine */

struct update_watch;

/* state_dir NULL: the default; fabric: its updates, NULL: all. */
struct update_watch *update_watch_new(const char *state_dir, const char *fabric);
void update_watch_free(struct update_watch *w); /* NULL is fine */

/* What is there now, for the caller; NULL: what was there at the last look, or it cannot be
 * read. */
const struct update_counts *update_watch_look(struct update_watch *w);
