/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export_tlog: a recorded screen as tlog-play(1) and journal viewers of tlog read it. */
#pragma once

#include "console/record/recording/cast_read.h"

#include <stdio.h>

#define EXPORT_TELL 1024 /* events between two progress reports */

/* One JSON object a line, format 2.3: an output or a new window size, with milliseconds since the
 * first.  The caller checks f for errors.  -ECANCELED: file_progress() was cancelled. */
int export_tlog(FILE *f, const struct cast_events *e, struct err *err);
