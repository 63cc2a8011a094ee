/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * app: the console's own state, shared by its files.
 *
 * app.c is the loop, app_life.c the begin and the end, app_screen.c frames and keys; app_act.c does
 * what the operator asks for.  app_data.c makes state of what the threads report and tells its
 * parts of it, which it does not know: app_record, app_activity, app_history, app_set, app_preview,
 * app_update, app_progress.
 */
#pragma once

#include "console/app/app_opts.h"
#include "console/io/snapshot_files.h"
#include "console/app/terminal/terminal.h"
#include "console/app/update/option_tries.h"
#include "views/data/state/option_values.h"
#include "console/alert/alerts.h"
#include "console/auto/auto_mode.h"
#include "console/record/record.h"
#include "console/fabrics/fabric_link.h"
#include "console/session/demo.h"
#include "console/session/engine_list.h"
#include "console/session/file_work.h"
#include "console/session/message.h"
#include "console/session/poller.h"
#include "console/session/samples/sample_history.h"
#include "console/session/update_thread.h"
#include "console/session/worker.h"
#include "engines/weak/failure_cost.h"
#include "fabric/jobs/source.h"
#include "fabric/model/tables/graft.h"
#include "fabric/plan/plan.h"
#include "views/data/row_notes.h"
#include "views/data/summary/fabric_shape.h"
#include "views/data/summary/sample_summary.h"
#include "views/shell/shell.h"

#include <pthread.h>

/* Data that came in while the operator has frozen the screen: the newest of each kind. */
enum held {
	HELD_FABRIC,
	HELD_TABLES,
	HELD_SAMPLE,
	HELD_METRICS,
	HELD_USAGE,
	HELD_JOBS,
	HELD_COUNT
};

/* What the automatic mode does now. */
enum auto_stage {
	STAGE_IDLE,
	STAGE_LOOK, /* journals are read before the jobs are looked at */
	STAGE_PREVIEW,
	STAGE_JUDGE, /* and before a plan is judged */
	STAGE_UPDATE
};

struct app_auto {
	struct auto_mode mode;
	enum auto_stage stage;
	uint64_t preview; /* serial of its own */
	bool confirmed;
};

/* A moment of the past that is on the screen. */
struct app_history {
	bool on;
	struct snapshot_at at;
	struct events events; /* up to then */
	uint64_t events_of, events_total;
	struct state shown;
	uint64_t frozen_at; /* newest sample kept when the screen was frozen; 0: none yet */
	bool kept;	 /* at is not of this session's samples but what the collector has kept */
	int64_t kept_ms; /* when it was taken */
	uint64_t asked;	 /* serial of the last question about the past */
	int32_t asked_step;			 /* its direction */
	int32_t event_by;			 /* the moment of an event is: its direction */
	bool awaited;				 /* the answer */
	int32_t more;				 /* steps wanted since */
	int64_t made_ms[SAMPLE_HISTORY_MAX + 1]; /* of samples by serial, as the collector has it */
	char no_past[200];			 /* why the last answer was none */
	uint64_t nkept; /* moments of the collector that were shown so far */
	struct kept_mark {
		char name[32];
		int64_t ms;
	} kept_mark[SAMPLE_HISTORY_MARKS]; /* bookmarks of what is not of this session's samples */
	uint32_t nkept_mark;
};

/* The past is played from a moment on. */
struct app_play {
	bool on;
	double speed;	/* 1 to 60 */
	double since;	/* clock_s() of when from_s was shown, or of the last step */
	int64_t from_s; /* of this session's samples: since where */
	/* of the collector's: */
	bool kept;
	int64_t kept_ms; /* the moment before the step */
	int32_t asked;	 /* its samples */
	double gap_s;	 /* between two of them */
};

/* The most of each kept sample, by its serial as made_ms. */
struct app_peak {
	float most[SAMPLE_HISTORY_MAX + 1][HISTORY_METRICS]; /* NAN unknown */
	uint64_t newest;				     /* serial */
	char text[16]; /* what the moment shown is a peak of; "" nothing */
	struct state_past past;
};

/* A moment that rates are held against. */
struct app_against {
	const struct rates *rates; /* own reference, as the next; NULL: none */
	const struct fabric *of;
	int64_t time_s;
	uint64_t asked;	   /* serial of the question about it */
	bool awaited;	   /* its answer */
	char no_past[200]; /* why there is none */
};

