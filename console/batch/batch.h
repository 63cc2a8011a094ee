/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * batch: the console without a screen: waits for data as the screen does, and prints a record
 * of each sample.
 *
 * The first record waits for two samples (rates), the jobs and the metrics of the installed
 * routes, the following ones for the next sample only.
 */
#ifndef CONSOLE_BATCH_BATCH_H
#define CONSOLE_BATCH_BATCH_H

#include "console/batch/batch_opts.h"
#include "fabric/base/err.h"
#include "views/data/fabric_summary.h"
#include "views/data/state.h"
#include "views/table/order.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

struct app;

/* Until the count is reached, or *stop is a signal: then 128 + its number.  Otherwise the exit
 * code of console/lib/exits.h. */
int batch_run(struct app *a, const struct batch_opts *o, const volatile sig_atomic_t *stop);

/* batch_past.c: the samples of a snapshot, oldest first; and the one that a bookmark's name, -N or
 * a time in UTC says becomes the one that app_shown() has.  -EINVAL, -ENOENT. */
int batch_go_to(struct app *a, const char *at, struct err *err);
json_t *batch_history_json(struct app *a);
void batch_history_text(FILE *out, struct app *a);
json_t *batch_at_json(const struct state_history_at *p); /* null: the newest */

/* batch_diff.c: prints how the fabric differs from that of --diff.  1: it does; 0: it does not; or
 * -errno with a sentence. */
int batch_diff(struct app *a, const struct batch_opts *o, bool complete, struct err *err);

/* batch_sessions.c: --view sessions and actions, which need no fabric.  record: as --record-dir
 * says; NULL: the usual one.  Returns an exit code. */
int batch_sessions(const struct batch_opts *o, const char *record);

#endif
