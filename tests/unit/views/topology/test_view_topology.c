/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of the topology: places, zoom, lines and screens. */
#include "tests/unit/kit/console_kit.h"
#include "views/topology/topology_layout.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };
static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

static void open_fabric(struct console_kit *k, const char *spec)
{
	console_open(k, 80, 24);
	console_fabric(k, spec, jobs);
	console_keys(k, "t");
}

static void golden_sizes(struct console_kit *k, const char *name)
{
	for (int i = 0; i < 3; i++) {
		console_size(k, sizes[i][0], sizes[i][1]);
		console_golden(k, name);
	}
	console_size(k, 80, 24);
}

/* The same in Braille and colours. */
static void unicode_golden(struct console_kit *k, const char *name, int w, int h)
{
	canvas_free(k->c);
	k->c = canvas_new(w, h, false);
	k->s.colours = 256;
	console_golden(k, name);
	k->s.colours = 0;
	console_size(k, 80, 24);
}

static void a_tree_in_three_sizes(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3");
	golden_sizes(&k, "topology");
	unicode_golden(&k, "topology-dots", 100, 30);
	unicode_golden(&k, "topology-dots", 200, 60);
	console_keys(&k, "vzz");
	console_shows(&k, "lines of one switch");
	console_golden(&k, "topology-near");
	console_close(&k);
}

/* A key sends no more than 10 kB: test_view_bytes. */
static void of_lines_without_room_the_ends_are_drawn_where_all_are_wanted(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, "fattree2:leaves=18,spines=18,hosts=18");
	console_size(&k, 200, 60);
	console_keys(&k, "vv");
	console_shows(&k, " of 324 lines, the ends of others");
	unicode_golden(&k, "topology-ends", 200, 60);
	console_size(&k, 100, 30);
	console_shows(&k, "| 324 lines -");
	console_close(&k);
}

static void large_screens_list_the_worst_lines_by_name(void **state)
{
	struct console_kit k;
	char *screen;

	(void)state;
	open_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9");
	console_size(&k, 160, 54);
	console_shows(&k, "EFI worst lines");
	console_keys(&k,
		     "m"); /* by wait: the fullest waits most, and 40 % of the time is that much */
	screen = console_screen(&k);
	assert_non_null(strstr(screen, "EFI worst lines"));
	assert_non_null(strstr(strstr(screen, "EFI worst lines"), "\n =  100%    40 "));
	free(screen);
	console_size(&k, 159, 54);
	console_hides(&k, "EFI worst lines");
	console_size(&k, 160, 53);
	console_hides(&k, "EFI worst lines");
	/* of a job that leaves most lines free only its own */
	console_keys(&k, "5jjjjjjj");
	console_key(&k, K_ENTER);
	console_keys(&k, "t");
	console_size(&k, 200, 60);
	console_shows(&k, "EFI worst lines");
	console_close(&k);
}

static void every_kind_of_fabric_has_its_picture(void **state)
{
	static const struct {
		const char *spec, *name, *title;
	} kinds[] = {
		{ "kary:k=4,n=3,hosts=4", "topology-kary", "tree of 3 levels" },
		{ "hyperx:dims=6x4,hosts=4", "topology-hyperx", "HyperX 6x4" },
		{ "torus:dims=6x5,hosts=2", "topology-torus", "torus 6x5" },
		{ "dragonfly:p=2", "topology-dragonfly", "groups of" },
		{ "random:switches=20,links=36,hosts=2,seed=4", "topology-general", "by distance" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct console_kit k;

		open_fabric(&k, kinds[i].spec);
		console_shows(&k, kinds[i].title);
		console_golden(&k, kinds[i].name);
		console_close(&k);
	}
}

static void a_torus_with_cables_missing_has_planes_and_says_so(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, "torus:dims=4x4x4,hosts=1,fail=2,seed=3");
	console_size(&k, 100, 30);
	console_shows(&k, "torus 4x4x4: ");
	console_shows(&k, "| 2 cables missing, ");
	console_golden(&k, "topology-torus-broken");
	/* the same place of each plane, and around */
	console_shows(&k, "plane 1 of 4: PgUp PgDn");
	for (int i = 2; i <= 5; i++) {
		char text[32];

		snprintf(text, sizeof(text), "plane %d of 4", (i - 1) % 4 + 1);
		console_key(&k, K_PGDN);
		console_shows(&k, text);
	}
	console_shows(&k, "-- sw01 --");
	console_key(&k, K_PGUP);
	console_shows(&k, "plane 4 of 4");
	console_keys(&k, "2");
	console_shows(&k, "dimension 1 of 3, step by step: ");
	console_size(&k, 200, 60);
	console_shows(&k, "| 2 cables missing, rings of 4 by port numbers");
	console_close(&k);
	open_fabric(&k, "random:switches=20,links=36,hosts=2,seed=4");
	console_size(&k, 200, 60);
	console_shows(&k, "| not a torus: ");
	console_keys(&k, "2");
	console_shows(&k, "| not a torus: ");
	console_close(&k);
}

