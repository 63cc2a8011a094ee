/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/format/opensm/osm_fdbs.h"
#include "fabric/format/opensm/osm_lfts.h"
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

typedef int (*read_fn)(struct tables **, FILE *, const char *, const struct fabric *,
		       struct read_report *, struct err *);

static const struct form {
	read_fn read;
	write_fn write;
} forms[] = { { osm_lfts_read, osm_lfts_write }, { osm_fdbs_read, osm_fdbs_write } };

#define FORMS (sizeof(forms) / sizeof(*forms))

static int read_text(struct tables **t, read_fn fn, const char *text, const struct fabric *f,
		     struct read_report *report, struct err *err)
{
	FILE *in = text_file(text, strlen(text));
	int rc = fn(t, in, "x.dump", f, report, err);

	fclose(in);
	return rc;
}

static void assert_same_lft(const struct tables *a, const struct tables *b)
{
	for (uint32_t sw = 0; sw < a->nsw; sw++)
		assert_memory_equal(tables_row(a, sw), tables_row(b, sw), a->max_lid + 1u);
}

static void writing_and_reading_gives_the_same_tables_for_every_lmc(void **state)
{
	(void)state;
	for (int lmc = 0; lmc <= 2; lmc++) {
		struct fabric *f = net_torus(3, 4, 3, &(struct net_opts){ .lmc = lmc });
		struct tables *t = random_tables(f, 7), *back = NULL;

		for (size_t i = 0; i < FORMS; i++) {
			struct read_report report;
			struct err err = { "" };
			char *text = text_of(forms[i].write, f, t), *again;

			assert_int_equal(read_text(&back, forms[i].read, text, f, &report, &err),
					 0);
			assert_same_lft(t, back);
			assert_int_equal(report.warnings, 0);
			again = text_of(forms[i].write, f, back);
			assert_string_equal(text, again);
			tables_put(back);
			free(text);
			free(again);
		}
		tables_put(t);
		fabric_put(f);
	}
}

static void cancel_at_third(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct progress *p = ctx;

	assert_string_equal(step, "writing");
	assert_true(done <= 3 && done < total);
	if (done == 3)
		atomic_store(&p->cancel, true);
}

static void writing_ends_where_nobody_wants_the_rest(void **state)
{
	struct fabric *f = net_torus(3, 4, 3, &(struct net_opts){ .lmc = 0 });
	struct tables *t = random_tables(f, 7);
	struct progress p = { .report = cancel_at_third, .ctx = &p };
	struct err err = { "" };
	FILE *out = tmpfile();

	(void)state;
	file_progress_set(&p);
	assert_int_equal(osm_lfts_write(out, f, t, &err), -ECANCELED);
	file_progress_set(NULL);
	assert_string_equal(err.text, "cancelled");
	fclose(out);
	tables_put(t);
	fabric_put(f);
}

static void both_forms_carry_the_same_entries(void **state)
{
	struct fabric *f = net_tree(3, 2, 4, &(struct net_opts){ .lmc = 1 });
	struct tables *t = random_tables(f, 9), *a, *b;
	char *lfts = text_of(osm_lfts_write, f, t), *fdbs = text_of(osm_fdbs_write, f, t);
	struct err err;

	(void)state;
	assert_int_equal(read_text(&a, osm_lfts_read, lfts, f, NULL, &err), 0);
	assert_int_equal(read_text(&b, osm_fdbs_read, fdbs, f, NULL, &err), 0);
	assert_same_lft(a, b);
	tables_put(a);
	tables_put(b);
	tables_put(t);
	free(lfts);
	free(fdbs);
	fabric_put(f);
}

static const char dump_fts[] =
	"[root@sm ~]# dump_lfts.sh\r\n"
	"Unicast lids [0x0-0x9] of switch DR path slid 0; dlid 0; 0,1 guid 0x0000000000002000 (S0 "
	"guid x):\r\n"
	"  Lid  Out   Destination\r\n"
	"       Port     Info \r\n"
	"0x0001 001 : (Channel Adapter portguid 0x0001000000000001: 'n0000 HCA-1')\r\n"
	"0x0002 255 : (path #2)\r\n"
	"0x0003 002 : (Channel Adapter portguid 0x0001000000000021: 'n0002')\r\n"
	"3 valid lids dumped \r\n"
	"Unicast lids [0x0-0x9] of switch DR path 0,1,1 guid 0x0000000000002010 (S1):\r\n"
	"0 valid lids dumped \r\n"
	"Unicast lids [0x0-0x9] of switch DR path 0,1,2 guid 0x0000000000002020 (S2):\r\n"
	"0 valid lids dumped \r\n";

