/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dfdn_write: SLs and SL2VL tables from what dfdn has worked out. */
#ifndef ENGINES_DFDN_DFDN_WRITE_H
#define ENGINES_DFDN_DFDN_WRITE_H

#include "engines/dfdn/dfdn_levels.h"
#include "engines/dfdn/dfdn_tree.h"
#include "fabric/model/fabric.h"
#include "fabric/model/tables.h"

/* For paths of at most two hops: from adapters VL 0, from switches VL 1, any SL (DF-D2). */
void dfdn_write_two(struct tables *t, const struct fabric *f);

/* Gives every path the first SL whose VLs rise along it, of the nsls in which paths were placed,
 * and writes the SL2VL tables.  Closes the levels.  -ECANCELED. */
int dfdn_write(struct tables *t, struct dfdn_tree *tree, struct dfdn_levels *l, unsigned nsls,
	       struct pace *p);

#endif
