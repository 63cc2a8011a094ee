/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/hyperx.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/builder.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The same cables with other GUIDs, ports, names and LIDs; was[sw]: the switch's old number. */
static struct fabric *shuffled(uint32_t **was, const struct fabric *f, uint64_t seed)
{
	struct freeze_opts opts = { .lmc = 0, .assign_lids = true };
	uint32_t *num = xcalloc(f->nsw, sizeof(*num)), *id = xcalloc(f->nsw, sizeof(*id));
	uint8_t *port = xcalloc(f->nsw, 1);
	struct builder *b = builder_new();
	struct fabric *out = NULL;
	struct err err = { "" };
	struct rng rng;

	rng_seed(&rng, seed);
	for (uint32_t u = 0; u < f->nsw; u++)
		num[u] = u;
	rng_shuffle_u32(&rng, num, f->nsw);
	*was = xcalloc(f->nsw, sizeof(**was));
	for (uint32_t u = 0; u < f->nsw; u++) {
		char name[32];

		(*was)[num[u]] = u;
		snprintf(name, sizeof(name), "x%03u", 7919 * u % 1000);
		assert_int_equal(builder_node(&id[u], b, NODE_SWITCH, 0x9000 + 5ull * num[u], 254,
					      name, &err),
				 0);
	}
	for (uint32_t c = f->nchan; c--;) {
		uint32_t u = f->chan_src[c], v = f->chan_dst[c];

		if (c < f->chan_rev[c])
			assert_int_equal(builder_link(b, id[u], ++port[u], id[v], ++port[v], &err),
					 0);
	}
	assert_int_equal(builder_freeze(&out, b, &opts, &err), 0);
	builder_free(b);
	free(num);
	free(id);
	free(port);
	return out;
}

static struct grid *must_find(const struct fabric *f, const char *spec)
{
	struct grid *g = NULL;
	struct err err = { "" };

	if (hyperx_find(&g, f, NULL, &err))
		fail_msg("%s: %s", spec, err.text);
	return g;
}

/* Two switches share a coordinate of the one exactly when they do so in a dimension of the
 * other. */
static void assert_same_grid(const struct grid *g, const struct grid *h, const uint32_t *was)
{
	bool used[GRID_DIMS_MAX] = { false };

	assert_int_equal(g->ndims, h->ndims);
	for (uint32_t d = 0; d < g->ndims; d++) {
		uint32_t e = 0;

		for (bool same = false; !same; e += !same) {
			same = e < h->ndims && !used[e] && g->size[d] == h->size[e];
			assert_true(e < h->ndims);
			for (uint32_t a = 0; a < g->nsw && same; a++)
				for (uint32_t b = 0; b < a && same; b++)
					same = (grid_coord(g, a)[d] == grid_coord(g, b)[d]) ==
					       (grid_coord(h, was[a])[e] ==
						grid_coord(h, was[b])[e]);
		}
		used[e] = true;
	}
}

/* Where the generator put them: the first dimension counts fastest. */
static struct grid *as_made(uint32_t nsw, uint32_t ndims, const uint32_t *size)
{
	enum grid_kind kind[GRID_DIMS_MAX] = { GRID_FULL };
	struct grid *g = grid_new(nsw, ndims, size, kind);

	for (uint32_t u = 0; u < nsw; u++) {
		uint32_t rest = u;

		for (uint32_t d = 0; d < ndims; d++) {
			g->coord[(size_t)u * ndims + d] = (uint16_t)(rest % size[d]);
			rest /= size[d];
		}
		g->at[u] = u;
	}
	return g;
}

static const struct {
	const char *spec;
	uint32_t ndims, size[4];
	uint32_t missing;
} nets[] = {
	{ "hyperx:dims=12x8,hosts=1", 2, { 12, 8 }, 0 },
	{ "hyperx:dims=8x12,hosts=1", 2, { 8, 12 }, 0 },
	{ "hyperx:dims=5x7,hosts=1", 2, { 5, 7 }, 0 },
	{ "hyperx:dims=4x4x3,hosts=1", 3, { 4, 4, 3 }, 0 },
	{ "hyperx:dims=3x3x3x2,hosts=1", 4, { 3, 3, 3, 2 }, 0 },
	{ "hyperx:dims=2x2x2x2,hosts=1", 4, { 2, 2, 2, 2 }, 0 },
	{ "hyperx:dims=9,hosts=1", 1, { 9 }, 0 },
	{ "hyperx:dims=2,hosts=1", 1, { 2 }, 0 },
	{ "hyperx:dims=6x2,hosts=1,links=1x3", 2, { 6, 2 }, 0 },
	{ "hyperx:dims=4x3,hosts=1,links=2x3", 2, { 4, 3 }, 0 },
	{ "hyperx:dims=12x8,hosts=1,fail=15,seed=3", 2, { 12, 8 }, 15 },
	{ "hyperx:dims=12x8,hosts=1,fail=15%,seed=4", 2, { 12, 8 }, 130 },
	{ "hyperx:dims=5x7,hosts=1,fail=10,seed=2", 2, { 5, 7 }, 10 },
	{ "hyperx:dims=4x4x3,hosts=1,fail=20,seed=5", 3, { 4, 4, 3 }, 20 },
	{ "hyperx:dims=3x3x3x2,hosts=1,fail=15,seed=6", 4, { 3, 3, 3, 2 }, 15 },
	{ "hyperx:dims=9,hosts=1,fail=7,seed=7", 1, { 9 }, 7 },
	{ "torus:dims=3x3x3,hosts=1", 3, { 3, 3, 3 }, 0 },
};

