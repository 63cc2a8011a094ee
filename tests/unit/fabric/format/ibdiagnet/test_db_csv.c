/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibdiagnet2.db_csv: its nodes, ports and links, whatever columns and sections stand around them.
 */
#include "fabric/format/ibdiagnet/db_csv.h"

#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define SW1 "0x0002c90000000010"
#define SW2 "0x0002c90000000020"
#define CA1 "0x0002c90000000001"
#define CA2 "0x0002c90000000003"

#define HEAD "# written by a test\nSTART_INDEX_TABLE\nName,Line\nNODES,9\nEND_INDEX_TABLE\n\n"
#define NODES_TITLE                                                                                \
	"START_NODES\nNodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,"        \
	"NodeGUID,PortGUID\n"
#define NODES                                                                                      \
	NODES_TITLE                                                                                \
	"\"a switch, of \"two\"\",36,2,1,1," SW1 "," SW1 "," SW1 "\n"                              \
	"\"leaf 2\",36,2,1,1," SW2 "," SW2 "," SW2 "\n"                                            \
	"\"n1 HCA-1\",1,1,1,1," CA1 "," CA1 ",0x0002c90000000002\n"                                \
	"\"n2 HCA-1\",1,1,1,1," CA2 "," CA2 ",0x0002c90000000004\n"                                \
	"END_NODES\n\n"
/* other columns, and in another order, than in NODES */
#define PORTS_TITLE                                                                                \
	"START_PORTS\nNodeGuid,PortGuid,PortNum,MKey,LID,LinkWidthActv,LinkSpeedActv,LMC,"         \
	"PortState,OpVLs,FECActv\n"
#define PORTS                                                                                      \
	PORTS_TITLE SW1 "," SW1 ",0,0x0,1,0,0,0,1,0,N/A\n" SW2 "," SW2                             \
			",0,0x0,2,0,0,0,1,0,N/A\n" SW1 "," SW1 ",1,0x0,1,2,2048,0,4,3,N/A\n" SW1   \
			"," SW1 ",36,0x0,1,2,1024,0,4,4,N/A\n" SW2 "," SW2                         \
			",36,0x0,2,2,1024,0,4,4,N/A\n" CA1                                         \
			",0x0002c90000000002,1,0x0,3,2,2048,0,4,3,N/A\n" CA2                       \
			",0x0002c90000000004,1,0x0,4,1,65536,0,2,3,N/A\n" SW2 "," SW2              \
			",1,0x0,2,1,65536,0,2,3,N/A\nEND_PORTS\n\n"
#define LINKS                                                                                      \
	"START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n" SW1 ",36," SW2 ",36\n" CA1          \
	",1," SW1 ",1\n" SW2 ",1," CA2 ",1\nEND_LINKS\n"
#define OTHER "START_SWITCHES\nNodeGUID,LinearFDBCap\n" SW1 ",49152\nEND_SWITCHES\n\n"

static struct err why;

static int read_text(struct fabric **f, const char *text, struct read_report *report)
{
	FILE *in = text_file(text, strlen(text));
	struct builder *b = builder_new();
	int rc;

	why.text[0] = '\0';
	*f = NULL;
	rc = db_csv_read(b, in, "x.db_csv", report, &why);
	if (!rc)
		rc = builder_freeze(f, b, &(struct freeze_opts){ .lmc = -1 }, &why);
	builder_free(b);
	fclose(in);
	return rc;
}

static void its_nodes_ports_and_links_make_the_fabric(void **state)
{
	struct read_report r;
	struct fabric *f;
	uint32_t sw;
	const struct port *p;

	(void)state;
	assert_int_equal(read_text(&f, HEAD NODES PORTS OTHER LINKS, &r), 0);
	assert_int_equal(r.warnings, 0);
	assert_int_equal(r.records, 4 + 8 + 3);
	assert_int_equal(f->nsw, 2);
	assert_int_equal(f->nterm, 2);
	assert_int_equal(f->nchan, 2);
	assert_true(f->lids_given);
	sw = fabric_switch_by_guid(f, 0x0002c90000000010);
	assert_int_equal(f->sw_lid[sw], 1);
	assert_string_equal(f->sw_desc[sw], "a switch, of \"two\"");
	p = fabric_port(f, sw, 36);
	assert_string_equal(p->speed, "HDR");
	assert_int_equal(p->width, 4);
	assert_int_equal(p->op_vls, 8);
	assert_int_equal(p->state, PORT_ACTIVE);
	p = fabric_port(f, sw, 1);
	assert_string_equal(p->speed, "NDR");
	assert_int_equal(f->term_lid[p->term], 3);
	assert_true(f->term_guid[p->term] == 0x0002c90000000002);
	p = fabric_port(f, fabric_switch_by_guid(f, 0x0002c90000000020), 1);
	assert_string_equal(p->speed, "FDR10");
	assert_int_equal(p->width, 1);
	assert_int_equal(p->state, PORT_INIT);
	fabric_put(f);
}

