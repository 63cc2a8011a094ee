/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recommend: which of several routings to take, and why, in words.  A pure function of their
 * reports.
 *
 * Candidates have passed all checks.  With jobs the mean time of the jobs decides, in the pattern
 * of the reports; else the time of the demand; else sync, then the mean rate.  Those that differ
 * from the best by no more than its standard error or RECOMMEND_TIE are as good; of them the one
 * with fewer VLs, then fewer blocks changed, then fewer hops, then the first.
 */
#pragma once

#include "console/plan/route_report.h"

#define RECOMMEND_TIE .01

struct recommend_case {
	const char *name;
	const struct route_report *report; /* NULL: the engine gave no routing ... */
	const char *why;		   /* ... for this reason */
	bool unsuited; /* which is the shape of the fabric, whatever else were changed */
	/* what it gives with as many VLs as it needs, where that was the reason; NULL: not known */
	const struct route_report *with_vls;
	bool installed; /* is what the switches hold */
};

struct recommendation {
	size_t n;
	size_t pick;   /* index; n: no candidate */
	char **reason; /* of each: why this one, or why not */
	char *why;     /* the sentences: which one, and why */
	char *cost;    /* NULL: no candidate */
	char *change;  /* what would have to change for a better one; NULL: nothing known */
};

/* The caller frees it with recommendation_free(). */
void recommend(struct recommendation *out, const struct recommend_case *list, size_t n);
void recommendation_free(struct recommendation *r); /* an all-zero one is fine */
