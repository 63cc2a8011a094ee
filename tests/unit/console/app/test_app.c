/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console as a whole, over the demo: history, freezing, snapshots. */
#include "tests/unit/kit/app_kit.h"

#include "console/record/audit/audit.h"
#include "fabric/base/file/store.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/time/clock.h"
#include "fabric/format/native/tables_ibr.h"
#include "fabric/model/tables/graft.h"
#include "tests/unit/kit/less_host.h"
#include "tests/unit/kit/slow_disk.h"
#include "tests/unit/kit/slow_work.h"
#include "tests/unit/kit/thread_spy.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SPEC "fattree2:leaves=6,spines=3,hosts=6,fail=2,seed=3"

static char dir[64], records[64];

static void shows(struct app *a, const char *text)
{
	char *screen = app_kit_screen(a);

	if (!strstr(screen, text))
		fail_msg("\"%s\" is not on the screen:\n%s", text, screen);
	free(screen);
}

/* The screen between the tabs and the keys, which differ by who looks. */
static char *body(struct app *a)
{
	char *screen = app_kit_screen(a), *from = strchr(strchr(screen, '\n') + 1, '\n') + 1;
	char *text, *end = screen + strlen(screen) - 1;

	for (int i = 0; i < 2; i++)
		do
			end--;
		while (*end != '\n');
	text = strndup(from, (size_t)(end - from));
	free(screen);
	/* the age of the list of jobs goes on */
	for (char *ago = strstr(text, " ago"); ago; ago = strstr(ago + 1, " ago"))
		for (char *p = ago - 1; *p != ' '; p--)
			*p = '#';
	for (char *p = text, *to = text;; p++) {
		if (*p != '#' || to == text || to[-1] != '#')
			*to++ = *p;
		if (!*p)
			break;
	}
	return text;
}

static void a_moment_of_the_past_is_shown_again_as_it_was(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	char *then, *now, *again;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 5));
	app_kit_keys(a, "3Z");
	then = body(a);
	app_kit_keys(a, "BZ");
	shows(a, "LIVE");
	app_kit_run(a, 1);
	now = body(a);
	assert_string_not_equal(then, now);
	app_kit_keys(a, "b");
	shows(a, "HIST");
	again = body(a);
	assert_string_equal(then, again);
	app_kit_run(a, 0.5); /* and stays so while new samples come */
	free(again);
	again = body(a);
	assert_string_equal(then, again);
	app_kit_keys(a, "L");
	shows(a, "LIVE");
	free(then);
	free(now);
	free(again);
	app_end(a);
}

static void frozen_as_early_as_can_be_no_later_history_shows(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	uint32_t before, seen;

	(void)state;
	assert_non_null(a);
	while (!a->state.fabric)
		app_kit_run(a, 0.001);
	app_kit_keys(a, "2Z");
	/* none, unless a loaded machine had the first sample ready with the fabric */
	before = history_count(a->state.history);
	seen = sample_history_count(a->samples);
	while (sample_history_count(a->samples) < seen + 3)
		app_kit_run(a, 0.05);
	app_draw(a);
	shows(a, "FROZEN");
	assert_int_equal(history_count(a->state.history), before);
	app_kit_keys(a, "Z");
	app_draw(a);
	assert_true(history_count(a->state.history) > before);
	app_end(a);
}

static void await_links(struct app *a, uint32_t nchan)
{
	double end = clock_s() + 60;

	while ((a->state.fabric->nchan != nchan || !a->state.tables ||
		!tables_know_vls(a->state.tables)) &&
	       clock_s() < end)
		app_kit_run(a, 0.05);
	assert_int_equal(a->state.fabric->nchan, nchan);
	assert_non_null(a->state.tables);
}

/* Nobody else knows the SLs of a demo's paths, which its switches do not hold. */
static void sls_of_a_demo_stay_known_when_cables_go_and_come(void **state)
{
	struct app *a = app_kit_open("fattree2:leaves=6,spines=3,hosts=6", NULL, 100, 30);
	static const struct {
		const char *keys;
		uint32_t gone;
	} steps[] = { { ":unplug leaf3/8\r", 1 },
		      { ":unplug leaf2\r", 1 + 3 },
		      { ":plug leaf2/7\r", 1 + 2 },
		      { ":plug\r", 0 } };
	uint32_t nchan;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 1));
	nchan = a->state.fabric->nchan;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		app_kit_keys(a, steps[i].keys);
		await_links(a, nchan - 2 * steps[i].gone);
		assert_true(a->state.sls_known);
		assert_string_equal(a->state.tables->engine, "minhop");
	}
	app_end(a);
}

