/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/process/stderrlog.h"

#include "fabric/base/message/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct seen {
	unsigned lines;
	size_t chars;
	char last[300];
	char area[12];
};

static void sink(void *ctx, const struct log_line *line)
{
	struct seen *s = ctx;

	s->lines++;
	s->chars += strlen(line->text);
	snprintf(s->last, sizeof(s->last), "%s", line->text);
	snprintf(s->area, sizeof(s->area), "%s", line->area);
}

static struct stderrlog *start(struct seen *s)
{
	struct stderrlog *x;
	struct err err;

	memset(s, 0, sizeof(*s));
	log_set_sink(sink, s);
	assert_int_equal(stderrlog_start(&x, "ib", &err), 0);
	return x;
}

static void stop(struct stderrlog *x)
{
	stderrlog_stop(x);
	log_set_sink(NULL, NULL);
}

static void lines_of_libraries_and_children_come_into_the_log(void **state)
{
	struct seen s;
	struct stderrlog *x = start(&s);

	(void)state;
	fprintf(stderr, "ibwarn: one\nibwarn: \x1b[1mtwo\n\n");
	assert_int_equal(system("echo three >&2"), 0);
	fprintf(stderr, "not ended");
	stop(x);
	assert_int_equal(s.lines, 4);
	assert_string_equal(s.last, "not ended");
	assert_string_equal(s.area, "ib");
}

static void long_lines_are_kept_in_pieces(void **state)
{
	struct seen s;
	struct stderrlog *x = start(&s);
	char big[5000];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	fprintf(stderr, "%s\n", big);
	stop(x);
	assert_int_equal(s.chars, sizeof(big) - 1);
	assert_true(s.lines > 10);
}

static void stderr_is_the_old_one_afterwards(void **state)
{
	int fds[2], saved = dup(STDERR_FILENO);
	char buf[64] = "";
	struct seen s;
	struct stderrlog *x;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	x = start(&s);
	fprintf(stderr, "inside\n");
	log_set_sink(NULL, NULL);
	log_add(LOG_WARN, "test", "straight"); /* without a sink: the real stderr, no circle */
	stop(x);
	fprintf(stderr, "outside\n");
	assert_true(read(fds[0], buf, sizeof(buf) - 1) > 0);
	dup2(saved, STDERR_FILENO);
	assert_non_null(strstr(buf, "straight"));
	assert_non_null(strstr(buf, "outside"));
	assert_null(strstr(buf, "inside"));
	close(fds[0]);
	close(fds[1]);
	close(saved);
}

static void a_child_that_lives_on_does_not_hold_up_the_end(void **state)
{
	struct seen s;
	struct stderrlog *x = start(&s);
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		pause();
		_exit(0);
	}
	stop(x); /* would wait for the child, if it waited for the pipe's end */
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_libraries_and_children_come_into_the_log),
		cmocka_unit_test(long_lines_are_kept_in_pieces),
		cmocka_unit_test(stderr_is_the_old_one_afterwards),
		cmocka_unit_test(a_child_that_lives_on_does_not_hold_up_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
