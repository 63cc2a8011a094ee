/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_draft: a SLURM topology while it is read: names first, indices at the end. */
#pragma once

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/format/slurm/slurm_topology.h"

#include <stdbool.h>
#include <stdint.h>

/* There are 49,151 unicast LIDs: hosts below several switches each, and the switches. */
#define SLURM_DRAFT_NAMES 250000
#define SLURM_TOGETHER	  8 /* levels of blocks above the lowest */

struct slurm_topology {
	struct arena *arena;
	struct slurm_switch *sw;
	uint32_t n;
	bool blocks;
	/* of blocks: how many in a row belong together, powers of two, ascending */
	uint32_t together[SLURM_TOGETHER], ntogether;
};

struct slurm_draft_node {
	const char *name;
	uint64_t line;
};

struct slurm_draft_switch {
	const char *name;
	bool described;
	uint64_t line;	/* that describes it first */
	uint64_t level; /* as in scontrol: above 0 its nodes are those of the switches below */
	uint64_t link_speed;
	VEC(struct slurm_draft_node) nodes;
	VEC(const char *) below; /* names */
};

struct slurm_draft {
	const char *path;
	struct read_report *report; /* may be NULL */
	struct err *err;
	struct slurm_topology *topo; /* what is being made */
	VEC(struct slurm_draft_switch) list;
	uint32_t *slot; /* of list, by name: open addressing, index + 1; nslot a power of two */
	uint32_t nslot;
	uint64_t names; /* that lists were expanded to */
};

/* path, report and err stay the caller's until slurm_draft_end(). */
void slurm_draft_begin(struct slurm_draft *d, const char *path, struct read_report *report,
		       struct err *err);

/* The switch or block that a line describes, which is made when it is new; one that comes a second
 * time is warned of.  Valid until the next call. */
struct slurm_draft_switch *slurm_draft_describe(struct slurm_draft *d, const char *name,
						uint64_t line);

/* Appends the names of a host list to the nodes of a switch, or to the switches below it.
 * -EINVAL: a mistake in the list, reported with path and line; -E2BIG: the lists of the file
 * together have more than SLURM_DRAFT_NAMES. */
int slurm_draft_names(struct slurm_draft *d, struct slurm_draft_switch *sw, bool nodes,
		      const char *list, uint64_t line);

/* With rc 0 the topology into *out, which the caller owns; else nothing.  A node of two switches is
 * warned of.  Frees all of the draft; returns rc. */
int slurm_draft_end(struct slurm_topology **out, struct slurm_draft *d, int rc);
