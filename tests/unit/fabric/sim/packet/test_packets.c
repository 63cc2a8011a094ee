/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/packet/packets.h"

#include "console/deadlock/deadlock_text.h"
#include "console/deadlock/deadlock_traffic.h"
#include "engines/engine.h"
#include "fabric/base/hash/rng.h"
#include "fabric/model/tables/vl_fold.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/packets_drive.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ULL

/* ---- help ---- */

static uint32_t send_to(struct packets *p, uint32_t src, uint16_t dlid, uint8_t sl)
{
	uint32_t c = packets_connect(p, src, dlid, sl);

	packets_send(p, c, PACKETS_ENDLESS);
	return c;
}

static struct packets_counts counts(const struct packets *p)
{
	struct packets_counts n;

	packets_counts(&n, p);
	return n;
}

static struct packets_conn_counts of_conn(const struct packets *p, uint32_t c)
{
	struct packets_conn_counts n;

	packets_conn_counts(&n, p, c);
	return n;
}

static void assert_adds_up(const struct packets *p)
{
	const char *wrong = packets_check(p);

	if (wrong)
		fail_msg("%s", wrong);
}

static void write_entry(struct packets *p, uint32_t sw, uint16_t lid, uint8_t port)
{
	uint8_t block[LFT_BLOCK];

	packets_get_lft_block(p, sw, lid / LFT_BLOCK, block);
	block[lid % LFT_BLOCK] = port;
	packets_set_lft_block(p, sw, lid / LFT_BLOCK, block);
}

static struct packets *with(const struct fabric *f, const struct tables *t, unsigned vls,
			    uint64_t seed)
{
	struct packets_opts o;

	packets_opts_init(&o);
	o.vls = vls;
	o.seed = seed;
	o.rate_Mbps = 100000;
	return packets_new(f, t, &o);
}

/* ---- deadlock ---- */

/* Two hosts of every switch send two switches on, clockwise; those who pass the first switch
 * with SL `wrapped`. */
static struct packets *ring(struct fabric **f, struct tables **t, uint32_t n, uint8_t wrapped)
{
	struct packets *p;

	*f = net_ring(n, 2, NULL);
	*t = kit_clockwise(*f);
	p = with(*f, *t, 2, n);
	for (uint32_t i = 0; i < 2 * n; i++)
		send_to(p, i, (*f)->term_lid[(i + 4) % (2 * n)], i + 4 >= 2 * n ? wrapped : 0);
	return p;
}

static void assert_circle_of_ring(const struct fabric *f, const struct packets_wait *w, uint32_t n)
{
	assert_int_equal(n, f->nsw);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(w[i].vl, 0);
		assert_int_equal(f->chan_dst[w[i].chan], f->chan_src[w[(i + 1) % n].chan]);
		assert_int_equal(w[i].npackets, 800 / ((2048 + 26 + 63) / 64));
		/* the first packet is not at its switch yet, where it stands */
		assert_int_not_equal(f->term_sw[f->lid_end[w[i].dlid]], f->chan_dst[w[i].chan]);
	}
}

static void clockwise_ring_deadlocks_on_one_vl(void **state)
{
	(void)state;
	for (uint32_t n = 4; n <= 5; n++) {
		struct packets_wait *w;
		uint32_t nwait;
		uint64_t closed;
		struct fabric *f;
		struct tables *t;
		struct packets *p = ring(&f, &t, n, 0);

		assert_int_equal(packets_deadlock(p, NULL, NULL), 0);
		packets_run(p, MS);
		nwait = packets_deadlock(p, &w, &closed);
		assert_circle_of_ring(f, w, nwait);
		assert_true(closed > 1000 && closed < 50000);
		assert_true(packets_still(p));
		assert_true(counts(p).last_ns >= closed - 1000 && counts(p).last_ns < 50000);
		assert_true(counts(p).in_flight >= n * 24);
		assert_adds_up(p);
		free(w);
		packets_free(p);
		tables_put(t);
		fabric_put(f);
	}
}

