/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exclusion: the fabric without the switches and cables that no route may pass through.
 *
 * Of an excluded switch only the cables to one neighbour are left, so that its own LID and the
 * ends on it stay reachable, and nothing can pass through it whatever an engine does.  Tables for
 * the fabric that is left are tables for the whole one (fabric/model/topology/without.h).
 */
#pragma once

#include "engines/engine.h"

struct exclusion {
	struct fabric *f;	     /* what is left */
	struct tables *current;	     /* params.current, led around what is excluded; may be NULL */
	struct engine_params params; /* as given, with these tables */
	char *text;		     /* what is excluded, for people */
};

/*
 * params->limits must exclude something and be of that fabric (-EINVAL).  -ENETUNREACH: the rest
 * falls apart; the sentence names a switch that would be cut off and what leads there.
 *
 * The neighbour is one that is not excluded, as long as there is one; of these one with the most
 * cables to the switch, then with the fewest terminals (it is nearer to the top of a tree), then
 * with the most cables to others, then that which serves the fewest excluded switches, then the
 * first. Time O(nchan), and that of exclusion_lead() where there are current tables.
 */
int exclusion_init(struct exclusion *x, const struct fabric *f, const struct engine_params *params,
		   struct err *err);
void exclusion_done(struct exclusion *x);

/* The fabric that is left alone, for who judges tables by what they could do; the caller owns one
 * reference.  f itself when nothing is excluded; l may be NULL.  Errors as above. */
int exclusion_left(const struct fabric **out, const struct fabric *f, const struct route_limits *l,
		   struct err *err);

/* Tells in the tables, and in the notes of the parameters, what was excluded and who pays. */
void exclusion_tell(const struct exclusion *x, struct tables *t);
