/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/cli/update/agent_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char *str(const json_t *j, const char *key)
{
	return json_string_value(json_object_get(j, key));
}

static json_int_t num(const json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}

static void what_no_line_has_told_is_null(void **state)
{
	json_t *j = agent_status_new();

	(void)state;
	assert_true(json_is_null(json_object_get(j, "lid")));
	assert_true(json_is_null(json_object_get(j, "mode")));
	assert_int_equal(json_array_size(json_object_get(j, "clients")), 0);
	json_decref(j);
}

static void lines_become_keys(void **state)
{
	static const char *const lines[] = { "lid 12",		"sm 3",		  "subscribed yes",
					     "mode mixed",	"transaction 77", "question 2",
					     "escape_offset 4", "job 4711",	  "job 4712.0",
					     "refused 5",	"strangers 6",	  "key a1b2",
					     "unsealed 7",	"forged 8" };
	json_t *j = agent_status_new();

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		agent_status_add(j, lines[i]);
	assert_int_equal(num(j, "lid"), 12);
	assert_int_equal(num(j, "sm_lid"), 3);
	assert_true(json_is_true(json_object_get(j, "subscribed")));
	assert_string_equal(str(j, "mode"), "mixed");
	assert_int_equal(num(j, "transaction"), 77);
	assert_int_equal(num(j, "escape_offset"), 4);
	assert_int_equal(num(j, "refused"), 5);
	assert_int_equal(num(j, "strangers"), 6);
	assert_string_equal(str(j, "key"), "a1b2");
	assert_int_equal(num(j, "unsealed"), 7);
	assert_int_equal(num(j, "forged"), 8);
	assert_string_equal(json_string_value(json_array_get(json_object_get(j, "jobs"), 1)),
			    "4712.0");
	json_decref(j);
}

static void clients_have_a_place_an_order_and_a_reason(void **state)
{
	json_t *j = agent_status_new(), *c;

	(void)state;
	agent_status_add(j, "client 17 rank 0 pid 100 at base told -");
	agent_status_add(j, "client 17 rank 1 pid 101 at drained? told MIGRATE failed: no such "
			    "queue pair");
	agent_status_add(j, "awaited 17 rank 2 pid 102");
	c = json_array_get(json_object_get(j, "clients"), 0);
	assert_string_equal(str(c, "at"), "base");
	assert_true(json_is_true(json_object_get(c, "sure")));
	assert_true(json_is_null(json_object_get(c, "told")));
	assert_true(json_is_null(json_object_get(c, "failed")));
	c = json_array_get(json_object_get(j, "clients"), 1);
	assert_string_equal(str(c, "at"), "drained");
	assert_false(json_is_true(json_object_get(c, "sure")));
	assert_string_equal(str(c, "told"), "MIGRATE");
	assert_string_equal(str(c, "failed"), "no such queue pair");
	assert_int_equal(num(json_array_get(json_object_get(j, "awaited"), 0), "pid"), 102);
	json_decref(j);
}

static void what_is_not_understood_is_left_out(void **state)
{
	static const char *const lines[] = { "",
					     "lid",
					     "lid x",
					     "client",
					     "client 1 rank x pid 1 at base told -",
					     "client 1 rank 1 pid 1 at base",
					     "weather fine",
					     "awaited nobody" };
	json_t *j = agent_status_new(), *fresh = agent_status_new();

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		agent_status_add(j, lines[i]);
	assert_true(json_equal(j, fresh));
	json_decref(fresh);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_no_line_has_told_is_null),
		cmocka_unit_test(lines_become_keys),
		cmocka_unit_test(clients_have_a_place_an_order_and_a_reason),
		cmocka_unit_test(what_is_not_understood_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
