/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/first_fit_in.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 16  /* paths asked for before they are placed */
#define OFTEN 256 /* insertions between two reports */
#define TRIES 64  /* LIDs as a whole that may fail more often than not */

static void vl_first_fit_init(struct fit *l, const struct fabric *f, struct tables *t,
			      const struct tables *keep, unsigned threads)
{
	*l = (struct fit){ .f = f, .t = t, .keep = keep };
	turns_init(&l->turns, f);
	l->has[0] = xcalloc(l->turns.n, 1);
	l->has[1] = xcalloc(l->turns.n, 1);
	l->never = xcalloc(l->turns.n, sizeof(*l->never));
	l->work = cdg_work_new(f);
	l->out = lft_columns_ports(f);
	for (int i = 0; i < CHUNK; i++) {
		lft_columns_init(&l->batch[i].col, f, l->out);
		l->batch[i].layer = xcalloc((size_t)f->nsw * COLUMNS_MAX, 1);
		if (!keep)
			continue;
		lft_columns_init(&l->batch[i].old, f, l->out);
		l->batch[i].was = xcalloc((size_t)f->nsw * COLUMNS_MAX, 1);
	}
	l->pool = pool_new(threads);
	l->order = xcalloc(pool_threads(l->pool), sizeof(*l->order));
	for (unsigned i = 0; i < pool_threads(l->pool); i++)
		order_init(&l->order[i], f->nsw);
	l->path = xcalloc(f->nsw, sizeof(*l->path));
	l->added = xcalloc(f->nsw, sizeof(*l->added));
}

static void vl_first_fit_done(struct fit *l)
{
	turns_done(&l->turns);
	free(l->has[0]);
	free(l->has[1]);
	free(l->never);
	for (unsigned i = 0; i < l->n; i++)
		cdg_free(l->cdg[i]);
	cdg_work_free(l->work);
	for (int i = 0; i < CHUNK; i++) {
		lft_columns_done(&l->batch[i].col);
		lft_columns_done(&l->batch[i].old);
		free(l->batch[i].was);
		free(l->batch[i].layer);
		free(l->batch[i].open.at);
		free(l->batch[i].open.turn);
		free(l->batch[i].miss.at);
		free(l->batch[i].miss.turn);
	}
	free(l->out);
	for (unsigned i = 0; i < pool_threads(l->pool); i++)
		order_done(&l->order[i]);
	free(l->order);
	pool_free(l->pool);
	free(l->path);
	free(l->added);
}

static uint32_t vl_first_fit_turn_of(const struct fit *l, uint32_t i)
{
	return turns_at(&l->turns, l->path[i], l->path[i + 1]);
}

/* Keeps the turns that were added to layer k for a path, or takes them out again. */
static void vl_first_fit_settle(struct fit *l, unsigned k, uint32_t nadded, bool keep)
{
	for (uint32_t a = 0; a < nadded; a++) {
		uint32_t i = l->added[a];

		if (!keep) {
			cdg_remove(l->cdg[k], l->path[i], l->path[i + 1]);
			continue;
		}
		note_layer(l, vl_first_fit_turn_of(l, i), k);
		cdg_keep(l->cdg[k], l->path[i], l->path[i + 1]);
	}
}

/* A turn that did not fit: does it close a cycle without those added before it too? */
static void vl_first_fit_judge_alone(struct fit *l, uint32_t i, unsigned k, bool alone)
{
	if (!alone && cdg_add(l->cdg[k], l->path[i], l->path[i + 1]))
		cdg_remove(l->cdg[k], l->path[i], l->path[i + 1]);
	else
		l->never[vl_first_fit_turn_of(l, i)] |= (uint16_t)(1u << k);
}

/* Puts the path of n channels into layer k unless that closes a cycle. */
static bool vl_first_fit_fits(struct fit *l, uint32_t n, unsigned k)
{
	uint32_t nadded = 0, last = 0;
	bool ok = true;

	for (uint32_t i = 0; i + 1 < n && ok; i++) {
		if (layers_of(l, vl_first_fit_turn_of(l, i)) >> k & 1)
			continue;
		last = i;
		ok = cdg_add(l->cdg[k], l->path[i], l->path[i + 1]);
		if (ok)
			l->added[nadded++] = i;
	}
	vl_first_fit_settle(l, k, nadded, ok);
	if (!ok)
		vl_first_fit_judge_alone(l, last, k, !nadded);
	return ok;
}

