/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay: plays the recorded screen of a session on the terminal. */
#pragma once

#include "console/record/recording/cast_read.h"
#include "fabric/base/message/err.h"

/*
 * Number of events up to a place of the session whose record is path:
 *   WRITE, apply.start  the first mark with that text     1:30, 1:02:03, 90s  since its start
 *   118                 the line with that seq            2026-11-20T23:19:51Z
 * -EINVAL: no such place.
 */
int replay_place(uint32_t *n, const struct cast_events *e, const char *path, const char *where,
		 struct err *err);

/* As replay_run(), of events in memory: starts after the first from of them. */
int replay_play(const struct cast_events *e, uint32_t from, double speed, struct err *err);

/* On stdin and stdout, until q or the end of input; at may be NULL.  -ENOTTY: no terminal. */
int replay_run(const char *path, double speed, const char *at, struct err *err);
