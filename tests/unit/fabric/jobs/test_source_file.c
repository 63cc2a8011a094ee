/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/source.h"

#include "fabric/base/message/log.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/test_source_file.XXXXXX";
static int log_lines;
static char log_text[300];

static void count_line(void *ctx, const struct log_line *line)
{
	(void)ctx;
	log_lines++;
	snprintf(log_text, sizeof(log_text), "%s", line->text);
}

/* A new file in the place of the old one, as editors and cron jobs do it. */
static void replace_file(const char *text)
{
	char tmp[sizeof(path) + 4];
	FILE *f;

	snprintf(tmp, sizeof(tmp), "%s.new", path);
	f = fopen(tmp, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(rename(tmp, path), 0);
}

static struct job_source *open_path(void)
{
	struct source_opts o = { .path = path, .interval_ms = 20 };
	struct job_source *s;
	struct err err;

	if (source_open(&s, &job_source_file, &o, &err))
		fail_msg("%s", err.text);
	return s;
}

/* The next list within so many ms, or NULL. */
static const struct job_list *next_list(struct job_source *s, int ms)
{
	const struct job_list *l = source_take(s);

	for (int k = 0; !l && k < ms / 20; k++) {
		struct pollfd p = { .fd = source_fd(s), .events = POLLIN };

		poll(&p, 1, 20);
		source_poll(s);
		l = source_take(s);
	}
	return l;
}

static uint32_t njobs(struct job_source *s)
{
	const struct job_list *l = next_list(s, 8000);
	uint32_t n;

	assert_non_null(l);
	n = l->njob;
	job_list_put(l);
	return n;
}

static void the_jobs_of_the_file_are_there_at_once(void **state)
{
	struct job_source *s;
	const struct job_list *l;

	(void)state;
	replace_file("# jobs\n17 n[0001-0003]\n4 n0009\n");
	s = open_path();
	assert_int_equal(source_status(s)->state, SOURCE_OK);
	l = source_take(s);
	assert_non_null(l);
	assert_int_equal(l->njob, 2);
	assert_int_equal(l->jobs[0].id, 4);
	assert_int_equal(l->jobs[1].nhost, 3);
	assert_string_equal(l->jobs[1].hosts[2], "n0003");
	assert_int_equal(strncmp(l->source, "file test_source_file.", 22), 0);
	job_list_put(l);
	source_close(s);
}

static void a_changed_file_is_read_again_and_an_unchanged_one_is_not(void **state)
{
	struct job_source *s;

	(void)state;
	replace_file("1 n0001\n");
	s = open_path();
	assert_int_equal(njobs(s), 1);
	assert_null(next_list(s, 200));
	replace_file("1 n0001\n2 n0002\n");
	assert_int_equal(njobs(s), 2);
	source_close(s);
}

static void a_mistake_keeps_the_old_jobs_and_names_file_and_line(void **state)
{
	char where[sizeof(path) + 8];
	struct job_source *s;

	(void)state;
	replace_file("1 n0001\n2 n0002\n");
	s = open_path();
	assert_int_equal(njobs(s), 2);
	log_lines = 0;
	replace_file("1 n0001\n2 n[0002\n");
	assert_null(next_list(s, 300));
	assert_int_equal(source_status(s)->state, SOURCE_UNREACHABLE);
	snprintf(where, sizeof(where), "%s:2", path);
	assert_non_null(strstr(source_status(s)->text, where));
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, where));
	replace_file("5 n0001\n");
	assert_int_equal(njobs(s), 1);
	assert_int_equal(source_status(s)->state, SOURCE_OK);
	assert_string_equal(source_status(s)->text, "");
	source_close(s);
}

static void a_file_that_vanishes_and_returns_is_read_again(void **state)
{
	char away[sizeof(path) + 8];
	struct job_source *s;

	(void)state;
	replace_file("1 n0001\n");
	s = open_path();
	assert_int_equal(njobs(s), 1);
	log_lines = 0;
	snprintf(away, sizeof(away), "%s.away", path);
	assert_int_equal(rename(path, away), 0);
	assert_null(next_list(s, 300));
	assert_int_equal(source_status(s)->state, SOURCE_UNREACHABLE);
	assert_int_equal(log_lines, 1);
	assert_int_equal(rename(away, path), 0);
	assert_int_equal(njobs(s), 1);
	assert_int_equal(source_status(s)->state, SOURCE_OK);
	source_close(s);
}

static void of_a_history_the_present_jobs_run(void **state)
{
	long long now = time(NULL);
	struct job_source *s;
	const struct job_list *l;
	char text[400];

	(void)state;
	snprintf(text, sizeof(text), "1,%lld,%lld,n0001\n2,%lld,%lld,n0002\n3,%lld,%lld,n0003\n",
		 now - 900, now - 300, now - 900, now + 900, now + 300, now + 900);
	replace_file(text);
	s = open_path();
	l = source_take(s);
	assert_int_equal(l->njob, 1);
	assert_int_equal(l->jobs[0].id, 2);
	assert_int_equal(l->pending, 1);
	assert_int_equal(l->other, 1);
	job_list_put(l);
	source_close(s);
}

static void a_job_of_a_history_ends_by_itself(void **state)
{
	struct job_source *s;
	long long now = time(NULL);
	char text[200];

	(void)state;
	snprintf(text, sizeof(text), "1,%lld,%lld,n0001\n2,%lld,%lld,n0002\n", now - 9, now + 4,
		 now - 9, now + 900);
	replace_file(text);
	s = open_path();
	assert_int_equal(njobs(s), 2);
	assert_int_equal(njobs(s), 1);
	source_close(s);
}

static void a_missing_or_wrong_file_is_refused_at_the_start(void **state)
{
	struct source_opts o = { .path = "/nonexistent/jobs" };
	struct job_source *s;
	struct err err;

	(void)state;
	assert_int_equal(source_open(&s, &job_source_file, &o, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/jobs"));
	assert_int_equal(source_open(&s, &job_source_file, NULL, &err), -EINVAL);
	replace_file("what is this\n");
	o.path = path;
	assert_int_equal(source_open(&s, &job_source_file, &o, &err), -EINVAL);
	assert_non_null(strstr(err.text, ":1"));
}

static int make_path(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd >= 0)
		close(fd);
	log_set_sink(count_line, NULL);
	return fd < 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_jobs_of_the_file_are_there_at_once),
		cmocka_unit_test(a_changed_file_is_read_again_and_an_unchanged_one_is_not),
		cmocka_unit_test(a_mistake_keeps_the_old_jobs_and_names_file_and_line),
		cmocka_unit_test(a_file_that_vanishes_and_returns_is_read_again),
		cmocka_unit_test(of_a_history_the_present_jobs_run),
		cmocka_unit_test(a_job_of_a_history_ends_by_itself),
		cmocka_unit_test(a_missing_or_wrong_file_is_refused_at_the_start),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
