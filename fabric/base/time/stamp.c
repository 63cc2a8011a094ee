/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/time/stamp.h"

#include <stdio.h>
#include <time.h>

/* the callers' formats are checked */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* 0001-01-02 and 9999-12-30: a day less at each end, for every time zone. */
#define FIRST_S INT64_C(-62135510400)
#define LAST_S	INT64_C(253402128000)

static char *stamp_text(char *buf, size_t size, const char *format, int64_t unix_s,
			struct tm *(*split)(const time_t *, struct tm *))
{
	time_t t = (time_t)unix_s;
	struct tm tm;

	if (unix_s < FIRST_S || unix_s > LAST_S || !split(&t, &tm) ||
	    !strftime(buf, size, format, &tm))
		snprintf(buf, size, "?");
	return buf;
}

char *stamp_utc(char *buf, size_t size, const char *format, int64_t unix_s)
{
	return stamp_text(buf, size, format, unix_s, gmtime_r);
}

char *stamp_local(char *buf, size_t size, const char *format, int64_t unix_s)
{
	return stamp_text(buf, size, format, unix_s, localtime_r);
}
