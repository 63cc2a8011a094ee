/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/topology/builder.h"
#include "fabric/model/traffic/jobset.h"
#include "fabric/model/traffic/sample.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SW_GUID	 0x2000u
#define CA_GUID	 0x1000u
#define SWITCHES 3u
#define HOSTS	 2u /* per switch */

/* A line of three switches, two hosts each; nodes are added in ascending or descending order. */
static struct builder *line_of_three(bool ascending)
{
	struct builder *b = builder_new();
	uint32_t sw[SWITCHES], ca, n = SWITCHES * HOSTS;
	struct err err;
	char name[32];

	for (uint32_t k = 0; k < SWITCHES; k++) {
		uint32_t i = ascending ? k : SWITCHES - 1 - k;

		snprintf(name, sizeof(name), "S%u", i);
		assert_int_equal(builder_node(&sw[i], b, NODE_SWITCH, SW_GUID + i, 4, name, &err),
				 0);
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = ascending ? k : n - 1 - k;

		snprintf(name, sizeof(name), "n%u mlx5_0", i);
		assert_int_equal(builder_node(&ca, b, NODE_CA, CA_GUID + 16 * i, 1, name, &err), 0);
		assert_int_equal(builder_link(b, ca, 1, sw[i / HOSTS], 1 + i % HOSTS, &err), 0);
		assert_int_equal(builder_port_link(b, ca, 1, "4xEDR", &err), 0);
	}
	for (uint32_t i = 0; i + 1 < SWITCHES; i++)
		assert_int_equal(builder_link(b, sw[i], 3, sw[i + 1], 4, &err), 0);
	return b;
}

static struct fabric *frozen(struct builder *b, int lmc)
{
	struct freeze_opts opts = { .lmc = lmc };
	struct fabric *f = NULL;
	struct err err;

	assert_int_equal(builder_freeze(&f, b, &opts, &err), 0);
	builder_free(b);
	return f;
}

static void order_of_discovery_does_not_matter(void **state)
{
	struct fabric *a = frozen(line_of_three(true), -1), *b = frozen(line_of_three(false), -1);

	(void)state;
	assert_true(digest_equal(&a->fingerprint, &b->fingerprint));
	assert_int_equal(a->nsw, 3);
	assert_int_equal(a->nterm, 6);
	assert_int_equal(a->nchan, 4);
	assert_string_equal(a->term_name[5], b->term_name[5]);
	assert_string_equal(a->name, b->name);
	fabric_put(a);
	fabric_put(b);
}

static void channels_know_their_reverse_and_ports(void **state)
{
	struct fabric *f = frozen(line_of_three(true), 0);

	(void)state;
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t r = f->chan_rev[c];

		assert_int_equal(f->chan_rev[r], c);
		assert_int_equal(f->chan_src[c], f->chan_dst[r]);
		assert_int_equal(f->chan_port[c], f->chan_rport[r]);
		assert_int_equal(fabric_chan(f, f->chan_src[c], f->chan_port[c]), c);
	}
	assert_true(fabric_connected(f));
	fabric_put(f);
}

static void assigned_lids_are_aligned_and_owned(void **state)
{
	struct fabric *f = frozen(line_of_three(true), 2);

	(void)state;
	assert_false(f->lids_given);
	for (uint32_t t = 0; t < f->nterm; t++) {
		assert_int_equal(f->term_lid[t] % 4, 0);
		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(fabric_lid_end(f, f->term_lid[t] + k), t);
	}
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint8_t port = 99;

		assert_int_equal(fabric_lid_switch(f, f->sw_lid[sw], &port), sw);
		assert_int_equal(port, 0);
	}
	fabric_put(f);
}

