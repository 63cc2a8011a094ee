/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an agent is made of: lines of clients, the state file, commands. */
#include "fabric/agent/agent_hook.h"
#include "fabric/agent/agent_line.h"
#include "fabric/agent/agent_save.h"
#include "fabric/agent/agent_socket.h"
#include "fabric/agent/ibroute-agent.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/protocol/coordinator.h"
#include "tests/unit/kit/sync_spy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- lines ---- */

static int parse(struct agent_line *l, const char *text)
{
	return agent_line_parse(l, text, strlen(text), NULL);
}

static void lines_of_clients_are_read(void **state)
{
	struct agent_line l;

	(void)state;
	assert_int_equal(parse(&l, "HELLO 1 42.batch 7 drained\r"), 0);
	assert_int_equal(l.verb, AGENT_HELLO);
	assert_int_equal(l.version, 1);
	assert_string_equal(l.job, "42.batch");
	assert_int_equal(l.rank, 7);
	assert_int_equal(l.where, AGENT_AT_DRAINED);
	assert_int_equal(parse(&l, "FAILED 4294967295 no \001 way"), 0);
	assert_int_equal(l.verb, AGENT_FAILED);
	assert_int_equal(l.seq, UINT32_MAX);
	assert_string_equal(l.why, "no ? way");
	assert_int_equal(parse(&l, "DONE  3"), 0);
	assert_int_equal(l.seq, 3);
	assert_int_equal(parse(&l, "BYE"), 0);
	assert_int_equal(parse(&l, "END 42"), 0);
	assert_int_equal(l.verb, AGENT_END_JOB);
}

static void wrong_lines_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		" ",
		"\r",
		"hello 1 42 0 base",
		"HELLO",
		"HELLO 1 42 0",
		"HELLO 1 42 0 there",
		"HELLO 1 42 -1 base",
		"HELLO 1 4/2 0 base",
		"HELLO 1 42 0 base more",
		"DONE",
		"DONE x",
		"DONE 4294967296",
		"DONE 1 2",
		"FAILED why",
		"BYE now",
		"ADD",
		"ADD a b",
		"ADD $(id)",
		"GET / HTTP/1.0",
	};
	char longest[AGENT_LINE_MAX + 8], job[128];
	struct agent_line l;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse(&l, wrong[i]), -EINVAL);
	assert_int_equal(agent_line_parse(&l, "DONE 1\0002", 8, &err), -EINVAL);
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "FAILED 1 ", 9);
	assert_int_equal(agent_line_parse(&l, longest, AGENT_LINE_MAX, &err), -EINVAL);
	assert_int_equal(agent_line_parse(&l, longest, AGENT_LINE_MAX - 1, &err), 0);
	assert_int_equal(strlen(l.why), AGENT_WHY_MAX - 1);
	snprintf(job, sizeof(job), "ADD %064d", 1);
	assert_int_equal(parse(&l, job), -EINVAL);
	snprintf(job, sizeof(job), "ADD %063d", 1);
	assert_int_equal(parse(&l, job), 0);
}

static void the_header_reads_orders_and_passes_over_what_is_new(void **state)
{
	struct ibroute_order o;

	(void)state;
	assert_int_equal(ibroute_agent_read(&o, "WELCOME 1 escape 4"), 1);
	assert_true(o.what == IBROUTE_WELCOME && o.escape && o.escape_offset == 4);
	assert_int_equal(ibroute_agent_read(&o, "MIGRATE 9 18446744073709551615 4 60 later"), 1);
	assert_true(o.what == IBROUTE_MIGRATE && o.seq == 9 && o.txn == UINT64_MAX &&
		    o.limit_s == 60);
	assert_int_equal(ibroute_agent_read(&o, "RETURN 10 5 same 60"), 1);
	assert_true(o.what == IBROUTE_RETURN && o.same);
	assert_int_equal(ibroute_agent_read(&o, "RETURN 10 5"), 0);
	assert_int_equal(ibroute_agent_read(&o, "WELCOME 2 base 4"), 0);
	assert_int_equal(ibroute_agent_read(&o, "SOMETHING new"), 0);
	assert_int_equal(ibroute_agent_read(&o, ""), 0);
}

