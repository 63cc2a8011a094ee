/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The VLs of a link share its buffer. */
#include "fabric/sim/packet/packets.h"

#include "fabric/base/hash/rng.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/packets_drive.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS	1000000ULL
#define ONE	((2048 + 26 + 63) / 64) /* credits of a packet */
#define CREDITS 800

static struct packets *with(const struct fabric *f, const struct tables *t, unsigned vls,
			    bool shared, uint64_t seed)
{
	struct packets_opts o;

	packets_opts_init(&o);
	o.vls = vls;
	o.seed = seed;
	o.shared = shared;
	o.credits = CREDITS;
	return packets_new(f, t, &o);
}

static struct packets_counts counts(const struct packets *p)
{
	struct packets_counts n;

	packets_counts(&n, p);
	return n;
}

static void assert_adds_up(const struct packets *p)
{
	const char *wrong = packets_check(p);

	if (wrong)
		fail_msg("%s", wrong);
}

/* Four hosts of every switch send two switches on, clockwise, with the SLs in turns, or with
 * `wrapped` past the first switch. */
static struct packets *ring(struct fabric **f, struct tables **t, bool shared, const uint8_t sl[2],
			    const uint8_t *wrapped)
{
	struct packets *p;
	uint32_t n = 20;

	*f = net_ring(5, 4, NULL);
	*t = kit_clockwise(*f);
	p = with(*f, *t, 2, shared, 1);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t use = wrapped && i + 8 >= n ? *wrapped : sl[i % 2];

		packets_send(p, packets_connect(p, i, (*f)->term_lid[(i + 8) % n], use),
			     PACKETS_ENDLESS);
	}
	return p;
}

static void with_one_vl_there_is_nothing_to_share(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (uint64_t round = 1; round <= 10; round++) {
		struct fabric *f = net_random(round, 8, 14, 3, NULL);
		struct tables *t = kit_random_trees(f, &r);
		struct packets *own = with(f, t, 1, false, round);
		struct packets *shared = with(f, t, 1, true, round);

		for (uint32_t i = 0; i < f->nterm; i++) {
			uint16_t dlid = f->term_lid[rng_below(&r, f->nterm)];

			packets_send(own, packets_connect(own, i, dlid, 0), 200000);
			packets_send(shared, packets_connect(shared, i, dlid, 0), 200000);
		}
		for (uint64_t ns = 10000; ns <= MS / 10; ns += 10000) {
			struct packets_counts a, b;

			packets_run(own, ns);
			packets_run(shared, ns);
			a = counts(own);
			b = counts(shared);
			assert_memory_equal(&a, &b, sizeof(a));
			assert_int_equal(packets_deadlock(own, NULL, NULL),
					 packets_deadlock(shared, NULL, NULL));
		}
		packets_free(own);
		packets_free(shared);
		tables_put(t);
		fabric_put(f);
	}
}

/* The circle that closes on a VL of a ring whose other VL moves, or has a circle as well. */
static uint64_t circle(bool shared, bool both, uint32_t *npackets)
{
	static const uint8_t first[2] = { 0, 0 }, each[2] = { 0, 1 };
	struct packets_wait *w;
	struct fabric *f;
	struct tables *t;
	struct packets *p = ring(&f, &t, shared, both ? each : first, NULL);
	uint64_t closed;
	uint32_t n;

	packets_run(p, MS);
	n = packets_deadlock(p, &w, &closed);
	assert_int_equal(n, f->nsw);
	*npackets = 0;
	for (uint32_t i = 0; i < n; i++)
		*npackets += w[i].npackets;
	assert_true(packets_still(p));
	assert_adds_up(p);
	free(w);
	packets_free(p);
	tables_put(t);
	fabric_put(f);
	return closed;
}

/* 24 packets for each VL, or for both of a link. */
static void a_circle_holds_less_and_closes_sooner_where_vls_share(void **state)
{
	uint32_t own, shared, alone;
	uint64_t own_ns, shared_ns;

	(void)state;
	own_ns = circle(false, true, &own);
	shared_ns = circle(true, true, &shared);
	assert_int_equal(own, 5 * (CREDITS / ONE));
	assert_true(shared < own && shared > 5);
	assert_true(shared_ns < own_ns);
	/* the other VL's room stays its own, also while it is empty */
	circle(true, false, &alone);
	assert_int_equal(alone, 5 * ((CREDITS - ONE) / ONE));
}