static void found_lids_are_kept_only_when_they_are_unique(void **state)
{
	struct builder *b = line_of_three(true);
	struct freeze_opts opts = { .lmc = -1 };
	struct fabric *f;
	struct err err;
	uint32_t lid = 10;

	(void)state;
	for (uint32_t i = 0; i < SWITCHES; i++)
		builder_port_lid(b, builder_find(b, SW_GUID + i), 0, lid++, 0, &err);
	for (uint32_t i = 0; i < SWITCHES * HOSTS; i++)
		builder_port_lid(b, builder_find(b, CA_GUID + 16 * i), 1, lid++, 0, &err);
	assert_int_equal(builder_freeze(&f, b, &opts, &err), 0);
	assert_true(f->lids_given);
	assert_int_equal(f->sw_lid[0], 10);
	assert_int_equal(f->max_lid, 18);
	fabric_put(f);
	builder_port_lid(b, builder_find(b, CA_GUID), 1, 11, 0, &err);
	assert_int_equal(builder_freeze(&f, b, &opts, &err), 0);
	assert_false(f->lids_given);
	fabric_put(f);
	builder_free(b);
}

static void aggregation_nodes_are_routed_to_but_not_counted(void **state)
{
	struct builder *b = line_of_three(true);
	struct fabric *f;
	struct err err;
	uint32_t id;

	(void)state;
	builder_node(&id, b, NODE_CA, 1, 1, "Mellanox Technologies Aggregation Node", &err);
	assert_int_equal(builder_link(b, id, 1, builder_find(b, SW_GUID + 2), 3, &err), 0);
	f = frozen(b, 0);
	assert_int_equal(f->nterm, 6);
	assert_int_equal(f->nend, 7);
	assert_int_equal(f->term_kind[6], TERM_AGGREGATION);
	assert_int_equal(f->sw_nterm[2], 2);
	assert_int_not_equal(f->term_lid[6], 0);
	fabric_put(f);
}

static void a_second_peer_on_a_port_is_refused_by_name(void **state)
{
	struct builder *b = line_of_three(true);
	uint32_t first = builder_find(b, SW_GUID), last = builder_find(b, SW_GUID + 2);
	struct err err = { "" };

	(void)state;
	assert_int_equal(builder_link(b, first, 3, last, 1, &err), -EEXIST);
	assert_non_null(strstr(err.text, "port 3 of 0x0000000000002000"));
	builder_free(b);
}

static void switches_called_alike_are_told_apart(void **state)
{
	struct builder *b = line_of_three(true);
	struct fabric *f;

	(void)state;
	for (uint32_t i = 0; i < SWITCHES; i++)
		builder_set_desc(b, builder_find(b, SW_GUID + i), "Infiniscale-IV");
	f = frozen(b, 0);
	assert_string_equal(f->sw_name[0], "Infiniscale-IV-002000");
	assert_string_equal(f->sw_name[1], "Infiniscale-IV-002001");
	fabric_put(f);
}

static void lid_space_overflow_is_refused_with_the_numbers(void **state)
{
	struct builder *b = builder_new();
	struct freeze_opts opts = { .lmc = 7 };
	struct fabric *f = NULL;
	struct err err = { "" };
	uint32_t sw = 0, ca;

	(void)state;
	for (uint32_t i = 0; i < 400; i++) {
		if (i % 200 == 0)
			builder_node(&sw, b, NODE_SWITCH, 0x9000 + i, 250, "S", &err);
		builder_node(&ca, b, NODE_CA, 0x100000 + i * 16, 1, "h", &err);
		builder_link(b, ca, 1, sw, 1 + i % 200, &err);
	}
	assert_int_equal(builder_freeze(&f, b, &opts, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "LMC 7"));
	builder_free(b);
}

static void data_rates_follow_width_and_speed(void **state)
{
	uint8_t width;
	char speed[7];

	(void)state;
	assert_int_equal(link_rate_Mbps("4xEDR", &width, speed), 100000);
	assert_int_equal(width, 4);
	assert_string_equal(speed, "EDR");
	assert_int_equal(link_rate_Mbps("4xQDR", NULL, NULL), 32000);
	assert_int_equal(link_rate_Mbps("4xFDR10", NULL, NULL), 40000);
	assert_int_equal(link_rate_Mbps("4x??", NULL, NULL), 0);
	assert_int_equal(link_rate_Mbps("", NULL, NULL), 0);
}

static struct jobset *two_jobs(const struct fabric *f, uint64_t id_a, uint64_t id_b)
{
	struct jobset_builder *b = jobset_builder_new(f, "test");
	const char *across[] = { "n0", "n5", "gone" }, *within[] = { "n2", "n3" };
	struct job a = { .id = id_a }, w = { .id = id_b };

