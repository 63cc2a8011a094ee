/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record_line.h"

#include "fabric/base/mem.h"
#include "fabric/base/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

json_t *record_str(const char *s)
{
	json_t *j = json_string(s);
	char *clean;

	if (j)
		return j;
	clean = plain_text(xstrdup(s), "\n\t");
	j = json_string(clean);
	free(clean);
	return j;
}

static void stamp(char *buf, size_t size)
{
	struct timespec t;
	struct tm tm;
	char day[24];

	clock_gettime(CLOCK_REALTIME, &t);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", gmtime_r(&t.tv_sec, &tm));
	snprintf(buf, size, "%s.%03ldZ", day, t.tv_nsec / 1000000);
}

static json_t *make_line(const struct record_line *l)
{
	char ts[40];
	struct timespec mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	stamp(ts, sizeof(ts));
	return json_pack("{s:i, s:I, s:s, s:I, s:s, s:s, s:O, s:O}", "v", 1, "seq",
			 (json_int_t)l->seq, "ts", ts, "mono_ns",
			 (json_int_t)mono.tv_sec * 1000000000 + mono.tv_nsec, "sid", l->sid, "type",
			 l->type, "user", l->user, "data", l->text ? json_null() : l->data);
}

static const char no_mac[] = "0000000000000000000000000000000000000000000000000000000000000000";

static void put_mac(char *text, const struct seal *seal)
{
	size_t len = strlen(text);
	char hex[DIGEST_HEX];
	struct digest mac;

	seal_line(&mac, seal, text, len);
	memcpy(text + len - RECORD_MAC_TAIL, digest_hex(hex, &mac), DIGEST_HEX - 1);
}

/* Takes line.  In a string before it the key's quotes would be escaped. */
static char *with_data(char *line, const char *data)
{
	static const char none[] = "\"data\":null";
	char *at = strstr(line, none), *all;

	all = xasprintf("%.*s\"data\":%s%s", (int)(at - line), line, data, at + sizeof(none) - 1);
	free(line);
	return all;
}

bool record_line_ends(const char *type)
{
	return !strcmp(type, "session.end") || !strcmp(type, "record.rotate");
}

/* Takes text. */
static char *with_self(char *text)
{
	size_t at = strlen(text) - RECORD_PREV_TAIL - 1;
	char hex[DIGEST_HEX], *all;
	struct digest self;

	digest_of(&self, text, at);
	all = xasprintf("%.*s" RECORD_SELF_KEY "%s\"%s", (int)at, text, digest_hex(hex, &self),
			text + at);
	free(text);
	return all;
}

char *record_line_text(const struct record_line *l)
{
	json_t *line = make_line(l);
	char hex[DIGEST_HEX], *text;

	if (!line)
		return NULL;
	if (l->cast)
		json_object_set(line, "cast", l->cast);
	if (l->seal)
		json_object_set_new(line, "seal",
				    json_pack("{s:I, s:s}", "epoch", (json_int_t)l->seal->epoch,
					      "mac", no_mac));
	json_object_set_new(line, "prev", json_string(digest_hex(hex, l->prev)));
	text = json_dumps(line, JSON_COMPACT);
	json_decref(line);
	if (text && l->text)
		text = with_data(text, l->text);
	if (text && l->seal)
		put_mac(text, l->seal);
	if (text && record_line_ends(l->type))
		text = with_self(text);
	return text;
}
