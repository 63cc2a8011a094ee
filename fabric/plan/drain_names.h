/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drain_names: may the jobs that drain be asked by the names of their nodes?
 *
 * Not where a name may be that of several hosts, where no host has it, or where it was another
 * host's when the plan was made: then an operator has to say who is meant.
 */
#pragma once

#include "fabric/plan/drain.h"

#include <stddef.h>

/* "n0003 (2 ports), n0018 (4 ports) and 3 more": the ambiguous names of jobs that drain or may be
 * asked to; "": there are none. */
void drain_names_text(char *buf, size_t size, const struct drain *d, const struct fabric *f,
		      const struct jobset *jobs);
/* The same as JSON: names, each with its ports (GUID, switch, port). */
json_t *drain_names_json(const struct drain *d, const struct fabric *f, const struct jobset *jobs);
/* -EPERM, the first such job, its name and the ports of that; of jobs that need the drain. */
int drain_names_check(const struct drain *d, const struct fabric *f, const struct jobset *jobs,
		      struct err *err);

/* Ports that were called otherwise then. */
struct drain_renamed {
	uint32_t n;
	uint32_t drained; /* of jobs that drain, or that have got the name of a node of these now */
	char text[300];	  /* who: "0x... was n0003 and is n0030", the drained ones first */
};

/* The first port of a job that was called otherwise, or whose name another one has got since; two
 * fabrics of equal prints.  FAB_NONE: there is none. */
uint32_t drain_names_moved(const struct job *job, const struct fabric *was,
			   const struct fabric *is);
/* was: when the plan was made; is, jobs and d: now.  By GUID, whatever ports came and left. */
void drain_names_compare(struct drain_renamed *out, const struct fabric *was,
			 const struct fabric *is, const struct drain *d,
			 const struct jobset *jobs);