	jobset_builder_add(b, &a, across, 3);
	jobset_builder_add(b, &w, within, 2);
	return jobset_build(b);
}

static void job_sets_compare_without_ids_and_single_switch_jobs(void **state)
{
	struct fabric *f = frozen(line_of_three(true), 0);
	struct jobset *a = two_jobs(f, 1, 2), *b = two_jobs(f, 7, 3), *c;
	struct jobset_builder *jb = jobset_builder_new(f, "test");
	const char *across[] = { "n5", "n0" };
	struct job head = { .id = 4 };

	(void)state;
	jobset_builder_add(jb, &head, across, 2);
	c = jobset_build(jb);
	assert_int_equal(a->nmulti, 1);
	assert_true(jobset_same(a, b));
	assert_true(jobset_same(a, c));
	assert_false(jobset_same(a, NULL));
	jobset_put(a);
	jobset_put(b);
	jobset_put(c);
	fabric_put(f);
}

static void unknown_nodes_of_a_job_are_counted(void **state)
{
	struct fabric *f = frozen(line_of_three(true), 0);
	struct jobset *js = two_jobs(f, 1, 2);

	(void)state;
	assert_int_equal(js->jobs[0].unknown, 1);
	assert_int_equal(js->jobs[0].nterm, 2);
	assert_int_equal(js->term_off[1] - js->term_off[0], 1);
	jobset_put(js);
	fabric_put(f);
}

