/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/packets_drive.h"
#include "tests/unit/kit/txn_phases.h"
#include "tests/unit/kit/txn_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GAMES	10
#define LARGEST 12 /* switches */

struct sum {
	unsigned confirmed, back, refused, bad; /* bad: lost, out of order or deadlocked */
	uint64_t misordered, dropped, lost_notices, delivered;
};

static void play(struct sum *sum, const struct world_pair *pair, uint64_t seed, enum txn_lie lie)
{
	struct packets_counts n;
	struct txn_end e;
	struct world w;

	world_begin(&w, pair, true, 0, seed);
	txn_phases_play(&e, &w, lie);
	packets_counts(&n, w.p);
	assert_null(packets_check(w.p));
	if (!lie && (e.wrong || n.dropped || n.misordered))
		fail_msg("seed %lu, %s, %s: %s, %lu lost, %lu out of order", (unsigned long)seed,
			 pair->spec, txn_trouble_name(e.trouble), e.wrong ? e.wrong : "ended well",
			 (unsigned long)n.dropped, (unsigned long)n.misordered);
	sum->confirmed += e.outcome == OUTCOME_CONFIRMED;
	sum->back += e.outcome == OUTCOME_ROLLED_BACK;
	sum->refused += e.outcome == OUTCOME_REFUSED;
	sum->bad += w.deadlock || n.dropped || n.misordered;
	sum->misordered += n.misordered;
	sum->dropped += n.dropped;
	sum->lost_notices += e.lost;
	sum->delivered += n.delivered;
	world_end(&w);
}

static void play_all(struct sum *sum, unsigned games, enum txn_lie lie)
{
	memset(sum, 0, sizeof(*sum));
	for (uint64_t seed = 1, done = 0; done < games; seed++) {
		struct world_pair pair;

		if (!world_pair(&pair, LARGEST, seed))
			continue;
		play(sum, &pair, seed, lie);
		world_pair_free(&pair);
		done++;
	}
	print_message("%u confirmed, %u rolled back, %u refused; %lu notices lost; %lu packets "
		      "delivered, %lu lost, %lu out of order\n",
		      sum->confirmed, sum->back, sum->refused, (unsigned long)sum->lost_notices,
		      (unsigned long)sum->delivered, (unsigned long)sum->dropped,
		      (unsigned long)sum->misordered);
}

static void updates_lose_nothing_and_keep_the_order_whatever_happens(void **state)
{
	struct sum sum;

	(void)state;
	play_all(&sum, GAMES, LIE_NONE);
	assert_int_equal(sum.confirmed + sum.back + sum.refused, GAMES);
	assert_true(sum.confirmed && sum.back && sum.refused && sum.lost_notices);
}

static void a_drain_that_is_none_is_seen_in_the_order_of_packets(void **state)
{
	struct sum sum;

	(void)state;
	play_all(&sum, 3, LIE_DRAIN);
	assert_true(sum.misordered > 0);
}

static void who_stays_on_base_lids_during_the_writes_is_hit(void **state)
{
	struct sum sum;

	(void)state;
	play_all(&sum, GAMES, LIE_MIGRATE);
	assert_true(sum.bad > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(updates_lose_nothing_and_keep_the_order_whatever_happens),
		cmocka_unit_test(a_drain_that_is_none_is_seen_in_the_order_of_packets),
		cmocka_unit_test(who_stays_on_base_lids_during_the_writes_is_hit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
