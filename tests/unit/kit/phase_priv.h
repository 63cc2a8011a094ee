/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the model of the phases share. */
#pragma once

#include "fabric/agent/agent_state.h"
#include "fabric/update/protocol/coordinator.h"
#include "tests/unit/kit/phase_model.h"

#define NODES	    3
#define WAVES	    2
#define ACKS	    3	/* of one agent under way at a time; more are lost */
#define SLOTS	    16	/* notices of one process */
#define MAXEV	    160 /* choices in one state */
#define MAXPATH	    1024
#define TXN	    2
#define TXN_EARLIER 1

enum holds { OLD, PARTLY, NEW, THEIRS };

enum life { UP, DOWN, OVER, TO_COME };

enum journal { ABSENT, OPEN, FINAL };

struct answer {
	uint8_t slot, repeat, flags, earlier; /* slot + 1; of an earlier one: its seq */
};

struct node {
	struct agent_state a;
	struct coord_agent known;
	uint64_t notices;	 /* under way, by slot */
	uint8_t earlier_notices; /* by seq */
	uint8_t life, told_gone, asks;
	uint8_t member; /* in the journal: the coordinator counts on it */
	uint8_t named;	/* told to people as one whose packets were there meanwhile */
	uint8_t wet;	/* on its base LIDs when tables were written, and did not leave since */
	struct answer acks[ACKS];
};

struct world {
	struct coordinator c;
	struct node n[NODES];
	uint64_t repath; /* slots whose notice is a REPATH */
	uint8_t wave[WAVES];
	uint8_t journal, dead, epoch, held_over;
	uint8_t lost, doubled, faults, hooks, crashes, ended, deaths, cancels, sms, holds;
	uint8_t others, theirs; /* theirs: another SM routes */
	uint8_t forgeries;	/* that count, of a hostile node */
	const char *wrong;
};

enum table_selection {
	DO, /* the action under way; arg: not in full */
	CONFIRM,
	TIMEOUT,
	RESEND,
	DEADLINE,
	CANCEL,
	SM,
	HOLD_OVER,
	OTHER_ROUTES, /* another SM, which writes the first of its tables */
	DEATH,	      /* arg: in the middle of a write */
	TAKE_OVER,
	JOIN,
	NOT_THERE, /* a job that began has no agent */
	HOOK,	   /* arg: fails */
	NOTICE,
	NOTICE_TWICE,
	NOTICE_LOST,
	EARLIER,
	EARLIER_LOST,
	ANSWER,
	ANSWER_TWICE,
	ANSWER_LOST,
	ASK,
	RETRY,
	SAFETY,
	GO, /* recalled, and now it returns */
	CRASH,
	RESTART,
	JOB_OVER,
	TOLD_GONE,
	RESUBSCRIBE,
	JOB_BEGINS,
	FORGED_QUESTION,
	FORGED_ANSWER
};

struct step {
	uint8_t choice, node, arg, who; /* who: node, as it is told */
};

struct choices {
	struct step v[MAXEV];
	unsigned n;
};

/* 80 bits of a hash for each state: among 4e8 states two have the same with probability 1e-7. */
struct seen {
	uint64_t key; /* 0: free */
	float runs;   /* of the states below, log2; UNDER_WAY */
	uint16_t longest, more_key;
};

/* States as a bystander sees them: what the reductions below may not lose one of. */
struct faces {
	uint64_t *v; /* 0: free */
	uint64_t size, n;
};

struct explorer {
	const struct phase_model *m, *whole;
	struct phase_found *out;
	struct seen *table;
	uint64_t size;
	struct faces faces;
	unsigned first; /* node 0 is this one */
	struct step path[MAXPATH];
	unsigned depth;
};

/* phase_world.c */
struct coordinator *phase_bring(struct world *w, const struct phase_model *m,
				struct coord_agent *known);
void phase_put(struct world *w, const struct phase_model *m, const struct coord_agent *known);
/* Its number to the coordinator. */
unsigned phase_rank(const struct world *w, unsigned i);
unsigned phase_slot_of(uint32_t seq);
uint32_t phase_seq_of(unsigned slot);
bool phase_over(const struct world *w);
void phase_spread(struct world *w, const struct phase_model *m, const struct phase_notice *n);
void phase_begin(struct world *w, const struct phase_model *m, enum coord_event ev);
void phase_coordinator_choice(struct world *w, struct explorer *x, const struct step *s);
void phase_can(struct choices *l, bool allowed, enum table_selection c, unsigned node,
	       unsigned arg);
void phase_coordinator_choices(struct choices *l, const struct world *w,
			       const struct phase_model *m);
void phase_check_tables(struct world *w, struct explorer *x);
void phase_check_told(struct world *w, const struct phase_model *m);
void phase_check_end(struct world *w, struct explorer *x);

/* phase_node.c */
void phase_forget(struct node *n);
void phase_remove_ack(struct node *n, unsigned k);
void phase_message_choice(struct world *w, struct explorer *x, const struct step *s);
void phase_node_choice(struct world *w, struct explorer *x, const struct step *s);
void phase_node_choices(struct choices *l, const struct world *w, const struct phase_model *m,
			unsigned i);

/* phase_hostile.c */
void phase_forge_question(struct phase_notice *out, const struct world *w, unsigned what);
void phase_forge_answer(struct phase_notice *out, const struct world *w, unsigned what);
/* What it may say to agent i and in its name, where anybody would believe it. */
void phase_forge(struct choices *l, const struct world *w, struct explorer *x, unsigned i);

/* phase_void.c */
bool phase_orderly(const struct phase_model *m);
bool phase_reduced(const struct phase_model *m);
bool phase_ordinal(const struct phase_model *m);
void phase_remove_void(struct world *w, const struct phase_model *m);
void phase_check_double(struct world *w, const struct world *was, const struct step *s);
void phase_check_growth(struct world *w, const struct world *was, const struct phase_model *m);
bool phase_apart(const struct world *w, const struct phase_model *m);
bool phase_present(const struct world *w, uint32_t seq);

/* phase_key.c */
void phase_key_of(struct seen *key, const struct world *w, const struct phase_model *m);
void phase_look(struct explorer *x, const struct world *w);
