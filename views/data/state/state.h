/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state: everything that views draw.  The application fills it and keeps every pointer valid
 * while a frame is drawn or a key is handled; views only read it.
 *
 * Any pointer may be NULL: not known yet.  Times are seconds, NAN = unknown.
 */
#pragma once

#include "engines/engine.h"
#include "engines/metrics/metrics.h"
#include "engines/predict/forecast.h"
#include "engines/predict/link_usage.h"
#include "engines/time/time_summary.h"
#include "engines/verify/verify.h"
#include "fabric/base/message/log.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"
#include "fabric/model/traffic/sample.h"
#include "views/data/state/plan_preview.h"
#include "views/data/state/setting.h"
#include "views/data/summary/history.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Newest events, oldest overwritten first. */
#define EVENTS_MAX 512
struct glossary;
struct events {
	struct log_line line[EVENTS_MAX];
	uint64_t total; /* ever added; the newest is line[(total - 1) % EVENTS_MAX] */
};

static inline void events_add(struct events *e, const struct log_line *line)
{
	e->line[e->total++ % EVENTS_MAX] = *line;
}

static inline uint32_t events_count(const struct events *e)
{
	return e->total < EVENTS_MAX ? (uint32_t)e->total : EVENTS_MAX;
}

/* i = 0 is the newest; i < events_count(). */
static inline const struct log_line *events_get(const struct events *e, uint32_t i)
{
	return &e->line[(e->total - 1 - i) % EVENTS_MAX];
}

enum run_mode {
	RUN_LIVE,
	RUN_FROZEN, /* by the operator: the data below stands still */
	RUN_LOST,   /* the port to the fabric, or the collector, is gone; lost_why says it */
	RUN_FILE,   /* a dump: nothing to poll */
};

struct state_poll {
	bool busy;     /* a sweep of counters is under way */
	double age_s;  /* of the newest sample */
	double took_s; /* it took so long */
	double next_s; /* until the next */
	double interval_s;
	uint32_t asked, answered;    /* ports, in the newest sample */
	bool partial;		     /* the sweep was cut short: deadline or lost port */
	bool stale;		     /* new counters are overdue */
	bool preparing;		     /* the simulated fabric is being made */
	bool discovering;	     /* topology sweep under way */
	bool sweep_asked;	     /* by the operator, who may end it */
	uint32_t found_sw, found_ca; /* so far, while discovering */
	char pace[80];		     /* how far that is, how fast, how long still */
	char reading[80];	     /* tables or counters: how far; "" done or brief */
	bool tables_on;		     /* tables that are not known yet are being read ... */
	bool tables_ended;	     /* ... or the operator has ended that */
	uint64_t tables_done, tables_total;
	char tables_pace[80]; /* how far that is, how fast, how long still; "" not known */
	uint32_t missing_sw, missing_ca; /* known before, not found by the last sweep */
	const char *silent; /* where nobody answered the last sweep, a line each; may be NULL */
};

struct state_sm {
	bool known;
	bool lost;	/* it was there and answers no more */
	char name[64];	/* "opensm 3.3.23" or the node's name */
	char state[16]; /* "MASTER", "STANDBY", ... */
	uint16_t lid;
	uint64_t guid;
	char engine[24], requested[24]; /* routing engine in use and asked for; "" unknown */
	char replaces[400]; /* the site's QoS settings that our tables take the place of; "" none */
	char adaptive[300]; /* adaptive routing, and what that means; "" static, or not known */
	char rival[260];    /* an update that another console or admin node has open; "" none */
	char away[260];	    /* agents that are not on their base LIDs, without an update; "" none */
	bool counted;	    /* our plugin tells the next ones, since OpenSM was started */
	uint64_t sweeps;    /* discoveries of the whole fabric */
	uint64_t routings, refused; /* by the plugin, and left to other engines */
	uint64_t reroutes, link_events;
};

enum jobs_state { JOBS_OFF, JOBS_WAITING, JOBS_OK, JOBS_UNREACHABLE };

struct state_jobs {
	enum jobs_state state;
	char source[32];    /* "slurm", "sim", ... */
	char sentence[256]; /* why unreachable */
	double age_s;	    /* of the job set */
};

/* The collector that this console reads from. */
enum collector_keeping { KEEPING_UNKNOWN, KEEPING_WELL, KEEPING_FAILS };

struct state_collector {
	bool on;			/* there is one; or it is polled from here */
	bool gone;			/* and it does not respond; lost_why says it */
	enum collector_keeping keeping; /* of its history; unknown: it keeps none, too */
	char why[200];			/* it fails */
};

