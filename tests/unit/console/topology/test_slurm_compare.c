/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/topology/slurm_compare.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/slurm/slurm_write.h"
#include "fabric/format/slurm/slurm_yaml.h"
#include "fabric/model/topology/builder.h"
#include "fabric/sim/topology/topo.h"
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

#define TREE "fattree2:leaves=4,spines=2,hosts=3"
#define PODS "kary:k=2,n=3"

static struct fabric *generated(const char *spec)
{
	struct fabric *f = NULL;
	struct builder *b = NULL;
	struct err err = { "" };

	if (topo_build(&b, spec, &err) || builder_freeze(&f, b, NULL, &err))
		fail_msg("%s", err.text);
	builder_free(b);
	return f;
}

enum form { CONF, YAML };

static char *written(const struct fabric *f, bool blocks, enum form form)
{
	struct slurm_view *v = slurm_view_new(f);
	struct slurm_topology *topo = NULL;
	struct err err = { "" };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (slurm_view_topology(&topo, v, blocks, &err))
		fail_msg("%s", err.text);
	slurm_view_comments(out, v, blocks);
	if (form == YAML)
		slurm_yaml_write(out, topo, "fabric");
	else
		slurm_topology_write(out, topo);
	fclose(out);
	slurm_topology_free(topo);
	slurm_view_free(v);
	return text;
}

/* What differs, a line each: "LINE TEXT". */
static char *compared(const struct fabric *f, const char *text, enum form form)
{
	struct slurm_view *v = slurm_view_new(f);
	struct slurm_topology *topo = NULL;
	struct slurm_compare *c;
	struct err err = { "" };
	char *said = NULL;
	size_t len;
	FILE *in = text_file(text, strlen(text)), *out = open_memstream(&said, &len);

	if (form == YAML ? slurm_yaml_read(&topo, in, "file", NULL, &err)
			 : slurm_topology_read(&topo, in, "file", NULL, &err))
		fail_msg("%s", err.text);
	c = slurm_compare_new(v, topo);
	for (size_t i = 0; i < c->n; i++)
		fprintf(out, "%llu %s\n", (unsigned long long)c->v[i].line, c->v[i].text);
	fclose(out);
	fclose(in);
	slurm_compare_free(c);
	slurm_topology_free(topo);
	slurm_view_free(v);
	return said;
}

static void said_of(const char *spec, const char *text, const char *want)
{
	struct fabric *f = generated(spec);
	char *said = compared(f, text, CONF);

	assert_string_equal(said, want);
	free(said);
	fabric_put(f);
}

static void leaves_and_what_joins_them_become_a_tree(void **state)
{
	struct fabric *f = generated(TREE);
	char *text = written(f, false, CONF);

	(void)state;
	assert_non_null(strstr(text, "# spine1 stands for spine[1-2]\n"));
	assert_non_null(strstr(text, "\nSwitchName=leaf1 Nodes=n[0001-0003]\n"));
	assert_non_null(strstr(text, "\nSwitchName=spine1 Switches=leaf[1-4]\n"));
	free(text);
	fabric_put(f);
}

static void pods_are_a_level_of_their_own(void **state)
{
	struct fabric *f = generated(PODS);
	char *text = written(f, false, CONF);

	(void)state;
	assert_non_null(strstr(text, "\nSwitchName=agg1 Switches=leaf[1-2]\n"));
	assert_non_null(strstr(text, "\nSwitchName=agg3 Switches=leaf[3-4]\n"));
	assert_non_null(strstr(text, "\nSwitchName=core1 Switches=agg[1,3]\n"));
	free(text);
	fabric_put(f);
}

static void blocks_name_the_size_of_the_smallest(void **state)
{
	struct fabric *f = generated(TREE);
	char *text = written(f, true, CONF);

	(void)state;
	assert_non_null(strstr(text, "\nBlockName=leaf4 Nodes=n[0010-0012]\nBlockSizes=3\n"));
	assert_null(strstr(text, "spine"));
	free(text);
	fabric_put(f);
}

static void what_is_written_of_any_kind_of_fabric_does_not_differ(void **state)
{
	static const char *const specs[] = { TREE,
					     PODS,
					     "hyperx:dims=4x3,hosts=2",
					     "dragonfly:p=2",
					     "torus:dims=3x3,hosts=2",
					     "random:switches=12,links=30,hosts=2,seed=3",
					     "fattree2:leaves=1,spines=1,hosts=4" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++)
		for (int blocks = 0; blocks < 2; blocks++)
			for (enum form form = CONF; form <= YAML; form++) {
				struct fabric *f = generated(specs[i]);
				char *text = written(f, blocks, form);
				char *said = compared(f, text, form);

				assert_string_equal(said, "");
				free(said);
				free(text);
				fabric_put(f);
			}
}

