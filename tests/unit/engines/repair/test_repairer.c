/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/repairer.h"

#include "engines/verify/kept/kept_verdict.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/tables_diff.h"
#include "tests/unit/kit/cable_events.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct play {
	struct cable_events e;
	struct repairer *r;
	struct kept_verdict *k;
	struct entry_changes changes;
	struct repair_report report;
	uint32_t events, refused;
	uint64_t needed, changed;
};

static struct tables *route(const struct fabric *f, const char *engine)
{
	struct engine_params p = { .seed = 1, .threads = 1 };
	struct tables *t = NULL;
	struct err err;

	if (engine_run(engine_find(engine, NULL), &t, f, NULL, NULL, &p, NULL, &err))
		return NULL;
	return t;
}

static void must_agree(const struct verdict *kept, const struct verdict *full)
{
	assert_true(kept->connected && kept->loop_free && kept->deadlock_free);
	assert_true(full->connected && full->loop_free && full->deadlock_free);
	assert_int_equal(kept->vls_fit, full->vls_fit);
	assert_int_equal(kept->pairs, full->pairs);
	assert_int_equal(kept->vl_mask, full->vl_mask);
	assert_int_equal(kept->vls_used, full->vls_used);
	assert_int_equal(kept->sls_used, full->sls_used);
	assert_int_equal(kept->hops_max, full->hops_max);
	assert_memory_equal(&kept->hops_mean, &full->hops_mean, sizeof(kept->hops_mean));
	assert_int_equal(kept->vertices, full->vertices);
	assert_int_equal(kept->edges, full->edges);
}

/* What is left, judged by the whole verifier. */
static void must_be_what_verify_says(struct play *p)
{
	struct fabric *now = cable_events_fabric(&p->e);
	struct tables *t = cable_events_tables(&p->e, now, repairer_tables(p->r));
	struct verdict *full, kept;
	char text[300];

	assert_int_equal(verify_tables(&full, now, t, NULL, NULL, NULL), 0);
	verdict_sentence(text, sizeof(text), full, now);
	if (!full->connected || !full->deadlock_free)
		fail_msg("%s", text);
	kept_verdict_get(p->k, &kept);
	must_agree(&kept, full);
	verdict_free(full);
	tables_put(t);
	fabric_put(now);
}

/* The changes are those between two tables, and no others. */
static void must_be_all_changes(struct play *p, const struct tables *was)
{
	const struct tables *now = repairer_tables(p->r);
	struct tables_diff *diff = tables_diff_new(p->e.f, was, now);

	assert_int_equal(diff->entries, entry_changes_entries(&p->changes));
	assert_int_equal(diff->entries, p->report.changed);
	tables_diff_free(diff);
}

static bool begin(struct play *p, const struct fabric *f, const struct tables *t, uint64_t seed)
{
	struct engine_params params = { .threads = 1, .current = t };
	struct err err;
	int rc = repairer_new(&p->r, f, &params, NULL, &err);

	if (rc == -EDEADLK) {
		assert_int_equal(kept_verdict_new(&p->k, f, t, false, NULL, &err), -EDOM);
		return false;
	}
	if (rc)
		fail_msg("%s", err.text);
	if (kept_verdict_new(&p->k, f, t, false, NULL, &err))
		fail_msg("%s", err.text);
	cable_events_init(&p->e, f, seed);
	return true;
}

static void end(struct play *p)
{
	repairer_free(p->r);
	kept_verdict_free(p->k);
	entry_changes_done(&p->changes);
	cable_events_done(&p->e);
}

static bool one_event(struct play *p)
{
	struct tables *was = tables_onto(p->e.f, repairer_tables(p->r), repairer_tables(p->r));
	struct err err;
	int rc;

	p->changes.n = 0;
	rc = repairer_update(p->r, p->e.down, &p->changes, &p->report, &err);
	if (rc) {
		assert_int_equal(rc, -ENOSPC);
		p->refused++;
		tables_put(was);
		return false;
	}
	must_be_all_changes(p, was);
	assert_true(p->report.needed <= p->report.changed);
	if (!kept_verdict_update(p->k, repairer_tables(p->r), p->e.down, &p->changes))
		fail_msg("the kept verdict does not accept it");
	must_be_what_verify_says(p);
	p->events++;
	p->needed += p->report.needed;
	p->changed += p->report.changed;
	tables_put(was);
	return true;
}

/* Until nothing is away. */
static void move_back(struct play *p, uint32_t most)
{
	uint32_t before;

	do {
		p->changes.n = 0;
		before = p->report.away;
		repairer_move_back(p->r, most, &p->changes, &p->report);
		if (!kept_verdict_update(p->k, repairer_tables(p->r), p->e.down, &p->changes))
			fail_msg("the kept verdict does not accept it");
		must_be_what_verify_says(p);
	} while (p->report.away && p->report.away < before);
}

static bool play(struct play *p, const struct fabric *f, const struct tables *t, uint64_t seed)
{
	static const enum cable_event order[] = {
		LOSE_CABLE, LOSE_CABLE,	 CABLE_BACK, LOSE_CARD,	  LOSE_CABLE, CABLE_BACK,
		CABLE_BACK, LOSE_SWITCH, LOSE_CABLE, SWITCH_BACK, CABLE_BACK, LOSE_CARD,
	};
	bool fine = true;

	if (!begin(p, f, t, seed))
		return false;
	must_be_what_verify_says(p);
	for (size_t i = 0; i < COUNT(order) && fine; i++)
		if (cable_events_happen(&p->e, order[i])) {
			fine = one_event(p);
			if (fine && i % 4 == 3)
				move_back(p, 7);
		}
	cable_events_all_back(&p->e);
	if (fine && one_event(p)) {
		move_back(p, 0);
		assert_int_equal(p->report.away, 0);
		assert_memory_equal(repairer_tables(p->r)->lft, t->lft, (size_t)t->nsw * t->stride);
	}
	end(p);
	return true;
}

static void every_event_is_as_verify_says(void **state)
{
	uint32_t events = 0, refused = 0;
	uint64_t needed = 0, changed = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(nets); i++) {
		struct fabric *f = net_spec(nets[i]);

		for (size_t k = 0; k < COUNT(engines); k++) {
			struct tables *t = route(f, engines[k]);
			struct play p = { 0 };

			if (t)
				play(&p, f, t, 100 * i + k);
			events += p.events;
			refused += p.refused;
			needed += p.needed;
			changed += p.changed;
			tables_put(t);
		}
		fabric_put(f);
	}
	print_message("%u events, %u refused, %lu entries changed, %lu needed\n", events, refused,
		      (unsigned long)changed, (unsigned long)needed);
	assert_true(events > 20 * refused);
	assert_true(changed * 10 <= needed * 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_is_as_verify_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
