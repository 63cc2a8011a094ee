/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * message_efi: EFI and hops of messages that go to certain LIDs of their receivers.
 *
 * As in metrics.h, but to all LIDs that a choice names for a pair, each for an equal part of the
 * pair's one path: so figures of different sizes of messages, and of base LIDs, can be compared.
 */
#pragma once

#include "engines/predict/predict.h"

/* Whom messages are sent to, where ports have several LIDs: their base LIDs, as software does that
 * knows no others, or what the choice of LIDs names for messages of that size. */
enum message_size { MESSAGES_BASE, MESSAGES_SMALL, MESSAGES_LARGE, MESSAGE_SIZES };

/* "base", "small", "large". */
const char *message_size_name(enum message_size size);

struct message_efi {
	double efi_max;
	double hops_mean; /* pairs on one switch have 0 */
	uint32_t hops_max;
	/* 0 without jobs */
	double eff_efi_max; /* by rate, not rounded */
	double job_efi_max_mean;
	double dark_fiber_pct; /* 100 without jobs */
};

/* jobs may be NULL; lids NULL: base LIDs.  Paths that do not arrive are left out.  Time O(terminals
 * * LIDs * switches * hops + sum over jobs of terminals squared). */
void message_efi_compute(struct message_efi *out, const struct fabric *f, const struct tables *t,
			 const struct jobset *jobs, predict_lids_fn lids, void *lids_ctx);
