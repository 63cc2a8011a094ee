/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/ib/codec.h"

#include "fabric/base/hash/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#if WITH_UMAD
#include <infiniband/mad.h>
#define FIELD(buf, f)	mad_get_field((void *)(buf), 0, (f))
#define FIELD64(buf, f) mad_get_field64((void *)(buf), 0, (f))
#endif

static void directed_request_has_the_layout_of_the_specification(void **state)
{
	struct mad_request r = { .mgmt_class = MAD_SMP_DIRECTED,
				 .method = MAD_SET,
				 .attr = SMP_LFT,
				 .mod = 0x01020304,
				 .m_key = 0x1122334455667788,
				 .route = { .hops = 3, .port = { 0, 1, 7, 36 } } };
	static const uint8_t head[24] = { 1,	0x81, 1, 2, 0, 0,    0, 3, 0, 0, 0, 0,
					  0xde, 0xad, 0, 5, 0, 0x19, 0, 0, 1, 2, 3, 4 };
	struct mad_packet p;

	(void)state;
	memset(r.data, 0xab, sizeof(r.data));
	mad_build(&p, &r, 0xdead0005);
	assert_memory_equal(p.data, head, sizeof(head));
	assert_memory_equal(p.data + 24, "\x11\x22\x33\x44\x55\x66\x77\x88", 8);
	assert_memory_equal(p.data + 32, "\xff\xff\xff\xff", 4);
	assert_int_equal(p.data[36], 0);
	assert_int_equal(p.data[63], 0);
	assert_int_equal(p.data[64], 0xab);
	assert_int_equal(p.data[127], 0xab);
	assert_memory_equal(p.data + 128, "\0\1\7\x24\0", 5);
	assert_int_equal(p.addr.lid, 0xffff);
	assert_int_equal(p.addr.qpn, 0);
	assert_int_equal(mad_tid(&p), 0xdead0005);
}

static void performance_request_goes_to_qp1_and_has_no_m_key(void **state)
{
	struct mad_request r = { .mgmt_class = MAD_PERF,
				 .method = MAD_GET,
				 .attr = PERF_COUNTERS_EXT,
				 .lid = 17,
				 .m_key = 42,
				 .data = { 0, 9 } };
	struct mad_packet p;

	(void)state;
	mad_build(&p, &r, 1);
	assert_int_equal(p.addr.lid, 17);
	assert_int_equal(p.addr.qpn, 1);
	assert_int_equal(p.addr.qkey, 0x80010000);
	for (int i = 24; i < 64; i++)
		assert_int_equal(p.data[i], 0);
	assert_int_equal(p.data[65], 9);
}

static void requests_and_answers_survive_the_round_trip(void **state)
{
	struct mad_request r = { .mgmt_class = MAD_SMP_DIRECTED,
				 .method = MAD_GET,
				 .attr = SMP_SL2VL,
				 .mod = 0x0507,
				 .m_key = 99,
				 .route = { .hops = 2, .port = { 0, 1, 3 } } };
	struct mad_request back;
	struct mad_answer a;
	struct mad_packet p;
	uint8_t data[SMP_DATA];
	uint32_t tid;

	(void)state;
	mad_build(&p, &r, 77);
	assert_int_equal(mad_parse(&a, &p), -EPROTO);
	p.addr.lid = 0;
	assert_int_equal(mad_parse_request(&back, &tid, &p), 0);
	assert_memory_equal(&back, &r, sizeof(r));
	assert_int_equal(tid, 77);

	memset(data, 0x5a, sizeof(data));
	mad_reply(&p, MAD_STATUS_VALUE, data, sizeof(data));
	assert_int_equal(p.data[4] & 0x80, 0x80);
	assert_int_equal(mad_parse_request(&back, &tid, &p), -EPROTO);
	assert_int_equal(mad_parse(&a, &p), 0);
	assert_int_equal(a.status, MAD_STATUS_VALUE);
	assert_int_equal(a.attr, SMP_SL2VL);
	assert_int_equal(a.mod, 0x0507);
	assert_int_equal(a.tid, 77);
	assert_memory_equal(a.data, data, sizeof(data));
}

