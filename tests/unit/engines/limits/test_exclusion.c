/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/limits/exclusion.h"

#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/site/limits_text.h"
#include "tests/unit/kit/fabkit.h"
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

static struct route_limits *must_exclude(const struct fabric *f, const char *text)
{
	struct route_limits *l = NULL;
	struct err err;

	if (route_limits_exclude(&l, f, text, &err))
		fail_msg("%s: %s", text, err.text);
	return l;
}

/* Ways of every LID, hop by hop, from all switches, that pass what is excluded. */
static uint64_t count_passes(const struct fabric *f, const struct tables *t,
			     const struct route_limits *l)
{
	uint64_t n = 0;

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port;
		uint32_t dst = fabric_lid_switch(f, lid, &port);

		for (uint32_t u = 0; u < f->nsw && dst != FAB_NONE; u++) {
			bool passes = false;

			for (uint32_t v = u; v != dst;) {
				uint32_t c = fabric_chan(f, v, tables_row(t, v)[lid]);

				assert_int_not_equal(c, FAB_NONE);
				v = f->chan_dst[c];
				passes |= l->exclude_chan && l->exclude_chan[c];
				passes |= v != dst && l->exclude_sw && l->exclude_sw[v];
			}
			n += passes;
		}
	}
	return n;
}

static void assert_verdict(const struct fabric *f, const struct tables *t,
			   const struct route_limits *l)
{
	struct verify_opts o = { .limits = l };
	struct verdict *v;
	char why[300];

	assert_int_equal(verify_tables(&v, f, t, &o, NULL, NULL), 0);
	assert_int_equal(v->passes.n, 0);
	verdict_sentence(why, sizeof(why), v, f);
	if (!verdict_ok(v))
		fail_msg("%s: %s", t->engine, why);
	verdict_free(v);
}

/* By one engine, with 1 and 4 threads; returns whether it took the fabric. */
static bool route_around(const struct engine *e, const struct fabric *f, struct route_limits *l,
			 const struct tables *current, bool escape)
{
	struct notes notes = { 0 };
	struct engine_params p = { .limits = l,
				   .current = current,
				   .escape = escape,
				   .threads = 1,
				   .seed = 1,
				   .notes = &notes };
	struct tables *t = NULL, *other = NULL;
	struct err err = { "" };
	int rc = engine_run(e, &t, f, NULL, NULL, &p, NULL, &err);

	if (rc) {
		assert_non_null(strstr(err.text, "excluded"));
		notes_done(&notes);
		return false;
	}
	assert_complete(f, t);
	assert_int_equal(count_passes(f, t, l), 0);
	if (strcmp(e->name, "minhop") != 0) /* which promises no freedom of deadlocks */
		assert_verdict(f, t, l);
	assert_int_equal(t->escape, escape);
	assert_true(digest_equal(&t->fingerprint, &f->fingerprint));
	assert_non_null(strstr(t->params, " exclude="));
	assert_non_null(notes_find(&notes, "excluded"));
	p.threads = 4;
	assert_int_equal(engine_run(e, &other, f, NULL, NULL, &p, NULL, &err), 0);
	assert_same_tables(t, other);
	tables_put(t);
	tables_put(other);
	notes_done(&notes);
	return true;
}

/* Which of the engines take that fabric whole? */
static bool takes(const struct engine *e, const struct fabric *f, bool escape)
{
	struct engine_params p = { .escape = escape, .seed = 1 };
	struct tables *t = NULL;
	int rc = engine_run(e, &t, f, NULL, NULL, &p, NULL, NULL);

	tables_put(t);
	return !rc;
}

/* took: engines that take the fabric whole, with and without escape LIDs; refused: so many of these
 * do not without what is excluded. */
static void every_engine_around(const struct fabric *f, const char *exclude, uint32_t took,
				uint32_t refused)
{
	struct route_limits *l = must_exclude(f, exclude);
	struct tables *current = must_route(engine_find("minhop", NULL), f, NULL, NULL);
	const struct engine *const *e;
	uint32_t tried = 0, refusals = 0;
	size_t n;

	e = engine_all(&n);
	for (size_t i = 0; i < n; i++)
		for (int how = 0; how < 2; how++) {
			bool escape = how && f->lmc;

			if (!takes(e[i], f, escape))
				continue;
			tried++;
			refusals += !route_around(e[i], f, l, how ? current : NULL, escape);
		}
	if (took != FAB_NONE)
		assert_int_equal(tried, took);
	assert_int_equal(refusals, refused);
	tables_put(current);
	route_limits_free(l);
}

