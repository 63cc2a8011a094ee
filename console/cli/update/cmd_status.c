/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibroute-top status: updates that are running, were interrupted, or have ended. */
#include "console/cli/commands.h"

#include "console/cli/update/txn_find.h"
#include "console/config/cmdline.h"
#include "console/config/exits.h"
#include "console/live/live_fabric.h"
#include "console/update/agents_away.h"
#include "console/update/update_client.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/process/confine.h"
#include "fabric/base/text/json_text.h"
#include "fabric/update/executor.h"
#include "fabric/update/installer/smp.h"
#include "fabric/update/journal/journal_prune.h"
#include "fabric/update/update_event.h"
#include "views/canvas/text.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_STEP_MS 200

enum { OPT_PRUNE = 700, OPT_WAIT };

struct status_cmd {
	struct live_opts live;
	const char *id;
	bool json, events, read, others;
	unsigned prune_days, wait_s;
};

static const struct cmdline_field fields[] = {
	CMDLINE_FIELD(OPT_WAIT, struct status_cmd, wait_s, "--wait", 1, 86400),
	CMDLINE_FIELD(OPT_PRUNE, struct status_cmd, prune_days, "--prune", 1, 36500),
	{ 0 },
};

static error_t cmd_status_take(int key, char *arg, struct argp_state *state)
{
	struct status_cmd *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->live;
		return 0;
	case ARGP_KEY_ARG:
		cmdline_only(state, "update", &c->id, arg);
		return 0;
	case ARGP_KEY_END:
		if (!c->id && (c->events || c->read || c->wait_s))
			argp_error(state, "--events, --read and --wait need the ID of an update");
		if (c->id && c->prune_days)
			argp_error(state, "--prune takes no ID: it is about all updates");
		return 0;
	default:
		return cmdline_take(fields, c, key, arg, state);
	}
}

/* ---- one ---- */

/* What the update's process says itself; NULL: it does not answer. */
static json_t *cmd_status_ask_process(const struct status_cmd *c, const char *id)
{
	struct control_request status = { .op = CONTROL_STATUS };

	if (c->others)
		return NULL;
	return update_client_request(c->live.state_dir, id, &status, NULL);
}

static json_t *cmd_status_info_json(const struct status_cmd *c, const struct txn_info *t)
{
	char begun[FIGURE_LEN], changed[FIGURE_LEN];
	const struct txn_head *h = &t->head;
	json_t *j = json_pack("{s:s, s:o, s:s, s:s, s:o, s:o, s:I, s:s, s:s, s:b, s:b, s:b, s:s}",
			      "id", h->id, "fabric", json_text(h->fabric), "plan", h->plan,
			      "engine", h->engine, "user", json_text(h->user), "host",
			      json_text(h->host), "pid", (json_int_t)h->pid, "begun",
			      figure_utc(begun, h->time_s), "state", txn_state_name(t->state),
			      "live", t->live, "guarded", t->guarded, "finished",
			      txn_state_final(t->state), "since", figure_utc(changed, t->state_s));
	json_t *now =
		t->live && !txn_state_final(t->state) ? cmd_status_ask_process(c, h->id) : NULL;

	json_object_set_new(j, "wave", json_integer(t->wave));
	json_object_set_new(j, "lft_blocks", json_integer(h->nlft));
	json_object_set_new(j, "sl2vl_tables", json_integer(h->nsl2vl));
	json_object_set_new(j, "text", t->said[0] ? json_text(t->said) : json_null());
	json_object_set_new(j, "why", t->why ? json_string(coord_why_name(t->why)) : json_null());
	json_object_set_new(j, "damage", t->broken[0] ? json_text(t->broken) : json_null());
	json_object_set_new(j, "process", now ? now : json_null());
	return j;
}

static const char *cmd_status_state_of(const struct txn_info *t)
{
	if (txn_state_final(t->state) || !t->live)
		return txn_state_name(t->state);
	return "running";
}

