/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contracted components: cycles that were there from the beginning, and nothing more. */
#include "engines/transition/transition_graph.h"

#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define NVL  2
#define RING 4

struct kit {
	struct fabric *f;
	struct turns turns;
	struct pace pace;
	struct tgraph *g;
	uint32_t chan[RING]; /* 0 -> 1 -> 2 -> 3 -> 0 */
};

static uint32_t chan_between(const struct fabric *f, uint32_t a, uint32_t b)
{
	for (uint32_t c = f->chan_off[a]; c < f->chan_off[a + 1]; c++)
		if (f->chan_dst[c] == b)
			return c;
	fail();
	return FAB_NONE;
}

static struct tdep dep(const struct kit *k, uint32_t c, uint32_t vl, uint32_t e, uint32_t to_vl)
{
	return (struct tdep){ turns_at(&k->turns, c, e), c * NVL + vl, e * NVL + to_vl };
}

/* Twice around the ring, on VL 0 and then on VL 1: the i-th of eight. */
static struct tdep around(const struct kit *k, uint32_t i)
{
	uint32_t next = (i + 1) % (2 * RING);

	return dep(k, k->chan[i % RING], i / RING, k->chan[next % RING], next / RING);
}

/* A graph of that cycle, and of one dependency inside it that has gone again; contracted. */
static void start(struct kit *k, const struct tdep *gone)
{
	*k = (struct kit){ .f = net_ring(RING, 1, NULL) };
	turns_init(&k->turns, k->f);
	assert_false(pace_begin(&k->pace, NULL, "test", 1));
	k->g = tgraph_new(k->f, &k->turns, NVL, &k->pace);
	for (uint32_t i = 0; i < RING; i++)
		k->chan[i] = chan_between(k->f, i, (i + 1) % RING);
	for (uint32_t i = 0; i < 2 * RING; i++) {
		struct tdep d = around(k, i);

		tgraph_put(k->g, &d);
	}
	if (gone) {
		tgraph_put(k->g, gone);
		tgraph_remove(k->g, gone);
	}
	assert_false(tgraph_sort(k->g));
	tgraph_contract(k->g);
	assert_true(tgraph_sort(k->g));
}

static void end(struct kit *k)
{
	tgraph_free(k->g);
	turns_done(&k->turns);
	fabric_put(k->f);
}

static void a_component_takes_back_what_it_had(void **state)
{
	struct kit k;

	(void)state;
	start(&k, NULL);
	for (uint32_t i = 0; i < 2 * RING; i++) {
		struct tdep d = around(&k, i);

		assert_true(tgraph_agrees(k.g, &d));
		tgraph_remove(k.g, &d);
		assert_true(tgraph_agrees(k.g, &d));
		assert_false(tgraph_closes(k.g, &d, 1000));
		assert_true(tgraph_add(k.g, &d));
		assert_true(tgraph_add(k.g, &d)); /* once more of the same */
	}
	end(&k);
}

static void a_component_admits_no_dependency_that_it_had_not(void **state)
{
	struct tdep d, gone;
	struct kit k;

	(void)state;
	start(&k, NULL);
	for (uint32_t i = 0; i < RING; i++) {
		d = dep(&k, k.chan[i], 0, k.chan[(i + 1) % RING], i + 1 < RING ? 1 : 0);
		assert_false(tgraph_agrees(k.g, &d));
		assert_false(tgraph_add(k.g, &d));
		assert_int_equal(tgraph_add_some(k.g, &d, 1, 1), 0);
		assert_true(tgraph_closes(k.g, &d, 1000));
		assert_true(tgraph_closed(k.g, &d));
		assert_false(tgraph_add(k.g, &d)); /* known by now, and still none of its own */
	}
	gone = dep(&k, k.chan[0], 0, k.chan[1], 1);
	end(&k);

	/* one that had gone before is no part of it either */
	start(&k, &gone);
	assert_false(tgraph_agrees(k.g, &gone));
	assert_false(tgraph_add(k.g, &gone));
	end(&k);
}

/* Out of the component and back into it is a cycle, wherever it leaves and enters. */
static void a_way_out_of_a_component_has_no_way_back(void **state)
{
	struct kit k;

	(void)state;
	for (uint32_t i = 0; i < RING; i++) {
		struct tdep out, back;
		uint32_t rev, prev;

		start(&k, NULL);
		rev = k.f->chan_rev[k.chan[i]];
		prev = k.f->chan_rev[k.chan[(i + RING - 1) % RING]];
		out = dep(&k, k.chan[i], 0, rev, 1);
		back = dep(&k, prev, 1, k.chan[(i + RING - 1) % RING], 1);
		assert_true(tgraph_add(k.g, &out));
		assert_true(tgraph_add(k.g, &back));
		out = dep(&k, rev, 1, prev, 1);
		assert_true(tgraph_closes(k.g, &out, 1000));
		assert_false(tgraph_add(k.g, &out));
		tgraph_remove(k.g, &back);
		assert_true(tgraph_add(k.g, &out));
		assert_false(tgraph_add(k.g, &back));
		end(&k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_component_takes_back_what_it_had),
		cmocka_unit_test(a_component_admits_no_dependency_that_it_had_not),
		cmocka_unit_test(a_way_out_of_a_component_has_no_way_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
