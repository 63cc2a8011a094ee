/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Updates by real watchdog processes, over a simulated fabric that this process serves to them. */
#include "console/update/update_client.h"

#include "console/config/exits.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/plan/file/plan_bytes.h"
#include "fabric/plan/file/planfile.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_remote.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/wire/wire.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_S 60

struct world {
	struct fabric *f;
	struct tables *from, *to;
	struct plan *p;
	struct sim *sim;
	struct sim_server *server;
	char *dir, *records, *socket;
	struct plan_bytes plan;
	struct watchdog_config config;
	struct update_client c;
	struct err err;

	/* what was told */
	unsigned events, items, waits, says, answers;
	pid_t worker;
	char installer[20], said[200];
	struct update_end end;
};

static void take_event(void *ctx, const struct executor_event *ev, const struct executor_status *st,
		       const char *block)
{
	struct world *w = ctx;

	(void)st;
	w->events++;
	w->items += ev->kind == APPLY_ITEM && *block;
}

static void take_waits(void *ctx, unsigned confirm_s)
{
	struct world *w = ctx;

	assert_true(confirm_s > 0);
	w->waits++;
}

static void take_process(void *ctx, pid_t worker, const char *installer)
{
	struct world *w = ctx;

	w->worker = worker;
	if (*installer)
		snprintf(w->installer, sizeof(w->installer), "%s", installer);
}

static void take_says(void *ctx, enum log_level level, const char *text)
{
	struct world *w = ctx;

	if (level != LOG_WARN)
		return;
	w->says++;
	snprintf(w->said, sizeof(w->said), "%s", text);
}

static void take_answer(void *ctx, const json_t *answer)
{
	struct world *w = ctx;

	w->answers += json_is_true(json_object_get(answer, "ok"));
}

static void take_over(void *ctx, const struct update_end *end)
{
	struct world *w = ctx;

	w->end = *end;
}

static const struct update_client_ops ops = {
	.event = take_event,
	.waits = take_waits,
	.process = take_process,
	.says = take_says,
	.answer = take_answer,
	.over = take_over,
};

static void save_plan(struct world *w)
{
	struct sm_pin pin = { 0 };
	struct wire *wire;
	struct wire_sm sm;

	assert_int_equal(wire_open_sim(&wire, w->sim, NULL, &w->err), 0);
	assert_int_equal(wire_sm_info(&sm, wire, &w->err), 0);
	pin = (struct sm_pin){ .guid = sm.guid, .priority = sm.priority };
	wire_close(wire);
	assert_int_equal(plan_new(&w->p, w->f, w->from, w->to, NULL, &pin, 1000, &w->err), 0);
	assert_int_equal(plan_bytes_of(&w->plan, w->p, &w->err), 0);
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->f = net_fabric(NULL);
	w->from = net_tables(w->f, 0, true);
	w->to = net_tables(w->f, 1, true);
	w->dir = net_tmpdir();
	w->socket = xasprintf("%s/simulator", w->dir);
	w->records = xasprintf("%s/records", w->dir);
	assert_int_equal(sim_new(&w->sim, w->f, NULL, &w->err), 0);
	assert_int_equal(sim_install_tables(w->sim, w->from, &w->err), 0);
	assert_int_equal(sim_server_start(&w->server, w->sim, 0, w->dir, "simulator", &w->err), 0);
	save_plan(w);
	watchdog_config_init(&w->config);
	w->config.live.simulator = w->socket;
	w->config.live.state_dir = w->dir;
	w->config.live.record_dir = w->records;
	update_client_init(&w->c, &ops, w, w->dir);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	update_client_close(&w->c);
	sim_server_stop(w->server);
	sim_free(w->sim);
	plan_free(w->p);
	tables_put(w->from);
	tables_put(w->to);
	fabric_put(w->f);
	free(w->socket);
	plan_bytes_clear(&w->plan);
	store_remove(w->records);
	free(w->records);
	net_rmdir(w->dir);
	free(w);
	return 0;
}

static void start(struct world *w)
{
	if (update_client_start(&w->c, &w->config, &w->plan, NULL, &w->err))
		fail_msg("%s", w->err.text);
}

/* Between the prompt and the process that writes. */
static void a_plan_that_was_not_shown_is_refused(void **state)
{
	struct world *w = *state;
	struct plan_bytes shown = w->plan;
	struct sm_pin pin = { 1, 1 };
	struct plan *other;
	double end = clock_s() + LIMIT_S;

	assert_int_equal(plan_new(&other, w->f, w->from, w->to, NULL, &pin, 2000, &w->err), 0);
	assert_int_equal(plan_bytes_of(&w->plan, other, &w->err), 0);
	w->plan.sum = shown.sum;
	start(w);
	while (!w->c.over && clock_s() < end)
		update_client_take(&w->c, 100);
	assert_int_equal(w->end.exit, EXIT_REFUSED);
	assert_non_null(strstr(w->end.text, "not the one that was shown"));
	plan_bytes_clear(&shown);
	plan_free(other);
}

