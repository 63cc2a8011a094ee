/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help: the view it was called from first, every key once, words found, long lines wrapped. */
#include "tests/unit/kit/console_kit.h"

#include "views/prompt/command.h"
#include "views/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };
static const uint32_t jobs[] = { 48, 31, 24, 16, 0 };

static void tree(struct console_kit *k)
{
	console_open(k, 80, 24);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
}

static void keys_of_the_view_one_comes_from_are_first(void **state)
{
	struct console_kit k;
	char *text;

	(void)state;
	tree(&k);
	k.s.rw = true;
	console_keys(&k, "7?");
	text = console_screen(&k);
	assert_true(strstr(text, "-- Apply") != NULL);
	assert_true(strstr(text, "-- Apply") < strstr(text, "To change the routing"));
	free(text);
	for (int i = 0; i < 3; i++) { /* the help of all keys is a screen of test_views.c */
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_shows(&k, "-- Apply ---");
		console_shows(&k, "type the fabric's name");
	}
	console_keys(&k, "?6?");
	text = console_screen(&k);
	assert_true(strstr(text, "-- Engines and preview") < strstr(text, "To change the routing"));
	free(text);
	console_close(&k);
}

/* Everything is reached by scrolling, whatever the height. */
static void every_key_and_command_is_somewhere(void **state)
{
	struct console_kit k;
	size_t nb, nc;
	const struct binding *b = keymap_all(&nb);
	const struct command *c = command_all(&nc);
	char *all = calloc(1, 1 << 20), *screen;

	(void)state;
	assert_non_null(all);
	tree(&k);
	k.s.rw = true;
	console_size(&k, 200, 24);
	console_keys(&k, "?");
	for (int page = 0; page < 40; page++) {
		screen = console_screen(&k);
		strcat(all, screen);
		free(screen);
		console_key(&k, K_PGDN);
	}
	for (size_t i = 0; i < nb; i++)
		if (b[i].help && b[i].shown && (b[i].req < REQ_UP || b[i].req > REQ_BOTTOM) &&
		    !strstr(all, b[i].help))
			fail_msg("not in the help: %s", b[i].help);
	for (size_t i = 0; i < nc; i++)
		if (c[i].help && !strstr(all, c[i].help))
			fail_msg("not in the help: %s", c[i].help);
	free(all);
	console_close(&k);
}

static void words_are_found(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "?/watchdog");
	console_shows(&k, "search: watchdog");
	console_key(&k, K_ENTER);
	console_golden(&k, "help-found");
	console_shows(&k, "also when the console is gone");
	console_hides(&k, "bisection");
	console_key(&k, K_ESC);
	console_shows(&k, "To change the routing");
	console_keys(&k, "/xyzzy");
	console_shows(&k, "no match for \"xyzzy\" in the help");
	console_close(&k);
}

static void long_lines_are_wrapped_and_colours_explained(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "?/job efi");
	console_key(&k, K_ENTER);
	console_shows(&k, "idle paths cost nothing");
	console_key(&k, K_ESC);
	console_keys(&k, "/levels");
	console_key(&k, K_ENTER);
	console_shows(&k, "..::--==++**##@@");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_of_the_view_one_comes_from_are_first),
		cmocka_unit_test(every_key_and_command_is_somewhere),
		cmocka_unit_test(words_are_found),
		cmocka_unit_test(long_lines_are_wrapped_and_colours_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
