/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top audit: the records of past sessions. */
#include "console/cli/commands.h"

#include "console/cli/audit/audit_cmd.h"
#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/exits.h"
#include "console/record/record_files.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/process/confine.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_MAX 1000000

enum { OPT_SPEED = 256, OPT_HTML, OPT_KEEP_DAYS, OPT_KEEP_SESSIONS, OPT_KEEP_SIZE };

struct audit_verb {
	const char *name;
	int (*run)(const struct audit_options *o);
	int least, most; /* names behind it; -1: any */
	const char *takes;
	bool json;
	bool reads; /* and writes nothing */
};

static const struct audit_verb verbs[] = {
	{ "verify", audit_cmd_verify, 1, -1, "a file or a directory", true, true },
	{ "list", audit_cmd_list, 0, 1, "one directory", true, true },
	{ "replay", audit_cmd_replay, 1, 1, "one record", false, true },
	{ "export", audit_cmd_export, 0, -1, "records", false, false },
	{ "prune", audit_cmd_prune, 0, 1, "one directory", true, false },
	{ "seal", audit_cmd_seal, 0, 1, "one directory", true, false },
};

static const struct audit_verb *cmd_audit_find_verb(const char *name)
{
	for (size_t i = 0; name && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static void cmd_audit_check(const struct audit_options *o, struct argp_state *s)
{
	const struct audit_verb *v = cmd_audit_find_verb(o->verb);

	if (!v)
		argp_error(s, "one of verify, list, replay, export, prune and seal is needed");
	else if ((o->n < v->least && !o->shell) || (v->most >= 0 && o->n > v->most))
		argp_error(s, "%s takes %s", v->name, v->takes);
	else if (o->json && !v->json)
		argp_error(s, "%s has no JSON output: --json is for verify, list, prune and seal",
			   v->name);
	else if (!strcmp(v->name, "prune") && !record_keep_said(&o->keep))
		argp_error(s, "prune needs --keep-days, --keep-sessions or --keep-size");
	else if (!strcmp(v->name, "export") && !!o->report + o->script + o->v3 + o->tlog != 1)
		argp_error(s, "export needs one of --report, --script, --tlog and --v3");
	else if (!strcmp(v->name, "export") && !o->report && o->n != 1)
		argp_error(s, "--script, --tlog and --v3 need exactly one record");
}

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD('o', struct audit_options, out),
	CMDLINE_FIELD(OPT_SPEED, struct audit_options, speed, "--speed", 0.01, 1000),
	CMDLINE_FIELD(OPT_KEEP_DAYS, struct audit_options, keep.days, "--keep-days", 0, KEEP_MAX),
	CMDLINE_FIELD(OPT_KEEP_SESSIONS, struct audit_options, keep.sessions, "--keep-sessions", 0,
		      KEEP_MAX),
	CMDLINE_FIELD(OPT_KEEP_SIZE, struct audit_options, keep.mib, "--keep-size", 0, KEEP_MAX),
	{ 0 },
};

static error_t cmd_audit_parse(int key, char *arg, struct argp_state *s)
{
	struct audit_options *o = s->input;

	switch (key) {
	case OPT_HTML:
		o->format = AUDIT_HTML;
		return 0;
	case ARGP_KEY_ARG:
		if (!o->verb)
			o->verb = arg;
		else
			o->names[o->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		cmd_audit_check(o, s);
		return 0;
	default:
		return cmdline_take(fields, o, key, arg, s);
	}
}

static const struct argp_option rows[] = {
	{ 0, 0, 0, 0, "verify, list:", 1 },
	{ "json", CMDLINE_KEY(struct audit_options, json), NULL, 0,
	  "one JSON object per file; for prune and seal: one object with the result", 1 },
	{ "heads", CMDLINE_KEY(struct audit_options, heads), "FILE", 0,
	  "compare with the heads (hashes) found in this log: output of journalctl, or syslog; - "
	  "is stdin",
	  1 },
	{ "key", CMDLINE_KEY(struct audit_options, key), "FILE", 0,
	  "verify the seal with the key that 'audit seal' printed", 1 },
	{ "shell", CMDLINE_KEY(struct audit_options, shell), NULL, 0,
	  "print the same check as a script of six lines: sh check.sh FILE [HEAD]", 1 },
	{ 0, 0, 0, 0, "replay:", 2 },
	{ "speed", OPT_SPEED, "N", 0, "replay N times as fast (default: 1)", 2 },
	{ "at", CMDLINE_KEY(struct audit_options, at), "WHERE", 0,
	  "start at a phase or action (WRITE, apply.start), a line's seq, 1:30 or 90s, or a time "
	  "such as 2026-11-20T23:19:51Z",
	  2 },
	{ "dump", CMDLINE_KEY(struct audit_options, dump), "WHERE", 0,
	  "print the screen at that moment; needs no terminal", 2 },
	{ 0, 0, 0, 0, "export:", 3 },
	{ "report", CMDLINE_KEY(struct audit_options, report), "ID", 0,
	  "report of one update, for a ticket: Markdown, with pictures in files beside it", 3 },
	{ "html", OPT_HTML, NULL, 0, "the report as one HTML file, including the pictures", 3 },
	{ "output", 'o', "FILE", 0, "write to FILE (default: stdout)", 3 },
	{ "script", CMDLINE_KEY(struct audit_options, script), NULL, 0,
	  "the screen as files for scriptreplay: FILE and FILE.timing", 3 },
	{ "tlog", CMDLINE_KEY(struct audit_options, tlog), NULL, 0,
	  "the screen as messages for tlog-play", 3 },
	{ "v3", CMDLINE_KEY(struct audit_options, v3), NULL, 0, "the screen as asciicast v3", 3 },
	{ 0, 0, 0, 0, "prune:", 4 },
	{ "keep-days", OPT_KEEP_DAYS, "N", 0, "remove sessions older than N days", 4 },
	{ "keep-sessions", OPT_KEEP_SESSIONS, "N", 0,
	  "remove all but the last N sessions; with --keep-days, of those only the older ones", 4 },
	{ "keep-size", OPT_KEEP_SIZE, "N", 0,
	  "remove the oldest sessions until the others take at most N MiB", 4 },
	{ "dry-run", CMDLINE_KEY(struct audit_options, dry_run), NULL, 0,
	  "only print what would be removed", 4 },
	{ "state-dir", CMDLINE_KEY(struct audit_options, state_dir), "DIR", 0,
	  "folder of the journals; sessions of updates that have not ended are kept", 4 },
	{ 0, 0, 0, 0, "If no directory is given:", 5 },
	{ "record-dir", CMDLINE_KEY(struct audit_options, record_dir), "DIR", 0,
	  "folder of the records (default: $IBROUTE_RECORD_DIR, else " RECORD_DIR ")", 5 },
	OPTION_CONFIG(5),
	{ 0 },
};

int cmd_audit(int argc, char **argv)
{
	static const struct argp argp = {
		.options = rows,
		.parser = cmd_audit_parse,
		.args_doc =
			"verify FILE|DIRECTORY...\nlist [DIRECTORY]\nreplay FILE\n"
			"export --report ID [FILE|DIRECTORY...]\nexport --script|--tlog|--v3 FILE\n"
			"prune [DIRECTORY]\nseal [DIRECTORY]",
		.doc = "Verifies, lists, replays, exports and prunes session records in " RECORD_DIR
		       ": SID.jsonl (SID: session ID) with what was done, each line with the hash "
		       "of the one before (a chain), and SID.cast with what the screen "
		       "showed.\vverify finds lines that were edited, removed, inserted or moved, "
		       "and changes to the recorded screen. A truncated record is found by "
		       "comparing it with the next part or session in the same directory, with "
		       "the heads (hashes) in syslog (IBROUTE_HEAD=), or with the number of lines that "
		       "the seal has counted (SID.seal); a record without an end is "
		       "reported. A session that was removed as a whole is found by the heads and "
		       "by the seal. seal starts to seal new lines in a directory with keys that "
		       "cannot be computed backwards. Root can rewrite files that are neither "
		       "sealed nor in the log of another machine. Exit codes: 0 intact; 1 "
		       "findings; 12 only the end of a record is missing; 64 bad options; 255 not "
		       "readable.",
	};
	struct audit_options o = { .names = xcalloc((size_t)argc, sizeof(char *)),
				   .speed = 1,
				   .keep = { -1, -1, -1 } };
	const struct audit_verb *v;
	int rc;

	argp_err_exit_status = EXIT_BAD_USAGE;
	cmdline_parse(&argp, argc, argv, &o);
	v = cmd_audit_find_verb(o.verb);
	if (v->reads)
		confine_to_reading(NULL); /* as far as the kernel has it, which --version tells */
	rc = v->run(&o);
	free(o.names);
	return rc;
}
