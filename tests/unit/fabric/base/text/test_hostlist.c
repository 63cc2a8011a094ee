/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/hostlist.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Names joined by blanks, or the error's text behind a "!". */
static char *expand(const char *text)
{
	struct hostlist *h = NULL;
	struct err err = { "" };
	char *out = NULL;
	size_t len;
	FILE *f;

	if (hostlist_parse(&h, text, &err))
		return xasprintf("!%s", err.text);
	f = open_memstream(&out, &len);
	for (uint32_t i = 0; i < hostlist_count(h); i++)
		fprintf(f, "%s%s", i ? " " : "", hostlist_names(h)[i]);
	fclose(f);
	hostlist_free(h);
	return out;
}

static void assert_expands(const char *text, const char *want)
{
	char *got = expand(text);

	assert_string_equal(got, want);
	free(got);
}

static void lists_expand_as_slurm_expands_them(void **state)
{
	(void)state;
	assert_expands("n[0001-0003,7],m5", "n0001 n0002 n0003 n7 m5");
	assert_expands("r[1-2]n[01-02]", "r1n01 r1n02 r2n01 r2n02");
	assert_expands("n[9-11]", "n9 n10 n11");
	assert_expands("n[09-11]", "n09 n10 n11");
	assert_expands("n[1-2]-ib,login", "n1-ib n2-ib login");
	assert_expands("[1-3]", "1 2 3");
	assert_expands("a,a", "a a");
	assert_expands(",a,,b,", "a b");
	assert_expands("0x155dfffd341941", "0x155dfffd341941");
	assert_expands(" n1 \r\n", "n1");
}

static void no_nodes_are_an_empty_list(void **state)
{
	(void)state;
	assert_expands("", "");
	assert_expands("(null)", "");
	assert_expands("None assigned", "");
}

static void assert_mistake(const char *text, unsigned position, const char *what)
{
	char *got = expand(text), *where = xasprintf("position %u ", position);

	assert_int_equal(got[0], '!');
	if (!strstr(got, where) || !strstr(got, what))
		fail_msg("%s: %s", text, got);
	free(got);
	free(where);
}

static void mistakes_are_told_with_their_position(void **state)
{
	(void)state;
	assert_mistake("n[1-", 5, "a number is expected");
	assert_mistake("n[1-3", 6, "missing closing bracket");
	assert_mistake("n[3-1]", 6, "ends below its start");
	assert_mistake("n[1;2]", 4, "a comma or ] is expected");
	assert_mistake("n[]", 3, "a number is expected");
	assert_mistake("n1]", 3, "without an opening one");
	assert_mistake("a b", 2, "no blanks");
	assert_mistake("n[[1]]", 3, "a number is expected");
	assert_mistake("n[1234567890123456789]", 21, "too large");
}

static void lists_that_would_fill_the_memory_are_refused(void **state)
{
	struct hostlist *h = NULL;
	struct err err;

	(void)state;
	assert_int_equal(hostlist_parse(&h, "n[1-99999999999]", &err), -E2BIG);
	assert_int_equal(hostlist_parse(&h, "n[1-9999][1-9999]", &err), -E2BIG);
	assert_non_null(strstr(err.text, "more than a million"));
	assert_null(h);
}

static void a_list_is_measured_as_it_is_expanded(void **state)
{
	static const struct {
		const char *list;
		uint32_t n;
	} cases[] = {
		{ "", 0 },
		{ "(null)", 0 },
		{ "n1,,n1", 2 },
		{ "n[0001-0003,7],r[1-2]c[01-04] ", 12 },
		{ "n[0-999999]", 1000000 },
		{ "a[1-10][1-10][1-10]b,c", 1001 },
	};
	char name[300] = "";
	struct err err;
	uint32_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(hostlist_measure(&n, cases[i].list, NULL), 0);
		assert_int_equal(n, cases[i].n);
	}
	assert_int_equal(hostlist_measure(&n, "n[0-999999],m", &err), -E2BIG);
	assert_int_equal(hostlist_measure(&n, "n[0-9999][0-9999][0-999999][1-9]", &err), -E2BIG);
	assert_int_equal(hostlist_measure(&n, "n]", &err), -EINVAL);
	memset(name, 'x', 253);
	strcpy(name + 253, "[8-9]"); /* 254 bytes */
	assert_int_equal(hostlist_measure(&n, name, &err), 0);
	strcpy(name + 253, "[99-100]"); /* 256 */
	assert_int_equal(hostlist_measure(&n, name, &err), -EINVAL);
	strcpy(name + 253, "[001]");
	assert_int_equal(hostlist_measure(&n, name, &err), -EINVAL);
}

static void assert_compressed(const char *list, const char *want)
{
	struct hostlist *h = NULL;
	char *got;

	assert_int_equal(hostlist_parse(&h, list, NULL), 0);
	got = hostlist_compress(hostlist_names(h), hostlist_count(h));
	assert_string_equal(got, want);
	free(got);
	hostlist_free(h);
}

