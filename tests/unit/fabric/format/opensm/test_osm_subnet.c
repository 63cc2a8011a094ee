/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_subnet.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int write_subnet(FILE *out, const struct fabric *f, const struct tables *t, struct err *err)
{
	(void)t;
	return osm_subnet_write(out, f, err);
}

static struct fabric *read_fabric(FILE *in, const char *path, int lmc, struct read_report *report)
{
	struct builder *b = builder_new();
	struct freeze_opts opts = { .lmc = lmc };
	struct fabric *f = NULL;
	struct err err = { "" };

	if (osm_subnet_read(b, in, path, report, &err) || builder_freeze(&f, b, &opts, &err))
		fail_msg("%s", err.text);
	builder_free(b);
	return f;
}

static struct fabric *read_text(const char *text, int lmc, struct read_report *report)
{
	FILE *in = text_file(text, strlen(text));
	struct fabric *f = read_fabric(in, "subnet.lst", lmc, report);

	fclose(in);
	return f;
}

static void a_written_fabric_comes_back_with_the_same_fingerprint(void **state)
{
	(void)state;
	for (int lmc = 0; lmc <= 2; lmc++) {
		struct net_opts opts = { .lmc = lmc, .random_lids = 3 };
		struct fabric *f = net_random(3, 7, 12, 3, &opts), *back;
		struct read_report report;
		char *text = text_of(write_subnet, f, NULL), *again;

		back = read_text(text, lmc, &report);
		assert_int_equal(report.warnings, 0);
		assert_int_equal(report.records, f->nchan + 2 * f->nend);
		assert_true(back->lids_given);
		assert_true(digest_equal(&f->fingerprint, &back->fingerprint));
		again = text_of(write_subnet, back, NULL);
		assert_string_equal(text, again);
		free(text);
		free(again);
		fabric_put(back);
		fabric_put(f);
	}
}

#define SW(n, lid, pn)                                                                             \
	"{ SW Ports:18 SystemGUID:00000000000000a" n " NodeGUID:00000000000000a" n                 \
	" PortGUID:00000000000000a" n " VenID:000002C9 DevID:B9240000 Rev:000000A0 {sw {" n        \
	"} x} LID:" lid " PN:" pn " }"
#define CA(n, lid, pn)                                                                             \
	"{ CA-SM Ports:02 SystemGUID:00000000000000c3 NodeGUID:00000000000000c0"                   \
	" PortGUID:00000000000000c" n " VenID:000002C9 DevID:5A440000 Rev:000000A1 {host7 HCA-1 "  \
	"(Topspin # HCA)} LID:" lid " PN:" pn " }"

/* clang-format off */
static const char list[] =
	"\xef\xbb\xbf$ cat opensm-subnet.lst\r\n"
	SW("1", "0005", "18") " " SW("2", "0006", "01") " PHY=4x LOG=ACT SPD=10\r\n"
	SW("1", "0005", "02") " " CA("1", "0007", "01") " PHY=4x LOG=INI SPD=FDR10\r\n"
	CA("2", "0008", "02") " " SW("2", "0006", "03") " PHY=1x LOG=ARM\r\n"
	SW("1", "0005", "04") " " SW("2", "0006", "04") " PHY=4x LOG=DWN SPD=10\r\n"
	SW("1", "0005", "02") " " SW("2", "0006", "07") " PHY=4x LOG=ACT SPD=10\r\n"
	SW("1", "0005", "03") " { SW Ports:18\r\n"
	SW("2", "0006", "01") " " SW("1", "0005", "18") " PHY=4x LOG=ACT SPD=10\r\n";
/* clang-format on */

static void names_speeds_states_and_two_ports_of_one_adapter_are_understood(void **state)
{
	struct read_report report;
	struct fabric *f = read_text(list, -1, &report);

	(void)state;
	assert_int_equal(f->nsw, 2);
	assert_int_equal(f->nterm, 2);
	assert_int_equal(f->nchan, 2);
	assert_int_equal(f->sw_nports[0], 0x18);
	assert_string_equal(f->sw_desc[0], "sw {1} x");
	assert_string_equal(f->term_desc[1], "host7 HCA-1 (Topspin # HCA)");
	assert_int_equal(f->term_node_guid[0], f->term_node_guid[1]);
	assert_int_equal(f->term_sw[0], 0);
	assert_int_equal(f->term_sw[1], 1);
	assert_int_equal(f->term_lid[1], 8);
	assert_int_equal(fabric_port(f, 0, 0x18)->rate_Mbps, 32000);
	assert_int_equal(fabric_port(f, 0, 2)->rate_Mbps, 40000);
	assert_int_equal(fabric_port(f, 0, 2)->state, PORT_INIT);
	assert_int_equal(fabric_port(f, 1, 3)->state, PORT_ARMED);
	assert_int_equal(report.skipped,
			 3); /* the prompt, the second peer of a port, the half line */
	assert_int_equal(report.notes[0].line, 1);
	fabric_put(f);
}

