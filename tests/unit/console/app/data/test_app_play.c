/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The past played, and gone through from event to event, in this session's samples and in those of
 * a collector. */
#include "tests/unit/kit/app_kit.h"

#include "console/session/samples/sample_reading.h"
#include "fabric/base/memory/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define SPEC "fattree2:leaves=6,spines=3,hosts=6,fail=2,seed=3"

static void shows(struct app *a, const char *text)
{
	char *screen = app_kit_screen(a);

	if (!strstr(screen, text))
		fail_msg("\"%s\" is not on the screen:\n%s", text, screen);
	free(screen);
}

static struct app *open_console(void)
{
	struct app *a = app_kit_open(SPEC, NULL, 120, 30);

	assert_non_null(a);
	assert_true(app_kit_ready(a, 2));
	return a;
}

/* Samples as if one had come every ten seconds until now, and events of then. */
static void past_of_its_own(struct app *a, uint32_t n)
{
	const struct backdrop b = { .fabric = a->state.fabric,
				    .tables = a->state.tables,
				    .jobs = a->state.jobs };
	int64_t now = (int64_t)time(NULL);

	sample_history_free(a->samples);
	a->samples = sample_history_new((size_t)8 << 20, SAMPLE_HISTORY_MAX);
	for (uint32_t i = 0; i < n; i++) {
		struct sample *s = sample_new(a->state.fabric);

		s->time_ns = (i + 1) * 10000000000ull;
		sample_history_add(a->samples, &b, s, now - 10 * (int64_t)(n - 1 - i));
		sample_put(s);
	}
}

static void event_at(struct app *a, int64_t time_s, enum log_level level, const char *text)
{
	struct log_line l = { .time_ns = (uint64_t)time_s * 1000000000u, .level = level };

	snprintf(l.area, sizeof(l.area), "test");
	snprintf(l.text, sizeof(l.text), "%s", text);
	events_add(&a->events, &l);
}

static uint64_t shown(struct app *a)
{
	free(app_kit_screen(a));
	return a->shown_history.on ? a->shown_history.at.serial : 0;
}

/* Polling would add to it. */
static void still(struct app *a)
{
	app_kit_keys(a, ":interval 3600\r");
	app_kit_run(a, 0.2);
}

static void keys_go_from_event_to_event(void **state)
{
	struct app *a = open_console();
	int64_t now;

	(void)state;
	still(a);
	past_of_its_own(a, 9);
	now = sample_history_time(a->samples, 9);
	a->events.total = 0;
	event_at(a, now - 65, LOG_WARN, "first"); /* of sample 2 */
	event_at(a, now - 64, LOG_DEBUG, "nobody asked for that");
	event_at(a, now - 30, LOG_INFO, "second"); /* of sample 6 */
	event_at(a, now - 29, LOG_INFO, "of the same sample");
	event_at(a, now - 500, LOG_INFO, "before all samples");
	app_kit_keys(a, "(");
	assert_int_equal(shown(a), 6);
	app_kit_keys(a, "(");
	assert_int_equal(shown(a), 2);
	shows(a, "test: first");
	app_kit_keys(a, "(");
	shows(a, "no earlier event is known");
	assert_int_equal(shown(a), 2);
	app_kit_keys(a, ":event next\r");
	assert_int_equal(shown(a), 6);
	app_kit_keys(a, ")");
	shows(a, "no later event");
	app_kit_keys(a, ":event sideways\r");
	shows(a, "event: next or previous, not 'sideways'");
	app_kit_keys(a, "L)");
	shows(a, "this is the present");
	app_end(a);
}

static void a_row_of_the_log_leads_to_its_moment(void **state)
{
	struct app *a = open_console();

	(void)state;
	still(a);
	past_of_its_own(a, 9);
	a->events.total = 0;
	event_at(a, sample_history_time(a->samples, 4) + 3, LOG_WARN, "here it was");
	app_kit_keys(a, "8H");
	assert_int_equal(shown(a), 4);
	app_kit_keys(a, "L1:event\r");
	shows(a, "'event' does nothing here: it works in view events");
	app_end(a);
}

