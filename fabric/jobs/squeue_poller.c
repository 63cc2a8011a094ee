/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/squeue_poller.h"

#include "fabric/base/file/store.h"
#include "fabric/base/process/confine.h"
#include "fabric/base/process/isolate.h"
#include "fabric/base/text/json_text.h"
#include "fabric/jobs/jobwire.h"
#include "fabric/jobs/poller_pipe.h"
#include "fabric/jobs/sacct.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES (1ll << 30)

/* ---- what it prints ---- */

/* A number, of 23.02 and later {"set": true, "number": N}; false: there is none. */
static bool squeue_number(uint64_t *out, const json_t *job, const char *key)
{
	const json_t *v = json_object_get(job, key);

	*out = 0;
	if (json_is_object(v))
		v = json_is_false(json_object_get(v, "set")) ? NULL : json_object_get(v, "number");
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*out = (uint64_t)json_integer_value(v);
	return true;
}

/* A text, of later releases the first of an array: what follows are flags. */
static const char *squeue_state(const json_t *job)
{
	const json_t *v = json_object_get(job, "job_state");

	if (json_is_array(v))
		v = json_array_get(v, 0);
	return json_is_string(v) ? json_string_value(v) : "";
}

/* "5_1" of a task of an array; else "". */
static const char *squeue_label(char buf[JOB_ID_LEN], const json_t *job)
{
	uint64_t array, task;

	buf[0] = '\0';
	if (squeue_number(&array, job, "array_job_id") && array &&
	    squeue_number(&task, job, "array_task_id") && task < UINT32_MAX - 1)
		snprintf(buf, JOB_ID_LEN, "%llu_%llu", (unsigned long long)array,
			 (unsigned long long)task);
	return buf;
}

static void squeue_take_job(struct job_list *l, const json_t *job)
{
	char label[JOB_ID_LEN];
	const char *state = squeue_state(job), *nodes = json_string_at(job, "nodes");
	struct job_rec r = { .name = json_string_at(job, "name"),
			     .user = json_string_at(job, "user_name"),
			     .nodes = nodes,
			     .attr = { [JOB_LABEL] = squeue_label(label, job),
				       [JOB_PARTITION] = json_string_at(job, "partition"),
				       [JOB_ACCOUNT] = json_string_at(job, "account"),
				       [JOB_RESERVATION] = json_string_at(job, "resv_name"),
				       [JOB_FEATURES] = json_string_at(job, "features") } };
	uint64_t het, offset, start;

	squeue_number(&r.id, job, "job_id");
	squeue_number(&start, job, "start_time");
	r.start_s = (int64_t)start;
	if (squeue_number(&het, job, "het_job_id") && het) {
		squeue_number(&offset, job, "het_job_offset");
		r.id = het;
		r.part = 1 + (uint32_t)(offset < UINT16_MAX ? offset : UINT16_MAX);
	}
	if (!strcmp(state, "RUNNING") && *nodes)
		job_list_add(l, &r);
	else if (!strcmp(state, "PENDING"))
		l->pending++;
	else
		l->other++;
	if (!strcmp(state, "NODE_FAIL"))
		job_list_failed(l, r.id);
}

int squeue_read(struct job_list **out, FILE *file, struct err *err)
{
	json_error_t where;
	json_t *j = json_text_clean(json_loadf(file, 0, &where)), *jobs, *job;
	const json_t *errors = json_object_get(j, "errors");
	size_t i;
	int rc = 0;

	*out = NULL;
	jobs = json_object_get(j, "jobs");
	/* without slurmctld it prints no jobs and exits with 0 */
	if (json_array_size(errors))
		rc = err_set(err, -EIO, "squeue --json: %s: %s",
			     json_string_at(json_array_get(errors, 0), "description"),
			     json_string_at(json_array_get(errors, 0), "error"));
	else if (!j)
		rc = err_set(err, -EINVAL, "squeue --json: line %d: %s", where.line, where.text);
	else if (!json_is_array(jobs))
		rc = err_set(err, -EINVAL, "squeue --json prints no \"jobs\"");
	if (rc)
		goto out;
	*out = job_list_new("slurm", time(NULL));
	json_array_foreach(jobs, i, job) squeue_take_job(*out, job);
out:
	json_decref(j);
	return rc;
}

/* ---- the process ---- */

