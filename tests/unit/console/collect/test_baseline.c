/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fabric is expected to be: learnt, grown, accepted, found again under its first name. */
#include "console/collect/baseline.h"
#include "console/collect/fabric_watch.h"

#include "fabric/base/file/store.h"
#include "fabric/base/message/log.h"
#include "fabric/model/topology/without.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
	char state[32], dir[48], text[400]; /* text: of the last warning */
	struct fabric *f, *less;
};

static struct world x;

static void sink(void *ctx, const struct log_line *line)
{
	(void)ctx;
	snprintf(x.text, sizeof(x.text), "%s", line->text);
}

static int world_up(void **state)
{
	bool *drop;

	(void)state;
	memset(&x, 0, sizeof(x));
	strcpy(x.state, "/tmp/baseline.XXXXXX");
	assert_non_null(mkdtemp(x.state));
	snprintf(x.dir, sizeof(x.dir), "%s/baseline", x.state);
	x.f = net_tree(4, 2, 3, NULL);
	drop = calloc(x.f->nchan, sizeof(*drop));
	drop[0] = drop[x.f->chan_rev[0]] = true;
	x.less = fabric_without(x.f, drop);
	free(drop);
	log_set_sink(sink, NULL);
	return 0;
}

static int world_down(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	fabric_put(x.f);
	fabric_put(x.less);
	store_remove(x.dir);
	rmdir(x.state);
	return 0;
}

static struct fabric_watch *watch(const char *name, const char *key)
{
	struct fabric_watch_opts o = { .state_dir = x.state, .name = name, .key = key };

	return fabric_watch_new(&o);
}

/* A run that finds f: how many findings count. */
static uint32_t run(const char *name, const struct fabric *f, bool partial)
{
	struct fabric_watch *w = watch(name, "test");
	const struct findings *l;
	uint32_t n;

	fabric_watch_fabric(w, f, partial);
	l = fabric_watch_findings(w);
	n = findings_count(l);
	findings_put(l);
	fabric_watch_free(w);
	return n;
}

static void a_run_that_begins_after_a_loss_tells_it(void **state)
{
	(void)state;
	assert_int_equal(run("f", x.f, false), 0);
	assert_true(run("f", x.less, false) > 0);
	assert_int_equal(run("f", x.f, false), 0);
	assert_string_equal(x.text, "");
}

static void nothing_is_learnt_where_not_all_has_answered(void **state)
{
	(void)state;
	assert_int_equal(run("f", x.less, true), 0);
	assert_int_equal(run("f", x.f, false), 0);
	assert_true(run("f", x.less, true) > 0);
}

static struct baseline opened(const char *name, const struct fabric *now)
{
	struct baseline b;
	struct err err = { "" };

	assert_int_equal(baseline_open(&b, x.dir, name, now, NULL, &err), 0);
	return b;
}

static void a_learnt_one_grows_and_an_accepted_one_stays(void **state)
{
	struct err err = { "" };
	struct baseline b;

	(void)state;
	run("f", x.less, false);
	run("f", x.f, false);
	b = opened("f", x.f);
	assert_false(b.accepted);
	assert_int_equal(b.fabric->nchan, x.f->nchan);
	assert_int_equal(baseline_write(&b, x.less, true, &err), 0);
	baseline_close(&b);
	run("f", x.f, false);
	b = opened("f", x.f);
	assert_true(b.accepted);
	assert_int_equal(b.fabric->nchan, x.less->nchan);
	assert_int_equal(baseline_remove(&b, &err), 0);
	baseline_close(&b);
	b = opened("f", x.f);
	assert_null(b.fabric);
	baseline_close(&b);
}

/* By ibroute-top baseline accept, beside a collector. */
static void what_somebody_else_accepts_counts_from_the_next_discovery_on(void **state)
{
	struct fabric_watch *w = watch("f", "test");
	struct err err = { "" };
	const struct findings *l;
	struct baseline b;

	(void)state;
	fabric_watch_fabric(w, x.f, false);
	fabric_watch_fabric(w, x.less, false);
	l = fabric_watch_findings(w);
	assert_true(findings_count(l) > 0);
	findings_put(l);
	b = opened("f", x.less);
	assert_int_equal(baseline_write(&b, x.less, true, &err), 0);
	fabric_watch_fabric(w, x.less, false);
	l = fabric_watch_findings(w);
	assert_int_equal(findings_count(l), 0);
	assert_true(l->accepted);
	findings_put(l);
	/* and where it is removed, it is learnt again */
	assert_int_equal(baseline_remove(&b, &err), 0);
	fabric_watch_fabric(w, x.f, false);
	l = fabric_watch_findings(w);
	assert_false(l->accepted);
	assert_int_equal(l->expected->nchan, x.f->nchan);
	findings_put(l);
	baseline_close(&b);
	fabric_watch_free(w);
	assert_string_equal(x.text, "");
}

