/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/io/syslog_out.h"

/* enum log_level, before syslog.h hides its names */
enum { OUT_DEBUG = LOG_DEBUG, OUT_INFO = LOG_INFO, OUT_WARN = LOG_WARN };

#include <syslog.h>

void syslog_out_open(const char *name)
{
	openlog(name, LOG_PID, LOG_DAEMON);
}

void syslog_out(void *ctx, const struct log_line *line)
{
	int level = (int)line->level;

	(void)ctx;
	if (level != OUT_DEBUG)
		syslog(level == OUT_INFO   ? LOG_INFO
		       : level == OUT_WARN ? LOG_WARNING
					   : LOG_ERR,
		       "%s", line->text);
}
