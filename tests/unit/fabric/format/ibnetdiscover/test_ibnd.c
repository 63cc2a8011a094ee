/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/ibnetdiscover/ibnd.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/site/node_name_map.h"
#include "fabric/model/topology/end_find.h"
#include "fabric/sim/topology/topo.h"

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fabric *freeze(struct builder *b, const char *what)
{
	struct fabric *f = NULL;
	struct err err = { "" };

	if (builder_freeze(&f, b, NULL, &err))
		fail_msg("%s: %s", what, err.text);
	builder_free(b);
	return f;
}

static struct fabric *generate(const char *spec)
{
	struct builder *b = NULL;
	struct err err = { "" };

	if (topo_build(&b, spec, &err))
		fail_msg("%s", err.text);
	return freeze(b, spec);
}

static int read_bytes(struct builder **b, const void *text, size_t len, struct ibnd_report *report,
		      struct err *err)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, len, "r");
	int rc;

	assert_non_null(in);
	rc = ibnd_read(b, in, "x.net", report, err);
	fclose(in);
	return rc;
}

static struct fabric *read_text(const char *text, struct ibnd_report *report)
{
	struct builder *b = NULL;
	struct err err = { "" };

	if (read_bytes(&b, text, strlen(text), report, &err))
		fail_msg("%s", err.text);
	return freeze(b, "x.net");
}

static char *write_text(const struct fabric *f, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);
	struct err err;

	assert_int_equal(ibnd_write(out, f, &err), 0);
	fclose(out);
	return text;
}

static void what_is_written_reads_back_the_same(void **state)
{
	static const char *const specs[] = {
		"fattree3:k=4",
		"hyperx:dims=3x4,hosts=2,lids=random,lmc=2",
		"dragonfly:p=2",
		"torus:dims=3x3,hosts=1,links=2,fail=3,speed=2xNDR",
		"random:switches=9,links=12",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = generate(specs[i]), *g;
		size_t len, len2;
		char *text = write_text(f, &len), *text2;
		struct ibnd_report report;

		g = read_text(text, &report);
		assert_true(digest_equal(&f->fingerprint, &g->fingerprint));
		assert_int_equal(report.read.warnings, 0);
		assert_int_equal(report.switches, f->nsw);
		assert_int_equal(report.cas, f->nterm);
		assert_int_equal(report.cables, f->nchan / 2 + f->nterm);
		text2 = write_text(g, &len2);
		assert_string_equal(text, text2);
		free(text);
		free(text2);
		fabric_put(f);
		fabric_put(g);
	}
}

