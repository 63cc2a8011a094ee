/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_turns.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TRIES 4000

/* A fabric, and turns that are known to be there. */
struct world {
	struct arena *mem; /* owns the arrays */
	struct fabric *f;
	struct nue_turns *turns;
	uint32_t *from, *to;
	uint32_t n;
	struct rng rng;
};

static void world_begin(struct world *w, const char *spec)
{
	struct fabric *f = net_spec(spec);
	uint32_t *place;

	*w = (struct world){ .mem = arena_new(), .f = f };
	place = arena_array(w->mem, uint32_t, f->nchan);
	w->from = arena_array(w->mem, uint32_t, TRIES);
	w->to = arena_array(w->mem, uint32_t, TRIES);
	for (uint32_t c = 0; c < f->nchan; c++)
		place[c] = f->nchan - 1 - c;
	w->turns = nue_turns_new(f, place);
	rng_seed(&w->rng, 7);
}

static void world_end(struct world *w)
{
	nue_turns_free(w->turns);
	fabric_put(w->f);
	arena_free(w->mem);
}

static uint32_t draw(struct world *w, uint32_t n)
{
	return (uint32_t)(rng_u64(&w->rng) >> 32) % n;
}

static void draw_turn(struct world *w, uint32_t *a, uint32_t *b)
{
	const uint32_t *off = w->f->chan_off;
	uint32_t v;

	*a = draw(w, w->f->nchan);
	v = w->f->chan_dst[*a];
	*b = off[v] + draw(w, off[v + 1] - off[v]);
}

/* Does a channel lead to another, by what is there? */
static bool leads(const struct world *w, uint32_t a, uint32_t b)
{
	bool *at = xcalloc(w->f->nchan, sizeof(*at)), more = true, yes;

	at[a] = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < w->n; i++) {
			more |= at[w->from[i]] && !at[w->to[i]];
			at[w->to[i]] |= at[w->from[i]];
		}
	}
	yes = at[b];
	free(at);
	return yes;
}

static void assert_all_climb(const struct world *w)
{
	const uint32_t *place = nue_turns_places(w->turns);
	bool *taken = xcalloc(w->f->nchan, sizeof(*taken));

	for (uint32_t c = 0; c < w->f->nchan; c++) {
		assert_true(place[c] < w->f->nchan && !taken[place[c]]);
		taken[place[c]] = true;
	}
	for (uint32_t i = 0; i < w->n; i++)
		assert_true(place[w->from[i]] < place[w->to[i]]);
	free(taken);
}

static void takes_every_turn_that_closes_no_cycle_and_no_other(void **state)
{
	struct world w;
	uint32_t refused = 0;

	(void)state;
	world_begin(&w, "hyperx:dims=4x3,hosts=1");
	for (uint32_t i = 0; i < TRIES / 4; i++) {
		uint32_t a, b;
		bool cycle;

		draw_turn(&w, &a, &b);
		cycle = leads(&w, b, a);
		assert_int_equal(nue_turns_add(w.turns, a, b, UINT64_MAX), !cycle);
		refused += cycle;
		if (!cycle) {
			w.from[w.n] = a;
			w.to[w.n++] = b;
		}
		assert_all_climb(&w);
	}
	assert_in_range(refused, TRIES / 40, TRIES / 4 - TRIES / 40);
	world_end(&w);
}

static void a_turn_stands_in_the_way_until_all_who_have_it_drop_it(void **state)
{
	struct world w;
	uint32_t c[4], v = 0;

	(void)state;
	world_begin(&w, "torus:dims=4,hosts=1");
	/* around the ring */
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t k = w.f->chan_off[v];

		while (w.f->chan_dst[k] != (v + 1) % 4)
			k++;
		c[i] = k;
		v = w.f->chan_dst[k];
	}
	assert_true(nue_turns_add(w.turns, c[0], c[1], UINT64_MAX));
	assert_true(nue_turns_add(w.turns, c[1], c[2], UINT64_MAX));
	assert_true(nue_turns_add(w.turns, c[1], c[2], UINT64_MAX));
	assert_true(nue_turns_add(w.turns, c[2], c[3], UINT64_MAX));
	assert_false(nue_turns_add(w.turns, c[3], c[0], UINT64_MAX));
	nue_turns_drop(w.turns, c[1], c[2]);
	assert_false(nue_turns_add(w.turns, c[3], c[0], UINT64_MAX));
	nue_turns_drop(w.turns, c[1], c[2]);
	assert_true(nue_turns_add(w.turns, c[3], c[0], UINT64_MAX));
	world_end(&w);
}

static void a_turn_that_takes_too_long_to_try_is_refused(void **state)
{
	struct world w;
	uint32_t n = 0, refused = 0;

	(void)state;
	world_begin(&w, "hyperx:dims=4x3,hosts=1");
	for (; n < TRIES / 4; n++) {
		uint32_t a, b;
		uint64_t work;

		draw_turn(&w, &a, &b);
		if (leads(&w, b, a))
			continue;
		work = nue_turns_work(w.turns);
		if (nue_turns_add(w.turns, a, b, 10)) {
			w.from[w.n] = a;
			w.to[w.n++] = b;
		} else {
			assert_true(nue_turns_work(w.turns) - work > 10);
			refused++;
		}
		assert_all_climb(&w);
	}
	assert_true(w.n > 20 && refused > 20);
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_every_turn_that_closes_no_cycle_and_no_other),
		cmocka_unit_test(a_turn_stands_in_the_way_until_all_who_have_it_drop_it),
		cmocka_unit_test(a_turn_that_takes_too_long_to_try_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
