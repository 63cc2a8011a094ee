/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Multicast tables as OpenSM dumps them and as dump_fts -M prints them are the same. */
#include "fabric/format/opensm/mft_text.h"

#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"

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
static struct mcast m;
static struct read_report report;
static struct err why;
static char text[4000];

static int setup(void **state)
{
	(void)state;
	f = net_tree(2, 2, 9, NULL); /* leaves have 11 ports */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fabric_put(f);
	return 0;
}

static int read_text(size_t len)
{
	FILE *in = text_file(text, len);
	int rc;

	why.text[0] = '\0';
	rc = mft_text_read(&m, in, "mfts", f, &report, &why);
	fclose(in);
	return rc;
}

static void is_entry(size_t i, unsigned mlid, uint32_t sw, unsigned port)
{
	assert_true(i < m.n);
	assert_int_equal(m.v[i].mlid, mlid);
	assert_int_equal(m.v[i].sw, sw);
	assert_int_equal(m.v[i].port, port);
}

/* The table of switch 0 that all tests write in one way or the other. */
static void is_table(void)
{
	assert_int_equal(m.n, 4);
	is_entry(0, 0xc000, 0, 1);
	is_entry(1, 0xc000, 0, 10);
	is_entry(2, 0xc000, 0, 11);
	is_entry(3, 0xc02f, 0, 0);
}

#define ROWS "LID    : Out Port(s)\n0xC000 : 0x001  0x00A  0x00B \n0xC02F : 0x000 \n"

static void what_opensm_dumps_is_read(void **state)
{
	(void)state;
	snprintf(text, sizeof(text), "\nSwitch 0x%016" PRIx64 "\n" ROWS, f->sw_guid[0]);
	assert_int_equal(read_text(strlen(text)), 0);
	assert_int_equal(report.warnings, 0);
	is_table();
	mcast_end(&m);
}

static void what_dump_fts_prints_is_read(void **state)
{
	(void)state;
	snprintf(text, sizeof(text),
		 "Multicast mlids [0xc000-0xc3ff] of switch DR path slid 0; dlid 0; 0,1 guid "
		 "0x%016" PRIx64 " (leaf guid 0x1):\n"
		 "            0                   1   \n"
		 "     Ports: 0 1 2 3 4 5 6 7 8 9 0 1 \n"
		 " MLid\n"
		 "0xc000        x                 x x \n"
		 "0xc001                              \n"
		 "0xc02f      x                       \n"
		 "3 mlids dumped \n\n"
		 "*** WARNING ***: this command has been replaced by dump_fts -M\n",
		 f->sw_guid[0]);
	assert_int_equal(read_text(strlen(text)), 0);
	assert_int_equal(report.warnings, 0);
	is_table();
	mcast_end(&m);
}

static void rows_that_hold_something_else_are_skipped(void **state)
{
	(void)state;
	snprintf(text, sizeof(text),
		 "Switch 0x%016" PRIx64 "\n" ROWS "0xBFFF : 0x001\n0xFFFF : 0x001\n0xC001 : x\n"
		 "0xC001 : 0x0FF\n0xC001 0x001\nhello\nSwitch 0xdead\n0xC001 : 0x001\n",
		 f->sw_guid[0]);
	assert_int_equal(read_text(strlen(text)), 0);
	assert_int_equal(report.skipped, 7);
	assert_string_equal(report.notes[6].text,
			    "switch 0x000000000000dead is not in the fabric; its table is ignored");
	assert_int_equal(report.notes[6].line, 11);
	is_table();
	mcast_end(&m);
}

static void refused(int rc, const char *says)
{
	assert_int_equal(read_text(strlen(text)), rc);
	if (!strstr(why.text, says))
		fail_msg("%s", why.text);
	mcast_end(&m);
}

static void a_part_of_a_dump_is_refused(void **state)
{
	(void)state;
	snprintf(text, sizeof(text), "Switch 0x%016" PRIx64 "\n" ROWS "0xC030 : 0x00",
		 f->sw_guid[0]);
	refused(-ENODATA, "mfts:5: the file ends in the middle of this line");
	snprintf(text, sizeof(text),
		 "Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x%016" PRIx64
		 " (x):\n MLid\n"
		 "0xc000        x                 x x \n",
		 f->sw_guid[0]);
	refused(-ENODATA, "mfts:3: the file ends in the middle of a switch's table");
	snprintf(text, sizeof(text), "Switch 0xdead\n" ROWS);
	refused(-EINVAL, "none of its switches is in the fabric");
	snprintf(text, sizeof(text), "hello\n");
	refused(-EINVAL, "not a dump of multicast tables");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_opensm_dumps_is_read),
		cmocka_unit_test(what_dump_fts_prints_is_read),
		cmocka_unit_test(rows_that_hold_something_else_are_skipped),
		cmocka_unit_test(a_part_of_a_dump_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
