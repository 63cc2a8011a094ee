/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_near: what moves alone make of the installed tables, however many blocks they change.
 *
 * What sar_scratch.h finds may be as good and yet have nothing in common with what is installed:
 * half of the way there is worse than either.  Here each entry differs because that saved
 * something, so that most parts of the way save something, too.
 */
#pragma once

#include "engines/sar/time/sar_timing.h"

/* sample: the first of those whose distances are used (sar_timing_begin()); no search goes on
 * afterwards.  The caller's own, without SLs.  -ECANCELED. */
int sar_near_route(struct tables **out, struct sar_timing *k, uint64_t sample);
