/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Full ports and what waits for them. */
#include "views/data/summary/congestion.h"

#include "tests/unit/kit/console_kit.h"
#include "views/data/summary/fabric_summary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LIMIT 20

static struct console_kit kit;
static struct fabric_summary seen;

static int open_quiet(void **state)
{
	(void)state;
	console_open(&kit, 80, 24);
	console_fabric(&kit, "fattree2:leaves=6,spines=3,hosts=4", NULL);
	for (uint32_t i = 0; i < kit.fabric->nport; i++) {
		kit.rates->port[i].util_pct = 10;
		kit.rates->port[i].wait_pct = 0;
	}
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	fabric_summary_done(&seen);
	console_close(&kit);
	return 0;
}

static void set(uint32_t port, double util, double wait)
{
	kit.rates->port[port].util_pct = util;
	kit.rates->port[port].wait_pct = wait;
}

static uint32_t port_of(uint32_t chan)
{
	return chan_fabric_port(kit.fabric, chan);
}

static const struct congestion *look(void)
{
	kit.s.limits.wait_pct = LIMIT;
	fabric_summary_update(&seen, &kit.s);
	return &seen.congestion;
}

/* A channel from sw to another switch than not_to; nth of them. */
static uint32_t chan_from(uint32_t sw, uint32_t not_to, uint32_t nth)
{
	const struct fabric *f = kit.fabric;

	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
		if (f->chan_dst[c] != not_to && !nth--)
			return c;
	fail();
	return FAB_NONE;
}

/* The channel of another switch that leads to sw, not from those of two channels. */
static uint32_t chan_to(uint32_t sw, uint32_t not_a, uint32_t not_b)
{
	for (uint32_t c = 0; c < kit.fabric->nchan; c++)
		if (kit.fabric->chan_dst[c] == sw && kit.fabric->chan_src[c] != not_a &&
		    kit.fabric->chan_src[c] != not_b)
			return c;
	fail();
	return FAB_NONE;
}

static void where_nothing_waits_there_is_none(void **state)
{
	const struct congestion *g;

	(void)state;
	set(port_of(3), 100, LIMIT - 1);
	g = look();
	assert_int_equal(g->n, 0);
	for (uint32_t c = 0; c < kit.fabric->nchan; c++)
		assert_int_equal(g->of_chan[c], FAB_NONE);
}

/* Two links wait for a full one, one of them for its neighbour that waits itself. */
static void what_waits_is_put_to_the_full_port(void **state)
{
	const struct fabric *f = kit.fabric;
	const struct congestion *g;
	uint32_t first = 0, second, full;

	(void)state;
	second = chan_from(f->chan_dst[first], f->chan_src[first], 0);
	full = chan_from(f->chan_dst[second], f->chan_src[second], 0);
	set(port_of(first), 60, 62);
	set(port_of(second), 80, 30);
	set(port_of(full), 99, 0);
	g = look();
	assert_int_equal(g->n, 1);
	assert_int_equal(g->finding[0].port, port_of(full));
	assert_int_equal(g->finding[0].waiting, 2);
	assert_int_equal(g->finding[0].longest, first);
	assert_true(fabs(g->finding[0].worst_pct - 122) < 1e-9);
	for (uint32_t c = 0; c < f->nchan; c++)
		assert_int_equal(g->of_chan[c],
				 c == first || c == second || c == full ? 0 : FAB_NONE);
}