static void what_the_file_names_and_does_not_have_is_a_gap_of_its_line(void **state)
{
	struct read_report r;
	struct fabric *f;

	(void)state;
	assert_int_equal(read_text(&f,
				   NODES PORTS
				   "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n" SW1
				   ",36," SW2 ",36\n" SW1 ",2,0xdead,1\n" SW1 ",36," CA1
				   ",1\nEND_LINKS\n",
				   &r),
			 0);
	assert_int_equal(r.gaps, 2);
	assert_int_equal(r.notes[0].line, 24);
	assert_string_equal(r.notes[0].text,
			    "section LINKS: node 0x000000000000dead has no row in section NODES");
	assert_int_equal(r.notes[1].line, 25);
	fabric_put(f);
}

static void a_file_that_was_cut_off_says_in_which_section(void **state)
{
	struct read_report r;
	struct fabric *f;
	char text[sizeof(NODES LINKS)];

	(void)state;
	snprintf(text, sizeof(text), "%s", NODES LINKS);
	text[strlen(text) - strlen("1\nEND_LINKS\n")] = '\0';
	assert_int_equal(read_text(&f, text, &r), 0);
	assert_int_equal(r.gaps, 2);
	assert_string_equal(r.notes[0].text,
			    "the file ends in the middle of this line: it is truncated");
	assert_string_equal(r.notes[1].text, "section LINKS has no end");
	assert_int_equal(f->nterm, 1);
	fabric_put(f);
}

static void rows_that_hold_something_else_are_skipped(void **state)
{
	static const char text[] = NODES_TITLE
		"\"x\",36,9,1,1," SW1 "," SW1 "," SW1 "\n"  /* no such type */
		"\"x\",255,2,1,1," SW1 "," SW1 "," SW1 "\n" /* no so many ports */
		"\"x\",36,2,1,1,0x0,0xzz\n\"only\n"
		"\"s1\",36,2,1,1," SW1 "," SW1 "," SW1 "\n"
		"\"s2\",36,2,1,1," SW2 "," SW2 "," SW2 "\nEND_NODES\n" PORTS_TITLE SW1 "," SW1
		",255,0x0,1,2,2048,0,4,3,N/A\n" SW1
		",x,99999999999999999999,0x0,1,2,2048,0,4,3,N/A\n" SW1 ",1,1\nEND_PORTS\n"
		"START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n" SW1 ",0," SW2 ",1\n" SW1
		",255," SW2 ",1\n" SW1 ",1," SW2 ",1\nEND_LINKS\n";
	struct read_report r;
	struct fabric *f;

	(void)state;
	assert_int_equal(read_text(&f, text, &r), 0);
	assert_int_equal(r.gaps, 0);
	assert_int_equal(r.skipped, 4 + 2 + 2);
	assert_int_equal(f->nsw, 2);
	assert_int_equal(f->nchan, 2);
	fabric_put(f);
}

static void refused(const char *text, const char *sentence)
{
	struct fabric *f;

	assert_int_equal(read_text(&f, text, NULL), -EINVAL);
	if (!strstr(why.text, sentence))
		fail_msg("not told of %s: %s", sentence, why.text);
}

static void a_file_without_a_fabric_is_refused(void **state)
{
	(void)state;
	refused(OTHER, "no row in a section NODES");
	refused(NODES PORTS, "no row in a section LINKS");
	refused("START_NODES\nNodeDesc,NumPorts,NodeGUID\nEND_NODES\n",
		"x.db_csv:2: section NODES has no column NodeType");
}

static void it_is_told_by_its_first_section(void **state)
{
	(void)state;
	assert_true(db_csv_begins(HEAD));
	assert_true(db_csv_begins(NODES));
	assert_true(db_csv_begins("\xef\xbb\xbfSTART_NODES\r\nNodeDesc,NumPorts\r\n"));
	assert_false(db_csv_begins("START_NODES\nNodeDesc\n"));
	assert_false(db_csv_begins("vendid=0x2c9 # START_HERE\nswitchguid=0x1,2\n"));
	assert_false(db_csv_begins(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_nodes_ports_and_links_make_the_fabric),
		cmocka_unit_test(what_the_file_names_and_does_not_have_is_a_gap_of_its_line),
		cmocka_unit_test(a_file_that_was_cut_off_says_in_which_section),
		cmocka_unit_test(rows_that_hold_something_else_are_skipped),
		cmocka_unit_test(a_file_without_a_fabric_is_refused),
		cmocka_unit_test(it_is_told_by_its_first_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
