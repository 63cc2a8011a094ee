/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_text: a plan as people and scripts read it. */
#pragma once

#include "fabric/plan/plan.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* One line: what it writes, on how many switches. */
void plan_print(FILE *out, const struct plan *p);
/* A line for each file that its tables were read from. */
/* Who has the LIDs of no job that have to drain, all of them; nothing where there are none. */
void plan_print_strangers(FILE *out, const struct plan *p);
/* Ambiguous names of jobs that drain, if there are any. */
void plan_print_names(FILE *out, const struct plan *p);
void plan_print_files(FILE *out, const struct plan *p);
/* What it writes, as keys of j: lft_blocks to vls_needed. */
void plan_add_cost(json_t *j, const struct plan *p);
/* The jobs that it drains: id, ports, needed. */
json_t *plan_drain_jobs_json(const struct plan *p);
/* SLs are not in the switches: are some taken for those of the tables that were found there? */
bool plan_sls_assumed(const struct plan *p);

/* Every entry that changes, a line or an object each: switch, LID, its owner, port before and
 * after; then SL2VL tables that change. */
void plan_print_diff(FILE *out, const struct plan *p);
json_t *plan_diff_json(const struct plan *p);
