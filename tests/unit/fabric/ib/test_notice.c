/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notices between nodes by way of the SM, on the simulated fabric and with its faults. */
#include "fabric/wire/notice_port.h"

#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/wire/sa.h"
#include "fabric/wire/wire.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>

#define NODES 6
#define MS    1000000ull
#define SM    0 /* terminals: the SM, the coordinator, the others are agents */
#define COORD 1

/* A fabric of 3 leaves with 2 hosts each, every host listening. */
struct world {
	struct fabric *f;
	struct tables *t;
	struct sim *sim;
	struct notice_port *np[NODES];
	struct err err;
};

static void world_up(struct world *x, const struct sim_opts *faults)
{
	struct sim_opts opts;

	memset(x, 0, sizeof(*x));
	sim_opts_init(&opts);
	opts.virtual_clock = true;
	opts.delay_us = 20;
	x->f = net_tree(3, 2, 2, NULL);
	x->t = kit_bfs(x->f);
	assert_int_equal(sim_new(&x->sim, x->f, faults ? faults : &opts, &x->err), 0);
	assert_int_equal(sim_install_tables(x->sim, x->t, &x->err), 0);
	for (uint32_t i = 0; i < NODES; i++) {
		struct notice_opts no = { .term = i, .retries = 30 };

		assert_int_equal(notice_port_open_sim(&x->np[i], x->sim, &no, &x->err), 0);
	}
}

static void world_down(struct world *x)
{
	for (uint32_t i = 0; i < NODES; i++)
		notice_port_close(x->np[i]);
	sim_free(x->sim);
	tables_put(x->t);
	fabric_put(x->f);
}

static int subscribe(struct world *x, uint32_t node, uint16_t trap)
{
	return notice_subscribe(x->np[node], trap, &x->err);
}

static void send(struct world *x, uint32_t node, uint8_t phase, bool ack, uint32_t seq)
{
	struct phase_notice a = { .version = PHASE_NOTICE_VERSION,
				  .phase = phase == NOTICE_UNPATH ? PHASE_UNPATH : PHASE_REPATH,
				  .txn = 77,
				  .seq = seq };

	assert_int_equal(notice_send_phase(x->np[node], &a, ack, &x->err), 0);
}

/* How many notices a node has got; the last one in *in. */
static uint32_t heard(struct world *x, uint32_t node, struct notice_in *in)
{
	uint32_t n = 0;

	while (notice_recv(x->np[node], in, MS, &x->err) == 1)
		n++;
	return n;
}

static struct sim_sm_counts counts(struct world *x)
{
	struct sim_sm_counts c;

	sim_sm_counts(x->sim, &c);
	return c;
}

/* Field by field: there is padding between them. */
static void expect_same(const struct phase_notice *a, const struct phase_notice *b)
{
	assert_int_equal(a->version, b->version);
	assert_int_equal(a->phase, b->phase);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->repeat, b->repeat);
	assert_int_equal(a->hold_s, b->hold_s);
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->txn, b->txn);
}

static void subscribers_get_what_a_node_sends_and_who_sent_it(void **state)
{
	struct phase_notice a = { .version = PHASE_NOTICE_VERSION,
				  .phase = PHASE_UNPATH,
				  .flags = 5,
				  .repeat = 3,
				  .hold_s = 300,
				  .txn = 77,
				  .seq = 9 };
	bool answer;
	struct phase_notice back;
	struct notice_in in;
	struct world x;

	(void)state;
	world_up(&x, NULL);
	assert_int_equal(subscribe(&x, 3, NOTICE_UNPATH), 0);
	assert_int_equal(subscribe(&x, 5, NOTICE_UNPATH), 0);
	assert_int_equal(subscribe(&x, 4, NOTICE_REPATH), 0);
	assert_int_equal(notice_send_phase(x.np[COORD], &a, false, &x.err), 0);
	for (uint32_t node = 0; node < NODES; node++) {
		assert_int_equal(heard(&x, node, &in), node == 3 || node == 5);
		if (node != 3 && node != 5)
			continue;
		assert_int_equal(phase_codec_decode(&back, &answer, &in.notice), 0);
		assert_false(answer);
		expect_same(&back, &a);
		assert_int_equal(in.sm_lid, x.f->term_lid[SM]);
		assert_int_equal(in.notice.issuer_lid, x.f->term_lid[COORD]);
		assert_int_equal(in.notice.issuer_guid, x.f->term_guid[COORD]);
	}
	assert_int_equal(counts(&x).reports, 2);
	assert_int_equal(counts(&x).answered, 2);
	world_down(&x);
}

