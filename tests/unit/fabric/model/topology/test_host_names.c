/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which ends of one name are of one host, and what the node-name-map says about it. */
#include "fabric/model/topology/host_names.h"

#include "fabric/format/site/pin_text.h"
#include "fabric/format/ibnetdiscover/ibnd.h"
#include "fabric/model/topology/builder.h"
#include "fabric/model/topology/end_find.h"
#include "fabric/model/traffic/jobset.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct ca {
	uint64_t node, system;
	const char *desc;
	uint32_t ports;
};

static void need(int rc, const struct err *err)
{
	if (rc)
		fail_msg("%s", err->text);
}

/* All on one switch, in that order; the port GUIDs are node + port. */
static struct fabric *fabric_of(const struct ca *ca, uint32_t n, const struct name_map *names)
{
	struct freeze_opts opts = { .lmc = 0, .names = names };
	struct builder *b = builder_new();
	struct fabric *f = NULL;
	uint32_t sw, id, at = 1;
	struct err err;

	need(builder_node(&sw, b, NODE_SWITCH, 0x99, 254, "sw", &err), &err);
	for (uint32_t i = 0; i < n; i++) {
		need(builder_node(&id, b, NODE_CA, ca[i].node, ca[i].ports, ca[i].desc, &err),
		     &err);
		builder_set_system(b, id, ca[i].system);
		for (uint32_t p = 1; p <= ca[i].ports; p++)
			need(builder_link(b, sw, at++, id, p, &err), &err);
	}
	need(builder_freeze(&f, b, &opts, &err), &err);
	builder_free(b);
	return f;
}

static bool is_certain(const struct ca *ca, uint32_t n)
{
	struct fabric *f = fabric_of(ca, n, NULL);
	bool none = !f->nambiguous;

	fabric_put(f);
	return none;
}

static void ports_of_one_host_are_told_by_guids_and_devices(void **state)
{
	const struct ca one_hca[] = { { 0x100, 0x100, "n1", 2 } };
	const struct ca one_machine[] = { { 0x100, 0x100, "n1", 1 }, { 0x200, 0x100, "n1", 1 } };
	const struct ca devices[] = { { 0x100, 0x100, "n1 mlx5_0", 2 },
				      { 0x200, 0x200, "n1 mlx5_1", 2 },
				      { 0x300, 0x300, "n1 mlx5_2", 2 } };

	(void)state;
	assert_true(is_certain(one_hca, 1));
	assert_true(is_certain(one_machine, 2));
	assert_true(is_certain(devices, 3));
}

static void two_hosts_of_one_name_are_ambiguous(void **state)
{
	const struct ca plain[] = { { 0x100, 0x100, "n1", 1 }, { 0x200, 0x200, "n1", 1 } };
	const struct ca unknown[] = { { 0x100, 0, "n1", 1 }, { 0x200, 0, "n1", 1 } };
	const struct ca same[] = { { 0x100, 0x100, "n1 HCA-1", 1 },
				   { 0x200, 0x200, "n1 HCA-2", 1 },
				   { 0x300, 0x300, "n1 HCA-1", 1 } };
	const struct ca half[] = { { 0x100, 0x100, "n1 HCA-1", 1 }, { 0x200, 0x200, "n1", 1 } };
	char text[200];
	struct fabric *f;

	(void)state;
	assert_false(is_certain(plain, 2));
	assert_false(is_certain(unknown, 2));
	assert_false(is_certain(half, 2));
	f = fabric_of(same, 3, NULL);
	assert_int_equal(f->nambiguous, 1);
	for (uint32_t t = 0; t < 3; t++)
		assert_true(f->term_ambiguous[t]);
	host_names_text(text, sizeof(text), f, 1);
	assert_string_equal(text, "n1: ports 0x0000000000000101 at sw/1, 0x0000000000000201 at "
				  "sw/2 and 0x0000000000000301 at sw/3");
	assert_int_equal(host_names_next_ambiguous(f, 0), 0);
	assert_int_equal(host_names_next_ambiguous(f, 1), FAB_NONE);
	fabric_put(f);
}

