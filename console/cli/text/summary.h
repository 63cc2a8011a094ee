/* SPDX-License-Identifier: GPL-2.0-or-later */
/* summary: an evaluation as a JSON object for scripts, and as lines for people. */
#pragma once

#include "console/input/load/load_adaptive.h"
#include "console/plan/route_report.h"

#include <jansson.h>
#include <stdio.h>

/*
 * The keys engine, switches, terminals, lids, channels, vls_used, sls_used,
 * seconds{total,paths,layers,verify}, connected, loop_free, deadlock_free, hops_max, hops_mean,
 * time_mean, time_stderr, time_bound, time_node_mean, time_worst, time_s_per_mib, sync,
 * sync_stderr, rate_mean, times, demand_time, io_nodes, io_time_mean, io_time_worst,
 * io_time_s_per_mib, io_efi_max, efi_max, eff_efi_max, eff_efi_bound, eff_efi_bound_minimal,
 * job_efi_max_mean, dark_fiber_pct, links_per_job_mean, ebb, ebb_ci95, ebb_jobs, slowdown_mean,
 * slowdown_max, lft_blocks, lft_entries_changed, entries_changed (the same),
 * entries_needed (of repair), lft_blocks_changed, in this order.  Unknown values
 * are null: metrics of jobs without jobs, changes without installed tables, ebb where some path is
 * missing.
 */
json_t *summary_json(const struct route_report *e);
/* The same and, where there are some, the engine's notes: key "notes", an object of counts; with
 * per_job metrics of each job: key "jobs", an array in canonical order, and "pattern"; and what
 * summary_add_verdict() adds. */
json_t *summary_json_all(const struct route_report *e, bool per_job);
/* As text: the table, notes, jobs and the verdict. */
void summary_print_all(FILE *out, const struct route_report *e, bool per_job);

void summary_print_notes(FILE *out, const struct route_report *e);
void summary_print_jobs(FILE *out, const struct route_report *e);

/* Adds the sentence and, after a fault, the witness: keys "verdict" and "witness". */
void summary_add_verdict(json_t *summary, const struct route_report *e);

/* The sentence of the verdict and the witness below it. */
void summary_print_verdict(FILE *out, const struct route_report *e);

/* A line when jobs get slower from the installed tables; nothing where they do not. */
void summary_print_gate(FILE *out, const struct route_report *e);

/* Figures of several evaluations beside each other; one whose tables are missing shows "-". */
void summary_print_table(FILE *out, const struct route_report *list, size_t n);
/* What is declared of adaptive routing: the sentence, where it is yes; the key adaptive_routing. */
void summary_print_adaptive(FILE *out, enum adaptive_state declared);
void summary_add_adaptive(json_t *o, enum adaptive_state declared);
