/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_choice: metrics, matrices and orders of rows of a heatmap by name, as commands have them.
 * The beginning of a name is enough, and of a matrix any word of its title. */
#ifndef VIEWS_HEATMAP_HEAT_CHOICE_H
#define VIEWS_HEATMAP_HEAT_CHOICE_H

#include "views/data/chan_value.h"
#include "views/heatmap/heat_rows.h"

#define HEAT_NO_CHOICE UINT32_MAX

uint32_t heat_metric_named(const char *text); /* enum chan_metric */
uint32_t heat_plane_named(const struct heat_layout *l, const char *text);
uint32_t heat_sort_named(const char *text); /* enum heat_sort; "place" for the layout's own */

#endif