/* Polls of counters, for one line of the record. */
struct app_polls {
	uint32_t n, asked, answered;	   /* ports, of the newest */
	uint32_t told;			   /* ports without an answer in the last line */
	double took_s, util_max, wait_max; /* the most; NAN unknown */
	uint32_t problem[PROBLEM_KINDS];   /* ports, in the newest; errors: in the worst */
	double since;			   /* clock_s() of the first */
};

/* What the worker does, as its messages tell it. */
struct app_work {
	bool on;
	enum msg_type type; /* of its steps */
	const char *step;
	uint64_t done;
	double begun, since; /* clock_s() of it all, and of this step */
	double counted;	     /* since when the work of all its steps is counted */
	char what[48], words[96];
};

/* This fabric and the others, where there are several. */
struct app_fabrics {
	struct state_fabrics all;
	struct fabric_tab now, told; /* of this one; told: as the others have it */
	bool away;		     /* another one has the terminal */
};

struct app_part;
struct app_effect;

struct app {
	struct app_opts opts;
	const struct app_part *const *parts; /* NULL at the end; in the order in which they hear */
	struct state state;
	struct shell *shell;
	struct terminal *term;
	enum view_id start_view;
#define SETTINGS_MAX 32
	char settings_kept[SETTINGS_MAX]
			  [SETTING_LEN]; /* as they are in files, and options had them */
#define KEYS_CHOSEN_MAX 32
	struct app_key_chosen {
		char *text;		/* "key.sort=F7" */
		bool kept;		/* in the file */
	} keys_chosen[KEYS_CHOSEN_MAX]; /* by ':set' */
	size_t nkeys_chosen;
	uint64_t warned;	    /* warnings and errors so far; under events_lock */
	uint64_t rung;		    /* of them, with the bell or not wanted */
	double rung_s;		    /* clock_s() of the last */
	struct err export_failed;   /* by --do; "": none has */
	char theme[SETTING_LEN];    /* in use, as it was said */
	char png_font[SETTING_LEN]; /* "": see png_font.h */
	struct canvas *canvas;
	struct mailbox *box;
	struct feed *feed;     /* NULL: a file is looked at */
	char *collector_dir;   /* found here; NULL: said by the options, or none */
	bool may_ask;	       /* it to read something */
	char collector_ca[64]; /* that it polls through; "": not known */
	struct app_against against;
	const struct acts *acts; /* what a collector keeps of who has done what; NULL: none */
	const struct update_counts *updates; /* NULL: not known */
	struct fabric_watch *watch;   /* what rose since the last run; NULL: the collector tells */
	int64_t watched_s;	      /* the counters that it has heard of last */
	uint64_t errors_asked_ms;     /* of a collector, by clock_ms(); 0: they were not */
	bool errors_awaited;	      /* they have not come */
	struct alerts *alerts;	      /* NULL: nobody wants them */
	struct update_thread *update; /* NULL: nothing can be written */
	struct watchdog_config dog;
	struct worker *worker;
	struct demo *demo;
	struct job_source *source;
	struct record *record;
	struct name_map *names;
	struct slurm_topology *racks;

	struct events events;
	pthread_t thread; /* that runs the loop */
	pthread_mutex_t
		events_lock; /* other threads log too; recursive: views log while they are drawn */

	/* owned, as are fabric, tables, jobs, sample, rates, sample_summary, history and usage of
	 * state, which nobody else holds */
	const struct fabric *whole; /* the largest one seen: what is missing is measured by it */
	bool tables_partial;
	bool fabric_partial; /* nodes did not answer the last sweep */
	char *silent;	     /* where, a line each; may be NULL */
	const struct job_list *job_list;
	struct metrics_set *metrics; /* of the installed tables */
	struct sample_history *samples;
	struct app_history shown_history;
	struct app_play play;
	struct app_fabrics fabrics;
	struct app_peak peak;

	/* of each in state.preview.list the message that owns what it points to; total: its serial
	 */
	struct msg *kept[PLANS_MAX];
	struct app_graft *grafts[PLANS_MAX]; /* plans that follow the hosts, ngrafts */
	uint32_t ngrafts;
	uint64_t graft_serial;	      /* of the first of them, while it is judged again; 0: none */
	struct preview_options asked; /* of the one that is computed */
	struct option_tries tries;    /* what previews were computed with so far */
	struct {
		bool on;
		enum preview_state was; /* before; and of which engine */
		uint32_t was_engine;
		struct preview_options options;
		uint64_t value[OPTION_VALUES];
	} trial; /* as state.preview.trial */
	uint64_t preview_serial;
	struct request due; /* a preview that waits for the installed tables, where is_due */
	bool is_due;
	uint64_t cost_serial;	  /* of the one whose plan the worker orders; 0: none */
	uint64_t forecast_serial; /* of the one whose traffic is foretold; 0: none */
	uint32_t numbered;	  /* plans so far */
	double preview_start;