static const char traps[] =
	"\xef\xbb\xbf[root@sm01 ~]# ibnetdiscover\r\n"
	"#\r\n# Topology file: generated on Sun Oct  5 21:59:42 2014\r\n#\r\n\r\n"
	"vendid=0x2c9\r\n"
	"switchguid=0xf4521403001165a0(f4521403001165a0)\r\n"
	"Switch\t36 \"S-f4521403001165a0\"\t\t# \"MF0;ib5:SX6036/U1 #2 \"x\" lid 5\" enhanced port "
	"0 "
	"lid 128 lmc 0\r\n"
	"[1]\t\"H-24be05ffff980030\"[1](24be05ffff980031) \t\t# \"stage114 mlx4_0\" lid 105 "
	"4xQDR\r\n"
	"[2]\t\"H-24be05ffff980030\"[2](24be05ffff980099) \t\t# \"stage114 mlx4_0\" lid 106 "
	"4xQDR\r\n"
	"[3]\t\"S-00f4521403001166\"[3]\t\t# \"Voltaire 4036 # 4036-8C5C\" lid 129 4xFDR10\r\n"
	"[4]\t\"S-00f4521403001166\"[4]\t\t# \"Voltaire 4036 # 4036-8C5C\" lid 129 4xFDR\r\n"
	"[36]\t\"H-0002c90300000abc\"[1](2c90300000abd)\t\t# \"Mellanox Technologies Aggregation "
	"Node\" lid 65535 4xQDR\r\n"
	"\r\n"
	"switchguid=0xf4521403001166(f4521403001166)\r\n"
	"Switch\t36 \"S-00f4521403001166\"\t\t# \"Voltaire 4036 # 4036-8C5C\" base port 0 lid 129 "
	"lmc 0\r\n"
	"[3]\t\"S-f4521403001165a0\"[3]\t\t# \"MF0;ib5:SX6036/U1\" lid 128 4xFDR10\r\n"
	"[5]\t\"H-24be05ffff980030\"[2](24be05ffff980099)\t\t# \"stage114 mlx4_0\" lid 106 "
	"4xQDR\r\n"
	"[6]\t\"H-0002c90300000dea\"[1](2c90300000deb)\t\t# \"lost HCA-1\" lid 7 4xQDR\r\n"
	"\r\n"
	"caguid=0x24be05ffff980030\r\n"
	"Ca\t2 \"H-24be05ffff980030\"\t\t# \"stage114 mlx4_0\"\r\n"
	"[1](24be05ffff980031) \t\"S-f4521403001165a0\"[1]\t\t# lid 105 lmc 0 \"MF0;ib5\" lid 128 "
	"4xQDR\r\n"
	"\r\n"
	"caguid=0x2c90300000dea\r\n"
	"Ca\t1 \"H-0002c90300000dea\"\t\t# \"lost HCA-1\"\r\n"
	"[1](2c90300000deb) \t\"S-00f4521403001166\"[6]\t\t# lid 7 lmc 0 \"Voltaire\" lid 129 "
	"4xQDR\r\n"
	"\r\n"
	"caguid=0x2c90300000abc\r\n"
	"Ca\t1 \"H-0002c90300000abc\"\t\t# \"Mellanox Technologies Aggregation Node\"\r\n"
	"[1](2c90300000abd) \t\"S-f4521403001165a0\"[36]\t\t# lid 65535 lmc 0 \"MF0;ib5\" lid 128 "
	"4xQDR";

static void traps_of_real_dumps_are_survived_and_told(void **state)
{
	struct ibnd_report report;
	struct fabric *f = read_text(traps, &report);
	char line[300];

	(void)state;
	assert_int_equal(f->nsw, 2);
	assert_int_equal(report.switches, 2);
	assert_int_equal(report.cas, 3);
	assert_int_equal(f->nterm, 3); /* two ports of stage114, one of the lost one */
	assert_int_equal(f->nend, 4);  /* and the aggregation node */
	assert_int_equal(f->nchan, 4);
	assert_string_equal(f->sw_desc[1], "MF0;ib5:SX6036/U1 #2 \"x\" lid 5");
	assert_string_equal(f->sw_desc[0], "Voltaire 4036 # 4036-8C5C");
	assert_true(f->sw_enhanced_sp0[1]);
	assert_false(f->sw_enhanced_sp0[0]);
	assert_string_equal(f->term_name[1], "stage114");
	assert_int_equal(f->term_guid[2], 0x24be05ffff980099);
	assert_string_equal(f->term_name[0], "lost");
	assert_string_equal(fabric_port(f, 1, 3)->speed, "FDR10");
	assert_string_equal(fabric_port(f, 1, 4)->speed, "FDR");
	assert_false(f->lids_given); /* one of them was 65535 */

	/* the prompt, and port 2 of stage114, cabled twice */
	assert_int_equal(report.read.warnings, 2);
	read_report_line(line, sizeof(line), &report.read, 0);
	assert_non_null(strstr(line, "x.net:1: a cable before any node"));
	read_report_line(line, sizeof(line), &report.read, 1);
	assert_non_null(strstr(line, "x.net:18: port 2 of 0x24be05ffff980030 is cabled to"));
	fabric_put(f);
}

