/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph: the switch graph as the engines walk it.
 *
 * The channels are the fabric's own CSR; here are the destinations in the order of an engine,
 * a dense number for every turn (channel, next channel), and what all engines refuse.
 */
#pragma once

#include "engines/engine.h"
#include "fabric/base/memory/pool.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

/* A LID to route to: the switch on which it ends and the port it leaves by (0: the switch). */
struct dest {
	uint32_t sw;
	uint32_t end; /* term, uncounted end, or nend + sw */
	uint16_t lid;
	uint8_t port;
};

/*
 * Traffic LIDs: of the 2^LMC LIDs of a terminal the first 2^lmc, where lmc is graph_lmc(): the
 * fabric's, or one less when the upper half are escape LIDs (engine_run() routes those).  The
 * functions below give traffic LIDs and switches' own LIDs only.
 */
uint8_t graph_lmc(const struct fabric *f, const struct engine_params *params);

/* All LIDs of that end, ascending; returns how many were written to out (room for 128). */
uint32_t graph_end_dests(struct dest *out, const struct fabric *f, uint8_t lmc, uint32_t end);

/* Number of LIDs to route to. */
uint32_t graph_count_lids(const struct fabric *f, uint8_t lmc);

/* Every LID to route to: terminals by LID, then uncounted ends by LID, then switches by LID.
 * Caller frees. */
struct dest *graph_dests_by_lid(uint32_t *n, const struct fabric *f, uint8_t lmc);

/* The same switch by switch: first the LIDs of terminals, then on every switch its uncounted
 * ends and itself. */
struct dest *graph_dests_by_switch(uint32_t *n, const struct fabric *f, uint8_t lmc);
/* The same with the switches in that order (nsw of them, each once); NULL: ascending. */
struct dest *graph_dests_in_order(uint32_t *n, const struct fabric *f, uint8_t lmc,
				  const uint32_t *switches);

/* 0, or -ENETUNREACH with a sentence that names a terminal (or switch) on either side. */
int graph_check_connected(const struct fabric *f, struct err *err);

/* Data VLs that may be used: as the parameters say, else what the links offer, else 8. */
unsigned graph_vls(const struct fabric *f, const struct engine_params *params);

/* New tables that say who makes them, with which VLs and seed.  Once cancelled they are not filled
 * to the end: the next step of the progress says so, at the latest engine_run(). */
struct tables *graph_tables(const struct fabric *f, const char *engine,
			    const struct engine_params *params, struct progress *progress);

/* SLs by switch, all 0.  Touches them in slices, which the threads of the pool (or NULL) take: the
 * first look at many pages takes long. */
void graph_sls_by_switch(struct tables *t, const struct fabric *f, struct pool *pool,
			 struct progress *progress, const char *step);

/* Turn (c, e), e leaving the switch where c arrives, has number base[c] + e (mod 2^32). */
struct turns {
	uint32_t *base;
	uint32_t n;
};

void turns_init(struct turns *t, const struct fabric *f);
void turns_done(struct turns *t);

static inline uint32_t turns_at(const struct turns *t, uint32_t c, uint32_t e)
{
	return t->base[c] + e;
}

/* Reports progress after about every work_max units of work (edges looked at), so that a
 * report costs nothing and a cancel is seen within milliseconds. */
struct pace {
	struct progress *progress;
	const char *step;
	uint64_t total, work, work_max;
	uint64_t done; /* of total, as reported last */
};

static inline bool pace_begin(struct pace *p, struct progress *progress, const char *step,
			      uint64_t total)
{
	*p = (struct pace){ .progress = progress, .step = step, .total = total };
	p->work_max = 1u << 20;
	return progress_step(progress, step, 0, total);
}

static inline bool pace_tick(struct pace *p, uint64_t done, uint64_t work)
{
	p->work += work;
	p->done = done;
	if (p->work < p->work_max && done < p->total)
		return false;
	p->work = 0;
	return progress_step(p->progress, p->step, done, p->total);
}

/* The same for work that brings nothing to an end. */
static inline bool pace_work(struct pace *p, uint64_t work)
{
	return pace_tick(p, p->done, work);
}

/* Takes the pages of a large block that is zero from the kernel, which may take milliseconds for
 * each: in slices, so that those who use it at random do not wait for all at once.
 * pace_cancelled() says whether that was. */
void pace_touch(struct pace *p, void *block, size_t bytes);

/* Was it cancelled, reported or not? */
static inline bool pace_cancelled(const struct pace *p)
{
	return progress_cancelled(p->progress);
}
