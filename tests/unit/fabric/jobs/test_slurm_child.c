/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parent's side of the SLURM poller against pollers that misbehave.  This program is its own
 * poller: started with "fake KIND [FILE]" it plays the part, and so it does when it is started as
 * ibroute-slurm would be with $FAKE_KIND; for squeue it is the real one.
 */
#include "fabric/jobs/source.h"

#include "fabric/base/message/log.h"
#include "fabric/jobs/jobwire.h"
#include "fabric/jobs/squeue_poller.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SELF "/proc/self/exe"

/* --- the fake poller --- */

static void emit(char *frame, size_t len, size_t piece)
{
	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;

		if (write(STDOUT_FILENO, frame + at, n) != (ssize_t)n)
			exit(3);
		if (piece < len)
			usleep(1000);
	}
	free(frame);
}

static void emit_text(enum jobwire_type type, const char *text)
{
	size_t len;
	char *frame = jobwire_text(&len, type, time(NULL), text);

	emit(frame, len, len);
}

static void emit_list(uint32_t njob, size_t piece)
{
	static const char *const hosts[] = { "n0001", "n0002" };
	struct job_list *l = job_list_new("slurm", time(NULL));
	size_t len;
	char *frame;

	for (uint32_t i = 0; i < njob; i++)
		job_list_add(l, &(struct job_rec){ .id = i + 1,
						   .name = "job",
						   .nodes = "n[0001-0002]",
						   .hosts = hosts,
						   .nhost = 2 });
	frame = jobwire_list(&len, l);
	job_list_put(l);
	emit(frame, len, piece ? piece : len);
}

/* Waits until the parent closes our stdin. */
static int until_eof(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}

static int crash(void)
{
	fputs("fake: error: something minor\nfake: fatal: Unable to process configuration file\n",
	      stderr);
	return 1;
}

/* The first start crashes, the next ones work. */
static int crash_once(const char *path)
{
	FILE *seen = fopen(path, "r");

	if (!seen) {
		seen = fopen(path, "w");
		fclose(seen);
		return crash();
	}
	fclose(seen);
	emit_list(1, 0);
	return until_eof();
}

static int flood(void)
{
	for (int i = 0; i < 20000; i++)
		fprintf(stderr, "slurm_load_jobs error %d: Unable to contact slurm controller\n",
			i);
	emit_list(2, 0);
	return until_eof();
}

/* As the loader does. */
static int no_library(void)
{
	fputs("ibroute-slurm: error while loading shared libraries: libslurm.so.99: cannot open "
	      "shared object file: No such file or directory\n",
	      stderr);
	return 127;
}

static int fake_main(const char *kind, const char *path)
{
	if (!strcmp(kind, "no-library"))
		return no_library();
	if (!strcmp(kind, "other-release")) {
		puts("{\"ibroute-slurm\": 99, \"slurm\": \"99.5.1\"}");
		fflush(stdout);
		return until_eof();
	}
	if (strcmp(kind, "garbage"))
		emit_text(JOBWIRE_HELLO, "test");
	if (!strcmp(kind, "garbage"))
		puts("Segmentation fault (core dumped) and more text than a header");
	if (!strcmp(kind, "crash"))
		return crash();
	if (!strcmp(kind, "crash-once"))
		return crash_once(path);
	if (!strcmp(kind, "flood"))
		return flood();
	if (!strcmp(kind, "suicide"))
		return raise(SIGKILL);
	if (!strcmp(kind, "silent"))
		for (;;)
			pause();
	if (!strcmp(kind, "good") || !strcmp(kind, "good-then-silent"))
		emit_list(2, 0);
	if (!strcmp(kind, "slow"))
		emit_list(5, 7);
	if (!strcmp(kind, "large"))
		emit_list(50000, 0);
	if (!strcmp(kind, "fail"))
		emit_text(JOBWIRE_FAIL, "slurmctld does not respond: Connection refused");
	if (!strcmp(kind, "good-fail-same")) {
		emit_list(2, 0);
		usleep(150000);
		emit_text(JOBWIRE_FAIL, "slurmctld does not respond: Connection refused");
		usleep(150000);
		emit_text(JOBWIRE_SAME, "");
	}
	fflush(stdout);
	return until_eof();
}

/* --- the tests --- */

static int log_lines;
static char log_text[300];
static const char *awaited; /* a text in any line; NULL: none */
static bool awaited_seen;

#define PATIENCE_MS 60000 /* for a loaded machine */

