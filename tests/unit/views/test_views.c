/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every screen in its sizes and moods: keys in, text out, against tests/screens. */
#include "tests/unit/kit/console_kit.h"

#include "fabric/model/topology/end_find.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };
static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

#define TREE "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3"

static void tree(struct console_kit *k, const uint32_t *with)
{
	console_open(k, 80, 24);
	console_fabric(k, TREE, with);
	console_event(k, LOG_INFO, "sweep", "27 switches and 162 hosts found in 0.4 s");
	console_event(k, LOG_WARN, "pma", "spine3/7 gave no reply to 3 polls");
	console_event(k, LOG_ERROR, "sm", "the subnet manager at LID 1 does not answer");
}

static void golden_sizes(struct console_kit *k, const char *name)
{
	for (int i = 0; i < 3; i++) {
		console_size(k, sizes[i][0], sizes[i][1]);
		console_golden(k, name);
	}
}

static void every_view_in_three_sizes(void **state)
{
	static const struct {
		const char *keys, *name;
	} views[] = { { "1", "overview" }, { "2", "heatmap" }, { "3", "links" },  { "5", "jobs" },
		      { "6", "preview" },  { "7", "apply" },   { "8", "events" }, { "?", "help" } };
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_preview(&k, "sar");
	k.s.recording = true;
	k.s.rec_s = 761;
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		console_keys(&k, views[i].keys);
		golden_sizes(&k, views[i].name);
	}
	console_close(&k);
}

/* Far below 80x24: rows, cells and figures go before the details beside them. */
static void a_very_small_screen_shows_rows_first(void **state)
{
	static const struct {
		const char *keys, *shown;
	} views[] = { { "2", "leaf x spine" },	  { "2", ">leaf" },	   { "3", "rows 1-4 of" },
		      { "4", "rows 1-4 of" },	  { "5", "rows 1-3 of" },  { "8", "23:19:03 warn" },
		      { "6", "mean job time x" }, { "6\t", "up to date" }, { "t", "tree of 2" } };
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_keys(&k, "6");
	console_size(&k, 40, 10);
	console_shows(&k, "sar      job-aware");
	console_preview(&k, "sar");
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		console_keys(&k, views[i].keys);
		console_shows(&k, views[i].shown);
		console_hides(&k, "rows 1-0");
	}
	console_close(&k);
}

static void without_a_fabric_every_view_says_so(void **state)
{
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_golden(&k, "empty");
	console_keys(&k, "2");
	console_shows(&k, "no fabric yet");
	console_keys(&k, "3");
	console_shows(&k, "no fabric yet");
	console_keys(&k, "5");
	console_shows(&k, "no jobs known");
	console_keys(&k, "6 ");
	console_shows(&k, "no fabric yet");
	console_keys(&k, "7");
	console_shows(&k, "This console is read-only");
	k.s.rw = true;
	console_shows(&k, "No plan");
	k.s.poll.discovering = true;
	k.s.poll.found_sw = 12;
	console_keys(&k, "1");
	console_shows(&k, "12 switches and 0 hosts so far");
	console_close(&k);
}

static void no_screen_overflows_whatever_its_size(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_preview(&k, "sar");
	console_plan(&k);
	for (int w = 1; w < 240; w += 13) {
		for (int h = 1; h < 70; h += 7) {
			console_size(&k, w, h);
			for (const char *v = "1234567890t"; *v; v++) {
				char key[2] = { *v, 0 }, *text;

				console_keys(&k, key);
				text = console_screen(&k);
				assert_non_null(text);
				free(text);
			}
		}
	}
	console_close(&k);
}

static void read_only_hides_what_changes_the_fabric(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_preview(&k, "sar");
	console_size(&k, 200, 24);
	console_keys(&k, "6");
	console_hides(&k, "A apply");
	console_keys(&k, "A");
	console_shows(&k, "read-only");
	assert_int_equal(k.last.type, REQ_VIEW);
	console_plan(&k);
	console_keys(&k, "7");
	console_hides(&k, "R roll back");
	console_key(&k, K_ENTER);
	console_shows(&k, "read-only");
	console_keys(&k, "hpc1");
	console_key(&k, K_ENTER);
	console_keys(&k, "RY");
	assert_int_equal(k.last.type, REQ_VIEW);
	console_keys(&k, "?");
	console_hides(&k, "to start an update, and to confirm it");
	k.s.rw = true;
	console_keys(&k, "?6");
	console_shows(&k, "A apply");
	console_close(&k);
}

