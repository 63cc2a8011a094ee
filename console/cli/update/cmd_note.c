/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top note: a sentence about an update, into the record. */
#include "console/cli/commands.h"

#include "console/cli/update/txn_find.h"
#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/exits.h"
#include "console/record/record.h"
#include "fabric/base/text/json_text.h"
#include "fabric/update/journal/journal.h"

#include <argp.h>

struct note_cmd {
	const char *id, *text, *state_dir, *record_dir;
};

static const struct argp_option rows[] = {
	{ "state-dir", CMDLINE_KEY(struct note_cmd, state_dir), "DIR", 0, "folder of the journals",
	  0 },
	{ "record-dir", CMDLINE_KEY(struct note_cmd, record_dir), "DIR", 0,
	  "folder of the session records", 0 },
	OPTION_CONFIG(0),
	{ 0 },
};

static error_t cmd_note_take(int key, char *arg, struct argp_state *state)
{
	struct note_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (c->text)
			argp_error(state, "unexpected argument '%s'; quote a text of several words",
				   arg);
		*(c->id ? &c->text : &c->id) = arg;
		return 0;
	case ARGP_KEY_END:
		if (!c->text)
			argp_error(state, "an update ID and a text are needed; 'status' lists "
					  "updates");
		return 0;
	default:
		return cmdline_take(NULL, c, key, arg, state);
	}
}

static int cmd_note_note(const struct note_cmd *c, const struct txn_info *t, struct err *err)
{
	struct record_opts ro = {
		.dir = c->record_dir, .fabric = t->head.fabric, .mode = "note", .syslog = true
	};
	struct record *r;
	int rc = record_open(&r, &ro, err);

	if (rc)
		return EXIT_NO_RECORD;
	rc = record_add(r, "note",
			json_pack("{s:s, s:o}", "txn", t->head.id, "text", json_text(c->text)),
			err);
	if (rc)
		record_close(r, NULL);
	else
		rc = record_close(r, err);
	return rc ? EXIT_NO_RECORD : EXIT_OK;
}

int cmd_note(int argc, char **argv)
{
	static const struct argp argp = {
		.options = rows,
		.parser = cmd_note_take,
		.args_doc = "ID TEXT",
		.doc = "Adds a note about an update to the record, such as who approved it, or a "
		       "ticket number. ID may be abbreviated to its first characters; 'last' is "
		       "the newest.\vExit codes: 0 recorded; 4 no such update; 8 the record "
		       "cannot be written; 64 bad options.",
	};
	struct note_cmd c = { 0 };
	struct err err = { "" };
	struct txn_info t;
	int rc;

	cmdline_parse(&argp, argc, argv, &c);
	rc = txn_find(&t, c.state_dir, c.id, &err);
	rc = rc ? txn_find_exit(rc) : cmd_note_note(&c, &t, &err);
	return cmdline_end(argv[0], rc, &err);
}
