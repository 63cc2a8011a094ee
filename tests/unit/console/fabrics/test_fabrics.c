/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who has the terminal, and when all of it ends; the consoles are small ones. */
#include "console/fabrics/fabric_link.h"
#include "console/fabrics/fabrics.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT_MS 20000
#define LOST	99 /* exit code of a console that waited in vain */

/* What happened, in its order; written by all consoles, two of which may end at once. */
static struct {
	atomic_flag taken;
	char text[4000];
} * happened;

static void note(const char *what, size_t i)
{
	while (atomic_flag_test_and_set(&happened->taken))
		usleep(100);
	snprintf(happened->text + strlen(happened->text), 300, "%s%u ", what, (unsigned)i);
	atomic_flag_clear(&happened->taken);
}

/* The next message of that kind; others are passed over. */
static struct fabric_msg await(int link, enum fabric_word word)
{
	struct fabric_msg m = { .word = LINK_GO };
	struct pollfd fd = { .fd = link, .events = POLLIN };
	int rc;

	for (;;) {
		while (!(rc = fabric_link_take(link, &m)))
			if (m.word == word)
				return m;
		if (rc != -EAGAIN || poll(&fd, 1, WAIT_MS) <= 0)
			_exit(LOST);
	}
}

static void tell(int link, enum fabric_word word, uint32_t to)
{
	const struct fabric_msg m = { .word = word, .to = to };

	if (fabric_link_send(link, &m))
		_exit(LOST);
}

static void updates(int link, bool on)
{
	const struct fabric_msg m = { .word = LINK_STATUS, .tab = { .updating = on } };

	if (fabric_link_send(link, &m))
		_exit(LOST);
}

