/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partitions.conf is taken as OpenSM takes it; whose hosts may talk follows from it. */
#include "fabric/format/opensm/partitions_conf.h"

#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct fabric *f;
static struct partitions p;
static struct err why;

static int setup(void **state)
{
	(void)state;
	f = net_tree(2, 1, 2, NULL); /* hosts 0 to 3 */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fabric_put(f);
	return 0;
}

/* %s in text: the GUIDs of hosts' ports 0, 1, ... in turn. */
static int read_text(const char *text)
{
	char full[2000], *to = full, *end = full + sizeof(full);
	uint32_t t = 0;
	struct read_report report;
	FILE *in;
	int rc;

	for (; *text; text++)
		if (*text == '%')
			to += snprintf(to, (size_t)(end - to), "0x%016" PRIx64, f->term_guid[t++]);
		else
			*to++ = *text;
	in = text_file(full, (size_t)(to - full));
	partitions_begin(&p, f);
	why.text[0] = '\0';
	rc = partitions_conf_read(&p, in, "partitions.conf", f, &report, &why);
	fclose(in);
	return rc;
}

/* Memberships of hosts 0 to 3: "-" none, "l" limited, "F" full. */
static void is_row(uint32_t i, const char *members)
{
	char row[5] = "";

	assert_true(i < p.n);
	for (uint32_t t = 0; t < 4; t++)
		row[t] = "-lF"[partitions_row(&p, i)[t]];
	assert_string_equal(row, members);
}

static void members_are_those_of_opensm(void **state)
{
	(void)state;
	assert_int_equal(read_text("# a comment\n"
				   "Default=0x7fff , ipoib : ALL=full, SELF ;\n"
				   "a=0x8002 : %=full, %=limi,\n"
				   "\t% ; 3,defmember=full: ALL_CAS;"
				   "b : ALL_SWITCHES=full, NONE\n;\n"
				   "a=0x2 : ALL_CAS=f;  b: mgid=ff12::1,sl=1,ALL=full\n%=both;\n"),
			 0);
	assert_int_equal(p.n, 4);
	is_row(0, "FFFF");
	is_row(1, "FFFF"); /* 0x8002 and 0x2 are one, and the later word holds */
	is_row(2, "FFFF");
	is_row(3, "---F"); /* what stands behind a group in its line is the group's */
	partitions_end(&p);
}

static void without_a_rule_all_are_limited_members_of_the_default(void **state)
{
	(void)state;
	assert_int_equal(read_text("a=2 : %=full, %;\n"), 0);
	assert_int_equal(p.n, 2);
	is_row(0, "llll");
	is_row(1, "Fl--");
	partitions_end(&p);
	assert_int_equal(read_text("# nothing\n"), 0); /* as without the file */
	is_row(0, "FFFF");
	partitions_end(&p);
}

static void a_file_that_opensm_would_leave_aside_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "a=2 : ALL;\nb=3 ALL\n", "partitions.conf:2: no partition is defined here" },
		{ "a=zz : ALL;\n", "partitions.conf:1: not a P_Key: zz" },
		{ "a=2 : ALL,\nhost1;\n", "partitions.conf:2: not the GUID of a port: host1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(read_text(bad[i].text), -EINVAL);
		if (!strstr(why.text, bad[i].says))
			fail_msg("%s", why.text);
		partitions_end(&p);
	}
}

static bool split(uint32_t pair[2], const uint32_t *terms, uint32_t n)
{
	struct job job = { .terms = terms, .nterm = n };

	return partitions_split(pair, &p, f, &job);
}

static void hosts_talk_where_one_of_both_is_a_full_member(void **state)
{
	static const uint32_t all[] = { 0, 1, 2, 3 }, front[] = { 0, 1 }, back[] = { 1, 2 };
	uint32_t pair[2];

	(void)state;
	assert_int_equal(read_text("a=2 : %=full, %, %;\n"), 0);
	assert_false(split(pair, front, 2)); /* full and limited */
	assert_true(split(pair, back, 2));   /* limited members only */
	assert_int_equal(pair[0] + pair[1], 3);
	assert_true(split(pair, all, 4)); /* 3 is in the default partition only */
	assert_false(split(pair, all, 1));
	assert_false(split(pair, all, 0));
	partitions_end(&p);
	assert_int_equal(read_text("Default=0x7fff : ALL=full;\n"), 0);
	assert_false(split(pair, all, 4));
	partitions_end(&p);
}

static void ports_of_one_host_count_together(void **state)
{
	static const uint32_t all[] = { 0, 1, 2 };
	uint32_t pair[2];

	(void)state;
	f->term_sys_guid[0] = f->term_sys_guid[1] = 0x77;
	assert_int_equal(read_text("a=2 : %, %=full, %;\n"), 0);
	assert_false(split(pair, all, 3)); /* 2 reaches the host by its port 1 */
	partitions_end(&p);
}

static void bytes_of_another_fabric_are_refused(void **state)
{
	bytes_out bytes = { 0 };
	struct partitions got;
	struct bytes_in in;

	(void)state;
	assert_int_equal(read_text("a=2 : %=full, %;\n"), 0);
	partitions_put(&bytes, &p);
	for (int cut = 0; cut < 3; cut++) {
		partitions_begin(&got, f);
		in = (struct bytes_in){ .at = bytes.v, .left = bytes.n - (cut == 1) };
		if (cut == 2)
			bytes.v[bytes.n - 1] = MEMBER_FULL + 1;
		assert_int_equal(partitions_take(&got, &in), cut ? -EPROTO : 0);
		if (!cut)
			assert_memory_equal(got.member, p.member, 2u * f->nterm);
		partitions_end(&got);
	}
	vec_free(&bytes);
	partitions_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_those_of_opensm),
		cmocka_unit_test(without_a_rule_all_are_limited_members_of_the_default),
		cmocka_unit_test(a_file_that_opensm_would_leave_aside_is_refused),
		cmocka_unit_test(hosts_talk_where_one_of_both_is_a_full_member),
		cmocka_unit_test(bytes_of_another_fabric_are_refused),
		cmocka_unit_test(ports_of_one_host_count_together),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
