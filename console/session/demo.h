/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demo: a simulated fabric with a batch system and traffic on it, in this process.
 *
 * The console above it is the same as over a real port: only the wire's backend differs.  Other
 * processes reach it, too: the watchdog of an update writes to it through a socket.
 */
#pragma once

#include "console/session/message.h"
#include "console/update/watchdog_config.h"
#include "fabric/base/message/err.h"
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
/* A folder of its own, which goes with it: for the journals of updates, which are of no use without
 * the switches that they are about. */
const char *demo_dir(const struct demo *d);
/* How a watchdog reaches this fabric and learns its jobs; strings are the demo's own. */
void demo_watchdog(const struct demo *d, struct watchdog_config *c);
/* What it installed first, with the SLs that the switches do not hold; the demo's own. */
const struct tables *demo_tables(const struct demo *d);
/* Takes cables out, or puts them back: those of the text as route_limits_exclude() reads it, of a
 * switch all to other switches; "": all of them.  *n: how many it did so to. */
int demo_unplug(uint32_t *n, struct demo *d, const char *text, struct err *err);
int demo_plug(uint32_t *n, struct demo *d, const char *text, struct err *err);
/* After the wire is closed; watchdogs end.  NULL is fine. */
void demo_stop(struct demo *d);