static void frozen_and_lost_are_loud(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	k.s.mode = RUN_FROZEN;
	console_golden(&k, "frozen");
	assert_int_equal(k.c->cell[1].role, ROLE_LOUD);
	assert_int_equal(k.c->cell[60].role, ROLE_LOUD);
	k.s.mode = RUN_LOST;
	snprintf(k.s.lost_why, sizeof(k.s.lost_why), "mlx5_0/1 is down");
	k.s.sm.lost = true;
	console_golden(&k, "lost");
	console_close(&k);
}

/* The real ones are in fabric/base/text/test_short_names.c; what is shown is taken, too. */
static void switches_are_named_without_what_vendors_add(void **state)
{
	struct console_kit k;
	char vendor[] = "MF0;leaf17:MQM9700/U1", shown[] = "leaf17", buf[NAME_LEN];
	struct err err;
	uint32_t end;
	uint16_t lid;

	(void)state;
	tree(&k, jobs);
	assert_string_equal(switch_label(buf, sizeof(buf), k.fabric, 0), k.fabric->sw_name[0]);
	for (uint32_t sw = 1; sw < k.fabric->nsw; sw++)
		if (!strcmp(k.fabric->sw_name[sw], shown))
			k.fabric->sw_name[sw] = k.fabric->sw_short[sw] = vendor + 1;
	k.fabric->sw_name[0] = vendor;
	k.fabric->sw_short[0] = shown;
	assert_string_equal(switch_label(buf, sizeof(buf), k.fabric, 0), "leaf17");
	assert_int_equal(end_find(&end, &lid, k.fabric, "leaf17", &err), 0);
	assert_int_equal(end, k.fabric->nend);
	assert_int_equal(end_find(&end, &lid, k.fabric, vendor, &err), 0);
	assert_int_equal(end, k.fabric->nend);
	console_close(&k);
}

static void troubles_are_named(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_no_reply(&k, 17);
	k.s.poll.partial = true;
	console_shows(&k, "PARTIAL: 473 of 474 ports responded");
	k.s.jobs_source.state = JOBS_UNREACHABLE;
	snprintf(k.s.jobs_source.sentence, sizeof(k.s.jobs_source.sentence),
		 "slurmctld on adm1 does not answer since 23:10");
	console_golden(&k, "troubles");
	k.s.poll.partial = false;
	k.s.poll.stale = true;
	console_shows(&k, "COUNTERS STALE: ");
	k.s.poll.stale = false;
	k.s.poll.missing_sw = 9;
	k.s.poll.missing_ca = 81;
	console_shows(&k, "sw 27/36  hosts 162/243");
	console_shows(&k, "missing since the last sweep: 9 switches, 81 hosts");
	console_keys(&k, "3!");
	console_golden(&k, "links-problems");
	console_keys(&k, "5");
	console_shows(&k, "slurmctld on adm1 does not answer");
	console_shows(&k, "the list is ");
	console_close(&k);
}

static void without_jobs_and_rates_figures_are_dashes(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, NULL);
	console_file(&k);
	k.s.history = NULL;
	k.s.poll.asked = k.s.poll.answered = 0;
	console_golden(&k, "file");
	console_keys(&k, "2");
	console_golden(&k, "heatmap-file");
	console_keys(&k, "3");
	console_golden(&k, "links-file");
	console_close(&k);
}

static void only_the_typed_name_starts_and_keeps_an_update(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_preview(&k, "sar");
	console_plan(&k);
	k.s.rw = true;
	console_keys(&k, "7");
	console_golden(&k, "apply-ready");
	console_keys(&k, "yY ");
	assert_int_equal(k.last.type, REQ_VIEW);
	console_key(&k, K_ENTER);
	console_keys(&k, "hpc2");
	console_key(&k, K_ENTER);
	console_shows(&k, "not the name of this fabric");
	assert_int_equal(k.last.type, REQ_VIEW);
	console_key(&k, K_ENTER);
	console_keys(&k, "hpc1");
	console_golden(&k, "apply-typing");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_APPLY_START);
	assert_string_equal(k.last.text, "hpc1");
	k.s.apply.state = APPLY_CONFIRM;
	console_key(&k, K_ENTER);
	console_keys(&k, "hpc1");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_APPLY_KEEP);
	console_close(&k);
}