static void an_ack_goes_back_and_costs_no_sweep(void **state)
{
	struct phase_notice a = {
		.version = PHASE_NOTICE_VERSION, .phase = PHASE_UNPATH, .txn = 77, .seq = 1
	};
	struct notice_sender wrong = { .cap_mask = 1 };
	struct notice_in in;
	struct notice n;
	struct world x;

	(void)state;
	world_up(&x, NULL);
	assert_int_equal(subscribe(&x, COORD, NOTICE_LOCAL_CHANGES), 0);
	for (uint32_t node = 2; node < NODES; node++)
		send(&x, node, NOTICE_UNPATH, true, node);
	assert_int_equal(heard(&x, COORD, &in), NODES - 2);
	assert_int_equal(counts(&x).heavy_sweeps + counts(&x).light_sweeps, 0);
	send(&x, COORD, NOTICE_REPATH, false, 1);
	assert_int_equal(counts(&x).light_sweeps, 1);
	phase_codec_encode(&n, &a, true, &wrong);
	assert_int_equal(notice_send(x.np[3], &n, &x.err), 0);
	assert_int_equal(counts(&x).heavy_sweeps, 1);
	world_down(&x);
}

static void subscribing_again_does_not_double_and_unsubscribing_ends_it(void **state)
{
	struct notice_in in;
	struct world x;

	(void)state;
	world_up(&x, NULL);
	assert_int_equal(subscribe(&x, 3, NOTICE_UNPATH), 0);
	assert_int_equal(subscribe(&x, 3, NOTICE_UNPATH), 0);
	assert_int_equal(counts(&x).subscriptions, 1);
	send(&x, COORD, NOTICE_UNPATH, false, 1);
	assert_int_equal(heard(&x, 3, &in), 1);
	assert_int_equal(notice_unsubscribe(x.np[3], NOTICE_UNPATH, &x.err), 0);
	send(&x, COORD, NOTICE_UNPATH, false, 2);
	assert_int_equal(heard(&x, 3, &in), 0);
	assert_int_equal(notice_unsubscribe(x.np[3], NOTICE_UNPATH, &x.err), -EPROTO);
	assert_string_equal(x.err.text, "the subnet manager at LID 1 refuses to unsubscribe this port from notices 68: it says that the request is invalid");
	world_down(&x);
}

static void the_same_notice_is_heard_ten_times_and_again_after_five_seconds(void **state)
{
	struct notice_in in;
	struct world x;

	(void)state;
	world_up(&x, NULL);
	assert_int_equal(subscribe(&x, 3, NOTICE_UNPATH), 0);
	for (int i = 0; i < 15; i++)
		send(&x, COORD, NOTICE_UNPATH, false, 1);
	assert_int_equal(heard(&x, 3, &in), 10);
	assert_int_equal(counts(&x).suppressed, 5);
	send(&x, COORD, NOTICE_UNPATH, false, 2); /* a resend with a new number */
	assert_int_equal(heard(&x, 3, &in), 1);
	sim_advance(x.sim, 5.1);
	send(&x, COORD, NOTICE_UNPATH, false, 1);
	assert_int_equal(heard(&x, 3, &in), 1);
	world_down(&x);
}

static void reports_that_come_while_the_wire_reads_are_kept(void **state)
{
	struct wire_opts wo = { .term = 2, .notices = true };
	struct notice_local local;
	struct fabric *swept;
	struct notice_in in;
	struct world x;
	struct wire *w;

	(void)state;
	world_up(&x, NULL);
	assert_int_equal(wire_open_sim(&w, x.sim, &wo, &x.err), 0);
	assert_int_equal(notice_subscribe(wire_notices(w), NOTICE_LOCAL_CHANGES, &x.err), 0);
	for (uint32_t seq = 0; seq < 300; seq++)
		send(&x, 3 + seq % 3, NOTICE_UNPATH, true, seq);
	assert_int_equal(wire_sweep(&swept, NULL, w, NULL, NULL, &x.err), 0);
	assert_true(digest_equal(&swept->fingerprint, &x.f->fingerprint));
	assert_int_equal(notice_stats(wire_notices(w))->reports, 300);
	for (uint32_t seq = 0; seq < 300; seq++) {
		struct phase_notice a;
		bool answer;

		assert_int_equal(notice_recv(wire_notices(w), &in, 0, &x.err), 1);
		assert_int_equal(phase_codec_decode(&a, &answer, &in.notice), 0);
		assert_int_equal(a.seq, seq);
	}
	assert_int_equal(notice_recv(wire_notices(w), &in, 0, &x.err), 0);
	assert_int_equal(notice_port_refresh(wire_notices(w), &local, &x.err), 0);
	assert_int_equal(local.lid, x.f->term_lid[2]);
	fabric_put(swept);
	wire_close(w);
	world_down(&x);
}

