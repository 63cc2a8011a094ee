/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_jobs.h"

#include "console/io/input_file.h"
#include "fabric/base/message/log.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/time/stamp.h"
#include "fabric/base/time/when.h"
#include "fabric/format/slurm/jobs_apart.h"
#include "fabric/model/topology/host_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SACCT                                                                                      \
	"unset LD_PRELOAD; SLURM_TIME_FORMAT=%%s exec timeout 300 sacct -a -X -P "                 \
	"-o JobIDRaw,JobID,JobName,User,Start,End,NodeList -S now-%lld -E now 2>/dev/null"

static void load_jobs_tell_unknown(const struct jobset *js, const char *path)
{
	uint32_t jobs = 0, nodes = 0, named = 0;

	for (uint32_t i = 0; i < js->njob; i++) {
		jobs += js->jobs[i].unknown > 0;
		nodes += js->jobs[i].unknown;
		named += js->jobs[i].nnodes;
	}
	if (jobs)
		log_add(LOG_WARN, "jobs",
			"%s: %u of the %u nodes named by jobs are not in the fabric (%u of %u "
			"jobs)",
			path, nodes, named, jobs, js->njob);
}

void load_jobs_tell_names(const struct jobset *js, const struct fabric *f)
{
	uint32_t jobs = 0, first = FAB_NONE;
	char text[300];

	for (uint32_t i = 0; i < js->njob; i++) {
		uint32_t term = job_ambiguous(&js->jobs[i], f);

		jobs += term != FAB_NONE;
		if (first == FAB_NONE)
			first = term;
	}
	if (!jobs)
		return;
	host_names_text(text, sizeof(text), f, first);
	log_add(LOG_WARN, "jobs",
		"%u job%s run%s on nodes whose names several hosts may have: %s (a node-name-map "
		"says which is which)",
		jobs, plural(jobs), jobs == 1 ? "s" : "", text);
}

/* "2026-11-20T10:00:00+0100" */
static const char *load_jobs_stamp(char buf[STAMP_LEN], int64_t unix_s)
{
	return stamp_local(buf, STAMP_LEN, "%Y-%m-%dT%H:%M:%S%z", unix_s);
}

/* Nodes that several of the jobs have: rare in a cluster, certain in a history that is taken as
 * one moment. */
static void load_jobs_tell_shared(const struct jobset *js, const struct fabric *f, const char *path)
{
	uint32_t n = 0, first = FAB_NONE;

	for (uint32_t t = 0; t < f->nterm; t++) {
		bool shared = js->term_off[t + 1] - js->term_off[t] > 1;

		n += shared;
		if (shared && first == FAB_NONE)
			first = t;
	}
	if (!n)
		return;
	log_add(LOG_WARN, "jobs",
		"%s: %u host port%s in several jobs at once (%s in %llu and %llu)", path, n,
		n == 1 ? " is" : "s are", f->term_name[first],
		(unsigned long long)js->jobs[js->term_job[js->term_off[first]]].id,
		(unsigned long long)js->jobs[js->term_job[js->term_off[first] + 1]].id);
}

static bool load_jobs_is_history(const struct job_log *log)
{
	for (uint32_t i = 0; i < log->n; i++)
		if (log->jobs[i].end_s)
			return true;
	return false;
}

/* What a file says of time, against what was asked of it. */
static void load_jobs_tell_time(const struct job_log *log, const struct jobset *js,
				const struct jobs_moment *when, const char *path)
{
	char first[STAMP_LEN], last[STAMP_LEN], at[STAMP_LEN];
	int64_t from_s, to_s;

	if (!log->n) {
		log_add(LOG_WARN, "jobs", "%s: no job is in it", path);
		return;
	}
	job_log_span(log, &from_s, &to_s);
	load_jobs_stamp(first, from_s);
	load_jobs_stamp(last, to_s);
	if (!when || !when->at_said) {
		if (load_jobs_is_history(log))
			log_add(LOG_WARN, "jobs",
				"%s: is a history, from %s to %s: all its %u job%s count as if they "
				"ran at the same time; --at TIME takes those of a moment",
				path, first, last, log->n, plural(log->n));
		return;
	}
	load_jobs_stamp(at, when->at_s);
	if (!from_s && !to_s)
		log_add(LOG_WARN, "jobs", "%s: its jobs have no times: all run at %s", path, at);
	else if (!js->njob)
		log_add(LOG_WARN, "jobs", "%s: no job runs at %s; the history is from %s to %s",
			path, at, first, last);
	if (log->local_times && (from_s || to_s))
		log_add(LOG_WARN, "jobs",
			"%s: its times have no zone: those of this machine are taken (%s); TZ=... "
			"sets another",
			path, at + strlen(at) - 5);
}

