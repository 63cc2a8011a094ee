/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notices, subscriptions, path records and the messages of the five phases, byte by byte. */
#include "fabric/wire/sa.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/ib/codec.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/phase_codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#if WITH_UMAD
#include <infiniband/mad.h>
#define FIELD(buf, f) mad_get_field((void *)(buf), 0, (f))
#endif

static void random_bytes(struct rng *r, uint8_t *d, size_t n)
{
	for (size_t i = 0; i < n; i++)
		d[i] = (uint8_t)rng_u64(r);
}

static void a_subscription_has_the_layout_of_the_specification(void **state)
{
	static const uint8_t golden[36] = {
		0,    0,    0,	  0,	0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, /* GID */
		0xff, 0xff, 0,	  0,	0, 0, 1, 1,  /* LIDs, generic, subscribe */
		0xff, 0xff, 0,	  144,	0, 0, 1, 18, /* type, trap, QPN, time */
		0,    0xff, 0xff, 0xff,		     /* producer */
	};
	struct mad_request r = {
		.mgmt_class = MAD_SA, .method = MAD_SET, .attr = SA_INFORM_INFO, .lid = 9
	};
	struct inform_info ii, back;
	struct mad_packet p;

	(void)state;
	inform_info_init(&ii, 144, true);
	inform_info_encode(r.data, &ii);
	assert_memory_equal(r.data, golden, sizeof(golden));
	assert_int_equal(inform_info_decode(&back, r.data), 0);
	assert_memory_equal(&back, &ii, sizeof(ii));
	mad_build(&p, &r, 5);
	assert_memory_equal(p.data, "\1\3\2\2\0\0\0\0\0\0\0\0\0\0\0\5\0\3", 18);
	assert_memory_equal(p.data + 56, golden, sizeof(golden));
	assert_int_equal(p.addr.qpn, 1);
	assert_int_equal(p.addr.qkey, 0x80010000);
}

/* 15.2.5.14; saquery shows the same in the lab. */
static void a_service_record_has_the_layout_of_the_specification(void **state)
{
	struct service_record r = { .id = 0x0102030405060708,
				    .gid_prefix = 0xfe80000000000000,
				    .gid_guid = 0x1112131415161718,
				    .lease_s = 60,
				    .name = "who",
				    .data = "what" },
			      back;
	uint8_t d[SA_DATA];
	struct mad_request q = { .mgmt_class = MAD_SA,
				 .method = MAD_DELETE,
				 .attr = SA_SERVICE_RECORD,
				 .lid = 1,
				 .sa = d },
			   got;
	struct mad_packet p;
	struct mad_answer a;
	uint32_t tid;

	(void)state;
	service_record_encode(d, &r);
	assert_memory_equal(d, "\1\2\3\4\5\6\7\10\xfe\x80\0\0\0\0\0\0\x11\x12", 18);
	assert_memory_equal(d + 24, "\0\0\0\0\0\0\0\74", 8);
	assert_string_equal((char *)d + 48, "who");
	assert_string_equal((char *)d + 112, "what");
	mad_build(&p, &q, 7);
	assert_memory_equal(p.data + 56, d, SA_DATA);
	assert_int_equal(mad_parse_request(&got, &tid, &p), 0);
	service_record_decode(&back, got.sa);
	assert_true(back.id == r.id && back.gid_prefix == r.gid_prefix &&
		    back.gid_guid == r.gid_guid && back.lease_s == 60);
	assert_memory_equal(back.name, r.name, SERVICE_TEXT);
	assert_memory_equal(back.data, r.data, SERVICE_TEXT);
	mad_reply(&p, 0, d, SA_DATA);
	assert_int_equal(mad_parse(&a, &p), 0);
	assert_int_equal(a.method, MAD_DELETE_RESP);
}