static void dimensions_and_points_are_found_from_the_cables(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		struct fabric *f = net_spec(nets[i].spec);
		struct grid *made = as_made(f->nsw, nets[i].ndims, nets[i].size);

		for (uint64_t seed = 1; seed <= 3; seed++) {
			uint32_t *was;
			struct fabric *s = shuffled(&was, f, seed);
			struct grid *g = must_find(s, nets[i].spec);

			assert_same_grid(g, made, was);
			assert_int_equal(g->missing, nets[i].missing);
			for (uint32_t d = 1; d < g->ndims; d++)
				assert_true(g->size[d - 1] >= g->size[d]);
			for (uint32_t u = 0; u < g->nsw; u++)
				assert_int_equal(g->at[grid_cell(g, grid_coord(g, u))], u);
			grid_free(g);
			fabric_put(s);
			free(was);
		}
		grid_free(made);
		fabric_put(f);
	}
}

/* Without the cables of one switch in a whole dimension it is still placed by the others. */
static void a_switch_cut_from_its_line_is_placed_by_the_other_dimension(void **state)
{
	struct fabric *f = net_spec("hyperx:dims=6x5,hosts=0");
	struct freeze_opts opts = { .lmc = 0 };
	static const uint32_t size[] = { 6, 5 };
	struct grid *made = as_made(30, 2, size), *g;
	struct builder *b = builder_new();
	struct fabric *cut = NULL;
	uint32_t id[30], same[30];
	struct err err;

	(void)state;
	for (uint32_t u = 0; u < 30; u++) {
		same[u] = u;
		assert_int_equal(builder_node(&id[u], b, NODE_SWITCH, f->sw_guid[u], 20, "s", &err),
				 0);
	}
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t u = f->chan_src[c], v = f->chan_dst[c];

		if (u < v && !((u == 8 || v == 8) && grid_dim(made, u, v) == 1))
			assert_int_equal(builder_link(b, id[u], f->chan_port[c], id[v],
						      f->chan_rport[c], &err),
					 0);
	}
	assert_int_equal(builder_freeze(&cut, b, &opts, &err), 0);
	g = must_find(cut, "6x5");
	assert_same_grid(g, made, same);
	assert_int_equal(g->missing, 4);
	grid_free(g);
	grid_free(made);
	builder_free(b);
	fabric_put(cut);
	fabric_put(f);
}

static void one_switch_is_a_grid_without_dimensions(void **state)
{
	struct fabric *f = net_spec("hyperx:dims=1,hosts=4");
	struct grid *g = must_find(f, "one switch");
	char text[16];

	(void)state;
	assert_int_equal(g->ndims, 0);
	assert_int_equal(g->ncell, 1);
	assert_int_equal(g->at[0], 0);
	assert_string_equal(grid_dims_text(text, sizeof(text), g), "1");
	grid_free(g);
	fabric_put(f);
}

static void what_is_no_hyperx_is_refused_with_the_reason(void **state)
{
	static const char *const specs[] = {
		"torus:dims=5x5,hosts=1",
		"torus:dims=7x7x7,hosts=1",
		"torus:dims=6x3,hosts=1",
		"dragonfly:p=2",
		"dragonfly:p=4",
		"dragonfly:a=4,h=1,g=5,p=1",
		"slimfly:q=5",
		"fattree2:leaves=8,spines=4,hosts=6",
		"fattree3:k=6",
		"kary:k=3,n=3,hosts=3",
		"oft:k=4",
		"kautz:b=3,n=2,hosts=2",
		"random:switches=25,links=60,hosts=3,seed=1",
		"random:switches=40,links=300,hosts=3,seed=2",
		"hyperx:dims=6x6,hosts=1,fail=45%,seed=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct grid *g = NULL;
		struct err err = { "" };

		assert_int_equal(hyperx_find(&g, f, NULL, &err), -EINVAL);
		assert_null(g);
		if (strncmp(err.text, "not a HyperX: ", 14))
			fail_msg("%s: %s", specs[i], err.text);
		fabric_put(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dimensions_and_points_are_found_from_the_cables),
		cmocka_unit_test(a_switch_cut_from_its_line_is_placed_by_the_other_dimension),
		cmocka_unit_test(one_switch_is_a_grid_without_dimensions),
		cmocka_unit_test(what_is_no_hyperx_is_refused_with_the_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
