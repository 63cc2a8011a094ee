/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables_source: what a command looks at: files, a plan's two states, or the fabric behind a port.
 */
#pragma once

#include "console/input/options.h"
#include "console/live/live_fabric.h"
#include "fabric/plan/plan.h"

#include <argp.h>

struct tables_source_opts {
	struct options o; /* --topology, --lfts, ... */
	struct live_opts live;
	const char *plan; /* NULL: none */
};

void tables_source_opts_init(struct tables_source_opts *o);
/* The options above but for --plan; its input is a struct tables_source_opts. */
extern const struct argp tables_source_argp;

struct tables_source {
	const struct fabric *f;
	const struct tables *t;	      /* installed, of the files, or before the plan */
	const struct tables *planned; /* NULL: no plan */
	const struct jobset *jobs;    /* NULL: not known */
	struct wire *w;		      /* NULL: nothing to be asked */
	struct adaptive adaptive;     /* as the fabric tells, or of files as declared */
	/* owned */
	struct plan *p;
	struct live l;
	const struct fabric *own_f;
	const struct tables *own_t;
	const struct jobset *own_jobs;
};

/* With --plan its fabric and tables, with --topology those of files, else what is discovered.
 * 0 or an exit code, with the sentence in err. */
int tables_source_open(struct tables_source *s, struct tables_source_opts *o, struct err *err);
void tables_source_close(struct tables_source *s); /* an all-zero one is fine */
