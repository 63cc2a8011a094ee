/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tori and meshes are recognised with cables missing, with rings of four, by any names. */
#include "engines/geometry/topology_kind.h"
#include "tests/unit/kit/shuffled.h"
#include "tests/unit/kit/small_net.h"
#include "views/heatmap/heat_layout.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t count_missing(const struct topology_kind *s, const struct fabric *f)
{
	uint32_t all = 0, pairs = 0;

	for (uint32_t d = 0; d < s->grid->ndims; d++)
		all += f->nsw / s->grid->size[d] *
		       (grid_is_ring(s->grid, d) ? s->grid->size[d] : s->grid->size[d] - 1);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
			bool again = f->chan_dst[c] < sw;

			for (uint32_t e = f->chan_off[sw]; e < c; e++)
				again |= f->chan_dst[e] == f->chan_dst[c];
			pairs += !again;
		}
	return all - pairs;
}

/* Every switch has a place of its own, and every cable joins neighbours: no other proof of the
 * dimensions is needed.  dims: largest first. */
static void check(const struct fabric *f, const char *dims, uint32_t missing, bool rings)
{
	struct topology_kind *s = topology_kind_new(f);
	uint8_t *taken = xcalloc(f->nsw, 1);
	char text[64] = "";

	assert_int_equal(s->kind, TOPOLOGY_TORUS);
	for (uint32_t d = 0; d < s->grid->ndims; d++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), d ? "x%u" : "%u",
			 s->grid->size[d]);
		assert_int_equal(grid_is_ring(s->grid, d), rings && s->grid->size[d] > 2);
	}
	assert_string_equal(text, dims);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t at = 0;

		for (uint32_t d = 0; d < s->grid->ndims; d++)
			at = at * s->grid->size[d] + grid_coord(s->grid, sw)[d];
		assert_true(at < f->nsw);
		assert_false(taken[at]);
		taken[at] = 1;
	}
	for (uint32_t c = 0; c < f->nchan; c++) {
		const uint16_t *a = grid_coord(s->grid, f->chan_src[c]);
		const uint16_t *b = grid_coord(s->grid, f->chan_dst[c]);
		uint32_t differ = 0;

		for (uint32_t d = 0; d < s->grid->ndims; d++) {
			uint32_t apart = (uint32_t)abs(a[d] - b[d]);

			differ += apart != 0;
			assert_true(apart <= 1 || apart == s->grid->size[d] - 1);
		}
		assert_int_equal(differ, 1);
	}
	assert_int_equal(s->grid->missing, missing);
	assert_int_equal(count_missing(s, f), missing);
	free(taken);
	topology_kind_free(s);
}

static const struct {
	const char *spec, *dims;
	bool rings;
} nets[] = {
	{ "torus:dims=4x4x4", "4x4x4", true }, { "torus:dims=5x4x3", "5x4x3", true },
	{ "torus:dims=6x5x5", "6x5x5", true }, { "torus:dims=8x4x4,links=2x1x1", "8x4x4", true },
	{ "torus:dims=7x6", "7x6", true },     { "torus:dims=4x4x4x4", "4x4x4x4", true },
	{ "torus:dims=3x5x4", "5x4x3", true }, { "mesh:dims=6x5x3", "6x5x3", false },
};

#define NNETS (sizeof(nets) / sizeof(nets[0]))

static void whole_ones_are_found_by_any_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < NNETS; i++)
		for (uint64_t seed = 0; seed < 4; seed++) {
			struct fabric *f = shuffled_topo(nets[i].spec, seed);

			check(f, nets[i].dims, 0, nets[i].rings);
			fabric_put(f);
		}
}

static void up_to_three_cables_may_be_missing_anywhere(void **state)
{
	char spec[96];

	(void)state;
	for (size_t i = 0; i < NNETS; i++)
		for (uint32_t seed = 1; seed <= 12; seed++) {
			/* in two dimensions there are too few squares to lose many */
			uint32_t fail = strchr(nets[i].spec, 'x') == strrchr(nets[i].spec, 'x')
						? 1
						: 1 + seed % 3;
			struct fabric *f;

			if (strchr(nets[i].spec, ','))
				continue;
			snprintf(spec, sizeof(spec), "%s,fail=%u,seed=%u", nets[i].spec, fail,
				 seed);
			f = shuffled_topo(spec, seed);
			check(f, nets[i].dims, fail, nets[i].rings);
			fabric_put(f);
		}
}

