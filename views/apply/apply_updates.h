/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_updates: the last updates of the fabric, as their journals tell, where there is no plan. */
#pragma once

#include "views/canvas/canvas.h"

#include <stdint.h>

struct apply_update {
	int64_t begin_s, end_s; /* Unix time; end: of the last step */
	char user[40], engine[24];
	char state[24];	 /* as txn_state_name() */
	char text[304];	 /* with it, for people */
	uint64_t blocks; /* of LFTs, and SL2VL tables */
};

#define APPLY_UPDATES 64

/* Newest first. */
struct apply_updates {
	struct apply_update row[APPLY_UPDATES];
	uint32_t n;
};

/* As many as have room from line y on, below a title; returns the line behind them.  Nothing where
 * there are none, or l is NULL. */
int apply_updates_draw(const struct apply_updates *l, struct canvas *c, struct rect r, int y);