static void flags_of_a_subscription_that_are_neither_yes_nor_no_are_refused(void **state)
{
	struct inform_info ii;
	uint8_t d[SMP_DATA];

	(void)state;
	inform_info_init(&ii, 68, false);
	inform_info_encode(d, &ii);
	assert_int_equal(inform_info_decode(&ii, d), 0);
	assert_false(ii.subscribe);
	d[23] = 2;
	assert_int_equal(inform_info_decode(&ii, d), -EPROTO);
	d[23] = 1;
	d[22] = 0xff;
	assert_int_equal(inform_info_decode(&ii, d), -EPROTO);
}

static struct notice sample(void)
{
	struct notice n = { .type = NOTICE_MANAGEMENT,
			    .producer = NOTICE_MANAGER,
			    .trap = NOTICE_UNPATH,
			    .issuer_lid = 0x1234,
			    .toggle = true,
			    .count = 0x0102 };

	for (uint8_t i = 0; i < NOTICE_DETAILS; i++)
		n.details[i] = (uint8_t)(0xc0 + i);
	return n;
}

static void a_trap_has_the_layout_of_the_specification(void **state)
{
	static const uint8_t golden[12] = {
		0x83, 0, 0, 4, 0, 68, 0x12, 0x34, 0x81, 0x02, 0xc0, 0xc1
	};
	struct notice n = sample(), back;
	struct mad_packet p;

	(void)state;
	trap_build(&p, 7, &n, 99);
	assert_memory_equal(p.data, "\1\1\1\5\0\0\0\0\0\0\0\0\0\0\0\x63\0\2", 18);
	assert_memory_equal(p.data + 64, golden, sizeof(golden));
	assert_int_equal(p.data[127], 0xc0 + NOTICE_DETAILS - 1);
	assert_int_equal(p.addr.lid, 7);
	assert_int_equal(p.addr.qpn, 0);
	assert_int_equal(trap_read(&back, &p), 0);
	assert_memory_equal(&back, &n, sizeof(n));
	assert_int_equal(report_read(&back, &p), -EPROTO);
	p.data[64] &= 0x7f; /* a vendor's own */
	assert_int_equal(trap_read(&back, &p), -EPROTO);
}

static void a_report_carries_the_whole_notice_and_its_answer_the_same(void **state)
{
	struct notice n = sample(), back;
	struct mad_packet p, answer;

	(void)state;
	n.issuer_prefix = 0xfe80000000000000;
	n.issuer_guid = 0x1122334455667788;
	report_build(&p, 21, 3, 1, &n, 0x77);
	assert_memory_equal(p.data, "\1\3\2\6", 4);
	assert_memory_equal(p.data + 56 + 64,
			    "\xfe\x80\0\0\0\0\0\0\x11\x22\x33\x44\x55\x66\x77\x88", 16);
	assert_int_equal(p.addr.sl, 3);
	assert_int_equal(report_read(&back, &p), 0);
	assert_memory_equal(&back, &n, sizeof(n));
	assert_int_equal(trap_read(&back, &p), -EPROTO);
	answer = p;
	answer.addr.qpn = 0;
	report_answer(&answer);
	assert_int_equal(answer.data[3], 0x86);
	assert_int_equal(answer.addr.qpn, 1);
	assert_int_equal(answer.addr.qkey, 0x80010000);
	assert_memory_equal(answer.data + 6, p.data + 6, MAD_BYTES - 6);
	assert_int_equal(report_read(&back, &answer), -EPROTO);
}

