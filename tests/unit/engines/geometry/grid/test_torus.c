/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/torus.h"

#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/shuffled.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool are_neighbours(const struct grid *g, uint32_t a, uint32_t b)
{
	uint32_t d = grid_dim(g, a, b), apart;

	if (d == FAB_NONE)
		return false;
	apart = (uint32_t)abs(grid_coord(g, a)[d] - grid_coord(g, b)[d]);
	return g->kind[d] == GRID_FULL || apart == 1 ||
	       (g->kind[d] == GRID_RING && apart == g->size[d] - 1);
}

static bool are_cabled(const struct fabric *f, uint32_t a, uint32_t b)
{
	for (uint32_t c = f->chan_off[a]; c < f->chan_off[a + 1]; c++)
		if (f->chan_dst[c] == b)
			return true;
	return false;
}

static void assert_grid_is_the_fabric(const char *what, const struct grid *g,
				      const struct fabric *f)
{
	for (uint32_t a = 0; a < f->nsw; a++) {
		assert_int_equal(g->at[grid_cell(g, grid_coord(g, a))], a);
		for (uint32_t b = 0; b < f->nsw; b++)
			if (a != b && are_cabled(f, a, b) != are_neighbours(g, a, b))
				fail_msg("%s: %s and %s", what, f->sw_name[a], f->sw_name[b]);
	}
}

static void dimensions_are_found_whatever_guids_and_ports_are(void **state)
{
	static const struct {
		const char *spec, *dims, *kinds; /* F, R, L as in enum grid_kind */
	} want[] = {
		{ "torus:dims=5x7", "7x5", "RR" },
		{ "torus:dims=6x5x5,links=2", "6x5x5", "RRR" },
		{ "torus:dims=3x3x3", "3x3x3", "FFF" },
		{ "torus:dims=3x5", "5x3", "RF" },
		{ "torus:dims=2x3x5", "5x3x2", "RFF" },
		{ "torus:dims=2x2", "2x2", "FF" },
		{ "torus:dims=4", "2x2", "FF" },
		{ "torus:dims=4x4", "2x2x2x2", "FFFF" },
		{ "torus:dims=4x5", "5x2x2", "RFF" },
		{ "torus:dims=11", "11", "R" },
		{ "torus:dims=5", "5", "R" },
		{ "torus:dims=2", "2", "F" },
		{ "torus:dims=1", "", "" },
		{ "hyperx:dims=4x3,links=3", "4x3", "FF" },
		{ "hyperx:dims=6", "6", "F" },
		{ "hyperx:dims=2x2x2x2x2", "2x2x2x2x2", "FFFFF" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		for (uint64_t seed = 0; seed <= 3; seed++) {
			struct fabric *f = shuffled_topo(want[i].spec, seed);
			struct grid *g = NULL;
			struct err err = { "" };
			char dims[64] = "";

			if (torus_find(&g, f, &err))
				fail_msg("%s: %s", want[i].spec, err.text);
			assert_int_equal(g->ndims, strlen(want[i].kinds));
			if (g->ndims)
				grid_dims_text(dims, sizeof(dims), g);
			assert_string_equal(dims, want[i].dims);
			for (uint32_t d = 0; d < g->ndims; d++)
				assert_int_equal("FRL"[g->kind[d]], want[i].kinds[d]);
			assert_grid_is_the_fabric(want[i].spec, g, f);
			grid_free(g);
			fabric_put(f);
		}
}

static void chains_and_meshes_have_lines(void **state)
{
	(void)state;
	for (uint32_t n = 3; n <= 9; n++) {
		struct fabric *f = net_chain(n, 1, FAB_NONE, NULL);
		struct grid *g;

		assert_int_equal(torus_find(&g, f, NULL), 0);
		assert_int_equal(g->ndims, 1);
		assert_int_equal(g->kind[0], GRID_LINE);
		assert_grid_is_the_fabric("chain", g, f);
		assert_int_equal(grid_coord(g, 0)[0], 0);
		grid_free(g);
		fabric_put(f);
	}
}

static void the_same_fabric_gives_the_same_numbers(void **state)
{
	struct fabric *f = shuffled_topo("torus:dims=6x5", 4);
	struct grid *a, *b;

	(void)state;
	assert_int_equal(torus_find(&a, f, NULL), 0);
	assert_int_equal(torus_find(&b, f, NULL), 0);
	assert_memory_equal(a->coord, b->coord, 2 * f->nsw * sizeof(*a->coord));
	assert_int_equal(grid_coord(a, 0)[0], 0);
	assert_int_equal(grid_coord(a, 0)[1], 0);
	grid_free(a);
	grid_free(b);
	fabric_put(f);
}

static void what_is_no_whole_grid_is_refused_with_the_reason(void **state)
{
	static const struct {
		const char *spec, *why;
	} want[] = {
		{ "fattree2:leaves=6,spines=4,hosts=2", "over two neighbours in common" },
		{ "dragonfly:p=2", "not a" },
		{ "slimfly:q=5", "not a" },
		{ "kautz:b=3,n=2", "not a" },
		{ "torus:dims=5x5,fail=1", "not an intact torus or mesh" },
		{ "torus:dims=6x7,fail=3", "not an intact torus or mesh" },
		{ "hyperx:dims=5x4,fail=2", "not a" },
		{ "random:switches=20,links=40,seed=1", "not a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		for (uint64_t seed = 0; seed <= 2; seed++) {
			struct fabric *f = shuffled_topo(want[i].spec, seed);
			struct err err = { "" };
			struct grid *g;

			assert_int_equal(torus_find(&g, f, &err), -EINVAL);
			if (!strstr(err.text, want[i].why))
				fail_msg("%s: %s", want[i].spec, err.text);
			fabric_put(f);
		}
}

/* Whatever random graphs are taken for, it is what they are. */
static void random_fabrics_are_refused_or_really_are_grids(void **state)
{
	uint32_t found = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct fabric *f = net_random(seed, 2 + seed % 7, 1 + seed % 11, 1, NULL);
		struct grid *g;

		if (!torus_find(&g, f, NULL)) {
			assert_grid_is_the_fabric("random", g, f);
			grid_free(g);
			found++;
		}
		fabric_put(f);
	}
	assert_in_range(found, 10, 390);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dimensions_are_found_whatever_guids_and_ports_are),
		cmocka_unit_test(chains_and_meshes_have_lines),
		cmocka_unit_test(the_same_fabric_gives_the_same_numbers),
		cmocka_unit_test(what_is_no_whole_grid_is_refused_with_the_reason),
		cmocka_unit_test(random_fabrics_are_refused_or_really_are_grids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
