/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of events: counts, what is new, what an event names, and the cursor that stays. */
#include "tests/unit/kit/console_kit.h"

#include "views/data/state/event_ref.h"
#include "views/events/event_line.h"
#include "views/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };
static const uint32_t jobs[] = { 48, 31, 24, 16, 0 };

static void tree(struct console_kit *k)
{
	console_open(k, 80, 24);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	console_event(k, LOG_INFO, "sweep", "27 switches and 162 hosts found in 0.4 s");
	console_event(k, LOG_WARN, "pma", "leaf03/14 gave no reply to 3 polls");
	console_event(k, LOG_ERROR, "sm", "the subnet manager at LID 1 does not answer");
	console_event(k, LOG_WARN, "jobs", "job 81207 ended with NODE_FAIL: n0031 is down");
	console_keys(k, "8");
}

static struct event_ref ref(const struct console_kit *k, const char *text)
{
	struct event_ref out;

	event_ref_find(&out, &k->s, text);
	return out;
}

static void events_name_links_switches_hosts_and_jobs(void **state)
{
	struct console_kit k;
	struct event_ref r;

	(void)state;
	tree(&k);
	r = ref(&k, "watch: errors: leaf03/14, symbol +812");
	assert_int_equal(r.kind, REF_CHAN);
	assert_string_equal(k.fabric->sw_name[k.fabric->chan_src[r.at]], "leaf03");
	assert_int_equal(k.fabric->chan_port[r.at], 14);
	r = ref(&k, "Is (spine2) there?");
	assert_int_equal(r.kind, REF_SWITCH);
	assert_string_equal(k.fabric->sw_name[r.at], "spine2");
	r = ref(&k, "leaf03/1 belongs to a host");
	assert_int_equal(r.kind, REF_SWITCH);
	r = ref(&k, "ping n0031: no answer");
	assert_int_equal(r.kind, REF_TERM);
	r = ref(&k, "job 81207 ended, n0031");
	assert_int_equal(r.kind, REF_JOB);
	assert_int_equal(r.job, 81207);
	r = ref(&k, "81207 blocks; job 999 unknown; leaf99/1 / 12/ leaf03/999 ...");
	assert_int_equal(r.kind, REF_NONE);
	r = ref(&k, "");
	assert_int_equal(r.kind, REF_NONE);
	k.s.fabric = NULL;
	r = ref(&k, "leaf03/14");
	assert_int_equal(r.kind, REF_NONE);
	k.s.fabric = k.fabric;
	console_close(&k);
}

static void enter_leads_to_what_an_event_names(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "events-named");
	}
	console_size(&k, 80, 24);
	console_shows(&k, "Enter: job 81207");
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_JOBS);
	assert_int_equal(shell_context(k.shell)->job.id, 81207);
	console_key(&k, '8');
	console_keys(&k, "j");
	console_hides(&k, "Enter: ");
	console_key(&k, K_ENTER);
	console_shows(&k, "names no link");
	console_keys(&k, "j");
	console_shows(&k, "Enter: link leaf03/14");
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	assert_int_equal(k.fabric->chan_port[shell_context(k.shell)->chan], 14);
	console_close(&k);
}

/* On large screens: what is named as it is now, those before, and counts by area. */
static void large_screens_tell_more_about_the_selected_event(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_event(&k, LOG_INFO, "pma", "leaf03/14: it answers again");
	console_event(&k, LOG_WARN, "pma", "leaf03/1 and leaf03/144 are others");
	console_event(&k, LOG_WARN, "pma", "leaf03/14: no reply to 3 polls");
	console_size(&k, 200, 60);
	console_keys(&k, "g");
	console_shows(&k, "Now: link leaf03/14 -> spine");
	console_shows(&k, "EFI ");
	console_shows(&k, "2 events before it that name leaf03/14");
	console_shows(&k, "pma             0         3       1");
	console_golden(&k, "events-about");
	console_keys(&k, "j");
	console_shows(&k, "Now: switch leaf03");
	console_shows(&k, "0 ports with a problem");
	console_keys(&k, "jj");
	console_shows(&k, "Now: job 81207");
	console_shows(&k, "31 hosts on ");
	console_shows(&k, "No event before it names the same");
	console_event(&k, LOG_WARN, "ping", "n0031: no answer");
	console_keys(&k, "g");
	console_shows(&k, "Now: host n0031");
	console_shows(&k, "jobs 812");
	console_shows(&k, "1 event before it that names n0031");
	console_size(&k, 139, 60);
	console_hides(&k, "before it that names");
	/* of another fabric, which has no such switch */
	console_size(&k, 200, 60);
	console_keys(&k, "j");
	k.s.fabric = NULL;
	console_shows(&k, "Now: it names no link");
	k.s.fabric = k.fabric;
	console_close(&k);
}

static void severities_are_counted_and_filtered(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_shows(&k, "1 error, 2 warnings, 1 other");
	console_keys(&k, "!");
	console_shows(&k, "warnings and errors only");
	console_hides(&k, "27 switches");
	console_keys(&k, "/pma");
	console_key(&k, K_ENTER);
	console_hides(&k, "subnet manager at");
	console_shows(&k, "gave no reply");
	console_close(&k);
}

