/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * failures_table: the lines of a failure campaign, summed up for each engine and step.
 *
 * Throughput is the effective bisection bandwidth times the share of the hosts that are left; what
 * is retained is its share of that without failures, 0 where there is no usable routing.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FAILURES_ENGINES 16
#define FAILURES_STEPS	 200
#define FAILURES_SEEDS	 1000
#define FAILURES_LOSS	 10 /* per cent of the throughput: a loss to be named */

enum failures_figure {
	FAIL_RETAINED, /* per cent */
	FAIL_EBB,
	FAIL_EBB_CI,
	FAIL_SYNC,
	FAIL_TIME,
	FAIL_VLS,
	FAIL_SLS,
	FAIL_EFI_RATIO,	      /* maximum EFI over its bound */
	FAIL_HOSTS_CUT,	      /* those on failed switches, too */
	FAIL_ENTRIES,	      /* changed against the step before */
	FAIL_REPAIR_ENTRIES,  /* the same by the engine repair */
	FAIL_REPAIR_RETAINED, /* per cent, with its tables */
	FAIL_SHIFT_PACKETS,   /* per cent of the rate of packets that is retained */
	FAIL_ALL_PACKETS,
	FAIL_DEADLOCKS, /* phases of packets that ended in one */
	FAIL_FIGURES
};

struct failures_step {
	uint32_t cells, usable, applicable, whole; /* whole: usable, and no host is cut off */
	double sum[FAIL_FIGURES], most[FAIL_FIGURES];
	uint32_t n[FAIL_FIGURES];
	double *retained; /* of each cell that has it */
	double low, high; /* 10th and 90th percentile of these; NAN none */
	double worst;	  /* the least of them */
	uint64_t worst_seed;
	char why[300];	  /* of the first refusal */
};

struct failures_engine {
	char label[48];
	double whole[FAILURES_SEEDS]; /* throughput without failures, by seed; NAN not known */
	double packets[2][FAILURES_SEEDS]; /* the same of packets: shifts, all-to-all */
	struct failures_step *step;
	double first_loss; /* median over seeds of the first step below; NAN: none */
	double lost[FAILURES_SEEDS]; /* by seed: that step */
};

struct failures_table {
	size_t nengine;
	uint32_t nstep, seeds;
	uint64_t first_seed;
	bool by_time, with_packets, with_repair;
	double at[FAILURES_STEPS]; /* per cent, or days */
	struct failures_engine engine[FAILURES_ENGINES];
};

/* Of cells.jsonl in that folder and what its campaign is of; -EINVAL with file and line, also when
 * that is of more engines, steps or seeds than any. */
int failures_table_read(struct failures_table **out, const char *dir, const json_t *meta,
			struct err *err);
/* The same of a file that is open. */
int failures_table_read_file(struct failures_table **out, FILE *lines, const char *path,
			     const json_t *meta, struct err *err);
void failures_table_free(struct failures_table *t); /* NULL is fine */
/* failures.txt, .md and .csv. */
int failures_table_write(const struct failures_table *t, const char *dir, const json_t *meta,
			 struct err *err);

/* Of the cells that have it; NAN none. */
double failures_mean(const struct failures_step *s, enum failures_figure k);
