/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of an update: as it happens, while it waits, and after its end. */
#include "tests/unit/kit/console_kit.h"
#include "tests/unit/kit/console_moods.h"

#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/watchdog/watch_conditions.h"
#include "views/apply/apply_updates.h"
#include "views/apply/apply_wrote.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };
static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

static void golden_sizes(struct console_kit *k, const char *name)
{
	for (int i = 0; i < 3; i++) {
		console_size(k, sizes[i][0], sizes[i][1]);
		console_golden(k, name);
	}
	console_size(k, 80, 24);
}

/* In the middle of writing the second wave, one agent silent. */
static void running(struct console_kit *k)
{
	console_open(k, 80, 24);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	console_preview(k, "sar");
	console_plan(k);
	k->s.rw = true;
	console_running(k);
	console_keys(k, "7");
}

static void waiting(struct console_kit *k)
{
	running(k);
	console_waiting(k);
}

/* Begun an hour after one another, the newest first. */
static void updates(struct apply_updates *l, uint32_t n)
{
	static const struct apply_update last[] = {
		{ .user = "root",
		  .engine = "sar",
		  .state = "confirmed",
		  .text = "by the operator: job 4711 gained 38 %",
		  .blocks = 1234 },
		{ .user = "admin",
		  .engine = "nue",
		  .state = "rolled-back",
		  .text = "not confirmed in time",
		  .blocks = 66 },
		{ .state = "incomplete",
		  .text = "leaf11: the switch did not respond; 3 blocks of it may hold entries of "
			  "the new routing, the others are as they were before the update",
		  .blocks = 9 },
	};

	*l = (struct apply_updates){ .n = n };
	for (uint32_t i = 0; i < n; i++) {
		l->row[i] = last[i % 3];
		l->row[i].begin_s = 1795800000 - 3600 * (int64_t)i;
		l->row[i].end_s = l->row[i].begin_s + 75;
	}
}

static void without_a_plan_the_last_updates_fill_the_page(void **state)
{
	static struct apply_updates some, many;
	struct console_kit k;

	(void)state;
	updates(&some, 3);
	updates(&many, APPLY_UPDATES);
	console_open(&k, 80, 24);
	console_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9", jobs);
	console_keys(&k, "7");
	console_hides(&k, "Last updates");
	k.s.updates = &some;
	golden_sizes(&k, "apply-updates");
	console_hides(&k, "Last updates"); /* 80x24 */
	k.s.updates = &many;
	console_size(&k, 100, 30);
	console_shows(&k, "Last updates: 17 of 64");
	console_size(&k, 200, 60);
	console_shows(&k, "Last updates: 47 of 64");
	console_shows(&k, "read-only"); /* the sentence stays */
	console_key(&k, '\t');
	console_hides(&k, "Last updates"); /* the log has the page */
	console_key(&k, '\t');
	console_preview(&k, "sar");
	console_plan(&k);
	console_hides(&k, "Last updates");
	console_close(&k);
}

/* From any view; each only where it can be meant. */
static void commands_start_and_confirm_by_the_fabrics_name(void **state)
{
	struct console_kit k;

	(void)state;
	waiting(&k);
	console_keys(&k, "1:start\r");
	console_shows(&k, "no plan is ready to be started");
	assert_false(shell_typing(k.shell, &k.s));
	console_keys(&k, "1:confirm\r");
	assert_int_equal(shell_view(k.shell), VIEW_APPLY);
	console_shows(&k, "to CONFIRM the new routing");
	assert_true(shell_typing(k.shell, &k.s));
	console_key(&k, K_ESC);
	k.s.apply.state = APPLY_READY;
	console_keys(&k, "1:confirm\r");
	console_shows(&k, "no update is waiting to be confirmed");
	assert_false(shell_typing(k.shell, &k.s));
	console_keys(&k, "1:start\r");
	console_shows(&k, "to START the update");
	console_key(&k, K_ESC);
	k.s.rw = false;
	console_keys(&k, "1:start\r");
	console_shows(&k, "read-only");
	assert_false(shell_typing(k.shell, &k.s));
	console_keys(&k, "1:reroute\r");
	assert_int_equal(shell_view(k.shell), VIEW_PREVIEW);
	console_close(&k);
}

