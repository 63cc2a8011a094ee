/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history: utilisation of every channel over the last samples, a byte each; more of them are kept
 * than are shown at once, for moments of the past: 600, or as many as fit 32 MB. */
#ifndef VIEWS_HISTORY_H
#define VIEWS_HISTORY_H

#include "fabric/model/fabric.h"
#include "fabric/model/sample.h"

#include <stdint.h>

#define HISTORY_LEN	60
#define HISTORY_UNKNOWN 255

struct history;

struct history *history_new(uint32_t nchan);
void history_free(struct history *h); /* NULL is fine */
/* Adds the utilisation of every channel; rates NULL adds a gap.  Of another fabric: ignored. */
void history_push(struct history *h, const struct fabric *f, const struct rates *r);
/* So many of the newest are left out below: what was seen at a moment of the past.  0: none. */
void history_hide(struct history *h, uint64_t newest);
uint32_t history_count(const struct history *h); /* 0..HISTORY_LEN */
/* Oldest first; returns how many values (percent, or HISTORY_UNKNOWN) are in out. */
uint32_t history_get(const struct history *h, uint32_t chan, uint8_t out[HISTORY_LEN]);

#endif