/* ---- the state file ---- */

static char dir[] = "/tmp/agent_parts.XXXXXX";

static const char *file(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void fill(struct agent_save *s)
{
	struct agent_job j = { "42", 1000 };
	struct agent_peer p = { .job = "42", .rank = 3, .pid = 77, .start = 1234567890123 };

	*s = (struct agent_save){ .hold_s = 300, .heard_ms = 99, .port_guid = 0xabc };
	s->state = (struct agent_saved){
		.txn = UINT64_MAX, .seq = 5, .repeat = 6, .want = PHASE_UNPATH, .mode = AGENT_ESCAPE
	};
	vec_push(&s->jobs, j);
	vec_push(&s->peers, p);
}

static void what_was_saved_is_loaded(void **state)
{
	struct agent_save s, t;

	(void)state;
	fill(&s);
	assert_int_equal(agent_save_store(&s, file("state"), NULL), 0);
	assert_int_equal(agent_save_load(&t, file("state"), 0xabc, NULL), 0);
	assert_true(t.state.txn == UINT64_MAX && t.state.seq == 5 && t.state.repeat == 6 &&
		    t.state.want == PHASE_UNPATH && t.state.mode == AGENT_ESCAPE);
	assert_true(t.hold_s == 300 && t.heard_ms == 99);
	assert_true(t.jobs.n == 1 && t.peers.n == 1);
	assert_string_equal(t.jobs.v[0].name, "42");
	assert_string_equal(t.peers.v[0].job, "42");
	assert_true(t.peers.v[0].rank == 3 && t.peers.v[0].pid == 77 &&
		    t.peers.v[0].start == 1234567890123);
	agent_save_clear(&t);
	assert_int_equal(agent_save_load(&t, file("state"), 0xabd, NULL), -EINVAL);
	assert_int_equal(agent_save_load(&t, file("nothing"), 0xabc, NULL), -ENOENT);
	agent_save_clear(&s);
}

static void a_damaged_state_is_refused_wherever_it_is_cut(void **state)
{
	char text[4096], boot[64];
	struct agent_save s, t;
	size_t n;
	FILE *f;

	(void)state;
	fill(&s);
	assert_int_equal(agent_save_store(&s, file("state"), NULL), 0);
	f = fopen(file("state"), "r");
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	assert_int_equal(sscanf(text, "%*s %*s boot %63s", boot), 1);
	assert_int_equal(agent_save_parse(&t, text, n, boot, NULL), 0);
	agent_save_clear(&t);
	for (size_t k = 0; k < n; k++)
		assert_int_equal(agent_save_parse(&t, text, k, boot, NULL), -EINVAL);
	assert_int_equal(agent_save_parse(&t, text, n, "another", NULL), -ENOENT);
	agent_save_clear(&s);
}

static void a_state_is_on_the_disk_before_it_gets_its_name(void **state)
{
	struct agent_save s;
	struct err err;

	(void)state;
	fill(&s);
	assert_int_equal(agent_save_store(&s, file("state"), NULL), 0);
	assert_true(spy_synced(file("state"), 0));
	assert_false(spy_synced(file("state"), spy.renamed));
	assert_true(spy_synced(dir, spy.renamed));
	spy.fail_at = spy.calls + 1;
	assert_int_equal(agent_save_store(&s, file("other"), &err), -EIO);
	assert_non_null(strstr(err.text, "/other: cannot "));
	assert_int_not_equal(access(file("other"), F_OK), 0);
	spy.fail_at = 0;
	agent_save_clear(&s);
}

static void processes_are_told_from_others_with_their_pid(void **state)
{
	struct agent_peer me = { .pid = getpid(), .start = agent_pid_start(getpid()) };
	pid_t child;

	(void)state;
	assert_true(me.start && agent_peer_alive(&me));
	me.start++;
	assert_false(agent_peer_alive(&me));
	child = fork();
	if (!child)
		_exit(0);
	waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	assert_int_equal(agent_pid_start(child), 0); /* a zombie has no queue pairs */
	waitpid(child, NULL, 0);
}

/* ---- the socket ---- */

static void a_socket_is_not_removed_when_its_owner_cannot_be_asked(void **state)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int left = socket(AF_UNIX, SOCK_STREAM, 0), free_fd;
	struct agent_socket *s = NULL;
	struct rlimit had, few;
	struct err err;

	(void)state;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", dir);
	assert_int_equal(bind(left, (struct sockaddr *)&at, sizeof(at)), 0);
	close(left);
	free_fd = dup(0);
	close(free_fd);
	getrlimit(RLIMIT_NOFILE, &had);
	few = (struct rlimit){ .rlim_cur = (rlim_t)free_fd, .rlim_max = had.rlim_max };
	setrlimit(RLIMIT_NOFILE, &few);
	assert_int_equal(agent_socket_open(&s, at.sun_path, 0600, NULL, NULL, &err), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &had);
	assert_int_equal(access(at.sun_path, F_OK), 0);
	assert_int_equal(agent_socket_open(&s, at.sun_path, 0600, NULL, NULL, &err), 0);
	agent_socket_close(s);
}

