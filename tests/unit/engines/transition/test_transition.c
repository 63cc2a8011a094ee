/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/transition/transition.h"

#include "engines/dfsssp.h"
#include "engines/engine.h"
#include "engines/updn.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/write_judge.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct transition *must_plan(const struct fabric *f, const struct tables *old,
				    const struct tables *new,
				    const struct transition_params *params)
{
	struct transition *t;
	struct err err;

	if (transition_plan(&t, f, old, new, params, NULL, &err))
		fail_msg("%s", err.text);
	return t;
}

static void assert_judged(const struct fabric *f, const struct tables *old,
			  const struct tables *new, const struct transition *t, bool sl_any)
{
	struct judge_count count = { 0 };
	const char *what = judge_transition(f, old, new, t, sl_any, 20, 7, &count);

	if (what)
		fail_msg("%s", what);
}

static bool *drained_of(const struct fabric *f, const struct transition *t)
{
	bool *drained = xcalloc(f->max_lid + 1u, sizeof(*drained));

	for (uint32_t i = 0; i < t->ndrain; i++)
		drained[t->drain[i].lid] = true;
	return drained;
}

/* The LIDs of hosts on those switches are as in b, all others as in a. */
static struct tables *take_lids(const struct fabric *f, const struct tables *a,
				const struct tables *b, uint32_t switches)
{
	struct tables *t = tables_onto(f, a, a);

	for (uint32_t end = 0; end < f->nend; end++)
		for (uint32_t sw = 0; sw < f->nsw && switches >> f->term_sw[end] & 1; sw++)
			tables_row(t, sw)[f->term_lid[end]] = tables_row(b, sw)[f->term_lid[end]];
	return t;
}

static void without_a_difference_there_is_nothing_to_write(void **state)
{
	struct fabric *f = net_tree(4, 2, 3, NULL);
	struct tables *t = must_route(&engine_updn, f, NULL, NULL);
	struct transition *tr = must_plan(f, t, t, NULL);

	(void)state;
	assert_int_equal(tr->nwrites + tr->nwaves + tr->ndrain + tr->lids, 0);
	transition_free(tr);
	tables_put(t);
	fabric_put(f);
}

