/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/topology/topo.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/sim/topology/galois.h"

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fabric *make_lmc(const char *spec, int lmc)
{
	struct freeze_opts opts = { .lmc = lmc };
	struct fabric *f = NULL;
	struct builder *b = NULL;
	struct err err = { "" };

	if (topo_build(&b, spec, &err) || builder_freeze(&f, b, &opts, &err))
		fail_msg("%s: %s", spec, err.text);
	builder_free(b);
	return f;
}

static struct fabric *make(const char *spec)
{
	return make_lmc(spec, -1);
}

static void refused(const char *spec, int rc, const char *words)
{
	struct builder *b;
	struct err err = { "" };

	if (topo_build(&b, spec, &err) != rc || b || !strstr(err.text, words))
		fail_msg("%s: \"%s\" does not say \"%s\"", spec, err.text, words);
}

/* Hops from one switch to all; returns the greatest. */
static uint32_t bfs(const struct fabric *f, uint32_t from, uint32_t *hops)
{
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue)), head = 0, tail = 0;
	uint32_t last = 0;

	memset(hops, 0xff, f->nsw * sizeof(*hops));
	hops[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t s = queue[head++];

		last = hops[s];
		for (uint32_t c = f->chan_off[s]; c < f->chan_off[s + 1]; c++) {
			uint32_t t = f->chan_dst[c];

			if (hops[t] != UINT32_MAX)
				continue;
			hops[t] = last + 1;
			queue[tail++] = t;
		}
	}
	free(queue);
	return last;
}

/* Greatest distance between switches; with_hosts: only between those that have hosts. */
static uint32_t diameter(const struct fabric *f, bool with_hosts)
{
	uint32_t *hops = xcalloc(f->nsw, sizeof(*hops)), max = 0;

	for (uint32_t s = 0; s < f->nsw; s++) {
		if (with_hosts && !f->sw_nterm[s])
			continue;
		bfs(f, s, hops);
		for (uint32_t t = 0; t < f->nsw; t++)
			if ((!with_hosts || f->sw_nterm[t]) && hops[t] > max)
				max = hops[t];
	}
	free(hops);
	return max;
}

static uint32_t degree(const struct fabric *f, uint32_t sw)
{
	return f->chan_off[sw + 1] - f->chan_off[sw];
}

static void all_degrees(const struct fabric *f, uint32_t want)
{
	for (uint32_t s = 0; s < f->nsw; s++)
		assert_int_equal(degree(f, s), want);
}

