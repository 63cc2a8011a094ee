/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of engines and previews: plans side by side, options, cost, jobs, changes. */
#include "tests/unit/kit/console_kit.h"

#include "engines/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };
static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

static void tree(struct console_kit *k)
{
	console_open(k, 80, 24);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
}

/* A second one beside the first: no better in anything, and one that could not be ordered. */
static void second(struct console_kit *k)
{
	struct state_preview *p = &k->s.preview;

	p->list[1] = p->list[0];
	snprintf(p->list[1].id, sizeof(p->list[1].id), "p-91c2");
	p->list[1].engine = 1;
	p->list[1].after = k->before;
	p->list[1].time_plan = p->list[0].time_now;
	p->list[1].plan = p->list[0].now;
	p->list[1].traffic_plan = p->list[0].traffic_now;
	p->list[1].order = ORDER_FAILED;
	snprintf(p->list[1].order_error, sizeof(p->list[1].order_error),
		 "no order of writes keeps the traffic to LID 7 apart");
	p->list[1].options.params.vls = 2;
	p->n = 2;
}

static void click(struct console_kit *k, int x, int y)
{
	struct input in = { .req = REQ_CLICK, .x = x, .y = y };

	shell_input(k->shell, &in, &k->s, &k->last);
	shell_draw(k->shell, k->c, &k->s);
}

/* An engine is the third line below the tabs and on. */
static void the_mouse_chooses_an_engine_and_computes(void **state)
{
	struct input wheel = { .req = REQ_WHEEL_DOWN };
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "6");
	click(&k, 5, 4); /* the second */
	assert_int_equal(k.last.type, REQ_NONE);
	console_shows(&k, ">( ) updn");
	click(&k, 5, 4);
	assert_int_equal(k.last.type, REQ_PREVIEW_START);
	assert_string_equal(k.s.preview.engines[k.last.engine].engine->name, "updn");
	click(&k, 50, 4); /* beside the list */
	assert_int_equal(k.last.type, REQ_NONE);
	console_shows(&k, ">( ) updn");
	shell_input(k.shell, &wheel, &k.s, &k.last);
	console_hides(&k, ">( ) updn");
	/* rows of a page */
	console_preview(&k, "sar");
	console_keys(&k, "J");
	click(&k, 40, 5);
	console_shows(&k, ">81207");
	console_close(&k);
}

/* Of a routing that loses messages times and loads tell nothing that a plan could be held against.
 */
static void lost_paths_put_the_cursor_on_repair(void **state)
{
	struct console_kit k;
	struct metrics before;
	struct verdict cut;

	(void)state;
	tree(&k);
	k.s.preview.engines[1].engine = engine_find("repair", NULL);
	console_keys(&k, "6");
	console_hides(&k, "for lost paths");
	cut = *k.s.verdict;
	cut.connected = false;
	k.s.verdict = &cut;
	console_shows(&k, ">( ) repair   for lost paths");
	console_preview(&k, "sar");
	console_shows(&k, "-32% better");
	before = *k.s.preview.list[0].before;
	before.unreachable = 1224;
	k.s.preview.list[0].before = &before;
	console_shows(&k, "unreachable pairs  1,224         0  -100% better");
	console_hides(&k, "-32% better");
	cut.connected = true;
	console_hides(&k, "for lost paths");
	console_hides(&k, ">( ) repair");
	console_keys(&k, "j");
	cut.connected = false; /* what was chosen by hand stays */
	console_hides(&k, ">( ) repair");
	console_close(&k);
}

/* Beside the engines, before a plan. */
static void what_is_known_of_the_routing_in_use_is_shown(void **state)
{
	struct pattern_time *all;
	struct console_kit k;
	char text[80];

	(void)state;
	tree(&k);
	console_size(&k, 200, 60);
	console_keys(&k, "6");
	console_hides(&k, "job time");
	console_shows(&k, "Links by job EFI");
	all = &k.s.time.of[PREDICT_ALLTOALL];
	k.s.time.known = k.s.time.jobs = true;
	all->mean.mean = 2.25;
	all->worst.mean = 3.5;
	all->worst_job = k.jobs->jobs[1].id;
	k.s.time.shift.flows = 1;
	k.s.time.shift.sync.mean = 0.481;
	snprintf(text, sizeof(text), "mean 2.25x, max 3.50x (job %s)", JOB_TEXT(&k.jobs->jobs[1]));
	console_shows(&k, text);
	console_shows(&k, "48.1% efficiency");
	k.s.metrics = NULL;
	console_hides(&k, "mean 2.25x");
	console_shows(&k, "no metrics yet");
	console_hides(&k, "Links by job EFI");
	k.s.tables = NULL;
	console_hides(&k, "Routing in use");
	console_shows(&k, "Engines: what they are for");
	console_close(&k);
}

