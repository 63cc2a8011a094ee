/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 2,064 switches on a screen: what it shows, and the bytes that a key sends. */
#include "tests/unit/kit/console_kit.h"
#include "tests/unit/kit/console_moods.h"
#include "tests/unit/kit/line_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t big[] = { 2048, 1024, 1000, 512, 512, 300, 128, 64, 0 };
static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };

static int make_large(void **state)
{
	struct console_kit *k = calloc(1, sizeof(*k));

	console_open(k, 80, 24);
	k->quick = true;
	console_fabric(k, "dragonfly:p=8", big);
	*state = k;
	return k->fabric->nsw == 2064 ? 0 : -1;
}

static int drop_large(void **state)
{
	console_close(*state);
	free(*state);
	return 0;
}

#define LAYOUTS 5 /* of the heatmap of groups */

static void screens_of_the_preview(void **state)
{
	struct console_kit *k = *state;

	console_plans(k);
	console_size(k, 80, 24);
	console_keys(k, "6");
	console_golden(k, "preview-2064");
}

static void screens_of_the_overview(void **state)
{
	struct console_kit *k = *state;

	console_keys(k, "1");
	for (int i = 0; i < 3; i++) {
		console_size(k, sizes[i][0], sizes[i][1]);
		console_golden(k, "overview-2064");
	}
}

static void screens_of_links_and_jobs(void **state)
{
	struct console_kit *k = *state;

	for (int i = 0; i < 3; i++) {
		console_size(k, sizes[i][0], sizes[i][1]);
		console_keys(k, "3");
		console_golden(k, "links-2064");
		console_keys(k, "5");
		console_golden(k, "jobs-2064");
	}
}

static void every_matrix_of_the_heatmap(void **state)
{
	struct console_kit *k = *state;

	console_keys(k, "2");
	for (int i = 0; i < 3; i++) {
		console_size(k, sizes[i][0], sizes[i][1]);
		console_golden(k, "heatmap-2064");
	}
	for (uint32_t plane = 0; plane < LAYOUTS; plane++) {
		for (const char *m = "mmmmmmmm"; *m; m++) {
			free(console_screen(k));
			console_keys(k, "m");
		}
		console_keys(k, "v");
	}
}

/* From a full screen of another view, in lines of braille dots. */
static void keys_to_large_pictures_send_few_bytes(void **state)
{
	struct console_kit *k = *state;
	struct line_kit l;

	for (int kind = 0; kind < LINE_TRUE; kind++) {
		line_open(&l, k, (enum line_kind)kind, 200, 60);
		line_bytes(&l, "3");
		assert_in_range(line_bytes(&l, "t"), 2000, LINE_BUDGET);
		for (const char *key = "jmvvvvzjmvvvv"; *key; key++)
			line_is_small(&l, (char[]){ *key, 0 });
		console_keys(k, "2vvvvv"); /* where half blocks are, all of it is in sight */
		line_bytes(&l, "3");
		assert_in_range(line_bytes(&l, "2"), 2000, LINE_BUDGET);
		if (kind == LINE_XTERM)
			console_golden(k, "heatmap-2064-halves");
		assert_in_range(line_bytes(&l, "zz"), 2000, 10999);
		assert_in_range(line_bytes(&l, "j"), 100, LINE_BUDGET);
		line_close(&l);
	}
}

/* In the layout shown: to each metric of it, moves in it, and to each view and back. */
static void keys_in_a_layout_are_small(struct line_kit *l)
{
	for (const char *m = "mmmmmmmmjlGg"; *m; m++)
		line_is_small(l, (char[]){ *m, 0 });
	for (const char *v = "134567890tW"; *v; v++) {
		line_is_small(l, (char[]){ *v, 0 });
		line_is_small(l, "2");
	}
}

/* In a terminal with 256 colours, from whatever is shown. */
static void every_view_and_layout_sends_less_than_10_kB(void **state)
{
	struct line_kit l;

	line_open(&l, *state, LINE_XTERM, 200, 60);
	line_bytes(&l, "8");
	for (int busy = 0; busy < 2; busy++) {
		if (busy)
			line_make_busy(l.k);
		line_is_small(&l, "2");
		for (int i = 0; i < LAYOUTS; i++) {
			line_is_small(&l, "v");
			keys_in_a_layout_are_small(&l);
		}
	}
	line_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(screens_of_the_overview),
		cmocka_unit_test(screens_of_links_and_jobs),
		cmocka_unit_test(every_matrix_of_the_heatmap),
		cmocka_unit_test(keys_to_large_pictures_send_few_bytes),
		cmocka_unit_test(screens_of_the_preview),
		/* the last: makes all ports busy */
		cmocka_unit_test(every_view_and_layout_sends_less_than_10_kB),
	};

	return cmocka_run_group_tests(tests, make_large, drop_large);
}