static void nets_of_ibsim_with_names_are_read_as_ibsim_counts_guids(void **state)
{
	struct ibnd_report report;
	struct fabric *f =
		read_text("# a comment\n"
			  "Switch 8 \"Switch1\"\n"
			  "[1] \"Hca1\"[1]\n[2] \"Hca 2\" [2] w=4\n[3]\t\"Switch2\"[3]\n\n"
			  "Switch\t8 \"Switch2\"\n[3] \"Switch1\"[3]\n"
			  "Hca 2 \"Hca1\"\n[1] \"Switch1\"\n\n"
			  "caguid=0x1000\nHca\t2 \"Hca 2\"\n[2] \"Switch1\"[2]\n\n"
			  "Hca 1 \"Hca3\"\n[1] \"Switch2\"[8]\n",
			  &report);

	(void)state;
	assert_int_equal(report.read.warnings, 0);
	assert_int_equal(report.cables, 4);
	assert_int_equal(f->nsw, 2);
	assert_int_equal(f->sw_guid[0], 0x100000);
	assert_int_equal(f->sw_guid[1], 0x100001);
	assert_string_equal(f->sw_name[0], "Switch1");
	assert_int_equal(f->nterm, 3);
	assert_int_equal(f->term_guid[0], 0x1002);
	assert_string_equal(f->term_desc[0], "Hca 2");
	assert_int_equal(f->term_node_guid[1], 0x1003);
	assert_string_equal(f->term_name[1], "Hca3");
	assert_int_equal(f->term_node_guid[2], 0x200000);
	assert_int_equal(f->term_port[1], 8);
	fabric_put(f);
}

