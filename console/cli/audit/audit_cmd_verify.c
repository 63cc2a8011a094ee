/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit verify, list: are the records of past sessions what was written? */
#include "console/cli/audit/audit_cmd.h"

#include "console/config/exits.h"
#include "console/record/record_files.h"
#include "console/record/record_hmac.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char audit_shell_check[] =
	"sum() { printf %s \"$1\" | sha256sum | cut -c -64; }; f=$1 n=0 k=',\"self\":\"'\n"
	"p=$(sed -n '/\"type\":\"record.part\"/s/.*\"prev\":\"\\(.*\\)\"}$/\\1/p;q' \"$f\"); p=${p:-$(printf '%064d' 0)}\n"
	"while IFS= read -r l || { [ \"$l\" ] && l=cut; }; do n=$((n + 1)) h=$(sum \"$l\") b=${l%',\"prev\":\"'*} w=\n"
	"  b=${b%\"$k\"*}; case $b in *'\"type\":\"session.end\"'*|*'\"type\":\"record.rotate\"'*) w=$k$(sum \"$b\")\\\";; esac\n"
	"  [ \"$l\" = \"$b$w,\\\"prev\\\":\\\"$p\\\"}\" ] || { echo \"$f:$n: not as written\"; exit 1; }; p=${w:+end} p=${p:-$h}; done <\"$f\"\n"
	"[ $n -gt 0 ] && tr -d '\\000' <\"$f\" | cmp -s - \"$f\" && [ \"${2:-$h}\" = \"$h\" ] && echo \"$f: $n lines, head $h\" || exit 1\n";

static json_t *audit_cmd_verify_text_or_null(const char *s)
{
	return s[0] ? json_text(s) : json_null();
}

static const char *audit_cmd_verify_cast_word(enum audit_cast cast)
{
	return cast == AUDIT_CAST_GOOD ? "good" : cast == AUDIT_CAST_ABSENT ? "absent" : "none";
}

static json_t *audit_cmd_verify_report_json(const char *path, const struct audit_report *r)
{
	char hex[DIGEST_HEX];
	json_t *j = json_pack(
		"{s:o, s:b, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:s, s:o, s:o}",
		"file", json_text(path), "ok", r->ok, "ended", r->ended, "lines",
		(json_int_t)r->lines, "bad_line",
		r->bad_line ? json_integer((json_int_t)r->bad_line) : json_null(), "finding",
		audit_cmd_verify_text_or_null(r->what), "sid",
		audit_cmd_verify_text_or_null(r->sid), "start",
		audit_cmd_verify_text_or_null(r->start), "end",
		audit_cmd_verify_text_or_null(r->end), "fabric",
		audit_cmd_verify_text_or_null(r->fabric), "mode",
		audit_cmd_verify_text_or_null(r->mode), "uid", (json_int_t)r->uid, "head",
		digest_hex(hex, &r->head), "after", audit_cmd_verify_text_or_null(r->genesis_sid),
		"before", audit_cmd_verify_text_or_null(r->next_sid));
	json_t *more = json_pack(
		"{s:I, s:I, s:b, s:I, s:I, s:I, s:b, s:s, s:I, s:I, s:b, s:b, s:I, s:b}", "part",
		(json_int_t)r->part, "first_seq", (json_int_t)r->first_seq, "rotated", r->rotated,
		"gaps", (json_int_t)r->gaps, "updates", (json_int_t)r->updates, "heads",
		(json_int_t)r->heads, "head_is_last", r->head_is_last, "cast",
		audit_cmd_verify_cast_word(r->cast), "bytes", (json_int_t)r->bytes, "cast_bytes",
		(json_int_t)r->cast_bytes, "sealed", r->sealed, "seal_checked", r->seal_checked,
		"epoch", (json_int_t)r->epoch, "cut", r->cut);

	json_object_update_missing(j, more);
	json_decref(more);
	return j;
}

static const char *audit_cmd_verify_end_words(const struct audit_report *r)
{
	if (r->ended)
		return "session closed";
	if (r->rotated)
		return "continues in the next part";
	if (r->next_sid[0] || r->head_is_last)
		return "no end: the session is open, or was killed";
	return "no end: the session is open or was killed, or the record is truncated";
}

