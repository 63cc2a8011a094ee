/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_line.h"

#include "fabric/base/mem.h"
#include "fabric/base/plain.h"
#include "fabric/base/vec.h"

#include <inttypes.h>
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

static void record_stamp(char *buf, size_t size)
{
	struct timespec t;
	struct tm tm;
	char day[24];

	clock_gettime(CLOCK_REALTIME, &t);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", gmtime_r(&t.tv_sec, &tm));
	snprintf(buf, size, "%s.%03ldZ", day, t.tv_nsec / 1000000);
}

static void record_put(struct record_text *out, const char *text, size_t len)
{
	vec_reserve(out, out->n + len);
	memcpy(out->v + out->n, text, len);
	out->n += len;
}

static void record_line_put_text(struct record_text *out, const char *text)
{
	record_put(out, text, strlen(text));
}

static void record_put_head(struct record_text *out, const struct record_line *l)
{
	struct timespec mono;
	char head[200], ts[40];

	clock_gettime(CLOCK_MONOTONIC, &mono);
	record_stamp(ts, sizeof(ts));
	snprintf(head, sizeof(head),
		 "{\"v\":1,\"seq\":%" PRIu64 ",\"ts\":\"%s\",\"mono_ns\":%" PRId64
		 ",\"sid\":\"%s\"",
		 l->seq, ts, (int64_t)mono.tv_sec * 1000000000 + mono.tv_nsec, l->sid);
	record_line_put_text(out, head);
	record_line_put_text(out, ",\"type\":\"");
	record_line_put_text(out, l->type);
	record_line_put_text(out, "\",\"user\":");
	record_line_put_text(out, l->user);
}

static const char no_mac[] = "0000000000000000000000000000000000000000000000000000000000000000";

static void record_put_seal(struct record_text *out, const struct record_hmac *seal)
{
	char epoch[60];

	snprintf(epoch, sizeof(epoch), ",\"seal\":{\"epoch\":%" PRIu64 "," RECORD_MAC_KEY,
		 seal->epoch);
	record_line_put_text(out, epoch);
	record_line_put_text(out, no_mac);
	record_line_put_text(out, "\"}");
}

static void record_put_prev(struct record_text *out, const struct digest *prev)
{
	char hex[DIGEST_HEX];

	record_line_put_text(out, "," RECORD_PREV_KEY);
	record_line_put_text(out, digest_hex(hex, prev));
	record_line_put_text(out, "\"}");
}

static void record_put_mac(struct record_text *line, const struct record_hmac *seal)
{
	char hex[DIGEST_HEX];
	struct digest mac;

	record_hmac_line(&mac, seal, line->v, line->n);
	memcpy(line->v + line->n - RECORD_MAC_TAIL, digest_hex(hex, &mac), DIGEST_HEX - 1);
}

bool record_line_ends(const char *type)
{
	return !strcmp(type, "session.end") || !strcmp(type, "record.rotate");
}

static void record_put_self(struct record_text *line, const struct digest *prev)
{
	char hex[DIGEST_HEX];
	struct digest self;

	line->n -= 1 + RECORD_PREV_TAIL;
	digest_of(&self, line->v, line->n);
	record_line_put_text(line, RECORD_SELF_KEY);
	record_line_put_text(line, digest_hex(hex, &self));
	record_line_put_text(line, "\"");
	record_put_prev(line, prev);
}

void record_line_put(struct record_text *out, const struct record_line *l)
{
	size_t len = strlen(l->data);

	out->n = 0;
	vec_reserve(out, len + 1000);
	record_put_head(out, l);
	record_line_put_text(out, ",\"data\":");
	record_put(out, l->data, len);
	if (l->cast) {
		record_line_put_text(out, ",\"cast\":");
		record_line_put_text(out, l->cast);
	}
	if (l->seal)
		record_put_seal(out, l->seal);
	record_put_prev(out, l->prev);
	if (l->seal)
		record_put_mac(out, l->seal);
	if (record_line_ends(l->type))
		record_put_self(out, l->prev);
}
