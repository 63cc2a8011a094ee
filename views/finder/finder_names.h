/* SPDX-License-Identifier: GPL-2.0-or-later */
/* finder_names: the names of everything that one may go to, as texts to be searched. */
#pragma once

#include "fabric/base/memory/vec.h"
#include "views/data/state/state.h"

#include <stddef.h>
#include <stdint.h>

enum finder_kind {
	FINDER_VIEW,
	FINDER_COMMAND,
	FINDER_SAVED,	 /* a view that was saved */
	FINDER_BOOKMARK, /* a moment */
	FINDER_NOTE,	 /* its text leads to what it is on */
	FINDER_JOB,
	FINDER_SWITCH,
	FINDER_HOST,
	FINDER_LINK,
	FINDER_KINDS
};

/* What is neither of the fabric nor a job. */
struct finder_word {
	enum finder_kind kind;
	char *name, *about;
	uint32_t at; /* for whoever gave it */
};

struct finder_name {
	uint32_t from; /* in the texts */
	uint32_t at;   /* view, switch, terminal, channel, job of the set; of words: which */
	uint8_t kind;
};

struct finder_names {
	const struct fabric *fabric; /* own references, as the next */
	const struct jobset *jobs;
	VEC(struct finder_name) name;
	VEC(char) text;	 /* as shown */
	VEC(char) lower; /* likewise, in lower case, at the same places */
};

/* Names of words[], then of the jobs, then of the fabric; s->fabric and jobs may be NULL.
 * O(names). */
void finder_names_make(struct finder_names *m, const struct finder_word *words, uint32_t n,
		       const struct fabric *f, const struct jobset *jobs);
void finder_names_done(struct finder_names *m);

const char *finder_names_text(const struct finder_names *m, uint32_t i);
const char *finder_names_lower(const struct finder_names *m, uint32_t i);