static void without_a_fabric_or_figures_it_says_so(void **state)
{
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_keys(&k, "t");
	console_shows(&k, "no fabric yet");
	console_keys(&k, "zvmjhkl<>/");
	console_fabric(&k, "fattree2:leaves=6,spines=3,hosts=2", NULL);
	k.s.rates = NULL;
	k.s.sample = NULL;
	k.s.metrics = NULL;
	k.s.tables = NULL;
	console_golden(&k, "topology-file");
	console_close(&k);
}

/* As on real fabrics, whose long names had pushed the values off the line. */
static void a_file_shows_paths_and_keeps_them_beside_long_names(void **state)
{
	static char long_name[9][NAME_LEN];
	struct console_kit k;
	char *kept[9];

	(void)state;
	console_open(&k, 80, 24);
	console_keys(&k, "t");
	console_fabric(&k, "fattree2:leaves=6,spines=3,hosts=2", NULL);
	console_file(&k);
	for (uint32_t i = 0; i < 9; i++) {
		snprintf(long_name[i], NAME_LEN,
			 "MT47396 Infiniscale-III Mellanox Technologies %02u", i);
		kept[i] = k.fabric->sw_short[i];
		k.fabric->sw_short[i] = long_name[i];
	}
	console_shows(&k, "tree of 2 levels: EFI");
	console_shows(&k, "ologies 00/4  EFI 10");
	console_hides(&k, "util -%");
	console_key(&k, 'm');
	console_hides(&k, "tree of 2 levels: EFI");
	for (uint32_t i = 0; i < 9; i++)
		k.fabric->sw_short[i] = kept[i];
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
	console_keys(&k, "t");
	console_shows(&k, "tree of 2 levels: problems ");
	console_shows(&k, ". no problem  EFI: Space in 6");
	k.s.preview.n = 1;
	console_shows(&k, "tree of 2 levels: EFI of plan sar");
	console_hides(&k, "Space in 6");
	/* and no columns of rates, which a dump has not */
	console_size(&k, 160, 54);
	console_shows(&k, "      EFI worst lines");
	console_hides(&k, "util");
	console_size(&k, 80, 24);
	console_keys(&k, "c");
	console_shows(&k, "nothing to compare with: the tables in use are unknown");
	console_shows(&k, "tree of 2 levels: EFI of plan sar");
	/* of one's own choice */
	console_keys(&k, "m");
	console_shows(&k, "tree of 2 levels: job EFI of plan sar");
	k.s.preview.n = 0;
	console_shows(&k, "tree of 2 levels: job EFI (Space in 6)");
	console_close(&k);
}

static void half_of_the_ports_silent(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3");
	for (uint32_t c = 0; c < k.fabric->nchan; c += 2)
		console_no_reply(&k, c);
	console_golden(&k, "topology-silent");
	console_keys(&k, "mmmmmmm");
	console_shows(&k, "problems");
	console_close(&k);
}

static void the_cursor_walks_zooms_and_opens_switches(void **state)
{
	struct console_kit k;
	char name[64];

	(void)state;
	open_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9");
	console_keys(&k, "/leaf07");
	console_key(&k, K_ENTER);
	console_shows(&k, "-- leaf07 -");
	console_keys(&k, "l");
	console_shows(&k, "-- leaf08 -");
	console_keys(&k, "k");
	console_shows(&k, "-- spine");
	console_keys(&k, "j>");
	console_shows(&k, "0 shows it");
	console_keys(&k, "z");
	console_shows(&k, "zoom 2 of");
	console_keys(&k, "u");
	console_shows(&k, "zoom 1 of");
	snprintf(name, sizeof(name), "no switch has \"xyz\"");
	console_keys(&k, "/xyz");
	console_key(&k, K_ENTER);
	console_keys(&k, "n");
	console_shows(&k, name);
	console_close(&k);
}

static void a_job_leaves_only_its_links_in_colour(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9");
	console_keys(&k, "5jjjj");
	console_key(&k, K_ENTER);
	console_keys(&k, "t");
	console_golden(&k, "topology-job");
	console_close(&k);
}

static void the_plan_is_shown_as_a_change(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9");
	console_keys(&k, "c");
	console_shows(&k, "nothing to compare yet");
	console_preview(&k, "sar");
	console_keys(&k, "c");
	console_shows(&k, "plan - now");
	console_golden(&k, "topology-delta");
	console_keys(&k, "c");
	console_hides(&k, "plan - now");
	console_close(&k);
}

