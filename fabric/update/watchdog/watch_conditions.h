/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_conditions: conditions that roll back an update that is not confirmed yet.
 *
 * Before the first write watch_begin() saves the state of the fabric; watch_poll() compares.
 *  Each condition can be switched off, and one that cannot be watched (no SM, no counters, no
 * batch system) says so and is off.
 *
 *   sm      another master SM, or the same one restarted, or none for 10 s
 *   errors  counters of the links whose routes change have risen by more than the limits; discards
 *           since the new routes are in use, where the old ones led to nowhere
 *   reach   a host that routes changed to does not answer any more (LID-routed NodeInfo from this
 *           port, three times in a row), or an LFT block or SL2VL table no longer holds what was
 *           written
 *   jobs    a job has ended with NODE_FAIL, or was requeued since a node of it is down
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/traffic/sample.h"
#include "fabric/plan/plan.h"
#include "fabric/wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

enum watch_what { WATCH_SM, WATCH_ERRORS, WATCH_REACH, WATCH_JOBS, WATCHES };

#define WATCH_ALL ((1u << WATCHES) - 1)

const char *watch_name(enum watch_what w); /* "sm", "errors", ... */
/* "sm,jobs": bits.  -EINVAL with the names that there are. */
int watch_parse(unsigned *mask, const char *list, struct err *err);

/* By how much a counter of one port may rise. */
struct watch_limits {
	uint64_t symbol, rcv, discard, downed;
};

extern const struct watch_limits watch_limits_default;
/* "symbol=50,downed=0" over what is there. */
int watch_limits_parse(struct watch_limits *l, const char *list, struct err *err);

/* What a condition has found. */
struct watch_finding {
	enum watch_what what;
	bool tripped;
	char text[200]; /* with the numbers; "" = nothing new */
};

struct job_source;
struct watch;

struct watch_opts {
	unsigned mask; /* bits of enum watch_what */
	struct watch_limits limits;
	struct job_source *jobs;       /* NULL: jobs cannot be watched; outlives the watch */
	uint32_t interval_ms[WATCHES]; /* 0: 2, 5, 3 and 1 s */
	/* Where the tables of before lose messages, their discards count from so long after the
	 * last write; 0: 1 s. */
	uint32_t settle_ms;
	/* Every block and table that was written read again: 0, or -EUCLEAN with the first that
	 * holds something else; NULL: not looked at.  In the thread that polls. */
	int (*blocks)(void *ctx, struct err *err);
	uint32_t blocks_ms; /* between two of these; 0: 3 s */
	void *ctx;
};

struct watch *watch_new(const struct watch_opts *o);
void watch_free(struct watch *w); /* NULL is fine */

/* Takes down how things are, over the wire; said() hears what is watched and what cannot be. */
void watch_begin(struct watch *w, struct wire *wire, const struct plan *p,
		 void (*said)(void *ctx, const struct watch_finding *f), void *ctx);
/* Looks at what is due.  false: nothing tripped; *out may have a text all the same. */
bool watch_poll(struct watch *w, struct watch_finding *out);
/* Only the SM, at once: between phases and waves.  true: tripped. */
bool watch_sm_now(struct watch *w, struct watch_finding *out);
uint32_t watch_next_ms(const struct watch *w); /* until something is due; at most 1000 */

/* From now on it is not looked at.  By the thread that polls. */
void watch_off(struct watch *w, enum watch_what what);

/* On, and what was seen last. */
bool watch_on(const struct watch *w, enum watch_what what);
const char *watch_last(const struct watch *w, enum watch_what what);
uint32_t watch_looks(const struct watch *w, enum watch_what what); /* times, since it began */

/* The pure part of "errors": the first port of those marked whose counters rose by more than the
 * limits.  A counter that fell (cleared by somebody) counts from 0.  false: none; *worst is the
 * largest sum of rises, for the log. */
bool watch_errors_judge(char *text, size_t size, uint64_t *worst, const struct fabric *f,
			const struct sample *was, const struct sample *is, const bool *marked,
			const struct watch_limits *l);
/* Ports (of the fabric) on links whose routes change: both ends. */
void watch_mark_links(bool *marked, const struct fabric *f, const struct changes *l);
/* The LIDs of hosts that some change routes otherwise, at most max, spread evenly. */
uint32_t watch_pick_lids(uint16_t *lids, uint32_t max, const struct fabric *f,
			 const struct changes *l);
