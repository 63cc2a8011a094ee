/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_family: the types of fabric, one file per family. */
#pragma once

#include "fabric/sim/topology/topo.h"

extern const struct topo_type topo_fattree2, topo_fattree3, topo_kary, topo_xgft; /* topo_tree.c */
extern const struct topo_type topo_hyperx, topo_torus, topo_mesh;		  /* topo_grid.c */
extern const struct topo_type topo_dragonfly;
extern const struct topo_type topo_slimfly;
extern const struct topo_type topo_oft;
extern const struct topo_type topo_kautz;
extern const struct topo_type topo_random;