static void own_samples_are_played_at_their_pace(void **state)
{
	struct app *a = open_console();
	uint64_t at;

	(void)state;
	still(a);
	past_of_its_own(a, 9);
	app_kit_keys(a, ".");
	shows(a, "nothing to play: go back first");
	app_kit_keys(a, ":back 6\r:play 61\r");
	shows(a, "'61' is not a speed from 1 to 60");
	assert_int_equal(shown(a), 3);
	app_kit_keys(a, ":play 20x\r");
	shows(a, ">20x");
	a->play.since -= 0.6; /* 12 of its seconds */
	at = shown(a);
	assert_true(at == 4 || at == 5);
	app_kit_keys(a, ".");
	shows(a, "stopped");
	a->play.since -= 10;
	assert_int_equal(shown(a), at);
	app_kit_keys(a, "."); /* as fast as before */
	shows(a, ">20x");
	app_kit_keys(a, "["); /* any other step ends it */
	assert_false(a->play.on);
	assert_int_equal(shown(a), at - 1);
	app_kit_keys(a, ":play 60\r");
	a->play.since -= 30;
	assert_int_equal(shown(a), 0);
	shows(a, "played up to now");
	assert_false(a->play.on);
	app_end(a);
}

/* Ten seconds at 1x would be waited for: nobody does. */
static void a_gap_is_not_waited_for(void **state)
{
	struct app *a = open_console();

	(void)state;
	still(a);
	past_of_its_own(a, 9);
	app_kit_keys(a, ":back 6\r:play 1\r");
	assert_int_equal(shown(a), 4);
	assert_int_equal(shown(a), 5);
	app_end(a);
}

static double most_used(struct app *a, uint64_t serial)
{
	struct snapshot_at m;
	double most = 0;

	assert_true(sample_history_get(&m, a->samples, serial));
	for (uint32_t c = 0; m.rates && c < m.was.fabric->nchan; c++) {
		double util = m.rates->port[chan_fabric_port(m.was.fabric, c)].util_pct;

		most = util > most ? util : most;
	}
	snapshot_at_done(&m);
	return most;
}

/* The demo's traffic is what it is: its samples are looked through again. */
static void the_peak_of_the_session_is_gone_to(void **state)
{
	struct app *a = open_console();
	double most = 0;

	(void)state;
	assert_true(app_kit_ready(a, 6));
	still(a);
	for (uint64_t i = 1; i <= sample_history_newest(a->samples); i++)
		most = most_used(a, i) > most ? most_used(a, i) : most;
	assert_true(most > 0);
	app_kit_keys(a, "[:peak\r");
	shows(a, "peak of this session: util ");
	if (shown(a)) { /* not the newest, which is the present */
		assert_true(most_used(a, shown(a)) > most - 1e-3);
		app_kit_keys(a, "1"); /* takes the message away */
		shows(a, " peak util");
	}
	app_kit_keys(a, "[");
	if (shown(a)) { /* the bar of the past has it, and where one is */
		const struct state_past *p = &app_shown(a)->history_at.past;

		shows(a, "past ");
		assert_int_equal(p->n, sample_history_count(a->samples));
		assert_int_equal(p->at,
				 a->shown_history.at.serial - sample_history_oldest(a->samples));
		most = most < 100 ? most : 100; /* as far as the bar shows */
		assert_true(p->pct[p->peak] + 1 > most);
		assert_int_equal(p->marks, 0);
		app_kit_keys(a, "B");
		free(app_kit_screen(a));
		assert_int_equal(app_shown(a)->history_at.past.marks, 1ull << p->at);
	}
	app_kit_keys(a, ":peak colour\r");
	shows(a, "peak: 'colour' is not util, wait or errors");
	app_end(a);
}

/* --- a collector's --------------------------------------------------------------------------- */

/* 40 samples, ten seconds apart, the last ten minutes before the session; an event at some. */
#define KEPT 40

static struct {
	struct app *a;
	int64_t first_ms;
	uint32_t asked, told; /* told: the event of that sample, in the answer */
} past;

static const uint32_t event_of[] = { 3, 20, 21 };

static struct log_line *lines_until(uint32_t i, uint32_t *n)
{
	struct log_line *l = xcalloc(3, sizeof(*l));

	for (*n = 0; *n < 3 && event_of[*n] <= i; (*n)++) {
		l[*n].time_ns =
			(uint64_t)(past.first_ms / 1000 + 10 * event_of[*n] + 2) * 1000000000u;
		l[*n].level = LOG_WARN;
		snprintf(l[*n].area, sizeof(l->area), "kept");
		snprintf(l[*n].text, sizeof(l->text), "event of sample %u", event_of[*n]);
	}
	return l;
}

