/* SPDX-License-Identifier: GPL-2.0-or-later */
/* newest: the last frame of each kind, which a viewer begins with. */
#pragma once

#include "console/collector/frame/frame.h"

#define NEWEST_MAX 14

struct newest {
	const struct frame *of[FRAME_KINDS]; /* own references */
	const struct frame *before;	     /* the sample before the last */
	const struct frame *sm;		     /* the last one that says who it is */
	const struct frame *lost;	     /* the fabric does not respond; NULL: it does */
	const struct frame *keeping; /* whether the history is written; NULL: there is none */
	struct digest fabric, tables;
};

void newest_free(struct newest *n);
/* True: it says what the one before it said. */
bool newest_take(struct newest *n, const struct frame *f);
/* In the order in which a viewer needs them, borrowed; some may be NULL.  hello goes first. */
uint32_t newest_list(const struct frame *out[NEWEST_MAX], const struct newest *n,
		     const struct frame *hello);