/* Whatever the row has lost of it, the lines below have it all, broken between words. */
static void a_long_event_is_readable_to_its_last_word(void **state)
{
	char text[300] = "", word[16], *screen, *at;
	struct console_kit k;

	(void)state;
	tree(&k);
	for (int i = 0; strlen(text) < 280; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%sword%02d",
			 i ? " " : "", i);
	console_event(&k, LOG_WARN, "links", text);
	console_keys(&k, "8g");
	screen = console_screen(&k);
	at = strstr(screen, "-- "); /* the table; then what is selected */
	at = strstr(at, " ago: ");
	assert_non_null(at);
	for (int i = 0; i < 35; i++) {
		snprintf(word, sizeof(word), "word%02d", i);
		assert_non_null(strstr(at, word));
	}
	free(screen);
	console_shows(&k, " .. "); /* in the row, between words */
	console_keys(&k, "1");
	console_shows(&k, "word00 word01 ");
	console_shows(&k, " .. ");
	console_close(&k);
}

static void command(struct console_kit *k, const char *line)
{
	console_keys(k, ":");
	console_keys(k, line);
	console_key(k, K_ENTER);
}

static void the_log_is_sorted_searched_and_tagged_as_other_tables(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	command(&k, "sort severity");
	console_shows(&k, "by level");
	console_shows(&k, ">    "); /* the error is first */
	console_shows(&k, "does not answer");
	console_keys(&k, " ");
	console_shows(&k, "tagged: 1");
	console_keys(&k, "T");
	console_shows(&k, "(tagged)");
	console_hides(&k, "gave no reply");
	console_key(&k, K_ESC);
	command(&k, "find NODE_FAIL");
	console_shows(&k, "Enter: job 81207");
	command(&k, "filter severity>=2 not area=sm");
	console_shows(&k, "2 of 4 events");
	command(&k, "filter level=warn text~'no reply'");
	command(&k, "filter level=nothing");
	console_shows(&k, "none of 4 events matches");
	command(&k, "filter");
	command(&k, "columns text,ts");
	console_hides(&k, "severity");
	console_shows(&k, "4 events");
	console_close(&k);
}

static void on_the_newest_one_stays_on_the_newest(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "jg");
	console_event(&k, LOG_WARN, "jobs", "job 81207 is back");
	console_shows(&k, "warn, jobs");
	console_event(&k, LOG_ERROR, "sm", "and gone again");
	console_shows(&k, "error, sm");
	console_close(&k);
}

static void what_came_since_the_last_visit_is_marked(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_hides(&k, "new");
	console_keys(&k, "1");
	k.s.now_s += 60;
	console_event(&k, LOG_INFO, "plan", "a plan was computed");
	console_keys(&k, "8");
	console_shows(&k, "* 1 new");
	console_golden(&k, "events-new");
	k.s.now_s += 1;
	console_shows(&k, "* 1 new"); /* as long as one looks */
	console_keys(&k, "1");
	k.s.now_s += 60;
	console_keys(&k, "8");
	console_hides(&k, "new");
	console_close(&k);
}

static void the_cursor_stays_on_its_event(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "jj");
	console_shows(&k, "Enter: link leaf03/14");
	console_event(&k, LOG_INFO, "plan", "another one");
	console_shows(&k, "Enter: link leaf03/14");
	console_keys(&k, "g");
	console_event(&k, LOG_INFO, "plan", "the newest of all");
	console_keys(&k, "k");
	console_shows(&k, ">");
	console_close(&k);
}

/* The value is what is read; the limits stand in the settings, and names may be shorter. */
static void a_narrow_line_keeps_what_was_measured(void **state)
{
	static const char said[] =
		"leaf10/33 -> spine15/10: util 75%, wait 12% for 60 s (limits 50%, 1%)";
	static const char wide[] = "A09-P1-IBLEAF-01-01/33 -> A10-P1-IBSPINE-01/1: util 100%, "
				   "wait 12% for 60 s (limits 95%, 20%)";
	struct console_kit k;
	char buf[256];

	(void)state;
	assert_string_equal(event_text(buf, sizeof(buf), said, 80), said);
	assert_string_equal(event_text(buf, sizeof(buf), said, 53),
			    "leaf10/33 -> spine15/10: util 75%, wait 12% for 60 s");
	assert_string_equal(event_text(buf, sizeof(buf), said, 48),
			    "leaf10/33 -> spine15/10: util 75%, wait 12%");
	assert_string_equal(event_text(buf, sizeof(buf), wide, 48),
			    "A09-P..1/33 -> A10-P..-01/1: util 100%, wait 12%");
	assert_string_equal(event_text(buf, sizeof(buf), "3 ports are silent (leaf1/3)", 24),
			    "3 ports are silent");
	assert_string_equal(event_text(buf, sizeof(buf), "cannot write: no space left", 24),
			    "cannot write: .. left");
	tree(&k);
	console_event(&k, LOG_WARN, "links", wide);
	console_shows(&k, "util 100%, wait 12%");
	console_keys(&k, "1");
	console_shows(&k, "util 100%, wait 12%");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_name_links_switches_hosts_and_jobs),
		cmocka_unit_test(enter_leads_to_what_an_event_names),
		cmocka_unit_test(large_screens_tell_more_about_the_selected_event),
		cmocka_unit_test(severities_are_counted_and_filtered),
		cmocka_unit_test(a_long_event_is_readable_to_its_last_word),
		cmocka_unit_test(the_log_is_sorted_searched_and_tagged_as_other_tables),
		cmocka_unit_test(on_the_newest_one_stays_on_the_newest),
		cmocka_unit_test(what_came_since_the_last_visit_is_marked),
		cmocka_unit_test(the_cursor_stays_on_its_event),
		cmocka_unit_test(a_narrow_line_keeps_what_was_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
