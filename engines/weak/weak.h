/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weak: what the failure of each cable and each switch would cost, after a repair.
 *
 * Cost is time: the mean of all shifts over all hosts (shift_loads.h), and the VLs that the
 * repaired routing needs.  Hosts of a switch that fails neither send nor receive any more.
 */
#pragma once

#include "engines/engine.h"

enum weak_end {
	WEAK_REPAIRED,
	WEAK_REROUTED, /* there is no repair on the VLs that there are: all has to be routed again
			*/
	WEAK_CUT       /* hosts are cut off from the rest */
};

struct weak_part {
	uint32_t chan; /* one direction of the cable, or FAB_NONE */
	uint32_t sw;   /* the switch, or FAB_NONE */
	enum weak_end end;
	uint32_t hosts; /* that are cut off, or are on the switch */
	/* of WEAK_REPAIRED */
	uint32_t lids;		  /* to which paths break */
	uint64_t needed, changed; /* LFT entries */
	unsigned vls;
	double time; /* 1 is without contention */
};

struct weak_report {
	double time; /* now */
	unsigned vls;
	uint32_t n;
	/* worst first: cut off, rerouted, then by time; equal ones as they are numbered */
	struct weak_part *part;
};

struct weak_opts {
	bool cables, switches;
	uint32_t shifts; /* at most; 0: shift_time_default() */
};

/* params: current (the tables), vls, threads and ignore_rates count.  Errors as of repairer_new(),
 * and -ECANCELED.  Progress steps: those, "shifts", "failures".  Every thread has tables and loads
 * of its own; their number does not change the result. */
int weak_find(struct weak_report **out, const struct fabric *f, const struct engine_params *params,
	      const struct weak_opts *opts, struct progress *progress, struct err *err);
void weak_report_free(struct weak_report *w); /* NULL is fine */
