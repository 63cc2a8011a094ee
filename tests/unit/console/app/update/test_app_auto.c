/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --auto in the console: it counts the jobs, and asks for the drain, that the service does. */
#include "tests/unit/kit/app_kit.h"
#include "tests/unit/kit/fake_osm.h"

#include "fabric/base/time/clock.h"
#include "fabric/update/watchdog/supervisor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define LONG_S 20
static char records[] = "/tmp/ibroute-test-auto-XXXXXX"; /* of updates */

#define YOUNG 7 /* id of a job that has just begun */

static struct app *open_auto(const char *spec, const char *engine, bool rw, bool unassigned)
{
	struct app_opts o = {
		.demo = true,
		.demo_spec = spec,
		.rw = rw,
		.interval_s = 0.2,
		.jobs_interval_s = 10,
		.params.seed = 1,
	};
	struct app *a;

	auto_opts_init(&o.automatic);
	o.automatic.on = true;
	assert_int_equal(engine_spec_parse(&o.automatic.engine, engine, NULL), 0);
	o.automatic.gain_pct = 0;
	o.automatic.confirm_s = 1;
	o.automatic.strangers = unassigned;
	o.dog.confirm_s = 60;
	a = app_kit_open_opts(&o, 100, 30);
	assert_non_null(a);
	a->dog.live.record_dir = records;
	assert_true(app_kit_ready(a, 1));
	return a;
}

/* Every step-th host from the first one on, n of them; the jobs of the demo are other ones. */
static void add_job(struct job_list *l, uint64_t id, uint32_t first, uint32_t step, uint32_t n,
		    int64_t age_s)
{
	char name[64][16];
	const char *host[64];
	struct job_rec r = { .id = id,
			     .name = "a",
			     .user = "u",
			     .nodes = "",
			     .hosts = host,
			     .nhost = n,
			     .start_s = time(NULL) - age_s };

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name[i], sizeof(name[i]), "n%04u", first + i * step);
		host[i] = name[i];
	}
	job_list_add(l, &r);
}

/* Ticks until the automatic mode has decided something of that kind, or fails the test. */
static void decides(struct app *a, const struct job_list *jobs, const char *words)
{
	double end = clock_s() + LONG_S;

	while (!strstr(a->state.automatic.text, words)) {
		if (clock_s() > end)
			fail_msg("\"%s\" is never decided, but: %s (%s)", words,
				 a->state.automatic.text, a->state.apply.result);
		if (a->job_list != jobs) /* the demo's own go on */
			app_set_list(a, job_list_get(jobs));
		app_auto_tick(a);
		app_kit_run(a, 0.02);
	}
}

static void jobs_younger_than_the_age_do_not_count_for_the_routes(void **state)
{
	struct app *a =
		open_auto("random:switches=8,links=14,hosts=5,seed=4", "sar", false, false);
	struct job_list *l = job_list_new("test", time(NULL));
	const struct jobset *made_for;

	(void)state;
	add_job(l, 1, 1, 2, 18, 3600);
	add_job(l, 2, 2, 6, 6, 3600);
	add_job(l, YOUNG, 3, 3, 10, 0);
	job_list_sort(l);
	decides(a, l, ", but automatic mode is not armed");
	assert_true(a->state.preview.n > 0);
	made_for = a->state.preview.list[a->state.preview.n - 1].jobs;
	assert_int_equal(made_for->njob, 2);
	for (uint32_t i = 0; i < made_for->njob; i++)
		assert_true(made_for->jobs[i].id != YOUNG);
	/* that it runs is known all the same: the plan is of now */
	app_refresh(a);
	assert_string_equal(a->state.preview.list[a->state.preview.n - 1].stale, "");
	assert_int_equal(a->tries.n, 0); /* its options alone have not made it */
	job_list_put(l);
	app_end(a);
}

static void until(struct app *a, enum apply_state s)
{
	double end = clock_s() + LONG_S;

	while (a->state.apply.state != s) {
		if (clock_s() > end)
			fail_msg("the update is never in state %d but in %d: %s", s,
				 a->state.apply.state, a->state.apply.result);
		app_kit_run(a, 0.02);
	}
}

/* The operator installs tables with escape LIDs: traffic can be moved there from now on. */
static void install_escape(struct app *a)
{
	struct preview_options o = { .params = { .escape = true, .seed = 1 } };
	uint32_t i = 0;
	double end = clock_s() + LONG_S;

	while (strcmp(a->state.preview.engines[i].engine->name, "updn"))
		i++;
	app_preview(a, i, &o);
	while (a->state.preview.state == PREVIEW_RUNNING && clock_s() < end)
		app_kit_run(a, 0.02);
	app_prepare_update(a);
	until(a, APPLY_READY);
	app_begin_update(a);
	until(a, APPLY_CONFIRM);
	update_thread_confirm(a->update);
	until(a, APPLY_KEPT);
	while ((!a->state.tables->escape || !tables_know_vls(a->state.tables)) && clock_s() < end)
		app_kit_run(a, 0.02);
	assert_true(a->state.tables->escape);
}