enum preview_state {
	PREVIEW_IDLE,
	PREVIEW_RUNNING,
	PREVIEW_DONE,
	PREVIEW_FAILED,
	PREVIEW_CANCELLED
};

struct engine_choice {
	const struct engine *engine;
	bool file; /* no engine: the tables are read from options.tables */
	bool suits;
	char why[256]; /* why not; after " (" the switches at which that shows */
};

/* Bytes of why without those. */
static inline int engine_choice_reason(const struct engine_choice *e)
{
	const char *names = strstr(e->why, " (");

	return names ? (int)(names - e->why) : (int)sizeof(e->why);
}

#define ENGINES_MAX 16
/* A search for an order of writes, of a preview or of a plan that is to be applied. */
struct state_ordering {
	char words[96]; /* its step, how far that is, how long still; "" not begun */
	double took_s;	/* since it was asked for */
	double most_s;	/* all steps that are still to come take at most; NAN not known */
	double about_s; /* and are expected to take; NAN not known */
};

struct state_preview {
	struct engine_choice engines[ENGINES_MAX]; /* for the fabric; order of menus */
	uint32_t nengines;

	enum preview_state state; /* of the run that is under way, or was the last */
	uint32_t engine;	  /* of this run: index in engines */

	char step[32];	      /* while running: "paths", "layers", "metrics", "verify" */
	unsigned part, parts; /* that the step belongs to, from 1; parts 0: not known */
	double fraction;      /* of the step, 0..1, NAN unknown */
	uint64_t step_done, step_total;
	double rate; /* of the step, per second; NAN unknown */
	double elapsed_s, eta_s;
	char error[512]; /* failed: the sentence */

	/* The last results of engines with the options they had, for now's jobs and tables; and an
	 * option whose values are tried: of the values that were not known. */
	const struct option_result *tries;
	uint32_t ntries;
	struct {
		bool on;
		uint32_t engine;
		enum param_id id;
		uint32_t at, n;
	} trial;

	/* computed and kept, oldest first */
	struct plan_preview list[PLANS_MAX];
	uint32_t n, at;	   /* at: the one selected, which state_plan() is */
	double mads_per_s; /* as this session reads tables, for estimates; NAN unknown */
	double sweep_s;	   /* it took to read the fabric */
	/* The slowest agent in the last update of this session that asked some, and all of them
	 * did it; 0 none was. */
	double drained_s, returned_s;
};

enum step_state { STEP_WAIT, STEP_RUNNING, STEP_DONE, STEP_FAILED, STEP_SKIPPED };

struct apply_step {
	char name[16]; /* PREPARE, WRITE, VERIFY, CONFIRM, ... */
	uint8_t phase; /* its number among the five; 0: a part of the one before, or none */
	enum step_state state;
	double took_s;
	char text[120]; /* what it did or does */
};

enum apply_state {
	APPLY_NONE,	/* no plan */
	APPLY_ORDERING, /* the order of writes is being found */
	APPLY_READY,	/* waits for the fabric's name */
	APPLY_RUNNING,
	APPLY_CONFIRM, /* written and read back: waits for the name again, or rollback */
	APPLY_ROLLING_BACK,
	APPLY_KEPT,
	APPLY_ROLLED_BACK,
	APPLY_FAILED,	  /* and rolled back, verified */
	APPLY_INCOMPLETE, /* the rollback itself failed */
	APPLY_SUPERSEDED, /* somebody else's routing is there, neither the old nor the new one */
	APPLY_FABRIC_CHANGED, /* likewise: the subnet manager's, for the fabric as it is now */
	APPLY_REFUSED,	      /* nothing was written */
	APPLY_JOURNAL,	      /* a killed session left a journal: offers rollback */
	APPLY_INSTALLED,      /* nothing to do: the switches hold the plan's tables already */
};

/* What an update is to change, at one time. */
struct live_metrics {
	bool known;
	double util_max, wait_max; /* per cent, over the channels between switches; NAN unknown */
	double errors_per_min;	   /* sum over them; NAN unknown */
	double dark;		   /* of these channels, no job's route uses them; NAN unknown */
};

struct apply_wave {
	uint32_t switches, blocks;
	char name[24]; /* what they are: "leaves", "spines B", "group 3"; "switches" */
};

#define APPLY_WATCHES 4 /* as WATCHES of fabric/update/watchdog/watch_conditions.h */