static void a_name_begun_before_the_update_moved_on_does_nothing(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_preview(&k, "sar");
	console_plan(&k);
	k.s.rw = true;
	console_keys(&k, "7");
	console_key(&k, K_ENTER);
	console_keys(&k, "hpc");
	k.s.apply.state = APPLY_CONFIRM;
	assert_false(shell_typing(k.shell, &k.s));
	console_keys(&k, "1");
	console_key(&k, K_ENTER);
	assert_int_not_equal(k.last.type, REQ_APPLY_KEEP);
	assert_int_not_equal(k.last.type, REQ_APPLY_START);
	console_close(&k);
}

static void rollback_takes_two_different_keys(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_preview(&k, "sar");
	console_plan(&k);
	k.s.rw = true;
	k.s.apply.state = APPLY_CONFIRM;
	k.s.apply.done = k.s.apply.total = 312;
	for (int i = 0; i < 5; i++) {
		k.s.apply.steps[i].state = STEP_DONE;
		k.s.apply.steps[i].took_s = 1.5 * i + 0.3;
		snprintf(k.s.apply.steps[i].text, sizeof(k.s.apply.steps[i].text),
			 "step %d came to its end", i + 1);
	}
	k.s.apply.steps[5].state = STEP_RUNNING;
	console_keys(&k, "7Y");
	assert_int_equal(k.last.type, REQ_VIEW);
	console_keys(&k, "R");
	console_shows(&k, "Y: yes");
	console_keys(&k, "R"); /* leaves the question, as any key but Y */
	assert_int_equal(k.last.type, REQ_VIEW);
	console_keys(&k, "Rq");
	assert_int_equal(k.last.type, REQ_VIEW);
	console_keys(&k, "Y");
	assert_int_equal(k.last.type, REQ_VIEW);
	console_keys(&k, "R");
	console_golden(&k, "apply-rollback");
	console_keys(&k, "Y");
	assert_int_equal(k.last.type, REQ_APPLY_ROLLBACK);
	console_close(&k);
}

static void a_journal_found_offers_rollback(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	k.s.rw = true;
	k.s.apply.state = APPLY_JOURNAL;
	snprintf(k.s.apply.journal, sizeof(k.s.apply.journal),
		 "update 20261120T231951Z-4711 by ana was killed after 120 of 312 blocks");
	console_keys(&k, "7");
	console_golden(&k, "apply-journal");
	console_keys(&k, "xRY");
	assert_int_equal(k.last.type, REQ_APPLY_ROLLBACK);
	console_close(&k);
}

static void links_sort_filter_and_keep_the_cursor(void **state)
{
	struct console_kit k;
	uint32_t chan;

	(void)state;
	tree(&k, jobs);
	console_keys(&k, "3/");
	assert_true(shell_typing(k.shell, &k.s));
	console_keys(&k, "util>50 leaf");
	console_key(&k, K_ENTER);
	console_shows(&k, "filter: util>50");
	console_key(&k, K_ESC);
	console_shows(&k, "filter: none");
	console_keys(&k, "jjj");
	/* new figures arrive: the row under the cursor stays */
	chan = 0;
	for (uint32_t c = 0; c < k.fabric->nchan; c++)
		if (k.metrics->efi[c] == k.metrics->efi_max)
			chan = c;
	shell_context(k.shell)->chan = chan;
	console_no_reply(&k, 3);
	console_shows(&k, "sorting paused");
	k.s.now_s += 60;
	console_hides(&k, "sorting paused");
	console_keys(&k, ":sort eff\r");
	console_shows(&k, "Links by job EFI");
	console_keys(&k, "S");
	console_shows(&k, "(reversed)");
	console_close(&k);
}

static void heatmap_metrics_and_layouts(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_preview(&k, "sar");
	console_keys(&k, "2c");
	console_golden(&k, "heatmap-delta");
	console_keys(&k, "cmm");
	console_shows(&k, "EFI");
	console_keys(&k, "o");
	console_golden(&k, "heatmap-down");
	console_keys(&k, "vjjlll");
	console_golden(&k, "heatmap-square");
	console_keys(&k, "z");
	console_golden(&k, "heatmap-zoom");
	console_close(&k);
}

static void a_link_chosen_in_one_view_is_chosen_in_the_others(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_keys(&k, "2jl");
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	console_shows(&k, "> ");
	console_golden(&k, "links-from-heatmap");
	console_key(&k, K_ESC);
	assert_int_equal(shell_view(k.shell), VIEW_HEATMAP);
	console_close(&k);
}