static void a_stranger_finds_the_preview(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_shows(&k, "6, choose an engine, Space computes a preview");
	console_shows(&k, "6 reroute");
	console_keys(&k, "6");
	console_golden(&k, "preview-idle");
	console_size(&k, 100, 30);
	console_shows(&k, "Routing in use: minhop");
	console_golden(&k, "preview-idle");
	console_size(&k, 200, 60);
	console_shows(&k, "Engines: what they are for");
	console_golden(&k, "preview-idle");
	console_size(&k, 80, 24);
	console_keys(&k, " ");
	assert_int_equal(k.last.type, REQ_PREVIEW_START);
	assert_string_equal(k.s.preview.engines[k.last.engine].engine->name, "sar");
	console_keys(&k, "k ");
	assert_int_equal(k.last.type, REQ_PREVIEW_START);
	assert_string_equal(k.s.preview.engines[k.last.engine].engine->name, "updn");
	console_keys(&k, "Gk ");
	console_shows(&k, "parx cannot route this fabric");
	console_shows(&k, "needs a HyperX");
	k.last.type = REQ_NONE;
	console_keys(&k, "k:compute\r");
	assert_int_equal(k.last.type, REQ_PREVIEW_START);
	k.last.type = REQ_NONE;
	console_keys(&k, "3:compute\r"); /* where Space tags */
	console_shows(&k, "'compute' does nothing here: it works in view engines");
	console_hides(&k, "tagged: 1");
	assert_int_not_equal(k.last.type, REQ_PREVIEW_START);
	console_close(&k);
}

/* The reason stands first, and long names of switches do not push out what to press. */
static void why_an_engine_does_not_suit_is_read_to_its_end(void **state)
{
	struct console_kit k;
	char *why;

	(void)state;
	tree(&k);
	why = k.s.preview.engines[3].why;
	snprintf(why, sizeof(k.s.preview.engines[3].why),
		 "no torus, mesh or HyperX, not even with cables missing: two switches have over "
		 "two neighbours in common (MF0;ROW-A09-P1-IBLEAF-02-01:MQM9701/U1, "
		 "MF0;ROW-A09-P1-IBLEAF-01-01:MQM9701/U1)");
	console_keys(&k, "6Gk ");
	console_shows(&k, "neighbours in common");
	console_hides(&k, "IBLEAF");
	console_shows(&k, "e options: all defaults");
	snprintf(why, sizeof(k.s.preview.engines[3].why),
		 "not a torus or mesh: a cable joins no "
		 "neighbours (sw1 - sw2)");
	console_shows(&k, "(sw1 - sw2)");
	console_close(&k);
}

static void a_preview_runs_fails_and_is_cancelled(void **state)
{
	struct console_kit k;
	struct state_preview *p = &k.s.preview;

	(void)state;
	tree(&k);
	p->state = PREVIEW_RUNNING;
	p->engine = 2;
	snprintf(p->step, sizeof(p->step), "layers");
	p->fraction = 0.45;
	p->elapsed_s = 3.2;
	p->eta_s = 4;
	console_keys(&k, "6");
	console_golden(&k, "preview-running");
	console_keys(&k, "x");
	assert_int_equal(k.last.type, REQ_PREVIEW_CANCEL);
	p->state = PREVIEW_FAILED;
	snprintf(p->error, sizeof(p->error),
		 "the paths need 5 virtual lanes to be free of deadlock, but only 4 may be used; "
		 "nue can do with fewer");
	console_golden(&k, "preview-failed");
	p->state = PREVIEW_CANCELLED;
	console_shows(&k, "Cancelled");
	console_close(&k);
}

/* At 80x24 there was room for "the installed paths to" alone. */
static void why_a_preview_failed_is_read_whole_beside_others(void **state)
{
	struct console_kit k;
	struct state_preview *p = &k.s.preview;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	p->state = PREVIEW_FAILED;
	p->engine = 0;
	snprintf(p->error, sizeof(p->error),
		 "the installed paths to n0015, which is pinned, pass switch spine3, which is "
		 "excluded: choose one of the two");
	console_keys(&k, "6");
	console_shows(&k, "minhop failed: the");
	console_shows(&k, "excluded: choose one of");
	console_shows(&k, "compute another");
	console_close(&k);
}

static void cycles_without_known_sls_are_not_called_a_deadlock(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	k.verdict->deadlock_free = false;
	console_shows(&k, "DEADLOCK");
	k.s.sls_known = false;
	console_shows(&k, "credit loop if all SLs are 0 (?)");
	console_preview(&k, "sar");
	console_keys(&k, "6");
	console_shows(&k, "on SL 0");
	console_close(&k);
}

