/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/table/row_filter.h"

#include "tests/unit/kit/console_kit.h"
#include "views/data/summary/fabric_summary.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct console_kit kit;
static struct fabric_summary survey;

static int open_tree(void **state)
{
	static const uint32_t jobs[] = { 16, 8, 8, 4, 0 };

	(void)state;
	console_open(&kit, 80, 24);
	console_fabric(&kit, "xgft:h=2,m=4x4,w=1x4", jobs);
	console_no_reply(&kit, 3);
	fabric_summary_update(&survey, &kit.s);
	return 0;
}

static int close_tree(void **state)
{
	(void)state;
	fabric_summary_done(&survey);
	console_close(&kit);
	return 0;
}

static uint32_t matches(enum row_kind kind, const char *text)
{
	const struct rows r = { kind, &kit.s, &survey };
	struct row_filter *f = NULL;
	struct err err = { "" };
	uint32_t n = 0;

	if (row_filter_new(&f, kind, text, NULL, &err))
		fail_msg("%s: %s", text, err.text);
	for (uint32_t i = 0; i < rows_count(&r); i++)
		n += rows_wanted(&r, i) && row_filter_match(f, &r, i);
	row_filter_free(f);
	return n;
}

static uint32_t links(const char *text)
{
	return matches(ROWS_LINKS, text);
}

/* Counted here, from the state itself. */
static uint32_t count_links(bool (*want)(uint32_t chan))
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < kit.fabric->nchan; c++)
		n += want(c);
	return n;
}

static const struct port_rate *rate(uint32_t c)
{
	return state_rate(&kit.s, chan_fabric_port(kit.fabric, c));
}

static bool busy(uint32_t c)
{
	return rate(c)->util_pct > 50;
}

static bool calm(uint32_t c)
{
	return rate(c)->util_pct <= 50;
}

static bool silent(uint32_t c)
{
	return isnan(rate(c)->util_pct);
}

static bool busy_and_named(uint32_t c)
{
	char label[256];

	return busy(c) && strstr(chan_label(label, sizeof(label), kit.fabric, c), "/1 ");
}

static void figures_are_compared(void **state)
{
	uint32_t all = kit.fabric->nchan, b = count_links(busy), c = count_links(calm),
		 u = count_links(silent);

	(void)state;
	assert_true(b && c && u && b + c + u == all);
	assert_int_equal(links("util>50"), b);
	assert_int_equal(links("util > 50"), b);
	assert_int_equal(links("UTIL_PCT>50%"), b);
	assert_int_equal(links("util<=50"), c);
	assert_int_equal(links("util>=0"), b + c);
	assert_int_equal(links("util<0"), 0);
	assert_int_equal(links("efi=0 efi!=0"), 0);
	assert_int_equal(links("efi==0 or efi!=0"), all);
	assert_int_equal(links("rate_Mbps>=1k"), all);
	assert_int_equal(links("tx_Bps>=1000G"), 0);
}

static void unknown_figures_fulfil_no_comparison_nor_its_contrary(void **state)
{
	(void)state;
	assert_int_equal(links("not util>50"), count_links(calm));
	assert_int_equal(links("not (util>50 and util<=50)"),
			 count_links(busy) + count_links(calm));
	assert_int_equal(links("util=unknown"), count_links(silent));
	assert_int_equal(links("util!=unknown"), count_links(busy) + count_links(calm));
	/* another term may know more */
	assert_int_equal(links("util>50 or a~."), kit.fabric->nchan);
	assert_int_equal(links("a~. or util>50"), kit.fabric->nchan);
	assert_int_equal(links("not (util>50 and a=nobody)"), kit.fabric->nchan);
}

static void words_match_anywhere_in_any_case(void **state)
{
	const struct fabric *f = kit.fabric;
	char label[256], word[300];

	(void)state;
	assert_int_equal(links(""), f->nchan);
	assert_int_equal(links("   "), f->nchan);
	assert_int_equal(links("no-such-name"), 0);
	chan_label(label, sizeof(label), f, 5);
	snprintf(word, sizeof(word), "\"%s\"", label);
	assert_int_equal(links(word), 1);
	for (char *c = word; *c; c++)
		*c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
	assert_int_equal(links(word), 1);
	assert_int_equal(links("->"), f->nchan);
	assert_int_equal(links("/1 util>50"), links("util>50 /1"));
	assert_true(links("\"/1 \" util>50") == count_links(busy_and_named));
	assert_int_equal(links("\"a quote: \"\"\""), 0);
}

