/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal: what a transaction needs to be undone, on disk before the first write.
 *
 * BASE/ID/ holds
 *   head.json    who, when, which plan, which fabric, checksum of changes.bin
 *   changes.bin  every block and SL2VL table to be written, old and new contents, by GUID
 *   agents.json  who may have been asked to move to escape LIDs, if anybody
 *   away.json    who of them was not back when it ended, if anybody
 *   state.log    one checksummed line per step, each synced before the step is taken
 *   lock         held (a lock of the open file) by the process that works on it
 *   guard        likewise by the one that watches over that
 * and, from the watchdog, plan (the plan as a file) and control (its socket).  A head or changes
 * that are damaged are made again from the plan.
 * It is put together under a temporary name, synced, and renamed: a transaction that can
 * be seen is whole.  A line of state.log that was cut counts as not written.
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/plan/change.h"
#include "fabric/update/protocol/coordinator.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define JOURNAL_SUPERVISOR "guard"
#define JOURNAL_PLAN	   "plan"
#define JOURNAL_SAID	   300			  /* bytes of a step's text, at most */
#define JOURNAL_BASE	   "/var/lib/ibroute-top" /* default; IBROUTE_STATE_DIR overrides */

enum txn_state {
	TXN_PREPARED,	    /* nothing written yet */
	TXN_UNPATH,	    /* agents are asked: nodes may be on their escape LIDs */
	TXN_WRITING,	    /* wave begun: any block of it may be old or new */
	TXN_REPATH,	    /* all new and read back; nodes are asked to return */
	TXN_CONFIRMING,	    /* all new and read back, the operator has not decided */
	TXN_ROLLBACK,	    /* being written back */
	TXN_INCOMPLETE,	    /* written back, but not everywhere: still to be recovered */
	TXN_ABANDONED,	    /* ended before the first write */
	TXN_CONFIRMED,	    /* the new tables stay */
	TXN_ROLLED_BACK,    /* the old tables are back, proved by reading */
	TXN_GIVEN_UP,	    /* left as it is: the operator knows better */
	TXN_SUPERSEDED,	    /* neither the old nor the new tables: somebody else's, which stay */
	TXN_FABRIC_CHANGED, /* likewise: the subnet manager's, for the fabric as it is now */
	TXN_STATES,
	TXN_TAKEN = TXN_STATES /* in the log only: another process works on it from here on */
};

const char *txn_state_name(enum txn_state s); /* "prepared", "writing", ... */

static inline bool txn_state_final(enum txn_state s)
{
	return s >= TXN_ABANDONED;
}

/* What a plan was to bring: the time of jobs by the old and the new tables, mean over them, as a
 * multiple of what they take alone.  before 0: not known. */
struct txn_gain {
	char pattern[16];
	double before, after;
};

struct txn_head {
	char id[48]; /* 20261120T231951Z-4711 */
	char fabric[64], plan[8], engine[16];
	char user[40], host[72];
	pid_t pid;
	int64_t time_s;
	struct digest fingerprint, from_hash, to_hash;
	uint32_t nlft, nsl2vl, nwaves;
	uint64_t number; /* in notices: Unix time, but above all earlier ones; filled in when 0 */
	struct txn_gain gain;
};

/* A port of a node whose job is asked to drain. */
struct txn_agent {
	uint64_t guid;
	uint16_t lid, nlids;
	uint64_t job;
	char name[64];
};

struct txn_info {
	struct txn_head head;
	enum txn_state state;
	uint32_t wave;		     /* of TXN_WRITING */
	int64_t state_s;	     /* time of the last step */
	char said[JOURNAL_SAID + 1]; /* with it; "": nothing */
	enum coord_why why; /* why it was not kept; WHY_NONE: it was, or in progress, or unknown */
	bool asked;	    /* agents may be on their escape LIDs, if it is not over */
	uint32_t taken;	    /* how many processes have taken it over */
	bool live;	    /* a process works on it right now, or is about to be started again */
	bool guarded;	    /* there is one that starts it again */
	bool held;	    /* by the process that works on it */
	char broken[160];   /* a file of it is damaged or missing: which, and how; "": none */
	bool lost;	    /* and what it writes is not known any more */
};

struct journal;

