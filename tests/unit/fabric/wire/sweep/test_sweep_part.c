/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A discovery of a part finds what one of everything finds. */
#include "fabric/wire/wire.h"

#include "fabric/base/hash/rng.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

/* Two wires to one fabric: the one under test, and one that discovers everything each time. */
struct world {
	struct fabric *f;
	struct sim *sim;
	struct wire *w, *judge;
	struct fabric *got;
	struct sweep_report r;
	bool *down; /* by channel, the lower of both directions */
	uint64_t said[64];
	uint32_t nsaid;
	struct err err;
};

static void world_up(struct world *x, struct fabric *f)
{
	struct wire_opts wo = { .timeout_ms = 1, .retries = 2 };
	struct sim_opts so;
	struct tables *t;

	memset(x, 0, sizeof(*x));
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.delay_us = 5;
	x->f = f;
	x->down = calloc(f->nchan + 1, sizeof(*x->down));
	t = kit_bfs(f);
	assert_int_equal(sim_new(&x->sim, f, &so, &x->err), 0);
	assert_int_equal(sim_install_tables(x->sim, t, &x->err), 0);
	tables_put(t);
	assert_int_equal(wire_open_sim(&x->w, x->sim, &wo, &x->err), 0);
	assert_int_equal(wire_open_sim(&x->judge, x->sim, &wo, &x->err), 0);
	assert_int_equal(wire_sweep(&x->got, &x->r, x->w, NULL, NULL, &x->err), 0);
}

static void world_down(struct world *x)
{
	sweep_report_clear(&x->r);
	wire_close(x->w);
	wire_close(x->judge);
	fabric_put(x->got);
	sim_free(x->sim);
	free(x->down);
	fabric_put(x->f);
}

static void says(struct world *x, uint32_t sw)
{
	for (uint32_t i = 0; i < x->nsaid; i++)
		if (x->said[i] == x->f->sw_guid[sw])
			return;
	assert_true(x->nsaid < 64);
	x->said[x->nsaid++] = x->f->sw_guid[sw];
}

/* Of switches that were known: others cannot be reached, and say nothing. */
static void switch_says(struct world *x, uint32_t sw)
{
	if (fabric_switch_by_guid(x->got, x->f->sw_guid[sw]) != FAB_NONE)
		says(x, sw);
}

static void set_cable(struct world *x, uint32_t c, bool up)
{
	sim_link_set(x->sim, x->f->chan_src[c], x->f->chan_port[c], up);
	x->down[c] = x->down[x->f->chan_rev[c]] = !up;
	switch_says(x, x->f->chan_src[c]);
	switch_says(x, x->f->chan_dst[c]);
}

static void set_host(struct world *x, uint32_t term, bool up)
{
	sim_link_set(x->sim, x->f->term_sw[term], x->f->term_port[term], up);
	switch_says(x, x->f->term_sw[term]);
}

static int sweep_part(struct world *x)
{
	struct fabric *f;
	int rc;

	sweep_report_clear(&x->r);
	rc = wire_sweep_part(&f, &x->r, x->w, NULL, x->said, x->nsaid, NULL, &x->err);
	x->nsaid = 0;
	if (rc)
		return rc;
	fabric_put(x->got);
	x->got = f;
	return 0;
}

static void expect_same_ports(const struct fabric *a, const struct fabric *b)
{
	for (uint32_t i = 0; i < a->nport; i++) {
		const struct port *p = &a->port[i], *q = &b->port[i];

		assert_int_equal(p->chan, q->chan);
		assert_int_equal(p->term, q->term);
		assert_int_equal(p->state, q->state);
		assert_int_equal(p->op_vls, q->op_vls);
		assert_int_equal(p->rate_Mbps, q->rate_Mbps);
		assert_int_equal(p->best_Mbps, q->best_Mbps);
	}
}

/* As the judge sees it; returns the MADs that it took. */
static uint64_t expect_all_found(struct world *x)
{
	struct sweep_report all = { 0 };
	struct fabric *f;
	uint64_t mads;

	assert_int_equal(wire_sweep(&f, &all, x->judge, NULL, NULL, &x->err), 0);
	assert_true(digest_equal(&f->fingerprint, &x->got->fingerprint));
	assert_int_equal(f->nsw, x->got->nsw);
	assert_int_equal(f->nend, x->got->nend);
	assert_int_equal(f->nchan, x->got->nchan);
	for (uint32_t t = 0; t < f->nend; t++) {
		assert_string_equal(f->term_desc[t], x->got->term_desc[t]);
		assert_int_equal(f->term_lid[t], x->got->term_lid[t]);
	}
	expect_same_ports(f, x->got);
	assert_int_equal(x->r.switches, all.switches);
	assert_int_equal(x->r.cas, all.cas);
	assert_int_equal(x->r.links_down, all.links_down);
	assert_int_equal(x->r.sm_lid, all.sm_lid);
	mads = all.mads;
	sweep_report_clear(&all);
	fabric_put(f);
	return mads;
}