static void a_host_under_another_switch_is_told_with_its_line(void **state)
{
	(void)state;
	said_of(TREE,
		"SwitchName=leaf1 Nodes=n[0001-0002]\n"
		"SwitchName=leaf2 Nodes=n[0003-0006]\n"
		"SwitchName=leaf3 Nodes=n[0007-0009]\n"
		"SwitchName=leaf4 Nodes=n[0010-0012]\n"
		"SwitchName=top Switches=leaf[1-4]\n",
		"2 host n0003 is under leaf2; in the fabric it is on leaf1\n");
}

static void hosts_that_one_side_does_not_have_are_told(void **state)
{
	(void)state;
	said_of(TREE,
		"SwitchName=leaf1 Nodes=n[0001-0003],old[1-2]\n"
		"SwitchName=leaf2 Nodes=n[0004-0005]\n"
		"SwitchName=leaf3 Nodes=n[0007-0009]\n"
		"SwitchName=leaf4 Nodes=n[0010-0012]\n",
		"1 hosts old[1-2] are not in the fabric\n"
		"0 host n0006 on leaf2 is not in the file\n");
}

static void switches_that_one_side_does_not_have_are_told(void **state)
{
	(void)state;
	said_of(TREE,
		"SwitchName=leaf1 Nodes=n[0001-0003]\n"
		"SwitchName=leaf2 Nodes=n[0004-0006]\n"
		"SwitchName=leaf3 Nodes=n[0007-0009]\n"
		"SwitchName=leaf9 Nodes=gone[1-3]\n",
		"4 hosts gone[1-3] are not in the fabric\n"
		"4 switch leaf9 is not in the fabric\n"
		"0 switch leaf4 with hosts n[0010-0012] is not in the file\n");
}

/* Whatever the operator calls them. */
static void a_switch_is_known_by_its_hosts(void **state)
{
	(void)state;
	said_of(TREE,
		"SwitchName=rack1 Nodes=n[0001-0003]\n"
		"SwitchName=rack2 Nodes=n[0004-0006,0012]\n"
		"SwitchName=rack3 Nodes=n[0007-0009]\n"
		"SwitchName=rack4 Nodes=n[0010-0011]\n"
		"SwitchName=row Switches=rack[1-4]\n",
		"2 host n0012 is under rack2; in the fabric it is on leaf4\n");
}

static void a_leaf_in_another_pod_is_told(void **state)
{
	(void)state;
	said_of("kary:k=3,n=3",
		"SwitchName=leaf1 Nodes=n[0001-0003]\nSwitchName=leaf2 Nodes=n[0004-0006]\n"
		"SwitchName=leaf3 Nodes=n[0007-0009]\nSwitchName=leaf4 Nodes=n[0010-0012]\n"
		"SwitchName=leaf5 Nodes=n[0013-0015]\nSwitchName=leaf6 Nodes=n[0016-0018]\n"
		"SwitchName=leaf7 Nodes=n[0019-0021]\nSwitchName=leaf8 Nodes=n[0022-0024]\n"
		"SwitchName=leaf9 Nodes=n[0025-0027]\n"
		"SwitchName=pod1 Switches=leaf[1-4]\n"
		"SwitchName=pod2 Switches=leaf[5-6]\n"
		"SwitchName=pod3 Switches=leaf[7-9]\n"
		"SwitchName=top Switches=pod[1-3]\n",
		"10 switch leaf4 is under pod1, whose others are under agg1 in the fabric; it is "
		"under agg4\n");
}