/* Switches and hosts as published for the same nets; cables and diameter by hand. */
static void every_type_has_the_size_that_its_formula_gives(void **state)
{
	static const struct {
		const char *spec;
		uint32_t nsw, nterm, cables, diameter;
	} want[] = {
		{ "fattree2:leaves=18,spines=18,hosts=18", 36, 324, 324, 2 },
		{ "fattree2:leaves=4,spines=2,hosts=3,parallel=3", 6, 12, 24, 2 },
		{ "fattree3:pods=5,leaves=18,aggs=18,cores=3,parallel=6,hosts=15", 234, 1350,
		  5 * 18 * 18 + 5 * 18 * 3 * 6, 4 },
		{ "fattree3:k=4", 20, 16, 32, 4 },
		{ "kary:k=10,n=3,hosts=11", 300, 1100, 2000, 4 },
		{ "kary:k=2,n=4", 32, 16, 48, 6 },
		{ "xgft:h=2,m=3x4,w=1x2,parallel=2", 6, 12, 16, 2 },
		{ "hyperx:dims=12x8,hosts=7", 96, 672, 8 * 66 + 12 * 28, 2 },
		{ "hyperx:dims=3x4x5,hosts=2,links=1x2x1", 60, 120, 60 + 2 * 90 + 120, 3 },
		{ "torus:dims=4x4x4,hosts=4", 64, 256, 192, 6 },
		{ "torus:dims=6x5x5,hosts=7,links=4", 150, 1050, 4 * 450, 7 },
		{ "torus:dims=7x7x7,hosts=6", 343, 2058, 1029, 9 },
		{ "torus:dims=2x2x3,hosts=1", 12, 12, 6 + 6 + 12, 3 },
		{ "mesh:dims=8,hosts=20", 8, 160, 7, 7 },
		{ "mesh:dims=4x3x2,hosts=1,links=1x2x1", 24, 24, 18 + 2 * 16 + 12, 6 },
		{ "slimfly:q=5", 50, 350, 175, 2 },
		{ "slimfly:q=7", 98, 1078, 539, 2 },
		{ "slimfly:q=11", 242, 4114, 2057, 2 },
		{ "slimfly:q=13", 338, 6422, 3211, 2 },
		{ "dragonfly:p=3", 114, 342, 285 + 171, 3 },
		{ "dragonfly:p=4", 264, 1056, 924 + 528, 3 },
		{ "dragonfly:p=5", 510, 2550, 51 * 45 + 1275, 3 },
		{ "dragonfly:p=6", 876, 5256, 73 * 66 + 2628, 3 },
		{ "dragonfly:a=12,p=6,h=6,g=15", 180, 1080, 15 * 66 + 105 * 5, 3 },
		{ "oft:k=6", 93, 372, 372, 3 },
		{ "kautz:b=5,n=3,hosts=7,links=2", 150, 1050, 1500, 3 },
		{ "random:switches=125,links=1000,hosts=8,seed=1", 125, 1000, 1000, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct fabric *f = make(want[i].spec);

		if (f->nsw != want[i].nsw || f->nterm != want[i].nterm ||
		    f->nchan != 2 * want[i].cables || !fabric_connected(f) ||
		    diameter(f, false) != want[i].diameter)
			fail_msg("%s: %u switches, %u hosts, %u cables, diameter %u", want[i].spec,
				 f->nsw, f->nterm, f->nchan / 2, diameter(f, false));
		fabric_put(f);
	}
}

static void the_peers_large_nets_have_their_sizes(void **state)
{
	static const struct {
		const char *spec;
		uint32_t nsw, nterm;
	} want[] = {
		{ "dragonfly:p=8", 2064, 16512 },
		{ "fattree3:k=36", 1620, 11664 },
		{ "xgft:h=3,m=18x18x36,w=1x18x18", 1620, 11664 },
		{ "fattree3:k=54", 3645, 39366 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct fabric *f = make(want[i].spec);

		assert_int_equal(f->nsw, want[i].nsw);
		assert_int_equal(f->nterm, want[i].nterm);
		assert_true(fabric_connected(f));
		fabric_put(f);
	}
}

static void the_full_tree_uses_every_port_and_has_its_two_names(void **state)
{
	struct fabric *f = make("fattree3:k=8");
	struct fabric *x = make("xgft:h=3,m=4x4x8,w=1x4x4");

	(void)state;
	for (uint32_t s = 0; s < f->nsw; s++)
		assert_int_equal(degree(f, s) + f->sw_nterm[s], 8);
	assert_true(digest_equal(&f->fingerprint, &x->fingerprint));
	assert_int_equal(diameter(f, true), 4);
	fabric_put(f);
	fabric_put(x);
}

static void leaves_of_a_pod_meet_below_the_core(void **state)
{
	struct fabric *f = make("fattree3:pods=3,leaves=4,aggs=2,cores=5,parallel=2,hosts=1");
	uint32_t *hops = xcalloc(f->nsw, sizeof(*hops));

	(void)state;
	for (uint32_t a = 0; a < 12; a++) {
		bfs(f, a, hops);
		for (uint32_t b = 0; b < 12; b++)
			assert_int_equal(hops[b], a == b ? 0 : a / 4 == b / 4 ? 2 : 4);
	}
	free(hops);
	fabric_put(f);
}

static uint32_t girth(const struct fabric *f)
{
	uint32_t *hops = xcalloc(f->nsw, sizeof(*hops)), best = UINT32_MAX;

	/* an edge between two switches at distances d and d or d+1 from the root closes a cycle
	 * through it of at most 2d+1 or, when it is a second way, 2d+2; the least is exact */
	for (uint32_t s = 0; s < f->nsw; s++) {
		bfs(f, s, hops);
		for (uint32_t v = 0; v < f->nsw; v++) {
			uint32_t up = 0;

			for (uint32_t c = f->chan_off[v]; c < f->chan_off[v + 1]; c++) {
				uint32_t d = hops[f->chan_dst[c]];

				if (d == hops[v] && 2 * d + 1 < best)
					best = 2 * d + 1;
				up += d + 1 == hops[v];
			}
			if (up > 1 && 2 * hops[v] < best)
				best = 2 * hops[v];
		}
	}
	free(hops);
	return best;
}

static void slim_flies_are_regular_of_diameter_2_for_every_kind_of_q(void **state)
{
	static const uint32_t q[] = { 3, 4, 5, 7, 8, 9, 11, 13, 16, 17 };

	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(*q); i++) {
		int delta = q[i] % 4 == 1 ? 1 : q[i] % 4 == 3 ? -1 : 0;
		char spec[64];
		struct fabric *f;

		snprintf(spec, sizeof(spec), "slimfly:q=%u,hosts=1", q[i]);
		f = make(spec);
		assert_int_equal(f->nsw, 2 * q[i] * q[i]);
		all_degrees(f, (uint32_t)(3 * (int)q[i] - delta) / 2);
		assert_int_equal(diameter(f, false), 2);
		fabric_put(f);
	}
}

/* q = 5 is the Hoffman-Singleton graph: degree 7, 1 + 7 + 42 switches, no shorter cycle than 5. */
static void slim_fly_5_meets_the_moore_bound(void **state)
{
	struct fabric *f = make("slimfly:q=5");

	(void)state;
	all_degrees(f, 7);
	assert_int_equal(f->nsw, 1 + 7 + 7 * 6);
	assert_int_equal(girth(f), 5);
	fabric_put(f);
}

static void any_two_leaves_of_an_oft_share_one_spine_or_are_twins(void **state)
{
	static const uint32_t order[] = { 3, 4, 5, 6, 9, 10 };

	(void)state;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		uint32_t k = order[i], n = k * k - k + 1;
		char spec[32];
		struct fabric *f;
		uint32_t *common;

		snprintf(spec, sizeof(spec), "oft:k=%u", k);
		f = make(spec);
		assert_int_equal(f->nsw, 3 * n);
		assert_int_equal(f->nterm, 2 * n * k);
		common = xcalloc(f->nsw, sizeof(*common));
		for (uint32_t a = 0; a < 2 * n; a++) {
			memset(common, 0, f->nsw * sizeof(*common));
			for (uint32_t c = f->chan_off[a]; c < f->chan_off[a + 1]; c++) {
				uint32_t s = f->chan_dst[c];

				for (uint32_t d = f->chan_off[s]; d < f->chan_off[s + 1]; d++)
					common[f->chan_dst[d]]++;
			}
			for (uint32_t b = 0; b < 2 * n; b++)
				assert_int_equal(common[b], a % n == b % n ? k : 1);
		}
		free(common);
		fabric_put(f);
	}
}