static void phases_waves_and_agents_are_shown_as_they_happen(void **state)
{
	struct console_kit k;

	(void)state;
	running(&k);
	golden_sizes(&k, "apply-running");
	console_size(&k, 100, 30);
	console_shows(&k, "39 of 66 written, 1 retried");
	console_shows(&k, "1 silent: n0031");
	console_shows(&k, "asked 3 times");
	console_shows(&k, "leaf17 410.4ms");
	console_shows(&k, "12/24");
	console_shows(&k, "UPDATING");
	console_keys(&k, "1");
	console_shows(&k, "UPDATING");
	console_close(&k);
}

static void the_deadline_runs_down_in_every_view(void **state)
{
	struct console_kit k;

	(void)state;
	waiting(&k);
	golden_sizes(&k, "apply-waiting");
	console_shows(&k, "rolls back in 4:12 unless confirmed");
	console_shows(&k, ", and on: sm, errors, reach, jobs  (O: override)");
	k.s.apply.overridden = 1u << WATCH_ERRORS;
	console_shows(&k, ", and on: sm, reach, jobs");
	console_keys(&k, "2");
	console_shows(&k, "CONFIRM 4:12");
	console_keys(&k, "7+");
	assert_int_equal(k.last.type, REQ_APPLY_EXTEND);
	console_keys(&k, "D");
	assert_int_equal(k.last.type, REQ_DETACH);
	k.s.apply.state = APPLY_RUNNING;
	k.last.type = REQ_NONE;
	console_keys(&k, "+");
	console_shows(&k, "no update is waiting to be confirmed");
	assert_int_equal(k.last.type, REQ_NONE);
	console_close(&k);
}

static void notes_and_overrides_are_typed(void **state)
{
	struct console_kit k;

	(void)state;
	waiting(&k);
	console_keys(&k, "N");
	console_shows(&k, "Note for the record");
	console_keys(&k, "q and R and Y are letters here");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_APPLY_NOTE);
	assert_string_equal(k.last.text, "q and R and Y are letters here");
	console_keys(&k, "O");
	console_shows(&k, "sm, errors, reach, jobs");
	console_keys(&k, "errors");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_APPLY_OVERRIDE);
	assert_string_equal(k.last.text, "errors");
	console_keys(&k, "N");
	console_key(&k, K_ESC);
	assert_false(shell_typing(k.shell, &k.s));
	k.s.apply.state = APPLY_KEPT;
	snprintf(k.s.apply.effect, sizeof(k.s.apply.effect),
		 "slowest job 3.0x -> 1.9x (predicted)");
	console_shows(&k, "Effect: slowest job 3.0x -> 1.9x (predicted)");
	k.s.apply.effect[0] = '\0';
	console_keys(&k, "O");
	console_shows(&k, "no watch conditions now");
	/* without --rw nothing but a note */
	k.s.rw = false;
	k.s.apply.state = APPLY_CONFIRM;
	console_keys(&k, "+");
	console_shows(&k, "read-only");
	console_keys(&k, "O");
	console_shows(&k, "read-only");
	assert_int_equal(k.last.type, REQ_APPLY_OVERRIDE); /* of before */
	console_close(&k);
}

/* Its phases, as the events of a rollback make them. */
static void rolled_back(struct state_apply *a)
{
	snprintf(a->steps[6].name, sizeof(a->steps[6].name), "ROLLBACK");
	console_step(a, 5, STEP_SKIPPED, NAN, "not confirmed");
	console_step(a, 6, STEP_DONE, 3.1, "66 of 66 read back as before, 0 retries");
	a->nsteps = 7;
}

static void the_end_sets_before_model_and_now_side_by_side(void **state)
{
	struct console_kit k;
	struct state_apply *a = &k.s.apply;

	(void)state;
	waiting(&k);
	a->state = APPLY_KEPT;
	a->took_s = 63;
	a->confirm_left_s = NAN;
	console_step(a, 5, STEP_DONE, 48, "kept");
	golden_sizes(&k, "apply-kept");
	console_shows(&k, "after 63s");
	console_hides(&k, "CONFIRM 4");
	a->state = APPLY_FAILED;
	snprintf(a->result, sizeof(a->result), "watch: errors: leaf03/14 symbol +812 in 5 s");
	snprintf(a->found, sizeof(a->found), "errors: leaf03/14 symbol +812 in 5 s");
	rolled_back(a);
	golden_sizes(&k, "apply-failed");
	console_hides(&k, "  kept");
	a->nsteps = 6;
	a->state = APPLY_SUPERSEDED;
	snprintf(a->result, sizeof(a->result),
		 "another subnet manager has routed: 312 of 640 LFT blocks and 20 SL2VL tables are "
		 "not the old ones; connected, free of loops and deadlocks");
	a->found[0] = '\0';
	golden_sizes(&k, "apply-superseded");
	console_keys(&k, "R"); /* there is nothing to go back to */
	console_hides(&k, "Roll back?");
	console_keys(&k, "1");
	console_shows(&k, "SUPERSEDED");
	console_keys(&k, "7");
	a->state = APPLY_INCOMPLETE;
	console_shows(&k, "ROLLBACK INCOMPLETE");
	console_keys(&k, "1");
	console_shows(&k, "INCOMPLETE");
	console_close(&k);
}

