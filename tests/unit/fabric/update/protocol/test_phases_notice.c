/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The five phases over notices, on a fabric that loses, delays, doubles and reorders them. */
#include "fabric/agent/agent_state.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/phase_codec.h"
#include "fabric/wire/notice_port.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NODES	 6
#define SM	 0 /* terminals: the SM, the coordinator, the others are agents */
#define COORD	 1
#define FIRST	 2
#define AGENTS	 (NODES - FIRST)
#define US	 1000ull
#define MS	 1000000ull
#define RESEND	 (2 * MS)
#define ROUNDS	 100000
#define SEEDS	 12
#define OTHER_SM 5

struct world {
	struct fabric *f;
	struct tables *t;
	struct sim *sim;
	struct notice_port *np[NODES];
	struct agent_state a[AGENTS];
	struct coordinator c;
	struct coord_agent known[AGENTS];
	uint64_t asked_ns;
	bool move_sm; /* when the first agent has begun to move */
	unsigned writes, writes_on_base, rounds, heard, answers, resends;
	struct err err;
};

static void listen_to(struct world *w, uint32_t node)
{
	static const uint16_t trap[] = { NOTICE_UNPATH, NOTICE_REPATH };

	if (node == COORD) {
		assert_int_equal(notice_subscribe(w->np[node], NOTICE_LOCAL_CHANGES, &w->err), 0);
		return;
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(notice_subscribe(w->np[node], trap[i], &w->err), 0);
}

static void up(struct world *w, const struct sim_opts *o)
{
	struct coord_drain d = {
		.agents = w->known, .nagents = AGENTS, .txn = 3, .max_sends = 200
	};

	memset(w, 0, sizeof(*w));
	w->f = net_tree(3, 2, 2, NULL);
	w->t = kit_bfs(w->f);
	assert_int_equal(sim_new(&w->sim, w->f, o, &w->err), 0);
	assert_int_equal(sim_install_tables(w->sim, w->t, &w->err), 0);
	for (uint32_t i = 0; i < NODES; i++) {
		struct notice_opts no = { .term = i, .timeout_ms = 1, .retries = 60 };

		assert_int_equal(notice_port_open_sim(&w->np[i], w->sim, &no, &w->err), 0);
		if (i != SM)
			listen_to(w, i);
	}
	for (uint32_t i = 0; i < AGENTS; i++) {
		agent_state_init(&w->a[i], NULL);
		w->a[i].subscribed = true;
	}
	coordinator_init(&w->c, 2, 2);
	coordinator_drain(&w->c, &d);
	coordinator_step(&w->c, EV_START);
}

static void down(struct world *w)
{
	for (uint32_t i = 0; i < NODES; i++)
		notice_port_close(w->np[i]);
	sim_free(w->sim);
	tables_put(w->t);
	fabric_put(w->f);
}

/* ---- nodes ---- */

static void agent_does(struct world *w, uint32_t i, unsigned mask)
{
	struct phase_notice n;

	if (mask & AGENT_SUBSCRIBE) {
		assert_int_equal(notice_port_refresh(w->np[FIRST + i], NULL, &w->err), 0);
		listen_to(w, FIRST + i);
		agent_state_step(&w->a[i], AGENT_EV_SUBSCRIBED);
	}
	if (!(mask & AGENT_ACK))
		return;
	agent_state_ack(&w->a[i], &n);
	w->a[i].flags = 0;
	assert_int_equal(notice_send_phase(w->np[FIRST + i], &n, true, &w->err), 0);
	w->answers++;
}

static void agent_listens(struct world *w, uint32_t i)
{
	struct phase_notice n;
	struct notice_in in;
	bool answer;

	while (notice_recv(w->np[FIRST + i], &in, 10 * US, &w->err) == 1) {
		assert_int_equal(phase_codec_decode(&n, &answer, &in.notice), 0);
		assert_false(answer);
		w->heard++;
		agent_does(w, i, agent_state_notice(&w->a[i], &n));
	}
	/* a step of a hook at a time */
	if (agent_state_busy(&w->a[i]))
		agent_does(w, i, agent_state_step(&w->a[i], AGENT_EV_DONE));
}

static void coordinator_listens(struct world *w)
{
	struct phase_notice n;
	struct notice_in in;
	bool answer;

	while (notice_recv(w->np[COORD], &in, 10 * US, &w->err) == 1) {
		assert_int_equal(phase_codec_decode(&n, &answer, &in.notice), 0);
		for (uint32_t i = 0; i < AGENTS; i++)
			if (w->f->term_lid[FIRST + i] == in.notice.issuer_lid)
				coordinator_ack(&w->c, i, &n);
	}
}

/* The fabric has another SM, which knows nobody; everybody notices it in some order. */
static void another_sm(struct world *w)
{
	w->move_sm = false;
	sim_move_sm(w->sim, OTHER_SM);
	assert_int_equal(notice_port_refresh(w->np[COORD], NULL, &w->err), 0);
	listen_to(w, COORD);
	coordinator_step(&w->c, EV_SM);
	for (uint32_t i = AGENTS; i-- > 0;)
		agent_does(w, i, agent_state_step(&w->a[i], AGENT_EV_SM));
}

static void round_of_all(struct world *w)
{
	coordinator_listens(w);
	for (uint32_t i = 0; i < AGENTS; i++) {
		agent_listens(w, i);
		if (w->move_sm && w->a[i].mode != AGENT_BASE)
			another_sm(w);
	}
	w->rounds++;
}

/* ---- the coordinator's actions ---- */

static void await(struct world *w)
{
	round_of_all(w);
	if (w->c.action == ACT_AWAIT && notice_port_now_ns(w->np[COORD]) > w->asked_ns + RESEND) {
		coordinator_step(&w->c, EV_RESEND);
		w->resends++;
	}
}

static void write_wave(struct world *w)
{
	w->writes++;
	for (uint32_t i = 0; i < AGENTS; i++)
		w->writes_on_base += w->a[i].mode != AGENT_ESCAPE;
	coordinator_step(&w->c, EV_DONE);
}

static void act(struct world *w)
{
	struct phase_notice n;

	switch (w->c.action) {
	case ACT_NOTIFY:
		coordinator_notice(&w->c, &n);
		assert_int_equal(notice_send_phase(w->np[COORD], &n, false, &w->err), 0);
		w->asked_ns = notice_port_now_ns(w->np[COORD]);
		coordinator_step(&w->c, EV_DONE);
		return;
	case ACT_AWAIT:
		await(w);
		return;
	case ACT_WRITE:
	case ACT_WRITE_BACK:
		write_wave(w);
		return;
	case ACT_WAIT:
		coordinator_step(&w->c, EV_CONFIRM);
		return;
	default:
		coordinator_step(&w->c, EV_DONE);
	}
}

static void run(struct world *w)
{
	while (w->c.action != ACT_STOP && w->rounds < ROUNDS)
		act(w);
	/* what is still under way changes nothing */
	for (int i = 0; i < 50; i++)
		round_of_all(w);
}

static void expect(const struct world *w, enum outcome outcome)
{
	assert_int_equal(w->c.action, ACT_STOP);
	assert_int_equal(w->c.outcome, outcome);
	assert_int_equal(w->writes, outcome == OUTCOME_CONFIRMED ? 2 : 0);
	assert_int_equal(w->writes_on_base, 0);
	for (uint32_t i = 0; i < AGENTS; i++)
		assert_int_equal(w->a[i].mode, AGENT_BASE);
}

static void play(const char *name, struct sim_opts o, bool move_sm)
{
	unsigned heard = 0, answers = 0, resends = 0;

	o.virtual_clock = true;
	for (o.seed = 1; o.seed <= SEEDS; o.seed++) {
		struct world w;

		up(&w, &o);
		w.move_sm = move_sm;
		run(&w);
		expect(&w, move_sm ? OUTCOME_REFUSED : OUTCOME_CONFIRMED);
		heard += w.heard;
		answers += w.answers;
		resends += w.resends;
		down(&w);
	}
	print_message("%s: %u transactions, %u notices heard, %u answers, %u resends\n", name,
		      SEEDS, heard, answers, resends);
	if (o.loss > 0)
		assert_true(resends > 0);
	if (!resends && !o.duplicate && !move_sm)
		assert_int_equal(heard, 2 * AGENTS * SEEDS);
	if (!o.loss && o.duplicate > 0)
		assert_true(heard > 2 * AGENTS * SEEDS);
}

static void all_phases_pass_over_notices_that_get_lost_late_doubled_and_mixed_up(void **state)
{
	const struct sim_opts plain = { .delay_us = 20 };
	struct sim_opts o = plain;

	(void)state;
	play("plain", o, false);
	o.jitter_us = 300;
	play("late", o, false);
	o = plain;
	o.duplicate = 0.5;
	play("doubled", o, false);
	o = plain;
	o.reorder = 0.5;
	play("mixed up", o, false);
	o = plain;
	o.loss = 0.3;
	play("lost", o, false);
	o = (struct sim_opts){
		.delay_us = 20, .jitter_us = 500, .loss = 0.2, .duplicate = 0.3, .reorder = 0.3
	};
	play("all of it", o, false);
}

static void another_sm_during_the_drain_calls_it_off_and_everybody_back(void **state)
{
	struct sim_opts o = { .delay_us = 20 };

	(void)state;
	play("another SM", o, true);
	o = (struct sim_opts){ .delay_us = 20, .loss = 0.2, .duplicate = 0.3, .reorder = 0.3 };
	play("another SM and all of it", o, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			all_phases_pass_over_notices_that_get_lost_late_doubled_and_mixed_up),
		cmocka_unit_test(another_sm_during_the_drain_calls_it_off_and_everybody_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