static void who_only_looks_writes_nothing(void **state)
{
	struct fabric_watch *w = watch("f", NULL);
	struct stat st;

	(void)state;
	fabric_watch_fabric(w, x.f, false);
	fabric_watch_free(w);
	assert_int_equal(stat(x.dir, &st), -1);
}

static void without_a_name_it_is_found_by_its_switches(void **state)
{
	struct fabric_watch *w;

	(void)state;
	run("a name: with / and %", x.f, false);
	w = watch(NULL, "test");
	fabric_watch_fabric(w, x.less, false);
	assert_string_equal(fabric_watch_name(w), "a name: with / and %");
	fabric_watch_free(w);
}

static void a_damaged_one_is_told_and_stays(void **state)
{
	struct baseline b;
	struct err err = { "" };

	(void)state;
	run("f", x.f, false);
	b = opened("f", x.f);
	assert_int_equal(
		store_replace(b.path, "# ibroute-top baseline 2: learnt\n", 33, 0600, &err), 0);
	assert_int_equal(run("f", x.less, false), 0);
	assert_non_null(strstr(x.text, "does not begin with '# ibroute-top baseline 1: learnt'"));
	baseline_close(&b);
	assert_int_equal(baseline_open(&b, x.dir, "f", x.f, NULL, &err), -EPROTO);
}

static struct error_set *errors(uint64_t symbol)
{
	struct error_set *s = error_set_new(1);

	s->port[s->n++] = (struct port_errors){ .guid = x.f->sw_guid[0], .port = 1 };
	s->port[0].v[ERROR_SYMBOL] = symbol;
	return s;
}

static uint32_t errors_run(const char *key, uint64_t symbol)
{
	struct fabric_watch *w = watch("f", key);
	const struct findings *l;
	uint32_t n;

	fabric_watch_fabric(w, x.f, false);
	fabric_watch_errors(w, errors(symbol), false);
	l = fabric_watch_findings(w);
	n = findings_count(l);
	findings_put(l);
	fabric_watch_free(w);
	return n;
}

static void errors_between_two_runs_are_told_once(void **state)
{
	(void)state;
	assert_int_equal(errors_run("a", 3), 0);
	assert_int_equal(errors_run("b", 3), 0);
	assert_int_equal(errors_run("a", 5003), 1);
	assert_int_equal(errors_run("a", 5003), 0);
	assert_int_equal(errors_run("b", 5003), 1); /* each has its own last run */
}

/* The limit is 100 from one reading to the next; what is read between two others in one. */
static uint32_t errors_in_a_run(struct fabric_watch *w, uint64_t symbol, bool between)
{
	const struct findings *l;
	uint32_t n;

	fabric_watch_errors(w, errors(symbol), between);
	l = fabric_watch_findings(w);
	n = findings_count(l);
	findings_put(l);
	return n;
}

static void what_rises_slowly_is_told_however_often_it_is_read_between(void **state)
{
	static const uint64_t limit[ERROR_COUNT] = { [ERROR_SYMBOL] = 100 };
	struct fabric_watch_opts o = { .state_dir = x.state, .name = "f", .limit = limit };
	struct fabric_watch *w = fabric_watch_new(&o);

	(void)state;
	fabric_watch_fabric(w, x.f, false);
	assert_int_equal(errors_in_a_run(w, 0, false), 0);
	assert_int_equal(errors_in_a_run(w, 40, true), 0);
	assert_int_equal(errors_in_a_run(w, 80, true), 0);
	assert_int_equal(errors_in_a_run(w, 120, true), 1);
	assert_int_equal(errors_in_a_run(w, 120, false), 1);
	/* told until the next that is due */
	assert_int_equal(errors_in_a_run(w, 130, true), 1);
	assert_int_equal(errors_in_a_run(w, 200, false), 0);
	fabric_watch_free(w);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
	const struct CMUnitTest tests[] = {
		TEST(a_run_that_begins_after_a_loss_tells_it),
		TEST(nothing_is_learnt_where_not_all_has_answered),
		TEST(a_learnt_one_grows_and_an_accepted_one_stays),
		TEST(what_somebody_else_accepts_counts_from_the_next_discovery_on),
		TEST(who_only_looks_writes_nothing),
		TEST(without_a_name_it_is_found_by_its_switches),
		TEST(a_damaged_one_is_told_and_stays),
		TEST(errors_between_two_runs_are_told_once),
		TEST(what_rises_slowly_is_told_however_often_it_is_read_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
