/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/vl_usage.h"

#include "engines/verify/verify_walk.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct count {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct tables *t;
	struct vl_usage *u;
	/* of the LID in hand */
	uint32_t *sls; /* switch * FAB_SLS + sl: routes that leave it */
	uint16_t *has; /* per switch: SLs that any of them has */
	/* of all */
	bool *alike;	 /* per switch: its terminals' packets get the same SLs and VLs */
	uint32_t *first; /* per switch: its first counted terminal, or FAB_NONE */
};

/* Do all terminals of a switch use the same SLs, mapped to the same VLs? */
static bool vl_usage_terminals_alike(const struct fabric *f, const struct tables *t, uint32_t sw)
{
	uint32_t begin = f->term_off[sw], end = f->term_off[sw + 1];

	if (t->sl_kind == SL_BY_TERM)
		return false;
	if (t->sl2vl_kind != SL2VL_FULL)
		return true;
	for (uint32_t i = begin + 1; i < end; i++)
		for (uint32_t out = 1; out <= f->sw_nports[sw]; out++)
			if (memcmp(tables_sl2vl_row(t, sw, f->term_port[f->term_list[begin]], out),
				   tables_sl2vl_row(t, sw, f->term_port[f->term_list[i]], out),
				   FAB_SLS) != 0)
				return false;
	return true;
}

static void vl_usage_count_begin(struct count *k)
{
	const struct fabric *f = k->f;

	k->mem = arena_new();
	k->sls = arena_alloc(k->mem, (size_t)f->nsw * FAB_SLS, sizeof(*k->sls));
	k->has = arena_alloc(k->mem, f->nsw, sizeof(*k->has));
	k->alike = arena_alloc(k->mem, f->nsw, sizeof(*k->alike));
	k->first = arena_alloc(k->mem, f->nsw, sizeof(*k->first));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		k->alike[sw] = vl_usage_terminals_alike(f, k->t, sw);
		k->first[sw] = FAB_NONE;
	}
	for (uint32_t term = f->nterm; term-- > 0;)
		k->first[f->term_sw[term]] = term;
}

/* n routes of an SL come into sw by a port and leave it by a channel. */
static void vl_usage_pass(struct count *k, uint32_t sw, uint8_t in, uint32_t chan, uint8_t sl,
			  uint32_t n)
{
	uint8_t vl = tables_vl(k->t, k->f, sw, in, k->f->chan_port[chan], sl);

	if (vl >= VL_USE_LANES)
		return;
	k->u->routes[(size_t)chan * VL_USE_LANES + vl] += n;
	k->sls[(size_t)sw * FAB_SLS + sl] += n;
	k->has[sw] |= (uint16_t)(1u << sl);
}

static void vl_usage_pass_own(struct count *k, uint32_t sw, uint32_t term, uint32_t chan,
			      uint32_t lid, uint32_t n)
{
	uint8_t sl = tables_path_sl(k->t, term, sw, lid);

	if (sl < FAB_SLS)
		vl_usage_pass(k, sw, k->f->term_port[term], chan, sl, n);
}

/* What the terminals of a switch send. */
static void vl_usage_send_own(struct count *k, uint32_t sw, uint32_t chan, uint32_t lid)
{
	const struct fabric *f = k->f;

	if (k->first[sw] == FAB_NONE)
		return;
	if (k->alike[sw]) {
		vl_usage_pass_own(k, sw, k->first[sw], chan, lid, f->sw_nterm[sw]);
		return;
	}
	for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++)
		if (f->term_list[i] < f->nterm)
			vl_usage_pass_own(k, sw, f->term_list[i], chan, lid, 1);
}

/* What leaves a switch comes into the next one, which sends it on. */
static void vl_usage_hand_on(struct count *k, const struct walk *w, uint32_t sw, uint32_t chan)
{
	uint32_t to = k->f->chan_dst[chan];
	const uint32_t *sls = k->sls + (size_t)sw * FAB_SLS;

	for (uint32_t has = to == w->dsw ? 0 : k->has[sw]; has; has &= has - 1) {
		uint8_t sl = (uint8_t)__builtin_ctz(has);

		vl_usage_pass(k, to, k->f->chan_rport[chan], w->chan[to], sl, sls[sl]);
	}
}

static void vl_usage_forget(struct count *k, uint32_t sw)
{
	for (uint32_t has = k->has[sw]; has; has &= has - 1)
		k->sls[(size_t)sw * FAB_SLS + (uint32_t)__builtin_ctz(has)] = 0;
	k->has[sw] = 0;
}

static void vl_usage_count_lid(struct count *k, const struct walk *w, uint32_t lid)
{
	for (uint32_t i = 0; i < w->norder; i++) {
		uint32_t sw = w->order[i];

		if (sw == w->dsw)
			continue;
		vl_usage_send_own(k, sw, w->chan[sw], lid);
		vl_usage_hand_on(k, w, sw, w->chan[sw]);
		vl_usage_forget(k, sw);
	}
}

static void vl_usage_find_highest(struct vl_usage *u)
{
	for (uint32_t c = 0; c < u->nchan; c++)
		for (uint32_t vl = u->vls; vl < VL_USE_LANES; vl++)
			if (vl_usage_of(u, c)[vl])
				u->vls = vl + 1;
}

int vl_usage_compute(struct vl_usage **out, const struct fabric *f, const struct tables *t,
		     struct progress *progress, struct err *err)
{
	struct count k = { .f = f, .t = t };
	struct walk *w;
	int rc = 0;

	*out = NULL;
	if (t->nsw != f->nsw || t->nend != f->nend)
		return err_set(err, -EINVAL, "the tables are of another fabric");
	k.u = xcalloc(1, sizeof(*k.u));
	k.u->nchan = f->nchan;
	k.u->routes = xcalloc((size_t)f->nchan * VL_USE_LANES + 1, sizeof(*k.u->routes));
	vl_usage_count_begin(&k);
	w = walk_new(f, t);
	for (uint32_t lid = 1; !rc && lid <= t->max_lid; lid++) {
		uint32_t end = fabric_lid_end(f, lid);

		if (end < f->nterm && f->term_lid[end] == lid && walk_lid(w, lid))
			vl_usage_count_lid(&k, w, lid);
		if (lid % LFT_BLOCK == 0 && progress_step(progress, "lanes", lid, t->max_lid))
			rc = -ECANCELED;
	}
	walk_free(w);
	arena_free(k.mem);
	vl_usage_find_highest(k.u);
	if (rc)
		vl_usage_free(k.u);
	else
		*out = k.u;
	return rc;
}

void vl_usage_free(struct vl_usage *u)
{
	if (!u)
		return;
	free(u->routes);
	free(u);
}

uint32_t vl_usage_lanes(const struct vl_usage *u, uint32_t chan)
{
	uint32_t n = 0;

	for (uint32_t vl = 0; vl < VL_USE_LANES; vl++)
		n += vl_usage_of(u, chan)[vl] > 0;
	return n;
}

double vl_usage_spread(const struct vl_usage *u, uint32_t chan)
{
	const uint32_t *r = vl_usage_of(u, chan);
	uint64_t sum = 0, most = 0;

	for (uint32_t vl = 0; vl < VL_USE_LANES; vl++) {
		sum += r[vl];
		most = r[vl] > most ? r[vl] : most;
	}
	return sum ? (double)(sum - most) / (double)sum : 0;
}
