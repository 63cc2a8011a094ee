/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/paper/sar_tree.h"

#include "engines/graph/balance/balanced_sssp.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Every terminal sends to all. */
struct world {
	struct fabric *f;
	struct tables *t, *before;
	struct sar_source *s;
	struct sar_tree *g;
};

static struct tables *copy(const struct fabric *f, const struct tables *t)
{
	struct tables *c = tables_new(f, t->engine);

	memcpy(c->lft, t->lft, (size_t)t->nsw * t->stride);
	return c;
}

static struct dest dest_of(const struct fabric *f, uint32_t term)
{
	return (struct dest){ .sw = f->term_sw[term],
			      .end = term,
			      .lid = f->term_lid[term],
			      .port = f->term_port[term] };
}

static void world_init(struct world *w, const char *spec)
{
	static const struct balanced_sssp_how uneven = { .rule = BALANCE_PORTS };

	w->f = net_spec(spec);
	w->t = tables_new(w->f, "uneven");
	assert_int_equal(balanced_sssp_route(w->t, w->f, NULL, &uneven, NULL), 0);
	w->before = copy(w->f, w->t);
	w->s = xcalloc(w->f->nsw, sizeof(*w->s));
	for (uint32_t u = 0; u < w->f->nsw; u++)
		w->s[u] = (struct sar_source){ .sw = u, .n = w->f->sw_nterm[u] };
	w->g = sar_tree_new(w->f, w->t, w->before);
	for (uint32_t term = 0; term < w->f->nterm; term++) {
		struct dest d = dest_of(w->f, term);

		sar_tree_count(w->g, &d, w->s, w->f->nsw);
	}
}

static void world_done(struct world *w)
{
	sar_tree_free(w->g);
	free(w->s);
	tables_put(w->t);
	tables_put(w->before);
	fabric_put(w->f);
}

static double fullest(const struct world *w)
{
	double max = 0;

	for (uint32_t c = 0; c < w->f->nchan; c++)
		max = sar_tree_loads(w->g)[c].all > max ? sar_tree_loads(w->g)[c].all : max;
	return max;
}

/* Channel that the switch's entry for the LID leads to in those tables. */
static uint32_t chan_of(const struct world *w, const struct tables *t, uint32_t u, uint32_t lid)
{
	return fabric_chan(w->f, u, tables_row(t, u)[lid]);
}

/* Ways without a hot channel are those of before. */
static uint32_t assert_cold_ways_stay(const struct world *w, const struct dest *d, const bool *hot)
{
	uint32_t moved = 0;

	for (uint32_t s = 0; s < w->f->nsw; s++) {
		bool was_hot = false, same = true;

		for (uint32_t u = s; u != d->sw;) {
			uint32_t c = chan_of(w, w->before, u, d->lid);

			was_hot |= hot[c];
			same &= c == chan_of(w, w->t, u, d->lid);
			u = w->f->chan_dst[c];
		}
		assert_true(same || was_hot);
		moved += !same;
	}
	return moved;
}

static void cool(struct world *w)
{
	struct sar_tree_rule rule = { .aim = fullest(w) * 0.7,
				      .planes = 1,
				      .keep = 1.1,
				      .gain = 0.999,
				      .limit = UINT64_MAX,
				      .batch = 1,
				      .hot_only = true };
	double limit = 0.9 * fullest(w);
	bool *hot = xcalloc(w->f->nchan, sizeof(*hot));
	uint32_t changed = 0, moved = 0;

	sar_tree_watch(w->g, limit);
	for (uint32_t term = 0; term < w->f->nterm; term++) {
		struct dest d = dest_of(w->f, term);

		for (uint32_t c = 0; c < w->f->nchan; c++)
			hot[c] = sar_tree_loads(w->g)[c].all >= limit;
		if (!sar_tree_is_hot(w->g, &d))
			continue;
		changed += sar_tree_restart(w->g, &d, w->s, w->f->nsw, &rule);
		moved += assert_cold_ways_stay(w, &d, hot);
	}
	assert_true(changed > 0);
	assert_true(moved >= changed);
	free(hot);
}

