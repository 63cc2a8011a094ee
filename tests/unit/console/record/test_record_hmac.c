/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seal, the heads of a log, and the check without our program. */
#undef _FORTIFY_SOURCE /* with it some compilers' headers define syslog() themselves */
#include "console/record/record_hmac.h"

#include "console/cli/audit/audit_cmd.h"
#include "console/record/record.h"
#include "console/record/record_end.h"
#include "console/record/record_line.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

/* What the program sends to syslog goes into a file, as journalctl would print it. */
static char *log_path;

static void __attribute__((format(printf, 1, 0))) to_log(const char *fmt, va_list ap)
{
	FILE *f = log_path ? fopen(log_path, "a") : NULL;

	if (!f)
		return;
	fputs("Nov 20 23:19:51 admin ibroute-top[4711]: ", f);
	vfprintf(f, fmt, ap);
	fputc('\n', f);
	fclose(f);
}

void syslog(int priority, const char *fmt, ...)
{
	va_list ap;

	(void)priority;
	va_start(ap, fmt);
	to_log(fmt, ap);
	va_end(ap);
}

/* What syslog() is with _FORTIFY_SOURCE. */
void __syslog_chk(int priority, int flag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void __syslog_chk(int priority, int flag, const char *fmt, ...)
{
	va_list ap;

	(void)priority;
	(void)flag;
	va_start(ap, fmt);
	to_log(fmt, ap);
	va_end(ap);
}

struct world {
	char *dir, *path, *text;
	char **line;
	int n;
	struct digest key;
	struct audit_heads heads;
};

static void session(const char *dir, char **path, int notes)
{
	struct record_opts o = { .dir = dir, .fabric = "net", .mode = "rw", .syslog = true };
	struct canvas *c = canvas_new(40, 6, false);
	struct record *r;
	struct err err = { "" };

	usleep(2000); /* sessions are told apart by the millisecond in which they begin */
	if (record_open(&r, &o, &err))
		fail_msg("%s", err.text);
	*path = xstrdup(record_path(r));
	for (int i = 0; i < notes; i++) {
		canvas_textf(c, canvas_rect(c), 0, i % 6, ROLE_TEXT, "frame %d", i);
		assert_int_equal(record_screen(r, c, 256, NULL), 0);
		assert_int_equal(record_add(r, "note",
					    json_pack("{s:i, s:s}", "n", i, "text",
						      "back\\slash 'q' \xc3\xa9 %s"),
					    NULL),
				 0);
		if (i % 2)
			assert_int_equal(record_sync(r, NULL), 0);
	}
	canvas_free(c);
	assert_int_equal(record_close(r, NULL), 0);
}

static void load(struct world *w)
{
	size_t len;

	assert_int_equal(store_read(&w->text, &len, w->path, NULL), 0);
	w->line = xcalloc(64, sizeof(char *));
	for (char *l = strtok(w->text, "\n"); l; l = strtok(NULL, "\n"))
		w->line[w->n++] = l;
	assert_int_equal(audit_heads_read(&w->heads, log_path, NULL), 0);
}

static int setup_of(void **state, int notes, bool sealed)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->dir = net_tmpdir();
	log_path = xasprintf("%s/syslog.txt", w->dir);
	if (sealed)
		assert_int_equal(record_hmac_setup(&w->key, w->dir, NULL), 0);
	session(w->dir, &w->path, notes);
	load(w);
	*state = w;
	return 0;
}

static int setup_plain(void **state)
{
	return setup_of(state, 8, false);
}

static int setup_sealed(void **state)
{
	return setup_of(state, 8, true);
}

static int setup_short(void **state)
{
	return setup_of(state, 1, false);
}

static int setup_short_sealed(void **state)
{
	return setup_of(state, 1, true);
}

static int teardown(void **state)
{
	struct world *w = *state;

	audit_heads_free(&w->heads);
	free(w->line);
	free(w->text);
	free(w->path);
	net_rmdir(w->dir);
	free(log_path);
	log_path = NULL;
	free(w);
	return 0;
}