static void routes_longer_than_the_field_are_refused(void **state)
{
	struct mad_request r = { .mgmt_class = MAD_SMP_DIRECTED,
				 .method = MAD_GET,
				 .attr = SMP_NODE_INFO,
				 .route = { .hops = ROUTE_HOPS } };
	struct mad_packet p;
	uint32_t tid;

	(void)state;
	mad_build(&p, &r, 1);
	assert_int_equal(mad_parse_request(&r, &tid, &p), 0);
	p.data[7] = ROUTE_HOPS + 1;
	assert_int_equal(mad_parse_request(&r, &tid, &p), -EPROTO);
}

static void node_info_out_of_bounds_is_refused(void **state)
{
	struct node_info ni = {
		.type = 2, .nports = 36, .node_guid = 0xabcd, .port_guid = 0xabce, .local_port = 36
	};
	struct node_info back;
	uint8_t d[SMP_DATA];

	(void)state;
	node_info_encode(d, &ni);
	assert_int_equal(node_info_decode(&back, d), 0);
	assert_memory_equal(&back, &ni, sizeof(ni));
	d[36] = 37; /* a port it does not have */
	assert_int_equal(node_info_decode(&back, d), -EPROTO);
	node_info_encode(d, &ni);
	d[3] = 255;
	assert_int_equal(node_info_decode(&back, d), -EPROTO);
	d[3] = 0;
	assert_int_equal(node_info_decode(&back, d), -EPROTO);
	node_info_encode(d, &ni);
	d[2] = 4;
	assert_int_equal(node_info_decode(&back, d), -EPROTO);
	node_info_encode(d, &ni);
	memset(d + 12, 0, 8);
	assert_int_equal(node_info_decode(&back, d), -EPROTO);
}

static void descriptions_are_cut_cleaned_and_trimmed(void **state)
{
	uint8_t d[SMP_DATA];
	char out[SMP_DATA + 1];

	(void)state;
	memset(d, 'x', sizeof(d));
	node_desc_decode(out, d);
	assert_int_equal(strlen(out), SMP_DATA);
	memset(d, 0, sizeof(d));
	memcpy(d, "leaf\x1b[31m 7  ", 13);
	node_desc_decode(out, d);
	assert_string_equal(out, "leaf?[31m 7");
	node_desc_encode(d, "H\u00f6he\u202e 3\377");
	node_desc_decode(out, d);
	assert_string_equal(out, "H\u00f6he??? 3?");
	node_desc_encode(d, "n0001 mlx5_0");
	node_desc_decode(out, d);
	assert_string_equal(out, "n0001 mlx5_0");
}

static void link_words_come_from_width_and_both_speed_fields(void **state)
{
	static const struct {
		uint8_t lanes;
		const char *speed, *word, *without_ext;
	} cases[] = {
		{ 4, "EDR", "4xEDR", "4xQDR" }, { 12, "QDR", "12xQDR", "12xQDR" },
		{ 1, "SDR", "1xSDR", "1xSDR" }, { 2, "HDR", "2xHDR", "2xQDR" },
		{ 8, "NDR", "8xNDR", "8xQDR" }, { 4, "FDR", "4xFDR", "4xQDR" },
		{ 4, "DDR", "4xDDR", "4xDDR" }, { 3, "EDR", "", "" },
		{ 4, "FDR10", "", "" },
	};
	struct port_info pi, back;
	uint8_t d[SMP_DATA];
	char word[12];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&pi, 0, sizeof(pi));
		port_info_set_link(&pi, cases[i].lanes, cases[i].speed);
		port_info_encode(d, &pi);
		assert_int_equal(port_info_decode(&back, d), 0);
		port_info_link(word, &back, true);
		assert_string_equal(word, cases[i].word);
		port_info_link(word, &back, false);
		assert_string_equal(word, cases[i].without_ext);
	}
}

