/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_near.h"

#define ROUNDS 3
#define FLOWS  (1u << 19)
#define WORK   (1ull << 28) /* of the first round, as from scratch ... */
#define POLISH (1ull << 26) /* ... and of the others */

/* Each round by other distances: what looks better by one sample only goes back. */
static int sar_near_round(struct tables *t, struct sar_timing *k, uint64_t sample, bool first)
{
	struct sar_search_opts opts = { .from = k->params->current,
					.detour = k->detour,
					.limit = UINT64_MAX,
					.begun = !first };
	uint64_t blocks;
	int rc = sar_timing_begin(k, FLOWS, sample, first ? WORK : POLISH);

	if (!rc)
		rc = sar_search_run(&k->search, t, &opts, &blocks);
	sar_timing_end(k);
	return rc;
}

int sar_near_route(struct tables **out, struct sar_timing *k, uint64_t sample)
{
	struct tables *t = sar_timing_copy(k, k->params->current);
	int rc = 0;

	for (uint64_t i = 0; i < ROUNDS && !rc; i++)
		rc = sar_near_round(t, k, sample + i, !i);
	if (rc) {
		tables_put(t);
		return rc;
	}
	*out = t;
	return 0;
}