static void put(const struct world *w, char *const *lines, int n)
{
	FILE *f = fopen(w->path, "w");

	for (int i = 0; i < n; i++)
		fprintf(f, "%s\n", lines[i]);
	fclose(f);
}

static struct audit_report judge(const struct world *w, const struct audit_opts *o)
{
	struct audit_report r;

	assert_int_equal(audit_verify(&r, w->path, o, NULL), 0);
	return r;
}

/* The six lines, with the hash of the last line or without. */
static bool shell_accepts(const struct world *w, const char *head)
{
	char *script = xasprintf("%s/check.sh", w->dir);
	char *cmd = xasprintf("sh '%s' '%s' %s >/dev/null", script, w->path, head);
	int rc;

	unlink(script);
	assert_int_equal(store_write(script, audit_shell_check, strlen(audit_shell_check), NULL),
			 0);
	rc = system(cmd);
	free(cmd);
	free(script);
	return !rc;
}

typedef void each_change(struct world *w, char *const *lines, int n, bool changed);

/* Every single line edited, removed, doubled, swapped with each other, and every tail cut off. */
static void all_changes(struct world *w, each_change *fn)
{
	char **l = xcalloc(64, sizeof(char *));

	fn(w, w->line, w->n, false);
	for (int i = 0; i < w->n; i++) {
		char *edited = xstrdup(w->line[i]);

		memcpy(strstr(edited, "\"ts\":\"") + 6, "1999", 4);
		memcpy(l, w->line, 64 * sizeof(*l));
		l[i] = edited;
		fn(w, l, w->n, true);
		free(edited);
		memcpy(l, w->line, 64 * sizeof(*l));
		memmove(l + i, l + i + 1, (size_t)(w->n - i - 1) * sizeof(*l));
		fn(w, l, w->n - 1, true);
		for (int k = 0; k <= w->n; k++) {
			memcpy(l, w->line, (size_t)k * sizeof(*l));
			l[k] = w->line[i];
			memcpy(l + k + 1, w->line + k, (size_t)(w->n - k) * sizeof(*l));
			fn(w, l, w->n + 1, true);
		}
		for (int k = i + 1; k < w->n; k++) {
			memcpy(l, w->line, 64 * sizeof(*l));
			l[i] = w->line[k];
			l[k] = w->line[i];
			fn(w, l, w->n, true);
		}
		fn(w, w->line, i, true);
	}
	free(l);
}

static void found_with_heads(struct world *w, char *const *lines, int n, bool changed)
{
	struct audit_opts o = { .heads = &w->heads };

	put(w, lines, n);
	assert_int_equal(judge(w, &o).ok, !changed);
}

static void with_heads_every_change_of_every_line_is_found(void **state)
{
	struct world *w = *state;
	struct audit_report r;

	r = judge(w, &(struct audit_opts){ .heads = &w->heads });
	assert_true(r.ok && r.ended && r.head_is_last);
	assert_int_equal(r.heads, w->heads.n);
	assert_true(w->heads.n >= 5);
	all_changes(w, found_with_heads);
}

static void same_as_shell(struct world *w, char *const *lines, int n, bool changed)
{
	char hex[DIGEST_HEX];
	struct digest head;

	digest_of(&head, w->line[w->n - 1], strlen(w->line[w->n - 1]));
	put(w, lines, n);
	assert_int_equal(shell_accepts(w, digest_hex(hex, &head)), !changed);
}