static void lanes_that_are_enabled_are_told(void **state)
{
	struct port_info pi = { .width_enabled = 1 | 2 | 8 /* 1x, 4x, 12x */ }, back;
	uint8_t d[SMP_DATA];
	char word[12];

	(void)state;
	port_info_set_link(&pi, 1, "EDR");
	port_info_encode(d, &pi);
	assert_int_equal(port_info_decode(&back, d), 0);
	port_info_link(word, &back, true);
	assert_string_equal(word, "1xEDR");
	port_info_best_link(word, &back, true);
	assert_string_equal(word, "4xEDR");
	d[29] = 1; /* the others are supported, but not enabled */
	assert_int_equal(port_info_decode(&back, d), 0);
	port_info_best_link(word, &back, true);
	assert_string_equal(word, "1xEDR");
}

static void vl_codes_map_to_counts_and_back(void **state)
{
	(void)state;
	assert_int_equal(port_info_vls(0), 0);
	assert_int_equal(port_info_vls(4), 8);
	assert_int_equal(port_info_vls(5), 15);
	assert_int_equal(port_info_vls(6), 0);
	assert_int_equal(port_info_vl_code(0), 0);
	assert_int_equal(port_info_vl_code(3), 3);
	assert_int_equal(port_info_vl_code(8), 4);
	assert_int_equal(port_info_vl_code(15), 5);
}

static void invalid_states_and_tops_are_refused(void **state)
{
	uint8_t d[SMP_DATA] = { 0 };
	struct port_info pi;
	struct switch_info si = { .linear_top = 0xc000 };
	struct sm_info sm = { .state = 4 };

	(void)state;
	d[32] = 5;
	assert_int_equal(port_info_decode(&pi, d), -EPROTO);
	switch_info_encode(d, &si);
	assert_int_equal(switch_info_decode(&si, d), -EPROTO);
	sm_info_encode(d, &sm);
	assert_int_equal(sm_info_decode(&sm, d), -EPROTO);
	assert_string_equal(sm_state_name(SM_MASTER), "master");
	assert_string_equal(sm_state_name(9), "unknown");
}

static void sl2vl_packs_two_in_a_byte(void **state)
{
	static const uint8_t vl[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 15, 0, 1, 2, 3, 4, 5, 14 };
	uint8_t d[SMP_DATA], back[16];

	(void)state;
	sl2vl_encode(d, vl);
	assert_memory_equal(d, "\x01\x23\x45\x67\xf0\x12\x34\x5e\0", 9);
	sl2vl_decode(back, d);
	assert_memory_equal(back, vl, 16);
}

/* Entries may name a VL twice, and are in the order that a port takes them. */
static void vl_arbitration_tells_which_vls_have_a_weight(void **state)
{
	static const uint8_t part[SMP_DATA] = { 3, 0, 2, 1, 3, 9, 0xf1, 255, 0, 0, 15, 7 };
	uint8_t d[SMP_DATA];

	(void)state;
	assert_int_equal(vl_arb_decode(part), 0x000e);
	vl_arb_encode(d, 0x4009);
	assert_memory_equal(d, "\0\4\1\0\2\0\3\4\4\0", 10);
	assert_int_equal(vl_arb_decode(d), 0x4009);
	vl_arb_encode(d, 0);
	assert_int_equal(vl_arb_decode(d), 0);
}

static void counters_survive_the_round_trip(void **state)
{
	static struct perf_counters pc = { .port = 7,
					   .tx_words = 1,
					   .rx_words = 2,
					   .tx_pkts = 3,
					   .rx_pkts = 4,
					   .symbol_err = 5,
					   .link_recovered = 6,
					   .link_downed = 8,
					   .rx_err = 9,
					   .tx_discard = 10,
					   .tx_wait = 11,
					   .rx_remote_err = 12,
					   .rx_relay_err = 13,
					   .qp1_dropped = 16,
					   .vl15_dropped = 14,
					   .tx_constraint = 17,
					   .rx_constraint = 18,
					   .integrity = 15,
					   .overrun = 3 },
				    pb;
	static struct perf_counters xc = { .port = 7,
					   .tx_words = 1ull << 40,
					   .rx_words = 2,
					   .tx_pkts = 3,
					   .rx_pkts = 4,
					   .symbol_err = 5,
					   .link_recovered = 6,
					   .link_downed = 7,
					   .rx_err = 8,
					   .tx_discard = 9,
					   .tx_wait = 1ull << 60 },
				    xb;
	static struct perf_class_info ci = { 0x1600, 2, 18 }, cb;
	uint8_t d[PERF_DATA];

	(void)state;
	perf_counters_encode(d, &pc);
	perf_counters_decode(&pb, d);
	assert_memory_equal(&pb, &pc, sizeof(pc));
	perf_counters_ext_encode(d, &xc);
	perf_counters_ext_decode(&xb, d);
	assert_memory_equal(&xb, &xc, sizeof(xc));
	perf_class_info_encode(d, &ci);
	perf_class_info_decode(&cb, d);
	assert_memory_equal(&cb, &ci, sizeof(ci));
	perf_counters_encode(d, &xc); /* narrow ones stay at their maximum */
	perf_counters_decode(&pb, d);
	assert_true(pb.tx_words == UINT32_MAX && pb.tx_wait == UINT32_MAX && pb.rx_words == 2);
}

