/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/audit/audit.h"

#include "console/io/progress_line.h"
#include "console/record/audit/audit_dir.h"
#include "console/record/record_end.h"
#include "console/record/record_files.h"
#include "console/record/record_hmac.h"
#include "console/record/record_line.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_LINES 1000 /* verified between two progress reports */

/* The recorded screen, whose size and hash are in the lines of the record. */
struct audit_screen {
	char *data; /* NULL: it is not there */
	size_t len, at;
	struct digest_stream *hash; /* of data up to at */
};

struct chain {
	struct audit_report *r;
	const struct audit_opts *o;
	const struct audit_dir *dir; /* its neighbours */
	struct record_hmac seal;     /* of the next line */
	struct record_end end;	     /* as the seal counted it; lines 0: not known */
	struct digest end_mac;	     /* what its mac has to be ... */
	bool end_passed;	     /* ... when that line was passed */
	bool next_part;		     /* is there */
	struct audit_screen screen;
	VEC(struct digest) lines;
};

static bool audit_bad(struct chain *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool audit_bad(struct chain *c, const char *fmt, ...)
{
	va_list ap;

	c->r->ok = false;
	va_start(ap, fmt);
	vsnprintf(c->r->what, sizeof(c->r->what), fmt, ap);
	va_end(ap);
	return false;
}

/* The same, of what is not there any more. */
static bool audit_cut(struct chain *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool audit_cut(struct chain *c, const char *fmt, ...)
{
	va_list ap;

	c->r->cut = true;
	c->r->ok = false;
	va_start(ap, fmt);
	vsnprintf(c->r->what, sizeof(c->r->what), fmt, ap);
	va_end(ap);
	return false;
}

static void audit_copy(char *dst, size_t size, const json_t *j, const char *key)
{
	snprintf(dst, size, "%s", json_string_at(j, key));
}

static bool audit_digest_of(struct digest *out, const json_t *j, const char *key)
{
	return !digest_parse(out, json_string_at(j, key));
}

static bool audit_parse_hex(struct digest *out, const char *digits)
{
	char hex[DIGEST_HEX];

	memcpy(hex, digits, DIGEST_HEX - 1);
	hex[DIGEST_HEX - 1] = '\0';
	return !digest_parse(out, hex);
}

/* The hash at the very end of the line: ..."prev":"<64 hex>"} */
static bool audit_take_prev(struct digest *prev, const char *line, size_t len)
{
	size_t key = strlen(RECORD_PREV_KEY);

	return len >= RECORD_PREV_TAIL &&
	       !memcmp(line + len - RECORD_PREV_TAIL, RECORD_PREV_KEY, key) &&
	       !memcmp(line + len - 2, "\"}", 2) &&
	       audit_parse_hex(prev, line + len - RECORD_PREV_TAIL + key);
}

static void audit_take_start(struct audit_report *r, const json_t *j)
{
	const json_t *data = json_object_get(j, "data"), *g = json_object_get(data, "genesis");

	audit_copy(r->sid, sizeof(r->sid), j, "sid");
	audit_copy(r->start, sizeof(r->start), j, "ts");
	audit_copy(r->fabric, sizeof(r->fabric), data, "fabric");
	audit_copy(r->mode, sizeof(r->mode), data, "mode");
	r->uid = (uint32_t)json_integer_at(json_object_get(j, "user"), "uid");
	r->part = r->first_seq ? (uint32_t)json_integer_at(data, "part") : 1;
	if (audit_digest_of(&r->genesis, g, "head"))
		audit_copy(r->genesis_sid, sizeof(r->genesis_sid), g, "sid");
}

/* --- lines ------------------------------------------------------------------------------- */

/* The hash that this line is chained to is not that of the line before it. */
static bool audit_bad_before(struct chain *c)
{
	struct audit_report *r = c->r;

	r->bad_line--;
	r->lines--;
	c->lines.n--;
	memset(&r->head, 0, sizeof(r->head));
	if (c->lines.n)
		r->head = c->lines.v[c->lines.n - 1];
	return audit_bad(
		c, "changed after it was written: not the line that the next one is chained to");
}

/* The first line of a session, or of a later part, which names its predecessor. */
static bool audit_check_first(struct chain *c, const json_t *j, const char *type,
			      const struct digest *prev)
{
	const json_t *data = json_object_get(j, "data");
	json_int_t seq = json_integer_at(j, "seq");
	struct digest head, none = { { 0 } };

	if (!strcmp(type, "record.part") && seq > 0) {
		if (!audit_digest_of(&head, data, "head") || !digest_equal(&head, prev) ||
		    json_integer_at(data, "part") < 2)
			return audit_bad(c, "does not match the end of the previous part: changed");
		c->r->first_seq = (uint64_t)seq;
		return true;
	}
	if (seq)
		return audit_bad(c, "entry %" PRId64 " instead of 0: %" PRId64 " removed before it",
				 (int64_t)seq, (int64_t)seq);
	if (!digest_equal(prev, &none))
		return audit_bad(c, "not the first line of a chain");
	if (strcmp(type, "session.start"))
		return audit_bad(c, "not the start of a session: removed before it");
	return true;
}

/* The fields of the line are those expected at its place. */
static bool audit_check_fields(struct chain *c, const json_t *j, const struct digest *prev)
{
	uint64_t n = c->r->first_seq + c->lines.n;
	json_int_t seq = json_integer_at(j, "seq");
	const char *sid = json_string_at(j, "sid"), *type = json_string_at(j, "type");

	if (json_integer_at(j, "v") != 1 || !sid[0] || !type[0] ||
	    !json_is_integer(json_object_get(j, "seq")))
		return audit_bad(c, "not a record entry");
	if (!c->lines.n)
		return audit_check_first(c, j, type, prev);
	if (c->r->ended || c->r->rotated)
		return audit_bad(c, "an entry after the end of the %s: inserted",
				 c->r->ended ? "session" : "part");
	if ((uint64_t)seq > n)
		return audit_bad(c,
				 "entry %" PRId64 " where %" PRIu64 " was expected: %" PRIu64
				 " removed before it",
				 (int64_t)seq, n, (uint64_t)seq - n);
	if ((uint64_t)seq < n)
		return audit_bad(
			c, "entry %" PRId64 " where %" PRIu64 " was expected: inserted or moved",
			(int64_t)seq, n);
	if (strcmp(sid, c->r->sid))
		return audit_bad(c, "from another session (%.40s): inserted", sid);
	if (!digest_equal(prev, &c->r->head))
		return audit_bad_before(c);
	if (!strcmp(type, "session.start") || !strcmp(type, "record.part"))
		return audit_bad(c, "a second start: inserted");
	return true;
}

/* Nothing is chained to the last line of a file: it has a hash of what is before self. */
static bool audit_check_self(struct chain *c, const json_t *j, const char *line, size_t len)
{
	bool ends = record_line_ends(json_string_at(j, "type"));
	size_t key = strlen(RECORD_SELF_KEY), at = len - RECORD_SELF_TAIL;
	struct digest is, was;

	if (!ends)
		return !json_object_get(j, "self") ||
		       audit_bad(c, "has a hash of itself, as only the last line has: inserted or "
				    "changed");
	if (len < RECORD_SELF_TAIL || memcmp(line + at, RECORD_SELF_KEY, key) ||
	    !audit_parse_hex(&was, line + at + key))
		return audit_bad(
			c, "the last line has no hash of itself (self): changed, or written by an "
			   "older version");
	digest_of(&is, line, at);
	return digest_equal(&is, &was) ||
	       audit_bad(c, "changed after it was written: does not match its own hash (self)");
}

/* The line as it was when it was sealed: without self, and zeros for the digits of mac. */
static char *audit_sealed_text(const char *line, size_t *len)
{
	char *text = xcalloc(*len + 1, 1);
	size_t at = *len < RECORD_SELF_TAIL ? 0 : *len - RECORD_SELF_TAIL;
	size_t prev = RECORD_PREV_TAIL + 1;

	memcpy(text, line, *len);
	if (!memcmp(text + at, RECORD_SELF_KEY, strlen(RECORD_SELF_KEY))) {
		memcpy(text + at, line + *len - prev, prev);
		*len = at + prev;
	}
	return text;
}

static bool audit_check_mac(struct chain *c, const char *line, size_t len)
{
	char *text = audit_sealed_text(line, &len), *mac = text + len - RECORD_MAC_TAIL;
	size_t key = strlen(RECORD_MAC_KEY);
	struct digest is, was;
	bool there = len >= RECORD_MAC_TAIL + key && !memcmp(mac - key, RECORD_MAC_KEY, key) &&
		     audit_parse_hex(&was, mac);

	if (there) {
		memset(mac, '0', DIGEST_HEX - 1);
		record_hmac_line(&is, &c->seal, text, len);
		record_hmac_forward(&c->seal);
	}
	free(text);
	if (!there)
		return audit_bad(c, "the seal is missing or in the wrong place: changed");
	return digest_equal(&is, &was) ||
	       audit_bad(c, "the seal does not match: changed, or written without the key of its "
			    "epoch");
}

/* The key of line seq; nothing can be sealed with it later. */
static void audit_pass_end(struct chain *c, uint64_t seq)
{
	if (!c->o->key || !c->r->counted || c->end.lines != seq || !seq)
		return;
	record_end_mac(&c->end_mac, &c->seal, seq);
	c->end_passed = true;
}

static void audit_seal_begin(struct chain *c)
{
	if (c->o->epochs)
		record_hmac_walk(&c->seal, c->o->epochs, c->o->key, c->r->epoch);
	else
		record_hmac_at(&c->seal, c->o->key, c->r->epoch);
	for (uint64_t i = 0; i < c->r->first_seq; i++)
		record_hmac_forward(&c->seal);
}

/* Each line with the key of its own epoch and place, and of no other. */
static bool audit_check_seal(struct chain *c, const json_t *j, const char *line, size_t len)
{
	const json_t *seal = json_object_get(j, "seal");
	json_int_t epoch = json_integer_at(seal, "epoch");

	if (!c->lines.n) {
		c->r->sealed = seal;
		c->r->epoch = (uint64_t)epoch;
		c->r->counted = json_integer_at(seal, "v") >= 2;
	}
	if (!seal != !c->r->sealed)
		return audit_bad(c, seal ? "sealed, in a record without seals: inserted"
					 : "not sealed, in a sealed record: inserted or changed");
	if (seal && (epoch < 1 || (uint64_t)epoch != c->r->epoch))
		return audit_bad(c,
				 "sealed in epoch %" PRId64 ", in a session of epoch %" PRIu64
				 ": written later, or changed",
				 (int64_t)epoch, c->r->epoch);
	if (!c->o->key)
		return true;
	if (!seal)
		return audit_bad(c, "not sealed, although a key was given: written without it");
	if (!c->lines.n && epoch > SEAL_EPOCHS)
		return audit_bad(c, "sealed in epoch %" PRId64 ", which is impossible",
				 (int64_t)epoch);
	if (!c->lines.n)
		audit_seal_begin(c);
	audit_pass_end(c, c->r->first_seq + c->lines.n);
	return audit_check_mac(c, line, len);
}

static void audit_open_screen(struct audit_screen *s, const char *record_path)
{
	char *path = record_cast_path(record_path);

	if (store_read(&s->data, &s->len, path, NULL))
		*s = (struct audit_screen){ .data = NULL };
	else
		s->hash = digest_begin();
	free(path);
}

static void audit_close_screen(struct audit_screen *s)
{
	struct digest unused;

	if (s->data)
		digest_end(&unused, s->hash);
	free(s->data);
}

/* The screen has the size and the hash that the line says. */
static bool audit_check_screen(struct chain *c, const json_t *j)
{
	const json_t *cast = json_object_get(j, "cast");
	struct audit_screen *s = &c->screen;
	json_int_t off = json_integer_at(cast, "off");
	struct digest is, was;

	if (!cast)
		return true;
	c->r->cast = s->data ? AUDIT_CAST_GOOD : AUDIT_CAST_ABSENT;
	if (!s->data)
		return true;
	if (!audit_digest_of(&was, cast, "sha256") || off < 0 || (size_t)off < s->at)
		return audit_bad(c, "what it says about the recorded screen is impossible");
	if ((size_t)off > s->len)
		return audit_bad(c,
				 "the recorded screen had %" PRId64 " bytes then and has %zu now: "
				 "truncated",
				 (int64_t)off, s->len);
	digest_add(s->hash, s->data + s->at, (size_t)off - s->at);
	s->at = (size_t)off;
	digest_peek(&is, s->hash);
	return digest_equal(&is, &was) ||
	       audit_bad(c, "the recorded screen was changed before byte %zu", s->at);
}

static void audit_take_line(struct chain *c, const json_t *j, const char *line, size_t len)
{
	const char *type = json_string_at(j, "type");
	const char *phase = json_string_at(json_object_get(j, "data"), "phase");
	struct audit_report *r = c->r;

	if (!c->lines.n)
		audit_take_start(r, j);
	audit_copy(r->end, sizeof(r->end), j, "ts");
	r->ended = !strcmp(type, "session.end");
	r->rotated = !strcmp(type, "record.rotate");
	r->gaps += !strcmp(type, "record.gap");
	r->updates += !strcmp(type, "phase.begin") && !strcmp(phase, "PREPARE");
	digest_of(&r->head, line, len);
	vec_push(&c->lines, r->head);
	r->lines++;
	r->bad_line = 0;
}

static bool audit_check_line(struct chain *c, const char *line, size_t len)
{
	struct digest prev;
	json_t *j = json_text_clean(json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL));
	bool ok;

	c->r->bad_line = c->lines.n + 1;
	if (!j || !audit_take_prev(&prev, line, len))
		ok = audit_bad(c, "not JSON, or its last key is not prev: changed or truncated");
	else
		ok = audit_check_fields(c, j, &prev) && audit_check_self(c, j, line, len) &&
		     audit_check_seal(c, j, line, len) && audit_check_screen(c, j);
	if (ok)
		audit_take_line(c, j, line, len);
	json_decref(j);
	return ok;
}

/* -ECANCELED: file_progress() was cancelled. */
static int audit_check_lines(struct chain *c, const char *data, size_t len)
{
	size_t at = 0;

	while (at < len) {
		const char *nl = memchr(data + at, '\n', len - at);

		if (c->lines.n % PROGRESS_LINES == 0 &&
		    progress_step(file_progress(), "verifying", at, len))
			return -ECANCELED;
		if (!nl) {
			c->r->bad_line = c->lines.n + 1;
			audit_cut(c, "truncated in the middle of the line");
			return 0;
		}
		if (!audit_check_line(c, data + at, (size_t)(nl - data) - at))
			return 0;
		at = (size_t)(nl - data) + 1;
	}
	if (!c->lines.n)
		audit_bad(c, "empty");
	return 0;
}

/* --- the end of a record ----------------------------------------------------------------- */

/* A later session names the last line that it found. */
static void audit_check_next(struct chain *c, const struct audit_first *f)
{
	uint64_t first = c->r->first_seq, end = first + c->lines.n;
	uint64_t seq = (uint64_t)f->genesis_seq;

	if (f->genesis_seq < 0 || seq < first || (c->r->rotated && seq >= end))
		return; /* or of another part */
	snprintf(c->r->next_sid, sizeof(c->r->next_sid), "%s", f->sid);
	if (seq >= end || !digest_equal(&f->genesis, &c->lines.v[seq - first]))
		audit_cut(c,
			  "the next session (%.50s) is chained to a line that is not here: the end "
			  "was truncated or changed",
			  c->r->next_sid);
}

/* The next part of the same session begins with the hash of this one's last line. */
static void audit_check_next_part(struct chain *c, const struct audit_first *f)
{
	if (!f->follows || f->part != c->r->part + 1ull)
		return;
	c->next_part = true;
	if (!digest_equal(&f->head, &c->r->head))
		audit_cut(c,
			  "the next part (%.80s) is not chained to its last line: truncated or "
			  "changed",
			  f->name);
}

/* Epochs only increase: a session of a later epoch with an earlier time is forged. */
static void audit_check_epoch(struct chain *c)
{
	const struct audit_first *f;

	if (!c->r->epoch || c->r->first_seq)
		return;
	f = audit_dir_wrong_epoch(c->dir, c->r->sid, c->r->start, c->r->epoch);
	if (f)
		audit_bad(c,
			  "of epoch %" PRIu64 " and from %s, while session %.48s of epoch %" PRIu64
			  " is from %.30s: one of them was written later than it claims",
			  c->r->epoch, c->r->start, f->sid, f->epoch, f->ts);
}

/* Once a directory is sealed, every session in it is: later ones, and those chained to sealed ones.
 */
static void audit_check_unsealed(struct chain *c)
{
	const struct audit_first *f = audit_dir_sealed_before(c->dir, c->r->start);
	size_t n, i;
	const struct audit_first *const *v = audit_dir_parts(&n, c->dir, c->r->genesis_sid);

	for (i = 0; i < n && !f && c->r->genesis_sid[0]; i++)
		f = v[i]->epoch ? v[i] : NULL;

	if (!c->r->sealed && f)
		audit_bad(
			c,
			"not sealed, although sessions of this directory are since %.48s: the seal "
			"was taken away, or the session was written elsewhere",
			f->sid);
}

/* Other files of the same directory. */
static void audit_check_followers(struct chain *c)
{
	size_t n, i;
	const struct audit_first *const *v = audit_dir_chained(&n, c->dir, c->r->sid);

	for (i = 0; i < n && c->r->ok; i++)
		audit_check_next(c, v[i]);
	v = audit_dir_parts(&n, c->dir, c->r->sid);
	for (i = 0; i < n && c->r->ok; i++)
		audit_check_next_part(c, v[i]);
	if (c->r->ok && c->o->key)
		audit_check_epoch(c);
	if (c->r->ok)
		audit_check_unsealed(c);
}

/* The number of lines that the seal has counted; what was not on the disk when the machine lost its
 * power is missing, too. */
static void audit_check_count(struct chain *c)
{
	uint64_t first = c->r->first_seq, end = first + c->lines.n;

	if (!c->r->counted || (c->r->rotated && c->next_part))
		return;
	if (!c->end.lines)
		audit_cut(c,
			  "the number of its lines (%.64s." RECORD_END_SUFFIX ") is not beside it: "
			  "removed, perhaps with the end of the session",
			  c->r->sid);
	else if (c->end.lines > end)
		audit_cut(c,
			  "the seal has counted %" PRIu64
			  " lines of the session, but here it ends after %" PRIu64
			  ": the end was truncated, or lost with the machine's power",
			  c->end.lines, end);
	else if (c->o->key && (!c->end_passed || !digest_equal(&c->end_mac, &c->end.mac)))
		audit_cut(c, "the number of its lines was changed after the seal had counted them");
}

static void audit_check_head(struct chain *c, const struct audit_head *h)
{
	struct audit_report *r = c->r;
	uint64_t end = r->first_seq + c->lines.n;

	if (h->lines <= r->first_seq || (h->lines > end && r->rotated))
		return;
	if (h->lines > end) {
		audit_cut(c,
			  "the log saw %" PRIu64
			  " lines of the session, but here it ends after %" PRIu64
			  ": the end was truncated",
			  h->lines, end);
		return;
	}
	if (!digest_equal(&h->head, &c->lines.v[h->lines - r->first_seq - 1])) {
		r->bad_line = h->lines - r->first_seq;
		audit_bad(c, "not the line that the log saw: changed");
		return;
	}
	r->heads++;
	r->head_is_last |= h->lines == end;
}

static void audit_check_heads(struct chain *c)
{
	size_t n;
	const struct audit_head *h = audit_heads_of(&n, c->o->heads, c->r->sid);

	for (size_t i = 0; i < n && c->r->ok; i++)
		audit_check_head(c, &h[i]);
}

static void audit_check_end(struct chain *c)
{
	if (c->r->cast == AUDIT_CAST_GOOD && (c->r->ended || c->r->rotated) &&
	    c->screen.at != c->screen.len)
		audit_bad(c, "the recorded screen ends at byte %zu, but more was added",
			  c->screen.at);
	if (c->r->ok && c->o->heads)
		audit_check_heads(c);
	if (c->r->ok)
		audit_check_followers(c);
	audit_pass_end(c, c->r->first_seq + c->lines.n);
	if (c->r->ok)
		audit_check_count(c);
}

static struct audit_dir *audit_dir_of(const char *path)
{
	char *copy = xstrdup(path);
	struct audit_dir *d = audit_dir_read(dirname(copy));

	free(copy);
	return d;
}

static void audit_read_end(struct chain *c, const char *path)
{
	char *end = record_end_path(path);

	if (!record_end_read(&c->end, end))
		c->end.lines = 0;
	free(end);
}

static int audit_check_file(struct chain *c, const char *path, const char *data, size_t len)
{
	struct audit_dir *own = c->o->dir ? NULL : audit_dir_of(path);
	int rc;

	c->dir = own ? own : c->o->dir;
	audit_open_screen(&c->screen, path);
	audit_read_end(c, path);
	c->r->cast_bytes = c->screen.len;
	rc = audit_check_lines(c, data, len);
	if (!rc && c->r->ok)
		audit_check_end(c);
	digest_erase(&c->seal.key);
	audit_close_screen(&c->screen);
	audit_dir_free(own);
	return rc;
}

int audit_verify(struct audit_report *out, const char *path, const struct audit_opts *o,
		 struct err *err)
{
	static const struct audit_opts plain;
	struct chain c = { .r = out, .o = o ? o : &plain };
	struct progress_line watch;
	char *data;
	size_t len;
	int rc;

	progress_line_files(&watch);
	rc = store_read(&data, &len, path, err);
	if (rc) {
		progress_line_files_end(&watch);
		return rc;
	}
	*out = (struct audit_report){ .ok = true, .bytes = len };
	rc = audit_check_file(&c, path, data, len);
	progress_line_files_end(&watch);
	if (rc)
		err_set(err, rc, "%s: not verified: cancelled", path);
	out->seal_checked = out->ok && out->sealed && c.o->key;
	vec_free(&c.lines);
	free(data);
	return rc;
}