static void a_dump_of_dump_fts_is_read_with_its_prompt_and_line_ends(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct read_report report;
	struct tables *t;
	struct err err;

	(void)state;
	assert_int_equal(read_text(&t, osm_lfts_read, dump_fts, f, &report, &err), 0);
	assert_int_equal(tables_row(t, 0)[1], 1);
	assert_int_equal(tables_row(t, 0)[2], FAB_NO_PORT);
	assert_int_equal(tables_row(t, 0)[3], 2);
	assert_int_equal(report.records, 2);
	assert_int_equal(report.skipped, 1); /* the prompt */
	assert_int_equal(report.warnings, 1);
	assert_int_equal(report.notes[0].line, 1);
	tables_put(t);
	fabric_put(f);
}

static void entries_that_cannot_be_are_left_out_and_told(void **state)
{
	static const char text[] =
		"Unicast lids [0-99] of switch Lid 4 guid 0x0000000000002000 ('S'):\n0x0001 200 # port that does not exist\n0x00ff 001 # LID beyond the last\n0x0001 xyz\n99 lids dumped\nUnicast lids [0-99] of switch Lid 5 guid 0x0000000000002010 ('S1'):\n99 lids dumped\nUnicast lids [0-99] of switch Lid 6 guid 0x0000000000002020 ('S2'):\n99 lids dumped\nUnicast lids [0-99] of switch Lid 4 guid 0x00020000deadbeef ('X'):\n0x0001 001 #\n99 lids dumped\n";
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct read_report report;
	struct tables *t;
	struct err err;
	char line[300];

	(void)state;
	assert_int_equal(read_text(&t, osm_lfts_read, text, f, &report, &err), 0);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		assert_int_equal(tables_row(t, 0)[lid], FAB_NO_PORT);
	assert_int_equal(report.records, 0);
	assert_int_equal(report.skipped, 5);
	read_report_line(line, sizeof(line), &report, 0);
	assert_non_null(strstr(line, "x.dump:2: "));
	assert_non_null(strstr(line, "no port 200"));
	tables_put(t);
	fabric_put(f);
}

/* Whole tables, but not of all switches: where the headings are. */
static void a_dump_cut_between_two_tables_is_refused(void **state)
{
	struct fabric *f = net_tree(3, 2, 4, NULL);
	struct tables *t = random_tables(f, 9), *back = NULL;
	struct err err;

	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		const char *heading = i == 0 ? "Unicast lids" : "dump_ucast_routes: Switch";
		char *text = text_of(forms[i].write, f, t), *last = text, *at;

		while ((at = strstr(last + 1, heading)))
			last = at;
		assert_true(last > text);
		*last = '\0';
		assert_int_equal(read_text(&back, forms[i].read, text, f, NULL, &err), -ENODATA);
		assert_non_null(strstr(err.text, "x.dump: tables of only 4 of the fabric's 5"));
		assert_null(back);
		free(text);
	}
	tables_put(t);
	fabric_put(f);
}

static void other_files_and_other_fabrics_are_refused_with_the_reason(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct tables *t = NULL;
	struct err err;

	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		assert_int_equal(read_text(&t, forms[i].read, "", f, NULL, &err), -EINVAL);
		assert_non_null(strstr(err.text, "x.dump"));
		assert_non_null(strstr(err.text, "not a dump of forwarding tables"));
	}
	assert_int_equal(read_text(&t, osm_fdbs_read,
				   "dump_ucast_routes: Switch 0x0123\n0x0001 : 001 : 01 : yes\n", f,
				   NULL, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "is of another one"));
	assert_null(t);
	fabric_put(f);
}

static void fdbs_of_ibdiagnet_are_read_unless_a_switch_has_private_tables(void **state)
{
	static const char form[] =
		"# by ibdiagnet\n\nosm_ucast_mgr_dump_ucast_routes: Switch 0x%016llx\n"
		"%sLID    : Port : Hops : Optimal\n0x0001 : 001  : 00   : yes\n"
		"0x0002 : UNREACHABLE\n\n";
	struct fabric *f = net_tree(1, 1, 2, NULL);
	struct tables *t = NULL;
	struct read_report report;
	struct err err;
	char text[1000];

	(void)state;
	for (int private = 0; private < 2; private ++) {
		int n = snprintf(text, sizeof(text), form, (unsigned long long)f->sw_guid[0],
				 "PLFT_NUM: 0\n");

		snprintf(text + n, sizeof(text) - (size_t)n, form,
			 (unsigned long long)f->sw_guid[1], private ? "PLFT_NUM: 1\n" : "");
		assert_int_equal(read_text(&t, osm_fdbs_read, text, f, &report, &err),
				 private ? -ENOTSUP : 0);
		if (private)
			continue;
		assert_int_equal(report.warnings, 0);
		assert_int_equal(tables_row(t, 0)[1], 1);
		tables_put(t);
	}
	assert_non_null(strstr(err.text, "x.dump:12: a switch with private table 1"));
	fabric_put(f);
}

