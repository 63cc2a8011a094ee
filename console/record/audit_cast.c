/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/audit_cast.h"

#include "fabric/base/mem.h"
#include "fabric/base/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct audit_screen {
	char *data;
	size_t len, at;
	struct digest_stream *hash; /* of data up to at */
};

char *audit_cast_path(const char *record_path)
{
	const char *dot = strrchr(record_path, '.'), *slash = strrchr(record_path, '/');
	size_t len =
		dot && (!slash || dot > slash) ? (size_t)(dot - record_path) : strlen(record_path);

	return xasprintf("%.*s.cast", (int)len, record_path);
}

struct audit_screen *audit_screen_open(const char *record_path)
{
	struct audit_screen *s = xcalloc(1, sizeof(*s));
	char *path = audit_cast_path(record_path);

	if (store_read(&s->data, &s->len, path, NULL)) {
		free(s);
		s = NULL;
	} else {
		s->hash = digest_begin();
	}
	free(path);
	return s;
}

bool audit_screen_line(struct audit_screen *s, const json_t *cast, char *why, size_t len)
{
	json_int_t off = json_integer_value(json_object_get(cast, "off"));
	const char *hex = json_string_value(json_object_get(cast, "sha256"));
	struct digest is, was;

	if (!hex || digest_parse(&was, hex) || off < 0 || (size_t)off < s->at) {
		snprintf(why, len, "what it says about the recorded screen is impossible");
		return false;
	}
	if ((size_t)off > s->len) {
		snprintf(why, len,
			 "the recorded screen had %" PRId64 " bytes then and has %zu now: "
			 "truncated",
			 (int64_t)off, s->len);
		return false;
	}
	digest_add(s->hash, s->data + s->at, (size_t)off - s->at);
	s->at = (size_t)off;
	digest_peek(&is, s->hash);
	if (digest_equal(&is, &was))
		return true;
	snprintf(why, len, "the recorded screen was changed before byte %zu", s->at);
	return false;
}

bool audit_screen_end(const struct audit_screen *s, char *why, size_t len)
{
	if (s->at == s->len)
		return true;
	snprintf(why, len, "the recorded screen ends at byte %zu, but more was added", s->at);
	return false;
}

uint64_t audit_screen_bytes(const struct audit_screen *s)
{
	return s ? s->len : 0;
}

void audit_screen_close(struct audit_screen *s)
{
	struct digest unused;

	if (!s)
		return;
	digest_end(&unused, s->hash);
	free(s->data);
	free(s);
}