#if WITH_UMAD

static void subnet_attributes_agree_with_libibmad(void **state)
{
	struct node_info ni = { .type = 2,
				.nports = 36,
				.node_guid = 0x0102030405060708,
				.port_guid = 2,
				.system_guid = 3,
				.device_id = 0xcb20,
				.vendor_id = 0x2c9,
				.local_port = 5 };
	struct port_info pi = { .m_key = 0x1122334455667788,
				.lid = 0x1234,
				.sm_lid = 0x4321,
				.cap_mask = 0x2514868,
				.sm_sl = 3,
				.lmc = 5,
				.m_key_protect = 2,
				.local_port = 17,
				.width_active = 2,
				.speed_active = 4,
				.speed_ext_active = 2,
				.state = 4,
				.phys_state = 5,
				.vl_cap = 4,
				.op_vls = 3,
				.mtu = 5 };
	struct switch_info si = { 0xc000, 0x1234, 255, true, true };
	struct sm_info sm = { 0xaabbccdd, 77, 13, SM_MASTER };
	uint8_t d[SMP_DATA];

	(void)state;
	node_info_encode(d, &ni);
	assert_int_equal(FIELD(d, IB_NODE_TYPE_F), 2);
	assert_int_equal(FIELD(d, IB_NODE_NPORTS_F), 36);
	assert_int_equal(FIELD64(d, IB_NODE_SYSTEM_GUID_F), 3);
	assert_int_equal(FIELD64(d, IB_NODE_GUID_F), ni.node_guid);
	assert_int_equal(FIELD64(d, IB_NODE_PORT_GUID_F), 2);
	assert_int_equal(FIELD(d, IB_NODE_DEVID_F), 0xcb20);
	assert_int_equal(FIELD(d, IB_NODE_VENDORID_F), 0x2c9);
	assert_int_equal(FIELD(d, IB_NODE_LOCAL_PORT_F), 5);

	port_info_encode(d, &pi);
	assert_int_equal(FIELD64(d, IB_PORT_MKEY_F), pi.m_key);
	assert_int_equal(FIELD(d, IB_PORT_LID_F), pi.lid);
	assert_int_equal(FIELD(d, IB_PORT_SMLID_F), pi.sm_lid);
	assert_int_equal(FIELD(d, IB_PORT_CAPMASK_F), pi.cap_mask);
	assert_int_equal(FIELD(d, IB_PORT_SMSL_F), pi.sm_sl);
	assert_int_equal(FIELD(d, IB_PORT_LMC_F), pi.lmc);
	assert_int_equal(FIELD(d, IB_PORT_MKEY_PROT_BITS_F), pi.m_key_protect);
	assert_int_equal(FIELD(d, IB_PORT_LOCAL_PORT_F), pi.local_port);
	assert_int_equal(FIELD(d, IB_PORT_LINK_WIDTH_ACTIVE_F), pi.width_active);
	assert_int_equal(FIELD(d, IB_PORT_LINK_SPEED_ACTIVE_F), pi.speed_active);
	assert_int_equal(FIELD(d, IB_PORT_LINK_SPEED_EXT_ACTIVE_F), pi.speed_ext_active);
	assert_int_equal(FIELD(d, IB_PORT_STATE_F), pi.state);
	assert_int_equal(FIELD(d, IB_PORT_PHYS_STATE_F), pi.phys_state);
	assert_int_equal(FIELD(d, IB_PORT_VL_CAP_F), pi.vl_cap);
	assert_int_equal(FIELD(d, IB_PORT_OPER_VLS_F), pi.op_vls);
	assert_int_equal(FIELD(d, IB_PORT_NEIGHBOR_MTU_F), pi.mtu);

	switch_info_encode(d, &si);
	assert_int_equal(FIELD(d, IB_SW_LINEAR_FDB_CAP_F), si.linear_cap);
	assert_int_equal(FIELD(d, IB_SW_LINEAR_FDB_TOP_F), si.linear_top);
	assert_int_equal(FIELD(d, IB_SW_DEF_PORT_F), 255);
	assert_int_equal(FIELD(d, IB_SW_STATE_CHANGE_F), 1);
	assert_int_equal(FIELD(d, IB_SW_ENHANCED_PORT0_F), 1);

	sm_info_encode(d, &sm);
	assert_int_equal(FIELD64(d, IB_SMINFO_GUID_F), sm.guid);
	assert_int_equal(FIELD(d, IB_SMINFO_ACT_F), 77);
	assert_int_equal(FIELD(d, IB_SMINFO_PRIO_F), 13);
	assert_int_equal(FIELD(d, IB_SMINFO_STATE_F), SM_MASTER);
}

