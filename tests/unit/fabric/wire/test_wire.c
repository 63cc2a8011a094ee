/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything above the seam, against the simulated fabric and its faults. */
#include "fabric/wire/queue.h"
#include "fabric/wire/wire.h"

#include "fabric/base/hash/rng.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/sim/topology/topo.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/small_net.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

/* A fabric, its tables, a simulator that runs them and a wire into it. */
struct world {
	struct fabric *f;
	struct tables *t;
	struct sim *sim;
	struct wire *w;
	struct fabric *swept;
	struct sweep_report report;
	struct err err;
};

/* Shortest paths, spread over equal ones by LID. */
static void route_switch(struct tables *t, const struct fabric *f, uint32_t goal, uint32_t lid,
			 uint8_t last)
{
	uint32_t *dist = calloc(f->nsw, sizeof(*dist)), *queue = calloc(f->nsw, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	memset(dist, 0xff, f->nsw * sizeof(*dist));
	dist[goal] = 0;
	queue[tail++] = goal;
	tables_row(t, goal)[lid] = last;
	while (head < tail) {
		uint32_t u = queue[head++];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];
			uint8_t *entry = &tables_row(t, v)[lid];

			if (dist[v] == UINT32_MAX) {
				dist[v] = dist[u] + 1;
				queue[tail++] = v;
				*entry = f->chan_rport[c];
			} else if (dist[v] == dist[u] + 1 && (lid + c) % 2) {
				*entry = f->chan_rport[c];
			}
		}
	}
	free(dist);
	free(queue);
}

static struct tables *route(const struct fabric *f)
{
	struct tables *t = tables_new(f, "test");
	uint8_t last = 0;

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint32_t sw = fabric_lid_switch(f, lid, &last);

		if (sw != FAB_NONE)
			route_switch(t, f, sw, lid, last);
	}
	return t;
}

static void world_up(struct world *x, struct fabric *f, const struct sim_opts *so,
		     const struct wire_opts *wo)
{
	struct sim_opts preset;

	sim_opts_init(&preset);
	preset.virtual_clock = true;
	preset.delay_us = 5;
	memset(x, 0, sizeof(*x));
	x->f = f;
	x->t = route(f);
	assert_int_equal(sim_new(&x->sim, f, so ? so : &preset, &x->err), 0);
	assert_int_equal(sim_install_tables(x->sim, x->t, &x->err), 0);
	assert_int_equal(wire_open_sim(&x->w, x->sim, wo, &x->err), 0);
}

static int world_sweep(struct world *x)
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
	tables_put(x->t);
	fabric_put(x->f);
}

static struct fabric *generated(const char *spec)
{
	struct builder *b;
	struct fabric *f;

	assert_int_equal(topo_build(&b, spec, NULL), 0);
	assert_int_equal(builder_freeze(&f, b, NULL, NULL), 0);
	builder_free(b);
	return f;
}

static bool same_hash(const struct tables *a, const struct tables *b, const struct fabric *f)
{
	struct digest x, y;

	tables_hash(&x, a, f);
	tables_hash(&y, b, f);
	return digest_equal(&x, &y);
}

static void sweeps_find_exactly_the_fabric(void **state)
{
	struct net_opts lmc2 = { .lmc = 2, .aggregation = 2 };
	struct net_opts mixed = { .random_lids = 5 };
	struct fabric *nets[] = { net_tree(4, 2, 3, NULL), net_torus(4, 3, 2, &lmc2),
				  net_random(3, 20, 45, 4, &mixed), net_ring(5, 1, NULL),
				  generated("dragonfly:p=2") };

	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
		struct world x;

		world_up(&x, nets[i], NULL, NULL);
		assert_int_equal(world_sweep(&x), 0);
		assert_true(digest_equal(&x.swept->fingerprint, &x.f->fingerprint));
		assert_int_equal(x.swept->nchan, x.f->nchan);
		assert_int_equal(x.swept->nterm, x.f->nterm);
		assert_int_equal(x.swept->lmc, x.f->lmc);
		assert_true(x.swept->lids_given);
		for (uint32_t sw = 0; sw < x.f->nsw; sw++)
			assert_string_equal(x.swept->sw_name[sw], x.f->sw_name[sw]);
		for (uint32_t p = 0; p < x.f->nport; p++) {
			assert_int_equal(x.swept->port[p].rate_Mbps, x.f->port[p].rate_Mbps);
			if (x.f->port[p].chan != FAB_NONE)
				assert_int_equal(x.swept->port[p].state, PORT_ACTIVE);
		}
		assert_int_equal(x.report.ngaps, 0);
		assert_int_equal(x.report.switches, x.f->nsw);
		assert_int_equal(x.report.sm_lid, x.f->term_lid[0]);
		assert_true(x.report.mads > x.f->nport);
		world_down(&x);
	}
}

static void sweeps_survive_loss_duplicates_and_reordering(void **state)
{
	struct sim_opts so;
	struct wire_opts wo = { .window = 16, .timeout_ms = 10, .retries = 12 };
	struct world x;

	(void)state;
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.loss = 0.05;
	so.duplicate = so.reorder = 0.2;
	so.delay_us = 500;
	so.jitter_us = 2000;
	world_up(&x, net_random(9, 12, 30, 3, NULL), &so, &wo);
	assert_int_equal(world_sweep(&x), 0);
	assert_true(digest_equal(&x.swept->fingerprint, &x.f->fingerprint));
	assert_int_equal(x.report.ngaps, 0);
	world_down(&x);
}

static void dead_nodes_are_left_out_and_named(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	sim_kill_switch(x.sim, x.f->nsw - 1, true); /* a spine or the last leaf: not term 0's */
	sim_kill_term(x.sim, 1, true);
	assert_int_equal(world_sweep(&x), 0);
	assert_int_equal(x.swept->nsw, x.f->nsw - 1);
	assert_true(x.report.no_answer >= 2);
	for (uint32_t i = 0; i < x.report.ngaps; i++)
		assert_non_null(strstr(x.report.gaps[i].text, "behind")
					? strchr(x.report.gaps[i].place, '/')
					: x.report.gaps[i].place);
	assert_true(x.report.ngaps >= 2);
	assert_non_null(strstr(x.report.gaps[0].text, "no response behind"));
	assert_int_equal(fabric_term_by_guid(x.swept, x.f->term_guid[1]), FAB_NONE);
	assert_int_equal(fabric_switch_by_guid(x.swept, x.f->sw_guid[x.f->nsw - 1]), FAB_NONE);
	world_down(&x);
}

static void a_node_without_lid_is_left_out_of_a_configured_fabric(void **state)
{
	struct world x;
	uint16_t lids[2];

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	lids[0] = x.f->term_lid[4];
	lids[1] = x.f->sw_lid[5];
	x.f->term_lid[4] = 0;
	x.f->sw_lid[5] = 0;
	assert_int_equal(world_sweep(&x), 0);
	assert_int_equal(x.swept->nterm, x.f->nterm - 1);
	assert_int_equal(x.swept->nsw, x.f->nsw - 1);
	assert_true(x.swept->lids_given);
	assert_int_equal(x.swept->term_lid[0], x.f->term_lid[0]);
	assert_int_equal(x.report.ngaps, 2);
	assert_non_null(strstr(x.report.gaps[0].text, "has no LID yet"));
	x.f->term_lid[4] = lids[0];
	x.f->sw_lid[5] = lids[1];
	world_down(&x);
}

