/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shape: what a fabric looks like, as far as its links tell: a tree of levels, a HyperX, or
 * neither. */
#ifndef VIEWS_SHAPE_H
#define VIEWS_SHAPE_H

#include "fabric/model/fabric.h"

#include <stdint.h>

#define SHAPE_DIMS 4

enum shape_kind { SHAPE_GENERAL, SHAPE_TREE, SHAPE_HYPERX };

struct shape {
	enum shape_kind kind;
	/* tree: levels from the switches with terminals (0) up; every cable joins neighbouring
	 * levels */
	uint32_t nlevel;
	uint8_t *level; /* nsw */
	/* HyperX: every cable joins switches that differ in exactly one coordinate */
	uint32_t ndim;
	uint32_t dim[SHAPE_DIMS];
	uint16_t *coord; /* nsw * SHAPE_DIMS */
};

/* O(channels * ports of a switch). */
struct shape *shape_new(const struct fabric *f);
void shape_free(struct shape *s); /* NULL is fine */
/* "leaf", "spine", "agg", "core", "level 3". */
const char *shape_level_name(char buf[16], const struct shape *s, uint32_t level);
/* One line: "tree of 2 levels", "HyperX 12x8", "general graph". */
void shape_sentence(char *buf, size_t len, const struct shape *s);

#endif
