/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top audit: are the records of past sessions what was written? */
#include "console/commands.h"

#include "console/audit.h"
#include "console/cmdline.h"
#include "console/exits.h"
#include "console/record.h"
#include "console/record_last.h"
#include "fabric/base/mem.h"

#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_AUDIT_JSON = 256 };

struct audit_options {
	bool json;
	char *verb;
	char **names;
	int n;
};

static error_t parse(int key, char *arg, struct argp_state *s)
{
	struct audit_options *o = s->input;

	switch (key) {
	case OPT_AUDIT_JSON:
		o->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!o->verb)
			o->verb = arg;
		else
			o->names[o->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->verb || (strcmp(o->verb, "verify") && strcmp(o->verb, "list")))
			argp_error(s, "verify or list must be named");
		if (!strcmp(o->verb, "verify") && !o->n)
			argp_error(s, "verify needs a file");
		if (!strcmp(o->verb, "list") && o->n > 1)
			argp_error(s, "list takes one directory");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static json_t *text_or_null(const char *s)
{
	return s[0] ? record_str(s) : json_null();
}

static json_t *report_json(const char *path, const struct audit_report *r)
{
	char hex[DIGEST_HEX];

	return json_pack(
		"{s:o, s:b, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:s, s:o, s:o}",
		"file", record_str(path), "ok", r->ok, "ended", r->ended, "lines",
		(json_int_t)r->lines, "bad_line",
		r->bad_line ? json_integer((json_int_t)r->bad_line) : json_null(), "finding",
		text_or_null(r->what), "sid", text_or_null(r->sid), "start", text_or_null(r->start),
		"end", text_or_null(r->end), "fabric", text_or_null(r->fabric), "mode",
		text_or_null(r->mode), "uid", (json_int_t)r->uid, "head", digest_hex(hex, &r->head),
		"after", text_or_null(r->genesis_sid), "before", text_or_null(r->next_sid));
}

static void print_report(const char *path, const struct audit_report *r)
{
	char hex[DIGEST_HEX];

	if (!r->ok && r->bad_line)
		printf("%s:%" PRIu64 ": %s\n", path, r->bad_line, r->what);
	else if (!r->ok)
		printf("%s: %s\n", path, r->what);
	else
		printf("%s: %" PRIu64 " lines, every one as written; %s\n", path, r->lines,
		       r->ended ? "the session was ended"
		       : r->next_sid[0]
			       ? "no end: the session was killed"
			       : "no end: the session is open, was killed, or the tail was cut");
	if (r->lines)
		printf("  good lines %" PRIu64 ", head %s\n", r->lines, digest_hex(hex, &r->head));
	if (r->ok && r->next_sid[0])
		printf("  session %s was chained to it\n", r->next_sid);
}

static int one_file(const char *path, bool json)
{
	struct audit_report r;
	struct err err = { "" };

	if (audit_verify(&r, path, NULL, &err)) {
		fprintf(stderr, "ibroute-top: %s\n", err.text);
		return EXIT_UNREADABLE;
	}
	if (json) {
		json_t *j = report_json(path, &r);

		json_dumpf(j, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(j);
	} else {
		print_report(path, &r);
	}
	return r.ok ? EXIT_OK : EXIT_FINDINGS;
}

static void list_line(const char *path)
{
	struct audit_report r;
	struct err err = { "" };

	if (audit_verify(&r, path, NULL, &err)) {
		printf("%-28s %s\n", "?", err.text);
		return;
	}
	printf("%-28s %-24s %-24s %-4s %6" PRIu64 " %-16s %s\n", r.sid, r.start,
	       r.ended ? r.end : "open or cut", r.mode, r.lines, r.fabric[0] ? r.fabric : "-",
	       r.ok ? "ok" : r.what);
}

static int list_dir(const char *dir, bool json)
{
	uint32_t n;
	char **files = record_files(dir, &n);
	int worst = EXIT_OK;

	if (!json)
		printf("%-28s %-24s %-24s %-4s %6s %-16s %s\n", "session", "start", "end", "mode",
		       "lines", "fabric", "chain");
	for (uint32_t i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", dir, files[i]);

		if (json && one_file(path, true) == EXIT_UNREADABLE)
			worst = EXIT_UNREADABLE;
		if (!json)
			list_line(path);
		free(path);
		free(files[i]);
	}
	free(files);
	return worst;
}

int cmd_audit(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "json", OPT_AUDIT_JSON, NULL, 0, "one JSON object a file", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = rows,
		.parser = parse,
		.args_doc = "verify FILE...\nlist [DIRECTORY]",
		.doc = "Checks the records that sessions leave in " RECORD_DIR
		       ": finds lines that were edited, removed, inserted or moved."
		       "\vA tail that was cut off shows only against the session that came next in "
		       "the same directory, or against the heads in syslog (IBROUTE_HEAD=). Exit: "
		       "0 good, 1 a finding, 255 not readable.",
	};
	struct audit_options o = { .names = xcalloc((size_t)argc, sizeof(char *)) };
	int worst = EXIT_OK;

	argp_err_exit_status = EXIT_BAD_USAGE;
	cmdline_parse(&argp, argc, argv, &o);
	if (!strcmp(o.verb, "list")) {
		worst = list_dir(record_dir(o.n ? o.names[0] : NULL), o.json);
	} else {
		for (int i = 0; i < o.n; i++) {
			int rc = one_file(o.names[i], o.json);

			worst = rc > worst ? rc : worst;
		}
	}
	free(o.names);
	return worst;
}
