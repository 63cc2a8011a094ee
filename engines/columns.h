/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns: where the LFTs of all switches lead, a few LIDs at a time.
 *
 * The LFTs are kept switch by switch; who follows the paths to one LID wants them LID by LID.
 */
#ifndef ENGINES_COLUMNS_H
#define ENGINES_COLUMNS_H

#include "engines/graph.h"
#include "fabric/model/fabric.h"
#include "fabric/model/tables.h"

#include <stdint.h>

#define COLUMNS_MAX 64 /* LIDs at a time */

struct columns {
	const struct fabric *f;
	const uint32_t *out; /* by fabric port: channel (denser than the ports themselves) */
	uint32_t *hop;	     /* by LID * nsw + switch: next channel, FAB_NONE at the end */
};

/* out of columns_ports(), which must outlive it. */
void columns_init(struct columns *c, const struct fabric *f, const uint32_t *out);
void columns_done(struct columns *c);
uint32_t *columns_ports(const struct fabric *f); /* caller frees */

/* Next channels of all switches towards n LIDs of one switch, at most COLUMNS_MAX. */
void columns_read(struct columns *c, const struct tables *t, const struct dest *d, uint32_t n);

/* LIDs from the first on that end on one switch, as far as columns_read() takes them. */
uint32_t columns_run(const struct dest *d, uint32_t n);

static inline const uint32_t *columns_at(const struct columns *c, uint32_t k)
{
	return c->hop + (size_t)k * c->f->nsw;
}

#endif
