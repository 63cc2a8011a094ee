/* SPDX-License-Identifier: GPL-2.0-or-later */
/* predict_paths: the links under flows, many flows at a time. */
#pragma once

#include "engines/predict/predict.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Links: channel c is c; the cable of terminal t is nchan + 2t towards the switch and
 * nchan + 2t + 1 towards the terminal.
 */
struct predict_paths {
	const struct fabric *f;
	const struct tables *t;
	predict_lids_fn lids;
	void *lids_ctx;
	uint32_t nlink;
	float *slow;   /* per link: 1 / capacity; the fastest terminal's cable has 1 ... */
	uint32_t Mbps; /* ... and this data rate; 0: not known */
	uint32_t *hop; /* sw * width + port: channel or FAB_NONE */
	uint32_t width;
	bool *arrives; /* per LID: the last switch has it on the right port */
};

/* 0, or -EINVAL when tables or jobs (NULL: none) are not of the fabric. */
int predict_paths_check(const struct fabric *f, const struct tables *t, const struct jobset *jobs,
			struct err *err);
void predict_paths_init(struct predict_paths *p, const struct fabric *f, const struct tables *t,
			predict_lids_fn lids, void *lids_ctx);
/* Both. */
int predict_paths_open(struct predict_paths *p, const struct fabric *f, const struct tables *t,
		       const struct jobset *jobs, predict_lids_fn lids, void *lids_ctx,
		       struct err *err);
/* slow and Mbps alone. */
void predict_paths_speeds(struct predict_paths *p, const struct fabric *f);
void predict_paths_done(struct predict_paths *p);

static inline uint32_t predict_paths_up(const struct predict_paths *p, uint32_t term)
{
	return p->f->nchan + 2 * term;
}

static inline uint32_t predict_paths_down(const struct predict_paths *p, uint32_t term)
{
	return p->f->nchan + 2 * term + 1;
}

struct flow {
	uint32_t src, dst; /* different terminals */
};

/* Time of a flow on the slower of its own two cables. */
static inline float predict_paths_least_delay(const struct predict_paths *p, const struct flow *fl)
{
	float up = p->slow[predict_paths_up(p, fl->src)],
	      down = p->slow[predict_paths_down(p, fl->dst)];

	return up > down ? up : down;
}

/* A flow takes part of a link: one of its legs goes over it. */
struct step {
	uint32_t link, flow;
	float part; /* of the flow: 1 / number of legs */
};

/* The steps of some flows over channels, without the ends' own cables; those of flows that were
 * added together are in no useful order. */
struct trace {
	struct step *steps;
	uint32_t n, cap;
	bool *stranded; /* per flow: one of its legs has no path; its steps are meaningless */
	uint32_t nstranded;
	uint32_t nflow, cap_flow;

	struct leg *leg; /* private */
};

void predict_paths_trace_init(struct trace *tr);
void predict_paths_trace_done(struct trace *tr);
void predict_paths_trace_clear(struct trace *tr);
/* Adds n flows behind those that are there.  O(hops) a leg. */
void predict_paths_trace_flows(struct trace *tr, const struct predict_paths *p,
			       const struct flow *flows, uint32_t n);