static void nothing_is_missed_while_the_screen_is_frozen(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	uint32_t before;
	char *then, *now;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 3));
	app_kit_keys(a, "3Z");
	before = sample_history_count(a->samples);
	then = body(a);
	assert_true(app_kit_ready(a, before + 3));
	now = body(a);
	assert_string_equal(then, now);
	shows(a, "FROZEN");
	app_kit_keys(a, "S/leaf1");
	app_key(a, K_ENTER);
	shows(a, "filter: leaf1");
	app_kit_keys(a, "[");
	shows(a, "FROZEN HIST");
	app_kit_keys(a, "]");
	shows(a, "FROZEN");
	app_kit_keys(a, "]");
	shows(a, "HIST"); /* samples that came while it was frozen */
	app_kit_keys(a, "L");
	shows(a, "LIVE");
	free(then);
	free(now);
	app_end(a);
}

static void wait_for(struct app *a, const char *text)
{
	double end = clock_s() + 240;
	bool there = false;

	while (!there && clock_s() < end) {
		char *screen = app_kit_screen(a);

		there = strstr(screen, text) != NULL;
		free(screen);
		if (!there)
			app_kit_run(a, 0.05);
	}
	shows(a, text);
}

static void save(struct app *a)
{
	char keys[128];

	snprintf(keys, sizeof(keys), ":save %s/snap", dir);
	app_kit_keys(a, keys);
	app_key(a, K_ENTER);
	wait_for(a, "saved; show it with: ibroute-top --load");
}

/* cmocka cuts long messages off: only the lines that differ. */
static void differ(char view, size_t back, char *a, char *b)
{
	char *pa = a, *pb = b;

	while (pa && pb) {
		char *la = strsep(&pa, "\n"), *lb = strsep(&pb, "\n");

		if (strcmp(la, lb) != 0)
			print_error("saved  %s\nloaded %s\n", la, lb);
	}
	fail_msg("view %c, %zu back", view, back);
}

/* Those of a moment are computed when it is shown, where they were not before. */
static void figures_come(struct app *a)
{
	for (int i = 0; i < 500 && a->shown_history.on && !a->shown_history.at.was.figures; i++)
		app_kit_run(a, 0.01);
	assert_true(!a->shown_history.on || a->shown_history.at.was.figures);
}

/* Computed last of all, when there is nothing else to do; a frozen screen does not take it. */
static void usage_comes(struct app *a)
{
	double end = clock_s() + 240;

	while ((!a->state.usage || a->state.usage->jobs != a->state.jobs) && clock_s() < end)
		app_kit_run(a, 0.01);
	assert_non_null(state_usage(&a->state));
}

static bool forecast_is_there(const struct app *a)
{
	return a->state.preview.n && !a->state.preview.list[0].forecasting;
}

static void a_demo_is_armed_by_a_key(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 1));
	assert_false(a->state.rw);
	app_kit_keys(a, "7R"); /* without a record it stays as it is */
	shows(a, "read-only: nothing in the fabric can be changed");
	a->state.recording = true;
	app_kit_keys(a, "7R");
	shows(a, "Y: arm this simulated fabric");
	app_kit_keys(a, "6"); /* no answer, and a key as ever */
	assert_int_equal(shell_view(a->shell), VIEW_PREVIEW);
	app_kit_keys(a, "Y");
	assert_false(a->state.rw);
	app_kit_keys(a, "7");
	app_key(a, K_ENTER);
	app_kit_keys(a, "Y");
	assert_true(a->state.rw);
	shows(a, "armed, as with --rw");
	app_kit_keys(a, "q");
	assert_true(a->quit);
	app_end(a);
}

static void a_preview_older_than_the_counters_is_told_of_the_traffic(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	struct plan_preview *x = &a->state.preview.list[0];
	double end = clock_s() + 240;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 3));
	app_kit_keys(a, "6 ");
	while (!forecast_is_there(a) && clock_s() < end)
		app_kit_run(a, 0.05);
	assert_true(forecast_is_there(a));
	/* as if no counters had been there */
	x->traffic_plan = x->traffic_now = (struct traffic){ .chan = FAB_NONE };
	x->traffic_tried = false;
	while (!x->traffic_plan.known && clock_s() < end)
		app_kit_run(a, 0.05);
	assert_true(x->traffic_plan.known && x->traffic_plan.util_max > 0);
	assert_true(x->traffic_now.known && x->traffic_now.util_max > 0);
	app_end(a);
}

/* There is nothing to compare it with, which computing it again mends. */
static void a_preview_older_than_the_tables_is_stale(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	struct state_preview *p = &a->state.preview;
	double end = clock_s() + 240;
	const struct tables *from;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 3));
	app_kit_keys(a, "6 ");
	while (!p->n && clock_s() < end)
		app_kit_run(a, 0.05);
	assert_int_equal(p->n, 1);
	assert_string_equal(p->list[0].stale, "");
	from = a->kept[0]->from;
	a->kept[0]->from = NULL; /* as if no tables had been read */
	app_stale(a);
	assert_non_null(strstr(p->list[0].stale, "before the installed tables were known"));
	a->kept[0]->from = from;
	app_stale(a);
	assert_string_equal(p->list[0].stale, "");
	app_end(a);
}

