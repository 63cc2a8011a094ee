/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/demand_file.h"
#include "fabric/model/topology/builder.h"

#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct rank_file *must_read_ranks(const char *text)
{
	FILE *in = text_file(text, strlen(text));
	struct rank_file *r = NULL;
	struct err err = { "" };

	if (rank_file_read(&r, in, "ranks.txt", NULL, &err))
		fail_msg("%s", err.text);
	fclose(in);
	return r;
}

static int read_demand(struct demand **d, const char *text, const struct rank_file *ranks,
		       const struct fabric *f, struct read_report *report, struct err *err)
{
	FILE *in = text_file(text, strlen(text));
	int rc = demand_file_read(d, in, "demand.txt", ranks, f, report, err);

	fclose(in);
	return rc;
}

static struct demand *must_read(const char *text, const struct rank_file *ranks,
				const struct fabric *f, struct read_report *report)
{
	struct demand *d = NULL;
	struct err err = { "" };

	if (read_demand(&d, text, ranks, f, report, &err))
		fail_msg("%s", err.text);
	return d;
}

static uint32_t term(const struct fabric *f, const char *name)
{
	uint32_t t = FAB_NONE;

	assert_int_equal(fabric_terms_by_name(f, name, &t, 1), 1);
	return t;
}

static uint8_t weight(const struct fabric *f, const struct demand *d, const char *src,
		      const char *dst)
{
	return demand_weight(d, term(f, src), term(f, dst));
}

static void bytes_become_weights_and_none_is_lost(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct read_report report;
	struct demand *d = must_read("# profile\r\n"
				     "n0003: n0001=1000000000000,n0002=1\r\n"
				     " n0001 :n0002 = 500000000000 , n0003=3921568627\r\n"
				     "\r\n"
				     "n0002: n0003=3921568628,n0001=0,n0002=99999999999999\r\n",
				     NULL, f, &report);

	(void)state;
	assert_int_equal(report.records, 3);
	assert_int_equal(report.warnings, 0);
	assert_int_equal(d->npair, 5);
	assert_int_equal(d->max_bytes, 1000000000000);
	assert_int_equal(weight(f, d, "n0003", "n0001"), 255);
	assert_int_equal(weight(f, d, "n0003", "n0002"), 1);
	assert_int_equal(weight(f, d, "n0001", "n0002"), 128);
	assert_int_equal(weight(f, d, "n0001", "n0003"), 1);
	assert_int_equal(weight(f, d, "n0002", "n0003"), 2);
	assert_int_equal(weight(f, d, "n0002", "n0001"), 0);
	assert_int_equal(weight(f, d, "n0002", "n0002"), 0);
	assert_int_equal(weight(f, d, "n0009", "n0001"), 0);
	demand_put(d);
	fabric_put(f);
}

static void destinations_keep_the_order_of_the_file(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct demand *d =
		must_read("n0009: n0007=5,n0002=1\nn0002: n0007=1,n0011=0\n", NULL, f, NULL);

	(void)state;
	assert_int_equal(d->ndest, 3);
	assert_int_equal(d->dest[0], term(f, "n0007"));
	assert_int_equal(d->dest[1], term(f, "n0002"));
	assert_int_equal(d->dest[2], term(f, "n0011"));
	assert_int_equal(d->off[d->nterm], d->npair);
	assert_int_equal(d->npair, 3);
	demand_put(d);
	fabric_put(f);
}

static void a_pair_that_comes_again_adds_up_without_overflow(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct demand_builder *b = demand_builder_new(f);
	struct demand *d;

	(void)state;
	demand_builder_add(b, 0, 1, UINT64_MAX - 5);
	demand_builder_add(b, 2, 1, UINT64_MAX / 255);
	demand_builder_add(b, 0, 1, 10);
	demand_builder_add(b, 2, 3, UINT64_MAX / 255 + 1);
	d = demand_build(b);
	assert_int_equal(d->npair, 3);
	assert_true(d->max_bytes == UINT64_MAX);
	assert_int_equal(demand_weight(d, 0, 1), 255);
	assert_int_equal(demand_weight(d, 2, 1), 1);
	assert_int_equal(demand_weight(d, 2, 3), 2);
	assert_ptr_equal(demand_get(d), d);
	demand_put(d);
	demand_put(d);
	fabric_put(f);
}

static void ranks_add_up_to_nodes(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct rank_file *ranks = must_read_ranks("0-1: n0003 # comments end nothing else\n"
						  "rank 2=n0001 slot=0:1\n"
						  "3-4 : n[0005-0006]\n"
						  "6:n0001\n");
	struct demand *d = must_read("0: 1=700,2=100,3=10\n1: 2=150\n2: 0=5\n6: 1=20\n3: 6=1\n",
				     ranks, f, NULL);
	char name[HOSTLIST_NAME];

	(void)state;
	assert_true(rank_file_node(ranks, 4, name));
	assert_string_equal(name, "n0006");
	assert_false(rank_file_node(ranks, 5, name));
	assert_false(rank_file_node(ranks, 7, name));
	assert_false(rank_file_node(ranks, 1ull << 32, name));
	assert_int_equal(d->max_bytes, 250);
	assert_int_equal(weight(f, d, "n0003", "n0001"), 255);
	assert_int_equal(weight(f, d, "n0003", "n0005"), 11); /* 10.2 */
	assert_int_equal(weight(f, d, "n0001", "n0003"), 26); /* 25.5 */
	assert_int_equal(weight(f, d, "n0005", "n0001"), 2);
	assert_int_equal(d->npair, 4);
	rank_file_free(ranks);
	demand_put(d);
	fabric_put(f);
}

