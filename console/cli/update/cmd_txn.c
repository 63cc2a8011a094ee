/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top rollback, confirm: of an update that is running or was interrupted. */
#include "console/cli/commands.h"

#include "console/cli/update/txn_find.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/io/confirm_prompt.h"
#include "console/live/journal_restore.h"
#include "console/update/update_rollback.h"
#include "console/update/update_terminal.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct txn_cmd {
	struct live_opts live;
	const char *id, *yes, *give_up;
	bool foreign, keep, without_lock;
};

#define OPTION_YES                                                                                 \
	{                                                                                          \
		"yes-fabric", CMDLINE_KEY(struct txn_cmd, yes), "NAME", 0,                         \
			"do not prompt if this is the name of the fabric", 0                       \
	}

static error_t cmd_txn_take_txn(int key, char *arg, struct argp_state *state)
{
	struct txn_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->live;
		return 0;
	case ARGP_KEY_ARG:
		cmdline_only(state, "update", &c->id, arg);
		return 0;
	case ARGP_KEY_END:
		if (!c->id)
			argp_error(state, "an update ID is needed; 'status' lists them");
		if (!c->yes && !confirm_prompt_possible())
			argp_error(state, "no terminal to prompt on: --yes-fabric NAME is needed");
		return 0;
	default:
		return cmdline_take(NULL, c, key, arg, state);
	}
}

static int cmd_txn_permitted(const struct txn_cmd *c, const struct txn_info *t, const char *verb,
			     struct err *err)
{
	const char *name = t->head.fabric;
	enum answer a = ANSWER_NO;
	char *prompt;

	if (c->yes && !name[0]) /* lost with its journal */
		return 0;
	if (c->yes && strcmp(c->yes, name))
		return err_set(err, EXIT_BAD_USAGE, "%s is an update of fabric %s, not of %s",
			       t->head.id, name, c->yes);
	if (c->yes)
		return 0;
	if (!name[0])
		name = t->head.id;
	prompt = xasprintf("Type the %s, %s, to %s %s (plan %s by %s, %s): ",
			   name == t->head.id ? "ID of the update" : "name of the fabric", name,
			   verb, t->head.id, t->head.plan, t->head.user, txn_state_name(t->state));
	a = confirm_prompt_name(prompt, name, 0);
	free(prompt);
	return a == ANSWER_YES ? 0 : err_set(err, EXIT_REFUSED, "nothing was written");
}

static int cmd_txn_tell_blocks(struct update_rollback *t, struct err *err)
{
	struct recovery_scan s;
	int rc = executor_scan(&s, t->a, err);

	if (!rc)
		printf("blocks in the switches: %u old, %u new, %u intermediate, %u by another "
		       "writer, %u not responding, %u on switches that are gone\n",
		       s.old, s.new, s.between, s.foreign, s.silent, s.missing);
	return rc;
}

/* Which blocks were written is not known: what all of them make together is. */
static void cmd_txn_tell_routing(struct update_rollback *t, const struct txn_info *info)
{
	struct executor_foreign now = { 0 };
	struct err err = { "" };

	printf("lost: %s, and its plan file: which blocks %s wrote, and their old contents\n",
	       info->broken, info->head.id);
	if (foreign_tables_judge(&t->theirs, &now, &err))
		snprintf(now.text, sizeof(now.text), "not read: %.100s", err.text);
	printf("routing in the switches: %s\n", now.text);
}

static int cmd_txn_finish(struct update_rollback *t, const struct txn_cmd *c,
			  const struct txn_info *info, struct err *err)
{
	int rc;

	if (c->give_up) {
		if (info->lost)
			cmd_txn_tell_routing(t, info);
		else
			cmd_txn_tell_blocks(t, NULL);
		record_note(t->record, "override",
			    json_pack("{s:s, s:[s], s:o}", "txn", c->id, "what", "give up", "text",
				      json_text(c->give_up)));
		return executor_give_up(t->a, c->give_up, err) ? EXIT_REFUSED : EXIT_OK;
	}
	if (cmd_txn_tell_blocks(t, err))
		return EXIT_REFUSED;
	if (c->keep) {
		rc = executor_confirm(t->a, err);
		record_note(t->record, "confirm",
			    json_pack("{s:s, s:s, s:s}", "txn", c->id, "outcome",
				      rc ? "refused" : "confirmed", "text",
				      rc ? err->text : "confirmed by an operator"));
		return rc ? EXIT_REFUSED : EXIT_OK;
	}
	rc = executor_rollback(t->a, err);
	if (executor_outcome(t->a) == OUTCOME_SUPERSEDED)
		return EXIT_SUPERSEDED;
	if (executor_outcome(t->a) == OUTCOME_FABRIC_CHANGED)
		return EXIT_FABRIC_CHANGED;
	return rc ? EXIT_INCOMPLETE : EXIT_OK;
}

/* Takes j. */
static int cmd_txn_with_record(struct update_rollback *t, struct journal *j,
			       const struct txn_cmd *c, struct err *err)
{
	const struct txn_info *info = journal_info(j);
	bool lost = info->lost;

	if (lost && !c->give_up && journal_restore(j, t->live, t->opts, err)) {
		journal_close(j);
		return EXIT_REFUSED;
	}
	if (info->broken[0] && !info->lost)
		fprintf(stderr, "warning: %s; it was made again from %s\n", info->broken,
			lost ? "the tables of OpenSM's plugin" : "the plan file beside it");
	if (update_rollback_recover(t, j, err))
		return EXIT_REFUSED;
	return cmd_txn_finish(t, c, info, err);
}