static void clockwise_ring_keeps_moving_on_two_layers(void **state)
{
	(void)state;
	for (uint32_t n = 4; n <= 5; n++) {
		uint64_t delivered = 0;
		struct fabric *f;
		struct tables *t;
		struct packets *p = ring(&f, &t, n, 1);

		for (uint64_t ms = 1; ms <= 5; ms++) {
			packets_run(p, ms * MS);
			assert_int_equal(packets_deadlock(p, NULL, NULL), 0);
			assert_true(counts(p).delivered > delivered + 6000);
			delivered = counts(p).delivered;
		}
		assert_int_equal(counts(p).misordered, 0);
		assert_adds_up(p);
		packets_free(p);
		tables_put(t);
		fabric_put(f);
	}
}

static void head_of_queue_life_opens_a_deadlock_at_the_price_of_packets(void **state)
{
	struct fabric *f = net_ring(4, 2, NULL);
	struct tables *t = kit_clockwise(f);
	struct packets_opts o;
	struct packets *p;

	(void)state;
	packets_opts_init(&o);
	o.vls = 1;
	o.rate_Mbps = 100000;
	o.hoq_ns = 20000;
	p = packets_new(f, t, &o);
	for (uint32_t i = 0; i < 8; i++)
		send_to(p, i, f->term_lid[(i + 4) % 8], 0);
	for (uint64_t ms = 1; ms <= 4; ms++) {
		uint64_t before = counts(p).delivered;

		packets_run(p, ms * MS);
		assert_true(counts(p).delivered > before);
		assert_adds_up(p);
	}
	assert_true(counts(p).drops[DROP_HOQ] > 0);
	assert_int_equal(counts(p).dropped, counts(p).drops[DROP_HOQ]);
	assert_int_equal(counts(p).misordered, 0);
	packets_free(p);
	tables_put(t);
	fabric_put(f);
}

/* It says when, and who waits for whom. */
static void print_names_the_circle(const struct deadlock_test *s)
{
	char *text = NULL, line[512], head[80];
	size_t len;
	FILE *m = open_memstream(&text, &len);

	deadlock_text_print(m, s, NULL);
	fclose(m);
	snprintf(head, sizeof(head), "Deadlock after %.1f us: %u buffers wait",
		 (double)s->closed_ns * 1e-3, s->ncycle);
	assert_non_null(strstr(text, head));
	for (uint32_t i = 0; i < s->ncycle; i++) {
		const struct packets_wait *w = &s->cycle[i];

		/* the first packet stands where the next of the circle begins */
		assert_int_equal(s->f->chan_dst[w->chan],
				 s->f->chan_src[s->cycle[(i + 1) % s->ncycle].chan]);
		deadlock_text_line(line, sizeof(line), s, i);
		assert_non_null(strstr(text, line));
	}
	free(text);
}

/* As "ibroute-top deadlock" does: the paths that make a cycle on one VL. */
static void drive_slimfly(unsigned q, const char *name, unsigned vls, uint64_t seed, uint64_t ns)
{
	struct engine_params params = { .threads = 1, .seed = seed };
	struct tables *t, *used, *one;
	struct fabric *f;
	struct deadlock_test s;
	struct verdict *v;
	struct err err;
	char spec[40];

	snprintf(spec, sizeof(spec), "slimfly:q=%u,hosts=2", q);
	f = net_spec(spec);
	assert_int_equal(
		engine_run(engine_find(name, &err), &t, f, NULL, NULL, &params, NULL, &err), 0);
	used = vl_fold(f, t, vls);
	one = vl_fold(f, t, 1);
	assert_int_equal(verify_tables(&v, f, one, NULL, NULL, &err), 0);
	assert_false(v->deadlock_free);
	deadlock_test_init(&s, f, used, &(struct deadlock_test_opts){ .seed = seed });
	deadlock_traffic_aim(&s, used, v->cycle, v->ncycle);
	if (vls > 1)
		deadlock_traffic_spread(&s, used, 2);
	assert_int_equal(deadlock_test_run(&s, ns, NULL, &err), 0);
	if (vls == 1) {
		assert_true(s.ncycle >= 3);
		assert_true(s.closed_ns > 1000 && s.closed_ns < 50000);
		print_message("Slim Fly q=%u, %s, seed %lu: %u buffers after %.1f us\n", q, name,
			      (unsigned long)seed, s.ncycle, (double)s.closed_ns * 1e-3);
		print_names_the_circle(&s);
	} else {
		assert_int_equal(s.ncycle, 0);
		assert_true(s.n.delivered > ns / 100);
	}
	assert_int_equal(s.n.misordered + s.n.dropped, 0);
	assert_adds_up(s.p);
	deadlock_test_free(&s);
	verdict_free(v);
	tables_put(one);
	tables_put(used);
	tables_put(t);
	fabric_put(f);
}

