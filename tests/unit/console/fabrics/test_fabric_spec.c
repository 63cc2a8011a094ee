/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/fabrics/fabric_spec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))

static char words[] = "ibroute-top", tab[] = "--tab", spec[] = "a=demo", rw[] = "--rw",
	    cut[] = "--tab=b", ascii[] = "--ascii", d[] = "-d", one[] = "1", theme[] = "--theme",
	    light[] = "light";

/* The words of the i-th console, with blanks between. */
static void becomes(const char *text, size_t i, const char *want)
{
	char *argv[] = { words, tab, spec, rw, cut, ascii, d, one, theme, light };
	struct fabric_specs s = { .n = 0 };
	char all[400] = "";
	struct err err;
	char **own;
	int n = 0;

	assert_int_equal(fabric_specs_add(&s, text, &err), 0);
	assert_true(i < s.n);
	own = fabric_spec_argv(&n, &s.spec[i], N(argv), argv);
	for (int k = 0; k < n; k++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", k ? " " : "",
			 own[k]);
	assert_string_equal(all, want);
	assert_null(own[n]);
	free(own);
	fabric_specs_free(&s);
}

#define COMMON "ibroute-top --rw --ascii -d 1 --theme light "

static void each_kind_becomes_the_options_of_one_console(void **state)
{
	(void)state;
	becomes("compute", 0, COMMON "--profile compute");
	becomes("a=port:mlx5_0:2", 0, COMMON "--Ca mlx5_0 --name a --Port 2");
	becomes("a=port:mlx5_0", 0, COMMON "--Ca mlx5_0 --name a");
	becomes("a=collector:/run/x", 0, COMMON "--collector /run/x");
	becomes("x a=demo:torus:dims=3x3,hosts=1", 1,
		COMMON "--demo=torus:dims=3x3,hosts=1 --name a");
	becomes("a=demo", 0, COMMON "--demo --name a");
}

static void a_file_is_never_written_to(void **state)
{
	(void)state;
	becomes("a=load:/data/x:y=z", 0, "ibroute-top --ascii -d 1 --theme light --load /data/x:y=z");
}

static void a_fabric_stays_read_only_where_others_are_not(void **state)
{
	const char *ro = "ibroute-top --ascii -d 1 --theme light --profile a";

	(void)state;
	becomes("b a=ro", 1, ro);
	becomes("b a=ro", 0, COMMON "--profile b");
	becomes("a=ro:port:x", 0, "ibroute-top --ascii -d 1 --theme light --Ca x --name a");
	becomes("ro=demo", 0, COMMON "--demo --name ro");
}

static void refused(const char *text, const char *why)
{
	struct fabric_specs s = { .n = 0 };
	struct err err = { "" };

	assert_true(fabric_specs_add(&s, text, &err) < 0);
	if (!strstr(err.text, why))
		fail_msg("'%s' has no '%s'", err.text, why);
	fabric_specs_free(&s);
}

static void what_is_no_fabric_is_refused_with_the_reason(void **state)
{
	char many[200] = "";

	(void)state;
	refused("=demo", "1 to 31 characters");
	refused("a/b", "not a name");
	refused("a\x1b[m", "not a name");
	refused("an-endless-name-of-a-fabric-that-fits-nowhere", "1 to 31 characters");
	refused("next", "cannot be the name");
	refused("a b Next=demo", "cannot be the name");
	refused("a A=demo", "two fabrics are called A");
	refused("a=disk:x", "is not one of port:CA:PORT");
	refused("a=port", "says no HCA");
	refused("a=port::1", "says no HCA");
	refused("a=port:x:", "says no port");
	refused("a=load:", "says no path");
	refused("a=", "is not one of");
	refused("a=ro:", "is not one of");
	refused("a=ro:ro:demo", "is not one of");
	for (int i = 0; i <= FABRICS_MAX; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "f%d ", i);
	refused(many, "at most 8");
}

static void blanks_separate_and_none_is_none(void **state)
{
	struct fabric_specs s = { .n = 0 };
	struct err err;

	(void)state;
	assert_int_equal(fabric_specs_add(&s, "none", &err), 0);
	assert_int_equal(fabric_specs_add(&s, "", &err), 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(fabric_specs_add(&s, "  a  b=demo ", &err), 0);
	assert_int_equal(fabric_specs_add(&s, "c", &err), 0);
	assert_int_equal(s.n, 3);
	assert_string_equal(s.spec[1].name, "b");
	assert_string_equal(s.spec[2].name, "c");
	fabric_specs_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_becomes_the_options_of_one_console),
		cmocka_unit_test(a_file_is_never_written_to),
		cmocka_unit_test(a_fabric_stays_read_only_where_others_are_not),
		cmocka_unit_test(what_is_no_fabric_is_refused_with_the_reason),
		cmocka_unit_test(blanks_separate_and_none_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
