/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * headline: what is the matter with the fabric, in one sentence with the cause and what to press.
 *
 * Of all that is wrong the worst is told, and how many other kinds there are.
 */
#pragma once

#include "views/data/summary/fabric_summary.h"

/* Worst first. */
enum headline_kind {
	HEAD_LOST,	 /* the fabric does not answer us */
	HEAD_SM,	 /* the subnet manager is gone */
	HEAD_BROKEN,	 /* paths are missing, or can deadlock */
	HEAD_DOWN,	 /* switches, hosts, cables */
	HEAD_ROUTING,	 /* costs jobs time, and better ones are known or likely */
	HEAD_CONGESTION, /* links wait for a full one */
	HEAD_SLOWED,	 /* jobs slow each other, whatever the routing */
	HEAD_JOBS,	 /* their source is gone */
	HEAD_KEEPING,	 /* the collector cannot write its history */
	HEAD_PORTS,	 /* errors, reduced, no reply */
	HEAD_UNKNOWN,	 /* nothing is known to be wrong, and not all was looked at */
	HEAD_WELL,
	HEAD_KINDS
};

#define HEAD_SLOW 1.5 /* a job that takes so many times as long as alone suffers */

struct headline {
	enum headline_kind kind;
	uint32_t more;	 /* other kinds of what is wrong */
	char text[240];	 /* the sentence */
	char brief[160]; /* the same for narrow screens */
	char least[120]; /* in the fewest words, with the same names and numbers */
};

/* v: of s.  O(jobs on a link) when nothing is wrong with the routing. */
void headline_make(struct headline *out, const struct state *s, const struct fabric_summary *v);
