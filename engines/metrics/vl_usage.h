/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vl_usage: on which virtual lanes the routes over a channel travel.
 *
 * Counted as the EFI in metrics: one route per ordered pair of terminals, to the base LID, with
 * the SL of that path.  The lane is the one that packets get on the channel's output port; routes
 * that SL2VL drops along the path are in no lane from there on.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#define VL_USE_LANES 15

struct vl_usage {
	uint32_t nchan;
	uint32_t *routes; /* chan * VL_USE_LANES + vl */
	uint32_t vls;	  /* the highest lane with a route over any channel, plus 1; 0 without */
};

/* -EINVAL: tables of another fabric; -ECANCELED.  Progress step: "lanes".
 * Time O(LIDs * switches * SLs in use). */
int vl_usage_compute(struct vl_usage **out, const struct fabric *f, const struct tables *t,
		     struct progress *progress, struct err *err);
void vl_usage_free(struct vl_usage *u); /* NULL is fine */

static inline const uint32_t *vl_usage_of(const struct vl_usage *u, uint32_t chan)
{
	return u->routes + (size_t)chan * VL_USE_LANES;
}

/* Lanes with routes over a channel. */
uint32_t vl_usage_lanes(const struct vl_usage *u, uint32_t chan);
/* Share (0..1) of its routes that are not on its fullest lane: 0 where one lane has them all. */
double vl_usage_spread(const struct vl_usage *u, uint32_t chan);
