/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View K: what replay, failures or campaign has written into a folder. */
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/console_kit.h"
#include "views/data/lists/campaign_list.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };

static struct campaign_list *list;

static void make(struct console_kit *k, enum campaign_kind kind, uint32_t nway, uint32_t nstep)
{
	list = xcalloc(1, sizeof(*list));
	list->kind = kind;
	list->nway = nway;
	list->nstep = nstep;
	list->seeds = 10;
	list->serial = 1;
	snprintf(list->fabric, sizeof(list->fabric), "lab");
	snprintf(list->dir, sizeof(list->dir), "results/wear");
	snprintf(list->history, sizeof(list->history), "file jobs.csv");
	list->at = xcalloc(nstep, sizeof(*list->at));
	list->jobs = xcalloc(nstep, sizeof(*list->jobs));
	list->cell = xcalloc((size_t)nway * nstep, sizeof(*list->cell));
	for (size_t i = 0; i < (size_t)nway * nstep; i++)
		for (int f = 0; f < CAMPAIGN_FIGURES; f++)
			list->cell[i].figure[f] = NAN;
	k->s.campaign.list = list;
}

/* Two engines; the second one refuses the last step for some seeds. */
static void make_failures(struct console_kit *k)
{
	make(k, CAMPAIGN_FAILURES, 2, 3);
	list->opens = true;
	strcpy(list->way[0], "updn");
	strcpy(list->way[1], "nue:4");
	strcpy(list->why[1], "too few VLs");
	for (uint32_t i = 0; i < 6; i++) {
		struct campaign_cell *c = &list->cell[i];

		list->at[i % 3] = 2.0 * (i % 3);
		c->n = 10;
		c->good = i == 5 ? 7 : 10;
		c->seed = 3 + i;
		c->figure[CAMPAIGN_RETAINED] = 100 - 8.0 * (i % 3) - (i == 5 ? 40 : 0);
		c->figure[CAMPAIGN_LOW] = c->figure[CAMPAIGN_RETAINED] - 1;
		c->figure[CAMPAIGN_HIGH] = c->figure[CAMPAIGN_RETAINED] + 1;
		c->figure[CAMPAIGN_EBB] = 0.638 - 0.01 * i;
		c->figure[CAMPAIGN_VLS] = i / 3 ? 4 : 1;
		c->figure[CAMPAIGN_CUT] = 0.5 * (i % 3);
		c->figure[CAMPAIGN_ENTRIES] = i % 3 ? 1234 : NAN;
	}
}

static void make_replay(struct console_kit *k, uint32_t moments)
{
	make(k, CAMPAIGN_REPLAY, 2, moments);
	strcpy(list->way[0], "ftree");
	strcpy(list->way[1], "sar");
	for (uint32_t i = 0; i < 2 * moments; i++) {
		struct campaign_cell *c = &list->cell[i];
		uint32_t step = i % moments;

		list->at[step] = 1795168800 + 1800.0 * step;
		list->jobs[step] = step + 1;
		c->n = c->good = 1;
		c->adopted = i == moments + 1;
		c->figure[CAMPAIGN_TIME] = (i < moments ? 2.125 : 1.5) + 0.01 * step;
		c->figure[CAMPAIGN_WORST] = 4;
		c->figure[CAMPAIGN_BLOCKS] = c->adopted ? 17 : 0;
	}
}

static void open_view(struct console_kit *k)
{
	console_open(k, 80, 24);
	console_keys(k, "K");
	assert_int_equal(k->last.type, REQ_VIEW);
	assert_int_equal(k->last.view, VIEW_CAMPAIGN);
}

static void close_view(struct console_kit *k)
{
	campaign_list_free(list);
	list = NULL;
	console_close(k);
}

static void failures_and_replays_in_three_sizes(void **state)
{
	struct console_kit k;

	(void)state;
	setenv("TZ", "UTC0", 1);
	open_view(&k);
	make_failures(&k);
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "campaign-failures");
	}
	campaign_list_free(list);
	make_replay(&k, 48);
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "campaign-replay");
	}
	close_view(&k);
}

static void enter_asks_for_the_cell_of_the_seed_that_retains_least(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	make_failures(&k);
	console_keys(&k, "j");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_CELL);
	assert_string_equal(k.last.text, "4,updn,1");
	console_keys(&k, "G");
	console_shows(&k, "nue:4: too few VLs");
	console_key(&k, K_ENTER);
	assert_string_equal(k.last.text, "8,nue:4,2");
	list->opens = false;
	k.last.type = REQ_NONE;
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_NONE);
	console_shows(&k, "only cells of a folder of");
	close_view(&k);
}

static void rows_are_filtered_and_sorted(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	make_failures(&k);
	console_keys(&k, "!");
	console_shows(&k, "7 of 10");
	console_hides(&k, "10 of 10");
	console_keys(&k, "!");
	console_keys(&k, "/");
	console_keys(&k, "engine=updn");
	console_key(&k, K_ENTER);
	console_hides(&k, "7 of 10");
	close_view(&k);
}

static void a_replay_is_walked_moment_by_moment(void **state)
{
	struct console_kit k;

	(void)state;
	setenv("TZ", "UTC0", 1);
	open_view(&k);
	make_replay(&k, 8);
	console_shows(&k, "2026-11-20 10:00 (1 of 8), 1 job ");
	console_keys(&k, "]");
	assert_int_equal(k.last.type, REQ_MOMENT);
	assert_string_equal(k.last.text, "1");
	k.s.campaign.step = 1;
	console_size(&k, 80, 24);
	console_shows(&k, "2026-11-20 10:30 (2 of 8), 2 jobs");
	console_shows(&k, "1.510");
	console_keys(&k, "}");
	assert_string_equal(k.last.text, "6");
	k.s.campaign.step = 6;
	console_keys(&k, "}");
	assert_string_equal(k.last.text, "7");
	k.s.campaign.step = 1;
	console_keys(&k, "{");
	assert_string_equal(k.last.text, "0");
	close_view(&k);
}

static void what_is_not_there_is_said(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	console_shows(&k, ":campaign FOLDER opens what");
	strcpy(k.s.campaign.why, "here/cells.jsonl:3: no line of a campaign");
	console_size(&k, 80, 24);
	console_shows(&k, "here/cells.jsonl:3: no line of a campaign");
	console_keys(&k, "]");
	console_key(&k, K_ENTER);
	console_keys(&k, ":campaign /some/folder");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_CAMPAIGN);
	assert_string_equal(k.last.text, "/some/folder");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_and_replays_in_three_sizes),
		cmocka_unit_test(enter_asks_for_the_cell_of_the_seed_that_retains_least),
		cmocka_unit_test(rows_are_filtered_and_sorted),
		cmocka_unit_test(a_replay_is_walked_moment_by_moment),
		cmocka_unit_test(what_is_not_there_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