	/* the update */
	uint64_t order_serial; /* of the plan that the worker orders */
	uint64_t order_for;    /* plan whose own order is waited for; 0: none */
	struct plan *plan;
	struct tables_diff *apply_diff;
	const struct tables *undo;    /* installed before the last update */
	const struct tables *applied; /* what the last update installed, with its SLs */
	const struct tables *first;   /* of a demo: what it began with, with its SLs */
	struct {
		const struct tables *t;	     /* the last ones whose SLs were known ... */
		const struct endports *ends; /* ... on a fabric of these ends */
		struct tables *carried;	     /* to that of now, until those there are read ... */
		const struct tables *follow; /* ... and were found to be the same */
	} sls;				     /* of a demo, whose cables go and come */
	const struct tables *read;	     /* as last read from the switches: no SLs */
	struct apply_wrote *wrote;	     /* of the update, or of the last one; NULL */
	char wrote_for[64];		     /* the one whose journal was read */
	double written_at;		     /* clock_s() when it had written all */
	char journal_txn[48];
	bool journal_sought;
	bool rollback_asked;
	double step_start, apply_step_start;
	double asked_at;    /* agents, last */
	double order_asked; /* clock_s() of the search for an order */
	struct app_work work;
	bool metrics_ended; /* by the operator, or who uses what */
	const char *bookmarks[2 * SAMPLE_HISTORY_MARKS + 1];

	struct app_effect *effect; /* of the update that is open, or was the last; NULL: none */
	struct app_auto automatic;
	struct failure_cost failure; /* what state tells of */
	struct failure unrepaired;   /* paths are lost, and nobody has found others; was NULL: no */
	bool repair_told;	     /* what a repair of it would bring */
	double deadline;	     /* clock_s() of when it is rolled back; NAN: never */
	double update_at;	     /* clock_s() of its start */

	struct wire_sm sm;
	struct msg *held[HELD_COUNT];
	double prepared_s; /* CPU of the thread that read the newest sample, for what it made of it
			    */
	double sample_at, sample_took, jobs_at, start;
	float *over_s; /* by channel: so long over its limits; of over_of channels */
	uint32_t over_of;
	bool dirty, quit;
	int mouse_x, mouse_y;
	bool headless;		 /* a canvas without a terminal: for tests and measurements */
	char farewell[400];	 /* said on the terminal after the end; "" nothing */
	bool lost;		 /* also while the screen is frozen */
	struct app_polls polls;	 /* that no line of the record tells yet */
	struct app_files *files; /* NULL: none yet */
	struct saved_views *saved_views; /* NULL: none */
	struct row_notes row_notes;
	struct listing *listing; /* names that the key asks for which is taken again; else NULL */
	void (*asked_for)(struct app *a); /* the operator was asked whether to do that; else NULL */
	bool asked_lightly;		  /* a key that is no Y does what it always does */
	uint64_t keys;			  /* so far */
	uint32_t last_key;
	uint64_t sessions_read;	 /* times */
	char session_wanted[80]; /* whose actions are read next; "" none */
	uint64_t weak_found;	 /* likewise */
	uint64_t campaigns_read; /* likewise */
	char *campaign;		 /* folder of one, given to --load; NULL: none */
	bool lent;		 /* the terminal, to a replay */
	bool pruned;		 /* old records were looked for */
	struct err failed;	 /* why it ends by itself; "" it does not */
	int exit_code;
	char *own_dirs[2]; /* of opts, made here */
	char *snapshot[9]; /* of opts, from --load FOLDER */
	char *folder;	   /* --load FOLDER, NULL: a file */
};

