/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * desk: what the plugin has been told and what became of it, between OpenSM's threads, which
 * route, and the socket's thread, which asks and orders.
 *
 * It knows nothing of OpenSM.  All functions are thread-safe and hold the desk's lock only for
 * copies of a few words: neither side ever waits for the other's work.
 */
#ifndef ENGINES_OPENSM_SM_SESSION_H
#define ENGINES_OPENSM_SM_SESSION_H

#include "engines/opensm/table_selection.h"
#include "fabric/update/installer/osm_msg.h"

#include <stddef.h>

struct desk;

/* policy: the policy's file, read anew for every routing; confirmed: file of confirmed tables. */
struct desk *desk_new(const char *policy, const char *confirmed);
void desk_free(struct desk *d); /* NULL is fine */

/* ---- the side that routes ---- */

/* choice_make() with the policy and the offers of now; takes note of the fabric. */
int desk_choose(struct desk *d, struct choice *out, const struct fabric *f,
		const struct choice_log *log, struct err *err);
/* What became of the routing that desk_choose() began: c is installed for f (both are noted, not
 * taken), or nothing of ours is, and why. */
void desk_routed(struct desk *d, const struct fabric *f, const struct choice *c);
void desk_refused(struct desk *d, const char *why);
/* OpenSM has written everything that the last routing wanted, by the engine of that name; again: it
 * will route once more. */
void desk_finished(struct desk *d, const char *routes, bool again);

enum desk_event { DESK_REROUTE, DESK_HEAVY, DESK_STATE, DESK_TRAP, DESK_LINK, DESK_ACK };

void desk_count(struct desk *d, enum desk_event e);

/* ---- the side that asks ---- */

/* All but what only OpenSM knows. */
void desk_status(struct desk *d, struct osm_status *out);
/* Tables as tables_ibr bytes, judged at once.  -EAGAIN: nothing was routed yet; -ESTALE, -EPROTO,
 * -EINVAL as the decoder and the judge say; -EPROTO also when they pass what the policy excludes
 * and are no step. */
int desk_load(struct desk *d, const uint8_t *buf, size_t len, bool step, struct osm_answer *a,
	      struct err *err);
/* The same of tables that an update is to end in, before it begins: they are not taken. */
int desk_judge(struct desk *d, const uint8_t *buf, size_t len, struct osm_answer *a,
	       struct err *err);
/* -ENOENT: nothing was loaded; -EINVAL: it was a step. */
int desk_keep(struct desk *d, struct osm_answer *a, struct err *err);
/* To what routed before the update, once even through what the policy excludes: it is a promise. */
void desk_return(struct desk *d, struct osm_answer *a);
/* The caller frees *buf; -ENOENT. */
int desk_tables(struct desk *d, bool base, uint8_t **buf, size_t *len, struct err *err);
/* flags: OSM_POLICY_* */
int desk_policy(struct desk *d, const char *text, size_t len, unsigned flags, struct osm_answer *a,
		struct err *err);

/* A routing that begins from now on answers it; all: it is to write everything.  Returns a number
 * for desk_answered(). */
uint64_t desk_order(struct desk *d, bool all);
/* Whether the next routing is to write everything; asked once in each. */
bool desk_wants_all(struct desk *d);
/* True when the order is carried out or refused. */
bool desk_answered(struct desk *d, uint64_t order, struct osm_answer *a);

#endif
