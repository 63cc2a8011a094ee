/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/mem.h"
#include "fabric/format/slurm/slurm_yaml.h"
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
	int rc = slurm_yaml_read(topo, in, "topology.yaml", report, err);

	fclose(in);
	return rc;
}

static const char three[] = "\xef\xbb\xbf# three of them\n"
			    "---\n"
			    "- topology: nvl\n"
			    "  cluster_default: false\n"
			    "  block:\n"
			    "    block_sizes:\n"
			    "      - 4\n"
			    "    blocks:\n"
			    "      - block: b1\n"
			    "        nodes: n[1-4]\n"
			    "- topology: ib\n"
			    "  cluster_default: True\n"
			    "  tree:\n"
			    "    switches:\n"
			    "      - switch: root\n"
			    "        children: s[1-2]\n"
			    "      - { switch: s1, nodes: \"n[3-4],n[1-2]\" }\n"
			    "      - switch: s2\n"
			    "        nodes: [ n5, 'n[6-8]' ]\n"
			    "- topology: none\n"
			    "  flat: true\n";

static void the_default_of_several_topologies_is_read(void **state)
{
	struct slurm_topology *topo = NULL;
	struct read_report report;
	struct err err = { "" };
	const struct slurm_switch *s;

	(void)state;
	if (read_text(&topo, three, &report, &err))
		fail_msg("%s", err.text);
	assert_int_equal(report.warnings, 0);
	assert_int_equal(report.records, 3);
	assert_int_equal(slurm_topology_count(topo), 3);
	s = slurm_topology_switch(topo, 0);
	assert_string_equal(s->name, "root");
	assert_int_equal(s->level, 1);
	assert_int_equal(s->nbelow, 2);
	s = slurm_topology_switch(topo, 1);
	assert_int_equal(s->nnodes, 4);
	assert_string_equal(s->nodes[0], "n1");
	s = slurm_topology_switch(topo, 2);
	assert_int_equal(s->nnodes, 4);
	assert_string_equal(s->nodes[3], "n8");
	slurm_topology_free(topo);
}

static void blocks_and_rings_are_switches_with_nodes(void **state)
{
	static const char *const texts[] = {
		"- topology: a\n  block:\n    blocks:\n    - block: p1\n      nodes: n[1-3]\n"
		"    - block: p2\n      nodes: n[4-6]\n",
		"- topology: a\n  ring:\n    rings:\n    - ring: p1\n      nodes: n[1-3]\n"
		"    - ring: p2\n      nodes: n[4-6]\n",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct slurm_topology *topo = NULL;
		struct err err = { "" };

		if (read_text(&topo, texts[i], NULL, &err))
			fail_msg("%s", err.text);
		assert_int_equal(slurm_topology_count(topo), 2);
		assert_string_equal(slurm_topology_switch(topo, 1)->name, "p2");
		assert_int_equal(slurm_topology_switch(topo, 1)->nnodes, 3);
		slurm_topology_free(topo);
	}
}

static void a_flat_default_gives_way_to_one_with_switches_and_says_so(void **state)
{
	struct slurm_topology *topo = NULL;
	struct read_report report;
	struct err err = { "" };

	(void)state;
	if (read_text(&topo,
		      "- topology: none\n  cluster_default: true\n  flat: true\n"
		      "- topology: ib\n  tree:\n    switches:\n    - switch: s1\n      nodes: n1\n",
		      &report, &err))
		fail_msg("%s", err.text);
	assert_int_equal(slurm_topology_count(topo), 1);
	assert_int_equal(report.warnings, 1);
	assert_int_equal(report.notes[0].line, 1);
	assert_non_null(strstr(report.notes[0].text, "no switches: ib is used"));
	slurm_topology_free(topo);
}