static void a_line_that_makes_no_sense_is_told_and_left_out(void **state)
{
	static const struct {
		const char *line, *told;
	} bad[] = {
		{ "Switch \"S-2\" # \"x\"", "x.net:3: a node needs its number of ports" },
		{ "Switch 300 \"S-2\"", "x.net:3: a node needs its number of ports" },
		{ "Switch 8 S-2", "x.net:3: a node needs its number of ports" },
		{ "Switch 8 \"\"", "x.net:3: a node needs its number of ports" },
		{ "Ca 1 \"S-1\"", "x.net:3: GUID 0x0000000000000001 is a switch in one place" },
		{ "Ca 1 \"H-1\"", "x.net:3: \"H-1\" has the same GUID 0x0000000000000001" },
		{ "switchguid=zero", "x.net:3: switchguid=is not followed by a GUID" },
		{ "[x] \"H-2\"[1]", "x.net:3: a cable line begins with the port" },
		{ "[0] \"H-2\"[1]", "x.net:3: a cable line begins with the port" },
		{ "[9] \"H-2\"[1]", "x.net:3: port 9 is above the 8 ports" },
		{ "[2] H-2[1]", "x.net:3: port 2: the id of the other end is missing" },
		{ "[2] \"H-2\"[999]", "x.net:3: port 2: \"H-2\" has no such port" },
		{ "[2] \"S-1\"[9]",
		  "x.net:3: port 2 leads to port 9 of \"S-1\", which has only 8" },
		{ "[2] \"S-1\"[2]", "x.net:3: node 0x0000000000000001 port 2 cannot be cabled" },
		{ "\x01\x02\xff", "x.net:3: neither a node nor a cable nor a comment" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char *text =
			xasprintf("Switch 8 \"S-1\"\n[1] \"H-3\"[1] # \"h3\" lid 3 4xEDR\n%s\n\n"
				  "Ca 1 \"H-3\"\n[1] \"S-1\"[1]\n",
				  bad[i].line);
		struct ibnd_report report;
		struct fabric *f = read_text(text, &report);
		char line[300];

		assert_int_equal(f->nsw, 1);
		assert_true(f->nterm == 1);
		assert_true(report.read.warnings >= 1);
		read_report_line(line, sizeof(line), &report.read, 0);
		if (!strstr(line, bad[i].told))
			fail_msg("\"%s\" is told as \"%s\"", bad[i].line, line);
		fabric_put(f);
		free(text);
	}
}

/* Nothing is in the part that the whole does not have, LIDs of hosts among it. */
static void assert_part(const struct fabric *part, const struct fabric *whole)
{
	for (uint32_t t = 0; t < part->nend; t++) {
		uint32_t of = fabric_term_by_guid(whole, part->term_guid[t]);

		assert_int_not_equal(of, FAB_NONE);
		assert_int_equal(part->term_lid[t], whole->term_lid[of]);
		assert_int_equal(part->term_port[t], whole->term_port[of]);
		assert_int_equal(part->sw_guid[part->term_sw[t]],
				 whole->sw_guid[whole->term_sw[of]]);
	}
	for (uint32_t c = 0; c < part->nchan; c++) {
		uint32_t sw = fabric_switch_by_guid(whole, part->sw_guid[part->chan_src[c]]);
		const struct port *p;

		assert_int_not_equal(sw, FAB_NONE);
		p = fabric_port(whole, sw, part->chan_port[c]);
		assert_int_not_equal(p->chan, FAB_NONE);
		assert_int_equal(part->sw_guid[part->chan_dst[c]],
				 whole->sw_guid[whole->chan_dst[p->chan]]);
		assert_int_equal(part->chan_rport[c], whole->chan_rport[p->chan]);
	}
}

/* What is left of a fabric's text after so many bytes: all of it, a part with gaps, or a refusal
 * that says so.  Was it a part? */
static bool assert_cut(const char *text, size_t len, const struct fabric *whole)
{
	struct ibnd_report report;
	struct builder *b = NULL;
	struct err err = { "" };
	struct fabric *f;

	if (read_bytes(&b, text, len, &report, &err)) {
		if (!strstr(err.text, "truncated") && !strstr(err.text, "no switch"))
			fail_msg("%zu bytes: %s", len, err.text);
		return false;
	}
	f = freeze(b, "x.net");
	if (report.read.gaps)
		assert_part(f, whole);
	else if (f->nsw != whole->nsw || f->nend != whole->nend || f->nchan != whole->nchan ||
		 memcmp(f->term_lid, whole->term_lid, f->nend * sizeof(*f->term_lid)) != 0)
		fail_msg("%zu of %zu bytes are another fabric", len, strlen(text));
	fabric_put(f);
	return report.read.gaps;
}

static void a_file_that_was_cut_off_anywhere_has_gaps_or_has_lost_nothing(void **state)
{
	static const char *const specs[] = { "torus:dims=3x3,hosts=2",
					     "fattree2:leaves=3,spines=2,hosts=2",
					     "hyperx:dims=2x2,hosts=3" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = generate(specs[i]);
		size_t len, parts = 0;
		char *text = write_text(f, &len);

		for (size_t n = 1; n < len; n++)
			parts += assert_cut(text, n, f);
		assert_true(parts > len / 2);
		free(text);
		fabric_put(f);
	}
}

static void a_cable_that_leads_nowhere_is_a_gap_with_its_line(void **state)
{
	static const char *const bad[] = {
		"Switch 8 \"S-1\"\n[1] \"H-3\"[1]\n[2] \"nobody\"[1]\n\nCa 1 \"H-3\"\n[1] \"S-1\"[1]\n",
		"Switch 8 \"S-1\"\n[1] \"H-3\"[1]\n[2] \"H-4\"[1]\n\nCa 1 \"H-3\"\n[1] \"S-1\"[1]\n",
		"Switch 8 \"S-1\"\n[1] \"H-3\"[1]\n[2] \"H-3\"[2]\n\nCa 2 \"H-3\"\n[1] \"S-1\"[1]\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ibnd_report report;
		struct fabric *f = read_text(bad[i], &report);
		char line[300];

		assert_int_equal(f->nsw, 1);
		assert_int_equal(f->nterm, 1);
		assert_int_equal(report.read.gaps, 1);
		read_report_line(line, sizeof(line), &report.read, 0);
		assert_non_null(strstr(line, "x.net:3: port 2 leads to "));
		fabric_put(f);
	}
}

static void a_port_whose_peer_names_another_one_is_a_gap_with_its_line(void **state)
{
	struct ibnd_report report;
	struct fabric *f = read_text("Switch 8 \"S-1\"\n[1] \"S-2\"[1]\n[2] \"S-2\"[2]\n\n"
				     "Switch 8 \"S-2\"\n[1] \"S-1\"[1]\n[2] \"S-1\"[3]\n",
				     &report);

	(void)state;
	assert_int_equal(f->nchan, 4);
	assert_int_equal(report.read.gaps, 1);
	assert_int_equal(report.read.notes[0].line, 7);
	assert_true(report.read.notes[0].gap);
	fabric_put(f);
}

static void a_thousand_gaps_are_counted_and_the_first_named(void **state)
{
	struct ibnd_report report;
	struct fabric *f;
	size_t len;
	FILE *out;
	char *text;

	(void)state;
	out = open_memstream(&text, &len);
	fprintf(out, "Switch 2 \"S-1\"\n[1] \"S-2\"[1]\nSwitch 2 \"S-2\"\n[1] \"S-1\"[1]\n");
	for (unsigned i = 0; i < 1000; i++)
		fprintf(out, "Switch 2 \"S-%x\"\n[1] \"S-%x\"[1]\n", 0x100 + i, 0x10000 + i);
	fclose(out);
	f = read_text(text, &report);
	assert_int_equal(report.read.gaps, 1000);
	assert_int_equal(report.read.warnings, 1000);
	assert_int_equal(report.read.nnotes, READ_REPORT_NOTES);
	fabric_put(f);
	free(text);
}

static void a_file_without_a_switch_is_refused_with_its_first_bad_line(void **state)
{
	struct builder *b = (struct builder *)1;
	struct err err = { "" };

	(void)state;
	assert_int_equal(read_bytes(&b, "#\n\nhello\n", 9, NULL, &err), -EINVAL);
	assert_null(b);
	assert_non_null(strstr(err.text, "no switch"));
	assert_non_null(strstr(err.text, "x.net:3: "));
	assert_int_equal(read_bytes(&b, "\n", 1, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "x.net: no switch in it"));
}

static void descriptions_lose_only_what_the_format_cannot_carry(void **state)
{
	struct builder *b = builder_new();
	struct fabric *f, *g;
	uint32_t sw, ca;
	size_t len;
	char *text;

	(void)state;
	builder_node(&sw, b, NODE_SWITCH, 1, 4, "a \"b\" # c\td;", NULL);
	builder_node(&ca, b, NODE_CA, 16, 2, "", NULL);
	builder_link(b, sw, 1, ca, 2, NULL);
	builder_port_guid(b, ca, 2, 77, NULL);
	f = freeze(b, "by hand");
	text = write_text(f, &len);
	g = read_text(text, NULL);
	assert_string_equal(g->sw_desc[0], "a 'b' # c d;");
	assert_string_equal(g->term_desc[0], "");
	assert_int_equal(g->term_guid[0], 77);
	assert_int_equal(g->term_ca_port[0], 2);
	assert_true(digest_equal(&f->fingerprint, &g->fingerprint));
	free(text);
	fabric_put(f);
	fabric_put(g);
}

/* Cuts, flips, repeats and stretches a good file; whatever comes out must be a fabric or a
 * sentence. */
static void mutations_of_a_good_file_never_crash(void **state)
{
	struct fabric *f = generate("hyperx:dims=3x3,hosts=2");
	struct rng rng;
	size_t len;
	char *text = write_text(f, &len);

	(void)state;
	rng_seed(&rng, 1);
	for (int round = 0; round < 400; round++) {
		size_t n = round < 200 ? len : (size_t)rng_below(&rng, len) + 1;
		char *copy = xcalloc(n + 1, 1);
		struct ibnd_report report;
		struct builder *b = NULL;
		struct fabric *g = NULL;
		struct err err = { "" };

		memcpy(copy, text, n);
		for (uint64_t k = rng_below(&rng, 40); k > 0; k--) {
			size_t at = (size_t)rng_below(&rng, n), from = (size_t)rng_below(&rng, n);
			size_t run = (size_t)rng_below(&rng, 30);

			copy[at] = (char)rng_u64(&rng);
			for (size_t i = 0; i < run && at + i < n && from + i < n; i++)
				copy[at + i] = copy[from + i];
		}
		if (read_bytes(&b, copy, n, &report, &err)) {
			assert_true(err.text[0]);
			assert_null(b);
		} else if (builder_freeze(&g, b, NULL, &err)) {
			assert_true(err.text[0]);
		} else {
			assert_true(g->nsw >= 1);
		}
		builder_free(b);
		fabric_put(g);
		free(copy);
	}
	free(text);
	fabric_put(f);
}

static void garbage_and_lines_of_megabytes_are_survived(void **state)
{
	size_t big = 3u << 20;
	char *text = xcalloc(big + 200, 1);
	struct ibnd_report report;
	struct fabric *f;
	struct builder *b;
	struct err err = { "" };
	struct rng rng;

	(void)state;
	memset(text, 'x', big);
	strcpy(text + big, "\nSwitch 8 \"S-1\"\n[1] \"H-2\"[1]\n\nCa 1 \"H-2\"\n[1] \"S-1\"[1]\n");
	f = read_text(text, &report);
	assert_int_equal(f->nterm, 1);
	assert_int_equal(report.read.warnings, 1);
	fabric_put(f);

	rng_seed(&rng, 2);
	for (size_t i = 0; i < big; i++)
		text[i] = (char)rng_u64(&rng);
	assert_int_equal(read_bytes(&b, text, big, &report, &err), -EINVAL);
	assert_int_equal(report.read.nnotes, READ_REPORT_NOTES);

	/* one line of a megabyte inside the quotes */
	memset(text, 'y', big);
	memcpy(text, "Switch 8 \"", 10);
	strcpy(text + (1 << 20) - 100, "\"\n[1] \"S-2\"[1]\n");
	assert_int_equal(read_bytes(&b, text, strlen(text), &report, &err), -ENODATA);
	free(text);
}

static void full_disks_are_told(void **state)
{
	struct fabric *f = generate("hyperx:dims=3x3,hosts=2");
	FILE *out = fopen("/dev/full", "w");
	struct err err = { "" };

	(void)state;
	if (!out) {
		fabric_put(f);
		skip();
	}
	assert_int_equal(ibnd_write(out, f, &err), -EIO);
	assert_non_null(strstr(err.text, "No space left"));
	fclose(out);
	fabric_put(f);
}

/* What is shown of a switch stands for it where names are asked for, and fits beside another. */
static void short_names_are_taken(const struct fabric *f)
{
	struct err err;
	uint32_t end, sw;
	uint16_t lid;

	for (uint32_t s = 0; s < f->nsw; s++) {
		assert_true(strlen(f->sw_short[s]) <= 24);
		assert_null(strchr(f->sw_short[s], ' '));
		assert_int_equal(end_find(&end, &lid, f, f->sw_short[s], &err), 0);
		assert_int_equal(end, f->nend + s);
		assert_int_equal(
			fabric_switches_named(&sw, 1, f, f->sw_short[s], strlen(f->sw_short[s])),
			1);
		assert_int_equal(sw, s);
	}
}

static void fabrics_of_others_have_the_counts_their_sources_state(void **state)
{
	static const struct {
		const char *file;
		uint32_t nsw, hosts, nterm, nend, cables;
	} want[] = {
		{ "topograph-ndr-40sw-2025.ibnetdiscover", 40, 542, 542, 582, 532 },
		{ "psmn-x5-2020.ibnetdiscover", 11, 89, 89, 89, 70 },
		{ "kalcher-qdr-2014.ibnetdiscover", 8, 144, 145, 145, 47 },
	};
	const char *shared = getenv("SHARED") ? getenv("SHARED") : "../shared";

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char *path = xasprintf("%s/data/fabrics/%s", shared, want[i].file), *text;
		FILE *in = fopen(path, "r");
		struct ibnd_report report;
		struct builder *b;
		struct fabric *f, *g;
		struct err err = { "" };
		size_t len;

		if (!in) {
			print_message("%s does not exist: skipped\n", path);
			free(path);
			skip();
		}
		assert_int_equal(ibnd_read(&b, in, path, &report, &err), 0);
		fclose(in);
		f = freeze(b, path);
		assert_int_equal(report.read.warnings, 0);
		assert_int_equal(f->nsw, want[i].nsw);
		assert_int_equal(report.cas, want[i].hosts + want[i].nend - want[i].nterm);
		assert_int_equal(f->nterm, want[i].nterm);
		assert_int_equal(f->nend, want[i].nend);
		assert_int_equal(f->nchan, 2 * want[i].cables);
		assert_true(fabric_connected(f));
		assert_true(f->lids_given);
		short_names_are_taken(f);
		text = write_text(f, &len);
		g = read_text(text, NULL);
		assert_true(digest_equal(&f->fingerprint, &g->fingerprint));
		free(text);
		fabric_put(f);
		fabric_put(g);
		free(path);
	}
}