static void the_map_says_who_is_who(void **state)
{
	const struct ca two[] = { { 0x100, 0x100, "n1", 1 }, { 0xabcdef, 0xabcdef, "n1", 1 } };
	const struct ca own[] = { { 0x100, 0x100, "x", 1 }, { 0x200, 0x100, "n1", 1 } };
	struct name_map *m = name_map_new();
	uint32_t term;
	struct fabric *f;

	(void)state;
	name_map_add(m, 0x100, "n1");
	f = fabric_of(two, 2, m);
	assert_int_equal(f->nambiguous, 0);
	assert_int_equal(fabric_terms_by_name(f, "n1", &term, 1), 1);
	assert_int_equal(f->term_guid[term], 0x101);
	assert_int_equal(fabric_terms_by_name(f, "n1-abcdef", &term, 1), 1);
	fabric_put(f);
	/* another device of that machine keeps its name */
	f = fabric_of(own, 2, m);
	assert_int_equal(f->nambiguous, 0);
	assert_int_equal(fabric_terms_by_name(f, "n1", &term, 1), 2);
	fabric_put(f);
	/* both, said the operator */
	name_map_add(m, 0xabcdef, "n1");
	f = fabric_of(two, 2, m);
	assert_int_equal(f->nambiguous, 0);
	assert_int_equal(fabric_terms_by_name(f, "n1", &term, 1), 2);
	fabric_put(f);
	name_map_free(m);
}

static void a_name_that_changes_is_seen_and_the_map_holds(void **state)
{
	const struct ca two[] = { { 0x100, 0, "n1", 1 }, { 0x200, 0, "n2", 1 } };
	char other[] = "n1 HCA-1", *desc[] = { NULL, other };
	struct name_map *m = name_map_new();
	struct fabric *f = fabric_of(two, 2, NULL), *g;

	(void)state;
	g = fabric_renamed(f, desc);
	fabric_put(f);
	assert_string_equal(g->term_name[1], "n1");
	assert_int_equal(g->nambiguous, 1);
	fabric_put(g);
	name_map_add(m, 0x200, "n2");
	f = fabric_of(two, 2, m);
	g = fabric_renamed(f, desc);
	assert_string_equal(g->term_name[1], "n2");
	assert_string_equal(g->term_desc[1], "n1 HCA-1");
	assert_int_equal(g->nambiguous, 0);
	fabric_put(g);
	fabric_put(f);
	name_map_free(m);
	assert_true(host_names_same_desc("n1 HCA-1", " n1"));
	assert_true(host_names_same_desc("n\"1", "n'1 x"));
	assert_false(host_names_same_desc("n1", "n10"));
	assert_false(host_names_same_desc("n10", "n1"));
}

static void every_end_has_a_name_of_its_own(void **state)
{
	const struct ca all[] = { { 0x100, 0, "n1", 2 },	{ 0x200, 0, "n2 mlx5_0", 1 },
				  { 0x300, 0, "n2 mlx5_1", 1 }, { 0x400, 0, "n3", 1 },
				  { 0x500, 0, "n3", 1 },	{ 0x600, 0, "n4 HCA-1", 1 },
				  { 0x1000700, 0, "n5", 1 },	{ 0x2000700, 0, "n5", 1 } };
	static const char *const want[] = {
		"n1/1",	     "n1/2", "n2/mlx5_0/1",	      "n2/mlx5_1/1",	      "n3/000401",
		"n3/000501", "n4",   "n5/0x0000000001000701", "n5/0x0000000002000701"
	};
	struct fabric *f = fabric_of(all, 8, NULL);
	char name[100];
	struct err err;

	(void)state;
	assert_int_equal(f->nterm, 9);
	for (uint32_t t = 0; t < f->nterm; t++) {
		uint32_t end;
		uint16_t lid;

		assert_string_equal(end_name(name, sizeof(name), f, t), want[t]);
		need(end_find(&end, &lid, f, name, &err), &err);
		assert_int_equal(end, t);
	}
	fabric_put(f);
}

static void pinned_as(const struct fabric *f, const char *text, const char *as, uint32_t n)
{
	struct route_limits *l = NULL, *again = NULL;
	struct err err;

	need(route_limits_pin(&l, f, NULL, text, &err), &err);
	assert_int_equal(route_limits_pinned(l, f), n);
	assert_string_equal(l->pin_text, as);
	need(route_limits_pin(&again, f, NULL, as, &err), &err);
	assert_memory_equal(again->pin, l->pin, f->nterm * sizeof(*l->pin));
	route_limits_free(again);
	route_limits_free(l);
}