static void a_path_record_has_the_layout_of_the_specification(void **state)
{
	struct path_record pr = { .dgid_prefix = 0xfe80000000000000,
				  .dgid_guid = 0x0102030405060708,
				  .sgid_prefix = 0xfe80000000000000,
				  .sgid_guid = 0x1112131415161718,
				  .dlid = 0x2122,
				  .slid = 0x3132,
				  .flow = 0x54321,
				  .hop_limit = 64,
				  .tclass = 7,
				  .reversible = true,
				  .num = 3,
				  .pkey = 0xffff,
				  .qos_class = 0xabc,
				  .sl = 5,
				  .mtu_selector = PATH_EXACTLY,
				  .mtu = 5,
				  .rate_selector = PATH_EXACTLY,
				  .rate = 16,
				  .life_selector = PATH_EXACTLY,
				  .life = 18,
				  .preference = 2 };
	static const uint8_t tail[18] = { 0x21, 0x22, 0x31, 0x32, 0x05, 0x43, 0x21, 64,	  7,
					  0x83, 0xff, 0xff, 0xab, 0xc5, 0x85, 0x90, 0x92, 2 };
	struct path_record back;
	uint8_t d[SMP_DATA];

	(void)state;
	path_record_encode(d, &pr);
	assert_memory_equal(d + 40, tail, sizeof(tail));
	assert_int_equal(path_record_decode(&back, d), 0);
	assert_memory_equal(&back, &pr, sizeof(pr));
#if WITH_UMAD
	assert_int_equal(FIELD(d, IB_SA_PR_DLID_F), pr.dlid);
	assert_int_equal(FIELD(d, IB_SA_PR_SLID_F), pr.slid);
	assert_int_equal(FIELD(d, IB_SA_PR_NPATH_F), pr.num);
	assert_int_equal(FIELD(d, IB_SA_PR_SL_F), pr.sl);
#endif
}

#define TABLE_STEP 8 /* words of a path record */

/* An answer of len bytes of records, LID 1 and up, in memory that ends where they do. */
static void table_answer(struct mad_packet *p, size_t len, uint16_t step)
{
	struct mad_request r = {
		.mgmt_class = MAD_SA, .method = MAD_GET_TABLE, .attr = SA_PATH_RECORD, .lid = 9
	};
	uint8_t *whole = xcalloc(SA_HEADER + len, 1), record[PATH_RECORD_BYTES];

	for (size_t at = 0; at < len; at += PATH_RECORD_BYTES) {
		struct path_record pr = { .slid = 7,
					  .dlid = (uint16_t)(1 + at / PATH_RECORD_BYTES) };

		path_record_encode(record, &pr);
		memcpy(whole + SA_HEADER + at, record,
		       len - at < PATH_RECORD_BYTES ? len - at : PATH_RECORD_BYTES);
	}
	mad_build(p, &r, 5);
	mad_reply_table(p, whole, SA_HEADER + len, step);
}

/* How many records there are; -EPROTO: none can be read. */
static int records(const struct mad_packet *p)
{
	struct mad_answer a;
	struct sa_table t;
	int rc;

	assert_int_equal(mad_parse(&a, p), 0);
	assert_int_equal(a.method, MAD_GET_TABLE_RESP);
	rc = sa_table_open(&t, &a, PATH_RECORD_BYTES);
	for (size_t i = 0; !rc && i < t.n; i++) {
		struct path_record pr;

		path_record_decode(&pr, t.at + i * t.step);
		assert_int_equal(pr.dlid, i + 1);
	}
	return rc ? rc : (int)t.n;
}

static void a_table_has_its_records_to_the_last_whole_one(void **state)
{
	static const struct {
		size_t len;
		int n;
	} tables[] = { { 0, 0 },   { 1, -EPROTO }, { 63, -EPROTO }, { 64, 1 },
		       { 127, 1 }, { 128, 2 },	   { 200, 3 },	    { 201, 3 },
		       { 256, 4 }, { 6400, 100 },  { 6463, 100 },   { 64000, 1000 } };

	(void)state;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct mad_packet p;

		table_answer(&p, tables[i].len, TABLE_STEP);
		assert_int_equal(records(&p), tables[i].n);
		free((uint8_t *)p.whole);
	}
}

static void a_table_whose_records_overlap_is_refused(void **state)
{
	struct mad_packet p;

	(void)state;
	for (uint16_t step = 0; step < TABLE_STEP; step++) {
		table_answer(&p, 640, step);
		assert_int_equal(records(&p), -EPROTO);
		free((uint8_t *)p.whole);
	}
	table_answer(&p, 64, UINT16_MAX); /* nothing comes behind the one that there is */
	assert_int_equal(records(&p), 1);
	free((uint8_t *)p.whole);
	table_answer(&p, 0, 0); /* of no records OpenSM tells no size */
	assert_int_equal(records(&p), 0);
	free((uint8_t *)p.whole);
}