static void six_lines_of_shell_find_the_same(void **state)
{
	struct world *w = *state;
	char **l = xcalloc(64, sizeof(char *));

	/* a process for each: not every pair */
	same_as_shell(w, w->line, w->n, false);
	for (int i = 0; i < w->n; i++) {
		char *edited = xstrdup(w->line[i]);
		struct audit_opts o = { .heads = &w->heads };

		memcpy(strstr(edited, "\"ts\":\"") + 6, "1999", 4);
		memcpy(l, w->line, 64 * sizeof(*l));
		l[i] = edited;
		same_as_shell(w, l, w->n, true);
		assert_int_equal(shell_accepts(w, ""), judge(w, NULL).ok);
		assert_false(judge(w, &o).ok);
		free(edited);
		memcpy(l, w->line, 64 * sizeof(*l));
		memmove(l + i, l + i + 1, (size_t)(w->n - i - 1) * sizeof(*l));
		put(w, l, w->n - 1);
		assert_int_equal(shell_accepts(w, ""), judge(w, NULL).ok);
		memcpy(l, w->line, 64 * sizeof(*l));
		memmove(l + i + 1, l + i, (size_t)(w->n - i) * sizeof(*l));
		put(w, l, w->n + 1);
		assert_int_equal(shell_accepts(w, ""), judge(w, NULL).ok);
		memcpy(l, w->line, 64 * sizeof(*l));
		l[i] = w->line[(i + 1) % w->n];
		l[(i + 1) % w->n] = w->line[i];
		put(w, l, w->n);
		assert_int_equal(shell_accepts(w, ""), judge(w, NULL).ok);
	}
	put(w, w->line, 0);
	assert_false(shell_accepts(w, ""));
	assert_false(judge(w, NULL).ok);
	put(w, w->line, w->n);
	assert_int_equal(truncate(w->path, (off_t)strlen(w->line[0]) / 2), 0);
	assert_false(shell_accepts(w, ""));
	free(l);
}

/* Writes the file with its last line as that. */
static void put_last(const struct world *w, const char *line, size_t len)
{
	FILE *f = fopen(w->path, "w");

	for (int i = 0; i < w->n - 1; i++)
		fprintf(f, "%s\n", w->line[i]);
	fwrite(line, 1, len, f);
	fputc('\n', f);
	fclose(f);
}

/* Byte k of the last line changed, removed, put in again, or a zero put in there: found by us, and
 * where shell by it, too. */
static void change_byte(const struct world *w, size_t k, bool shell)
{
	const char *last = w->line[w->n - 1];
	size_t len = strlen(last);
	char *l = xcalloc(len + 2, 1);

	for (int way = 0; way < 4; way++) {
		memcpy(l, last, len + 1);
		if (way)
			memmove(l + k + (way > 1), last + k + (way == 1), len - k);
		if (way == 0)
			l[k] = (char)(l[k] ^ 1);
		if (way == 3)
			l[k] = '\0';
		put_last(w, l, len - (way == 1) + (way > 1));
		if (judge(w, NULL).ok || (shell && shell_accepts(w, "")))
			fail_msg("not found: byte %zu, way %d: %s", k, way, l);
	}
	free(l);
}

/* Nothing was chained to it, and no log is needed either. */
static void every_change_of_the_last_line_is_found_by_both(void **state)
{
	struct world *w = *state;
	size_t len = strlen(w->line[w->n - 1]);

	assert_true(judge(w, NULL).ended && shell_accepts(w, ""));
	assert_true(w->n < 5);
	for (size_t k = 0; k < len; k++) /* sh takes its time: one of many, and what is behind */
		change_byte(w, k, k % 100 == 7);
	for (const char *at = "}\":,{"; *at; at++)
		change_byte(w, (size_t)(strrchr(w->line[w->n - 1], *at) - w->line[w->n - 1]), true);
}

/* A line behind the end fits the chain, which whoever puts it there can see to. */
static void line_behind_the_end_is_found_by_both(void **state)
{
	struct world *w = *state;
	const char *last = w->line[w->n - 1], *note = w->line[w->n - 2];
	char hex[DIGEST_HEX], **l = xcalloc(64, sizeof(char *));
	struct digest head;

	digest_of(&head, last, strlen(last));
	memcpy(l, w->line, 64 * sizeof(*l));
	l[w->n] = xasprintf("%.*s\"prev\":\"%s\"}", (int)(strlen(note) - RECORD_PREV_TAIL), note,
			    digest_hex(hex, &head));
	put(w, l, w->n + 1);
	assert_false(judge(w, NULL).ok);
	assert_false(shell_accepts(w, ""));
	free(l[w->n]);
	free(l);
}

