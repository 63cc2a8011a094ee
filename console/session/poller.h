/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * poller: the thread that owns the wire.
 *
 * It discovers the fabric, reads tables and counters at their intervals and watches the SM;
 * everything it learns goes into the mailbox.  Requests are taken in order.
 */
#pragma once

#include "console/input/load/load_adaptive.h"
#include "console/session/feed.h"
#include "console/session/message.h"
#include "fabric/wire/wire.h"

#include <stdint.h>

struct poller;
struct slurm_topology;

struct poller_opts {
	double interval_s;	 /* between two samples of the counters */
	double sweep_s;		 /* between two discoveries; stretched when they take long */
	double tables_s;	 /* between two readings of all tables; stretched as well */
	const char *fabric_name; /* NULL: as the builder names it */
	const struct name_map *names;
	const struct slurm_topology *racks; /* NULL: names tell */
	const char *racks_path;
	const char *socket;	      /* of OpenSM's plugin; NULL: see osm_link_path() */
	enum adaptive_state adaptive; /* as declared */
	bool simulated;		      /* no OpenSM of this machine routes it */
	unsigned needs;		      /* enum field_need: what nobody needs is not read; 0: all */
	bool exact;		      /* for scripts: counters to the last byte, see SAMPLE_CALM */
	bool watch; /* tell what is not as the baseline has it, see fabric_watch.h */
	const char *state_dir, *watch_key;
	const uint64_t *error_limits;
	bool want_errors;   /* and read the error counters of all ports for that */
	bool count_updates; /* of that state_dir, and of that name where there is one */
};

/* Takes the wire, also where it fails: 0, or -errno with a sentence.  names and racks must
 * outlive the poller. */
int poller_start(struct poller **out, struct wire *w, const struct poller_opts *opts,
		 struct mailbox *box, struct err *err);
/* Waits for what is under way on the wire, at most the time-outs of one request. */
void poller_stop(struct poller *p); /* NULL is fine */
/* Afterwards; closes the wire, which may take as long as its library likes. */
void poller_free(struct poller *p); /* NULL is fine */

/* As a feed, which ends with it: feed_stop() and feed_free() are those above. */
struct feed *poller_feed(struct poller *p);

/* These are its operations, see feed.h. */
void poller_want(struct poller *p, enum want_type want);
void poller_interval(struct poller *p, double interval_s);
void poller_end_sweep(struct poller *p);
void poller_tables_end(struct poller *p);