/* What app_data tells the parts of. */
enum app_news_type {
	NEWS_MESSAGE,	     /* one has come; it may be held while the screen is frozen */
	NEWS_ALL_TAKEN,	     /* no more for now */
	NEWS_FABRIC,	     /* another one: all that belonged to the one before is gone */
	NEWS_TABLES_READING, /* the installed tables are being read, or that was ended */
	NEWS_TABLES_READ,    /* they have come in msg, and are not state yet */
	NEWS_TABLES,	     /* they are others than before */
	NEWS_JOBS,
	NEWS_SAMPLE,  /* msg has its reading */
	NEWS_METRICS, /* of the installed tables */
	NEWS_ORDER,   /* serial: the plan whose order of writes was found, failed or ended */
};

struct app_news {
	enum app_news_type type;
	struct msg *msg; /* borrowed; NULL where none is named above */
	uint64_t serial;
};

/* A part of the console; every function may be NULL. */
struct app_part {
	/* true: the message was for this part alone; *kept: it keeps it */
	bool (*take)(struct app *a, struct msg *msg, bool *kept);
	void (*hear)(struct app *a, const struct app_news *n);
	void (*refresh)(struct app *a); /* before a frame */
	void (*end)(struct app *a);
};

extern const struct app_part app_against_part, app_activity_part, app_auto_part, app_collector_part,
	app_effect_part, app_history_part, app_peak_part, app_play_part, app_preview_part,
	app_progress_part, app_record_part, app_prune_part, app_files_part, app_sessions_part,
	app_set_part, app_keys_part, app_update_part, app_notes_part, app_saved_part, app_weak_part,
	app_campaign_part, app_failures_part, app_updates_part;

/* app_screen.c */
void app_resize(struct app *a); /* the canvas as large as the terminal */
void app_draw(struct app *a);	/* with a terminal onto that, without one onto the canvas only */
void app_key(struct app *a, uint32_t key);
void app_bell(struct app *a); /* at most once in two seconds */

/* app_fabrics.c: several fabrics; where there is one, these do nothing */
void app_fabrics_start(struct app *a);
int app_fabrics_fd(const struct app *a); /* -1: there is one */
/* What the others want; true: this one has the terminal now, and nothing is on it yet. */
bool app_fabrics_take(struct app *a);
void app_fabrics_judge(struct app *a); /* after a frame: the verdict on this one */
void app_fabrics_tell(struct app *a);  /* how this one is, where that has changed */
void app_fabrics_ring(struct app *a);  /* the bell of the terminal that this one does not have */
void app_fabrics_go(struct app *a, const char *text);
bool app_fabrics_quit(struct app *a); /* true: all of them are asked first */

/* app_life.c; a->opts is set, all else zero */
void app_prepare(struct app *a);
int app_start(struct app *a, struct err *err); /* 0, or the exit code */
void app_end(struct app *a);		       /* and frees it */

/* app_load.c: --load */
void app_load_folder(struct app *a); /* a snapshot: its files become options */
void app_load(struct app *a);	     /* begins to read; without a screen all is there afterwards */
void app_load_free(struct app *a);

/* app_data.c */
void app_tell(struct app *a, const struct app_news *n);
void app_take_messages(struct app *a);
void app_take_jobs(struct app *a);
void app_refresh(struct app *a); /* ages and the like, before a frame */
void app_unfreeze(struct app *a);
void app_set_list(struct app *a, const struct job_list *list); /* takes it */
/* Takes the reference of f; the others, which are of it, are borrowed. */
void app_set_fabric(struct app *a, const struct fabric *f, const struct engine_list *engines,
		    const struct fabric_shape *shape);
void app_set_tables(struct app *a, const struct tables *t, bool partial); /* takes it */
void app_want_metrics(struct app *a); /* of the tables that are known */
/* Are there tables to be waited for, without which nothing can be computed or compared? */
bool app_tables_awaited(const struct app *a);
/* Why nothing can be read again where there is no feed. */
const char *app_not_polled(const struct app *a);
void app_tables_on(struct app *a);  /* reads those that are not known yet */
void app_tables_end(struct app *a); /* no longer */
struct sm_pin app_sm_pin(const struct app *a);
void app_data_free(struct app *a); /* and what the parts have */

/* app_act.c */
void app_act(struct app *a, const struct request *r);

/* app_trial.c: what becomes of a preview while values of an option are tried */
bool app_trial_begin(struct app *a, const struct request *r); /* false: there is nothing to do */
bool app_trial_on(const struct app *a);
bool app_trial_next(struct app *a, struct preview_options *out); /* false: that was all */
bool app_trial_take(struct app *a, const struct msg *msg);	 /* false: it is ended */
void app_trial_end(struct app *a);				 /* also where none is on */
/* Results of other jobs or tables than now's are forgotten. */
void app_trial_follow(struct app *a);

