/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/recording/play_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct typed {
	enum play_key key[16];
	uint32_t n;
};

static void keep(void *ctx, enum play_key key)
{
	struct typed *t = ctx;

	t->key[t->n++] = key;
}

static void each_cut_of_a_key_waits_for_its_rest(void **state)
{
	static const char *const keys[] = { "\033[C", "\033OC", "\033[1;5C", "\033[5~" };
	enum play_key key;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		size_t len = strlen(keys[i]);

		for (size_t n = 1; n < len; n++)
			assert_int_equal(play_key_take(&key, keys[i], n, false), 0);
		assert_int_equal(play_key_take(&key, keys[i], len, false), len);
		assert_int_not_equal(key, PLAY_QUIT);
		/* what never ends is dropped; ESC alone quits */
		assert_int_equal(play_key_take(&key, keys[i], 2, true), 2);
		assert_int_equal(key, PLAY_NONE);
		assert_int_equal(play_key_take(&key, keys[i], 1, true), 1);
		assert_int_equal(key, PLAY_QUIT);
	}
	assert_int_equal(play_key_take(&key, "q", 1, false), 1);
	assert_int_equal(key, PLAY_QUIT);
}

static void many_at_once_are_all_taken(void **state)
{
	struct typed t = { .n = 0 };
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], " \033[C\033[D\033OAn\033[6~", 15), 15);
	assert_true(play_keys_read(fd[0], 1000, keep, &t));
	assert_int_equal(t.n, 6);
	assert_int_equal(t.key[0], PLAY_PAUSE);
	assert_int_equal(t.key[1], PLAY_ON);
	assert_int_equal(t.key[2], PLAY_BACK);
	assert_int_equal(t.key[3], PLAY_PREV);
	assert_int_equal(t.key[4], PLAY_NEXT);
	assert_int_equal(t.key[5], PLAY_NEXT);
	/* a sequence without an end, then nothing: not a reason to end */
	t.n = 0;
	assert_int_equal(write(fd[1], "\033[", 2), 2);
	assert_true(play_keys_read(fd[0], 1000, keep, &t));
	assert_int_equal(t.n, 1);
	assert_int_equal(t.key[0], PLAY_NONE);
	close(fd[1]);
	assert_false(play_keys_read(fd[0], 1000, keep, &t));
	close(fd[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cut_of_a_key_waits_for_its_rest),
		cmocka_unit_test(many_at_once_are_all_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