static void a_wire_may_begin_to_listen_and_reads_on(void **state)
{
	struct wire_opts wo = { .term = 2 };
	struct fabric *swept, *again;
	struct tables *t;
	struct notice_in in;
	struct world x;
	struct wire *w;

	(void)state;
	world_up(&x, NULL);
	assert_int_equal(wire_open_sim(&w, x.sim, &wo, &x.err), 0);
	assert_int_equal(wire_sweep(&swept, NULL, w, NULL, NULL, &x.err), 0);
	assert_int_equal(wire_listen(w, &x.err), 0);
	assert_int_equal(wire_listen(w, &x.err), 0); /* again is fine */
	assert_int_equal(notice_subscribe(wire_notices(w), NOTICE_LOCAL_CHANGES, &x.err), 0);
	send(&x, 3, NOTICE_UNPATH, true, 7);
	/* over the routes that it knew before */
	assert_int_equal(wire_read_tables(&t, w, swept, true, NULL, NULL, &x.err), 0);
	assert_int_equal(wire_sweep(&again, NULL, w, NULL, NULL, &x.err), 0);
	assert_true(digest_equal(&again->fingerprint, &x.f->fingerprint));
	assert_int_equal(notice_recv(wire_notices(w), &in, 0, &x.err), 1);
	tables_put(t);
	fabric_put(again);
	fabric_put(swept);
	wire_close(w);
	world_down(&x);
}

static void a_wire_without_notices_has_none(void **state)
{
	struct world x;
	struct wire *w;

	(void)state;
	world_up(&x, NULL);
	assert_int_equal(wire_open_sim(&w, x.sim, NULL, &x.err), 0);
	assert_null(wire_notices(w));
	wire_close(w);
	world_down(&x);
}

static void the_ring_of_waiting_reports_keeps_the_first_when_it_is_full(void **state)
{
	struct phase_notice a;
	struct notice_in in;
	bool answer;
	uint32_t n = 0;
	struct world x;

	(void)state;
	world_up(&x, NULL);
	assert_int_equal(subscribe(&x, 3, NOTICE_UNPATH), 0);
	for (uint32_t seq = 0; seq < 65536 + 10; seq++)
		send(&x, COORD, NOTICE_UNPATH, false, seq);
	/* with its reports before it, the answer to a request comes last */
	assert_int_equal(subscribe(&x, 3, NOTICE_REPATH), 0);
	assert_int_equal(notice_stats(x.np[3])->dropped, 10);
	while (notice_recv(x.np[3], &in, 0, &x.err) == 1) {
		assert_int_equal(phase_codec_decode(&a, &answer, &in.notice), 0);
		assert_int_equal(a.seq, n++);
	}
	assert_int_equal(n, 65536);
	world_down(&x);
}

/* Rounds of resends until all four agents have heard, and how often they did in all. */
static uint32_t rounds_until_all_heard(const struct sim_opts *faults, uint32_t *copies)
{
	uint32_t got[NODES] = { 0 }, rounds = 0, missing = NODES - 2;
	struct notice_in in;
	struct world x;

	world_up(&x, faults);
	for (uint32_t node = 2; node < NODES; node++)
		assert_int_equal(subscribe(&x, node, NOTICE_UNPATH), 0);
	*copies = 0;
	while (missing) {
		send(&x, COORD, NOTICE_UNPATH, false, rounds++);
		missing = 0;
		for (uint32_t node = 2; node < NODES; node++) {
			got[node] += heard(&x, node, &in);
			missing += !got[node];
		}
	}
	for (uint32_t node = 2; node < NODES; node++)
		*copies += got[node];
	world_down(&x);
	return rounds;
}

static void loss_and_duplication_are_the_simulator_s_and_repeatable(void **state)
{
	struct sim_opts o;
	uint32_t copies, again, rounds;

	(void)state;
	sim_opts_init(&o);
	o.virtual_clock = true;
	o.delay_us = 20;
	assert_int_equal(rounds_until_all_heard(&o, &copies), 1);
	assert_int_equal(copies, 4);
	o.duplicate = 1;
	assert_int_equal(rounds_until_all_heard(&o, &copies), 1);
	assert_int_equal(copies, 8);
	o.duplicate = 0;
	o.loss = 0.6;
	rounds = rounds_until_all_heard(&o, &copies);
	assert_true(rounds > 1);
	assert_int_equal(rounds_until_all_heard(&o, &again), rounds);
	assert_int_equal(again, copies);
}