/* HOTI16, Fig. 7 */
static void slim_fly_deadlocks_on_one_vl_within_tens_of_microseconds(void **state)
{
	static const unsigned q[] = { 5, 7, 8, 9 };

	(void)state;
	for (unsigned i = 0; i < sizeof(q) / sizeof(*q); i++)
		for (uint64_t seed = 1; seed <= 3; seed++)
			drive_slimfly(q[i], "dfdn", 1, seed, MS);
	drive_slimfly(5, "dfsssp", 1, 1, MS);
}

static void slim_fly_keeps_moving_on_the_two_vls_of_df_d2(void **state)
{
	static const unsigned q[] = { 5, 7, 8 };

	(void)state;
	for (unsigned i = 0; i < sizeof(q) / sizeof(*q); i++)
		for (uint64_t seed = 1; seed <= 3; seed++)
			drive_slimfly(q[i], "dfdn", 2, seed,
				      seed == 1 && q[i] == 5 ? 2 * MS : MS / 10);
}

/* Random tables of every kind: what was found to be a circle stays, and what stands for ever has
 * a circle. */
static void a_circle_stays_and_whatever_stands_has_one(void **state)
{
	uint32_t circles = 0;
	struct rng r;

	(void)state;
	rng_seed(&r, 7);
	for (uint32_t round = 0; round < 60; round++) {
		struct fabric *f = net_random(round + 1, 8, 14, 3, NULL);
		struct tables *t = kit_random_trees(f, &r);
		struct packets *p = with(f, t, 1, round);
		struct packets_wait *a, *b;
		uint32_t n;

		for (uint32_t i = 0; i < 3 * f->nterm && f->nterm; i++)
			send_to(p, i % f->nterm, f->term_lid[rng_below(&r, f->nterm)], 0);
		packets_run(p, MS / 4);
		n = packets_deadlock(p, &a, NULL);
		packets_run(p, MS / 2);
		if (n) {
			assert_int_equal(packets_deadlock(p, &b, NULL), n);
			assert_memory_equal(a, b, n * sizeof(*a));
			free(b);
			circles++;
		}
		if (packets_still(p) && counts(p).in_flight)
			assert_true(packets_deadlock(p, NULL, NULL) > 0);
		assert_int_equal(counts(p).misordered, 0);
		assert_adds_up(p);
		free(a);
		packets_free(p);
		tables_put(t);
		fabric_put(f);
	}
	assert_true(circles > 10 && circles < 60);
}

/* ---- links ---- */

