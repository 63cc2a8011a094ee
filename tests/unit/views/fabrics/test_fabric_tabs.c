/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line of several fabrics, and what ':fabric' and the mouse mean by it. */
#include "views/fabrics/fabric_tabs.h"
#include "views/shell/shell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct state_fabrics three(void)
{
	return (struct state_fabrics){
		.n = 3,
		.at = 1,
		.tab = { { "compute", FABRIC_BAD, "lost", false },
			 { "storage", FABRIC_WELL, "well", false },
			 { "test", FABRIC_WARN, "routing", true } },
	};
}

static void shows(const struct state_fabrics *f, int w, const char *want)
{
	struct canvas *c = canvas_new(w, 1, true);
	char *text;

	canvas_clear(c);
	fabric_tabs_draw(c, f);
	text = canvas_dump(c);
	text[strcspn(text, "\n")] = '\0';
	assert_string_equal(text, want);
	free(text);
	canvas_free(c);
}

static void each_tab_has_a_name_and_a_verdict(void **state)
{
	struct state_fabrics f = three();

	(void)state;
	shows(&f, 80, " compute: lost [storage: well] test: UPDATE");
	f.at = 2;
	f.tab[2].updating = false;
	shows(&f, 80, " compute: lost  storage: well [test: routing]");
}

static void a_narrow_line_keeps_every_tab_and_its_mark(void **state)
{
	struct state_fabrics f = three();

	(void)state;
	shows(&f, 30, " compute! [storage ] test*");
	shows(&f, 18, " com! [sto ] tes*");
}

static void a_place_on_the_line_is_the_tab_that_is_drawn_there(void **state)
{
	struct state_fabrics f = three();

	(void)state;
	for (int w = 10; w <= 80; w++) {
		struct canvas *c = canvas_new(w, 1, true);

		canvas_clear(c);
		fabric_tabs_draw(c, &f);
		for (int x = 0; x < w; x++) {
			uint32_t at = fabric_tabs_at(&f, w, x);

			if (c->cell[x].ch == '[' || c->cell[x].ch == ']')
				assert_int_equal(at, f.at);
			if (c->cell[x].ch == '*')
				assert_int_equal(at, 2);
		}
		canvas_free(c);
	}
	assert_int_equal(fabric_tabs_at(&f, 80, 70), f.n);
	assert_int_equal(fabric_tabs_at(&f, 80, 3), 0);
}

static void a_fabric_is_found_by_name_beginning_and_side(void **state)
{
	struct state_fabrics f = three();

	(void)state;
	assert_int_equal(fabric_tabs_find(&f, "test"), 2);
	assert_int_equal(fabric_tabs_find(&f, "comp"), 0);
	assert_int_equal(fabric_tabs_find(&f, "x"), f.n);
	assert_int_equal(fabric_tabs_find(&f, ""), 2);
	assert_int_equal(fabric_tabs_find(&f, "next"), 2);
	assert_int_equal(fabric_tabs_find(&f, "previous"), 0);
	f.at = 2;
	assert_int_equal(fabric_tabs_find(&f, "next"), 0);
	snprintf(f.tab[1].name, sizeof(f.tab[1].name), "computer");
	assert_int_equal(fabric_tabs_find(&f, "comp"), f.n);
	assert_int_equal(fabric_tabs_find(&f, "compute"), 0);
}

static void a_fabric_that_has_ended_is_passed_over(void **state)
{
	struct state_fabrics f = three();

	(void)state;
	f.tab[2].level = FABRIC_ENDED;
	assert_int_equal(fabric_tabs_find(&f, "next"), 0);
	f.tab[0].level = FABRIC_ENDED;
	assert_int_equal(fabric_tabs_find(&f, "next"), f.at);
	assert_int_equal(fabric_tabs_find(&f, "previous"), f.at);
}

