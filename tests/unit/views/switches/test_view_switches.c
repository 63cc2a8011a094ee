/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of switches, and what is inside one: ports, LFT, SL2VL tables, lanes. */
#include "tests/unit/kit/console_kit.h"
#include "views/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TREE "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3"

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };
static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

static void open_fabric(struct console_kit *k)
{
	console_open(k, 80, 24);
	console_fabric(k, TREE, jobs);
}

static void golden_sizes(struct console_kit *k, const char *name)
{
	for (int i = 0; i < 3; i++) {
		console_size(k, sizes[i][0], sizes[i][1]);
		console_golden(k, name);
	}
	console_size(k, 80, 24);
}

static void the_table_and_each_pane_in_three_sizes(void **state)
{
	static const char *const names[] = { "switches-ports", "switches-lft", "switches-sl2vl",
					     "switches-lanes" };
	struct console_kit k;

	(void)state;
	open_fabric(&k);
	console_preview(&k, "sar");
	console_keys(&k, "4");
	golden_sizes(&k, "switches");
	console_key(&k, K_ENTER);
	for (int i = 0; i < 4; i++) {
		golden_sizes(&k, names[i]);
		console_key(&k, K_TAB);
	}
	console_shows(&k, "[Ports]");
	/* in colours and Unicode */
	canvas_free(k.c);
	k.c = canvas_new(100, 30, false);
	k.s.colours = 256;
	console_golden(&k, "switches-ports-unicode");
	console_close(&k);
}

static void without_fabric_or_tables_it_says_so(void **state)
{
	struct console_kit k;

	(void)state;
	console_open(&k, 80, 24);
	console_keys(&k, "4");
	console_shows(&k, "no fabric yet");
	console_keys(&k, "Fvc<>hlm");
	console_key(&k, K_TAB);
	console_key(&k, K_ENTER);
	console_fabric(&k, TREE, NULL);
	k.s.rates = NULL;
	k.s.sample = NULL;
	k.s.tables = NULL;
	k.s.metrics = NULL;
	k.s.usage = NULL;
	console_golden(&k, "switches-file");
	console_key(&k, K_ENTER);
	console_golden(&k, "switches-ports-file");
	for (int i = 0; i < 3; i++) {
		console_key(&k, K_TAB);
		console_shows(&k, "routing tables not read yet");
		console_keys(&k, "jkvc");
	}
	console_close(&k);
}

static void half_of_the_ports_silent(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k);
	for (uint32_t c = 0; c < k.fabric->nchan; c += 2)
		console_no_reply(&k, c);
	k.fabric->port[k.fabric->port_off[0] + 2].state = PORT_DOWN;
	console_keys(&k, "4");
	console_golden(&k, "switches-silent");
	console_key(&k, K_ENTER);
	console_golden(&k, "switches-ports-silent");
	console_close(&k);
}

static void the_cursor_drills_to_links_and_neighbours(void **state)
{
	struct console_kit k;
	const struct fabric *f;
	uint32_t sw;

	(void)state;
	open_fabric(&k);
	f = k.fabric;
	console_keys(&k, "4:filter name=leaf05");
	console_key(&k, K_ENTER);
	console_key(&k, K_ENTER);
	console_shows(&k, "Switch leaf05");
	sw = shell_context(k.shell)->sw;
	assert_string_equal(f->sw_name[sw], "leaf05");
	console_keys(&k, "F");
	console_shows(&k, "select a port with an ISL first");
	console_keys(&k, "G");
	console_shows(&k, "spine");
	assert_int_equal(f->chan_src[shell_context(k.shell)->chan], sw);
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	console_key(&k, K_ESC);
	assert_int_equal(shell_view(k.shell), VIEW_SWITCHES);
	console_keys(&k, "F");
	console_shows(&k, "Switch spine");
	console_keys(&k, "u");
	console_shows(&k, "Switch leaf05");
	console_keys(&k, "u");
	console_shows(&k, "leaf05");
	console_hides(&k, "Switch leaf05");
	console_close(&k);
}