/* Layer for the path from u to a LID of the batch; FIRST_FIT_MAX when there is none. */
static unsigned vl_first_fit_place(struct fit *l, const struct batch *b, uint32_t lid, uint32_t u)
{
	const struct lft_columns *col = &b->col;
	uint32_t have = UINT16_MAX, never = 0, n = 0, c;

	for (c = columns_chan(col, lid, u); c != FAB_NONE;
	     c = columns_chan(col, lid, l->f->chan_dst[c]))
		l->path[n++] = c;
	for (uint32_t i = 0; i + 1 < n; i++)
		have &= layers_of(l, vl_first_fit_turn_of(l, i));
	if (have)
		return (unsigned)__builtin_ctz(have);
	for (uint32_t i = 0; i + 1 < n; i++)
		never |= l->never[vl_first_fit_turn_of(l, i)];
	for (unsigned k = 0; k < FIRST_FIT_MAX; k++) {
		if (never >> k & 1)
			continue;
		if (k == l->n)
			l->cdg[l->n++] = cdg_new(l->work);
		if (vl_first_fit_fits(l, n, k))
			return k;
	}
	return FIRST_FIT_MAX;
}

static bool vl_first_fit_report(struct fit *l, uint32_t done, uint64_t work)
{
	uint64_t looked = cdg_work_done(l->work);

	work += 16 * (looked - l->looked);
	l->looked = looked;
	work += l->unseen;
	l->unseen = 0;
	return pace_tick(l->pace, done, work);
}

/* The channel from a switch towards LID k of the batch, and the one after it. */
static void vl_first_fit_turn_from(const struct fit *l, const struct batch *b, uint32_t k,
				   uint32_t u, uint32_t *c, uint32_t *e)
{
	*c = columns_chan(&b->col, k, u);
	*e = columns_chan(&b->col, k, l->f->chan_dst[*c]);
}

/* Puts n missing turns of LID k into layer 0 unless that closes a cycle. */
static bool vl_first_fit_whole(struct fit *l, const struct batch *b, uint32_t k,
			       const uint32_t *miss, uint32_t n)
{
	uint32_t nadded = 0, c, e;
	bool ok = true;

	for (uint32_t i = 0; i < n && ok; i++) {
		vl_first_fit_turn_from(l, b, k, miss[i], &c, &e);
		ok = !(l->never[turns_at(&l->turns, c, e)] & 1);
	}
	for (uint32_t i = 0; i < n && ok; i++) {
		vl_first_fit_turn_from(l, b, k, miss[i], &c, &e);
		if (layers_of(l, turns_at(&l->turns, c, e)) & 1)
			continue;
		ok = cdg_add(l->cdg[0], c, e);
		if (ok)
			l->added[nadded++] = miss[i];
	}
	for (uint32_t i = 0; i < nadded; i++) {
		vl_first_fit_turn_from(l, b, k, l->added[i], &c, &e);
		if (!ok) {
			cdg_remove(l->cdg[0], c, e);
			continue;
		}
		note_layer(l, turns_at(&l->turns, c, e), 0);
		cdg_keep(l->cdg[0], c, e);
	}
	l->unseen += 64 * nadded; /* new turns cost more than those that are there */
	return ok;
}

/* Begin of what the list has for LID k. */
static uint32_t vl_first_fit_begin_of(const struct list *list, uint32_t k)
{
	return k ? list->end[k - 1] : 0;
}

/* All open paths to LID k at once; counts how often that works. */
static bool vl_first_fit_insert_whole(struct fit *l, const struct batch *b, uint32_t k)
{
	uint32_t first = vl_first_fit_begin_of(&b->miss, k);

	if (!l->tries)
		return false;
	if (!l->n)
		l->cdg[l->n++] = cdg_new(l->work);
	if (!vl_first_fit_whole(l, b, k, b->miss.at + first, b->miss.end[k] - first)) {
		l->failed++;
		return false;
	}
	l->fitted++;
	return true;
}

/* Turns lie anywhere in tables larger than caches. */
static void vl_first_fit_do_look_ahead(const struct fit *l, const struct list *open, uint32_t i)
{
	if (i + AHEAD < open->n) {
		__builtin_prefetch(&l->has[0][open->turn[i + AHEAD]]);
		__builtin_prefetch(&l->never[open->turn[i + AHEAD]]);
	}
}