/* What the process that keeps the deadline has seen so far. */
struct apply_seen {
	struct {
		bool on;
		uint32_t samples; /* taken since before the first write */
		char last[200];
	} of[APPLY_WATCHES];
	bool scanned;			    /* blocks were read again while it waits: */
	uint32_t as_written, other, silent; /* these hold what was written; something else; none
					     * answered */
};

/* All that the switches hold now, read by this console after the update has written. */
enum apply_reread { REREAD_NOT_YET, REREAD_SAME, REREAD_OTHER };

struct apply_agents {
	uint8_t asked; /* of enum phase: UNPATH, REPATH; 0: nobody was asked */
	uint32_t expected, waiting, done, failed, silent, gone, resent;
	char who[120]; /* some that wait, failed or are silent, by name */
};

#define APPLY_STEPS   8
#define APPLY_LOG     64
#define APPLY_WAVES   64 /* later ones are shown as the last */
#define APPLY_SLOWEST 4
struct state_apply {
	enum apply_state state;
	char plan[64];	    /* "nue -> sar" */
	char txn[64];	    /* transaction id; "" none yet */
	char user[40];	    /* whose it is, as its journal says; "" not known yet */
	long process;	    /* pid of its watchdog; 0 none, or not known */
	char installer[16]; /* "smp", "sim", ... */
	char waves[80];	    /* "14 waves, 3210 block writes" */
	char drain[600];    /* whose traffic has to be away meanwhile */
	bool strangers;	    /* LIDs of no job as well, which nobody has accepted yet */
	bool names;	    /* likewise, of hosts whose names are not certain */
	char slower[300];   /* jobs get slower, which nobody has accepted yet; "" they do not */
	const struct tables_diff *diff; /* what is to be written */
	struct apply_step steps[APPLY_STEPS];
	uint32_t nsteps;
	uint64_t done, total; /* blocks and SL2VL tables written and read back */
	uint32_t retries;

	struct apply_wave wave[APPLY_WAVES];
	uint32_t nwaves, at_wave; /* at_wave: under way; those before are written */
	uint32_t wave_done;	  /* blocks of it */
	uint32_t switches;	  /* of all waves together */
	struct apply_agents agents;
	struct {
		char name[64];
		uint32_t us;
	} slow[APPLY_SLOWEST]; /* slowest first; us 0: none */

	double confirm_left_s, confirm_all_s; /* until it is rolled back; NAN: not running */
	bool watched;			      /* by a process of its own: one can leave */
	const char *demo_dir; /* simulated: it ends with the console; where its journals are; else
				 NULL */
	unsigned watching, overridden; /* watch conditions, bits of enum watch_what */
	char found[200];	       /* by a watch condition, the newest; "" nothing */
	bool job_failed;

	struct apply_seen seen; /* while it waits; samples 0: not known */
	enum apply_reread reread;
	uint32_t undrained; /* jobs whose paths change, where nobody was asked to drain */
	double wrote_s;	    /* the writing took; NAN */
	double back_s;	    /* that a rollback takes, as fast as this update went; NAN */

	struct live_metrics before;  /* at its start */
	double pred_util, pred_dark; /* as predicted; NAN unknown */
	double took_s;		     /* all of it, at the end; NAN */

	char effect[240];  /* what the jobs have of it, as measured, or will be; "" not known */
	bool measured;	   /* that is all of it, after it was confirmed */
	char result[256];  /* the sentence at the end, or why it was refused */
	char journal[400]; /* APPLY_JOURNAL: what was found */
	struct log_line log[APPLY_LOG];
	/* Before a line of the log come those blocks of wrote->order, read back just then. */
	struct apply_blocks {
		uint32_t first, n;
		bool back; /* they hold the old contents again */
	} blocks[APPLY_LOG];
	uint64_t log_total;		 /* as in struct events */
	const struct apply_wrote *wrote; /* what its journal says; NULL: not read */
};

/* This session's samples as a bar, oldest first: a column stands for one or more of them. */
#define PAST_COLUMNS 40
struct state_past {
	uint8_t pct[PAST_COLUMNS]; /* utilisation of the busiest link; 255 unknown */
	uint8_t n;		   /* 0: there is no bar */
	uint8_t at, peak;	   /* columns of the moment shown and of the session's peak */
	uint64_t marks;		   /* bits: columns with bookmarks */
};

/* How a fabric is, best last but one; ENDED: its console is gone. */
enum fabric_level { FABRIC_UNKNOWN, FABRIC_WELL, FABRIC_WARN, FABRIC_BAD, FABRIC_ENDED };

#define FABRICS_MAX 8
#define FABRIC_NAME 32
#define FABRIC_WORD 16