/* A VL that is free of circles goes on beside one that stands: the room for its packet is its. */
static void vls_keep_apart_also_where_they_share(void **state)
{
	static const uint8_t each[2] = { 0, 1 }, same[2] = { 0, 0 };
	static const uint8_t up = 1;

	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		struct fabric *f;
		struct tables *t;
		struct packets *p = ring(&f, &t, shared, same, &up);

		packets_run(p, 5 * MS);
		assert_int_equal(packets_deadlock(p, NULL, NULL), 0);
		assert_true(counts(p).delivered > 20000);
		assert_adds_up(p);
		packets_free(p);
		tables_put(t);
		fabric_put(f);
	}
	for (int shared = 0; shared < 2; shared++) {
		struct fabric *f;
		struct tables *t;
		struct packets *p = ring(&f, &t, shared, same, NULL);
		struct packets_conn_counts n, m;
		uint32_t c;

		packets_run(p, MS);
		assert_true(packets_still(p) && packets_deadlock(p, NULL, NULL) > 0);
		c = packets_connect(p, 0, f->term_lid[8], each[1]);
		packets_send(p, c, PACKETS_ENDLESS);
		packets_run(p, 2 * MS);
		packets_conn_counts(&n, p, c);
		packets_run(p, 3 * MS);
		packets_conn_counts(&m, p, c);
		assert_true(n.delivered > 100 && m.delivered > n.delivered + 100);
		assert_true(packets_deadlock(p, NULL, NULL) > 0);
		assert_adds_up(p);
		packets_free(p);
		tables_put(t);
		fabric_put(f);
	}
}

/* Random tables, SLs by chance: what was found to be a circle stays, and what stands for ever has
 * one. */
static void a_circle_stays_and_whatever_stands_has_one(void **state)
{
	uint32_t circles = 0, moving = 0;
	struct rng r;

	(void)state;
	rng_seed(&r, 9);
	for (uint32_t round = 0; round < 60; round++) {
		struct fabric *f = net_random(round + 1, 8, 14, 3, NULL);
		struct tables *t = kit_random_trees(f, &r);
		struct packets *p = with(f, t, 2 + round % 2, true, round);
		uint32_t n = 0;
		uint64_t before, closed = 0, again = 0;

		for (uint32_t i = 0; i < 8 * f->nterm && f->nterm; i++) {
			uint16_t dlid = f->term_lid[rng_below(&r, f->nterm)];
			uint8_t sl = (uint8_t)rng_below(&r, 2);

			packets_send(p, packets_connect(p, i % f->nterm, dlid, sl),
				     PACKETS_ENDLESS);
		}
		for (uint64_t ns = 5000; ns <= MS / 2 && !n; ns += 5000) {
			packets_run(p, ns);
			n = packets_deadlock(p, NULL, &closed);
		}
		before = packets_now_ns(p);
		packets_run(p, MS);
		if (n) {
			assert_true(closed <= before);
			/* of several that closed at once another may be told */
			assert_true(packets_deadlock(p, NULL, &again) > 0);
			assert_int_equal(closed, again);
			circles++;
		}
		if (packets_still(p) && counts(p).in_flight)
			assert_true(packets_deadlock(p, NULL, NULL) > 0);
		moving += !n && !packets_still(p);
		assert_adds_up(p);
		packets_free(p);
		tables_put(t);
		fabric_put(f);
	}
	print_message("%u circles, %u keep moving\n", circles, moving);
	assert_true(circles > 10 && moving > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_one_vl_there_is_nothing_to_share),
		cmocka_unit_test(a_circle_holds_less_and_closes_sooner_where_vls_share),
		cmocka_unit_test(vls_keep_apart_also_where_they_share),
		cmocka_unit_test(a_circle_stays_and_whatever_stands_has_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