/* What can be asked. */
struct question {
	const char *what; /* for people */
	const char *const *argv;
	int (*read)(struct job_list **out, FILE *file, struct err *err);
};

static const char *const squeue_argv[] = { "squeue", "--json", NULL };
static const struct question squeue = { "squeue --json", squeue_argv, squeue_read };
static const struct question sacct = { "sacct", sacct_argv, sacct_read };

struct answer {
	const struct question *to;
	FILE *file;
};

static int squeue_part(void *ctx, struct isolated_out *result, struct err *err)
{
	const struct answer *a = ctx;
	struct job_list *l;
	size_t len;
	char *lines;
	int rc = a->to->read(&l, a->file, err);

	if (rc)
		return rc;
	lines = jobwire_list(&len, l);
	isolated_put(result, lines, len);
	free(lines);
	job_list_put(l);
	return 0;
}

/* In the child. */
static void squeue_become(const struct question *q, int out, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0 || setenv(SACCT_TIMES, 1))
		_exit(126);
	execvp(q->argv[0], (char *const *)(uintptr_t)q->argv);
	_exit(127);
}

static int squeue_run(const struct answer *a, struct err *err)
{
	const char *what = a->to->what;
	pid_t me = getpid(), pid = fork();
	struct stat st;
	int status = 0;

	if (pid < 0)
		return err_set(err, -errno, "%s cannot be started: %s", what, strerror(errno));
	if (!pid)
		squeue_become(a->to, fileno(a->file), me);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_set(err, -ENOENT, "%s cannot be started", what);
	if (status)
		return err_set(err, -EIO, "%s fails (%s %d)", what,
			       WIFEXITED(status) ? "exit code" : "signal",
			       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	if (fstat(fileno(a->file), &st) || st.st_size > MOST_BYTES)
		return err_set(err, -E2BIG, "%s prints more than 1 GB", what);
	rewind(a->file);
	return 0;
}

/* What it prints is read by a process that can do nothing else. */
static int squeue_put(struct isolated *lines, const struct question *q, struct err *err)
{
	int fd = memfd_create("squeue", MFD_CLOEXEC), rc;
	struct answer a = { .to = q, .file = fd < 0 ? NULL : fdopen(fd, "r") };

	if (!a.file)
		return err_set(err, -errno, "%s cannot be read: %s", q->what, strerror(errno));
	rc = squeue_run(&a, err);
	if (!rc)
		rc = isolated_read(lines, (FILE *const[2]){ a.file, NULL }, squeue_part, &a, err);
	fclose(a.file);
	return rc;
}

/* Why the accounting is asked, once; and that slurmctld answers again. */
static void squeue_tell_sacct(const char *why)
{
	static bool told;

	if (why && !told)
		fprintf(stderr, "%s; the running jobs are those of SLURM's accounting (sacct)\n",
			why);
	else if (!why && told)
		fputs("squeue --json answers again: jobs are no longer those of sacct\n", stderr);
	told = why;
}

/* The accounting is asked where slurmctld does not answer. */
static bool squeue_ask(int out)
{
	struct isolated lines = { 0 };
	struct err err = { "" }, why = { "" };
	char text[400];
	bool sent;
	int rc = squeue_put(&lines, &squeue, &err), again = 0;

	if (rc)
		again = squeue_put(&lines, &sacct, &why);
	if (!rc || !again) {
		squeue_tell_sacct(rc ? err.text : NULL);
		sent = !store_put(out, lines.data, lines.len);
	} else {
		snprintf(text, sizeof(text), "%.190s%s%.190s", err.text,
			 again == -ENOENT ? "" : "; ", again == -ENOENT ? "" : why.text);
		sent = poller_pipe_text(out, JOBWIRE_FAIL, text);
	}
	isolated_free(&lines);
	return sent;
}

int squeue_poller_main(int argc, char **argv)
{
	uint32_t interval_ms;
	struct err err;
	int out;

	if (!poller_pipe_args(&interval_ms, argc, argv))
		return 64;
	out = poller_pipe_stdout();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (confine_capabilities(0, &err))
		fprintf(stderr, "what squeue may do is not confined: %s\n", err.text);
	if (out < 0 || !poller_pipe_wait(0) || !poller_pipe_text(out, JOBWIRE_HELLO, "squeue"))
		return 1;
	while (squeue_ask(out) && poller_pipe_wait(interval_ms))
		;
	return 0;
}
