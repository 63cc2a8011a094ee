/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A way back that does not lead there: somebody else has routed meanwhile. */
#include "fabric/update/executor_priv.h"

#include "fabric/base/clock.h"
#include "fabric/base/log.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_MS 3000
#define WAIT	  20 /* times that, until an SM that is master has routed */

/* Nobody but this update has written: another SM may be about to. */
static bool superseded_only_ours(const struct executor *a)
{
	uint32_t new = executor_count(a, HOLDS_NEW);

	if (executor_count(a, HOLDS_FOREIGN) || !(new + executor_count(a, HOLDS_BETWEEN)))
		return false;
	return new < a->ntodo || a->back_waves < a->c.nwaves;
}

/* All of the update's blocks, read until they stay as they are. */
static void superseded_wait_for_others(struct executor *a)
{
	uint32_t gap = a->o.settle_ms ? a->o.settle_ms : SETTLE_MS;
	uint8_t *before = xcalloc(a->list->n, 1);
	uint64_t begin = clock_ms();
	bool done = false;

	for (bool again = false; !done; again = true) {
		executor_todo_all(a, a->back_waves);
		executor_read(a);
		agent_set_hear(a);
		done = again && !memcmp(before, a->holds, a->list->n) && !superseded_only_ours(a);
		done = done || clock_ms() - begin >= (uint64_t)WAIT * gap;
		memcpy(before, a->holds, a->list->n);
		if (!done)
			clock_rest_us(1000ull * gap);
	}
	free(before);
}

static void superseded_judge(struct executor *a)
{
	struct executor_foreign *t = &a->theirs;
	struct err err = { "" };

	*t = (struct executor_foreign){ 0 };
	if (!a->o.judge)
		snprintf(t->text, sizeof(t->text), "not judged");
	else if (a->o.judge(a->o.ctx, t, &err)) {
		*t = (struct executor_foreign){ 0 };
		snprintf(t->text, sizeof(t->text), "not judged: %.100s", err.text);
	}
	a->judged = a->o.judge != NULL;
}

/* n: blocks and tables of the update that are not the old ones. */
static void superseded_words(struct executor *a, uint32_t n)
{
	const struct executor_foreign *t = &a->theirs;
	const char *who = a->others ? "another subnet manager" : "somebody else";
	char *buf = a->theirs_text;
	size_t size = sizeof(a->theirs_text);

	if (t->blocks && !t->new_lft && !t->new_sl2vl)
		snprintf(buf, size,
			 "%s routes by the tables of this update, which nobody confirmed; %s", who,
			 t->text);
	else if (t->blocks)
		snprintf(buf, size,
			 "%s has routed: %u of %u LFT blocks and %u SL2VL tables are not the old "
			 "ones; %s",
			 who, t->old_lft, t->blocks, t->old_sl2vl, t->text);
	else
		snprintf(buf, size,
			 "%s has routed: %u of the update's %u blocks are not the old ones; %s",
			 who, n, a->nall, t->text);
}

static void superseded_count_foreign(struct executor *a, uint32_t n)
{
	pthread_mutex_lock(&a->lock);
	a->st.foreign += n;
	pthread_mutex_unlock(&a->lock);
}

bool superseded_wait(struct executor *a)
{
	bool ours;

	superseded_wait_for_others(a);
	ours = superseded_only_ours(a);
	executor_keep_others(a, HOLDS_OLD);
	if (ours) {
		log_add(LOG_WARN, "apply",
			"the subnet manager that is master now writes nothing: the old tables go "
			"straight into the switches");
		a->others = false;
		return false;
	}
	if (executor_count(a, HOLDS_SILENT) || a->nleft)
		return false;
	superseded_judge(a);
	if (!a->ntodo && !a->theirs.old_lft && !a->theirs.old_sl2vl)
		return true;
	superseded_count_foreign(a, executor_count(a, HOLDS_FOREIGN));
	superseded_words(a, a->ntodo);
	a->found_theirs = true;
	return false;
}

/* Only what is proved to work is taken for a routing: a few blocks that somebody has overwritten
 * are damage, and an operator's. */
void superseded_stay(struct executor *a)
{
	if (a->judged || !a->o.judge)
		return;
	for (uint32_t i = 0; i < a->nleft; i++)
		if (a->holds[a->left[i]] != HOLDS_FOREIGN)
			return;
	superseded_judge(a);
	if (a->theirs.verdict != FOREIGN_SOUND)
		return;
	superseded_words(a, a->nleft);
	a->nleft = 0;
	a->found_theirs = true;
}

void superseded_tell(struct executor *a)
{
	char why[sizeof(a->why.text)];

	snprintf(why, sizeof(why), "%s", a->why.text);
	log_add(LOG_WARN, "apply", "%s", a->theirs_text);
	snprintf(a->why.text, sizeof(a->why.text), "%s%s%.200s", a->theirs_text, why[0] ? "; " : "",
		 why);
	pthread_mutex_lock(&a->lock);
	snprintf(a->st.text, sizeof(a->st.text), "%.*s", (int)sizeof(a->st.text) - 1, a->why.text);
	pthread_mutex_unlock(&a->lock);
}
