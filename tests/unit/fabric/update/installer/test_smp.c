/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole way: plan, coordinator, journal, SMP installer, wire, simulated switches. */
#include "fabric/update/installer/smp.h"

#include "fabric/base/message/log.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/update/executor.h"
#include "fabric/wire/wire.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
	struct fabric *made, *f; /* built, and as discovered */
	struct sim *sim;
	struct wire *w;
	struct tables *from, *to; /* as read; as proposed */
	struct plan *p;
	struct installer in;
	struct executor_opts o;
	struct executor *a;
	char *base;
	/* what happens when the writing begins; at: for it */
	uint64_t at;
	void (*happen)(struct world *w);
};

static void quiet(void *ctx, const struct log_line *line)
{
	(void)ctx;
	(void)line;
}

static void event(void *ctx, const struct executor_event *ev)
{
	struct world *w = ctx;

	if (ev->kind == APPLY_PHASE_BEGIN && ev->phase == PHASE_WRITE && w->happen)
		w->happen(w);
}

static void need(int rc, const struct err *err)
{
	if (rc)
		fail_msg("%s", err->text);
}

static int setup(void **state)
{
	static struct world w;
	struct sim_opts so;
	struct tables *t;
	struct err err = { "" };

	w = (struct world){ 0 };
	log_set_sink(quiet, NULL);
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.delay_us = 20;
	w.made = net_fabric(NULL);
	need(sim_new(&w.sim, w.made, &so, &err), &err);
	t = net_tables(w.made, 0, true);
	need(sim_install_tables(w.sim, t, &err), &err);
	tables_put(t);
	need(wire_open_sim(&w.w, w.sim, NULL, &err), &err);
	need(wire_sweep(&w.f, NULL, w.w, NULL, NULL, &err), &err);
	need(wire_read_tables(&w.from, w.w, w.f, true, NULL, NULL, &err), &err);
	w.to = net_tables(w.f, 1, true);
	need(plan_new(&w.p, w.f, w.from, w.to, NULL, NULL, 0, &err), &err);
	w.in = smp_installer(w.w);
	w.base = net_tmpdir();
	w.o = (struct executor_opts){ .base = w.base, .event = event, .ctx = &w };
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	executor_free(w->a);
	plan_free(w->p);
	tables_put(w->to);
	tables_put(w->from);
	fabric_put(w->f);
	wire_close(w->w);
	sim_free(w->sim);
	fabric_put(w->made);
	net_rmdir(w->base);
	return 0;
}

static int run(struct world *w, struct err *err)
{
	w->a = executor_new(w->p, &w->in, &w->o);
	return executor_run(w->a, err);
}

/* Are those tables in the switches, asked for behind the wire's back? */
static bool installed(struct world *w, const struct tables *want)
{
	struct tables *t = sim_tables(w->sim);
	struct tables_diff *d = tables_diff_new(w->made, t, want);
	bool same = !d->nblocks && !d->nsl2vl;

	tables_diff_free(d);
	tables_put(t);
	return same;
}

static void plan_reaches_the_switches_and_comes_back(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	assert_true(w->p->changes->nlft > 0 && w->p->changes->nsl2vl > 0);
	assert_true(installed(w, w->from));
	need(run(w, &err), &err);
	assert_true(installed(w, w->p->to));
	need(executor_rollback(w->a, &err), &err);
	assert_true(installed(w, w->from));
	executor_free(w->a);
	need(run(w, &err), &err);
	need(executor_confirm(w->a, &err), &err);
	assert_true(installed(w, w->p->to));
}

static void lossy_fabric_is_only_slower(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	sim_loss(w->sim, 0.1);
	need(run(w, &err), &err);
	assert_true(installed(w, w->p->to));
	need(executor_rollback(w->a, &err), &err);
	assert_true(installed(w, w->from));
}

static void refuse_writes(struct world *w)
{
	sim_fail_writes(w->sim, w->at);
}

static void lose_writes(struct world *w)
{
	sim_lose_writes(w->sim, w->at);
}

/* Writes stop for good after some; the switches answer again for the way back. */
static void writes_that_stop(struct world *w, void (*stop)(struct world *),
			     void (*go)(struct world *))
{
	struct executor_status st;
	struct err err = { "" };

	w->at = w->p->changes->n / 2;
	w->happen = stop;
	assert_int_not_equal(run(w, &err), 0);
	assert_int_equal(executor_outcome(w->a), OUTCOME_INCOMPLETE);
	executor_status(w->a, &st);
	assert_true(st.retries > 0);
	assert_false(installed(w, w->p->to));
	assert_non_null(strstr(err.text, "rollback incomplete"));
	go(w);
	need(executor_rollback(w->a, &err), &err);
	assert_true(installed(w, w->from));
}

static void accept_writes(struct world *w)
{
	sim_fail_writes(w->sim, UINT64_MAX);
	sim_lose_writes(w->sim, UINT64_MAX);
}

static void refused_writes_are_undone_when_they_work_again(void **state)
{
	writes_that_stop(*state, refuse_writes, accept_writes);
}

static void lost_writes_are_undone_when_they_work_again(void **state)
{
	writes_that_stop(*state, lose_writes, accept_writes);
}

static void kill_leaf(struct world *w)
{
	sim_kill_switch(w->sim, fabric_switch_by_guid(w->made, 0x1002), true);
}

static void dead_switch_rolls_the_others_back_and_is_named(void **state)
{
	struct world *w = *state;
	struct err err = { "" };

	w->happen = kill_leaf;
	assert_int_equal(run(w, &err), -EUCLEAN);
	assert_int_equal(executor_outcome(w->a), OUTCOME_INCOMPLETE);
	assert_non_null(strstr(err.text, "on leaf2;"));
	sim_kill_switch(w->sim, fabric_switch_by_guid(w->made, 0x1002), false);
	need(executor_rollback(w->a, &err), &err);
	assert_true(installed(w, w->from));
}

static void somebody_elses_write_is_noticed(void **state)
{
	struct world *w = *state;
	uint32_t leaf = fabric_switch_by_guid(w->made, 0x1003);
	struct err err = { "" };

	sim_poke_lft(w->sim, leaf, 5, 1);
	assert_int_equal(run(w, &err), -ESTALE);
	assert_int_equal(executor_outcome(w->a), OUTCOME_REFUSED);
	assert_non_null(strstr(err.text, "leaf3 LFT block 0: written by another writer"));
}

static void left_journal_is_recovered_over_the_wire(void **state)
{
	struct world *w = *state;
	struct recovery_scan scan;
	struct txn_info *list;
	struct err err = { "" };
	struct journal *j;
	uint32_t n;

	need(run(w, &err), &err);
	executor_free(w->a);
	w->a = NULL;
	need(journal_find(&list, &n, w->base, w->f, &err), &err);
	assert_int_equal(n, 1);
	need(journal_open(&j, w->base, list[0].head.id, &err), &err);
	free(list);
	w->a = executor_recover(j, w->f, &w->in, &w->o);
	need(executor_scan(&scan, w->a, &err), &err);
	assert_int_equal(scan.new, w->p->changes->n);
	need(executor_rollback(w->a, &err), &err);
	assert_true(installed(w, w->from));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(plan_reaches_the_switches_and_comes_back),
		T(lossy_fabric_is_only_slower),
		T(refused_writes_are_undone_when_they_work_again),
		T(lost_writes_are_undone_when_they_work_again),
		T(dead_switch_rolls_the_others_back_and_is_named),
		T(somebody_elses_write_is_noticed),
		T(left_journal_is_recovered_over_the_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
