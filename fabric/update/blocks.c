/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/executor_priv.h"

#include "fabric/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TELL_MS 100

/* What is to be there again: from before the wave, or from before all of them. */
static const uint8_t *blocks_old_of(const struct executor *a, const struct change *c)
{
	return change_old(a->list, a->chains ? change_first(a->list, c) : c);
}

static void blocks_fill(struct install_item *it, const struct executor *a, const struct change *c,
			bool back)
{
	*it = (struct install_item){
		.sw = c->sw,
		.block = c->block,
		.kind = c->kind,
		.in = c->in,
		.out = c->out,
	};
	memcpy(it->data, back ? blocks_old_of(a, c) : change_new(a->list, c), change_bytes(c));
}

static void blocks_note_time(struct executor *a, const struct install_item *it)
{
	int worst = 0;

	if (it->us <= a->slowest[it->sw])
		return;
	a->slowest[it->sw] = it->us;
	for (int i = 0; i < APPLY_SLOW; i++) {
		if (a->st.slow[i].us && a->st.slow[i].sw == it->sw) {
			a->st.slow[i].us = it->us;
			return;
		}
		if (a->st.slow[i].us < a->st.slow[worst].us)
			worst = i;
	}
	if (it->us > a->st.slow[worst].us) {
		a->st.slow[worst].sw = it->sw;
		a->st.slow[worst].guid = a->fabric->sw_guid[it->sw];
		a->st.slow[worst].us = it->us;
	}
}

/* What became of an item by itself. */
static const char *blocks_item_words(int rc)
{
	switch (rc) {
	case -ETIMEDOUT:
		return "no answer";
	case -EPROTO:
		return "refused by the switch";
	case -ESTALE:
		return "another switch answers there";
	case -EIO:
		return "answered with other values than were written";
	case -EHOSTUNREACH:
		return "no way to the switch is known";
	case -ECANCELED:
		return "cancelled before its turn";
	default:
		return strerror(-rc);
	}
}

/* Where none could be written, that is the cause, and not the switch. */
static const char *blocks_write_words(const struct executor *a, int rc)
{
	return a->write_why.text[0] ? a->write_why.text : blocks_item_words(rc);
}

static void blocks_emit_items(struct executor *a, const uint32_t *idx, uint32_t n)
{
	struct executor_event ev = {
		.kind = APPLY_ITEM, .list = a->list, .item = a->item, .items = n
	};

	for (uint32_t i = 0; i < n; i++) {
		const struct install_item *it = &a->batch[i];

		a->rc[idx[i]] = it->rc;
		a->item[i] = (struct executor_item){ idx[i], it->rc, it->us };
		ev.us = it->us > ev.us ? it->us : ev.us;
		if (!it->rc || ev.rc)
			continue;
		ev.rc = it->rc;
		ev.change = &a->list->v[idx[i]];
	}
	if (ev.rc)
		snprintf(ev.text, sizeof(ev.text), "%.190s", blocks_write_words(a, ev.rc));
	executor_emit(a, &ev);
}

/* A batch under way: counted, and shown now and then. */
void executor_steps_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct executor_event ev = { .kind = APPLY_ITEM };
	struct executor *a = ctx;
	uint64_t now;

	(void)step;
	(void)total;
	if (!a->counts)
		return;
	pthread_mutex_lock(&a->lock);
	if (a->writes && done > a->writes) {
		a->st.verified = a->counted + (uint32_t)done - a->writes;
		done = a->writes;
	}
	*a->counts = a->counted + (uint32_t)done;
	pthread_mutex_unlock(&a->lock);
	now = clock_ms();
	if (now - a->told_ms < TELL_MS)
		return;
	a->told_ms = now;
	ev.list = a->list;
	executor_emit(a, &ev);
}

static void blocks_count(struct executor *a, uint32_t *which)
{
	pthread_mutex_lock(&a->lock);
	a->counts = which;
	if (which)
		a->counted = *which;
	pthread_mutex_unlock(&a->lock);
}

/* What went wrong is in the items, and why none could be written in write_why. */
static void blocks_write_items(struct executor *a, const uint32_t *idx, uint32_t n, bool back)
{
	a->write_why.text[0] = '\0';
	blocks_count(a, &a->st.written);
	if (back || !a->in->ops->put) {
		if (!a->in->ops->write(a->in->ctx, a->fabric, a->batch, n,
				       back ? &a->steady : &a->progress, &a->write_why))
			a->write_why.text[0] = '\0';
	} else {
		for (uint32_t i = 0; i < n; i++)
			blocks_fill(&a->back[i], a, &a->list->v[idx[i]], true);
		a->writes = n;
		a->in->ops->put(a->in->ctx, a->fabric, a->batch, a->back, n, &a->progress, NULL);
		a->writes = 0;
	}
	blocks_count(a, NULL);
}

static void blocks_take_read(struct executor *a, const struct install_item *it, const uint32_t *idx,
			     uint32_t n);

static void blocks_write_batch(struct executor *a, const uint32_t *idx, uint32_t n, bool back)
{
	uint32_t failed = 0;

	for (uint32_t i = 0; i < n; i++)
		blocks_fill(&a->batch[i], a, &a->list->v[idx[i]], back);
	blocks_write_items(a, idx, n, back);
	pthread_mutex_lock(&a->lock);
	for (uint32_t i = 0; i < n; i++) {
		failed += a->batch[i].rc != 0;
		blocks_note_time(a, &a->batch[i]);
	}
	a->st.written = a->counted + n - failed;
	a->st.failed += failed;
	pthread_mutex_unlock(&a->lock);
	blocks_emit_items(a, idx, n);
	if (!back && a->in->ops->put)
		blocks_take_read(a, a->back, idx, n);
}