static struct fabric *two_rails(void)
{
	struct freeze_opts opts = { .lmc = 0 };
	struct builder *b = builder_new();
	struct fabric *f = NULL;
	uint32_t sw, ca;
	struct err err;

	assert_int_equal(builder_node(&sw, b, NODE_SWITCH, 0x100, 8, "s", &err), 0);
	for (uint32_t i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%u", i);
		assert_int_equal(builder_node(&ca, b, NODE_CA, 0x10 + i, 2, name, &err), 0);
		for (uint32_t p = 1; p <= (i < 2 ? 2 : 1); p++) {
			assert_int_equal(builder_port_guid(b, ca, p, 0x1000 + 16 * i + p, &err), 0);
			assert_int_equal(builder_link(b, sw, 2 * i + p, ca, p, &err), 0);
		}
	}
	assert_int_equal(builder_freeze(&f, b, &opts, &err), 0);
	builder_free(b);
	return f;
}

static void several_ports_share_the_bytes_of_their_node(void **state)
{
	struct fabric *f = two_rails();
	struct demand *d = must_read("n0: n1=201,n2=202\n", NULL, f, NULL);
	uint32_t a[2], b[2], c;

	(void)state;
	assert_int_equal(f->nterm, 5);
	assert_int_equal(fabric_terms_by_name(f, "n0", a, 2), 2);
	assert_int_equal(fabric_terms_by_name(f, "n1", b, 2), 2);
	assert_int_equal(fabric_terms_by_name(f, "n2", &c, 1), 1);
	assert_int_equal(d->npair, 4);
	assert_int_equal(d->max_bytes, 101);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(demand_weight(d, a[i], b[i]), 255);
		assert_int_equal(demand_weight(d, a[i], c), 255);
		assert_int_equal(demand_weight(d, a[i], b[!i]), 0);
	}
	demand_put(d);
	fabric_put(f);
}

static void unknown_nodes_are_left_out_with_a_warning(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct read_report report;
	struct demand *d =
		must_read("n0000: gone=10,n0001=4\nmissing: n0000=9\n", NULL, f, &report);

	(void)state;
	assert_int_equal(report.warnings, 2);
	assert_int_equal(report.notes[1].line, 2);
	assert_non_null(strstr(report.notes[1].text, "missing"));
	assert_int_equal(d->npair, 1);
	assert_int_equal(weight(f, d, "n0000", "n0001"), 255);
	demand_put(d);
	fabric_put(f);
}

static void mistakes_are_told_with_file_and_line(void **state)
{
	static const struct {
		const char *ranks, *text, *where, *what;
	} cases[] = {
		{ NULL, "n0000: n0001=1\nhello\n", "demand.txt:2: ", "source: destination=bytes" },
		{ NULL, "n0000 n0001=1\n", "demand.txt:1: ", "source: destination=bytes" },
		{ NULL, ": n0001=1\n", "demand.txt:1: ", "source: destination=bytes" },
		{ NULL, "n0000: n0001\n", "demand.txt:1: ", "destination=bytes" },
		{ NULL, "n0000: n0001=\n", "demand.txt:1: ", "not a number of bytes" },
		{ NULL, "n0000: n0001=x7\n", "demand.txt:1: ", "not a number of bytes: x7" },
		{ NULL, "n0000: n0001=7x\n", "demand.txt:1: ", "not a number of bytes" },
		{ NULL, "n0000: n0001=-7\n", "demand.txt:1: ", "not a number of bytes" },
		{ NULL, "n0000: n0001=7 n0001=8\n", "demand.txt:1: ", "not a number of bytes" },
		{ NULL, "n0000: n0001=99999999999999999999\n", "demand.txt:1: ", "not a number" },
		{ NULL, "n0000: n0001=7,,\n", "demand.txt:1: ", "destination=bytes" },
		{ NULL, "\n# nothing\n", "demand.txt: ", "no demand" },
		{ NULL, "gone: n0001=7\n", "demand.txt: ", "no demand" },
		{ "0: n0000\n", "0: 1=7\n", "demand.txt:1: ", "no such rank: 1" },
		{ "0: n0000\n2: n0001\n", "1: 0=7\n", "demand.txt:1: ", "no such rank: 1" },
		{ "0: n0000\n", "n0000: n0001=7\n", "demand.txt:1: ", "not a rank: n0000" },
		{ "0: n0000\n", "0x: 0=7\n", "demand.txt:1: ", "not a rank: 0x" },
		{ "0: n0000\n", "0: 0x=7\n", "demand.txt:1: ", "not a rank: 0x" },
	};
	struct fabric *f = net_tree(2, 1, 2, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rank_file *r = cases[i].ranks ? must_read_ranks(cases[i].ranks) : NULL;
		struct demand *d = NULL;
		struct err err = { "" };

		assert_int_equal(read_demand(&d, cases[i].text, r, f, NULL, &err), -EINVAL);
		if (strncmp(err.text, cases[i].where, strlen(cases[i].where)) ||
		    !strstr(err.text, cases[i].what))
			fail_msg("case %zu: %s", i, err.text);
		assert_null(d);
		rank_file_free(r);
	}
	fabric_put(f);
}

