/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deadlock_test: tables under packets, until they stand in a circle or the time is over. */
#pragma once

#include "engines/verify/verify.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/sim/packet/packets.h"

#include <jansson.h>
#include <stdio.h>

#define DEADLOCK_TEST_HOSTS 2 /* of each switch that send, as in HOTI16 */

struct deadlock_test {
	const struct fabric *f; /* not owned */
	struct packets *p;
	uint32_t *src;	       /* of each connection */
	uint32_t nconn, aimed; /* of them on paths of a cycle */
	unsigned vls;
	uint64_t limit_ns;

	/* of the deadlock, if there is one */
	struct packets_wait *cycle;
	uint32_t ncycle;
	uint64_t closed_ns;
	bool still; /* nothing moves any more, anywhere */
	struct packets_counts n;
};

void deadlock_test_init(struct deadlock_test *s, const struct fabric *f, const struct tables *t,
			uint64_t seed);
void deadlock_test_free(struct deadlock_test *s); /* an all-zero one is fine */

/* Endless connections on the paths that make a cycle: for each of its dependencies from the
 * terminal of the witness and others of its switch that send with the same SL. */
void deadlock_test_aim(struct deadlock_test *s, const struct tables *t, const struct witness *cycle,
		       uint32_t n);
/* And between terminals, each to `rounds` others, by chance. */
void deadlock_test_spread(struct deadlock_test *s, const struct tables *t, unsigned rounds,
			  uint64_t seed);

/* Runs for so long, or until a deadlock and then until all who have to wait for it do.  -ECANCELED
 * with a sentence.  Progress steps, both in ns of the simulation: "simulating", and "settling"
 * after a deadlock. */
int deadlock_test_run(struct deadlock_test *s, uint64_t limit_ns, struct progress *progress,
		      struct err *err);

/* A buffer of the circle: "S3/17 -> S9/4 VL 0, 25 packets, the first from n012 to LID 57 (SL 0)".
 */
void deadlock_test_line(char *buf, size_t len, const struct deadlock_test *s, uint32_t i);
json_t *deadlock_test_json(const struct deadlock_test *s);
void deadlock_test_print(FILE *out, const struct deadlock_test *s);