static void options_are_edited_and_checked(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "6e");
	console_golden(&k, "preview-options");
	assert_false(shell_typing(k.shell, &k.s));
	console_key(&k, K_ENTER);
	assert_true(shell_typing(k.shell, &k.s));
	console_key(&k, K_BACKSPACE);
	console_keys(&k, "99");
	console_key(&k, K_ENTER);
	console_shows(&k, "VLs: '99' is not a whole number from 1 to 15");
	console_key(&k, K_CTRL('u'));
	console_keys(&k, "4");
	console_key(&k, K_TAB);
	console_key(&k, K_ENTER);
	console_key(&k, K_CTRL('u'));
	console_keys(&k, "77");
	console_key(&k, K_ENTER);
	console_keys(&k, "jjjj   "); /* threads, spread, rates, method: patch */
	console_keys(&k, "jjj");     /* weights */
	console_key(&k, K_ENTER);
	console_key(&k, K_CTRL('u'));
	console_keys(&k, "16");
	console_key(&k, K_ENTER);
	console_shows(&k, "16 nodes");
	console_keys(&k, "jj"); /* escape */
	console_key(&k, K_ENTER);
	console_shows(&k, "escape LIDs need LMC 1");
	console_keys(&k, "j"); /* pin */
	console_key(&k, K_ENTER);
	console_keys(&k, "n[0002-0003],n9999");
	console_key(&k, K_ENTER);
	console_shows(&k, "no host of this fabric has the name n9999");
	for (int i = 0; i < 6; i++)
		console_key(&k, K_BACKSPACE);
	console_key(&k, K_ENTER);
	console_keys(&k, "j"); /* exclude */
	console_key(&k, K_ENTER);
	console_keys(&k, "spine99");
	console_key(&k, K_ENTER);
	console_shows(&k, "no switch \"spine99\"");
	console_key(&k, K_BACKSPACE);
	console_key(&k, K_BACKSPACE);
	console_keys(&k, "[1-2]");
	console_key(&k, K_ENTER);
	console_keys(&k, "j");
	console_key(&k, K_ENTER);
	console_keys(&k, "spines.txt");
	console_key(&k, K_ENTER);
	console_keys(&k, "G");
	console_key(&k, K_ENTER);
	console_shows(&k, "set by the subnet manager");
	console_key(&k, K_ESC);
	console_shows(&k, "VLs 4 seed 77 patch");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_PREVIEW_START);
	assert_int_equal(k.last.options.params.job_nodes_min, 16);
	assert_string_equal(k.last.options.text[PARAM_PIN], "n[0002-0003]");
	assert_string_equal(k.last.options.text[PARAM_EXCLUDE], "spine[1-2]");
	assert_int_equal(k.last.options.params.vls, 4);
	assert_int_equal(k.last.options.params.seed, 77);
	assert_int_equal(k.last.options.params.sar_method, SAR_PATCH);
	assert_string_equal(k.last.options.text[PARAM_ROOTS], "spines.txt");
	assert_false(k.last.options.params.escape);
	console_close(&k);
}

/* Whether something passes is looked at in the tables, not taken from the engine. */
static void what_is_excluded_is_among_the_checks(void **state)
{
	struct console_kit k;
	struct verdict *v;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	v = k.plan_verdict;
	snprintf(v->excluded, sizeof(v->excluded), "spine11");
	snprintf(k.s.preview.list[0].options.text[PARAM_EXCLUDE],
		 sizeof(k.last.options.text[PARAM_EXCLUDE]), "spine11");
	console_keys(&k, "6\t");
	console_shows(&k, "[ok] no path passes spine11");
	console_shows(&k, "options: exclude spine11");
	v->passes.n = 7;
	console_shows(&k, "[NO] PATHS PASS spine11");
	k.s.rw = true;
	console_keys(&k, "A");
	console_shows(&k, "did not pass the checks");
	assert_int_not_equal(k.last.type, REQ_APPLY_PREPARE);
	console_close(&k);
}

/* Where one looks at it: X takes it, X again lets it go; the command takes names. */
static void what_is_under_the_cursor_is_excluded_from_the_next_preview(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, ":exclude spine4,leaf02");
	console_key(&k, K_ENTER);
	console_shows(&k, "the next preview (6) routes around leaf02,spine4");
	console_keys(&k, ":exclude leaf99");
	console_key(&k, K_ENTER);
	console_shows(&k, "no switch \"leaf99\"");
	console_keys(&k, ":exclude none");
	console_key(&k, K_ENTER);
	console_shows(&k, "routes around nothing");
	console_keys(&k, ":goto leaf03");
	console_key(&k, K_ENTER);
	console_key(&k, K_ESC);
	console_keys(&k, "X");
	console_shows(&k, "routes around leaf03");
	console_keys(&k, "X");
	console_shows(&k, "routes around nothing");
	console_key(&k, K_ENTER);
	console_keys(&k, "GX"); /* its last port */
	console_shows(&k, "routes around leaf03/");
	console_keys(&k, "gX"); /* the first */
	console_shows(&k, "only switches and cables between switches");
	console_keys(&k, ":exclude none");
	console_key(&k, K_ENTER);
	console_keys(&k, "3gX");
	console_shows(&k, "the next preview (6) routes around leaf");
	console_keys(&k, "6");
	console_shows(&k, "exclude leaf");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_PREVIEW_START);
	assert_non_null(strchr(k.last.options.text[PARAM_EXCLUDE], '/'));
	console_keys(&k, ":engine sar");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_ENGINE);
	assert_non_null(strchr(k.last.options.text[PARAM_EXCLUDE], '/'));
	console_close(&k);
}

/* After its tables were replaced, or its own were installed: what it was compared with is no more.
 */
static void a_stale_plan_is_compared_with_what_was_in_use_then(void **state)
{
	struct tables_diff none = { 0 };
	const struct tables *from;
	struct plan_preview *x;
	struct tables was, is;
	struct console_kit k;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	k.s.rw = true;
	x = &k.s.preview.list[0];
	was = is = *k.s.tables;
	snprintf(was.engine, sizeof(was.engine), "minhop");
	snprintf(is.engine, sizeof(is.engine), "nue");
	from = x->from;
	x->from = &was;
	console_keys(&k, "6");
	k.s.tables = &is;
	snprintf(x->stale, sizeof(x->stale), "the installed tables have changed");
	console_keys(&k, "6");
	console_shows(&k, "p-7f3a STALE: minhop -> sar");
	console_shows(&k, " then ");
	console_hides(&k, "nue -> sar");
	x->diff = &none;
	console_keys(&k, "6");
	console_shows(&k, "r: compute p-7f3a again");
	console_shows(&k, "Cost: none, was installed then");
	console_hides(&k, "already");
	x->from = from;
	console_close(&k);
}

