/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/packets_drive.h"
#include "tests/unit/kit/packets_installer.h"

#include "fabric/plan/plan.h"
#include "fabric/update/executor.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world {
	struct fabric *f;
	struct tables *old, *new;
	struct packets *p;
	struct packets_installer in;
	uint32_t nconn;
	char *dir;
};

static void begin(struct world *w)
{
	struct packets_opts o;
	uint32_t n;

	packets_opts_init(&o);
	o.vls = 4;
	w->f = net_fabric(NULL);
	w->old = net_tables(w->f, 0, false);
	w->new = net_tables(w->f, 1, true);
	w->p = packets_new(w->f, w->old, &o);
	w->in = (struct packets_installer){ w->p, 3000 };
	w->dir = net_tmpdir();
	n = w->f->nterm;
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint16_t dlid = w->f->term_lid[(i * 7 + 13) % n];

		packets_send(w->p, packets_connect(w->p, i % n, dlid, 0), PACKETS_ENDLESS);
	}
	w->nconn = 2 * n;
	packets_run(w->p, 20000);
}

static void end(struct world *w)
{
	assert_null(packets_check(w->p));
	packets_free(w->p);
	tables_put(w->old);
	tables_put(w->new);
	fabric_put(w->f);
	net_rmdir(w->dir);
}

static bool holds(const struct world *w, const struct plan *p, bool new)
{
	for (uint32_t i = 0; i < p->changes->n; i++) {
		const struct change *c = &p->changes->v[i];
		struct install_item item = { c->sw, c->block, c->kind, c->in, c->out, { 0 }, 0, 0 };
		struct installer in = packets_installer((struct packets_installer *)&w->in);

		assert_int_equal(in.ops->read(in.ctx, w->f, &item, 1, NULL, NULL), 0);
		if (memcmp(item.data, new ? change_new(p->changes, c) : change_old(p->changes, c),
			   change_bytes(c)))
			return false;
	}
	return true;
}

static void update_and_way_back_under_traffic_lose_nothing_and_are_proved_by_reading(void **state)
{
	struct sm_pin sm = { 0 };
	struct packets_counts before, after;
	struct executor_opts o = { .accept_sl_change = true };
	struct installer in;
	struct world w;
	struct plan *plan;
	struct executor *a;
	struct err err;

	(void)state;
	begin(&w);
	o.base = w.dir;
	o.user = "test";
	in = packets_installer(&w.in);
	assert_int_equal(plan_new(&plan, w.f, w.old, w.new, NULL, &sm, 0, &err), 0);
	assert_true(plan->changes->nlft > 0 && plan->changes->nsl2vl > 0);
	assert_true(holds(&w, plan, false));
	packets_counts(&before, w.p);
	a = executor_new(plan, &in, &o);
	assert_int_equal(executor_run(a, &err), 0);
	assert_true(holds(&w, plan, true));
	packets_counts(&after, w.p);
	assert_true(after.delivered > before.delivered + 100);
	assert_int_equal(executor_rollback(a, &err), 0);
	assert_true(holds(&w, plan, false));
	for (uint32_t i = 0; i < w.nconn; i++)
		packets_hold(w.p, i, true);
	assert_true(packets_run_drained(w.p, packets_now_ns(w.p) + 10000000));
	packets_counts(&after, w.p);
	assert_int_equal(after.dropped, 0);
	executor_free(a);
	plan_free(plan);
	end(&w);
}

/* Cancels before the third item. */
static void report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct progress *p = ctx;

	(void)step;
	(void)total;
	if (done == 2)
		atomic_store(&p->cancel, true);
}

static void cancelled_writes_are_told_item_by_item(void **state)
{
	struct install_item items[4] = { { 0 } };
	struct progress progress = { .report = report };
	struct installer in;
	struct world w;
	struct err err;

	(void)state;
	begin(&w);
	in = packets_installer(&w.in);
	progress.ctx = &progress;
	for (uint32_t i = 0; i < 4; i++)
		items[i].sw = i;
	assert_int_equal(in.ops->write(in.ctx, w.f, items, 4, &progress, &err), -ECANCELED);
	assert_int_equal(items[1].rc, 0);
	assert_int_equal(items[2].rc, -ECANCELED);
	assert_int_equal(items[3].rc, -ECANCELED);
	assert_int_equal(packets_now_ns(w.p), 20000 + 2 * 3000);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			update_and_way_back_under_traffic_lose_nothing_and_are_proved_by_reading),
		cmocka_unit_test(cancelled_writes_are_told_item_by_item),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