static void performance_attributes_agree_with_libibmad(void **state)
{
	struct perf_counters pc = { .port = 7,
				    .symbol_err = 1,
				    .rx_err = 2,
				    .rx_remote_err = 3,
				    .rx_relay_err = 4,
				    .tx_discard = 5,
				    .vl15_dropped = 6,
				    .link_recovered = 8,
				    .link_downed = 9,
				    .tx_words = 10,
				    .rx_words = 11,
				    .tx_pkts = 12,
				    .rx_pkts = 13,
				    .tx_wait = 14 };
	struct perf_counters xc = { .port = 7,
				    .tx_words = 1ull << 40,
				    .rx_words = 2,
				    .tx_pkts = 3,
				    .rx_pkts = 4,
				    .symbol_err = 5,
				    .link_recovered = 6,
				    .link_downed = 7,
				    .rx_err = 8,
				    .tx_discard = 9,
				    .tx_wait = 1ull << 50 };
	struct perf_class_info ci = { 0x1600, 0x123, 18 };
	uint8_t mad[MAD_BYTES] = { 0 }, *d = mad + 64; /* libibmad counts these from the data */

	(void)state;
	perf_counters_encode(d, &pc);
	assert_int_equal(FIELD(d, IB_PC_PORT_SELECT_F), 7);
	assert_int_equal(FIELD(d, IB_PC_ERR_SYM_F), 1);
	assert_int_equal(FIELD(d, IB_PC_LINK_RECOVERS_F), 8);
	assert_int_equal(FIELD(d, IB_PC_LINK_DOWNED_F), 9);
	assert_int_equal(FIELD(d, IB_PC_ERR_RCV_F), 2);
	assert_int_equal(FIELD(d, IB_PC_ERR_PHYSRCV_F), 3);
	assert_int_equal(FIELD(d, IB_PC_ERR_SWITCH_REL_F), 4);
	assert_int_equal(FIELD(d, IB_PC_XMT_DISCARDS_F), 5);
	assert_int_equal(FIELD(d, IB_PC_VL15_DROPPED_F), 6);
	assert_int_equal(FIELD(d, IB_PC_XMT_BYTES_F), 10);
	assert_int_equal(FIELD(d, IB_PC_RCV_BYTES_F), 11);
	assert_int_equal(FIELD(d, IB_PC_XMT_PKTS_F), 12);
	assert_int_equal(FIELD(d, IB_PC_RCV_PKTS_F), 13);
	assert_int_equal(FIELD(d, IB_PC_XMT_WAIT_F), 14);

	perf_counters_ext_encode(d, &xc);
	assert_int_equal(FIELD(d, IB_PC_EXT_PORT_SELECT_F), 7);
	assert_int_equal(FIELD64(d, IB_PC_EXT_XMT_BYTES_F), 1ull << 40);
	assert_int_equal(FIELD64(d, IB_PC_EXT_RCV_BYTES_F), 2);
	assert_int_equal(FIELD64(d, IB_PC_EXT_XMT_PKTS_F), 3);
	assert_int_equal(FIELD64(d, IB_PC_EXT_RCV_PKTS_F), 4);
	assert_int_equal(FIELD64(d, IB_PC_EXT_ERR_SYM_F), 5);
	assert_int_equal(FIELD64(d, IB_PC_EXT_LINK_RECOVERS_F), 6);
	assert_int_equal(FIELD64(d, IB_PC_EXT_LINK_DOWNED_F), 7);
	assert_int_equal(FIELD64(d, IB_PC_EXT_ERR_RCV_F), 8);
	assert_int_equal(FIELD64(d, IB_PC_EXT_XMT_DISCARDS_F), 9);
	assert_int_equal(FIELD64(d, IB_PC_EXT_XMT_WAIT_F), 1ull << 50);

	perf_class_info_encode(d, &ci);
	assert_int_equal(FIELD(d, IB_CPI_CAPMASK_F), 0x1600);
	assert_int_equal(FIELD(d, IB_CPI_CAPMASK2_F), 0x123);
	assert_int_equal(FIELD(d, IB_CPI_RESP_TIME_VALUE_F), 18);
}