static struct tables *with_hosts_of(const struct fabric *f, const struct tables *t,
				    const struct fabric *was)
{
	struct endports *ends = endports_of(was);
	struct tables *on;

	assert_int_equal(tables_graft(&on, f, t, ends, NULL, NULL), 0);
	endports_put(ends);
	return on;
}

static void hosts_change(struct app *a, const struct fabric *f)
{
	struct tables *t = with_hosts_of(f, a->state.tables, a->state.fabric);
	const struct fabric_shape *shape = fabric_shape_new(f, NULL, NULL);
	struct engine_list *engines = engine_list_new(f);

	app_set_fabric(a, fabric_get(f), engines, shape);
	free(engines);
	fabric_shape_put(shape);
	app_set_tables(a, t, false);
}

static void await_plans(struct app *a, uint32_t n)
{
	double end = clock_s() + 60;

	while ((a->state.preview.n < n || a->state.preview.state == PREVIEW_RUNNING) &&
	       clock_s() < end)
		app_kit_run(a, 0.05);
	assert_int_equal(a->state.preview.n, n);
}

/* f: what is there now; entries of the hosts of both are as they were. */
static void assert_follows(const struct app *a, const struct fabric *f, const struct fabric *both,
			   const struct tables *t)
{
	const struct plan_preview *x = &a->state.preview.list[0];

	assert_string_equal(x->stale, "");
	assert_true(verdict_ok(x->verdict));
	assert_true(digest_equal(&x->tables->fingerprint, &f->fingerprint));
	for (uint32_t e = 0; e < both->nend; e++)
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			assert_int_equal(tables_row(x->tables, sw)[both->term_lid[e]],
					 tables_row(t, sw)[both->term_lid[e]]);
}

static void plans_follow_the_hosts(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	struct state_preview *p = &a->state.preview;
	const struct fabric *was;
	const struct tables *t;
	struct fabric *less;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 3));
	app_kit_keys(a, "6 ");
	await_plans(a, 1);
	app_preview(a, !p->list[0].engine, &p->list[0].options);
	await_plans(a, 2);
	p->at = 0;
	was = fabric_get(a->state.fabric);
	t = tables_get(p->list[0].tables);
	less = less_host(was);
	hosts_change(a, less);
	assert_int_equal(p->n, 0); /* until they were judged again */
	await_plans(a, 2);
	assert_int_equal(p->at, 0);
	assert_int_equal(p->list[0].engine != p->list[1].engine, 1);
	assert_follows(a, less, less, t);
	hosts_change(a, was);
	await_plans(a, 2);
	assert_follows(a, was, less, t); /* the host that came may have other routes than it had */
	app_end(a);
	fabric_put(less);
	fabric_put(was);
	tables_put(t);
}

static void a_preview_asked_too_early_begins_when_the_tables_are_read(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	struct state_preview *p = &a->state.preview;
	double end = clock_s() + 240;
	const struct tables *tables;
	const struct sample *sample;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 3));
	tables = a->state.tables;
	sample = a->state.sample;
	a->state.tables = NULL; /* as if they were on their way */
	a->state.sample = NULL;
	app_kit_keys(a, "6 ");
	shows(a, "waiting for installed tables");
	app_kit_keys(a, "x");
	assert_int_equal(p->state, PREVIEW_CANCELLED);
	app_kit_keys(a, " ");
	assert_int_equal(p->state, PREVIEW_RUNNING);
	a->state.tables = tables;
	a->state.sample = sample;
	while (!p->n && clock_s() < end)
		app_kit_run(a, 0.05);
	assert_int_equal(p->n, 1);
	assert_ptr_equal(p->list[0].from, tables);
	assert_string_equal(p->list[0].stale, "");
	app_end(a);
}

