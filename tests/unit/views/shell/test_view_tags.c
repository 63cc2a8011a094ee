/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is tagged in one table is seen in every other view. */
#include "tests/unit/kit/console_kit.h"

#include "fabric/format/site/pin_text.h"
#include "views/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 0 };

static void open_fabric(struct console_kit *k, bool colours)
{
	console_open(k, 100, 30);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9", jobs);
	if (!colours)
		return;
	canvas_free(k->c);
	k->c = canvas_new(100, 30, false);
	k->s.colours = 256;
}

static uint32_t count(struct console_kit *k, const char *text)
{
	char *screen = console_screen(k);
	uint32_t n = 0;

	for (const char *at = screen; (at = strstr(at, text)); at++)
		n++;
	free(screen);
	return n;
}

static void a_tagged_link_is_seen_everywhere_in_any_look(void **state)
{
	(void)state;
	for (int colours = 0; colours < 2; colours++) {
		struct console_kit k;
		uint32_t chan;

		open_fabric(&k, colours);
		console_keys(&k, "3 ");
		console_shows(&k, "tagged: 1");
		chan = FAB_NONE;
		for (uint32_t c = 0; c < k.fabric->nchan; c++)
			if (tags_chan(&shell_context(k.shell)->tags, c) && chan == FAB_NONE)
				chan = c;
		assert_int_not_equal(chan, FAB_NONE);
		assert_true(tags_chan(&shell_context(k.shell)->tags, k.fabric->chan_rev[chan]));
		/* the hottest link is tagged: first of the hot ones, and in its small heatmap */
		console_keys(&k, "1");
		assert_true(count(&k, "\n +") + count(&k, "\n>+") >= 1);
		console_keys(&k, "2");
		console_shows(&k, "> + tagged");
		assert_true(count(&k, ">") >= 3); /* legend, cursor's row and the cell */
		console_keys(&k, "t");
		assert_true(count(&k, ">") >= 1);
		/* none any more */
		console_keys(&k, "3");
		console_keys(&k, ":untag");
		console_key(&k, K_ENTER);
		console_keys(&k, "2");
		console_hides(&k, "> + tagged");
		console_close(&k);
	}
}

static void a_tagged_switch_is_seen_in_heatmap_and_topology(void **state)
{
	struct console_kit k;
	char name[NAME_LEN], text[NAME_LEN + 2];
	uint32_t sw;

	(void)state;
	open_fabric(&k, false);
	console_keys(&k, "4 ");
	for (sw = 0; sw < k.fabric->nsw && !tags_switch(&shell_context(k.shell)->tags, sw); sw++)
		;
	assert_int_not_equal(sw, k.fabric->nsw);
	console_keys(&k, "t");
	switch_label(name, sizeof(name), k.fabric, sw);
	assert_true(count(&k, ">") >= 1);
	console_keys(&k, "2");
	console_shows(&k, "> + tagged");
	snprintf(text, sizeof(text), "%s +", name);
	if (!k.fabric->sw_nterm[sw])
		snprintf(text, sizeof(text), "+");
	console_shows(&k, text);
	console_golden(&k, "heatmap-tagged");
	console_keys(&k, "t");
	console_golden(&k, "topology-tagged");
	console_close(&k);
}

static void exclude(struct console_kit *k, const char *list)
{
	snprintf(shell_context(k->shell)->options.text[PARAM_EXCLUDE], PATH_TEXT, "%s", list);
}

static const char *excluded(struct console_kit *k)
{
	return shell_context(k->shell)->options.text[PARAM_EXCLUDE];
}

static const char *pinned(struct console_kit *k)
{
	return shell_context(k->shell)->options.text[PARAM_PIN];
}

/* As the form of options would have it typed; what the engine makes of it is pin's. */
static void hosts_of_tagged_rows_are_pinned_and_that_is_undone(void **state)
{
	struct console_kit k;
	struct route_limits *l = NULL;
	struct err err;
	char list[PATH_TEXT];
	uint32_t n = 0;

	(void)state;
	open_fabric(&k, false);
	console_keys(&k, "4:sort name\rg:pin\r"); /* the one under the cursor */
	console_shows(&k, "the next preview (6) leaves the paths to n");
	assert_int_equal(route_limits_pin(&l, k.fabric, NULL, pinned(&k), &err), 0);
	for (uint32_t t = 0; t < k.fabric->nterm; t++) {
		assert_int_equal(l->pin[t], k.fabric->term_sw[t] == k.fabric->term_sw[0]);
		n += l->pin[t];
	}
	assert_int_equal(n, k.fabric->sw_nterm[k.fabric->term_sw[0]]);
	route_limits_free(l);
	snprintf(list, sizeof(list), "%s", pinned(&k));
	console_keys(&k, "g  :pin\r"); /* one of the two was pinned before */
	assert_string_not_equal(pinned(&k), list);
	console_keys(&k, ":pin\r"); /* all of them were */
	console_shows(&k, "no host is pinned");
	assert_string_equal(pinned(&k), "");
	/* by name, of a job, and mistakes */
	console_keys(&k, ":pin n0002\r:pin n0001\r");
	assert_string_equal(pinned(&k), "n[0001-0002]");
	console_keys(&k, ":pin leaf01\r");
	console_shows(&k, "leaf01 is a switch");
	assert_string_equal(pinned(&k), "n[0001-0002]");
	console_keys(&k, ":pin none\r5g:pin\r");
	assert_string_not_equal(pinned(&k), "");
	console_keys(&k, ":pin none\r3:pin\r"); /* links have no hosts */
	console_shows(&k, "pin HOST or job:1234");
	assert_string_equal(pinned(&k), "");
	console_close(&k);
}