/* As versions ended it that did not give the last line a hash of itself. */
static void end_without_a_hash_of_itself_is_told_as_such(void **state)
{
	struct world *w = *state;
	char *l = xstrdup(w->line[w->n - 1]), *self = strstr(l, RECORD_SELF_KEY);

	assert_non_null(self);
	memmove(self, strstr(self, "," RECORD_PREV_KEY), RECORD_PREV_TAIL + 2);
	put_last(w, l, strlen(l));
	assert_false(judge(w, NULL).ok);
	assert_string_equal(
		judge(w, NULL).what,
		"the last line has no hash of itself (self): changed, or written by an older "
		"version");
	free(l);
}

static void shell_accepts_later_parts(void **state)
{
	struct world *w = *state;
	struct record_opts o = { .dir = w->dir, .part_bytes = 3000 };
	struct record *r;
	char *first, *edit;

	assert_int_equal(record_open(&r, &o, NULL), 0);
	first = xstrdup(record_path(r));
	for (int i = 0; i < 20; i++)
		assert_int_equal(record_add(r, "note", json_pack("{s:i}", "n", i), NULL), 0);
	free(w->path);
	w->path = xasprintf("%s/%s.2.jsonl", w->dir, record_sid(r));
	assert_int_equal(record_close(r, NULL), 0);
	assert_true(shell_accepts(w, "") && judge(w, NULL).ok);
	assert_int_equal(judge(w, NULL).part, 2);
	/* what ends a part vouches for itself, too */
	free(w->path);
	w->path = first;
	assert_true(shell_accepts(w, "") && judge(w, NULL).ok && judge(w, NULL).rotated);
	edit = xasprintf("sed -i '$s/\"next\":\"2/\"next\":\"3/' '%s'", first);
	assert_int_equal(system(edit), 0);
	free(edit);
	assert_false(shell_accepts(w, ""));
	assert_int_equal(judge(w, NULL).bad_line, judge(w, NULL).lines + 1);
}

/* --- sealed --- */

static void found_by_seal(struct world *w, char *const *lines, int n, bool changed)
{
	struct audit_opts o = { .key = &w->key };
	struct audit_report r;

	put(w, lines, n);
	r = judge(w, &o);
	assert_int_equal(r.ok && r.ended, !changed);
}

static void seal_finds_an_edited_last_line_too(void **state)
{
	struct world *w = *state;
	struct audit_report r = judge(w, &(struct audit_opts){ .key = &w->key });

	assert_true(r.ok && r.sealed && r.seal_checked);
	assert_int_equal(r.epoch, 1);
	all_changes(w, found_by_seal);
}

static void chain_rebuilt_without_the_key_is_found(void **state)
{
	struct world *w = *state;
	char **l = xcalloc(64, sizeof(char *));
	struct digest head = { { 0 } };
	char hex[DIGEST_HEX];

	/* root edits line 3 and makes the chain fit again, with seals as they were */
	for (int i = 0; i < w->n; i++) {
		l[i] = xstrdup(w->line[i]);
		if (i == 3)
			memcpy(strstr(l[i], "\"ts\":\"") + 6, "1999", 4);
		memcpy(strstr(l[i], RECORD_PREV_KEY) + strlen(RECORD_PREV_KEY),
		       digest_hex(hex, &head), DIGEST_HEX - 1);
		digest_of(&head, l[i], strlen(l[i]));
	}
	put(w, l, w->n);
	assert_true(judge(w, NULL).ok);
	assert_false(judge(w, &(struct audit_opts){ .key = &w->key }).ok);
	assert_int_equal(judge(w, &(struct audit_opts){ .key = &w->key }).bad_line, 4);
	for (int i = 0; i < w->n; i++)
		free(l[i]);
	free(l);
}

/* The hash of itself that the last line of a file has. */
static void cut_self(char *line)
{
	char *at = strstr(line, RECORD_SELF_KEY);

	if (at)
		memmove(at, strrchr(line, ','), strlen(strrchr(line, ',')) + 1);
}

