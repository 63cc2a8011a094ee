/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of an option are tried in the background: results without plans. */
#include "tests/unit/kit/app_kit.h"

#include "fabric/base/time/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SPEC "fattree2:leaves=6,spines=3,hosts=6"

static uint32_t engine_at(const struct app *a, const char *name)
{
	for (uint32_t i = 0; i < a->state.preview.nengines; i++)
		if (!strcmp(a->state.preview.engines[i].engine->name, name))
			return i;
	fail_msg("no engine %s", name);
	return 0;
}

/* As the form asks for it. */
static void try_values(struct app *a, const char *engine, enum param_id id)
{
	struct request r = { .type = REQ_OPTION_TRY,
			     .engine = engine_at(a, engine),
			     .options = { .params = { .seed = 1 } },
			     .param = id };

	app_options_try(a, &r);
}

static void await_trial(struct app *a)
{
	double end = clock_s() + 60;

	while (a->state.preview.trial.on && clock_s() < end)
		app_kit_run(a, 0.02);
	assert_false(a->state.preview.trial.on);
	app_kit_run(a, 0.02);
}

static const struct option_result *result(const struct app *a, const char *engine, unsigned vls)
{
	struct preview_options o = { .params = { .seed = 1, .vls = vls } };

	return option_result_find(a->state.preview.tries, a->state.preview.ntries,
				  engine_at(a, engine), &o);
}

static void each_value_has_its_result_and_no_plan_comes_of_it(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 200, 60);
	struct preview_options o = { .params = { .seed = 1, .vls = 2 } };
	const struct state_preview *p = &a->state.preview;
	char *screen;

	(void)state;
	assert_true(app_kit_ready(a, 3));
	try_values(a, "nue", PARAM_VLS);
	assert_true(p->trial.on);
	assert_int_equal(p->trial.n, 5);
	assert_int_equal(p->state, PREVIEW_RUNNING);
	await_trial(a);
	assert_int_equal(p->n, 0);
	assert_int_equal(p->state, PREVIEW_IDLE);
	for (unsigned vls = 0; vls < 3; vls++) {
		assert_non_null(result(a, "nue", vls));
		assert_false(result(a, "nue", vls)->failed);
		assert_true(result(a, "nue", vls)->metric[OPTION_TIME_MAX] >= 1);
		assert_true(result(a, "nue", vls)->metric[OPTION_VLS] <= (vls ? vls : 15));
	}
	assert_null(result(a, "updn", 1));
	/* what is known is not computed again; what a plan has been computed with is known */
	try_values(a, "nue", PARAM_VLS);
	assert_false(p->trial.on);
	screen = app_kit_screen(a);
	assert_non_null(strstr(screen, "all values of VLs are known"));
	free(screen);
	app_preview(a, engine_at(a, "updn"), &o);
	while (!p->n)
		app_kit_run(a, 0.02);
	try_values(a, "updn", PARAM_VLS);
	assert_int_equal(p->trial.n, 4);
	await_trial(a);
	assert_int_equal(p->n, 1);
	assert_int_equal(p->state, PREVIEW_DONE);
	app_end(a);
}

static void it_is_cancelled_and_what_is_known_stays(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 200, 60);
	const struct state_preview *p = &a->state.preview;

	(void)state;
	assert_true(app_kit_ready(a, 3));
	try_values(a, "sar", PARAM_SEED);
	app_kit_keys(a, "6ex"); /* in the form, as the line there says */
	await_trial(a);
	assert_true(p->ntries < 4);
	assert_int_equal(p->state, PREVIEW_IDLE);
	/* one computation at a time; with another fabric none is left */
	try_values(a, "sar", PARAM_SEED);
	try_values(a, "nue", PARAM_VLS);
	assert_int_equal(p->trial.id, PARAM_SEED);
	await_trial(a);
	assert_int_equal(p->ntries, 4);
	app_end(a);
}

static void what_cannot_be_tried_is_said(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 200, 60);
	struct request r = { .type = REQ_OPTION_TRY, .param = PARAM_VLS };
	static const enum param_id none[] = { PARAM_THREADS, PARAM_LMC, PARAM_PIN, PARAM_ESCAPE };

	(void)state;
	r.engine = UINT32_MAX;
	app_options_try(a, &r);
	assert_true(app_kit_ready(a, 3));
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		try_values(a, "sar", none[i]);
		assert_false(a->state.preview.trial.on);
	}
	r.engine = engine_at(a, "updn");
	strcpy(r.options.text[PARAM_ROOTS], "/nowhere/roots");
	app_options_try(a, &r);
	assert_false(a->state.preview.trial.on);
	/* a value that the engine refuses is a result, too */
	r.options.text[PARAM_ROOTS][0] = '\0';
	strcpy(r.options.text[PARAM_EXCLUDE], "no-such-switch");
	app_options_try(a, &r);
	assert_false(a->state.preview.trial.on);
	assert_int_equal(a->state.preview.state, PREVIEW_IDLE);
	app_end(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_has_its_result_and_no_plan_comes_of_it),
		cmocka_unit_test(it_is_cancelled_and_what_is_known_stays),
		cmocka_unit_test(what_cannot_be_tried_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
