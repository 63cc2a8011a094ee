/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/blocks.h"

#include "fabric/base/time/clock.h"
#include "fabric/update/transaction.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REPORT_MS 100

/* What is to be there again: from before the wave, or from before all of them. */
static const uint8_t *blocks_old_of(const struct transaction *t, const struct change *c)
{
	return change_old(t->list, t->chains ? change_first(t->list, c) : c);
}

static void blocks_fill(struct install_item *it, const struct transaction *t,
			const struct change *c, bool back)
{
	*it = (struct install_item){
		.sw = c->sw,
		.block = c->block,
		.kind = c->kind,
		.in = c->in,
		.out = c->out,
	};
	memcpy(it->data, back ? blocks_old_of(t, c) : change_new(t->list, c), change_bytes(c));
}

static void blocks_note_time(struct transaction *t, const struct install_item *it)
{
	int worst = 0;

	if (it->us <= t->slowest[it->sw])
		return;
	t->slowest[it->sw] = it->us;
	for (int i = 0; i < APPLY_SLOW; i++) {
		if (t->st.slow[i].us && t->st.slow[i].sw == it->sw) {
			t->st.slow[i].us = it->us;
			return;
		}
		if (t->st.slow[i].us < t->st.slow[worst].us)
			worst = i;
	}
	if (it->us > t->st.slow[worst].us) {
		t->st.slow[worst].sw = it->sw;
		t->st.slow[worst].guid = t->fabric->sw_guid[it->sw];
		t->st.slow[worst].us = it->us;
	}
}

/* What became of an item by itself. */
static const char *blocks_item_words(int rc)
{
	switch (rc) {
	case -ETIMEDOUT:
		return "no response";
	case -EPROTO:
		return "refused by the switch";
	case -ESTALE:
		return "another switch responds there";
	case -EIO:
		return "responded with values other than those written";
	case -EHOSTUNREACH:
		return "no path to the switch is known";
	case -ECANCELED:
		return "cancelled before it was written";
	default:
		return strerror(-rc);
	}
}

/* Where none could be written, that is the cause, and not the switch. */
static const char *blocks_write_words(const struct transaction *t, int rc)
{
	return t->write_why.text[0] ? t->write_why.text : blocks_item_words(rc);
}

static void blocks_emit_items(struct transaction *t, const uint32_t *idx, uint32_t n)
{
	struct executor_event ev = {
		.kind = APPLY_ITEM, .list = t->list, .item = t->item, .items = n
	};

	for (uint32_t i = 0; i < n; i++) {
		const struct install_item *it = &t->batch[i];

		t->rc[idx[i]] = it->rc;
		t->item[i] = (struct executor_item){ idx[i], it->rc, it->us };
		ev.us = it->us > ev.us ? it->us : ev.us;
		if (!it->rc || ev.rc)
			continue;
		ev.rc = it->rc;
		ev.change = &t->list->v[idx[i]];
	}
	if (ev.rc)
		snprintf(ev.text, sizeof(ev.text), "%.190s", blocks_write_words(t, ev.rc));
	transaction_emit(t, &ev);
}

/* A batch in progress: counted, and shown now and then. */
void blocks_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct executor_event ev = { .kind = APPLY_ITEM };
	struct transaction *t = ctx;
	uint64_t now;

	(void)step;
	(void)total;
	if (!t->counts)
		return;
	pthread_mutex_lock(&t->lock);
	if (t->writes && done > t->writes) {
		t->st.verified = t->counted + (uint32_t)done - t->writes;
		done = t->writes;
	}
	*t->counts = t->counted + (uint32_t)done;
	pthread_mutex_unlock(&t->lock);
	now = clock_ms();
	if (now - t->reported_ms < REPORT_MS)
		return;
	t->reported_ms = now;
	ev.list = t->list;
	transaction_emit(t, &ev);
}

static void blocks_count_into(struct transaction *t, uint32_t *which)
{
	pthread_mutex_lock(&t->lock);
	t->counts = which;
	if (which)
		t->counted = *which;
	pthread_mutex_unlock(&t->lock);
}

