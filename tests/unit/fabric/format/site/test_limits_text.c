/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/limits_text.h"

#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_reads_as(const struct fabric *f, const char *text, const char *as)
{
	struct route_limits *l = NULL, *again = NULL;
	struct err err = { "" };
	char *back;

	if (route_limits_exclude(&l, f, text, &err))
		fail_msg("%s: %s", text, err.text);
	back = route_limits_exclude_text(l, f);
	assert_string_equal(back, as);
	assert_string_equal(l->exclude_text, as);
	assert_int_equal(route_limits_excludes(l), *as != '\0');
	assert_int_equal(route_limits_exclude(&again, f, back, &err), 0);
	assert_int_equal(!l->exclude_sw, !again->exclude_sw);
	assert_int_equal(!l->exclude_chan, !again->exclude_chan);
	if (l->exclude_sw)
		assert_memory_equal(l->exclude_sw, again->exclude_sw, f->nsw);
	if (l->exclude_chan)
		assert_memory_equal(l->exclude_chan, again->exclude_chan, f->nchan);
	free(back);
	route_limits_free(l);
	route_limits_free(again);
}

static void assert_refused(const struct fabric *f, const char *text, const char *a, const char *b)
{
	struct route_limits *l = NULL;
	struct err err = { "" };

	assert_int_equal(route_limits_exclude(&l, f, text, &err), -EINVAL);
	if (!strstr(err.text, a) || !strstr(err.text, b))
		fail_msg("%s: %s", text, err.text);
	route_limits_free(l);
}

/* The generators' names: leaf0001 .., spine0001 .., n00001 .. */
static void switches_and_cables_are_read_by_name_guid_and_list(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=4,hosts=2");
	uint32_t c = f->chan_off[0];
	char text[300], as[160];

	(void)state;
	assert_reads_as(f, "", "");
	assert_reads_as(f, " , ", "");
	assert_reads_as(f, f->sw_name[2], f->sw_name[2]);
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)f->sw_guid[3]);
	assert_reads_as(f, text, f->sw_name[3]);
	snprintf(as, sizeof(as), "%s/%u", f->sw_name[0], f->chan_port[c]);
	assert_reads_as(f, as, as);
	/* from its other end, and as a GUID */
	snprintf(text, sizeof(text), "%s/%u  0x%llx/%u", f->sw_name[f->chan_dst[c]],
		 f->chan_rport[c], (unsigned long long)f->sw_guid[0], f->chan_port[c]);
	assert_reads_as(f, text, as);
	snprintf(text, sizeof(text), "%s,%s %s", f->sw_name[1], f->sw_name[1], as);
	snprintf(text + strlen(text), 100, ",\"%s\"", f->sw_name[1]);
	snprintf(as, sizeof(as), "%s,%s/%u", f->sw_name[1], f->sw_name[0], f->chan_port[c]);
	assert_reads_as(f, text, as);
	fabric_put(f);
}

static void lists_in_brackets_are_switches_and_come_back_as_such(void **state)
{
	struct fabric *f = net_ring(12, 1, NULL);

	(void)state;
	assert_reads_as(f, "S[2-4],S7 S[9,11]", "S[2-4,7,9,11]");
	assert_reads_as(f, "S3,S2,S[2-3]", "S[2-3]");
	fabric_put(f);
}

static void what_cannot_be_excluded_is_named(void **state)
{
	struct fabric *f = net_ring(5, 1, NULL);
	char host_port[64];

	(void)state;
	assert_refused(f, "S9", "\"S9\"", "no switch");
	assert_refused(f, "S1,S[3-6]", "\"S5\"", "no switch");
	assert_refused(f, f->term_name[0], f->term_name[0], "is a host");
	assert_refused(f, "S1/77", "S1/77", "no cable");
	assert_refused(f, "S1/300", "\"300\"", "ports 1 to");
	assert_refused(f, "S1/0", "\"0\"", "ports 1 to");
	assert_refused(f, "S1/x", "\"x\"", "ports 1 to");
	assert_refused(f, "\"S1", "S1", "quote is not closed");
	assert_refused(f, "S[1", "S[1", "bracket is not closed");
	assert_refused(f, "S[x]", "S[x]", "exclude");
	assert_refused(f, "0xdeadbeefdead", "0xdeadbeefdead", "no switch");
	snprintf(host_port, sizeof(host_port), "%s/%u", f->sw_name[f->term_sw[0]], f->term_port[0]);
	assert_refused(f, host_port, host_port, f->term_name[0]);
	fabric_put(f);
}