static void every_engine_on(const char *spec, const char *exclude, uint32_t took, uint32_t refused)
{
	struct fabric *f = net_spec(spec);

	every_engine_around(f, exclude, took, refused);
	fabric_put(f);
}

#define TREE2 "fattree2:leaves=6,spines=4,hosts=3,lmc=1"
#define TREE3 "fattree3:k=4,lmc=1"

static void every_engine_goes_around_in_trees(void **state)
{
	(void)state;
	every_engine_on(TREE2, "spine1", 16, 0);
	every_engine_on(TREE2, "spine[1-3]", 16, 0);
	every_engine_on(TREE2, "leaf2", 16, 0);
	every_engine_on(TREE2, "leaf[2-3],spine2,leaf1/4", 16, 0);
	every_engine_on("fattree2:leaves=4,spines=3,hosts=3,parallel=2,lmc=1", "spine1,leaf2/6", 16,
			0);
	every_engine_on(TREE3, "core1", 16, 0);
	every_engine_on(TREE3, "agg1", 16, 0);
	every_engine_on(TREE3, "leaf1", 16, 0);
	every_engine_on(TREE3, "leaf1,agg1,core[1-3]", 16, 0);
}

/* Dimension order goes around a hole in the grid, too. */
static void every_engine_goes_around_in_lattices(void **state)
{
	(void)state;
	every_engine_on("hyperx:dims=4x4,hosts=2,lmc=2", "sw01/3", 17, 0);
	every_engine_on("hyperx:dims=4x4,hosts=2,lmc=2", "sw01", 17, 0);
	every_engine_on("torus:dims=5x3,hosts=2,lmc=1", "sw01/3", 16, 0);
	every_engine_on("torus:dims=5x3,hosts=2,lmc=1", "sw[01,08]", 16,
			2); /* too few squares are left */
	every_engine_on("dragonfly:p=2,lmc=1", "sw01 sw09", 14, 0);
}

static void every_engine_goes_around_in_random_fabrics(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct net_opts o = { .lmc = seed & 1, .aggregation = 2 };
		struct fabric *f = net_random(seed, 9, 24, 3, &o);
		char text[64];

		snprintf(text, sizeof(text), "%s %s/%u", f->sw_name[seed % 9],
			 f->sw_name[(seed + 4) % 9], f->chan_port[f->chan_off[(seed + 4) % 9]]);
		every_engine_around(f, text, FAB_NONE, 0);
		fabric_put(f);
	}
}

static void assert_falls_apart(const struct fabric *f, const char *exclude, const char *a,
			       const char *b)
{
	struct route_limits *l = must_exclude(f, exclude);
	struct engine_params p = { .limits = l };
	struct tables *t = NULL;
	struct err err = { "" };

	assert_int_equal(engine_run(engine_find("minhop", NULL), &t, f, NULL, NULL, &p, NULL, &err),
			 -ENETUNREACH);
	assert_null(t);
	if (!strstr(err.text, a) || !strstr(err.text, b))
		fail_msg("%s: %s", exclude, err.text);
	route_limits_free(l);
}

static void what_would_be_cut_off_is_named_with_what_leads_there(void **state)
{
	struct fabric *tree = net_spec("fattree2:leaves=3,spines=2,hosts=2");
	struct fabric *ring = net_ring(6, 1, NULL), *cut = net_chain(5, 1, 2, NULL);

	(void)state;
	assert_falls_apart(tree, "spine[1-2]", "switch leaf2 would be cut off", "spine1, spine2");
	assert_falls_apart(tree, "leaf2/3,spine2", "switch leaf2 would be cut off",
			   "leaf2/3, spine2");
	assert_falls_apart(tree, "leaf2/3,leaf2/4,leaf2", "switch leaf2, itself excluded",
			   "would be cut off");
	assert_falls_apart(tree, "leaf[1-3] spine[1-2]", "every switch is excluded", "nothing");
	assert_falls_apart(ring, "S1,S4", "and 1 other switch would be cut off", "S1, S4");
	fabric_put(tree);
	assert_falls_apart(cut, "S0", "no cables lead to switch S", "whatever is excluded");
	fabric_put(cut);
	fabric_put(ring);
}