static void a_dragonfly_joins_every_two_groups_equally_often(void **state)
{
	static const struct {
		const char *spec;
		uint32_t a, h, g, each;
	} nets[] = { { "dragonfly:p=3", 6, 3, 19, 1 },
		     { "dragonfly:p=2,a=6,h=4,g=9", 6, 4, 9, 3 },
		     { "dragonfly:p=6,a=12,h=6,g=15", 12, 6, 15, 5 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct fabric *f = make(nets[i].spec);
		uint32_t g = nets[i].g, *pair = xcalloc((size_t)g * g, sizeof(*pair));

		for (uint32_t s = 0; s < f->nsw; s++)
			assert_true(degree(f, s) <= nets[i].a - 1 + nets[i].h);
		for (uint32_t c = 0; c < f->nchan; c++)
			pair[f->chan_src[c] / nets[i].a * g + f->chan_dst[c] / nets[i].a]++;
		for (uint32_t x = 0; x < g; x++)
			for (uint32_t y = 0; y < g; y++)
				assert_int_equal(pair[x * g + y],
						 x == y ? nets[i].a * (nets[i].a - 1)
							: nets[i].each);
		free(pair);
		fabric_put(f);
	}
}

static void hyperx_lines_are_complete_and_tori_are_regular(void **state)
{
	struct fabric *f = make("hyperx:dims=4x3x5,hosts=1");
	struct fabric *t = make("torus:dims=5x4x3,hosts=1");

	(void)state;
	all_degrees(f, 3 + 2 + 4);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t a = f->chan_src[c], b = f->chan_dst[c];

		/* exactly one coordinate differs */
		assert_int_equal((a % 4 != b % 4) + (a / 4 % 3 != b / 4 % 3) + (a / 12 != b / 12),
				 1);
	}
	all_degrees(t, 6);
	assert_int_equal(diameter(t, false), 2 + 2 + 1);
	fabric_put(f);
	fabric_put(t);
}

