/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports with M_Keys of their own, in a fabric that counts every wrong one. */
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/wire/mkeys.h"
#include "fabric/wire/wire.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#define WORST 5 /* times that a port may be asked with wrong keys in one sweep */

struct world {
	struct fabric *f, *swept;
	struct mkeys own;   /* what the ports want */
	struct mkeys known; /* what we are told */
	struct sim *sim;
	struct wire *w;
	struct sweep_report report;
	struct err err;
};

static uint64_t key_of(uint64_t guid)
{
	return guid ^ 0xabcd000000000000u;
}

/* Each port a key of its own, unless same: then of `same` keys one. */
static void add_ports(struct mkeys *k, const struct fabric *f, unsigned same)
{
	for (uint32_t i = 0; i < f->nsw; i++)
		mkeys_add(k, f->sw_guid[i], same ? 100 + i % same : key_of(f->sw_guid[i]));
	for (uint32_t i = 0; i < f->nend; i++)
		mkeys_add(k, f->term_guid[i], same ? 100 + i % same : key_of(f->term_guid[i]));
}

static void add_cables(struct mkeys *k, const struct fabric *f)
{
	for (uint32_t c = 0; c < f->nchan; c++)
		mkeys_add_cable(k, f->sw_guid[f->chan_src[c]], f->chan_port[c],
				f->sw_guid[f->chan_dst[c]]);
	for (uint32_t t = 0; t < f->nend; t++) {
		mkeys_add_cable(k, f->sw_guid[f->term_sw[t]], f->term_port[t], f->term_guid[t]);
		mkeys_add_cable(k, f->term_guid[t], f->term_ca_port[t], f->sw_guid[f->term_sw[t]]);
	}
}

/* own and known must be there. */
static void world_up(struct world *x, uint8_t protect)
{
	struct wire_opts wo = { .m_keys = &x->known };
	struct sim_opts so;

	mkeys_sort(&x->own);
	mkeys_sort(&x->known);
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.delay_us = 5;
	so.m_keys = &x->own;
	so.m_key_protect = protect;
	assert_int_equal(sim_new(&x->sim, x->f, &so, &x->err), 0);
	assert_int_equal(wire_open_sim(&x->w, x->sim, &wo, &x->err), 0);
}

static int sweep(struct world *x)
{
	sweep_report_clear(&x->report);
	fabric_put(x->swept);
	x->swept = NULL;
	return wire_sweep(&x->swept, &x->report, x->w, NULL, NULL, &x->err);
}

static void world_down(struct world *x)
{
	sweep_report_clear(&x->report);
	wire_close(x->w);
	fabric_put(x->swept);
	sim_free(x->sim);
	fabric_put(x->f);
	mkeys_clear(&x->own);
	mkeys_clear(&x->known);
}

static uint32_t violations(const struct world *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->f->nsw; i++)
		n += sim_key_violations(x->sim, x->f->sw_guid[i]);
	for (uint32_t i = 0; i < x->f->nend; i++)
		n += sim_key_violations(x->sim, x->f->term_guid[i]);
	return n;
}

static int write_all(struct world *x)
{
	struct wire_block *b = calloc(x->swept->nsw, sizeof(*b));
	struct wire_sl2vl *s = calloc(x->swept->nsw, sizeof(*s));
	int rc;

	for (uint32_t i = 0; i < x->swept->nsw; i++) {
		b[i].sw = s[i].sw = i;
		s[i].in = s[i].out = 1;
	}
	rc = wire_write_blocks(x->w, x->swept, b, NULL, x->swept->nsw, NULL, &x->err);
	if (!rc)
		rc = wire_read_blocks(x->w, x->swept, b, x->swept->nsw, NULL, &x->err);
	if (!rc)
		rc = wire_write_sl2vl(x->w, x->swept, s, NULL, x->swept->nsw, NULL, &x->err);
	free(b);
	free(s);
	return rc;
}

