/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/table_selection.h"

#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/format/site/limits_text.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SPEC "torus:dims=5x5,hosts=1"

struct heard {
	unsigned n;
	char last[700];
};

static void hear(void *ctx, const char *sentence)
{
	struct heard *h = ctx;

	h->n++;
	snprintf(h->last, sizeof(h->last), "%s", sentence);
}

static struct policy engine_policy(const char *spec)
{
	struct policy p = { .params = { .seed = 1, .threads = 1 } };

	assert_int_equal(engine_spec_parse(&p.spec, spec, NULL), 0);
	return p;
}

/* Tables in a file of its own; the caller frees the name. */
static char *saved(struct tables *t, const struct fabric *f)
{
	char *path = xstrdup("/tmp/test_choice.XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(tables_ibr_save(path, t, f, NULL), 0);
	tables_put(t);
	return path;
}

static struct tables *routed(const struct fabric *f, const char *spec)
{
	struct policy p = engine_policy(spec);
	struct engine_params params = { .seed = 9, .threads = 1 };
	struct tables *t;

	engine_spec_apply(&p.spec, &params);
	assert_int_equal(engine_run(p.spec.engine, &t, f, NULL, NULL, &params, NULL, NULL), 0);
	return t;
}

static void the_engine_routes_and_the_judge_has_seen_it(void **state)
{
	struct fabric *f = net_spec(SPEC);
	struct policy p = engine_policy("dfsssp:4");
	struct heard h = { 0 };
	struct table_selection c;

	(void)state;
	assert_int_equal(table_selection_make(&c, f, &p, NULL,
					      &(struct table_selection_log){ hear, &h }, NULL),
			 0);
	assert_int_equal(c.source, CHOICE_ENGINE);
	assert_string_equal(c.tables->engine, "dfsssp");
	assert_true(c.vls_used >= 2 && c.vls_used <= 4);
	assert_int_equal(c.hops_max, 4);
	assert_int_equal(h.n, 0);
	tables_put(c.tables);
	fabric_put(f);
}

static uint64_t passes(const struct fabric *f, const struct tables *t, const char *what)
{
	struct verify_opts o = { 0 };
	struct route_limits *l = NULL;
	struct verdict *v;
	uint64_t n;

	assert_int_equal(route_limits_exclude(&l, f, what, NULL), 0);
	o.limits = l;
	assert_int_equal(verify_tables(&v, f, t, &o, NULL, NULL), 0);
	n = v->passes.n;
	verdict_free(v);
	route_limits_free(l);
	return n;
}

/* Maintenance in the policy: also once the switch is gone, and never so that nothing is routed. */
static void what_is_excluded_is_routed_around_as_long_as_it_is_there(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=3,hosts=2");
	struct policy p = engine_policy("ftree");
	struct heard h = { 0 };
	struct table_selection c;

	(void)state;
	p.text[PARAM_EXCLUDE] = (char[]){ "spine[2,9]" };
	assert_int_equal(table_selection_make(&c, f, &p, NULL,
					      &(struct table_selection_log){ hear, &h }, NULL),
			 0);
	assert_int_equal(h.n, 1);
	assert_non_null(strstr(h.last, "no switch \"spine9\""));
	assert_int_equal(passes(f, c.tables, "spine2"), 0);
	tables_put(c.tables);

	p.text[PARAM_EXCLUDE] = (char[]){ "spine[1-3]" };
	assert_int_equal(table_selection_make(&c, f, &p, NULL,
					      &(struct table_selection_log){ hear, &h }, NULL),
			 0);
	assert_non_null(strstr(h.last, "routing through excluded parts as well: switch leaf"));
	assert_true(passes(f, c.tables, "spine2") > 0);
	tables_put(c.tables);
	fabric_put(f);
}

/* Also round what an operator has confirmed or written into the policy before; not in the middle of
 * an update, which is on its way. */
static void what_is_excluded_goes_before_tables_that_pass_it(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=3,hosts=2");
	struct policy p = engine_policy("updn");
	struct heard h = { 0 };
	struct table_selection_log log = { hear, &h };
	struct tables *t = routed(f, "ftree");
	struct table_offer o = { .given = t, .given_is = CHOICE_CONSOLE, .anyway = true };
	char *path = saved(routed(f, "ftree"), f);
	struct table_selection c;

	(void)state;
	p.text[PARAM_EXCLUDE] = (char[]){ "spine2" };
	assert_int_equal(table_selection_make(&c, f, &p, &o, &log, NULL), 0);
	assert_ptr_equal(c.tables, t);
	assert_true(passes(f, c.tables, "spine2") > 0);
	tables_put(c.tables);

	o = (struct table_offer){ .given = t, .given_is = CHOICE_CONFIRMED, .confirmed = path };
	p.text[PARAM_TABLES] = path;
	assert_int_equal(table_selection_make(&c, f, &p, &o, &log, NULL), 0);
	assert_int_equal(c.source, CHOICE_ENGINE);
	assert_int_equal(passes(f, c.tables, "spine2"), 0);
	assert_int_equal(h.n, 2); /* once of the confirmed ones */
	assert_non_null(strstr(h.last, "not the given tables, but updn: the tables did not pass"));
	assert_non_null(strstr(h.last, "passes spine2"));
	assert_non_null(strstr(c.confirmed_away, "passes spine2"));
	tables_put(c.tables);

	/* tables around it are used */
	p.text[PARAM_EXCLUDE] = (char[]){ "spine3" };
	p.text[PARAM_TABLES] = NULL;
	assert_int_equal(table_selection_make(&c, f, &p, NULL, &log, NULL), 0);
	assert_int_equal(tables_ibr_save(path, c.tables, f, NULL), 0);
	tables_put(c.tables);
	p.text[PARAM_TABLES] = path;
	h.n = 0;
	assert_int_equal(table_selection_make(&c, f, &p, NULL, &log, NULL), 0);
	assert_int_equal(c.source, CHOICE_FILE);
	assert_int_equal(h.n, 0);
	tables_put(c.tables);
	tables_put(t);
	unlink(path);
	free(path);
	fabric_put(f);
}

/* The engine is not asked for what the confirmed tables have, only because there is no way round.
 */
static void where_there_is_no_way_round_the_confirmed_tables_hold(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=3,hosts=2");
	struct policy p = engine_policy("updn");
	struct heard h = { 0 };
	struct table_selection_log log = { hear, &h };
	struct table_offer o = { .confirmed = NULL };
	char *path = saved(routed(f, "ftree"), f);
	struct table_selection c;

	(void)state;
	o.confirmed = path;
	p.text[PARAM_EXCLUDE] = (char[]){ "spine[1-3]" };
	assert_int_equal(table_selection_make(&c, f, &p, &o, &log, NULL), 0);
	assert_int_equal(c.source, CHOICE_CONFIRMED);
	assert_int_equal(h.n, 1);
	assert_non_null(strstr(h.last, "routing through excluded parts as well: switch leaf"));
	tables_put(c.tables);

	/* a way round, but none that this engine finds */
	p.spec = engine_policy("dor").spec;
	p.text[PARAM_EXCLUDE] = (char[]){ "spine2" };
	assert_int_equal(table_selection_make(&c, f, &p, &o, &log, NULL), 0);
	assert_int_equal(c.source, CHOICE_CONFIRMED);
	assert_non_null(strstr(h.last, "routing through excluded parts as well: "));
	tables_put(c.tables);
	unlink(path);
	free(path);
	fabric_put(f);
}

static void given_tables_of_this_fabric_are_used(void **state)
{
	struct fabric *f = net_spec(SPEC);
	struct policy p = engine_policy("dfsssp:4");
	struct heard h = { 0 };
	struct table_selection c;

	(void)state;
	p.text[PARAM_TABLES] = saved(routed(f, "nue:2"), f);
	assert_int_equal(table_selection_make(&c, f, &p, NULL,
					      &(struct table_selection_log){ hear, &h }, NULL),
			 0);
	assert_int_equal(c.source, CHOICE_FILE);
	assert_string_equal(c.tables->engine, "nue");
	assert_int_equal(c.tables->seed, 9);
	assert_int_equal(h.n, 0);
	tables_put(c.tables);
	unlink(p.text[PARAM_TABLES]);
	free(p.text[PARAM_TABLES]);
	fabric_put(f);
}

static void tables_of_another_fabric_give_way_to_the_engine(void **state)
{
	struct fabric *f = net_spec(SPEC), *less = net_spec(SPEC ",fail=2");
	struct policy p = engine_policy("dfsssp:4");
	struct heard h = { 0 };
	struct table_selection c;

	(void)state;
	p.text[PARAM_TABLES] = saved(routed(f, "nue:2"), f);
	assert_int_equal(table_selection_make(&c, less, &p, NULL,
					      &(struct table_selection_log){ hear, &h }, NULL),
			 0);
	assert_int_equal(c.source, CHOICE_ENGINE);
	assert_string_equal(c.tables->engine, "dfsssp");
	assert_int_equal(h.n, 1);
	assert_non_null(strstr(h.last, "not the given tables, but dfsssp:4"));
	tables_put(c.tables);
	unlink(p.text[PARAM_TABLES]);
	free(p.text[PARAM_TABLES]);
	fabric_put(less);
	fabric_put(f);
}

static void given_tables_that_can_deadlock_are_not_used(void **state)
{
	struct fabric *f = net_ring(6, 1, NULL);
	struct policy p = engine_policy("updn");
	struct heard h = { 0 };
	struct table_selection c;

	(void)state;
	p.text[PARAM_TABLES] = saved(kit_clockwise(f), f);
	assert_int_equal(table_selection_make(&c, f, &p, NULL,
					      &(struct table_selection_log){ hear, &h }, NULL),
			 0);
	assert_int_equal(c.source, CHOICE_ENGINE);
	assert_string_equal(c.tables->engine, "updn");
	assert_int_equal(h.n, 1);
	assert_non_null(strstr(h.last, "did not pass"));
	tables_put(c.tables);
	unlink(p.text[PARAM_TABLES]);
	free(p.text[PARAM_TABLES]);
	fabric_put(f);
}

static void an_engine_that_refuses_is_a_refusal_with_its_reason(void **state)
{
	struct fabric *f = net_spec(SPEC);
	struct policy p = engine_policy("ftree");
	struct heard h = { 0 };
	struct table_selection c;
	struct err err = { "" };

	(void)state;
	assert_true(table_selection_make(&c, f, &p, NULL, &(struct table_selection_log){ hear, &h },
					 &err) < 0);
	assert_null(c.tables);
	assert_non_null(strstr(err.text, "not a fat tree"));
	fabric_put(f);
}

static void missing_jobs_do_not_take_the_routes_away(void **state)
{
	struct fabric *f = net_spec(SPEC);
	struct policy p = engine_policy("nue:2");
	struct heard h = { 0 };
	struct table_selection c;

	(void)state;
	p.text[PARAM_JOBS] = xstrdup("/nonexistent/jobs");
	p.text[PARAM_DEMAND] = xstrdup("/nonexistent/demand");
	assert_int_equal(table_selection_make(&c, f, &p, NULL,
					      &(struct table_selection_log){ hear, &h }, NULL),
			 0);
	assert_int_equal(h.n, 2);
	assert_non_null(strstr(h.last, "routing without a demand: /nonexistent/demand"));
	tables_put(c.tables);
	free(p.text[PARAM_JOBS]);
	free(p.text[PARAM_DEMAND]);
	fabric_put(f);
}

static void missing_roots_are_a_refusal(void **state)
{
	struct fabric *f = net_spec(SPEC);
	struct policy p = engine_policy("updn");
	struct heard h = { 0 };
	struct table_selection c;

	(void)state;
	p.text[PARAM_ROOTS] = xstrdup("/nonexistent/roots");
	assert_true(table_selection_make(&c, f, &p, NULL, &(struct table_selection_log){ hear, &h },
					 NULL) < 0);
	assert_null(c.tables);
	free(p.text[PARAM_ROOTS]);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_engine_routes_and_the_judge_has_seen_it),
		cmocka_unit_test(what_is_excluded_is_routed_around_as_long_as_it_is_there),
		cmocka_unit_test(what_is_excluded_goes_before_tables_that_pass_it),
		cmocka_unit_test(where_there_is_no_way_round_the_confirmed_tables_hold),
		cmocka_unit_test(given_tables_of_this_fabric_are_used),
		cmocka_unit_test(tables_of_another_fabric_give_way_to_the_engine),
		cmocka_unit_test(given_tables_that_can_deadlock_are_not_used),
		cmocka_unit_test(an_engine_that_refuses_is_a_refusal_with_its_reason),
		cmocka_unit_test(missing_jobs_do_not_take_the_routes_away),
		cmocka_unit_test(missing_roots_are_a_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
