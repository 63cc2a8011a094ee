/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/vl/cdg.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Does from lead to to, looking at every turn. */
static bool leads(const bool *turn, uint32_t n, uint32_t from, uint32_t to)
{
	uint32_t *stack = xcalloc(n, sizeof(*stack)), top = 1;
	bool *seen = xcalloc(n, sizeof(*seen));

	stack[0] = from;
	seen[from] = true;
	while (top) {
		uint32_t c = stack[--top];

		for (uint32_t e = 0; e < n; e++) {
			if (!turn[(size_t)c * n + e] || seen[e])
				continue;
			seen[e] = true;
			stack[top++] = e;
		}
	}
	free(stack);
	top = seen[to];
	free(seen);
	return top;
}

static uint32_t random_next(struct rng *r, const struct fabric *f, uint32_t c)
{
	uint32_t v = f->chan_dst[c], deg = f->chan_off[v + 1] - f->chan_off[v];

	return f->chan_off[v] + (uint32_t)rng_below(r, deg);
}

/* Random turns, added and now and then taken out again, against the plain search. */
static void play(const struct fabric *f, uint64_t seed, uint32_t rounds)
{
	struct cdg_work *w = cdg_work_new(f);
	struct cdg *g = cdg_new(w);
	uint32_t n = f->nchan, refused = 0;
	bool *turn = xcalloc((size_t)n * n, sizeof(*turn));
	struct rng r;

	rng_seed(&r, seed);
	for (uint32_t i = 0; i < rounds; i++) {
		uint32_t c = (uint32_t)rng_below(&r, n), e = random_next(&r, f, c);
		bool *has = &turn[(size_t)c * n + e];

		assert_int_equal(cdg_has(g, c, e), *has);
		if (*has) {
			if (rng_below(&r, 4))
				continue;
			cdg_remove(g, c, e);
			*has = false;
			continue;
		}
		*has = !leads(turn, n, e, c);
		refused += !*has;
		assert_int_equal(cdg_add(g, c, e), *has);
	}
	assert_true(refused > 0);
	assert_true(cdg_work_done(w) > 0);
	free(turn);
	cdg_free(g);
	cdg_work_free(w);
}

static void a_turn_is_refused_exactly_when_it_closes_a_cycle(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fabric *f =
			net_random(seed, 6 + (uint32_t)seed, 20 + 2 * (uint32_t)seed, 1, NULL);

		play(f, seed, 3000);
		fabric_put(f);
	}
}

static void switches_with_more_than_64_cables_work_too(void **state)
{
	struct fabric *f = net_star(70);

	(void)state;
	play(f, 1, 20000);
	fabric_put(f);
}

/* Adds a turn and sums up how many channels were looked at for it. */
static bool add_counted(struct cdg_work *w, struct cdg *g, uint32_t c, uint32_t e, uint64_t *looked)
{
	uint64_t before = cdg_work_done(w);
	bool fits = cdg_add(g, c, e);

	*looked += cdg_work_done(w) - before;
	return fits;
}

/* Random turns into a graph that does not learn, one that does, and one that is told of what stays,
 * too; looked: what each of them looked at.  Returns how often the second learned. */
static uint32_t learn(const struct fabric *f, uint64_t seed, uint32_t rounds, uint64_t looked[3])
{
	struct cdg_work *w = cdg_work_new(f);
	struct cdg *plain = cdg_new(w), *g = cdg_new(w), *told = cdg_new(w);
	uint32_t learned = 0;
	struct rng r;

	memset(looked, 0, 3 * sizeof(*looked));
	rng_seed(&r, seed);
	for (uint32_t i = 0; i < rounds; i++) {
		uint32_t c = (uint32_t)rng_below(&r, f->nchan), e = random_next(&r, f, c);
		bool fits = add_counted(w, plain, c, e, &looked[0]);

		learned += cdg_learn(g);
		cdg_learn(told);
		assert_int_equal(add_counted(w, g, c, e, &looked[1]), fits);
		assert_int_equal(add_counted(w, told, c, e, &looked[2]), fits);
		if (fits)
			cdg_keep(told, c, e);
	}
	cdg_free(plain);
	cdg_free(g);
	cdg_free(told);
	cdg_work_free(w);
	return learned;
}

static void what_was_learned_saves_searches_and_changes_no_answer(void **state)
{
	struct fabric *star = net_star(70);
	uint64_t looked[3], sum[3] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fabric *f = net_random(seed, 20, 60, 1, NULL);

		assert_true(learn(f, seed, 5000, looked) > 1);
		assert_true(looked[1] < looked[0] && looked[2] < looked[0]);
		for (int i = 0; i < 3; i++)
			sum[i] += looked[i];
		fabric_put(f);
	}
	assert_true(sum[2] < sum[1]);
	learn(star, 1, 20000, looked);
	assert_true(looked[1] < looked[0]);
	fabric_put(star);
}

/* Every turn goes against the first order of the channels and lands in the same place. */
static void labels_that_run_out_are_given_again(void **state)
{
	struct fabric *f = net_ring(2000, 0, NULL);
	struct cdg_work *w = cdg_work_new(f);
	struct cdg *g = cdg_new(w);
	uint32_t c = f->chan_off[1] - 1, first = c, added = 0; /* from switch 0 downwards */

	(void)state;
	for (;;) {
		uint32_t v = f->chan_dst[c], e = f->chan_off[v];

		e += e == f->chan_rev[c];
		if (e == first)
			break;
		assert_true(cdg_add(g, c, e));
		added++;
		c = e;
	}
	assert_int_equal(added, 1999);
	assert_false(cdg_add(g, c, first));
	cdg_free(g);
	cdg_work_free(w);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_is_refused_exactly_when_it_closes_a_cycle),
		cmocka_unit_test(switches_with_more_than_64_cables_work_too),
		cmocka_unit_test(what_was_learned_saves_searches_and_changes_no_answer),
		cmocka_unit_test(labels_that_run_out_are_given_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