static void reports_can_overtake_each_other(void **state)
{
	uint32_t before = 0, inversions = 0, n = 0;
	struct sim_opts o;
	bool answer;
	struct phase_notice a;
	struct notice_in in;
	struct world x;

	(void)state;
	sim_opts_init(&o);
	o.virtual_clock = true;
	o.delay_us = 20;
	o.reorder = 0.3;
	world_up(&x, &o);
	assert_int_equal(subscribe(&x, 3, NOTICE_UNPATH), 0);
	for (uint32_t seq = 0; seq < 100; seq++)
		send(&x, COORD, NOTICE_UNPATH, false, seq);
	while (notice_recv(x.np[3], &in, MS, &x.err) == 1) {
		assert_int_equal(phase_codec_decode(&a, &answer, &in.notice), 0);
		inversions += a.seq < before;
		before = a.seq;
		n++;
	}
	assert_int_equal(n, 100);
	assert_true(inversions > 0);
	world_down(&x);
}

static void an_sm_that_is_gone_is_named_and_forgets_its_subscribers(void **state)
{
	struct notice_opts no = { .term = 4, .timeout_ms = 5, .retries = 1 };
	struct notice_port *np;
	struct notice_in in;
	struct world x;

	(void)state;
	world_up(&x, NULL);
	assert_int_equal(notice_port_open_sim(&np, x.sim, &no, &x.err), 0);
	assert_int_equal(notice_subscribe(np, NOTICE_UNPATH, &x.err), 0);
	sim_stop_sm(x.sim, true);
	assert_int_equal(notice_subscribe(np, NOTICE_UNPATH, &x.err), -ETIMEDOUT);
	assert_string_equal(x.err.text, "the subnet manager at LID 1 does not respond to the request to subscribe this port to notices 68: is it running?");
	send(&x, COORD, NOTICE_UNPATH, false, 1);
	sim_stop_sm(x.sim, false);
	send(&x, COORD, NOTICE_UNPATH, false, 2);
	assert_int_equal(notice_recv(np, &in, MS, &x.err), 0);
	assert_int_equal(notice_subscribe(np, NOTICE_UNPATH, &x.err), 0);
	send(&x, COORD, NOTICE_UNPATH, false, 3);
	assert_int_equal(notice_recv(np, &in, MS, &x.err), 1);
	notice_port_close(np);
	world_down(&x);
}

static void another_sm_is_found_by_asking_the_local_port(void **state)
{
	struct notice_local local;
	struct notice_in in;
	struct world x;

	(void)state;
	world_up(&x, NULL);
	assert_int_equal(notice_port_refresh(x.np[3], &local, &x.err), 0);
	assert_int_equal(local.sm_lid, x.f->term_lid[SM]);
	sim_move_sm(x.sim, 5);
	for (uint32_t node = COORD; node < 4; node++)
		assert_int_equal(notice_port_refresh(x.np[node], &local, &x.err), 0);
	assert_int_equal(local.sm_lid, x.f->term_lid[5]);
	assert_int_equal(subscribe(&x, 3, NOTICE_UNPATH), 0);
	send(&x, COORD, NOTICE_UNPATH, false, 1);
	assert_int_equal(heard(&x, 3, &in), 1);
	assert_int_equal(in.sm_lid, x.f->term_lid[5]);
	sim_move_sm(x.sim, FAB_NONE);
	assert_int_equal(notice_port_refresh(x.np[3], &local, &x.err), -ENOENT);
	world_down(&x);
}

static void the_dead_and_the_unreachable_hear_nothing(void **state)
{
	struct notice_in in;
	struct world x;

	(void)state;
	world_up(&x, NULL);
	for (uint32_t node = 2; node < NODES; node++)
		assert_int_equal(subscribe(&x, node, NOTICE_UNPATH), 0);
	sim_kill_term(x.sim, 2, true);
	/* on the SM's leaf, the way to node 5 */
	sim_poke_lft(x.sim, x.f->term_sw[SM], x.f->term_lid[5], FAB_NO_PORT);
	send(&x, COORD, NOTICE_UNPATH, false, 1);
	assert_int_equal(heard(&x, 2, &in), 0);
	assert_int_equal(heard(&x, 3, &in), 1);
	assert_int_equal(heard(&x, 4, &in), 1);
	assert_int_equal(heard(&x, 5, &in), 0);
	world_down(&x);
}

