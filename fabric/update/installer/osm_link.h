/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_link: the console's end of the socket of our plugin inside OpenSM (see osm_msg.h).
 *
 * Blocking, one thread at a time.  A question that is not answered in time, or an answer that
 * makes no sense, breaks the link: all that follows is -ENOTCONN, until it is opened again.
 */
#pragma once

#include "fabric/ib/notice.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/update/installer/osm_msg.h"

struct osm_link;

/* path, else $IBROUTE_SOCKET, else OSM_SOCKET. */
const char *osm_link_path(const char *path);

/* path as above.  timeout_ms: of each question but reroute; 0: 5000.  -ECONNREFUSED: nobody
 * there, or we may not speak to it, as the sentence says. */
int osm_link_open(struct osm_link **out, const char *path, uint32_t timeout_ms, struct err *err);
/* After it broke: the same again.  Whoever watched has to ask for that again. */
int osm_link_reopen(struct osm_link *l, struct err *err);
void osm_link_close(struct osm_link *l); /* NULL is fine */

int osm_link_status(struct osm_link *l, struct osm_status *out, struct err *err);
/* The plugin judges them at once: -EPROTO and a sentence when they do not pass, -ESTALE when they
 * are for another fabric.  step: see OSM_LOAD_STEP. */
int osm_link_load(struct osm_link *l, const struct tables *t, bool step, struct osm_answer *out,
		  struct err *err);
/* Would t be taken as the end of an update? -EPROTO and the plugin's sentence when not: then it
 * passes what the policy excludes, or is not safe; -ESTALE as above.  Nothing is loaded.  Only
 * where osm_status.exclude is not empty: a plugin without it may not know the request. */
int osm_link_judge(struct osm_link *l, const struct tables *t, struct err *err);
/* Tables of a wave to come, judged and kept there; out->tables "": not kept.  Only where the status
 * says that it is taken. */
int osm_link_ahead(struct osm_link *l, const struct tables *t, bool step, struct osm_answer *out,
		   struct err *err);
/* Loads those.  -ENOENT: they are not kept there. */
int osm_link_load_known(struct osm_link *l, const struct digest *tables, bool step,
			struct osm_answer *out, struct err *err);
/* Waits until OpenSM has written everything, at most timeout_ms (0: 120 s): -ETIMEDOUT, -EPROTO
 * when our routes are refused, -ENOTSUP on a standby. */
int osm_link_reroute(struct osm_link *l, bool all, uint32_t timeout_ms, struct osm_answer *out,
		     struct err *err);
/* An update begins, or one that has begun is taken over (resume): what is loaded and kept over this
 * link from now on is of it, also when it is opened again.  -EBUSY: another one is in progress;
 * -ESTALE: it is for another fabric, or the plugin has ended it; -EAGAIN: OpenSM has not routed
 * yet. */
int osm_link_begin(struct osm_link *l, const struct osm_update *u, bool resume, struct err *err);
/* Speaks for the update, if every_ms have passed since it last did; u (may be NULL): what has
 * changed of it.  As above, and -EUCLEAN: somebody has ordered other routes; 0 where none was
 * begun; 1: they have not passed. */
int osm_link_alive(struct osm_link *l, const struct osm_update *u, uint32_t every_ms,
		   struct err *err);
/* The update is over: what of it is still with the plugin is given back. */
int osm_link_end(struct osm_link *l, struct err *err);
/* Back to what routed before the update, through its steps; as osm_link_reroute(). */
int osm_link_back(struct osm_link *l, struct osm_answer *out, struct err *err);
const struct osm_update *osm_link_update(const struct osm_link *l); /* NULL: none was begun */
/* The hash of the tables that the update has loaded last, "": none; NULL: not known. */
const char *osm_link_given(const struct osm_link *l);
/* Has somebody else's order ended the update, as far as the plugin has said? */
bool osm_link_overruled(const struct osm_link *l);
/* The tables are confirmed, and on the plugin's disk. */
int osm_link_keep(struct osm_link *l, struct err *err);
int osm_link_return(struct osm_link *l, struct osm_answer *out, struct err *err);
/* The tables that are in force by the plugin's routes, or (base) those from before a transaction:
 * -ENOENT when there are none.  f: the same fabric, else -ESTALE. */
int osm_link_tables(struct osm_link *l, bool base, struct tables **out, const struct fabric *f,
		    struct err *err);
/* text "" and no flags: the file counts again.  flags: OSM_POLICY_* */
int osm_link_policy(struct osm_link *l, const char *text, unsigned flags, struct osm_answer *out,
		    struct err *err);

/* n: trap 68 or 69; the plugin fills in who sends it. */
int osm_link_notice(struct osm_link *l, const struct notice *n, struct err *err);
/* Ports that have subscribed to notice 68, in no order, also twice.  The caller frees *guid. */
int osm_link_listeners(struct osm_link *l, uint64_t **guid, uint32_t *n, struct err *err);
/* What each agent that OpenSM has heard said last, in no order.  The caller frees *out.  -EPROTO
 * also of a plugin that does not know the question. */
int osm_link_agents(struct osm_link *l, struct osm_agent **out, uint32_t *n, struct err *err);
/* From now on traps 144 of all nodes can be had. */
int osm_link_watch(struct osm_link *l, struct err *err);
/* 1: the next one, with the issuer's LID and GUID; 0: none within wait_ms.  Those that came while
 * questions were asked are not lost. */
int osm_link_heard(struct osm_link *l, struct notice *out, uint32_t wait_ms, struct err *err);
/* How often the connection was opened again: requests of before have to be sent again. */
uint32_t osm_link_opened(const struct osm_link *l);
int osm_link_fd(const struct osm_link *l); /* to wait for: readable when osm_link_heard() is due */