static void kautz_graphs_have_the_diameter_of_their_words(void **state)
{
	static const char *const spec[] = { "kautz:b=3,n=1", "kautz:b=3,n=2", "kautz:b=2,n=4",
					    "kautz:b=4,n=3" };
	static const uint32_t nsw[] = { 4, 12, 24, 80 }, b[] = { 3, 3, 2, 4 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct fabric *f = make(spec[i]);

		assert_int_equal(f->nsw, nsw[i]);
		all_degrees(f, 2 * b[i]);
		assert_true(diameter(f, false) <= (uint32_t)(i == 2 ? 4 : i == 3 ? 3 : i + 1));
		fabric_put(f);
	}
}

static void failed_cables_never_disconnect_and_keep_port_numbers(void **state)
{
	struct fabric *whole = make("torus:dims=4x4x4,hosts=2");
	struct fabric *f = make("torus:dims=4x4x4,hosts=2,fail=100,seed=7");

	(void)state;
	assert_int_equal(f->nchan, whole->nchan - 200);
	assert_true(fabric_connected(f));
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t w = fabric_chan(whole, f->chan_src[c], f->chan_port[c]);

		assert_true(w != FAB_NONE);
		assert_int_equal(whole->chan_dst[w], f->chan_dst[c]);
		assert_int_equal(whole->chan_rport[w], f->chan_rport[c]);
	}
	fabric_put(f);
	f = make("torus:dims=4x4x4,fail=1%");
	assert_int_equal(f->nchan, 2 * (192 - 2));
	fabric_put(f);
	f = make("torus:dims=4x4x4,fail=192,disconnect=1");
	assert_int_equal(f->nchan, 0);
	fabric_put(f);
	fabric_put(whole);
	refused("torus:dims=4x4x4,fail=150", -EINVAL, "only 129 cables can fail");
	refused("torus:dims=4x4x4,fail=193", -EINVAL, "there are only 192 cables");
}

static void the_seed_decides_and_nothing_else(void **state)
{
	static const char *const spec[] = {
		"random:switches=40,links=100,hosts=2,seed=3",
		"random:switches=40,links=100,hosts=2,seed=4",
		"hyperx:dims=4x4,hosts=2,lids=random,seed=3",
		"hyperx:dims=4x4,hosts=2,lids=random,seed=4",
		"hyperx:dims=4x4,hosts=2,fail=5,seed=3",
		"hyperx:dims=4x4,hosts=2,fail=5,seed=4",
	};

	(void)state;
	for (int i = 0; i < 6; i += 2) {
		struct fabric *a = make(spec[i]), *b = make(spec[i]), *c = make(spec[i + 1]);

		assert_true(digest_equal(&a->fingerprint, &b->fingerprint));
		assert_false(digest_equal(&a->fingerprint, &c->fingerprint));
		fabric_put(a);
		fabric_put(b);
		fabric_put(c);
	}
}

static void random_nets_may_be_uneven_and_have_parallel_cables(void **state)
{
	struct fabric *f = make("random:switches=30,links=300,hosts=1,hosts_max=9,parallel=3");
	uint32_t fewest = 99, most = 0, doubled = 0;

	(void)state;
	assert_int_equal(f->nchan, 600);
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t to[30] = { 0 };

		fewest = f->sw_nterm[u] < fewest ? f->sw_nterm[u] : fewest;
		most = f->sw_nterm[u] > most ? f->sw_nterm[u] : most;
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			to[f->chan_dst[c]]++;
			assert_in_range(to[f->chan_dst[c]], 1, 3);
			doubled += to[f->chan_dst[c]] == 2;
		}
	}
	assert_in_range(fewest, 1, 3);
	assert_in_range(most, 7, 9);
	assert_in_range(doubled, 20, 600);
	fabric_put(f);
	refused("random:switches=4,links=13,parallel=2", -EINVAL, "3 to 12");
	refused("random:switches=4,links=3,hosts=5,hosts_max=4", -EINVAL, "5 to 250");
}