static void a_stale_or_unchecked_plan_is_not_taken_to_apply(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	k.s.rw = true;
	snprintf(k.s.preview.list[0].stale, sizeof(k.s.preview.list[0].stale), "2 jobs came since");
	console_keys(&k, "6");
	console_golden(&k, "preview-stale");
	console_keys(&k, "A");
	console_shows(&k, "stale: 2 jobs came since");
	assert_int_equal(k.last.type, REQ_VIEW);
	k.s.preview.list[0].stale[0] = '\0';
	k.plan_verdict->deadlock_free = false;
	console_keys(&k, "A");
	console_shows(&k, "did not pass the checks");
	assert_int_equal(k.last.type, REQ_VIEW);
	k.plan_verdict->deadlock_free = true;
	console_keys(&k, "A");
	assert_int_equal(k.last.type, REQ_APPLY_PREPARE);
	assert_int_equal(shell_view(k.shell), VIEW_APPLY);
	console_close(&k);
}

static void pinned_routes_are_among_the_checks(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	k.s.rw = true;
	k.plan_verdict->pinned.hosts = 16;
	console_keys(&k, "6");
	console_shows(&k, "[ok] 16 pinned hosts unchanged");
	k.plan_verdict->pinned.changed = 3;
	console_keys(&k, "jk"); /* drawn again */
	console_shows(&k, "[NO] PINNED PATHS CHANGE");
	console_keys(&k, "A");
	console_shows(&k, "did not pass the checks");
	assert_int_not_equal(k.last.type, REQ_APPLY_PREPARE);
	console_close(&k);
}

static void plans_stand_side_by_side_and_the_best_is_marked(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	second(&k);
	console_keys(&k, "6");
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "preview-two");
	}
	console_size(&k, 80, 24);
	console_shows(&k, ">p-7f3a");
	console_keys(&k, "l");
	assert_int_equal(k.last.type, REQ_PLAN_SELECT);
	assert_int_equal(k.last.plan, 1);
	k.s.preview.at = 1;
	console_shows(&k, ">p-91c2");
	console_keys(&k, "\t");
	console_shows(&k, "no order of writes keeps the traffic");
	console_shows(&k, "options: VLs 2");
	console_keys(&k, "x");
	assert_int_equal(k.last.type, REQ_PLAN_REMOVE);
	assert_int_equal(k.last.plan, 1);
	console_keys(&k, "r");
	assert_int_equal(k.last.type, REQ_PREVIEW_START);
	assert_int_equal(k.last.engine, 1);
	assert_int_equal(k.last.options.params.vls, 2);
	console_close(&k);
}

/* Of the first cell of that text on the screen. */
static enum role role_of(struct console_kit *k, const char *text)
{
	char *lines = canvas_dump(k->c), *at = strstr(lines, text);
	int x = 0, y = 0;

	assert_non_null(at);
	for (const char *p = lines; p < at; p++) {
		x = *p == '\n' ? 0 : x + 1;
		y += *p == '\n';
	}
	free(lines);
	return (enum role)k->c->cell[y * k->c->w + x].role;
}

/* Of plans that are all worse than now none is the best; the cursor goes to the engine of the one
 * that is chosen. */
static void the_least_bad_plan_is_not_the_best(void **state)
{
	struct console_kit k;
	struct state_preview *p = &k.s.preview;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	second(&k);
	console_size(&k, 100, 30);
	console_keys(&k, "6");
	console_shows(&k, "4.49   3.05*  -32%    4.49     0%");
	p->list[0].time_now = p->list[0].time_plan; /* what is there is as good as the first */
	p->list[1].time_now = p->list[0].time_now;
	console_hides(&k, "3.05*");
	console_shows(&k, "3.05   3.05     0%    4.49   +47%");
	assert_int_equal(role_of(&k, "+47%"), ROLE_WARN); /* worse */
	console_size(&k, 80, 24);			  /* no room: the colour tells */
	console_shows(&k, "3.05   3.05    4.49");
	assert_int_equal(role_of(&k, "4.49"), ROLE_WARN);
	console_size(&k, 100, 30);
	console_keys(&k, "l");
	p->at = 1;
	console_shows(&k, ">( ) updn");
	console_close(&k);
}