static void each_verdict_has_a_word_that_fits(void **state)
{
	enum fabric_level level = FABRIC_ENDED;

	(void)state;
	for (int k = 0; k < HEAD_KINDS; k++) {
		const char *word = fabric_tabs_word((enum headline_kind)k, &level);

		assert_non_null(word);
		assert_in_range(strlen(word), 1, FABRIC_WORD - 1);
		assert_int_not_equal(level, FABRIC_ENDED);
	}
	assert_string_equal(fabric_tabs_word(HEAD_WELL, &level), "well");
	assert_int_equal(level, FABRIC_WELL);
	fabric_tabs_word(HEAD_LOST, &level);
	assert_int_equal(level, FABRIC_BAD);
	fabric_tabs_word(HEAD_ROUTING, &level);
	assert_int_equal(level, FABRIC_WARN);
	fabric_tabs_word(HEAD_UNKNOWN, &level);
	assert_int_equal(level, FABRIC_UNKNOWN);
}

/* --- within the screen ------------------------------------------------------------------------ */

static char *screen(struct shell *shell, const struct state *s, int w, int h)
{
	struct canvas *c = canvas_new(w, h, true);
	char *text;

	shell_draw(shell, c, s);
	text = canvas_dump(c);
	canvas_free(c);
	return text;
}

static void one_fabric_shows_what_it_showed_and_several_a_line_above(void **state)
{
	struct state_fabrics f = three();
	struct shell *shell = shell_new(NULL, 0);
	char *alone, *same, *below;
	struct state s;

	(void)state;
	state_init(&s);
	alone = screen(shell, &s, 80, 24);
	f.n = 1;
	s.fabrics = &f;
	same = screen(shell, &s, 80, 24);
	assert_string_equal(same, alone);
	f.n = 3;
	below = screen(shell, &s, 80, 25);
	assert_ptr_equal(strstr(below, " compute: lost [storage: well]"), below);
	assert_string_equal(strchr(below, '\n') + 1, alone);
	free(below);
	below = screen(shell, &s, 80, 24);
	assert_null(strstr(below, "too small"));
	free(below);
	free(same);
	free(alone);
	shell_free(shell);
}

static void clicked(struct shell *shell, const struct state *s, int x, int y, struct request *out)
{
	const struct input in = { .req = REQ_CLICK, .x = x, .y = y };

	shell_input(shell, &in, s, out);
}

static void a_click_on_a_tab_asks_for_its_fabric_and_others_are_of_the_view(void **state)
{
	struct state_fabrics f = three();
	struct shell *shell = shell_new(NULL, 0);
	struct request r;
	struct state s;

	(void)state;
	state_init(&s);
	s.fabrics = &f;
	free(screen(shell, &s, 80, 24));
	clicked(shell, &s, 3, 0, &r);
	assert_int_equal(r.type, REQ_FABRIC);
	assert_string_equal(r.text, "compute");
	clicked(shell, &s, 20, 0, &r); /* the one that is there */
	assert_int_equal(r.type, REQ_NONE);
	clicked(shell, &s, 10, 2, &r); /* a tab of views, a line lower than with one fabric */
	assert_int_equal(r.type, REQ_VIEW);
	assert_int_equal(shell_view(shell), VIEW_HEATMAP);
	shell_free(shell);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_tab_has_a_name_and_a_verdict),
		cmocka_unit_test(a_narrow_line_keeps_every_tab_and_its_mark),
		cmocka_unit_test(a_place_on_the_line_is_the_tab_that_is_drawn_there),
		cmocka_unit_test(a_fabric_is_found_by_name_beginning_and_side),
		cmocka_unit_test(a_fabric_that_has_ended_is_passed_over),
		cmocka_unit_test(each_verdict_has_a_word_that_fits),
		cmocka_unit_test(one_fabric_shows_what_it_showed_and_several_a_line_above),
		cmocka_unit_test(a_click_on_a_tab_asks_for_its_fabric_and_others_are_of_the_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
