/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dfdn_levels: SL2VL tables under which the VL rises along every path.
 *
 * A switch knows a packet's SL and its two ports, so a VL belongs to (turn, SL).  A path may
 * take an SL when the VLs of its turns that are taken already rise along it and the others fit
 * in between (Schneider et al., HOTI16, Sec. V, who have VL = hop).  All paths
 * begin on VL 0.  Wherever a path fits, its sub-paths do.
 */
#pragma once

#include "engines/graph/graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DFDN_SLS 64 /* beyond the 16 that there are, only to tell how many are needed */

struct dfdn_levels;

/* rise: by turn, how much higher the VL must be after it, 0 or 1; copied.  nvl: VLs to use, at
 * most 15.  No turn is taken yet.  p: see pace_touch(); may be NULL. */
struct dfdn_levels *dfdn_levels_new(uint32_t nturns, unsigned nvl, const uint8_t *rise,
				    struct pace *p);
void dfdn_levels_free(struct dfdn_levels *l); /* NULL is fine */

/* VLs of turns that are free are chosen as high or as low as the path allows: counted from the
 * destination or from the source. */
enum dfdn_align { DFDN_ALIGN_DESTINATION, DFDN_ALIGN_SOURCE };

/* Puts the path of these n turns, the first one first, into the SL below max_sls that it fits
 * with the fewest turns to take (the first of them when equal) and takes those.  Returns that
 * SL, or max_sls when it fits none; *taken (may be NULL): how many turns were taken. */
unsigned dfdn_levels_place(struct dfdn_levels *l, const uint32_t *turn, uint32_t n,
			   unsigned max_sls, enum dfdn_align align, uint32_t *taken);

/* Does the path fit that SL of the first 16? */
bool dfdn_levels_fits(const struct dfdn_levels *l, const uint32_t *turn, uint32_t n, unsigned sl);

/* Which of the first 16 SLs are good for the paths of one tree; all ones or zero for each. */
struct dfdn_good {
	_Alignas(16) uint8_t sl[16];
};

/* From the turn in hand onto the next one, both taken; behind: what is good after that. */
void dfdn_levels_good(struct dfdn_good *out, const struct dfdn_levels *l, uint32_t turn,
		      uint32_t next, const struct dfdn_good *behind);

/* Is the first SL good from the turn in hand onto the next one? */
bool dfdn_levels_good_first(const struct dfdn_levels *l, uint32_t turn, uint32_t next);

/*
 * Numbers the VLs without gaps: seen has, by turn, a bit for each SL in which it is used.
 * Returns how many VLs are in use.  Then a row has the 16 VLs of a turn by SL, where seen is
 * that turn's; other SLs have the VL of one that is seen.
 */
unsigned dfdn_levels_close(struct dfdn_levels *l, const uint16_t *seen);
void dfdn_levels_row(uint8_t vl[16], const struct dfdn_levels *l, uint32_t turn, uint16_t seen);
