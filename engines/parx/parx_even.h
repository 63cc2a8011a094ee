/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parx_even: the entries of the LIDs of one switch's terminals that follow the same rule, from each
 * switch over the edges that the fewest of them take so far: so that they do not follow each other.
 */
#pragma once

#include "engines/graph/spdag.h"
#include "engines/parx/parx_dags.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

struct parx_even {
	const struct fabric *f;
	uint16_t *used;	  /* by rule * channels + edge of its DAG: LIDs that take it */
	uint64_t *cost;	  /* by position: loads on the way */
	uint64_t *routes; /* by position: what comes through */
	uint32_t *pick;	  /* by position: the edge */
};

void parx_even_init(struct parx_even *x, const struct fabric *f, uint32_t nrule);
void parx_even_done(struct parx_even *x);

/* The terminals of another switch, whose DAGs these are. */
void parx_even_begin(struct parx_even *x, const struct parx_dags *dags);

/* A LID of that rule: of the edges that the fewest take, the first on the way with the least sum of
 * loads, to which this adds its routes; weight: routes by source switch.  port: by switch, but for
 * the root.  Returns the edges looked at. */
uint64_t parx_even_choose(struct parx_even *x, const struct parx_dags *dags, uint32_t rule,
			  const uint32_t *weight, uint64_t *load, uint8_t *port);
