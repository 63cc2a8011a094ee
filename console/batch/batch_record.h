/* SPDX-License-Identifier: GPL-2.0-or-later */
/* batch_record: one record of a batch, and its formats. */
#pragma once

#include "console/batch/batch_opts.h"
#include "fabric/base/message/err.h"
#include "views/data/state/state.h"
#include "views/data/summary/fabric_summary.h"
#include "views/table/order.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct app;
struct prom_effect;

struct batch_record {
	struct app *a; /* for the history and for --screen; else NULL */
	const struct state *s;
	const struct fabric_summary *v;
	const struct batch_opts *o;
	const struct row_order *rows;	  /* of a table, filtered and sorted */
	const struct prom_effect *effect; /* NULL: nobody wants it */
	bool complete; /* all ports responded, nothing is missing, the jobs are known */
	uint64_t findings;
};

/* The record in its format, *len bytes and a 0; the caller frees it.  Takes no lock and does no
 * I/O, so it may be called with the locks of what the record borrows. */
char *batch_record_text(const struct batch_record *r, size_t *len);
/* Writes a whole record to stdout.  May wait for a slow reader, so call it without locks.  -EPIPE:
 * the reader is gone; or as write(2). */
int batch_record_write(const char *text, size_t len, struct err *err);

/* batch_text.c, batch_json.c */
void batch_print_text(FILE *out, const struct batch_record *r);
json_t *batch_json(const struct batch_record *r);
json_t *batch_json_guid(uint64_t guid); /* 0: null */

/* prom.c: Prometheus text (exposition format 0.0.4): counters as the switches report them, rates as
 * gauges; of ports those in r->rows where the options have a filter.  Unknown values are left out.
 */
void prom_print(FILE *out, const struct batch_record *r);
/* What is served while the port to the fabric, or the collector, is lost; s has a fabric; the
 * caller frees. */
char *prom_down(const struct state *s);

struct findings;
/* batch_findings.c: what is not as the baseline has it; l is not NULL. */
json_t *batch_findings_json(const struct findings *l);
/* Those that somebody should be called for, a line each; l may be NULL. */
void batch_findings_tell(FILE *out, const struct findings *l);
/* Error counters above the limits of --threshold-file, those that rows of ports have left out;
 * how many.  out, l: NULL is fine. */
uint64_t batch_findings_over(FILE *out, const struct findings *l, const struct batch_opts *o,
			     const struct fabric *f);

/* batch_heat.c: --view heatmap.  -ENOENT with a sentence: the fabric has no such layout. */
int batch_heat_check(const struct batch_record *r, struct err *err);
void batch_heat_text(FILE *out, const struct batch_record *r);
json_t *batch_heat_json(const struct batch_record *r);

/* batch_screen.c: a view as the screen shows it. */
void batch_screen(FILE *out, struct app *a, const struct batch_opts *o);

/* batch_past.c: selects the sample of --at: a bookmark, -N or a time in UTC.  -EINVAL, -ENOENT. */
int batch_go_to(struct app *a, const char *at, struct err *err);
/* The samples of a snapshot, oldest first. */
json_t *batch_history_json(struct app *a);
void batch_history_text(FILE *out, struct app *a);
json_t *batch_at_json(const struct app *a, const struct state_history_at *p); /* null: the newest */

/* batch_activity.c.  -ENOENT with a sentence: nobody keeps it. */
int batch_activity_check(const struct app *a, struct err *err);
json_t *batch_activity_json(const struct app *a);
void batch_activity_text(FILE *out, const struct app *a);

/* batch_diff.c: prints the differences from the fabric of --diff.  1: there are some; 0: none; or
 * -errno with a sentence. */
int batch_diff(struct app *a, const struct batch_opts *o, bool *complete, struct err *err);
