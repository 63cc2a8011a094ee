/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sm_session: the orders to the plugin and their results, between OpenSM's threads, which
 * route, and the socket's thread, which asks and orders.
 *
 * It knows nothing of OpenSM.  All functions are thread-safe and hold the session's lock only for
 * copies of a few words: neither side ever waits for the other's work.
 */
#pragma once

#include "engines/opensm/table_selection.h"
#include "fabric/update/installer/osm_msg.h"

#include <stddef.h>

struct sm_session;

/* policy: the policy's file, read again for every routing; confirmed: file of confirmed tables. */
struct sm_session *sm_session_new(const char *policy, const char *confirmed);
void sm_session_free(struct sm_session *d); /* NULL is fine */

/* ---- the side that routes ---- */

/* table_selection_make() with the policy and the offers of now; takes note of the fabric. */
int sm_session_choose(struct sm_session *d, struct table_selection *out, const struct fabric *f,
		      const struct table_selection_log *log, struct err *err);
/* Marks the hosts of f for storage and I/O, as the policy or OpenSM's io_guid_file (may be NULL) has
 * them, before anybody else has f; what cannot be read is said. */
void sm_session_mark_io(struct sm_session *d, struct fabric *f, const char *guid_file,
			const struct table_selection_log *log);
/* Whether it has nothing to compute or to judge then, on the fabric of before: the tables are at
 * hand, and only what differs is to be written. */
bool sm_session_at_hand(struct sm_session *d);
/* What became of the routing that sm_session_choose() began: c is installed for f (both are noted,
 * not taken), or nothing of ours is, and why. */
void sm_session_routed(struct sm_session *d, const struct fabric *f,
		       const struct table_selection *c);
void sm_session_refused(struct sm_session *d, const char *why);
/* The next routing is that step, if of is installed then, and no update is under way; false: that is
 * not so already. */
bool sm_session_improve(struct sm_session *d, const struct tables *of, const struct tables *step);
/* By which policy it was chosen, for the caller to put; NULL: none any more. */
struct policy *sm_session_chosen_by(struct sm_session *d);
/* OpenSM has written everything that the last routing wanted, by the engine of that name; again: it
 * will route once more. */
void sm_session_finished(struct sm_session *d, const char *routes, bool again);

enum sm_session_event {
	SM_SESSION_REROUTE,
	SM_SESSION_HEAVY,
	SM_SESSION_STATE,
	SM_SESSION_TRAP,
	SM_SESSION_ACK
};

void sm_session_count(struct sm_session *d, enum sm_session_event e);
/* A link of the switch of that LID has changed, as it says. */
void sm_session_link(struct sm_session *d, uint16_t lid);

/* ---- the side that asks ---- */

/* All but what only OpenSM knows. */
void sm_session_status(struct sm_session *d, struct osm_status *out);
/* An update begins, or goes on after its client was away.  -EBUSY: another one is open; -ESTALE:
 * it is for another fabric, or was ended meanwhile; -EAGAIN: nothing was routed yet. */
int sm_session_begin(struct sm_session *d, const struct osm_update *who, struct err *err);
/* Its client is there; -EPERM, -EBUSY, -ESTALE when it is not the one that is open. */
int sm_session_alive(struct sm_session *d, const struct osm_update *who, struct err *err);
/* Is there an update under way, and which? */
bool sm_session_open(struct sm_session *d, struct osm_update *who);
/* Is that update the open one?  0, or as above. */
int sm_session_mine(struct sm_session *d, const char *id, struct err *err);
/* Its client has said something else: its lease is as long again.  id "": no client of it. */
void sm_session_heard(struct sm_session *d, const char *id);
/* Its client has sent that notice to agents: who leads the update back calls them, too. */
void sm_session_asked(struct sm_session *d, const char *id, uint64_t txn, uint32_t seq);
/* Is the open update to be ended, as nobody speaks for it or nobody has confirmed it in time? */
bool sm_session_overdue(struct sm_session *d, struct osm_update *who, char *why, size_t size);
/* One step back, to be routed next; false: that leads to what was before the update, which is over.
 * why: nobody asked for it; NULL: its client did. */
bool sm_session_back(struct sm_session *d, const char *why);
/* Tables as tables_ibr bytes, judged at once; id: of the update.  -EAGAIN: nothing was routed yet;
 * -ESTALE, -EPROTO, -EINVAL as the decoder and the judge say; -EPROTO also when they pass what the
 * policy excludes and are no step; as sm_session_alive(). */
int sm_session_load(struct sm_session *d, const char *id, const uint8_t *buf, size_t len, bool step,
		    struct osm_answer *a, struct err *err);
/* The same of tables that an update is to end in, before it begins: they are not taken. */
int sm_session_judge(struct sm_session *d, const uint8_t *buf, size_t len, struct osm_answer *a,
		     struct err *err);
/* The same of tables of the update's waves that are yet to come, which are not taken but kept with
 * their verdict, so that a wave takes no longer than it has to.  a->tables "": judged, but not
 * kept, for want of room. */
int sm_session_ahead(struct sm_session *d, const char *id, const uint8_t *buf, size_t len,
		     bool step, struct osm_answer *a, struct err *err);
/* sm_session_load() of those.  -ENOENT: they are not kept, or not as they would be judged now. */
int sm_session_load_known(struct sm_session *d, const char *id, const struct digest *hash,
			  bool step, struct osm_answer *a, struct err *err);
/* Once they are on the disk, synced.  -ENOENT: nothing was loaded; -EINVAL: it was a step; -ESTALE:
 * OpenSM does not route by it. */
int sm_session_keep(struct sm_session *d, const char *id, struct osm_answer *a, struct err *err);
/* To what routed before the update, once even through what the policy excludes: it is a promise.
 * id: of the update, if it is still open; "": an order of somebody else's, which ends it. */
void sm_session_return(struct sm_session *d, const char *id, struct osm_answer *a);
/* The caller frees *buf; -ENOENT. */
int sm_session_tables(struct sm_session *d, bool base, uint8_t **buf, size_t *len, struct err *err);
/* flags: OSM_POLICY_* */
int sm_session_policy(struct sm_session *d, const char *text, size_t len, unsigned flags,
		      struct osm_answer *a, struct err *err);

/* A routing that begins from now on answers it; all: it is to write everything.  Returns a number
 * for sm_session_answered(). */
uint64_t sm_session_order(struct sm_session *d, bool all);
/* Whether the next routing is to write everything; asked once in each. */
bool sm_session_wants_all(struct sm_session *d);
/* True when the order is carried out or refused. */
bool sm_session_answered(struct sm_session *d, uint64_t order, struct osm_answer *a);