static void links_that_are_down_are_not_in_the_fabric(void **state)
{
	struct world x;
	uint32_t chan = 0;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	sim_link_set(x.sim, x.f->chan_src[chan], x.f->chan_port[chan], false);
	assert_int_equal(world_sweep(&x), 0);
	assert_int_equal(x.swept->nchan, x.f->nchan - 2);
	assert_true(x.report.links_down >= 2);
	assert_int_equal(x.report.ngaps, 0);
	sim_link_set(x.sim, x.f->chan_src[chan], x.f->chan_port[chan], true);
	assert_int_equal(world_sweep(&x), 0);
	assert_true(digest_equal(&x.swept->fingerprint, &x.f->fingerprint));
	world_down(&x);
}

static void a_port_without_link_or_answer_says_what_to_do(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, net_tree(2, 2, 2, NULL), NULL, NULL);
	sim_link_set(x.sim, x.f->term_sw[0], x.f->term_port[0], false);
	assert_int_equal(world_sweep(&x), -ENETDOWN);
	assert_non_null(strstr(x.err.text, "down"));
	sim_link_set(x.sim, x.f->term_sw[0], x.f->term_port[0], true);
	sim_kill_switch(x.sim, x.f->term_sw[0], true);
	assert_int_equal(world_sweep(&x), -EHOSTUNREACH);
	sim_kill_term(x.sim, 0, true);
	assert_int_equal(world_sweep(&x), -EHOSTUNREACH);
	assert_non_null(strstr(x.err.text, "M_Key"));
	world_down(&x);
}

static void sweeps_can_be_cancelled(void **state)
{
	struct progress p = { .cancel = true };
	struct world x;

	(void)state;
	world_up(&x, net_tree(2, 2, 2, NULL), NULL, NULL);
	assert_int_equal(wire_sweep(&x.swept, NULL, x.w, NULL, &p, &x.err), -ECANCELED);
	assert_null(x.swept);
	assert_int_equal(world_sweep(&x), 0);
	world_down(&x);
}

static void shuffle_sl2vl(struct tables *t, const struct fabric *f, uint64_t seed)
{
	struct rng rng;

	rng_seed(&rng, seed);
	tables_sl2vl_form(t, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 0; out <= f->sw_nports[sw]; out++)
				for (uint8_t sl = 0; sl < FAB_SLS; sl++)
					tables_sl2vl_row(t, sw, in, out)[sl] =
						(uint8_t)rng_below(&rng, 8);
}

