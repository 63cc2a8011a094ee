/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events about cables that are slower than they should be. */
#include "console/app/app_priv.h"

#include "fabric/base/message/log.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char said[4000];

static void keep(void *ctx, const struct log_line *line)
{
	size_t len = strlen(said);

	(void)ctx;
	snprintf(said + len, sizeof(said) - len, "%s\n", line->text);
}

static const struct fabric_shape *net_with_slow(const uint32_t *slow, uint32_t n, uint32_t Mbps)
{
	struct fabric *f = net_spec("fattree2:leaves=8,spines=4,hosts=2");
	const struct fabric_shape *s;

	for (uint32_t i = 0; i < n; i++)
		net_set_rate(f, slow[i], Mbps);
	s = fabric_shape_new(f, NULL, NULL);
	fabric_put(f);
	return s;
}

static const char *told(const struct fabric_shape *was, const struct fabric_shape *now)
{
	said[0] = '\0';
	app_slow_cables_events(was, now);
	return said;
}

static void a_slow_cable_is_told_once(void **state)
{
	const uint32_t slow[] = { 0 };
	const struct fabric_shape *whole = net_with_slow(slow, 0, 0);
	const struct fabric_shape *one = net_with_slow(slow, 1, 25000);
	const struct fabric_shape *worse = net_with_slow(slow, 1, 2500);

	(void)state;
	assert_string_equal(told(NULL, whole), "");
	assert_non_null(strstr(told(whole, one), "25 of 100 Gb/s"));
	assert_ptr_equal(strchr(said, '\n'), strrchr(said, '\n')); /* one line */
	assert_string_equal(told(one, one), "");
	assert_non_null(strstr(told(one, worse), "2.5 of 100 Gb/s"));
	assert_string_equal(told(worse, whole), "");
	assert_false(fabric_same_rates(one->fabric, whole->fabric));
	assert_true(fabric_same_rates(one->fabric, one->fabric));
	assert_true(digest_equal(&one->fabric->fingerprint, &whole->fabric->fingerprint));
	fabric_shape_put(whole);
	fabric_shape_put(one);
	fabric_shape_put(worse);
}

static void many_are_few_lines(void **state)
{
	uint32_t slow[10], n = 0;
	const struct fabric_shape *s;

	(void)state;
	for (uint32_t leaf = 0; leaf < 8; leaf++) /* a cable of each leaf, on any spine */
		slow[n++] = 4 * leaf + leaf % 4;
	slow[n++] = 1;
	slow[n++] = 6;
	s = net_with_slow(slow, n, 25000);
	told(NULL, s);
	assert_non_null(strstr(said, " more cables are slower than they should be\n"));
	fabric_shape_put(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_cable_is_told_once),
		cmocka_unit_test(many_are_few_lines),
	};

	log_set_sink(keep, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