/* ---- commands ---- */

static char lines[16][300];
static uint32_t nlines;

static void keep_line(void *ctx, const struct log_line *l)
{
	(void)ctx;
	if (nlines < 16)
		snprintf(lines[nlines], sizeof(lines[0]), "%s", l->text);
	nlines++;
}

static int run(struct agent_hook *h, struct err *err)
{
	int rc = 0;

	while (!agent_hook_turn(h, clock_ms(), &rc, err))
		usleep(2000);
	return rc;
}

static void start(struct agent_hook *h, const char *command, uint32_t limit_ms)
{
	static const char *const env[] = { "IBROUTE_PHASE=drain", NULL };

	nlines = 0;
	assert_int_equal(agent_hook_start(h, command, env, "drain", clock_ms(), limit_ms, NULL), 0);
}

static void a_command_sees_its_environment_and_its_output_is_logged(void **state)
{
	struct agent_hook h;
	struct err err;

	(void)state;
	setenv("IBROUTE_PHASE", "of the caller", 1);
	start(&h, "echo phase $IBROUTE_PHASE; echo two >&2; printf three", 5000);
	assert_int_equal(run(&h, &err), 0);
	unsetenv("IBROUTE_PHASE");
	assert_int_equal(nlines, 3);
	assert_string_equal(lines[0], "drain: phase drain");
	assert_string_equal(lines[1], "drain: two");
	assert_string_equal(lines[2], "drain: three");
}

static void a_command_that_fails_is_told_with_its_exit_code(void **state)
{
	struct agent_hook h;
	struct err err;

	(void)state;
	start(&h, "exit 3", 5000);
	assert_int_equal(run(&h, &err), -EIO);
	assert_string_equal(err.text, "the drain failed with exit code 3");
	start(&h, "/no/such/command", 5000);
	assert_int_equal(run(&h, &err), -EIO);
	assert_string_equal(err.text, "the drain failed with exit code 127: is the command there?");
	start(&h, "kill -SEGV $$", 5000);
	assert_int_equal(run(&h, &err), -EIO);
	assert_non_null(strstr(err.text, "killed by signal 11"));
}

static void a_flood_of_output_is_cut_off(void **state)
{
	struct agent_hook h;
	struct err err;

	(void)state;
	start(&h, "seq 1 20000", 5000);
	assert_int_equal(run(&h, &err), 0);
	assert_int_equal(nlines, 201);
}

static bool process_at(const char *pid_file)
{
	FILE *f = fopen(pid_file, "r");
	int pid = 0;

	if (!f)
		return false;
	if (fscanf(f, "%d", &pid) != 1)
		pid = 0;
	fclose(f);
	return pid && agent_pid_start(pid);
}

static void wait_for(const char *pid_file, bool alive)
{
	for (int k = 0; k < 500 && process_at(pid_file) != alive; k++)
		usleep(5000);
	assert_int_equal(process_at(pid_file), alive);
}

