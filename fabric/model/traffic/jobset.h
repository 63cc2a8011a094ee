/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobset: jobs with their terminals, immutable once built.
 *
 * Jobs are kept in the canonical order of the routing: descending number of terminals, then
 * ascending id. multi is set for jobs on at least two switches; only those matter to a
 * scheduling-aware engine (SC16 Sec. 3.2.1).
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/job_attr.h"

#include <stdbool.h>
#include <stdint.h>

struct job {
	uint64_t id;
	char *name, *user;	     /* "" when unknown */
	const char *attr[JOB_ATTRS]; /* "" when unknown */
	char *nodes;		     /* node list as given */
	uint32_t nnodes;	     /* named by the list */
	uint32_t unknown;	     /* of them not found in the fabric */
	uint32_t nterm;
	const uint32_t *terms; /* ascending, without duplicates; all ports of each node's name */
	uint32_t nsw;	       /* distinct switches below them */
	bool multi;	       /* nsw >= 2 */
	int64_t start_s;       /* Unix time; 0 unknown */
	uint32_t given;	       /* how many jobs the source named before it */
};

struct jobset {
	uint32_t njob, nmulti;
	struct job *jobs;	       /* canonical order */
	uint32_t nterm;		       /* of the fabric */
	uint32_t *term_off, *term_job; /* CSR: jobs (indices) of each terminal */
	uint32_t pending;	       /* jobs waiting, where the source knows; else 0 */
	int64_t time_s;		       /* when the source was asked */
	char source[32];	       /* "slurm", "sim", "file jobs.txt" */
	struct digest key; /* over the node sets of multi-switch jobs, ids and order left out */
	struct arena *arena;
	int refs;
};

/* "7", "5_1": as people know it.  Returns buf. */
const char *job_text(char buf[JOB_ID_LEN], const struct job *job);
/* For messages: valid to the end of the block. */
#define JOB_TEXT(job) job_text((char[JOB_ID_LEN]){ "" }, (job))
/* The same of a job by its number, which is told where js (may be NULL) does not have it.  O(jobs).
 */
const char *jobset_id_text(char buf[JOB_ID_LEN], const struct jobset *js, uint64_t id);
/* Its number by such a text; false: no job has it.  js may be NULL.  O(jobs). */
bool jobset_id_find(uint64_t *id, const struct jobset *js, const char *text);

/* The first of its ports whose name may be that of another host, FAB_NONE: there is none. */
uint32_t job_ambiguous(const struct job *job, const struct fabric *f);

struct jobset_builder;

struct jobset_builder *jobset_builder_new(const struct fabric *f, const char *source);
/* Adds a job of those node names; copies its strings.  Names that the fabric does not have
 * are counted, not refused. */
void jobset_builder_add(struct jobset_builder *b, const struct job *head, const char *const *names,
			uint32_t n);
/* The same for one whose ports are known; nnodes and unknown are those of head. */
void jobset_builder_add_ports(struct jobset_builder *b, const struct job *head,
			      const uint32_t *terms, uint32_t n);
void jobset_builder_pending(struct jobset_builder *b, uint32_t pending);
struct jobset *jobset_build(struct jobset_builder *b); /* frees b */

/* Those with at least that many nodes, as the source named them.  The caller owns one reference.
 * f is the fabric that js was built for. */
struct jobset *jobset_at_least(const struct jobset *js, uint32_t nodes, const struct fabric *f);

/* The same jobs on another fabric than was, on which js is: ports that f does not have are left
 * out.  The caller owns one reference. */
struct jobset *jobset_on(const struct jobset *js, const struct fabric *was, const struct fabric *f);

/* -EINVAL: they are of another fabric than f.  NULL is fine. */
int jobset_check_fabric(const struct jobset *jobs, const struct fabric *f, struct err *err);
const struct jobset *jobset_get(const struct jobset *js); /* thread-safe; returns js */
void jobset_put(const struct jobset *js);		  /* NULL is fine */

/* The change test of SC16 Sec. 3.2.1: same multi-switch node sets, ids ignored.
 * NULL counts as a set without jobs. */
bool jobset_same(const struct jobset *a, const struct jobset *b);