static void one_flow_gets_the_rate_of_its_links(void **state)
{
	struct fabric *f = net_chain(3, 1, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct packets *p = with(f, t, 1, 1);
	uint64_t first;

	(void)state;
	send_to(p, 0, f->term_lid[2], 0);
	packets_run(p, MS);
	first = counts(p).delivered;
	packets_run(p, 2 * MS);
	/* 100 Gb/s for 1 ms, in packets of 2,074 bytes */
	assert_in_range(counts(p).delivered - first, 6026, 6028);
	assert_adds_up(p);
	packets_free(p);
	tables_put(t);
	fabric_put(f);
}

static void flows_from_two_hosts_share_a_link_half_and_half(void **state)
{
	struct fabric *f = net_chain(2, 2, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct packets *p = with(f, t, 1, 1);
	uint32_t a = send_to(p, 0, f->term_lid[2], 0), b = send_to(p, 1, f->term_lid[3], 0);

	(void)state;
	packets_run(p, 2 * MS);
	assert_in_range(of_conn(p, a).delivered + of_conn(p, b).delivered, 12000, 12055);
	assert_in_range(of_conn(p, a).delivered + 50 - of_conn(p, b).delivered, 0, 100);
	packets_free(p);
	tables_put(t);
	fabric_put(f);
}

static void connections_of_one_host_take_turns_and_vls_too(void **state)
{
	struct fabric *f = net_chain(2, 1, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct packets *p = with(f, t, 2, 1);
	uint32_t c[4];

	(void)state;
	for (uint8_t i = 0; i < 4; i++)
		c[i] = send_to(p, 0, f->term_lid[1], i == 3);
	packets_run(p, 2 * MS);
	/* three on VL 0 share half of the link, one on VL 1 has the other half */
	for (uint32_t i = 0; i < 3; i++)
		assert_in_range(of_conn(p, c[i]).delivered, 1960, 2030);
	assert_in_range(of_conn(p, c[3]).delivered, 5900, 6060);
	packets_free(p);
	tables_put(t);
	fabric_put(f);
}

static void a_message_ends_with_a_shorter_packet(void **state)
{
	struct fabric *f = net_chain(2, 1, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct packets *p = with(f, t, 1, 1);
	uint32_t c = packets_connect(p, 0, f->term_lid[1], 0);

	(void)state;
	packets_send(p, c, 2 * 2048 + 1);
	assert_true(packets_oldest_ns(p) == UINT64_MAX);
	while (!of_conn(p, c).in_flight)
		packets_run(p, packets_now_ns(p) + 10);
	assert_in_range(packets_now_ns(p) - packets_oldest_ns(p), 0, 10);
	packets_run(p, MS);
	assert_true(packets_still(p));
	assert_true(packets_oldest_ns(p) == UINT64_MAX);
	assert_int_equal(of_conn(p, c).delivered, 3);
	assert_int_equal(of_conn(p, c).bytes, 2 * 2048 + 1);
	packets_send(p, c, 100);
	packets_run(p, 2 * MS);
	assert_int_equal(of_conn(p, c).delivered, 4);
	assert_int_equal(packets_now_ns(p), 2 * MS);
	packets_free(p);
	tables_put(t);
	fabric_put(f);
}

/* ---- writes under way ---- */

/* A ring of four; host 0 to host 4 on the opposite switch by way of switch 1, where others
 * send along. */
struct detour {
	struct fabric *f;
	struct tables *t;
	struct packets *p;
	uint32_t conn;
	uint16_t dlid;
};

static void detour_begin(struct detour *d)
{
	struct net_opts o = { .lmc = 1 };

	d->f = net_ring(4, 2, &o);
	d->t = kit_clockwise(d->f);
	d->p = with(d->f, d->t, 1, 3);
	d->dlid = d->f->term_lid[4];
	/* the second LID goes the other way round */
	write_entry(d->p, 0, d->dlid + 1, d->f->chan_port[kit_chan(d->f, 0, 3)]);
	write_entry(d->p, 3, d->dlid + 1, d->f->chan_port[kit_chan(d->f, 3, 2)]);
	write_entry(d->p, 3, d->dlid, d->f->chan_port[kit_chan(d->f, 3, 2)]);
	d->conn = send_to(d->p, 0, d->dlid, 0);
	send_to(d->p, 2, d->f->term_lid[5], 0);
	send_to(d->p, 3, d->f->term_lid[5], 0);
	packets_run(d->p, MS / 10);
	assert_true(of_conn(d->p, d->conn).in_flight > 20);
}

static void detour_end(struct detour *d)
{
	assert_adds_up(d->p);
	packets_free(d->p);
	tables_put(d->t);
	fabric_put(d->f);
}

static void reroute(struct detour *d)
{
	write_entry(d->p, 0, d->dlid, d->f->chan_port[kit_chan(d->f, 0, 3)]);
}

static void drain(struct detour *d)
{
	packets_hold(d->p, d->conn, true);
	assert_false(packets_run_drained(d->p, packets_now_ns(d->p) + 100));
	assert_true(packets_run_drained(d->p, packets_now_ns(d->p) + MS));
	assert_int_equal(of_conn(d->p, d->conn).in_flight, 0);
	assert_true(counts(d->p).in_flight > 0);
	assert_adds_up(d->p);
}

static void a_written_entry_moves_later_packets(void **state)
{
	struct detour d;
	uint64_t before;

	(void)state;
	detour_begin(&d);
	reroute(&d);
	packets_run(d.p, MS);
	/* nobody goes the old way any more */
	write_entry(d.p, 1, d.dlid, FAB_NO_PORT);
	before = of_conn(d.p, d.conn).delivered;
	packets_run(d.p, 2 * MS);
	assert_int_equal(counts(d.p).dropped, 0);
	assert_in_range(of_conn(d.p, d.conn).delivered - before, 6020, 6030);
	detour_end(&d);
}

static void a_missing_entry_drops(void **state)
{
	struct detour d;

	(void)state;
	detour_begin(&d);
	write_entry(d.p, 1, d.dlid, FAB_NO_PORT);
	packets_run(d.p, MS);
	assert_true(counts(d.p).drops[DROP_NO_ENTRY] > 1000);
	assert_int_equal(counts(d.p).drops[DROP_NO_ENTRY], of_conn(d.p, d.conn).dropped);
	assert_int_equal(counts(d.p).misordered, 0);
	detour_end(&d);
}

static void a_reroute_without_drain_lets_packets_overtake(void **state)
{
	struct detour d;

	(void)state;
	detour_begin(&d);
	reroute(&d);
	packets_run(d.p, MS);
	assert_true(of_conn(d.p, d.conn).misordered > 0);
	assert_int_equal(counts(d.p).misordered, of_conn(d.p, d.conn).misordered);
	detour_end(&d);
}

static void a_reroute_after_the_drain_keeps_the_order(void **state)
{
	struct detour d;

	(void)state;
	detour_begin(&d);
	drain(&d);
	reroute(&d);
	packets_hold(d.p, d.conn, false);
	packets_run(d.p, 2 * MS);
	assert_int_equal(counts(d.p).misordered + counts(d.p).dropped, 0);
	assert_true(of_conn(d.p, d.conn).delivered > 5000);
	detour_end(&d);
}

static void a_migration_keeps_the_order_only_after_the_drain(void **state)
{
	struct detour d;

	(void)state;
	for (int drained = 0; drained < 2; drained++) {
		detour_begin(&d);
		if (drained)
			drain(&d);
		packets_migrate(d.p, d.conn, d.dlid + 1, 0);
		packets_hold(d.p, d.conn, false);
		packets_run(d.p, 2 * MS);
		assert_int_equal(of_conn(d.p, d.conn).misordered > 0, !drained);
		assert_true(of_conn(d.p, d.conn).delivered > 5000);
		detour_end(&d);
	}
}

static void a_drain_of_all_leaves_nothing_under_way(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 5);
	for (uint32_t round = 1; round <= 10; round++) {
		struct fabric *f = net_random(round, 10, 20, 3, NULL);
		struct tables *t = kit_bfs(f);
		struct packets *p = with(f, t, 4, round);
		uint32_t n = 4 * f->nterm;

		for (uint32_t i = 0; i < n; i++)
			send_to(p, i % f->nterm, f->term_lid[rng_below(&r, f->nterm)], i % 4);
		packets_run(p, MS / 20);
		if (packets_deadlock(p, NULL, NULL))
			n = 0; /* shortest paths may have cycles */
		for (uint32_t i = 0; i < n; i++)
			packets_hold(p, i, true);
		if (n) {
			assert_true(counts(p).in_flight > 0);
			assert_true(packets_run_drained(p, 100 * MS));
			assert_int_equal(counts(p).in_flight, 0);
			assert_true(packets_now_ns(p) < MS);
		}
		assert_adds_up(p);
		packets_free(p);
		tables_put(t);
		fabric_put(f);
	}
}

static void sl2vl_writes_hold_from_the_next_packet_on(void **state)
{
	uint8_t row[FAB_SLS], back[FAB_SLS];
	struct fabric *f = net_chain(2, 1, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct packets *p = with(f, t, 2, 1);
	uint32_t c = send_to(p, 0, f->term_lid[1], 1), link = kit_chan(f, 0, 1);
	uint64_t before;

	(void)state;
	packets_run(p, MS);
	assert_int_equal(counts(p).dropped, 0);
	packets_get_sl2vl(p, 0, f->term_port[0], f->chan_port[link], row);
	assert_int_equal(row[1], 1);
	row[1] = VL_DROP;
	packets_set_sl2vl(p, 0, f->term_port[0], f->chan_port[link], row);
	packets_get_sl2vl(p, 0, f->term_port[0], f->chan_port[link], back);
	assert_memory_equal(row, back, sizeof(row));
	packets_run(p, 2 * MS);
	assert_in_range(counts(p).drops[DROP_VL], 6000, 6030);
	row[1] = 2; /* a VL that the links do not have */
	packets_set_sl2vl(p, 0, f->term_port[0], f->chan_port[link], row);
	packets_run(p, 3 * MS);
	assert_in_range(counts(p).drops[DROP_VL], 12040, 12070);
	before = of_conn(p, c).delivered;
	row[1] = 0;
	packets_set_sl2vl(p, 0, f->term_port[0], f->chan_port[link], row);
	packets_run(p, 4 * MS);
	assert_in_range(of_conn(p, c).delivered - before, 6020, 6030);
	assert_adds_up(p);
	packets_free(p);
	tables_put(t);
	fabric_put(f);
}

static void packets_that_go_round_live_only_so_long(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL);
	struct tables *t = kit_clockwise(f);
	struct packets_opts o;
	struct packets *p;
	uint32_t c;

	(void)state;
	packets_opts_init(&o);
	o.vls = 1;
	o.life_ns = 50000;
	p = packets_new(f, t, &o);
	write_entry(p, 2, f->term_lid[2], f->chan_port[kit_chan(f, 2, 3)]);
	c = packets_connect(p, 0, f->term_lid[2], 0);
	packets_send(p, c, 10 * 2048);
	packets_run(p, MS / 40);
	assert_int_equal(counts(p).in_flight, 10);
	packets_run(p, MS);
	assert_int_equal(counts(p).drops[DROP_LIFE], 10);
	assert_true(packets_still(p));
	packets_free(p);
	tables_put(t);
	fabric_put(f);
}

static void packets_of_a_wrong_host_or_to_no_port_are_dropped(void **state)
{
	struct fabric *f = net_chain(2, 2, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct packets *p = with(f, t, 1, 1);
	uint32_t c = packets_connect(p, 0, f->term_lid[2], 0), own;

	(void)state;
	write_entry(p, 1, f->term_lid[2], f->term_port[3]);
	packets_send(p, c, 5 * 2048);
	packets_run(p, MS);
	assert_int_equal(counts(p).drops[DROP_WRONG_END], 5);
	write_entry(p, 1, f->term_lid[2], f->sw_nports[1] + 1);
	packets_send(p, c, 4 * 2048);
	packets_run(p, 2 * MS);
	assert_int_equal(counts(p).drops[DROP_BAD_PORT], 4);
	write_entry(p, 1, f->term_lid[2], 0);
	packets_send(p, c, 3 * 2048);
	packets_run(p, 3 * MS);
	assert_int_equal(counts(p).drops[DROP_WRONG_END], 8);
	own = packets_connect(p, 0, f->sw_lid[1], 0);
	packets_send(p, own, 2 * 2048);
	packets_run(p, 4 * MS);
	assert_int_equal(of_conn(p, own).delivered, 2);
	assert_int_equal(of_conn(p, c).dropped, 12);
	assert_adds_up(p);
	packets_free(p);
	tables_put(t);
	fabric_put(f);
}

/* ---- everything at once ---- */

/* One that there is, 0, one too high, or none. */
static uint8_t any_port(const struct fabric *f, uint32_t sw, struct rng *r)
{
	uint64_t port = rng_below(r, f->sw_nports[sw] + 3u);

	return port == f->sw_nports[sw] + 2u ? FAB_NO_PORT : (uint8_t)port;
}

static struct packets *storm(const struct fabric *f, const struct tables *t, uint64_t seed,
			     bool check)
{
	struct packets_opts o;
	struct packets *p;
	struct rng r;
	uint32_t n = 3 * f->nterm;

	rng_seed(&r, seed);
	packets_opts_init(&o);
	o.seed = seed;
	o.vls = 1 + (unsigned)rng_below(&r, 4);
	o.mtu = 256U << rng_below(&r, 5);
	o.credits = (uint32_t)rng_below(&r, 200);
	o.latency_ns = (uint32_t)rng_below(&r, 300);
	o.hoq_ns = rng_below(&r, 2) * 700;
	o.life_ns = rng_below(&r, 2) * 5000;
	o.shared = seed > 30;
	p = packets_new(f, t, &o);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = packets_connect(p, i % f->nterm, f->term_lid[rng_below(&r, f->nterm)],
					     (uint8_t)rng_below(&r, FAB_SLS));

		packets_send(p, c, 1 + rng_below(&r, 1000000));
	}
	for (uint32_t step = 1; step <= 300; step++) {
		uint32_t c = (uint32_t)rng_below(&r, n), sw = (uint32_t)rng_below(&r, f->nsw);
		uint16_t lid = f->term_lid[rng_below(&r, f->nterm)];
		uint8_t row[FAB_SLS];

		packets_run(p, step * 500ULL);
		packets_hold(p, c, rng_below(&r, 2));
		packets_migrate(p, (uint32_t)rng_below(&r, n), lid,
				(uint8_t)rng_below(&r, FAB_SLS));
		if (rng_below(&r, 3) == 0)
			write_entry(p, sw, lid, any_port(f, sw, &r));
		memset(row, (int)rng_below(&r, 5), sizeof(row));
		if (rng_below(&r, 5) == 0)
			packets_set_sl2vl(p, sw, 1, (uint8_t)rng_below(&r, f->sw_nports[sw] + 1u),
					  row);
		packets_deadlock(p, NULL, NULL);
		if (check)
			assert_adds_up(p);
	}
	return p;
}

static void room_and_counts_add_up_whatever_is_written_held_and_migrated(void **state)
{
	uint64_t drops[DROP_KINDS] = { 0 };
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	for (uint32_t round = 1; round <= 60; round++) {
		struct fabric *f = net_ring(6, 2, NULL);
		struct tables *t = kit_random_trees(f, &r);
		struct packets *p = storm(f, t, round, true);

		assert_true(counts(p).delivered > 0);
		for (int i = 0; i < DROP_KINDS; i++)
			drops[i] += counts(p).drops[i];
		packets_free(p);
		tables_put(t);
		fabric_put(f);
	}
	for (int i = 0; i < DROP_KINDS; i++)
		if (!drops[i])
			fail_msg("nothing was dropped for reason %d", i);
}

static void the_same_seed_gives_the_same_packets_and_another_does_not(void **state)
{
	struct fabric *f = net_ring(5, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct packets *a = storm(f, t, 3, false), *b = storm(f, t, 3, true);
	struct packets *c = storm(f, t, 4, false);
	struct packets_counts na = counts(a), nb = counts(b), nc = counts(c);

	(void)state;
	assert_memory_equal(&na, &nb, sizeof(na));
	assert_memory_not_equal(&na, &nc, sizeof(na));
	packets_free(a);
	packets_free(b);
	packets_free(c);
	tables_put(t);
	fabric_put(f);
}

static void vls_are_folded_in_every_form(void **state)
{
	static const enum sl2vl_kind kinds[] = { SL2VL_IDENTITY, SL2VL_BY_INPUT, SL2VL_FULL };
	static const enum sl_kind sls[] = { SL_CONST, SL_BY_DLID, SL_BY_SWITCH, SL_BY_TERM };
	struct fabric *f = net_ring(4, 2, NULL);
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (uint32_t i = 0; i < 12; i++) {
		struct tables *t = kit_bfs(f), *folded;

		if (kinds[i % 3] != SL2VL_IDENTITY)
			kit_random_sl2vl(t, f, kinds[i % 3], 16, &r);
		kit_random_sl(t, f, sls[i / 3], 16, &r);
		folded = vl_fold(f, t, 3);
		assert_memory_equal(folded->lft, t->lft, (size_t)f->nsw * t->stride);
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			assert_int_equal(tables_path_sl(folded, 5, f->term_sw[5], lid),
					 tables_path_sl(t, 5, f->term_sw[5], lid));
		for (uint8_t in = 0; in <= f->sw_nports[1]; in++)
			for (uint8_t sl = 0; sl < FAB_SLS; sl++) {
				uint8_t vl = tables_vl(t, f, 1, in, 3, sl);

				assert_int_equal(tables_vl(folded, f, 1, in, 3, sl),
						 vl == VL_DROP ? VL_DROP : vl % 3);
			}
		tables_put(folded);
		tables_put(t);
	}
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clockwise_ring_deadlocks_on_one_vl),
		cmocka_unit_test(clockwise_ring_keeps_moving_on_two_layers),
		cmocka_unit_test(head_of_queue_life_opens_a_deadlock_at_the_price_of_packets),
		cmocka_unit_test(slim_fly_deadlocks_on_one_vl_within_tens_of_microseconds),
		cmocka_unit_test(slim_fly_keeps_moving_on_the_two_vls_of_df_d2),
		cmocka_unit_test(a_circle_stays_and_whatever_stands_has_one),
		cmocka_unit_test(one_flow_gets_the_rate_of_its_links),
		cmocka_unit_test(flows_from_two_hosts_share_a_link_half_and_half),
		cmocka_unit_test(connections_of_one_host_take_turns_and_vls_too),
		cmocka_unit_test(a_message_ends_with_a_shorter_packet),
		cmocka_unit_test(a_written_entry_moves_later_packets),
		cmocka_unit_test(a_missing_entry_drops),
		cmocka_unit_test(a_reroute_without_drain_lets_packets_overtake),
		cmocka_unit_test(a_reroute_after_the_drain_keeps_the_order),
		cmocka_unit_test(a_migration_keeps_the_order_only_after_the_drain),
		cmocka_unit_test(a_drain_of_all_leaves_nothing_under_way),
		cmocka_unit_test(sl2vl_writes_hold_from_the_next_packet_on),
		cmocka_unit_test(packets_that_go_round_live_only_so_long),
		cmocka_unit_test(packets_of_a_wrong_host_or_to_no_port_are_dropped),
		cmocka_unit_test(room_and_counts_add_up_whatever_is_written_held_and_migrated),
		cmocka_unit_test(the_same_seed_gives_the_same_packets_and_another_does_not),
		cmocka_unit_test(vls_are_folded_in_every_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