static char *put_self(char *line)
{
	size_t at = (size_t)(strrchr(line, ',') - line);
	struct digest self;
	char hex[DIGEST_HEX], *all;

	digest_of(&self, line, at);
	all = xasprintf("%.*s" RECORD_SELF_KEY "%s\"%s", (int)at, line, digest_hex(hex, &self),
			line + at);
	free(line);
	return all;
}

/* Seals all lines of a file again as seal s would, and makes the chain fit. */
static void reseal(struct world *w, char **l, struct record_hmac s)
{
	struct digest head = { { 0 } }, mac;
	char hex[DIGEST_HEX], epoch[32];

	for (int i = 0; i < w->n; i++) {
		size_t len;

		l[i] = xstrdup(w->line[i]);
		snprintf(epoch, sizeof(epoch), "\"epoch\":%lu", (unsigned long)s.epoch);
		memcpy(strstr(l[i], "\"epoch\":1"), epoch, strlen(epoch));
		memcpy(strstr(l[i], RECORD_PREV_KEY) + strlen(RECORD_PREV_KEY),
		       digest_hex(hex, &head), DIGEST_HEX - 1);
		cut_self(l[i]);
		len = strlen(l[i]);
		memset(l[i] + len - RECORD_MAC_TAIL, '0', DIGEST_HEX - 1);
		record_hmac_line(&mac, &s, l[i], len);
		memcpy(l[i] + len - RECORD_MAC_TAIL, digest_hex(hex, &mac), DIGEST_HEX - 1);
		record_hmac_forward(&s);
		if (i == w->n - 1)
			l[i] = put_self(l[i]);
		digest_of(&head, l[i], strlen(l[i]));
	}
}

/* As journald once accepted: CVE-2023-31439. */
static void old_entries_sealed_with_a_newer_key_are_found(void **state)
{
	struct world *w = *state;
	struct audit_opts o = { .key = &w->key };
	char **l = xcalloc(64, sizeof(char *)), *next, *third;
	struct record_hmac s;

	session(w->dir, &next, 2);
	session(w->dir, &third, 2); /* what is left on disk now is the key of epoch 4 */
	assert_int_equal(record_hmac_last_epoch(w->dir), 3);
	record_hmac_at(&s, &w->key, 4);
	/* the whole old session sealed as if it were of epoch 4: its neighbours show that */
	reseal(w, l, s);
	put(w, l, w->n);
	assert_false(judge(w, &o).ok);
	assert_non_null(strstr(judge(w, &o).what, "next session"));
	unlink(next);
	assert_false(judge(w, &o).ok);
	assert_non_null(strstr(judge(w, &o).what, "epoch"));
	/* a single old line sealed by it */
	for (int i = 0; i < w->n; i++) {
		char *was = w->line[i];
		char **mixed = xcalloc(64, sizeof(char *));

		memcpy(mixed, w->line, 64 * sizeof(*mixed));
		mixed[i] = l[i];
		put(w, mixed, w->n);
		assert_false(judge(w, &o).ok);
		w->line[i] = was;
		free(mixed);
	}
	/* sealed with the newer key, and said to be of the old epoch */
	for (int i = 0; i < w->n; i++)
		free(l[i]);
	s.epoch = 1;
	reseal(w, l, s);
	put(w, l, w->n);
	assert_false(judge(w, &o).ok);
	assert_int_equal(judge(w, &o).bad_line, 1);
	/* sealed with the right one, which nobody but the verifier has */
	for (int i = 0; i < w->n; i++)
		free(l[i]);
	record_hmac_at(&s, &w->key, 1);
	reseal(w, l, s);
	for (int i = 0; i < w->n; i++)
		assert_string_equal(l[i], w->line[i]);
	for (int i = 0; i < w->n; i++)
		free(l[i]);
	free(l);
	free(next);
	free(third);
}

