/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deadlock_test: tables under packets, until they stand in a circle, all has arrived or the time is
 * over.  Who sends to whom is deadlock_traffic.h's. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/sim/packet/packets.h"

struct deadlock_test_opts {
	uint64_t seed;
	uint64_t message; /* bytes that each connection sends; 0: without end */
	bool shared;	  /* the VLs of a port share its buffer ... */
	unsigned vls;	  /* ... so many; 0: as the tables say, else 15 */
};

struct deadlock_test {
	const struct fabric *f; /* not owned */
	struct deadlock_test_opts o;
	struct packets *p;
	uint32_t *src;	       /* of each connection */
	uint32_t nconn, aimed; /* of them on paths of a cycle */
	uint64_t limit_ns;

	/* of the deadlock, if there is one */
	struct packets_wait *cycle;
	uint32_t ncycle;
	uint64_t closed_ns;
	bool still; /* nothing moves any more, anywhere */
	struct packets_counts n;
	uint32_t complete; /* messages that arrived as a whole */
};

/* o may be NULL: without end, a buffer for each VL, seed 1. */
void deadlock_test_init(struct deadlock_test *s, const struct fabric *f, const struct tables *t,
			const struct deadlock_test_opts *o);
void deadlock_test_free(struct deadlock_test *s); /* an all-zero one is fine */

/* From a terminal to a LID, with the SL that the tables say. */
void deadlock_test_connect(struct deadlock_test *s, const struct tables *t, uint32_t src,
			   uint16_t dlid);

/* Runs for so long, or until nothing is left to send, or until a deadlock and then until all who
 * have to wait for it do.  -ECANCELED with a sentence.  Progress steps, both in ns of the
 * simulation: "simulating", and "settling" after a deadlock. */
int deadlock_test_run(struct deadlock_test *s, uint64_t limit_ns, struct progress *progress,
		      struct err *err);
