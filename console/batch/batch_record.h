/* SPDX-License-Identifier: GPL-2.0-or-later */
/* batch_record: one record of a batch, in the form that was asked for. */
#ifndef CONSOLE_BATCH_BATCH_RECORD_H
#define CONSOLE_BATCH_BATCH_RECORD_H

#include "console/batch/batch_opts.h"
#include "fabric/base/err.h"
#include "views/data/fabric_summary.h"
#include "views/data/state.h"

#include <jansson.h>
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

/* The record in its form, *len bytes and a 0; the caller frees it.  Takes no lock and writes
 * nothing, so that it can be called with the locks of what the record borrows. */
char *batch_record_text(const struct batch_record *r, size_t *len);
/* Whole records to stdout, so that a reader never sees a part of one.  May wait for a slow reader,
 * so call it without locks.  -EPIPE: the reader is gone; or as write(2). */
int batch_record_write(const char *text, size_t len, struct err *err);

/* batch_text.c, batch_json.c */
void batch_print_text(FILE *out, const struct batch_record *r);
json_t *batch_json(const struct batch_record *r);
json_t *batch_json_guid(uint64_t guid); /* 0: null */
/* batch_heat.c: --view heatmap; check says that there is such a matrix, or which there are. */
int batch_heat_check(const struct batch_record *r, struct err *err);
void batch_heat_text(FILE *out, const struct batch_record *r);
json_t *batch_heat_json(const struct batch_record *r);
/* batch_screen.c: a view as the screen shows it. */
void batch_screen(FILE *out, struct app *a, const struct batch_opts *o);

#endif
