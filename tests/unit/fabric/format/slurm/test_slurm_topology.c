/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/mem.h"
#include "fabric/format/slurm/slurm_topology.h"
#include "fabric/format/slurm/slurm_write.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static int read_text(struct slurm_topology **topo, const char *text, struct read_report *report,
		     struct err *err)
{
	FILE *in = text_file(text, strlen(text));
	int rc = slurm_topology_read(topo, in, "topology.conf", report, err);

	fclose(in);
	return rc;
}

static struct fabric *built(const struct slurm_topology *topo)
{
	struct builder *b = builder_new();
	struct freeze_opts opts = { .lmc = -1 };
	struct fabric *f = NULL;
	struct err err = { "" };

	if (slurm_topology_build(b, topo, &err) || builder_freeze(&f, b, &opts, &err))
		fail_msg("%s", err.text);
	builder_free(b);
	return f;
}

static const char tree[] = "\xef\xbb\xbf# a small tree\r\n"
			   "SwitchName=leaf1 Nodes=n[3-4],n[1-2] LinkSpeed=100\r\n"
			   "switchname=leaf2 nodes=n[5-8] # comment\r\n"
			   "SwitchName=mid Switches=leaf1,\\\r\n"
			   "leaf2\r\n"
			   "SwitchName=top Switches=mid,leaf[1-1]\r\n";

static void a_tree_has_levels_nodes_and_links(void **state)
{
	struct slurm_topology *topo = NULL;
	struct read_report report;
	struct err err = { "" };
	struct fabric *f;

	(void)state;
	assert_int_equal(read_text(&topo, tree, &report, &err), 0);
	assert_int_equal(report.warnings, 0);
	assert_int_equal(slurm_topology_count(topo), 4);
	assert_string_equal(slurm_topology_switch(topo, 0)->name, "leaf1");
	assert_int_equal(slurm_topology_switch(topo, 0)->level, 0);
	assert_int_equal(slurm_topology_switch(topo, 0)->link_speed, 100);
	assert_string_equal(slurm_topology_switch(topo, 0)->nodes[0], "n1");
	assert_int_equal(slurm_topology_switch(topo, 2)->level, 1);
	assert_int_equal(slurm_topology_switch(topo, 2)->nbelow, 2);
	f = built(topo);
	assert_int_equal(f->nsw, 4);
	assert_int_equal(f->nterm, 8);
	assert_int_equal(f->nchan, 2 * 4);
	assert_true(fabric_connected(f));
	fabric_put(f);
	slurm_topology_free(topo);
}

/* A switch above lists all nodes below it; they are not its own. */
static void what_scontrol_shows_is_the_same_tree(void **state)
{
	static const char shown[] =
		"SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]\n"
		"SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3]\n"
		"SwitchName=s2 Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=s[0-1]\n";
	struct slurm_topology *topo = NULL;
	struct read_report report;
	struct err err = { "" };

	(void)state;
	assert_int_equal(read_text(&topo, shown, &report, &err), 0);
	assert_int_equal(report.warnings, 0);
	assert_int_equal(slurm_topology_switch(topo, 1)->nnodes, 2);
	assert_int_equal(slurm_topology_switch(topo, 2)->nnodes, 0);
	assert_int_equal(slurm_topology_switch(topo, 2)->nbelow, 2);
	assert_int_equal(slurm_topology_switch(topo, 2)->level, 1);
	slurm_topology_free(topo);
}

static void blocks_are_switches_with_nodes(void **state)
{
	static const char blocks[] = "BlockName=b1 BlockIndex=0 Nodes=n[0-3] BlockSize=4\n"
				     "BlockName=b2 Nodes=n[4-7]\nBlockSizes=4,8\n";
	struct slurm_topology *topo = NULL;
	struct read_report report;
	struct err err = { "" };

	(void)state;
	assert_int_equal(read_text(&topo, blocks, &report, &err), 0);
	assert_int_equal(report.warnings, 0);
	assert_int_equal(slurm_topology_count(topo), 2);
	assert_string_equal(slurm_topology_switch(topo, 1)->name, "b2");
	assert_string_equal(slurm_topology_switch(topo, 1)->nodes[3], "n7");
	slurm_topology_free(topo);
}