/* Begun by somebody else, or by this operator, who has left it to its watchdog. */
static void an_update_of_another_console_is_told_where_there_is_no_plan(void **state)
{
	struct console_kit k;

	(void)state;
	waiting(&k);
	k.s.apply.state = APPLY_NONE;
	snprintf(k.s.sm.rival, sizeof(k.s.sm.rival),
		 "update 20260101T000000Z-7 of ana@admin2, process 7 is in progress: until its end "
		 "OpenSM takes no other one");
	console_keys(&k, "7");
	console_shows(&k, "no plan");
	console_shows(&k, "update 20260101T000000Z-7 of ana@admin2, process 7 is in progress");
	console_shows(&k, "ibroute-top confirm");
	console_close(&k);
}

/* Also a key that has no meaning, and one that would close the plan. */
static void any_other_key_leaves_the_question_and_does_nothing_else(void **state)
{
	static const char *const others[] = { "y", "x", "7", "R", "N" };
	struct console_kit k;

	(void)state;
	waiting(&k);
	k.s.apply.state = APPLY_KEPT;
	k.s.apply.confirm_left_s = NAN;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		k.last.type = REQ_NONE;
		console_keys(&k, "R");
		console_shows(&k, "Roll back?");
		console_keys(&k, others[i]);
		console_hides(&k, "Roll back?");
		console_shows(&k, "cancelled: nothing is rolled back");
		assert_int_equal(k.last.type, REQ_NONE);
	}
	console_keys(&k, "R");
	console_keys(&k, "Y");
	assert_int_equal(k.last.type, REQ_APPLY_ROLLBACK);
	console_close(&k);
}

/* As many lines as blocks, the first of them with its hash, and the way there and back. */
static void each_block_that_was_read_back_is_a_line_of_the_log(void **state)
{
	struct console_kit k;
	struct state_apply *a = &k.s.apply;
	struct apply_wrote *w;
	char line[160];

	(void)state;
	waiting(&k);
	w = apply_wrote_new(changes_new(k.fabric, k.tables, k.plan, k.diff), k.fabric);
	assert_int_equal(w->changes->n, 66);
	assert_int_equal(w->nfirst, 66);
	a->wrote = w;
	a->blocks[a->log_total - 1] = (struct apply_blocks){ 0, 66, false };
	console_shows(&k, "66 of 66 read back");
	console_keys(&k, "\t");
	console_shows(&k, "Log: the newest of 70 lines");
	console_shows(&k, "errors  sample 24: no error counter rose on 132 ports of changed links");
	console_shows(&k, "blocks  re-read: 66 match, 0 differ, 0 no response");
	golden_sizes(&k, "apply-log");
	console_size(&k, 100, 30);
	console_keys(&k, "g");
	console_shows(&k, "asking 7 agents to drain");
	console_shows(&k, "Log: lines 1 to ");
	apply_wrote_line(line, sizeof(line), w, 0, false);
	assert_non_null(strstr(line, "read-back ok ("));
	assert_non_null(strstr(line, "of 64 entries)  sha256 "));
	console_shows(&k, line);
	console_keys(&k, "G");
	apply_wrote_line(line, sizeof(line), w, 65, false);
	console_shows(&k, line);
	console_keys(&k, "kkkkkkkkkkkkkkkkkk");
	console_hides(&k, line);
	console_keys(&k, "\t");
	console_shows(&k, "leaves A");
	a->wrote = NULL;
	apply_wrote_free(w);
	console_close(&k);
}