/* Below the engines, and in the form, where one changes them again; nothing for the first. */
static void what_other_options_did_to_the_result_is_told(void **state)
{
	struct console_kit k;
	struct plan_preview *x = &k.s.preview.list[0];

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	console_keys(&k, "6");
	console_hides(&k, " -> 4:");
	x->options.params.vls = 4;
	option_result_of(&x->was, x);
	console_shows(&k, "same job times, EFI, VLs");
	x->was.options.params.vls = 2;
	x->was.metric[OPTION_TIME_MAX] = 3.361; /* the same as it is shown */
	x->was.metric[OPTION_TIME_MEAN] = 3.31;
	x->was.metric[OPTION_VLS] = 2;
	x->was.metric[OPTION_BLOCKS] = 48;
	console_golden(&k, "preview-effect");
	assert_int_equal(role_of(&k, "mean job time 3.31 ->"), ROLE_GOOD);
	assert_int_equal(role_of(&k, "LFT blocks 48"), ROLE_WARN);
	console_keys(&k, "k"); /* another engine */
	console_hides(&k, "VLs 2 -> 4");
	console_keys(&k, "j");
	snprintf(x->was.options.text[PARAM_EXCLUDE], PATH_TEXT, "spine[1-4],leaf01/10,leaf02/11");
	console_size(&k, 80, 22);
	console_shows(&k, "rows 1-4 of 5"); /* and has room for all that is told */
	console_shows(&k, "LFT blocks 48 -> 66");
	console_size(&k, 80, 24);
	x->was.options.text[PARAM_EXCLUDE][0] = '\0';
	console_keys(&k, "e");
	console_golden(&k, "preview-effect-options");
	assert_int_equal(role_of(&k, "LFT blocks 48"), ROLE_WARN);
	console_size(&k, 100, 30);
	console_shows(&k, "mean job time 3.31 -> 3.05x, VLs used 2 -> 1");
	for (int h = 1; h <= 30; h++) {
		console_size(&k, h % 2 ? 80 : 200, h);
		free(console_screen(&k));
	}
	console_size(&k, 80, 24);
	x->was.known = false;
	console_hides(&k, "VLs 2 -> 4");
	console_close(&k);
}

/* By the engine under the cursor, with all other options as they are. */
static void values_of_an_option_stand_beside_each_other_as_they_were_tried(void **state)
{
	static const unsigned vls[] = { 0, 1, 2, 4 };
	struct option_result tries[4] = { 0 };
	struct state_preview *p;
	struct console_kit k;

	(void)state;
	tree(&k);
	p = &k.s.preview;
	for (int i = 0; i < 4; i++) {
		tries[i].known = true;
		tries[i].engine = 2; /* sar */
		tries[i].options.params = (struct engine_params){ .seed = 1, .vls = vls[i] };
		tries[i].metric[OPTION_TIME_MAX] = 2.5 + 0.25 * i;
		tries[i].metric[OPTION_TIME_MEAN] = 2;
		tries[i].metric[OPTION_JOB_EFI] = NAN;
		tries[i].metric[OPTION_EFI] = 300 - i;
		tries[i].metric[OPTION_VLS] = vls[i];
		tries[i].metric[OPTION_BLOCKS] = 66;
	}
	tries[1].failed = true;
	console_keys(&k, "6e");
	console_size(&k, 200, 60);
	console_golden(&k, "preview-values-none");
	console_keys(&k, "c");
	assert_int_equal(k.last.type, REQ_OPTION_TRY);
	assert_int_equal(k.last.param, PARAM_VLS);
	assert_int_equal(k.last.engine, 2);
	p->tries = tries;
	p->ntries = 4;
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "preview-values");
	}
	console_shows(&k, "no routing with it");
	assert_int_equal(role_of(&k, "3.00"), ROLE_WARN);
	assert_int_equal(role_of(&k, "298"), ROLE_GOOD);
	p->trial.on = true;
	p->trial.id = PARAM_VLS;
	p->trial.engine = 2;
	p->trial.at = 1;
	p->trial.n = 4;
	p->state = PREVIEW_RUNNING;
	p->fraction = 0.45;
	snprintf(p->step, sizeof(p->step), "paths");
	console_shows(&k, "trying 2 of 4: paths 45%   x: cancel");
	console_keys(&k, "x");
	assert_int_equal(k.last.type, REQ_PREVIEW_CANCEL);
	p->trial.on = false;
	p->state = PREVIEW_IDLE;
	console_keys(&k, "jj"); /* threads */
	console_shows(&k, "no values to try");
	console_hides(&k, "c: try");
	console_keys(&k, "j");
	console_shows(&k, "c: try its values");
	for (int h = 1; h <= 60; h += 3)
		for (int w = 40; w < 200; w += 37) {
			console_size(&k, w, h);
			free(console_screen(&k));
		}
	console_close(&k);
}

static void what_applying_costs_is_told_before(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	console_keys(&k, "6\t");
	console_golden(&k, "preview-cost");
	console_shows(&k, "wave");
	console_shows(&k, "affected");
	console_shows(&k, "by SMPs");
	console_shows(&k, "pause  none: no job has to drain");
	k.ordered->drain.nlid = 3; /* LIDs whose traffic has to be gone first */
	console_shows(&k, "pause  a job pauses while its agents");
	console_shows(&k, "[!!] write order safe if drained");
	k.ordered->drain.escape = true;
	console_shows(&k, "pause  a job pauses to move to its");
	console_shows(&k, "30s at most each");
	k.s.preview.drained_s = 1.24; /* by an update before */
	k.s.preview.returned_s = 0.61;
	console_shows(&k, "1.2s and 0.6s");
	console_hides(&k, "at most");
	k.ordered->drain.escape = false;
	k.ordered->drain.nlid = 0;
	k.s.preview.list[0].order = ORDER_WAITS;
	console_shows(&k, "waiting for the running computation");
	k.s.preview.list[0].ordering = true;
	k.s.ordering.took_s = 38;
	snprintf(k.s.ordering.words, sizeof(k.s.ordering.words), "routes that change 24 %%");
	console_shows(&k, "searching, 38s elapsed");
	k.s.ordering.most_s = 535;
	console_shows(&k, "searching, 38s elapsed, at most 9m left"); /* rounded up */
	k.s.ordering.about_s = 30;
	console_shows(&k, "order  about 30s left, at most 9m; 38s elapsed");
	k.s.ordering.about_s = 600; /* what is expected is no more than what can be */
	console_shows(&k, "about 8m left, at most 9m; 38s elapsed");
	console_shows(&k, "routes that change 24 %");
	console_shows(&k, "x stops the search");
	console_keys(&k, "x");
	assert_int_equal(k.last.type, REQ_PREVIEW_CANCEL);
	console_keys(&k, "w");
	console_shows(&k, "searching for the write order");
	console_keys(&k, "\t");
	console_golden(&k, "preview-links");
	console_close(&k);
}

