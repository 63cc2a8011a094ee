/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * message: what the other threads tell the one that draws.
 *
 * A message owns what it points to (one reference each); msg_drop() gives it back when
 * nobody takes it out.  Sending never blocks; the reader waits on mailbox_fd().
 */
#pragma once

#include "console/auto/auto_policy.h"
#include "console/input/load/load_adaptive.h"
#include "engines/metrics/metrics.h"
#include "engines/parx/message_figures.h"
#include "engines/predict/forecast.h"
#include "engines/predict/link_usage.h"
#include "engines/predict/traffic.h"
#include "engines/time/job_time_changes.h"
#include "engines/time/time_gate.h"
#include "engines/time/time_summary.h"
#include "engines/verify/verify.h"
#include "fabric/base/message/log.h"
#include "fabric/base/text/notes.h"
#include "fabric/jobs/job_list.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/demand.h"
#include "fabric/model/traffic/jobset.h"
#include "fabric/model/traffic/sample.h"
#include "fabric/update/executor.h"
#include "fabric/update/installer/osm_msg.h"
#include "fabric/wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

enum msg_type {
	MSG_LOG,
	/* from the poller */
	MSG_DISCOVERING, /* progress of a sweep: done = switches, total = CAs found so far; text:
			    pace */
	MSG_READING,	 /* text: how far tables or counters are read */
	MSG_FABRIC,
	MSG_TABLES_READING, /* of tables that somebody waits for: done of total, text; rc: it ended
			       before all was read, -ECANCELED: by the operator */
	MSG_TABLES,	    /* first perhaps with LFTs alone, see tables_know_vls() */
	MSG_FINDINGS,	    /* what is not as expected; also with MSG_FABRIC, of that fabric */
	MSG_SAMPLE,
	MSG_SM,
	MSG_UPDATES,	   /* updates: how many there were, and what became of them */
	MSG_LOST,	   /* text: why the port is gone; rc: it is the collector that is */
	MSG_FOUND,	   /* the port answers again */
	MSG_POLLING,	   /* a sweep of counters begins */
	MSG_APPLY_JOURNAL, /* of the update txn: changes; text: its user */
	MSG_APPLY_EVENT,
	MSG_APPLY_DEADLINE, /* seconds: it is rolled back then, unless kept */
	MSG_APPLY_FOUND,    /* a watch condition: step is its name, rc 1: it objects; text */
	MSG_APPLY_WAY,	    /* its process: done is the pid, text the installer, "" not known yet */
	MSG_APPLY_SEEN,	    /* seen: what it watches while it waits */
	MSG_APPLY_END,	    /* one of start, confirm, rollback, recover is over: rc, text */
	/* from the worker */
	MSG_WORK_STEP,	  /* step done of total */
	MSG_METRICS_STEP, /* of what follows: step done of total */
	MSG_METRICS,	  /* of the installed tables */
	MSG_USAGE,	  /* the same in more detail, which takes longer */
	MSG_PREVIEW,
	MSG_PREVIEW_FAILED,  /* rc, text */
	MSG_FORECAST,	     /* of a plan's tables and of the installed ones; rc */
	MSG_TRAFFIC,	     /* traffic_plan and traffic_now of a plan of before; rc */
	MSG_BACKGROUND_STEP, /* of usage, forecast or traffic, as text says: step done of total */
	MSG_COST_STEP,	     /* of the order of a plan's writes: done of total */
	MSG_COST,	     /* a plan with its order and drain; or rc, text */
	MSG_ORDER_STEP,	     /* of the search for the order of writes: done of total */
	MSG_ORDERED,	     /* a plan with its order and drain; or rc, text */
	/* of file_work, both name it */
	MSG_FILE_STEP, /* step done of total */
	MSG_FILE_END,
	/* from the demo and the collector */
	MSG_JOBS,
	/* from the collector */
	MSG_COLLECTOR,	 /* it answers: seconds is its interval, text what it polls through, engine
			    where its jobs are from, since_s the Unix time that its past begins */
	MSG_JOBS_SOURCE, /* rc: enum source_state; text: why it is not well */
	MSG_PAST,	 /* of the question total: fabric, shape, tables, list and reading of
			    time_ms; or rc, text */
	MSG_ACTS,	 /* acts: who has done what, as far as it is kept */
	MSG_KEEPING,	 /* rc 0: what it finds is kept; else it is not, text: why */
};

