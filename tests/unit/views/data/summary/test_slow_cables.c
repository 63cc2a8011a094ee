/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/summary/slow_cables.h"

#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { QDR = 32000, EDR = 100000, HDR = 200000 };

struct found {
	struct topology_kind *kind;
	struct tiers *tiers;
	uint32_t *expect;
	uint32_t n;
};

static struct found find(const struct fabric *f)
{
	struct found x = { .kind = topology_kind_new(f) };

	x.tiers = tiers_new(f, x.kind);
	x.expect = slow_cables_expect(f, x.tiers);
	for (uint32_t i = 0; i < f->nport; i++)
		x.n += slow_cables_is_slow(&f->port[i], x.expect[i]);
	return x;
}

static void drop(struct found *x)
{
	free(x->expect);
	tiers_free(x->tiers);
	topology_kind_free(x->kind);
}

static uint32_t port_of(const struct fabric *f, uint32_t c)
{
	return f->port_off[f->chan_src[c]] + f->chan_port[c];
}

/* The only such cable, at both of its ends. */
static void assert_only(const struct fabric *f, uint32_t c, uint32_t expect)
{
	struct found x = find(f);

	assert_int_equal(x.n, 2);
	assert_int_equal(x.expect[port_of(f, c)], expect);
	assert_int_equal(x.expect[port_of(f, f->chan_rev[c])], expect);
	drop(&x);
}

static void assert_none(const struct fabric *f)
{
	struct found x = find(f);

	assert_int_equal(x.n, 0);
	drop(&x);
}

static void a_cable_below_its_tier_is_found(void **state)
{
	struct fabric *f = net_spec("fattree3:k=4");

	(void)state;
	assert_none(f);
	net_set_rate(f, 5, QDR);
	assert_only(f, 5, EDR);
	fabric_put(f);
}

/* Tiers and switches that are slower as a whole were bought like that. */
static void a_slower_tier_or_spine_is_no_fault(void **state)
{
	struct fabric *f = net_spec("fattree3:k=4");
	uint32_t slow = FAB_NONE;

	(void)state;
	for (uint32_t c = 0; c < f->nchan; c++)
		if (!f->sw_nterm[f->chan_src[c]] && !f->sw_nterm[f->chan_dst[c]]) {
			net_set_rate(f, c, HDR);
			slow = c;
		}
	assert_none(f);
	net_set_rate(f, slow, EDR); /* as fast as most in the fabric */
	assert_only(f, slow, HDR);
	fabric_put(f);

	f = net_spec("fattree2:leaves=4,spines=4,hosts=2");
	for (uint32_t c = 0; c < f->nchan; c++)
		if (!f->sw_nterm[f->chan_src[c]] && f->chan_src[c] % 2)
			net_set_rate(f, c, HDR);
	assert_none(f);
	fabric_put(f);
}

static void a_cable_below_those_beside_it_is_found(void **state)
{
	struct fabric *f = net_spec("hyperx:dims=3x2,hosts=1,links=3");

	(void)state;
	for (uint32_t c = 0; c < f->nchan; c++)
		net_set_rate(f, c, QDR);
	net_set_rate(f, 0, EDR);
	for (uint32_t c = 1; c < 3; c++)
		assert_int_equal(f->chan_dst[c], f->chan_dst[0]);
	net_set_rate(f, 1, EDR);
	assert_only(f, 2, EDR);
	fabric_put(f);
}

static void unknown_rates_are_not_slow(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=2,hosts=2");

	(void)state;
	net_set_rate(f, 0, 0);
	assert_none(f);
	fabric_put(f);
}

/* All of them are as slow as the others, but could be faster. */
static void a_cable_below_what_is_enabled_is_found(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=2,spines=1,hosts=1");
	struct port *host = &f->port[f->port_off[f->term_sw[0]] + f->term_port[0]];

	(void)state;
	f->port[port_of(f, 0)].best_Mbps = f->port[port_of(f, f->chan_rev[0])].best_Mbps = HDR;
	assert_only(f, 0, HDR);
	host->best_Mbps = HDR; /* or an adapter for HDR100 */
	assert_only(f, 0, HDR);
	host->best_Mbps = 2 * HDR;
	f->port[port_of(f, 0)].best_Mbps = f->port[port_of(f, f->chan_rev[0])].best_Mbps = EDR;
	struct found x = find(f);

	assert_int_equal(x.n, 1);
	drop(&x);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cable_below_its_tier_is_found),
		cmocka_unit_test(a_slower_tier_or_spine_is_no_fault),
		cmocka_unit_test(a_cable_below_those_beside_it_is_found),
		cmocka_unit_test(unknown_rates_are_not_slow),
		cmocka_unit_test(a_cable_below_what_is_enabled_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