#endif

static void random_bytes_never_read_out_of_bounds(void **state)
{
	struct rng rng;
	struct mad_packet p;
	struct mad_answer a;
	struct mad_request r;
	struct node_info ni;
	struct port_info pi;
	struct switch_info si;
	struct sm_info sm;
	char desc[SMP_DATA + 1], word[12];
	uint32_t tid;
	int parsed = 0;

	(void)state;
	rng_seed(&rng, 1);
	for (int n = 0; n < 20000; n++) {
		for (size_t i = 0; i < MAD_BYTES; i++)
			p.data[i] = (uint8_t)rng_u64(&rng);
		p.data[0] = 1;
		p.data[1] = n & 1 ? MAD_SMP_DIRECTED : MAD_PERF;
		p.data[3] = n & 2 ? MAD_GET : MAD_GET_RESP;
		if (!mad_parse_request(&r, &tid, &p)) {
			assert_true(r.route.hops <= ROUTE_HOPS);
			parsed++;
		}
		if (mad_parse(&a, &p))
			continue;
		parsed++;
		if (!node_info_decode(&ni, a.data))
			assert_true(ni.local_port <= ni.nports);
		if (!port_info_decode(&pi, a.data)) {
			assert_true(pi.state <= 4 && pi.lmc <= 7);
			port_info_link(word, &pi, true);
		}
		switch_info_decode(&si, a.data);
		sm_info_decode(&sm, a.data);
		node_desc_decode(desc, a.data);
		assert_true(strlen(desc) <= SMP_DATA);
	}
	assert_true(parsed > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directed_request_has_the_layout_of_the_specification),
		cmocka_unit_test(performance_request_goes_to_qp1_and_has_no_m_key),
		cmocka_unit_test(requests_and_answers_survive_the_round_trip),
		cmocka_unit_test(routes_longer_than_the_field_are_refused),
		cmocka_unit_test(node_info_out_of_bounds_is_refused),
		cmocka_unit_test(descriptions_are_cut_cleaned_and_trimmed),
		cmocka_unit_test(link_words_come_from_width_and_both_speed_fields),
		cmocka_unit_test(lanes_that_are_enabled_are_told),
		cmocka_unit_test(vl_codes_map_to_counts_and_back),
		cmocka_unit_test(invalid_states_and_tops_are_refused),
		cmocka_unit_test(sl2vl_packs_two_in_a_byte),
		cmocka_unit_test(vl_arbitration_tells_which_vls_have_a_weight),
		cmocka_unit_test(counters_survive_the_round_trip),
#if WITH_UMAD
		cmocka_unit_test(subnet_attributes_agree_with_libibmad),
		cmocka_unit_test(performance_attributes_agree_with_libibmad),
#endif
		cmocka_unit_test(random_bytes_never_read_out_of_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
