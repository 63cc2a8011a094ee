/* SPDX-License-Identifier: GPL-2.0-or-later */
/* transition_priv: what the files of transition share. */
#pragma once

#include "engines/graph/graph.h"
#include "engines/transition/transition.h"
#include "engines/transition/transition_graph.h"
#include "engines/transition/transition_mixture.h"
#include "fabric/base/memory/vec.h"

#define SOME 32 /* dependencies added between two looks at the clock of others */

enum place { STAYS, WAITS, DONE, DRAINED };

/* Of packets to a LID: where the old or the new tables alone lose some, more are no news. */
enum losses { LOSSES_UNKNOWN, LOSSES_COUNT, LOSSES_IGNORED };

struct item {
	uint16_t lid;
	bool lft, sl; /* what changes */
	bool moving;  /* in the wave at hand */
	uint8_t place, why;
	uint8_t losses; /* enum losses */
	bool stuck;	/* by this dependency, when it was tried last */
	struct tdep by;
	uint8_t *lft_age;  /* by switch; NULL: all alike */
	uint8_t *lft_wide; /* while moving in part: the same with AGE_BOTH */
};

struct move {
	uint32_t item, wave;
	uint8_t *lft_wide; /* AGE_BOTH: these switches; NULL: all that change */
};

/* What a search has found. */
struct found {
	VEC(struct move) moves;
	uint8_t *drained; /* by item: 0, or why + 1 */
	uint32_t ndrain, nwaves, sl2vl_wave, first_lft;
	bool old_cyclic;
	bool over_budget; /* not all that are drained were tried */
};

struct search {
	const struct fabric *f;
	struct turns turns;
	struct mixture_flow *flow;
	struct tgraph *g;
	struct tgraph *end; /* of the new tables alone, as transition_search_alone() left it; may be
			       NULL */
	struct pace pace;
	struct item *item;
	uint32_t n, nwait;
	uint8_t sl_waves; /* ages of SLs during the waves */
	uint8_t sl2vl;	  /* age of the SL2VL tables at present */
	bool descending, sl2vl_last, may_drain;
	bool over_budget; /* the last attempt did not go through all that could help */
	bool old_cyclic;  /* as found by the last attempt */
	bool end_holds;	  /* whoever keeps old SLs, but for those that are certain */
	bool big;	  /* so much changes that an attempt would not come far */
	bool huge;	  /* it is big by itself, not because the caller wants it quick */
	uint32_t certain; /* LIDs that need the drain for certain */
	uint32_t wave;
	uint64_t effort; /* work that one attempt may cost before it hurries */
	uint64_t hurry;	 /* when work_of() is beyond that */
	uint64_t fine;	 /* work left for moving in parts */
	uint64_t ticked, graphs_done;
	uint32_t at;	/* LIDs of the step that progress reports */
	bool in_a_step; /* smaller ones within it are not reported */
	struct found *found;
};

/* transition_search.c */
uint64_t search_work(const struct search *s);
/* All that is still to come takes at most so many looks more: reported by the progress, as part of
 * what it said before when that was less. */
void search_most(struct search *s, uint64_t more);
/* Steps as the progress reports them: LIDs done, of all, which only grow within a step. */
void search_step(struct search *s, const char *name); /* static */
bool search_at(struct search *s, uint32_t done);      /* true: cancelled */
bool search_tick(struct search *s);		      /* the same where nothing comes to an end */
bool search_show(struct search *s, uint64_t work);    /* the same after other work */
void search_graph(struct search *s);		      /* a new one, without dependencies */

void search_no_graph(struct search *s);
/* That graph, which is the caller's from now on. */
struct tgraph *search_take_graph(struct search *s);

bool search_sort(struct search *s); /* tgraph_sort() of the graph at hand */

/* The dependencies of one LID come and go; put does not look for cycles. */
void search_put(struct search *s, const struct item *it, struct ages a);
void search_take(struct search *s, const struct item *it, struct ages a);

/* The LID's dependencies, for mixture_deps().  False when its packets may go round, or be lost that
 * neither the old nor the new tables lose. */
bool search_run(struct search *s, struct item *it, const struct ages *a);
void search_put_run(struct search *s); /* those of the last run */

enum added { ADDED, CYCLE, LOOP }; /* LOOP: or losses */

/* All of them, or none.  blame: notes what closed the cycle. */
enum added search_add(struct search *s, struct item *it, struct ages a, bool blame);

/* One order of everything, from those drained (by item: why + 1, or 0).  -EDEADLK: others must
 * be drained, which s->may_drain forbids; -EAGAIN: not at once, and more is not tried when s->big;
 * -ECANCELED.  *out is NULL unless 0. */
int search_attempt(struct found **out, struct search *s, const uint8_t *drained);

/* Sets drained of those whose old SLs, each LID's alone, close a cycle with the
 * graph at hand, which is that of the new tables and SLs; beyond that effort only those are found
 * that need no search.  -ECANCELED. */
int transition_search_alone(struct search *s, uint8_t *drained, uint64_t effort);

/* transition_fit.c: the same from nothing, in that order of items; beyond limit (of search_work())
 * all that is left is drained.  When it ends beyond enough, no other is tried, which is reported.
 * Never -EDEADLK. */
int search_first_fit(struct found **out, struct search *s, const uint32_t *order,
		     const uint8_t *drained, uint64_t limit, uint64_t enough);
void found_free(struct found *r); /* NULL is fine */

/* transition_result.c: the writes of what was found; caller owns it; NULL: cancelled */
struct transition *transition_result(struct search *s, const struct found *r,
				     const struct tables *old, const struct tables *new);
