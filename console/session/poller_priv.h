/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of poller share this: poller.c is the thread and its times; it uses poller_tables.c,
 * and these poller_discover.c, poller_notices.c and poller_wants.c.
 */
#pragma once

#include "console/collect/fabric_watch.h"
#include "console/collect/update_watch.h"
#include "console/config/sweep_pace.h"
#include "console/session/engine_list.h"
#include "console/session/poller.h"
#include "console/session/samples/sample_reading.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/installer/osm_link.h"
#include "views/data/summary/fabric_shape.h"
#include "views/table/fields.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define HEARD_MAX 32 /* switches that report at once; more lead to a sweep of everything */

struct poller {
	struct feed feed; /* the first member */
	struct poller_opts opts;
	struct wire *wire;
	struct mailbox *box;
	pthread_t thread;

	/* guarded by lock */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	VEC(enum want_type) wants;
	bool stop;
	bool sweeping;	   /* and may be ended by progress.cancel */
	bool reading_lfts; /* likewise */
	double interval_s;

	/* the thread's own */
	struct progress progress;
	const struct fabric *fabric;
	struct engine_list *engines;	  /* of that fabric, as is */
	const struct fabric_shape *shape; /* ... this */
	struct osm_link *osm;		  /* NULL: our plugin has not answered yet */
	struct readings *readings;
	struct fabric_watch *watch; /* NULL: nobody wants it, as the next */
	struct update_watch *updates;
	double updates_at; /* when they are looked at again */
	char *name;	   /* of the fabric; NULL: not known yet */
	bool lost, sm_lost, sm_doubt, foreign, tables_read, sls_failed;
	bool sls_again;				/* they may be known later */
	uint32_t sls_tries;			/* of the SLs of these LFTs */
	const struct sweep_report *discovering; /* filled by the sweep that runs */
	struct sweep_pace pace;			/* of sweeps */
	uint64_t last_step_ms;
	const char *step; /* of a reading, since step_ms */
	uint64_t step_ms;
	double sample_at, sweep_at, part_at, tables_at, sm_at, errors_at; /* when due */
	double errors_due, errors_next; /* due but for who asks; not before, whoever asks */
	double hurry_at; /* a sweep may be brought forward then, see poller_went_down() */

	/* tables */
	const struct tables *tables;  /* sent last, with their SL2VL; NULL: none of these LFTs */
	bool partial;		      /* they missed something */
	const struct tables *lfts;    /* read last; NULL: none */
	struct tables_report of_lfts; /* without its list */
	struct tables *aside; /* read since: other ones, to be told after a sweep; NULL: none */
	double aside_at;      /* from when on they are put aside again */
	uint64_t routings;    /* plugin_routings() before they were read */
	uint64_t begun;	      /* likewise, all that OpenSM has said it did; 0: it was at work */
	struct sl2vl_reading *sl2vl; /* of them; NULL: none is under way */
	bool written;	   /* perhaps, since SL2VL was read: what was sent does not hold any more */
	bool ended;	   /* by the operator: it waits until it is to go on */
	bool slicing;	   /* a run of it */
	double read_since; /* clock_s() when the reading of what is sent next began */
	double slice_end, slice_since;
	uint64_t slice_from; /* done at slice_since; UINT64_MAX: a run is to begin */
	double sl2vl_at;     /* when they are to be read with SL2VL again */

	/* notices of link states */
	uint64_t listens_to;	      /* GUID of the SM; 0: of none yet */
	double listen_at;	      /* when to subscribe again */
	uint32_t heard;		      /* not looked at yet */
	uint64_t heard_sw[HEARD_MAX]; /* of which switches; all: of others, too, or nobody knows */
	uint32_t nheard_sw;
	bool heard_all;
	double burst_since, heard_at; /* the first and the last of them */
	uint64_t link_events;	      /* that the plugin has counted ... */
	bool links_known;	      /* ... if it was asked */
	uint64_t routed;	      /* times that OpenSM has routed, as of then */
	uint32_t reports;	      /* heard by the wire since */
	double links_at;	      /* when to ask it for these again */
};

/* A reading of everything may take at most one part in so many of the time. */
#define POLLER_SHARE 20

/* When a reading that took so long is due again. */
static inline double poller_due(double interval_s, double took_s)
{
	return clock_s() + fmax(interval_s, took_s * POLLER_SHARE);
}

/* poller_wants.c.  The oldest request; false: there is none. */
bool poller_wants_take(enum want_type *out, struct poller *p);
bool poller_wants_any(struct poller *p);

/* poller_notices.c.  Notices are asked of that SM, where the wire takes any: now and then. */
void poller_listen(struct poller *p, uint64_t sm_guid);
/* What the plugin says of link state changes: how many there were, the last ones of which LIDs; and
 * of routings, after which the tables are read. */
void poller_count_links(struct poller *p, const struct osm_status *s);
/* It is asked for that when it is due. */
void poller_ask_links(struct poller *p);
/* What has been heard leads to a sweep once no more comes, of these switches if it is known which.
 */
void poller_hear(struct poller *p);
/* Are these all that have something to say?  They are forgotten by the sweep that follows. */
bool poller_heard_of_some(const struct poller *p);
void poller_forget_heard(struct poller *p);
/* Something is due at that time; when it has to listen before. */
double poller_hears_again(const struct poller *p, double due);

/* poller_discover.c.  Out: the fabric as it is now; part: looked for only around the switches that
 * had something to say; false afterwards where that was not enough.  silent: a line for each place
 * where nobody answers (struct sweep_gap), the caller frees it.  0 or -errno. */
int poller_discover(const struct fabric **out, struct poller *p, bool *part, bool *partial,
		    char **silent, struct err *err);

/* poller_watch.c.  A sweep has found f, which gets the name that is kept. */
void poller_watch_begin(struct poller *p);
void poller_watch_found(struct poller *p, struct fabric *f, bool partial);
/* For the caller; NULL: nobody wants them. */
const struct findings *poller_watch_findings(const struct poller *p);
void poller_watch_errors(struct poller *p);
void poller_watch_want(struct poller *p);    /* somebody waits for them */
void poller_watch_updates(struct poller *p); /* when it is due */

/* poller_tables.c.  LFTs, and then the SL2VL tables that belong to them: all again. */
void poller_read_tables(struct poller *p);
/* LFTs alone, of which it mostly turns out that nothing has changed; else the same. */
void poller_tables_due(struct poller *p);
void poller_forget_tables(struct poller *p);
/* Those put aside are told: the fabric is the same. */
void poller_tables_take_aside(struct poller *p);
/* Are SL2VL tables to be read on now?  Then for so long, or until somebody wants something. */
bool poller_reads_sl2vl(const struct poller *p);
void poller_sl2vl_run(struct poller *p, double until_s);
void poller_read_again(struct poller *p); /* somebody has written */
void poller_read_on(struct poller *p);	  /* what was ended, or all again */
void poller_read_end(struct poller *p);
/* Progress; false: not of tables that somebody waits for. */
bool poller_tables_step(struct poller *p, const char *step, uint64_t done, uint64_t total,
			uint64_t now_ms);
