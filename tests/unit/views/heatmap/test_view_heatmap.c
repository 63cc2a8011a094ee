/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heatmap: its metrics, matrices and zooms, as they look and as they answer to keys. */
#include "tests/unit/kit/console_kit.h"
#include "views/heatmap/heat_cells.h"

#include "fabric/base/memory/mem.h"
#include "views/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };
static const uint32_t few[] = { 12, 8, 4, 0 };

static void open_heatmap(struct console_kit *k, const char *spec, const uint32_t *with)
{
	console_open(k, 80, 24);
	console_fabric(k, spec, with);
	console_keys(k, "2");
}

static void every_metric_says_what_it_is(void **state)
{
	static const char *const metrics[] = { ": wait",     ": EFI",		": job EFI",
					       ": errors",   ": virtual lanes", ": unused links",
					       ": problems", ": plan - now",	": utilisation" };
	struct console_kit k;

	(void)state;
	open_heatmap(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	console_preview(&k, "sar");
	console_shows(&k, ": utilisation");
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		console_keys(&k, "m");
		console_shows(&k, metrics[i]);
		if (strstr(metrics[i], "lanes"))
			console_golden(&k, "heatmap-lanes");
		if (strstr(metrics[i], "unused"))
			console_golden(&k, "heatmap-dark");
	}
	/* without a plan there is no change to be seen */
	k.s.preview.n = 0;
	console_keys(&k, "mmmmmmm");
	console_shows(&k, ": problems");
	console_keys(&k, "m");
	console_shows(&k, ": utilisation");
	console_close(&k);
}

