/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tour: it follows what is done, and presses nothing. */
#include "tests/unit/kit/console_kit.h"

#include "console/app/terminal/key_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void begin(struct console_kit *k, int w, int h)
{
	static const uint32_t jobs[] = { 8, 6, 4, 0 };

	console_open(k, w, h);
	console_fabric(k, "fattree2:leaves=4,spines=2,hosts=5", jobs);
	k->s.rw = true;
	shell_tour_begin(k->shell);
}

/* As far as the plan in view 7. */
static void as_far_as_the_update(struct console_kit *k)
{
	console_keys(k, "5\r236");
	console_shows(k, "Tour 6 of 14");
	console_preview(k, "sar");
	console_shows(k, "Tour 7 of 14");
	console_keys(k, "J");
	console_plan(k);
	console_keys(k, "7");
}

static void each_step_is_done_by_what_it_says(void **state)
{
	struct console_kit k;

	(void)state;
	begin(&k, 80, 24);
	console_golden(&k, "tour-begin");
	console_keys(&k, "5");
	console_shows(&k, "Tour 2 of 14: the jobs");
	console_shows(&k, "'slowdown' is"); /* as its column is called */
	console_shows(&k, "slowdown\n");
	console_keys(&k, "j"); /* whatever else is pressed */
	console_shows(&k, "Tour 2 of 14");
	console_keys(&k, "\r");
	console_shows(&k, "Tour 3 of 14");
	console_keys(&k, "2");
	console_shows(&k, "Tour 4 of 14");
	console_keys(&k, "3");
	console_shows(&k, "Tour 5 of 14");
	console_keys(&k, "6");
	console_shows(&k, "Tour 6 of 14");
	console_preview(&k, "sar");
	console_shows(&k, "Tour 7 of 14");
	console_keys(&k, "J");
	console_shows(&k, "Tour 8 of 14");
	console_plan(&k);
	console_keys(&k, "7");
	console_shows(&k, "Tour 9 of 14");
	console_shows(&k, " 5 CONFIRM "); /* there is room for all phases */
	k.s.apply.state = APPLY_RUNNING;
	console_shows(&k, "Tour 10 of 14");
	k.s.apply.state = APPLY_CONFIRM;
	console_shows(&k, "Tour 11 of 14");
	console_golden(&k, "tour-confirm");
	/* no head of figures where there is no room for one */
	snprintf(k.s.apply.effect, sizeof(k.s.apply.effect),
		 "after 24 of 30 samples: slowest job 1166: 37.2 -> 57.7 GB/s (+55%%; predicted "
		 "+55%%: 38 -> 59%% of full rate); 17 jobs: 1187 -> 1414 GB/s (+19%%; predicted "
		 "+19%%); most gained job 1151: 18.2 -> 36.0 GB/s (+98%%)");
	console_shows(&k, "most gained job 1151");
	console_hides(&k, "before");
	k.s.apply.effect[0] = '\0';
	k.s.apply.state = APPLY_KEPT;
	console_shows(&k, "Tour 12 of 14");
	k.s.apply.measured = true;
	console_shows(&k, "Tour 13 of 14");
	console_keys(&k, "9");
	console_shows(&k, "Tour 14 of 14");
	console_keys(&k, "1"); /* the last one stays */
	console_shows(&k, "The tour continues in view 9: press 9.");
	console_close(&k);
}

static void whoever_goes_elsewhere_is_told_the_way_back(void **state)
{
	struct console_kit k;

	(void)state;
	begin(&k, 80, 24);
	console_keys(&k, "54");
	console_shows(&k, "The tour continues in view 5: press 5.");
	console_keys(&k, "5\r");
	console_shows(&k, "Tour 3 of 14");
	console_close(&k);
}

static void esc_ends_it_at_each_step(void **state)
{
	static const char *const keys[] = { "", "5", "5\r", "5\r2", "5\r23", "5\r236" };
	struct console_kit k;

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		begin(&k, 80, 24);
		console_keys(&k, keys[i]);
		console_shows(&k, "(Esc: leave)");
		console_key(&k, K_ESC);
		console_hides(&k, "Tour ");
		console_shows(&k, "the tour has ended");
		console_close(&k);
	}
}

/* What is open is closed first. */
static void esc_in_a_prompt_is_the_prompts(void **state)
{
	struct console_kit k;

	(void)state;
	begin(&k, 80, 24);
	console_keys(&k, ":so");
	console_key(&k, K_ESC);
	console_shows(&k, "Tour 1 of 14");
	console_key(&k, K_F2);
	console_key(&k, K_ESC);
	console_shows(&k, "Tour 1 of 14");
	console_key(&k, K_ESC);
	console_hides(&k, "Tour ");
	console_close(&k);
}

static void an_update_that_did_not_last_leads_back(void **state)
{
	static const enum apply_state ends[] = { APPLY_ROLLED_BACK, APPLY_FAILED, APPLY_REFUSED,
						 APPLY_NONE };
	struct console_kit k;

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		begin(&k, 80, 24);
		as_far_as_the_update(&k);
		console_shows(&k, "Tour 9 of 14");
		k.s.apply.state = APPLY_CONFIRM;
		console_shows(&k, "Tour 11 of 14");
		k.s.apply.state = ends[i];
		console_shows(&k, "Tour 7 of 14");
		console_shows(&k, "The tour continues in view 6: press 6.");
		console_close(&k);
	}
}

static void a_plan_that_is_discarded_is_computed_again(void **state)
{
	struct console_kit k;

	(void)state;
	begin(&k, 80, 24);
	console_keys(&k, "5\r236");
	console_preview(&k, "sar");
	console_keys(&k, "J");
	console_shows(&k, "Tour 8 of 14");
	k.s.preview.n = 0;
	k.s.preview.state = PREVIEW_IDLE;
	console_shows(&k, "Tour 6 of 14");
	console_close(&k);
}

static void it_names_the_keys_in_force(void **state)
{
	static const struct key_choice c[] = { { "impact", "F7", NULL }, { "sort", "F8", NULL } };
	struct console_kit k;
	struct err err;

	(void)state;
	assert_int_equal(key_choices_use(c, 2, &err), 0);
	begin(&k, 120, 30);
	console_keys(&k, "5\r23");
	console_shows(&k, "F8 sorts");
	console_keys(&k, "6");
	console_preview(&k, "sar");
	console_shows(&k, "Press F7: what each job");
	console_key(&k, K_F7);
	console_shows(&k, "Tour 8 of 14");
	console_close(&k);
	assert_int_equal(key_choices_use(NULL, 0, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_step_is_done_by_what_it_says),
		cmocka_unit_test(whoever_goes_elsewhere_is_told_the_way_back),
		cmocka_unit_test(esc_ends_it_at_each_step),
		cmocka_unit_test(esc_in_a_prompt_is_the_prompts),
		cmocka_unit_test(an_update_that_did_not_last_leads_back),
		cmocka_unit_test(a_plan_that_is_discarded_is_computed_again),
		cmocka_unit_test(it_names_the_keys_in_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