static void tables_of_a_file_become_a_plan(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	const struct plan_preview *x = &a->state.preview.list[0];
	double end = clock_s() + 240;
	char path[128], keys[160];

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 3));
	snprintf(path, sizeof(path), "%s/mine.ibr", dir);
	assert_int_equal(tables_ibr_save(path, a->state.tables, a->state.fabric, NULL), 0);
	app_kit_keys(a, ":engine file");
	app_key(a, K_ENTER);
	shows(a, ":file _");
	snprintf(keys, sizeof(keys), "%s/min", dir);
	app_kit_keys(a, keys);
	app_key(a, K_TAB);
	wait_for(a, "/mine.ibr_");
	app_key(a, K_ENTER);
	wait_for(a, "file mine.ibr");
	assert_int_equal(x->files->n, 1);
	assert_string_equal(x->files->file[0].path, path);
	assert_int_equal(strlen(x->id), 6); /* of its plan */
	while (x->order == ORDER_WAITS && clock_s() < end)
		app_kit_run(a, 0.05);
	assert_int_equal(x->order, ORDER_FOUND);
	assert_string_equal(x->ordered->id, x->id);
	a->state.preview.list[0].order = ORDER_WAITS; /* as when it takes longer */
	app_kit_keys(a, "6x");
	assert_int_equal(x->order, ORDER_ENDED);
	shows(a, "transition check stopped");
	app_kit_keys(a, "w"); /* there is nothing to save yet */
	assert_int_equal(x->order, ORDER_WAITS);
	shows(a, "write order again");
	while (x->order == ORDER_WAITS && clock_s() < end)
		app_kit_run(a, 0.05);
	assert_int_equal(x->order, ORDER_FOUND);
	app_kit_keys(a, "x");
	assert_int_equal(a->state.preview.n, 0);
	app_kit_keys(a, ":file /dev/tty");
	app_key(a, K_ENTER);
	wait_for(a, "/dev/tty is not a regular file");
	app_kit_keys(a, ":file -");
	app_key(a, K_ENTER);
	wait_for(a, "- is not a regular file");
	app_end(a);
}

static void a_snapshot_shows_the_same_screens(void **state)
{
	static const char views[] = "12358";
	static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };
	struct app *a = app_kit_open(SPEC, NULL, 100, 30), *b;
	char path[96];

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 6));
	usage_comes(a);
	app_kit_keys(a, "ZB");
	save(a);
	snprintf(path, sizeof(path), "%s/snap", dir);
	b = app_kit_open(NULL, path, 100, 30);
	assert_non_null(b);
	assert_true(app_kit_ready(b, 6));
	assert_int_equal(sample_history_count(a->samples) >= sample_history_count(b->samples), 1);
	assert_string_equal(a->state.fabric->name, b->state.fabric->name);
	usage_comes(b);
	/* one that loads has an event more to tell, and samples go on over there */
	for (size_t back = 0; back < 3; back++) {
		a->events.total = b->events.total = 0;
		if (back) {
			app_kit_keys(a, "[");
			app_kit_keys(b, "[");
			figures_come(a);
			figures_come(b);
		}
		for (const char *v = views; *v; v++)
			for (int i = 0; i < 3; i++) {
				const char key[2] = { *v, 0 };
				char *of_a, *of_b;

				app_kit_keys(a, key);
				app_kit_keys(b, key);
				app_kit_size(a, sizes[i][0], sizes[i][1]);
				app_kit_size(b, sizes[i][0], sizes[i][1]);
				of_a = body(a);
				of_b = body(b);
				if (strcmp(of_a, of_b) != 0)
					differ(*v, back, of_a, of_b);
				free(of_a);
				free(of_b);
			}
	}
	app_end(a);
	app_end(b);
}

static void a_folder_that_is_there_is_not_written_over(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	char keys[128];

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 1));
	snprintf(keys, sizeof(keys), ":save %s", dir);
	app_kit_keys(a, keys);
	app_key(a, K_ENTER);
	wait_for(a, "cannot create the folder");
	app_end(a);
}

static uint32_t engine_at(const struct app *a, const char *name)
{
	uint32_t i = 0;

	while (strcmp(a->state.preview.engines[i].engine->name, name) != 0)
		i++;
	return i;
}

/* Read by a thread of its own; what is wrong with it is told as before. */
static void a_preview_reads_the_files_of_its_options(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	struct preview_options o = { .params = { .seed = 1 } };
	struct state_preview *p;
	uint32_t updn;
	FILE *f;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 3));
	p = &a->state.preview;
	updn = engine_at(a, "updn");
	snprintf(o.text[PARAM_ROOTS], sizeof(o.text[0]), "%s/no-roots", dir);
	app_preview(a, updn, &o);
	wait_for(a, "/no-roots");
	assert_int_equal(p->state, PREVIEW_IDLE);
	snprintf(o.text[PARAM_ROOTS], sizeof(o.text[0]), "%s/roots", dir);
	f = fopen(o.text[PARAM_ROOTS], "w");
	fprintf(f, "0x%016lx\n", (unsigned long)a->state.fabric->sw_guid[0]);
	fclose(f);
	app_preview(a, updn, &o);
	for (int i = 0; i < 24000 && !p->n; i++)
		app_kit_run(a, 0.01);
	assert_int_equal(p->n, 1);
	assert_string_equal(p->list[0].options.text[PARAM_ROOTS], o.text[PARAM_ROOTS]);
	app_end(a);
}

