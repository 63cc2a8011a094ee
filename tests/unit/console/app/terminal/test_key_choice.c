/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that users choose: what they may be, and what becomes of the keymap. */
#include "console/app/terminal/key_choice.h"
#include "console/app/terminal/key_name.h"
#include "console/app/terminal/keymap.h"
#include "tests/unit/kit/console_kit.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_key_is_called_as_help_shows_it(void **state)
{
	static const struct {
		const char *name;
		uint32_t key;
	} keys[] = { { "x", 'x' },	     { "X", 'X' },     { "Ctrl-R", K_CTRL('r') },
		     { "F7", K_F7 },	     { "F10", K_F10 }, { "Space", ' ' },
		     { "PgUp", K_PGUP },     { "Tab", '\t' },  { "Shift-Tab", K_BACKTAB },
		     { "Delete", K_DELETE }, { "F", 'F' },     { "\xc3\xa9", 0xe9 } };
	char name[KEY_NAME_LEN];
	uint32_t key;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_int_equal(key_named(&key, keys[i].name, strlen(keys[i].name), &err), 0);
		assert_int_equal(key, keys[i].key);
		assert_string_equal(key_name(name, key), keys[i].name);
	}
	assert_int_equal(key_named(&key, "ctrl-r", 6, &err), 0);
	assert_int_equal(key, K_CTRL('r'));
}

