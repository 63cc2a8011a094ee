/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps from repaired tables, found beside whoever asked. */
#include "engines/opensm/beside/improver.h"

#include "engines/transition/transition.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/model/topology/without.h"
#include "tests/unit/kit/cable_events.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct heard {
	pthread_mutex_t lock;
	unsigned n, steps;
	char last[400];
	const struct tables *of, *step;
};

static void hear(void *ctx, const char *sentence)
{
	struct heard *h = ctx;

	pthread_mutex_lock(&h->lock);
	h->n++;
	snprintf(h->last, sizeof(h->last), "%s", sentence);
	pthread_mutex_unlock(&h->lock);
}

static void take(void *ctx, const struct tables *of, const struct tables *step)
{
	struct heard *h = ctx;

	pthread_mutex_lock(&h->lock);
	tables_put(h->of);
	tables_put(h->step);
	h->of = tables_get(of);
	h->step = tables_get(step);
	h->steps++;
	pthread_mutex_unlock(&h->lock);
}

static const struct improver_ops ops = { take, hear };

/* A sentence that ends an answer: a step comes after its own. */
static bool waited_for(struct heard *h, unsigned n, unsigned steps, unsigned ms)
{
	uint64_t end = clock_ms() + ms;
	bool there = false;

	while (!there && clock_ms() < end) {
		poll(NULL, 0, 10);
		pthread_mutex_lock(&h->lock);
		there = h->n >= n && h->steps >= steps;
		pthread_mutex_unlock(&h->lock);
	}
	return there;
}

static struct policy *policy_of(const char *engine, unsigned improve_s)
{
	struct policy *p = xcalloc(1, sizeof(*p));

	p->refs = 1;
	p->improve_s = improve_s;
	param_defaults(&p->params);
	assert_int_equal(engine_spec_parse(&p->spec, engine, NULL), 0);
	return p;
}

/* Tables of a time when three cables were out. */
static const struct tables *worn(const struct fabric *f)
{
	struct engine_params params = { .threads = 1 };
	struct cable_events e;
	struct fabric *less;
	struct tables *t;

	cable_events_init(&e, f, 4);
	for (int i = 0; i < 3; i++)
		assert_true(cable_events_happen(&e, LOSE_CABLE));
	less = fabric_without(f, e.down);
	t = must_route(engine_find("nue", NULL), less, NULL, &params);
	fabric_put(less);
	cable_events_done(&e);
	return t;
}

static void must_be_harmless(const struct fabric *f, const struct tables *a, const struct tables *b)
{
	struct transition *plan;

	assert_int_equal(transition_plan(&plan, f, a, b, NULL, NULL, NULL), 0);
	assert_int_equal(plan->ndrain, 0);
	assert_true(plan->nwaves <= 1);
	transition_free(plan);
}

static void steps_follow_each_other_until_none_is_left(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=2");
	const struct tables *t = worn(f);
	struct heard h = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct improver *i = improver_new(&ops, &h);
	struct policy *p = policy_of("nue", 1);
	unsigned n = 0;

	(void)state;
	for (;;) {
		unsigned steps = h.steps;

		improver_installed(i, f, t, p, true);
		assert_true(waited_for(&h, ++n, 0, 60000));
		if (!strstr(h.last, "nobody has to drain") || strstr(h.last, "is not taken"))
			break;
		assert_true(waited_for(&h, n, steps + 1, 60000));
		assert_ptr_equal(h.of, t);
		must_be_harmless(f, t, h.step);
		tables_put(t);
		t = tables_get(h.step);
		if (n == 2) /* seconds, each */
			break;
	}
	assert_true(h.steps >= 1);
	improver_free(i);
	tables_put(h.of);
	tables_put(h.step);
	tables_put(t);
	policy_put(p);
	fabric_put(f);
}

static void nothing_is_done_where_nobody_wants_it(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=2");
	const struct tables *t = worn(f);
	struct heard h = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct improver *i = improver_new(&ops, &h);
	struct policy *never = policy_of("nue", 0), *later = policy_of("nue", 1);

	(void)state;
	improver_installed(i, f, t, never, true);
	improver_installed(i, f, t, later, false);
	assert_false(waited_for(&h, 1, 0, 1500));
	/* a change within the time: what was repaired before is no more */
	improver_installed(i, f, t, later, true);
	improver_installed(i, f, t, later, false);
	assert_false(waited_for(&h, 1, 0, 1500));
	improver_installed(NULL, f, t, later, true);
	improver_free(i);
	improver_free(NULL);
	policy_put(never);
	policy_put(later);
	tables_put(t);
	fabric_put(f);
}

/* What cannot be better is looked at once. */
static void it_rests_where_no_step_is_left(void **state)
{
	struct fabric *f = net_spec("xgft:h=2,m=2x2,w=1x1");
	const struct tables *t = must_route(engine_find("updn", NULL), f, NULL,
					    &(struct engine_params){ .threads = 1 });
	struct heard h = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct improver *i = improver_new(&ops, &h);
	struct policy *p = policy_of("updn", 1);

	(void)state;
	improver_installed(i, f, t, p, true);
	assert_true(waited_for(&h, 1, 0, 60000));
	assert_string_equal(h.last, "no step towards even loads is left");
	poll(NULL, 0, 50);
	improver_installed(i, f, t, p, true);
	assert_false(waited_for(&h, 2, 0, 1500));
	assert_int_equal(h.steps, 0);
	improver_free(i);
	policy_put(p);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_follow_each_other_until_none_is_left),
		cmocka_unit_test(nothing_is_done_where_nobody_wants_it),
		cmocka_unit_test(it_rests_where_no_step_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