static void a_preview_with_other_options_is_held_against_the_one_before(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	struct preview_options o = { .params = { .seed = 1, .vls = 2 } };
	struct state_preview *p = &a->state.preview;

	(void)state;
	assert_true(app_kit_ready(a, 3));
	app_preview(a, engine_at(a, "nue"), &o);
	await_plans(a, 1);
	assert_false(p->list[0].was.known);
	o.params.vls = 1;
	app_preview(a, engine_at(a, "nue"), &o);
	await_plans(a, 2);
	assert_true(p->list[1].was.known);
	assert_int_equal(p->list[1].was.options.params.vls, 2);
	assert_true(p->list[1].was.metric[OPTION_EFI] == (double)p->list[0].after->efi_max ||
		    p->list[1].was.metric[OPTION_JOB_EFI] == (double)p->list[0].after->eff_efi_max);
	app_end(a);
}

/* A second Space, or r, lists no plan twice; one that is out of date gives way to the new one. */
static void a_plan_computed_again_is_listed_once(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	struct preview_options o = { .params = { .seed = 1 } };
	struct state_preview *p = &a->state.preview;
	char stale[8];

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 3));
	app_preview(a, engine_at(a, "updn"), &o);
	await_plans(a, 1);
	app_preview(a, engine_at(a, "dfsssp"), &o);
	await_plans(a, 2);
	app_preview(a, engine_at(a, "updn"), &o);
	await_plans(a, 2);
	shows(a, "computed again: the same plan");
	assert_int_equal(p->at, 0);
	snprintf(stale, sizeof(stale), "%s", p->list[0].id);
	snprintf(p->list[0].stale, sizeof(p->list[0].stale), "the jobs have changed");
	app_preview(a, engine_at(a, "updn"), &o);
	await_plans(a, 2);
	shows(a, "in place of the stale");
	assert_string_equal(p->list[p->at].id, stale);
	assert_string_equal(p->list[p->at].stale, "");
	assert_string_equal(p->engines[p->list[1].engine].engine->name, "dfsssp");
	o.params.vls = 1;
	app_preview(a, engine_at(a, "updn"), &o);
	await_plans(a, 3);
	app_end(a);
}

static int until_cancelled(void *ctx, struct err *err)
{
	(void)ctx;
	while (!progress_step(file_progress(), "writing", 1, 4))
		usleep(1000);
	return err_set(err, -ECANCELED, "cancelled");
}

static void never(void *owner, void *ctx)
{
	(void)owner;
	(void)ctx;
	fail_msg("it was cancelled");
}

static void tell_end(void *owner, void *ctx, int rc, const struct err *why)
{
	(void)owner;
	*(int *)ctx = rc;
	assert_string_equal(why->text, "cancelled");
}

static void keep(void *ctx)
{
	(void)ctx;
}

static void keys_stay_alive_while_a_file_is_written(void **state)
{
	static const struct file_work_ops ops = {
		.what = "snapshot",
		.waited = true,
		.run = until_cancelled,
		.done = never,
		.failed = tell_end,
		.free = keep,
	};
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	int rc = 1;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 1));
	for (int end = 0; end < 2; end++) {
		assert_int_equal(app_files_start(a, &ops, &rc), 0);
		assert_int_equal(app_files_start(a, &ops, &rc), -EBUSY);
		wait_for(a, "snapshot: writing 25 %");
		shows(a, "Ctrl-X stops it");
		app_kit_keys(a, "3");
		shows(a, "-- Links by congestion");
		app_kit_keys(a, "1");
		app_key(a, end ? K_ESC : 'X' & 0x1f);
		while (app_files_runs(a, &ops))
			app_kit_run(a, 0.01);
		assert_int_equal(rc, -ECANCELED);
		rc = 1;
	}
	assert_int_equal(app_files_start(a, &ops, &rc), 0);
	app_end(a); /* which does not wait for it */
	assert_int_equal(rc, 1);
}

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* One call waits for the disk, no other thread does; afterwards another folder is slow. */
static void stays_alive(struct app *a, const char *next)
{
	double end = clock_s() + 60;
	unsigned left;

	while (!slow_disk_waits && clock_s() < end)
		app_kit_run(a, 0.01);
	assert_int_equal(slow_disk_waits, 1);
	app_kit_keys(a, "3");
	assert_int_equal(shell_view(a->shell), VIEW_LINKS);
	app_kit_keys(a, "1");
	assert_int_equal(shell_view(a->shell), VIEW_OVERVIEW);
	free(app_kit_screen(a));
	assert_int_equal(slow_disk_waits, 1);
	left = slow_disk_left;
	atomic_store(&slow_disk_folder, next);
	while (slow_disk_left == left)
		usleep(1000);
}