/* Excluded switches in a row: the inner one can be reached through the outer ones only. */
static void an_excluded_switch_among_excluded_ones_stays_reachable(void **state)
{
	struct fabric *f = net_ring(6, 2, NULL);
	struct route_limits *l = must_exclude(f, "S[1-3]");
	struct engine_params p = { .limits = l };
	struct tables *t = NULL;
	struct notes notes = { 0 };
	const struct note *hosts;

	(void)state;
	p.notes = &notes;
	assert_int_equal(engine_run(engine_find("nue", NULL), &t, f, NULL, NULL, &p, NULL, NULL),
			 0);
	assert_complete(f, t);
	assert_verdict(f, t, l);
	hosts = notes_find(&notes, "excluded_hosts");
	assert_non_null(hosts);
	assert_int_equal(hosts->value, 6);
	assert_non_null(strstr(hosts->text, "6 hosts on 3 excluded switches"));
	notes_done(&notes);
	tables_put(t);
	route_limits_free(l);
	fabric_put(f);
}

/* As they were before: many ways pass it, and the first is said. */
static void the_verdict_refuses_tables_that_pass_it(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=2,hosts=2");
	struct tables *t = must_route(engine_find("ftree", NULL), f, NULL, NULL);
	static const char *const items[] = { "spine2", "leaf3/4" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct verify_opts o = { .limits = must_exclude(f, items[i]) };
		struct verdict *v;
		char text[300];

		assert_int_equal(verify_tables(&v, f, t, &o, NULL, NULL), 0);
		assert_true(v->passes.n > 0);
		assert_false(verdict_ok(v));
		verdict_sentence(text, sizeof(text), v, f);
		assert_non_null(strstr(text, i ? "leaf3/4" : "passes spine2"));
		assert_int_equal(v->passes.n, count_passes(f, t, o.limits));
		verdict_free(v);
		route_limits_free((struct route_limits *)o.limits);
	}
	tables_put(t);
	fabric_put(f);
}

static uint64_t changed(const struct fabric *f, const struct tables *a, const struct tables *b,
			uint32_t but)
{
	uint64_t n = 0;

	for (uint32_t u = 0; u < f->nsw; u++)
		for (uint32_t lid = 1; lid <= f->max_lid && u != but; lid++)
			n += tables_row(a, u)[lid] != tables_row(b, u)[lid];
	return n;
}

/* What does not lead there stays. */
static void installed_tables_change_only_where_they_led_through_it(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=6,spines=6,hosts=6");
	struct route_limits *l = must_exclude(f, "spine3");
	const struct engine *sar = engine_find("sar", NULL);
	struct engine_params p = { .seed = 1 };
	struct tables *before = must_route(sar, f, NULL, &p), *after = NULL;
	uint32_t out = 0, through = 0;

	(void)state;
	while (!l->exclude_sw[out])
		out++;
	for (uint32_t u = 0; u < f->nsw; u++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			uint32_t c = fabric_chan(f, u, tables_row(before, u)[lid]);

			through += c != FAB_NONE && f->chan_dst[c] == out;
		}
	p.current = before;
	p.limits = l;
	assert_int_equal(engine_run(sar, &after, f, NULL, NULL, &p, NULL, NULL), 0);
	assert_int_equal(count_passes(f, after, l), 0);
	assert_true(through > 0);
	assert_in_range(changed(f, before, after, out), 1, 2 * through);
	tables_put(before);
	tables_put(after);
	route_limits_free(l);
	fabric_put(f);
}

static void limits_of_another_fabric_are_refused(void **state)
{
	struct fabric *f = net_ring(6, 2, NULL), *g = net_ring(7, 2, NULL);
	struct route_limits *l = must_exclude(g, "S1");
	struct engine_params p = { .limits = l };
	struct tables *t = NULL;
	struct err err;

	(void)state;
	assert_int_equal(engine_run(engine_find("nue", NULL), &t, f, NULL, NULL, &p, NULL, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "another fabric"));
	route_limits_free(l);
	fabric_put(f);
	fabric_put(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_goes_around_in_trees),
		cmocka_unit_test(every_engine_goes_around_in_lattices),
		cmocka_unit_test(every_engine_goes_around_in_random_fabrics),
		cmocka_unit_test(what_would_be_cut_off_is_named_with_what_leads_there),
		cmocka_unit_test(an_excluded_switch_among_excluded_ones_stays_reachable),
		cmocka_unit_test(the_verdict_refuses_tables_that_pass_it),
		cmocka_unit_test(installed_tables_change_only_where_they_led_through_it),
		cmocka_unit_test(limits_of_another_fabric_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
