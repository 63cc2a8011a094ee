/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_links: what a plan means for each link between switches, before and after it. */
#ifndef CONSOLE_CLI_PLAN_LINKS_H
#define CONSOLE_CLI_PLAN_LINKS_H

#include "console/plan/route_report.h"
#include "fabric/plan/plan.h"

#include <jansson.h>
#include <stdio.h>

/* both: the installed tables and the plan's, evaluated with the jobs of the plan.  A line for each
 * direction of a link, those that most routes within jobs take after the plan first (without jobs:
 * most routes), with EFI and effective EFI as "before > after". */
void plan_print_links(FILE *out, const struct plan *p, const struct route_report both[2]);

/* The same as an array in the same order; effective EFI is null without jobs.  The caller owns it.
 */
json_t *plan_links_json(const struct plan *p, const struct route_report both[2]);

#endif