static void count_line(void *ctx, const struct log_line *line)
{
	(void)ctx;
	log_lines++;
	awaited_seen = awaited_seen || (awaited && strstr(line->text, awaited));
	snprintf(log_text, sizeof(log_text), "%s", line->text);
}

static struct job_source *open_fake(const char *kind, const char *path, const struct source_opts *o)
{
	const char *argv[] = { SELF, "fake", kind, path, NULL };
	struct source_opts opts = *o;
	struct job_source *s;
	struct err err;

	opts.poller = argv;
	if (!opts.backoff_ms)
		opts.backoff_ms = 50;
	if (source_open(&s, &job_source_slurm, &opts, &err))
		fail_msg("%s", err.text);
	return s;
}

static uint64_t clock_of_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static uint64_t now_ms(void)
{
	return clock_of_ms(CLOCK_MONOTONIC);
}

/* Of this thread's own: what others do at the time is not its fault. */
static uint64_t cpu_ms(void)
{
	return clock_of_ms(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t longest_poll_ms;
static int polls;

/* Serves the source as the console does until it is in that state (or has a list, with
 * SOURCE_OK); at most ms.  True when it came so far. */
static bool serve(struct job_source *s, enum source_state want, int ms)
{
	uint64_t end = now_ms() + (uint64_t)ms;

	while (now_ms() < end) {
		struct pollfd p = { .fd = source_fd(s), .events = POLLIN };
		uint64_t t0;

		if (poll(&p, 1, (int)(end - now_ms())) <= 0)
			continue;
		t0 = cpu_ms();
		source_poll(s);
		polls++;
		if (cpu_ms() - t0 > longest_poll_ms)
			longest_poll_ms = cpu_ms() - t0;
		if (source_status(s)->state == want)
			return true;
	}
	return false;
}

static void serve_restarts(struct job_source *s, unsigned n)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	while (source_status(s)->restarts < n && now_ms() < end)
		serve(s, SOURCE_OK, 10);
	assert_true(source_status(s)->restarts >= n);
}

static bool has_text(const struct job_source *s, const char *part)
{
	return strstr(source_status(s)->text, part) != NULL;
}

/* Whom the source has killed may be on its way yet; whom it has not stays. */
static bool no_children_left(void)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	do {
		if (waitpid(-1, NULL, WNOHANG) < 0)
			return errno == ECHILD;
		usleep(1000);
	} while (now_ms() < end);
	return false;
}

static void a_list_arrives_and_the_state_is_ok(void **state)
{
	struct job_source *s = open_fake("good", NULL, &(struct source_opts){ 0 });
	const struct job_list *l;

	(void)state;
	assert_int_equal(source_status(s)->state, SOURCE_STARTING);
	assert_true(serve(s, SOURCE_OK, PATIENCE_MS));
	l = source_take(s);
	assert_non_null(l);
	assert_int_equal(l->njob, 2);
	assert_null(source_take(s));
	assert_true(llabs(source_status(s)->last_good_s - time(NULL)) < 5);
	job_list_put(l);
	source_close(s);
	assert_true(no_children_left());
}

static void a_list_in_pieces_arrives_whole(void **state)
{
	struct job_source *s = open_fake("slow", NULL, &(struct source_opts){ 0 });
	const struct job_list *l;

	(void)state;
	assert_true(serve(s, SOURCE_OK, PATIENCE_MS));
	l = source_take(s);
	assert_int_equal(l->njob, 5);
	job_list_put(l);
	source_close(s);
}

static void a_large_list_does_not_hold_up_the_caller(void **state)
{
	struct job_source *s = open_fake("large", NULL, &(struct source_opts){ 0 });
	const struct job_list *l;

	(void)state;
	longest_poll_ms = 0;
	assert_true(serve(s, SOURCE_OK, PATIENCE_MS));
	l = source_take(s);
	assert_int_equal(l->njob, 50000);
	assert_in_range(longest_poll_ms, 0, 1500);
	job_list_put(l);
	source_close(s);
}

static void refusal_is_unreachable_with_the_reason_and_keeps_the_old_list(void **state)
{
	struct job_source *s = open_fake("good-fail-same", NULL, &(struct source_opts){ 0 });
	int64_t good;

	(void)state;
	assert_true(serve(s, SOURCE_OK, PATIENCE_MS));
	good = source_status(s)->last_good_s;
	assert_true(serve(s, SOURCE_UNREACHABLE, PATIENCE_MS));
	assert_true(has_text(s, "Connection refused"));
	assert_int_equal(source_status(s)->last_good_s, good);
	assert_true(serve(s, SOURCE_OK, PATIENCE_MS));
	assert_string_equal(source_status(s)->text, "");
	source_close(s);
}