static void a_file_of_another_kind_is_refused(void **state)
{
	struct builder *b = builder_new();
	FILE *in = text_file("Switch 36 \"S-1\"\n", 16);
	struct err err;

	(void)state;
	assert_int_equal(osm_subnet_read(b, in, "x.lst", NULL, &err), -EINVAL);
	assert_string_equal(err.text, "x.lst: not an opensm-subnet.lst: no link in it");
	fclose(in);
	builder_free(b);
}

static int try_read(FILE *in, void *ctx)
{
	struct builder *b = builder_new();
	struct freeze_opts opts = { .lmc = -1 };
	struct read_report report;
	struct fabric *f = NULL;
	struct err err = { "" };
	int rc = osm_subnet_read(b, in, "damaged", &report, &err);

	(void)ctx;
	if (!rc)
		rc = builder_freeze(&f, b, &opts, &err);
	assert_true(!rc || err.text[0]);
	fabric_put(f);
	builder_free(b);
	return rc;
}

/* Its first lines may be a whole list, of a host and a port of its switch. */
static void a_list_that_was_cut_off_has_gaps(void **state)
{
	struct fabric *f = net_tree(2, 2, 2, NULL);
	char *text = text_of(write_subnet, f, NULL);
	uint32_t taken = 0, parts = 0;

	(void)state;
	for (size_t n = 1; n < strlen(text); n++) {
		struct builder *b = builder_new();
		struct freeze_opts opts = { .lmc = -1 };
		FILE *in = text_file(text, n);
		struct fabric *part = NULL;
		struct read_report report;
		struct err err = { "" };
		int rc = osm_subnet_read(b, in, "cut", &report, &err);

		if (!rc && !builder_freeze(&part, b, &opts, &err) && !report.gaps)
			taken += part->nsw != f->nsw || part->nend != f->nend ||
				 part->nchan != f->nchan;
		parts += !rc && report.gaps;
		assert_true(!rc || strstr(err.text, "cut") != NULL);
		fabric_put(part);
		fclose(in);
		builder_free(b);
	}
	assert_true(taken <= 1);
	assert_true(parts > strlen(text) / 2);
	free(text);
	fabric_put(f);
}

/* The first gap is that of the first line, whatever the order of GUIDs. */
static void a_node_without_a_line_of_its_own_is_a_gap_with_its_line(void **state)
{
	struct fabric *f = net_tree(2, 2, 2, NULL);
	char *text = text_of(write_subnet, f, NULL), *end = text;
	struct builder *b = builder_new();
	struct read_report report;
	struct err err = { "" };
	FILE *in;

	(void)state;
	for (int i = 0; i < 3; i++)
		end = strchr(end, '\n') + 1;
	in = text_file(text, (size_t)(end - text));
	assert_int_equal(osm_subnet_read(b, in, "cut", &report, &err), 0);
	assert_true(report.gaps >= 1);
	assert_non_null(strstr(report.notes[0].text, "has no line of its own"));
	for (uint32_t i = 1; i < report.nnotes; i++)
		assert_true(report.notes[i - 1].line <= report.notes[i].line);
	fclose(in);
	builder_free(b);
	free(text);
	fabric_put(f);
}

static void damaged_lists_do_no_harm(void **state)
{
	struct fabric *f = net_tree(2, 2, 2, NULL);
	char *text = text_of(write_subnet, f, NULL);
	struct survived s = damage(text, strlen(text), 41, 2500, try_read, NULL);

	(void)state;
	assert_true(s.accepted > 100);
	assert_true(s.refused > 0);
	free(text);
	fabric_put(f);
}

static void the_fabric_of_ibutils_loads_with_its_forwarding_tables(void **state)
{
	char *lst = shared_file("ibutils-62sw.subnet.lst"), *fdbs;
	struct read_report report;
	struct tables *t = NULL;
	struct fabric *f;
	struct err err = { "" };
	FILE *in;

	(void)state;
	if (!lst)
		skip();
	fdbs = shared_file("ibutils-62sw.osm.fdbs");
	assert_non_null(fdbs);
	in = fopen(lst, "r");
	assert_non_null(in);
	f = read_fabric(in, lst, -1, &report);
	fclose(in);
	assert_int_equal(report.skipped, 0);
	assert_int_equal(f->nsw, 62);
	assert_true(f->lids_given);
	in = fopen(fdbs, "r");
	assert_non_null(in);
	assert_int_equal(osm_fdbs_read(&t, in, fdbs, f, &report, &err), 0);
	fclose(in);
	assert_int_equal(report.skipped, 0);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t term = 0; term < f->nterm; term++)
			assert_int_not_equal(tables_row(t, sw)[f->term_lid[term]], FAB_NO_PORT);
	tables_put(t);
	fabric_put(f);
	free(lst);
	free(fdbs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_written_fabric_comes_back_with_the_same_fingerprint),
		cmocka_unit_test(names_speeds_states_and_two_ports_of_one_adapter_are_understood),
		cmocka_unit_test(a_file_of_another_kind_is_refused),
		cmocka_unit_test(a_list_that_was_cut_off_has_gaps),
		cmocka_unit_test(a_node_without_a_line_of_its_own_is_a_gap_with_its_line),
		cmocka_unit_test(damaged_lists_do_no_harm),
		cmocka_unit_test(the_fabric_of_ibutils_loads_with_its_forwarding_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
