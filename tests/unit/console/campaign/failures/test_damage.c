/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/failures/damage.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void shares_come_as_ranges_and_lists(void **state)
{
	static const char *const bad[] = { "x",	    "1",    "0..10%", "0..10%/0%",
					   "5%,1%", "101%", "1..5%/1" };
	struct damage_rules r = { 0 };
	struct err err = { "" };

	(void)state;
	assert_int_equal(damage_parse_rates(&r, "0..2%/0.5%", &err), 0);
	assert_int_equal(r.nstep, 5);
	assert_true(r.rate[0] == 0 && r.rate[4] > .0199 && r.rate[4] < .0201);
	r = (struct damage_rules){ 0 };
	assert_int_equal(damage_parse_rates(&r, "1%,5%", &err), 0); /* none comes first */
	assert_int_equal(r.nstep, 3);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		r = (struct damage_rules){ 0 };
		if (!damage_parse_rates(&r, bad[i], &err))
			fail_msg("%s is taken", bad[i]);
	}
}

/* Has every channel of a that b has? By ports, as the numbers differ. */
static void assert_part_of(const struct fabric *b, const struct fabric *a)
{
	for (uint32_t c = 0; c < b->nchan; c++) {
		uint32_t sw = fabric_switch_by_guid(a, b->sw_guid[b->chan_src[c]]);

		assert_int_not_equal(sw, FAB_NONE);
		assert_int_not_equal(fabric_chan(a, sw, b->chan_port[c]), FAB_NONE);
	}
	assert_true(b->nchan <= a->nchan);
}

static void what_failed_at_one_percent_has_failed_at_two(void **state)
{
	struct fabric *f = net_spec("torus:dims=5x5,hosts=2");
	struct damage_rules r = { .kills = { true, true, true } };
	struct damage_state s;
	struct err err = { "" };

	(void)state;
	assert_int_equal(damage_parse_rates(&r, "0..20%/2%", &err), 0);
	for (uint64_t seed = 1; seed < 6; seed++) {
		struct damage *d = damage_new(f, &r, seed);
		struct fabric *before = NULL, *now;

		for (uint32_t k = 0; k < r.nstep; k++) {
			assert_int_equal(damage_at(&now, &s, d, k, &err), 0);
			assert_int_equal(s.down[DAMAGE_CABLES], k); /* of 50 */
			if (before)
				assert_part_of(now, before);
			else
				assert_memory_equal(&now->fingerprint, &f->fingerprint,
						    sizeof(f->fingerprint));
			fabric_put(before);
			before = now;
		}
		fabric_put(before);
		damage_free(d);
	}
	fabric_put(f);
}

/* 50 cables that fail every 1,000 days on average: in 1,000 days 63 % of them. */
static void parts_fail_by_their_mean_time(void **state)
{
	struct fabric *f = net_spec("torus:dims=5x5,hosts=2");
	struct damage_rules r = { .by_time = true, .nstep = 2, .rate = { 0, 1000 } };
	struct damage_rules back = r;
	uint32_t down = 0, still = 0;
	struct err err = { "" };

	(void)state;
	assert_int_equal(damage_parse_mtbf(&r, "cable=24000", &err), 0);
	assert_int_equal(damage_parse_mtbf(&back, "cable=24000", &err), 0);
	back.repair_days = 10;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct damage *d = damage_new(f, &r, seed), *b = damage_new(f, &back, seed);
		struct damage_state s;
		struct fabric *now;

		assert_int_equal(damage_at(&now, &s, d, 1, &err), 0);
		down += s.down[DAMAGE_CABLES];
		fabric_put(now);
		assert_int_equal(damage_at(&now, &s, b, 1, &err), 0);
		still += s.down[DAMAGE_CABLES];
		fabric_put(now);
		damage_free(d);
		damage_free(b);
	}
	assert_in_range(down, 1200, 1330); /* of 2,000, 1,264 expected */
	assert_in_range(still, 5, 40);	   /* 10 of 1,010 days: 20 */
	assert_int_not_equal(damage_parse_mtbf(&r, "cable", &err), 0);
	assert_int_not_equal(damage_parse_mtbf(&r, "fan=7", &err), 0);
	fabric_put(f);
}

static void a_linecard_takes_its_hosts_along(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=2,hosts=18");
	struct damage_rules r = { .kills = { [DAMAGE_LINECARDS] = true },
				  .nstep = 2,
				  .rate = { 0, 1 } };
	struct damage_state s;
	struct fabric *now;
	struct err err = { "" };
	struct damage *d = damage_new(f, &r, 1);

	(void)state;
	assert_int_equal(damage_parts(f, DAMAGE_LINECARDS), 4 * 2 + 2); /* leaves have 20 ports */
	assert_int_not_equal(damage_at(&now, &s, d, 1, &err), 0);
	assert_string_equal(err.text, "no host is left");
	damage_free(d);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_come_as_ranges_and_lists),
		cmocka_unit_test(what_failed_at_one_percent_has_failed_at_two),
		cmocka_unit_test(parts_fail_by_their_mean_time),
		cmocka_unit_test(a_linecard_takes_its_hosts_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
