/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/time/when.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SPAN_MOST (100ll * 366 * 86400)

/* Up to 18 digits, and whatever a fraction has behind them. */
static bool when_number(int64_t *out, const char *s)
{
	int n = 0;

	for (*out = 0; isdigit((unsigned char)s[n]) && n < 18; n++)
		*out = *out * 10 + (s[n] - '0');
	return n && (!s[n] || s[n] == '.');
}

/* "Z", "+01:00", "-0530", "+01": seconds east of Greenwich. */
static bool when_zone(long *east_s, const char *s)
{
	unsigned h, m = 0;
	int n = 0;

	*east_s = 0;
	if (!strcmp(s, "Z"))
		return true;
	if ((*s != '+' && *s != '-') || !isdigit((unsigned char)s[1]))
		return false;
	if (sscanf(s + 1, "%2u:%2u%n", &h, &m, &n) != 2 || s[1 + n]) {
		m = 0;
		n = 0;
		if (sscanf(s + 1, "%2u%n", &h, &n) != 1 || n != 2)
			return false;
		if (s[3] && (sscanf(s + 3, "%2u%n", &m, &n) != 1 || n != 2 || s[5]))
			return false;
	}
	*east_s = (*s == '-' ? -1 : 1) * (long)(h * 3600 + m * 60);
	return h < 24 && m < 60;
}

bool when_parse(int64_t *unix_s, const char *text, bool *local)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d" };
	long east;

	if (when_number(unix_s, text + (*text == '@')))
		return true;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(text, forms[i], &tm);

		if (end && !*end) {
			*unix_s = (int64_t)mktime(&tm);
			if (local)
				*local = true;
			return true;
		}
		if (end && when_zone(&east, end)) {
			tm.tm_isdst = 0;
			*unix_s = (int64_t)timegm(&tm) - east;
			return true;
		}
	}
	*unix_s = 0;
	return false;
}

bool when_parse_span(int64_t *seconds, const char *text)
{
	static const struct {
		char letter;
		int64_t s;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 } };
	int64_t v = 0;
	int n = 0;

	*seconds = 0;
	for (; isdigit((unsigned char)text[n]) && n < 12; n++)
		v = v * 10 + (text[n] - '0');
	for (size_t i = 0; n && i < sizeof(units) / sizeof(*units); i++)
		if (text[n] == units[i].letter && !text[n + 1])
			*seconds = v * units[i].s;
	if (n && !text[n])
		*seconds = v;
	return *seconds > 0 && *seconds <= SPAN_MOST;
}

/* "03:10", "03:10:30" of that day, which is to be local. */
static bool when_time_of_day(int64_t *unix_s, const char *text, const struct tm *day)
{
	static const char *const forms[] = { "%H:%M:%S", "%H:%M" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm = *day;
		const char *end;

		tm.tm_sec = 0;
		tm.tm_isdst = -1;
		end = strptime(text, forms[i], &tm);
		if (end && !*end) {
			*unix_s = (int64_t)mktime(&tm);
			return true;
		}
	}
	return false;
}

bool when_parse_past(int64_t *unix_s, const char *text, int64_t now_s)
{
	time_t now = (time_t)now_s;
	int64_t span;
	struct tm day;

	*unix_s = 0;
	if (*text == '-' && when_parse_span(&span, text + 1)) {
		*unix_s = now_s - span;
		return *unix_s > 0;
	}
	localtime_r(&now, &day);
	if (when_time_of_day(unix_s, text, &day)) {
		if (*unix_s <= now_s)
			return true;
		day.tm_mday--; /* mktime() knows how long months and days are */
		return when_time_of_day(unix_s, text, &day);
	}
	if (when_parse(unix_s, text, NULL) && *unix_s <= now_s)
		return true;
	*unix_s = 0;
	return false;
}
