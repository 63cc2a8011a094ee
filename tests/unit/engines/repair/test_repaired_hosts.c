/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts go, come and move, cables get slower, go and come back: repaired each time and judged. */
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/host_play.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void every_event_is_repaired(void **state)
{
	static const char *const engines[] = { "nue", "dfsssp", "updn", "minhop", "dfdn", "sar" };
	uint32_t events = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct net_opts opts = { .lmc = seed % 5 == 4, .random_lids = seed };
		struct fabric *f =
			net_random(seed, 8 + (uint32_t)seed % 6, 20 + (uint32_t)seed, 3, &opts);
		struct host_play p = { .orders = 2 };
		bool fine = host_play_begin(&p, f, engines[seed % 6], seed);

		for (int i = 0; i < 12 && fine && p.t; i++)
			fine = host_play_event(&p);
		if (!fine)
			fail_msg("seed %u, %s: %s", (unsigned)seed, engines[seed % 6], p.why);
		events += p.events;
		host_play_end(&p);
		fabric_put(f);
	}
	assert_true(events > 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_is_repaired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