static void audit_cmd_verify_print_vouchers(const struct audit_report *r,
					    const struct audit_opts *o)
{
	if (r->next_sid[0])
		printf("  session %s continues its chain\n", r->next_sid);
	if (o->heads)
		printf("  %" PRIu32 " heads in the log match%s\n", r->heads,
		       !r->heads	 ? ": the log has none of this session"
		       : r->head_is_last ? ", including the last line"
					 : "");
	if (r->sealed)
		printf("  sealed in epoch %" PRIu64 "%s\n", r->epoch,
		       r->seal_checked ? ", every line verified with its key"
				       : "; --key FILE verifies it");
	if (r->counted)
		printf("  none of its lines is missing at the end: the seal has counted them%s\n",
		       r->seal_checked ? "" : " (--key FILE verifies that)");
	if (r->cast == AUDIT_CAST_GOOD)
		printf("  recorded screen intact (%" PRIu64 " bytes)\n", r->cast_bytes);
	if (r->cast == AUDIT_CAST_ABSENT)
		printf("  no recorded screen beside it\n");
	if (r->gaps)
		printf("  %" PRIu64 " gap%s: some of the session could not be recorded\n", r->gaps,
		       plural(r->gaps));
}

static void audit_cmd_verify_print_report(const char *path, const struct audit_report *r,
					  const struct audit_opts *o)
{
	char hex[DIGEST_HEX], *shown = plain_text(xstrdup(path), "");

	if (!r->ok && r->bad_line)
		printf("%s:%" PRIu64 ": %s\n", shown, r->bad_line, r->what);
	else if (!r->ok)
		printf("%s: %s\n", shown, r->what);
	else
		printf("%s: %" PRIu64 " lines, all intact; %s\n", shown, r->lines,
		       audit_cmd_verify_end_words(r));
	free(shown);
	if (r->lines)
		printf("  intact lines %" PRIu64 ", head %s\n", r->lines,
		       digest_hex(hex, &r->head));
	if (r->ok)
		audit_cmd_verify_print_vouchers(r, o);
}

static void audit_cmd_verify_put_json(json_t *j)
{
	json_dumpf(j, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(j);
}

struct round {
	struct audit_opts *opts;
	bool json;
	int worst;
	bool cut; /* nothing worse than an end that is missing */
	VEC(uint64_t) epochs;
	VEC(char *) sids; /* of sessions that are there, or were pruned */
};

static void audit_cmd_verify_add_sid(struct round *d, const char *sid)
{
	if (sid && *sid)
		vec_push(&d->sids, xstrdup(sid));
}

static void audit_cmd_verify_forget_sids(struct round *d)
{
	for (size_t i = 0; i < d->sids.n; i++)
		free(d->sids.v[i]);
	d->sids.n = 0;
}

static void audit_cmd_verify_worse(struct round *d, int rc)
{
	d->worst = rc > d->worst ? rc : d->worst;
}

static void audit_cmd_verify_one_file(struct round *d, const char *path)
{
	struct audit_report r;
	struct err err = { "" };

	if (audit_verify(&r, path, d->opts, &err)) {
		fprintf(stderr, "ibroute-top: %s\n", err.text);
		audit_cmd_verify_worse(d, EXIT_UNREADABLE);
		return;
	}
	if (d->json)
		audit_cmd_verify_put_json(audit_cmd_verify_report_json(path, &r));
	else
		audit_cmd_verify_print_report(path, &r, d->opts);
	if (r.epoch)
		vec_push(&d->epochs, r.epoch);
	audit_cmd_verify_add_sid(d, r.sid);
	if (r.cut)
		d->cut = true;
	else
		audit_cmd_verify_worse(d, r.ok ? EXIT_OK : EXIT_FINDINGS);
}

/* Sessions that prune took away, as its records say. */
static void audit_cmd_verify_add_pruned(struct round *d, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		json_t *j = strstr(line, "\"record.prune\"")
				    ? json_text_clean(json_loads(line, 0, NULL))
				    : NULL;
		const json_t *data = json_object_get(j, "data");
		json_int_t epoch = json_integer_at(data, "epoch");

		audit_cmd_verify_add_sid(d, json_string_value(json_object_get(data, "sid")));
		if (epoch > 0)
			vec_push(&d->epochs, (uint64_t)epoch);
		json_decref(j);
	}
	free(line);
	if (f)
		fclose(f);
}

