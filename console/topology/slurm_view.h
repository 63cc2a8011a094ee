/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_view: a fabric as SLURM can be told of it: a tree of switches, each host under one of them.
 *
 * Hosts are compute hosts.  One with ports on several switches is under the one of the first part
 * of the fabric, and there the first of them.  Names of switches are the short ones, in letters
 * that a configuration file takes.
 */
#pragma once

#include "engines/geometry/switch_groups.h"
#include "fabric/format/slurm/slurm_topology.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>
#include <stdio.h>

struct slurm_view {
	const struct fabric *f;
	uint32_t *home;	 /* by terminal: the switch that its host is under, for the first of the
			  * host's ports there; FAB_NONE: another port, or no host of SLURM's */
	uint32_t *hosts; /* by switch: how many are under it */
	const char **sw_name;
	const char **group_name;
	struct switch_groups *groups;
	uint32_t ambiguous,
		unfit;	  /* hosts without a name of their own, or with one of other signs */
	uint32_t several; /* hosts with ports on several switches */
	struct arena *arena;
};

/* f stays the caller's. */
struct slurm_view *slurm_view_new(const struct fabric *f);
void slurm_view_free(struct slurm_view *v); /* NULL is fine */

/* Its switches with hosts and the groups above them, or the former as blocks, neighbours next to
 * each other.  The caller owns *out.  -ENOENT: no hosts. */
int slurm_view_topology(struct slurm_topology **out, const struct slurm_view *v, bool blocks,
			struct err *err);
/* Lines of # that say what groups stand for, and what is left out. */
void slurm_view_comments(FILE *out, const struct slurm_view *v, bool blocks);
