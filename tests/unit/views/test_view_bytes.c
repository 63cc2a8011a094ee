/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No key sends 10 kB, from whatever view to whatever view, where every port has a load of its own.
 */
#include "tests/unit/kit/console_moods.h"
#include "tests/unit/kit/line_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t few[] = { 300, 200, 128, 128, 64, 64, 32, 16, 9, 0 };
static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };

static const char *const views[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "t", "W" };
#define VIEWS (sizeof(views) / sizeof(*views))

static void open_busy(struct console_kit *k, const char *spec)
{
	console_open(k, 80, 24);
	console_fabric(k, spec, few);
	console_plans(k);
	line_make_busy(k);
}

/* From each view to each other one, and to the help and back. */
static void ways_between_views(struct line_kit *l)
{
	for (size_t a = 0; a < VIEWS; a++) {
		for (size_t b = 0; b < VIEWS; b++) {
			line_is_small(l, views[a]);
			line_is_small(l, views[b]);
		}
		line_is_small(l, "?");
		line_is_small(l, "?");
		line_is_small(l, "6");
		line_is_small(l, "e"); /* the options */
		line_is_small(l, "e");
	}
}

/* Moves, metrics, layouts, kinds of lines, zooms; and where these lead, to another view and back.
 */
static void ways_within_views(struct line_kit *l)
{
	for (size_t v = 0; v < VIEWS; v++)
		for (const char *m = "jGmmmmmmmvvvvvzzmk"; *m; m++) {
			line_is_small(l, views[v]);
			line_is_small(l, (char[]){ *m, 0 });
			line_is_small(l, v == 3 ? "3" : "4");
		}
}

static void small_fabrics(const char *spec)
{
	struct console_kit k;
	struct line_kit l;

	open_busy(&k, spec);
	for (int kind = 0; kind < LINE_KINDS; kind++) {
		line_open(&l, &k, (enum line_kind)kind, 200, 60);
		ways_between_views(&l);
		if (kind != LINE_TMUX)
			ways_within_views(&l);
		line_close(&l);
	}
	console_close(&k);
}

static void a_tree_on_every_terminal_and_size(void **state)
{
	struct console_kit k;
	struct line_kit l;

	(void)state;
	open_busy(&k, "fattree2:leaves=18,spines=18,hosts=18"); /* as the demo */
	for (int kind = 0; kind < LINE_KINDS; kind++)
		for (int i = kind ? 2 : 0; i < 3; i++) {
			line_open(&l, &k, (enum line_kind)kind, sizes[i][0], sizes[i][1]);
			ways_between_views(&l);
			if (i == 2)
				ways_within_views(&l);
			line_close(&l);
		}
	console_close(&k);
}

static void a_dragonfly(void **state)
{
	(void)state;
	small_fabrics("dragonfly:p=3");
}

static void a_hyperx(void **state)
{
	(void)state;
	small_fabrics("hyperx:dims=6x6");
}

static void nine_switches(void **state)
{
	(void)state;
	small_fabrics("fattree2:leaves=6,spines=3,hosts=6");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_on_every_terminal_and_size),
		cmocka_unit_test(a_dragonfly),
		cmocka_unit_test(a_hyperx),
		cmocka_unit_test(nine_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
