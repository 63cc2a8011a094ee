/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * batch: the console without a screen: waits for data as the screen does, and prints a record
 * of each sample.
 *
 * The first record waits for two samples (rates), the jobs and the figures of the installed
 * routes, the following ones for the next sample only.
 */
#ifndef CONSOLE_BATCH_BATCH_H
#define CONSOLE_BATCH_BATCH_H

#include "console/batch/batch_opts.h"
#include "fabric/base/err.h"
#include "views/data/fabric_summary.h"
#include "views/data/state.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

struct app;

/* One record, as it is to be printed. */
struct batch_record {
	struct app *a; /* of history, and of a view as the screen shows it; else NULL */
	const struct state *s;
	const struct fabric_summary *v;
	const struct batch_opts *o;
	const struct row_order *rows; /* of a table, chosen and in order */
	bool complete; /* all ports answered, nothing is missing, the jobs are known */
	uint64_t findings;
};

/* Until the count is reached, or *stop is a signal: then 128 + its number.  Otherwise the exit
 * code of console/lib/exits.h. */
int batch_run(struct app *a, const volatile sig_atomic_t *stop);

/* Prints one record to stdout, as a whole.  -EPIPE: nobody reads any more. */
int batch_print(const struct batch_record *r, struct err *err);

/* batch_past.c: the samples of a snapshot, oldest first; and the one that a bookmark's name, -N or
 * a time in UTC says becomes the one that app_shown() has.  -EINVAL, -ENOENT. */
int batch_go_to(struct app *a, const char *at, struct err *err);
json_t *batch_history_json(struct app *a);
void batch_history_text(FILE *out, struct app *a);
json_t *batch_at_json(const struct state_past *p); /* null: the newest */

/* batch_diff.c: prints how the fabric differs from that of --diff.  1: it does; 0: it does not; or
 * -errno with a sentence. */
int batch_diff(struct app *a, bool complete, struct err *err);

/* batch_sessions.c: --view sessions and actions, which need no fabric.  record: as --record-dir
 * says; NULL: the usual one.  Returns an exit code. */
bool batch_of_records(const struct batch_opts *o);
int batch_sessions(const struct batch_opts *o, const char *record);

/* batch_text.c, batch_json.c */
void batch_print_text(FILE *out, const struct batch_record *r);
json_t *batch_json(const struct batch_record *r);
/* batch_heat.c: --view heatmap; check says that there is such a matrix, or which there are. */
int batch_heat_check(const struct batch_record *r, struct err *err);
void batch_heat_text(FILE *out, const struct batch_record *r);
json_t *batch_heat_json(const struct batch_record *r);
/* batch_screen.c: a view as the screen shows it. */
void batch_screen(FILE *out, struct app *a, const struct batch_opts *o);

#endif