static void hops_and_detours_are_told_in_fdbs(void **state)
{
	struct fabric *f = net_ring(4, 1, NULL); /* a ring of four */
	struct tables *t = tables_new(f, "file");
	uint32_t far = f->chan_off[0];
	uint8_t lid = (uint8_t)f->term_lid[0];
	char want[120], *text;

	(void)state;
	while (f->chan_dst[far] != 1)
		far++;
	/* from switch 1 to the host on switch 0: the long way round */
	for (uint32_t c = f->chan_off[1]; c < f->chan_off[2]; c++)
		if (f->chan_dst[c] == 2)
			tables_row(t, 1)[lid] = f->chan_port[c];
	tables_row(t, 0)[lid] = f->term_port[0];
	text = text_of(osm_fdbs_write, f, t);
	snprintf(want, sizeof(want), "0x%04X : %03u  : 01   : yes\n", lid, f->term_port[0]);
	assert_non_null(strstr(text, want));
	snprintf(want, sizeof(want),
		 "0x%04X : %03u  : 04   : No 2 hop path possible via port %u!\n", lid,
		 tables_row(t, 1)[lid], f->chan_rport[far]);
	assert_non_null(strstr(text, want));
	snprintf(want, sizeof(want), "0x%04X : UNREACHABLE\n", lid);
	assert_non_null(strstr(text, want));
	free(text);
	tables_put(t);
	fabric_put(f);
}

struct victim {
	const struct fabric *f;
	read_fn read;
};

static int try_read(FILE *in, void *ctx)
{
	const struct victim *v = ctx;
	struct read_report report;
	struct tables *t = NULL;
	struct err err = { "" };
	int rc = v->read(&t, in, "damaged", v->f, &report, &err);

	if (rc) {
		assert_null(t);
		assert_true(err.text[0]);
		return rc;
	}
	for (uint32_t sw = 0; sw < t->nsw; sw++)
		for (uint32_t lid = 0; lid <= t->max_lid; lid++)
			assert_true(tables_row(t, sw)[lid] <= v->f->sw_nports[sw] ||
				    tables_row(t, sw)[lid] == FAB_NO_PORT);
	tables_put(t);
	return 0;
}

/* A dump may be of some switches only: where whole tables are missing it is told. */
static void a_dump_that_was_cut_off_anywhere_is_refused_or_told(void **state)
{
	struct fabric *f = net_torus(2, 2, 2, &(struct net_opts){ .lmc = 1 });
	struct tables *t = random_tables(f, 3);

	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		char *text = text_of(forms[i].write, f, t);
		uint32_t whole = 0;

		for (size_t n = 1; n < strlen(text); n++) {
			FILE *in = text_file(text, n);
			struct tables *part = NULL;
			struct read_report report;
			struct err err = { "" };

			if (!forms[i].read(&part, in, "cut", f, &report, &err)) {
				if (!report.warnings)
					fail_msg("%zu of %zu bytes of form %zu are taken", n,
						 strlen(text), i);
				whole++;
			}
			tables_put(part);
			fclose(in);
		}
		assert_true(whole < f->nsw + 1); /* at the ends of tables only */
		free(text);
	}
	tables_put(t);
	fabric_put(f);
}

static void damaged_dumps_do_no_harm(void **state)
{
	struct fabric *f = net_torus(2, 2, 2, &(struct net_opts){ .lmc = 1 });
	struct tables *t = random_tables(f, 3);

	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		struct victim v = { f, forms[i].read };
		char *text = text_of(forms[i].write, f, t);
		struct survived s = damage(text, strlen(text), 11 + i, 3000, try_read, &v);

		assert_true(s.accepted > 1000);
		assert_true(s.refused > 0);
		free(text);
	}
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writing_and_reading_gives_the_same_tables_for_every_lmc),
		cmocka_unit_test(writing_ends_where_nobody_wants_the_rest),
		cmocka_unit_test(both_forms_carry_the_same_entries),
		cmocka_unit_test(a_dump_of_dump_fts_is_read_with_its_prompt_and_line_ends),
		cmocka_unit_test(entries_that_cannot_be_are_left_out_and_told),
		cmocka_unit_test(a_dump_cut_between_two_tables_is_refused),
		cmocka_unit_test(other_files_and_other_fabrics_are_refused_with_the_reason),
		cmocka_unit_test(fdbs_of_ibdiagnet_are_read_unless_a_switch_has_private_tables),
		cmocka_unit_test(hops_and_detours_are_told_in_fdbs),
		cmocka_unit_test(a_dump_that_was_cut_off_anywhere_is_refused_or_told),
		cmocka_unit_test(damaged_dumps_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
