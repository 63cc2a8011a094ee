/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table_selection: the tables that a policy wants for a fabric, judged before anybody installs
 * them.
 *
 * The first of these that are for this very fabric: tables given by the console, tables that it
 * has confirmed (on disk), the policy's own tables; else, where switches or cables have gone or
 * come back and the policy wants that, what routed before, repaired (carry.h, engines/repair); else
 * those that the policy's engine computes. None of them may lead through what the policy excludes;
 * but where nothing can be routed that way (the rest would fall apart, the engine refuses) all is
 * routed as if nothing were excluded. Whatever they are, they are handed out only when the judge
 * finds them connected, free of loops and of deadlocks, and within the VLs of the links; but for
 * those that are given as a step of an update, which its plan has proved safe together with what
 * came before: of these only what no step may do is looked for.  Where the hosts are others than
 * those they were made for, tables are grafted (graft.h), and even a step must then pass.
 */
#pragma once

#include "engines/opensm/policy.h"
#include "fabric/base/message/err.h"
#include "fabric/model/tables/carry.h"
#include "fabric/model/tables/graft.h"
#include "fabric/model/tables/route_limits.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

enum table_source { CHOICE_ENGINE, CHOICE_FILE, CHOICE_CONFIRMED, CHOICE_CONSOLE, CHOICE_REPAIRED };

const char *table_source_name(enum table_source s); /* as in osm_status.source */

/* What a repair did. */
struct table_repair {
	char what[200];		  /* since the tables that it began with: "1 cable gone" */
	char gone[CARRY_NAMES];	  /* as in struct carry_report */
	enum table_source of;	  /* where these came from */
	uint64_t changed, needed; /* LFT entries */
	uint32_t lids;		  /* to which paths were lost */
	bool sls_again;		  /* SLs of other paths had to change, too */
};

struct table_selection {
	const struct tables *tables; /* the caller owns one reference */
	enum table_source source;
	bool step;
	char away[400];		  /* why not the tables that come first; "" when they are used */
	char confirmed_away[400]; /* why not the confirmed ones on disk, if there are any */
	uint32_t vls_used, sls_used, hops_max; /* as judged */
	uint16_t sl_mask;      /* tables_sl_mask() and ... */
	struct digest sl_maps; /* ... sl_maps_hash(), known before anybody waits for a wave */
	/* Of a step: LIDs whose packets would go round in a circle until the next one, and the
	 * first of them.  The plan has them drained; who is not drained all the same is hit. */
	uint32_t looping;
	uint16_t loop_lid;
	struct graft_report grafted; /* hosts that the tables were kept without or extended to */
	struct table_repair repair;  /* of CHOICE_REPAIRED; what "": as repaired before */
};

/* A verdict on tables, and the fabric that they were judged on. */
struct table_judged {
	const struct fabric *f; /* NULL: they were not */
	struct digest hash;	/* of the tables */
	struct table_selection figures;
};

/* What there is besides the policy; all zero: nothing. */
struct table_offer {
	const struct tables *given;
	enum table_source given_is;  /* what they are called when they are used */
	const struct endports *ends; /* of the fabric of given and base; NULL: only for that one */
	/* Of given, without what the policy excludes: not judged a second time on the same ports.
	 */
	struct table_judged judged;
	const struct tables *base; /* where given cannot be used: what routed before an update */
	enum table_source base_is;
	bool step;
	bool anyway; /* the given tables may pass what the policy excludes: an update is under way
		      */
	const char *confirmed;	      /* file of confirmed tables, which need not be there */
	const struct tables *current; /* installed now; where sar starts from */
	const struct fabric *current_on; /* of current, if it may be repaired; else NULL */
	enum table_source current_is;
	/* The last ones that were not repaired, and nobody's update. */
	const struct tables *origin;
	const struct endports *origin_ends;
	enum table_source origin_is;
	bool same_policy; /* as when current was chosen */
	const struct tables *better; /* a step from current (improver.h); NULL: there is none */
};

/* Sentences meanwhile: why the tables of the file are not used, jobs that could not be read. */
struct table_selection_log {
	void (*say)(void *ctx, const char *sentence);
	void *ctx;
};

/* 0, or -errno with the reason why there is nothing to install: the engine's refusal, or -EPROTO
 * when its tables did not pass. */
int table_selection_make(struct table_selection *out, const struct fabric *f,
			 const struct policy *policy, const struct table_offer *offer,
			 const struct table_selection_log *log, struct err *err);
/* What a policy excludes of f, for the caller to free; *out is NULL when nothing is excluded, and
 * when the rest would fall apart without it, which is said. */
void table_selection_limits(struct route_limits **out, const struct fabric *f,
			    const struct policy *policy, const struct table_selection_log *log);
/* Judges t (of f) as above: 0 or -EPROTO.  l: what it may not pass, or NULL.  step: whatever the
 * verdict is; the figures of out are set as far as they go. */
int table_selection_judge(struct table_selection *out, const struct fabric *f,
			  const struct tables *t, const struct route_limits *l, bool step,
			  struct err *err);
/* A step from before, of the same fabric: 0, or -EPROTO when it removes a path that there
 * was, or leads escape LIDs (which t->escape says to stay) elsewhere while traffic may be on them.
 * O(switches * LIDs). */
int table_selection_judge_step(const struct fabric *f, const struct tables *before,
			       const struct tables *t, struct err *err);
