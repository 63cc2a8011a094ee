/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top status, rollback, confirm: updates that are under way, were left behind, or done. */
#include "console/commands.h"

#include "console/ask.h"
#include "console/exits.h"
#include "console/txn.h"
#include "fabric/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPT_YES = 700, OPT_GIVE_UP, OPT_FOREIGN, OPT_STATUS_JSON, OPT_STATUS_DIR };

/* ---- status ---- */

struct status_cmd {
	const char *state_dir;
	bool json;
};

static error_t take_status(int key, char *arg, struct argp_state *state)
{
	struct status_cmd *c = state->input;

	switch (key) {
	case OPT_STATUS_JSON:
		c->json = true;
		return 0;
	case OPT_STATUS_DIR:
		c->state_dir = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *when(char *buf, size_t size, int64_t s)
{
	time_t t = (time_t)s;
	struct tm tm;

	strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	return buf;
}

static json_t *info_json(const struct txn_info *t)
{
	char begun[32], changed[32];
	const struct txn_head *h = &t->head;
	json_t *j = json_pack(
		"{s:s, s:o, s:s, s:s, s:o, s:o, s:I, s:s, s:s, s:b, s:b, s:s}", "id", h->id,
		"fabric", record_str(h->fabric), "plan", h->plan, "engine", h->engine, "user",
		record_str(h->user), "host", record_str(h->host), "pid", (json_int_t)h->pid,
		"begun", when(begun, sizeof(begun), h->time_s), "state", txn_state_name(t->state),
		"live", t->live, "finished", txn_state_final(t->state), "since",
		when(changed, sizeof(changed), t->state_s));

	json_object_set_new(j, "lft_blocks", json_integer(h->nlft));
	json_object_set_new(j, "sl2vl_tables", json_integer(h->nsl2vl));
	json_object_set_new(j, "damage", t->broken[0] ? record_str(t->broken) : json_null());
	return j;
}

static void print_status_line(const struct txn_info *t)
{
	char since[32];

	printf("%-28s %-12s %-22s %-7s %-10s %-12s %u LFT blocks, %u SL2VL tables%s%s\n",
	       t->head.id,
	       t->live && !txn_state_final(t->state) ? "under way" : txn_state_name(t->state),
	       when(since, sizeof(since), t->state_s), t->head.plan, t->head.user, t->head.fabric,
	       t->head.nlft, t->head.nsl2vl, t->broken[0] ? "; " : "", t->broken);
}

static int status(const struct status_cmd *c, struct err *err)
{
	struct txn_info *list;
	json_t *all = json_array(), *j;
	uint32_t n, open = 0;

	if (journal_list(&list, &n, c->state_dir, err)) {
		json_decref(all);
		return EXIT_UNREADABLE;
	}
	for (uint32_t i = 0; i < n; i++) {
		open += !txn_state_final(list[i].state);
		if (c->json)
			json_array_append_new(all, info_json(&list[i]));
		else
			print_status_line(&list[i]);
	}
	if (c->json) {
		j = json_pack("{s:s, s:I, s:O}", "schema", "ibroute-top/1", "unfinished",
			      (json_int_t)open, "transactions", all);
		json_dumpf(j, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(j);
	} else if (!n) {
		printf("no updates in %s\n", journal_base(c->state_dir));
	}
	json_decref(all);
	free(list);
	return open ? EXIT_FINDINGS : EXIT_OK;
}

int cmd_status(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "json", OPT_STATUS_JSON, NULL, 0, "as JSON", 0 },
		{ "state-dir", OPT_STATUS_DIR, "DIR", 0, "of the journals", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = rows,
		.parser = take_status,
		.doc = "Lists the updates that this machine has made or begun."
		       "\vExit: 0 all are finished, 1 one is not, 255 not readable.",
	};
	struct status_cmd c = { 0 };
	struct err err = { "" };
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &c);
	rc = status(&c, &err);
	if (err.text[0])
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	return rc;
}

/* ---- rollback and confirm of what was left behind ---- */

struct txn_cmd {
	struct live_opts live;
	const char *id, *yes, *give_up;
	bool foreign, keep;
};

static error_t take_txn(int key, char *arg, struct argp_state *state)
{
	struct txn_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->live;
		return 0;
	case OPT_YES:
		c->yes = arg;
		return 0;
	case OPT_GIVE_UP:
		c->give_up = arg;
		return 0;
	case OPT_FOREIGN:
		c->foreign = true;
		return 0;
	case ARGP_KEY_ARG:
		if (c->id)
			argp_error(state, "one update at a time");
		c->id = arg;
		return 0;
	case ARGP_KEY_END:
		if (!c->id)
			argp_error(state, "the update is needed; status lists them");
		if (!c->yes && !ask_possible())
			argp_error(state, "nobody can be asked: --yes-fabric NAME is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int permitted(const struct txn_cmd *c, const struct txn_info *t, const char *verb,
		     struct err *err)
{
	const char *name = t->head.fabric;
	enum answer a = ANSWER_NO;
	char *prompt;

	if (c->yes && strcmp(c->yes, name))
		return err_set(err, EXIT_BAD_USAGE, "%s is an update of fabric %s, not of %s",
			       t->head.id, name, c->yes);
	if (c->yes)
		return 0;
	prompt = xasprintf("Type the name of the fabric, %s, to %s %s (plan %s by %s, %s): ", name,
			   verb, t->head.id, t->head.plan, t->head.user, txn_state_name(t->state));
	a = ask_name(prompt, name, 0);
	free(prompt);
	return a == ANSWER_YES ? 0 : err_set(err, EXIT_REFUSED, "nothing was written");
}

static int finish(struct txn *t, const struct txn_cmd *c, struct err *err)
{
	struct recovery_scan s;
	int rc;

	if (c->give_up) {
		txn_note(t, "override",
			 json_pack("{s:s, s:s, s:o}", "txn", c->id, "what", "give up", "why",
				   record_str(c->give_up)));
		return apply_give_up(t->a, c->give_up, err) ? EXIT_REFUSED : EXIT_OK;
	}
	if (apply_scan(&s, t->a, err))
		return EXIT_REFUSED;
	printf("now in the switches: %u old, %u new, %u in between, %u of somebody else, %u without "
	       "an answer, %u on switches that are gone\n",
	       s.old, s.new, s.between, s.foreign, s.silent, s.missing);
	if (c->keep) {
		rc = apply_confirm(t->a, err);
		txn_note(t, "confirm", json_pack("{s:s, s:i}", "txn", c->id, "status", rc));
		return rc ? EXIT_REFUSED : EXIT_OK;
	}
	return apply_rollback(t->a, err) ? EXIT_INCOMPLETE : EXIT_OK;
}

static int work_on(struct journal *j, struct txn_cmd *c, struct err *err)
{
	const struct txn_info *info = journal_info(j);
	struct live l;
	struct txn t;
	int rc = EXIT_REFUSED;

	if (txn_state_final(info->state)) {
		err_set(err, rc, "%s is over: %s", info->head.id, txn_state_name(info->state));
		goto out;
	}
	rc = permitted(c, info, c->keep ? "keep" : c->give_up ? "give up" : "roll back", err);
	if (rc)
		goto out;
	rc = EXIT_UNREADABLE;
	if (live_discover(&l, &c->live, info->head.fabric, err))
		goto out;
	rc = EXIT_NO_RECORD;
	if (!txn_open(&t, &l, &c->live, err)) {
		t.o.overwrite_foreign = c->foreign;
		txn_recover(&t, j);
		j = NULL;
		rc = finish(&t, c, err);
		txn_close(&t);
	}
	live_close(&l);
out:
	journal_close(j);
	return rc;
}

static int run_txn(struct txn_cmd *c, const struct argp *argp, int argc, char **argv)
{
	struct journal *j;
	struct err err = { "" };
	int rc;

	argp_parse(argp, argc, argv, 0, NULL, c);
	rc = journal_open(&j, c->live.state_dir, c->id, &err) ? EXIT_REFUSED : work_on(j, c, &err);
	if (err.text[0])
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	return rc;
}

int cmd_rollback(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "yes-fabric", OPT_YES, "NAME", 0, "do it without asking, if that is the fabric",
		  0 },
		{ "overwrite-foreign", OPT_FOREIGN, NULL, 0,
		  "also where somebody else has written meanwhile", 0 },
		{ "give-up", OPT_GIVE_UP, "WHY", 0,
		  "write nothing and call it finished, say when a switch is gone for good", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = rows,
		.parser = take_txn,
		.children = live_children,
		.args_doc = "ID",
		.doc = "Restores the tables that an unfinished update had found, from its journal, "
		       "and proves it by reading. Can be repeated until it is complete."
		       "\vExit codes: 0 rolled back, verified; 4 refused; 6 incomplete; 8 the "
		       "record cannot be written; 64 bad options; 255 the fabric could not be "
		       "read.",
	};
	struct txn_cmd c = { 0 };

	return run_txn(&c, &argp, argc, argv);
}

int cmd_confirm(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "yes-fabric", OPT_YES, "NAME", 0, "do it without asking, if that is the fabric",
		  0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = rows,
		.parser = take_txn,
		.children = live_children,
		.args_doc = "ID",
		.doc = "Keeps what an update wrote that lost its console while it waited for a "
		       "decision: only when every block still holds it."
		       "\vExit codes: 0 kept; 4 refused; 8 the record cannot be written; 64 bad "
		       "options; 255 the fabric could not be read.",
	};
	struct txn_cmd c = { .keep = true };

	return run_txn(&c, &argp, argc, argv);
}
