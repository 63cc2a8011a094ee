/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dfdn_tight: SLs for paths that first fit cannot squeeze into 16.
 *
 * Works on the list of distinct paths, and always places the one with the fewest SLs left to
 * choose from next, as DSATUR colours a graph (Brelaz, 1979).
 */
#pragma once

#include "engines/dfdn/dfdn_levels.h"
#include "engines/dfdn/dfdn_tree.h"

#include <stdbool.h>
#include <stdint.h>

struct dfdn_paths;

/* All distinct paths of two turns and more that are no part of another path of their tree.
 * *out is NULL when they are so many that working on them would take long.  -ECANCELED. */
int dfdn_paths_list(struct dfdn_paths **out, struct dfdn_tree *tree, struct pace *p);
void dfdn_paths_free(struct dfdn_paths *l);	       /* NULL is fine */
uint32_t dfdn_paths_turns(const struct dfdn_paths *l); /* in all of them together */

/* Places all of them in empty levels; *sls: how many SLs that took; *misfit: one fits none of
 * the 16 SLs, and it stopped there.  -ECANCELED. */
int dfdn_paths_place(const struct dfdn_paths *paths, struct dfdn_levels *l, enum dfdn_align align,
		     bool *misfit, unsigned *sls, struct pace *p);