static void jobs_and_changes_have_their_pages(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	console_keys(&k, "6J");
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "preview-jobs");
	}
	console_keys(&k, "djj");
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "preview-diff");
	}
	console_size(&k, 80, 24);
	console_key(&k, K_ESC);
	console_shows(&k, "max job time x");
	console_close(&k);
}

/* As on a dragonfly of a thousand hosts, where columns had run into each other. */
static void large_figures_of_a_job_are_apart(void **state)
{
	struct job_time_change large = { .before = 116.86, .after = 11.16 };
	const struct job_time_changes changes = { 1, &large };
	struct console_kit k;
	struct plan_preview *x;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	console_keys(&k, "6J");
	x = (struct plan_preview *)(uintptr_t)state_plan(&k.s);
	large.id = x->jobs->jobs[0].id;
	x->jobs_time = &changes;
	((struct job *)(uintptr_t)&x->jobs->jobs[0])->nnodes = 1980;
	((struct metrics *)(uintptr_t)x->before)->job[0].efi_max = 8720;
	((struct metrics *)(uintptr_t)x->after)->job[0].efi_max = 6920;
	((struct metrics *)(uintptr_t)x->before)->job[0].links = 1403;
	((struct metrics *)(uintptr_t)x->after)->job[0].links = 1592;
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_shows(&k, " 1980  117 > 11.2 8720 > 6920 ");
	}
	console_shows(&k, " 8720 > 6920 1403 > 1592 ");
	x->jobs_time = NULL;
	console_close(&k);
}

/* Where the row of the i-th job is on the screen. */
static long job_at(struct console_kit *k, uint32_t i)
{
	char id[JOB_ID_LEN], text[JOB_ID_LEN + 2], *screen = console_screen(k), *at;
	long where;

	snprintf(text, sizeof(text), "%s  ", job_text(id, &state_plan(&k->s)->jobs->jobs[i]));
	at = strstr(screen, text);
	assert_non_null(at);
	where = at - screen;
	free(screen);
	return where;
}

static void jobs_of_a_plan_begin_with_what_is_slow_on_either_routing(void **state)
{
	struct job_time_change change[] = {
		{ .before = 1.1, .after = 1.0 },
		{ .before = 2.5, .after = 1.2 },
		{ .before = 1.0, .after = 1.8 },
	};
	const struct job_time_changes changes = { 3, change };
	struct console_kit k;
	struct plan_preview *x;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	console_keys(&k, "6J");
	x = (struct plan_preview *)(uintptr_t)state_plan(&k.s);
	/* the second of the list is on one switch: nothing is known of its time */
	change[0].id = x->jobs->jobs[0].id;
	change[1].id = x->jobs->jobs[2].id;
	change[2].id = x->jobs->jobs[3].id;
	x->jobs_time = &changes;
	console_size(&k, 80, 24);
	console_shows(&k, "Slowest jobs: now > plan");
	assert_true(job_at(&k, 2) < job_at(&k, 3));
	assert_true(job_at(&k, 3) < job_at(&k, 0));
	assert_true(job_at(&k, 0) < job_at(&k, 1));
	x->jobs_time = NULL;
	console_close(&k);
}

/* A list of the worst links that had no row for one wrote beside its memory. */
static void every_page_fits_into_any_height(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	console_keys(&k, "6");
	for (int page = 0; page < 5; page++) {
		for (int h = 1; h <= 30; h++) {
			console_size(&k, h % 2 ? 80 : 200, h);
			free(console_screen(&k));
			console_size(&k, h % 2 ? 200 : 80, h);
			free(console_screen(&k));
		}
		console_keys(&k, "\t");
	}
	console_close(&k);
}

/* Of a folder "runs" with three files, and a file beside it. */
static void names_of_files(void *of, const char *path, void (*name)(void *to, const char *name),
			   void *to)
{
	static const char *const all[] = { "mine.ibr", "runs/", "runs/a b.dump", "runs/one.ibr",
					   "runs/one.plan" };
	const char *slash = strrchr(path, '/');
	size_t folder = slash ? (size_t)(slash - path) + 1 : 0;

	(void)of;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const char *end = strchr(all[i] + folder, '/');

		if (!strncmp(all[i], path, strlen(path)) && all[i][folder] && (!end || !end[1]))
			name(to, all[i] + folder);
	}
}

