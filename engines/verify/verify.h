/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify: judges any tables, ours or others', and shares no code with the engines.
 *
 * Reachability and loops by walking the LFTs; ports in range; VLs within OperVLs; and
 * Dally-Seitz acyclicity over (channel, VL) with exactly the turns that are used, by the
 * packets of all CA and router ports; packets from switches' port 0 are management and left
 * out.  On failure a witness, on success a topological order that the small checker of
 * verify_certificate.h accepts.
 */
#pragma once

#include "engines/verify/verify_exclusion.h"
#include "engines/verify/verify_pinned.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/route_limits.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

/* One dependency of the cycle: a packet that holds (chan, vl) waits for the next one's. */
struct witness {
	uint32_t chan;
	uint8_t vl;
	uint32_t src_term; /* a path that makes this dependency ... */
	uint16_t dlid;	   /* ... from this terminal to this LID, with this SL */
	uint8_t sl;
};

enum verdict_fault {
	FAULT_NONE,
	FAULT_NO_PATH, /* no entry, a port that leads nowhere, or delivered to a wrong port */
	FAULT_LOOP,
	FAULT_DROP, /* SL2VL drops the packets, or their SL is above 15 */
};

struct verdict {
	bool connected; /* every end reaches every LID in use: nothing unreachable, nothing looping
			 */
	bool loop_free;
	bool deadlock_free; /* only meaningful when connected and loop_free */
	bool vls_fit;	    /* no VL above the OperVLs of a link where those are known */

	/* Sources are the switches with at least one CA or router port, counted or not. */
	uint64_t pairs;	      /* (source switch, LID) looked at */
	uint64_t unreachable; /* of them without a path, for at least one end on the switch */
	uint64_t looping;
	/* the first bad one by LID, then source switch; valid when unreachable or looping is not 0
	 */
	enum verdict_fault fault;
	uint32_t bad_sw; /* source switch */
	uint16_t bad_lid;
	uint32_t bad_at; /* switch where the walk ends or closes */

	/* the first link, by (switch, port), that needs more VLs than it has; unless vls_fit */
	uint32_t misfit_sw;
	uint8_t misfit_port, misfit_vl, misfit_op_vls;

	uint32_t vls_used, sls_used; /* by paths that cross an inter-switch channel */
	uint16_t vl_mask;	     /* which VLs these are, a bit each */
	uint32_t hops_max; /* over ordered pairs of terminals, base LIDs: inter-switch channels */
	double hops_mean;

	struct excluded_paths passes; /* paths through what the limits exclude */
	char excluded[64];	      /* that, for people; "": nothing is */

	struct pin_verdict pinned; /* against the installed tables */

	uint64_t vertices, edges; /* of the dependency graph: used (channel, VL), used turns */
	uint32_t nvl;		  /* order is indexed chan * nvl + vl */
	uint32_t *order;	  /* position of each vertex, UINT32_MAX for unused ones; NULL when
				   * not asked for or not deadlock-free */
	bool terminals_only;	  /* switches' own LIDs were left out */
	bool certified;		  /* order was checked along every path, see route_judge.h */
	struct witness *cycle;	  /* in the smallest component, a shortest one there unless that is
				   * huge (verify_graph.h); NULL when deadlock-free */
	uint32_t ncycle;
};

struct verify_opts {
	bool certificate;    /* keep order */
	bool terminals_only; /* leave switches' own LIDs out of everything (foreign tables) */
	unsigned threads;    /* 0: one per core; never changes the result */
	const struct route_limits *limits; /* nothing may pass what they exclude; NULL: no limits */
	const struct tables
		*installed; /* routes to pinned hosts must be as here; NULL: not known */
};

/* 0 whatever the verdict is; -ECANCELED; -EAGAIN where the tables do not know their VLs (see
 * tables_know_vls()); -EINVAL when they or the limits are of another
 * fabric. opts may be NULL: none of them.  Progress step: "verify". Time O(LIDs * switches), with
 * SLs by terminal and SL2VL that differs by port O(LIDs * (switches + ends)); memory O(ports +
 * turns) apart from the result. */
int verify_tables(struct verdict **out, const struct fabric *f, const struct tables *t,
		  const struct verify_opts *opts, struct progress *progress, struct err *err);
void verdict_free(struct verdict *v); /* NULL is fine */

static inline bool verdict_ok(const struct verdict *v)
{
	return v->connected && v->loop_free && v->deadlock_free && v->vls_fit && !v->passes.n &&
	       !v->pinned.changed;
}

/* One sentence for people; the witness is not in it, and what is excluded only where something
 * passes it; so with the pinned routes. */
void verdict_sentence(char *buf, size_t len, const struct verdict *v, const struct fabric *f);
/* "nothing passes spine11", or which path does; "" when nothing is excluded.  Returns buf. */
const char *verdict_exclusion_text(char *buf, size_t len, const struct verdict *v,
				   const struct fabric *f);
/* One line of the witness: "S3/17 -> S9/4 VL 0  because n012 -> LID 57 (SL 0)". */
void witness_line(char *buf, size_t len, const struct witness *w, const struct fabric *f);