/* The loads afterwards are those of the tables, whatever was tried and taken back. */
static void full_channels_are_relieved_by_the_ways_over_them_alone(void **state)
{
	static const char *const specs[] = { "dragonfly:p=2", "hyperx:dims=4x4,hosts=3",
					     "torus:dims=4x4,hosts=2",
					     "random:switches=20,links=60,hosts=4,seed=3" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct world w;
		uint64_t *routes;
		double max;

		world_init(&w, specs[i]);
		max = fullest(&w);
		cool(&w);
		assert_complete(w.f, w.t);
		assert_shortest(w.f, w.t);
		assert_true(fullest(&w) <= max);
		routes = count_routes(w.f, w.t);
		for (uint32_t c = 0; c < w.f->nchan; c++)
			assert_int_equal(sar_tree_loads(w.g)[c].all, routes[c]);
		free(routes);
		world_done(&w);
	}
}

/* Hops from a switch to another without that channel; UINT32_MAX: there is no way. */
static uint32_t hops_without(const struct fabric *f, uint32_t chan, uint32_t from, uint32_t to)
{
	uint32_t *dist = xcalloc(f->nsw, sizeof(*dist)), hops;
	bool grew = true;

	memset(dist, 0xff, f->nsw * sizeof(*dist));
	dist[from] = 0;
	for (hops = 0; grew && dist[to] == UINT32_MAX; hops++) {
		grew = false;
		for (uint32_t c = 0; c < f->nchan; c++)
			if (c != chan && dist[f->chan_src[c]] == hops &&
			    dist[f->chan_dst[c]] == UINT32_MAX) {
				dist[f->chan_dst[c]] = hops + 1;
				grew = true;
			}
	}
	hops = dist[to];
	free(dist);
	return hops;
}

/* The same by hand: the routes over hot channels that get longer without one. */
static void add_forced(const struct world *w, const struct dest *d, const bool *hot, uint32_t *sum)
{
	for (uint32_t s = 0; s < w->f->nsw; s++) {
		for (uint32_t u = s; u != d->sw;) {
			uint32_t c = chan_of(w, w->t, u, d->lid);

			if (hot[c] && hops_without(w->f, c, s, d->sw) >
					      hops_without(w->f, FAB_NONE, s, d->sw))
				sum[c] += w->f->sw_nterm[s];
			u = w->f->chan_dst[c];
		}
	}
}

static void forced_routes_are_those_that_get_longer_without_a_hot_channel(void **state)
{
	static const char *const specs[] = { "dragonfly:p=2", "hyperx:dims=3x3,hosts=3",
					     "random:switches=12,links=20,hosts=2,seed=3" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		uint32_t *forced, *by_hand, found = 0;
		struct world w;
		bool *hot;

		world_init(&w, specs[i]);
		forced = xcalloc(w.f->nchan, sizeof(*forced));
		by_hand = xcalloc(w.f->nchan, sizeof(*by_hand));
		hot = xcalloc(w.f->nchan, sizeof(*hot));
		for (uint32_t c = 0; c < w.f->nchan; c++)
			hot[c] = sar_tree_loads(w.g)[c].all >= 0.8 * fullest(&w);
		sar_tree_watch(w.g, 0.8 * fullest(&w));
		for (uint32_t term = 0; term < w.f->nterm; term++) {
			struct dest d = dest_of(w.f, term);

			sar_tree_add_forced(w.g, &d, w.s, w.f->nsw, forced);
			add_forced(&w, &d, hot, by_hand);
		}
		for (uint32_t c = 0; c < w.f->nchan; c++) {
			assert_int_equal(forced[c], by_hand[c]);
			found += forced[c] > 0;
		}
		assert_true(found > 0);
		free(forced);
		free(by_hand);
		free(hot);
		world_done(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forced_routes_are_those_that_get_longer_without_a_hot_channel),
		cmocka_unit_test(full_channels_are_relieved_by_the_ways_over_them_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