static void name_maps_are_read_and_their_mistakes_placed(void **state)
{
	static const char good[] = "# our names\n\n0x0008f10500200b50 \"leaf 1, rack 4\"\n"
				   "  f4521403001165a0\t\"spine #2\" # the new one\r\n";
	static const char *const bad[] = { "0x1 \"a\"\n0x2 b\n", "0x1 \"a\"\nleaf \"b\"\n",
					   "0x1 \"a\"\n0x2 \"b\n", "0x1 \"a\"\n0x2 \"\"\n",
					   "0x1 \"a\"\n0x2 \"b\" c\n" };
	struct name_map *m = name_map_new();
	FILE *in = fmemopen((void *)(uintptr_t)good, sizeof(good) - 1, "r");
	struct err err = { "" };

	(void)state;
	assert_int_equal(node_name_map_read(m, in, "map", &err), 0);
	fclose(in);
	assert_string_equal(name_map_find(m, 0x0008f10500200b50), "leaf 1, rack 4");
	assert_string_equal(name_map_find(m, 0xf4521403001165a0), "spine #2");
	assert_null(name_map_find(m, 1));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		in = fmemopen((void *)(uintptr_t)bad[i], strlen(bad[i]), "r");
		assert_int_equal(node_name_map_read(m, in, "map", &err), -EINVAL);
		assert_non_null(strstr(err.text, "map:2: "));
		fclose(in);
	}
	assert_string_equal(name_map_find(m, 1), "a");
	name_map_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back_the_same),
		cmocka_unit_test(traps_of_real_dumps_are_survived_and_told),
		cmocka_unit_test(nets_of_ibsim_with_names_are_read_as_ibsim_counts_guids),
		cmocka_unit_test(a_line_that_makes_no_sense_is_told_and_left_out),
		cmocka_unit_test(a_file_that_was_cut_off_anywhere_has_gaps_or_has_lost_nothing),
		cmocka_unit_test(a_cable_that_leads_nowhere_is_a_gap_with_its_line),
		cmocka_unit_test(a_port_whose_peer_names_another_one_is_a_gap_with_its_line),
		cmocka_unit_test(a_thousand_gaps_are_counted_and_the_first_named),
		cmocka_unit_test(a_file_without_a_switch_is_refused_with_its_first_bad_line),
		cmocka_unit_test(descriptions_lose_only_what_the_format_cannot_carry),
		cmocka_unit_test(mutations_of_a_good_file_never_crash),
		cmocka_unit_test(garbage_and_lines_of_megabytes_are_survived),
		cmocka_unit_test(full_disks_are_told),
		cmocka_unit_test(fabrics_of_others_have_the_counts_their_sources_state),
		cmocka_unit_test(name_maps_are_read_and_their_mistakes_placed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
