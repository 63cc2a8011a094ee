/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vl_fold: the same routing on fewer virtual lanes, as if links had no more. */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

/* Packets that were on VL v are on VL v modulo vls (1..15); those dropped still are.  The caller
 * owns one reference. */
struct tables *vl_fold(const struct fabric *f, const struct tables *t, unsigned vls);
