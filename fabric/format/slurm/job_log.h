/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_log: jobs as a file or an accounting system lists them, with the times they ran. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/text/hostlist.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdbool.h>
#include <stdint.h>

#define JOB_LOG_ALL INT64_MIN /* as a time: every job of the log */

struct job_record {
	uint64_t id;
	uint32_t task; /* of an array: 1 and up; 0: of none */
	uint32_t part; /* of a heterogeneous job (its leader's id), or a step: 1 and up; 0: a job */
	int64_t start_s, end_s;	     /* Unix time; start 0 = always running, end 0 = not ended */
	char *name, *user;	     /* "" when unknown */
	const char *attr[JOB_ATTRS]; /* "" when unknown; label: where it is not job_record_name() */
	char *nodes;		     /* host list, checked when it was read */
	uint32_t wants;		     /* so many nodes, where it is not known which; else 0 */
	/* Of the one node that it wants: processors of all, so that others may share it; 0: all. */
	uint32_t procs, node_procs;
};

struct job_log {
	uint32_t n;
	struct job_record *jobs; /* in the order of the file */
	bool local_times;	 /* some are as the clock of a place shows them: of which? */
	struct arena *arena;
};

struct job_log *job_log_new(void);
void job_log_free(struct job_log *log); /* NULL is fine */
/* Copies the strings (NULL counts as ""). */
void job_log_add(struct job_log *log, const struct job_record *r);

/* The components of a heterogeneous job, and steps of a job, become one job each: on the nodes of
 * all of them, from the first start to the last end.  -E2BIG as hostlist_parse(). */
int job_log_join(struct job_log *log, struct err *err);

/* Without records that say of a job what an earlier one says: as when a list was written twice to
 * one file.  Not parts, which are joined anyway.  Returns how many there were. */
uint32_t job_log_drop_repeated(struct job_log *log);

/* The hosts of a job; names: of those taken before it, to which they are added.  -E2BIG: together
 * they are more than HOSTLISTS_MAX. */
int job_log_hosts(struct hostlist **out, uint64_t *names, const struct job_record *r,
		  const char *source, struct err *err);
/* The job with them, to a job set. */
int job_log_give(struct jobset_builder *b, uint64_t *names, const struct job_record *r,
		 const char *source, struct err *err);

/* The jobs that run at a time: start <= at_s < end.  source as shown ("file jobs.txt"). */
int job_log_jobset(struct jobset **out, const struct job_log *log, const struct fabric *f,
		   int64_t at_s, const char *source, struct err *err);

/* start <= at_s < end; at_s may be JOB_LOG_ALL. */
bool job_record_runs(const struct job_record *r, int64_t at_s);
/* "12", "12_3" of an array.  Returns buf. */
const char *job_record_name(char buf[40], const struct job_record *r);
/* Its texts, with that name as the label of a task; buf keeps it. */
void job_record_attr(const char *attr[JOB_ATTRS], char buf[40], const struct job_record *r);

/* First start and last start or end that the log knows; 0 0 when it has no times. */
void job_log_span(const struct job_log *log, int64_t *first_s, int64_t *last_s);