/* Version, type, flags: offsets 24 to 26. */
static void the_first_datagram_of_a_table_is_not_taken_for_it(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
	} others[] = {
		{ 24, 0 }, { 25, 0 }, { 25, 2 }, { 26, 0 }, { 26, 1 }, { 26, 2 }, { 26, 7 }
	};
	struct mad_packet p;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		table_answer(&p, 640, TABLE_STEP);
		assert_int_equal(records(&p), 10);
		p.data[others[i].at] = others[i].value;
		assert_int_equal(records(&p), -EPROTO);
		free((uint8_t *)p.whole);
	}
	table_answer(&p, 640, TABLE_STEP);
	p.whole_len = MAD_BYTES;
	assert_int_equal(records(&p), -EPROTO);
	free((uint8_t *)p.whole);
	p.whole = NULL;
	assert_int_equal(records(&p), -EPROTO);
}

static void any_bytes_for_a_table_are_read_inside_it_or_refused(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 5);
	for (int i = 0; i < 20000; i++) {
		size_t len = rng_below(&r, 500);
		uint8_t *whole = xcalloc(len, 1);
		struct mad_packet p = { .whole = whole, .whole_len = len };
		struct mad_answer a;
		struct sa_table t;

		random_bytes(&r, whole, len);
		memcpy(p.data, whole, len < MAD_BYTES ? len : MAD_BYTES);
		memcpy(p.data, "\1\3\2\x92", 4);
		if (rng_below(&r, 2))
			memcpy(p.data + 24, len > MAD_BYTES ? "\1\1\3" : "\1\1\7", 3);
		if (rng_below(&r, 2))
			p.data[44] = 0;
		assert_int_equal(mad_parse(&a, &p), 0);
		if (!sa_table_open(&t, &a, PATH_RECORD_BYTES) && t.n)
			assert_true(t.at + (t.n - 1) * t.step + PATH_RECORD_BYTES <= whole + len);
		free(whole);
	}
}