static void a_name_is_completed(struct app *a)
{
	char keys[128];

	write_file("routes.ibr", "");
	snprintf(keys, sizeof(keys), ":file %s/rou\t", dir);
	for (int typed = 0; typed < 2; typed++) {
		atomic_store(&slow_disk_folder, dir);
		app_kit_keys(a, keys);
		shows(a, "/rou_");
		if (typed)
			app_kit_keys(a, "x");
		atomic_store(&slow_disk_folder, NULL);
		if (!typed)
			wait_for(a, "/routes.ibr_");
		app_kit_run(a, 0.3);
		shows(a, typed ? "/roux_" : "/routes.ibr_");
		app_key(a, K_ESC);
	}
}

/* What was done while it was slow is in the record, which is whole, with its screen. */
static void the_record_has_it_all(const char *path)
{
	struct audit_report rep;
	char *text;
	size_t len;

	assert_int_equal(audit_verify(&rep, path, NULL, NULL), 0);
	assert_true(rep.ok && rep.ended);
	assert_int_equal(rep.gaps, 0);
	assert_int_equal(rep.cast, AUDIT_CAST_GOOD);
	assert_int_equal(store_read(&text, &len, path, NULL), 0);
	assert_non_null(strstr(text, "seen while it is slow"));
	free(text);
}

static void a_slow_disk_stops_no_key(void **state)
{
	char names[96], config[96], states[96];
	struct app_opts o = {
		.demo = true,
		.demo_spec = SPEC,
		.rw = true,
		.interval_s = 0.2,
		.jobs_interval_s = 10,
		.live = { .node_names = names, .state_dir = states, .record_dir = records },
		.config = config
	};
	struct app *a;
	char *record;

	(void)state;
	write_file("names", "0x1 \"one\"\n");
	snprintf(names, sizeof(names), "%s/names", dir);
	snprintf(config, sizeof(config), "%s/config", dir);
	snprintf(states, sizeof(states), "%s/journals", dir);
	slow_disk_screen = pthread_self();
	atomic_store(&slow_disk_folder, records);
	a = app_kit_begin(&o, 100, 30);
	assert_non_null(a);
	stays_alive(a, dir);	/* the record is being opened, before anything is done */
	stays_alive(a, states); /* names are being read */
	stays_alive(a, NULL);	/* journals, when the fabric was discovered */
	assert_true(app_kit_ready(a, 1));
	a_name_is_completed(a);
	atomic_store(&slow_disk_folder, dir);
	app_kit_keys(a, "U:keep\r");
	stays_alive(a, NULL);
	wait_for(a, "saved in");
	atomic_store(&slow_disk_folder, records);
	app_kit_keys(a, "7:note seen while it is slow\r");
	stays_alive(a, NULL);
	assert_int_equal(slow_disk_on_screen, 0);
	assert_true(a->state.recording);
	record = strdup(record_path(a->record));
	app_end(a);
	the_record_has_it_all(record);
	free(record);
}

/* As the poller tells it. */
static void another_fabric_comes(struct app *a, const struct fabric *f)
{
	struct msg *msg = msg_new(MSG_FABRIC);

	msg->fabric = fabric_get(f);
	msg->engines = engine_list_new(f);
	msg->shape = fabric_shape_new(f, NULL, NULL);
	mailbox_send(a->box, msg);
}

static void its_tables_come(struct app *a, const struct fabric *f, const struct tables *t)
{
	struct msg *msg = msg_new(MSG_TABLES);

	msg->fabric = fabric_get(f);
	msg->tables = tables_get(t);
	mailbox_send(a->box, msg);
}

static void is_at(struct app *a, const char *key, enum view_id view)
{
	app_kit_keys(a, key);
	free(app_kit_screen(a));
	assert_int_equal(shell_view(a->shell), view);
}

static void another_fabric_stops_no_key(void **state)
{
	const struct tables *known, *read;
	const struct fabric *was;
	struct fabric *less;
	struct app *a;

	(void)state;
	slow_work_screen = pthread_self();
	slow_work_counts = true;
	a = app_kit_open(SPEC, NULL, 100, 30);
	assert_non_null(a);
	assert_true(app_kit_ready(a, 1));
	app_kit_keys(a, "1236 ");
	await_plans(a, 1);
	assert_int_equal(slow_work_on_screen, 0);
	known = a->applied = tables_get(a->state.tables);
	slow_work_counts = false;
	was = fabric_get(a->state.fabric);
	less = less_host(was);
	read = with_hosts_of(less, known, was);
	another_fabric_comes(a, less);
	its_tables_come(a, less, read);
	slow_work_counts = true;
	slow_work = true;
	while (!slow_work_waits)
		app_kit_run(a, 0.01);
	assert_ptr_equal(a->state.fabric, less);
	assert_null(a->state.tables); /* which have to be compared with those that follow */
	is_at(a, "2", VIEW_HEATMAP);
	is_at(a, "t", VIEW_TOPOLOGY);
	assert_ptr_equal(a->applied, known);
	slow_work = false;
	await_plans(a, 1);
	assert_ptr_not_equal(a->applied, known);
	assert_ptr_equal(a->state.tables, a->applied);
	assert_int_equal(slow_work_on_screen, 0);
	app_end(a);
	tables_put(read);
	fabric_put(less);
	fabric_put(was);
}