static void compression_gives_the_usual_short_form(void **state)
{
	(void)state;
	assert_compressed("n3,n1,n2,n2,n7", "n[1-3,7]");
	assert_compressed("n0009,n0010,n0011", "n[0009-0011]");
	assert_compressed("n9,n10,n11", "n[9-11]");
	assert_compressed("n1", "n1");
	assert_compressed("n1-ib,n2-ib,login", "login,n[1-2]-ib");
	assert_compressed("r1n1,r1n2,r2n1", "r1n[1-2],r2n1");
	assert_compressed("n,n1", "n,n1");
	assert_compressed("n98,n99,n100,n101", "n[98-101]");
	assert_compressed("n99,n0100", "n[99,0100]");
	assert_compressed("", "");
}

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Sorted, without duplicates; returns how many are left. */
static uint32_t tidy(const char **v, uint32_t n)
{
	uint32_t m = 0;

	if (n)
		qsort(v, n, sizeof(*v), by_text);
	for (uint32_t i = 0; i < n; i++)
		if (!i || strcmp(v[i], v[i - 1]))
			v[m++] = v[i];
	return m;
}

static void expanding_a_compressed_list_gives_the_same_set(void **state)
{
	static const char *const shapes[] = { "n%u", "n%03u", "rack%u-ib", "%u", "a%ub%02u" };
	struct rng r;

	(void)state;
	rng_seed(&r, 12);
	for (int round = 0; round < 500; round++) {
		struct arena *a = arena_new();
		const char *names[60], *back[60];
		uint32_t n = (uint32_t)rng_below(&r, 60), m;
		struct hostlist *h = NULL;
		char *text, buf[64];

		for (uint32_t i = 0; i < n; i++) {
			unsigned x = (unsigned)rng_below(&r, 120), y = (unsigned)rng_below(&r, 12);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(buf, sizeof(buf), shapes[rng_below(&r, 5)], x, y);
#pragma GCC diagnostic pop
			names[i] = arena_strdup(a, buf);
		}
		text = hostlist_compress(names, n);
		assert_int_equal(hostlist_parse(&h, text, NULL), 0);
		m = tidy(names, n);
		assert_int_equal(hostlist_count(h), m);
		for (uint32_t i = 0; i < m; i++)
			back[i] = hostlist_names(h)[i];
		assert_int_equal(tidy(back, m), m);
		for (uint32_t i = 0; i < m; i++)
			assert_string_equal(names[i], back[i]);
		free(text);
		hostlist_free(h);
		arena_free(a);
	}
}

/* One by one as all at once; h NULL: the same mistake. */
static void assert_folded(const char *text, const struct hostlist *h, const struct err *why)
{
	struct hostlist_folded *folded = hostlist_folded_new();
	struct err err = { "" };
	char name[HOSTLIST_NAME];
	uint32_t n = 0, before;

	assert_int_equal(hostlist_fold(folded, &before, "a[1-3],,b[9,7]c[01-02]", &err), 0);
	assert_int_equal(before, 7);
	assert_int_equal(hostlist_fold(folded, &n, text, &err) != 0, !h);
	if (h) {
		assert_int_equal(n, hostlist_count(h));
		for (uint32_t i = n; i-- > 0;) {
			hostlist_folded_name(folded, before + i, name);
			assert_string_equal(name, hostlist_names(h)[i]);
		}
		hostlist_folded_name(folded, 5, name);
		assert_string_equal(name, "b7c01");
	} else {
		assert_string_equal(err.text, why->text);
	}
	hostlist_folded_free(folded);
}

static void a_folded_list_has_the_names_of_the_expanded_one(void **state)
{
	static const char *const lists[] = { "n[1-10][1-10][1-10]b,c", "r[1-2,07,9-11]c[01-04,99]",
					     " x,,y[5],", "", "n[0-9999]" };

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct hostlist *h = NULL;

		assert_int_equal(hostlist_parse(&h, lists[i], NULL), 0);
		assert_folded(lists[i], h, NULL);
		hostlist_free(h);
	}
}

static void any_text_is_expanded_or_refused(void **state)
{
	static const char alphabet[] = "n1,09[-] a\t\xff";
	struct rng r;
	unsigned ok = 0, refused = 0;

	(void)state;
	rng_seed(&r, 13);
	for (int round = 0; round < 20000; round++) {
		size_t n = rng_below(&r, 20);
		char text[21] = "";
		struct hostlist *h = NULL;
		struct err err = { "" };

		for (size_t i = 0; i < n; i++)
			text[i] = alphabet[rng_below(&r, sizeof(alphabet) - 1)];
		if (hostlist_parse(&h, text, &err)) {
			assert_true(err.text[0]);
			assert_null(h);
			refused++;
		} else {
			ok++;
		}
		assert_folded(text, h, &err);
		hostlist_free(h);
	}
	assert_true(ok > 100 && refused > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_expand_as_slurm_expands_them),
		cmocka_unit_test(no_nodes_are_an_empty_list),
		cmocka_unit_test(mistakes_are_told_with_their_position),
		cmocka_unit_test(lists_that_would_fill_the_memory_are_refused),
		cmocka_unit_test(a_list_is_measured_as_it_is_expanded),
		cmocka_unit_test(compression_gives_the_usual_short_form),
		cmocka_unit_test(expanding_a_compressed_list_gives_the_same_set),
		cmocka_unit_test(a_folded_list_has_the_names_of_the_expanded_one),
		cmocka_unit_test(any_text_is_expanded_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