/* As hosts are shown where the middle of their name has no room. */
static void a_host_is_found_and_pinned_by_its_name_without_the_middle(void **state)
{
	const struct ca all[] = { { 0x100, 0, "rack1-node-01", 2 },
				  { 0x400, 0, "rack1-gpu-01", 1 },
				  { 0x500, 0, "rack1-login-01", 1 } };
	struct fabric *f = fabric_of(all, 3, NULL);
	struct route_limits *l = NULL;
	struct err err = { "" };
	uint32_t end;
	uint16_t lid;

	(void)state;
	pinned_as(f, "rack..e-01", "rack1-node-01", 1); /* with all its ports */
	pinned_as(f, "rack1..u-01", "rack1-gpu-01", 1);
	assert_int_equal(route_limits_pin(&l, f, NULL, "rack1..-01", &err), -EINVAL);
	assert_non_null(strstr(err.text, "may be rack1-gpu-01, rack1-login-01 or 1 more"));
	need(end_find(&end, &lid, f, "rack1..u-01", &err), &err);
	assert_string_equal(f->term_name[end], "rack1-gpu-01");
	need(end_find(&end, &lid, f, "rack1..e-01/2", &err), &err);
	assert_string_equal(f->term_name[end], "rack1-node-01");
	assert_int_equal(f->term_ca_port[end], 2);
	assert_int_equal(end_find(&end, &lid, f, "rack..n-01", &err), 0);
	assert_string_equal(f->term_name[end], "rack1-login-01");
	assert_int_equal(end_find(&end, &lid, f, "r..01", &err), -EINVAL);
	assert_non_null(strstr(err.text, "\"r..01\" may be rack1-"));
	assert_int_equal(end_find(&end, &lid, f, "r..02", &err), -ENOENT);
	route_limits_free(l);
	fabric_put(f);
}

static void one_of_several_ends_of_a_name_is_pinned(void **state)
{
	const struct ca all[] = { { 0x100, 0, "n1", 2 },
				  { 0x400, 0, "n3", 1 },
				  { 0x500, 0, "n3", 1 },
				  { 0x600, 0, "n4", 1 } };
	struct fabric *f = fabric_of(all, 4, NULL);

	(void)state;
	pinned_as(f, "n1/2", "n1/2", 1);
	pinned_as(f, "n1/2 n1/1 n4", "n[1,4]", 2);
	pinned_as(f, "n3", "n3", 1);
	pinned_as(f, "n3/000501", "n3/000501", 1);
	pinned_as(f, "n3/0x0000000000000501", "n3/000501", 1);
	fabric_put(f);
}

static void a_file_tells_machines_apart(void **state)
{
	const struct ca two[] = { { 0x100, 0x700, "n1", 1 }, { 0x200, 0x700, "n1", 1 } };
	struct fabric *f = fabric_of(two, 2, NULL), *g;
	struct builder *b;
	struct err err;
	char *text;
	size_t len;
	FILE *m = open_memstream(&text, &len);

	(void)state;
	need(ibnd_write(m, f, &err), &err);
	fclose(m);
	assert_non_null(strstr(text, "sysimgguid=0x700\ncaguid=0x200\n"));
	m = fmemopen(text, len, "r");
	need(ibnd_read(&b, m, "net", NULL, &err), &err);
	fclose(m);
	need(builder_freeze(&g, b, NULL, &err), &err);
	builder_free(b);
	assert_int_equal(g->term_sys_guid[1], 0x700);
	assert_int_equal(g->nambiguous, 0);
	fabric_put(g);
	fabric_put(f);
	free(text);
}

/* Vendors deliver hundreds of hosts with one description. */
static void a_job_gets_all_ports_of_a_name_once(void **state)
{
	struct ca many[200];
	const char *nodes[] = { "MT4129", "MT4129", "gone" };
	struct job head = { .id = 7 };
	struct jobset_builder *b;
	struct fabric *f;
	struct jobset *js;

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		many[i] = (struct ca){ 0x1000 + 16 * i, 0, "MT4129 ConnectX7", 1 };
	f = fabric_of(many, 200, NULL);
	assert_int_equal(f->nambiguous, 1);
	b = jobset_builder_new(f, "test");
	jobset_builder_add(b, &head, nodes, 3);
	jobset_builder_add(b, &head, nodes, 1);
	js = jobset_build(b);
	assert_int_equal(js->jobs[0].nterm, 200);
	assert_int_equal(js->jobs[1].nterm, 200);
	assert_int_equal(js->jobs[0].unknown + js->jobs[1].unknown, 1);
	assert_int_equal(job_ambiguous(&js->jobs[0], f), 0);
	jobset_put(js);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_of_one_host_are_told_by_guids_and_devices),
		cmocka_unit_test(two_hosts_of_one_name_are_ambiguous),
		cmocka_unit_test(the_map_says_who_is_who),
		cmocka_unit_test(a_name_that_changes_is_seen_and_the_map_holds),
		cmocka_unit_test(every_end_has_a_name_of_its_own),
		cmocka_unit_test(a_host_is_found_and_pinned_by_its_name_without_the_middle),
		cmocka_unit_test(one_of_several_ends_of_a_name_is_pinned),
		cmocka_unit_test(a_file_tells_machines_apart),
		cmocka_unit_test(a_job_gets_all_ports_of_a_name_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
