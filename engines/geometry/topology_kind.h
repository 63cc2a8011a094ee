/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology_kind: what a fabric looks like, as far as its links tell: a tree of levels, a HyperX, a
 * torus or mesh, groups of close neighbours (dragonfly), or none of these. */
#ifndef ENGINES_GEOMETRY_TOPOLOGY_KIND_H
#define ENGINES_GEOMETRY_TOPOLOGY_KIND_H

#include "fabric/model/fabric.h"

#include <stdbool.h>
#include <stdint.h>

#define TOPOLOGY_DIMS 4

enum topology_kind_id {
	TOPOLOGY_GENERAL,
	TOPOLOGY_TREE,
	TOPOLOGY_HYPERX,
	TOPOLOGY_TORUS,
	TOPOLOGY_GROUPS
};

struct topology_kind {
	enum topology_kind_id kind;
	/* tree: levels from the switches with terminals (0) up; every cable joins neighbouring
	 * levels */
	uint32_t nlevel;
	uint8_t *level; /* nsw */
	/* HyperX, torus: every cable joins switches that differ in exactly one coordinate */
	uint32_t ndim;
	uint32_t dim[TOPOLOGY_DIMS];
	uint16_t *coord;	  /* nsw * TOPOLOGY_DIMS */
	bool ring[TOPOLOGY_DIMS]; /* torus: the last of this dimension is next to the first */
	uint32_t missing;	  /* HyperX, torus: cables between neighbours that are not
				   * there */
	char note[160];		  /* torus: how its dimensions are known, where that is in doubt;
				   * general: why it has none; "" nothing to say */
	/* groups: switches of a group have many neighbours in common, and of others few */
	uint32_t ngroup;
	uint32_t *group; /* nsw; numbered in the order of their first switches by name */
	uint32_t *place; /* nsw: in its group, in the order of names */
};

/* O(channels * ports of a switch). */
struct topology_kind *topology_kind_new(const struct fabric *f);
void topology_kind_free(struct topology_kind *s); /* NULL is fine */
/* "leaf", "spine", "agg", "core", "level 3". */
const char *topology_kind_level_name(char buf[16], const struct topology_kind *s, uint32_t level);
/* One line: "tree of 2 levels", "HyperX 12x8", "torus 6x6x6", "9 groups of close switches",
 * "general graph". */
void topology_kind_sentence(char *buf, size_t len, const struct topology_kind *s);
/* In a word or two: "torus 8x8". */
void topology_kind_name(char *buf, size_t len, const struct topology_kind *s);

#endif
