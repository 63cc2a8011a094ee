/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/input/load/load_jobs.h"

#include "console/io/input_file.h"
#include "fabric/base/message/log.h"
#include "fabric/base/message/plural.h"
#include "fabric/format/slurm/jobs_apart.h"
#include "fabric/model/topology/host_names.h"

#include <stdio.h>

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

int load_jobs(struct jobset **out, const char *path, const struct fabric *f, struct err *err)
{
	struct job_log *log = NULL;
	struct read_report report;
	struct input_file in;
	char source[32];
	int rc = input_file_open(&in, path, err);

	*out = NULL;
	if (rc)
		return rc;
	snprintf(source, sizeof(source), "file %.26s", in.path);
	rc = jobs_apart_read(&log, in.file, in.path, &report, err);
	input_file_close(&in);
	if (rc)
		return rc;
	input_file_tell(&report);
	rc = job_log_jobset(out, log, f, JOB_LOG_ALL, source, err);
	if (!rc)
		load_jobs_tell_unknown(*out, in.path);
	if (!rc)
		load_jobs_tell_names(*out, f);
	job_log_free(log);
	return rc;
}
