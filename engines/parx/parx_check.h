/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parx_check: do tables and choice of LIDs keep what PARX promises (SC19 Sec. 3.2)?
 *
 * (1) small messages take a shortest path of the fabric as it is, whichever of their LIDs is
 *     chosen;
 * (2) large messages do not take the direct cable, wherever a half of the grid holds both
 *     switches and without that cable some path is left at all;
 * (3) every pair has LIDs for either.
 *
 * Looked at for all LIDs of every terminal, from every switch.  (4), free of loops and deadlocks
 * with missing cables too, is verify.h's.  Shares no code with the engine but the search for the
 * grid.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/lid_choice.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum parx_fault {
	PARX_OK,
	PARX_NO_CHOICE, /* no LID for small or for large messages, or one that the port has not */
	PARX_NO_WAY,	/* a LID that does not arrive */
	PARX_LONGER,	/* a small message's LID with more hops than needed */
	PARX_DIRECT,	/* a large message's LID over the direct cable */
};

struct parx_verdict {
	uint64_t pairs;	    /* (source switch with terminals, terminal on another switch) */
	uint64_t no_choice; /* of them, as the faults above */
	uint64_t no_way, longer, direct;
	uint64_t only; /* large messages over the direct cable where the fabric has no other
			* way: no fault */
	uint32_t only_src, only_term; /* the first of those */
	uint64_t around;  /* pairs whose large messages should go around: some half holds both */
	uint64_t shared;  /* of them not counted as direct, but on some cable of a shortest path
			   * that the full grid would have between them */
	uint32_t pinned;  /* terminals that are not looked at */
	uint64_t excepts; /* pairs of switches with a choice of their own */
	/* the first pair with the gravest fault, which is the first that there is of the list */
	enum parx_fault fault;
	uint32_t bad_src;	       /* switch */
	uint32_t bad_term;	       /* destination */
	uint16_t bad_lid;	       /* 0: no LID at all */
	uint32_t bad_hops, least_hops; /* PARX_LONGER */
};

/* pin: ends whose paths stay as installed, to which nothing is promised; NULL: none.
 * 0 whatever the verdict is; -EINVAL: no HyperX, or a choice for another fabric; -ECANCELED.
 * Progress step: "parx".  Time O(switches * LIDs * hops). */
int parx_check(struct parx_verdict *out, const struct fabric *f, const struct tables *t,
	       const struct lid_choice *c, const bool *pin, struct progress *progress,
	       struct err *err);

static inline bool parx_verdict_ok(const struct parx_verdict *v)
{
	return v->fault == PARX_OK;
}

/* One sentence for people, with the first failing pair. */
void parx_verdict_sentence(char *buf, size_t len, const struct parx_verdict *v,
			   const struct fabric *f);
