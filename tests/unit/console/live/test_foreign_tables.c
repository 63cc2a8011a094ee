/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody else has routed over an update: read from simulated switches and judged. */
#include "console/live/foreign_tables.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/plan/file/planfile.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/update/journal/journal.h"
#include "fabric/update/watchdog/watchdog.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/update_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

struct world {
	struct sim *sim;
	struct live live;
	struct live_opts o;
	struct tables *from, *to;
	struct plan *p;
	struct foreign_tables t;
	struct err err;
};

static void quiet(void *ctx, const struct log_line *line)
{
	(void)ctx;
	(void)line;
}

/* Five switches in a ring, or a tree; an update from shortest paths to others that nobody needs. */
static void up(struct world *x, bool ring)
{
	struct wire_opts wo = { .term = 5, .timeout_ms = 1, .retries = 3 };
	struct rng r;
	struct sim_opts so;
	struct sm_pin sm = { 0 };

	log_set_sink(quiet, NULL);
	memset(x, 0, sizeof(*x));
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.delay_us = 10;
	x->live.f = ring ? net_ring(5, 2, NULL) : net_tree(4, 2, 3, NULL);
	rng_seed(&r, 4);
	x->from = kit_bfs(x->live.f);
	x->to = ring ? kit_clockwise(x->live.f) : kit_random_trees(x->live.f, &r);
	assert_int_equal(sim_new(&x->sim, x->live.f, &so, &x->err), 0);
	assert_int_equal(sim_install_tables(x->sim, x->from, &x->err), 0);
	assert_int_equal(wire_open_sim(&x->live.w, x->sim, &wo, &x->err), 0);
	sm = live_sm(x->live.w);
	assert_true(sm.guid != 0);
	if (plan_new(&x->p, x->live.f, x->from, x->to, NULL, &sm, 1000, &x->err))
		fail_msg("%s", x->err.text);
	foreign_tables_open(&x->t, &x->live, &x->o, x->p, NULL);
	x->t.settle_ms = 1;
}

static void down(struct world *x)
{
	foreign_tables_close(&x->t);
	plan_free(x->p);
	live_close(&x->live);
	sim_free(x->sim);
	tables_put(x->from);
	tables_put(x->to);
}

static struct executor_foreign judged(struct world *x)
{
	struct executor_foreign out;

	if (foreign_tables_judge(&x->t, &out, &x->err))
		fail_msg("%s", x->err.text);
	return out;
}

static void what_is_there_is_compared_with_the_old_and_the_new_tables_and_verified(void **state)
{
	struct executor_foreign out;
	struct tables_diff *d;
	struct world x;

	(void)state;
	up(&x, false);
	out = judged(&x);
	assert_int_equal(out.verdict, FOREIGN_SOUND);
	assert_int_equal(out.old_lft + out.old_sl2vl, 0);
	assert_true(out.blocks >= x.live.f->nsw && out.new_lft > 0);
	assert_int_equal(sim_install_tables(x.sim, x.p->to, &x.err), 0);
	d = tables_diff_new(x.live.f, x.from, x.p->to);
	out = judged(&x);
	assert_int_equal(out.new_lft + out.new_sl2vl, 0);
	assert_int_equal(out.old_lft, d->nblocks);
	tables_diff_free(d);
	/* one entry of somebody else's, to a port without a cable */
	sim_poke_lft(x.sim, 0, x.live.f->term_lid[9], 200);
	out = judged(&x);
	assert_int_equal(out.verdict, FOREIGN_FAULTY);
	assert_int_equal(out.new_lft, 1);
	assert_string_not_equal(out.text, "");
	down(&x);
}

static void a_cycle_is_found_when_the_sm_tells_the_service_levels_and_else_not_denied(void **state)
{
	struct executor_foreign out;
	struct world x;

	(void)state;
	up(&x, true);
	assert_int_equal(sim_install_tables(x.sim, x.to, &x.err), 0);
	out = judged(&x);
	assert_int_equal(out.verdict, FOREIGN_FAULTY);
	sim_stop_sm(x.sim, true);
	out = judged(&x);
	assert_int_equal(out.verdict, FOREIGN_UNPROVED);
	assert_non_null(strstr(out.text, "unknown service levels"));
	down(&x);
}

