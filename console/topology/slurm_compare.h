/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_compare: what SLURM is told of a fabric, against the fabric.
 *
 * A switch of the file that has hosts is the one of that name, or else the one that most of its
 * hosts are on: names in such files are the operator's.  A switch above others, and a block, is the
 * smallest group of the fabric that more than half of what it names is in.
 */
#pragma once

#include "console/topology/slurm_view.h"
#include "fabric/format/slurm/slurm_topology.h"

#include <stddef.h>
#include <stdint.h>

enum slurm_difference_kind {
	SLURM_HOST_UNKNOWN,   /* named by the file, not in the fabric */
	SLURM_HOST_MOVED,     /* under another switch, or outside of its block */
	SLURM_HOST_MISSING,   /* in the fabric, not in the file */
	SLURM_SWITCH_UNKNOWN, /* with hosts in the file, not in the fabric */
	SLURM_SWITCH_MOVED,   /* under another switch than its neighbours */
	SLURM_SWITCH_MISSING, /* with hosts in the fabric, not in the file */
};

struct slurm_difference {
	enum slurm_difference_kind kind;
	uint64_t line;	  /* 0: of no line */
	char *text;	  /* a sentence without an end */
	const char *name; /* of the switch or block; "" none */
	char *hosts;	  /* as a host list; NULL: it is about a switch */
};

struct slurm_compare {
	struct slurm_difference *v; /* by line, those of none last */
	size_t n;
	uint32_t hosts, switches; /* that were compared */
	struct arena *arena;
};

/* O((names of the file + hosts + switches) * log). */
struct slurm_compare *slurm_compare_new(const struct slurm_view *v,
					const struct slurm_topology *file);
void slurm_compare_free(struct slurm_compare *c); /* NULL is fine */
/* "host-moved". */
const char *slurm_difference_kind_name(enum slurm_difference_kind kind);
