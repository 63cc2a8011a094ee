/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which values of an option are worth a try. */
#include "views/data/state/option_values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void are(enum param_id id, const struct preview_options *o, const char *texts)
{
	uint64_t v[OPTION_VALUES];
	uint32_t n = option_values(v, param_of(id), o, NULL);
	char all[200] = "", one[40];

	for (uint32_t i = 0; i < n; i++) {
		strcat(all, i ? " " : "");
		strcat(all, option_values_text(one, sizeof(one), param_of(id), v[i]));
	}
	assert_string_equal(all, texts);
}

static void the_usual_ones_and_that_of_now_in_order(void **state)
{
	struct preview_options o = { .params = { .seed = 1 } };

	(void)state;
	are(PARAM_VLS, &o, "default 1 2 4 8");
	are(PARAM_SPREAD, &o, "no yes");
	are(PARAM_SAR_METHOD, &o, "time leafwise paper patch");
	are(PARAM_SAR_CHANGE, &o, "default 10% 25% 50% 100%");
	o.params.vls = 3;
	are(PARAM_VLS, &o, "default 1 2 3 4 8");
	o.params.vls = 15;
	are(PARAM_VLS, &o, "default 1 2 4 8 15");
	o.params.seed = 77;
	are(PARAM_SEED, &o, "1 2 3 4 77");
	o.params.seed = 0;
	are(PARAM_SEED, &o, "0 1 2 3 4");
}

static void none_where_nothing_can_be_guessed_or_depends_on_it(void **state)
{
	struct preview_options o = { .params = { .seed = 1 } };
	const struct param *all;
	size_t n;

	(void)state;
	are(PARAM_THREADS, &o, "");
	are(PARAM_LMC, &o, "");
	are(PARAM_ESCAPE, &o, ""); /* no fabric with more LIDs than one */
	all = param_all(&n);
	for (size_t i = 0; i < n; i++)
		if (all[i].id < PARAM_TEXTS)
			are(all[i].id, &o, "");
}

/* Each that is offered can be set, and is what it says then. */
static void all_can_be_set(void **state)
{
	struct preview_options o = { .params = { .seed = 1 } };
	const struct fabric many = { .lmc = 1 };
	const struct param *all;
	uint64_t v[OPTION_VALUES];
	size_t n, tried = 0;

	(void)state;
	all = param_all(&n);
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = option_values(v, &all[i], &o, &many); k-- > 0; tried++) {
			struct preview_options with = o;

			option_values_set(&with, &all[i], v[k]);
			assert_true(param_value(&with.params, &all[i]) == v[k]);
		}
	assert_true(tried > 20);
}

/* In the form, where there is room for so much of a line. */
static void each_option_of_the_form_says_what_it_is_good_for(void **state)
{
	const struct param *all;
	size_t n;

	(void)state;
	all = param_all(&n);
	for (size_t i = 0; i < n; i++)
		if (all[i].label)
			assert_in_range(strlen(all[i].gain), 10, 46);
}

static void results_are_found_by_engine_and_all_options(void **state)
{
	struct option_result list[3] = { { .engine = 2 }, { .engine = 2 }, { .engine = 1 } };
	struct preview_options o = { .params = { .seed = 1, .vls = 4, .threads = 3 } };

	(void)state;
	for (int i = 0; i < 3; i++)
		list[i].options.params.seed = 1;
	list[1].options.params.vls = 4;
	assert_ptr_equal(option_result_find(list, 3, 2, &o), &list[1]); /* whatever the threads */
	assert_null(option_result_find(list, 3, 1, &o));
	assert_null(option_result_find(list, 1, 2, &o));
	o.params.vls = 0;
	assert_ptr_equal(option_result_find(list, 3, 2, &o), &list[0]);
	strcpy(o.text[PARAM_EXCLUDE], "spine1");
	assert_null(option_result_find(list, 3, 2, &o));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_usual_ones_and_that_of_now_in_order),
		cmocka_unit_test(none_where_nothing_can_be_guessed_or_depends_on_it),
		cmocka_unit_test(all_can_be_set),
		cmocka_unit_test(each_option_of_the_form_says_what_it_is_good_for),
		cmocka_unit_test(results_are_found_by_engine_and_all_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
