/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/repairer.h"

#include "tests/unit/kit/repair_play.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const char *const nets[] = {
	"fattree2:leaves=6,spines=4,hosts=5",
	"kary:k=4,n=3,hosts=3",
	"torus:dims=4x4,hosts=2",
	"dragonfly:p=2",
	"hyperx:dims=4x3,hosts=2",
	"random:switches=16,links=40,hosts=3,seed=5",
	"random:switches=24,links=50,hosts=2,lids=random,lmc=1,seed=9",
};

static const char *const engines[] = { "minhop", "updn", "dfsssp", "nue", "dfdn", "dor" };

static struct tables *route(const struct fabric *f, const char *engine)
{
	struct engine_params p = { .seed = 1, .threads = 1 };
	struct tables *t = NULL;
	struct err err;

	if (engine_run(engine_find(engine, NULL), &t, f, NULL, NULL, &p, NULL, &err))
		return NULL;
	return t;
}

static bool play(struct repair_play *p, const struct fabric *f, const struct tables *t,
		 uint64_t seed)
{
	static const enum cable_event order[] = {
		LOSE_CABLE, LOSE_CABLE,	 CABLE_BACK, LOSE_CARD,	  LOSE_CABLE, CABLE_BACK,
		CABLE_BACK, LOSE_SWITCH, LOSE_CABLE, SWITCH_BACK, CABLE_BACK, LOSE_CARD,
	};

	if (!repair_play_begin(p, f, t, seed))
		return false;
	if (!p->r)
		return true;
	for (size_t i = 0; i < COUNT(order); i++)
		if (!repair_play_event(p, order[i]) || (i % 4 == 3 && !repair_play_move_back(p, 7)))
			return false;
	return repair_play_all_back(p);
}

static void every_event_is_as_verify_says(void **state)
{
	struct repair_play sum = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(nets) * COUNT(engines); i++) {
		struct fabric *f = net_spec(nets[i / COUNT(engines)]);
		struct tables *t = route(f, engines[i % COUNT(engines)]);
		struct repair_play p = { .orders = i % 7 ? 0 : 2 };

		if (t) {
			if (!play(&p, f, t, 100 + i))
				fail_msg("%s, %s: %s", nets[i / COUNT(engines)],
					 engines[i % COUNT(engines)], p.why);
			repair_play_end(&p);
		}
		sum.events += p.events;
		sum.refused += p.refused;
		sum.needed += p.needed;
		sum.changed += p.changed;
		sum.one_wave += p.one_wave;
		sum.waves += p.waves;
		sum.drained += p.drained;
		tables_put(t);
		fabric_put(f);
	}
	print_message("%u events, %u refused, %lu entries changed, %lu needed; %u in any order, %u "
		      "in waves, %u drained\n",
		      sum.events, sum.refused, (unsigned long)sum.changed,
		      (unsigned long)sum.needed, sum.one_wave, sum.waves, sum.drained);
	assert_true(sum.events > 20 * sum.refused);
	assert_true(sum.changed * 10 <= sum.needed * 12);
}

/* Each cable alone: what has to change, and what changes. */
static void lose_each_cable(uint64_t *needed, uint64_t *changed, const struct fabric *f,
			    const struct tables *t, unsigned vls)
{
	struct engine_params p = { .vls = vls, .threads = 1, .current = t };
	bool *down = calloc(f->nchan, sizeof(*down));
	struct entry_changes changes = { 0 };
	struct repairer *r;
	struct err err;

	assert_int_equal(repairer_new(&r, f, &p, NULL, &err), 0);
	for (uint32_t c = 0; c < f->nchan; c++) {
		struct repair_report report;

		if (f->chan_rev[c] < c)
			continue;
		down[c] = down[f->chan_rev[c]] = true;
		changes.n = 0;
		assert_int_equal(repairer_try(r, down, &changes, &report, &err), 0);
		*needed += report.needed;
		*changed += report.changed;
		down[c] = down[f->chan_rev[c]] = false;
	}
	entry_changes_done(&changes);
	repairer_free(r);
	free(down);
}

/* Few VLs leave few ways around a break beside which all other entries can stay. */
static void a_way_around_is_sought_that_spares_entries(void **state)
{
	struct fabric *f = net_spec("torus:dims=4x3x3,hosts=4,links=2");
	struct engine_params p = { .seed = 1, .threads = 1, .vls = 2 };
	uint64_t needed = 0, changed = 0;
	struct tables *t;
	struct err err;

	(void)state;
	assert_int_equal(engine_run(engine_find("nue", NULL), &t, f, NULL, NULL, &p, NULL, &err),
			 0);
	lose_each_cable(&needed, &changed, f, t, 3);
	if (100 * changed > 110 * needed)
		fail_msg("%llu entries changed, %llu needed", (unsigned long long)changed,
			 (unsigned long long)needed);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_is_as_verify_says),
		cmocka_unit_test(a_way_around_is_sought_that_spares_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