static void *warns(void *done)
{
	log_add(LOG_WARN, "test", "from another thread");
	*(atomic_bool *)done = true;
	return NULL;
}

/* Without a screen warnings go to stderr, which may be a pipe that nobody reads. */
static void a_slow_reader_of_stderr_stops_no_other_thread(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 80, 24);
	atomic_bool done = false;
	char text[4096] = "";
	int saved, fd[2];
	pthread_t thread;
	bool in_time;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 1));
	a->opts.no_screen = true;
	assert_int_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
	while (write(fd[1], text, sizeof(text)) > 0)
		;
	fcntl(fd[1], F_SETFL, 0);
	saved = dup(STDERR_FILENO);
	dup2(fd[1], STDERR_FILENO);
	pthread_create(&thread, NULL, warns, &done);
	for (int i = 0; i < 500 && !done; i++)
		usleep(10000);
	in_time = done;
	while (read(fd[0], text, sizeof(text)) > 0)
		;
	pthread_join(thread, NULL);
	text[0] = '\0';
	app_kit_run(a, 0.05);
	dup2(saved, STDERR_FILENO);
	if (read(fd[0], text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	assert_true(in_time);
	assert_non_null(strstr(text, "test: from another thread"));
	close(saved);
	close(fd[0]);
	close(fd[1]);
	app_end(a);
}

static void until_apply(struct app *a, enum apply_state s)
{
	double end = clock_s() + 60;

	while (a->state.apply.state != s) {
		if (clock_s() > end)
			fail_msg("the update is in state %d: %s", a->state.apply.state,
				 a->state.apply.result);
		app_kit_run(a, 0.02);
	}
}

static void no_update_begins_before_the_record_is_on_disk(void **state)
{
	struct app_opts o = { .demo = true,
			      .demo_spec = SPEC,
			      .rw = true,
			      .interval_s = 0.2,
			      .jobs_interval_s = 10,
			      .params.seed = 1,
			      .dog.confirm_s = 60,
			      .live.record_dir = records };
	struct preview_options po = { .params = { .seed = 1 } };
	struct app *a = app_kit_open_opts(&o, 100, 30);

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 1));
	app_preview(a, engine_at(a, "nue"), &po);
	while (a->state.preview.state == PREVIEW_RUNNING)
		app_kit_run(a, 0.02);
	app_prepare_update(a);
	until_apply(a, APPLY_READY);
	slow_disk_screen = pthread_self();
	slow_disk_on_screen = 0;
	atomic_store(&slow_disk_folder, records);
	app_begin_update(a);
	app_kit_keys(a, "31");
	app_kit_run(a, 1);
	assert_int_equal(a->state.apply.state, APPLY_RUNNING);
	assert_string_equal(a->state.apply.txn, "");
	assert_int_equal(slow_disk_waits, 1);
	assert_int_equal(slow_disk_on_screen, 0);
	atomic_store(&slow_disk_folder, NULL);
	until_apply(a, APPLY_CONFIRM);
	update_thread_confirm(a->update);
	until_apply(a, APPLY_KEPT);
	app_end(a);
}

/* Another word than the one that is asked for is no condition of an update that runs. */
static void a_wrong_word_accepts_nothing_and_is_told_the_right_one(void **state)
{
	struct preview_options po = { .params = { .seed = 1 } };
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);

	(void)state;
	assert_true(app_kit_ready(a, 1));
	a->state.rw = true;
	app_preview(a, engine_at(a, "nue"), &po);
	while (a->state.preview.state == PREVIEW_RUNNING)
		app_kit_run(a, 0.02);
	app_prepare_update(a);
	until_apply(a, APPLY_READY);
	snprintf(a->state.apply.slower, sizeof(a->state.apply.slower), "shift 1.00 -> 2.00");
	app_update_override(a, "slow");
	shows(a, "nothing is accepted: type the word slower");
	assert_string_not_equal(a->state.apply.slower, "");
	app_update_override(a, "slower");
	assert_string_equal(a->state.apply.slower, "");
	app_end(a);
}

/* Which threads these are, does not matter: it ends, or it does without. */
static void without_a_thread_it_ends_cleanly(void **state)
{
	unsigned refused = 0;

	(void)state;
	for (unsigned at = 1; at <= 6; at++) {
		struct app *a;

		thread_spy_fail_at = at;
		a = app_kit_open(SPEC, NULL, 100, 30);
		thread_spy_fail_at = 0;
		refused += !a;
		if (a)
			app_end(a);
	}
	assert_true(refused >= 2); /* worker, poller */
}