static void a_switch_without_a_name_of_its_own_is_read_by_guid(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL);
	char *name = f->sw_name[2], text[200], guid[32];

	(void)state;
	f->sw_name[2] = f->sw_short[2] = f->sw_name[1];
	snprintf(guid, sizeof(guid), "0x%016llx", (unsigned long long)f->sw_guid[1]);
	assert_refused(f, "S1", "2 switches are called", guid);
	assert_reads_as(f, guid, guid);
	f->sw_name[2] = f->sw_short[2] = (char[]){ "Quantum core, rack 7" };
	snprintf(text, sizeof(text), "\"%s\" S0", f->sw_name[2]);
	assert_reads_as(f, text, "S0,\"Quantum core, rack 7\"");
	f->sw_name[2] = f->sw_short[2] = (char[]){ "MF0/L02/U1" };
	snprintf(guid, sizeof(guid), "0x%016llx", (unsigned long long)f->sw_guid[2]);
	assert_reads_as(f, f->sw_name[2], guid);
	snprintf(text, sizeof(text), "MF0/L02/U1/%u", f->chan_port[f->chan_off[2]]);
	assert_refused(f, "MF0/L02/U2/1", "MF0/L02/U2/1", "no switch");
	snprintf(guid, sizeof(guid), "S1/%u", f->chan_rport[f->chan_off[2]]);
	assert_reads_as(f, text, guid);
	f->sw_name[2] = f->sw_short[2] = name;
	fabric_put(f);
}

/* Labels of the picture have ten columns at most. */
static void a_name_without_its_middle_that_suits_several_is_refused_with_them(void **state)
{
	static const char *const names[] = { "A1-leaf-01", "A1-spine-01", "A1-core-01" };
	struct fabric *f = net_ring(4, 1, NULL);
	char *kept[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		kept[i] = f->sw_name[i];
		f->sw_name[i] = f->sw_short[i] = (char *)names[i];
	}
	assert_refused(f, "A1..01", "\"A1..01\" may be A1-", ", A1-");
	assert_refused(f, "A1..01", "A1-leaf-01, A1-spine-01", " or 1 more");
	assert_refused(f, "A1..x-01", "no switch", "A1..x-01\"; give spine[1-4], 0xGUID");
	assert_refused(f, "S3,A1..01/1", "A1-leaf-01", "A1-spine-01");
	assert_reads_as(f, "A1-..f-01", "A1-leaf-01");
	f->sw_name[2] = f->sw_short[2] = kept[2];
	assert_refused(f, "A1..01", "\"A1..01\" may be A1-leaf-01 or A1-spine-01", "");
	f->sw_name[1] = f->sw_short[1] = kept[1];
	assert_reads_as(f, "A1..01", "A1-leaf-01");
	f->sw_name[0] = f->sw_short[0] = kept[0];
	fabric_put(f);
}

/* At 80 columns the console cut it behind "or". */
static void that_no_switch_has_a_name_fits_into_a_line(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL);
	struct route_limits *l = NULL;
	struct err err;

	(void)state;
	assert_int_equal(route_limits_exclude(&l, f, "A09-P1-IBLEAF-01-02", &err), -EINVAL);
	assert_true(strlen(err.text) < 80);
	assert_non_null(strstr(err.text, "PORT"));
	route_limits_free(l);
	fabric_put(f);
}

/* What is shown of a switch stands for it, too. */
static void a_switch_is_read_by_its_short_name(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL);
	char *name = f->sw_name[2];

	(void)state;
	f->sw_name[2] = (char[]){ "MF0;ib[5]:SX6036/U1" };
	f->sw_short[2] = (char[]){ "ib5" };
	assert_reads_as(f, "ib5", "ib5");
	assert_reads_as(f, "S0,ib5", "S0,ib5");
	f->sw_name[2] = (char[]){ "Voltaire 4036 # 4036-8BBA" };
	f->sw_short[2] = (char[]){ "4036-8BBA" };
	assert_reads_as(f, "\"Voltaire 4036 # 4036-8BBA\"", "4036-8BBA");
	f->sw_name[2] = (char[]){ "MF0;sw1:MSX6536/L15/U1" };
	f->sw_short[2] = (char[]){ "L15/U1" };
	assert_reads_as(f, "L15/U1", "0x0000000000002020");
	f->sw_name[2] = f->sw_short[2] = (char[]){ "A09-P1-IBLEAF-01-02" };
	assert_reads_as(f, "A09-P1-..F-01-02", "A09-P1-IBLEAF-01-02");
	assert_refused(f, "A09-P1-..F-01-03", "no switch", "A09-P1-..F-01-03");
	f->sw_name[2] = f->sw_short[2] = name;
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches_and_cables_are_read_by_name_guid_and_list),
		cmocka_unit_test(lists_in_brackets_are_switches_and_come_back_as_such),
		cmocka_unit_test(what_cannot_be_excluded_is_named),
		cmocka_unit_test(a_switch_without_a_name_of_its_own_is_read_by_guid),
		cmocka_unit_test(a_switch_is_read_by_its_short_name),
		cmocka_unit_test(a_name_without_its_middle_that_suits_several_is_refused_with_them),
		cmocka_unit_test(that_no_switch_has_a_name_fits_into_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
