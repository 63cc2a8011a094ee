/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * predict: what bandwidth tables give to traffic, by counting flows on links; no packets.
 *
 * Links are the directed channels between switches and both directions of every terminal's own
 * cable.  Rates count as shares of full bandwidth: 1.0 is what the slower of the two ends'
 * own cables carries.  Cables whose rate is not known carry as much as the fastest terminal's.
 * Results depend on the input and the seed alone, whatever the number of threads.
 */
#ifndef ENGINES_PREDICT_H
#define ENGINES_PREDICT_H

#include "fabric/base/err.h"
#include "fabric/base/progress.h"
#include "fabric/model/fabric.h"
#include "fabric/model/jobset.h"
#include "fabric/model/tables.h"

#define PREDICT_MAX_LIDS 128 /* of a terminal */

/* The LIDs of dst that src sends to, 1..PREDICT_MAX_LIDS of them, equally much to each.
 * Called from several threads at once. */
typedef uint32_t (*predict_lids_fn)(void *ctx, uint32_t src, uint32_t dst, uint16_t *lids);

/* One such choice: all of the first 2^lmc LIDs; ctx: struct predict_spread. */
struct predict_spread {
	const struct fabric *f;
	uint8_t lmc;
};
uint32_t predict_lids_spread(void *ctx, uint32_t src, uint32_t dst, uint16_t *lids);

struct ebb_opts {
	uint32_t bisections; /* 0: predict_default_bisections() */
	uint64_t seed;
	unsigned threads;     /* 0: one per core */
	predict_lids_fn lids; /* NULL: the base LID */
	void *lids_ctx;
};

/*
 * Effective bisection bandwidth (Hoefler, Schneider, Lumsdaine, "Multistage switches are not
 * crossbars", 2008): the terminals are paired off at random, both of a pair send to each other,
 * and every pair gets 1 / (flows on the fullest link of its way).  Mean over the pairs of a
 * bisection, then over the bisections.  One terminal of an odd number rests.
 */
struct ebb {
	uint32_t bisections;
	double mean;	   /* 0..1 */
	double ci95;	   /* the mean of ever more bisections is within mean +- ci95 (95 %) */
	double min, max;   /* of a bisection */
	uint64_t pairs;	   /* directed, over all bisections */
	uint64_t stranded; /* of them without a way; they count as 0 */
};

/* So many that predict_ebb() takes about half a second of one core, 20 to 1,000.  From the
 * size of the fabric alone, so that results can be compared. */
uint32_t predict_default_bisections(const struct fabric *f);

/* opts may be NULL.  -ECANCELED; -EINVAL when the tables are of another fabric.  Progress step:
 * "bisections".  Without two terminals the result is 1.0 over no pairs. */
int predict_ebb(struct ebb *out, const struct fabric *f, const struct tables *t,
		const struct ebb_opts *opts, struct progress *progress, struct err *err);

#endif
