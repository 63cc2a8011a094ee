/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * batch: the console without a screen: waits for data as the screen does, and prints a record
 * of each sample.
 *
 * The first record waits for two samples (rates), the jobs and the metrics of the installed
 * routing, later ones for the next sample only.
 */
#pragma once

#include "console/batch/batch_opts.h"

#include <signal.h>

struct app;

/* Until the count is reached, or *stop is a signal: then 128 + its number.  Otherwise the exit
 * code of console/config/exits.h. */
int batch_run(struct app *a, const struct batch_opts *o, const volatile sig_atomic_t *stop);

/* --view sessions and actions, which need no fabric.  record: as for --record-dir; NULL: the
 * default.  Returns an exit code. */
int batch_sessions(const struct batch_opts *o, const char *record);