/* A cable, a host or all cables of a switch, gone or back; term 0, who looks, and his switch stay. */
static void random_event(struct world *x, struct rng *r)
{
	const struct fabric *f = x->f;
	uint64_t what = rng_below(r, 10);
	uint32_t sw = (uint32_t)rng_below(r, f->nsw);

	if (what < 5 && f->nchan) {
		uint32_t c = (uint32_t)rng_below(r, f->nchan);

		set_cable(x, c, x->down[c]);
	} else if (what < 8) {
		set_host(x, 1 + (uint32_t)rng_below(r, f->nterm - 1), rng_below(r, 2));
	} else if (sw != f->term_sw[0]) {
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
			set_cable(x, c, what == 9);
	}
}

static void a_part_is_what_a_whole_sweep_finds(void **state)
{
	uint32_t whole = 0, parts = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct rng r;
		struct world x;

		rng_seed(&r, seed);
		world_up(&x, seed % 3 == 0 ? net_tree(6, 3, 4, NULL) :
			     seed % 3 == 1 ? net_random(seed, 12, 24, 3, NULL) :
					     net_spec("dragonfly:p=2"));
		for (uint32_t step = 0; step < 20; step++) {
			int rc;

			for (uint64_t k = 1 + rng_below(&r, 2); k; k--)
				random_event(&x, &r);
			rc = sweep_part(&x);
			assert_true(!rc || rc == -EAGAIN);
			whole += rc != 0;
			parts += rc == 0;
			if (rc) {
				fabric_put(x.got);
				sweep_report_clear(&x.r);
				assert_int_equal(wire_sweep(&x.got, &x.r, x.w, NULL, NULL, &x.err),
						 0);
			}
			expect_all_found(&x);
		}
		world_down(&x);
	}
	assert_true(parts > 20 * whole);
	assert_true(parts > 500);
}

static void a_cable_costs_the_mads_of_its_two_switches(void **state)
{
	struct world x;
	uint64_t mads;

	(void)state;
	world_up(&x, net_spec("fattree2:leaves=36,spines=18,hosts=18"));
	set_cable(&x, x.f->nchan / 2, false);
	assert_int_equal(sweep_part(&x), 0);
	mads = x.r.mads;
	assert_true(12 * mads < expect_all_found(&x));
	set_cable(&x, x.f->nchan / 2, true);
	assert_int_equal(sweep_part(&x), 0);
	assert_true(12 * x.r.mads < expect_all_found(&x));
	assert_int_equal(x.got->nchan, x.f->nchan);
	world_down(&x);
}

static void tables_are_read_over_the_routes_of_a_part(void **state)
{
	struct tables *t = NULL;
	struct tables_report tr;
	struct world x;

	(void)state;
	world_up(&x, net_tree(6, 3, 4, NULL));
	for (uint32_t c = x.f->chan_off[1]; c + 1 < x.f->chan_off[2]; c++)
		set_cable(&x, c, false);
	assert_int_equal(sweep_part(&x), 0);
	assert_int_equal(wire_read_tables(&t, x.w, x.got, true, &tr, NULL, &x.err), 0);
	assert_int_equal(tr.nmissing, 0);
	tables_report_clear(&tr);
	tables_put(t);
	world_down(&x);
}

static void what_does_not_answer_takes_a_whole_sweep(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL));
	sim_kill_term(x.sim, 4, true);
	says(&x, x.f->term_sw[4]);
	assert_int_equal(sweep_part(&x), -EAGAIN);
	assert_non_null(strstr(x.err.text, "no response behind"));
	/* as before: the next one, of another switch, is possible */
	says(&x, x.f->term_sw[11]);
	assert_int_equal(sweep_part(&x), 0);
	/* a whole one that has missed somebody is nothing to begin with */
	fabric_put(x.got);
	sweep_report_clear(&x.r);
	assert_int_equal(wire_sweep(&x.got, &x.r, x.w, NULL, NULL, &x.err), 0);
	says(&x, x.f->term_sw[11]);
	assert_int_equal(sweep_part(&x), -EAGAIN);
	world_down(&x);
}

static void a_part_needs_a_sweep_before_and_switches_that_it_has_met(void **state)
{
	struct fabric *f = NULL;
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL));
	says(&x, 0);
	assert_int_equal(wire_sweep_part(&f, NULL, x.judge, NULL, x.said, 1, NULL, &x.err),
			 -EAGAIN);
	x.said[0] = 0xdead;
	assert_int_equal(sweep_part(&x), -EAGAIN);
	x.said[x.nsaid++] = x.f->term_node_guid[0];
	assert_int_equal(sweep_part(&x), -EAGAIN);
	world_down(&x);
}

static void cancelled_it_leaves_the_wire_as_it_was(void **state)
{
	struct progress p = { .cancel = true };
	struct fabric *f = NULL;
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL));
	says(&x, 1);
	assert_int_equal(wire_sweep_part(&f, NULL, x.w, NULL, x.said, 1, &p, &x.err), -ECANCELED);
	assert_null(f);
	assert_int_equal(sweep_part(&x), 0);
	expect_all_found(&x);
	world_down(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_is_what_a_whole_sweep_finds),
		cmocka_unit_test(a_cable_costs_the_mads_of_its_two_switches),
		cmocka_unit_test(tables_are_read_over_the_routes_of_a_part),
		cmocka_unit_test(what_does_not_answer_takes_a_whole_sweep),
		cmocka_unit_test(a_part_needs_a_sweep_before_and_switches_that_it_has_met),
		cmocka_unit_test(cancelled_it_leaves_the_wire_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