static void another_view_brings_its_switch(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k);
	console_keys(&k, "t/leaf11");
	console_key(&k, K_ENTER);
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_SWITCHES);
	console_shows(&k, "Switch leaf11");
	console_close(&k);
}

static void an_lft_is_searched_compared_and_leads_to_a_path(void **state)
{
	struct console_kit k;
	struct path_ends ends;
	uint32_t lid;

	(void)state;
	open_fabric(&k);
	lid = k.fabric->term_lid[100];
	console_keys(&k, "4");
	console_key(&k, K_ENTER);
	console_key(&k, K_TAB);
	console_keys(&k, "c");
	console_shows(&k, "no plan to compare with");
	console_keys(&k, "/");
	console_keys(&k, k.fabric->term_name[100]);
	console_key(&k, K_ENTER);
	console_shows(&k, k.fabric->term_name[100]);
	console_keys(&k, ">");
	ends = shell_context(k.shell)->path;
	assert_int_equal(ends.dlid, lid);
	console_keys(&k, "<");
	assert_int_equal(shell_context(k.shell)->path.src, 100);
	console_key(&k, K_ESC);
	console_preview(&k, "sar");
	console_keys(&k, "c");
	console_golden(&k, "switches-lft-changed");
	console_keys(&k, "v");
	console_golden(&k, "switches-lft-ports");
	/* entries that lead nowhere are not hidden */
	tables_row(k.tables, shell_context(k.shell)->sw)[lid] = 77;
	console_keys(&k, "v");
	console_keys(&k, "/");
	console_keys(&k, k.fabric->term_name[100]);
	console_key(&k, K_ENTER);
	console_shows(&k, "no such port");
	console_close(&k);
}

static void sl2vl_tables_in_their_three_forms(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k);
	console_keys(&k, "4");
	console_key(&k, K_ENTER);
	console_key(&k, K_TAB);
	console_key(&k, K_TAB);
	console_shows(&k, "identity: VL = SL");
	tables_sl2vl_form(k.tables, SL2VL_BY_INPUT, k.fabric);
	for (int i = 0; i < 3 * FAB_SLS; i++)
		k.tables->sl2vl[i] = (uint8_t)(i / FAB_SLS);
	console_golden(&k, "switches-sl2vl-input");
	tables_sl2vl_form(k.tables, SL2VL_FULL, k.fabric);
	tables_sl2vl_row(k.tables, shell_context(k.shell)->sw, 3, 11)[5] = VL_DROP;
	console_keys(&k, "h");
	console_shows(&k, "a table for each input and output port");
	console_keys(&k, "l");
	console_shows(&k, "output port 1 to n");
	console_close(&k);
}

static void mouse(struct console_kit *k, enum req req, int x, int y)
{
	struct input in = { .req = req, .x = x, .y = y };

	free(console_screen(k)); /* where things are is known when they are drawn */
	shell_input(k->shell, &in, &k->s, &k->last);
}

/* The first line of the screen that has a text; its column in x. */
static int line_with(struct console_kit *k, const char *text, int *x)
{
	char *screen = console_screen(k), *at = strstr(screen, text);
	int y = 0;

	assert_non_null(at);
	for (const char *s = screen; s < at; s++)
		y += *s == '\n';
	while (at > screen && at[-1] != '\n' && ++*x)
		at--;
	free(screen);
	return y;
}

