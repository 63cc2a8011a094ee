/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 2,064 switches on a screen: what it shows, and the bytes that a key sends. */
#include "console/app/terminal/screen_code.h"
#include "tests/unit/kit/console_kit.h"
#include "tests/unit/kit/console_moods.h"

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

static void as_xterm(struct screen_code *s)
{
	memset(s, 0, sizeof(*s));
	s->utf8 = s->erase_char = s->repeat = true;
	for (int i = 0; i < ROLE_COUNT; i++) {
		const struct role_style *l = role_style((enum role)i);

		if (l->fg >= 0)
			snprintf(s->role[i].fg, sizeof(s->role[i].fg), "38;5;%d", l->fg);
		if (l->bg >= 0)
			snprintf(s->role[i].bg, sizeof(s->role[i].bg), "48;5;%d", l->bg);
		s->role[i].bold = l->bold;
	}
}

static size_t key_bytes(struct console_kit *k, struct screen_code *code, struct cell *shown,
			const char *keys)
{
	const char *bytes;
	size_t n;

	console_keys(k, keys);
	shell_draw(k->shell, k->c, &k->s);
	n = screen_code_frame(code, &bytes, shown, 200, 60, k->c);
	print_message("\"%s\" at 200x60: %zu bytes\n", keys, n);
	return n;
}

/* From a full screen of another view, in lines of braille dots. */
static void keys_to_large_pictures_send_few_bytes(void **state)
{
	struct console_kit *k = *state;
	struct cell *shown = calloc(200 * 60, sizeof(*shown));
	struct screen_code code;

	as_xterm(&code);
	console_size(k, 200, 60);
	k->c->ascii = false;
	k->s.colours = 256;
	for (int i = 0; i < 200 * 60; i++)
		shown[i].ch = SCREEN_UNKNOWN;
	key_bytes(k, &code, shown, "3");
	assert_in_range(key_bytes(k, &code, shown, "t"), 2000, 9999);
	assert_in_range(key_bytes(k, &code, shown, "j"), 100, 9999);
	assert_in_range(key_bytes(k, &code, shown, "m"), 100, 9999);
	console_keys(k, "2vvvvv"); /* where half blocks are, all of it is in sight */
	key_bytes(k, &code, shown, "3");
	assert_in_range(key_bytes(k, &code, shown, "2"), 2000, 9999);
	console_golden(k, "heatmap-2064-halves");
	assert_in_range(key_bytes(k, &code, shown, "zz"), 2000, 10999);
	assert_in_range(key_bytes(k, &code, shown, "j"), 100, 9999);
	screen_code_done(&code);
	free(shown);
}

/* Utilisation of each port so that hardly two neighbours are alike, and histories that are full. */
static void make_busy(struct console_kit *k)
{
	uint32_t x = 12345;

	for (uint32_t i = 0; i < k->rates->nport; i++) {
		x = x * 1664525 + 1013904223;
		k->rates->port[i].util_pct = 1 + (double)(x >> 16) / 662;
		k->rates->port[i].wait_pct = (double)(x >> 8 & 0xff) / 4;
	}
	for (int i = 0; i < HISTORY_LEN; i++)
		history_push(k->history, k->fabric, k->rates);
}

struct budget {
	struct console_kit *k;
	struct screen_code code;
	struct cell *shown;
};

static void open_budget(struct budget *b, struct console_kit *k)
{
	*b = (struct budget){ .k = k, .shown = calloc(200 * 60, sizeof(*b->shown)) };
	as_xterm(&b->code);
	console_size(k, 200, 60);
	k->c->ascii = false;
	k->s.colours = 256;
	for (int i = 0; i < 200 * 60; i++)
		b->shown[i].ch = SCREEN_UNKNOWN;
	console_keys(k, "8");
	key_bytes(k, &b->code, b->shown, "");
}

static void close_budget(struct budget *b)
{
	screen_code_done(&b->code);
	free(b->shown);
}

static void is_small(struct budget *b, const char *keys)
{
	assert_in_range(key_bytes(b->k, &b->code, b->shown, keys), 0, 9999);
}

/* In the layout shown: to each metric of it, moves in it, and to each view and back. */
static void keys_in_a_layout_are_small(struct budget *b)
{
	for (const char *m = "mmmmmmmmjlGg"; *m; m++)
		is_small(b, (char[]){ *m, 0 });
	for (const char *v = "134567890tW"; *v; v++) {
		is_small(b, (char[]){ *v, 0 });
		is_small(b, "2");
	}
}

/* In a terminal with 256 colours, from whatever is shown. */
static void every_view_and_layout_sends_less_than_10_kB(void **state)
{
	struct budget b;

	open_budget(&b, *state);
	for (int busy = 0; busy < 2; busy++) {
		if (busy)
			make_busy(b.k);
		is_small(&b, "2");
		for (int i = 0; i < LAYOUTS; i++) {
			is_small(&b, "v");
			keys_in_a_layout_are_small(&b);
		}
	}
	close_budget(&b);
}

/* Of fabrics of a few switches there are more rows, and what jobs have of them; from a page with
 * little on it. */
static void lists_of_few_switches_send_less_than_10_kB(void **state)
{
	static const uint32_t few[] = { 300, 200, 128, 128, 64, 64, 32, 16, 9, 0 };
	static const char *const specs[] = { "fattree2:leaves=18,spines=18,hosts=18",
					     "dragonfly:p=3" };
	struct console_kit k;
	struct budget b;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		console_open(&k, 80, 24);
		console_fabric(&k, specs[i], few);
		open_budget(&b, &k);
		make_busy(&k);
		for (const char *v = "18281"; *v; v++)
			is_small(&b, (char[]){ *v, 0 });
		close_budget(&b);
		console_close(&k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(screens_of_the_overview),
		cmocka_unit_test(screens_of_links_and_jobs),
		cmocka_unit_test(every_matrix_of_the_heatmap),
		cmocka_unit_test(keys_to_large_pictures_send_few_bytes),
		cmocka_unit_test(screens_of_the_preview),
		cmocka_unit_test(lists_of_few_switches_send_less_than_10_kB),
		/* the last: makes all ports busy */
		cmocka_unit_test(every_view_and_layout_sends_less_than_10_kB),
	};

	return cmocka_run_group_tests(tests, make_large, drop_large);
}