/* Where a rollback adds a phase, the smallest screen keeps all five figures. */
static void a_rollback_leaves_the_figures_on_a_small_screen(void **state)
{
	struct console_kit k;
	struct state_apply *a = &k.s.apply;

	(void)state;
	waiting(&k);
	rolled_back(a);
	a->state = APPLY_ROLLED_BACK;
	a->confirm_left_s = NAN;
	a->took_s = 66;
	snprintf(a->result, sizeof(a->result),
		 "The routing from before is back: read from every switch that was written.");
	golden_sizes(&k, "apply-rolled-back");
	console_shows(&k, "66 of 66 read back as before");
	console_shows(&k, "jobs failed");
	console_close(&k);
}

static void what_was_found_in_the_tables_read_afterwards_is_said(void **state)
{
	struct console_kit k;
	struct verdict bad;

	(void)state;
	waiting(&k);
	console_shows(&k, "7 of 7 returned; reach 162x162 ok, CDG acyclic");
	console_size(&k, 100, 30);
	bad = *k.s.verdict;
	bad.deadlock_free = false;
	k.s.verdict = &bad;
	console_shows(&k, "CDG HAS A CYCLE");
	bad.connected = false;
	console_shows(&k, "UNREACHABLE in 162x162, CDG ?");
	k.s.verdict = NULL;
	console_shows(&k, "checking reachability and CDG");
	k.s.apply.reread = REREAD_OTHER;
	console_shows(&k, "tables in the switches DIFFER from the plan");
	k.s.apply.reread = REREAD_NOT_YET;
	console_hides(&k, "reach 162");
	console_hides(&k, "tables in the switches");
	console_close(&k);
}

static void is_called(const struct console_kit *k, const uint32_t *sw, uint32_t n, const char *name)
{
	struct topology_kind *shape = topology_kind_new(k->fabric);
	char buf[24];

	assert_string_equal(switches_name(buf, sizeof(buf), shape, sw, n), name);
	topology_kind_free(shape);
}

/* The first and the last of a switch's own kind. */
static uint32_t with_hosts(const struct fabric *f, bool hosts)
{
	uint32_t sw = 0;

	while (!f->sw_nterm[sw] == hosts)
		sw++;
	return sw;
}

static void switches_are_called_what_all_of_them_are(void **state)
{
	struct console_kit k;
	uint32_t sw[2];

	(void)state;
	console_open(&k, 80, 24);
	console_fabric(&k, "fattree2:leaves=4,spines=2,hosts=2", NULL);
	sw[0] = sw[1] = with_hosts(k.fabric, true);
	is_called(&k, sw, 2, "leaves");
	sw[1] = with_hosts(k.fabric, false);
	is_called(&k, sw + 1, 1, "spines");
	is_called(&k, sw, 2, "switches");
	console_close(&k);
	console_open(&k, 80, 24);
	console_fabric(&k, "torus:dims=4x4,hosts=1", NULL);
	is_called(&k, (uint32_t[]){ 0, 1 }, 2, "switches");
	console_close(&k);
}

/* Simulated switches end with the console: nothing speaks of leaving an update of them. */
static void a_simulated_update_cannot_be_left(void **state)
{
	struct console_kit k;

	(void)state;
	waiting(&k);
	k.s.apply.demo_dir = "/tmp/ibroute-demo-x";
	console_hides(&k, "D: detach");
	console_close(&k);
}

static void lids_of_no_job_are_accepted_by_typing_it(void **state)
{
	struct console_kit k;

	(void)state;
	running(&k);
	k.s.apply.state = APPLY_READY;
	k.s.apply.strangers = true;
	console_shows(&k, "O: accept this");
	console_keys(&k, "\r");
	console_shows(&k, "accept that first (O)");
	console_keys(&k, "O");
	console_shows(&k, "Type 'strangers' to accept");
	console_keys(&k, "strangers\r");
	assert_int_equal(k.last.type, REQ_APPLY_OVERRIDE);
	assert_string_equal(k.last.text, "strangers");
	k.s.apply.strangers = false;
	console_keys(&k, "\r");
	console_shows(&k, "START the update");
	console_close(&k);
}

