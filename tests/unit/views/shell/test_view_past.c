/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the frame says of a moment of the past. */
#include "tests/unit/kit/console_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 24, 16, 9, 4, 0 };

static void open_past(struct console_kit *k)
{
	struct state_history_at *h = &k->s.history_at;

	console_open(k, 100, 30);
	console_fabric(k, "fattree2:leaves=6,spines=3,hosts=6,fail=2,seed=3", jobs);
	*h = (struct state_history_at){ .on = true,
					.time_s = k->s.now_s - 60,
					.back = 30,
					.count = 200,
					.past = { .n = PAST_COLUMNS, .at = 33, .peak = 7 } };
	for (int i = 0; i < PAST_COLUMNS; i++)
		h->past.pct[i] = i == 7 ? 100 : i == 20 ? 255 : (uint8_t)(i * 2);
}

/* Column of the first cell of the bar. */
static int bar(struct console_kit *k)
{
	char *text = console_screen(k), *last = text;
	const char *at;
	int x;

	for (char *p = text; (p = strchr(p, '\n')) && p[1];)
		last = ++p;
	at = strstr(last, " past ");
	x = at ? (int)(at - last) + 6 : -1;
	free(text);
	return x;
}

static const struct cell *cell(const struct console_kit *k, int x)
{
	return &k->c->cell[(k->c->h - 1) * k->c->w + x];
}

static void a_bar_shows_where_one_is_and_the_peak(void **state)
{
	struct console_kit k;
	int x;

	(void)state;
	open_past(&k);
	k.s.history_at.past.marks = 1ull << 12;
	console_golden(&k, "past");
	x = bar(&k);
	assert_true(x > 0);
	assert_true(cell(&k, x + 33)->reverse);
	assert_int_equal(cell(&k, x + 7)->role, ROLE_BAD);
	assert_int_equal(cell(&k, x + 12)->role, ROLE_KEY);
	assert_int_equal(cell(&k, x + 20)->ch, ' '); /* nothing is known of then */
	console_close(&k);
}

static void it_is_there_only_where_there_is_room_and_a_past(void **state)
{
	struct console_kit k;

	(void)state;
	open_past(&k);
	assert_true(bar(&k) > 0);
	console_size(&k, 80, 24);
	assert_int_equal(bar(&k), -1);
	console_size(&k, 200, 60);
	assert_true(bar(&k) > 0);
	k.s.history_at.past.n = 0;
	assert_int_equal(bar(&k), -1);
	k.s.history_at.past.n = PAST_COLUMNS;
	k.s.history_at.on = false;
	assert_int_equal(bar(&k), -1);
	console_close(&k);
}

static void marks_peaks_and_speed_are_in_the_first_line(void **state)
{
	struct console_kit k;

	(void)state;
	open_past(&k);
	snprintf(k.s.history_at.mark, sizeof(k.s.history_at.mark), "storm");
	snprintf(k.s.history_at.peak, sizeof(k.s.history_at.peak), "peak util");
	k.s.history_at.play = 10;
	console_size(&k, 120, 30);
	console_shows(&k, "-30/200 storm peak util >10x (L: live)");
	k.s.history_at.kept = true;
	console_shows(&k, " storm >10x (L: live)");
	/* on narrow screens names leave as a whole, none is cut */
	console_size(&k, 80, 24);
	console_shows(&k, " hpc1 | routing minhop   ");
	console_size(&k, 60, 24);
	console_shows(&k, " hpc1  ");
	console_hides(&k, "| routing");
	k.s.sm.lost = true;
	console_size(&k, 80, 24);
	console_shows(&k, " hpc1 | SM LOST");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bar_shows_where_one_is_and_the_peak),
		cmocka_unit_test(it_is_there_only_where_there_is_room_and_a_past),
		cmocka_unit_test(marks_peaks_and_speed_are_in_the_first_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
