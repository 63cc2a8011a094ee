/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_kit: what the programs that print measurements share. */
#pragma once

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/model/traffic/jobset.h"
#include "fabric/sim/topology/topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* CPU seconds of this process, all threads. */
static inline double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What a file of ibnetdiscover describes, or a generator's text; the caller frees it. */
static inline int make_builder(struct builder **b, const char *net, struct err *err)
{
	FILE *in = fopen(net, "r");
	struct ibnd_report report;
	int rc;

	if (!in)
		return topo_build(b, net, err);
	rc = ibnd_read(b, in, net, &report, err);
	fclose(in);
	return rc;
}

/* The fabric of either; the caller owns one reference. */
static inline int make_fabric(struct fabric **out, const char *spec, struct err *err)
{
	struct freeze_opts opts = { .lmc = -1 };
	struct builder *b;
	int rc = make_builder(&b, spec, err);

	if (rc)
		return rc;
	rc = builder_freeze(out, b, &opts, err);
	builder_free(b);
	return rc;
}

/* Jobs of random nodes, sizes from 1 to twice the mean; the caller owns one reference. */
static inline struct jobset *make_jobs(const struct fabric *f, uint32_t njob)
{
	struct jobset_builder *b = jobset_builder_new(f, "bench");
	const char **names = xcalloc(f->nterm, sizeof(*names));
	uint32_t *term = xcalloc(f->nterm, sizeof(*term)), i, j, n, at = 0;
	struct rng r;

	rng_seed(&r, 7);
	for (i = 0; i < f->nterm; i++)
		term[i] = i;
	rng_shuffle_u32(&r, term, f->nterm);
	for (j = 0; j < njob; j++) {
		struct job head = { .id = j + 1 };
		uint32_t span = 2 * f->nterm / njob;
		uint32_t want = 1 + (uint32_t)rng_below(&r, span ? span : 1);

		for (n = 0; n < want && at < f->nterm; n++)
			names[n] = f->term_name[term[at++]];
		jobset_builder_add(b, &head, names, n);
	}
	free(names);
	free(term);
	return jobset_build(b);
}
