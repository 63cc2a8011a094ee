/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top attach, extend, override: an update that another process carries out. */
#include "console/cli/commands.h"

#include "console/cli/update/txn_find.h"
#include "console/config/cmdline.h"
#include "console/config/config.h"
#include "console/config/exits.h"
#include "console/update/update_terminal.h"
#include "fabric/update/watchdog/watch_conditions.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct attach_cmd {
	const char *id, *state_dir;
	unsigned seconds;
	bool extend, override;
	unsigned watches; /* bits of enum watch_what */
};

static const struct argp_option rows[] = {
	{ "state-dir", CMDLINE_KEY(struct attach_cmd, state_dir), "DIR", 0,
	  "folder of the journals", 0 },
	OPTION_CONFIG(0),
	{ 0 },
};

/* "300", "300s", "5m", "1h"; 0: no such time, or a longer one than can be asked for. */
static unsigned cmd_attach_seconds(const char *arg)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10), unit = 1;

	if (end == arg || *arg == '-' || n > CONTROL_EXTEND_S)
		return 0;
	if (*end)
		unit = *end == 's' ? 1 : *end == 'm' ? 60 : *end == 'h' ? 3600 : 0;
	if (*end && end[1])
		return 0;
	return n * unit <= CONTROL_EXTEND_S ? (unsigned)(n * unit) : 0;
}

static void cmd_attach_take_watches(struct attach_cmd *c, const char *arg, struct argp_state *state)
{
	struct err err;

	if (watch_parse(&c->watches, arg, &err))
		argp_error(state, "%s", err.text);
}

static error_t cmd_attach_take(int key, char *arg, struct argp_state *state)
{
	struct attach_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (!c->id) {
			c->id = arg;
			return 0;
		}
		if (c->override && !c->watches) {
			cmd_attach_take_watches(c, arg, state);
			return 0;
		}
		if (!c->extend || c->seconds)
			argp_error(state, "one update at a time");
		c->seconds = cmd_attach_seconds(arg);
		if (!c->seconds)
			argp_error(state, "'%s' is not a time of up to %d seconds (300, 5m, 1h)",
				   arg, CONTROL_EXTEND_S);
		return 0;
	case ARGP_KEY_END:
		if (!c->id)
			argp_error(state, "an update ID is needed; 'status' lists them");
		if (c->override && !c->watches)
			argp_error(
				state,
				"the conditions to override are needed: sm, errors, reach, jobs");
		return 0;
	default:
		return cmdline_take(NULL, c, key, arg, state);
	}
}

static int cmd_attach_find(struct txn_info *t, const struct attach_cmd *c, struct err *err)
{
	struct update_end left = { 0 };
	int rc = txn_find(t, c->state_dir, c->id, err);

	if (rc)
		return txn_find_exit(rc);
	if (txn_state_final(t->state))
		return err_set(err, EXIT_REFUSED, "%s has ended: %s", t->head.id,
			       txn_state_name(t->state));
	if (t->live)
		return EXIT_OK;
	update_client_journalled(&left, t);
	return err_set(err, EXIT_REFUSED, "%s", left.text);
}

static int cmd_attach_follow(const struct attach_cmd *c, const struct txn_info *t, struct err *err)
{
	struct update_terminal look = { .mode = UPDATE_ATTACH, .fabric = t->head.fabric };
	int rc = EXIT_REFUSED;

	update_terminal_init(&look, c->state_dir);
	if (!update_client_open(&look.client, t->head.id, err))
		rc = update_terminal_run(&look, err);
	update_terminal_close(&look);
	return rc;
}

int cmd_attach(int argc, char **argv)
{
	static const struct argp argp = {
		.options = rows,
		.parser = cmd_attach_take,
		.args_doc = "ID",
		.doc = "Shows the progress of a running update. On a terminal, while the update "
		       "waits for confirmation: the fabric's name confirms it, 'rollback' rolls "
		       "it back, 'extend [SECONDS]' moves its deadline. Ctrl-C detaches; the "
		       "update continues. ID may be abbreviated to its first characters; 'last' "
		       "is the newest.\vExit codes: 0 confirmed, or detached; 4 nothing to attach "
		       "to; 5 rolled back; 6 rollback incomplete; 7 not confirmed in time; 9, 10 "
		       "another writer, 11 the fabric changed, as for apply; 64 bad options.",
	};
	struct attach_cmd c = { 0 };
	struct err err = { "" };
	struct txn_info t;
	int rc;

	cmdline_parse(&argp, argc, argv, &c);
	rc = cmd_attach_find(&t, &c, &err);
	if (!rc)
		rc = cmd_attach_follow(&c, &t, &err);
	return cmdline_end(argv[0], rc, &err);
}

static int cmd_attach_request(const struct attach_cmd *c, const struct control_request *r,
			      struct err *err)
{
	struct txn_info t;
	json_t *j;
	int rc = cmd_attach_find(&t, c, err);

	if (rc)
		return rc;
	j = update_client_request(c->state_dir, t.head.id, r, err);
	if (!j)
		return EXIT_REFUSED;
	if (!json_is_true(json_object_get(j, "ok")))
		rc = err_set(err, EXIT_REFUSED, "%s",
			     json_string_value(json_object_get(j, "error")));
	else if (r->op == CONTROL_EXTEND)
		printf("%s: deadline in %lld s\n", t.head.id,
		       (long long)json_integer_value(json_object_get(j, "deadline_s")));
	json_decref(j);
	return rc;
}

int cmd_extend(int argc, char **argv)
{
	static const struct argp argp = {
		.options = rows,
		.parser = cmd_attach_take,
		.args_doc = "ID [TIME]",
		.doc = "Moves the deadline of an update that waits for confirmation to TIME from "
		       "now (300 for seconds, 5m, 1h; default: the original time limit).\vExit "
		       "codes: 0 done; 4 the update is not waiting for confirmation; 64 bad "
		       "options.",
	};
	struct attach_cmd c = { .extend = true };
	struct err err = { "" };
	int rc;

	cmdline_parse(&argp, argc, argv, &c);
	rc = cmd_attach_request(
		&c, &(struct control_request){ .op = CONTROL_EXTEND, .seconds = c.seconds }, &err);
	return cmdline_end(argv[0], rc, &err);
}

int cmd_override(int argc, char **argv)
{
	static const struct argp argp = {
		.options = rows,
		.parser = cmd_attach_take,
		.args_doc = "ID CONDITION[,CONDITION...]",
		.doc = "Makes a running update ignore watch conditions, so that they no longer "
		       "cause a rollback. sm: another master subnet manager, or none; errors: "
		       "error counters of links whose paths change; reach: hosts that do not "
		       "respond; jobs: a job that ended with NODE_FAIL. The request is recorded "
		       "with the user who made it, and cannot be undone.\vExit codes: 0 done; 4 "
		       "no such update is running; 64 bad options.",
	};
	struct attach_cmd c = { .override = true };
	struct err err = { "" };
	int rc;

	cmdline_parse(&argp, argc, argv, &c);
	rc = cmd_attach_request(
		&c, &(struct control_request){ .op = CONTROL_OVERRIDE, .watches = c.watches },
		&err);
	return cmdline_end(argv[0], rc, &err);
}
