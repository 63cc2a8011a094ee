/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/time_gate.h"

#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define LEAVES 4
#define HOSTS  8

/* Two spines; which of them a host is reached by is the test's affair. */
static struct tables *over_spines(const struct fabric *f, uint32_t (*spine)(uint32_t term))
{
	struct tables *t = kit_bfs(f);

	for (uint32_t i = 0; i < f->nterm; i++)
		for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
			if (leaf != f->term_sw[i])
				tables_row(t, leaf)[f->term_lid[i]] =
					f->chan_port[kit_chan(f, leaf, LEAVES + spine(i))];
	return t;
}

static uint32_t by_turns(uint32_t term)
{
	return term % 2;
}

static uint32_t the_other_way_round(uint32_t term)
{
	return (term + 1) % 2;
}

static uint32_t the_first(uint32_t term)
{
	return term / LEAVES < 6 ? term % 2 : 0; /* of the last hosts alone */
}

/* By pairs or by turns, in one half of each leaf or the other. */
static uint32_t by_halves(uint32_t term)
{
	return term % HOSTS < HOSTS / 2 ? term / 2 % 2 : term % 2;
}

static uint32_t by_other_halves(uint32_t term)
{
	return term % HOSTS < HOSTS / 2 ? term % 2 : term / 2 % 2;
}

/* Every host of the first half of each leaf, and the others. */
static struct jobset *two_jobs(const struct fabric *f)
{
	uint64_t *member = xcalloc(f->nterm, sizeof(*member));
	struct jobset *js;

	for (uint32_t i = 0; i < f->nterm; i++)
		member[i] = i % HOSTS < HOSTS / 2 ? 1 : 2;
	js = kit_jobs(f, member, 2);
	free(member);
	return js;
}

static struct time_gate gate(const struct fabric *f, const struct tables *a, const struct tables *b,
			     const struct jobset *js, uint64_t seed, uint32_t phases)
{
	struct job_time_opts o = { .pattern = PREDICT_ALLTOALL, .seed = seed, .phases = phases };
	struct time_gate g;
	struct err err;

	assert_int_equal(time_gate_compute(&g, f, a, b, js, &o, NULL, &err), 0);
	return g;
}

static void the_same_tables_are_not_slower(void **state)
{
	struct fabric *f = net_tree(LEAVES, 2, HOSTS, NULL);
	struct tables *t = over_spines(f, by_turns);
	struct jobset *js = two_jobs(f);
	struct time_gate g = gate(f, t, t, js, 1, 0);
	char text[300];

	(void)state;
	assert_true(g.known);
	assert_false(time_gate_slower(&g));
	assert_string_equal(time_gate_text(text, sizeof(text), &g), "");
	for (int p = 0; p < PREDICT_PATTERNS; p++) {
		assert_true(g.of[p].before >= 1);
		assert_true(g.of[p].error == 0 && time_change_rise(&g.of[p]) == 0);
	}
	assert_true(g.job_time.before >= 1 && time_change_rise(&g.job_time) == 0);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void what_gets_slower_is_named(void **state)
{
	struct fabric *f = net_tree(LEAVES, 2, HOSTS, NULL);
	struct tables *a = over_spines(f, by_turns), *b = over_spines(f, the_first);
	struct jobset *js = two_jobs(f);
	struct time_gate g = gate(f, a, b, js, 1, 0), back;
	char text[300], name[40];

	(void)state;
	assert_true(time_gate_slower(&g));
	assert_true(g.pattern_slower && g.jobs_slower);
	assert_true(time_change_rise_least(&g.of[g.worst]) > TIME_GATE_PATTERN);
	assert_true(time_change_rise_least(&g.job_time) > TIME_GATE_JOB);
	assert_int_equal(g.job_id, js->jobs[g.job].id);
	for (int p = 0; p < PREDICT_PATTERNS; p++)
		assert_true(time_change_rise_least(&g.of[p]) <=
			    time_change_rise_least(&g.of[g.worst]));
	time_gate_text(text, sizeof(text), &g);
	snprintf(name, sizeof(name), "job %llu in alltoall ", (unsigned long long)g.job_id);
	assert_non_null(strstr(text, name));
	assert_non_null(strstr(text, predict_pattern_name(g.worst)));
	assert_non_null(strstr(text, "limit 2 %"));
	assert_non_null(strstr(text, "limit 10 %"));
	back = gate(f, b, a, js, 1, 0);
	assert_false(time_gate_slower(&back));
	assert_true(time_change_rise(&back.job_time) < 0);
	jobset_put(js);
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

/* The spines change places, or what two jobs of one size have: on average nothing is slower,
 * however few phases are drawn and whichever these are. */
static void the_draw_makes_nothing_slower(void **state)
{
	struct fabric *f = net_tree(LEAVES, 2, HOSTS, NULL);
	struct tables *a = over_spines(f, by_turns), *b = over_spines(f, the_other_way_round);
	struct tables *c = over_spines(f, by_halves), *d = over_spines(f, by_other_halves);
	struct jobset *js = two_jobs(f);
	struct time_gate all = gate(f, c, d, js, 1, 4096);

	(void)state;
	assert_true(time_change_rise(&all.of[PREDICT_ALLTOALL]) < TIME_GATE_PATTERN);
	assert_true(all.of[PREDICT_ALLTOALL].error > 0);
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct time_gate g = gate(f, a, b, js, seed, 16), h = gate(f, c, d, js, seed, 16);

		assert_false(time_gate_slower(&g));
		assert_true(time_change_rise_least(&h.of[PREDICT_ALLTOALL]) <= TIME_GATE_PATTERN);
	}
	jobset_put(js);
	tables_put(a);
	tables_put(b);
	tables_put(c);
	tables_put(d);
	fabric_put(f);
}

/* Whom the installed tables do not connect cannot be made slower. */
static void jobs_without_a_path_are_not_compared(void **state)
{
	struct fabric *f = net_tree(LEAVES, 2, HOSTS, NULL);
	struct tables *a = over_spines(f, by_turns), *b = over_spines(f, the_first);
	struct jobset *js = two_jobs(f);
	struct time_gate g;

	(void)state;
	for (uint32_t leaf = 1; leaf < LEAVES; leaf++)
		for (uint32_t i = 0; i < HOSTS; i++)
			tables_row(a, leaf)[f->term_lid[i]] = FAB_NO_PORT;
	g = gate(f, a, b, js, 1, 0);
	assert_false(g.known);
	assert_false(time_gate_slower(&g));
	assert_int_equal(g.job, FAB_NONE);
	jobset_put(js);
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

static void it_can_be_cancelled(void **state)
{
	struct fabric *f = net_tree(LEAVES, 2, HOSTS, NULL);
	struct tables *t = over_spines(f, by_turns);
	struct jobset *js = two_jobs(f);
	struct progress p = { .cancel = true };
	struct time_gate g;
	struct err err;

	(void)state;
	assert_int_equal(time_gate_compute(&g, f, t, t, js, NULL, &p, &err), -ECANCELED);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_tables_are_not_slower),
		cmocka_unit_test(what_gets_slower_is_named),
		cmocka_unit_test(the_draw_makes_nothing_slower),
		cmocka_unit_test(jobs_without_a_path_are_not_compared),
		cmocka_unit_test(it_can_be_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
