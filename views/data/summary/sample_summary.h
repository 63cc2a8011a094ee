/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_summary: one sample and its rates added up, and what is looked at often as columns.
 *
 * A pure function of what it is made from, so that the thread that reads counters makes it and
 * the one that draws only looks; immutable.
 */
#pragma once

#include "engines/geometry/tiers.h"
#include "fabric/model/traffic/sample.h"
#include "views/data/summary/history.h"

#include <stdint.h>

enum problem {
	PROBLEM_NONE,
	PROBLEM_REDUCED,  /* slower or narrower than its kind */
	PROBLEM_ERRORS,	  /* error counters rise */
	PROBLEM_NO_REPLY, /* counters were asked for and did not come */
	PROBLEM_DOWN,	  /* cabled, but not active */
	PROBLEM_KINDS
};

struct tier_sum {
	uint32_t links, known;			       /* directions; with a rate */
	double util_min, util_avg, util_max, wait_max; /* NAN unknown */
};

#define HOT_LINKS 64

/* A port whose errors rise, and that has no worse problem. */
struct rising {
	uint32_t port;
	uint8_t other; /* enum problem: what it has beside */
	double per_min;
};

/* Channels by a figure, highest first, equals as they come; those without wait or errors are left
 * out. */
struct sample_top {
	uint32_t n;
	uint32_t chan[HOT_LINKS];
};

struct sample_summary {
	const struct fabric *fabric; /* own references */
	const struct sample *sample;
	const struct rates *rates; /* NULL: a first sample */

	double *util;	    /* per cent, by channel; NAN unknown */
	double *congestion; /* port_rate_congestion(), likewise */
	uint8_t *row;	    /* for struct history: history_row() */

	uint8_t *problem; /* by fabric port, without rising errors and links that were lost */
	uint32_t count[PROBLEM_KINDS];
	struct rising *rising;
	uint32_t nrising;

	struct tier_sum tier[TIERS];
	double load_pct; /* mean utilisation of all known channels; NAN none */
	struct sample_top top[HISTORY_METRICS];
	uint32_t *waiting; /* channels that wait at all, ascending */
	uint32_t nwaiting;
	uint32_t (*fullest)[2]; /* by switch: its ports that send most, FAB_NONE: that is nothing */
	int refs;
};

/* What the figures of a fabric's ports are measured by; once per fabric. */
struct reference_rates {
	uint32_t *expect;	   /* by fabric port: slow_cables.h */
	const struct tiers *tiers; /* borrowed */
};

void reference_rates_take(struct reference_rates *n, const struct fabric *f, const struct tiers *t);
void reference_rates_drop(struct reference_rates *n);

/* sample and rates: of f, or NULL.  O(ports). */
struct sample_summary *sample_summary_new(const struct fabric *f, const struct reference_rates *n,
					  const struct sample *sample, const struct rates *rates);
/* Ports by problem, of which those whose errors rise by more than that a minute. */
void sample_summary_problems(uint32_t count[PROBLEM_KINDS], const struct sample_summary *t,
			     double errors_limit);
const struct sample_summary *
sample_summary_get(const struct sample_summary *t);	 /* thread-safe; returns t */
void sample_summary_put(const struct sample_summary *t); /* NULL is fine */