static int row_with(struct console_kit *k, const char *text)
{
	char *screen = console_screen(k), *at = strstr(screen, text);
	int y = 0;

	assert_non_null(at);
	for (const char *c = screen; c < at; c++)
		y += *c == '\n';
	free(screen);
	return y;
}

/* Not while it would be typed, nor below a menu. */
static void hints_in_panes_are_keys_for_the_mouse(void **state)
{
	struct console_kit k;
	int y;

	(void)state;
	tree(&k, jobs);
	console_keys(&k, "6");
	y = row_with(&k, " Space or Enter: compute a");
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 1, y), ' ');
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 10, y), K_ENTER);
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 2, y + 1), ' ');
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 40, y), 0);
	console_keys(&k, ":");
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 1, y), 0);
	console_key(&k, K_ESC);
	console_close(&k);
}

static void hints_of_typing_are_keys_for_the_mouse(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_keys(&k, "0e");
	console_shows(&k, " Enter done  Esc cancel  Ctrl-U clear");
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 0, 22), 0);
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 1, 22), K_ENTER);
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 10, 22), K_ENTER);
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 11, 22), 0);
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 13, 22), K_ESC);
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 25, 22), K_CTRL('u'));
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 60, 22), 0);
	assert_int_equal(shell_key_at(k.shell, k.c, &k.s, 1, 21), 0);
	console_key(&k, K_ESC);
	console_close(&k);
}

/* Not for what was chosen by its number, nor while Esc ends something else first. */
static void the_last_line_tells_where_esc_leads(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_keys(&k, "23");
	console_hides(&k, "Esc: ");
	console_keys(&k, "2jl");
	console_key(&k, K_ENTER);
	console_shows(&k, "Esc: Heatmap");
	console_keys(&k, "/leaf");
	console_hides(&k, "Esc: Heatmap");
	console_key(&k, K_ENTER);
	console_hides(&k, "Esc: Heatmap");
	console_key(&k, K_ESC); /* the filter */
	console_shows(&k, "Esc: Heatmap");
	console_key(&k, K_ESC);
	assert_int_equal(shell_view(k.shell), VIEW_HEATMAP);
	console_hides(&k, "Esc: ");
	console_keys(&k, "4");
	console_key(&k, K_ENTER);
	console_shows(&k, "Esc: all switches");
	console_key(&k, K_ESC);
	console_hides(&k, "Esc: all switches");
	assert_int_equal(shell_view(k.shell), VIEW_SWITCHES);
	console_close(&k);
}

static void hyperx_and_three_levels_have_their_layouts(void **state)
{
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_fabric(&k, "hyperx:dims=6x4,hosts=4", jobs);
	console_keys(&k, "2");
	console_golden(&k, "heatmap-hyperx");
	console_keys(&k, "v");
	console_shows(&k, "HyperX dimension 2 of 2");
	console_close(&k);
	console_open(&k, 80, 24);
	console_fabric(&k, "kary:k=4,n=3,hosts=4", jobs);
	console_golden(&k, "overview-kary");
	console_keys(&k, "2");
	console_golden(&k, "heatmap-kary");
	console_close(&k);
}

/* At 80 columns the keys that end them are there, too, and no word is cut. */
static void reading_and_computing_are_told_side_by_side(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	k.s.poll.missing_sw = k.s.poll.missing_ca = 0;
	k.s.poll.answered = k.s.poll.asked;
	snprintf(k.s.work, sizeof(k.s.work),
		 "preview by dfsssp: 2 of 5, verifying 45 %%, 12.0k/s, 3.1 s left");
	console_size(&k, 110, 30);
	console_shows(&k, "dfsssp: 2 of 5, verifying 45 %, 12.0k/s, 3.1 s left; Ctrl-X stops it");
	console_size(&k, 80, 24); /* no room for the rate */
	console_shows(&k, "preview by dfsssp: verifying 45 %, 3.1 s left (Ctrl-X)");
	k.s.poll.tables_on = true;
	k.s.poll.tables_done = 740000;
	k.s.poll.tables_total = 2000000;
	snprintf(k.s.poll.tables_pace, sizeof(k.s.poll.tables_pace),
		 "read SL2VL 37 %%, 92.0k/s, 13.7 s left");
	console_shows(&k, "read SL2VL 37 % (Esc)  preview by dfsssp (Ctrl-X)");
	console_size(&k, 200, 60);
	console_shows(
		&k,
		"read SL2VL 37 %, 740k of 2.0M, 92.0k/s, 13.7 s left; Esc stops it  preview by dfsssp: 2 of 5, verifying 45 %, 12.0k/s, 3.1 s left; Ctrl-X stops it");
	console_size(&k, 80, 24);
	snprintf(k.s.work, sizeof(k.s.work), "metrics: 2 of 2, verifying 45 %%, 3.1 s left");
	console_shows(&k, "read SL2VL 37 % (Esc)  metrics: verifying 45 % (Ctrl-X)");
	k.s.poll.tables_on = false;
	k.s.poll.tables_ended = true;
	console_shows(&k, "SL2VL not read (M)  metrics: verifying 45 % (Ctrl-X)");
	k.s.poll.answered = 0;
	k.s.poll.partial = true;
	console_shows(&k, "PARTIAL: 0 of");
	console_shows(&k, "metrics (Ctrl-X)");
	console_close(&k);
}

