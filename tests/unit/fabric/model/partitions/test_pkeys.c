/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two P_Key tables: may their ports talk? */
#include "fabric/model/partitions/pkeys.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define KEYS(...)                                                                                  \
	{                                                                                          \
		.v = (uint16_t[]){ __VA_ARGS__ },                                                  \
		.n = sizeof((uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t)                        \
	}

static void one_of_two_members_must_be_full(void **state)
{
	const struct pkeys full = KEYS(0xffff), limited = KEYS(0x7fff);
	uint16_t value = 0;

	(void)state;
	assert_true(pkeys_shared(&value, &full, &limited));
	assert_int_equal(value, 0x7fff);
	assert_true(pkeys_shared(&value, &limited, &full));
	assert_true(pkeys_shared(&value, &full, &full));
	assert_false(pkeys_shared(&value, &limited, &limited));
}

static void any_partition_will_do_and_the_first_is_told(void **state)
{
	const struct pkeys a = KEYS(0x7fff, 0x8005, 0x0007), b = KEYS(0x8007, 0x0005, 0x7fff);
	uint16_t value = 0;

	(void)state;
	assert_true(pkeys_shared(&value, &a, &b));
	assert_int_equal(value, 5);
	assert_true(pkeys_shared(&value, &b, &a));
	assert_int_equal(value, 7);
}

static void empty_entries_and_tables_are_no_partition(void **state)
{
	const struct pkeys a = KEYS(0, 0x8000), none = { 0 };
	uint16_t value = 0;

	(void)state;
	assert_false(pkeys_shared(&value, &a, &a));
	assert_false(pkeys_shared(&value, &a, &none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_two_members_must_be_full),
		cmocka_unit_test(any_partition_will_do_and_the_first_is_told),
		cmocka_unit_test(empty_entries_and_tables_are_no_partition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
