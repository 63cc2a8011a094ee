/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_topology: SLURM's topology.conf, of trees and of blocks, and what "scontrol show topology"
 * prints: the tree (or not) that a scheduler believes in.  Of topology.yaml: slurm_yaml.h. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/topology/builder.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct slurm_switch {
	const char *name;
	uint32_t level;		   /* 0: has nodes, or none below it; else 1 + lowest below */
	const char *const *nodes;  /* sorted by name */
	const uint64_t *node_line; /* of each, where it is named; 0: not known */
	uint32_t nnodes;
	const uint32_t *below; /* indices of the switches it names, ascending */
	uint32_t nbelow;
	uint64_t link_speed; /* 0: not given */
	uint64_t line;	     /* that describes it; 0: none does, or it is not known */
};

struct slurm_topology;

/* Lines that are not understood are skipped with a warning; a switch that comes twice is joined,
 * one that is named but never described is added without nodes, both with a warning; so are nodes
 * under two switches.
 * Blocks are switches with nodes.  -EINVAL: no SwitchName= or BlockName= at all, or a mistake in a
 * host list (with file:line). */
int slurm_topology_read(struct slurm_topology **out, FILE *file, const char *path,
			struct read_report *report, struct err *err);
void slurm_topology_free(struct slurm_topology *topo); /* NULL is fine */
uint32_t slurm_topology_count(const struct slurm_topology *topo);
/* Its switches are blocks (topology/block). */
bool slurm_topology_is_blocks(const struct slurm_topology *topo);
/* How many blocks in a row belong together: powers of two, ascending, *n of them. */
const uint32_t *slurm_topology_together(const struct slurm_topology *topo, uint32_t *n);
const struct slurm_switch *slurm_topology_switch(const struct slurm_topology *topo, uint32_t i);

/* Fills b, so that the file can be looked at as a fabric: GUIDs made from the names, one link
 * per pair of switches and one per node and switch.  -ENOSPC: a switch needs too many ports. */
int slurm_topology_build(struct builder *b, const struct slurm_topology *topo, struct err *err);
