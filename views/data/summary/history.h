/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history: utilisation, wait and errors of every channel over the last samples, a byte each; more
 * of them are kept than are shown at once, for moments of the past: 600, or as many as fit 32 MB.
 */
#pragma once

#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/sample.h"

#include <stddef.h>
#include <stdint.h>

#define HISTORY_LEN	60
#define HISTORY_UNKNOWN 255

enum history_metric {
	HISTORY_UTIL,	/* per cent */
	HISTORY_WAIT,	/* per cent */
	HISTORY_ERRORS, /* on the scale of history_errors_pct() */
	HISTORY_METRICS
};

const char *history_metric_name(enum history_metric m); /* "util", "wait", "errors" */
/* "utilisation" is util, too; HISTORY_METRICS: it is none of them. */
enum history_metric history_metric_find(const char *name);

struct history;

struct history *history_new(uint32_t nchan);
void history_free(struct history *h); /* NULL is fine */
/* Adds the figures of every channel; rates NULL adds a gap.  Of another fabric: ignored. */
void history_push(struct history *h, const struct fabric *f, const struct rates *r);

/* The same in two steps, so that the first can be done by another thread: what one sample is in
 * the history, history_row_bytes() long, and adding it to the history of that fabric. */
size_t history_row_bytes(uint32_t nchan);
void history_row(uint8_t *row, const struct fabric *f, const struct rates *r);
void history_push_row(struct history *h, uint32_t nchan, const uint8_t *row);

/* Errors per minute as 0..100: 0 none, else from 20 on, each tenfold 25 more; NAN unknown. */
double history_errors_pct(double per_min);
double history_errors_of(double pct); /* and back, as far as it goes: at most 1584 */

/* So many of the newest are left out below: what was seen at a moment of the past.  0: none. */
void history_hide(struct history *h, uint64_t newest);
uint32_t history_count(const struct history *h); /* 0..HISTORY_LEN */
/* Oldest first; returns how many values (0..100, or HISTORY_UNKNOWN) are in out. */
uint32_t history_get(const struct history *h, uint32_t chan, enum history_metric m,
		     uint8_t out[HISTORY_LEN]);
