/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_keeper: the thread that writes a history, so that a slow disk delays no sample. */
#pragma once

#include "console/collect/acts.h"
#include "console/collector/history/history.h"

struct history_keeper;

/* dirs: where baselines, updates and records are, all of which outlives the keeper; NULL: they are
 * not kept.  0, or -errno with a sentence. */
int history_keeper_start(struct history_keeper **out, const char *path,
			 const struct history_keep *keep, const struct acts_dirs *dirs,
			 struct err *err);
/* Writes what is waiting first; NULL is fine. */
void history_keeper_stop(struct history_keeper *k);

/* Never waits: what comes while too much is waiting is lost, and the log says so. */
void history_keeper_add(struct history_keeper *k, const struct frame *f);
/* What was done, as the tables have it, when that has changed; else NULL.  The caller's. */
const struct acts *history_keeper_acts(struct history_keeper *k);
/* The time that it knows of begins; 0: it keeps nothing yet. */
int64_t history_keeper_oldest_ms(struct history_keeper *k);
/* 0: what comes is written; or -errno with a sentence: it is lost until that is mended. */
int history_keeper_state(struct history_keeper *k, struct err *err);
