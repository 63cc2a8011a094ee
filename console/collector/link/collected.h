/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collected: what a collector has of a fabric, for commands that only look and plan: whatever
 * writes reads the switches again, and checks the plan against them. */
#pragma once

#include "console/live/live_fabric.h"

/* For collected of struct live_opts: fills fabric, tables, jobs, SM and rates.  -EAGAIN: nobody is
 * there, it does not know all of it or not lately, or the options ask for a port; other errors,
 * with a sentence, only where one was named. */
int collected_open(struct live *l, const struct live_opts *o, struct err *err);