static void cmd_status_print_line(const struct txn_info *t)
{
	char since[FIGURE_LEN];

	printf("%-28s %-12s %-22s %-7s %-10s %-12s %u LFT blocks, %u SL2VL tables%s%s\n",
	       t->head.id, cmd_status_state_of(t), figure_utc(since, t->state_s), t->head.plan,
	       t->head.user, t->head.fabric, t->head.nlft, t->head.nsl2vl, t->broken[0] ? "; " : "",
	       t->broken);
}

static void cmd_status_print_switches(const json_t *s)
{
	if (json_is_object(s))
		printf("  switches  %lld blocks old, %lld new, %lld intermediate, %lld by another "
		       "writer, %lld not responding, %lld on switches that are gone\n",
		       (long long)json_integer_at(s, "old"), (long long)json_integer_at(s, "new"),
		       (long long)json_integer_at(s, "between"),
		       (long long)json_integer_at(s, "foreign"),
		       (long long)json_integer_at(s, "silent"),
		       (long long)json_integer_at(s, "missing"));
}

static void cmd_status_print_process(const json_t *p)
{
	const json_t *st = json_object_get(p, "status"), *watch = json_object_get(p, "watch"), *v;
	const json_t *left = json_object_get(p, "deadline_s");
	const char *name;

	printf("  process   PID %lld, supervisor PID %lld\n", (long long)json_integer_at(p, "pid"),
	       (long long)json_integer_at(p, "guard"));
	printf("  phase     %s, %s; wave %u of %u\n", json_string_at(st, "phase"),
	       json_string_at(st, "step"),
	       update_event_wave((uint32_t)json_integer_at(st, "wave"),
				 (uint32_t)json_integer_at(st, "waves")),
	       (uint32_t)json_integer_at(st, "waves"));
	printf("  blocks    %lld written, %lld read back of %lld; %lld failed, %lld retries, %lld "
	       "by another writer\n",
	       (long long)json_integer_at(st, "written"),
	       (long long)json_integer_at(st, "verified"), (long long)json_integer_at(st, "total"),
	       (long long)json_integer_at(st, "failed"), (long long)json_integer_at(st, "retries"),
	       (long long)json_integer_at(st, "foreign"));
	if (json_is_number(left))
		printf("  deadline  rolls back in %.0f s unless confirmed or extended\n",
		       json_number_value(left));
	json_object_foreach((json_t *)watch, name, v)
		printf("  watch     %-6s %s\n", name, json_string_at(v, "last"));
	cmd_status_print_switches(json_object_get(p, "switches"));
}

/* How it ended, where the state does not say it all. */
static void cmd_status_print_end(const struct txn_info *t)
{
	if (t->why)
		printf("  cause     %s\n", coord_why_text(t->why));
	if (t->said[0])
		printf("  ended     %s\n", t->said);
}

static void cmd_status_print_interrupted(const struct txn_info *t)
{
	const char *id = t->head.id;

	if (t->lost)
		printf("  damage    the plan file as well: what was written is not known\n"
		       "  process   none: the update was interrupted. 'ibroute-top rollback %s' leads "
		       "back if OpenSM's plugin still has the update open; else '--give-up WHY' "
		       "ends it\n",
		       id);
	else
		printf("%s  process   none: the update was interrupted. 'ibroute-top rollback %s' "
		       "restores the previous tables\n",
		       t->broken[0] ? "  damage    made good by the plan file\n" : "", id);
}

static void cmd_status_print_one(const struct status_cmd *c, const struct txn_info *t)
{
	json_t *p = NULL;

	cmd_status_print_line(t);
	if (txn_state_final(t->state)) {
		cmd_status_print_end(t);
		return;
	}
	printf("  state     %s%s\n", txn_state_name(t->state),
	       t->state == TXN_WRITING ? ": blocks may be old or new" : "");
	if (!t->live) {
		cmd_status_print_interrupted(t);
		return;
	}
	p = cmd_status_ask_process(c, t->head.id);
	if (p)
		cmd_status_print_process(p);
	else
		printf("  process   %s\n", t->held	? "holds the journal, but does not respond"
					   : t->guarded ? "being restarted by its supervisor"
							: "ending");
	json_decref(p);
}

