/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify.h"

#include "engines/verify/verify_certificate.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct verify_opts certified = { .certificate = true };

static struct verdict *judge(const struct fabric *f, const struct tables *t)
{
	struct verdict *v;
	struct err err;

	assert_int_equal(verify_tables(&v, f, t, &certified, NULL, &err), 0);
	return v;
}

/* ---- deadlock on a ring ---- */

/* A packet of that end holds (chan, vl) of w and next asks for (chan, vl) of n. */
static void assert_path_turns(const struct fabric *f, const struct tables *t,
			      const struct witness *w, const struct witness *n)
{
	uint32_t sw = f->term_sw[w->src_term], last = FAB_NONE, last_vl = 0;
	uint8_t in = f->term_port[w->src_term];

	assert_int_equal(w->sl, tables_path_sl(t, w->src_term, sw, w->dlid));
	for (uint32_t step = 0; step < f->nsw; step++) {
		uint8_t out = tables_row(t, sw)[w->dlid];
		uint8_t vl = tables_vl(t, f, sw, in, out, w->sl);
		uint32_t c = fabric_chan(f, sw, out);

		assert_int_not_equal(c, FAB_NONE);
		if (last == w->chan) {
			assert_int_equal(last_vl, w->vl);
			assert_int_equal(c, n->chan);
			assert_int_equal(vl, n->vl);
			return;
		}
		last = c;
		last_vl = vl;
		in = f->chan_rport[c];
		sw = f->chan_dst[c];
	}
	fail_msg("the path does not pass channel %u", w->chan);
}

static void assert_witness(const struct fabric *f, const struct tables *t, const struct verdict *v)
{
	assert_int_not_equal(v->ncycle, 0);
	assert_null(v->order);
	for (uint32_t i = 0; i < v->ncycle; i++) {
		const struct witness *w = &v->cycle[i], *n = &v->cycle[(i + 1) % v->ncycle];

		assert_int_equal(f->chan_dst[w->chan], f->chan_src[n->chan]);
		assert_path_turns(f, t, w, n);
	}
}

static void without_sl2vl_there_is_no_verdict(void **state)
{
	struct fabric *f = net_ring(5, 1, NULL);
	struct tables *t = tables_new(f, "test");
	struct verdict *v;
	struct err err = { "" };

	(void)state;
	tables_sl2vl_form(t, SL2VL_UNREAD, f);
	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, &err), -EAGAIN);
	assert_null(v);
	assert_non_null(strstr(err.text, "no verdict"));
	tables_put(t);
	fabric_put(f);
}

static void clockwise_ring_on_one_vl_is_cyclic_with_a_true_witness(void **state)
{
	struct fabric *f = net_ring(5, 2, NULL);
	struct tables *t = kit_clockwise(f);
	struct verdict *v = judge(f, t);
	char line[200];

	(void)state;
	assert_true(v->connected && v->loop_free && v->vls_fit);
	assert_false(v->deadlock_free);
	assert_false(verdict_ok(v));
	assert_int_equal(v->ncycle, 5);
	assert_int_equal(v->vertices, 5);
	assert_int_equal(v->edges, 5);
	assert_int_equal(v->hops_max, 4);
	assert_witness(f, t, v);
	witness_line(line, sizeof(line), &v->cycle[0], f);
	assert_string_equal(line, "S0/3 -> S1/3 VL 0  because n0000 -> LID 5 (SL 0)");
	verdict_sentence(line, sizeof(line), v, f);
	assert_string_equal(line,
			    "Connected and loop-free, but packets can deadlock: a cycle of 5 channels.");
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

/* Paths that pass from switch n-1 to 0 take SL 1 as a whole: each VL's chain is open. */
static struct tables *two_layers(const struct fabric *f)
{
	struct tables *t = kit_clockwise(f);

	tables_sl_form(t, SL_BY_SWITCH, f);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port = 0;
		uint32_t dsw = fabric_lid_switch(f, lid, &port);

		for (uint32_t sw = 0; sw < f->nsw && dsw != FAB_NONE; sw++)
			t->sl[(size_t)sw * t->stride + lid] = dsw < sw;
	}
	return t;
}