static void what_is_written_is_read_as_the_same_topology(void **state)
{
	struct slurm_topology *a = NULL, *b = NULL;
	struct err err = { "" };
	char *text = NULL;
	size_t len;
	FILE *out;

	(void)state;
	assert_int_equal(read_text(&a, tree, NULL, &err), 0);
	out = open_memstream(&text, &len);
	slurm_topology_write(out, a);
	fclose(out);
	assert_int_equal(read_text(&b, text, NULL, &err), 0);
	assert_int_equal(slurm_topology_count(b), slurm_topology_count(a));
	for (uint32_t i = 0; i < slurm_topology_count(a); i++) {
		const struct slurm_switch *x = slurm_topology_switch(a, i);
		const struct slurm_switch *y = slurm_topology_switch(b, i);

		assert_string_equal(x->name, y->name);
		assert_int_equal(x->nnodes, y->nnodes);
		assert_int_equal(x->nbelow, y->nbelow);
		assert_int_equal(x->level, y->level);
		assert_int_equal(x->link_speed, y->link_speed);
		for (uint32_t k = 0; k < x->nnodes; k++)
			assert_string_equal(x->nodes[k], y->nodes[k]);
		for (uint32_t k = 0; k < x->nbelow; k++)
			assert_int_equal(x->below[k], y->below[k]);
	}
	free(text);
	slurm_topology_free(a);
	slurm_topology_free(b);
}

static void the_same_file_gives_the_same_fabric(void **state)
{
	struct slurm_topology *topo[2] = { NULL, NULL };
	struct err err;
	struct fabric *a, *b;

	(void)state;
	assert_int_equal(read_text(&topo[0], tree, NULL, &err), 0);
	assert_int_equal(read_text(&topo[1], tree, NULL, &err), 0);
	a = built(topo[0]);
	b = built(topo[1]);
	assert_true(digest_equal(&a->fingerprint, &b->fingerprint));
	fabric_put(a);
	fabric_put(b);
	slurm_topology_free(topo[0]);
	slurm_topology_free(topo[1]);
}

static void switches_in_a_circle_have_levels_and_one_link_per_pair(void **state)
{
	struct slurm_topology *topo = NULL;
	struct read_report report;
	struct err err = { "" };
	struct fabric *f;

	(void)state;
	assert_int_equal(read_text(&topo,
				   "SwitchName=a Switches=b,c,a\n"
				   "SwitchName=b Switches=a,c\n"
				   "SwitchName=c Nodes=n1\n"
				   "SwitchName=d Nodes=n1 Switches=ghost\n"
				   "SwitchName=a Switches=d\n",
				   &report, &err),
			 0);
	/* a twice; ghost is not described; n1 is under two */
	assert_int_equal(report.warnings, 3);
	assert_int_equal(slurm_topology_count(topo), 5);
	assert_int_equal(slurm_topology_switch(topo, 0)->level, 1);
	assert_int_equal(slurm_topology_switch(topo, 1)->level, 1);
	f = built(topo);
	assert_int_equal(f->nchan, 2 * 5);
	assert_int_equal(f->nterm, 2); /* n1 has a port on each of two switches */
	fabric_put(f);
	slurm_topology_free(topo);
}

