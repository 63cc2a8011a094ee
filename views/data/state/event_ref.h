/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_ref: the link, switch, host or job that the text of an event names first. */
#pragma once

#include "views/data/state/state.h"

enum event_ref_kind { REF_NONE, REF_CHAN, REF_SWITCH, REF_TERM, REF_JOB };

#define REF_WORD 128

struct event_ref {
	enum event_ref_kind kind;
	uint32_t at;	     /* channel, switch or terminal of the fabric */
	uint64_t job;	     /* id */
	char word[REF_WORD]; /* by which it was found */
};

/* "leaf17/33" is the channel out of that port, "job 81234" a job of s.  O(words * (switches +
 * hosts)). */
void event_ref_find(struct event_ref *out, const struct state *s, const char *text);
/* A text has that word; as a name, not as a part of one.  false for none.  O(text). */
bool event_ref_in(const struct event_ref *ref, const char *text);
/* "link leaf17/33 -> spine4/17", "switch leaf17"; "" for none.  Returns buf. */
const char *event_ref_text(char *buf, size_t len, const struct state *s,
			   const struct event_ref *ref);