static void ring_with_wrapping_paths_on_a_second_vl_closes_where_the_chains_are_long(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL);
	struct tables *t = two_layers(f);
	struct verdict *v = judge(f, t);

	(void)state;
	/* wrapping paths: 1->0, 2->0, 2->1, 3->0, 3->1, 3->2: 3,0,1 and 1,2,3 and 2,3,0 join */
	assert_false(v->deadlock_free);
	assert_int_equal(v->ncycle, 4);
	for (uint32_t i = 0; i < v->ncycle; i++)
		assert_int_equal(v->cycle[i].vl, 1);
	assert_witness(f, t, v);
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

/* VL 0, but VL 1 for what comes round from switch n-1 and goes on from 0 to 1. */
static struct tables *dateline(const struct fabric *f)
{
	struct tables *t = kit_clockwise(f);

	tables_sl2vl_form(t, SL2VL_FULL, f);
	tables_sl2vl_row(t, 0, f->chan_rport[kit_chan(f, f->nsw - 1, 0)],
			 f->chan_port[kit_chan(f, 0, 1)])[0] = 1;
	return t;
}

static void change_of_vl_at_a_dateline_opens_a_ring_of_three(void **state)
{
	struct fabric *f = net_ring(3, 2, NULL);
	struct tables *t = dateline(f);
	struct verdict *v = judge(f, t);

	(void)state;
	assert_true(verdict_ok(v));
	assert_int_equal(v->vls_used, 2);
	assert_int_equal(v->nvl, 2);
	assert_int_equal(v->vertices, 4);
	assert_int_equal(v->edges, 3);
	assert_int_equal(certificate_check(f, t, v->nvl, v->order, false, NULL), 0);
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

static void change_back_behind_the_dateline_closes_a_ring_of_four_over_both_vls(void **state)
{
	struct fabric *f = net_ring(4, 2, NULL);
	struct tables *t = dateline(f);
	struct verdict *v = judge(f, t);
	uint32_t vl1 = 0;

	(void)state;
	assert_true(v->connected);
	assert_false(v->deadlock_free);
	assert_int_equal(v->ncycle, 4);
	for (uint32_t i = 0; i < v->ncycle; i++)
		vl1 += v->cycle[i].vl;
	assert_int_equal(vl1, 1);
	assert_witness(f, t, v);
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

static void vl_by_kind_of_input_opens_a_ring_of_three(void **state)
{
	struct fabric *f = net_ring(3, 2, NULL);
	struct tables *t = kit_clockwise(f);
	struct verdict *v;
	struct err err;

	(void)state;
	/* VL 0 on the first hop, VL 1 on the second: the VL only rises */
	tables_sl2vl_form(t, SL2VL_BY_INPUT, f);
	memset(t->sl2vl + 2 * FAB_SLS, 1, FAB_SLS);
	v = judge(f, t);
	assert_true(verdict_ok(v));
	assert_int_equal(v->vls_used, 2);
	assert_int_equal(v->sls_used, 1);
	assert_int_equal(v->vertices, 6);
	assert_int_equal(v->edges, 3);
	assert_int_equal(certificate_check(f, t, v->nvl, v->order, false, &err), 0);
	v->order[kit_chan(f, 0, 1) * v->nvl] = v->order[kit_chan(f, 1, 2) * v->nvl + 1];
	assert_int_equal(certificate_check(f, t, v->nvl, v->order, false, &err), -EINVAL);
	assert_string_equal(err.text, "the order does not increase along the path from n0000 to LID 5");
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

/* ---- ways that are missing ---- */

static void one_missing_entry_is_found_and_named(void **state)
{
	struct fabric *f = net_tree(3, 2, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct verdict *v;
	char line[300];

	(void)state;
	tables_row(t, 1)[f->term_lid[5]] = FAB_NO_PORT;
	v = judge(f, t);
	assert_false(v->connected);
	assert_true(v->loop_free);
	assert_int_equal(v->unreachable, 1);
	assert_int_equal(v->looping, 0);
	assert_int_equal(v->fault, FAULT_NO_PATH);
	assert_int_equal(v->bad_sw, 1);
	assert_int_equal(v->bad_lid, f->term_lid[5]);
	assert_int_equal(v->bad_at, 1);
	assert_int_equal(v->pairs, 3 * (6 + 5));
	verdict_sentence(line, sizeof(line), v, f);
	assert_string_equal(line,
			    "1 of 33 paths are missing and 0 loop; the first, from switch S1 to "
			    "LID 6 (n0005), ends at switch S1.");
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

static void a_loop_is_told_from_a_missing_way(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL);
	struct tables *t = kit_clockwise(f);
	uint16_t lid = f->term_lid[3];
	struct verdict *v;

	(void)state;
	/* 0 -> 1 -> 0; 2 -> 3 still arrives */
	tables_row(t, 1)[lid] = f->chan_port[kit_chan(f, 1, 0)];
	v = judge(f, t);
	assert_false(v->connected);
	assert_false(v->loop_free);
	assert_int_equal(v->looping, 2);
	assert_int_equal(v->unreachable, 0);
	assert_int_equal(v->fault, FAULT_LOOP);
	assert_int_equal(v->bad_sw, 0);
	assert_int_equal(v->bad_lid, lid);
	assert_int_equal(v->bad_at, 0);
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

static void wrong_ports_are_not_a_way(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	static const uint8_t wrong[] = { 200, 2, 0, 64, 254 };
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong); i++) {
		struct tables *t = kit_bfs(f);
		struct verdict *v;

		/* LID of n0000, on port 1 of S0: other ports deliver it to nobody */
		tables_row(t, 0)[f->term_lid[0]] = wrong[i];
		v = judge(f, t);
		assert_false(v->connected);
		assert_true(v->loop_free);
		assert_int_equal(v->unreachable, 2);
		assert_int_equal(v->bad_at, 0);
		verdict_free(v);
		tables_put(t);
	}
	fabric_put(f);
}

static void cut_fabric_is_disconnected_on_both_sides(void **state)
{
	struct fabric *f = net_chain(4, 2, 1, NULL);
	struct tables *t = kit_bfs(f);
	struct verdict *v = judge(f, t);

	(void)state;
	assert_false(v->connected);
	assert_true(v->loop_free);
	/* 4 source switches, each misses 4 terminals and 2 switches */
	assert_int_equal(v->unreachable, 4 * (4 + 2));
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

static void each_of_the_lids_of_a_port_is_checked(void **state)
{
	struct net_opts opts = { .lmc = 1 };
	struct fabric *f = net_tree(2, 2, 2, &opts);
	struct tables *t = kit_bfs(f);
	struct verdict *v = judge(f, t);

	(void)state;
	assert_true(verdict_ok(v));
	assert_int_equal(v->pairs, 2 * (4 * 2 + 4));
	verdict_free(v);
	tables_row(t, 0)[f->term_lid[3] + 1] = FAB_NO_PORT;
	v = judge(f, t);
	assert_int_equal(v->unreachable, 1);
	assert_int_equal(v->bad_lid, f->term_lid[3] + 1);
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

static void lids_of_switches_and_of_uncounted_ends_must_be_reached_too(void **state)
{
	struct net_opts opts = { .aggregation = 1 };
	struct verify_opts lenient = { .terminals_only = true };
	struct fabric *f = net_tree(2, 1, 2, &opts);
	struct tables *t = kit_bfs(f);
	struct verdict *v;

	(void)state;
	assert_int_equal(f->nend, f->nterm + 1);
	tables_row(t, 1)[f->sw_lid[0]] = FAB_NO_PORT;
	v = judge(f, t);
	assert_int_equal(v->unreachable, 1);
	assert_int_equal(v->bad_lid, f->sw_lid[0]);
	verdict_free(v);
	assert_int_equal(verify_tables(&v, f, t, &lenient, NULL, NULL), 0);
	assert_true(verdict_ok(v));
	assert_int_equal(v->pairs, 2 * 5);
	verdict_free(v);
	tables_row(t, 1)[f->term_lid[f->nterm]] = FAB_NO_PORT;
	assert_int_equal(verify_tables(&v, f, t, &lenient, NULL, NULL), 0);
	assert_false(v->connected);
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

/* Ways to a switch are those to its first terminal in tables like these. */
static void lid_of_a_switch_fails_with_that_of_its_terminal_and_by_itself(void **state)
{
	struct fabric *f = net_tree(3, 2, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct verdict *v;

	(void)state;
	tables_row(t, 1)[f->term_lid[0]] = tables_row(t, 1)[f->sw_lid[0]] = FAB_NO_PORT;
	v = judge(f, t);
	assert_int_equal(v->unreachable, 2);
	assert_int_equal(v->bad_sw, 1);
	assert_int_equal(v->bad_lid, f->term_lid[0] < f->sw_lid[0] ? f->term_lid[0] : f->sw_lid[0]);
	assert_int_equal(v->pairs, 3 * (6 + 5));
	verdict_free(v);
	tables_row(t, 1)[f->term_lid[0]] = tables_row(t, 1)[f->term_lid[1]];
	tables_row(t, 1)[f->sw_lid[0]] = tables_row(t, 1)[f->term_lid[0]];
	tables_row(t, 0)[f->sw_lid[0]] = f->term_port[0];
	v = judge(f, t);
	assert_int_equal(v->unreachable, 3); /* a switch does not answer on the port of another */
	assert_int_equal(v->bad_lid, f->sw_lid[0]);
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

/* ---- SL and VL ---- */

static void vls_above_opervls_do_not_fit(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *t = kit_bfs(f);
	uint32_t c = kit_chan(f, 2, 1);
	struct verdict *v;
	char line[200];

	(void)state;
	t->sl_const = 3;
	v = judge(f, t);
	assert_true(verdict_ok(v)); /* nothing known */
	verdict_free(v);

	/* known on the far side of the link only */
	f->port[f->port_off[1] + f->chan_rport[c]].op_vls = 2;
	v = judge(f, t);
	assert_false(v->vls_fit);
	assert_true(v->connected && v->deadlock_free);
	assert_int_equal(v->misfit_sw, 1);
	assert_int_equal(v->misfit_vl, 3);
	assert_int_equal(v->misfit_op_vls, 2);
	verdict_sentence(line, sizeof(line), v, f);
	assert_string_equal(line,
			    "Connected, loop-free and deadlock-free, but VL 3 is used on S1 port "
			    "3, which has only 2 VLs.");
	verdict_free(v);
	f->port[f->port_off[1] + f->chan_rport[c]].op_vls = 4;
	v = judge(f, t);
	assert_true(v->vls_fit);
	verdict_free(v);

	/* the last link to a host counts as well */
	f->port[f->port_off[0] + f->term_port[0]].op_vls = 1;
	v = judge(f, t);
	assert_false(v->vls_fit);
	assert_int_equal(v->misfit_sw, 0);
	assert_int_equal(v->misfit_port, f->term_port[0]);
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

static uint8_t *op_vls_of(const struct fabric *f, uint32_t term)
{
	return &f->port[f->port_off[f->term_sw[term]] + f->term_port[term]].op_vls;
}

/* Switch `from` sends on VL 3, to LID only or (0) to all, and on VL 0 else. */
static void assert_links_of_hosts_count(struct fabric *f, struct tables *t, uint32_t from,
					uint32_t only)
{
	uint8_t *row = t->sl + (size_t)from * t->stride;

	memset(t->sl, 0, (size_t)f->nsw * t->stride);
	memset(row, only ? 0 : 3, t->stride);
	row[only] = 3;
	for (uint32_t term = 0; term < f->nterm; term++) {
		bool uses = !only || f->term_lid[term] == only;

		for (uint8_t vls = 3; vls <= 4; vls++) {
			struct verdict *v;

			*op_vls_of(f, term) = vls;
			v = judge(f, t);
			assert_int_equal(v->vls_fit, !uses || vls == 4);
			if (!v->vls_fit)
				assert_int_equal(v->misfit_port, f->term_port[term]);
			verdict_free(v);
		}
		*op_vls_of(f, term) = 0;
	}
}

static void assert_links_of_all_hosts_count(struct fabric *f, struct tables *t)
{
	for (uint32_t from = 0; from < 2; from++) {
		assert_links_of_hosts_count(f, t, from, 0);
		for (uint32_t term = 0; term < f->nterm; term++)
			assert_links_of_hosts_count(f, t, from, f->term_lid[term]);
	}
}

static void link_of_every_host_counts_whoever_sends_on_the_vl(void **state)
{
	struct fabric *f = net_tree(2, 1, 3, NULL);
	struct tables *t = kit_bfs(f);

	(void)state;
	tables_sl_form(t, SL_BY_SWITCH, f);
	assert_links_of_all_hosts_count(f, t);
	/* the same by port: an SL that nobody has makes the difference */
	tables_sl2vl_form(t, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 1; out <= f->sw_nports[sw]; out++)
				for (uint8_t sl = 0; sl < FAB_SLS; sl++)
					tables_sl2vl_row(t, sw, in, out)[sl] = sl % 15;
	tables_sl2vl_row(t, 0, f->term_port[0], f->chan_port[kit_chan(f, 0, 2)])[9] = 1;
	assert_links_of_all_hosts_count(f, t);
	tables_put(t);
	fabric_put(f);
}

static void packets_that_sl2vl_drops_do_not_arrive(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct verdict *v;

	(void)state;
	tables_sl2vl_form(t, SL2VL_FULL, f);
	/* S0 drops at its uplink what n0001 (port 2) sends; n0000's packets pass */
	tables_sl2vl_row(t, 0, f->term_port[1], f->chan_port[kit_chan(f, 0, 2)])[0] = VL_DROP;
	v = judge(f, t);
	assert_false(v->connected);
	assert_true(v->loop_free);
	assert_int_equal(v->fault, FAULT_DROP);
	assert_int_equal(v->unreachable, 2 + 2); /* n0002, n0003, S1, S2 from S0 */
	assert_int_equal(v->bad_sw, 0);
	assert_int_equal(v->bad_at, 0);
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

static void drop_on_passing_spares_what_never_passes(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct verdict *v;

	(void)state;
	tables_sl2vl_form(t, SL2VL_BY_INPUT, f);
	memset(t->sl2vl + 2 * FAB_SLS, VL_DROP, FAB_SLS);
	v = judge(f, t);
	/* other leaf's hosts and switch; the spine itself is reached without a second switch's VL
	 */
	assert_int_equal(v->unreachable, 2 * (2 + 1));
	assert_int_equal(v->fault, FAULT_DROP);
	assert_int_equal(v->bad_at, 2);
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

static void sl_above_15_and_sl_15_on_identity_do_not_arrive(void **state)
{
	struct fabric *f = net_tree(2, 1, 1, NULL);
	struct tables *t = kit_bfs(f);
	struct verdict *v;

	(void)state;
	tables_sl_form(t, SL_BY_DLID, f);
	t->sl[f->term_lid[0]] = 255;
	t->sl[f->term_lid[1]] = 15;
	v = judge(f, t);
	assert_false(v->connected);
	assert_int_equal(v->fault, FAULT_DROP);
	assert_int_equal(v->unreachable, 2); /* each from the other; a loopback needs no VL */
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

static void one_terminal_with_another_sl_is_enough_for_a_cycle(void **state)
{
	struct fabric *f = net_ring(3, 2, NULL);
	struct tables *t = kit_clockwise(f);
	struct verdict *v;

	(void)state;
	/* each first host on a VL by its switch, each second host on VL 4: only they close */
	tables_sl_form(t, SL_BY_TERM, f);
	for (uint32_t term = 0; term < f->nterm; term++)
		memset(t->sl + (size_t)term * t->stride, term % 2 ? 4 : (int)f->term_sw[term],
		       t->stride);
	v = judge(f, t);
	assert_true(v->connected);
	assert_false(v->deadlock_free);
	assert_int_equal(v->ncycle, 3);
	assert_int_equal(v->sls_used, 4);
	for (uint32_t i = 0; i < v->ncycle; i++) {
		assert_int_equal(v->cycle[i].vl, 4);
		assert_int_equal(v->cycle[i].src_term % 2, 1);
	}
	assert_witness(f, t, v);
	verdict_free(v);
	memset(t->sl + (size_t)1 * t->stride, 5, t->stride);
	v = judge(f, t);
	assert_true(verdict_ok(v));
	verdict_free(v);
	tables_put(t);
	fabric_put(f);
}

static void full_tables_that_say_no_more_give_the_same_verdict(void **state)
{
	struct fabric *f = net_torus(4, 3, 2, NULL);
	struct rng r;
	struct tables *t, *full;
	struct verdict *v, *w;

	(void)state;
	rng_seed(&r, 7);
	t = kit_random_trees(f, &r);
	kit_random_sl2vl(t, f, SL2VL_BY_INPUT, 4, &r);
	kit_random_sl(t, f, SL_BY_SWITCH, 16, &r);
	full = tables_new(f, "kit");
	memcpy(full->lft, t->lft, (size_t)f->nsw * t->stride);
	tables_sl_form(full, SL_BY_SWITCH, f);
	memcpy(full->sl, t->sl, (size_t)f->nsw * t->stride);
	tables_sl2vl_form(full, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 1; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 1; out <= f->sw_nports[sw]; out++)
				for (uint8_t sl = 0; sl < FAB_SLS; sl++)
					tables_sl2vl_row(full, sw, in, out)[sl] =
						tables_vl(t, f, sw, (uint8_t)in, (uint8_t)out, sl);
	v = judge(f, t);
	w = judge(f, full);
	assert_int_equal(v->vertices, w->vertices);
	assert_int_equal(v->edges, w->edges);
	assert_int_equal(v->ncycle, w->ncycle);
	assert_int_equal(v->vls_used, w->vls_used);
	/* one useless difference: what a host would send to itself; now it is kept by ports */
	tables_sl2vl_row(full, 0, 1, 2)[9] ^= 1;
	tables_sl2vl_row(full, 0, 2, 1)[9] ^= 1;
	verdict_free(w);
	w = judge(f, full);
	assert_int_equal(v->vertices, w->vertices);
	assert_int_equal(v->edges, w->edges);
	assert_int_equal(v->sls_used, w->sls_used);
	verdict_free(v);
	verdict_free(w);
	tables_put(t);
	tables_put(full);
	fabric_put(f);
}

static void tables_of_another_fabric_are_refused(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL), *g = net_tree(2, 2, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct verdict *v;
	struct err err;

	(void)state;
	assert_int_equal(verify_tables(&v, g, t, NULL, NULL, &err), -EINVAL);
	assert_null(v);
	assert_string_equal(err.text, "the tables (kit) were made for a fabric other than small");
	tables_put(t);
	fabric_put(f);
	fabric_put(g);
}

static void cancelled_work_says_so(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct progress p = { .cancel = true };
	struct verdict *v;

	(void)state;
	assert_int_equal(verify_tables(&v, f, t, NULL, &p, NULL), -ECANCELED);
	assert_null(v);
	tables_put(t);
	fabric_put(f);
}

/* ---- against a recount path by path ---- */

struct recount {
	uint64_t unreachable, looping;
	uint32_t n;    /* vertices: chan * 16 + vl */
	uint8_t *edge; /* n * n */
	uint8_t *used;
	bool drops;
};

enum fate { ARRIVES, LOST, CIRCLES };

/* One packet, step by step; its dependencies are recorded when it arrives by the LFT. */
static enum fate send(struct recount *rc, const struct fabric *f, const struct tables *t,
		      uint32_t end, uint32_t lid, bool record)
{
	uint32_t sw = f->term_sw[end], last = FAB_NONE;
	uint8_t in = f->term_port[end], dport = 0, sl = tables_path_sl(t, end, sw, lid);
	uint32_t dsw = fabric_lid_switch(f, lid, &dport);

	for (uint32_t step = 0; step <= f->nsw; step++) {
		uint8_t out = tables_row(t, sw)[lid], vl;
		uint32_t c = fabric_chan(f, sw, out);

		if (sw == dsw && out == dport)
			return record && dport != in &&
					       (sl > 15 ||
						(dport && tables_vl(t, f, sw, in, out, sl) > 14))
				       ? LOST
				       : ARRIVES;
		if (c == FAB_NONE)
			return LOST;
		vl = sl > 15 ? 15 : tables_vl(t, f, sw, in, out, sl);
		if (record && vl > 14)
			return LOST;
		if (record) {
			rc->used[c * 16 + vl] = 1;
			if (last != FAB_NONE)
				rc->edge[(size_t)last * rc->n + c * 16 + vl] = 1;
			last = c * 16 + vl;
		}
		in = f->chan_rport[c];
		sw = f->chan_dst[c];
	}
	return CIRCLES;
}

static void recount_pair(struct recount *rc, const struct fabric *f, const struct tables *t,
			 uint32_t sw, uint32_t lid)
{
	bool lost = false;

	for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++) {
		enum fate fate = send(rc, f, t, f->term_list[i], lid, false);

		if (fate == CIRCLES) {
			rc->looping++;
			return;
		}
		if (fate == LOST || send(rc, f, t, f->term_list[i], lid, true) == LOST)
			lost = true;
	}
	rc->unreachable += lost;
}

static bool finds_cycle(const struct recount *rc, uint8_t *colour, uint32_t v)
{
	colour[v] = 1;
	for (uint32_t u = 0; u < rc->n; u++) {
		if (!rc->edge[(size_t)v * rc->n + u])
			continue;
		if (colour[u] == 1 || (!colour[u] && finds_cycle(rc, colour, u)))
			return true;
	}
	colour[v] = 2;
	return false;
}

static void assert_recount(const struct fabric *f, const struct tables *t, uint32_t seen[2])
{
	struct recount rc = { .n = f->nchan * 16 };
	uint8_t *colour = xcalloc(rc.n, 1);
	struct verdict *v = judge(f, t);
	uint64_t edges = 0, used = 0;
	bool cyclic = false;

	rc.edge = xcalloc((size_t)rc.n * rc.n, 1);
	rc.used = xcalloc(rc.n, 1);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		for (uint32_t sw = 0; sw < f->nsw && fabric_lid_end(f, lid) != FAB_NONE; sw++)
			if (f->term_off[sw] != f->term_off[sw + 1])
				recount_pair(&rc, f, t, sw, lid);
	for (size_t i = 0; i < (size_t)rc.n * rc.n; i++)
		edges += rc.edge[i];
	for (uint32_t i = 0; i < rc.n; i++) {
		used += rc.used[i];
		cyclic |= !colour[i] && finds_cycle(&rc, colour, i);
	}
	assert_int_equal(v->unreachable, rc.unreachable);
	assert_int_equal(v->looping, rc.looping);
	assert_int_equal(v->connected, !rc.unreachable && !rc.looping);
	assert_int_equal(v->vertices, used);
	assert_int_equal(v->edges, edges);
	assert_int_equal(v->deadlock_free, !cyclic);
	if (cyclic)
		assert_witness(f, t, v);
	else if (v->connected)
		assert_int_equal(certificate_check(f, t, v->nvl, v->order, false, NULL), 0);
	seen[cyclic]++;
	verdict_free(v);
	free(rc.edge);
	free(rc.used);
	free(colour);
}

static const enum sl_kind sl_kinds[] = { SL_CONST, SL_BY_DLID, SL_BY_SWITCH, SL_BY_TERM };
static const enum sl2vl_kind sl2vl_kinds[] = { SL2VL_IDENTITY, SL2VL_BY_INPUT, SL2VL_FULL };

static void random_tables_are_judged_as_a_recount_of_every_path_does(void **state)
{
	uint32_t seen[2] = { 0, 0 };
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (uint32_t round = 0; round < 144; round++) {
		struct net_opts opts = { .lmc = (int)(round / 12 % 2),
					 .random_lids = round,
					 .aggregation = round % 3 };
		struct fabric *f = net_random(round + 1, 3 + round % 6, 4 + round % 9, 2, &opts);
		struct tables *t = round % 5 ? kit_random_trees(f, &r) : kit_bfs(f);
		uint32_t vls = 1 + round % 4;

		kit_random_sl(t, f, sl_kinds[round % 4], round % 8 < 4 ? 15 : vls, &r);
		kit_random_sl2vl(t, f, sl2vl_kinds[round % 3], round % 7 ? vls : 16, &r);
		/* some holes, turns back and wrong ports */
		for (uint32_t k = 0; k < round % 4; k++)
			tables_row(t,
				   (uint32_t)rng_below(&r, f->nsw))[1 + rng_below(&r, f->max_lid)] =
				(uint8_t)rng_below(&r, 8);
		assert_recount(f, t, seen);
		tables_put(t);
		fabric_put(f);
	}
	assert_true(seen[0] > 20 && seen[1] > 20);
}

static void random_bytes_in_all_tables_get_a_verdict(void **state)
{
	uint32_t seen[2] = { 0, 0 };
	struct rng r;

	(void)state;
	rng_seed(&r, 2);
	for (uint32_t round = 0; round < 120; round++) {
		struct net_opts opts = { .lmc = (int)(round % 3) };
		struct fabric *f = net_random(round, 2 + round % 5, 7, 2, &opts);
		struct tables *t = tables_new(f, "noise");
		uint32_t below = round % 2 ? 256 : 8;

		for (size_t i = 0; i < (size_t)f->nsw * t->stride; i++)
			t->lft[i] = (uint8_t)rng_below(&r, below);
		kit_random_sl(t, f, sl_kinds[round % 4], round % 5 ? 16 : 256, &r);
		kit_random_sl2vl(t, f, sl2vl_kinds[round / 4 % 3], round % 7 ? 15 : 256, &r);
		assert_recount(f, t, seen);
		tables_put(t);
		fabric_put(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_sl2vl_there_is_no_verdict),
		cmocka_unit_test(clockwise_ring_on_one_vl_is_cyclic_with_a_true_witness),
		cmocka_unit_test(
			ring_with_wrapping_paths_on_a_second_vl_closes_where_the_chains_are_long),
		cmocka_unit_test(change_of_vl_at_a_dateline_opens_a_ring_of_three),
		cmocka_unit_test(
			change_back_behind_the_dateline_closes_a_ring_of_four_over_both_vls),
		cmocka_unit_test(vl_by_kind_of_input_opens_a_ring_of_three),
		cmocka_unit_test(one_missing_entry_is_found_and_named),
		cmocka_unit_test(a_loop_is_told_from_a_missing_way),
		cmocka_unit_test(wrong_ports_are_not_a_way),
		cmocka_unit_test(cut_fabric_is_disconnected_on_both_sides),
		cmocka_unit_test(each_of_the_lids_of_a_port_is_checked),
		cmocka_unit_test(lids_of_switches_and_of_uncounted_ends_must_be_reached_too),
		cmocka_unit_test(lid_of_a_switch_fails_with_that_of_its_terminal_and_by_itself),
		cmocka_unit_test(vls_above_opervls_do_not_fit),
		cmocka_unit_test(link_of_every_host_counts_whoever_sends_on_the_vl),
		cmocka_unit_test(packets_that_sl2vl_drops_do_not_arrive),
		cmocka_unit_test(drop_on_passing_spares_what_never_passes),
		cmocka_unit_test(sl_above_15_and_sl_15_on_identity_do_not_arrive),
		cmocka_unit_test(one_terminal_with_another_sl_is_enough_for_a_cycle),
		cmocka_unit_test(full_tables_that_say_no_more_give_the_same_verdict),
		cmocka_unit_test(tables_of_another_fabric_are_refused),
		cmocka_unit_test(cancelled_work_says_so),
		cmocka_unit_test(random_tables_are_judged_as_a_recount_of_every_path_does),
		cmocka_unit_test(random_bytes_in_all_tables_get_a_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
