/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export_tlog: a recorded screen as tlog-play(1) and journal viewers of tlog read it. */
#ifndef CONSOLE_RECORD_EXPORT_TLOG_H
#define CONSOLE_RECORD_EXPORT_TLOG_H

#include "console/record/cast_read.h"

#include <stdio.h>

#define EXPORT_TELL 1024 /* file_progress() is told after so many events */

/* One JSON object a line, format 2.3: an output or a new size of the window, with milliseconds
 * since the first.  The caller looks at f's errors.  -ECANCELED: nobody wants the rest. */
int export_tlog(FILE *f, const struct cast_events *e, struct err *err);

#endif
