/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stamp: a time of the wall clock as text.  Times come from files and sockets, too: the C library
 * has no calendar for most numbers of 64 bits, and then gives no text at all. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define STAMP_LEN 32 /* bytes that hold every format in use */

/* A format of strftime(3); "?" for what is before the year 1 or after 9999.  Returns buf. */
char *stamp_utc(char *buf, size_t size, const char *format, int64_t unix_s)
	__attribute__((format(strftime, 3, 0)));
char *stamp_local(char *buf, size_t size, const char *format, int64_t unix_s)
	__attribute__((format(strftime, 3, 0)));
