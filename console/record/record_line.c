/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/record_line.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/stamp.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void record_line_stamp(char *buf, size_t size, const struct timespec *t)
{
	char day[24];

	stamp_utc(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", t->tv_sec);
	snprintf(buf, size, "%s.%03ldZ", day, t->tv_nsec / 1000000);
}

bool record_line_ends(const char *type)
{
	return !strcmp(type, "session.end") || !strcmp(type, "record.rotate");
}

#define LOGINUID_UNSET 4294967295u

static json_t *record_line_loginuid(void)
{
	FILE *f = fopen("/proc/self/loginuid", "re");
	uint32_t id = LOGINUID_UNSET;

	if (f && fscanf(f, "%" SCNu32, &id) != 1)
		id = LOGINUID_UNSET;
	if (f)
		fclose(f);
	return id == LOGINUID_UNSET ? json_null() : json_integer(id);
}

char *record_line_user(void)
{
	const char *ssh = getenv("SSH_CONNECTION");
	json_t *user = json_pack("{s:I, s:o, s:o}", "uid", (json_int_t)getuid(), "loginuid",
				 record_line_loginuid(), "ssh", ssh ? json_text(ssh) : json_null());
	char *text = json_dumps(user, JSON_COMPACT);

	json_decref(user);
	return text;
}

static void record_line_put_cast(char *buf, size_t size, const struct cast *cast)
{
	char hex[DIGEST_HEX];
	struct digest d;

	cast_digest(&d, cast);
	snprintf(buf, size, ",\"cast\":{\"off\":%" PRIu64 ",\"sha256\":\"%s\"}", cast_size(cast),
		 digest_hex(hex, &d));
}

/* Replaces the zeros in a line. */
static void record_line_put_mac(char *line, const struct record_hmac *seal)
{
	size_t len = strlen(line);
	char hex[DIGEST_HEX];
	struct digest mac;

	record_hmac_line(&mac, seal, line, len);
	memcpy(line + len - RECORD_MAC_TAIL, digest_hex(hex, &mac), DIGEST_HEX - 1);
}

/* Takes the line; the caller frees the result. */
static char *record_line_with_self(char *line)
{
	size_t at = strlen(line) - 1 - RECORD_PREV_TAIL;
	char hex[DIGEST_HEX], *all;
	struct digest self;

	digest_of(&self, line, at);
	all = xasprintf("%.*s" RECORD_SELF_KEY "%s\"%s", (int)at, line, digest_hex(hex, &self),
			line + at);
	free(line);
	return all;
}

char *record_line_text(const struct record_line *l)
{
	char ts[40], hex[DIGEST_HEX], cast[140] = "", seal[160] = "", *line;

	record_line_stamp(ts, sizeof(ts), &l->at->wall);
	if (l->cast)
		record_line_put_cast(cast, sizeof(cast), l->cast);
	if (l->seal)
		snprintf(seal, sizeof(seal),
			 ",\"seal\":{\"v\":2,\"epoch\":%" PRIu64 "," RECORD_MAC_KEY "%0*d\"}",
			 l->seal->epoch, DIGEST_HEX - 1, 0);
	line = xasprintf(
		"{\"v\":1,\"seq\":%" PRIu64 ",\"ts\":\"%s\",\"mono_ns\":%" PRIu64
		",\"sid\":\"%s\",\"type\":\"%s\",\"user\":%s,\"data\":%s%s%s," RECORD_PREV_KEY
		"%s\"}",
		l->seq, ts, l->at->mono_ns, l->sid, l->type, l->user, l->data, cast, seal,
		digest_hex(hex, l->prev));
	if (l->seal)
		record_line_put_mac(line, l->seal);
	return record_line_ends(l->type) ? record_line_with_self(line) : line;
}
