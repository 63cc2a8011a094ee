/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console of one of several fabrics: what it tells, and what it does when it is told. */
#include "tests/unit/kit/app_kit.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SPEC "fattree2:leaves=4,spines=2,hosts=4"

static int pair[2];

static struct app *open_one_of_several(void)
{
	struct app_opts o = {
		.demo = true, .demo_spec = SPEC, .interval_s = 0.2, .params.seed = 1
	};
	struct app *a;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	o.link = pair[1];
	a = app_kit_open_opts(&o, 80, 24);
	assert_non_null(a);
	return a;
}

static void close_it(struct app *a)
{
	app_end(a);
	close(pair[0]);
	close(pair[1]);
}

static void tell(struct app *a, enum fabric_word word, uint32_t at, const char *text)
{
	struct fabric_msg m = {
		.word = word,
		.all = { .n = 2,
			 .at = at,
			 .tab = { { "compute", 0, "", 0 }, { "test", 0, "", 0 } } },
	};

	snprintf(m.text, sizeof(m.text), "%s", text);
	assert_int_equal(fabric_link_send(pair[0], &m), 0);
	app_fabrics_take(a);
}

/* The newest that it has said; false: nothing since. */
static bool heard(struct fabric_msg *m)
{
	bool any = false;

	while (!fabric_link_take(pair[0], m))
		any = true;
	return any;
}

static void shows(struct app *a, const char *text)
{
	char *screen = app_kit_screen(a);

	if (!strstr(screen, text))
		fail_msg("no \"%s\" in\n%s", text, screen);
	free(screen);
}

static void one_that_is_away_goes_on_and_tells_its_verdict(void **state)
{
	struct app *a = open_one_of_several();
	struct fabric_msg m;

	(void)state;
	assert_true(a->fabrics.away);
	assert_true(app_kit_ready(a, 3)); /* it polls */
	app_draw(a);
	assert_true(heard(&m));
	assert_int_equal(m.word, LINK_STATUS);
	assert_int_not_equal(m.tab.level, FABRIC_ENDED);
	assert_true(m.tab.word[0] != '\0');
	assert_false(m.tab.updating);
	app_draw(a);
	assert_false(heard(&m)); /* what has not changed is not told again */
	app_kit_keys(a, "Z");
	app_draw(a);
	assert_true(heard(&m)); /* what is frozen is no verdict on now */
	assert_int_equal(m.tab.level, FABRIC_UNKNOWN);
	assert_string_equal(m.tab.word, "frozen");
	close_it(a);
}

static void keys_and_commands_ask_for_another_fabric(void **state)
{
	struct app *a = open_one_of_several();
	struct fabric_msg m;

	(void)state;
	app_kit_keys(a, "`");
	shows(a, "there is one fabric");
	tell(a, LINK_TABS, 0, "");
	shows(a, "[compute] test");
	heard(&m);
	app_kit_keys(a, "`");
	assert_true(heard(&m));
	assert_int_equal(m.word, LINK_GO);
	assert_int_equal(m.to, 1);
	tell(a, LINK_TABS, 1, "");
	app_kit_keys(a, ":fabric comp\r");
	assert_true(heard(&m));
	assert_int_equal(m.word, LINK_GO);
	assert_int_equal(m.to, 0);
	app_kit_keys(a, ":fabric nowhere\r");
	assert_false(heard(&m));
	shows(a, "no fabric 'nowhere'");
	app_kit_keys(a, ":fabric test\r"); /* it is there */
	assert_false(heard(&m));
	close_it(a);
}

static void quitting_asks_the_others_first(void **state)
{
	struct app *a = open_one_of_several();
	struct fabric_msg m;

	(void)state;
	tell(a, LINK_TABS, 0, "");
	app_kit_keys(a, ":quit\r");
	assert_true(heard(&m));
	assert_int_equal(m.word, LINK_QUIT);
	assert_false(a->quit);
	tell(a, LINK_LEAVE, 0, "");
	assert_true(a->quit);
	close_it(a);
}

static void a_question_is_not_answered_in_another_fabric(void **state)
{
	struct app *a = open_one_of_several();
	struct fabric_msg m;

	(void)state;
	assert_true(a->state.may_arm);
	a->state.recording = true;
	app_kit_keys(a, "6A"); /* not without --rw: it asks whether to arm */
	assert_non_null(a->asked_for);
	tell(a, LINK_AWAY, 0, "");
	assert_null(a->asked_for);
	assert_true(heard(&m));
	assert_int_equal(m.word, LINK_LENT);
	app_kit_keys(a, "Y");
	assert_false(a->state.rw);
	close_it(a);
}

static void what_the_others_said_is_an_event_too(void **state)
{
	struct app *a = open_one_of_several();

	(void)state;
	tell(a, LINK_SAY, 0, "fabric test: its console has ended");
	shows(a, "fabric test: its console has ended");
	app_kit_keys(a, "8");
	shows(a, "fabric test: its console has ended");
	close_it(a);
}

/* The hint for newcomers had taken its place as soon as the record was open. */
static void what_the_others_said_stays_until_a_key(void **state)
{
	struct app *a = open_one_of_several();

	(void)state;
	tell(a, LINK_SAY, 0, "fabric test: its console has ended");
	app_record_welcome(a);
	shows(a, "fabric test: its console has ended");
	app_kit_keys(a, "1");
	app_record_welcome(a);
	shows(a, "first time here?");
	close_it(a);
}

/* Among what it has said since. */
static bool rang(void)
{
	struct fabric_msg m;
	bool ring = false;

	while (!fabric_link_take(pair[0], &m))
		ring |= m.word == LINK_RING;
	return ring;
}

static void warn(struct app *a)
{
	log_add(LOG_WARN, "links", "leaf1/1 -> spine1/1: util 96%%");
	app_draw(a);
}

static void one_that_is_away_has_the_bell_rung_where_that_is_wanted(void **state)
{
	struct app *a = open_one_of_several();

	(void)state;
	app_draw(a);
	rang();
	warn(a);
	assert_false(rang());
	app_kit_keys(a, ":set bell=yes\r");
	app_draw(a);
	assert_false(rang()); /* what came before */
	warn(a);
	assert_true(rang());
	app_draw(a);
	assert_false(rang()); /* once for each */
	a->fabrics.away = false;
	warn(a);
	assert_false(rang()); /* its own terminal */
	close_it(a);
}

static void without_who_passes_the_terminal_on_it_ends_as_on_a_hangup(void **state)
{
	struct app *a = open_one_of_several();

	(void)state;
	close(pair[0]);
	app_fabrics_take(a);
	assert_true(a->quit);
	assert_int_equal(a->exit_code, 128 + SIGHUP);
	pair[0] = dup(pair[1]);
	close_it(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_away_goes_on_and_tells_its_verdict),
		cmocka_unit_test(keys_and_commands_ask_for_another_fabric),
		cmocka_unit_test(quitting_asks_the_others_first),
		cmocka_unit_test(a_question_is_not_answered_in_another_fabric),
		cmocka_unit_test(what_the_others_said_is_an_event_too),
		cmocka_unit_test(what_the_others_said_stays_until_a_key),
		cmocka_unit_test(one_that_is_away_has_the_bell_rung_where_that_is_wanted),
		cmocka_unit_test(without_who_passes_the_terminal_on_it_ends_as_on_a_hangup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
