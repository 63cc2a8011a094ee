/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which texts fit what is typed, and which fits best. */
#include "views/finder/fuzzy.h"

#include "fabric/base/hash/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MANY_WORDS 60

static void words_fit_in_any_order_and_with_gaps(void **state)
{
	(void)state;
	assert_true(fuzzy_score("leaf17/33 -> spine04/17", "spine04 leaf17") > 0);
	assert_true(fuzzy_score("leaf17/33 -> spine04/17", "lf17") > 0);
	assert_true(fuzzy_score("bookmarks", "bkm") > 0);
	assert_true(fuzzy_score("anything", "") > 0);
	assert_true(fuzzy_score("", "") > 0);
	assert_int_equal(fuzzy_score("leaf17", "leaf18"), 0);
	assert_int_equal(fuzzy_score("leaf17", "71"), 0); /* not in that order */
	assert_int_equal(fuzzy_score("leaf17", "leaf17 spine"), 0);
	assert_int_equal(fuzzy_score("", "a"), 0);
}

static void assert_better(const char *words, const char *better, const char *worse)
{
	if (fuzzy_score(better, words) <= fuzzy_score(worse, words))
		fail_msg("'%s': %s has %u, %s has %u", words, better, fuzzy_score(better, words),
			 worse, fuzzy_score(worse, words));
}

static void what_is_nearer_comes_first(void **state)
{
	(void)state;
	assert_better("leaf1", "leaf1", "leaf11");     /* the whole before a beginning */
	assert_better("leaf1", "leaf11", "oldleaf1x"); /* a beginning before the inside */
	assert_better("17", "leaf17", "leaf117");      /* where digits begin */
	assert_better("set", "settings", "reset");
	assert_better("sort", "sort", "sxoxrxt");			 /* together before apart */
	assert_better("ab", "axb", "axxxxxxxxxxxb");			 /* near before far */
	assert_better("n1", "n1", "n1-with-a-very-long-name-behind-it"); /* short before long */
}

/* Typing goes on with what fitted so far: one character more must not bring a text back. */
static void what_did_not_fit_does_not_fit_with_more(void **state)
{
	static const char letters[] = "ab1/ ";
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (int i = 0; i < 200000; i++) {
		char text[12] = "", words[10] = "", more[12];

		for (uint64_t n = rng_below(&rng, sizeof(text) - 1), k = 0; k < n; k++)
			text[k] = letters[rng_below(&rng, 5)];
		for (uint64_t n = rng_below(&rng, sizeof(words) - 1), k = 0; k < n; k++)
			words[k] = letters[rng_below(&rng, 5)];
		snprintf(more, sizeof(more), "%s%c", words, letters[rng_below(&rng, 5)]);
		if (!fuzzy_score(text, words) && fuzzy_score(text, more))
			fail_msg("'%s' fits '%s' and not '%s'", text, more, words);
	}
}

static void scores_stay_in_their_range(void **state)
{
	char words[MANY_WORDS * 2 + 1] = "", text[4096];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < MANY_WORDS; i++)
		strcat(words, "a ");
	assert_int_equal(fuzzy_score("a", words), FUZZY_BEST);
	assert_true(fuzzy_score(text, "a") > 0);
	assert_true(fuzzy_score(text, words) <= FUZZY_BEST);
	memset(text, 'b', sizeof(text) - 2);
	text[sizeof(text) - 2] = 'a';
	text[0] = 'a';
	assert_true(fuzzy_score(text, "aa") > 0); /* thousands of characters between */
}

static void what_was_found_is_marked_within_its_bounds(void **state)
{
	bool mark[8] = { false };

	(void)state;
	fuzzy_mark(mark, 4, "leaf17/33", "17 le");
	assert_true(mark[0] && mark[1] && !mark[2] && !mark[3]);
	assert_false(mark[4] || mark[5]); /* beyond the 4 bytes */
	memset(mark, 0, sizeof(mark));
	fuzzy_mark(mark, sizeof(mark), "abcdef", "ace");
	assert_true(mark[0] && !mark[1] && mark[2] && !mark[3] && mark[4] && !mark[5]);
}

static void other_alphabets_and_damaged_bytes_are_left_as_they_are(void **state)
{
	char lower[64];

	(void)state;
	fuzzy_lower(lower, "L\xc3\x84\xff\x1b[Z", sizeof(lower));
	assert_string_equal(lower, "l\xc3\x84\xff\x1b[z");
	fuzzy_lower(lower, "ABCDEF", 4);
	assert_string_equal(lower, "abc");
	assert_true(fuzzy_score("l\xc3\x84\xff\x1b[z", "\xff") > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_fit_in_any_order_and_with_gaps),
		cmocka_unit_test(what_is_nearer_comes_first),
		cmocka_unit_test(what_did_not_fit_does_not_fit_with_more),
		cmocka_unit_test(scores_stay_in_their_range),
		cmocka_unit_test(what_was_found_is_marked_within_its_bounds),
		cmocka_unit_test(other_alphabets_and_damaged_bytes_are_left_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