/* What went wrong is in the items, and why none could be written in write_why. */
static void blocks_write_items(struct transaction *t, const uint32_t *idx, uint32_t n, bool back)
{
	t->write_why.text[0] = '\0';
	blocks_count_into(t, &t->st.written);
	if (back || !t->in->ops->put) {
		if (!t->in->ops->write(t->in->ctx, t->fabric, t->batch, n,
				       back ? &t->steady : &t->progress, &t->write_why))
			t->write_why.text[0] = '\0';
	} else {
		for (uint32_t i = 0; i < n; i++)
			blocks_fill(&t->back[i], t, &t->list->v[idx[i]], true);
		t->writes = n;
		t->in->ops->put(t->in->ctx, t->fabric, t->batch, t->back, n, &t->progress, NULL);
		t->writes = 0;
	}
	blocks_count_into(t, NULL);
}

/* The change of its chain, from k back, that has left that; FAB_NONE: none. */
static uint32_t blocks_left_by(const struct changes *l, uint32_t k, const uint8_t *data)
{
	while (k != FAB_NONE && memcmp(data, change_new(l, &l->v[k]), change_bytes(&l->v[k])))
		k = l->v[k].prev;
	return k;
}

static enum holds blocks_classify(struct transaction *t, uint32_t k, const struct install_item *it)
{
	const struct change *c = &t->list->v[k];
	uint32_t by;

	t->level[k] = FAB_NONE;
	if (it->rc)
		return HOLDS_SILENT;
	if (!memcmp(it->data, blocks_old_of(t, c), change_bytes(c)))
		return HOLDS_OLD;
	by = blocks_left_by(t->list, k, it->data);
	t->level[k] = by;
	if (by == k)
		return HOLDS_NEW;
	return by == FAB_NONE || !t->chains ? HOLDS_FOREIGN : HOLDS_BETWEEN;
}

/* What was read of changes idx; a->counted were read before. */
static void blocks_take_read(struct transaction *t, const struct install_item *it,
			     const uint32_t *idx, uint32_t n)
{
	uint32_t got = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = idx[i];

		t->holds[k] = (uint8_t)blocks_classify(t, k, &it[i]);
		if (it[i].rc)
			t->rc[k] = it[i].rc;
		got += !it[i].rc;
	}
	pthread_mutex_lock(&t->lock);
	t->st.verified = t->counted + got;
	for (uint32_t i = 0; i < n; i++)
		blocks_note_time(t, &it[i]);
	pthread_mutex_unlock(&t->lock);
}

static void blocks_write_batch(struct transaction *t, const uint32_t *idx, uint32_t n, bool back)
{
	uint32_t failed = 0;

	for (uint32_t i = 0; i < n; i++)
		blocks_fill(&t->batch[i], t, &t->list->v[idx[i]], back);
	blocks_write_items(t, idx, n, back);
	pthread_mutex_lock(&t->lock);
	for (uint32_t i = 0; i < n; i++) {
		failed += t->batch[i].rc != 0;
		blocks_note_time(t, &t->batch[i]);
	}
	t->st.written = t->counted + n - failed;
	t->st.failed += failed;
	pthread_mutex_unlock(&t->lock);
	blocks_emit_items(t, idx, n);
	if (!back && t->in->ops->put)
		blocks_take_read(t, t->back, idx, n);
}

/* Looks at the SM, if it is due.  true: the update is being called off, for whatever reason. */
static bool blocks_called_off(struct transaction *t)
{
	struct err err = { "" };
	int rc;

	agent_set_listen(t);
	if (t->c.cancelled || !t->o.sm || !t->plan || t->c.phase == PHASE_ROLLBACK)
		return t->c.cancelled;
	rc = t->o.sm(t->o.driver, &err);
	if (!rc)
		return false;
	transaction_fail(t, rc, "%s", err.text);
	coordinator_step(&t->c, rc == -EUCLEAN ? EV_FOREIGN : EV_SM);
	return t->c.cancelled;
}

