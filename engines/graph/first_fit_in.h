/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of vl_first_fit share; nobody else includes this. */
#ifndef ENGINES_GRAPH_FIRST_FIT_IN_H
#define ENGINES_GRAPH_FIRST_FIT_IN_H

#include "engines/graph/cdg.h"
#include "engines/graph/first_fit_order.h"
#include "engines/graph/vl_first_fit.h"
#include "fabric/base/pool.h"

#define CHUNK 8		/* batches that are looked at by all threads before one inserts */
#define OPEN  UINT8_MAX /* path without a layer yet */
#define SAME  254	/* layer of the LID before, which has the same path */

/* Switches, LID after LID of a batch. */
struct list {
	uint32_t *at, n, room;
	uint32_t *turn;		   /* of theirs, the first */
	uint32_t end[COLUMNS_MAX]; /* of those of a LID */
};

/* LIDs of one destination switch. */
struct batch {
	const struct dest *d;
	uint32_t n;
	struct lft_columns col;
	uint8_t *layer;		/* by LID * nsw + switch */
	struct lft_columns old; /* in the tables to keep ... */
	uint8_t *was;	  /* ... and the SLs there, by LID * nsw + switch; OPEN: not to be kept */
	struct list open; /* paths without a layer, in order */
	struct list miss; /* turns of theirs that are not in layer 0, by where they begin */
	uint32_t bad_sw;  /* from here the tables do not lead to bad_lid; FAB_NONE: they do */
	uint16_t bad_lid;
	uint16_t twin; /* LID of before with the same paths as the only one here; 0: none */
};

struct fit {
	const struct fabric *f;
	struct tables *t;
	const struct tables *keep; /* NULL: none */
	const uint16_t *fixed;	   /* by turn: layers that have it; NULL: none */
	unsigned most;		   /* layers that may be kept */
	struct turns turns;
	/* by turn: layers that have it, the first eight apart so that they stay in the cache ... */
	uint8_t *has[2];
	uint16_t *never; /* ... and layers where it alone would close a cycle */
	struct cdg_work *work;
	struct cdg *cdg[FIRST_FIT_MAX];
	unsigned n; /* layers in use */
	uint32_t *out;
	struct batch batch[CHUNK];
	struct order *order; /* by worker */
	struct pool *pool;
	uint32_t *path;		 /* channels of the path at hand */
	uint32_t fitted, failed; /* LIDs as a whole */
	bool tries;
	uint32_t *added; /* turns of it that were added: index of the first channel */
	struct pace *pace;
	uint32_t done;	 /* LIDs, when a chunk began */
	uint64_t unseen; /* work that was not reported yet */
	uint64_t looked; /* work of the searches that was reported */
};

/* Layers that have a turn. */
static inline uint16_t layers_of(const struct fit *l, uint32_t turn)
{
	return (uint16_t)(l->n <= 8 ? l->has[0][turn] : l->has[0][turn] | l->has[1][turn] << 8);
}

static inline void note_layer(struct fit *l, uint32_t turn, unsigned k)
{
	l->has[k / 8][turn] |= (uint8_t)(1u << k % 8);
}

/* first_fit_look: paths and layers of a batch as far as they are known before anything of the chunk
 * is inserted; true when cancelled or a path does not arrive.  A pool's job, ctx a struct fit. */
bool vl_first_fit_look_ahead(void *ctx, unsigned worker, uint32_t i);

/* Which of nbatch switches' own LIDs take the paths of a terminal: their twin. */
void vl_first_fit_find_equal(struct fit *l, uint32_t nbatch);

/* The order of LID k of a batch; false when its paths do not arrive, which the batch then tells.
 * Paths and SLs of the tables to keep, and which paths to LID k are the same in both. */
bool vl_first_fit_order(const struct fit *l, struct order *o, struct batch *b, uint32_t k,
			bool *few);
void vl_first_fit_read_old(const struct fit *l, struct batch *b);
void vl_first_fit_compare(struct order *o, const struct batch *b, uint32_t k, uint32_t nsw);

#endif
