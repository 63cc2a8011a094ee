/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_desk: the thread that answers questions about the past, one after the other, so that they
 * delay neither samples nor each other's viewers. */
#pragma once

#include "console/collector/history/history.h"

#include <stdint.h>

struct history_desk;

/* 0, or -errno with a sentence.  The file may not be there yet. */
int history_desk_start(struct history_desk **out, const char *path, struct err *err);
void history_desk_stop(struct history_desk *d); /* NULL is fine */

/* Readable while there are answers to take. */
int history_desk_fd(const struct history_desk *d);
/* From that viewer. */
void history_desk_ask(struct history_desk *d, uint64_t viewer, const struct past_ask *ask);
/* The caller's, and whose it is; NULL: there is none. */
struct frame *history_desk_take(struct history_desk *d, uint64_t *viewer);