static int audit_cmd_verify_by_epoch(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static int audit_cmd_verify_by_sid(const void *pa, const void *pb)
{
	return strcmp(*(char *const *)pa, *(char *const *)pb);
}

static void audit_cmd_verify_tell_gap(struct round *d, const char *dir, uint64_t from, uint64_t to)
{
	FILE *out = d->json ? stderr : stdout;

	if (from == to)
		fprintf(out,
			"%s: no session of epoch %" PRIu64 " of the seal: its record was removed\n",
			dir, from);
	else
		fprintf(out,
			"%s: no sessions of epochs %" PRIu64 " to %" PRIu64
			" of the seal: their records were removed\n",
			dir, from, to);
	audit_cmd_verify_worse(d, EXIT_FINDINGS);
}

/* A session that is gone as a whole leaves its epoch behind.  The last one is what a file says. */
static void audit_cmd_verify_check_epochs(struct round *d, const char *dir)
{
	uint64_t last = record_hmac_last_epoch(dir), next = 1;

	if (d->epochs.n)
		qsort(d->epochs.v, d->epochs.n, sizeof(uint64_t), audit_cmd_verify_by_epoch);
	for (size_t i = 0; i < d->epochs.n && d->epochs.v[i] <= last; i++) {
		if (d->epochs.v[i] > next)
			audit_cmd_verify_tell_gap(d, dir, next, d->epochs.v[i] - 1);
		if (d->epochs.v[i] == last)
			return;
		next = d->epochs.v[i] + 1;
	}
	if (next <= last)
		audit_cmd_verify_tell_gap(d, dir, next, last);
}

/* A session whose start is in the log of this machine, but whose record is gone. */
static void audit_cmd_verify_check_sessions(struct round *d, const char *dir)
{
	const struct audit_head *h = NULL;
	char place[PATH_MAX];

	if (!realpath(dir, place))
		return;
	if (d->sids.n)
		qsort(d->sids.v, d->sids.n, sizeof(char *), audit_cmd_verify_by_sid);
	while ((h = audit_heads_next(d->opts->heads, h, place))) {
		const char *sid = h->sid;

		if (d->sids.n &&
		    bsearch(&sid, d->sids.v, d->sids.n, sizeof(char *), audit_cmd_verify_by_sid))
			continue;
		fprintf(d->json ? stderr : stdout,
			"%s: no session %s, although the log has its start: its record was removed\n",
			dir, h->sid);
		audit_cmd_verify_worse(d, EXIT_FINDINGS);
	}
}

static void audit_cmd_verify_dir_failed(struct round *d, const char *text)
{
	fprintf(stderr, "ibroute-top: %s\n", text);
	audit_cmd_verify_worse(d, EXIT_UNREADABLE);
}

static void audit_cmd_verify_one_dir(struct round *d, const char *dir)
{
	struct audit_dir *index = audit_dir_read(dir);
	struct err err;
	struct record_files files;
	size_t n;

	d->opts->dir = index;
	d->epochs.n = 0;
	audit_cmd_verify_forget_sids(d);
	record_files_list(&files, dir);
	n = files.n;
	for (size_t i = 0; i < n; i++) {
		audit_cmd_verify_one_file(d, files.v[i]);
		if (d->opts->key || d->opts->heads)
			audit_cmd_verify_add_pruned(d, files.v[i]);
	}
	record_files_free(&files);
	d->opts->dir = NULL;
	audit_dir_free(index);
	if (d->opts->key)
		audit_cmd_verify_check_epochs(d, dir);
	if (d->opts->heads)
		audit_cmd_verify_check_sessions(d, dir);
	if (record_dir_check(dir, &err) || (!n && err_set(&err, -ENOENT, "%s: no records", dir)))
		audit_cmd_verify_dir_failed(d, err.text);
}

static int audit_cmd_verify_read_key(struct digest *key, const char *path, struct err *err)
{
	char hex[DIGEST_HEX] = "";
	FILE *f = fopen(path, "re");
	int n = f ? fscanf(f, " %64[0-9a-f]", hex) : 0;

	if (!f)
		return err_set(err, -errno, "%s: cannot open: %s", path, strerror(errno));
	fclose(f);
	if (n != 1 || digest_parse(key, hex))
		return err_set(err, -EINVAL, "%s: not the key of a seal (64 hex digits)", path);
	return 0;
}

static bool audit_cmd_verify_is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int audit_cmd_verify(const struct audit_options *o)
{
	struct audit_heads heads = { 0 };
	struct record_hmac_walk epochs = { 0 };
	struct audit_opts opts = { .epochs = &epochs };
	struct round d = { .opts = &opts, .json = o->json };
	struct digest key;
	struct err err = { "" };
	int rc = 0;

	if (o->shell) {
		fputs(audit_shell_check, stdout);
		return EXIT_OK;
	}
	if (o->heads)
		rc = audit_heads_read(&heads, o->heads, &err);
	if (!rc && o->key)
		rc = audit_cmd_verify_read_key(&key, o->key, &err);
	if (rc) {
		fprintf(stderr, "ibroute-top: %s\n", err.text);
		audit_heads_free(&heads);
		return EXIT_UNREADABLE;
	}
	opts.heads = o->heads ? &heads : NULL;
	opts.key = o->key ? &key : NULL;
	for (int i = 0; i < o->n; i++) {
		if (audit_cmd_verify_is_dir(o->names[i]))
			audit_cmd_verify_one_dir(&d, o->names[i]);
		else
			audit_cmd_verify_one_file(&d, o->names[i]);
	}
	vec_free(&d.epochs);
	audit_cmd_verify_forget_sids(&d);
	vec_free(&d.sids);
	audit_heads_free(&heads);
	digest_erase(&epochs.key);
	return d.worst == EXIT_OK && d.cut ? EXIT_CUT : d.worst;
}

static void audit_cmd_verify_list_line(const char *path, const struct audit_opts *opts)
{
	struct audit_report r;
	struct err err = { "" };
	char name[80];

	if (audit_verify(&r, path, opts, &err)) {
		printf("%-28s %s\n", "?", err.text);
		return;
	}
	snprintf(name, sizeof(name), r.part > 1 ? "%s.%u" : "%s", r.sid, r.part);
	printf("%-28s %-24s %-24s %-4s %5u %7" PRIu64 " %6" PRIu64 " %8" PRIu64 " %-16s %s\n", name,
	       r.start, r.ended || r.rotated ? r.end : "open or truncated", r.mode, r.uid,
	       r.updates, r.lines, (r.bytes + r.cast_bytes + 1023) / 1024,
	       r.fabric[0] ? r.fabric : "-", r.ok ? "ok" : r.what);
}

int audit_cmd_list(const struct audit_options *o)
{
	const char *dir = record_dir(o->n ? o->names[0] : o->record_dir);
	struct audit_opts opts = { 0 };
	struct round d = { .opts = &opts, .json = true };
	struct audit_dir *index;
	struct err err;
	struct record_files files;

	if (record_dir_check(dir, &err)) {
		audit_cmd_verify_dir_failed(&d, err.text);
		return d.worst;
	}
	opts.dir = index = audit_dir_read(dir);
	record_files_list(&files, dir);
	if (!o->json)
		printf("%-28s %-24s %-24s %-4s %5s %7s %6s %8s %-16s %s\n", "session", "start",
		       "end", "mode", "uid", "updates", "lines", "KiB", "fabric", "chain");
	for (size_t i = 0; i < files.n; i++)
		if (o->json)
			audit_cmd_verify_one_file(&d, files.v[i]);
		else
			audit_cmd_verify_list_line(files.v[i], &opts);
	record_files_free(&files);
	audit_dir_free(index);
	vec_free(&d.epochs);
	audit_cmd_verify_forget_sids(&d);
	vec_free(&d.sids);
	return d.worst == EXIT_UNREADABLE ? EXIT_UNREADABLE : EXIT_OK;
}
