/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/sm_lock.h"

#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Two nodes and an SM. */
struct world {
	struct fabric *f;
	struct tables *t;
	struct sim *sim;
	struct wire *w[2];
	struct sm_lock l[2];
	struct err err;
};

static int setup(void **state)
{
	static struct world x;
	struct sim_opts so;

	x = (struct world){ .f = net_fabric(NULL) };
	x.t = net_tables(x.f, 0, true);
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.delay_us = 10;
	assert_int_equal(sim_new(&x.sim, x.f, &so, &x.err), 0);
	assert_int_equal(sim_install_tables(x.sim, x.t, &x.err), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct wire_opts wo = { .term = 7 * i + 3, .timeout_ms = 5, .retries = 2 };

		assert_int_equal(wire_open_sim(&x.w[i], x.sim, &wo, &x.err), 0);
		sm_lock_init(&x.l[i], x.w[i]);
	}
	*state = &x;
	return 0;
}

static int teardown(void **state)
{
	struct world *x = *state;

	wire_close(x->w[0]);
	wire_close(x->w[1]);
	sim_free(x->sim);
	tables_put(x->t);
	fabric_put(x->f);
	return 0;
}

static int grant(struct world *x, int i, enum grant_step step, const char *txn)
{
	struct executor_grant g = { .step = step, .txn = txn };

	x->err.text[0] = '\0';
	return sm_lock_grant(&x->l[i], &g, &x->err);
}

static void pass(struct world *x, uint32_t s)
{
	struct mad_port p;
	struct mad_packet k;

	assert_int_equal(sim_port_open(&p, x->sim, 1, &x->err), 0);
	p.ops->recv(p.ctx, &k, s * 1000000000ull, &x->err);
	p.ops->close(p.ctx);
}

static void one_at_a_time_and_the_other_is_named(void **state)
{
	struct world *x = *state;
	char host[40] = "";

	gethostname(host, sizeof(host) - 1);
	assert_int_equal(grant(x, 0, GRANT_BEGIN, "20260101T000000Z-1"), 0);
	assert_true(x->l[0].held);
	assert_int_equal(grant(x, 1, GRANT_BEGIN, "20260101T000001Z-2"), -EBUSY);
	assert_false(x->l[1].held);
	assert_non_null(strstr(x->err.text, "20260101T000000Z-1"));
	assert_non_null(strstr(x->err.text, host));
	assert_int_equal(grant(x, 1, GRANT_END, "20260101T000001Z-2"), 0); /* not the other's */
	assert_int_equal(grant(x, 0, GRANT_ALIVE, "20260101T000000Z-1"), 0);
	assert_int_equal(grant(x, 1, GRANT_BEGIN, "20260101T000001Z-2"), -EBUSY);
	assert_int_equal(grant(x, 0, GRANT_END, "20260101T000000Z-1"), 0);
	assert_int_equal(grant(x, 1, GRANT_BEGIN, "20260101T000001Z-2"), 0);
	assert_true(x->l[1].held);
}

/* Another process of the same node is another update. */
static void of_one_node_too(void **state)
{
	struct world *x = *state;

	sm_lock_init(&x->l[1], x->w[0]);
	assert_int_equal(grant(x, 0, GRANT_BEGIN, "a"), 0);
	assert_int_equal(grant(x, 1, GRANT_BEGIN, "b"), -EBUSY);
	/* who recovers it has its place */
	assert_int_equal(grant(x, 1, GRANT_RESUME, "a"), 0);
	assert_int_equal(grant(x, 1, GRANT_END, "a"), 0);
	assert_int_equal(grant(x, 0, GRANT_BEGIN, "b"), 0);
}

/* Another port of the host that wrote. */
static void who_recovers_takes_it_over(void **state)
{
	struct world *x = *state;
	struct service_record r;

	assert_int_equal(grant(x, 0, GRANT_BEGIN, "a"), 0);
	assert_int_equal(grant(x, 1, GRANT_RESUME, "a"), 0);
	assert_true(x->l[1].held);
	assert_int_equal(wire_service_find(&r, x->w[0], &x->l[1].mine, SERVICE_BY_NAME, &x->err),
			 0);
	assert_int_equal(r.gid_guid, x->l[1].guid);
	sm_lock_end(&x->l[1]);
	sm_lock_end(&x->l[1]);
	assert_int_equal(wire_service_find(&r, x->w[0], &x->l[0].mine, SERVICE_BY_NAME, &x->err),
			 -ENOENT);
}