static int cmd_status_print_events(const struct status_cmd *c, const struct txn_info *t,
				   struct err *err)
{
	char *path = xasprintf("%s/%s/state.log", journal_base(c->live.state_dir), t->head.id);
	char *data, *next;
	size_t len;
	int rc = store_read(&data, &len, path, err);

	free(path);
	if (rc)
		return rc;
	for (char *line = data; *line; line = next) {
		char state[16] = "", at[FIGURE_LEN], said[256] = "";
		unsigned wave = 0;
		int64_t s = 0;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (sscanf(line, "%*s %*s %" SCNd64 " %15s %u %255[^\n]", &s, state, &wave, said) >=
		    3)
			printf("  %s %-12s wave %u%s%s\n", figure_utc(at, s), plain_text(state, ""),
			       update_event_wave(wave, t->head.nwaves), *said ? "  " : "",
			       plain_text(said, ""));
	}
	free(data);
	return 0;
}

/* What is in the switches; nothing is written. */
static int cmd_status_read_switches(struct status_cmd *c, const struct txn_info *t, struct err *err)
{
	struct recovery_scan s;
	struct installer in;
	struct journal *j;
	struct executor *a;
	struct live l;
	int rc = journal_open(&j, c->live.state_dir, t->head.id, err);

	if (rc)
		return rc;
	if (live_discover(&l, &c->live, t->head.fabric, err)) {
		journal_close(j);
		return -EIO;
	}
	in = smp_installer(l.w);
	a = executor_recover(j, l.f, &in, NULL);
	rc = executor_scan(&s, a, err);
	if (!rc) {
		json_t *o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "old", (json_int_t)s.old,
				      "new", (json_int_t)s.new, "between", (json_int_t)s.between,
				      "foreign", (json_int_t)s.foreign, "silent",
				      (json_int_t)s.silent, "missing", (json_int_t)s.missing);

		cmd_status_print_switches(o);
		json_decref(o);
	}
	executor_free(a);
	live_close(&l);
	return rc;
}

/* It waits for confirmation, or has no process left that could get it there. */
static bool cmd_status_settled(const struct status_cmd *c, const struct txn_info *t)
{
	json_t *p;
	bool waits;

	if (txn_state_final(t->state) || (!t->live && !t->guarded))
		return true;
	p = cmd_status_ask_process(c, t->head.id);
	waits = json_is_number(json_object_get(p, "deadline_s"));
	json_decref(p);
	return waits;
}

/* A process that has just begun may not have its journal yet. */
static int cmd_status_find(struct txn_info *t, const struct status_cmd *c, struct err *err)
{
	time_t until = time(NULL) + c->wait_s;
	int rc = txn_find(t, c->live.state_dir, c->id, err);

	while (c->wait_s && time(NULL) < until && (rc || !cmd_status_settled(c, t))) {
		poll(NULL, 0, WAIT_STEP_MS);
		rc = txn_find(t, c->live.state_dir, c->id, err);
	}
	return rc;
}