/* In two dimensions a few missing cables leave too few squares; the ports tell, unless rows that
 * are next to each other fall apart.  What is found is right; what falls apart is not found, or by
 * its names. */
/* The ends of a mesh have fewer ports, so that no rule of cabling helps.  Three missing side by
 * side at an edge may leave a switch several places: that is seldom. */
static void two_dimensions_of_a_mesh_are_put_together_from_pieces(void **state)
{
	uint32_t found = 0;
	char spec[64];

	(void)state;
	for (uint32_t seed = 1; seed <= 24; seed++)
		for (uint32_t fail = 1; fail <= 3; fail += 2) {
			struct topology_kind *s;
			struct fabric *f;

			snprintf(spec, sizeof(spec), "mesh:dims=8x7,fail=%u,seed=%u", fail, seed);
			f = shuffled_topo(spec, seed);
			s = topology_kind_new(f);
			found += s->kind == TOPOLOGY_TORUS;
			if (fail == 1 || s->kind == TOPOLOGY_TORUS)
				check(f, "8x7", fail, false);
			topology_kind_free(s);
			fabric_put(f);
		}
	assert_in_range(found, 44, 48);
}

static void a_refusal_names_a_switch(void **state)
{
	struct fabric *f = net_spec("mesh:dims=8x8,fail=10,seed=1");
	struct topology_kind *s;
	struct err err;

	(void)state;
	assert_int_equal(topology_kind_find(&s, f, TOPOLOGY_TORUS, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, " (sw"));
	fabric_put(f);
}

static void ports_cabled_by_rule_tell_what_squares_do_not(void **state)
{
	static const struct {
		const char *spec, *dims;
		uint32_t fail;
		bool rings;
		uint32_t found; /* of 12, at least */
	} of[] = { { "torus:dims=7x6", "7x6", 4, true, 10 },
		   { "torus:dims=12x10", "12x10", 6, true, 12 },
		   { "torus:dims=9x8,links=2x1", "9x8", 0, true, 12 } };
	uint32_t by_ports = 0;
	char spec[96];

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		uint32_t found = 0;

		for (uint32_t seed = 1; seed <= 12; seed++) {
			struct fabric *f;
			struct topology_kind *s;

			snprintf(spec, sizeof(spec), "%s,fail=%u,seed=%u", of[i].spec, of[i].fail,
				 seed);
			f = net_spec(spec);
			s = topology_kind_new(f);
			if (s->kind == TOPOLOGY_TORUS) {
				found++;
				check(f, of[i].dims, of[i].fail, of[i].rings);
			}
			by_ports += strstr(s->note, "dimensions from port numbers") != NULL;
			topology_kind_free(s);
			fabric_put(f);
		}
		print_message("%s, %u missing: %u of 12 found\n", of[i].spec, of[i].fail, found);
		assert_true(found >= of[i].found);
	}
	print_message("%u by ports\n", by_ports);
	assert_true(by_ports >= 12);
}

/* Ports of no rule are no proof of anything: such a fabric is what it was taken for before. */
static void ports_without_rule_prove_nothing(void **state)
{
	static const char *const specs[] = { "random:switches=24,links=48,hosts=1",
					     "fattree2:leaves=6,spines=3,hosts=3",
					     "hyperx:dims=4x4,hosts=1" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct topology_kind *s = topology_kind_new(f);

		assert_int_not_equal(s->kind, TOPOLOGY_TORUS);
		topology_kind_free(s);
		fabric_put(f);
	}
}

/* Names "s-1-2-3" of what the generator numbers x first. */
static void name_by_place(struct fabric *f, char (*names)[40], const uint32_t dim[3])
{
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t at = (uint32_t)strtoul(f->sw_name[sw] + 2, NULL, 10) - 1;

		snprintf(names[sw], sizeof(*names), "s-%u-%u-%u", at % dim[0] + 1,
			 at / dim[0] % dim[1] + 1, at / dim[0] / dim[1] + 1);
		f->sw_name[sw] = names[sw];
	}
}