static void big_fabrics_begin_with_groups(void **state)
{
	static const uint32_t big[] = { 2048, 1024, 512, 64, 0 };
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_fabric(&k, "dragonfly:p=8", big);
	console_keys(&k, "t");
	assert_int_equal(k.fabric->nsw, 2064);
	console_shows(&k, "129 groups of 16");
	console_golden(&k, "topology-2064");
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		for (int zoom = 0; zoom < 3; zoom++) {
			console_keys(&k, zoom ? "z" : "");
			for (int m = 0; m < 8; m++) {
				free(console_screen(&k));
				console_keys(&k, "m");
			}
		}
		console_keys(&k, "uu");
	}
	console_size(&k, 80, 24);
	console_keys(&k, ":metric util\rz");
	console_golden(&k, "topology-2064-near");
	console_close(&k);
}

static void places_do_not_depend_on_the_order_of_discovery(void **state)
{
	struct console_kit k;
	struct topology_layout *a, *b, *blocks[2];
	struct topology_kind *s;

	(void)state;
	open_fabric(&k, "kary:k=4,n=3,hosts=4");
	s = topology_kind_new(k.fabric);
	topology_layout_new(&a, &blocks[0], k.fabric, s);
	topology_layout_new(&b, &blocks[1], k.fabric, s);
	assert_int_equal(a->nnode, k.fabric->nsw);
	for (uint32_t i = 0; i < a->nnode; i++) {
		assert_true(a->node[i].x > 0 && a->node[i].x < a->w);
		assert_true(a->node[i].y > 0 && a->node[i].y < a->h);
		assert_true(fabsf(a->node[i].x - b->node[i].x) < 1e-6f);
		for (uint32_t j = 0; j < i; j++)
			assert_true(fabsf(a->node[i].x - a->node[j].x) > 0.9f ||
				    fabsf(a->node[i].y - a->node[j].y) > 0.9f);
	}
	/* every cable is in one edge, both ways */
	for (uint32_t i = 0, n = 0; i < a->nedge; i++) {
		n += a->edge[i].count;
		if (i + 1 == a->nedge)
			assert_int_equal(n, k.fabric->nchan);
	}
	topology_layout_free(a);
	topology_layout_free(b);
	topology_layout_free(blocks[0]);
	topology_layout_free(blocks[1]);
	topology_kind_free(s);
	console_close(&k);
}

static void no_size_is_too_small_or_too_large(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9");
	for (int w = 1; w < 240; w += 17)
		for (int h = 1; h < 70; h += 8) {
			console_size(&k, w, h);
			console_keys(&k, "zzljvhkm");
			console_keys(&k, "uuuut");
		}
	console_close(&k);
}

static void the_path_of_view_0_is_drawn(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9");
	console_keys(&k, "vvv");
	console_shows(&k, "0 lines of the path in view 0");
	console_keys(&k, ":path leaf02 leaf17");
	console_key(&k, K_ENTER);
	console_keys(&k, "t");
	console_golden(&k, "topology-path");
	console_close(&k);
}

static void mouse_and_commands_move_the_cursor(void **state)
{
	struct console_kit k;
	struct input click = { .req = REQ_CLICK, .y = 3 };
	struct request out;

	(void)state;
	open_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9");
	console_keys(&k, ":goto n0100");
	console_key(&k, K_ENTER);
	console_shows(&k, "-- leaf12 -");
	click.x = 11;
	shell_input(k.shell, &click, &k.s, &out);
	console_shows(&k, "-- spine1 -");
	shell_input(k.shell, &click, &k.s, &out);
	assert_int_equal(shell_view(k.shell), VIEW_SWITCHES);
	console_keys(&k, "t:metric wai");
	console_key(&k, K_ENTER);
	console_shows(&k, "tree of 2 levels: wait");
	click.req = REQ_WHEEL_UP;
	shell_input(k.shell, &click, &k.s, &out);
	console_shows(&k, "zoom 2 of");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_in_three_sizes),
		cmocka_unit_test(of_lines_without_room_the_ends_are_drawn_where_all_are_wanted),
		cmocka_unit_test(large_screens_list_the_worst_lines_by_name),
		cmocka_unit_test(every_kind_of_fabric_has_its_picture),
		cmocka_unit_test(a_torus_with_cables_missing_has_planes_and_says_so),
		cmocka_unit_test(without_a_fabric_or_figures_it_says_so),
		cmocka_unit_test(a_file_shows_paths_and_keeps_them_beside_long_names),
		cmocka_unit_test(half_of_the_ports_silent),
		cmocka_unit_test(the_cursor_walks_zooms_and_opens_switches),
		cmocka_unit_test(a_job_leaves_only_its_links_in_colour),
		cmocka_unit_test(the_plan_is_shown_as_a_change),
		cmocka_unit_test(the_path_of_view_0_is_drawn),
		cmocka_unit_test(mouse_and_commands_move_the_cursor),
		cmocka_unit_test(big_fabrics_begin_with_groups),
		cmocka_unit_test(places_do_not_depend_on_the_order_of_discovery),
		cmocka_unit_test(no_size_is_too_small_or_too_large),
		cmocka_unit_test(a_dump_without_tables_shows_problems_then_the_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
