/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_kit: what the programs that print measurements share. */
#ifndef TESTS_BENCH_BENCH_KIT_H
#define TESTS_BENCH_BENCH_KIT_H

#include "fabric/sim/topo.h"

#include <time.h>

/* CPU seconds of this process, all threads. */
static inline double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The fabric of a generator's text; the caller owns one reference. */
static inline int make_fabric(struct fabric **out, const char *spec, struct err *err)
{
	struct freeze_opts opts = { .lmc = -1 };
	struct builder *b;
	int rc = topo_build(&b, spec, err);

	if (rc)
		return rc;
	rc = builder_freeze(out, b, &opts, err);
	builder_free(b);
	return rc;
}

#endif