static void lids_are_random_aligned_and_unique(void **state)
{
	struct fabric *f = make("hyperx:dims=4x4,hosts=3,lids=random,lmc=2");
	uint32_t ascending = 0;

	(void)state;
	assert_true(f->lids_given);
	assert_int_equal(f->lmc, 2);
	for (uint32_t t = 0; t < f->nterm; t++) {
		assert_int_equal(f->term_lid[t] % 4, 0);
		ascending += t && f->term_lid[t] > f->term_lid[t - 1];
	}
	assert_in_range(ascending, 12, 36);
	fabric_put(f);
	f = make("hyperx:dims=4x4,hosts=3");
	for (uint32_t t = 0; t < f->nterm; t++)
		assert_int_equal(f->term_lid[t], t + 1);
	fabric_put(f);
}

static void names_and_speed_are_as_asked(void **state)
{
	struct fabric *f = make("fattree2:leaves=12,spines=2,hosts=3");
	uint32_t fast = 0;

	(void)state;
	assert_string_equal(f->term_name[0], "n0001");
	assert_string_equal(f->term_name[35], "n0036");
	assert_string_equal(f->sw_name[0], "leaf01");
	assert_string_equal(f->sw_name[13], "spine2");
	assert_int_equal(f->port[f->port_off[0] + 1].width, 4);
	assert_string_equal(f->port[f->port_off[0] + 4].speed, "EDR");
	fabric_put(f);
	f = make("torus:dims=5x5,hosts=1,rates=4xHDR+1xEDR,speed=4xNDR");
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t Mbps = fabric_chan_Mbps(f, c);

		assert_true(Mbps == 200000 || Mbps == 25000);
		assert_int_equal(Mbps, fabric_chan_Mbps(f, f->chan_rev[c]));
		fast += Mbps == 200000;
	}
	assert_true(fast > f->nchan / 4 && fast < 3 * f->nchan / 4);
	fabric_put(f);
	f = make("fattree2:leaves=2,spines=2,hosts=3,names=node-##-ib,speed=2xNDR");
	assert_string_equal(f->term_name[5], "node-06-ib");
	assert_string_equal(f->port[f->port_off[0] + 4].speed, "NDR");
	fabric_put(f);
}

static void bad_texts_are_refused_with_the_key_and_what_is_allowed(void **state)
{
	(void)state;
	refused("", -EINVAL, "no fabric type");
	refused("ring:n=4", -EINVAL, "the types are fattree2");
	refused("torus", -EINVAL, "needs dims=");
	refused("torus:dims=3x3,colour=red", -EINVAL, "no key \"colour\"; its keys are dims");
	refused("torus:dims=3x3,dims=4x4", -EINVAL, "given twice");
	refused("torus:dims=3x3,hosts", -EINVAL, "not of the form key=value");
	refused("torus:dims=3x,hosts=1", -EINVAL, "joined by x");
	refused("torus:dims=3x3,hosts=-1", -EINVAL, "hosts=-1");
	refused("torus:dims=3x3,hosts=300", -EINVAL, "0 to 254");
	refused("torus:dims=3x3,links=1x2x3", -EINVAL, "must have 2 numbers");
	refused("torus:dims=300x300", -ENOSPC, "switches");
	refused("torus:dims=200x200,hosts=4", -ENOSPC, "LIDs");
	refused("hyperx:dims=250x3,hosts=9", -ENOSPC, "switches of 260 ports");
	refused("fattree3:k=7", -EINVAL, "must be even");
	refused("fattree3:pods=2,leaves=2", -EINVAL, "aggs= is missing");
	refused("fattree3:k=4,pods=2", -EINVAL, "either k=");
	refused("fattree2:leaves=200,spines=2,hosts=2,parallel=2", -ENOSPC,
		"spine1 would need more than the 254 ports");
	refused("xgft:h=2,m=3x3,w=2x3", -EINVAL, "must be 1");
	refused("dragonfly:p=2,g=10", -EINVAL, "2 to 9");
	refused("slimfly:q=6", -EINVAL, "prime power");
	refused("oft:k=7", -EINVAL, "prime power plus 1");
	refused("random:switches=4,links=7", -EINVAL, "3 to 6");
	refused("torus:dims=3x3,fail=-1", -EINVAL, "fail=-1");
	refused("torus:dims=3x3,fail=1.5", -EINVAL, "fail=1.5");
	refused("torus:dims=3x3,lids=upwards", -EINVAL, "aligned or random");
	refused("torus:dims=3x3,speed=fast", -EINVAL, "width x speed");
	refused("torus:dims=3x3,rates=4xEDR+fast", -EINVAL, "width x speed");
	refused("torus:dims=3x3,rates=4xEDRRRRRRRRRRR", -EINVAL, "at most 8 rates");
	refused("torus:dims=3x3,lmc=8", -EINVAL, "0 to 7");
	refused("torus:dims=100x100,lmc=7,hosts=1", -ENOSPC, "LIDs");
}