static void the_order_of_what_is_tried(void **state)
{
	struct mkeys k = { 0 };
	uint64_t key[MKEYS_TRIES], peer;
	bool sure;

	(void)state;
	assert_int_equal(mkeys_tries(key, &sure, NULL, 7, 0, 0), 1);
	assert_int_equal(key[0], 0);
	for (uint64_t g = 1; g <= 6; g++)
		mkeys_add(&k, g, g < 4 ? 30 : g < 6 ? 20 : 10);
	mkeys_add(&k, 7, 5);
	mkeys_add(&k, 6, 40); /* the last line holds */
	mkeys_add_cable(&k, 1, 2, 7);
	mkeys_sort(&k);
	assert_int_equal(k.nport, 7);
	assert_true(mkeys_find(key, &k, 6));
	assert_int_equal(key[0], 40);
	assert_false(mkeys_find(key, &k, 8));
	assert_true(mkeys_peer(&peer, &k, 1, 2));
	assert_int_equal(peer, 7);
	assert_false(mkeys_peer(&peer, &k, 1, 3));
	/* its own, the preset, the neighbour's, the most common; each once, four at most */
	assert_int_equal(mkeys_tries(key, &sure, &k, 7, 99, 20), 4);
	assert_true(sure);
	assert_int_equal(key[0], 5);
	assert_int_equal(key[1], 99);
	assert_int_equal(key[2], 20);
	assert_int_equal(key[3], 30);
	assert_int_equal(mkeys_tries(key, &sure, &k, 0, 0, 30), 4);
	assert_false(sure);
	assert_int_equal(key[0], 30);
	assert_int_equal(key[1], 20);
	assert_int_equal(mkeys_of(&k, 8, 0), 30);
	assert_int_equal(mkeys_of(&k, 8, 99), 99);
	mkeys_clear(&k);
}

static void each_port_is_asked_and_written_with_its_own_key(void **state)
{
	struct world x = { .f = net_tree(4, 2, 3, NULL) };
	struct wire_ping p = { .lid = 0 };
	struct mad_local local;

	(void)state;
	add_ports(&x.own, x.f, 0);
	add_ports(&x.known, x.f, 0);
	add_cables(&x.known, x.f);
	world_up(&x, 2);
	assert_int_equal(sweep(&x), 0);
	assert_int_equal(x.report.ngaps, 0);
	assert_int_equal(x.swept->nsw, x.f->nsw);
	assert_int_equal(x.swept->nend, x.f->nend);
	assert_int_equal(write_all(&x), 0);
	wire_local(x.w, &local);
	p.lid = local.lid;
	assert_int_equal(wire_ping(x.w, &p, 1, NULL, &x.err), 0);
	assert_int_equal(violations(&x), 0);
	world_down(&x);
}

static void over_lids_too_and_without_a_sweep(void **state)
{
	struct world x = { .f = net_tree(4, 2, 3, NULL) };
	uint32_t leaf = x.f->term_sw[0];
	struct wire_block b = { .sw = leaf };
	struct wire_opts wo = { .m_keys = &x.known };
	struct wire_ping p = { 0 };
	struct tables *t;

	(void)state;
	add_ports(&x.own, x.f, 0);
	add_ports(&x.known, x.f, 0);
	add_cables(&x.known, x.f);
	world_up(&x, 3);
	t = tables_new(x.f, "the port's own switch");
	tables_row(t, leaf)[x.f->sw_lid[leaf]] = 0;
	for (uint32_t i = 0; i < x.f->nend; i++)
		if (x.f->term_sw[i] == leaf)
			tables_row(t, leaf)[x.f->term_lid[i]] = x.f->term_port[i];
	assert_int_equal(sim_install_tables(x.sim, t, &x.err), 0);
	assert_int_equal(sweep(&x), 0);
	/* a neighbour's LID: the key that the sweep has found */
	for (uint32_t i = 1; i < x.f->nend; i++)
		if (x.f->term_sw[i] == leaf)
			p.lid = x.f->term_lid[i];
	assert_int_not_equal(p.lid, 0);
	assert_int_equal(wire_ping(x.w, &p, 1, NULL, &x.err), 0);
	assert_int_equal(p.rc, 0);
	wire_close(x.w);
	assert_int_equal(wire_open_sim(&x.w, x.sim, &wo, &x.err), 0);
	b.sw = fabric_switch_by_guid(x.swept, x.f->sw_guid[leaf]);
	assert_int_equal(wire_read_blocks(x.w, x.swept, &b, 1, NULL, &x.err), 0);
	assert_int_equal(wire_write_blocks(x.w, x.swept, &b, NULL, 1, NULL, &x.err), 0);
	assert_int_equal(violations(&x), 0);
	tables_put(t);
	world_down(&x);
}

