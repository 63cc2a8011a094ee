/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sl2vl_form: brings an SL2VL in full form into the cheapest form that says the same. */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

/* Full form, filled with the identity: what readers start from. */
void sl2vl_full_identity(struct tables *t, const struct fabric *f);
/* Full -> by input -> identity, as far as all ports with something on them agree.  Only while
 * the caller is the single owner.  O(sum of ports^2). */
void sl2vl_simplify(struct tables *t, const struct fabric *f);