/* The paths to LID k that are in no layer yet. */
static int vl_first_fit_insert(struct fit *l, struct batch *b, uint32_t k, uint32_t done)
{
	uint32_t first = vl_first_fit_begin_of(&b->open, k), end = b->open.end[k];
	uint8_t *layer = b->layer + (size_t)k * l->f->nsw;
	bool whole = first < end && vl_first_fit_insert_whole(l, b, k);

	if (first < end && vl_first_fit_report(l, done, 0))
		return -ECANCELED;
	for (uint32_t i = first; i < end; i++) {
		uint32_t u = b->open.at[i];
		unsigned to;

		vl_first_fit_do_look_ahead(l, &b->open, i);
		to = whole ? 0 : vl_first_fit_place(l, b, k, u);
		if (to == FIRST_FIT_MAX)
			return -ENOSPC;
		layer[u] = (uint8_t)to;
		if (i % OFTEN == OFTEN - 1 &&
		    vl_first_fit_report(l, done, whole ? OFTEN : 4 * OFTEN))
			return -ECANCELED;
	}
	return 0;
}

/* Layers of LID k where they are those of the LID before it. */
static void vl_first_fit_fill_same(uint8_t *layer, const uint8_t *before, uint32_t n)
{
	static const uint8_t same[8] = { SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME };

	for (uint32_t u = 0; u < n;) {
		uint32_t end = u + 8;

		if (end <= n && !memcmp(layer + u, same, 8)) {
			memcpy(layer + u, before + u, 8);
			u = end;
			continue;
		}
		for (end = end < n ? end : n; u < end; u++)
			layer[u] = layer[u] == SAME ? before[u] : layer[u];
	}
}

static bool vl_first_fit_write_sls(void *ctx, unsigned worker, uint32_t i)
{
	struct fit *l = ctx;
	struct batch *b = &l->batch[i];
	uint32_t nsw = l->f->nsw;

	(void)worker;
	if (b->twin)
		return false;
	for (uint32_t k = 1; k < b->n; k++)
		vl_first_fit_fill_same(b->layer + (size_t)k * nsw, b->layer + (k - 1ull) * nsw,
				       nsw);
	lft_columns_turn_back(l->t->sl, b->layer, l->t->stride, nsw, b->d, b->n);
	return false;
}

/* After the others, whose SLs they take. */
static void vl_first_fit_write_twins(struct fit *l, uint32_t nbatch)
{
	uint32_t twins = 0;

	for (uint32_t i = 0; i < nbatch; i++)
		twins += l->batch[i].twin != 0;
	for (uint32_t u = 0; twins && u < l->f->nsw; u++) {
		uint8_t *row = l->t->sl + (size_t)u * l->t->stride;

		for (uint32_t i = 0; i < nbatch; i++)
			if (l->batch[i].twin)
				row[l->batch[i].d->lid] = row[l->batch[i].twin];
	}
}

/* One chunk of nbatch batches with n LIDs; done: LIDs so far. */
static int vl_first_fit_chunk(struct fit *l, uint32_t nbatch, uint32_t done, uint32_t n,
			      struct err *err)
{
	int rc = 0;

	l->tries = l->failed <= l->fitted + TRIES;
	l->done = done;
	vl_first_fit_find_equal(l, nbatch);
	pool_for(l->pool, nbatch, vl_first_fit_look_ahead, l);
	for (unsigned i = 0; i < l->n; i++)
		if (cdg_learn(l->cdg[i]))
			l->unseen += 16ull * l->f->nchan;
	if (vl_first_fit_report(l, done, l->pace->work_max))
		return -ECANCELED;
	for (uint32_t i = 0; i < nbatch && !rc; i++) {
		const struct batch *b = &l->batch[i];

		if (b->bad_sw != FAB_NONE)
			return err_set(err, -EINVAL,
				       "the tables do not lead from switch %s to LID %u",
				       l->f->sw_name[b->bad_sw], b->bad_lid);
		for (uint32_t k = 0; k < b->n && !rc; k++)
			rc = vl_first_fit_insert(l, &l->batch[i], k, done);
	}
	if (rc)
		return rc;
	if (l->n > 1 && l->t->sl_kind != SL_BY_SWITCH)
		graph_sls_by_switch(l->t, l->f, l->pace->progress, l->pace->step);
	if (l->n > 1) {
		pool_for(l->pool, nbatch, vl_first_fit_write_sls, l);
		vl_first_fit_write_twins(l, nbatch);
	}
	return vl_first_fit_report(l, done + n, 2 * (n + 4ull * nbatch) * l->f->nsw) ? -ECANCELED
										     : 0;
}