/* The directory in use: dir, else $IBROUTE_STATE_DIR, else JOURNAL_BASE. */
const char *journal_base(const char *dir);

/* Creates the transaction (head->id, pid, host, user are filled in when empty), everything
 * synced when it returns.  -EBUSY: another transaction on switches of this fabric is not
 * finished (the sentence names its holder, or says that it wants recovery).  -EACCES and
 * the like: the directory cannot be written. */
int journal_begin(struct journal **out, const char *base, const struct fabric *f,
		  const struct txn_head *head, const struct changes *l, struct err *err);

/* Opens one that was left behind, to work on it: -EBUSY when a process still does, -ENOENT,
 * -EPERM: somebody else's, not root's; -EBADMSG: damaged, and so is its plan file.  What is damaged
 * is repaired on the disk, and the tail of a line cut short removed. */
int journal_open(struct journal **out, const char *base, const char *id, struct err *err);
/* Opens also one that is lost, without any changes: to be given up, or for journal_adopt(). */
int journal_open_lost(struct journal **out, const char *base, const char *id, struct err *err);
/* What a lost one has to undo, as it became known from elsewhere; takes l. */
void journal_adopt(struct journal *j, const struct txn_head *head, struct changes *l);

/* Who it is by and what it writes, without working on it.  The caller frees *out, in which no
 * switch is bound. */
int journal_look(struct txn_head *head, struct changes **out, const char *base, const char *id,
		 struct err *err);

/* Adds a step; on disk when it returns 0.  text: one line for people, may be NULL. */
int journal_mark(struct journal *j, enum txn_state s, uint32_t wave, const char *text,
		 struct err *err);

/* The cause that is written with steps of a rollback and of an end without a confirmation; the
 * first one stays. */
void journal_because(struct journal *j, enum coord_why why);

/* TXN_WRITING of a wave.  On disk when it returns 0, but for waves that follow on another one:
 * "writing" is known already, and who recovers looks at all waves. */
int journal_wave(struct journal *j, uint32_t wave, struct err *err);
/* Who is going to be asked to drain; on disk when it returns 0.  Once, before TXN_UNPATH. */
int journal_put_agents(struct journal *j, const struct txn_agent *v, uint32_t n, struct err *err);
/* Whom of those nobody has seen back on his base LIDs when the transaction ended. */
int journal_put_away(struct journal *j, const struct txn_agent *v, uint32_t n, struct err *err);
/* The two lists, without working on it: away: the second.  As journal_agents(). */
int journal_read_agents(struct txn_agent **out, uint32_t *n, const char *base, const char *id,
			bool away, struct err *err);
/* -ENOENT: nobody was; -EBADMSG.  Caller frees *out. */
int journal_agents(struct txn_agent **out, uint32_t *n, const struct journal *j, struct err *err);
/* Another process works on it from now on: noted and synced. */
int journal_take(struct journal *j, struct err *err);

const struct txn_info *journal_info(const struct journal *j);
struct changes *journal_changes(struct journal *j); /* owned by the journal; bind before use */
void journal_close(struct journal *j);		    /* releases the lock; NULL is fine */

/* All transactions below base, oldest first; a missing base has none.  Caller frees *list. */
int journal_list(struct txn_info **list, uint32_t *n, const char *base, struct err *err);
/* The one with that id; id "": the newest that pid carries out, unfinished: not one that has ended.
 * False: there is none, or base cannot be read. */
bool journal_newest(struct txn_info *out, const char *base, const char *id, int64_t pid,
		    bool unfinished);

/* Unfinished ones that no process holds and that touch switches of f (f NULL: any). */
int journal_find(struct txn_info **list, uint32_t *n, const char *base, const struct fabric *f,
		 struct err *err);

/* Their names alone, in no order; as journal_list(), each and the list to be freed. */
int journal_names(char ***names, uint32_t *n, const char *base, struct err *err);
/* One of them, as journal_list() has it. */
void journal_read(struct txn_info *out, const char *base, const char *id);

/* The folder, or one in it, is somebody else's, not root's: what its files say may be anything. */
bool journal_of_others(const char *base);
/* One of it is not: root's, or that of who works here. */
bool journal_is_ours(const char *base, const char *id);