static void tables_read_are_the_tables_installed(void **state)
{
	struct tables_report report;
	struct tables *got;
	struct tables_diff *d;
	struct world x;

	(void)state;
	world_up(&x, net_random(4, 15, 40, 6, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	assert_int_equal(wire_read_tables(&got, x.w, x.swept, false, &report, NULL, &x.err), 0);
	assert_false(tables_know_vls(got));
	for (uint32_t sw = 0; sw < x.f->nsw; sw++)
		assert_memory_equal(tables_row(got, sw), tables_row(x.t, sw), x.t->max_lid + 1u);
	assert_int_equal(report.blocks, x.f->nsw * tables_blocks(x.t));
	assert_int_equal(report.nmissing, 0);
	assert_int_equal(report.top_max, x.f->max_lid);
	tables_report_clear(&report);
	tables_put(got);

	shuffle_sl2vl(x.t, x.f, 1);
	assert_int_equal(sim_install_tables(x.sim, x.t, &x.err), 0);
	assert_int_equal(wire_read_tables(&got, x.w, x.swept, true, &report, NULL, &x.err), 0);
	d = tables_diff_new(x.f, x.t, got); /* looks only at ports with something on them */
	assert_int_equal(d->nblocks, 0);
	assert_int_equal(d->nsl2vl, 0);
	assert_true(report.sl2vl > x.f->nsw * 4);
	tables_diff_free(d);
	tables_report_clear(&report);
	tables_put(got);
	world_down(&x);
}

static void weights_of_vl_arbitration_are_read_with_the_tables(void **state)
{
	struct tables *got;
	struct world x;
	uint32_t c = 3, at;

	(void)state;
	world_up(&x, net_random(4, 15, 40, 6, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	at = x.f->port_off[x.f->chan_src[c]] + x.f->chan_port[c];
	sim_set_weighted(x.sim, x.f->chan_src[c], x.f->chan_port[c], 0x0005);
	assert_int_equal(wire_read_tables(&got, x.w, x.swept, false, NULL, NULL, &x.err), 0);
	assert_null(got->weighted);
	tables_put(got);
	assert_int_equal(wire_read_tables(&got, x.w, x.swept, true, NULL, NULL, &x.err), 0);
	for (uint32_t i = 0; i < x.f->nport; i++) {
		const struct port *p = &x.f->port[i];
		bool used = p->chan != FAB_NONE || p->term != FAB_NONE;

		assert_int_equal(got->weighted[i], i == at ? 0x0005 : used ? 0x7fff : 0);
	}
	tables_put(got);
	world_down(&x);
}

/* Pauses after every answer or two, and sees that what it is told only grows. */
struct piecemeal {
	struct sl2vl_reading *r;
	uint64_t from, done, total;
};

static void pause_soon(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct piecemeal *x = ctx;

	assert_string_equal(step, "read SL2VL");
	assert_true(done >= x->done && total >= done);
	x->done = done;
	x->total = total;
	if (done > x->from)
		wire_sl2vl_pause(x->r);
}

static void sl2vl_tables_read_piece_by_piece_are_those_read_at_once(void **state)
{
	struct sim_opts so;
	struct tables *lfts, *whole, *got;
	struct tables_report report;
	struct piecemeal x = { 0 };
	struct progress progress = { .report = pause_soon, .ctx = &x };
	unsigned runs = 0;
	struct world w;
	int rc;

	(void)state;
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.delay_us = 30000; /* so that there is word of it now and then */
	world_up(&w, net_random(4, 8, 16, 4, NULL), &so, NULL);
	shuffle_sl2vl(w.t, w.f, 2);
	assert_int_equal(sim_install_tables(w.sim, w.t, &w.err), 0);
	assert_int_equal(world_sweep(&w), 0);
	assert_int_equal(wire_read_tables(&whole, w.w, w.swept, true, &report, NULL, &w.err), 0);
	tables_report_clear(&report);
	assert_int_equal(wire_read_tables(&lfts, w.w, w.swept, false, NULL, NULL, &w.err), 0);
	assert_false(tables_same(lfts, whole, w.f));
	assert_int_equal(wire_sl2vl_begin(&x.r, w.w, w.swept, lfts, NULL, &w.err), 0);
	do {
		x.from = x.done;
		rc = wire_sl2vl_read(x.r, &progress, &w.err);
		runs++;
	} while (rc == -EAGAIN);
	assert_int_equal(rc, 0);
	assert_true(runs > 3);
	got = wire_sl2vl_take(&report, x.r);
	assert_int_equal(report.sl2vl, x.total);
	assert_int_equal(report.nmissing, 0);
	assert_true(tables_know_vls(got));
	assert_true(same_hash(got, whole, w.f));
	assert_memory_equal(got->weighted, whole->weighted, w.f->nport * sizeof(*whole->weighted));
	tables_report_clear(&report);
	tables_put(lfts);
	tables_put(whole);
	tables_put(got);
	world_down(&w);
}

static void tables_are_read_over_broken_lfts_too(void **state)
{
	struct tables_report report;
	struct tables *got;
	struct world x;
	uint32_t far;

	(void)state;
	world_up(&x, net_ring(6, 1, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	far = (x.f->term_sw[0] + 3) % 6; /* the opposite one: nobody is behind it */
	/* nobody reaches that switch by its LID any more */
	for (uint32_t sw = 0; sw < x.f->nsw; sw++)
		sim_poke_lft(x.sim, sw, x.f->sw_lid[far], FAB_NO_PORT);
	assert_int_equal(wire_read_tables(&got, x.w, x.swept, false, &report, NULL, &x.err), 0);
	assert_int_equal(report.nmissing, 0);
	assert_int_equal(tables_row(got, 0)[x.f->sw_lid[far]], FAB_NO_PORT);
	tables_report_clear(&report);
	tables_put(got);

	sim_kill_switch(x.sim, far, true);
	assert_int_equal(wire_read_tables(&got, x.w, x.swept, false, &report, NULL, &x.err), 0);
	assert_int_equal(report.nmissing, 1);
	assert_int_equal(report.missing_sw[0], far);
	assert_int_equal(tables_row(got, far)[x.f->term_lid[0]], FAB_NO_PORT);
	tables_report_clear(&report);
	tables_put(got);
	world_down(&x);
}

static void lids_that_lead_nowhere_are_found_out_soon(void **state)
{
	struct tables_report report;
	struct tables *empty, *got;
	struct sample *s;
	struct world x;

	(void)state;
	world_up(&x, net_torus(20, 15, 1, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	empty = tables_new(x.f, "test");
	assert_int_equal(sim_install_tables(x.sim, empty, &x.err), 0);
	assert_int_equal(wire_read_tables(&got, x.w, x.swept, false, &report, NULL, &x.err), 0);
	assert_int_equal(report.nmissing, 0);
	assert_true(report.took_ns < 100000000);
	assert_int_equal(wire_read_sample(&s, x.w, x.swept, SAMPLE_ALL, NULL, &x.err), 0);
	assert_true(s->answered < 10);
	/* 300 silent switches at two tries each, or three windows of them */
	assert_true(s->took_ns < 3000000000);
	sample_put(s);
	tables_report_clear(&report);
	tables_put(got);
	tables_put(empty);
	world_down(&x);
}

static void writes_change_exactly_what_was_asked(void **state)
{
	struct tables *after;
	struct tables_diff *d;
	struct world x;
	struct wire_block b[3] = { 0 };

	(void)state;
	world_up(&x, net_random(6, 10, 25, 12, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	assert_true(tables_blocks(x.t) >= 2);
	for (uint32_t i = 0; i < 3; i++) {
		b[i].sw = 3 * i;
		b[i].block = i & 1;
	}
	assert_int_equal(wire_read_blocks(x.w, x.swept, b, 3, NULL, &x.err), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_memory_equal(b[i].port, tables_row(x.t, b[i].sw) + b[i].block * LFT_BLOCK,
				    LFT_BLOCK);
		b[i].port[5 + i] ^= 1;
	}
	assert_int_equal(wire_write_blocks(x.w, x.swept, b, NULL, 3, NULL, &x.err), 0);
	after = sim_tables(x.sim);
	for (uint32_t sw = 0; sw < x.f->nsw; sw++)
		for (uint32_t lid = 0; lid <= x.t->max_lid; lid++) {
			uint8_t want = tables_row(x.t, sw)[lid];

			for (uint32_t i = 0; i < 3; i++)
				if (sw == b[i].sw && lid == b[i].block * LFT_BLOCK + 5 + i)
					want ^= 1;
			assert_int_equal(tables_row(after, sw)[lid], want);
		}
	d = tables_diff_new(x.f, x.t, after);
	assert_true(d->nblocks <= 3);
	tables_diff_free(d);
	tables_put(after);
	world_down(&x);
}

static void sl2vl_writes_are_read_back(void **state)
{
	struct wire_sl2vl s[2] = { { .sw = 1, .in = 1, .out = 2 }, { .sw = 2, .in = 0, .out = 1 } };
	struct wire_sl2vl back[2];
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	memcpy(back, s, sizeof(s));
	assert_int_equal(wire_read_sl2vl(x.w, x.swept, back, 2, NULL, &x.err), 0);
	for (uint8_t sl = 0; sl < FAB_SLS; sl++) {
		assert_int_equal(back[0].vl[sl], sl);
		s[0].vl[sl] = (uint8_t)(7 - sl % 8);
		s[1].vl[sl] = VL_DROP;
	}
	assert_int_equal(wire_write_sl2vl(x.w, x.swept, s, NULL, 2, NULL, &x.err), 0);
	assert_int_equal(wire_read_sl2vl(x.w, x.swept, back, 2, NULL, &x.err), 0);
	assert_memory_equal(back[0].vl, s[0].vl, FAB_SLS);
	assert_memory_equal(back[1].vl, s[1].vl, FAB_SLS);
	world_down(&x);
}

static void failing_writes_are_told_item_by_item(void **state)
{
	struct wire_block b[6] = { 0 };
	struct tables *after;
	struct world x;
	uint32_t ok = 0, written = 0;

	(void)state;
	world_up(&x, net_tree(6, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	for (uint32_t i = 0; i < 6; i++) {
		b[i].sw = i;
		memset(b[i].port, 1, LFT_BLOCK);
	}
	sim_fail_writes(x.sim, 4);
	assert_int_equal(wire_write_blocks(x.w, x.swept, b, NULL, 6, NULL, &x.err), -EIO);
	assert_non_null(strstr(x.err.text, "2 of 6 LFT blocks"));
	assert_non_null(strstr(x.err.text, "refused"));
	after = sim_tables(x.sim);
	for (uint32_t i = 0; i < 6; i++) {
		bool there = tables_row(after, b[i].sw)[0] == 1;

		assert_true(b[i].rc == 0 || b[i].rc == -EPROTO);
		assert_int_equal(there, b[i].rc == 0);
		ok += b[i].rc == 0;
		written += there;
	}
	assert_int_equal(ok, 4);
	assert_int_equal(written, 4);
	tables_put(after);

	sim_fail_writes(x.sim, UINT64_MAX);
	sim_kill_switch(x.sim, 5, true);
	assert_int_equal(wire_write_blocks(x.w, x.swept, b, NULL, 6, NULL, &x.err), -EIO);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(b[i].rc, i == 5 ? -ETIMEDOUT : 0);
	assert_non_null(strstr(x.err.text, x.f->sw_name[5]));
	assert_null(strstr(x.err.text, "M_Key"));
	world_down(&x);
}

static void writes_reach_switches_whose_lfts_are_broken(void **state)
{
	struct wire_block *b;
	struct tables *after;
	struct world x;

	(void)state;
	world_up(&x, net_torus(4, 4, 2, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	b = calloc(x.f->nsw, sizeof(*b));
	for (uint32_t sw = 0; sw < x.f->nsw; sw++) {
		b[sw].sw = sw;
		memcpy(b[sw].port, tables_row(x.t, sw), LFT_BLOCK);
		for (uint32_t lid = 0; lid <= x.f->max_lid; lid++)
			sim_poke_lft(x.sim, sw, (uint16_t)lid, FAB_NO_PORT);
	}
	assert_int_equal(tables_blocks(x.t), 1);
	assert_int_equal(wire_write_blocks(x.w, x.swept, b, NULL, x.f->nsw, NULL, &x.err), 0);
	after = sim_tables(x.sim);
	assert_true(same_hash(after, x.t, x.f));
	tables_put(after);
	free(b);
	world_down(&x);
}

static void writes_without_a_sweep_go_by_lid_and_check_who_answers(void **state)
{
	struct wire_block b = { .sw = 1 };
	struct fabric *other;
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	wire_close(x.w);
	assert_int_equal(wire_open_sim(&x.w, x.sim, NULL, &x.err), 0);
	assert_int_equal(wire_read_blocks(x.w, x.swept, &b, 1, NULL, &x.err), 0);
	assert_memory_equal(b.port, tables_row(x.t, 1), LFT_BLOCK);
	assert_int_equal(wire_write_blocks(x.w, x.swept, &b, NULL, 1, NULL, &x.err), 0);

	/* the same LIDs belong to other switches there */
	other = x.swept;
	x.swept = NULL;
	other->sw_guid[1] ^= 0xff00;
	memset(b.port, 9, LFT_BLOCK);
	assert_int_equal(wire_write_blocks(x.w, other, &b, NULL, 1, NULL, &x.err), -EIO);
	assert_int_equal(b.rc, -ESTALE);
	assert_non_null(strstr(x.err.text, "sweep again"));
	fabric_put(other);
	world_down(&x);
}

static uint64_t sent(const struct wire *w)
{
	struct queue_stats st;

	st = *wire_stats(w);
	return st.sent;
}

static void who_has_told_its_guid_is_not_asked_again_within_a_second(void **state)
{
	struct wire_block b = { .sw = 1 };
	uint64_t before;
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	before = sent(x.w);
	assert_int_equal(wire_read_blocks(x.w, x.swept, &b, 1, NULL, &x.err), 0);
	assert_int_equal(sent(x.w) - before, 2);
	before = sent(x.w);
	assert_int_equal(wire_write_blocks(x.w, x.swept, &b, NULL, 1, NULL, &x.err), 0);
	assert_int_equal(sent(x.w) - before, 1);
	sim_advance(x.sim, 1.5);
	before = sent(x.w);
	assert_int_equal(wire_read_blocks(x.w, x.swept, &b, 1, NULL, &x.err), 0);
	assert_int_equal(sent(x.w) - before, 2);

	/* a refusal, and all are asked who they are */
	sim_fail_writes(x.sim, 0);
	assert_int_equal(wire_write_blocks(x.w, x.swept, &b, NULL, 1, NULL, &x.err), -EIO);
	sim_fail_writes(x.sim, UINT64_MAX);
	before = sent(x.w);
	assert_int_equal(wire_write_blocks(x.w, x.swept, &b, NULL, 1, NULL, &x.err), 0);
	assert_int_equal(sent(x.w) - before, 2);

	/* another switch is expected there: what is known of the one before does not count */
	x.swept->sw_guid[1] ^= 0xff00;
	assert_int_equal(wire_write_blocks(x.w, x.swept, &b, NULL, 1, NULL, &x.err), -EIO);
	assert_true(b.rc == -ESTALE || b.rc == -EHOSTUNREACH);
	world_down(&x);
}

static void blocks_are_put_and_read_back_in_one_go(void **state)
{
	struct wire_block *b, *back;
	uint64_t before;
	uint32_t n;
	struct world x;

	(void)state;
	world_up(&x, net_torus(4, 4, 2, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	n = x.f->nsw;
	b = calloc(n, sizeof(*b));
	back = calloc(n, sizeof(*back));
	for (uint32_t sw = 0; sw < n; sw++) {
		b[sw].sw = back[sw].sw = sw;
		memcpy(b[sw].port, tables_row(x.t, sw), LFT_BLOCK);
		b[sw].port[1] ^= 3;
	}
	before = sent(x.w);
	assert_int_equal(wire_write_blocks(x.w, x.swept, b, back, n, NULL, &x.err), 0);
	assert_int_equal(sent(x.w) - before, 3 * n);
	for (uint32_t sw = 0; sw < n; sw++)
		assert_memory_equal(b[sw].port, back[sw].port, LFT_BLOCK);

	/* after half of the writes the others fail; everything is still read */
	for (uint32_t sw = 0; sw < n; sw++)
		b[sw].port[1] ^= 3;
	sim_fail_writes(x.sim, n / 2);
	assert_int_equal(wire_write_blocks(x.w, x.swept, b, back, n, NULL, &x.err), -EIO);
	before = 0;
	for (uint32_t sw = 0; sw < n; sw++) {
		assert_int_equal(back[sw].rc, 0);
		assert_int_equal(!b[sw].rc, !memcmp(b[sw].port, back[sw].port, LFT_BLOCK));
		before += !b[sw].rc;
	}
	assert_int_equal(before, n / 2);
	free(b);
	free(back);
	world_down(&x);
}

static void a_wrong_m_key_is_refused_with_a_sentence(void **state)
{
	struct sim_opts so;
	struct wire_opts wrong = { .m_key = 41 }, right = { .m_key = 42 };
	struct wire_block b = { .sw = 1 };
	struct world x;

	(void)state;
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.m_key = 42;
	so.m_key_protect = 1;
	world_up(&x, net_tree(4, 2, 3, NULL), &so, &wrong);
	assert_int_equal(world_sweep(&x), 0);
	assert_int_equal(wire_read_blocks(x.w, x.swept, &b, 1, NULL, &x.err), 0);
	assert_int_equal(wire_write_blocks(x.w, x.swept, &b, NULL, 1, NULL, &x.err), -EIO);
	assert_int_equal(b.rc, -ETIMEDOUT);
	assert_non_null(strstr(x.err.text, "M_Key"));
	assert_null(strstr(x.err.text, "41"));
	wire_close(x.w);
	assert_int_equal(wire_open_sim(&x.w, x.sim, &right, &x.err), 0);
	assert_int_equal(wire_write_blocks(x.w, x.swept, &b, NULL, 1, NULL, &x.err), 0);
	world_down(&x);

	so.m_key_protect = 2;
	world_up(&x, net_tree(4, 2, 3, NULL), &so, &wrong);
	assert_int_equal(world_sweep(&x), -EHOSTUNREACH);
	assert_non_null(strstr(x.err.text, "M_Key"));
	world_down(&x);
	world_up(&x, net_tree(4, 2, 3, NULL), &so, &right);
	assert_int_equal(world_sweep(&x), 0);
	world_down(&x);
}

static uint32_t live_ports(const struct fabric *f)
{
	return f->nchan + f->nend;
}

static void counters_are_exact_in_64_bits(void **state)
{
	struct sample *s;
	const struct port_counters *c;
	struct queue_stats before, after;
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	for (unsigned k = 0; k < CTR_COUNT; k++)
		sim_add_counter(x.sim, 0, 1, k, (1ull << 40) + 4 * k);
	assert_int_equal(wire_read_sample(&s, x.w, x.swept, SAMPLE_ALL, NULL, &x.err), 0);
	assert_int_equal(s->asked, live_ports(x.f));
	assert_int_equal(s->answered, s->asked);
	c = &s->port[x.f->port_off[0] + 1];
	assert_int_equal(c->valid, (1u << CTR_COUNT) - 1);
	assert_int_equal(c->wide, c->valid);
	for (unsigned k = 0; k < CTR_COUNT; k++)
		assert_true(c->v[k] == (1ull << 40) + 4 * k);
	assert_int_equal(s->port[x.f->port_off[0]].valid, 0);
	sample_put(s);
	/* capabilities are known now: one MAD a port */
	before = *wire_stats(x.w);
	assert_int_equal(wire_read_sample(&s, x.w, x.swept, SAMPLE_TRAFFIC, NULL, &x.err), 0);
	after = *wire_stats(x.w);
	assert_int_equal(after.sent - before.sent, s->asked);
	assert_int_equal(s->port[x.f->port_off[0] + 1].valid,
			 1 << CTR_TX_BYTES | 1 << CTR_RX_BYTES | 1 << CTR_TX_PKTS |
				 1 << CTR_RX_PKTS);
	sample_put(s);
	world_down(&x);
}

static void error_counters_are_of_hosts_too_and_one_mad_a_port(void **state)
{
	const struct port_errors *p;
	struct queue_stats before, after;
	struct error_set *s;
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	sim_add_counter(x.sim, 1, 2, CTR_SYMBOL_ERR, 5000);
	sim_kill_term(x.sim, 3, true);
	before = *wire_stats(x.w);
	assert_int_equal(wire_read_errors(&s, x.w, x.swept, NULL, &x.err), 0);
	after = *wire_stats(x.w);
	assert_int_equal(s->asked, live_ports(x.f) + x.f->nend);
	assert_int_equal(s->n, s->asked - 1);
	assert_int_equal(after.sent - before.sent - (after.retried - before.retried), s->asked);
	p = error_set_find(s, x.f->sw_guid[1], 2);
	assert_false(p->host);
	assert_int_equal(p->v[ERROR_SYMBOL], 5000);
	assert_null(error_set_find(s, x.f->term_guid[3], x.f->term_ca_port[3]));
	assert_true(error_set_find(s, x.f->term_guid[4], x.f->term_ca_port[4])->host);
	error_set_put(s);
	world_down(&x);
}

/* Whatever else comes and goes. */
static void a_live_fabric_keeps_its_name(void **state)
{
	struct world x;
	char name[32];

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	snprintf(name, sizeof(name), "%s", x.swept->name);
	sim_link_set(x.sim, 1, 1, false);
	sim_kill_term(x.sim, 5, true);
	assert_int_equal(world_sweep(&x), 0);
	assert_false(digest_equal(&x.swept->fingerprint, &x.f->fingerprint));
	assert_string_equal(x.swept->name, name);
	world_down(&x);
}

static void narrow_counters_say_that_they_are_narrow(void **state)
{
	struct sim_opts so;
	struct sample *s;
	const struct port_counters *c;
	struct world x;

	(void)state;
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.short_pma = true;
	world_up(&x, net_tree(4, 2, 3, NULL), &so, NULL);
	assert_int_equal(world_sweep(&x), 0);
	sim_add_counter(x.sim, 0, 1, CTR_TX_BYTES, 1ull << 40);
	sim_add_counter(x.sim, 0, 1, CTR_TX_WAIT, 777);
	sim_add_counter(x.sim, 0, 1, CTR_SYMBOL_ERR, 1 << 20);
	assert_int_equal(wire_read_sample(&s, x.w, x.swept, SAMPLE_ALL, NULL, &x.err), 0);
	c = &s->port[x.f->port_off[0] + 1];
	assert_int_equal(c->valid, (1u << CTR_COUNT) - 1);
	assert_int_equal(c->wide, (1 << (CTR_RX_PKTS + 1)) - 1);
	assert_true(c->v[CTR_TX_BYTES] == 1ull << 40);
	assert_int_equal(c->v[CTR_TX_WAIT], 777);
	assert_int_equal(c->v[CTR_SYMBOL_ERR], 0xffff); /* 16 bits, sticks */
	sample_put(s);
	world_down(&x);

	so.short_pma = false;
	so.narrow_pma = true;
	world_up(&x, net_tree(4, 2, 3, NULL), &so, NULL);
	assert_int_equal(world_sweep(&x), 0);
	sim_add_counter(x.sim, 0, 1, CTR_TX_BYTES, 4000);
	assert_int_equal(wire_read_sample(&s, x.w, x.swept, SAMPLE_TRAFFIC, NULL, &x.err), 0);
	c = &s->port[x.f->port_off[0] + 1];
	assert_int_equal(c->v[CTR_TX_BYTES], 4000);
	assert_int_equal(c->wide, 0);
	assert_int_equal(c->valid, (1 << (CTR_RX_PKTS + 1)) - 1);
	sample_put(s);
	world_down(&x);
}

static void silent_switches_leave_their_ports_unknown(void **state)
{
	struct sample *s;
	struct world x;
	uint64_t took;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	sim_kill_switch(x.sim, 5, true);
	assert_int_equal(wire_read_sample(&s, x.w, x.swept, SAMPLE_ALL, NULL, &x.err), 0);
	assert_true(s->answered < s->asked && s->answered >= s->asked - 10);
	assert_int_equal(s->port[x.f->port_off[5] + 1].valid, 0);
	took = s->took_ns;
	sample_put(s);
	/* the next one does not wait for it as long */
	assert_int_equal(wire_read_sample(&s, x.w, x.swept, SAMPLE_ALL, NULL, &x.err), 0);
	assert_true(s->took_ns < took / 10);
	sample_put(s);
	world_down(&x);
}

#define SUMS (SAMPLE_ALL | SAMPLE_SUMS)
#define CALM (SUMS | SAMPLE_CALM)

/* Takes a sample a while later; MADs it took. */
static uint64_t sample_after(struct world *x, struct sample **last, double seconds, unsigned what)
{
	struct queue_stats before, after;

	sim_advance(x->sim, seconds);
	sample_put(*last);
	before = *wire_stats(x->w);
	assert_int_equal(wire_read_sample(last, x->w, x->swept, what, NULL, &x->err), 0);
	after = *wire_stats(x->w);
	assert_int_equal((*last)->answered, (*last)->asked);
	return after.sent - before.sent;
}

/* Until most switches are asked for their sums only; the first samples are asked in full. */
static void calm_down(struct world *x, struct sample **last, unsigned what)
{
	*last = NULL;
	for (int i = 0; i < 3; i++)
		sample_after(x, last, 2, what);
	assert_true(sample_after(x, last, 0.1, what) < (*last)->asked / 2);
}

static void a_switch_that_stands_still_is_asked_for_one_sum(void **state)
{
	const struct port_counters *c;
	struct sample *s;
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	for (unsigned k = 0; k < CTR_COUNT; k++)
		sim_add_counter(x.sim, 0, 1, k, (1ull << 40) + 4 * k);
	calm_down(&x, &s, SUMS);
	/* the values are there all the same, as of now */
	assert_true(sample_after(&x, &s, 0.1, SUMS) < s->asked);
	c = &s->port[x.f->port_off[0] + 1];
	assert_int_equal(c->valid, (1u << CTR_COUNT) - 1);
	assert_int_equal(c->wide, c->valid);
	for (unsigned k = 0; k < CTR_COUNT; k++)
		assert_true(c->v[k] == (1ull << 40) + 4 * k);
	assert_true(c->time_ns >= s->time_ns);
	/* what moves anywhere on a switch is seen at once, in any counter: it is asked port by port
	 */
	for (unsigned k = 0; k < CTR_COUNT; k++) {
		uint64_t was = s->port[x.f->port_off[0] + 2].v[k];

		sim_add_counter(x.sim, 0, 2, k, 4);
		assert_true(sample_after(&x, &s, 0.1, SUMS) > x.f->nsw);
		assert_true(s->port[x.f->port_off[0] + 2].v[k] == was + 4);
		for (int i = 0; i < 2; i++)
			sample_after(&x, &s, 0.1, SUMS);
	}
	sample_put(s);
	world_down(&x);
}

static void no_port_keeps_what_it_told_for_more_than_ten_seconds(void **state)
{
	struct sample *s;
	uint64_t mads = 0;
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	calm_down(&x, &s, SUMS);
	for (int i = 0; i < 100; i++)
		mads += sample_after(&x, &s, 2, SUMS);
	/* each port itself every fifth time, and each switch for its sum every time */
	assert_in_range(mads, 20ull * live_ports(x.f) + 90ull * x.f->nsw,
			25ull * live_ports(x.f) + 100ull * x.f->nsw);
	assert_true(sample_after(&x, &s, 30, SUMS) >= live_ports(x.f));
	sample_put(s);
	world_down(&x);
}

static void errors_have_a_sum_of_their_own_where_they_are_narrow(void **state)
{
	struct sim_opts so;
	struct sample *s;
	uint64_t mads;
	struct world x;

	(void)state;
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.short_pma = true;
	world_up(&x, net_tree(4, 2, 3, NULL), &so, NULL);
	assert_int_equal(world_sweep(&x), 0);
	calm_down(&x, &s, SUMS);
	/* traffic everywhere, errors nowhere: one MAD a port and one a switch */
	for (int i = 0; i < 4; i++) {
		for (uint32_t sw = 0; sw < x.f->nsw; sw++)
			sim_add_counter(x.sim, sw, 1, CTR_TX_BYTES, 1 << 20);
		mads = sample_after(&x, &s, 0.1, SUMS);
	}
	assert_int_equal(mads, live_ports(x.f) + x.f->nsw);
	assert_int_equal(s->port[x.f->port_off[0] + 1].v[CTR_TX_BYTES], 4 << 20);
	/* a counter that has come to its end tells no more: its switch is asked port by port */
	sim_add_counter(x.sim, 0, 1, CTR_SYMBOL_ERR, 1 << 20);
	for (int i = 0; i < 4; i++)
		mads = sample_after(&x, &s, 0.1, SUMS);
	assert_true(mads >= x.f->sw_nterm[0] + x.f->nsw);
	assert_int_equal(s->port[x.f->port_off[0] + 1].v[CTR_SYMBOL_ERR], UINT16_MAX);
	sample_put(s);
	world_down(&x);
}

static void a_trickle_that_no_figure_shows_does_not_wake_a_switch(void **state)
{
	struct sample *s;
	uint64_t mads, told = 0;
	struct world x;

	(void)state;
	world_up(&x, generated("fattree2:leaves=3,spines=2,hosts=3"), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	calm_down(&x, &s, CALM);
	for (int i = 0; i < 20; i++) {
		sim_add_counter(x.sim, 0, 1, CTR_TX_BYTES, 1000);
		sim_add_counter(x.sim, 0, 1, CTR_TX_PKTS, 4);
		mads = sample_after(&x, &s, 2, CALM);
		assert_true(mads < live_ports(x.f));
		told = s->port[x.f->port_off[0] + 1].v[CTR_TX_BYTES];
		assert_true(told + 6000 > 1000u * (unsigned)(i + 1)); /* not for long */
	}
	/* to scripts it does */
	sim_add_counter(x.sim, 0, 1, CTR_TX_BYTES, 1000);
	sample_after(&x, &s, 0.1, SUMS);
	assert_int_equal(s->port[x.f->port_off[0] + 1].v[CTR_TX_BYTES], 21000);
	sample_put(s);
	world_down(&x);
}

static void sums_that_are_no_sums_are_not_believed(void **state)
{
	struct sim_opts so;
	struct sample *s = NULL;
	struct world x;

	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		sim_opts_init(&so);
		so.virtual_clock = true;
		so.no_sums = kind;
		so.false_sums = !kind;
		world_up(&x, net_tree(4, 2, 3, NULL), &so, NULL);
		assert_int_equal(world_sweep(&x), 0);
		for (uint32_t sw = 0; sw < x.f->nsw; sw++)
			sim_add_counter(x.sim, sw, 1, CTR_RX_PKTS, 7);
		for (int i = 0; i < 8; i++)
			assert_true(sample_after(&x, &s, 0.1, SUMS) >= live_ports(x.f));
		assert_int_equal(sample_after(&x, &s, 0.1, SUMS), live_ports(x.f));
		sample_put(s);
		s = NULL;
		world_down(&x);
	}
}

static void a_switch_that_falls_silent_while_it_stands_still_is_missed(void **state)
{
	struct sample *s;
	struct world x;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	calm_down(&x, &s, CALM);
	sample_put(s);
	sim_kill_switch(x.sim, 5, true);
	assert_int_equal(wire_read_sample(&s, x.w, x.swept, CALM, NULL, &x.err), 0);
	assert_true(s->answered < s->asked);
	assert_int_equal(s->port[x.f->port_off[5] + 1].valid, 0);
	sample_put(s);
	sim_kill_switch(x.sim, 5, false);
	sim_advance(x.sim, 60);
	assert_int_equal(wire_read_sample(&s, x.w, x.swept, CALM, NULL, &x.err), 0);
	assert_int_equal(s->answered, s->asked);
	sample_put(s);
	world_down(&x);
}

static double rate_of(const struct rates *r, const struct fabric *f, uint32_t sw, uint8_t port)
{
	return r->port[f->port_off[sw] + port].tx_Bps;
}

/* Two samples around one second of traffic. */
static struct rates *one_second(struct world *x)
{
	struct sample *a, *b;
	struct rates *r;

	assert_int_equal(wire_read_sample(&a, x->w, x->swept, SAMPLE_ALL, NULL, &x->err), 0);
	for (int i = 0; i < 10; i++)
		sim_traffic_step(x->sim, 0.1);
	sim_advance(x->sim, 1.0);
	assert_int_equal(wire_read_sample(&b, x->w, x->swept, SAMPLE_ALL, NULL, &x->err), 0);
	r = rates_new(x->swept, a, b);
	assert_non_null(r);
	sample_put(a);
	sample_put(b);
	return r;
}

static uint32_t other_leaf_term(const struct fabric *f, uint32_t term)
{
	uint32_t t = 0;

	while (f->term_sw[t] == f->term_sw[term])
		t++;
	return t;
}

static void rates_are_those_of_the_flows(void **state)
{
	struct sim_flow flow = { 0 };
	struct rates *r;
	struct world x;
	uint32_t to, hops = 0;
	double got;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	to = other_leaf_term(x.f, 0);
	flow = (struct sim_flow){ .src = 0, .dlid = x.f->term_lid[to], .Bps = 1e9 };
	sim_set_flows(x.sim, &flow, 1);
	r = one_second(&x);
	for (uint32_t sw = 0; sw < x.f->nsw; sw++)
		for (uint32_t p = 1; p <= x.f->sw_nports[sw]; p++)
			if (rate_of(r, x.f, sw, (uint8_t)p) > 0.9e9)
				hops++;
	assert_int_equal(hops, 3); /* up, down, to the host */
	got = rate_of(r, x.f, x.f->term_sw[to], x.f->term_port[to]);
	assert_true(got > 0.99e9 && got < 1.01e9);
	got = r->port[x.f->port_off[x.f->term_sw[0]] + x.f->term_port[0]].rx_Bps;
	assert_true(got > 0.99e9 && got < 1.01e9);
	sim_flow_rates(x.sim, &got, 1);
	assert_true(got == 1e9);
	rates_put(r);
	world_down(&x);
}

static void overload_shows_full_links_and_waiting_ports(void **state)
{
	struct sim_flow flows[3];
	struct rates *r;
	struct world x;
	uint32_t to = 0, from[2] = { 3, 6 };
	double got[3], cap, wait;
	const struct port_rate *last;

	(void)state;
	world_up(&x, generated("fattree2:leaves=3,spines=2,hosts=3"), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	assert_true(x.f->term_sw[from[0]] != x.f->term_sw[from[1]]);
	cap = fabric_port(x.f, x.f->term_sw[to], x.f->term_port[to])->rate_Mbps * 125e3;
	for (uint32_t i = 0; i < 2; i++) /* two senders at full speed to one host */
		flows[i] =
			(struct sim_flow){ .src = from[i], .dlid = x.f->term_lid[to], .Bps = cap };
	flows[2] = (struct sim_flow){ .src = 8, .dlid = x.f->term_lid[5], .Bps = cap / 4 };
	sim_set_flows(x.sim, flows, 3);
	sim_flow_rates(x.sim, got, 3);
	assert_true(got[0] > 0.499 * cap && got[0] < 0.501 * cap);
	assert_true(got[1] > 0.499 * cap && got[1] < 0.501 * cap);
	assert_true(got[2] <= cap / 4);
	r = one_second(&x);
	last = &r->port[x.f->port_off[x.f->term_sw[to]] + x.f->term_port[to]];
	assert_true(last->util_pct > 98 && last->util_pct < 101);
	assert_true(last->wait_pct < 1);
	wait = 0;
	for (uint32_t p = 0; p < x.f->nport; p++) {
		assert_true(!(r->port[p].util_pct > 101));
		if (r->port[p].wait_pct > wait)
			wait = r->port[p].wait_pct;
	}
	assert_true(wait > 20); /* the ports before the bottleneck */
	rates_put(r);
	world_down(&x);
}

/* 3 and 6 send to 0, which halves both; 7 is of the group of 3 and has its way for itself, as 4. */
static void flows_of_a_group_go_at_the_pace_of_the_slowest(void **state)
{
	static const uint32_t src[] = { 3, 6, 7, 4 }, dst[] = { 0, 0, 8, 5 };
	static const double share[] = { 0.5, 0.5, 0.5, 1 };
	const struct port_rate *to;
	struct sim_flow flows[4];
	struct rates *r;
	struct world x;
	double got[4], cap;

	(void)state;
	world_up(&x, generated("fattree2:leaves=3,spines=3,hosts=3"), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	cap = fabric_port(x.f, x.f->term_sw[0], x.f->term_port[0])->rate_Mbps * 125e3;
	for (uint32_t i = 0; i < 4; i++)
		flows[i] = (struct sim_flow){ .src = src[i],
					      .dlid = x.f->term_lid[dst[i]],
					      .Bps = cap,
					      .group = i == 0 || i == 2 ? 17 : 0 };
	sim_set_flows(x.sim, flows, 4);
	sim_flow_rates(x.sim, got, 4);
	for (int i = 0; i < 4; i++)
		assert_true(fabs(got[i] / cap - share[i]) < 0.001);
	r = one_second(&x);
	/* who waits for others of its group waits for no credit: its cable is idle meanwhile */
	to = &r->port[x.f->port_off[x.f->term_sw[8]] + x.f->term_port[8]];
	assert_true(to->util_pct > 49 && to->util_pct < 51 && to->wait_pct < 1);
	rates_put(r);
	assert_true(sim_term_counter(x.sim, 3, CTR_TX_WAIT) > 0 &&
		    sim_term_counter(x.sim, 6, CTR_TX_WAIT) > 0);
	assert_int_equal(sim_term_counter(x.sim, 7, CTR_TX_WAIT), 0);
	assert_int_equal(sim_term_counter(x.sim, 4, CTR_TX_WAIT), 0);
	/* without the other sender both are as fast as it goes */
	flows[1].Bps = 0;
	sim_set_flows(x.sim, flows, 4);
	sim_flow_rates(x.sim, got, 4);
	assert_true(fabs(got[0] / cap - 1) < 0.001 && fabs(got[2] / cap - 1) < 0.001);
	world_down(&x);
}

/* Highest utilisation of any port from one sample to the next, some time later. */
static double most_used(struct world *x, struct sample **before, double seconds)
{
	struct sample *now;
	struct rates *r;
	double most = 0;

	sim_advance(x->sim, seconds);
	assert_int_equal(wire_read_sample(&now, x->w, x->swept, SAMPLE_ALL, NULL, &x->err), 0);
	r = rates_new(x->swept, *before, now);
	assert_non_null(r);
	for (uint32_t p = 0; p < x->f->nport; p++)
		if (r->port[p].util_pct > most)
			most = r->port[p].util_pct;
	rates_put(r);
	sample_put(*before);
	*before = now;
	return most;
}

static void fill_a_link(struct world *x)
{
	struct sim_flow flow = { .src = 0,
				 .dlid = x->f->term_lid[other_leaf_term(x->f, 0)],
				 .Bps = 1e12 };

	sim_set_flows(x->sim, &flow, 1);
	sim_traffic_follow(x->sim);
}

static void counters_that_follow_the_clock_are_exact_whenever_they_are_read(void **state)
{
	static const double pauses[] = { 0.01, 0.37, 0.05, 1.1, 0.002, 0.249 };
	struct sample *last;
	struct world x;

	(void)state;
	world_up(&x, generated("fattree2:leaves=3,spines=2,hosts=3"), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	fill_a_link(&x);
	assert_int_equal(wire_read_sample(&last, x.w, x.swept, SAMPLE_ALL, NULL, &x.err), 0);
	for (size_t i = 0; i < sizeof(pauses) / sizeof(*pauses); i++) {
		double most = most_used(&x, &last, pauses[i]);

		assert_true(most > 99 && most < 101); /* 10 us are 1 % of the shortest */
		if (i == 2)			      /* as seldom as one likes */
			sim_traffic_follow(x.sim);
	}
	/* what changes is taken over when it is said, and nothing goes back */
	sim_set_flows(x.sim, NULL, 0);
	assert_true(most_used(&x, &last, 0.5) > 99);
	sim_traffic_follow(x.sim);
	assert_true(most_used(&x, &last, 0.5) < 0.1);
	assert_true(most_used(&x, &last, 0.5) == 0);
	sample_put(last);
	world_down(&x);
}

static void traffic_is_over_its_own_time_when_other_counters_come_late(void **state)
{
	struct wire_opts wo = { .timeout_ms = 300, .retries = 6 };
	struct sim_opts so;
	struct sample *last;
	struct world x;

	(void)state;
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.short_pma = true; /* traffic by one MAD, errors and wait by another */
	so.delay_us = 5;
	so.seed = 3;
	world_up(&x, generated("fattree2:leaves=3,spines=2,hosts=3"), &so, &wo);
	assert_int_equal(world_sweep(&x), 0);
	fill_a_link(&x);
	assert_int_equal(wire_read_sample(&last, x.w, x.swept, SAMPLE_ALL, NULL, &x.err), 0);
	sim_loss(x.sim, 0.2);
	for (int i = 0; i < 40; i++) {
		double most = most_used(&x, &last, 2);

		assert_true(most < 100.1);
	}
	sample_put(last);
	world_down(&x);
}

static void flows_into_nowhere_are_discarded(void **state)
{
	struct sim_flow flow;
	struct sample *s;
	struct world x;
	uint32_t to;
	uint64_t dropped = 0;
	double got = 1;

	(void)state;
	world_up(&x, net_tree(4, 2, 3, NULL), NULL, NULL);
	assert_int_equal(world_sweep(&x), 0);
	to = other_leaf_term(x.f, 0);
	flow = (struct sim_flow){ .src = 0, .dlid = x.f->term_lid[to], .Bps = 1e9 };
	for (uint32_t sw = 0; sw < x.f->nsw; sw++)
		if (!x.f->sw_nterm[sw])
			sim_poke_lft(x.sim, sw, x.f->term_lid[to], FAB_NO_PORT);
	sim_set_flows(x.sim, &flow, 1);
	sim_traffic_step(x.sim, 1);
	sim_flow_rates(x.sim, &got, 1);
	assert_true(got == 0);
	assert_int_equal(wire_read_sample(&s, x.w, x.swept, SAMPLE_ALL, NULL, &x.err), 0);
	for (uint32_t p = 0; p < x.f->nport; p++)
		dropped += s->port[p].v[CTR_TX_DISCARD];
	assert_true(dropped > 1e9 / 2100 && dropped < 1e9 / 2000);
	sample_put(s);
	/* mended while it runs */
	assert_int_equal(sim_install_tables(x.sim, x.t, &x.err), 0);
	sim_flow_rates(x.sim, &got, 1);
	assert_true(got == 1e9);
	world_down(&x);
}

struct traffic_thread {
	struct sim *sim;
	uint16_t lid; /* nobody's MADs go there */
	atomic_bool stop;
};

static void *drive_traffic(void *arg)
{
	struct traffic_thread *t = arg;

	for (uint16_t n = 0; !t->stop; n++) {
		sim_traffic_step(t->sim, 0.001);
		sim_poke_lft(t->sim, 0, t->lid, (uint8_t)(n % 4));
		usleep(1); /* else it has the lock again before anybody else wakes up */
	}
	return NULL;
}

static void traffic_and_mads_may_run_in_two_threads(void **state)
{
	/* the lock is not fair, and this is not about time */
	struct wire_opts wo = { .timeout_ms = 10000 };
	struct traffic_thread t = { 0 };
	struct sim_flow flow = { .src = 5, .Bps = 1e9 };
	struct sim_opts so;
	struct sample *s;
	struct world x;
	pthread_t thread;

	(void)state;
	sim_opts_init(&so);
	world_up(&x, net_tree(4, 2, 3, NULL), &so, &wo);
	flow.dlid = x.f->term_lid[1];
	sim_set_flows(x.sim, &flow, 1);
	t.sim = x.sim;
	t.lid = x.f->term_lid[7];
	assert_int_equal(pthread_create(&thread, NULL, drive_traffic, &t), 0);
	assert_int_equal(world_sweep(&x), 0);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(wire_read_sample(&s, x.w, x.swept, SAMPLE_ALL, NULL, &x.err), 0);
		assert_int_equal(s->answered, s->asked);
		sample_put(s);
	}
	t.stop = true;
	pthread_join(thread, NULL);
	world_down(&x);
}

static void the_master_sm_is_known_while_it_lives(void **state)
{
	struct wire_opts wo = { .timeout_ms = 10 };
	struct wire_sm a, b;
	struct world x;

	(void)state;
	world_up(&x, net_tree(2, 2, 2, NULL), NULL, &wo);
	assert_int_equal(wire_sm_info(&a, x.w, &x.err), 0);
	assert_int_equal(a.lid, x.f->term_lid[0]);
	assert_true(a.guid == x.f->term_guid[0]);
	assert_string_equal(wire_sm_state_name(a.state), "master");
	sim_advance(x.sim, 3);
	assert_int_equal(wire_sm_info(&b, x.w, &x.err), 0);
	assert_true(b.act_count > a.act_count);
	sim_stop_sm(x.sim, true);
	assert_int_equal(wire_sm_info(&b, x.w, &x.err), -ETIMEDOUT);
	assert_non_null(strstr(x.err.text, "no response"));
	world_down(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sweeps_find_exactly_the_fabric),
		cmocka_unit_test(sweeps_survive_loss_duplicates_and_reordering),
		cmocka_unit_test(dead_nodes_are_left_out_and_named),
		cmocka_unit_test(a_node_without_lid_is_left_out_of_a_configured_fabric),
		cmocka_unit_test(links_that_are_down_are_not_in_the_fabric),
		cmocka_unit_test(a_port_without_link_or_answer_says_what_to_do),
		cmocka_unit_test(sweeps_can_be_cancelled),
		cmocka_unit_test(tables_read_are_the_tables_installed),
		cmocka_unit_test(weights_of_vl_arbitration_are_read_with_the_tables),
		cmocka_unit_test(sl2vl_tables_read_piece_by_piece_are_those_read_at_once),
		cmocka_unit_test(tables_are_read_over_broken_lfts_too),
		cmocka_unit_test(lids_that_lead_nowhere_are_found_out_soon),
		cmocka_unit_test(writes_change_exactly_what_was_asked),
		cmocka_unit_test(sl2vl_writes_are_read_back),
		cmocka_unit_test(failing_writes_are_told_item_by_item),
		cmocka_unit_test(writes_reach_switches_whose_lfts_are_broken),
		cmocka_unit_test(writes_without_a_sweep_go_by_lid_and_check_who_answers),
		cmocka_unit_test(who_has_told_its_guid_is_not_asked_again_within_a_second),
		cmocka_unit_test(blocks_are_put_and_read_back_in_one_go),
		cmocka_unit_test(a_wrong_m_key_is_refused_with_a_sentence),
		cmocka_unit_test(counters_are_exact_in_64_bits),
		cmocka_unit_test(error_counters_are_of_hosts_too_and_one_mad_a_port),
		cmocka_unit_test(a_live_fabric_keeps_its_name),
		cmocka_unit_test(narrow_counters_say_that_they_are_narrow),
		cmocka_unit_test(silent_switches_leave_their_ports_unknown),
		cmocka_unit_test(a_switch_that_stands_still_is_asked_for_one_sum),
		cmocka_unit_test(no_port_keeps_what_it_told_for_more_than_ten_seconds),
		cmocka_unit_test(errors_have_a_sum_of_their_own_where_they_are_narrow),
		cmocka_unit_test(a_trickle_that_no_figure_shows_does_not_wake_a_switch),
		cmocka_unit_test(sums_that_are_no_sums_are_not_believed),
		cmocka_unit_test(a_switch_that_falls_silent_while_it_stands_still_is_missed),
		cmocka_unit_test(rates_are_those_of_the_flows),
		cmocka_unit_test(overload_shows_full_links_and_waiting_ports),
		cmocka_unit_test(flows_of_a_group_go_at_the_pace_of_the_slowest),
		cmocka_unit_test(counters_that_follow_the_clock_are_exact_whenever_they_are_read),
		cmocka_unit_test(traffic_is_over_its_own_time_when_other_counters_come_late),
		cmocka_unit_test(flows_into_nowhere_are_discarded),
		cmocka_unit_test(traffic_and_mads_may_run_in_two_threads),
		cmocka_unit_test(the_master_sm_is_known_while_it_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