static void tagged_switches_are_excluded_together_and_that_is_undone(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, false);
	exclude(&k, "leaf01");
	console_keys(&k, "4:sort name");
	console_key(&k, K_ENTER);
	console_keys(&k, "g   "); /* also leaf01, which was excluded before */
	console_shows(&k, "tagged: 3");
	console_keys(&k, "GX");
	console_shows(&k, "3 tagged rows excluded (X: undo); the next preview (6) routes around ");
	assert_string_equal(excluded(&k), "leaf[01-03]");
	console_keys(&k, "X");
	console_shows(&k, "3 tagged rows no longer excluded");
	assert_string_equal(excluded(&k), "leaf01");
	/* all of them were before: they are taken out */
	exclude(&k, "leaf[01-04]");
	console_keys(&k, "X");
	assert_string_equal(excluded(&k), "leaf04");
	console_shows(&k, "routes around leaf04");
	/* without tags it is the row again */
	console_key(&k, K_CTRL('t'));
	exclude(&k, "");
	console_keys(&k, "gX");
	assert_string_equal(excluded(&k), "leaf01");
	console_close(&k);
}

/* A filter hides rows, and takes no tag away. */
static void tagged_cables_count_also_where_a_filter_hides_them(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, false);
	console_keys(&k, "3  ");
	console_keys(&k, "/nothing is called so");
	console_key(&k, K_ENTER);
	console_keys(&k, ":exclude");
	console_key(&k, K_ENTER);
	console_shows(&k, "2 tagged rows excluded (X: undo)");
	assert_non_null(strchr(excluded(&k), '/'));
	console_keys(&k, "X");
	console_shows(&k, "routes around nothing");
	console_close(&k);
}

static void names_of_tagged_rows_are_copied_together(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, false);
	console_keys(&k, "4:sort name");
	console_key(&k, K_ENTER);
	console_keys(&k, "gy");
	assert_int_equal(k.last.type, REQ_COPY);
	assert_null(k.last.names);
	assert_string_equal(k.last.text, "leaf01");
	console_keys(&k, "  y");
	assert_int_equal(k.last.nnames, 2);
	assert_string_equal(k.last.names, "leaf01\nleaf02\n");
	console_close(&k);
}

static void what_cannot_be_excluded_is_told(void **state)
{
	struct console_kit k;

	(void)state;
	open_fabric(&k, false);
	console_keys(&k, "4");
	console_keys(&k, ":goto leaf03");
	console_key(&k, K_ENTER);
	console_key(&k, K_ENTER);
	console_keys(&k, "g X"); /* the port of a host */
	console_shows(&k, "no tagged row is a switch or a cable between switches");
	console_keys(&k, "G X");
	console_shows(&k, "1 tagged row excluded, 1 cannot be (X: undo)");
	console_close(&k);
}

static void a_tagged_job_is_marked_in_the_overview(void **state)
{
	struct console_kit k;
	char text[32];

	(void)state;
	open_fabric(&k, false);
	console_keys(&k, "5 ");
	console_keys(&k, "1");
	for (uint32_t i = 0; i < k.jobs->njob; i++) {
		snprintf(text, sizeof(text), "+%llu ", (unsigned long long)k.jobs->jobs[i].id);
		assert_int_equal(count(&k, text),
				 tags_job(&shell_context(k.shell)->tags, k.jobs->jobs[i].id));
	}
	console_close(&k);
}

static void another_fabric_keeps_the_tags_of_what_it_still_has(void **state)
{
	struct console_kit k, was;
	uint64_t guid = 0;

	(void)state;
	open_fabric(&k, false);
	console_keys(&k, "4 ");
	for (uint32_t sw = 0; sw < k.fabric->nsw; sw++)
		if (tags_switch(&shell_context(k.shell)->tags, sw))
			guid = k.fabric->sw_guid[sw];
	assert_true(guid);
	was = k;
	k.rates = NULL;
	was.shell = NULL;
	was.c = NULL;
	console_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=3", jobs);
	free(console_screen(&k));
	for (uint32_t sw = 0; sw < k.fabric->nsw; sw++)
		assert_int_equal(tags_switch(&shell_context(k.shell)->tags, sw),
				 k.fabric->sw_guid[sw] == guid);
	console_close(&was);
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tagged_link_is_seen_everywhere_in_any_look),
		cmocka_unit_test(a_tagged_switch_is_seen_in_heatmap_and_topology),
		cmocka_unit_test(hosts_of_tagged_rows_are_pinned_and_that_is_undone),
		cmocka_unit_test(tagged_switches_are_excluded_together_and_that_is_undone),
		cmocka_unit_test(tagged_cables_count_also_where_a_filter_hides_them),
		cmocka_unit_test(names_of_tagged_rows_are_copied_together),
		cmocka_unit_test(what_cannot_be_excluded_is_told),
		cmocka_unit_test(a_tagged_job_is_marked_in_the_overview),
		cmocka_unit_test(another_fabric_keeps_the_tags_of_what_it_still_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
