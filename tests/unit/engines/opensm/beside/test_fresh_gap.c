/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repaired routings against fresh ones, beside whoever asked. */
#include "engines/opensm/beside/fresh_gap.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
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
	unsigned n;
	char last[300];
};

static void hear(void *ctx, const char *sentence)
{
	struct heard *h = ctx;

	pthread_mutex_lock(&h->lock);
	h->n++;
	snprintf(h->last, sizeof(h->last), "%s", sentence);
	pthread_mutex_unlock(&h->lock);
}

static bool waited_for(struct heard *h, unsigned n)
{
	uint64_t end = clock_ms() + 60000;
	bool there = false;

	while (!there && clock_ms() < end) {
		poll(NULL, 0, 10);
		pthread_mutex_lock(&h->lock);
		there = h->n >= n;
		pthread_mutex_unlock(&h->lock);
	}
	return there;
}

static struct policy *policy_of(const char *engine)
{
	struct policy *p = xcalloc(1, sizeof(*p));

	p->refs = 1;
	param_defaults(&p->params);
	assert_int_equal(engine_spec_parse(&p->spec, engine, NULL), 0);
	return p;
}

static void both_are_measured(void **state)
{
	struct fabric *f = net_spec("torus:dims=4x4,hosts=2");
	struct tables *t = must_route(engine_find("updn", NULL), f, NULL, NULL);
	struct heard h = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct table_selection_log log = { hear, &h };
	struct policy *p = policy_of("dfsssp"), *none = policy_of("ftree");
	struct fresh_gap *g = fresh_gap_new(&log);

	(void)state;
	fresh_gap_ask(g, f, t, p);
	assert_true(waited_for(&h, 1));
	assert_non_null(strstr(h.last, "against a fresh one by dfsssp: time of shifts "));
	fresh_gap_ask(g, f, t, none);
	assert_true(waited_for(&h, 2));
	assert_non_null(strstr(h.last, "no fresh routing to compare with: "));
	fresh_gap_free(g);
	policy_put(p);
	policy_put(none);
	tables_put(t);
	fabric_put(f);
}

/* OpenSM does not wait for an engine when it ends. */
static void what_runs_is_ended(void **state)
{
	struct fabric *f = net_spec("torus:dims=9x9x9,hosts=1");
	struct tables *t = must_route(engine_find("updn", NULL), f, NULL, NULL);
	struct heard h = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct table_selection_log log = { hear, &h };
	struct policy *p = policy_of("nue:2");
	struct fresh_gap *g = fresh_gap_new(&log);
	uint64_t start;

	(void)state;
	fresh_gap_ask(g, f, t, p);
	fresh_gap_ask(g, f, t, p);
	poll(NULL, 0, 300);
	start = clock_ms();
	fresh_gap_free(g);
	assert_true(clock_ms() - start < 2000);
	assert_int_equal(h.n, 0);
	fresh_gap_free(fresh_gap_new(&log));
	fresh_gap_free(NULL);
	policy_put(p);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_are_measured),
		cmocka_unit_test(what_runs_is_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
