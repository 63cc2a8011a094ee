/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology_kind: what a fabric looks like, as far as its links tell: a tree of levels, a HyperX, a torus
 * or mesh, groups of close neighbours (dragonfly), or none of these. */
#ifndef ENGINES_GEOMETRY_TOPOLOGY_KIND_H
#define ENGINES_GEOMETRY_TOPOLOGY_KIND_H

#include "fabric/model/fabric.h"

#include <stdbool.h>
#include <stdint.h>

#define SHAPE_DIMS 4

enum shape_kind { SHAPE_GENERAL, SHAPE_TREE, SHAPE_HYPERX, SHAPE_TORUS, SHAPE_GROUPS };

struct shape {
	enum shape_kind kind;
	/* tree: levels from the switches with terminals (0) up; every cable joins neighbouring
	 * levels */
	uint32_t nlevel;
	uint8_t *level; /* nsw */
	/* HyperX, torus: every cable joins switches that differ in exactly one coordinate */
	uint32_t ndim;
	uint32_t dim[SHAPE_DIMS];
	uint16_t *coord;       /* nsw * SHAPE_DIMS */
	bool ring[SHAPE_DIMS]; /* torus: the last of this dimension is next to the first */
	uint32_t missing;      /* torus: cables between neighbours that are not there */
	char note[160];	       /* torus: how its dimensions are known, where that is in doubt;
				* general: why it has none; "" nothing to say */
	/* groups: switches of a group have many neighbours in common, and of others few */
	uint32_t ngroup;
	uint32_t *group; /* nsw; numbered in the order of their first switches by name */
	uint32_t *place; /* nsw: in its group, in the order of names */
};

/* O(channels * ports of a switch). */
struct shape *shape_new(const struct fabric *f);
void shape_free(struct shape *s); /* NULL is fine */
/* For shape_new(): a torus or mesh; false: it is none, and the note says why.
 * O(switches * degree^2). */
bool shape_find_torus(struct shape *s, const struct fabric *f);
/* Tries a torus or mesh, then groups; sets the kind when it is one.  O(switches * degree^2).
 * For shape_new(). */
void shape_find_more(struct shape *s, const struct fabric *f);
/* "leaf", "spine", "agg", "core", "level 3". */
const char *shape_level_name(char buf[16], const struct shape *s, uint32_t level);
/* One line: "tree of 2 levels", "HyperX 12x8", "torus 6x6x6", "9 groups of close switches",
 * "general graph". */
void shape_sentence(char *buf, size_t len, const struct shape *s);
/* In a word or two: "torus 8x8". */
void shape_name(char *buf, size_t len, const struct shape *s);

#endif
