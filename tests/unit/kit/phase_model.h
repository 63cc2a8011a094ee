/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phase_model: one coordinator, up to three agents, a network that loses, doubles, reorders and
 * delays, switches, a journal; every order of events, each state visited once.
 *
 * Every budget is finite, so a state that is reached from itself is a run without an end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Parts that do not do what they should, so that it is seen that the model would notice. */
enum phase_mutant {
	MUTANT_NONE,
	MUTANT_ACK_SEQ,	      /* the coordinator takes an answer for whatever it asked last */
	MUTANT_ACK_TXN,	      /* ... of whatever transaction */
	MUTANT_NOTICE_SEQ,    /* an agent obeys the notice that came last, not the newest */
	MUTANT_NOTICE_TXN,    /* ... of whatever transaction */
	MUTANT_EPOCH,	      /* who takes over counts from where the one before began */
	MUTANT_UNSAVED,	      /* a restarted agent knows nothing */
	MUTANT_EARLY_ACK,     /* an agent answers when the drain begins */
	MUTANT_NO_HOLD,	      /* an agent leaves the escape LIDs whenever it likes */
	MUTANT_NO_REPATH,     /* nobody is called back from an update that was rolled back */
	MUTANT_BLIND_READ,    /* reading back always finds what was written */
	MUTANT_NO_JOURNAL,    /* the first step is written before the journal is there */
	MUTANT_UNASKED,	      /* who takes over writes back and asks nobody to drain */
	MUTANT_TRUSTING,      /* the coordinator takes who is silent for drained */
	MUTANT_BLAND,	      /* another SM's tables are taken for the old ones */
	MUTANT_UNLOOKED,      /* nobody looks for jobs that began while it was written */
	MUTANT_UNINVITED,     /* who joins is not asked */
	MUTANT_OBEYS_ANYBODY, /* agents obey whoever asks; needs hostile */
	MUTANT_HEARS_ANYBODY, /* the coordinator takes whoever answers for the agent; likewise */
	MUTANT_HASTY, /* who is called back by anybody returns at once; needs callbacks */
	MUTANTS
};

const char *phase_mutant_name(enum phase_mutant m);

struct phase_model {
	unsigned nagents, nwaves; /* 0..3, 1..2 */
	unsigned late;		  /* of them: their jobs begin at any moment of the update */
	unsigned max_sends;	  /* of the same notice, 1..2 */
	bool without_silent;
	bool earlier; /* late messages of an earlier transaction are about */
	bool recheck; /* who has drained is asked once more before the first write */
	bool hostile; /* a node that means harm: see phase_hostile.c */
	bool keyed;   /* with a key of the site; without, it does not ask through the SM ... */
	unsigned callbacks; /* ... but so often calls a drained agent back, and is believed */
	bool safety;  /* agents return by themselves when nobody calls them */
	/* how often, in one run */
	unsigned lost;	  /* messages; LOST_ANY: any */
	unsigned doubled; /* where nobody asks, > 0: every message, each has to be void then */
	unsigned faults;  /* writes that do not get everywhere, steps that cannot be journalled */
	unsigned hooks;	  /* that fail */
	unsigned crashes; /* of agents; they may be restarted at any time later */
	unsigned ended;	  /* jobs */
	unsigned deaths;  /* of the coordinator's process, 0..2 */
	unsigned cancels, sms, holds;
	unsigned others; /* another SM that routes by tables of its own, 0..1 */
	unsigned asks;	 /* each agent */
	enum phase_mutant mutant;
	bool literal;	     /* without the reductions */
	uint64_t max_states; /* 0: all */
	uint64_t expect;     /* states, for the size of the table; 0: it grows */
};

#define LOST_ANY 255

struct phase_found {
	uint64_t states, steps; /* steps: from a state to another or the same */
	double runs;		/* different orders of events until it is over */
	unsigned longest;	/* steps until the last agent is home, at most */
	bool complete;		/* max_states was enough */
	uint64_t confirmed, refused, back, superseded; /* states in which it is over */
	uint64_t home;		   /* states in which an agent's way home ends */
	uint64_t faces, faces_sum; /* states as a bystander tells them apart, before the end */
	uint64_t table_bytes;
	uint64_t forged, believed; /* what a hostile node said, and how much of it counted */
	uint64_t writes, forced; /* steps that write; those with an agent set aside */
	/* bit per enum coord_action that was under way at all, and when another SM came, the
	 * console died, an agent died, another SM routed */
	uint32_t actions, sm_in, death_in, crash_in, other_in;
	uint32_t begun_in, joined_in; /* likewise: a job began, its agent joined */
	uint64_t late;		      /* answers of those who were taken for silent */
	uint64_t lost, doubled, sms, others, deaths, crashes, joined; /* steps */
	const char *wrong; /* NULL: every run is as it should be */
	char trace[8192];  /* how it came to that, a step a line */
};

void phase_model_explore(struct phase_found *out, const struct phase_model *m);