static int cmd_status_of(struct status_cmd *c, struct err *err)
{
	struct agent_away *away;
	struct txn_info t;
	uint32_t naway;
	int rc = cmd_status_find(&t, c, err);

	if (rc)
		return txn_find_exit(rc);
	agents_away_find(&away, &naway, c->live.state_dir, c->live.socket, t.head.id);
	if (c->json) {
		json_t *j = cmd_status_info_json(c, &t);

		json_object_set_new(j, "schema", json_string("ibroute-top/1"));
		json_object_set_new(j, "agents_away", agents_away_json(away, naway));
		json_dumpf(j, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(j);
	} else {
		cmd_status_print_one(c, &t);
		agents_away_print(away, naway);
	}
	free(away);
	if (c->events)
		rc = cmd_status_print_events(c, &t, err);
	if (!rc && c->read)
		rc = cmd_status_read_switches(c, &t, err);
	if (rc)
		return EXIT_UNREADABLE;
	return txn_state_final(t.state) ? EXIT_OK : EXIT_FINDINGS;
}

/* ---- all ---- */

static int cmd_status_prune(const struct status_cmd *c, struct err *err)
{
	uint32_t n = 0;
	int rc = journal_prune(c->live.state_dir, time(NULL) - 86400 * (int64_t)c->prune_days, &n,
			       err);

	if (!rc)
		printf("removed %u update%s that ended more than %u day%s ago\n", n, plural(n),
		       c->prune_days, plural(c->prune_days));
	return rc ? EXIT_UNREADABLE : EXIT_OK;
}

static int cmd_status_status(const struct status_cmd *c, struct err *err)
{
	struct txn_info *list;
	json_t *all = json_array(), *j;
	struct agent_away *away;
	uint32_t n, naway, open = 0;

	if (journal_list(&list, &n, c->live.state_dir, err)) {
		json_decref(all);
		return EXIT_UNREADABLE;
	}
	agents_away_find(&away, &naway, c->live.state_dir, c->live.socket, NULL);
	for (uint32_t i = 0; i < n; i++) {
		open += !txn_state_final(list[i].state);
		if (c->json)
			json_array_append_new(all, cmd_status_info_json(c, &list[i]));
		else
			cmd_status_print_one(c, &list[i]);
	}
	if (c->json) {
		j = json_pack("{s:s, s:I, s:O, s:o}", "schema", "ibroute-top/1", "unfinished",
			      (json_int_t)open, "transactions", all, "agents_away",
			      agents_away_json(away, naway));
		json_dumpf(j, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(j);
	} else if (!n) {
		printf("no updates in %s\n", journal_base(c->live.state_dir));
	}
	if (!c->json)
		agents_away_print(away, naway);
	free(away);
	json_decref(all);
	free(list);
	return open ? EXIT_FINDINGS : EXIT_OK;
}

/* Others may have written journals: what only reads them writes nothing, starts nothing, and asks
 * no process of theirs. */
static void cmd_status_confine(struct status_cmd *c)
{
	if (c->prune_days || c->read)
		return;
	c->others = journal_of_others(c->live.state_dir);
	if (c->others)
		confine_to_reading(NULL);
	else
		confine_to_asking(NULL);
}

int cmd_status(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "json", CMDLINE_KEY(struct status_cmd, json), NULL, 0, "as JSON", 0 },
		{ "events", CMDLINE_KEY(struct status_cmd, events), NULL, 0,
		  "show the steps in the journal", 0 },
		{ "read", CMDLINE_KEY(struct status_cmd, read), NULL, 0,
		  "read the tables now in the switches; for an interrupted update", 0 },
		{ "wait", OPT_WAIT, "SECONDS", 0,
		  "wait until the update has ended or waits for confirmation, at most SECONDS", 0 },
		{ "prune", OPT_PRUNE, "DAYS", 0,
		  "remove updates that ended more than DAYS days "
		  "ago",
		  0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = rows,
		.parser = cmd_status_take,
		.children = live_children,
		.args_doc = "[ID]",
		.doc = "Lists the updates made on this machine, or shows one: its phase, "
		       "deadline, watch conditions, and what was read from the switches; also "
		       "agents that are away from their base LIDs. ID may "
		       "be abbreviated to its first characters; 'last' is the newest.\vExit "
		       "codes: 0 all have ended; 1 one has not; 4 no such update; 64 bad options; "
		       "255 the journals could not be read.",
	};
	struct status_cmd c = { 0 };
	struct err err = { "" };
	int rc;

	cmdline_parse(&argp, argc, argv, &c);
	cmd_status_confine(&c);
	rc = c.prune_days ? cmd_status_prune(&c, &err)
	     : c.id	  ? cmd_status_of(&c, &err)
			  : cmd_status_status(&c, &err);
	return cmdline_end(argv[0], rc, &err);
}
