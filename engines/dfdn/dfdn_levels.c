/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfdn/dfdn_levels.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define LANES  16
#define GROUPS (DFDN_SLS / LANES)
#define FIRST  1 /* level of the channel where a path begins; 0: free */

typedef uint8_t lanes __attribute__((vector_size(LANES)));

struct dfdn_levels {
	uint32_t nturns;
	uint8_t top; /* highest level */
	uint8_t *rise;
	uint8_t *first; /* by turn: twice the level in the first SL, and the rise; small and near */
	uint8_t *level[GROUPS]; /* by turn * LANES + SL of the group; NULL: all free */
	uint8_t vl[LANES];	/* of a level, once closed; a free turn has the highest */
};

struct dfdn_levels *dfdn_levels_new(uint32_t nturns, unsigned nvl, const uint8_t *rise,
				    struct pace *p)
{
	struct dfdn_levels *l = xcalloc(1, sizeof(*l));

	l->nturns = nturns;
	l->top = (uint8_t)nvl;
	l->rise = xcalloc(nturns, 1);
	memcpy(l->rise, rise, nturns);
	l->first = xcalloc(nturns, 1);
	memcpy(l->first, rise, nturns);
	l->level[0] = xcalloc_large((size_t)nturns * LANES, 1);
	if (p)
		pace_touch(p, l->level[0], (size_t)nturns * LANES);
	return l;
}

void dfdn_levels_free(struct dfdn_levels *l)
{
	if (!l)
		return;
	for (unsigned g = 0; g < GROUPS; g++)
		free(l->level[g]);
	free(l->rise);
	free(l->first);
	free(l);
}

static lanes dfdn_levels_load(const uint8_t *level, uint32_t turn)
{
	lanes v;

	memcpy(&v, level + (size_t)turn * LANES, LANES);
	return v;
}

/* All ones in the lanes of SLs that the path fits: each free turn takes the lowest level that
 * the turns before it leave.  missing: free turns by lane. */
static lanes dfdn_levels_fit(const struct dfdn_levels *l, const uint8_t *level,
			     const uint32_t *turn, uint32_t n, lanes *missing)
{
	lanes low = (lanes){ 0 } + FIRST, ok, lack = { 0 };

	memset(&ok, 0xff, sizeof(ok));
	for (uint32_t i = 0; i < n; i++) {
		lanes have = dfdn_levels_load(level, turn[i]), need = low + l->rise[turn[i]];
		lanes is_free = (lanes)(have == 0);

		ok &= is_free | (lanes)(have >= need);
		low = have | (need & is_free);
		lack -= is_free & (lanes)(lack < UINT8_MAX - 1); /* true is -1 */
	}
	*missing = lack;
	return ok & (lanes)(low <= l->top);
}

/* The lane among n that fits with the fewest missing; LANES when none fits. */
static unsigned dfdn_levels_best_lane(lanes ok, lanes missing, unsigned n)
{
	uint8_t score[LANES];
	unsigned best = 0;

	missing |= ~ok;
	memcpy(score, &missing, LANES);
	for (unsigned i = 1; i < n && score[best]; i++)
		best = score[i] < score[best] ? i : best;
	return score[best] == UINT8_MAX ? LANES : best;
}

static void dfdn_levels_take_high(const struct dfdn_levels *l, uint8_t *level, const uint32_t *turn,
				  uint32_t n)
{
	uint8_t high = l->top;

	while (n--) {
		uint8_t *have = level + (size_t)turn[n] * LANES;

		*have = *have ? *have : high;
		high = (uint8_t)(*have - l->rise[turn[n]]);
	}
}

static void dfdn_levels_take_low(const struct dfdn_levels *l, uint8_t *level, const uint32_t *turn,
				 uint32_t n)
{
	uint8_t low = FIRST;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *have = level + (size_t)turn[i] * LANES;

		*have = *have ? *have : (uint8_t)(low + l->rise[turn[i]]);
		low = *have;
	}
}

/* Do all of its turns have fitting levels in the first SL already?  Nothing is better, and most
 * paths of a large fabric find it so. */
