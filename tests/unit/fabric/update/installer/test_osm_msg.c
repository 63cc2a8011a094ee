/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/osm_msg.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_header_comes_back_as_it_was_put(void **state)
{
	struct osm_msg in = { OSM_MSG_LOAD, 0x8001, 0xdeadbeef, OSM_MSG_LARGE }, out;
	uint8_t head[OSM_MSG_HEAD];

	(void)state;
	osm_msg_put(head, &in);
	assert_int_equal(osm_msg_get(&out, head, NULL), 0);
	assert_int_equal(out.type, in.type);
	assert_int_equal(out.flags, in.flags);
	assert_int_equal(out.id, in.id);
	assert_int_equal(out.len, in.len);
}

static void headers_of_others_are_refused_with_a_sentence(void **state)
{
	struct osm_msg in = { OSM_MSG_STATUS, 0, 1, 0 }, out;
	uint8_t head[OSM_MSG_HEAD];
	struct err err = { "" };

	(void)state;
	osm_msg_put(head, &in);
	head[0] = 'G';
	assert_int_equal(osm_msg_get(&out, head, &err), -EPROTO);
	osm_msg_put(head, &in);
	head[4]++;
	assert_int_equal(osm_msg_get(&out, head, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "version 3"));
}

static void each_type_has_its_longest_body(void **state)
{
	struct osm_msg in = { OSM_MSG_POLICY, 0, 1, OSM_MSG_SMALL + 1 }, out;
	uint8_t head[OSM_MSG_HEAD];

	(void)state;
	osm_msg_put(head, &in);
	assert_int_equal(osm_msg_get(&out, head, NULL), -EMSGSIZE);
	in.type = OSM_MSG_LOAD;
	osm_msg_put(head, &in);
	assert_int_equal(osm_msg_get(&out, head, NULL), 0);
	in.len = OSM_MSG_LARGE + 1;
	osm_msg_put(head, &in);
	assert_int_equal(osm_msg_get(&out, head, NULL), -EMSGSIZE);
}

static void a_status_comes_back_as_it_was(void **state)
{
	struct osm_status in, out;
	char *body;

	(void)state;
	/* every field with something of its own; texts end where they are full */
	memset(&in, 0, sizeof(in));
	strcpy(in.plugin, "0.1");
	strcpy(in.opensm, "OpenSM 3.3.23");
	strcpy(in.state, "master");
	in.sm_guid = 0xfedcba9876543210;
	in.priority = 15;
	in.lid = 0xbfff;
	in.lmc = 7;
	in.busy = in.qos = in.ours = in.step = in.policy_unsaved = true;
	memset(in.why, 'w', sizeof(in.why) - 1);
	strcpy(in.routes, "ibroute");
	strcpy(in.policy, "/a \"quoted\" \\name");
	memset(in.tables, 'a', sizeof(in.tables) - 1);
	in.seed = UINT64_MAX;
	in.routings = 1;
	in.clients = UINT64_MAX - 1;
	body = osm_status_encode(&in);
	assert_int_equal(osm_status_decode(&out, body, strlen(body), NULL), 0);
	assert_memory_equal(&in, &out, sizeof(in));
	free(body);
}

static void names_that_are_no_utf8_do_not_break_a_status(void **state)
{
	struct osm_status in = { 0 }, out;
	char *body;

	(void)state;
	strcpy(in.policy, "/etc/\xff\xfe");
	body = osm_status_encode(&in);
	assert_non_null(body);
	assert_int_equal(osm_status_decode(&out, body, strlen(body), NULL), 0);
	assert_string_equal(out.policy, "/etc/??");
	free(body);
}

static void an_answer_comes_back_as_it_was(void **state)
{
	struct osm_answer in = { .rc = -EBUSY, .ours = true }, out;
	char *body;

	(void)state;
	memset(in.text, 't', sizeof(in.text) - 1);
	strcpy(in.source, OSM_SOURCE_CONFIRMED);
	body = osm_answer_encode(&in);
	assert_int_equal(osm_answer_decode(&out, body, strlen(body), NULL), 0);
	assert_memory_equal(&in, &out, sizeof(in));
	free(body);
}

static void bodies_of_other_kinds_are_refused(void **state)
{
	static const char *const bad[] = { "",
					   "[]",
					   "{",
					   "{\"rc\":\"0\"}",
					   "{\"ours\":1}",
					   "{\"text\":null}",
					   "{\"rc\":1,\"rc\":2}",
					   "\xff" };
	struct osm_answer out;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(osm_answer_decode(&out, bad[i], strlen(bad[i]), &err), -EPROTO);
	assert_int_equal(osm_answer_decode(&out, "{\"newer\":[1]}", 13, NULL), 0);
	assert_int_equal(out.rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_comes_back_as_it_was_put),
		cmocka_unit_test(headers_of_others_are_refused_with_a_sentence),
		cmocka_unit_test(each_type_has_its_longest_body),
		cmocka_unit_test(a_status_comes_back_as_it_was),
		cmocka_unit_test(names_that_are_no_utf8_do_not_break_a_status),
		cmocka_unit_test(an_answer_comes_back_as_it_was),
		cmocka_unit_test(bodies_of_other_kinds_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