/* Several fabrics, each with a tab. */
struct state_fabrics {
	uint32_t n, at; /* at: this one */
	struct fabric_tab {
		char name[FABRIC_NAME];
		enum fabric_level level;
		char word[FABRIC_WORD]; /* the verdict */
		bool updating;		/* an update is open */
	} tab[FABRICS_MAX];
};

/* A sample of the history is shown instead of the newest: the state is as it was then. */
struct state_history_at {
	bool on;
	int64_t time_s;	      /* of the moment; also of a frozen screen, and of a snapshot */
	uint32_t back, count; /* so many samples ago, of so many that are kept */
	bool kept;	      /* by the collector, from before all of these */
	char mark[32];	      /* its bookmark; "" none */
	char peak[16];	      /* what it is a peak of; "" nothing */
	double play;	      /* it goes on by itself, so many times as fast; 0: it stands */
	struct state_past past;
};

/* The automatic mode. */
struct state_auto {
	bool on;
	bool alert;	/* a plan waits for somebody to look at it */
	double next_s;	/* until it looks at the jobs again; NAN: it is at work */
	char text[640]; /* its last decision, a sentence; "" none yet */
};

/* From which on something is a problem. */
struct state_limits {
	double util_pct, wait_pct; /* of a link, for longer than for_s: an event; 0: never */
	double for_s;
	double errors_per_min; /* more than that: the port has a problem */
};
/* What failures would cost: view W. */
struct weak_list;
struct state_weak {
	const struct weak_list *list; /* NULL: not looked for; state_weak() */
	bool busy;		      /* it is being found */
	char step[48];		      /* how far that is */
	char why[256];		      /* there is none; "" it was not tried */
};
/* A campaign's folder: view K. */
struct campaign_list;
struct state_campaign {
	const struct campaign_list *list; /* NULL: none is open */
	uint32_t step;			  /* of a replay: the moment that is shown */
	bool busy;			  /* it is being read, or a cell of it computed */
	char words[80];			  /* how far that is */
	char why[300];			  /* it could not be read; "": it was not tried */
};
struct apply_updates;
struct apply_wrote;
struct sessions;
struct sample_summary;
struct fabric_shape;
struct findings;
struct slurm_topology;
struct row_notes;
struct saved_views;

struct state {
	const struct glossary *glossary; /* of the help; NULL: none */
	struct state_limits limits;
	enum run_mode mode;
	char lost_why[200];
	bool rw;
	bool may_arm; /* without a restart: the fabric is simulated */
	bool recording;
	bool record_lost;	      /* it was recorded, and cannot be now */
	double rec_s;		      /* recording since */
	char rec_head[12];	      /* of its chain: "4736..44d0"; "" not looked at */
	uint64_t rec_seq, rec_cast;   /* lines so far, bytes of the screen's recording */
	bool incomplete;	      /* the file does not have all of its fabric */
	char source[64];	      /* "demo dragonfly:p=4", "mlx5_0/1", "file fab.txt" */
	int colours;		      /* 256, 16, 0 */
	int64_t now_s;		      /* wall clock */
	const char *const *bookmarks; /* names, with NULL at the end; may be NULL */
	/* Names in the folder of a path so far that go on as it does, folders with / at their end;
	 * in order.  None where they have to be read first: the key that asked comes again then.
	 * NULL: nobody knows files. */
	void (*file_names)(void *of, const char *path, void (*name)(void *to, const char *name),
			   void *to);
	void *file_names_of;
	/* The i-th setting that :set takes, with what it is now; false behind the last.  NULL:
	 * there are none. */
	bool (*setting)(void *of, uint32_t i, struct setting *out);
	void *setting_of;

	const struct fabric *fabric;
	const struct findings *findings;	 /* what is not as expected; NULL: nobody looks */
	const struct fabric_shape *shape;	 /* of it; NULL: the summary makes its own */
	const struct slurm_topology *racks_file; /* of --racks, and its path; NULL: names tell */
	const char *racks_path;
	const struct tables *tables;   /* current routing, as read back */
	bool sls_known;		       /* of its paths; else they are taken to be 0 */
	bool keyless;		       /* notices of updates are not signed */
	const struct verdict *verdict; /* of tables */
	const struct metrics *metrics; /* of tables, with metrics_jobs */
	const struct jobset *metrics_jobs;
	struct time_summary time; /* likewise; not known while pairs have no path */
	struct link_usage *usage; /* of tables, perhaps with somewhat older jobs: state_usage() */
	const struct failure_cost *failure; /* by which fabric became as it is; NULL: not known */
	bool metrics_busy;
	char metrics_step[48]; /* how far that is; "" not known */
	const struct jobset *jobs;
	const struct sample *sample; /* newest */
	const struct rates *rates;   /* newest */
	const struct sample_summary
		*sample_summary; /* of sample and rates; NULL: the summary makes its own */
	struct history *history;
	const struct events *events;
	const struct saved_views *saved_views;
	const struct row_notes *row_notes;
	const struct state_fabrics *fabrics; /* all of this console; NULL: this one only */