static void the_mouse_goes_to_what_it_points_at_in_every_pane(void **state)
{
	struct console_kit k;
	int x = 0, y, last = 0;
	uint32_t sw;

	(void)state;
	open_fabric(&k);
	console_size(&k, 100, 30);
	console_keys(&k, "4");
	console_key(&k, K_ENTER);
	/* the front panel: ports with links; a second click opens the link */
	y = line_with(&k, " odd", &x);
	sw = shell_context(k.shell)->sw;
	for (uint32_t c = k.fabric->chan_off[sw]; c < k.fabric->chan_off[sw + 1]; c++) {
		int port = k.fabric->chan_port[c];

		mouse(&k, REQ_CLICK, 6 + (port - 1) / 2 * 3, y + (port - 1) % 2);
		assert_int_equal(shell_context(k.shell)->chan, c);
		last = port;
	}
	mouse(&k, REQ_CLICK, 6 + (last - 1) / 2 * 3, y + (last - 1) % 2);
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	console_keys(&k, "4");
	/* LFT: a row, and again for its path; the wheel by three */
	console_key(&k, K_TAB);
	y = line_with(&k, "output port", &x);
	mouse(&k, REQ_CLICK, 10, y + 5);
	mouse(&k, REQ_WHEEL_DOWN, 10, y + 5);
	mouse(&k, REQ_WHEEL_UP, 10, y + 5);
	assert_int_equal(shell_view(k.shell), VIEW_SWITCHES);
	mouse(&k, REQ_CLICK, 10, y + 5);
	assert_int_equal(shell_view(k.shell), VIEW_PATHS);
	assert_true(shell_context(k.shell)->path.dlid > 0);
	console_keys(&k, "4");
	/* SL2VL: the line of the output port leads to the next one */
	console_key(&k, K_TAB);
	console_shows(&k, "output port 1 to");
	y = line_with(&k, "output port 1 to", &x);
	mouse(&k, REQ_CLICK, 10, y);
	console_shows(&k, "output port 2 to");
	mouse(&k, REQ_WHEEL_DOWN, 10, y);
	console_shows(&k, "output port 3 to");
	mouse(&k, REQ_WHEEL_UP, 10, y);
	console_shows(&k, "output port 2 to");
	/* lanes: a link, and again to open it */
	console_key(&k, K_TAB);
	y = line_with(&k, "VL0", &x);
	mouse(&k, REQ_CLICK, 10, y + 3);
	mouse(&k, REQ_CLICK, 10, y + 3);
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	assert_int_equal(shell_context(k.shell)->chan,
			 k.fabric->chan_off[k.fabric->chan_src[shell_context(k.shell)->chan]] + 2);
	console_close(&k);
}

static void no_size_is_too_small(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k);
	console_preview(&k, "sar");
	for (int w = 1; w < 240; w += 23)
		for (int h = 1; h < 70; h += 9) {
			console_size(&k, w, h);
			console_keys(&k, "4");
			console_key(&k, K_ENTER);
			for (int i = 0; i < 4; i++) {
				console_keys(&k, "jjlhvm");
				console_key(&k, K_TAB);
			}
			console_keys(&k, "uu");
		}
	console_close(&k);
}

/* Where it says the same as the name, in each row. */
static void descriptions_that_are_the_names_have_no_column(void **state)
{
	struct console_kit k;
	char *kept;

	(void)state;
	open_fabric(&k);
	console_size(&k, 200, 60);
	console_keys(&k, "4");
	console_shows(&k, "GUID");
	console_hides(&k, "description");
	kept = k.fabric->sw_desc[3];
	k.fabric->sw_desc[3] = (char[]){ "rack 7, upper half" };
	console_shows(&k, "description");
	console_shows(&k, "rack 7, upper half");
	k.fabric->sw_desc[3] = kept;
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_and_each_pane_in_three_sizes),
		cmocka_unit_test(without_fabric_or_tables_it_says_so),
		cmocka_unit_test(half_of_the_ports_silent),
		cmocka_unit_test(the_cursor_drills_to_links_and_neighbours),
		cmocka_unit_test(another_view_brings_its_switch),
		cmocka_unit_test(an_lft_is_searched_compared_and_leads_to_a_path),
		cmocka_unit_test(sl2vl_tables_in_their_three_forms),
		cmocka_unit_test(the_mouse_goes_to_what_it_points_at_in_every_pane),
		cmocka_unit_test(no_size_is_too_small),
		cmocka_unit_test(descriptions_that_are_the_names_have_no_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