static void a_poller_that_dies_is_dead_with_its_last_words_and_comes_back(void **state)
{
	char path[] = "/tmp/test_slurm_child.XXXXXX";
	struct job_source *s;

	(void)state;
	close(mkstemp(path));
	unlink(path);
	s = open_fake("crash-once", path, &(struct source_opts){ 0 });
	assert_true(serve(s, SOURCE_DEAD, PATIENCE_MS));
	assert_true(has_text(s, "fatal: Unable to process configuration file"));
	assert_true(serve(s, SOURCE_OK, PATIENCE_MS));
	assert_int_equal(source_status(s)->restarts, 1);
	source_close(s);
	unlink(path);
	assert_true(no_children_left());
}

static void what_every_new_poller_says_is_logged_once(void **state)
{
	struct job_source *s = open_fake("crash", NULL, &(struct source_opts){ .backoff_ms = 10 });

	(void)state;
	log_lines = 0;
	serve_restarts(s, 3);
	assert_true(serve(s, SOURCE_DEAD, PATIENCE_MS));
	/* two lines of the poller and the state */
	assert_int_equal(log_lines, 3);
	assert_int_equal(source_status(s)->state, SOURCE_DEAD);
	source_close(s);
}

static void the_pause_between_restarts_grows(void **state)
{
	struct job_source *s = open_fake("crash", NULL, &(struct source_opts){ .backoff_ms = 40 });
	uint64_t t0 = now_ms();

	(void)state;
	serve_restarts(s, 4);
	/* three pauses lie between four starts; without growth they take 120 ms */
	assert_true(now_ms() - t0 >= 40 + 80 + 160);
	source_close(s);
	assert_true(no_children_left());
}

static void death_by_signal_is_told(void **state)
{
	struct job_source *s = open_fake("suicide", NULL, &(struct source_opts){ 0 });

	(void)state;
	assert_true(serve(s, SOURCE_DEAD, PATIENCE_MS));
	assert_true(has_text(s, "signal 9"));
	source_close(s);
}

static void garbage_ends_the_poller(void **state)
{
	struct job_source *s = open_fake("garbage", NULL, &(struct source_opts){ 0 });

	(void)state;
	assert_true(serve(s, SOURCE_DEAD, PATIENCE_MS));
	assert_true(has_text(s, "violated its protocol"));
	source_close(s);
	assert_true(no_children_left());
}

static void silence_is_unreachable_first_and_killed_at_the_deadline(void **state)
{
	struct source_opts o = { .quiet_ms = 150, .deadline_ms = 500, .backoff_ms = 5000 };
	uint64_t t0 = now_ms();
	struct job_source *s = open_fake("silent", NULL, &o);

	(void)state;
	assert_true(serve(s, SOURCE_UNREACHABLE, PATIENCE_MS));
	assert_in_range(now_ms() - t0, 150, 5000); /* a busy machine may be late, never early */
	assert_true(serve(s, SOURCE_DEAD, PATIENCE_MS));
	assert_in_range(now_ms() - t0, 500, 10000);
	assert_true(has_text(s, "killed"));
	assert_true(no_children_left());
	source_close(s);
}

static void waiting_costs_few_wake_ups(void **state)
{
	struct source_opts o = { .quiet_ms = 60000, .deadline_ms = 90000 };
	struct job_source *s = open_fake("good", NULL, &o);

	(void)state;
	assert_true(serve(s, SOURCE_OK, PATIENCE_MS));
	polls = 0;
	serve(s, SOURCE_DEAD, 500);
	assert_in_range(polls, 0, 3);
	source_close(s);
}

static void a_flood_on_stderr_does_not_stop_the_list(void **state)
{
	struct job_source *s = open_fake("flood", NULL, &(struct source_opts){ 0 });

	(void)state;
	log_lines = 0;
	assert_true(serve(s, SOURCE_OK, PATIENCE_MS));
	assert_true(log_lines > 10000);
	source_close(s);
}

