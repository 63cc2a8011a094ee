/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_step: from installed tables, within a budget of blocks of 64 LIDs, to others by which jobs
 * take less time.
 *
 * A step that finds much by moving what gains most for the blocks that it changes is done.  Else it
 * looks where it would come to from scratch (sar_scratch.h): as long as that is clearly better, it
 * looks what moves would come to without a budget (sar_near.h), and goes there, block by block
 * (sar_aim.h), for moves within the budget end sooner; where that leads nowhere, or not as far, to
 * what scratch reaches.  Where nothing is left to aim at, moves have to do; they come first where
 * many flows would have detours, of which parts alone gain little.
 *
 * Each step draws other distances of an all-to-all.  One by which the time that is predicted does
 * not fall, or a pattern or a job gets slower than it may (time_gate.h), is not taken; without any,
 * all stays as it is, to the byte.
 */
#pragma once

#include "engines/sar/time/sar_timing.h"

/* k->params->current is usable.  As an engine's route(); -ENOSPC: not even that fits the VLs. */
int sar_step_route(struct tables **out, struct sar_timing *k);
