/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_wrote: what an update writes, as its journal has it: block by block, in order of waves. */
#pragma once

#include "engines/geometry/topology_kind.h"
#include "fabric/plan/change.h"

struct apply_wrote {
	const struct fabric *fabric; /* own reference: changes are bound to it */
	struct changes *changes;
	/* Of changes->v: all of wave 0, then of wave 1, ..., each as they were planned; behind them
	 * the first of each block, in the same order: what a rollback brings back. */
	uint32_t *order;
	uint32_t *wave_end; /* by wave, in order */
	uint32_t nfirst;
};

/* Takes l; its switches are looked for in f.  O(changes). */
struct apply_wrote *apply_wrote_new(struct changes *l, const struct fabric *f);
void apply_wrote_free(struct apply_wrote *w); /* NULL is fine */

/* "leaf44 LFT block 7 read-back ok (3 of 64 entries)  sha256 5e1c0a97.." of order[i]; back: its old
 * contents. */
void apply_wrote_line(char *buf, size_t len, const struct apply_wrote *w, uint32_t i, bool back);

/* What these switches are, n of them: "leaves", "spines, leaves", "group 3"; "switches" where
 * nothing more holds for all of them.  Returns buf. */
const char *switches_name(char *buf, size_t len, const struct topology_kind *s, const uint32_t *sw,
			  uint32_t n);