/* SLURM puts so many blocks in a row together; pods of three leaves are no power of two. */
static void blocks_of_a_pod_are_a_size_of_their_own(void **state)
{
	static const struct {
		const char *spec, *conf, *yaml;
	} nets[] = {
		{ PODS, "\nBlockSizes=2,4\n", "    block_sizes:\n      - 2\n      - 4\n" },
		{ "kary:k=4,n=3", "\nBlockSizes=4,16\n", "      - 4\n      - 16\n    blocks" },
		{ "kary:k=2,n=4", "\nBlockSizes=2,4,8\n", "      - 2\n      - 4\n      - 8\n" },
		{ "kary:k=3,n=3", "\nBlockSizes=3\n", "    block_sizes:\n      - 3\n    blocks" },
		{ "dragonfly:p=2,a=4,h=2", "\nBlockSizes=2,8\n", "      - 2\n      - 8\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		struct fabric *f = generated(nets[i].spec);
		char *conf = written(f, true, CONF), *yaml = written(f, true, YAML);

		if (!strstr(conf, nets[i].conf) || !strstr(yaml, nets[i].yaml))
			fail_msg("%s: %s%s", nets[i].spec, strstr(conf, "BlockSizes"), yaml);
		free(conf);
		free(yaml);
		fabric_put(f);
	}
}

static void a_host_outside_of_its_block_is_told(void **state)
{
	(void)state;
	said_of(TREE,
		"BlockName=b1 Nodes=n[0001-0003]\nBlockName=b2 Nodes=n[0004-0006]\n"
		"BlockName=b3 Nodes=n[0008-0010]\nBlockName=b4 Nodes=n[0007,0011-0012]\n"
		"BlockSizes=3\n",
		"3 host n0010 is in block b3; in the fabric it is on leaf4\n"
		"4 host n0007 is in block b4; in the fabric it is on leaf3\n");
}

/* Each switch names the next and the first: the levels end, and nothing is said twice. */
static void switches_in_a_circle_end(void **state)
{
	char text[20000], *said;
	struct fabric *f = generated(TREE);
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 200; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "SwitchName=s%d Switches=s%d,s0\n", i, (i + 1) % 200);
	snprintf(text + n, sizeof(text) - n, "SwitchName=leaf1 Nodes=n[0001-0003]\n");
	said = compared(f, text, CONF);
	assert_non_null(strstr(said, "switch leaf2 with hosts n[0004-0006] is not in the file"));
	free(said);
	fabric_put(f);
}

/* A port of the host on each of two fabrics; names of switches as a vendor writes them. */
static struct fabric *two_rails(void)
{
	static const char *const names[] = { "MF0;leaf a:MQM8700/U1", "MF0;leaf b:MQM8700/U1",
					     "MF0;leaf,c:MQM8700/U1" };
	struct builder *b = builder_new();
	struct fabric *f = NULL;
	struct err err = { "" };
	uint32_t sw[3], host;

	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(builder_node(&sw[i], b, NODE_SWITCH, 0x100 + i, 8, names[i], &err),
				 0);
	assert_int_equal(builder_link(b, sw[0], 8, sw[1], 8, &err), 0);
	for (uint32_t i = 0; i < 4; i++) {
		char name[20];

		snprintf(name, sizeof(name), "n%u mlx5_0", i);
		assert_int_equal(builder_node(&host, b, NODE_CA, 0x200 + i, 2, name, &err), 0);
		assert_int_equal(builder_link(b, host, 1, sw[i / 2], 1 + i, &err), 0);
		assert_int_equal(builder_link(b, host, 2, sw[2], 1 + i, &err), 0);
	}
	if (builder_freeze(&f, b, &(struct freeze_opts){ .lmc = -1 }, &err))
		fail_msg("%s", err.text);
	builder_free(b);
	return f;
}

static void a_host_with_two_rails_is_listed_once_and_fits_under_both(void **state)
{
	struct fabric *f = two_rails();
	char *text = written(f, false, CONF), *said;

	(void)state;
	assert_non_null(strstr(text, "# 4 hosts have ports on several switches"));
	assert_non_null(strstr(text, "SwitchName=leaf_a Nodes=n[0-1]\n"));
	assert_non_null(strstr(text, "SwitchName=leaf_b Nodes=n[2-3]\n"));
	assert_null(strstr(text, "leaf_c Nodes"));
	said = compared(f, text, CONF);
	assert_string_equal(said, "");
	free(said);
	said = compared(f, "SwitchName=leaf_c Nodes=n[0-3]\n", CONF);
	assert_string_equal(said, "");
	free(said);
	free(text);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_and_what_joins_them_become_a_tree),
		cmocka_unit_test(pods_are_a_level_of_their_own),
		cmocka_unit_test(blocks_name_the_size_of_the_smallest),
		cmocka_unit_test(what_is_written_of_any_kind_of_fabric_does_not_differ),
		cmocka_unit_test(a_host_under_another_switch_is_told_with_its_line),
		cmocka_unit_test(hosts_that_one_side_does_not_have_are_told),
		cmocka_unit_test(switches_that_one_side_does_not_have_are_told),
		cmocka_unit_test(a_switch_is_known_by_its_hosts),
		cmocka_unit_test(a_leaf_in_another_pod_is_told),
		cmocka_unit_test(blocks_of_a_pod_are_a_size_of_their_own),
		cmocka_unit_test(a_host_outside_of_its_block_is_told),
		cmocka_unit_test(switches_in_a_circle_end),
		cmocka_unit_test(a_host_with_two_rails_is_listed_once_and_fits_under_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