/* The update after that of install_escape(), however far it is by now. */
static bool begun(const struct app *a)
{
	enum apply_state s = a->state.apply.state;

	return s == APPLY_RUNNING || s == APPLY_CONFIRM ||
	       (s >= APPLY_ROLLING_BACK && s <= APPLY_REFUSED && s != APPLY_KEPT);
}

/* dfsssp changes the service levels of most paths, whose packets must be away meanwhile. */
static void drain_ends_with(bool unassigned, bool agents, const char *words)
{
	struct app *a = open_auto("torus:dims=4x4,hosts=2,lmc=1", "dfsssp", true, unassigned);
	struct job_list *l = job_list_new("test", time(NULL));
	struct fake_osm *osm;

	add_job(l, 1, 1, 2, 16, 3600); /* the other half of the hosts is of no job */
	job_list_sort(l);
	install_escape(a);
	osm = fake_osm_new(a->state.fabric, "engine updn\n", NULL, NULL);
	osm->sm_guid = app_sm_pin(a).guid;
	osm->everybody = agents;
	a->opts.live.socket = osm->path;
	decides(a, l, words);
	assert_true(begun(a) == !!strstr(words, "agents drain"));
	app_end(a);
	fake_osm_free(osm);
	job_list_put(l);
}

static void a_drain_of_unassigned_lids_is_left_to_an_operator(void **state)
{
	(void)state;
	drain_ends_with(false, true, "an operator has to apply it");
}

static void or_is_done_where_the_options_allow_it(void **state)
{
	(void)state;
	drain_ends_with(true, true, "; agents drain");
}

static void a_drain_without_agents_is_left_to_an_operator(void **state)
{
	(void)state;
	drain_ends_with(true, false, "an operator has to apply it");
}

/* Without the automatic mode: view 7 asks the operator, who types it. */
static void lids_of_no_job_are_accepted_before_the_name_counts(void **state)
{
	struct app *a = open_auto("torus:dims=6x4,hosts=2,lmc=1", "nue", true, false);
	struct preview_options o = { .params = { .seed = 1, .vls = 4 } };
	struct job_list *l = job_list_new("test", time(NULL));
	double end = clock_s() + LONG_S;
	uint32_t i = 0;

	(void)state;
	add_job(l, 1, 1, 1, 16, 3600);
	job_list_sort(l);
	install_escape(a);
	a->dog.agents.without = false; /* as it is of a demo */
	while (strcmp(a->state.preview.engines[i].engine->name, "nue"))
		i++;
	app_set_list(a, job_list_get(l));
	app_preview(a, i, &o);
	do {
		app_kit_run(a, 0.02);
		if (a->job_list != l) /* the demo's own go on */
			app_set_list(a, job_list_get(l));
		if (a->state.preview.state != PREVIEW_RUNNING && a->state.apply.state == APPLY_KEPT)
			app_prepare_update(a);
	} while (a->state.apply.state != APPLY_READY && clock_s() < end);
	assert_true(a->state.apply.strangers);
	assert_non_null(strstr(a->state.apply.drain, " (LID"));
	app_update_start(a, a->state.fabric->name);
	app_update_override(a, "sm");
	assert_int_equal(a->state.apply.state, APPLY_READY);
	assert_true(a->state.apply.strangers);
	app_update_override(a, "strangers");
	assert_false(a->state.apply.strangers);
	assert_true(a->dog.agents.strangers);
	app_update_start(a, a->state.fabric->name);
	assert_int_equal(a->state.apply.state, APPLY_RUNNING);
	app_end(a);
	job_list_put(l);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_younger_than_the_age_do_not_count_for_the_routes),
		cmocka_unit_test(a_drain_of_unassigned_lids_is_left_to_an_operator),
		cmocka_unit_test(or_is_done_where_the_options_allow_it),
		cmocka_unit_test(a_drain_without_agents_is_left_to_an_operator),
		cmocka_unit_test(lids_of_no_job_are_accepted_before_the_name_counts),
	};

	char remove[128];
	int rc;

	if (argc > 1 && !strcmp(argv[1], GUARD_ARG)) /* of an update of the tests */
		return watchdog_main(argc - 1, argv + 1);
	assert_non_null(mkdtemp(records));
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	/* the process of the last update may still be closing its files */
	snprintf(remove, sizeof(remove),
		 "timeout 20 sh -c 'until rm -r %s 2>/dev/null; do sleep 0.1; done'", records);
	assert_int_equal(system(remove), 0);
	return rc;
}