static void and_binds_closer_than_or(void **state)
{
	uint32_t b = count_links(busy), c = count_links(calm);

	(void)state;
	assert_int_equal(links("util>50 or util<=50 and efi=unknown"), b);
	assert_int_equal(links("(util>50 or util<=50) and efi=unknown"), 0);
	assert_int_equal(links("util>50 | util<=50 & efi=unknown"), b);
	assert_int_equal(links("(util>50 || util<=50) && efi=unknown"), 0);
	assert_int_equal(links("util>50 OR util<=50"), b + c);
	assert_int_equal(links("not util>50 or not util<=50"), b + c);
	assert_int_equal(links("!util>50"), c);
	assert_int_equal(links("not not util>50"), b);
	assert_int_equal(links("((util>50))"), b);
}

static void texts_and_guids_are_compared(void **state)
{
	const struct fabric *f = kit.fabric;
	char text[200], name[NAME_LEN];
	uint32_t from = f->chan_off[1] - f->chan_off[0];

	(void)state;
	switch_label(name, sizeof(name), f, 0);
	snprintf(text, sizeof(text), "a=%s", name);
	assert_int_equal(links(text), from);
	snprintf(text, sizeof(text), "a!=%s", name);
	assert_int_equal(links(text), f->nchan - from);
	snprintf(text, sizeof(text), "a_guid=0x%016lx", (unsigned long)f->sw_guid[0]);
	assert_int_equal(links(text), from);
	assert_int_equal(matches(ROWS_SWITCHES, "name=*"), f->nsw);
	assert_int_equal(matches(ROWS_SWITCHES, "level=LEAF"), 4);
	assert_int_equal(matches(ROWS_SWITCHES, "level~^(leaf|spine)$"), f->nsw);
	assert_int_equal(matches(ROWS_SWITCHES, "level~\"^spi\""), f->nsw - 4);
	assert_int_equal(matches(ROWS_SWITCHES, "hosts=4 not level=spine"), 4);
	assert_int_equal(matches(ROWS_PORTS, "kind=host"), f->nterm);
	assert_int_equal(matches(ROWS_PORTS, "kind=switch"), f->nchan);
	assert_int_equal(matches(ROWS_PORTS, ""), f->nterm + f->nchan);
	assert_int_equal(matches(ROWS_LINKS, "dark=yes") + matches(ROWS_LINKS, "dark!=yes"),
			 f->nchan);
	assert_int_equal(matches(ROWS_JOBS, "user=ana nodes>=16"), 1);
	assert_int_equal(matches(ROWS_JOBS, "ana 81200"), 1);
	assert_int_equal(matches(ROWS_TIERS, "known>0 spine"), 2);
}

static void mistakes_are_found_where_they_are(void **state)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *part;
	} wrong[] = {
		{ "util>", 6, "missing" },
		{ "util> ", 7, "missing" },
		{ "utl>3", 1, "did you mean util_pct?" },
		{ "errors>0 errs<2", 10, "no field 'errs'" },
		{ "zzzz=3", 1, "links have no field 'zzzz'; there are " },
		{ "util>fast", 6, "'fast' is not a number" },
		{ "util>nan", 6, "not a number" },
		{ "util>3GB", 6, "not a unit" },
		{ "(util>3", 1, "unclosed" },
		{ "util>3)", 7, "unmatched" },
		{ "util>3 and", 11, "missing term at the end" },
		{ "a=1 or )", 8, "missing field or word before" },
		{ "not", 4, "missing term at the end" },
		{ "a~([", 3, "not a regular expression" },
		{ "a_guid=spine", 8, "not a GUID" },
		{ "dark>3", 6, "yes or no" },
		{ "dark=maybe", 6, "yes or no" },
		{ "a=\"x", 3, "unterminated" },
		{ "\"x", 1, "unterminated" },
		{ "x >3 =", 1, "no field 'x'" },
		{ ">3", 1, "missing field or word before" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct row_filter *f = NULL;
		struct err err = { "" };
		unsigned column = 0;
		int rc = row_filter_new(&f, ROWS_LINKS, wrong[i].text, &column, &err);

		if (rc != -EINVAL || column != wrong[i].column || !strstr(err.text, wrong[i].part))
			fail_msg("\"%s\": %d, column %u (not %u): %s", wrong[i].text, rc, column,
				 wrong[i].column, err.text);
		assert_null(f);
	}
}

static void depth_and_length_are_limited(void **state)
{
	char text[8192];
	struct row_filter *f = NULL;
	struct err err;

	(void)state;
	memset(text, '(', 5000);
	text[5000] = '\0';
	assert_int_equal(row_filter_new(&f, ROWS_LINKS, text, NULL, &err), -EINVAL);
	memset(text, '!', 5000);
	assert_int_equal(row_filter_new(&f, ROWS_LINKS, text, NULL, &err), -EINVAL);
	for (int i = 0; i < 4000; i++)
		memcpy(text + 2 * i, "a ", 3);
	assert_int_equal(row_filter_new(&f, ROWS_LINKS, text, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "more than"));
	assert_null(f);
}