static void close_ends_a_poller_that_does_not_listen(void **state)
{
	struct job_source *s = open_fake("silent", NULL, &(struct source_opts){ 0 });
	uint64_t t0 = now_ms();

	(void)state;
	serve(s, SOURCE_OK, 100);
	source_close(s);
	assert_in_range(now_ms() - t0, 0, 5000);
	assert_true(no_children_left());
}

static void a_missing_program_is_dead_not_fatal(void **state)
{
	const char *argv[] = { "/nonexistent/poller", NULL };
	struct job_source *s;
	struct err err;

	(void)state;
	assert_int_equal(
		source_open(&s, &job_source_slurm, &(struct source_opts){ .poller = argv }, &err),
		0);
	assert_int_equal(source_status(s)->state, SOURCE_DEAD);
	assert_true(has_text(s, "No such file"));
	source_close(s);
}

/* ---- which poller is started ---- */

static char *temp_dir, squeue_path[200], sacct_path[200];

static void put_script(const char *path, const char *script)
{
	FILE *f;

	unlink(path);
	if (!script)
		return;
	f = fopen(path, "w");
	fputs(script, f);
	fclose(f);
	chmod(path, 0755);
}

/* A squeue of that script alone in $PATH, none: NULL; and this program as ibroute-slurm. */
static void play(const char *kind, const char *squeue)
{

	setenv("FAKE_KIND", kind, 1);
	setenv("IBROUTE_SLURM", SELF, 1);
	put_script(squeue_path, squeue);
	put_script(sacct_path, NULL);
}

#define SQUEUE_ONE                                                                                 \
	"#!/bin/sh\necho '{\"jobs\": [{\"job_id\": 7, \"job_state\": \"RUNNING\", \"nodes\": "     \
	"\"n[1-3]\", \"name\": \"wrf\", \"user_name\": \"sato\", \"start_time\": 42, "             \
	"\"array_job_id\": {\"set\": true, \"number\": 5}, \"array_task_id\": 1, "                 \
	"\"partition\": \"gpu\", \"account\": \"met\", \"resv_name\": \"maint\", "                 \
	"\"features\": \"ib\"}]}'\n"

static void squeue_answers_in_the_place_of(const char *helper)
{
	struct source_opts o = { .backoff_ms = 50 };
	const struct job_list *l;
	struct job_source *s;
	struct err err;

	play(helper, SQUEUE_ONE);
	if (!strcmp(helper, "missing"))
		setenv("IBROUTE_SLURM", "/nonexistent/ibroute-slurm", 1);
	assert_int_equal(source_open(&s, &job_source_slurm, &o, &err), 0);
	assert_true(serve(s, SOURCE_OK, PATIENCE_MS));
	l = source_take(s);
	assert_int_equal(l->njob, 1);
	assert_int_equal(l->jobs[0].id, 7);
	assert_int_equal(l->jobs[0].nhost, 3);
	assert_string_equal(l->jobs[0].user, "sato");
	assert_string_equal(l->jobs[0].attr[JOB_LABEL], "5_1");
	assert_string_equal(l->jobs[0].attr[JOB_PARTITION], "gpu");
	assert_string_equal(l->jobs[0].attr[JOB_ACCOUNT], "met");
	assert_string_equal(l->jobs[0].attr[JOB_RESERVATION], "maint");
	assert_string_equal(l->jobs[0].attr[JOB_FEATURES], "ib");
	job_list_put(l);
	source_close(s);
	assert_true(no_children_left());
}

static void squeue_is_asked_where_the_helper_is_missing(void **state)
{
	(void)state;
	squeue_answers_in_the_place_of("missing");
}

static void squeue_is_asked_where_libslurm_is_another(void **state)
{
	(void)state;
	squeue_answers_in_the_place_of("no-library");
}

static void squeue_is_asked_where_the_helper_is_of_another_release(void **state)
{
	(void)state;
	squeue_answers_in_the_place_of("other-release");
}