static void keys_of_the_past_are_not_on_the_disk(void **state)
{
	struct world *w = *state;
	char *path = xasprintf("%s/" SEAL_STATE, w->dir), *text, hex[DIGEST_HEX];
	struct stat st;
	size_t len;

	assert_int_equal(store_read(&text, &len, path, NULL), 0);
	assert_null(strstr(text, digest_hex(hex, &w->key)));
	assert_non_null(strstr(text, "epoch 00000000000000000002\n"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_null(strstr(w->line[0], hex));
	free(text);
	free(path);
}

static void seals_that_were_taken_away_are_missed(void **state)
{
	struct world *w = *state;
	struct audit_report r;
	char *other;

	session(w->dir, &other, 2);
	free(w->path);
	w->path = other;
	assert_true(judge(w, &(struct audit_opts){ .key = &w->key }).ok);
	other = xasprintf("sed -i 's/\"seal\":{[^}]*},//' '%s'", w->path);
	assert_int_equal(system(other), 0);
	r = judge(w, &(struct audit_opts){ .key = &w->key });
	assert_false(r.ok);
	assert_non_null(strstr(r.what, "not sealed"));
	free(other);
}

/* Every end cut off the last session: no later one, no log and no key is needed for that. */
static void the_seal_counts_the_lines(void **state)
{
	struct world *w = *state;
	struct audit_opts key = { .key = &w->key };
	char *end = record_end_path(w->path);
	struct record_end was;

	assert_true(record_end_read(&was, end));
	assert_int_equal(was.lines, w->n);
	assert_true(judge(w, NULL).ok && judge(w, NULL).counted && judge(w, &key).ok);
	for (int n = 1; n < w->n; n++) {
		put(w, w->line, n);
		assert_true(!judge(w, NULL).ok && judge(w, NULL).cut);
		assert_true(!judge(w, &key).ok && judge(w, &key).cut);
		assert_non_null(strstr(judge(w, &key).what, "the end was truncated"));
	}
	free(end);
}

static void put_end(const char *path, uint64_t lines, const struct digest *mac)
{
	char hex[DIGEST_HEX];
	FILE *f = fopen(path, "w");

	fprintf(f, "ibroute-seal-end 1\nlines %020lu\nmac %s\n", (unsigned long)lines,
		digest_hex(hex, mac));
	fclose(f);
}

/* Root cuts the end off and makes the count fit, with all keys that are left on the disk. */
static void a_count_that_was_changed_is_found(void **state)
{
	struct world *w = *state;
	struct audit_opts key = { .key = &w->key };
	char *path = record_end_path(w->path);
	struct record_end end;
	struct record_hmac later;
	struct digest mac;

	assert_true(record_end_read(&end, path));
	record_hmac_at(&later, &w->key, 2);
	for (int n = 1; n < w->n; n++) {
		put(w, w->line, n);
		put_end(path, (uint64_t)n, &end.mac);
		assert_true(judge(w, &key).cut);
		record_end_mac(&mac, &later, (uint64_t)n);
		put_end(path, (uint64_t)n, &mac);
		assert_true(judge(w, &key).cut);
		assert_true(judge(w, NULL).ok); /* it takes the key to know */
	}
	put(w, w->line, w->n - 2);
	put_end(path, 0, &end.mac);
	assert_true(judge(w, NULL).cut);
	unlink(path);
	assert_true(judge(w, NULL).cut && judge(w, &key).cut);
	assert_non_null(strstr(judge(w, NULL).what, "removed"));
	free(path);
}

/* Killed behind a line: what the seal counted is there, and no end is. */
static void a_session_that_was_killed_is_whole(void **state)
{
	struct world *w = *state;
	struct record_opts o = { .dir = w->dir };
	struct record *r;

	assert_int_equal(record_open(&r, &o, NULL), 0);
	free(w->path);
	w->path = xstrdup(record_path(r));
	for (int i = 0; i < 3; i++) {
		struct audit_opts key = { .key = &w->key };

		assert_true(judge(w, &key).ok && !judge(w, &key).ended);
		assert_int_equal(record_add(r, "note", json_pack("{s:i}", "n", i), NULL), 0);
	}
	assert_int_equal(record_close(r, NULL), 0);
}

/* The last part of a session, and the last two of its files. */
static void a_missing_part_is_missed(void **state)
{
	struct world *w = *state;
	struct record_opts o = { .dir = w->dir, .part_bytes = 3000 };
	struct audit_opts key = { .key = &w->key };
	char *last, *first;
	struct record *r;

	assert_int_equal(record_open(&r, &o, NULL), 0);
	first = xstrdup(record_path(r));
	for (int i = 0; i < 20; i++)
		assert_int_equal(record_add(r, "note", json_pack("{s:i}", "n", i), NULL), 0);
	assert_int_equal(record_close(r, NULL), 0);
	free(w->path);
	w->path = first;
	assert_true(judge(w, &key).ok && judge(w, &key).rotated);
	last = xasprintf("%.*s.2.jsonl", (int)(strlen(first) - 6), first);
	w->path = last;
	assert_true(judge(w, &key).ok);
	assert_int_equal(unlink(last), 0);
	w->path = first;
	assert_true(judge(w, &key).cut && judge(w, NULL).cut);
	free(last);
}

static void sessions_without_a_seal_after_sealed_ones_are_told(void **state)
{
	struct world *w = *state;
	char *seal = xasprintf("%s/" SEAL_STATE, w->dir), *other;

	assert_int_equal(unlink(seal), 0);
	session(w->dir, &other, 2);
	free(w->path);
	w->path = other;
	assert_false(judge(w, NULL).ok);
	assert_non_null(strstr(judge(w, NULL).what, "not sealed, although"));
	/* one that says that it is from before */
	other = xasprintf("sed -i 's/\"ts\":\"20/\"ts\":\"19/' '%s'", w->path);
	assert_int_equal(system(other), 0);
	assert_false(judge(w, NULL).ok);
	free(other);
	free(seal);
}

static void state_that_cannot_be_used_keeps_from_recording(void **state)
{
	struct world *w = *state;
	struct record_opts o = { .dir = w->dir };
	char *path = xasprintf("%s/" SEAL_STATE, w->dir);
	struct err err = { "" };
	struct record *r;
	struct digest again;

	assert_int_equal(record_hmac_setup(&again, w->dir, &err), -EEXIST);
	unlink(path);
	assert_int_equal(store_write(path, "rubbish\n", 8, NULL), 0);
	assert_int_equal(record_open(&r, &o, &err), -EINVAL);
	assert_non_null(strstr(err.text, path));
	free(path);
}

static void log_that_is_cut_is_said(void **state)
{
	struct world *w = *state;
	char *path = xasprintf("%s/cut.txt", w->dir);
	struct audit_heads h;
	struct err err = { "" };

	assert_int_equal(store_write(path, "a\nx IBROUTE_HEAD=0123 sid=\n", 27, NULL), 0);
	assert_int_equal(audit_heads_read(&h, path, &err), -EINVAL);
	assert_non_null(strstr(err.text, ":2:"));
	assert_int_equal(audit_heads_read(&h, "/no/such/log", &err), -ENOENT);
	free(path);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup_plain, teardown)
#define S(fn) cmocka_unit_test_setup_teardown(fn, setup_sealed, teardown)
	const struct CMUnitTest tests[] = {
		T(with_heads_every_change_of_every_line_is_found),
		T(six_lines_of_shell_find_the_same),
		cmocka_unit_test_setup_teardown(every_change_of_the_last_line_is_found_by_both,
						setup_short, teardown),
		cmocka_unit_test_setup_teardown(every_change_of_the_last_line_is_found_by_both,
						setup_short_sealed, teardown),
		T(line_behind_the_end_is_found_by_both),
		T(end_without_a_hash_of_itself_is_told_as_such),
		T(shell_accepts_later_parts),
		T(log_that_is_cut_is_said),
		S(seal_finds_an_edited_last_line_too),
		S(chain_rebuilt_without_the_key_is_found),
		S(old_entries_sealed_with_a_newer_key_are_found),
		S(keys_of_the_past_are_not_on_the_disk),
		S(seals_that_were_taken_away_are_missed),
		S(the_seal_counts_the_lines),
		S(a_count_that_was_changed_is_found),
		S(a_session_that_was_killed_is_whole),
		S(a_missing_part_is_missed),
		S(sessions_without_a_seal_after_sealed_ones_are_told),
		S(state_that_cannot_be_used_keeps_from_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