static void coordinates_in_names_are_taken_when_all_cables_agree(void **state)
{
	static const uint32_t dim[] = { 7, 6, 1 };
	static char names[42][40];
	struct fabric *f = net_spec("torus:dims=7x6,fail=6,seed=4");
	struct topology_kind *s;

	(void)state;
	assert_memory_equal(f->sw_name[0], "sw", 2);
	name_by_place(f, names, dim);
	check(f, "7x6", 6, true);
	s = topology_kind_new(f);
	assert_string_equal(s->note, "6 cables missing, dimensions from switch names");
	assert_int_equal(grid_coord(s->grid, 0)[1], grid_coord(s->grid, 6)[1]);
	topology_kind_free(s);
	/* one name that lies: the cables are asked */
	f->sw_name[3] = names[9];
	s = topology_kind_new(f);
	assert_null(strstr(s->note, "from switch names"));
	topology_kind_free(s);
	fabric_put(f);
}

static void rings_of_four_are_those_of_the_ports(void **state)
{
	struct fabric *f = net_spec("torus:dims=4x4x4,fail=2,seed=3");
	struct topology_kind *s = topology_kind_new(f);
	uint32_t differ[3][3] = { { 0 } };

	(void)state;
	assert_string_equal(s->note, "2 cables missing, rings of 4 by port numbers");
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t a = (uint32_t)strtoul(f->sw_name[f->chan_src[c]] + 2, NULL, 10) - 1;
		uint32_t b = (uint32_t)strtoul(f->sw_name[f->chan_dst[c]] + 2, NULL, 10) - 1;
		uint32_t made = a / 4 != b / 4 ? a / 16 != b / 16 ? 2 : 1 : 0;

		for (uint32_t d = 0; d < 3; d++)
			differ[made][d] += grid_coord(s->grid, f->chan_src[c])[d] !=
					   grid_coord(s->grid, f->chan_dst[c])[d];
	}
	/* each dimension of the generator is one found here, whichever */
	for (uint32_t made = 0; made < 3; made++) {
		uint32_t used = 0;

		for (uint32_t d = 0; d < 3; d++)
			used += differ[made][d] != 0;
		assert_int_equal(used, 1);
	}
	topology_kind_free(s);
	fabric_put(f);
}

static void a_hypercube_has_rings_of_four_and_says_that_others_would_do(void **state)
{
	struct fabric *f = shuffled_topo("torus:dims=4x4x4", 5);
	struct topology_kind *s = topology_kind_new(f);

	(void)state;
	assert_string_equal(s->note, "it is unknown which 2x2 are a ring of 4");
	topology_kind_free(s);
	fabric_put(f);
}

static void what_is_none_says_why(void **state)
{
	static const char *const none[] = { "random:switches=40,links=90,hosts=2,seed=1",
					    "slimfly:q=5" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fabric *f = net_spec(none[i]);
		struct topology_kind *s = topology_kind_new(f);

		assert_int_equal(s->kind, TOPOLOGY_GENERAL);
		assert_memory_equal(s->note, "not a torus: ", 10);
		assert_true(strlen(s->note) > 20);
		topology_kind_free(s);
		fabric_put(f);
	}
}

/* The planes of the heatmap hold every cable also where some are missing. */
static void planes_of_a_broken_torus_hold_every_cable(void **state)
{
	struct fabric *f = net_spec("torus:dims=5x4x3,fail=3,seed=2");
	struct topology_kind *s = topology_kind_new(f);
	struct heat_layout *l = heat_layout_new(f, s, NULL);
	uint32_t cables = 0;

	(void)state;
	for (uint32_t k = 0; k < 3; k++) {
		assert_int_equal(strncmp(l->plane[k].title, "dimension ", 10), 0);
		cables += l->plane[k].row_off[l->plane[k].nrow];
	}
	assert_int_equal(cables * 2, f->nchan);
	assert_string_equal(l->note, s->note);
	heat_layout_free(l);
	topology_kind_free(s);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_ones_are_found_by_any_names),
		cmocka_unit_test(up_to_three_cables_may_be_missing_anywhere),
		cmocka_unit_test(two_dimensions_of_a_mesh_are_put_together_from_pieces),
		cmocka_unit_test(a_refusal_names_a_switch),
		cmocka_unit_test(ports_cabled_by_rule_tell_what_squares_do_not),
		cmocka_unit_test(ports_without_rule_prove_nothing),
		cmocka_unit_test(coordinates_in_names_are_taken_when_all_cables_agree),
		cmocka_unit_test(rings_of_four_are_those_of_the_ports),
		cmocka_unit_test(a_hypercube_has_rings_of_four_and_says_that_others_would_do),
		cmocka_unit_test(what_is_none_says_why),
		cmocka_unit_test(planes_of_a_broken_torus_hold_every_cable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