/* app_preview.c */
void app_options_try(struct app *a, const struct request *r);
void app_preview_start(struct app *a, const struct request *r);
void app_preview_cancel(struct app *a);
/* After the files that options name were read. */
void app_preview(struct app *a, uint32_t engine, const struct preview_options *options);
/* The same for automatic mode, from inputs of its own; o: as they are shown. */
void app_preview_propose(struct app *a, uint32_t engine, const struct preview_options *o,
			 const struct route_inputs *in, const struct auto_agents *who);
void app_plan_remove(struct app *a, uint32_t at);
/* Index of the plan with that serial; PLANS_MAX: there is none. */
uint32_t app_plan_find(const struct app *a, uint64_t serial);
void app_plan_save(struct app *a, const char *path); /* of the plan selected */
void app_stale(struct app *a);			     /* is the preview still true? */
void app_forecast_stop(struct app *a);		     /* the one that is computed */
void app_forecasts_again(struct app *a);	     /* those that were ended */
void app_want_cost(struct app *a); /* the next plan that has no order of writes yet */
/* The selected plan with its order, from what is installed now and with the SM of
 * now.  -EAGAIN: the order is not found yet, or one of other tables. */
int app_plan_make(struct plan **out, struct app *a, struct err *err);
/* The search for an order of writes. */
void app_order_begin(struct app *a); /* it was asked of the worker */
void app_order_stop(struct app *a);  /* that of the plan selected */
void app_order_again(struct app *a); /* of the plan selected, when it was ended */
void app_order_hurry(struct app *a); /* that of the plan selected goes first */

/* app_failures.c: what has gone since, and what that costs: an event, soon */
struct failure;
void app_failures_seen(struct app *a, const struct failure *before, const struct fabric *now);
/* The same of what is known of the fabric that was there until now. */
void app_failures_changed(struct app *a, const struct fabric *now);

/* app_weak.c: what failures would cost, from the tables of now */
void app_weak_find(struct app *a);
void app_weak_opened(struct app *a); /* the view: where that is not known */

/* app_campaign.c: the folder of a campaign, "" again; and what is shown of it */
void app_campaign_read(struct app *a, const char *dir);
void app_campaign_moment(struct app *a, const char *text);
void app_campaign_open(struct app *a, const char *cell); /* "SEED,ENGINE,STEP" */

/* app_hosts.c: the same switches, other hosts; of a demo, other cables, too */
void app_hosts_keep_sls(struct app *a); /* before its fabric goes */
/* Tables of the last update, and of a demo's beginning, are to follow. */
void app_hosts_changed(struct app *a, const struct fabric *was, const struct fabric *is);
bool app_hosts_follow(const struct app *a); /* they do just now */
/* Those that followed a demo's cables, with the entries that were read if these are theirs; NULL.
 */
const struct tables *app_hosts_carried(struct app *a, const struct tables *read);
void app_hosts_end(struct app *a);

/* app_host_names.c */
/* Tells the names that have changed, and those that several hosts may have; was may be NULL. */
/* What cables are slower than they should be in the one fabric and were not in the other (NULL:
 * none was). */
void app_slow_cables_events(const struct fabric_shape *was, const struct fabric_shape *now);
void app_host_names_events(const struct fabric *was, const struct fabric *is);
bool app_host_names_same(const struct fabric *a, const struct fabric *b); /* of equal prints */

/* app_graft.c: plans on the same switches with other hosts */
struct app_graft;
/* A plan of another fabric, whose message it takes; false: of other switches. */
bool app_graft_keep(struct app *a, struct msg *msg, const struct plan_preview *x, bool selected);
void app_graft_fabric(struct app *a); /* there is another fabric */
/* What the next one is computed from, which is borrowed, and the fabric that its tables and jobs
 * are of, where nothing else is computed; NULL: there is none. */
const struct fabric *app_graft_next(struct app *a, struct route_inputs *in);
void app_graft_asked(struct app *a); /* by the newest preview */
const struct preview_options *app_graft_options(const struct app *a, uint32_t *engine);
/* x, of msg, is there; where it is one of these, selected says whether it was looked at. */
void app_graft_made(struct app *a, struct msg *msg, struct plan_preview *x, bool *selected);
bool app_graft_failed(struct app *a, const struct msg *msg); /* one of these, which is given up */
void app_graft_end(struct app *a);