/* By a plan that makes other jobs faster, perhaps. */
static void slower_jobs_are_accepted_by_typing_it(void **state)
{
	struct console_kit k;

	(void)state;
	running(&k);
	k.s.apply.state = APPLY_READY;
	snprintf(k.s.apply.slower, sizeof(k.s.apply.slower), "job 81234 in alltoall 2.00 -> 2.50");
	console_shows(&k, "Slower: job 81234 in alltoall 2.00 -> 2.50");
	console_keys(&k, "\r");
	console_shows(&k, "accept that first (O)");
	console_keys(&k, "O");
	console_shows(&k, "Type 'slower' to accept");
	console_keys(&k, "slower\r");
	assert_int_equal(k.last.type, REQ_APPLY_OVERRIDE);
	assert_string_equal(k.last.text, "slower");
	k.s.apply.slower[0] = '\0';
	console_keys(&k, "\r");
	console_shows(&k, "START the update");
	console_close(&k);
}

/* Which of two hosts drains is not for the program to guess: both, or nobody. */
static void hosts_of_one_name_are_accepted_by_typing_it(void **state)
{
	struct console_kit k;

	(void)state;
	running(&k);
	k.s.apply.state = APPLY_READY;
	k.s.apply.names = true;
	golden_sizes(&k, "apply-names");
	console_keys(&k, "\r");
	console_shows(&k, "say first which hosts have to drain (O)");
	console_hides(&k, "START the update");
	console_keys(&k, "O");
	console_shows(&k, "Type 'names' to drain every port of the names");
	console_golden(&k, "apply-names-typing");
	console_keys(&k, "names\r");
	assert_int_equal(k.last.type, REQ_APPLY_OVERRIDE);
	assert_string_equal(k.last.text, "names");
	k.s.apply.names = false;
	console_keys(&k, "\r");
	console_shows(&k, "START the update");
	console_close(&k);
}

static void a_plan_of_the_automatic_mode_is_seen_in_all_views(void **state)
{
	struct console_kit k;

	(void)state;
	running(&k);
	k.s.apply.state = APPLY_READY;
	k.s.automatic.on = k.s.automatic.alert = true;
	snprintf(k.s.automatic.text, sizeof(k.s.automatic.text),
		 "4 jobs have to drain: this plan waits for the fabric's name");
	console_shows(&k, "Auto: 4 jobs have to drain");
	console_shows(&k, "AUTO: view 7");
	console_keys(&k, "6");
	console_shows(&k, "Auto: 4 jobs");
	console_keys(&k, "3");
	console_shows(&k, "AUTO: view 7");
	console_close(&k);
}

static void agents_that_stayed_away_are_named_while_no_update_goes_on(void **state)
{
	struct console_kit k;

	(void)state;
	running(&k);
	snprintf(k.s.sm.away, sizeof(k.s.sm.away),
		 "2 agents are not on their base LIDs: n0003, n0007");
	console_hides(&k, "not on their base LIDs");
	k.s.apply.state = APPLY_NONE;
	console_shows(&k, "2 agents are not on their base LIDs: n0003, n0007");
	k.s.apply.state = APPLY_KEPT;
	console_shows(&k, "2 agents are not on their base LIDs: n0003, n0007");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_plan_the_last_updates_fill_the_page),
		cmocka_unit_test(agents_that_stayed_away_are_named_while_no_update_goes_on),
		cmocka_unit_test(commands_start_and_confirm_by_the_fabrics_name),
		cmocka_unit_test(phases_waves_and_agents_are_shown_as_they_happen),
		cmocka_unit_test(the_deadline_runs_down_in_every_view),
		cmocka_unit_test(notes_and_overrides_are_typed),
		cmocka_unit_test(the_end_sets_before_model_and_now_side_by_side),
		cmocka_unit_test(an_update_of_another_console_is_told_where_there_is_no_plan),
		cmocka_unit_test(any_other_key_leaves_the_question_and_does_nothing_else),
		cmocka_unit_test(each_block_that_was_read_back_is_a_line_of_the_log),
		cmocka_unit_test(a_rollback_leaves_the_figures_on_a_small_screen),
		cmocka_unit_test(what_was_found_in_the_tables_read_afterwards_is_said),
		cmocka_unit_test(switches_are_called_what_all_of_them_are),
		cmocka_unit_test(a_simulated_update_cannot_be_left),
		cmocka_unit_test(lids_of_no_job_are_accepted_by_typing_it),
		cmocka_unit_test(slower_jobs_are_accepted_by_typing_it),
		cmocka_unit_test(hosts_of_one_name_are_accepted_by_typing_it),
		cmocka_unit_test(a_plan_of_the_automatic_mode_is_seen_in_all_views),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
