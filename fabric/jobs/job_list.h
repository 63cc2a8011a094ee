/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_list: what a job source saw, by node names; immutable once handed out.
 *
 * It knows nothing of a fabric, so that one list can be mapped onto whatever snapshot is
 * current.  Shared between threads by reference count.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdbool.h>
#include <stdint.h>

/* A running job. */
struct job_rec {
	uint64_t id;
	uint32_t part;		 /* of a heterogeneous job (its leader's id): 1 and up; 0: a job */
	const char *name, *user; /* "" when unknown */
	const char *attr[JOB_ATTRS]; /* "" when unknown */
	const char *nodes;	     /* node list as the source wrote it */
	const char *const *hosts;    /* the node names in it */
	uint32_t nhost;
	int64_t start_s; /* Unix time; 0 unknown */
};

struct job_list {
	uint32_t njob;	      /* running jobs with nodes ... */
	struct job_rec *jobs; /* ... ascending id */
	uint32_t pending;     /* waiting */
	uint32_t other;	      /* in any other state: completing, suspended, failed, ... */
	uint64_t *failed; /* ended or requeued since a node failed, while the source knows ... */
	uint32_t nfailed; /* ... ascending id */
	int64_t time_s;	  /* Unix time when the source was asked */
	char source[32];  /* "slurm", "sim", "file jobs.txt" */
	struct arena *arena;
	size_t cap;
	int refs;
};

/* Under construction until the first job_list_get(); refs is 1. */
struct job_list *job_list_new(const char *source, int64_t time_s);
/* Copies everything that rec points to; control characters in the texts become '?'. */
void job_list_add(struct job_list *l, const struct job_rec *rec);
void job_list_failed(struct job_list *l, uint64_t id); /* a job that has lost a node */
/* Brings the jobs into their order, and makes one job of the components of each heterogeneous one;
 * call once, after the last job_list_add(). */
void job_list_sort(struct job_list *l);

const struct job_list *job_list_get(const struct job_list *l); /* thread-safe; returns l */
void job_list_put(const struct job_list *l);		       /* NULL is fine */

/* Same running jobs (id, nodes); time and counts of the others left out.  NULL is an empty list. */
bool job_list_same(const struct job_list *a, const struct job_list *b);

/* The jobs on the terminals of f, found by fabric_terms_by_name().  Nodes that f does not have
 * are counted in each job, not refused. 0, or -ENOENT when there are jobs and not one of their
 * nodes is in f: then the names of SLURM and of the fabric differ and err has an example of
 * both; *out is set all the same. */
int jobset_from_list(struct jobset **out, const struct job_list *l, const struct fabric *f,
		     struct err *err);