/* A report made by a node, straight to another. */
static void forge(struct world *x, uint32_t from, uint32_t to)
{
	struct phase_notice a = {
		.version = PHASE_NOTICE_VERSION, .phase = PHASE_UNPATH, .txn = 99, .seq = 1
	};
	struct notice_sender sm = { .lid = x->f->term_lid[SM] };
	const struct mad_port *port = notice_port_mad(x->np[from]);
	struct notice n;
	struct mad_packet p;

	phase_codec_encode(&n, &a, false, &sm);
	n.issuer_guid = x->f->term_guid[SM];
	report_build(&p, x->f->term_lid[to], 0, 1, &n, 5);
	assert_int_equal(port->ops->send(port->ctx, &p, &x->err), 0);
}

static void reports_of_anybody_but_the_sm_are_counted_and_dropped(void **state)
{
	struct notice_in in;
	struct world x;

	(void)state;
	world_up(&x, NULL);
	assert_int_equal(subscribe(&x, 3, NOTICE_UNPATH), 0);
	forge(&x, 5, 3);
	assert_int_equal(heard(&x, 3, &in), 0);
	assert_int_equal(notice_stats(x.np[3])->strangers, 1);
	assert_int_equal(notice_stats(x.np[3])->stranger_lid, x.f->term_lid[5]);
	/* nor do they hold up what is the SM's */
	forge(&x, 5, 3);
	send(&x, COORD, NOTICE_UNPATH, false, 1);
	forge(&x, 4, 3);
	assert_int_equal(heard(&x, 3, &in), 1);
	assert_int_equal(in.sm_lid, x.f->term_lid[SM]);
	assert_int_equal(notice_stats(x.np[3])->strangers, 3);
	/* another SM is found, though nobody has looked at the port since */
	sim_move_sm(x.sim, 5);
	assert_int_equal(subscribe(&x, 3, NOTICE_UNPATH), -ETIMEDOUT);
	assert_int_equal(notice_port_refresh(x.np[4], NULL, &x.err), 0);
	forge(&x, 5, 3);
	assert_int_equal(heard(&x, 3, &in), 1);
	assert_int_equal(in.sm_lid, x.f->term_lid[5]);
	world_down(&x);
}

static void *send_late(void *ctx)
{
	struct world *x = ctx;
	struct timespec pause = { .tv_nsec = 20 * MS };

	nanosleep(&pause, NULL);
	send(x, COORD, NOTICE_UNPATH, false, 1);
	return NULL;
}

static void a_waiting_thread_is_woken_by_another_s_notice(void **state)
{
	struct sim_opts o;
	struct notice_in in;
	struct world x;
	pthread_t other;
	uint64_t start;

	(void)state;
	sim_opts_init(&o);
	world_up(&x, &o);
	assert_int_equal(subscribe(&x, 3, NOTICE_UNPATH), 0);
	start = notice_port_now_ns(x.np[3]);
	pthread_create(&other, NULL, send_late, &x);
	assert_int_equal(notice_recv(x.np[3], &in, 20000 * MS, &x.err), 1);
	pthread_join(other, NULL);
	assert_true(notice_port_now_ns(x.np[3]) - start < 10000 * MS);
	assert_true(in.at_ns - start >= 20 * MS);
	world_down(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subscribers_get_what_a_node_sends_and_who_sent_it),
		cmocka_unit_test(an_ack_goes_back_and_costs_no_sweep),
		cmocka_unit_test(subscribing_again_does_not_double_and_unsubscribing_ends_it),
		cmocka_unit_test(the_same_notice_is_heard_ten_times_and_again_after_five_seconds),
		cmocka_unit_test(reports_that_come_while_the_wire_reads_are_kept),
		cmocka_unit_test(a_wire_may_begin_to_listen_and_reads_on),
		cmocka_unit_test(a_wire_without_notices_has_none),
		cmocka_unit_test(the_ring_of_waiting_reports_keeps_the_first_when_it_is_full),
		cmocka_unit_test(loss_and_duplication_are_the_simulator_s_and_repeatable),
		cmocka_unit_test(reports_can_overtake_each_other),
		cmocka_unit_test(an_sm_that_is_gone_is_named_and_forgets_its_subscribers),
		cmocka_unit_test(another_sm_is_found_by_asking_the_local_port),
		cmocka_unit_test(the_dead_and_the_unreachable_hear_nothing),
		cmocka_unit_test(reports_of_anybody_but_the_sm_are_counted_and_dropped),
		cmocka_unit_test(a_waiting_thread_is_woken_by_another_s_notice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
