/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/superseded.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/blocks.h"
#include "fabric/update/transaction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_MS 3000
#define WAIT	  20 /* times that, until an SM that is master has routed */

/* Nobody but this update has written: another SM may be about to. */
static bool superseded_only_ours(const struct transaction *t)
{
	uint32_t new = blocks_holding(t, HOLDS_NEW);

	if (blocks_holding(t, HOLDS_FOREIGN) || !(new + blocks_holding(t, HOLDS_BETWEEN)))
		return false;
	return new < t->ntodo || t->back_waves < t->c.nwaves;
}

/* All of the update's blocks, read until they stay as they are. */
static void superseded_wait_for_others(struct transaction *t)
{
	uint32_t gap = t->o.settle_ms ? t->o.settle_ms : SETTLE_MS;
	uint8_t *before = xcalloc(t->list->n, 1);
	uint64_t begin = clock_ms();
	bool done = false;

	for (bool again = false; !done; again = true) {
		blocks_todo_all(t, t->back_waves);
		blocks_read(t);
		agent_set_hear(t);
		done = again && !memcmp(before, t->holds, t->list->n) &&
		       (t->changed || !superseded_only_ours(t));
		done = done || clock_ms() - begin >= (uint64_t)WAIT * gap;
		memcpy(before, t->holds, t->list->n);
		if (!done)
			clock_rest_us(1000ull * gap);
	}
	free(before);
}

static void superseded_judge(struct transaction *t)
{
	struct executor_foreign *theirs = &t->foreign;
	struct err err = { "" };

	*theirs = (struct executor_foreign){ 0 };
	if (!t->o.judge)
		snprintf(theirs->text, sizeof(theirs->text), "not judged");
	else if (t->o.judge(t->o.ctx, theirs, &err)) {
		*theirs = (struct executor_foreign){ 0 };
		snprintf(theirs->text, sizeof(theirs->text), "not judged: %.100s", err.text);
	}
	t->judged = t->o.judge != NULL;
}

/* n: blocks and tables of the update that are not the old ones. */
static void superseded_words(struct transaction *t, uint32_t n)
{
	const struct executor_foreign *theirs = &t->foreign;
	const char *who = t->others ? "another subnet manager" : "somebody else";
	char *buf = t->foreign_text;
	size_t size = sizeof(t->foreign_text);

	if (t->changed)
		snprintf(buf, size, "%.170s; %s", t->routes, theirs->text);
	else if (theirs->blocks && !theirs->new_lft && !theirs->new_sl2vl)
		snprintf(buf, size,
			 "%s routes by the tables of this update, which was not confirmed; %s", who,
			 theirs->text);
	else if (theirs->blocks)
		snprintf(buf, size,
			 "%s has changed the routing: %u of %u LFT blocks and %u SL2VL tables "
			 "differ from the old ones; %s",
			 who, theirs->old_lft, theirs->blocks, theirs->old_sl2vl, theirs->text);
	else
		snprintf(buf, size,
			 "%s has changed the routing: %u of the update's %u blocks differ from "
			 "the old ones; %s",
			 who, n, t->nall, theirs->text);
}

static void superseded_count_foreign(struct transaction *t, uint32_t n)
{
	pthread_mutex_lock(&t->lock);
	t->st.foreign += n;
	pthread_mutex_unlock(&t->lock);
}

bool superseded_wait(struct transaction *t)
{
	bool ours;

	superseded_wait_for_others(t);
	ours = !t->changed && superseded_only_ours(t);
	blocks_keep_others(t, HOLDS_OLD);
	if (ours) {
		log_add(LOG_WARN, "apply",
			"the present master subnet manager writes nothing: the old tables are "
			"written directly to the switches");
		t->others = false;
		return false;
	}
	if (t->changed) /* what does not respond has left the fabric */
		t->nleft = 0;
	else if (blocks_holding(t, HOLDS_SILENT) || t->nleft)
		return false;
	superseded_judge(t);
	if (!t->ntodo && !t->foreign.old_lft && !t->foreign.old_sl2vl)
		return true;
	superseded_count_foreign(t, blocks_holding(t, HOLDS_FOREIGN));
	superseded_words(t, t->ntodo);
	t->superseded = true;
	return false;
}

/* Only what is proved to work is taken for a routing: a few blocks that somebody has overwritten
 * are damage, and an operator's. */
void superseded_stay(struct transaction *t)
{
	if (t->judged || !t->o.judge)
		return;
	for (uint32_t i = 0; i < t->nleft; i++)
		if (t->holds[t->left[i]] != HOLDS_FOREIGN)
			return;
	superseded_judge(t);
	if (t->foreign.verdict != FOREIGN_SOUND)
		return;
	superseded_words(t, t->nleft);
	t->nleft = 0;
	t->superseded = true;
}

void superseded_report(struct transaction *t)
{
	char why[sizeof(t->why.text)];

	snprintf(why, sizeof(why), "%s", t->why.text);
	log_add(LOG_WARN, "apply", "%s", t->foreign_text);
	snprintf(t->why.text, sizeof(t->why.text), "%s%s%.200s", t->foreign_text,
		 why[0] ? "; " : "", why);
	pthread_mutex_lock(&t->lock);
	snprintf(t->st.text, sizeof(t->st.text), "%.*s", (int)sizeof(t->st.text) - 1, t->why.text);
	pthread_mutex_unlock(&t->lock);
}
