/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * campaign_list: what "replay", "failures" or "campaign" has written into a folder, as the campaign
 * view shows it: ways (engines, routings) by steps (shares of failed parts, times).
 */
#pragma once

#include "views/data/state/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAMPAIGN_WAYS  16
#define CAMPAIGN_STEPS 100000 /* of a replay; of failures far fewer */

enum campaign_kind { CAMPAIGN_FAILURES, CAMPAIGN_AGES, CAMPAIGN_REPLAY };

enum campaign_figure {
	/* failures: means over the seeds */
	CAMPAIGN_RETAINED, /* per cent of the throughput without failures */
	CAMPAIGN_LOW,	   /* 10th and 90th percentile of that */
	CAMPAIGN_HIGH,
	CAMPAIGN_EBB,
	CAMPAIGN_CUT,	  /* hosts cut off */
	CAMPAIGN_ENTRIES, /* LFT entries that routing again changes */
	CAMPAIGN_REPAIR,  /* and the engine repair */
	/* a replay */
	CAMPAIGN_TIME,	  /* mean time of the jobs; 1 is without contention */
	CAMPAIGN_WORST,	  /* of the slowest job */
	CAMPAIGN_EFI,	  /* maximum effective EFI */
	CAMPAIGN_UNUSED,  /* per cent of the links */
	CAMPAIGN_BLOCKS,  /* LFT blocks written */
	CAMPAIGN_DRAIN,	  /* LIDs to drain */
	CAMPAIGN_TOUCHED, /* jobs whose paths change */
	/* both */
	CAMPAIGN_VLS,
	CAMPAIGN_FIGURES
};

struct campaign_cell {
	uint32_t n,
		good;  /* cells that there are, usable ones; times: 1, and whether it has figures */
	uint64_t seed; /* that retains least */
	bool adopted;  /* new tables were taken at that time */
	double figure[CAMPAIGN_FIGURES]; /* NAN: not known */
};

struct campaign_list {
	char dir[256], fabric[64]; /* of whom it is */
	char history[80];	   /* of a replay */
	enum campaign_kind kind;
	bool opens; /* its cells can be computed again */
	uint32_t nway, nstep, seeds;
	char way[CAMPAIGN_WAYS][48];
	char why[CAMPAIGN_WAYS][160]; /* of the first refusal; "": none */
	double *at;		      /* by step: per cent, days, or Unix time in s */
	struct campaign_cell *cell;   /* by way, then step */
	uint32_t *jobs;		      /* of a replay, by step: that run */
	uint64_t serial;	      /* another one each time */
};

void campaign_list_free(struct campaign_list *l); /* NULL is fine */

/* Of a row: of failures way by way; of a replay ways, at the moment that is shown. */
uint32_t campaign_rows(const struct campaign_list *l);
const struct campaign_cell *campaign_row(const struct state *s, uint32_t row, uint32_t *way,
					 uint32_t *step);
/* "4 %", "365 days", "2026-11-20 10:00"; returns buf. */
const char *campaign_step_text(char *buf, size_t size, const struct campaign_list *l,
			       uint32_t step);
