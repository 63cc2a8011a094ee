/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid_ports: dimensions from port numbers.
 *
 * In a machine cabled by rule the cables of a dimension are in the same few ports of every switch.
 * Without the cables of one dimension the fabric falls into layers, and how these follow each other
 * are the coordinates in it: a missing cable takes nothing away as long as each layer hangs
 * together, or its pieces have the same layers beside them.
 */
#pragma once

#include "engines/geometry/grid/grid_layout.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

/* A guess as names are: whether every cable joins neighbours is not checked. */
int grid_ports_read(struct grid_layout *l, const struct fabric *f, struct err *err);