static void examples_of_the_help_can_be_built(void **state)
{
	size_t n;
	const struct topo_type *const *types = topo_types(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		fabric_put(make(types[i]->example));
}

static void finite_fields_obey_their_laws(void **state)
{
	static const uint32_t qs[] = { 2, 3, 4, 8, 9, 16, 25, 27, 49, 64 };

	(void)state;
	for (size_t i = 0; i < sizeof(qs) / sizeof(*qs); i++) {
		struct galois f;
		uint32_t q = qs[i];

		assert_true(galois_make(&f, q));
		for (uint32_t a = 0; a < q; a++) {
			uint32_t inverses = 0, negatives = 0;

			for (uint32_t b = 0; b < q; b++) {
				uint32_t ab = galois_mul(&f, a, b);

				inverses += ab == 1;
				negatives += galois_add(&f, a, b) == 0;
				/* (a + 1) b = ab + b, and (ab) c = a (bc) for a few c */
				assert_int_equal(galois_mul(&f, galois_add(&f, a, 1), b),
						 galois_add(&f, ab, b));
				for (uint32_t c = 2; c < q && c < 5; c++)
					assert_int_equal(galois_mul(&f, ab, c),
							 galois_mul(&f, a, galois_mul(&f, b, c)));
			}
			assert_int_equal(inverses, a != 0);
			assert_int_equal(negatives, 1);
		}
		galois_free(&f);
	}
	for (uint32_t q = 0; q < 2; q++)
		assert_false(galois_make(&(struct galois){ 0 }, q));
	assert_false(galois_make(&(struct galois){ 0 }, 6));
	assert_false(galois_make(&(struct galois){ 0 }, 36));
	assert_false(galois_make(&(struct galois){ 0 }, 257));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_has_the_size_that_its_formula_gives),
		cmocka_unit_test(the_peers_large_nets_have_their_sizes),
		cmocka_unit_test(the_full_tree_uses_every_port_and_has_its_two_names),
		cmocka_unit_test(leaves_of_a_pod_meet_below_the_core),
		cmocka_unit_test(slim_flies_are_regular_of_diameter_2_for_every_kind_of_q),
		cmocka_unit_test(slim_fly_5_meets_the_moore_bound),
		cmocka_unit_test(any_two_leaves_of_an_oft_share_one_spine_or_are_twins),
		cmocka_unit_test(a_dragonfly_joins_every_two_groups_equally_often),
		cmocka_unit_test(hyperx_lines_are_complete_and_tori_are_regular),
		cmocka_unit_test(kautz_graphs_have_the_diameter_of_their_words),
		cmocka_unit_test(failed_cables_never_disconnect_and_keep_port_numbers),
		cmocka_unit_test(the_seed_decides_and_nothing_else),
		cmocka_unit_test(random_nets_may_be_uneven_and_have_parallel_cables),
		cmocka_unit_test(lids_are_random_aligned_and_unique),
		cmocka_unit_test(names_and_speed_are_as_asked),
		cmocka_unit_test(bad_texts_are_refused_with_the_key_and_what_is_allowed),
		cmocka_unit_test(examples_of_the_help_can_be_built),
		cmocka_unit_test(finite_fields_obey_their_laws),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