static int run(fabrics_console_fn *console, size_t n)
{
	static const char *const names[] = { "one", "two", "three" };
	struct err err = { "" };
	int rc;

	happened = mmap(NULL, sizeof(*happened), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	assert_ptr_not_equal(happened, MAP_FAILED);
	rc = fabrics_run(names, n, console, NULL, &err);
	assert_string_equal(err.text, "");
	return rc;
}

static void happened_is(const char *want)
{
	assert_string_equal(happened->text, want);
	munmap(happened, sizeof(*happened));
}

static int one_goes_to_the_other(void *arg, size_t i, int link)
{
	(void)arg;
	await(link, LINK_FRONT);
	note("front", i);
	if (!i) {
		tell(link, LINK_GO, 1);
		await(link, LINK_AWAY);
		usleep(20000); /* the other would be there by now if it did not wait */
		note("left", i);
		tell(link, LINK_LENT, 0);
	} else {
		tell(link, LINK_QUIT, 0);
	}
	await(link, LINK_LEAVE);
	return 0;
}

static void the_terminal_is_another_ones_after_it_was_left(void **state)
{
	(void)state;
	assert_int_equal(run(one_goes_to_the_other, 2), 0);
	happened_is("front0 left0 front1 ");
}

static int only_the_front_one_may(void *arg, size_t i, int link)
{
	(void)arg;
	if (i) {
		tell(link, LINK_GO, 1); /* it has no operator: nothing comes of it */
		tell(link, LINK_LENT, 0);
		updates(link, false);
		await(link, LINK_LEAVE);
		return 0;
	}
	await(link, LINK_FRONT);
	tell(link, LINK_GO, 7); /* there is no such fabric */
	await(link, LINK_TABS);
	note("front", i);
	tell(link, LINK_QUIT, 0);
	await(link, LINK_LEAVE);
	return 0;
}

static void one_that_is_away_cannot_take_the_terminal(void **state)
{
	(void)state;
	assert_int_equal(run(only_the_front_one_may, 2), 0);
	happened_is("front0 ");
}

static int the_second_updates(void *arg, size_t i, int link)
{
	struct fabric_msg m;

	(void)arg;
	if (!i) {
		await(link, LINK_FRONT);
		do
			m = await(link, LINK_TABS);
		while (!m.all.tab[1].updating);
		tell(link, LINK_QUIT, 0);
		await(link, LINK_AWAY);
		note("left", i);
		tell(link, LINK_LENT, 0);
	} else {
		updates(link, true);
		m = await(link, LINK_FRONT);
		note(strstr(m.text, "confirm this update") ? "asked" : "silent", i);
		updates(link, false);
		tell(link, LINK_QUIT, 0);
	}
	await(link, LINK_LEAVE);
	note("end", i * 0);
	return 0;
}

static void nothing_ends_while_an_update_of_any_fabric_is_open(void **state)
{
	(void)state;
	assert_int_equal(run(the_second_updates, 2), 0);
	happened_is("left0 asked1 end0 end0 ");
}

/* An update that has begun since the others were asked. */
static int the_second_stays(void *arg, size_t i, int link)
{
	(void)arg;
	if (!i) {
		await(link, LINK_FRONT);
		tell(link, LINK_QUIT, 0);
		await(link, LINK_LEAVE);
		return 0;
	}
	await(link, LINK_LEAVE);
	await(link, LINK_FRONT);
	note("front", i);
	return 0;
}

static void one_that_does_not_leave_has_the_terminal(void **state)
{
	(void)state;
	assert_int_equal(run(the_second_stays, 2), 0);
	happened_is("front1 ");
}

static int the_first_is_killed(void *arg, size_t i, int link)
{
	struct fabric_msg m;

	(void)arg;
	if (!i) {
		await(link, LINK_FRONT);
		raise(SIGKILL);
	}
	if (i == 1) {
		fprintf(stderr, "first line\nno such\033[2J thing\n");
		return 5;
	}
	m = await(link, LINK_FRONT);
	note(m.all.tab[0].level == FABRIC_ENDED ? "front" : "unknown", i);
	m = await(link, LINK_SAY);
	note(strstr(m.text, "its console has ended") ? "told" : "silent", i);
	return 0;
}

static void the_terminal_of_one_that_is_killed_is_the_next_ones(void **state)
{
	(void)state;
	assert_int_equal(run(the_first_is_killed, 3), 128 + SIGKILL);
	happened_is("front2 told2 ");
}

static int the_second_fails(void *arg, size_t i, int link)
{
	struct fabric_msg m;

	(void)arg;
	if (i) {
		fprintf(stderr, "first line\nno such\033[2J thing\n");
		return 5;
	}
	await(link, LINK_FRONT);
	m = await(link, LINK_SAY);
	note(strstr(m.text, "fabric two: its console has ended: no such?[2J thing") ? "told"
										    : m.text,
	     i);
	return 0;
}

static void the_last_words_of_one_are_told_in_the_one_in_front(void **state)
{
	(void)state;
	assert_int_equal(run(the_second_fails, 2), 5);
	happened_is("told0 ");
}

static int ended_by_a_signal(void *arg, size_t i, int link)
{
	sigset_t mask;
	int sig;

	(void)arg;
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	updates(link, true);
	if (!i) {
		struct fabric_msg m;

		do
			m = await(link, LINK_TABS);
		while (!m.all.tab[1].updating);
		kill(getppid(), SIGTERM);
	}
	return sigwait(&mask, &sig) ? LOST : 0;
}

static void a_signal_reaches_every_console(void **state)
{
	(void)state;
	assert_int_equal(run(ended_by_a_signal, 2), 0);
	happened_is("");
}

static int the_second_rings(void *arg, size_t i, int link)
{
	(void)arg;
	if (!i) {
		await(link, LINK_FRONT);
		tell(link, LINK_RING, 0); /* its own business */
		await(link, LINK_RUNG);
		note("rung", i);
		tell(link, LINK_QUIT, 0);
	} else if (i == 1) {
		tell(link, LINK_RING, 0);
	}
	await(link, LINK_LEAVE);
	for (struct fabric_msg m; !fabric_link_take(link, &m);)
		if (m.word == LINK_RUNG)
			note("again", i);
	return 0;
}

static void one_that_is_away_rings_where_the_terminal_is(void **state)
{
	(void)state;
	assert_int_equal(run(the_second_rings, 3), 0);
	happened_is("rung0 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_terminal_is_another_ones_after_it_was_left),
		cmocka_unit_test(one_that_is_away_cannot_take_the_terminal),
		cmocka_unit_test(nothing_ends_while_an_update_of_any_fabric_is_open),
		cmocka_unit_test(one_that_does_not_leave_has_the_terminal),
		cmocka_unit_test(the_terminal_of_one_that_is_killed_is_the_next_ones),
		cmocka_unit_test(the_last_words_of_one_are_told_in_the_one_in_front),
		cmocka_unit_test(a_signal_reaches_every_console),
		cmocka_unit_test(one_that_is_away_rings_where_the_terminal_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