/* LFTs are known, and what follows from them; of VLs and deadlocks no word yet. */
static void without_sl2vl_no_view_speaks_of_lanes_or_deadlocks(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_size(&k, 100, 30);
	tables_sl2vl_form(k.tables, SL2VL_UNREAD, k.fabric);
	k.s.verdict = NULL;
	k.s.usage = NULL;
	k.s.sls_known = false;
	k.s.poll.missing_sw = k.s.poll.missing_ca = 0;
	k.s.poll.answered = k.s.poll.asked;
	k.s.poll.tables_on = true;
	k.s.poll.tables_done = 740000;
	k.s.poll.tables_total = 2000000;
	snprintf(k.s.poll.tables_pace, sizeof(k.s.poll.tables_pace),
		 "read SL2VL 37 %%, 92.0k/s, 13.7 s left");
	console_shows(&k, "unverified: SL2VL not read yet (37 %)");
	console_shows(&k, "read SL2VL 37 %, 740k of 2.0M, 92.0k/s, 13.7 s left; Esc stops it");
	console_size(&k, 80, 24); /* no room for counts */
	console_shows(&k, "read SL2VL 37 %, 92.0k/s, 13.7 s left; Esc stops it");
	console_size(&k, 100, 30);
	console_shows(&k, "hops 1.90");
	console_hides(&k, "no deadlock");
	console_keys(&k, "3\n");
	console_hides(&k, "VL0");
	console_keys(&k, "4\n\t\t");
	console_shows(&k, "SL2VL not read yet (37 %)");
	console_hides(&k, "identity");
	console_keys(&k, "\t");
	console_shows(&k, "SL2VL not read yet (37 %)");
	k.s.poll.tables_on = false;
	k.s.poll.tables_ended = true;
	console_shows(&k, "SL2VL not read (M)");
	console_shows(&k, "SL2VL not read: unverified, no VLs; M continues");
	console_keys(&k, "1");
	console_shows(&k, "unverified: SL2VL not read (M)");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_view_in_three_sizes),
		cmocka_unit_test(a_very_small_screen_shows_rows_first),
		cmocka_unit_test(without_a_fabric_every_view_says_so),
		cmocka_unit_test(reading_and_computing_are_told_side_by_side),
		cmocka_unit_test(without_sl2vl_no_view_speaks_of_lanes_or_deadlocks),
		cmocka_unit_test(no_screen_overflows_whatever_its_size),
		cmocka_unit_test(read_only_hides_what_changes_the_fabric),
		cmocka_unit_test(frozen_and_lost_are_loud),
		cmocka_unit_test(switches_are_named_without_what_vendors_add),
		cmocka_unit_test(troubles_are_named),
		cmocka_unit_test(without_jobs_and_rates_figures_are_dashes),
		cmocka_unit_test(only_the_typed_name_starts_and_keeps_an_update),
		cmocka_unit_test(a_name_begun_before_the_update_moved_on_does_nothing),
		cmocka_unit_test(rollback_takes_two_different_keys),
		cmocka_unit_test(a_journal_found_offers_rollback),
		cmocka_unit_test(links_sort_filter_and_keep_the_cursor),
		cmocka_unit_test(heatmap_metrics_and_layouts),
		cmocka_unit_test(a_link_chosen_in_one_view_is_chosen_in_the_others),
		cmocka_unit_test(hints_in_panes_are_keys_for_the_mouse),
		cmocka_unit_test(hints_of_typing_are_keys_for_the_mouse),
		cmocka_unit_test(the_last_line_tells_where_esc_leads),
		cmocka_unit_test(hyperx_and_three_levels_have_their_layouts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