/* app_update.c */
void app_prepare_update(struct app *a); /* the preview becomes a plan */
void app_begin_update(struct app *a);	/* the plan that is ready */
bool app_updating(const struct app *a);
void app_update_start(struct app *a, const char *text); /* the fabric's name as typed */
void app_update_keep(struct app *a, const char *text);
void app_update_roll_back(struct app *a);
void app_update_close(struct app *a);
void app_update_extend(struct app *a);
void app_update_note(struct app *a, const char *text);
void app_update_override(struct app *a, const char *what);
void app_update_detach(struct app *a); /* leaves it to its watchdog */

/* app_updates.c: those of view 7 without a plan, from acts, or read from where they are kept */
void app_updates_take(struct app *a, const struct acts *acts);
void app_updates_read(struct app *a);

/* app_progress.c */
void app_apply_log(struct app *a, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void app_progress_waves(struct app *a, const struct plan *plan);

/* app_auto.c: --auto; as often as one likes */
void app_auto_start(struct app *a);
void app_auto_tick(struct app *a);

/* app_history.c */
void app_history_freeze(struct app *a);		     /* what comes in from now on is not shown */
void app_history_go(struct app *a, uint64_t serial); /* shows this sample, if it is kept */
bool app_history_act(struct app *a, const struct request *r); /* false: not of the past */
/* What the screen is drawn from and keys refer to: now, or a moment of the past. */
const struct state *app_shown(struct app *a);

/* A bookmark by its name: a sample of this session (*serial), or one of the collector's (0), of
 * *ms.  false: there is none. */
bool app_history_find_mark(uint64_t *serial, int64_t *ms, const struct app *a, const char *name);
/* The newest sample that is not later; 0: none. */
uint64_t app_history_at_time(const struct sample_history *p, int64_t time_s);
/* Shows one that is not kept here, whose references it takes. */
void app_history_show(struct app *a, const struct snapshot_at *m, const struct msg *msg);
/* The sample at that moment of Unix time, or so many before or after it, which the collector is
 * asked for; false: there is none that keeps any. */
bool app_history_ask(struct app *a, int64_t at_ms, int32_t step);
/* The moment of the next event after it (by 1), or before (-1). */
bool app_history_ask_event(struct app *a, int64_t at_ms, int32_t by);
void app_history_say_none(struct app *a, const char *why);
/* When that sample was taken, as the collector has it; 0: there is none. */
int64_t app_history_ms(struct app *a, uint64_t serial);

/* app_play.c: the past as it went on; true: it was asked for that */
bool app_play_act(struct app *a, const struct request *r);
/* The moment of the event that was asked for is shown; told: as feed_past_event() has it, NULL: the
 * collector has no such event. */
void app_play_event_came(struct app *a, const char *told);

/* app_peak.c: to that moment of this session; "": of utilisation */
void app_peak_go(struct app *a, const char *metric);

/* app_against.c */
void app_against_set(struct app *a, const char *text); /* a time; "": none */
/* The same, and waits for it: without a screen. */
int app_against_now(struct app *a, const char *text, struct err *err);

/* app_collector.c: --collector */
/* Is one to tell of the fabric, and is it there?  The options may then name it. */
bool app_collector_wanted(struct app *a);
void app_collector_start(struct app *a);
/* True, and it is said: how often counters are read is up to the collector. */
bool app_collector_paces(struct app *a);
/* True, and it is said: a discovery that the collector was asked for, which nobody waits for here.
 */
bool app_collector_asked(struct app *a);
/* Shows the sample of that moment of Unix time, and its routing; without a screen. */
int app_collector_past_now(struct app *a, int64_t at_ms, struct err *err);
/* Until the moments that were asked for are there, or it is known that they are not; without a
 * screen.  -ETIMEDOUT. */
int app_collector_past_wait(struct app *a, struct err *err);

/* app_files.c: files that threads of their own read and write, one of each ops at a time */
#define APP_FILES_MAX 8
/* Takes ctx, also where it fails, which it tells: -EBUSY, or as file_work_start(). */
int app_files_start(struct app *a, const struct file_work_ops *ops, void *ctx);
/* For the start: without a screen in this thread, and what run() returned.  Tells nothing but by
 * done() and failed(). */
int app_files_begin(struct app *a, const struct file_work_ops *ops, void *ctx, struct err *err);
/* It ends with a->failed; as file_work_ops.failed. */
void app_give_up(void *a, void *ctx, int rc, const struct err *why);
bool app_files_runs(const struct app *a, const struct file_work_ops *ops);
void app_files_cancel(struct app *a, const struct file_work_ops *ops);
/* What somebody waits for, as its ops name it; NULL: nothing. */
const char *app_files_waited(const struct app *a);
bool app_files_stop(struct app *a); /* that; false: there is none */
void app_files_free(struct app *a); /* cancels them; before what they borrow goes */

/* app_record.c: a line of the log on stderr, where there is no screen and it is a warning */
void app_print_log(const struct app *a, const struct log_line *line);

/* app_file_names.c: as state.file_names */
void app_file_names(void *of, const char *path, void (*name)(void *to, const char *name), void *to);

/* app_set.c */
int app_set(struct app *a, const char *text, struct err *err); /* "NAME=VALUE" */
int app_set_all(struct app *a, struct err *err);	       /* of the options, keys too */

/* app_keys.c: settings of keys, which have a name of their own ("key.sort=F7") */
bool app_keys_has(const char *setting);
int app_keys_begin(struct app *a, struct err *err); /* those of the options */
int app_keys_set(struct app *a, const char *text, struct err *err);

/* app_theme.c */
int app_theme_set(struct app *a, const char *what, struct err *err);

/* app_settings.c */
bool app_setting(void *of, uint32_t i, struct setting *out); /* as state.setting */
void app_settings_kept(struct app *a); /* what they are now needs no keeping */
void app_settings_keep(struct app *a); /* into the file; says so */

struct sample_reading;
/* app_record.c: what goes into the session's record, which a thread of its own opens and writes.
 * -errno: there is none, and the session is --rw. */
int app_record_start(struct app *a, struct err *err);
/* A hint for whom has never been here, until the first key; not in the place of what is said. */
void app_record_welcome(struct app *a);
/* detail may be NULL */
void app_record_action(struct app *a, const char *action, const char *detail);
/* txn: the update that it is about, where the detail is not its ID; NULL: none. */
void app_record_action_of(struct app *a, const char *action, const char *detail, const char *txn);
/* What went wrong, as it is shown; app_fail() shows it as well, above the keys. */
void app_record_error(struct app *a, const char *area, const char *text);
void app_fail(struct app *a, const char *area, const char *text);
void app_record_phase(struct app *a, const struct executor_event *ev);
void app_record_screen(struct app *a); /* that the canvas has */
void app_record_resize(struct app *a); /* the canvas has another size than before */
/* Counters came: a line a minute, or at once when other ports than before do not answer. */
void app_record_poll(struct app *a, const struct sample_reading *r);
void app_record_polls(struct app *a); /* what no line tells yet; before the record is closed */

/* app_sessions.c: view 9; open: the file whose actions are wanted, may be NULL */
void app_sessions_read(struct app *a, const char *open);
void app_sessions_replay(struct app *a, const char *text);

/* app_saved.c: views that are saved: in the file, and from there */
void app_saved_read(struct app *a);
/* At once, for commands that come from a command line. */
void app_saved_read_now(struct app *a);
void app_saved_keep(struct app *a, const struct saved_view *v);
void app_saved_delete(struct app *a, const char *name);

/* app_notes.c: notes on rows: in the file, from there, and in the record */
void app_notes_read(struct app *a);
/* At once, where there is no screen. */
void app_notes_read_now(struct app *a);
void app_notes_change(struct app *a, const struct request *r);

/* app_export.c: the table in view into that file, .txt, .csv or .json, or the screen, .txt, .html,
 * .svg or .png.  One that is there stays, unless it is to be written over. */
void app_export(struct app *a, const char *to);
void app_export_over(struct app *a, const char *to);
/* The same in this thread, of a screen like as; says what was written.  -errno with the sentence.
 */
int app_export_now(struct app *a, const struct canvas *as, const char *to, bool over, FILE *say,
		   struct err *err);

/* app_snapshot.c: all that is known, and the screen, into a folder of their own: to, or "", one in
 * this folder with a name made from fabric and time.  Tells how it ends. */
void app_snapshot(struct app *a, const char *to);
/* The same without a screen, in this thread, into that folder, which must not be there yet. */
int app_snapshot_to(struct app *a, const char *dir, struct err *err);