static void answer(struct feed *f, uint64_t serial, int64_t at_ms, int32_t step)
{
	struct msg *msg = msg_new(MSG_PAST);
	int64_t i = (at_ms - past.first_ms) / 10000;
	struct sample *s;

	(void)f;
	past.asked++;
	if (i >= KEPT)
		i = step < 0 ? KEPT : KEPT - 1; /* from this session's samples back */
	i += step;
	msg->total = serial;
	if (at_ms < past.first_ms || i < 0 || i >= KEPT) {
		msg->rc = -2;
		snprintf(msg->text, sizeof(msg->text), "nothing is kept from then");
		mailbox_send(past.a->box, msg);
		return;
	}
	msg->time_ms = past.first_ms + 10000 * i;
	if (past.told)
		snprintf(msg->text, sizeof(msg->text), "%lld kept: event of sample %u",
			 (long long)(msg->time_ms / 1000 + 2), past.told);
	msg->fabric = fabric_get(past.a->state.fabric);
	msg->lines = lines_until((uint32_t)i, &msg->nlines);
	s = sample_new(past.a->state.fabric);
	s->time_ns = (uint64_t)i + 1; /* of none of this session's */
	msg->reading = xcalloc(1, sizeof(*msg->reading));
	msg->reading->sample = s;
	mailbox_send(past.a->box, msg);
}

/* As a history does it: of the next sample that has one. */
static void answer_event(struct feed *f, uint64_t serial, int64_t at_ms, int32_t by)
{
	int64_t i = (at_ms - past.first_ms) / 10000;
	struct msg *msg;

	for (int k = by > 0 ? 0 : 2; k >= 0 && k < 3; k += by) {
		if (by > 0 ? event_of[k] <= i : event_of[k] >= i)
			continue;
		past.told = event_of[k];
		answer(f, serial, past.first_ms + 10000 * event_of[k], 0);
		past.told = 0;
		return;
	}
	msg = msg_new(MSG_PAST);
	msg->total = serial;
	msg->rc = -ENOENT;
	mailbox_send(past.a->box, msg);
}

static struct app *open_on_a_past(void)
{
	static struct feed_ops ops;
	struct app *a = open_console();

	still(a);
	past_of_its_own(a, 3);
	ops = *a->feed->ops;
	ops.past = answer;
	ops.past_event = answer_event;
	a->feed->ops = &ops;
	past.a = a;
	past.asked = 0;
	past.first_ms = (sample_history_time(a->samples, 1) - 600 - 10 * (KEPT - 1)) * 1000;
	for (uint64_t i = 1; i <= 3; i++)
		a->shown_history.made_ms[i] = sample_history_time(a->samples, i) * 1000;
	a->events.total = 0;
	return a;
}

/* The number of the kept sample on the screen; -1: none. */
static int64_t kept(struct app *a)
{
	for (int i = 0; i < 4; i++) {
		app_kit_run(a, 0.02);
		free(app_kit_screen(a));
	}
	return a->shown_history.kept ? (a->shown_history.kept_ms - past.first_ms) / 10000 : -1;
}

static void events_beyond_the_session_are_gone_to(void **state)
{
	struct app *a = open_on_a_past();

	(void)state;
	app_kit_keys(a, "(");
	assert_int_equal(kept(a), 21);
	app_kit_keys(a, "(");
	assert_int_equal(kept(a), 20);
	app_kit_keys(a, "(");
	assert_int_equal(kept(a), 3);
	shows(a, "kept: event of sample 3");
	app_kit_keys(a, "(");
	assert_int_equal(kept(a), 3);
	shows(a, "no earlier event is known");
	app_kit_keys(a, ")");
	assert_int_equal(kept(a), 20);
	shows(a, "kept: event of sample 20");
	app_kit_keys(a, ")");
	assert_int_equal(kept(a), 21);
	event_at(a, sample_history_time(a->samples, 2), LOG_INFO, "of this session");
	app_kit_keys(a, ")");
	assert_int_equal(kept(a), -1);
	assert_int_equal(shown(a), 2);
	app_end(a);
}

/* Also one that was in no log of a moment shown so far. */
static void the_next_event_is_found_from_any_moment(void **state)
{
	struct app *a = open_on_a_past();
	char go[64];

	(void)state;
	snprintf(go, sizeof(go), ":at @%lld\r", (long long)(past.first_ms / 1000));
	app_kit_keys(a, go);
	assert_int_equal(kept(a), 0);
	app_kit_keys(a, ")");
	assert_int_equal(kept(a), 3);
	shows(a, "kept: event of sample 3");
	app_kit_keys(a, ":event next\r");
	assert_int_equal(kept(a), 20);
	app_kit_keys(a, "))");
	assert_int_equal(kept(a), 21);
	app_kit_keys(a, ")");
	assert_int_equal(kept(a), 21);
	shows(a, "no later event");
	app_end(a);
}