static void load_jobs_tell_placed(const struct placement_report *r, const char *path, bool said)
{
	if (!r->placed && !r->no_room)
		return;
	if (!said)
		log_add(LOG_WARN, "jobs",
			"%s: does not say which nodes jobs had: placed first-fit; --placement has "
			"other policies",
			path);
	if (r->no_room)
		log_add(LOG_WARN, "jobs",
			"%s: %u of %u jobs are left out: too few of the %u nodes were free when "
			"they began (the first: %llu)",
			path, r->no_room, r->no_room + r->placed, r->nodes,
			(unsigned long long)r->first_id);
}

static void load_jobs_place(struct job_log *log, const struct jobs_moment *when, bool moment,
			    const struct fabric *f, const char *path)
{
	struct placement_opts opts = { .seed = 1, .from_s = JOB_LOG_ALL, .to_s = JOB_LOG_ALL };
	struct placement_report report;

	if (when) {
		opts.policy = when->placement;
		opts.seed = when->seed;
	}
	if (moment && when && when->at_said)
		opts.from_s = opts.to_s = when->at_s;
	job_log_place(log, f, &opts, &report);
	load_jobs_tell_placed(&report, path, when && when->placement_said);
}

/* A program of SLURM's own, since libslurm may end the process that calls it. */
static int load_jobs_ask_sacct(struct job_log **out, const char *since, struct err *err)
{
	struct read_report report = { 0 };
	struct err why = { "" };
	char command[400];
	int64_t span_s;
	int rc, status;
	FILE *in;

	if (!when_parse_span(&span_s, since))
		return err_set(err, -EINVAL, "--since: '%s' is not a time such as 30d, 12h, 90m",
			       since);
	snprintf(command, sizeof(command), SACCT, (long long)span_s);
	in = popen(command, "re");
	if (!in)
		return err_set(err, -errno, "sacct cannot be started: %s", strerror(errno));
	rc = jobs_apart_read(out, in, "sacct", &report, &why);
	status = pclose(in);
	if (!rc && !status) {
		input_file_tell(&report);
		return 0;
	}
	if (!rc)
		job_log_free(*out);
	*out = NULL;
	return err_set(err, -EIO, "SLURM's accounting cannot be read (exit code %d of sacct): %s",
		       WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		       rc ? why.text : "sacct failed");
}

static int load_jobs_read(struct job_log **out, char shown[256], const char *path,
			  const struct jobs_moment *when, struct err *err)
{
	struct read_report report;
	struct input_file in;
	int rc;

	*out = NULL;
	snprintf(shown, 256, "%s", path);
	if (when && when->since) {
		if (strcmp(path, JOBS_SACCT))
			return err_set(err, -EINVAL,
				       "--since is for the jobs of SLURM: %s is a file", path);
		snprintf(shown, 256, "sacct");
		return load_jobs_ask_sacct(out, when->since, err);
	}
	rc = input_file_open(&in, path, err);
	if (rc)
		return rc;
	snprintf(shown, 256, "%s", in.path);
	rc = jobs_apart_read(out, in.file, in.path, &report, err);
	input_file_close(&in);
	if (!rc)
		input_file_tell(&report);
	return rc;
}

int load_jobs(struct jobset **out, const char *path, const struct jobs_moment *when,
	      const struct fabric *f, struct err *err)
{
	int64_t at_s = when && when->at_said ? when->at_s : JOB_LOG_ALL;
	struct job_log *log;
	char source[32], shown[256];
	int rc = load_jobs_read(&log, shown, path, when, err);

	*out = NULL;
	if (rc)
		return rc;
	snprintf(source, sizeof(source), "file %.26s", shown);
	load_jobs_place(log, when, true, f, shown);
	rc = job_log_jobset(out, log, f, at_s, source, err);
	if (!rc) {
		load_jobs_tell_time(log, *out, when, shown);
		load_jobs_tell_unknown(*out, shown);
		load_jobs_tell_shared(*out, f, shown);
		load_jobs_tell_names(*out, f);
	}
	job_log_free(log);
	return rc;
}

int load_job_log(struct job_log **out, char source[32], const char *path,
		 const struct jobs_moment *when, const struct fabric *f, struct err *err)
{
	char shown[256];
	int64_t from_s, to_s;
	int rc = load_jobs_read(out, shown, path, when, err);

	if (rc)
		return rc;
	snprintf(source, 32, "file %.26s", shown);
	load_jobs_place(*out, when, false, f, shown);
	job_log_span(*out, &from_s, &to_s);
	if (!(*out)->n)
		rc = err_set(err, -ENODATA, "%s: no job is in it", shown);
	else if (!from_s && !to_s)
		rc = err_set(err, -ENODATA,
			     "%s: its jobs have no times, so it is no history: "
			     "jobid,start,end,nodelist, or what sacct -P prints, is needed",
			     shown);
	else if ((*out)->local_times)
		log_add(LOG_WARN, "jobs",
			"%s: its times have no zone: those of this machine are taken; TZ=... sets "
			"another",
			shown);
	if (rc) {
		job_log_free(*out);
		*out = NULL;
	}
	return rc;
}
