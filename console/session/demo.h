/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demo: a simulated fabric with a batch system and traffic on it, in this process.
 *
 * The console above it is the same as over a real port: only the wire's backend differs.
 */
#ifndef CONSOLE_SESSION_DEMO_H
#define CONSOLE_SESSION_DEMO_H

#include "console/session/message.h"
#include "fabric/base/err.h"
#include "fabric/wire/wire.h"

#define DEMO_SPEC "fattree2:leaves=18,spines=18,hosts=18,lids=random"

struct demo;

struct demo_opts {
	const char *spec; /* a topo spec or a file; NULL: DEMO_SPEC */
	const char *name; /* of the fabric; NULL: "demo" */
	uint64_t seed;
	double speed; /* simulated seconds per second for jobs; 0: 2 */
	double loss;  /* share of MADs lost */
};

/* Builds the fabric, installs first routes by the minhop engine and starts traffic; the jobs
 * come as MSG_JOBS. */
int demo_start(struct demo **out, const struct demo_opts *opts, struct mailbox *box,
	       struct err *err);
int demo_wire(struct wire **out, struct demo *d, const struct wire_opts *opts, struct err *err);
/* What it installed first, with the SLs that the switches do not hold; the demo's own. */
const struct tables *demo_tables(const struct demo *d);
void demo_stop(struct demo *d); /* after the wire is closed; NULL is fine */

#endif