static void a_filter_being_typed_stays_until_it_is_whole(void **state)
{
	const struct rows r = { ROWS_LINKS, &kit.s, &survey };
	struct typed_filter t = { 0 };
	uint32_t n = 0;

	(void)state;
	assert_false(typed_filter_set(&t, ROWS_LINKS, ""));
	assert_true(typed_filter_set(&t, ROWS_LINKS, "util>50"));
	assert_false(typed_filter_set(&t, ROWS_LINKS, "util>50"));
	assert_false(typed_filter_set(&t, ROWS_LINKS, "util>50 efi>"));
	assert_int_equal(t.column, 13);
	assert_non_null(strstr(t.why, "missing"));
	for (uint32_t i = 0; i < rows_count(&r); i++)
		n += row_filter_match(t.filter, &r, i);
	assert_int_equal(n, count_links(busy));
	assert_true(typed_filter_set(&t, ROWS_LINKS, ""));
	assert_true(row_filter_match(t.filter, &r, 0));
	assert_string_equal(t.why, "");
	typed_filter_done(&t);
}

static void words_may_be_patterns(void **state)
{
	const struct fabric *f = kit.fabric;
	char a[NAME_LEN], b[NAME_LEN], text[3 * NAME_LEN];
	uint32_t both;

	(void)state;
	switch_label(a, sizeof(a), f, 0);
	switch_label(b, sizeof(b), f, 1);
	snprintf(text, sizeof(text), "%s/ or %s/", a, b);
	both = links(text);
	assert_true(both > 0 && both < f->nchan);
	snprintf(text, sizeof(text), "%s/|%s/", a, b);
	assert_int_equal(links(text), both);
	snprintf(text, sizeof(text), "%s/ |%s/", a, b);
	assert_int_equal(links(text), both);
	snprintf(text, sizeof(text), "%s/| %s/", a, b);
	assert_int_equal(links(text), both);
	snprintf(text, sizeof(text), "~(%s|%s)/", a, b);
	assert_int_equal(links(text), both);
	snprintf(text, sizeof(text), "!~(%s|%s)/", a, b);
	assert_int_equal(links(text), f->nchan - both);
	snprintf(text, sizeof(text), "%.*s?/", (int)strlen(a) - 1, a);
	assert_true(links(text) >= both);
	snprintf(text, sizeof(text), "%.*s[%c%c]/", (int)strlen(a) - 1, a, a[strlen(a) - 1],
		 b[strlen(b) - 1]);
	assert_int_equal(links(text), both);
	/* as a name is shown where there is no room for its middle */
	snprintf(text, sizeof(text), "%.*s..%s/", 2, a, a + strlen(a) - 1);
	assert_true(links(text) > 0 && links(text) < f->nchan);
	snprintf(text, sizeof(text), "%.*s..%s", 2, a, "zz");
	assert_int_equal(links(text), 0);
	assert_int_equal(links("*->*"), f->nchan);
	assert_int_equal(links("\"*\""), 0); /* quoted: the letter itself */
}

static void regular_expressions_that_take_gigabytes_are_refused(void **state)
{
	char text[6000];
	struct row_filter *f;
	struct err err;

	(void)state;
	snprintf(text, sizeof(text), "~%0256d", 0);
	assert_int_equal(row_filter_new(&f, ROWS_LINKS, text, NULL, &err), 0);
	row_filter_free(f);
	snprintf(text, sizeof(text), "~%0257d", 0);
	assert_int_equal(row_filter_new(&f, ROWS_LINKS, text, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "may have 256 characters, and 4096 together"));
	text[0] = '\0';
	for (int i = 0; i < 17; i++)
		sprintf(text + strlen(text), "~%0250d ", 0);
	assert_int_equal(row_filter_new(&f, ROWS_LINKS, text, NULL, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_compared),
		cmocka_unit_test(unknown_figures_fulfil_no_comparison_nor_its_contrary),
		cmocka_unit_test(words_match_anywhere_in_any_case),
		cmocka_unit_test(words_may_be_patterns),
		cmocka_unit_test(and_binds_closer_than_or),
		cmocka_unit_test(texts_and_guids_are_compared),
		cmocka_unit_test(mistakes_are_found_where_they_are),
		cmocka_unit_test(depth_and_length_are_limited),
		cmocka_unit_test(a_filter_being_typed_stays_until_it_is_whole),
		cmocka_unit_test(regular_expressions_that_take_gigabytes_are_refused),
	};

	return cmocka_run_group_tests(tests, open_tree, close_tree);
}