/* The turn from the path at position i, into those layers. */
static void vl_first_fit_add_kept(struct fit *l, uint32_t c, uint32_t e, uint16_t layers)
{
	uint32_t turn = turns_at(&l->turns, c, e);

	layers &= (uint16_t) ~(layers_of(l, turn) | l->never[turn]);
	for (uint16_t todo = layers; todo; todo &= (uint16_t)(todo - 1)) {
		unsigned k = (unsigned)__builtin_ctz(todo);

		while (l->n <= k)
			l->cdg[l->n++] = cdg_new(l->work);
		if (cdg_add(l->cdg[k], c, e))
			note_layer(l, turn, k);
	}
}

/* Those that are there whatever the paths are. */
static void vl_first_fit_add_fixed(struct fit *l)
{
	const struct fabric *f = l->f;

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t w = f->chan_dst[c];

		for (uint32_t e = f->chan_off[w]; e < f->chan_off[w + 1]; e++) {
			uint16_t layers = l->fixed[turns_at(&l->turns, c, e)];

			if (layers)
				vl_first_fit_add_kept(l, c, e, layers);
		}
	}
}

/* The paths to LID k that are to keep their layers. */
static void vl_first_fit_keep_lid(struct fit *l, struct order *o, const struct batch *b, uint32_t k)
{
	const uint8_t *was = b->was + (size_t)k * l->f->nsw;

	vl_first_fit_compare(o, b, k, l->f->nsw);
	for (uint32_t i = 0; i < l->f->nsw; i++) {
		uint8_t sl = o->kept[i] ? was[o->at[i]] : OPEN;

		o->pass[i] = sl == OPEN ? 0 : (uint16_t)(1u << sl);
		while (sl != OPEN && l->n <= sl)
			l->cdg[l->n++] = cdg_new(l->work);
	}
	for (uint32_t i = l->f->nsw; i-- > 1;) {
		uint32_t p = o->parent[i];

		o->pass[p] |= o->pass[i];
		if (p && o->pass[i])
			vl_first_fit_add_kept(l, o->chan[i], o->chan[p], o->pass[i]);
	}
}

/* What is to stay goes in first, as a step of its own. */
static int vl_first_fit_keep_layers(struct fit *l, const struct dest *dests, uint32_t n)
{
	const char *step = l->pace->step;
	struct order *o = &l->order[0];
	struct batch *b = &l->batch[0];

	l->pace->step = "kept layers";
	for (uint32_t done = 0; done < n; done += b->n) {
		b->d = dests + done;
		b->n = lft_columns_run(b->d, n - done);
		lft_columns_read(&b->col, l->t, b->d, b->n);
		vl_first_fit_read_old(l, b);
		for (uint32_t k = 0; k < b->n; k++) {
			bool few;

			if (vl_first_fit_order(l, o, b, k, &few))
				vl_first_fit_keep_lid(l, o, b, k);
			if (vl_first_fit_report(l, done + k, 8ull * l->f->nsw))
				return -ECANCELED;
		}
	}
	l->pace->step = step;
	return 0;
}

int vl_first_fit(struct tables *t, const struct fabric *f, const struct dest *dests, uint32_t n,
		 const struct tables *keep, const uint16_t *fixed, unsigned most, unsigned threads,
		 unsigned *layers, struct pace *pace, struct err *err)
{
	struct fit l;
	int rc = 0;

	vl_first_fit_init(&l, f, t, keep, threads);
	l.most = most;
	l.pace = pace;
	l.fixed = fixed;
	if (fixed)
		vl_first_fit_add_fixed(&l);
	if (keep)
		rc = vl_first_fit_keep_layers(&l, dests, n);
	for (uint32_t done = 0; done < n && !rc;) {
		uint32_t nbatch = 0, next = done;

		while (nbatch < CHUNK && next < n) {
			struct batch *b = &l.batch[nbatch++];

			b->d = dests + next;
			b->n = lft_columns_run(dests + next, n - next);
			b->bad_sw = FAB_NONE;
			b->open.n = b->miss.n = 0;
			next += b->n;
		}
		rc = vl_first_fit_chunk(&l, nbatch, done, next - done, err);
		done = next;
	}
	*layers = l.n;
	vl_first_fit_done(&l);
	return rc;
}
