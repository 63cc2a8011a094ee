/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of multicast groups are a tree, or it is said what they are. */
#include "fabric/model/multicast/mcast_judge.h"

#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct fabric *f;
static struct mcast m;
static struct mcast_verdict v;

/* Two leaves with two hosts each, two spines. */
static int setup(void **state)
{
	(void)state;
	f = net_tree(2, 2, 2, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fabric_put(f);
	return 0;
}

static uint32_t leaf(uint32_t i)
{
	uint32_t sw = 0;

	for (; sw < f->nsw; sw++)
		if (fabric_port(f, sw, 1)->term != FAB_NONE ||
		    fabric_port(f, sw, f->sw_nports[sw])->term != FAB_NONE)
			if (!i--)
				break;
	assert_true(sw < f->nsw);
	return sw;
}

/* The channel from that leaf to the spine. */
static uint32_t up(uint32_t from, uint32_t spine)
{
	uint32_t c = f->chan_off[from] + spine;

	assert_true(c < f->chan_off[from + 1]);
	return c;
}

static void add_out(uint16_t mlid, uint32_t chan)
{
	mcast_add(&m, mlid, f->chan_src[chan], f->chan_port[chan]);
}

static void add_back(uint16_t mlid, uint32_t chan)
{
	mcast_add(&m, mlid, f->chan_dst[chan], f->chan_rport[chan]);
}

static void add_cable(uint16_t mlid, uint32_t chan)
{
	add_out(mlid, chan);
	add_back(mlid, chan);
}

static void add_hosts(uint16_t mlid, uint32_t sw)
{
	for (uint32_t p = 1; p <= f->sw_nports[sw]; p++)
		if (fabric_port(f, sw, (uint8_t)p)->term != FAB_NONE)
			mcast_add(&m, mlid, sw, (uint8_t)p);
}

static void judge(void)
{
	mcast_sort(&m);
	mcast_judge(&v, &m, f);
	mcast_end(&m);
}

/* The group's only fault has that in its sentence. */
static void faulty(enum mcast_fault_kind kind, const char *says)
{
	char text[300];

	judge();
	assert_int_equal(v.nfault, 1);
	assert_int_equal(v.fault[0].kind, kind);
	assert_int_equal(v.fault[0].mlid, 0xc001);
	if (!strstr(mcast_fault_text(text, sizeof(text), &v.fault[0], f), says))
		fail_msg("%s", text);
	mcast_verdict_end(&v);
}

static void trees_are_counted_and_right(void **state)
{
	(void)state;
	for (int twice = 0; twice < 2; twice++) {
		add_hosts(0xc001, leaf(0));
		add_hosts(0xc001, leaf(1));
		add_cable(0xc001, up(leaf(0), 1));
		add_cable(0xc001, up(leaf(1), 1));
	}
	add_hosts(0xc002, leaf(0)); /* needs no other switch */
	mcast_add(&m, 0xc003, leaf(1), 0);
	judge();
	assert_int_equal(v.groups, 3);
	assert_int_equal(v.switches, 3);
	assert_int_equal(v.host_ports, 4);
	assert_int_equal(v.nfault, 0);
	mcast_verdict_end(&v);
}

static void a_cycle_is_found_by_the_cable_that_closes_it(void **state)
{
	(void)state;
	for (uint32_t s = 0; s < 2; s++) {
		add_cable(0xc001, up(leaf(0), s));
		add_cable(0xc001, up(leaf(1), s));
	}
	add_hosts(0xc001, leaf(0));
	add_cable(0xc002, up(leaf(0), 0)); /* is right */
	faulty(MCAST_CYCLE, "go round for ever");
}

static void a_switch_that_does_not_forward_is_named(void **state)
{
	(void)state;
	add_hosts(0xc001, leaf(0));
	add_out(0xc001, up(leaf(0), 0));
	faulty(MCAST_NOWHERE, "which does not forward them");
}

static void a_cable_with_one_end_is_named(void **state)
{
	(void)state;
	add_hosts(0xc001, leaf(0));
	add_hosts(0xc001, leaf(1));
	add_out(0xc001, up(leaf(0), 0));
	add_cable(0xc001, up(leaf(1), 0));
	faulty(MCAST_ONE_WAY, "sends none back by that cable");
}

static void hosts_in_several_parts_are_told(void **state)
{
	(void)state;
	add_hosts(0xc001, leaf(0));
	add_hosts(0xc001, leaf(1));
	add_cable(0xc001, up(leaf(0), 0));
	add_cable(0xc001, up(leaf(1), 1));
	faulty(MCAST_PARTS, "in several parts");
}

/* What another process sent is taken as far as it can be of this fabric. */
static void bytes_of_another_fabric_are_refused(void **state)
{
	static const struct mcast_entry bad[][2] = {
		{ { .mlid = 0xc000, .sw = 99 }, { .mlid = 0xc001 } },
		{ { .mlid = 0xc000, .port = 255 }, { .mlid = 0xc001 } },
		{ { .mlid = 0xbfff }, { .mlid = 0xc001 } },
		{ { .mlid = 0xffff }, { .mlid = 0xc001 } },
		{ { .mlid = 0xc001 }, { .mlid = 0xc001 } },
	};

	(void)state;
	for (size_t i = 0; i <= sizeof(bad) / sizeof(bad[0]); i++) {
		struct mcast_entry good[2] = { { .mlid = 0xc000 }, { .mlid = 0xc001, .port = 1 } };
		bytes_out bytes = { 0 };
		struct bytes_in in;
		uint64_t n = 2;

		if (i)
			memcpy(good, bad[i - 1], sizeof(good));
		bytes_put(&bytes, &n, sizeof(n));
		bytes_put(&bytes, good, sizeof(good));
		in = (struct bytes_in){ .at = bytes.v, .left = bytes.n };
		assert_int_equal(mcast_take(&m, &in, f), i ? -EPROTO : 0);
		mcast_end(&m);
		in = (struct bytes_in){ .at = bytes.v, .left = bytes.n - 1 };
		assert_int_equal(mcast_take(&m, &in, f), -EPROTO);
		mcast_end(&m);
		vec_free(&bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_are_counted_and_right),
		cmocka_unit_test(a_cycle_is_found_by_the_cable_that_closes_it),
		cmocka_unit_test(a_switch_that_does_not_forward_is_named),
		cmocka_unit_test(a_cable_with_one_end_is_named),
		cmocka_unit_test(hosts_in_several_parts_are_told),
		cmocka_unit_test(bytes_of_another_fabric_are_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