static void libibmad_finds_the_same_fields_in_a_notice(void **state)
{
#if WITH_UMAD
	struct notice n = sample();
	uint8_t d[NOTICE_SMP_DATA];

	(void)state;
	notice_encode(d, sizeof(d), &n);
	assert_int_equal(FIELD(d, IB_NOTICE_IS_GENERIC_F), 1);
	assert_int_equal(FIELD(d, IB_NOTICE_TYPE_F), n.type);
	assert_int_equal(FIELD(d, IB_NOTICE_PRODUCER_F), n.producer);
	assert_int_equal(FIELD(d, IB_NOTICE_TRAP_NUMBER_F), n.trap);
	assert_int_equal(FIELD(d, IB_NOTICE_ISSUER_LID_F), n.issuer_lid);
	assert_int_equal(FIELD(d, IB_NOTICE_TOGGLE_F), n.toggle);
	assert_int_equal(FIELD(d, IB_NOTICE_COUNT_F), n.count);
#else
	(void)state;
	skip();
#endif
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

static const struct notice_sender node = { .lid = 0x0107, .cap_mask = 0xa1b2c3d4 };

static void unpath_is_a_management_notice_with_twenty_bytes_of_ours(void **state)
{
	static const uint8_t ours[20] = { 1, 68, 0, 1, 0, 7, 0x01, 0x2c, 0,    0,
					  1, 2,	 0, 0, 0, 1, 0xde, 0xad, 0xbe, 0xef };
	struct phase_notice a = { .version = PHASE_NOTICE_VERSION,
				  .phase = PHASE_UNPATH,
				  .flags = NOTICE_ABORT,
				  .repeat = 7,
				  .hold_s = 300,
				  .seq = 0x0102,
				  .txn = 0x1deadbeef };
	static const uint8_t zero[34];
	struct phase_notice back;
	struct notice n;
	bool answer;

	(void)state;
	phase_codec_encode(&n, &a, false, &node);
	assert_int_equal(n.type, NOTICE_MANAGEMENT);
	assert_int_equal(n.producer, NOTICE_MANAGER);
	assert_int_equal(n.trap, 68);
	assert_int_equal(n.issuer_lid, node.lid);
	assert_memory_equal(n.details, zero, sizeof(zero));
	assert_memory_equal(n.details + 34, ours, sizeof(ours));
	assert_int_equal(phase_codec_decode(&back, &answer, &n), 0);
	assert_false(answer);
	expect_same(&back, &a);
}

/* The fields that keep OpenSM from sweeping: see its trap handling. */
static void an_answer_tells_the_port_s_own_capabilities(void **state)
{
	static const uint8_t local[14] = { 0,	 0,    0x01, 0x07, 0, 1, 0xa1,
					   0xb2, 0xc3, 0xd4, 0,	   1, 0, 0 };
	struct phase_notice a = { .version = PHASE_NOTICE_VERSION,
				  .phase = PHASE_REPATH,
				  .flags = NOTICE_FAILED,
				  .repeat = 0xfffe,
				  .seq = 70000,
				  .txn = 3 };
	struct phase_notice back;
	struct notice n;
	bool answer;

	(void)state;
	phase_codec_encode(&n, &a, true, &node);
	assert_int_equal(n.type, NOTICE_INFO);
	assert_int_equal(n.producer, NOTICE_CA);
	assert_int_equal(n.trap, 144);
	assert_memory_equal(n.details, local, sizeof(local));
	assert_int_equal(phase_codec_decode(&back, &answer, &n), 0);
	assert_true(answer);
	expect_same(&back, &a);
}

static void notices_of_others_are_not_taken_for_ours(void **state)
{
	struct phase_notice a = { .version = PHASE_NOTICE_VERSION,
				  .phase = PHASE_UNPATH,
				  .txn = 1 };
	struct phase_notice back;
	struct notice n, m;
	bool answer;

	(void)state;
	phase_codec_encode(&n, &a, false, &node);
	m = n;
	m.trap = NOTICE_LINK_STATE;
	assert_int_equal(phase_codec_decode(&back, &answer, &m), -ENOENT);
	m = n;
	m.details[34] = 0;
	assert_int_equal(phase_codec_decode(&back, &answer, &m), -ENOENT);
	m = n;
	m.details[34] = 2; /* a version to come */
	assert_int_equal(phase_codec_decode(&back, &answer, &m), -EPROTO);
	m = n;
	m.details[35] = NOTICE_REPATH; /* under trap 68 */
	assert_int_equal(phase_codec_decode(&back, &answer, &m), -EPROTO);
	m = n;
	memset(m.details + 46, 0, 8);
	assert_int_equal(phase_codec_decode(&back, &answer, &m), -EPROTO);
	m = n;
	m.trap = NOTICE_LOCAL_CHANGES;
	m.details[35] = 70;
	assert_int_equal(phase_codec_decode(&back, &answer, &m), -EPROTO);
}

static void any_message_survives_the_way_through_trap_and_report(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 4);
	for (int i = 0; i < 20000; i++) {
		struct phase_notice a = { .version = PHASE_NOTICE_VERSION,
					  .phase = rng_below(&r, 2) ? PHASE_UNPATH : PHASE_REPATH,
					  .flags = (uint16_t)rng_u64(&r),
					  .repeat = (uint16_t)rng_u64(&r),
					  .hold_s = (uint16_t)rng_u64(&r),
					  .seq = (uint32_t)rng_u64(&r),
					  .txn = 1 + rng_below(&r, UINT64_MAX) };
		bool sent = rng_below(&r, 2), answer;
		struct phase_notice back;
		struct notice n;
		struct mad_packet p;

		phase_codec_encode(&n, &a, sent, &node);
		trap_build(&p, 1, &n, 1);
		assert_int_equal(trap_read(&n, &p), 0);
		report_build(&p, 2, 0, 1, &n, 2);
		assert_int_equal(report_read(&n, &p), 0);
		assert_int_equal(phase_codec_decode(&back, &answer, &n), 0);
		assert_int_equal(answer, sent);
		expect_same(&back, &a);
	}
}

