/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stderrlog: what libraries print on stderr goes line by line into the log, so that it does
 * not end up on a screen that somebody draws on.
 *
 * For the whole process, one at a time.  log's own output without a sink, and children that
 * were started before, keep the real stderr.
 */
#pragma once

#include "fabric/base/message/err.h"

struct stderrlog;

/* area: static string for log_add(); lines are logged at LOG_INFO. */
int stderrlog_start(struct stderrlog **out, const char *area, struct err *err);
/* Gives the real stderr back, after everything printed until now is in the log. */
void stderrlog_stop(struct stderrlog *s); /* NULL is fine */