static void no_key(const char *name, const char *why)
{
	uint32_t key;
	struct err err;

	assert_int_equal(key_named(&key, name, strlen(name), &err), -EINVAL);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void what_a_terminal_does_not_tell_apart_is_refused(void **state)
{
	(void)state;
	no_key("Ctrl-I", "Tab");
	no_key("Ctrl-m", "Enter");
	no_key("Ctrl-J", "Enter");
	no_key("Ctrl-H", "Backspace");
	no_key("Ctrl-1", "letter");
	no_key("Ctrl-", "letter");
	no_key("Alt-x", "Alt");
	no_key("F11", "not a key");
	no_key("F0", "not a key");
	no_key("xy", "not a key");
	no_key("\x01", "not a key");
	no_key("\xff", "not a key");
}

static void refused(const struct key_choice *c, size_t n, const char *why)
{
	struct err err = { "" };

	assert_int_equal(key_choices_check(c, n, &err), -EINVAL);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	assert_int_equal(key_choices_use(c, n, &err), -EINVAL);
}

static void a_key_of_another_action_is_refused_with_both(void **state)
{
	static const struct key_choice one[] = { { "sort", "Z", "f:3" } };
	static const struct key_choice two[] = { { "sort", "F7", "f:3" },
						 { "freeze", "F7", "f:5" } };
	static const struct key_choice typed[] = { { "sort", "F7", NULL }, { "poll", "F7", NULL } };
	struct input in;

	(void)state;
	refused(one, 1, "f:3: key.sort: Z is the key of freeze");
	refused(two, 2, "f:5: key.freeze: F7 is also the key of sort (f:3)");
	refused(typed, 2, "key.poll: F7 is also the key of sort (--set)");
	/* what is refused changes nothing */
	keymap_translate(&in, 'Z', VIEW_LINKS, false, false);
	assert_int_equal(in.req, REQ_FREEZE);
	keymap_translate(&in, K_F7, VIEW_LINKS, false, false);
	assert_int_equal(in.req, REQ_NONE);
}

static void in_other_views_it_is_free(void **state)
{
	/* o: the other direction of cables in the heatmap and of paths */
	static const struct key_choice apart[] = { { "sort", "o", NULL } };
	static const struct key_choice everywhere[] = { { "freeze", "o", NULL } };
	struct err err;
	struct input in;

	(void)state;
	refused(everywhere, 1, "o is the key of direction");
	assert_int_equal(key_choices_use(apart, 1, &err), 0);
	keymap_translate(&in, 'o', VIEW_LINKS, false, false);
	assert_int_equal(in.req, REQ_SORT);
	keymap_translate(&in, 'o', VIEW_HEATMAP, false, false);
	assert_int_equal(in.req, REQ_DIRECTION);
	keymap_translate(&in, 's', VIEW_LINKS, false, false);
	assert_int_equal(in.req, REQ_NONE);
	keymap_translate(&in, K_F6, VIEW_LINKS, false, false);
	assert_int_equal(in.req, REQ_NONE);
	assert_int_equal(key_choices_use(NULL, 0, &err), 0);
	keymap_translate(&in, 's', VIEW_LINKS, false, false);
	assert_int_equal(in.req, REQ_SORT);
}

static void two_actions_change_keys_with_each_other(void **state)
{
	static const struct key_choice c[] = { { "freeze", "L", NULL }, { "live", "Z F7", NULL } };
	struct err err;
	struct input in;

	(void)state;
	assert_int_equal(key_choices_use(c, 2, &err), 0);
	keymap_translate(&in, 'L', VIEW_JOBS, false, false);
	assert_int_equal(in.req, REQ_FREEZE);
	keymap_translate(&in, 'Z', VIEW_JOBS, false, false);
	assert_int_equal(in.req, REQ_LIVE);
	keymap_translate(&in, K_F7, VIEW_JOBS, false, false);
	assert_int_equal(in.req, REQ_LIVE);
	assert_int_equal(key_choices_use(NULL, 0, &err), 0);
}

static void ways_out_stay_whatever_is_chosen(void **state)
{
	static const char *const keys[] = { "Esc", "Enter", "Backspace", "Ctrl-C", "Y", "0", "9" };
	static const struct key_choice none[] = { { "quit", "none", NULL },
						  { "return", "none", NULL },
						  { "open", "none", NULL },
						  { "overview", "o", NULL },
						  { "direction", "none", NULL } };
	struct err err;
	struct input in;

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_int_equal(key_choice_fits("sort", keys[i], &err), -EINVAL);
		assert_non_null(strstr(err.text, "keeps its meaning"));
	}
	assert_int_equal(key_choice_fits("yes", "z", &err), -EINVAL);
	assert_int_equal(key_choices_use(none, 5, &err), 0);
	keymap_translate(&in, 'q', VIEW_LINKS, false, false);
	assert_int_equal(in.req, REQ_NONE);
	keymap_translate(&in, K_CTRL('c'), VIEW_LINKS, false, false);
	assert_int_equal(in.req, REQ_QUIT);
	keymap_translate(&in, K_ESC, VIEW_LINKS, false, false);
	assert_int_equal(in.req, REQ_BACK);
	assert_true(in.esc);
	keymap_translate(&in, K_ENTER, VIEW_LINKS, false, false);
	assert_int_equal(in.req, REQ_ENTER);
	keymap_translate(&in, '1', VIEW_LINKS, false, false);
	assert_int_equal(in.view, VIEW_OVERVIEW);
	keymap_translate(&in, 'o', VIEW_LINKS, false, false);
	assert_int_equal(in.view, VIEW_OVERVIEW);
	assert_int_equal(key_choices_use(NULL, 0, &err), 0);
}

static void what_is_no_choice_is_told(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(key_choice_fits("sort", "a b c d e", &err), -EINVAL);
	assert_non_null(strstr(err.text, "key.sort: at most 4 keys"));
	assert_int_equal(key_choice_fits("return", "a b", &err), -EINVAL);
	assert_non_null(strstr(err.text, "too many keys"));
	assert_int_equal(key_choice_fits("sort", " ", &err), -EINVAL);
	assert_int_equal(key_choice_fits("nothing", "x", &err), -EINVAL);
	assert_non_null(strstr(err.text, "key.nothing: no action"));
}

/* As 'config show' lists them. */
static void all_defaults_can_be_chosen_together(void **state)
{
	struct key_choice all[KEY_ACTIONS_MAX];
	size_t n, m = 0;
	const struct key_action *a = key_action_all(&n);
	struct err err;

	(void)state;
	assert_in_range(n, 60, KEY_ACTIONS_MAX - 1);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(a[i].name, a[k].name);
		assert_true(a[i].help && a[i].help[0]);
		if (a[i].keys[0])
			all[m++] = (struct key_choice){ a[i].name, a[i].keys, NULL };
	}
	if (key_choices_check(all, m, &err))
		fail_msg("%s", err.text);
}

