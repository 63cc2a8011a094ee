/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View W: what the failure of each cable and switch would cost. */
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/console_kit.h"
#include "views/data/row_notes.h"
#include "views/data/lists/weak_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };

static struct weak_list *list;

static void open_view(struct console_kit *k)
{
	static const uint32_t jobs[] = { 16, 8, 8, 4, 0 };

	console_open(k, 80, 24);
	console_fabric(k, "xgft:h=2,m=4x6,w=1x2", jobs);
	console_keys(k, "W");
	assert_int_equal(k->last.type, REQ_VIEW);
	assert_int_equal(k->last.view, VIEW_WEAK);
}

/* Two of the worst are made worse. */
static void find(struct console_kit *k)
{
	struct engine_params params = { .threads = 1, .current = k->tables };
	struct weak_opts opts = { .cables = true, .switches = true };
	struct err err;

	list = xcalloc(1, sizeof(*list));
	list->fabric = fabric_get(k->fabric);
	list->tables = tables_get(k->tables);
	list->serial = 1;
	assert_int_equal(weak_find(&list->report, k->fabric, &params, &opts, NULL, &err), 0);
	list->report->part[0].end = WEAK_CUT;
	list->report->part[0].hosts = 4;
	list->report->part[1].end = WEAK_REROUTED;
	k->s.weak.list = list;
}

static void close_view(struct console_kit *k)
{
	weak_list_free(list);
	list = NULL;
	console_close(k);
}

static void command(struct console_kit *k, const char *line)
{
	console_keys(k, ":");
	console_keys(k, line);
	console_key(k, K_ENTER);
}

static void parts_with_a_note_are_marked(void **state)
{
	struct row_notes all = { 0 };
	struct row_note n = { .time_s = 1, .text = "wobbly" };
	struct console_kit k;

	(void)state;
	open_view(&k);
	find(&k);
	k.s.row_notes = &all;
	console_hides(&k, "wobbly");
	for (uint32_t i = 0; i < list->report->n; i++) {
		const struct weak_part *p = &list->report->part[i];

		if (p->chan == FAB_NONE)
			note_subject_switch(&n.on, k.fabric, p->sw);
		else
			note_subject_port(&n.on, k.fabric, k.fabric->chan_src[p->chan],
					  k.fabric->chan_port[p->chan]);
		assert_true(row_notes_put(&all, &n));
	}
	console_shows(&k, "note: wobbly");
	console_shows(&k, "> \"");
	k.s.row_notes = NULL;
	row_notes_done(&all);
	close_view(&k);
}

static void the_worst_comes_first_in_three_sizes(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	find(&k);
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "weak");
	}
	console_size(&k, 80, 24);
	console_keys(&k, "G");
	console_shows(&k, "LFT entries change");
	close_view(&k);
}

static void enter_goes_to_what_would_fail(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	find(&k);
	assert_int_equal(list->report->part[0].end, WEAK_CUT);
	command(&k, "filter kind=cable");
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	console_keys(&k, "W");
	command(&k, "filter kind=switch");
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_SWITCHES);
	console_hides(&k, "[WWeak");
	close_view(&k);
}

static void rows_are_filtered_and_sorted(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	find(&k);
	console_keys(&k, "!");
	console_shows(&k, "(without a repair only)");
	console_shows(&k, "cut off");
	console_hides(&k, "repaired");
	console_keys(&k, "!");
	command(&k, "weak entries>0");
	console_shows(&k, "repaired");
	console_hides(&k, "cut off");
	command(&k, "sort entries");
	console_shows(&k, "by LFT entries");
	close_view(&k);
}

static void what_is_not_there_yet_is_said(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	console_shows(&k, "r: find what the failure of each cable and switch would cost");
	console_keys(&k, "r");
	assert_int_equal(k.last.type, REQ_WEAK);
	k.s.weak.busy = true;
	snprintf(k.s.weak.step, sizeof(k.s.weak.step), "failures 40 %%");
	console_shows(&k, "failing each cable and switch once: failures 40 %");
	k.s.weak.busy = false;
	snprintf(k.s.weak.why, sizeof(k.s.weak.why), "installed paths can deadlock");
	console_shows(&k, "installed paths can deadlock");
	find(&k);
	k.s.weak.busy = true;
	console_shows(&k, "(again: failures 40 %)");
	k.s.weak.busy = false;
	k.s.tables = k.plan ? k.plan : k.s.tables;
	console_keys(&k, "jGk");
	k.s.tables = NULL;
	console_shows(&k, "If it fails");
	close_view(&k);
}

static void other_tables_make_it_old(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	find(&k);
	console_hides(&k, "of earlier tables");
	console_preview(&k, "sar");
	k.s.tables = k.plan;
	console_shows(&k, "of earlier tables");
	k.s.tables = k.tables;
	close_view(&k);
}

static void no_size_is_too_small(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	for (int w = 1; w < 130; w += 7) {
		console_size(&k, w, w / 2 + 1);
		free(console_screen(&k));
	}
	find(&k);
	for (int w = 1; w < 130; w += 7) {
		console_size(&k, w, w / 2 + 1);
		free(console_screen(&k));
	}
	close_view(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worst_comes_first_in_three_sizes),
		cmocka_unit_test(parts_with_a_note_are_marked),
		cmocka_unit_test(enter_goes_to_what_would_fail),
		cmocka_unit_test(rows_are_filtered_and_sorted),
		cmocka_unit_test(what_is_not_there_yet_is_said),
		cmocka_unit_test(other_tables_make_it_old),
		cmocka_unit_test(no_size_is_too_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
