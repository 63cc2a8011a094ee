/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_history: the counters of the last samples with what was known then, in bounded memory.
 *
 * A sample is kept as its difference to the one before (every PAST_GROUPth whole), some 20 bytes
 * per port with traffic instead of 96; rates are computed again from two of them, so that a moment
 * is shown with the very figures it had.  When the room is used up, the oldest SAMPLE_HISTORY_GROUP
 * goes.
 */
#pragma once

#include "engines/metrics/metrics.h"
#include "engines/verify/verify.h"
#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"
#include "fabric/model/traffic/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Figures of tables with jobs, shared by all moments that had them. */
struct metrics_set {
	struct metrics *metrics;
	struct verdict *verdict;
	const struct jobset *jobs;
	struct metrics_set *verdict_of; /* NULL: the verdict is its own */
	int refs;
};

/* Takes metrics, verdict and jobs; verdict NULL: that of before, which may be NULL too. */
struct metrics_set *metrics_set_new(struct metrics *m, struct verdict *v, const struct jobset *jobs,
				    struct metrics_set *before);
struct metrics_set *metrics_set_get(struct metrics_set *f);
void metrics_set_put(struct metrics_set *f); /* NULL is fine */

/* What was known when a sample was taken; pointers are borrowed when given, references inside. */
struct backdrop {
	const struct fabric *fabric;
	const struct tables *tables;
	const struct jobset *jobs;
	struct metrics_set *figures;
	bool sls_known;
};

struct sample_history;

#define SAMPLE_HISTORY_MAX   600
#define SAMPLE_HISTORY_MB    128
#define SAMPLE_HISTORY_MARKS 32
#define SAMPLE_HISTORY_GROUP 16 /* every so many is kept whole */

struct sample_history *sample_history_new(size_t bytes_max, uint32_t samples_max);
void sample_history_free(struct sample_history *p); /* NULL is fine */

/* The same samples and bookmarks without figures, for another thread to read or write, while this
 * one goes on with p: shares the bytes of samples.  Its last sample is not known: nothing can be
 * added to it but whole ones.  O(samples). */
struct sample_history *sample_history_copy(const struct sample_history *p);

/* Another sample of b's fabric; one that is kept already is left out.  O(ports). */
void sample_history_add(struct sample_history *p, const struct backdrop *b, const struct sample *s,
			int64_t time_s);
struct sample_reading;
/* The same; takes over the bytes of the reading when they follow on what is kept.  O(1) then. */
void sample_history_add_reading(struct sample_history *p, const struct backdrop *b,
				struct sample_reading *r, int64_t time_s);
/* Figures came in after the samples that they belong to: for all with b's tables and jobs. */
void sample_history_metrics(struct sample_history *p, const struct backdrop *b);

/* Serials count up from 1 and never come twice. */
uint64_t sample_history_oldest(const struct sample_history *p); /* 0: there is none */
uint64_t sample_history_newest(const struct sample_history *p);
uint32_t sample_history_count(const struct sample_history *p);
size_t sample_history_bytes(
	const struct sample_history *p); /* used, without tables and jobs that are in use now */
/* The serial of the sample that was taken at time_ns; 0: it is not kept. */
uint64_t sample_history_find(const struct sample_history *p, uint64_t time_ns);

int64_t sample_history_time(const struct sample_history *p,
			    uint64_t serial); /* of one that is kept */

/* One moment.  References of its own. */
struct snapshot_at {
	uint64_t serial;
	int64_t time_s;
	struct backdrop was;
	const struct sample *sample;
	const struct rates *rates; /* NULL: no sample of the same fabric before it */
};

/* false: not kept (any more).  O(ports * SAMPLE_HISTORY_GROUP). */
bool sample_history_get(struct snapshot_at *out, struct sample_history *p, uint64_t serial);
void snapshot_at_done(struct snapshot_at *m);

/* Bookmarks, oldest first. */
struct mark {
	uint64_t serial;
	int64_t time_s;
	char name[32];
};

/* name "": a number.  false: there are SAMPLE_HISTORY_MARKS already. */
bool sample_history_mark(struct sample_history *p, uint64_t serial, int64_t time_s,
			 const char *name);
uint32_t sample_history_marks(const struct sample_history *p, const struct mark **out);
const char *sample_history_mark_name(const struct sample_history *p, uint64_t serial); /* or "" */

/* All samples of b's fabric, with the states of its ports, which text dumps leave out. */
int sample_history_write(FILE *out, struct sample_history *p, const struct backdrop *b,
			 struct err *err);
/* The states of its ports, for f, which is of the dump beside it and in nobody else's hands yet.
 * what: for messages, here and below. */
int sample_history_read_ports(FILE *in, struct fabric *f, const char *what, struct err *err);
/* Into an empty history: the samples of f, with t and jobs where these were known. */
int sample_history_read(struct sample_history *p, FILE *in, const struct fabric *f,
			const struct tables *t, const struct jobset *jobs, const char *what,
			struct err *err);
