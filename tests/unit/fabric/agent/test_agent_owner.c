/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may speak for a job: by users, and by what /proc/PID/cgroup says. */
#include "fabric/agent/agent_owner.h"

#include "fabric/agent/agent_line.h"
#include "fabric/agent/agent_save.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>

#define OTHER 4321u /* a user that this process is not */

static void groups_of_slurm_are_known(void **state)
{
	static const char *const in[] = {
		"0::/system.slice/slurmstepd.scope/job_77/step_0/user/task_0\n",
		"0::/system.slice/n0001_slurmstepd.scope/job_77/step_batch/user/task_special",
		"5:cpuset:/\n4:memory:/slurm/uid_1000/job_77/step_0/task_0\n1:name=systemd:/x\n",
		"4:freezer:/slurm_n0001/uid_1000/job_77\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++) {
		assert_true(agent_owner_in_cgroup(in[i], "77"));
		assert_false(agent_owner_in_cgroup(in[i], "7"));
		assert_false(agent_owner_in_cgroup(in[i], "777"));
	}
}

static void groups_that_users_make_are_not(void **state)
{
	static const char *const out[] = {
		"",
		"\n",
		"0::/\n",
		"0::/job_77\n",
		"0::/user.slice/user-1000.slice/user@1000.service/job_77\n",
		"0::/user.slice/user-1000.slice/user@1000.service/slurmstepd.scope/job_77\n",
		"0::/user.slice/user-1000.slice/system.slice/slurmstepd.scope/job_77\n",
		"0::/system.slice/mine.service/slurmstepd.scope/job_77\n",
		"0::/system.slice/slurmstepd.scope/job_55/step_0/user/task_0/job_77\n",
		"0::/system.slice/slurmstepd.scope/job_55/../job_77\n",
		"0::/system.slice/slurmstepd.scope/job_771\n",
		"0::/system.slice/slurmstepd.scope/xjob_77\n",
		"0::/system.slice/slurmstepd.scope\njob_77\n",
		"4:memory:/slurm/uid_1000/job_55/job_77\n",
		"4:memory:/slurm/job_77\n",
		"4:name=/system.slice/slurmstepd.scope/job_77\n",
		"job_77",
		":::",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(out) / sizeof(*out); i++)
		assert_false(agent_owner_in_cgroup(out[i], "77"));
}

static void the_jobs_user_root_and_the_agents_own_may(void **state)
{
	struct agent_caller root = { .uid = 0 }, own = { .uid = geteuid() };
	struct agent_caller other = { .uid = OTHER,
				      .pid = getpid(),
				      .start = agent_pid_start(getpid()) };
	struct err err;

	(void)state;
	assert_int_equal(agent_owner_check(&root, "77", AGENT_NO_USER, &err), 0);
	assert_int_equal(agent_owner_check(&own, "77", OTHER, &err), 0);
	assert_int_equal(agent_owner_check(&other, "77", OTHER, &err), 0);
	assert_int_equal(agent_owner_check(&other, "77", OTHER + 1, &err), -EPERM);
	assert_non_null(strstr(err.text, "not of user 4321"));
	assert_int_equal(agent_owner_check(&other, "77", AGENT_NO_USER, &err), -EPERM);
	assert_non_null(strstr(err.text, "--add-job 77 --user"));
}

static char dir[] = "/tmp/ibroute-owner-XXXXXX";

static const char *file(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(file("state"));
	return rmdir(dir);
}

static void a_job_is_saved_with_its_user(void **state)
{
	struct agent_save s = { .port_guid = 7 }, t;
	struct agent_job a = { .name = "77", .uid = OTHER },
			 b = { .name = "78", .uid = AGENT_NO_USER };

	(void)state;
	vec_push(&s.jobs, a);
	vec_push(&s.jobs, b);
	assert_int_equal(agent_save_store(&s, file("state"), NULL), 0);
	assert_int_equal(agent_save_load(&t, file("state"), 7, NULL), 0);
	assert_int_equal(t.jobs.n, 2);
	assert_int_equal(t.jobs.v[0].uid, OTHER);
	assert_int_equal(t.jobs.v[1].uid, AGENT_NO_USER);
	agent_save_clear(&t);
	agent_save_clear(&s);
}

static void jobs_of_an_older_agent_have_no_user(void **state)
{
	static const char text[] =
		"ibroute-agent 1\nboot b\nport 0x7\nstate 1 2 0 0 0 300 9\njob 77\nend\n";
	static const char wrong[] =
		"ibroute-agent 2\nboot b\nport 0x7\nstate 1 2 0 0 0 300 9\njob 77 user x\nend\n";
	struct agent_save s;

	(void)state;
	assert_int_equal(agent_save_parse(&s, text, sizeof(text) - 1, "b", NULL), 0);
	assert_int_equal(s.jobs.v[0].uid, AGENT_NO_USER);
	agent_save_clear(&s);
	assert_int_equal(agent_save_parse(&s, wrong, sizeof(wrong) - 1, "b", NULL), -EINVAL);
}

/* Whoever could write it could set the transaction, the jobs and their users. */
static void a_state_of_others_is_not_believed(void **state)
{
	struct agent_save s = { .port_guid = 7 }, t;
	char path[128];
	struct err err;

	(void)state;
	snprintf(path, sizeof(path), "%s", file("state"));
	assert_int_equal(agent_save_store(&s, path, NULL), 0);
	assert_int_equal(chmod(path, 0620), 0);
	assert_int_equal(agent_save_load(&t, path, 7, &err), -EINVAL);
	assert_non_null(strstr(err.text, "folder of the agent's own"));
	assert_int_equal(chmod(path, 0600), 0);
	unlink(file("link"));
	assert_int_equal(symlink(path, file("link")), 0);
	assert_int_equal(agent_save_load(&t, file("link"), 7, &err), -EINVAL);
	unlink(file("link"));
	assert_int_equal(mkfifo(file("fifo"), 0600), 0);
	assert_int_equal(agent_save_load(&t, file("fifo"), 7, &err), -EINVAL);
	unlink(file("fifo"));
	if (!geteuid()) {
		assert_int_equal(chown(path, OTHER, OTHER), 0);
		assert_int_equal(agent_save_load(&t, path, 7, &err), -EINVAL);
	}
	unlink(path);
}

static void add_may_name_a_user(void **state)
{
	struct agent_line l;

	(void)state;
	assert_int_equal(agent_line_parse(&l, "ADD 77 1000", 11, NULL), 0);
	assert_int_equal(l.uid, 1000);
	assert_int_equal(agent_line_parse(&l, "ADD 77", 6, NULL), 0);
	assert_int_equal(l.uid, AGENT_NO_USER);
	assert_int_equal(agent_line_parse(&l, "ADD 77 -1", 9, NULL), -EINVAL);
	assert_int_equal(agent_line_parse(&l, "ADD 77 root", 11, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_of_slurm_are_known),
		cmocka_unit_test(groups_that_users_make_are_not),
		cmocka_unit_test(the_jobs_user_root_and_the_agents_own_may),
		cmocka_unit_test(a_job_is_saved_with_its_user),
		cmocka_unit_test(jobs_of_an_older_agent_have_no_user),
		cmocka_unit_test(a_state_of_others_is_not_believed),
		cmocka_unit_test(add_may_name_a_user),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
