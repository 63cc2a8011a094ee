/* SPDX-License-Identifier: GPL-2.0-or-later */
/* syslog_out: lines of the log for syslog, whose names of levels are those of fabric/base/message/log.h
 * with other values. */
#pragma once

#include "fabric/base/message/log.h"

/* A sink for log_set_sink(); name: static string. */
void syslog_out_open(const char *name);
void syslog_out(void *ctx, const struct log_line *line);