void executor_write(struct executor *a, bool back)
{
	uint32_t n;

	a->read_back = false;
	for (uint32_t i = 0; i < a->ntodo; i += n) {
		if (!back && (atomic_load(&a->progress.cancel) || executor_called_off(a)))
			return;
		n = a->ntodo - i < a->batch_max ? a->ntodo - i : a->batch_max;
		blocks_write_batch(a, a->todo + i, n, back);
	}
	a->read_back = !back && a->in->ops->put;
}

/* The change of its chain, from k back, that has left that; FAB_NONE: none. */
static uint32_t blocks_left_by(const struct changes *l, uint32_t k, const uint8_t *data)
{
	while (k != FAB_NONE && memcmp(data, change_new(l, &l->v[k]), change_bytes(&l->v[k])))
		k = l->v[k].prev;
	return k;
}

static enum holds blocks_classify(struct executor *a, uint32_t k, const struct install_item *it)
{
	const struct change *c = &a->list->v[k];
	uint32_t by;

	a->level[k] = FAB_NONE;
	if (it->rc)
		return HOLDS_SILENT;
	if (!memcmp(it->data, blocks_old_of(a, c), change_bytes(c)))
		return HOLDS_OLD;
	by = blocks_left_by(a->list, k, it->data);
	a->level[k] = by;
	if (by == k)
		return HOLDS_NEW;
	return by == FAB_NONE || !a->chains ? HOLDS_FOREIGN : HOLDS_BETWEEN;
}

/* What was read of changes idx; a->counted were read before. */
static void blocks_take_read(struct executor *a, const struct install_item *it, const uint32_t *idx,
			     uint32_t n)
{
	uint32_t got = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = idx[i];

		a->holds[k] = (uint8_t)blocks_classify(a, k, &it[i]);
		if (it[i].rc)
			a->rc[k] = it[i].rc;
		got += !it[i].rc;
	}
	pthread_mutex_lock(&a->lock);
	a->st.verified = a->counted + got;
	for (uint32_t i = 0; i < n; i++)
		blocks_note_time(a, &it[i]);
	pthread_mutex_unlock(&a->lock);
}

static void blocks_read_batch(struct executor *a, const uint32_t *idx, uint32_t n)
{
	bool back = a->c.phase == PHASE_ROLLBACK || !a->plan;

	for (uint32_t i = 0; i < n; i++)
		blocks_fill(&a->batch[i], a, &a->list->v[idx[i]], true);
	blocks_count(a, &a->st.verified);
	a->in->ops->read(a->in->ctx, a->fabric, a->batch, n, back ? &a->steady : &a->progress,
			 NULL);
	blocks_count(a, NULL);
	blocks_take_read(a, a->batch, idx, n);
}

void executor_read(struct executor *a)
{
	bool forward = a->c.phase == PHASE_PREPARE || a->c.phase == PHASE_WRITE;
	uint32_t n;

	for (uint32_t i = 0; i < a->ntodo; i += n) {
		if (forward && executor_called_off(a))
			return;
		n = a->ntodo - i < a->batch_max ? a->ntodo - i : a->batch_max;
		blocks_read_batch(a, a->todo + i, n);
	}
}

bool executor_is_last(const struct executor *a, uint32_t i, uint32_t waves)
{
	const struct change *c = &a->list->v[i];

	return c->wave < waves && (c->next == FAB_NONE || a->list->v[c->next].wave >= waves);
}

void executor_todo_all(struct executor *a, uint32_t waves)
{
	a->chains = true;
	a->ntodo = a->nall = 0;
	for (uint32_t i = 0; i < a->list->n; i++) {
		if (!executor_is_last(a, i, waves))
			continue;
		a->nall++;
		if (a->list->v[i].sw == FAB_NONE)
			a->holds[i] = HOLDS_NOBODY;
		else
			a->todo[a->ntodo++] = i;
	}
}

void executor_todo_wave(struct executor *a, uint32_t wave)
{
	a->chains = false;
	a->ntodo = 0;
	for (uint32_t i = 0; i < a->list->n; i++)
		if (a->list->v[i].wave == wave)
			a->todo[a->ntodo++] = i;
}

uint32_t executor_count(const struct executor *a, enum holds h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->ntodo; i++)
		n += a->holds[a->todo[i]] == h;
	return n;
}

static const char *blocks_reason(const struct executor *a, uint32_t i)
{
	switch (a->holds[i]) {
	case HOLDS_FOREIGN:
		return "written by somebody else";
	case HOLDS_NOBODY:
		return "the switch is not there";
	case HOLDS_SILENT:
		return blocks_item_words(a->rc[i]);
	default:
		break;
	}
	if (a->rc[i])
		return blocks_write_words(a, a->rc[i]);
	if (a->holds[i] == HOLDS_OLD)
		return "holds the old entries though the write was answered: has the SM put them "
		       "back?";
	return "reads back differently";
}

void executor_first_not(char *buf, size_t size, const struct executor *a, enum holds h)
{
	char name[120];

	buf[0] = '\0';
	for (uint32_t i = 0; i < a->ntodo; i++) {
		uint32_t k = a->todo[i];

		if (a->holds[k] == h)
			continue;
		change_name(name, sizeof(name), &a->list->v[k], a->fabric);
		snprintf(buf, size, "%s: %s", name, blocks_reason(a, k));
		return;
	}
}