/* Typed ahead: what acts on a cell waits for the next frame. */
static void what_acts_on_a_cell_waits_for_its_frame(void **state)
{
	static const enum req reqs[] = {
		REQ_ENTER, REQ_ZOOM,   REQ_EXCLUDE,   REQ_DOWN, REQ_RIGHT,
		REQ_CLICK, REQ_BOTTOM, REQ_PAGE_DOWN, REQ_ROWS, REQ_METRIC
	};
	const struct input layout = { .req = REQ_LAYOUT };
	struct console_kit k;
	struct request out;

	(void)state;
	open_heatmap(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	for (size_t i = 0; i < sizeof(reqs) / sizeof(reqs[0]); i++) {
		const struct input in = { .req = reqs[i], .x = 10, .y = 8 };

		free(console_screen(&k));
		shell_input(k.shell, &layout, &k.s, &out);
		shell_input(k.shell, &in, &k.s, &out);
		assert_int_equal(shell_view(k.shell), VIEW_HEATMAP);
	}
	console_shows(&k, "layout ");
	console_close(&k);
}

/* As of a dump without tables. */
static void a_plan_that_replaces_nothing_known_is_not_compared(void **state)
{
	const struct metrics *before;
	struct plan_preview *x;
	struct console_kit k;

	(void)state;
	open_heatmap(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	console_preview(&k, "sar");
	x = (struct plan_preview *)(uintptr_t)state_plan(&k.s);
	before = x->before;
	x->before = NULL;
	console_keys(&k, "c");
	console_shows(&k, "nothing to compare with: the tables in use are unknown");
	console_keys(&k, "tc");
	console_shows(&k, "nothing to compare with: the tables in use are unknown");
	x->before = before;
	console_close(&k);
}

/* Rates of then are those of now but for one link, which carried nothing. */
static void two_moments_are_held_against_each_other(void **state)
{
	struct console_kit k;
	struct rates then;
	uint32_t p, chan = 0;

	(void)state;
	open_heatmap(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	console_keys(&k, "c");
	console_shows(&k, "nothing to compare yet");
	then = *k.rates;
	then.port = xcalloc(then.nport, sizeof(*then.port));
	memcpy(then.port, k.rates->port, then.nport * sizeof(*then.port));
	while (!(k.rates->port[p = chan_fabric_port(k.fabric, chan)].util_pct > 60))
		chan++;
	then.port[p].util_pct = 0;
	k.s.against = &then;
	k.s.against_s = k.s.now_s - 600;
	shell_context(k.shell)->chan = chan;
	console_keys(&k, "c");
	console_shows(&k, ": utilisation change");
	console_shows(&k, "less .. more than then");
	console_shows(&k, "then: util 0%");
	console_golden(&k, "heatmap-against");
	console_keys(&k, "m");
	console_shows(&k, ": wait change");
	console_keys(&k, ":metric util\rc");
	console_shows(&k, ": utilisation change");
	k.s.against = NULL; /* no longer */
	console_shows(&k, ": utilisation");
	console_hides(&k, "change");
	free(then.port);
	console_close(&k);
}

/* Half of all paths on SL 1: their links have two lanes. */
static void lanes_are_counted(void **state)
{
	struct console_kit k;

	(void)state;
	open_heatmap(&k, "fattree2:leaves=6,spines=3,hosts=4", few);
	tables_sl_form(k.tables, SL_BY_DLID, k.fabric);
	for (uint32_t lid = 0; lid <= k.tables->max_lid; lid++)
		k.tables->sl[lid] = lid % 2 ? 0 : 1;
	link_usage_free(k.usage);
	assert_int_equal(link_usage_compute(&k.usage, k.fabric, k.tables, k.jobs, true, NULL, NULL),
			 0);
	k.s.usage = k.usage;
	console_keys(&k, "mmmmm");
	console_shows(&k, ": virtual lanes");
	console_shows(&k, "[2]");
	console_shows(&k, "VL0 43% VL1 57%");
	console_golden(&k, "heatmap-two-lanes");
	k.s.usage = NULL;
	console_shows(&k, "[?]");
	console_close(&k);
}

static void zoom_goes_from_the_fabric_to_cables_and_out_again(void **state)
{
	struct console_kit k;

	(void)state;
	open_heatmap(&k, "fattree2:leaves=40,spines=6,hosts=4,parallel=3", few);
	console_shows(&k, "zoom 1");
	console_keys(&k, "z");
	console_shows(&k, "leaf01 -> spine1: 3 cables");
	console_golden(&k, "heatmap-cables");
	console_keys(&k, "j");
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	assert_int_equal(k.fabric->chan_dst[shell_context(k.shell)->chan], k.fabric->chan_dst[1]);
	console_key(&k, K_ESC);
	console_key(&k, K_ESC);
	assert_int_equal(shell_view(k.shell), VIEW_HEATMAP);
	console_keys(&k, "zz");
	console_shows(&k, "1 cell = worst of 4x1");
	console_keys(&k, "z");
	console_shows(&k, "1 cell = worst of 2x1");
	/* Enter goes nearer too: to the pair, to its cables */
	console_key(&k, K_ENTER);
	console_shows(&k, "zoom 1");
	console_key(&k, K_ENTER);
	console_shows(&k, ": 3 cables");
	console_close(&k);
}

static void a_cell_tells_of_cables_that_are_down_or_silent(void **state)
{
	struct console_kit k;

	(void)state;
	open_heatmap(&k, "fattree2:leaves=6,spines=3,hosts=4,parallel=2", few);
	console_no_reply(&k, 0);
	console_shows(&k, " (1 no reply)");
	console_no_reply(&k, 1);
	console_shows(&k, "[!]");
	k.fabric->port[chan_fabric_port(k.fabric, 0)].state = PORT_INIT;
	k.fabric->port[chan_fabric_port(k.fabric, 1)].state = PORT_INIT;
	console_no_reply(&k, 5);
	console_shows(&k, "[x]");
	console_shows(&k, "(2 down)");
	console_golden(&k, "heatmap-broken");
	console_close(&k);
}

static void a_marked_job_dims_all_other_links(void **state)
{
	struct console_kit k;

	(void)state;
	open_heatmap(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	console_hides(&k, "' not job");
	context_select_job(shell_context(k.shell), 81242);
	console_shows(&k, "' not job 81242");
	console_golden(&k, "heatmap-job");
	console_size(&k, 200, 60);
	console_golden(&k, "heatmap-job");
	console_close(&k);
}

/* The fullest link from a leaf. */
static uint32_t fullest_up(const struct console_kit *k)
{
	uint32_t most = FAB_NONE;
	double util = -1;

	for (uint32_t c = 0; c < k->fabric->nchan; c++) {
		double u = k->rates->port[chan_fabric_port(k->fabric, c)].util_pct;

		if (k->fabric->sw_nterm[k->fabric->chan_src[c]] && u > util) {
			util = u;
			most = c;
		}
	}
	return most;
}

static void the_worst_cells_are_named_where_there_is_room(void **state)
{
	struct input click = { .req = REQ_CLICK, .x = 120, .y = 4 };
	struct console_kit k;
	struct request out;
	char row[300], name[200], *screen;

	(void)state;
	open_heatmap(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	console_hides(&k, "worst  util");
	console_size(&k, 200, 60);
	chan_label(name, sizeof(name), k.fabric, fullest_up(&k));
	screen = console_screen(&k);
	snprintf(row, sizeof(row), "%s", strstr(screen, "worst  util"));
	free(screen);
	assert_non_null(strstr(row, name)); /* in the line below the head */
	shell_input(k.shell, &click, &k.s, &out);
	snprintf(row, sizeof(row), "-- %s ", name); /* what is told of the cell under the cursor */
	console_shows(&k, row);
	assert_int_equal(shell_view(k.shell), VIEW_HEATMAP);
	shell_input(k.shell, &click, &k.s, &out);
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	assert_int_equal(shell_context(k.shell)->chan, fullest_up(&k));
	console_close(&k);
}

static void rows_are_ordered_as_asked(void **state)
{
	struct console_kit k;
	char *before, *after;

	(void)state;
	open_heatmap(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	console_keys(&k, "r");
	console_shows(&k, "rows by utilisation");
	console_golden(&k, "heatmap-by-util");
	/* while the cursor moves rows stay where they are */
	console_keys(&k, "j");
	before = console_screen(&k);
	console_no_reply(&k, 40);
	after = console_screen(&k);
	assert_memory_equal(strchr(before, '>'), strchr(after, '>'), 9);
	free(before);
	free(after);
	console_keys(&k, "r");
	console_hides(&k, "| rows");
	console_close(&k);
}

static void commands_choose_by_name(void **state)
{
	struct console_kit k;

	(void)state;
	open_heatmap(&k, "dragonfly:p=2", few);
	console_keys(&k, ":metric wait\r");
	console_shows(&k, "group x group: wait");
	console_keys(&k, ":layout nearness\r");
	console_shows(&k, "switch x switch by nearness: wait");
	console_keys(&k, ":rows util\r");
	console_shows(&k, "rows by utilisation");
	console_keys(&k, ":rows rack\r");
	console_shows(&k, "no racks known");
	console_keys(&k, ":layout gro\t");
	console_shows(&k, ":layout group x group");
	console_keys(&k, "\r");
	console_shows(&k, "group x group: wait");
	console_keys(&k, ":metric dark\r"); /* its name in 0.1 */
	console_shows(&k, ": unused links");
	console_keys(&k, ":metric wait\r");
	console_keys(&k, ":metric nonsense\r");
	console_shows(&k, "setting 'nonsense'");
	console_close(&k);
}

static void every_kind_of_fabric_has_its_matrices(void **state)
{
	static const struct {
		const char *spec, *title, *golden;
	} kinds[] = {
		{ "dragonfly:p=2", "group x group", "heatmap-groups" },
		{ "torus:dims=6x5,hosts=2", "dimension 1 of 2, step by step", "heatmap-torus" },
		{ "hyperx:dims=6x4,hosts=4", "HyperX dimension 1 of 2", NULL },
		{ "kary:k=4,n=3,hosts=4", "leaf x agg", NULL },
		{ "random:switches=20,links=50,hosts=2,seed=1", "switch x switch by name", NULL },
	};
	struct console_kit k;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		open_heatmap(&k, kinds[i].spec, few);
		console_shows(&k, kinds[i].title);
		if (kinds[i].golden)
			console_golden(&k, kinds[i].golden);
		console_close(&k);
	}
}

static void racks_are_a_matrix_and_an_order(void **state)
{
	static char names[16][32];
	struct console_kit k;

	(void)state;
	console_open(&k, 100, 30);
	console_fabric(&k, "fattree2:leaves=8,spines=4,hosts=4", few);
	for (uint32_t i = 0; i < k.fabric->nsw; i++) {
		snprintf(names[i], sizeof(names[i]), "r%02u-%s%u", 1 + i * 5 % 4,
			 i < 8 ? "leaf" : "spine", i);
		k.fabric->sw_name[i] = k.fabric->sw_short[i] = names[i];
	}
	console_keys(&k, "2v");
	console_shows(&k, "rack x rack by switch names");
	console_golden(&k, "heatmap-racks");
	console_keys(&k, "vrr");
	console_shows(&k, "rows by rack");
	console_close(&k);
}

static void wide_names_and_unicode_keep_the_columns(void **state)
{
	static char names[16][64];
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_fabric(&k, "fattree2:leaves=8,spines=4,hosts=4", few);
	for (uint32_t i = 0; i < k.fabric->nsw; i++) {
		snprintf(names[i], sizeof(names[i]),
			 i % 2 ? "a-name-that-goes-on-and-on-%u" : "\xe8\xa1\xa8%u", i);
		k.fabric->sw_name[i] = k.fabric->sw_short[i] = names[i];
	}
	canvas_free(k.c);
	k.c = canvas_new(80, 24, false);
	console_keys(&k, "2");
	console_golden(&k, "heatmap-names");
	console_close(&k);
}

/* In each of two halves: foreground above, background below. */
static void halves_have_their_own_colours(void **state)
{
	static const struct {
		struct heat_cell cell;
		enum half half;
	} of[] = {
		{ { .count = 0 }, HALF_NONE },
		{ { .count = 1, .value = { .pct = 29 } }, HALF_COOL },
		{ { .count = 1, .value = { .pct = 30 } }, HALF_WARM },
		{ { .count = 1, .value = { .pct = 75 } }, HALF_HOT },
		{ { .count = 1, .value = { .pct = 75 }, .dim = true }, HALF_COOL },
		{ { .count = 1, .value = { .pct = NAN, .role = ROLE_BAD } }, HALF_BAD },
		{ { .count = 1, .value = { .pct = NAN, .role = ROLE_DIM } }, HALF_COOL },
	};
	struct heat_window w = { .rows = { 0, 0, 9, 1 }, .cell_w = 1, .per_line = 2 };
	struct canvas *c = canvas_new(9, 1, false);
	size_t n = sizeof(of) / sizeof(of[0]);

	(void)state;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(heat_cell_half(&of[i].cell, HEAT_THREE), of[i].half);
	for (size_t up = 0; up < n; up++)
		for (size_t low = 0; low < n; low++) {
			heat_cells_draw_halves(&of[up].cell, &of[low].cell, PALETTE_VIRIDIS, &w, c,
					       3, 0);
			if (of[up].half == of[low].half)
				assert_int_equal(c->cell[3].ch, ' ');
			else
				assert_int_equal(c->cell[3].ch,
						 of[up].half == HALF_NONE ? 0x2584 : 0x2580);
		}
	heat_cells_draw_halves(&of[3].cell, &of[2].cell, PALETTE_CIVIDIS, &w, c, 0, 0);
	assert_int_equal(c->cell[0].role, half_role(PALETTE_CIVIDIS, HALF_HOT, HALF_WARM));
	heat_cells_draw_halves(&of[0].cell, &of[2].cell, PALETTE_CIVIDIS, &w, c, 0, 0);
	assert_int_equal(c->cell[0].role, half_role(PALETTE_CIVIDIS, HALF_WARM, HALF_NONE));
	heat_cells_draw_halves(&of[2].cell, NULL, PALETTE_CIVIDIS, &w, c, 0, 0);
	assert_int_equal(c->cell[0].role, half_role(PALETTE_CIVIDIS, HALF_WARM, HALF_NONE));
	canvas_free(c);
}

/* All that a key can be, behind one that changes the matrix, before a frame is drawn. */
static void keys_may_come_faster_than_frames(void **state)
{
	struct console_kit k;
	struct request out;

	(void)state;
	open_heatmap(&k, "fattree2:leaves=8,spines=4,hosts=4", NULL);
	console_shows(&k, "leaf x spine");
	for (int req = REQ_NONE; req < REQ_COUNT; req++) {
		const struct input layout = { .req = REQ_LAYOUT }, in = { .req = (enum req)req };

		shell_goto(k.shell, VIEW_HEATMAP);
		shell_draw(k.shell, k.c, &k.s);
		shell_input(k.shell, &layout, &k.s, &out);
		if (req != REQ_COMMAND && req != REQ_SETTINGS && req != REQ_PALETTE_PICK)
			shell_input(k.shell, &in, &k.s, &out);
	}
	shell_goto(k.shell, VIEW_HEATMAP);
	console_shows(&k, "utilisation");
	console_close(&k);
}

/* A dump without tables, and what stands in the title before and after a plan. */
static void a_dump_without_tables_shows_problems_then_the_plan(void **state)
{
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_fabric(&k, "fattree2:leaves=6,spines=3,hosts=2", jobs);
	console_preview(&k, "sar");
	console_dump(&k);
	k.s.preview.n = 0;
	console_keys(&k, "2");
	console_shows(&k, "leaf x spine: problems ");
	console_shows(&k, ". no problem  EFI: Space in 6");
	k.s.preview.n = 1;
	console_shows(&k, "leaf x spine: EFI of plan sar");
	console_hides(&k, "Space in 6");
	/* and no columns of rates, which a dump has not */
	console_size(&k, 100, 30);
	console_shows(&k, " worst EFI link ");
	console_size(&k, 80, 24);
	console_keys(&k, "c");
	console_shows(&k, "nothing to compare with: the tables in use are unknown");
	console_shows(&k, "leaf x spine: EFI of plan sar");
	/* of one's own choice */
	console_keys(&k, "m");
	console_shows(&k, "leaf x spine: job EFI of plan sar");
	k.s.preview.n = 0;
	console_shows(&k, "leaf x spine: job EFI (Space in 6)");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_metric_says_what_it_is),
		cmocka_unit_test(a_plan_that_replaces_nothing_known_is_not_compared),
		cmocka_unit_test(two_moments_are_held_against_each_other),
		cmocka_unit_test(what_acts_on_a_cell_waits_for_its_frame),
		cmocka_unit_test(lanes_are_counted),
		cmocka_unit_test(halves_have_their_own_colours),
		cmocka_unit_test(keys_may_come_faster_than_frames),
		cmocka_unit_test(zoom_goes_from_the_fabric_to_cables_and_out_again),
		cmocka_unit_test(a_cell_tells_of_cables_that_are_down_or_silent),
		cmocka_unit_test(a_marked_job_dims_all_other_links),
		cmocka_unit_test(the_worst_cells_are_named_where_there_is_room),
		cmocka_unit_test(rows_are_ordered_as_asked),
		cmocka_unit_test(commands_choose_by_name),
		cmocka_unit_test(every_kind_of_fabric_has_its_matrices),
		cmocka_unit_test(racks_are_a_matrix_and_an_order),
		cmocka_unit_test(wide_names_and_unicode_keep_the_columns),
		cmocka_unit_test(a_dump_without_tables_shows_problems_then_the_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
