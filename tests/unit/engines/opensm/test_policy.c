/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/policy.h"

#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int read_text(struct policy **out, const char *text, const char *path, struct err *err)
{
	FILE *f = text_file(text, strlen(text));
	int rc = policy_read(out, f, path, err);

	fclose(f);
	return rc;
}

static void every_key_is_taken(void **state)
{
	const char *text = "# ours\n engine sar:paper # why\n\nvls 4\r\nseed 77\nthreads 2\n"
			   "spread yes\nescape\tyes\ntables a b.ibr \nroots r\njobs /j\ndemand d\n"
			   "exclude spine1, 0x2c9aa/3\nimprove 90\n";
	struct policy *p;

	(void)state;
	assert_int_equal(read_text(&p, text, "/etc/x/policy.conf", NULL), 0);
	assert_string_equal(p->spec.engine->name, "sar");
	assert_int_equal(p->spec.sar_method, SAR_PAPER);
	assert_int_equal(p->params.vls, 4);
	assert_int_equal(p->params.seed, 77);
	assert_int_equal(p->params.threads, 2);
	assert_int_equal(p->improve_s, 90);
	assert_true(p->params.spread && p->params.escape);
	assert_string_equal(p->text[PARAM_TABLES], "/etc/x/a b.ibr");
	assert_string_equal(p->text[PARAM_ROOTS], "/etc/x/r");
	assert_string_equal(p->text[PARAM_JOBS], "/j");
	assert_string_equal(p->text[PARAM_DEMAND], "/etc/x/d");
	assert_string_equal(p->text[PARAM_EXCLUDE], "spine1, 0x2c9aa/3");
	policy_put(p);
}

static void what_is_left_out_has_its_preset(void **state)
{
	struct policy *p;

	(void)state;
	assert_int_equal(read_text(&p, "engine nue:3", "policy.conf", NULL), 0);
	assert_int_equal(p->spec.vls, 3);
	assert_int_equal(p->params.seed, 1);
	assert_int_equal(p->params.vls, 0);
	assert_false(p->params.spread || p->params.escape);
	assert_null(p->text[PARAM_TABLES]);
	assert_null(p->text[PARAM_JOBS]);
	policy_put(p);
}

static void a_wrong_line_is_named(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "engine nosuch\n", "p:1: there is no engine" },
		{ "\nengine nue:99\n", "p:2: " },
		{ "engine nue\nvls 16\n",
		  "p:2: vls: '16' is not a whole number from 1 to 15, or 0" },
		{ "engine nue\nvls 4x\n",
		  "p:2: vls: '4x' is not a whole number from 1 to 15, or 0" },
		{ "engine nue\nseed -1\n", "p:2: seed: '-1' is not a whole number from 0 to 9" },
		{ "engine nue\nspread maybe\n", "p:2: spread: 'maybe' is not yes or no" },
		{ "engine nue\nengine updn\n", "p:2: this key appears twice" },
		{ "engine nue\njobs\n", "p:2: a value is missing" },
		{ "engine nue\nimprove soon\n", "p:2: improve is a number of seconds" },
		{ "engine nue\nimprove 86401\n", "p:2: improve is a number of seconds" },
		{ "engine nue\nmode fast\n", "p:2: unknown key" },
		{ "vls 4\n", "p: no engine" },
		{ "", "p: no engine" },
	};
	struct policy *p;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(read_text(&p, cases[i].text, "p", &err), -EINVAL);
		assert_null(p);
		assert_ptr_equal(strstr(err.text, cases[i].says), err.text);
	}
}

static void a_missing_file_is_named(void **state)
{
	struct policy *p;
	struct err err;

	(void)state;
	assert_int_equal(policy_load(&p, "/nonexistent/policy.conf", &err), -ENOENT);
	assert_null(p);
	assert_non_null(strstr(err.text, "/nonexistent/policy.conf"));
}

static int survive(FILE *f, void *ctx)
{
	struct policy *p;
	int rc = policy_read(&p, f, "p", NULL);

	(void)ctx;
	policy_put(p);
	return rc;
}

static void damage_is_survived(void **state)
{
	const char *text = "engine dfsssp\nvls 4\nseed 7\nspread no\ntables t\nroots r\njobs j\n";
	struct survived s = damage(text, strlen(text), 5, 2000, survive, NULL);

	(void)state;
	assert_true(s.accepted > 0);
	assert_true(s.refused > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_taken),
		cmocka_unit_test(what_is_left_out_has_its_preset),
		cmocka_unit_test(a_wrong_line_is_named),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