static void a_file_is_chosen_like_an_engine(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	k.s.file_names = names_of_files;
	console_keys(&k, "6G ");
	assert_true(shell_typing(k.shell, &k.s));
	console_shows(&k, ":file _");
	console_keys(&k, "r\t");
	console_shows(&k, ":file runs/_");
	console_keys(&k, "\t"); /* nothing in common: a list first */
	console_shows(&k, "a b.dump  one.ibr  one.plan");
	console_shows(&k, ":file runs/_");
	console_keys(&k, "o\t");
	console_shows(&k, ":file runs/one._");
	console_keys(&k, "\t\t\t"); /* the list, then one after the other */
	console_shows(&k, ":file runs/one.plan_");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_PREVIEW_START);
	assert_string_equal(k.last.options.text[PARAM_TABLES], "runs/one.plan");
	assert_true(k.s.preview.engines[k.last.engine].file);
	console_keys(&k, "3:file runs/a\t");
	console_shows(&k, ":file runs/a b.dump_"); /* blanks need no quotes */
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_PREVIEW_START);
	assert_int_equal(shell_view(k.shell), VIEW_PREVIEW);
	assert_string_equal(k.last.options.text[PARAM_TABLES], "runs/a b.dump");
	console_shows(&k, "runs/a b.dump"); /* beside its entry */
	console_close(&k);
}

static void names_of_files_are_completed_in_the_form(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	k.s.file_names = names_of_files;
	console_keys(&k, "6eGk"); /* above LMC: SL2VL */
	console_key(&k, K_ENTER);
	console_shows(&k, "addition to path SLs");
	console_keys(&k, "runs/\t");
	console_shows(&k, "a b.dump  one.ibr  one.plan");
	console_keys(&k, "a\t");
	console_shows(&k, "SL2VL: runs/a b.dump_");
	console_key(&k, K_ENTER);
	console_key(&k, K_ESC);
	console_keys(&k, ":file mine.ibr");
	console_key(&k, K_ENTER);
	assert_string_equal(k.last.options.text[PARAM_TABLES], "mine.ibr");
	assert_string_equal(k.last.options.text[PARAM_TABLES_SL2VL], "runs/a b.dump");
	assert_string_equal(k.last.options.text[PARAM_TABLES_PATH_SL], "");
	console_close(&k);
}

static void vls_without_a_weight_and_what_gives_way_are_named(void **state)
{
	static const char why[] =
		"plan p-7f3a puts packets on VLs 2,3, which have no weight in the VL "
		"arbitration of S1 port 17";
	struct console_kit k;
	struct notes notes = { 0 };
	struct plan_preview *x;

	(void)state;
	tree(&k);
	console_size(&k, 200, 60);
	console_preview(&k, "sar");
	x = &k.s.preview.list[0];
	x->notes = &notes;
	k.s.rw = true;
	snprintf(k.s.sm.replaces, sizeof(k.s.sm.replaces),
		 "path records have the routing's SLs, not those of partition mpi (SL 3)");
	console_keys(&k, "6");
	console_shows(&k, "A: apply p-7f3a");
	console_shows(&k, "QoS settings of the site");
	console_shows(&k, "not those of partition mpi");
	notes_set(&notes, "vl_weights", 0, "some of its VLs have no weight");
	x->order = ORDER_FAILED;
	snprintf(x->order_error, sizeof(x->order_error), "%s", why);
	console_shows(&k, "p-7f3a cannot be applied");
	console_shows(&k, "[NO] VLs WITHOUT WEIGHT");
	console_shows(&k, "puts packets on VLs 2,3");
	notes_done(&notes);
	console_close(&k);
}

static void adaptive_routing_is_told(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_size(&k, 200, 60);
	console_preview(&k, "sar");
	snprintf(k.s.sm.adaptive, sizeof(k.s.sm.adaptive),
		 "adaptive routing (OpenSM routes with ar_updn): metrics and checks of tables "
		 "describe only part of what packets do");
	snprintf(k.s.sm.engine, sizeof(k.s.sm.engine), "ar_updn");
	console_keys(&k, "6");
	console_shows(&k, "engine ar_updn + adaptive");
	console_golden(&k, "preview-adaptive");
	console_close(&k);
}

/* Made up: base LIDs as before, small messages as the plan, large ones better. */
static void by_size(struct console_kit *k, struct message_figures *out)
{
	struct plan_preview *x = &k->s.preview.list[0];

	*out = (struct message_figures){ .known = true };
	for (int i = 0; i < MESSAGE_SIZES; i++) {
		struct pattern_time *t = &out->plan[i].time.of[PREDICT_ALLTOALL];

		message_efi_compute(&out->now[i].efi, k->fabric, k->tables, k->jobs, NULL, NULL);
		message_efi_compute(&out->plan[i].efi, k->fabric,
				    i == MESSAGES_BASE ? k->tables : k->plan, k->jobs, NULL, NULL);
		out->now[i].time = x->time_now;
		out->plan[i].time = i == MESSAGES_BASE ? x->time_now : x->time_plan;
		if (i == MESSAGES_LARGE)
			t->mean.mean -= 1;
	}
	snprintf(out->base_loses, sizeof(out->base_loses),
		 "software that knows base LIDs only gets mean time of jobs 4.491 for 2.053");
	x->messages = out;
}

