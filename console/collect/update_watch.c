/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/collect/update_watch.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/log.h"
#include "fabric/update/journal/journal_prune.h"

#include <stdlib.h>
#include <string.h>

struct update_watch {
	char *state_dir, *fabric; /* NULL as for update_watch_new() */
	VEC(char *) ended;	  /* they are counted already */
	size_t sorted;		  /* so many of these, those of looks before */
	struct journal_gone gone; /* likewise, by what is removed */
	struct update_counts sum; /* of these */
	const struct update_counts *told;
	bool failed; /* it was told */
};

struct update_counts *update_counts_new(void)
{
	struct update_counts *c = xcalloc(1, sizeof(*c));

	c->refs = 1;
	return c;
}

const struct update_counts *update_counts_get(const struct update_counts *c)
{
	__atomic_add_fetch(&((struct update_counts *)c)->refs, 1, __ATOMIC_RELAXED);
	return c;
}

void update_counts_put(const struct update_counts *c)
{
	struct update_counts *own = (struct update_counts *)c;

	if (!c || __atomic_sub_fetch(&own->refs, 1, __ATOMIC_ACQ_REL))
		return;
	journal_counts_free(&own->by);
	free(own);
}

struct update_watch *update_watch_new(const char *state_dir, const char *fabric)
{
	struct update_watch *w = xcalloc(1, sizeof(*w));

	w->state_dir = state_dir ? xstrdup(state_dir) : NULL;
	w->fabric = fabric ? xstrdup(fabric) : NULL;
	return w;
}

static void update_watch_forget(struct update_watch *w)
{
	for (size_t i = 0; i < w->ended.n; i++)
		free(w->ended.v[i]);
	vec_free(&w->ended);
	w->sorted = 0;
	journal_gone_free(&w->gone);
	journal_counts_free(&w->sum.by);
	w->sum = (struct update_counts){ 0 };
}

void update_watch_free(struct update_watch *w)
{
	if (!w)
		return;
	update_watch_forget(w);
	update_counts_put(w->told);
	free(w->state_dir);
	free(w->fabric);
	free(w);
}

/* --- what is over ---------------------------------------------------------------------------- */

static int update_watch_by_id(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool update_watch_knows(const struct update_watch *w, const char *id)
{
	return w->sorted &&
	       bsearch(&id, w->ended.v, w->sorted, sizeof(*w->ended.v), update_watch_by_id);
}

static bool update_watch_counts(const struct update_watch *w, const char *fabric)
{
	return !w->fabric || !strcmp(fabric, w->fabric);
}

static void update_watch_stepped(struct update_counts *c, const struct txn_info *t)
{
	if (t->state_s * 1000 > c->step_ms)
		c->step_ms = t->state_s * 1000;
}

static void update_watch_over(struct update_watch *w, const struct txn_info *t)
{
	struct update_counts *c = &w->sum;

	vec_push(&w->ended, xstrdup(t->head.id));
	update_watch_stepped(c, t);
	if (!update_watch_counts(w, t->head.fabric))
		return;
	if (!journal_gone_has(&w->gone, t->head.id))
		journal_counts_add_of(&c->by, t, w->state_dir);
	if (t->state != TXN_CONFIRMED || t->state_s < c->confirmed_s)
		return;
	c->confirmed_s = t->state_s;
	c->gain = t->head.gain;
}

/* One of them has been removed: what those count is in another file by now. */
static bool update_watch_lost_any(const struct update_watch *w, char *const *names, uint32_t n)
{
	uint32_t there = 0;

	for (uint32_t i = 0; i < n; i++)
		there += update_watch_knows(w, names[i]);
	return there < w->ended.n;
}

static void update_watch_begin(struct update_watch *w)
{
	struct journal_counts removed = { 0 };
	struct err err = { "" };

	update_watch_forget(w);
	if (journal_removed(&removed, &w->gone, w->state_dir, &err) && !w->failed) {
		log_add(LOG_WARN, "journal", "%s; updates that were removed are not counted",
			err.text);
		w->failed = true;
	}
	for (size_t i = 0; i < removed.n; i++)
		if (update_watch_counts(w, removed.v[i].fabric))
			journal_counts_join(&w->sum.by, &removed.v[i]);
	journal_counts_free(&removed);
}

/* --- what is there --------------------------------------------------------------------------- */

static void update_watch_read(struct update_watch *w, struct update_counts *c, const char *id)
{
	struct txn_info t;

	journal_read(&t, w->state_dir, id);
	if (txn_state_final(t.state)) {
		update_watch_over(w, &t);
		return;
	}
	update_watch_stepped(c, &t);
	if (!update_watch_counts(w, t.head.fabric))
		return;
	c->open += t.live;
	c->left += !t.live;
}

static void update_watch_sum(struct update_counts *c, const struct update_watch *w)
{
	const struct update_counts *sum = &w->sum;

	for (size_t i = 0; i < sum->by.n; i++)
		journal_counts_join(&c->by, &sum->by.v[i]);
	if (sum->step_ms > c->step_ms)
		c->step_ms = sum->step_ms;
	c->confirmed_s = sum->confirmed_s;
	c->gain = sum->gain;
}

/* What has ended has taken a step. */
static bool update_watch_same(const struct update_counts *a, const struct update_counts *b)
{
	return a && a->open == b->open && a->left == b->left && a->step_ms == b->step_ms &&
	       a->by.n == b->by.n && a->confirmed_s == b->confirmed_s &&
	       (!a->by.n || !memcmp(a->by.v, b->by.v, a->by.n * sizeof(*a->by.v)));
}

const struct update_counts *update_watch_look(struct update_watch *w)
{
	struct update_counts *now;
	char **names;
	uint32_t n;

	if (journal_names(&names, &n, w->state_dir, NULL))
		return NULL;
	if (!w->told || update_watch_lost_any(w, names, n))
		update_watch_begin(w);
	now = update_counts_new();
	for (uint32_t i = 0; i < n; i++) {
		if (!update_watch_knows(w, names[i]))
			update_watch_read(w, now, names[i]);
		free(names[i]);
	}
	free(names);
	if (w->ended.n > w->sorted)
		qsort(w->ended.v, w->ended.n, sizeof(*w->ended.v), update_watch_by_id);
	w->sorted = w->ended.n;
	update_watch_sum(now, w);
	if (update_watch_same(w->told, now)) {
		update_counts_put(now);
		return NULL;
	}
	update_counts_put(w->told);
	w->told = now;
	return update_counts_get(now);
}