void blocks_write(struct transaction *t, bool back)
{
	uint32_t n;

	t->read_back = false;
	for (uint32_t i = 0; i < t->ntodo; i += n) {
		if (!back && (atomic_load(&t->progress.cancel) || blocks_called_off(t)))
			return;
		n = t->ntodo - i < t->batch_max ? t->ntodo - i : t->batch_max;
		blocks_write_batch(t, t->todo + i, n, back);
	}
	t->read_back = !back && t->in->ops->put;
}

static void blocks_read_batch(struct transaction *t, const uint32_t *idx, uint32_t n)
{
	bool back = t->c.phase == PHASE_ROLLBACK || !t->plan;

	for (uint32_t i = 0; i < n; i++)
		blocks_fill(&t->batch[i], t, &t->list->v[idx[i]], true);
	blocks_count_into(t, &t->st.verified);
	t->in->ops->read(t->in->ctx, t->fabric, t->batch, n, back ? &t->steady : &t->progress,
			 NULL);
	blocks_count_into(t, NULL);
	blocks_take_read(t, t->batch, idx, n);
}

void blocks_read(struct transaction *t)
{
	bool forward = t->c.phase == PHASE_PREPARE || t->c.phase == PHASE_WRITE;
	uint32_t n;

	for (uint32_t i = 0; i < t->ntodo; i += n) {
		if (forward && blocks_called_off(t))
			return;
		n = t->ntodo - i < t->batch_max ? t->ntodo - i : t->batch_max;
		blocks_read_batch(t, t->todo + i, n);
	}
}

bool blocks_is_last(const struct transaction *t, uint32_t i, uint32_t waves)
{
	const struct change *c = &t->list->v[i];

	return c->wave < waves && (c->next == FAB_NONE || t->list->v[c->next].wave >= waves);
}

void blocks_todo_all(struct transaction *t, uint32_t waves)
{
	t->chains = true;
	t->ntodo = t->nall = 0;
	for (uint32_t i = 0; i < t->list->n; i++) {
		if (!blocks_is_last(t, i, waves))
			continue;
		t->nall++;
		if (t->list->v[i].sw == FAB_NONE)
			t->holds[i] = HOLDS_NOBODY;
		else
			t->todo[t->ntodo++] = i;
	}
}

void blocks_todo_wave(struct transaction *t, uint32_t wave)
{
	t->chains = false;
	t->ntodo = 0;
	for (uint32_t i = 0; i < t->list->n; i++)
		if (t->list->v[i].wave == wave)
			t->todo[t->ntodo++] = i;
}

uint32_t blocks_holding(const struct transaction *t, enum holds h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->ntodo; i++)
		n += t->holds[t->todo[i]] == h;
	return n;
}

void blocks_keep_others(struct transaction *t, enum holds h)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->ntodo; i++)
		if (t->holds[t->todo[i]] != h)
			t->todo[kept++] = t->todo[i];
	t->ntodo = kept;
}

static const char *blocks_reason(const struct transaction *t, uint32_t i)
{
	switch (t->holds[i]) {
	case HOLDS_FOREIGN:
		return "written by another writer";
	case HOLDS_NOBODY:
		return "the switch does not respond";
	case HOLDS_SILENT:
		return blocks_item_words(t->rc[i]);
	default:
		break;
	}
	if (t->rc[i])
		return blocks_write_words(t, t->rc[i]);
	if (t->holds[i] == HOLDS_OLD)
		return "holds the old entries although the write was acknowledged: did the SM "
		       "restore them?";
	return "reads back differently";
}

void blocks_first_not(char *buf, size_t size, const struct transaction *t, enum holds h)
{
	char name[120];

	buf[0] = '\0';
	for (uint32_t i = 0; i < t->ntodo; i++) {
		uint32_t k = t->todo[i];

		if (t->holds[k] == h)
			continue;
		change_name(name, sizeof(name), &t->list->v[k], t->fabric);
		snprintf(buf, size, "%s: %s", name, blocks_reason(t, k));
		return;
	}
}