static void screens_show_the_keys_in_force(void **state)
{
	static const struct key_choice c[] = { { "sort", "F7", NULL },
					       { "topology", "F8", NULL },
					       { "freeze", "none", NULL },
					       { "filter", "none", NULL } };
	static const uint32_t jobs[] = { 4, 0 };
	struct console_kit k;
	struct err err;
	char *text;

	(void)state;
	assert_int_equal(key_choices_use(c, 4, &err), 0);
	console_open(&k, 200, 60);
	console_fabric(&k, "fattree2:leaves=3,spines=2,hosts=2", jobs);
	console_keys(&k, "3");
	console_shows(&k, "F7 sort");
	text = console_screen(&k);
	assert_null(strstr(text, "/ filter"));
	assert_null(strstr(text, " t Topology"));
	free(text);
	console_keys(&k, "?");
	console_shows(&k, "  F7        sort by a column");
	console_shows(&k, "  :freeze   freeze the display");
	console_close(&k);
	assert_int_equal(key_choices_use(NULL, 0, &err), 0);
}

/* Sentences of views, each with the command whose key it names. */
static void sentences_name_the_keys_in_force(void **state)
{
	static const struct key_choice c[] = {
		{ "tag", "F7", NULL },	      { "impact", "v", NULL },	 { "close", "m", NULL },
		{ "from", "F9 {", NULL },     { "back5", "none", NULL }, { "vls", "J", NULL },
		{ "tagged", "F4 I", NULL },   { "filter", "/", NULL },	 { "zoom", "@", NULL },
		{ "cancel", "Ctrl-A", NULL }, { "prepare", "I", NULL },	 { "verify", "#", NULL },
		{ "override", "o", NULL },    { "extend", "%", NULL },	 { "pane", "Ctrl-E", NULL },
		{ "rollback", "Q", NULL },    { "find", "f F3", NULL },
	};
	static const struct {
		const char *keys, *sentence;
	} of[] = {
		{ "6", "F7 or Enter: compute a preview" },
		{ "6", "press F7 or Enter." },
		{ "4", "{ >: path from/to here" },
		{ "t", "@/u: zoom in/out   { >: path" },
		{ "9", "#: read and verify" },
		{ "3I", "no row is tagged; I shows all" },
		{ "7", "choose an engine, F7 computes a preview, I brings" },
		{ "1", "choose an engine, F7 computes a preview" },
	};
	static const uint32_t jobs[] = { 4, 0 };
	struct console_kit k;
	struct err err;

	(void)state;
	if (key_choices_use(c, sizeof(c) / sizeof(c[0]), &err))
		fail_msg("%s", err.text);
	console_open(&k, 200, 60);
	console_fabric(&k, "fattree2:leaves=6,spines=4,hosts=4", jobs);
	k.s.rw = true;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		console_keys(&k, of[i].keys);
		console_shows(&k, of[i].sentence);
	}
	console_preview(&k, "updn");
	console_keys(&k, "6");
	console_shows(&k, "(Ctrl-E)");
	console_plan(&k);
	console_keys(&k, "7");
	console_shows(&k, "m: close.");
	k.s.apply.state = APPLY_CONFIRM;
	k.s.apply.watched = true;
	console_shows(&k, "Q, then Y: roll back");
	console_shows(&k, "%: 5 min more.");
	console_shows(&k, "o: override conditions.");
	console_close(&k);
	assert_int_equal(key_choices_use(NULL, 0, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_called_as_help_shows_it),
		cmocka_unit_test(what_a_terminal_does_not_tell_apart_is_refused),
		cmocka_unit_test(a_key_of_another_action_is_refused_with_both),
		cmocka_unit_test(in_other_views_it_is_free),
		cmocka_unit_test(two_actions_change_keys_with_each_other),
		cmocka_unit_test(ways_out_stay_whatever_is_chosen),
		cmocka_unit_test(what_is_no_choice_is_told),
		cmocka_unit_test(all_defaults_can_be_chosen_together),
		cmocka_unit_test(screens_show_the_keys_in_force),
		cmocka_unit_test(sentences_name_the_keys_in_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
