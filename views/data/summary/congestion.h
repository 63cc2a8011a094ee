/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * congestion: full ports and the links that wait for them, as findings.
 *
 * From a link that waits one goes on to the fullest port behind it, for as long as that is fuller
 * and waits itself: the port where this ends is the cause of all links that lead there.
 */
#pragma once

#include "views/data/summary/sample_summary.h"

#include <stdint.h>

struct congestion_finding {
	uint32_t port; /* the cause, a fabric port; a link that waits for nothing fuller: its own */
	uint32_t waiting; /* links */
	uint32_t longest; /* channel of them that waits most */
	double worst_pct; /* the highest port_rate_congestion() of the cause and of them */
};

struct congestion {
	double wait_pct; /* links that wait as much are congested */
	uint32_t n;
	struct congestion_finding *finding; /* the worst first */
	uint32_t *of_chan;		    /* index in finding; FAB_NONE: in none */
};

/* From here on a link waits too much, as the limit for warnings says; that may be 0. */
double congestion_limit(double warn_pct);

/* What is in the rates of a sample, also without any.  O(channels), and O(n log n) of those that
 * wait. */
void congestion_find(struct congestion *out, const struct sample_summary *t, double wait_pct);
void congestion_done(struct congestion *c); /* leaves it empty */
