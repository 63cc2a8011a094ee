/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lft_columns: where the LFTs of all switches lead, a few LIDs at a time.
 *
 * The LFTs are kept switch by switch; who follows the paths to one LID wants them LID by LID.
 */
#pragma once

#include "engines/graph/graph.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

#define COLUMNS_MAX 64 /* LIDs at a time */

struct lft_columns {
	const struct fabric *f;
	const uint32_t *out; /* by fabric port: channel (denser than the ports themselves) */
	uint8_t *port;	     /* by LID * nsw + switch; 0 at the end */
};

/* out of lft_columns_ports(), which must outlive it. */
void lft_columns_init(struct lft_columns *c, const struct fabric *f, const uint32_t *out);
void lft_columns_done(struct lft_columns *c);
uint32_t *lft_columns_ports(const struct fabric *f); /* caller frees */

/* Next hops of all switches towards n LIDs of one switch, at most COLUMNS_MAX. */
void lft_columns_read(struct lft_columns *c, const struct tables *t, const struct dest *d,
		      uint32_t n);

/* Bytes that lie switch by switch, stride to a row, LID by LID (nsw to a column), and the other
 * way round; n columns. */
void lft_columns_turn(uint8_t *column, const uint8_t *rows, uint32_t stride, uint32_t nsw,
		      const struct dest *d, uint32_t n);
void lft_columns_turn_back(uint8_t *rows, const uint8_t *column, uint32_t stride, uint32_t nsw,
			   const struct dest *d, uint32_t n);

/* Where two columns of n differ, ascending, into at (room for n); returns how often. */
uint32_t lft_columns_differ(const uint8_t *a, const uint8_t *b, uint32_t n, uint32_t *at);

/* LIDs from the first on that end on one switch, as far as lft_columns_read() takes them. */
uint32_t lft_columns_run(const struct dest *d, uint32_t n);

static inline const uint8_t *lft_columns_at(const struct lft_columns *c, uint32_t k)
{
	return c->port + (size_t)k * c->f->nsw;
}

/* Next channel from a switch towards LID k, FAB_NONE at the end. */
static inline uint32_t lft_columns_chan(const struct lft_columns *c, uint32_t k, uint32_t sw)
{
	uint8_t port = lft_columns_at(c, k)[sw];

	return c->out[c->f->port_off[sw] + (port <= c->f->sw_nports[sw] ? port : 0)];
}

/* The same for all switches. */
void lft_columns_chans(const struct lft_columns *c, uint32_t k, uint32_t *chan);