struct sample_reading;
struct acts;
struct findings;
struct update_counts;
struct apply_seen;
struct engine_list;
struct fabric_shape;
struct file_work;

struct msg {
	enum msg_type type;
	struct msg *next;
	double made_s;	 /* clock_s() of msg_new() */
	double since_s;	 /* MSG_TABLES: when their reading began */
	int64_t time_ms; /* of the wall clock; MSG_PAST, and fabrics, tables and samples of a
			    collector */

	struct log_line line;
	bool printed; /* MSG_LOG: where it is printed at all */
	char text[512];
	int rc;
	const char *step; /* static */
	uint64_t done, total;
	bool last;	      /* as the next, too */
	unsigned part, parts; /* of a step's message, as in struct progress */
	uint64_t work, most;  /* likewise */
	double seconds;

	const struct fabric *fabric;
	struct engine_list *engines; /* of that fabric, as it was found, and so the next */
	const struct fabric_shape *shape;
	const struct tables *tables, *from;  /* from: a preview's current ones */
	const struct jobset *jobs, *running; /* running: of a preview, who may have to drain */
	const struct demand *demand;	     /* likewise, what it was made for */
	const struct job_list *list;
	struct file_work *file;		/* borrowed; lives until its end was taken */
	struct sample_reading *reading; /* a sample and what is made from it */
	const struct findings *findings;
	const struct acts *acts;
	const struct update_counts *updates;
	struct metrics *before, *after;
	struct link_usage *usage;
	struct verdict *verdict;
	struct tables_diff *diff;
	struct notes notes;
	struct time_summary time_now, time_plan;
	struct time_gate gate;
	struct job_time_changes jobs_time;
	struct message_figures messages;
	struct forecast now, plan;
	double *rates_now, *rates_plan; /* of a forecast, by job of jobs; NULL: not known */
	struct traffic traffic_now, traffic_plan;
	struct plan *ordered;
	struct auto_plan automatic; /* of a preview for automatic mode; text: why it is not sound */
	struct wire_sm sm;
	char engine[24], requested[24]; /* of OpenSM, where our plugin tells; "" not known */
	char replaces[400];		/* likewise, as in osm_status */
	struct adaptive adapts;		/* do switches route adaptively? */
	char adaptive[300]; /* of OpenSM, see adaptive_text(); "": static, or not known */
	bool counted;	    /* the plugin tells these, since OpenSM was started */
	struct osm_counts counts;
	char update[64], owner[100]; /* likewise */
	char away[260];		     /* likewise: agents that are not on their base LIDs */
	bool partial;		     /* a sweep or reading of tables that missed something */
	struct log_line *lines;	     /* MSG_PAST: the last ones until then, oldest first */
	uint32_t nlines;
	char *silent; /* of a sweep: where nobody answers, a line each; or NULL */
	struct executor_event event;
	struct executor_status apply;
	struct apply_seen *seen;
	struct changes *changes;
	char followed[100];	 /* of a preview of worker_graft(): the hosts that came and left */
	char txn[48];		 /* of a preview: the id of its plan; "" there is none */
	struct plan_files files; /* of a preview: what its tables were read from */
};

struct mailbox;

struct mailbox *mailbox_new(void);
void mailbox_free(struct mailbox *m); /* drops what is left; NULL is fine */
int mailbox_fd(const struct mailbox *m);

struct msg *msg_new(enum msg_type type);
void msg_drop(struct msg *msg); /* NULL is fine */

void mailbox_send(struct mailbox *m, struct msg *msg); /* takes msg */
struct msg *mailbox_take(struct mailbox *m);	       /* oldest, or NULL */