static void a_late_command_gets_sigterm_and_then_sigkill_with_all_its_children(void **state)
{
	char command[300], pid_file[128];
	struct agent_hook h;
	struct err err;
	uint64_t t0;

	(void)state;
	snprintf(pid_file, sizeof(pid_file), "%s", file("pid1"));
	/* the child does not hear SIGTERM, nor does its father */
	snprintf(
		command, sizeof(command),
		"trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >%s; while :; do sleep 1; done' & wait",
		pid_file);
	start(&h, command, 200);
	wait_for(pid_file, true);
	t0 = clock_ms();
	assert_int_equal(run(&h, &err), -ETIMEDOUT);
	assert_true(clock_ms() - t0 >= 1500);
	assert_string_equal(err.text, "the drain took too long and was killed");
	wait_for(pid_file, false);
}

static void a_command_that_is_not_wanted_any_more_ends_soon(void **state)
{
	struct agent_hook h;
	struct err err;
	uint64_t t0;

	(void)state;
	start(&h, "sleep 30", 60000);
	t0 = clock_ms();
	agent_hook_stop(&h, clock_ms());
	assert_int_equal(run(&h, &err), -ECANCELED);
	assert_true(clock_ms() - t0 < 1500);
}

/* As by a lock that another thread held at the fork; the times are told, not waited for. */
static void a_process_in_between_that_hangs_is_killed_with_its_command(void **state)
{
	uint64_t late = clock_ms() + 60001;
	char command[300], pid_file[128];
	struct agent_hook h;
	struct err err;
	int rc = 0;

	(void)state;
	snprintf(pid_file, sizeof(pid_file), "%s", file("pid3"));
	snprintf(command, sizeof(command), "echo $$ >%s; exec sleep 60", pid_file);
	start(&h, command, 60000);
	wait_for(pid_file, true);
	kill(h.pid, SIGSTOP);
	assert_false(agent_hook_turn(&h, late, &rc, &err));
	assert_false(agent_hook_turn(&h, late + AGENT_HOOK_GRACE_MS, &rc, &err));
	while (!agent_hook_turn(&h, late + AGENT_HOOK_GRACE_MS + 60000, &rc, &err))
		usleep(2000);
	assert_int_equal(rc, -ETIMEDOUT);
	wait_for(pid_file, false);
}

static void a_command_does_not_outlive_its_agent(void **state)
{
	char command[300], pid_file[128];
	struct agent_hook h;
	pid_t agent;

	(void)state;
	snprintf(pid_file, sizeof(pid_file), "%s", file("pid2"));
	snprintf(command, sizeof(command), "sh -c 'echo $$ >%s; sleep 60; :' & wait", pid_file);
	agent = fork();
	if (!agent) {
		start(&h, command, 60000);
		pause();
		_exit(0);
	}
	wait_for(pid_file, true);
	kill(agent, SIGKILL);
	waitpid(agent, NULL, 0);
	wait_for(pid_file, false);
}

static int set_up(void **state)
{
	(void)state;
	log_set_sink(keep_line, NULL);
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "state", "pid1", "pid2", "pid3" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(file(names[i]));
	log_set_sink(NULL, NULL);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_clients_are_read),
		cmocka_unit_test(wrong_lines_are_refused),
		cmocka_unit_test(the_header_reads_orders_and_passes_over_what_is_new),
		cmocka_unit_test(what_was_saved_is_loaded),
		cmocka_unit_test(a_damaged_state_is_refused_wherever_it_is_cut),
		cmocka_unit_test(a_state_is_on_the_disk_before_it_gets_its_name),
		cmocka_unit_test(processes_are_told_from_others_with_their_pid),
		cmocka_unit_test(a_socket_is_not_removed_when_its_owner_cannot_be_asked),
		cmocka_unit_test(a_command_sees_its_environment_and_its_output_is_logged),
		cmocka_unit_test(a_command_that_fails_is_told_with_its_exit_code),
		cmocka_unit_test(a_flood_of_output_is_cut_off),
		cmocka_unit_test(
			a_late_command_gets_sigterm_and_then_sigkill_with_all_its_children),
		cmocka_unit_test(a_command_that_is_not_wanted_any_more_ends_soon),
		cmocka_unit_test(a_process_in_between_that_hangs_is_killed_with_its_command),
		cmocka_unit_test(a_command_does_not_outlive_its_agent),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
