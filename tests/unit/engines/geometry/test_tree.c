/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ftree routes as a tree is the same tree that the views show. */
#include "engines/geometry/topology_kind.h"
#include "tests/unit/kit/shuffled.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Levels to route by and rows to look at are one, but for idle switches. */
static void assert_one_tree(struct fabric *f, uint32_t nlevel, uint32_t idle)
{
	struct topology_kind *seen = topology_kind_new(f), *routed;

	assert_int_equal(topology_kind_find(&routed, f, TOPOLOGY_TREE, NULL, NULL), 0);
	assert_int_equal(seen->kind, TOPOLOGY_TREE);
	assert_int_equal(seen->tree->nrow, nlevel);
	assert_int_equal(routed->tree->nlevel, nlevel);
	for (uint32_t u = 0; u < f->nsw; u++) {
		assert_int_equal(seen->tree->row[u], routed->tree->row[u]);
		if (routed->tree->level[u] == TREE_IDLE)
			idle--;
		else
			assert_int_equal(routed->tree->level[u], seen->tree->row[u]);
	}
	assert_int_equal(idle, 0);
	topology_kind_free(seen);
	topology_kind_free(routed);
	fabric_put(f);
}

static void engines_and_views_see_one_tree(void **state)
{
	(void)state;
	assert_one_tree(shuffled_topo("fattree2:leaves=6,spines=3,hosts=4", 1), 2, 0);
	assert_one_tree(shuffled_topo("kary:k=3,n=3", 2), 3, 0);
	assert_one_tree(shuffled_topo("kary:k=3,n=3,fail=5", 3), 3, 1);
	assert_one_tree(net_broken_tree(6, 4, 4), 2, 0);
}

static void a_leaf_with_few_hosts_is_beside_the_others(void **state)
{
	struct fabric *f = net_uneven_tree(5, 2, 4);
	struct topology_kind *s = topology_kind_new(f);
	uint32_t rows[2] = { 0 };

	(void)state;
	for (uint32_t u = 0; u < f->nsw; u++)
		rows[s->tree->row[u]]++;
	assert_int_equal(rows[0], 5);
	assert_int_equal(rows[1], 2);
	topology_kind_free(s);
	assert_one_tree(f, 2, 1);
}

/* Fewer ways than ftree wants are enough for rows. */
static void what_ftree_refuses_may_be_a_tree_to_look_at(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=10,spines=5,hosts=6,fail=20");
	struct topology_kind *s = topology_kind_new(f), *none;
	struct err err;

	(void)state;
	assert_int_equal(s->kind, TOPOLOGY_TREE);
	assert_int_equal(s->tree->nrow, 2);
	assert_int_equal(topology_kind_find(&none, f, TOPOLOGY_TREE, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "two thirds must be"));
	topology_kind_free(s);
	fabric_put(f);
	f = net_ring(5, 1, NULL);
	s = topology_kind_new(f);
	assert_int_equal(s->kind, TOPOLOGY_GENERAL);
	assert_null(s->tree);
	topology_kind_free(s);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_and_views_see_one_tree),
		cmocka_unit_test(a_leaf_with_few_hosts_is_beside_the_others),
		cmocka_unit_test(what_ftree_refuses_may_be_a_tree_to_look_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