static int cmd_txn_work_on(struct journal *j, struct txn_cmd *c, struct err *err)
{
	const struct txn_info *info = journal_info(j);
	struct live l;
	struct update_rollback t;
	int rc = EXIT_REFUSED;

	if (txn_state_final(info->state)) {
		err_set(err, rc, "%s has ended: %s", info->head.id, txn_state_name(info->state));
		goto out;
	}
	rc = cmd_txn_permitted(c, info,
			       c->keep	    ? "confirm"
			       : c->give_up ? "give up"
					    : "roll back",
			       err);
	if (rc)
		goto out;
	rc = EXIT_UNREADABLE;
	c->live.notices = info->asked;
	if (live_discover(&l, &c->live, info->head.fabric[0] ? info->head.fabric : c->yes, err))
		goto out;
	rc = EXIT_NO_RECORD;
	if (!update_rollback_open(&t, &l, &c->live, err)) {
		t.o.overwrite_foreign = c->foreign;
		t.without_lock = c->without_lock;
		rc = cmd_txn_with_record(&t, j, c, err);
		if (rc && err->text[0])
			record_error(t.record, c->keep ? "confirm" : "rollback", err->text);
		j = NULL;
		update_rollback_close(&t);
	}
	live_close(&l);
out:
	journal_close(j);
	return rc;
}

/* A process carries it out: it is told, and followed to the end. */
static int cmd_txn_ask_live(const struct txn_info *t, const struct txn_cmd *c, struct err *err)
{
	struct update_terminal f = { .mode = UPDATE_WAIT, .fabric = t->head.fabric };
	int rc;

	if (c->give_up || c->foreign)
		return err_set(err, EXIT_REFUSED,
			       "%s is running: this is only for an interrupted update", t->head.id);
	rc = cmd_txn_permitted(c, t, c->keep ? "confirm" : "roll back", err);
	if (rc)
		return rc;
	update_terminal_init(&f, c->live.state_dir);
	if (update_client_open(&f.client, t->head.id, err) ||
	    update_client_ask(&f.client, c->keep ? CONTROL_CONFIRM : CONTROL_ROLLBACK, 0))
		rc = EXIT_REFUSED;
	else
		rc = update_terminal_run(&f, err);
	update_terminal_close(&f);
	if (c->keep)
		return rc;
	if (rc == EXIT_ROLLED_BACK || rc == EXIT_NOT_CONFIRMED || rc == EXIT_FOREIGN)
		return EXIT_OK;
	return rc == EXIT_OK ? EXIT_REFUSED : rc;
}

static int cmd_txn_left_behind(struct txn_cmd *c, const char *id, struct err *err)
{
	struct journal *j;
	int rc = journal_open(&j, c->live.state_dir, id, err);

	if (rc == -EBADMSG)
		rc = journal_open_lost(&j, c->live.state_dir, id, err);
	if (rc)
		return EXIT_REFUSED;
	c->id = id;
	return cmd_txn_work_on(j, c, err);
}

static int cmd_txn_run_txn(struct txn_cmd *c, const struct argp *argp, int argc, char **argv)
{
	struct txn_info t;
	struct err err = { "" };
	int rc;

	cmdline_parse(argp, argc, argv, c);
	rc = txn_find(&t, c->live.state_dir, c->id, &err);
	if (rc)
		rc = txn_find_exit(rc);
	else
		rc = t.live && !txn_state_final(t.state) ? cmd_txn_ask_live(&t, c, &err)
							 : cmd_txn_left_behind(c, t.head.id, &err);
	return cmdline_end(argv[0], rc, &err);
}

int cmd_rollback(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		OPTION_YES,
		{ "overwrite-foreign", CMDLINE_KEY(struct txn_cmd, foreign), NULL, 0,
		  "also overwrite blocks that another writer changed during the update", 0 },
		{ "without-lock", CMDLINE_KEY(struct txn_cmd, without_lock), NULL, 0,
		  "also while the subnet manager has the record of another update", 0 },
		{ "give-up", CMDLINE_KEY(struct txn_cmd, give_up), "WHY", 0,
		  "mark the update as ended, for example because a switch is gone; blocks stay as "
		  "they are, but OpenSM discards the update's tables and routes by its own",
		  0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = rows,
		.parser = cmd_txn_take_txn,
		.children = live_children,
		.args_doc = "ID",
		.doc = "Restores the tables from before an unfinished update, from its journal, "
		       "and verifies them by reading; a running update is asked to roll back "
		       "by itself. Can be repeated until it is complete. ID may be abbreviated to "
		       "its first characters.\vExit codes: 0 rolled back, verified; 4 refused; 6 "
		       "incomplete; 8 the record cannot be written; 9 another writer changed the "
		       "routing, which stays; 11 the fabric changed and the SM routes it; 64 bad options; 255 the fabric could not be read.",
	};
	struct txn_cmd c = { 0 };

	return cmd_txn_run_txn(&c, &argp, argc, argv);
}

int cmd_confirm(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		OPTION_YES,
		{ 0 },
	};
	static const struct argp argp = {
		.options = rows,
		.parser = cmd_txn_take_txn,
		.children = live_children,
		.args_doc = "ID",
		.doc = "Confirms an update that waits for confirmation: the new routing stays. An "
		       "interrupted update can be confirmed only if every block still holds what "
		       "was written. ID may be abbreviated to its first characters.\vExit codes: "
		       "0 confirmed; 4 refused; 5, 6, 7, 9, 10, 11 rolled back or superseded, as for "
		       "apply; 8 the record cannot be written; 64 bad options; 255 the fabric "
		       "could not be read.",
	};
	struct txn_cmd c = { .keep = true };

	return cmd_txn_run_txn(&c, &argp, argc, argv);
}