/* Each LID goes up to the spine after its old one. */
static void on_a_tree_one_wave_is_enough(void **state)
{
	struct fabric *f = net_tree(5, 3, 20, NULL);
	struct tables *old = kit_bfs(f), *new = tables_onto(f, old, old);
	struct transition *t;

	(void)state;
	for (uint32_t end = 0; end < f->nend; end++)
		for (uint32_t sw = 0; sw < 5; sw++)
			if (f->term_sw[end] != sw)
				tables_row(new, sw)[f->term_lid[end]] =
					f->chan_port[kit_chan(f, sw, 5 + end % 3)];
	t = must_plan(f, old, new, NULL);
	assert_int_equal(t->nwaves, 1);
	assert_int_equal(t->nwrites, t->blocks);
	assert_int_equal(t->nwrites, 10); /* two blocks on each leaf */
	assert_int_equal(t->ndrain, 0);
	assert_judged(f, old, new, t, false);
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

/* Two switches that exchange their way to a third would send packets to and fro. */
static void a_loop_takes_two_waves_from_the_destination_outwards(void **state)
{
	struct fabric *f = net_ring(3, 1, NULL);
	struct tables *old = kit_bfs(f), *new;
	uint32_t lid = f->term_lid[0];
	struct transition *t;

	(void)state;
	tables_row(old, 2)[lid] = f->chan_port[kit_chan(f, 2, 1)];
	new = kit_bfs(f);
	tables_row(new, 1)[lid] = f->chan_port[kit_chan(f, 1, 2)];
	t = must_plan(f, old, new, NULL);
	assert_int_equal(t->nwaves, 2);
	assert_int_equal(t->nwrites, 2);
	assert_int_equal(t->writes[0].sw, 2);
	assert_int_equal(t->writes[1].sw, 1);
	assert_true(t->writes[0].now == 1ull << lid && t->writes[1].now == 1ull << lid);
	assert_judged(f, old, new, t, false);
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

static void a_ring_cut_elsewhere_is_updated_in_waves_that_must_not_be_merged(void **state)
{
	struct fabric *f = net_ring(5, 2, NULL);
	struct tables *old = kit_cut_ring(f, 4), *new = kit_cut_ring(f, 1);
	struct transition *t = must_plan(f, old, new, NULL);
	struct judge_count count = { 0 };

	(void)state;
	assert_true(t->nwaves > 1);
	assert_int_equal(t->ndrain, 0);
	assert_judged(f, old, new, t, false);
	for (uint32_t i = 0; i < t->nwrites; i++)
		t->writes[i].wave = 0;
	t->nwaves = 1;
	assert_non_null(judge_transition(f, old, new, t, false, 50, 1, &count));
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

/*
 * A ring of four switches with hosts A and B each.  What is opposite is reached clockwise or
 * counter-clockwise, turning at the switch in between.  To A2 and A3 it is clockwise, to B2 and
 * B3 counter-clockwise, always; so to A0 and A1 it must not both be clockwise, nor both
 * counter-clockwise.  All other LIDs keep to themselves on SL 1.
 */
static struct tables *opposite(const struct fabric *f, bool a0_clockwise)
{
	struct tables *t = kit_cut_ring(f, 3);

	tables_sl_form(t, SL_BY_DLID, f);
	memset(t->sl, 1, t->stride);
	for (uint32_t end = 0; end < f->nend; end++) {
		uint32_t dst = f->term_sw[end], lid = f->term_lid[end];
		bool b = f->term_list[f->term_off[dst]] != end;
		bool clockwise = dst > 1 ? !b : dst == 0 ? a0_clockwise : !a0_clockwise;

		if (dst <= 1 && b)
			continue;
		t->sl[lid] = 0;
		tables_row(t, (dst + 2) % 4)[lid] = f->chan_port[kit_chan(
			f, (dst + 2) % 4, clockwise ? (dst + 3) % 4 : (dst + 1) % 4)];
		tables_row(t, (dst + 3) % 4)[lid] = f->chan_port[kit_chan(f, (dst + 3) % 4, dst)];
		tables_row(t, (dst + 1) % 4)[lid] = f->chan_port[kit_chan(f, (dst + 1) % 4, dst)];
	}
	return t;
}

static void two_lids_in_each_others_way_need_the_drain_of_one(void **state)
{
	struct fabric *f = net_ring(4, 2, NULL);
	struct tables *old = opposite(f, true), *new = opposite(f, false);
	struct transition *t = must_plan(f, old, new, NULL);
	bool *drained = drained_of(f, t);

	(void)state;
	assert_int_equal(t->lids, 2);
	assert_int_equal(t->ndrain, 1);
	assert_int_equal(t->drain[0].why, TRANSITION_NO_ORDER);
	assert_true(t->irreducible);
	assert_judged(f, old, new, t, false);
	assert_true(judge_any_order(f, old, new, drained));
	drained[t->drain[0].lid] = false;
	assert_false(judge_any_order(f, old, new, drained));
	free(drained);
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

/* Clockwise to every opposite host: on one SL that is a cycle, so A1 gets another. */
static void a_lid_whose_old_sl_deadlocks_in_the_new_tables_is_drained_for_certain(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL);
	struct tables *old = kit_cut_ring(f, 3), *new = kit_cut_ring(f, 3);
	struct transition *t;

	(void)state;
	tables_sl_form(old, SL_BY_DLID, f);
	tables_sl_form(new, SL_BY_DLID, f);
	for (uint32_t sw = 0; sw < 4; sw++) {
		old->sl[f->sw_lid[sw]] = new->sl[f->sw_lid[sw]] = 2;
		new->sl[f->term_lid[sw]] = sw == 1;
		for (uint32_t k = 1; k < 4; k++)
			tables_row(new, (sw + k) % 4)[f->term_lid[sw]] = f->chan_port[kit_chan(
				f, (sw + k) % 4, k == 1 ? sw : (sw + k + 1) % 4)];
	}
	t = must_plan(f, old, new, NULL);
	assert_int_equal(t->ndrain, 1);
	assert_int_equal(t->drain[0].lid, f->term_lid[1]);
	assert_int_equal(t->drain[0].why, TRANSITION_OLD_SL);
	assert_judged(f, old, new, t, false);
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

static void cycles_of_the_old_tables_do_not_grow(void **state)
{
	struct fabric *f = net_ring(4, 2, NULL);
	struct tables *old = kit_clockwise(f), *new = kit_cut_ring(f, 3);
	struct transition *t = must_plan(f, old, new, NULL);

	(void)state;
	assert_true(t->old_cyclic);
	assert_judged(f, old, new, t, false);
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

/* No turn from left to right and back on a chain: any SLs and SL2VL tables will do. */
static void sls_and_sl2vl_tables_may_change_with_the_rest(void **state)
{
	static const enum sl_kind sl[] = { SL_CONST, SL_BY_DLID, SL_BY_SWITCH, SL_BY_TERM };
	static const enum sl2vl_kind vl[] = { SL2VL_IDENTITY, SL2VL_BY_INPUT, SL2VL_FULL };
	struct net_opts o = { .lmc = 1, .random_lids = 3, .aggregation = 2 };

	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct fabric *f = net_ring(3 + seed % 3, 2, &o);
		struct tables *old = kit_cut_ring(f, 0),
			      *new = kit_cut_ring(f, (uint32_t)(seed % 3));
		struct transition_params params = { .sl_any = seed & 1 };
		struct transition *t;
		struct rng r;

		rng_seed(&r, seed);
		kit_random_sl(old, f, sl[rng_below(&r, 4)], 4, &r);
		kit_random_sl(new, f, sl[rng_below(&r, 4)], 4, &r);
		kit_random_sl2vl(old, f, vl[rng_below(&r, 3)], 3, &r);
		kit_random_sl2vl(new, f, vl[rng_below(&r, 3)], 3, &r);
		t = must_plan(f, old, new, &params);
		assert_judged(f, old, new, t, params.sl_any);
		transition_free(t);
		tables_put(old);
		tables_put(new);
		fabric_put(f);
	}
}

/* Random trees deadlock now and then; where the search drains, every order is tried. */
static void on_tiny_nets_the_drain_is_what_trying_every_order_says(void **state)
{
	uint32_t planned = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct fabric *f = net_random(seed, 5, 7, 1, NULL);
		struct tables *old, *other, *new;
		struct transition *t;
		uint32_t entries = 0;
		struct rng r;

		rng_seed(&r, seed);
		old = kit_random_trees(f, &r);
		other = kit_random_trees(f, &r);
		new = take_lids(f, old, other, (uint32_t)rng_below(&r, 32));
		for (uint32_t i = 0; i < f->nsw * old->stride; i++)
			entries += old->lft[i] != new->lft[i];
		if (entries <= 10 && !transition_plan(&t, f, old, new, NULL, NULL, NULL)) {
			bool *drained = drained_of(f, t);

			assert_judged(f, old, new, t, false);
			assert_true(t->old_cyclic || judge_any_order(f, old, new, drained));
			for (uint32_t i = 0; i < t->ndrain && !t->old_cyclic; i++) {
				drained[t->drain[i].lid] = false;
				assert_false(judge_any_order(f, old, new, drained));
				drained[t->drain[i].lid] = true;
			}
			free(drained);
			transition_free(t);
			planned++;
		}
		tables_put(old);
		tables_put(other);
		tables_put(new);
		fabric_put(f);
	}
	assert_true(planned > 100);
}

static void random_pairs_of_engines_never_meet_a_loop_or_a_cycle(void **state)
{
	const struct engine *const *all;
	uint32_t planned = 0;
	size_t n;

	(void)state;
	all = engine_all(&n);
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct fabric *f = net_random(seed, 6, 10, 2, NULL);
		struct tables *t[2] = { NULL, NULL };
		struct transition *tr;
		struct rng r;

		rng_seed(&r, seed);
		for (int i = 0; i < 2; i++) {
			struct engine_params params = { .vls = 4, .threads = 1 };

			engine_run(all[rng_below(&r, n)], &t[i], f, NULL, NULL, &params, NULL,
				   NULL);
		}
		for (int quick = 0; quick < 2 && t[0] && t[1]; quick++) {
			struct transition_params how = { .quick = quick };

			if (transition_plan(&tr, f, t[0], t[1], &how, NULL, NULL))
				break;
			assert_judged(f, t[0], t[1], tr, false);
			transition_free(tr);
			planned++;
		}
		tables_put(t[0]);
		tables_put(t[1]);
		fabric_put(f);
	}
	assert_true(planned > 6);
}

static void what_is_done_in_a_hurry_keeps_lids_that_loop_in_one_wave(void **state)
{
	struct fabric *f = net_ring(5, 1, NULL);
	struct tables *old = kit_cut_ring(f, 4), *new = kit_cut_ring(f, 1);
	struct transition_params quick = { .quick = true };
	struct transition *t;

	(void)state;
	assert_int_equal(transition_plan(&t, f, old, new, &quick, NULL, NULL), 0);
	assert_true(t->nwaves > 1);
	assert_true(t->ndrain < t->lids);
	assert_judged(f, old, new, t, false);
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

static void the_same_input_gives_the_same_plan(void **state)
{
	struct fabric *f = net_torus(4, 4, 2, NULL);
	struct tables *old = must_route(&engine_dfsssp, f, NULL, NULL);
	struct tables *new = must_route(&engine_updn, f, NULL, NULL);
	struct transition *a = must_plan(f, old, new, NULL), *b = must_plan(f, old, new, NULL);

	(void)state;
	assert_int_equal(a->nwrites, b->nwrites);
	for (uint32_t i = 0; i < a->nwrites; i++) {
		assert_int_equal(a->writes[i].wave, b->writes[i].wave);
		assert_int_equal(a->writes[i].sw, b->writes[i].sw);
		assert_int_equal(a->writes[i].block, b->writes[i].block);
		assert_true(a->writes[i].now == b->writes[i].now);
	}
	assert_int_equal(a->ndrain, b->ndrain);
	for (uint32_t i = 0; i < a->ndrain; i++)
		assert_int_equal(a->drain[i].lid, b->drain[i].lid);
	transition_free(a);
	transition_free(b);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

static void set_op_vls(struct fabric *f, uint8_t vls)
{
	for (uint32_t i = 0; i < f->nport; i++)
		f->port[i].op_vls = vls;
}

/* On a ring cut in the same place: all paths to host 0 by SL sl, all SLs on VL vl but for one. */
static struct tables *by_sl(const struct fabric *f, uint8_t sl, uint8_t odd_sl, uint8_t odd_vl)
{
	struct tables *t = kit_cut_ring(f, 3);

	tables_sl_form(t, SL_BY_DLID, f);
	t->sl[f->term_lid[0]] = sl;
	tables_sl2vl_form(t, SL2VL_BY_INPUT, f);
	for (uint32_t i = 0; i < 3; i++)
		t->sl2vl[i * FAB_SLS + odd_sl] = odd_vl;
	return t;
}

/* From SL 5 to SL 0 where the new SL2VL tables have that VL for SL 5: host 0's LID is drained. */
static void assert_old_sl_is_lost(uint8_t vl, uint8_t op_vls, bool lost)
{
	struct fabric *f = net_ring(4, 1, NULL);
	struct tables *old = by_sl(f, 5, 1, 0), *new = by_sl(f, 0, 5, vl);
	struct transition *t;

	set_op_vls(f, op_vls);
	t = must_plan(f, old, new, NULL);
	assert_int_equal(t->ndrain, lost);
	if (lost) {
		assert_int_equal(t->drain[0].lid, f->term_lid[0]);
		assert_int_equal(t->drain[0].why, TRANSITION_OLD_SL);
	}
	assert_judged(f, old, new, t, false);
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

static void old_sls_that_new_sl2vl_tables_lose_are_drained(void **state)
{
	(void)state;
	assert_old_sl_is_lost(VL_DROP, 0, true);
	assert_old_sl_is_lost(VL_DROP, 8, true);
	assert_old_sl_is_lost(5, 4, true);
	assert_old_sl_is_lost(5, 8, false);
	assert_old_sl_is_lost(5, 0, false); /* not known */
	assert_old_sl_is_lost(3, 4, false);
}

/* Where hosts may use SL 5 before the tables know it. */
static void new_sls_that_old_sl2vl_tables_lose_are_drained(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL);
	struct tables *old = by_sl(f, 0, 5, 5), *new = by_sl(f, 5, 1, 0);
	struct transition_params any = { .sl_any = true };
	struct transition *t;

	(void)state;
	set_op_vls(f, 2);
	t = must_plan(f, old, new, &any);
	assert_int_equal(t->ndrain, 1);
	assert_int_equal(t->drain[0].why, TRANSITION_NO_ORDER);
	assert_judged(f, old, new, t, true);
	transition_free(t);
	t = must_plan(f, old, new, NULL);
	assert_int_equal(t->ndrain, 0);
	assert_judged(f, old, new, t, false);
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

/* Nobody's fault: the old tables lose the LID's packets on the last link, too. */
static void losses_that_are_there_already_change_nothing(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL);
	struct tables *old = by_sl(f, 5, 5, 5), *new = by_sl(f, 0, 5, VL_DROP);
	struct transition *t;

	(void)state;
	f->port[f->port_off[f->term_sw[0]] + f->term_port[0]].op_vls = 4;
	t = must_plan(f, old, new, NULL);
	assert_int_equal(t->ndrain, 0);
	assert_judged(f, old, new, t, false);
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

static void new_tables_with_a_loop_or_a_cycle_are_refused(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL);
	struct tables *old = kit_cut_ring(f, 3), *cyclic = kit_clockwise(f),
		      *loops = kit_cut_ring(f, 3);
	struct transition *t;
	struct err err;

	(void)state;
	assert_int_equal(transition_plan(&t, f, old, cyclic, NULL, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "cycle of dependencies"));
	tables_row(loops, 1)[f->term_lid[0]] = f->chan_port[kit_chan(f, 1, 2)];
	assert_int_equal(transition_plan(&t, f, old, loops, NULL, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "forwarding loop"));
	tables_put(old);
	tables_put(cyclic);
	tables_put(loops);
	fabric_put(f);
}

/* A changing LID that loops already cannot be followed: it goes to the drain. */
static void a_lid_that_loops_in_the_old_tables_is_drained(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL);
	struct tables *old = kit_cut_ring(f, 3), *new = kit_cut_ring(f, 3);
	struct transition *t;

	(void)state;
	tables_row(old, 1)[f->term_lid[0]] = f->chan_port[kit_chan(f, 1, 2)];
	t = must_plan(f, old, new, NULL);
	assert_int_equal(t->ndrain, 1);
	assert_int_equal(t->drain[0].lid, f->term_lid[0]);
	assert_int_equal(t->drain[0].why, TRANSITION_OLD_LOOP);
	assert_int_equal(t->nwrites, 1);
	transition_free(t);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

struct watch {
	struct progress p;
	uint64_t calls, work, most, end_at;
};

static void look_on(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct watch *w = ctx;

	assert_non_null(step);
	assert_true(done <= total);
	assert_true(w->p.work >= w->work);
	if (w->p.most) {
		assert_true(w->p.work <= w->p.most);
		assert_true(!w->most || w->p.most <= w->most);
	}
	w->work = w->p.work;
	w->most = w->p.most;
	if (++w->calls == w->end_at)
		atomic_store(&w->p.cancel, true);
}

/* An operator who waits relies on it. */
static void what_is_told_as_the_most_only_shrinks_and_is_never_exceeded(void **state)
{
	struct transition_params quick = { .quick = true };

	(void)state;
	for (uint32_t n = 5; n < 12; n++) {
		struct fabric *f = net_ring(n, 2, NULL);
		struct tables *old = kit_cut_ring(f, n - 1), *new = kit_cut_ring(f, 1);
		struct watch w = { .p = { .report = look_on, .ctx = &w } };
		struct transition *t;
		uint64_t calls;
		struct err err;

		assert_int_equal(transition_plan(&t, f, old, new, &quick, &w.p, &err), 0);
		assert_true(w.most > 0);
		transition_free(t);
		calls = w.calls;
		for (uint64_t k = 1; k <= calls; k++) { /* ended at whichever step */
			w = (struct watch){ .p = { .report = look_on, .ctx = &w }, .end_at = k };
			assert_int_equal(transition_plan(&t, f, old, new, &quick, &w.p, &err),
					 -ECANCELED);
		}
		tables_put(old);
		tables_put(new);
		fabric_put(f);
	}
}

static void a_cancel_is_honoured(void **state)
{
	struct fabric *f = net_ring(5, 1, NULL);
	struct tables *old = kit_cut_ring(f, 4), *new = kit_cut_ring(f, 1);
	struct progress p = { .cancel = true };
	struct transition *t;
	struct err err;

	(void)state;
	assert_int_equal(transition_plan(&t, f, old, new, NULL, &p, &err), -ECANCELED);
	tables_put(old);
	tables_put(new);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_difference_there_is_nothing_to_write),
		cmocka_unit_test(on_a_tree_one_wave_is_enough),
		cmocka_unit_test(a_loop_takes_two_waves_from_the_destination_outwards),
		cmocka_unit_test(a_ring_cut_elsewhere_is_updated_in_waves_that_must_not_be_merged),
		cmocka_unit_test(two_lids_in_each_others_way_need_the_drain_of_one),
		cmocka_unit_test(
			a_lid_whose_old_sl_deadlocks_in_the_new_tables_is_drained_for_certain),
		cmocka_unit_test(cycles_of_the_old_tables_do_not_grow),
		cmocka_unit_test(sls_and_sl2vl_tables_may_change_with_the_rest),
		cmocka_unit_test(on_tiny_nets_the_drain_is_what_trying_every_order_says),
		cmocka_unit_test(random_pairs_of_engines_never_meet_a_loop_or_a_cycle),
		cmocka_unit_test(what_is_done_in_a_hurry_keeps_lids_that_loop_in_one_wave),
		cmocka_unit_test(the_same_input_gives_the_same_plan),
		cmocka_unit_test(old_sls_that_new_sl2vl_tables_lose_are_drained),
		cmocka_unit_test(new_sls_that_old_sl2vl_tables_lose_are_drained),
		cmocka_unit_test(losses_that_are_there_already_change_nothing),
		cmocka_unit_test(new_tables_with_a_loop_or_a_cycle_are_refused),
		cmocka_unit_test(a_lid_that_loops_in_the_old_tables_is_drained),
		cmocka_unit_test(what_is_told_as_the_most_only_shrinks_and_is_never_exceeded),
		cmocka_unit_test(a_cancel_is_honoured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
