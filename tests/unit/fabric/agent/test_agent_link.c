/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a coordinator says to agents and hears from them, by notices on the simulated fabric. */
#include "fabric/agent/agent_link.h"

#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/wire/notice_port.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#define MS    1000000ull
#define AGENT 3 /* terminals; the SM is on 0, the coordinator on 1 */

struct world {
	struct fabric *f;
	struct tables *t;
	struct sim *sim;
	struct agent_link link;
	struct notice_port *agent;
	struct err err;
};

static int setup(void **state)
{
	static struct world x;
	struct notice_opts coord = { .term = 1, .retries = UINT32_MAX, .timeout_ms = 100 };
	struct notice_opts agent = { .term = AGENT };
	struct notice_port *np;
	struct sim_opts opts;

	memset(&x, 0, sizeof(x));
	sim_opts_init(&opts);
	opts.virtual_clock = true;
	opts.delay_us = 20;
	x.f = net_tree(3, 2, 2, NULL);
	x.t = kit_bfs(x.f);
	assert_int_equal(sim_new(&x.sim, x.f, &opts, &x.err), 0);
	assert_int_equal(sim_install_tables(x.sim, x.t, &x.err), 0);
	assert_int_equal(notice_port_open_sim(&np, x.sim, &coord, &x.err), 0);
	agent_link_notices(&x.link, np);
	assert_int_equal(notice_port_open_sim(&x.agent, x.sim, &agent, &x.err), 0);
	*state = &x;
	return 0;
}

static int teardown(void **state)
{
	struct world *x = *state;

	agent_link_close(&x->link);
	notice_port_close(x->agent);
	sim_free(x->sim);
	tables_put(x->t);
	fabric_put(x->f);
	return 0;
}

static int listen(struct world *x)
{
	return x->link.ops->listen(x->link.ctx, NULL, &x->err);
}

static int hear(struct world *x, struct agent_answer *out)
{
	int rc;

	for (int i = 0; i < 10; i++) {
		rc = x->link.ops->recv(x->link.ctx, out, MS, &x->err);
		if (rc)
			return rc;
	}
	return 0;
}

static void a_question_reaches_who_listens_and_the_answer_says_whose_it_is(void **state)
{
	struct world *x = *state;
	struct phase_notice n = {
		.version = PHASE_NOTICE_VERSION, .phase = PHASE_UNPATH, .txn = 7, .seq = 1
	};
	struct agent_answer got;
	struct notice_in in;

	assert_int_equal(listen(x), 0);
	assert_int_equal(listen(x), 0); /* again is fine */
	assert_int_equal(notice_subscribe(x->agent, NOTICE_UNPATH, &x->err), 0);
	assert_int_equal(x->link.ops->send(x->link.ctx, &n, &x->err), 0);
	assert_int_equal(notice_recv(x->agent, &in, MS, &x->err), 1);
	n.repeat = 1;
	assert_int_equal(notice_send_phase(x->agent, &n, true, &x->err), 0);
	assert_int_equal(hear(x, &got), 1);
	assert_int_equal(got.guid, x->f->term_guid[AGENT]);
	assert_int_equal(got.lid, x->f->term_lid[AGENT]);
	assert_int_equal(got.notice.txn, 7);
	assert_int_equal(got.notice.repeat, 1);
	assert_int_equal(hear(x, &got), 0);
}

static void notices_144_of_another_sort_are_not_answers(void **state)
{
	struct world *x = *state;
	struct notice n = { .type = NOTICE_INFO,
			    .producer = NOTICE_CA,
			    .trap = NOTICE_LOCAL_CHANGES };
	struct agent_answer got;

	assert_int_equal(listen(x), 0);
	assert_int_equal(notice_port_refresh(x->agent, NULL, &x->err), 0);
	assert_int_equal(notice_send(x->agent, &n, &x->err), 0);
	assert_int_equal(hear(x, &got), 0);
}

static void an_sm_that_is_gone_or_another_one_is_told_apart(void **state)
{
	struct world *x = *state;

	assert_int_equal(listen(x), 0);
	sim_stop_sm(x->sim, true);
	assert_int_equal(listen(x), -ETIMEDOUT);
	sim_stop_sm(x->sim, false);
	assert_int_equal(listen(x), 0); /* subscribed again */
	sim_move_sm(x->sim, 4);
	assert_int_equal(listen(x), -ESTALE);
	assert_non_null(strstr(x->err.text, "another subnet manager"));
}

static void from_then_on_agents_are_asked_through_the_new_sm(void **state)
{
	struct world *x = *state;
	struct phase_notice n = {
		.version = PHASE_NOTICE_VERSION, .phase = PHASE_REPATH, .txn = 7, .seq = 2
	};
	struct agent_answer got;
	struct notice_in in;

	assert_int_equal(listen(x), 0);
	sim_move_sm(x->sim, 4);
	assert_int_equal(listen(x), -ESTALE);
	assert_int_equal(notice_port_refresh(x->agent, NULL, &x->err), 0);
	assert_int_equal(notice_subscribe(x->agent, NOTICE_REPATH, &x->err), 0);
	assert_int_equal(x->link.ops->send(x->link.ctx, &n, &x->err), 0);
	assert_int_equal(notice_recv(x->agent, &in, MS, &x->err), 1);
	n.repeat = 1;
	assert_int_equal(notice_send_phase(x->agent, &n, true, &x->err), 0);
	assert_int_equal(hear(x, &got), 1);
	assert_int_equal(got.notice.seq, 2);
	assert_int_equal(listen(x), 0);
}

static void who_cancels_does_not_wait_for_a_silent_sm(void **state)
{
	struct world *x = *state;
	struct progress p = { .cancel = true };
	uint64_t start = x->link.ops->now_ns(x->link.ctx);

	sim_stop_sm(x->sim, true);
	assert_int_equal(x->link.ops->listen(x->link.ctx, &p, &x->err), -ECANCELED);
	assert_true(x->link.ops->now_ns(x->link.ctx) - start <= 50 * MS);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_question_reaches_who_listens_and_the_answer_says_whose_it_is),
		T(notices_144_of_another_sort_are_not_answers),
		T(an_sm_that_is_gone_or_another_one_is_told_apart),
		T(from_then_on_agents_are_asked_through_the_new_sm),
		T(who_cancels_does_not_wait_for_a_silent_sm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