static void what_a_collector_kept_is_played_too(void **state)
{
	struct app *a = open_on_a_past();
	char at[64];
	uint32_t asked;

	(void)state;
	snprintf(at, sizeof(at), ":at @%lld\r", (long long)(past.first_ms / 1000 + 50));
	app_kit_keys(a, at);
	assert_int_equal(kept(a), 5);
	app_kit_keys(a, ":play 10\r");
	shows(a, ">10x");
	a->play.since -= a->play.gap_s; /* one step is due */
	assert_true(kept(a) >= 6);
	assert_true(a->play.gap_s > 9 && a->play.gap_s < 11);
	asked = past.asked;
	for (int i = 0; i < 5; i++)
		free(app_kit_screen(a));
	assert_true(past.asked - asked <= 1); /* not at every frame */
	for (int i = 0; i < 40 && a->play.on; i++) {
		a->play.since -= 30;
		kept(a);
	}
	assert_false(a->play.on); /* behind the last there is none, as it says */
	assert_int_equal(kept(a), KEPT - 1);
	app_end(a);
}

static void bookmarks_are_for_both_pasts(void **state)
{
	struct app *a = open_on_a_past();
	char at[64];

	(void)state;
	app_kit_keys(a, "[:bookmark own\r");
	for (int i = 5; i <= 25; i += 20) {
		snprintf(at, sizeof(at), ":at @%lld\r", (long long)(past.first_ms / 1000 + 10 * i));
		app_kit_keys(a, at);
		assert_int_equal(kept(a), i);
		app_kit_keys(a, i == 5 ? ":bookmark storm\r" : "B");
	}
	shows(a, " past2 ");
	app_kit_keys(a, "B");
	shows(a, "this moment is bookmark past2 already");
	app_kit_keys(a, "L1b");
	assert_int_equal(kept(a), -1);
	assert_int_equal(shown(a), 2);
	app_kit_keys(a, "b");
	assert_int_equal(kept(a), 25);
	app_kit_keys(a, "b");
	assert_int_equal(kept(a), 5);
	shows(a, " storm");
	app_kit_keys(a, "b"); /* before the first comes the last again */
	assert_int_equal(shown(a), 2);
	app_kit_keys(a, ":bookmarks storm\r");
	assert_int_equal(kept(a), 5);
	app_kit_keys(a, ":bookmarks nothing\r");
	shows(a, "no bookmark 'nothing'");
	app_kit_keys(a, "L:at storm\r"); /* also as a moment */
	assert_int_equal(kept(a), 5);
	app_kit_keys(a, "L:at nothing\r");
	shows(a, "'nothing' is neither a bookmark nor a time");
	app_kit_keys(a, ":at sto\t");
	shows(a, ":at storm");
	app_end(a);
}

/* Two moments that were named are compared by their names. */
static void rates_are_held_against_a_bookmark(void **state)
{
	struct app *a = open_on_a_past();

	(void)state;
	app_kit_keys(a, "[:bookmark own\rL:against own\r");
	shows(a, "against ");
	assert_non_null(a->state.against);
	assert_int_equal(a->state.against_s, sample_history_time(a->samples, 2));
	app_kit_keys(a, ":against \r");
	assert_null(a->state.against);
	app_kit_keys(a, "LB:against 1\r"); /* its number is no time */
	assert_non_null(a->state.against);
	app_kit_keys(a, ":against \r");
	app_kit_keys(a, ":against nothing\r");
	shows(a, "against: neither a bookmark nor a time that has been");
	assert_null(a->state.against);
	app_kit_keys(a, ":against \t");
	shows(a, ":against own");
	app_end(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_go_from_event_to_event),
		cmocka_unit_test(a_row_of_the_log_leads_to_its_moment),
		cmocka_unit_test(own_samples_are_played_at_their_pace),
		cmocka_unit_test(a_gap_is_not_waited_for),
		cmocka_unit_test(the_peak_of_the_session_is_gone_to),
		cmocka_unit_test(events_beyond_the_session_are_gone_to),
		cmocka_unit_test(the_next_event_is_found_from_any_moment),
		cmocka_unit_test(what_a_collector_kept_is_played_too),
		cmocka_unit_test(bookmarks_are_for_both_pasts),
		cmocka_unit_test(rates_are_held_against_a_bookmark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