static void a_plan_with_a_choice_of_lids_shows_messages_by_size(void **state)
{
	struct message_figures figures;
	struct console_kit k;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	by_size(&k, &figures);
	console_keys(&k, "6");
	console_shows(&k, "software that knows");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "preview-sizes");
	}
	console_close(&k);
}

static void what_a_file_does_not_tell_is_said(void **state)
{
	struct console_kit k;
	struct plan_files files = { 0 };
	struct notes notes = { 0 };
	struct digest sum = { { 7 } };

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	plan_files_add(&files, "tables", "/root/opensm-lfts.dump", &sum);
	notes_set(&notes, "sls_assumed", 0, "no service levels in it: SL 0");
	k.s.preview.list[0].files = &files;
	k.s.preview.list[0].notes = &notes;
	k.s.preview.list[0].engine = 4;
	console_keys(&k, "6");
	console_shows(&k, "p-7f3a: file opensm-lfts.dump,");
	console_shows(&k, "[!!] all SLs assumed 0");
	console_keys(&k, "\t");
	console_shows(&k, "Notes on the file");
	console_shows(&k, "no service levels in it: SL 0");
	k.plan_verdict->connected = false;
	notes_set(&notes, "verdict", 0, "n0001 does not reach n0002");
	console_shows(&k, "p-7f3a cannot be applied");
	console_size(&k, 100, 30);
	console_shows(&k, "n0001 does not reach n0002");
	notes_done(&notes);
	console_close(&k);
}

static void a_plan_is_saved_under_a_name(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "6w");
	console_shows(&k, "there is no plan to save");
	console_preview(&k, "sar");
	console_keys(&k, "w");
	assert_true(shell_typing(k.shell, &k.s));
	console_shows(&k, ":plan p-"); /* in the command line, which completes names of files */
	console_key(&k, K_CTRL('u'));
	console_keys(&k, "plan x.plan");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_PLAN_SAVE);
	assert_string_equal(k.last.text, "x.plan");
	console_close(&k);
}

static void long_options_leave_room_for_what_to_press(void **state)
{
	struct console_kit k;
	char host[8];

	(void)state;
	console_open(&k, 80, 24);
	console_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	console_preview(&k, "sar");
	console_keys(&k, "6ejjjjjjjjjjj"); /* pin */
	console_key(&k, K_ENTER);
	for (int i = 1; i <= 36; i++) {
		snprintf(host, sizeof(host), "%sn%04d", i > 1 ? "," : "", i);
		console_keys(&k, host);
	}
	console_key(&k, K_ENTER);
	console_key(&k, K_ESC);
	console_shows(&k, "n0001,n0002");
	console_shows(&k, "n0036");
	console_shows(&k, "..");
	console_shows(&k, "Space: compute another");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lost_paths_put_the_cursor_on_repair),
		cmocka_unit_test(what_is_known_of_the_routing_in_use_is_shown),
		cmocka_unit_test(a_stranger_finds_the_preview),
		cmocka_unit_test(the_mouse_chooses_an_engine_and_computes),
		cmocka_unit_test(why_an_engine_does_not_suit_is_read_to_its_end),
		cmocka_unit_test(a_preview_runs_fails_and_is_cancelled),
		cmocka_unit_test(why_a_preview_failed_is_read_whole_beside_others),
		cmocka_unit_test(cycles_without_known_sls_are_not_called_a_deadlock),
		cmocka_unit_test(options_are_edited_and_checked),
		cmocka_unit_test(what_is_excluded_is_among_the_checks),
		cmocka_unit_test(what_is_under_the_cursor_is_excluded_from_the_next_preview),
		cmocka_unit_test(a_stale_plan_is_compared_with_what_was_in_use_then),
		cmocka_unit_test(a_stale_or_unchecked_plan_is_not_taken_to_apply),
		cmocka_unit_test(pinned_routes_are_among_the_checks),
		cmocka_unit_test(plans_stand_side_by_side_and_the_best_is_marked),
		cmocka_unit_test(the_least_bad_plan_is_not_the_best),
		cmocka_unit_test(what_other_options_did_to_the_result_is_told),
		cmocka_unit_test(values_of_an_option_stand_beside_each_other_as_they_were_tried),
		cmocka_unit_test(what_applying_costs_is_told_before),
		cmocka_unit_test(jobs_and_changes_have_their_pages),
		cmocka_unit_test(jobs_of_a_plan_begin_with_what_is_slow_on_either_routing),
		cmocka_unit_test(large_figures_of_a_job_are_apart),
		cmocka_unit_test(every_page_fits_into_any_height),
		cmocka_unit_test(a_file_is_chosen_like_an_engine),
		cmocka_unit_test(names_of_files_are_completed_in_the_form),
		cmocka_unit_test(vls_without_a_weight_and_what_gives_way_are_named),
		cmocka_unit_test(adaptive_routing_is_told),
		cmocka_unit_test(a_plan_with_a_choice_of_lids_shows_messages_by_size),
		cmocka_unit_test(what_a_file_does_not_tell_is_said),
		cmocka_unit_test(a_plan_is_saved_under_a_name),
		cmocka_unit_test(long_options_leave_room_for_what_to_press),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
