/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * campaign: the cells of a failure campaign, computed by whoever sees its folder.
 *
 *   campaign.json   what was asked, and of which fabric
 *   inputs/         the files that were named
 *   cells/          a file for each cell that is done
 *   cells.jsonl ... as of "failures", after a merge
 *
 * Cell i, counted seed by seed and in each engine by engine, is the business of shard i modulo the
 * number of shards.
 */
#pragma once

#include "console/campaign/cells/cell.h"
#include "console/campaign/failures/failures.h"

struct campaign {
	const char *dir;
	struct failures *x;
	json_t *meta;
	struct cell *cell;
	uint32_t n;
};

/* x is borrowed. */
void campaign_init(struct campaign *c, const char *dir, struct failures *x);
void campaign_done(struct campaign *c);

/* -EEXIST: another campaign is there. */
int campaign_room(const struct campaign *c, struct err *err);
/* Writes campaign.json with the arguments that lead to x. */
int campaign_plan(const struct campaign *c, const json_t *arguments, struct err *err);
/* The arguments of a folder; the caller owns them.  -ENOENT, -EINVAL. */
int campaign_arguments(json_t **out, const char *dir, struct err *err);
/* -EXDEV: it was planned for another fabric, with other options or by another version than x is. */
int campaign_check(const struct campaign *c, struct err *err);

struct campaign_counts {
	uint32_t there, computed; /* computed: by this run */
	double cpu_s;		  /* of those */
};

/* Computes what is not there of shard i of n, or most of it at most; most 0: all. */
int campaign_run(struct campaign_counts *out, struct campaign *c, uint32_t shard, uint32_t shards,
		 uint32_t most, struct err *err);

struct campaign_status {
	uint32_t there, missing, damaged;
	char *tasks; /* of so many shards, those with something left: "3,7-9"; the caller frees it */
};

void campaign_look(struct campaign_status *out, const struct campaign *c, uint32_t shards);

/* All cells into the folder's tables and page, the same bytes as of "failures" on one machine but for
 * seconds.jsonl.  -ENODATA: some are missing; -EXDEV: others are among them. */
int campaign_merge(const struct campaign *c, struct err *err);