	struct state_poll poll;
	struct state_sm sm;
	struct state_jobs jobs_source;
	struct state_collector collector;
	struct state_preview preview;
	struct state_apply apply;
	const struct apply_updates *updates; /* the last ones; NULL: not read */
	struct state_ordering ordering;	     /* the one that is under way, of which there is one */
	char work[160]; /* what is being computed, how far, how long still; "" nothing for long */
	struct state_auto automatic;
	const struct sessions *sessions; /* recorded, of view 9 */
	bool sessions_busy;		 /* they are being read */
	char sessions_step[48];		 /* how far the file is that is being read */
	struct state_weak weak;
	struct state_campaign campaign;
	struct state_history_at history_at;
	/* rates of another moment, to be held against those shown; of ports of this fabric */
	const struct rates *against;
	int64_t against_s; /* when that was */
};

/* From the newest rates and figures of s.  O(channels). */
void live_metrics(struct live_metrics *out, const struct state *s);

/* The current tables, and those of the selected plan; NULL where they are not of this fabric.
 */
const struct tables *state_tables(const struct state *s);
const struct tables *state_plan_tables(const struct state *s);

/* Why there are none, where s->tables is NULL. */
const char *state_no_tables(const struct state *s);

/* VLs of the routes are known, and whether they can deadlock. */
bool state_vls_known(const struct state *s);
/* Why they are not, where the LFTs are: in few words, and how far that is.  Return buf. */
const char *state_no_vls(char *buf, size_t len, const struct state *s);

/* All fields unknown: live, read-only, times NAN. */
void state_init(struct state *s);

/* Readers of the state.  Rate of a fabric port (port_off[sw] + p), NULL when there are none. */
static inline const struct port_rate *state_rate_of(const struct state *s, const struct rates *of,
						    uint32_t port)
{
	return of && s->fabric && of->nport == s->fabric->nport ? &of->port[port] : NULL;
}

static inline const struct port_rate *state_rate(const struct state *s, uint32_t port)
{
	return state_rate_of(s, s->rates, port);
}

/* That of the moment that rates are held against. */
static inline const struct port_rate *state_rate_then(const struct state *s, uint32_t port)
{
	return state_rate_of(s, s->against, port);
}

static inline uint32_t chan_fabric_port(const struct fabric *f, uint32_t chan)
{
	return f->port_off[f->chan_src[chan]] + f->chan_port[chan];
}

/* When what is shown was so, Unix time: now, or the moment that is looked back at, at which the
 * screen was frozen, or of which the snapshot is. */
int64_t state_time_s(const struct state *s);
/* Current metrics when they are of this fabric, else NULL. */
const struct metrics *state_metrics(const struct state *s);
/* Who uses what, when it is of the current tables, else NULL. */
const struct link_usage *state_usage(const struct state *s);
/* To whom the routes over a channel lead; NULL: not known. */
const struct chan_dest_list *state_chan_dests(const struct state *s, uint32_t chan);
/* The selected plan; an empty one where there is none, or it is of another fabric. */
const struct plan_preview *state_plan(const struct state *s);
/* There is one. */
bool state_preview_ready(const struct state *s);
/* And what it is for is still so: neither were its tables installed, nor others, nor did the jobs
 * change. */
bool state_plan_ahead(const struct state *s);
/* Figures of a job by its id, NULL when the metrics were made without it. */
const struct job_metrics *job_metrics_of(const struct metrics *m, const struct jobset *jobs,
					 uint64_t id);

/* The short name of a switch, which commands take too: "leaf17" of "MF0;leaf17:MQM9700/U1".
 * Returns buf. */
#define NAME_LEN 65
const char *switch_label(char *buf, size_t len, const struct fabric *f, uint32_t sw);
int switch_label_width(const struct fabric *f); /* of the longest one */
/* "leaf17/33 -> spine04/17"; return buf. */
const char *chan_label(char *buf, size_t len, const struct fabric *f, uint32_t chan);
const char *port_label(char *buf, size_t len, const struct fabric *f, uint32_t sw, uint32_t p);
