/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/watchdog/wall_notify.h"

#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/update_net.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>

struct world {
	char *dir;
	int master[3], slave[3];
};

/* A terminal on which somebody is logged in. */
static void log_in(struct world *w, int i, const char *user)
{
	struct utmpx u = { .ut_type = USER_PROCESS, .ut_pid = getpid() + i };
	char name[64];

	w->master[i] = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	assert_true(w->master[i] >= 0);
	assert_int_equal(grantpt(w->master[i]) | unlockpt(w->master[i]), 0);
	assert_int_equal(ptsname_r(w->master[i], name, sizeof(name)), 0);
	w->slave[i] = open(name, O_RDWR | O_NOCTTY);
	assert_true(w->slave[i] >= 0);
	strncpy(u.ut_line, name + strlen("/dev/"), sizeof(u.ut_line) - 1);
	strncpy(u.ut_user, user, sizeof(u.ut_user) - 1);
	u.ut_id[0] = (char)('a' + i);
	setutxent();
	assert_non_null(pututxline(&u));
	endutxent();
}

static int setup(void **state)
{
	static struct world w;
	char *path;
	int fd;

	w.dir = net_tmpdir();
	path = xasprintf("%s/utmp", w.dir);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(utmpname(path), 0);
	free(path);
	log_in(&w, 0, "root");
	log_in(&w, 1, "ana");
	log_in(&w, 2, "bob");
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 3; i++) {
		close(w->slave[i]);
		close(w->master[i]);
	}
	net_rmdir(w->dir);
	return 0;
}

static bool got(const struct world *w, int i, const char *text)
{
	char buf[400] = "";

	return read(w->master[i], buf, sizeof(buf) - 1) > 0 && strstr(buf, text);
}

static void root_and_the_user_are_told_and_nobody_else(void **state)
{
	struct world *w = *state;

	assert_int_equal(wall_notify("ana", "update 1: rolled back"), 2);
	assert_true(got(w, 0, "ibroute-top: update 1: rolled back"));
	assert_true(got(w, 1, "ibroute-top: update 1: rolled back"));
	assert_false(got(w, 2, "update"));
	assert_int_equal(wall_notify(NULL, "again"), 1);
}

static void nothing_in_it_steers_a_terminal(void **state)
{
	struct world *w = *state;

	wall_notify("bob", "fabric \033[2Jx\ny");
	assert_true(got(w, 2, "fabric ?[2Jx?y"));
}

static void terminal_that_is_stopped_holds_nobody_up(void **state)
{
	struct world *w = *state;
	char *much = xcalloc(1, 6001);

	memset(much, 'x', 6000);
	for (int i = 0; i < 20; i++)
		wall_notify("bob", much); /* nobody reads: it returns all the same */
	assert_true(got(w, 2, "xxx"));
	free(much);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(root_and_the_user_are_told_and_nobody_else),
		T(nothing_in_it_steers_a_terminal),
		T(terminal_that_is_stopped_holds_nobody_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