static void mistakes_are_told_with_file_and_line(void **state)
{
	static const struct {
		const char *text, *told;
	} cases[] = {
		{ "- topology: a\n  tree: [\n", "topology.yaml:3: not YAML: " },
		{ "- topology: a\n  tree:\n    switches:\n    - nodes: n1\n",
		  "topology.yaml:4: an entry of switches without a name: 'switch: NAME'" },
		{ "- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n[1-\n",
		  "topology.yaml:5: node list, position 5" },
		{ "- topology: a\n  flat: true\n", "no topology with switches, blocks or rings" },
		{ "just a word\n", "no topology with switches, blocks or rings" },
		{ "", "no topology with switches, blocks or rings" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct slurm_topology *topo = NULL;
		struct err err = { "" };

		assert_int_equal(read_text(&topo, cases[i].text, NULL, &err), -EINVAL);
		if (!strstr(err.text, cases[i].told))
			fail_msg("%s", err.text);
		assert_null(topo);
	}
}

static void it_is_told_from_a_topology_conf_by_its_first_words(void **state)
{
	(void)state;
	assert_true(slurm_yaml_is(three));
	assert_true(slurm_yaml_is("# c\r\n---\r\n- \"topology\" : a\r\n"));
	assert_true(slurm_yaml_is("[ { \"topology\": \"a\" } ]"));
	assert_true(slurm_yaml_is("-\n  topology: a\n"));
	assert_false(slurm_yaml_is("# topology: none\nSwitchName=a Nodes=n1\n"));
	assert_false(slurm_yaml_is("SwitchName=topology: Nodes=n1\n"));
	assert_false(slurm_yaml_is("topology\n"));
	assert_false(slurm_yaml_is(""));
}

static int try_read(FILE *in, void *ctx)
{
	struct slurm_topology *topo = NULL;
	struct read_report report;
	struct err err = { "" };
	int rc = slurm_yaml_read(&topo, in, "damaged", &report, &err);

	(void)ctx;
	assert_true(!rc || err.text[0]);
	if (!rc)
		slurm_topology_free(topo);
	return rc;
}

static void damaged_files_do_no_harm(void **state)
{
	struct survived s = damage(three, strlen(three), 67, 3000, try_read, NULL);

	(void)state;
	assert_true(s.accepted > 100);
	assert_true(s.refused > 100);
}

#define SWITCHES "- topology: t\n  tree:\n    switches:\n"

static void refused_at_once(const char *text, int rc, const char *told)
{
	struct slurm_topology *topo = NULL;
	struct err err = { "" };
	clock_t t0 = clock();

	assert_int_equal(read_text(&topo, text, NULL, &err), rc);
	if (!strstr(err.text, told))
		fail_msg("%s", err.text);
	assert_true(clock() - t0 < 5 * CLOCKS_PER_SEC);
}

static char *repeated(const char *head, const char *word, int n, const char *tail)
{
	char *text = xcalloc(1, strlen(head) + (size_t)n * (strlen(word) + 8) + strlen(tail) + 1);
	char *at = text + sprintf(text, "%s", head);

	for (int i = 0; i < n; i++)
		at += sprintf(at, strstr(word, "@") ? "%.*s%d%s" : "%.*s", (int)strcspn(word, "@"),
			      word, i, word + strcspn(word, "@") + 1);
	strcpy(at, tail);
	return text;
}

/* What a few bytes of YAML can stand for. */
static void files_that_take_more_than_their_size_are_refused(void **state)
{
	char *deep = repeated(SWITCHES "      - switch: ", "[", 300000, "\n");
	char *anchors = repeated(SWITCHES, "      - switch: &a@ s1\n", 50000, "");
	char *again = repeated(SWITCHES "      - &x\n        switch: s\n        nodes: n[0-99]\n",
			       "      - *x\n", 50000, "");
	char *lists = repeated(SWITCHES, "      - switch: s@\n        nodes: n[0-9999]\n", 300, "");
	char *empty = repeated(SWITCHES "      - switch: s\n        nodes: &l [\"\"", ",\"\"",
			       300000, "]\n");

	(void)state;
	refused_at_once(deep, -E2BIG, "more than 50 levels");
	refused_at_once(anchors, -E2BIG, "1000 anchors");
	refused_at_once(again, -EINVAL, "a second time by an alias");
	refused_at_once(lists, -E2BIG, "more than 250000 names");
	refused_at_once(empty, -E2BIG, "more than 250000 entries");
	free(deep);
	free(anchors);
	free(again);
	free(lists);
	free(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_default_of_several_topologies_is_read),
		cmocka_unit_test(blocks_and_rings_are_switches_with_nodes),
		cmocka_unit_test(a_flat_default_gives_way_to_one_with_switches_and_says_so),
		cmocka_unit_test(mistakes_are_told_with_file_and_line),
		cmocka_unit_test(it_is_told_from_a_topology_conf_by_its_first_words),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(files_that_take_more_than_their_size_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