static void mistakes_in_node_lists_are_told_with_file_and_line(void **state)
{
	struct slurm_topology *topo = NULL;
	struct err err;

	(void)state;
	assert_int_equal(read_text(&topo, "\nSwitchName=a Nodes=n[1-\n", NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "topology.conf:2: node list, position 5"));
	assert_int_equal(read_text(&topo, "hello\n", NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no SwitchName="));
	assert_null(topo);
}

static void a_node_under_two_switches_is_told_with_both_lines(void **state)
{
	static const char twice[] = "SwitchName=leaf1 Nodes=n[1-4]\n"
				    "SwitchName=leaf2 Nodes=n[5-8]\n"
				    "# n4 was moved\n"
				    "SwitchName=leaf3 Nodes=n9,n4\n"
				    "SwitchName=top Level=1 Nodes=n[1-9] Switches=leaf[1-3]\n";
	struct slurm_topology *topo = NULL;
	struct read_report report;
	struct err err = { "" };

	(void)state;
	assert_int_equal(read_text(&topo, twice, &report, &err), 0);
	assert_int_equal(report.warnings, 1);
	assert_int_equal(report.notes[0].line, 4);
	assert_string_equal(report.notes[0].text,
			    "node n4 is under leaf3, and in line 1 under leaf1");
	slurm_topology_free(topo);
}

static void a_switch_with_too_many_ports_is_refused(void **state)
{
	struct builder *b = builder_new();
	struct slurm_topology *topo = NULL;
	struct err err;

	(void)state;
	assert_int_equal(read_text(&topo, "SwitchName=fat Nodes=n[1-300]\n", NULL, &err), 0);
	assert_int_equal(slurm_topology_build(b, topo, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "switch fat has more than 254"));
	slurm_topology_free(topo);
	builder_free(b);
}

static void topologies_of_real_clusters_load(void **state)
{
	static const struct {
		const char *file;
		uint32_t switches, nodes;
	} cases[] = { { "psmn-x5.topology.conf", 11, 89 },
		      { "azure-ndr.slurm-topology.conf", 113, 128 } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *path = shared_file(cases[i].file);
		struct slurm_topology *topo = NULL;
		struct read_report report;
		struct err err = { "" };
		struct fabric *f;
		FILE *in;

		if (!path)
			skip();
		in = fopen(path, "r");
		assert_non_null(in);
		if (slurm_topology_read(&topo, in, path, &report, &err))
			fail_msg("%s", err.text);
		fclose(in);
		assert_int_equal(report.skipped, 0);
		f = built(topo);
		assert_int_equal(f->nsw, cases[i].switches);
		assert_int_equal(f->nterm, cases[i].nodes);
		fabric_put(f);
		slurm_topology_free(topo);
		free(path);
	}
}

static void refused_at_once(const char *text, const char *told)
{
	struct slurm_topology *topo = NULL;
	struct err err = { "" };
	clock_t t0 = clock();

	assert_int_equal(read_text(&topo, text, NULL, &err), -E2BIG);
	if (!strstr(err.text, told))
		fail_msg("%s", err.text);
	assert_true(clock() - t0 < 5 * CLOCKS_PER_SEC);
}

static void lists_that_name_too_many_together_are_refused(void **state)
{
	char text[20000] = "", *at = text;

	(void)state;
	for (int i = 0; i < 400; i++)
		at += sprintf(at, "SwitchName=s%d Nodes=n[0-99999]\n", i);
	refused_at_once(text, ":3: the lists up to here have more than 250000 names");
	refused_at_once("SwitchName=a Switches=b[0-299999]\n", ":1: the lists");
}

/* In the worst order, and with lines that go on for a long time. */
static void time_is_in_proportion_to_the_file(void **state)
{
	const int n = 40000;
	char *text = xcalloc(1, 3000000), *at = text;
	struct slurm_topology *topo = NULL;
	struct err err = { "" };
	clock_t t0 = clock();

	(void)state;
	for (int i = 0; i < n; i++)
		at += sprintf(at, "SwitchName=s%d Switches=s%d\n", i, i + 1);
	at += sprintf(at, "SwitchName=s%d Nodes=n1 \\\n", n);
	for (int i = 0; i < 400000; i++)
		at += sprintf(at, " \\\n");
	sprintf(at, "\n");
	assert_int_equal(read_text(&topo, text, NULL, &err), 0);
	assert_int_equal(slurm_topology_count(topo), n + 1);
	assert_int_equal(slurm_topology_switch(topo, 0)->level, n);
	slurm_topology_free(topo);
	free(text);
	assert_true(clock() - t0 < 10 * CLOCKS_PER_SEC);
}

static void names_are_plain(void **state)
{
	struct slurm_topology *topo = NULL;
	struct err err = { "" };

	(void)state;
	assert_int_equal(read_text(&topo, "SwitchName=s\033[2J Nodes=a\302\233b\n", NULL, &err), 0);
	assert_string_equal(slurm_topology_switch(topo, 0)->name, "s?[2J");
	assert_string_equal(slurm_topology_switch(topo, 0)->nodes[0], "a??b");
	slurm_topology_free(topo);
}

static int try_read(FILE *in, void *ctx)
{
	struct builder *b = builder_new();
	struct slurm_topology *topo = NULL;
	struct read_report report;
	struct err err = { "" };
	int rc = slurm_topology_read(&topo, in, "damaged", &report, &err);

	(void)ctx;
	assert_true(!rc || err.text[0]);
	if (!rc)
		slurm_topology_build(b, topo, &err);
	slurm_topology_free(topo);
	builder_free(b);
	return rc;
}

static void damaged_files_do_no_harm(void **state)
{
	struct survived s = damage(tree, strlen(tree), 61, 3000, try_read, NULL);

	(void)state;
	assert_true(s.accepted > 500);
	assert_true(s.refused > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_has_levels_nodes_and_links),
		cmocka_unit_test(what_scontrol_shows_is_the_same_tree),
		cmocka_unit_test(blocks_are_switches_with_nodes),
		cmocka_unit_test(what_is_written_is_read_as_the_same_topology),
		cmocka_unit_test(the_same_file_gives_the_same_fabric),
		cmocka_unit_test(switches_in_a_circle_have_levels_and_one_link_per_pair),
		cmocka_unit_test(mistakes_in_node_lists_are_told_with_file_and_line),
		cmocka_unit_test(a_node_under_two_switches_is_told_with_both_lines),
		cmocka_unit_test(a_switch_with_too_many_ports_is_refused),
		cmocka_unit_test(topologies_of_real_clusters_load),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(lists_that_name_too_many_together_are_refused),
		cmocka_unit_test(time_is_in_proportion_to_the_file),
		cmocka_unit_test(names_are_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