static void a_plan_that_is_installed_leaves_nothing_to_do(void **state)
{
	struct preview_options po = { .params = { .seed = 1 } };
	struct app *a = app_kit_open(SPEC, NULL, 80, 24);

	(void)state;
	assert_true(app_kit_ready(a, 2));
	a->state.rw = true;
	app_preview(a, engine_at(a, "minhop"), &po);
	await_plans(a, 1);
	app_prepare_update(a);
	until_apply(a, APPLY_INSTALLED);
	app_kit_keys(a, "7");
	shows(a, "The switches hold the tables of this plan already.  x: close.");
	app_end(a);
}

/* Another console, or another admin node, has an update open at OpenSM. */
static void a_rival_is_named_before_anything_is_prepared(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	struct msg *msg = msg_new(MSG_SM);

	(void)state;
	assert_true(app_kit_ready(a, 2));
	a->state.rw = true;
	msg->sm = a->sm;
	snprintf(msg->update, sizeof(msg->update), "20260101T000000Z-7");
	snprintf(msg->owner, sizeof(msg->owner), "ana@admin2, process 7");
	mailbox_send(a->box, msg);
	app_take_messages(a);
	app_prepare_update(a);
	assert_non_null(
		strstr(a->state.apply.result,
		       "update 20260101T000000Z-7 of ana@admin2, process 7 is in progress"));
	msg = msg_new(MSG_SM); /* and its end is an event, too */
	msg->sm = a->sm;
	mailbox_send(a->box, msg);
	app_take_messages(a);
	app_kit_keys(a, "8");
	shows(a, "update 20260101T000000Z-7 of ana@admin2, process 7 has ended");
	app_end(a);
}

static void agents_that_stayed_away_are_told_until_they_are_back(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	struct msg *msg = msg_new(MSG_SM);

	(void)state;
	assert_true(app_kit_ready(a, 2));
	msg->sm = a->sm;
	snprintf(msg->away, sizeof(msg->away), "1 agent is not on its base LIDs: n0003");
	mailbox_send(a->box, msg);
	app_take_messages(a);
	assert_string_equal(a->state.sm.away, "1 agent is not on its base LIDs: n0003");
	msg = msg_new(MSG_SM);
	msg->sm = a->sm;
	mailbox_send(a->box, msg);
	app_take_messages(a);
	assert_string_equal(a->state.sm.away, "");
	app_end(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agents_that_stayed_away_are_told_until_they_are_back),
		cmocka_unit_test(a_wrong_word_accepts_nothing_and_is_told_the_right_one),
		cmocka_unit_test(a_rival_is_named_before_anything_is_prepared),
		cmocka_unit_test(a_plan_that_is_installed_leaves_nothing_to_do),
		cmocka_unit_test(a_moment_of_the_past_is_shown_again_as_it_was),
		cmocka_unit_test(frozen_as_early_as_can_be_no_later_history_shows),
		cmocka_unit_test(plans_follow_the_hosts),
		cmocka_unit_test(sls_of_a_demo_stay_known_when_cables_go_and_come),
		cmocka_unit_test(nothing_is_missed_while_the_screen_is_frozen),
		cmocka_unit_test(a_demo_is_armed_by_a_key),
		cmocka_unit_test(a_preview_older_than_the_counters_is_told_of_the_traffic),
		cmocka_unit_test(a_preview_older_than_the_tables_is_stale),
		cmocka_unit_test(a_preview_asked_too_early_begins_when_the_tables_are_read),
		cmocka_unit_test(tables_of_a_file_become_a_plan),
		cmocka_unit_test(a_snapshot_shows_the_same_screens),
		cmocka_unit_test(a_folder_that_is_there_is_not_written_over),
		cmocka_unit_test(a_preview_reads_the_files_of_its_options),
		cmocka_unit_test(a_preview_with_other_options_is_held_against_the_one_before),
		cmocka_unit_test(a_plan_computed_again_is_listed_once),
		cmocka_unit_test(keys_stay_alive_while_a_file_is_written),
		cmocka_unit_test(a_slow_disk_stops_no_key),
		cmocka_unit_test(another_fabric_stops_no_key),
		cmocka_unit_test(a_slow_reader_of_stderr_stops_no_other_thread),
		cmocka_unit_test(no_update_begins_before_the_record_is_on_disk),
		cmocka_unit_test(without_a_thread_it_ends_cleanly),
	};
	char cmd[160];
	int rc;

	snprintf(dir, sizeof(dir), "/tmp/ibroute-test-app-XXXXXX");
	snprintf(records, sizeof(records), "/tmp/ibroute-test-records-XXXXXX");
	if (!mkdtemp(dir) || !mkdtemp(records))
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(cmd, sizeof(cmd), "rm -rf %s %s", dir, records);
	return system(cmd) || rc;
}
