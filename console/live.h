/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live: the real fabric for subcommands: one port, what is discovered, installed and running. */
#ifndef CONSOLE_LIVE_H
#define CONSOLE_LIVE_H

#include "fabric/base/err.h"
#include "fabric/mad/wire.h"
#include "fabric/model/fabric.h"
#include "fabric/model/jobset.h"
#include "fabric/model/tables.h"
#include "fabric/update/plan.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

struct live_opts {
	const char *ca;
	unsigned port, timeout_ms, window;
	bool ask_m_key;
	uint64_t m_key;
	const char *name, *node_names;
	const char *jobs; /* "slurm" or a file; NULL: not watched */
	const char *record_dir, *state_dir;
};

/* The options above, as the only child of an argp; its input is a struct live_opts. */
extern const struct argp_child live_children[];

struct live {
	struct wire *w;
	struct fabric *f;
	struct tables *t;
	struct jobset *jobs; /* NULL: not watched */
	struct sm_pin sm;
};

/* Opens the port, discovers, and reads the installed tables and the jobs.  name: of the fabric
 * when the options have none, may be NULL.  A table that could not be read in full is -EIO: a
 * plan must know all that it may have to restore. */
int live_open(struct live *l, struct live_opts *o, const char *name, struct err *err);
/* Only the port and what is there. */
int live_discover(struct live *l, struct live_opts *o, const char *name, struct err *err);
/* The master SM as it is now; zeros when it does not answer. */
struct sm_pin live_sm(struct wire *w);
void live_close(struct live *l); /* an all-zero one is fine */

#endif
