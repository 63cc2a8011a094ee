/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that are chosen while the console runs. */
#include "tests/unit/kit/app_kit.h"

#include "console/app/terminal/key_choice.h"
#include "fabric/base/time/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SPEC "fattree2:leaves=4,spines=2,hosts=4"

static char dir[] = "/tmp/ibroute-test-keys-XXXXXX", config[64];

static void wait_for(struct app *a, const char *text)
{
	double end = clock_s() + 60;
	char *screen = app_kit_screen(a);

	while (!strstr(screen, text) && clock_s() < end) {
		free(screen);
		app_kit_run(a, 0.05);
		screen = app_kit_screen(a);
	}
	if (!strstr(screen, text)) {
		fputs(screen, stderr);
		fail_msg("\"%s\" is not on the screen", text);
	}
	free(screen);
}

static void do_and_see(struct app *a, const char *keys, const char *text)
{
	app_kit_keys(a, keys);
	wait_for(a, text);
}

static void a_key_counts_from_now_on_and_is_kept_in_the_file(void **state)
{
	const struct app_opts o = {
		.demo = true, .demo_spec = SPEC, .config = config, .interval_s = 1
	};
	char text[200] = "";
	struct app *a = app_kit_open_opts(&o, 120, 30);
	FILE *f;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 1));
	do_and_see(a, "3:set key.freeze=I\r", "key.freeze=I, for this session");
	do_and_see(a, "Z", "Z does nothing in this view");
	do_and_see(a, "I", "held until I;");
	do_and_see(a, "I:set key.sort=I\r", "key.sort: I is also the key of freeze (:set)");
	do_and_see(a, "I", "held until I;"); /* what is refused changes nothing */
	do_and_see(a, "I:set key.freeze=Q\r:set key.sort=I\r", "key.sort=I, for this session");
	do_and_see(a, ":set key.nothing=x\r", "key.nothing: no action has this name");
	do_and_see(a, ":set key.tagg\t", "key.tagged=");
	do_and_see(a, "\033:keep\r", "key.freeze, key.sort");
	do_and_see(a, ":keep\r", "nothing to save");
	f = fopen(config, "r");
	assert_non_null(f);
	assert_in_range(fread(text, 1, sizeof(text) - 1, f), 1, sizeof(text) - 2);
	fclose(f);
	assert_string_equal(text, "key.freeze = Q\nkey.sort = I\n");
	app_end(a);
	assert_int_equal(key_choices_use(NULL, 0, NULL), 0);
}

static void so_many_keys_are_chosen_and_no_more(void **state)
{
	const struct app_opts o = { .demo = true, .demo_spec = SPEC, .interval_s = 1 };
	struct app *a = app_kit_open_opts(&o, 120, 30);
	struct err err = { "" };
	const struct key_action *action;
	char text[64];
	size_t n;

	(void)state;
	assert_non_null(a);
	action = key_action_all(&n);
	assert_true(n > KEYS_CHOSEN_MAX);
	for (size_t i = 0; i < KEYS_CHOSEN_MAX; i++) {
		snprintf(text, sizeof(text), "%s=none", action[i].setting);
		assert_int_equal(app_keys_set(a, text, &err), 0);
		assert_int_equal(app_keys_set(a, text, &err), 0); /* the same one */
	}
	snprintf(text, sizeof(text), "%s=none", action[KEYS_CHOSEN_MAX].setting);
	assert_int_equal(app_keys_set(a, text, &err), -E2BIG);
	assert_non_null(strstr(err.text, "more than 32 keys"));
	app_end(a);
	assert_int_equal(key_choices_use(NULL, 0, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_counts_from_now_on_and_is_kept_in_the_file),
		cmocka_unit_test(so_many_keys_are_chosen_and_no_more),
	};
	int failed;

	if (!mkdtemp(dir))
		return 1;
	snprintf(config, sizeof(config), "%s/config", dir);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(config);
	rmdir(dir);
	return failed;
}