/* What was read, not what the file has become. */
static void a_file_that_changes_is_noticed(void **state)
{
	struct world *w = *state;
	char *path = xasprintf("%s/the.plan", w->dir);
	struct plan_bytes b;
	struct plan *p;

	assert_int_equal(store_write(path, w->plan.data, w->plan.len, &w->err), 0);
	assert_int_equal(plan_bytes_load(&b, &p, path, &w->err), 0);
	assert_true(digest_equal(&b.sum, &w->plan.sum));
	assert_int_equal(plan_bytes_check(&b, path, &w->err), 0);
	assert_int_equal(store_replace(path, "{}", 2, 0600, &w->err), 0);
	assert_int_equal(plan_bytes_check(&b, path, &w->err), -ESTALE);
	assert_int_equal(remove(path), 0);
	assert_int_equal(plan_bytes_check(&b, path, &w->err), -ENOENT);
	assert_int_equal(plan_bytes_check(&b, "/dev/null", &w->err), 0);
	plan_bytes_clear(&b);
	plan_free(p);
	free(path);
}

static void until_it_waits(struct world *w)
{
	double end = clock_s() + LIMIT_S;

	while (!w->waits && !w->c.over && clock_s() < end)
		update_client_take(&w->c, 100);
	if (!w->waits)
		fail_msg("it does not wait: %s", w->end.text);
}

static void until_over(struct world *w, int code, enum outcome outcome)
{
	double end = clock_s() + LIMIT_S;

	while (!w->c.over && clock_s() < end)
		update_client_take(&w->c, 100);
	assert_true(w->c.over);
	if (w->end.exit != code)
		fail_msg("exit %d: %s", w->end.exit, w->end.text);
	assert_int_equal(w->end.outcome, outcome);
}

static bool holds(struct world *w, const struct tables *t)
{
	struct tables *now = sim_tables(w->sim);
	bool same = tables_forward_same(w->f, now, t);

	tables_put(now);
	return same;
}

static enum txn_state journalled(struct world *w)
{
	struct txn_info *list;
	enum txn_state s;
	uint32_t n;

	assert_int_equal(journal_list(&list, &n, w->dir, &w->err), 0);
	assert_int_equal(n, 1);
	s = list[0].state;
	free(list);
	return s;
}

static void what_is_confirmed_stays(void **state)
{
	struct world *w = *state;

	start(w);
	until_it_waits(w);
	assert_true(holds(w, w->p->to));
	assert_true(w->c.waiting && w->c.id[0]);
	assert_true(w->worker > 0 && w->worker == w->c.worker);
	assert_string_equal(w->installer, "SMPs");
	assert_true(w->events > 4);
	assert_int_equal(update_client_ask(&w->c, CONTROL_CONFIRM, 0), 0);
	until_over(w, EXIT_OK, OUTCOME_CONFIRMED);
	assert_string_equal(w->end.text, "");
	assert_true(holds(w, w->p->to));
	assert_int_equal(journalled(w), TXN_CONFIRMED);
}

static void what_is_rolled_back_is_as_before(void **state)
{
	struct world *w = *state;

	start(w);
	until_it_waits(w);
	assert_int_equal(update_client_ask(&w->c, CONTROL_ROLLBACK, 0), 0);
	until_over(w, EXIT_ROLLED_BACK, OUTCOME_ROLLED_BACK);
	assert_true(holds(w, w->p->from));
}

static void nobody_confirms_in_time(void **state)
{
	struct world *w = *state;

	w->config.confirm_s = 1;
	start(w);
	until_over(w, EXIT_NOT_CONFIRMED, OUTCOME_ROLLED_BACK);
	assert_int_equal(w->waits, 1);
	assert_true(holds(w, w->p->from));
}

static void a_stale_plan_is_refused(void **state)
{
	struct world *w = *state;

	assert_int_equal(sim_install_tables(w->sim, w->to, &w->err), 0);
	start(w);
	until_over(w, EXIT_REFUSED, OUTCOME_NONE);
	assert_non_null(strstr(w->end.text, "the installed tables changed"));
}