static void hash_of_tables_does_not_depend_on_their_form(void **state)
{
	struct fabric *f = frozen(line_of_three(true), 0);
	struct tables *a = tables_new(f, "a"), *b = tables_new(f, "b");
	struct digest da, db;

	(void)state;
	tables_sl_form(b, SL_BY_TERM, f);
	tables_sl2vl_form(b, SL2VL_FULL, f);
	for (size_t i = 0; i < (size_t)b->sl2vl_off[f->nsw] * FAB_SLS; i++)
		b->sl2vl[i] = i % FAB_SLS;
	tables_hash(&da, a, f);
	tables_hash(&db, b, f);
	assert_true(digest_equal(&da, &db));
	b->sl[3 * (size_t)b->stride + f->term_lid[0]] = 1; /* one terminal's SL */
	tables_hash(&db, b, f);
	assert_false(digest_equal(&da, &db));
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

static void diff_counts_entries_blocks_and_sl2vl_tables(void **state)
{
	struct fabric *f = frozen(line_of_three(true), 0);
	struct tables *a = tables_new(f, "a"), *b = tables_new(f, "b");
	struct tables_diff *d;

	(void)state;
	tables_row(b, 1)[1] = 3;
	tables_row(b, 1)[2] = 3;
	tables_sl2vl_form(b, SL2VL_BY_INPUT, f); /* all to VL 0: differs from identity */
	d = tables_diff_new(f, a, b);
	assert_int_equal(d->entries, 2);
	assert_int_equal(d->nblocks, 1);
	assert_int_equal(d->blocks[0].sw, 1);
	assert_int_equal(d->switches, 3);
	/* per switch cabled inputs x channels out: 3x1 + 4x2 + 3x1 */
	assert_int_equal(d->nsl2vl, 14);
	tables_diff_free(d);
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

static void forwarding_is_the_same_whatever_the_sls(void **state)
{
	struct fabric *f = frozen(line_of_three(true), 0);
	struct tables *a = tables_new(f, "sar"), *b = tables_new(f, TABLES_WIRE);

	(void)state;
	tables_row(a, 0)[1] = tables_row(b, 0)[1] = 3;
	tables_sl_form(a, SL_BY_DLID, f);
	a->sl[1] = 2;
	assert_true(tables_forward_same(f, a, b));
	tables_row(b, 0)[1] = 4;
	assert_false(tables_forward_same(f, a, b));
	tables_row(b, 0)[1] = 3;
	tables_sl2vl_form(b, SL2VL_FULL, f);
	memset(b->sl2vl, 5, (size_t)b->sl2vl_off[f->nsw] * FAB_SLS);
	assert_false(tables_forward_same(f, a, b));
	assert_true(tables_as_found(b));
	assert_false(tables_as_found(a));
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

static void writing_over_keeps_what_the_new_routing_does_not_use(void **state)
{
	struct fabric *f = frozen(line_of_three(true), 0);
	struct tables *old = tables_new(f, "wire"), *want = tables_new(f, "sar"), *out;
	uint32_t unowned = f->max_lid; /* the last LID is made nobody's below */

	(void)state;
	f->lid_end[unowned] = FAB_NONE;
	tables_row(old, 0)[unowned] = 7;
	tables_row(want, 0)[1] = 3;
	tables_sl2vl_form(old, SL2VL_FULL, f);
	memset(old->sl2vl, 5, (size_t)old->sl2vl_off[f->nsw] * FAB_SLS);
	tables_sl_form(want, SL_BY_DLID, f);
	want->sl[1] = 2;
	assert_int_equal(tables_sl_mask(want, f), 1 << 0 | 1 << 2);
	for (uint32_t wild = 16; wild < 256; wild += 17) { /* no such SL */
		struct tables *odd = tables_new(f, "odd");

		odd->sl_const = (uint8_t)wild;
		assert_int_equal(tables_sl_mask(odd, f), 0);
		tables_put(odd);
	}
	out = tables_onto(f, old, want);
	assert_int_equal(tables_row(out, 0)[unowned], 7);
	assert_int_equal(tables_row(out, 0)[1], 3);
	assert_int_equal(tables_sl2vl_row(out, 1, 3, 4)[0], 0);
	assert_int_equal(tables_sl2vl_row(out, 1, 3, 4)[1], 5);
	assert_int_equal(tables_sl2vl_row(out, 1, 3, 4)[2], 2);
	assert_int_equal(out->sl[1], 2);
	assert_string_equal(out->engine, "sar");
	tables_put(old);
	tables_put(want);
	tables_put(out);
	fabric_put(f);
}

static struct tables *with_sl2vl(const struct fabric *f, uint8_t vl)
{
	struct tables *t = tables_new(f, "test");

	tables_sl_form(t, SL_BY_DLID, f);
	tables_sl2vl_form(t, SL2VL_FULL, f);
	t->sl[1] = 2;
	tables_row(t, 0)[1] = 3;
	tables_sl2vl_row(t, 1, 3, 4)[0] = vl;
	return t;
}

/* Who lends may be gone before who has borrowed; a third one borrows from the first. */
static void sl2vl_tables_that_are_equal_are_kept_once(void **state)
{
	struct fabric *f = frozen(line_of_three(true), 0);
	struct tables *first = with_sl2vl(f, 5), *same = with_sl2vl(f, 5),
		      *other = with_sl2vl(f, 6);
	struct tables *second, *third;

	(void)state;
	assert_null(tables_borrow_sl2vl(f, other, first));
	tables_row(same, 1)[1] = 4;
	second = tables_borrow_sl2vl(f, same, first);
	assert_non_null(second);
	assert_true(tables_same(second, same, f));
	assert_false(tables_same(second, first, f));
	assert_ptr_equal(second->sl2vl, first->sl2vl);
	third = tables_borrow_sl2vl(f, same, second);
	tables_put(first);
	tables_put(second);
	assert_true(tables_same(third, same, f));
	tables_put(third);
	tables_put(same);
	tables_put(other);
	fabric_put(f);
}

static void cleared_and_missing_counters_give_unknown_rates(void **state)
{
	struct fabric *f = frozen(line_of_three(true), 0);
	struct sample *a = sample_new(f), *b = sample_new(f);
	uint32_t p = f->port_off[0] + 1, q = f->port_off[0] + 3;
	struct rates *r;

	(void)state;
	a->time_ns = 1;
	b->time_ns = 2000000001;
	a->port[p].valid = 1 << CTR_TX_BYTES | 1 << CTR_RX_BYTES;
	a->port[p].wide = a->port[p].valid;
	a->port[p].time_ns = 1;
	b->port[p] = a->port[p];
	b->port[p].time_ns = 2000000001;
	a->port[p].v[CTR_RX_BYTES] = 5;
	b->port[p].v[CTR_TX_BYTES] = 25000000000u; /* 2 s of EDR */
	r = rates_new(f, a, b);
	assert_non_null(r);
	assert_true(fabs(r->port[p].util_pct - 100) < 0.001);
	assert_true(isnan(r->port[p].rx_Bps)); /* went backwards */
	assert_true(isnan(r->port[q].tx_Bps)); /* never reported */
	assert_true(isnan(r->port[p].wait_pct));
	assert_int_equal(r->no_reply, f->nterm + f->nchan - 1);
	assert_null(rates_new(f, b, a));
	rates_put(r);
	sample_put(a);
	sample_put(b);
	fabric_put(f);
}

static void arena_blocks_do_not_overlap_and_start_zeroed(void **state)
{
	struct arena *a = arena_new();
	unsigned char *p[64];

	(void)state;
	for (size_t i = 0; i < 64; i++) {
		size_t n = 1 + i * i * 97;

		p[i] = arena_alloc(a, n, 1);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(p[i][k], 0);
		memset(p[i], (int)i + 1, n);
	}
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(p[i][i * i * 97], i + 1);
	arena_free(a);
}

static void what_others_wrote_cannot_move_the_cursor(void **state)
{
	static const struct {
		const char *in, *keep, *out;
	} cases[] = {
		{ "leaf 1, H\u00f6he \u6f22\U0001f600", "", "leaf 1, H\u00f6he \u6f22\U0001f600" },
		{ "\033[2J\001\177x", "", "?[2J??x" },
		{ "a\nb\tc", "\n", "a\nb?c" },
		{ "\302\2332J", "", "??2J" },			   /* CSI as one character */
		{ "\351 \303", "", "? ?" },			   /* Latin-1; cut off */
		{ "\300\257\340\200\257", "", "?????" },	   /* overlong */
		{ "\355\240\200\364\220\200\200", "", "???????" }, /* surrogate; too large */
	};
	struct builder *b = builder_new();
	uint32_t sw, ca;
	struct fabric *f;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s", cases[i].in);
		assert_string_equal(plain_text(text, cases[i].keep), cases[i].out);
	}
	assert_int_equal(builder_node(&sw, b, NODE_SWITCH, 1, 4, "le\033[31maf", &err), 0);
	assert_int_equal(builder_node(&ca, b, NODE_CA, 2, 1, "h\377", &err), 0);
	assert_int_equal(builder_link(b, ca, 1, sw, 1, &err), 0);
	f = frozen(b, 0);
	assert_string_equal(f->sw_desc[0], "le?[31maf");
	assert_string_equal(f->term_desc[0], "h?");
	fabric_put(f);
	assert_int_equal(err_set(&err, -EINVAL, "net:1: what is \"%s\"?", "\033c\377"), -EINVAL);
	assert_string_equal(err.text, "net:1: what is \"?c?\"?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_of_discovery_does_not_matter),
		cmocka_unit_test(channels_know_their_reverse_and_ports),
		cmocka_unit_test(assigned_lids_are_aligned_and_owned),
		cmocka_unit_test(found_lids_are_kept_only_when_they_are_unique),
		cmocka_unit_test(aggregation_nodes_are_routed_to_but_not_counted),
		cmocka_unit_test(a_second_peer_on_a_port_is_refused_by_name),
		cmocka_unit_test(switches_called_alike_are_told_apart),
		cmocka_unit_test(lid_space_overflow_is_refused_with_the_numbers),
		cmocka_unit_test(data_rates_follow_width_and_speed),
		cmocka_unit_test(job_sets_compare_without_ids_and_single_switch_jobs),
		cmocka_unit_test(unknown_nodes_of_a_job_are_counted),
		cmocka_unit_test(hash_of_tables_does_not_depend_on_their_form),
		cmocka_unit_test(diff_counts_entries_blocks_and_sl2vl_tables),
		cmocka_unit_test(forwarding_is_the_same_whatever_the_sls),
		cmocka_unit_test(writing_over_keeps_what_the_new_routing_does_not_use),
		cmocka_unit_test(sl2vl_tables_that_are_equal_are_kept_once),
		cmocka_unit_test(cleared_and_missing_counters_give_unknown_rates),
		cmocka_unit_test(what_others_wrote_cannot_move_the_cursor),
		cmocka_unit_test(arena_blocks_do_not_overlap_and_start_zeroed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