static void without_both_the_error_says_what_is_to_be_done(void **state)
{
	struct job_source *s;
	struct err err;

	(void)state;
	play("good", NULL);
	setenv("IBROUTE_SLURM", "/nonexistent/ibroute-slurm", 1);
	assert_int_equal(source_open(&s, &job_source_slurm, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/ibroute-slurm"));
	assert_non_null(strstr(err.text, "Install it"));
}

static void a_helper_that_does_not_fit_is_dead_with_what_is_to_be_done(void **state)
{
	static const struct {
		const char *kind, *text[2];
	} cases[] = {
		{ "no-library", { "libslurm.so.99", "make ibroute-slurm" } },
		{ "other-release", { "version 99", "install both from one" } },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct source_opts o = { .backoff_ms = 5000 };
		struct job_source *s;
		struct err err;

		play(cases[i].kind, NULL);
		assert_int_equal(source_open(&s, &job_source_slurm, &o, &err), 0);
		assert_true(serve(s, SOURCE_DEAD, PATIENCE_MS));
		assert_true(has_text(s, cases[i].text[0]));
		assert_true(has_text(s, cases[i].text[1]));
		source_close(s);
	}
}

static void what_squeue_says_instead_is_unreachable(void **state)
{
	static const char *const scripts[] = {
		"#!/bin/sh\nexit 1\n",
		"#!/bin/sh\necho 'squeue: error: no such option'\n",
		"#!/bin/sh\necho '[]'\n",
		"#!/bin/sh\nkill -9 $$\n",
		"#!/bin/sh\necho '{\"errors\": [{\"error\": \"no controller\"}], \"jobs\": []}'\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		struct job_source *s;
		struct err err;

		play("no-library", scripts[i]);
		assert_int_equal(
			source_open(&s, &job_source_slurm, &(struct source_opts){ 0 }, &err), 0);
		assert_true(serve(s, SOURCE_UNREACHABLE, PATIENCE_MS));
		assert_true(has_text(s, "squeue"));
		source_close(s);
	}
}

/* It says so, should the arguments or its environment be others. */
#define SACCT_ONE                                                                                  \
	"#!/bin/sh\n"                                                                              \
	"[ \"$1 $2 $3 $4\" = \"-a -X -P --state=RUNNING\" ] && [ \"$5\" = -o ] && "                \
	"[ \"$SLURM_TIME_FORMAT\" = %s ] || { echo \"asked: $*\" >&2; exit 3; }\n"                 \
	"echo 'JobIDRaw|JobID|User|Start|End|NodeList|Partition|Account|Reservation|"              \
	"Constraints|JobName'\n"                                                                   \
	"echo '9|5_1|sato|42|Unknown|n[1-3]|gpu|met|maint|ib|wrf'\n"                               \
	"echo '10|10|abe|43|Unknown|n7|||||relion'\n"

static void assert_jobs_of_sacct(struct job_source *s)
{
	const struct job_list *l;

	assert_true(serve(s, SOURCE_OK, PATIENCE_MS));
	l = source_take(s);
	assert_int_equal(l->njob, 2);
	assert_int_equal(l->jobs[0].id, 9);
	assert_int_equal(l->jobs[0].nhost, 3);
	assert_int_equal(l->jobs[0].start_s, 42);
	assert_string_equal(l->jobs[0].name, "wrf");
	assert_string_equal(l->jobs[0].user, "sato");
	assert_string_equal(l->jobs[0].attr[JOB_LABEL], "5_1");
	assert_string_equal(l->jobs[0].attr[JOB_PARTITION], "gpu");
	assert_string_equal(l->jobs[0].attr[JOB_RESERVATION], "maint");
	assert_string_equal(l->jobs[0].attr[JOB_FEATURES], "ib");
	assert_string_equal(l->jobs[1].hosts[0], "n7");
	job_list_put(l);
}

static void sacct_is_asked_where_neither_the_helper_nor_squeue_answers(void **state)
{
	static const char *const squeues[] = {
		NULL,
		"#!/bin/sh\nexit 1\n",
		"#!/bin/sh\necho 'squeue: error: no such option'\n",
		"#!/bin/sh\necho '{\"errors\": [{\"error\": \"no controller\"}], \"jobs\": []}'\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(squeues) / sizeof(*squeues); i++) {
		struct job_source *s;
		struct err err;

		play("good", squeues[i]);
		put_script(sacct_path, SACCT_ONE);
		setenv("IBROUTE_SLURM", "/nonexistent/ibroute-slurm", 1);
		assert_int_equal(
			source_open(&s, &job_source_slurm, &(struct source_opts){ 0 }, &err), 0);
		assert_jobs_of_sacct(s);
		source_close(s);
		assert_true(no_children_left());
	}
}

static bool serve_until_logged(struct job_source *s, const char *text)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	awaited = text;
	awaited_seen = false;
	while (!awaited_seen && now_ms() < end)
		serve(s, SOURCE_OK, 100);
	awaited = NULL;
	return awaited_seen;
}

static void the_log_says_that_jobs_are_those_of_sacct_and_that_squeue_is_back(void **state)
{
	struct source_opts o = { .interval_ms = 100 };
	struct job_source *s;
	struct err err;

	(void)state;
	play("no-library", "#!/bin/sh\nexit 1\n");
	put_script(sacct_path, SACCT_ONE);
	assert_int_equal(source_open(&s, &job_source_slurm, &o, &err), 0);
	assert_true(serve_until_logged(s, "SLURM's accounting (sacct)"));
	assert_jobs_of_sacct(s);
	put_script(squeue_path, SQUEUE_ONE);
	assert_true(serve_until_logged(s, "squeue --json answers again"));
	source_close(s);
}

static void what_sacct_says_instead_is_unreachable_with_both_reasons(void **state)
{
	static const char *const scripts[][2] = {
		{ "#!/bin/sh\nexit 1\n", "sacct fails (exit code 1)" },
		{ "#!/bin/sh\nexit 0\n", "sacct prints nothing" },
		{ "#!/bin/sh\necho 'Slurm accounting storage is disabled'\n", "sacct:1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		struct job_source *s;
		struct err err;

		play("no-library", "#!/bin/sh\nexit 7\n");
		put_script(sacct_path, scripts[i][0]);
		assert_int_equal(
			source_open(&s, &job_source_slurm, &(struct source_opts){ 0 }, &err), 0);
		assert_true(serve(s, SOURCE_UNREACHABLE, PATIENCE_MS));
		assert_true(has_text(s, "squeue --json fails (exit code 7)"));
		assert_true(has_text(s, scripts[i][1]));
		source_close(s);
	}
}

static int make_dir(void **state)
{
	static char path[] = "/tmp/test_slurm_child.XXXXXX";

	(void)state;
	temp_dir = mkdtemp(path);
	snprintf(squeue_path, sizeof(squeue_path), "%s/squeue", temp_dir);
	snprintf(sacct_path, sizeof(sacct_path), "%s/sacct", temp_dir);
	setenv("PATH", temp_dir, 1);
	return !temp_dir;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(squeue_path);
	unlink(sacct_path);
	return rmdir(temp_dir);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_arrives_and_the_state_is_ok),
		cmocka_unit_test(a_list_in_pieces_arrives_whole),
		cmocka_unit_test(a_large_list_does_not_hold_up_the_caller),
		cmocka_unit_test(refusal_is_unreachable_with_the_reason_and_keeps_the_old_list),
		cmocka_unit_test(a_poller_that_dies_is_dead_with_its_last_words_and_comes_back),
		cmocka_unit_test(what_every_new_poller_says_is_logged_once),
		cmocka_unit_test(the_pause_between_restarts_grows),
		cmocka_unit_test(death_by_signal_is_told),
		cmocka_unit_test(garbage_ends_the_poller),
		cmocka_unit_test(silence_is_unreachable_first_and_killed_at_the_deadline),
		cmocka_unit_test(waiting_costs_few_wake_ups),
		cmocka_unit_test(a_flood_on_stderr_does_not_stop_the_list),
		cmocka_unit_test(close_ends_a_poller_that_does_not_listen),
		cmocka_unit_test(a_missing_program_is_dead_not_fatal),
		cmocka_unit_test(squeue_is_asked_where_the_helper_is_missing),
		cmocka_unit_test(squeue_is_asked_where_libslurm_is_another),
		cmocka_unit_test(squeue_is_asked_where_the_helper_is_of_another_release),
		cmocka_unit_test(without_both_the_error_says_what_is_to_be_done),
		cmocka_unit_test(a_helper_that_does_not_fit_is_dead_with_what_is_to_be_done),
		cmocka_unit_test(what_squeue_says_instead_is_unreachable),
		cmocka_unit_test(sacct_is_asked_where_neither_the_helper_nor_squeue_answers),
		cmocka_unit_test(the_log_says_that_jobs_are_those_of_sacct_and_that_squeue_is_back),
		cmocka_unit_test(what_sacct_says_instead_is_unreachable_with_both_reasons),
	};

	if (argc > 2 && !strcmp(argv[1], "fake"))
		return fake_main(argv[2], argc > 3 ? argv[3] : "");
	if (argc > 1 && !strcmp(argv[1], SQUEUE_POLLER_ARG))
		return squeue_poller_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[0], "ibroute-slurm"))
		return fake_main(getenv("FAKE_KIND"), "");
	log_set_sink(count_line, NULL);
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