/* One for a host that takes too little, one for nothing that is fuller. */
static void the_worst_comes_first(void **state)
{
	const struct fabric *f = kit.fabric;
	const struct congestion *g;
	uint32_t sw = f->term_sw[0], host = f->port_off[sw] + f->term_port[0];
	uint32_t down = chan_to(sw, FAB_NONE, FAB_NONE);
	uint32_t alone = chan_from(f->chan_src[down], sw, 0);

	(void)state;
	set(port_of(down), 40, 35);
	set(host, 90, 0);
	set(port_of(alone), 70, 45);
	g = look();
	assert_int_equal(g->n, 2);
	assert_int_equal(g->finding[0].port, port_of(alone));
	assert_int_equal(g->finding[0].longest, alone);
	assert_int_equal(g->finding[1].port, host);
	assert_int_equal(g->finding[1].waiting, 1);
	assert_int_equal(g->of_chan[alone], 0);
	assert_int_equal(g->of_chan[down], 1);
	/* of another limit as soon as that is set */
	kit.s.limits.wait_pct = 40;
	fabric_summary_update(&seen, &kit.s);
	assert_int_equal(g->n, 1);
	assert_int_equal(g->of_chan[down], FAB_NONE);
}

/* Four links that are all full and wait in a circle. */
static void a_circle_has_one_cause(void **state)
{
	const struct fabric *f = kit.fabric;
	const struct congestion *g;
	uint32_t c[4], port;

	(void)state;
	c[0] = 0;
	c[1] = chan_from(f->chan_dst[c[0]], f->chan_src[c[0]], 0);
	c[2] = chan_from(f->chan_dst[c[1]], f->chan_src[c[1]], 0);
	for (c[3] = 0;
	     f->chan_src[c[3]] != f->chan_dst[c[2]] || f->chan_dst[c[3]] != f->chan_src[c[0]];)
		c[3]++;
	for (int i = 0; i < 4; i++)
		set(port_of(c[i]), 100, 50);
	g = look();
	assert_int_equal(g->n, 1);
	assert_int_equal(g->finding[0].waiting, 4);
	port = g->finding[0].port;
	assert_true(port == port_of(c[0]) || port == port_of(c[1]) || port == port_of(c[2]) ||
		    port == port_of(c[3]));
}

/* Its own fullest port, then the next; whatever the rates, each link that waits is in one. */
static void every_link_that_waits_is_in_one(void **state)
{
	const struct fabric *f = kit.fabric;
	const struct congestion *g;
	uint32_t x = 12345, waiting = 0, all = 0;

	(void)state;
	for (uint32_t i = 0; i < f->nport; i++) {
		x = x * 1664525 + 1013904223;
		set(i, (double)(x >> 16) / 655.36, x >> 9 & 1 ? (double)(x >> 8 & 0xff) / 4 : NAN);
	}
	g = look();
	assert_true(g->n > 1);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t chan = f->port[g->finding[i].port].chan;

		all += g->finding[i].waiting;
		assert_true(!i || g->finding[i - 1].worst_pct >= g->finding[i].worst_pct);
		assert_true(chan == FAB_NONE || g->of_chan[chan] == i);
	}
	for (uint32_t c = 0; c < f->nchan; c++) {
		if (!(kit.rates->port[port_of(c)].wait_pct >= LIMIT))
			continue;
		waiting++;
		assert_in_range(g->of_chan[c], 0, g->n - 1);
	}
	assert_int_equal(all, waiting);
}

static void without_rates_there_is_none(void **state)
{
	(void)state;
	set(port_of(0), 100, 90);
	kit.s.rates = NULL;
	assert_int_equal(look()->n, 0);
	assert_true(fabs(congestion_limit(0) - 20) < 1e-9);
	assert_true(fabs(congestion_limit(7) - 7) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(where_nothing_waits_there_is_none, open_quiet,
						close_all),
		cmocka_unit_test_setup_teardown(what_waits_is_put_to_the_full_port, open_quiet,
						close_all),
		cmocka_unit_test_setup_teardown(the_worst_comes_first, open_quiet, close_all),
		cmocka_unit_test_setup_teardown(a_circle_has_one_cause, open_quiet, close_all),
		cmocka_unit_test_setup_teardown(every_link_that_waits_is_in_one, open_quiet,
						close_all),
		cmocka_unit_test_setup_teardown(without_rates_there_is_none, open_quiet, close_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