/* What decodes must encode to what decodes the same; the rest must only not crash. */
static void random_bytes_are_decoded_or_refused(void **state)
{
	uint32_t reports = 0, traps = 0, ours = 0;
	struct rng r;

	(void)state;
	rng_seed(&r, 8);
	for (int i = 0; i < 200000; i++) {
		struct inform_info ii, ii2;
		struct path_record pr, pr2;
		struct notice n, n2;
		struct phase_notice a;
		bool answer;
		struct mad_request req;
		struct mad_answer parsed;
		struct mad_packet p = { 0 };
		uint8_t d[NOTICE_SA_DATA];
		uint32_t tid;

		random_bytes(&r, p.data, sizeof(p.data));
		if (i % 4)
			memcpy(p.data, i % 2 ? "\1\3\2\6" : "\1\1\1\5", 4);
		if (i % 8)
			memcpy(p.data + 16, "\0\2", 2);
		mad_parse(&parsed, &p);
		mad_parse_request(&req, &tid, &p);
		if (!report_read(&n, &p)) {
			reports++;
			notice_encode(d, NOTICE_SA_DATA, &n);
			assert_int_equal(notice_decode(&n2, d, NOTICE_SA_DATA), 0);
			assert_memory_equal(&n, &n2, sizeof(n));
			n.trap = 68 + (n.trap & 1);
			n.details[34] &= 3;
			n.details[35] = (uint8_t)n.trap;
			ours += !phase_codec_decode(&a, &answer, &n);
		}
		traps += !trap_read(&n, &p);
		if (!inform_info_decode(&ii, p.data + 64)) {
			inform_info_encode(d, &ii);
			assert_int_equal(inform_info_decode(&ii2, d), 0);
			assert_memory_equal(&ii, &ii2, sizeof(ii));
		}
		path_record_decode(&pr, p.data + 64);
		path_record_encode(d, &pr);
		path_record_decode(&pr2, d);
		assert_memory_equal(&pr, &pr2, sizeof(pr));
	}
	assert_true(reports > 1000 && traps > 1000 && ours > 1000);
}

static void half_a_notice_is_refused_without_reading_on(void **state)
{
	struct notice n;

	(void)state;
	for (size_t len = 0; len < NOTICE_SMP_DATA; len++) {
		uint8_t *d = xcalloc(len, 1);

		if (len)
			d[0] = 0x80;
		assert_int_equal(notice_decode(&n, d, len), -EPROTO);
		free(d);
	}
}

static void every_status_has_words(void **state)
{
	(void)state;
	for (uint32_t s = 0; s < 0x10000; s++)
		assert_true(strlen(sa_status_text((uint16_t)s)) > 3);
	assert_string_equal(sa_status_text(SA_REQ_INVALID), "it says that the request is invalid");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_subscription_has_the_layout_of_the_specification),
		cmocka_unit_test(a_service_record_has_the_layout_of_the_specification),
		cmocka_unit_test(flags_of_a_subscription_that_are_neither_yes_nor_no_are_refused),
		cmocka_unit_test(a_trap_has_the_layout_of_the_specification),
		cmocka_unit_test(a_report_carries_the_whole_notice_and_its_answer_the_same),
		cmocka_unit_test(a_path_record_has_the_layout_of_the_specification),
		cmocka_unit_test(a_table_has_its_records_to_the_last_whole_one),
		cmocka_unit_test(a_table_whose_records_overlap_is_refused),
		cmocka_unit_test(the_first_datagram_of_a_table_is_not_taken_for_it),
		cmocka_unit_test(any_bytes_for_a_table_are_read_inside_it_or_refused),
		cmocka_unit_test(libibmad_finds_the_same_fields_in_a_notice),
		cmocka_unit_test(unpath_is_a_management_notice_with_twenty_bytes_of_ours),
		cmocka_unit_test(an_answer_tells_the_port_s_own_capabilities),
		cmocka_unit_test(notices_of_others_are_not_taken_for_ours),
		cmocka_unit_test(any_message_survives_the_way_through_trap_and_report),
		cmocka_unit_test(random_bytes_are_decoded_or_refused),
		cmocka_unit_test(half_a_notice_is_refused_without_reading_on),
		cmocka_unit_test(every_status_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