static void without_the_cables_few_keys_are_tried_and_then_remembered(void **state)
{
	struct world x = { .f = net_tree(4, 2, 3, NULL) };
	uint32_t first;

	(void)state;
	add_ports(&x.own, x.f, 3);
	add_ports(&x.known, x.f, 3);
	world_up(&x, 2);
	assert_int_equal(sweep(&x), 0);
	assert_int_equal(x.report.ngaps, 0);
	assert_int_equal(x.swept->nend, x.f->nend);
	for (uint32_t i = 0; i < x.f->nend; i++)
		assert_in_range(sim_key_violations(x.sim, x.f->term_guid[i]), 0, WORST);
	first = violations(&x);
	assert_int_not_equal(first, 0);
	assert_int_equal(write_all(&x), 0);
	assert_int_equal(sweep(&x), 0);
	assert_int_equal(x.report.ngaps, 0);
	assert_int_equal(violations(&x), first);
	world_down(&x);
}

static void a_port_that_takes_no_key_is_not_hammered(void **state)
{
	struct world x = { .f = net_tree(4, 2, 3, NULL) };
	uint64_t stranger = x.f->term_guid[x.f->nend - 1];
	uint32_t first;

	(void)state;
	add_ports(&x.own, x.f, 0);
	add_ports(&x.known, x.f, 0);
	add_cables(&x.known, x.f);
	mkeys_add(&x.own, stranger, 0x5eed);
	for (uint32_t i = 0; i < 40; i++) /* the common ones */
		mkeys_add(&x.known, 0x9000 + i, 50 + i % 6);
	world_up(&x, 2);
	assert_int_equal(sweep(&x), 0);
	assert_int_equal(x.report.no_answer, 1);
	assert_int_equal(x.swept->nend, x.f->nend - 1);
	first = sim_key_violations(x.sim, stranger);
	assert_in_range(first, 1, 4 + 3); /* the known one as often as any, three others once */
	assert_int_equal(violations(&x), first);
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(sweep(&x), 0);
		assert_int_equal(sim_key_violations(x.sim, stranger), first + (uint32_t)i);
	}
	world_down(&x);
}

static void where_reading_is_free_the_right_key_is_found_without_a_wrong_one(void **state)
{
	struct world x = { .f = net_tree(4, 2, 3, NULL) };

	(void)state;
	/* not one switch is in the file, but their keys are */
	add_ports(&x.own, x.f, 3);
	for (uint64_t i = 0; i < 30; i++)
		mkeys_add(&x.known, 0x9000 + i, 100 + i % 3);
	for (uint8_t protect = 0; protect < 2; protect++) {
		world_up(&x, protect);
		assert_int_equal(sweep(&x), 0);
		assert_int_equal(write_all(&x), 0);
		assert_int_equal(violations(&x), 0);
		wire_close(x.w);
		sim_free(x.sim);
	}
	x.w = NULL;
	x.sim = NULL;
	world_down(&x);
}

static void a_key_that_nobody_gave_is_not_used(void **state)
{
	struct world x = { .f = net_tree(4, 2, 3, NULL) };

	(void)state;
	add_ports(&x.own, x.f, 0);
	mkeys_add(&x.known, 0x9000, 17);
	world_up(&x, 0); /* each switch tells its key to everybody */
	assert_int_equal(sweep(&x), 0);
	assert_int_equal(write_all(&x), -EIO);
	assert_non_null(strstr(x.err.text, "M_Key"));
	world_down(&x);
}

static void an_old_key_in_the_file_gives_way_to_the_one_that_is_taken(void **state)
{
	struct world x = { .f = net_tree(4, 2, 3, NULL) };
	uint64_t moved = x.f->sw_guid[x.f->nsw - 1];

	(void)state;
	add_ports(&x.own, x.f, 2);
	add_ports(&x.known, x.f, 2);
	add_cables(&x.known, x.f);
	mkeys_add(&x.known, moved, 77);
	world_up(&x, 2);
	assert_int_equal(sweep(&x), 0);
	assert_int_equal(x.report.ngaps, 0);
	assert_int_equal(x.swept->nsw, x.f->nsw);
	assert_int_equal(write_all(&x), 0);
	assert_int_equal(violations(&x), sim_key_violations(x.sim, moved));
	world_down(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_of_what_is_tried),
		cmocka_unit_test(each_port_is_asked_and_written_with_its_own_key),
		cmocka_unit_test(over_lids_too_and_without_a_sweep),
		cmocka_unit_test(without_the_cables_few_keys_are_tried_and_then_remembered),
		cmocka_unit_test(a_port_that_takes_no_key_is_not_hammered),
		cmocka_unit_test(where_reading_is_free_the_right_key_is_found_without_a_wrong_one),
		cmocka_unit_test(a_key_that_nobody_gave_is_not_used),
		cmocka_unit_test(an_old_key_in_the_file_gives_way_to_the_one_that_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