/* OpenSM's plugin has ended the one that it granted before. */
static void what_the_plugin_granted_before_is_left_over(void **state)
{
	struct world *x = *state;
	struct service_record r;

	x->l[0].granted = true;
	assert_int_equal(grant(x, 0, GRANT_BEGIN, "a"), 0);
	assert_int_equal(grant(x, 1, GRANT_BEGIN, "b"), -EBUSY); /* nobody has granted that */
	assert_non_null(strstr(x->err.text, "update a "));
	x->l[1].granted = true;
	assert_int_equal(grant(x, 1, GRANT_BEGIN, "c"), 0); /* two are left over */
	assert_int_equal(grant(x, 1, GRANT_BEGIN, "b"), 0);
	assert_int_equal(wire_service_find(&r, x->w[0], &x->l[1].mine, SERVICE_BY_ID, &x->err), 0);
	sm_lock_end(&x->l[1]);
	pass(x, 61);
	x->l[0].granted = false;
	assert_int_equal(grant(x, 0, GRANT_BEGIN, "a"), 0);
	assert_int_equal(grant(x, 1, GRANT_BEGIN, "b"), -EBUSY); /* by SMPs, beside the plugin */
}

static void who_is_gone_is_forgotten(void **state)
{
	struct world *x = *state;

	assert_int_equal(grant(x, 0, GRANT_BEGIN, "a"), 0);
	pass(x, 40);
	x->l[0].renew_ms = 0;
	assert_int_equal(grant(x, 0, GRANT_ALIVE, "a"), 0);
	pass(x, 40); /* it was renewed */
	assert_int_equal(grant(x, 1, GRANT_BEGIN, "b"), -EBUSY);
	pass(x, 21);
	assert_int_equal(grant(x, 1, GRANT_BEGIN, "b"), 0);
	/* the one that was thought to be gone finds the other there */
	x->l[0].renew_ms = 0;
	assert_int_equal(grant(x, 0, GRANT_CONFIRM, "a"), -EBUSY);
	assert_non_null(strstr(x->err.text, "update b"));
	assert_int_equal(grant(x, 0, GRANT_END, "a"), 0);
	x->l[1].renew_ms = 0;
	assert_int_equal(grant(x, 1, GRANT_ALIVE, "b"), 0);
}

/* An SM that was started again has lost it. */
static void it_is_set_again_where_it_is_missing(void **state)
{
	struct world *x = *state;

	assert_int_equal(grant(x, 0, GRANT_BEGIN, "a"), 0);
	assert_int_equal(wire_service_remove(x->w[0], &x->l[0].mine, &x->err), 0);
	x->l[0].renew_ms = 0;
	assert_int_equal(grant(x, 0, GRANT_ALIVE, "a"), 0);
	assert_int_equal(grant(x, 1, GRANT_BEGIN, "b"), -EBUSY);
}

/* Both have seen none: the second look sees both, and takes its own back. */
static void who_began_at_the_same_moment_withdraws(void **state)
{
	struct world *x = *state;
	struct service_record other = { .id = 5, .lease_s = 60, .name = SM_LOCK_NAME },
			      third = { .id = 6, .lease_s = 60, .name = SM_LOCK_NAME };
	struct service_record r;

	assert_int_equal(wire_service_set(x->w[1], &other, &x->err), 0);
	assert_int_equal(wire_service_set(x->w[1], &third, &x->err), 0);
	assert_int_equal(grant(x, 0, GRANT_BEGIN, "a"), -EBUSY);
	assert_non_null(strstr(x->err.text, "other updates"));
	assert_int_equal(wire_service_find(&r, x->w[0], &x->l[0].mine, SERVICE_BY_ID, &x->err),
			 -ENOENT);
}

/* What others have put there may be anything. */
static void foreign_text_is_cleaned(void **state)
{
	struct world *x = *state;
	struct service_record other = { .id = 5, .lease_s = UINT32_MAX, .name = SM_LOCK_NAME };

	memset(other.data, 0x1b, sizeof(other.data));
	assert_int_equal(wire_service_set(x->w[1], &other, &x->err), 0);
	assert_int_equal(grant(x, 0, GRANT_BEGIN, "a"), -EBUSY);
	assert_null(strchr(x->err.text, 0x1b));
}

static void without_an_sm_there_is_no_lock(void **state)
{
	struct world *x = *state;

	sim_stop_sm(x->sim, true);
	assert_int_equal(grant(x, 0, GRANT_BEGIN, "a"), 0);
	assert_false(x->l[0].held);
	assert_string_not_equal(x->l[0].none, "");
	assert_int_equal(grant(x, 0, GRANT_ALIVE, "a"), 0);
	assert_int_equal(grant(x, 0, GRANT_END, "a"), 0);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_at_a_time_and_the_other_is_named),
		T(of_one_node_too),
		T(who_recovers_takes_it_over),
		T(what_the_plugin_granted_before_is_left_over),
		T(who_is_gone_is_forgotten),
		T(it_is_set_again_where_it_is_missing),
		T(who_began_at_the_same_moment_withdraws),
		T(foreign_text_is_cleaned),
		T(without_an_sm_there_is_no_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