static bool dfdn_levels_fits_first(const struct dfdn_levels *l, const uint32_t *turn, uint32_t n)
{
	unsigned low = FIRST;

	for (uint32_t i = 0; i < n; i++) {
		unsigned have = l->first[turn[i]];

		if (have >> 1 < low + (have & 1)) /* or free */
			return false;
		low = have >> 1;
	}
	return true;
}

unsigned dfdn_levels_place(struct dfdn_levels *l, const uint32_t *turn, uint32_t n,
			   unsigned max_sls, enum dfdn_align align, uint32_t *taken)
{
	if (max_sls && dfdn_levels_fits_first(l, turn, n)) {
		if (taken)
			*taken = 0;
		return 0;
	}
	for (unsigned g = 0; g * LANES < max_sls; g++) {
		unsigned nlanes = max_sls - g * LANES < LANES ? max_sls - g * LANES : LANES, sl;
		lanes ok, missing;

		if (!l->level[g])
			l->level[g] = xcalloc_large((size_t)l->nturns * LANES, 1);
		ok = dfdn_levels_fit(l, l->level[g], turn, n, &missing);
		sl = dfdn_levels_best_lane(ok, missing, nlanes);
		if (sl == LANES)
			continue;
		if (taken)
			*taken = missing[sl];
		if (missing[sl] && align == DFDN_ALIGN_SOURCE)
			dfdn_levels_take_low(l, l->level[g] + sl, turn, n);
		else if (missing[sl])
			dfdn_levels_take_high(l, l->level[g] + sl, turn, n);
		for (uint32_t i = 0; !g && !sl && i < n; i++)
			l->first[turn[i]] = (uint8_t)(l->level[0][(size_t)turn[i] * LANES] << 1 |
						      l->rise[turn[i]]);
		return g * LANES + sl;
	}
	return max_sls;
}

bool dfdn_levels_fits(const struct dfdn_levels *l, const uint32_t *turn, uint32_t n, unsigned sl)
{
	const uint8_t *level = l->level[0] + sl;
	unsigned low = FIRST;

	for (uint32_t i = 0; i < n; i++) {
		unsigned have = level[(size_t)turn[i] * LANES], need = low + l->rise[turn[i]];

		if (have && have < need)
			return false;
		low = have ? have : need;
	}
	return low <= l->top;
}

bool dfdn_levels_good_first(const struct dfdn_levels *l, uint32_t turn, uint32_t next)
{
	unsigned a = l->first[turn] >> 1, b = l->first[next];

	return a && b >> 1 >= a + (b & 1);
}

void dfdn_levels_good(struct dfdn_good *out, const struct dfdn_levels *l, uint32_t turn,
		      uint32_t next, const struct dfdn_good *behind)
{
	lanes a = dfdn_levels_load(l->level[0], turn), b = dfdn_levels_load(l->level[0], next),
	      good;

	memcpy(&good, behind->sl, LANES);
	good &= (lanes)(a != 0) & (lanes)(b >= a + l->rise[next]);
	memcpy(out->sl, &good, LANES);
}

unsigned dfdn_levels_close(struct dfdn_levels *l, const uint16_t *seen)
{
	bool used[LANES] = { [FIRST] = true };
	unsigned n = 0;

	for (uint32_t t = 0; t < l->nturns; t++) {
		const uint8_t *level = l->level[0] + (size_t)t * LANES;

		for (uint32_t m = seen[t]; m; m &= m - 1)
			used[level[__builtin_ctz(m)]] = true;
	}
	used[l->top] |= used[0];
	for (unsigned level = FIRST; level <= l->top; level++) {
		n += used[level];
		l->vl[level] = (uint8_t)(n - 1);
	}
	l->vl[0] = (uint8_t)(n - 1);
	return n;
}

void dfdn_levels_row(uint8_t vl[16], const struct dfdn_levels *l, uint32_t turn, uint16_t seen)
{
	const uint8_t *level = l->level[0] + (size_t)turn * LANES;
	uint8_t other = seen ? level[__builtin_ctz(seen)] : 0;

	memset(vl, l->vl[other], LANES);
	for (uint32_t m = seen; m; m &= m - 1) {
		unsigned sl = (unsigned)__builtin_ctz(m);

		vl[sl] = l->vl[level[sl]];
	}
}