static void what_needs_no_virtual_lanes_is_proved_without_service_levels(void **state)
{
	struct world x;

	(void)state;
	up(&x, false);
	sim_stop_sm(x.sim, true);
	assert_int_equal(judged(&x).verdict, FOREIGN_SOUND);
	down(&x);
}

static void service_levels_that_the_sm_tells_count(void **state)
{
	struct world x;
	struct tables *t;

	(void)state;
	up(&x, false);
	t = kit_bfs(x.live.f);
	t->sl_const = 5;
	sim_set_path_sls(x.sim, t);
	tables_sl2vl_form(t, SL2VL_BY_INPUT, x.live.f);
	for (int in = 0; in < 3; in++)
		t->sl2vl[in * FAB_SLS + 5] = VL_DROP;
	assert_int_equal(sim_install_tables(x.sim, t, &x.err), 0);
	assert_int_equal(judged(&x).verdict, FOREIGN_FAULTY);
	t->sl_const = 4;
	sim_set_path_sls(x.sim, t);
	assert_int_equal(judged(&x).verdict, FOREIGN_SOUND);
	tables_put(t);
	down(&x);
}

static void a_switch_that_does_not_answer_leaves_it_unproved(void **state)
{
	struct executor_foreign out;
	struct world x;

	(void)state;
	up(&x, false);
	sim_kill_switch(x.sim, 5, true);
	out = judged(&x);
	assert_int_equal(out.blocks, 0);
	assert_int_equal(out.verdict, FOREIGN_UNPROVED);
	assert_non_null(strstr(out.text, "fabric changed"));
	down(&x);
}

static void another_master_is_known_by_its_port(void **state)
{
	struct world x;

	(void)state;
	up(&x, false);
	assert_int_equal(foreign_tables_others(&x.t), 0);
	sim_move_sm(x.sim, 3);
	assert_int_equal(foreign_tables_others(&x.t), 1);
	down(&x);
}

/* A recovery has the plan from the journal's directory. */
static void who_takes_over_compares_with_the_plan_in_the_journal(void **state)
{
	char *base = net_tmpdir(), *dir = xasprintf("%s/1", base),
	     *path = xasprintf("%s/%s", dir, JOURNAL_PLAN);
	struct executor_foreign out;
	struct foreign_tables t;
	struct world x;

	(void)state;
	up(&x, false);
	x.o.state_dir = base;
	assert_int_equal(mkdir(dir, 0700), 0);
	foreign_tables_open(&t, &x.live, &x.o, NULL, "1");
	assert_null(t.plan);
	foreign_tables_close(&t);
	if (plan_save(path, x.p, &x.err))
		fail_msg("%s", x.err.text);
	foreign_tables_open(&t, &x.live, &x.o, NULL, "1");
	t.settle_ms = 1;
	assert_non_null(t.plan);
	assert_int_equal(t.plan->sm.guid, x.p->sm.guid);
	assert_int_equal(sim_install_tables(x.sim, x.p->to, &x.err), 0);
	if (foreign_tables_judge(&t, &out, &x.err))
		fail_msg("%s", x.err.text);
	assert_int_equal(out.new_lft + out.new_sl2vl, 0);
	assert_true(out.old_lft > 0);
	sim_move_sm(x.sim, 3);
	t.settle_ms = 1;
	assert_int_equal(foreign_tables_others(&t), 1);
	foreign_tables_close(&t);
	down(&x);
	free(path);
	free(dir);
	net_rmdir(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_is_there_is_compared_with_the_old_and_the_new_tables_and_verified),
		cmocka_unit_test(
			a_cycle_is_found_when_the_sm_tells_the_service_levels_and_else_not_denied),
		cmocka_unit_test(what_needs_no_virtual_lanes_is_proved_without_service_levels),
		cmocka_unit_test(service_levels_that_the_sm_tells_count),
		cmocka_unit_test(a_switch_that_does_not_answer_leaves_it_unproved),
		cmocka_unit_test(another_master_is_known_by_its_port),
		cmocka_unit_test(who_takes_over_compares_with_the_plan_in_the_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
