/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * auto_policy: when the automatic mode computes, proposes and applies.  Pure: it knows no clock and
 * does no I/O; the caller looks, asks, does what the answer says, and tells how it ended.
 *
 *   look (jobs, updates under way) --COMPUTE--> judge (a plan) --PROPOSE--> kept for people
 *                                                                  --APPLY--> ended (how)
 *
 * Whatever goes wrong, what is installed stays, and the next try waits: one period after the first
 * failure, twice as long after each further one, and twice that where routes had been written
 * and were rolled back.  An update that was kept ends this; where the engine had to leave something
 * for later, the next look computes again, whatever the jobs do.  Where somebody else has routed
 * during an update, or has overwritten what was confirmed, it disarms itself: it proposes plans but
 * writes nothing until it is started again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define AUTO_BUSY_S    10	  /* until it looks again while somebody else updates */
#define AUTO_BACKOFF_S (6 * 3600) /* longest pause after failures */

#define AUTO_JOB_CHANGE .01 /* of its time: a job is faster or slower */

enum auto_act {
	AUTO_WAIT,    /* until next_s */
	AUTO_COMPUTE, /* then auto_policy_judge() or auto_policy_failed() */
	AUTO_PROPOSE, /* show it, write nothing */
	AUTO_APPLY,   /* then auto_policy_ended() */
};

/* Whose plans may be written that other than idle traffic notices. */
enum auto_drain {
	AUTO_DRAIN_NEEDED, /* jobs drain that have to; all of them must have agents */
	AUTO_DRAIN_NONE,   /* only what nobody has to drain for, in an order of safe waves */
	AUTO_DRAIN_ALL,	   /* only where all jobs whose paths change have agents: packets keep their
			    * order */
};

struct auto_limits {
	uint32_t period_s;  /* between two looks, and so at least between two computations; not 0 */
	double gain;	    /* a plan must gain more than this share, 0..1; a part of one less, see
			     * auto_policy_need() */
	bool accept_slower; /* it may write what time_gate finds slower */
	enum auto_drain drain;
	bool armed; /* it may write */
};

/* What is there when it looks. */
struct auto_look {
	bool known;	/* the source of jobs answers now */
	bool busy;	/* an update, whoever's, is under way or was left unfinished */
	uint32_t njobs; /* that count: of several switches, old enough */
	/* against those that were computed for last */
	bool changed;
	uint32_t started, ended;
	bool fabric_changed; /* other switches or cables since */
};

/* What came out of the computation. */
struct auto_plan {
	bool sound;	     /* checked, deadlock-free, the links carry it, writes have an order */
	const char *why_not; /* when it is not sound; may be NULL */
	/* pairs of ends that the installed tables have no path for and the plan has: reason enough,
	 * and then nothing else of before can be held against it */
	uint64_t mends;
	uint64_t before, after; /* maximum effective EFI, installed and proposed */
	/* mean time of the jobs in the pattern, by which it is judged where it is known, in units
	 * of a message without contention; 0 not known */
	double time_before, time_after;
	double time_error;	  /* standard error of the difference */
	double s_before, s_after; /* the same in seconds per MiB and rank; NAN or 0 not known */
	/* where messages have LIDs by their size; then the times above are of large ones, and
	 * before and after of what these take */
	bool by_size;
	double small_before, small_after; /* mean time, likewise */
	char base_loses[200]; /* what software loses that knows base LIDs only; "" nothing */
	char slower[300];     /* what time_gate says; "" nothing gets slower */
	uint32_t blocks;      /* to be written: LFT blocks and SL2VL tables */
	bool drain;	      /* traffic has to be away before the first write */
	bool agents;	      /* of all whose traffic that is */
	bool agents_all;      /* of all jobs whose paths change */
	uint32_t drain_lids, drain_jobs; /* that it is about, with drain */
	uint32_t moved_jobs;		 /* whose paths change, also without a drain */
	uint32_t rest_lids; /* left as installed, for they would have to drain; 0: it is whole */
	double rest_gain;   /* what the plan gains with them */
	bool busy;	    /* an update of somebody else has begun meanwhile */
	bool more; /* the engine has changed as much as it may at a time: there is more to gain */
	double reach;	   /* with more: what all of it gains, as it knows, 0..1; 0 not known */
	char engine[24];   /* that made it; "" not known */
	double time_bound; /* no routing has a lower mean time; 0 not known */
	uint64_t bound;	   /* nor a lower maximum effective EFI; 0 not known */
	bool jobs_timed;   /* the next two are known */
	uint32_t jobs_faster, jobs_slower; /* by more than AUTO_JOB_CHANGE */
	double cpu_s;			   /* that it took to compute; 0 not known */
};

enum auto_end {
	AUTO_KEPT,
	AUTO_REFUSED,	  /* nothing was written */
	AUTO_ROLLED_BACK, /* and the old routes are proved to be back */
	AUTO_INCOMPLETE,  /* not everywhere: the update's journal is open */
	AUTO_SUPERSEDED,  /* somebody else's routes are there */
	AUTO_LEFT,	  /* goes on without us: its own process decides */
};

struct auto_policy {
	struct auto_limits limits;
	uint64_t next_s;       /* no look before */
	bool computed;	       /* for the jobs that a look compares with */
	bool disarmed;	       /* somebody else routes, or overwrites what was confirmed */
	bool more;	       /* of the last plan */
	uint32_t failures;     /* in a row */
	char overwritten[360]; /* why disarmed, as auto_policy_overwritten() was told; "" else */
	char why[1400];	       /* the last decision, a sentence for the log */
};

/* The first look is due at once.  Times are seconds of one clock that never jumps. */
void auto_policy_init(struct auto_policy *p, const struct auto_limits *limits, uint64_t now_s);

static inline bool auto_policy_due(const struct auto_policy *p, uint64_t now_s)
{
	return now_s >= p->next_s;
}

/* AUTO_WAIT or AUTO_COMPUTE. */
enum auto_act auto_policy_look(struct auto_policy *p, uint64_t now_s, const struct auto_look *in);
/* AUTO_WAIT, AUTO_PROPOSE or AUTO_APPLY. */
enum auto_act auto_policy_judge(struct auto_policy *p, uint64_t now_s, const struct auto_plan *in);
/* There is no plan: what went wrong, or NULL. */
void auto_policy_failed(struct auto_policy *p, uint64_t now_s, const char *what);
/* After AUTO_APPLY.  text: why it was not kept; may be NULL. */
void auto_policy_ended(struct auto_policy *p, uint64_t now_s, enum auto_end end, const char *text);

/* What was confirmed is no longer in the switches: by whom it was overwritten, and how much, as a
 * sentence.  From now on it proposes only. */
void auto_policy_overwritten(struct auto_policy *p, const char *sentence);

/* What a plan has to gain: the threshold; half of it, where the engine has changed as much as it
 * may at a time, and a fifth, where it knows that all of it gains more than the threshold. */
double auto_policy_need(const struct auto_policy *p, const struct auto_plan *in);

/* Share by which the time of jobs falls, 0..1, negative when it rises; where that is not known, the
 * same of the maximum effective EFI; 0 without jobs. */
double auto_gain(const struct auto_plan *in);

/* Is the part of a plan that needs no drain taken instead of the whole, which may not be written?
 * It is where it gains more than that share and more than its uncertainty, and does not make a job
 * slower that the whole does not; the whole is for an operator otherwise. */
bool auto_part_preferred(const struct auto_plan *part, const struct auto_plan *whole, double gain);
