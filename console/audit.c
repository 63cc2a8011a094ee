/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/audit.h"

#include "console/record_last.h"
#include "fabric/base/mem.h"
#include "fabric/base/vec.h"
#include "fabric/update/store.h"

#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREV_KEY "\"prev\":\""

struct chain {
	struct audit_report *r;
	VEC(struct digest) lines;
};

static bool bad(struct chain *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool bad(struct chain *c, const char *fmt, ...)
{
	va_list ap;

	c->r->ok = false;
	va_start(ap, fmt);
	vsnprintf(c->r->what, sizeof(c->r->what), fmt, ap);
	va_end(ap);
	return false;
}

static void copy(char *dst, size_t size, const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	snprintf(dst, size, "%s", s ? s : "");
}

/* The hash at the very end of the line: ..."prev":"<64 hex>"} */
static bool take_prev(struct digest *prev, const char *line, size_t len)
{
	size_t tail = strlen(PREV_KEY) + DIGEST_HEX - 1 + 2;
	char hex[DIGEST_HEX];

	if (len < tail || memcmp(line + len - tail, PREV_KEY, strlen(PREV_KEY)) ||
	    memcmp(line + len - 2, "\"}", 2))
		return false;
	memcpy(hex, line + len - 2 - (DIGEST_HEX - 1), DIGEST_HEX - 1);
	hex[DIGEST_HEX - 1] = '\0';
	return !digest_parse(prev, hex);
}

static void take_start(struct audit_report *r, const json_t *j)
{
	const json_t *data = json_object_get(j, "data"), *g = json_object_get(data, "genesis");
	const char *head = json_string_value(json_object_get(g, "head"));

	copy(r->sid, sizeof(r->sid), j, "sid");
	copy(r->start, sizeof(r->start), j, "ts");
	copy(r->fabric, sizeof(r->fabric), data, "fabric");
	copy(r->mode, sizeof(r->mode), data, "mode");
	r->uid = (uint32_t)json_integer_value(json_object_get(json_object_get(j, "user"), "uid"));
	if (head && !digest_parse(&r->genesis, head))
		copy(r->genesis_sid, sizeof(r->genesis_sid), g, "sid");
}

/* The present line tells what the one before it was, and that is not the one that is there. */
static bool bad_before(struct chain *c)
{
	struct audit_report *r = c->r;

	r->bad_line--;
	r->lines--;
	c->lines.n--;
	memset(&r->head, 0, sizeof(r->head));
	if (c->lines.n)
		r->head = c->lines.v[c->lines.n - 1];
	return bad(c,
		   "changed after it was written: not the line that the next one was chained to");
}

/* What the line says about itself fits its place. */
static bool check_fields(struct chain *c, const json_t *j, const struct digest *prev)
{
	uint64_t n = c->lines.n;
	json_int_t seq = json_integer_value(json_object_get(j, "seq"));
	const char *sid = json_string_value(json_object_get(j, "sid"));
	const char *type = json_string_value(json_object_get(j, "type"));

	if (json_integer_value(json_object_get(j, "v")) != 1 || !sid || !type ||
	    !json_is_integer(json_object_get(j, "seq")))
		return bad(c, "not an entry of a record");
	if (c->r->ended)
		return bad(c, "an entry behind the end of the session: inserted");
	if ((uint64_t)seq > n)
		return bad(c,
			   "entry %" PRId64 " where %" PRIu64 " must stand: %" PRIu64
			   " removed before it",
			   (int64_t)seq, n, (uint64_t)seq - n);
	if ((uint64_t)seq < n)
		return bad(c, "entry %" PRId64 " where %" PRIu64 " must stand: inserted or moved",
			   (int64_t)seq, n);
	if (n && strcmp(sid, c->r->sid))
		return bad(c, "of another session (%.40s): inserted", sid);
	if (!digest_equal(prev, &c->r->head))
		return n ? bad_before(c) : bad(c, "does not begin a chain");
	if (!n != !strcmp(type, "session.start"))
		return bad(c, n ? "a second start of the session: inserted"
				: "not the start of a session: removed before it");
	return true;
}

static bool check_line(struct chain *c, const char *line, size_t len)
{
	struct audit_report *r = c->r;
	struct digest prev;
	json_t *j = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	bool ok;

	r->bad_line = c->lines.n + 1;
	if (!j || !take_prev(&prev, line, len))
		ok = bad(c, "not JSON, or its last key is not prev: changed or cut");
	else
		ok = check_fields(c, j, &prev);
	if (ok) {
		if (!c->lines.n)
			take_start(r, j);
		copy(r->end, sizeof(r->end), j, "ts");
		r->ended = !strcmp(json_string_value(json_object_get(j, "type")), "session.end");
		digest_of(&r->head, line, len);
		vec_push(&c->lines, r->head);
		r->lines++;
		r->bad_line = 0;
	}
	json_decref(j);
	return ok;
}

static void check_lines(struct chain *c, const char *data, size_t len)
{
	size_t at = 0;

	while (at < len) {
		const char *nl = memchr(data + at, '\n', len - at);

		if (!nl) {
			c->r->bad_line = c->lines.n + 1;
			bad(c, "cut in the middle of the line");
			return;
		}
		if (!check_line(c, data + at, (size_t)(nl - data) - at))
			return;
		at = (size_t)(nl - data) + 1;
	}
	if (!c->lines.n)
		bad(c, "empty");
}

/* First line of a record, when it is one. */
static json_t *start_of(const char *path)
{
	char *line = NULL;
	size_t cap = 0;
	FILE *f = fopen(path, "re");
	ssize_t len = f ? getline(&line, &cap, f) : -1;
	json_t *j = len > 0 ? json_loadb(line, (size_t)len, 0, NULL) : NULL;

	free(line);
	if (f)
		fclose(f);
	return j;
}

static void check_next(struct chain *c, const char *path)
{
	json_t *j = start_of(path);
	const json_t *g = json_object_get(json_object_get(j, "data"), "genesis");
	const char *sid = json_string_value(json_object_get(g, "sid"));
	const char *hex = json_string_value(json_object_get(g, "head"));
	struct digest head;
	bool found = false;

	if (sid && hex && !strcmp(sid, c->r->sid) && !digest_parse(&head, hex)) {
		for (size_t i = 0; i < c->lines.n && !found; i++)
			found = digest_equal(&c->lines.v[i], &head);
		copy(c->r->next_sid, sizeof(c->r->next_sid), j, "sid");
		if (!found)
			bad(c,
			    "the next session (%.50s) was chained to a line that is not here: the "
			    "end was cut off or changed",
			    c->r->next_sid);
	}
	json_decref(j);
}

/* Later sessions of the same directory. */
static void check_followers(struct chain *c, const char *path)
{
	char *copy_of = xstrdup(path), *dir = dirname(copy_of);
	uint32_t n;
	char **files = record_files(dir, &n);

	for (uint32_t i = 0; i < n; i++) {
		char *other = xasprintf("%s/%s", dir, files[i]);

		if (c->r->ok)
			check_next(c, other);
		free(other);
		free(files[i]);
	}
	free(files);
	free(copy_of);
}

int audit_verify(struct audit_report *out, const char *path, struct err *err)
{
	struct chain c = { .r = out };
	char *data;
	size_t len;
	int rc = store_read(&data, &len, path, err);

	if (rc)
		return rc;
	*out = (struct audit_report){ .ok = true };
	check_lines(&c, data, len);
	if (out->ok)
		check_followers(&c, path);
	vec_free(&c.lines);
	free(data);
	return 0;
}