static void mistakes_in_rank_files_are_told_with_file_and_line(void **state)
{
	static const struct {
		const char *text, *where, *what;
	} cases[] = {
		{ "0: n1\nn2: 1\n", "ranks.txt:2: ", "rank: node" },
		{ "0 n1\n", "ranks.txt:1: ", "rank: node" },
		{ "12x: n1\n", "ranks.txt:1: ", "rank: node" },
		{ "3-4x: n1\n", "ranks.txt:1: ", "rank: node" },
		{ "3-1: n1\n", "ranks.txt:1: ", "not a range" },
		{ "3-x: n1\n", "ranks.txt:1: ", "not a range" },
		{ "0-99999999999: n1\n", "ranks.txt:1: ", "not a range" },
		{ "0: n1\n\n0: n2\n", "ranks.txt:3: ", "rank 0 appears twice, on n1 and on n2" },
		{ "3: n3\n0-5: n[10-15]\n", "ranks.txt:2: ",
		  "rank 3 appears twice, on n3 and on n13" },
		{ "0-2: n[1-2]\n", "ranks.txt:1: ", "3 ranks and 2 nodes" },
		{ "0: \n", "ranks.txt:1: ", "1 ranks and 0 nodes" },
		{ "0: n[2-1]\n", "ranks.txt:1: ", "position" },
		{ "# none\n", "ranks.txt: ", "no rank in it" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		FILE *in = text_file(cases[i].text, strlen(cases[i].text));
		struct rank_file *r = NULL;
		struct err err = { "" };

		assert_int_equal(rank_file_read(&r, in, "ranks.txt", NULL, &err), -EINVAL);
		if (strncmp(err.text, cases[i].where, strlen(cases[i].where)) ||
		    !strstr(err.text, cases[i].what))
			fail_msg("case %zu: %s", i, err.text);
		assert_null(r);
		fclose(in);
	}
}

struct damaged {
	const struct fabric *f;
	const struct rank_file *ranks;
};

static int try_demand(FILE *in, void *ctx)
{
	const struct damaged *x = ctx;
	struct demand *d = NULL;
	struct err err = { "" };
	int rc = demand_file_read(&d, in, "damaged", x->ranks, x->f, NULL, &err);

	assert_true(rc ? err.text[0] : d->npair <= 8);
	demand_put(d);
	return rc;
}

static int try_ranks(FILE *in, void *ctx)
{
	struct rank_file *r = NULL;
	struct err err = { "" };
	int rc = rank_file_read(&r, in, "damaged", NULL, &err);

	(void)ctx;
	assert_true(!rc || err.text[0]);
	rank_file_free(r);
	return rc;
}

static void damaged_files_do_no_harm(void **state)
{
	static const char nodes[] = "n0000: n0001=1048576,n0002=17\nn0001: n0000=4\n";
	static const char ranks[] = "0: 1=1048576,2=17\n1: 0=4\n";
	static const char places[] = "0-1: n[0000-0001]\nrank 2=n0002 slot=0\n";
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct rank_file *r = must_read_ranks(places);
	struct damaged by_node = { f, NULL }, by_rank = { f, r };
	struct survived s = damage(nodes, strlen(nodes), 5, 2000, try_demand, &by_node);

	(void)state;
	assert_true(s.accepted > 50 && s.refused > 50);
	s = damage(ranks, strlen(ranks), 6, 2000, try_demand, &by_rank);
	assert_true(s.accepted > 50 && s.refused > 50);
	s = damage(places, strlen(places), 7, 2000, try_ranks, NULL);
	assert_true(s.accepted > 50 && s.refused > 50);
	rank_file_free(r);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_become_weights_and_none_is_lost),
		cmocka_unit_test(destinations_keep_the_order_of_the_file),
		cmocka_unit_test(a_pair_that_comes_again_adds_up_without_overflow),
		cmocka_unit_test(ranks_add_up_to_nodes),
		cmocka_unit_test(several_ports_share_the_bytes_of_their_node),
		cmocka_unit_test(unknown_nodes_are_left_out_with_a_warning),
		cmocka_unit_test(mistakes_are_told_with_file_and_line),
		cmocka_unit_test(mistakes_in_rank_files_are_told_with_file_and_line),
		cmocka_unit_test(damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
