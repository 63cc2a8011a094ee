/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * acts: what people and programs have done to a fabric: baselines, updates, and the records of
 * sessions; as their files tell.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum act_kind { ACT_BASELINE, ACT_UPDATE, ACT_RECORD, ACT_KINDS };

struct act {
	enum act_kind kind;
	char id[80];	 /* of an update; file of a record; fabric and time of a baseline */
	char fabric[64]; /* "": not known, as the others */
	char user[40];	 /* who did it, or owns the file */
	char host[72];
	char plan[16], engine[24]; /* of an update */
	/* of an update as txn_state_name(), of a baseline "learnt" or "accepted", of a record
	 * "open" or "closed" */
	char state[24];
	char text[304];		  /* with it, for people */
	int64_t begin_ms, end_ms; /* end: of the last step, of the last line */
	uint64_t blocks;	  /* of an update: of LFTs, and SL2VL tables */
	uint64_t bytes;		  /* of a record */
};

/* Immutable once it is shared. */
struct acts {
	struct act *v; /* by kind, newest first */
	size_t n, cap;
	int refs;
};

bool act_same(const struct act *a, const struct act *b);

struct acts *acts_new(void);
const struct acts *acts_get(const struct acts *l); /* thread-safe; returns l */
void acts_put(const struct acts *l);		   /* NULL is fine */

struct acts_dirs {
	const char *state;  /* NULL: the default, as the next */
	const char *record; /* "": no records */
};

/* What is there now, as far as it can be read. */
void acts_scan(struct acts *out, const struct acts_dirs *dirs);