static void who_comes_later_is_told_all_and_may_decide(void **state)
{
	struct control_request more = { .op = CONTROL_EXTEND, .seconds = 900 };
	struct world *w = *state, other = { 0 };
	json_t *j;

	start(w);
	until_it_waits(w);
	update_client_init(&other.c, &ops, &other, w->dir);
	assert_int_equal(update_client_open(&other.c, w->c.id, &w->err), 0);
	until_it_waits(&other);
	assert_int_equal(other.worker, w->worker);
	j = update_client_request(w->dir, w->c.id, &more, &w->err);
	assert_true(json_number_value(json_object_get(j, "deadline_s")) > 800);
	json_decref(j);
	assert_int_equal(update_client_ask(&other.c, CONTROL_CONFIRM, 0), 0);
	until_over(&other, EXIT_OK, OUTCOME_CONFIRMED);
	assert_true(other.answers > 0);
	until_over(w, EXIT_OK, OUTCOME_CONFIRMED);
	update_client_close(&other.c);
}

static void another_process_takes_over_from_one_that_died(void **state)
{
	struct world *w = *state;
	pid_t first;

	start(w);
	until_it_waits(w);
	first = w->worker;
	kill(first, SIGKILL);
	until_over(w, EXIT_ROLLED_BACK, OUTCOME_ROLLED_BACK);
	/* it may be through before it is found */
	assert_true(!w->says ||
		    (strstr(w->said, "another one has taken over") && w->worker != first));
	assert_true(holds(w, w->p->from));
}

static void a_simulated_fabric_that_ends_ends_its_update(void **state)
{
	struct world *w = *state;

	start(w);
	until_it_waits(w);
	sim_server_stop(w->server);
	w->server = NULL;
	until_over(w, EXIT_INCOMPLETE, OUTCOME_INCOMPLETE);
	assert_non_null(strstr(w->end.text, "the simulated fabric is gone"));
	assert_int_equal(journalled(w), TXN_GIVEN_UP);
}

/* Both at once: the one that is started in its place has nothing to roll back to. */
static void so_does_that_of_a_process_that_died_with_it(void **state)
{
	struct world *w = *state;

	start(w);
	until_it_waits(w);
	kill(w->worker, SIGSTOP);
	sim_server_stop(w->server);
	w->server = NULL;
	kill(w->worker, SIGKILL);
	until_over(w, EXIT_INCOMPLETE, OUTCOME_INCOMPLETE);
	assert_non_null(strstr(w->end.text, "the simulated fabric is gone"));
	assert_int_equal(journalled(w), TXN_GIVEN_UP);
}

static void what_is_not_there_cannot_be_followed(void **state)
{
	struct world *w = *state;

	assert_true(update_client_open(&w->c, "20000101T000000Z-1", &w->err) < 0);
	assert_int_equal(update_client_ask(&w->c, CONTROL_CONFIRM, 0), -EPIPE);
}

static void is_said(enum txn_state s, enum coord_why why, int code, const char *words)
{
	struct txn_info t = { .state = s, .why = why, .said = "because" };
	struct update_end end;

	snprintf(t.head.id, sizeof(t.head.id), "ID");
	update_client_journalled(&end, &t);
	assert_int_equal(end.exit, code);
	if (strncmp(end.text, words, strlen(words)) || (!*words && end.text[0]))
		fail_msg("'%s' is not '%s'", end.text, words);
}

static void a_journal_says_how_it_was_left(void **state)
{
	(void)state;
	is_said(TXN_CONFIRMED, WHY_NONE, EXIT_OK, "");
	is_said(TXN_ROLLED_BACK, WHY_TIMEOUT, EXIT_NOT_CONFIRMED, "ID: rolled-back: ");
	is_said(TXN_ROLLED_BACK, WHY_FOREIGN, EXIT_FOREIGN,
		"ID: rolled-back: another writer changed the switches");
	is_said(TXN_ABANDONED, WHY_NONE, EXIT_REFUSED, "ID: abandoned");
	is_said(TXN_SUPERSEDED, WHY_NONE, EXIT_SUPERSEDED, "ID: superseded: because");
	is_said(TXN_GIVEN_UP, WHY_NONE, EXIT_INCOMPLETE, "ID: given-up: because");
	is_said(TXN_WRITING, WHY_NONE, EXIT_INCOMPLETE,
		"ID was interrupted (state: writing) and no process is working on it: roll it back");
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_plan_that_was_not_shown_is_refused),
		T(a_file_that_changes_is_noticed),
		T(what_is_confirmed_stays),
		T(what_is_rolled_back_is_as_before),
		T(nobody_confirms_in_time),
		T(a_stale_plan_is_refused),
		T(who_comes_later_is_told_all_and_may_decide),
		T(another_process_takes_over_from_one_that_died),
		T(a_simulated_fabric_that_ends_ends_its_update),
		T(so_does_that_of_a_process_that_died_with_it),
		T(what_is_not_there_cannot_be_followed),
		cmocka_unit_test(a_journal_says_how_it_was_left),
	};

	return cmocka_run_group_tests_name("update_client", tests, NULL, NULL);
}
