/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/weak/shift_loads.h"

#include "engines/predict/job_ranks.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES 16 /* rates of channels; slower ones count as the slowest of these */
#define NOT_ONE UINT32_MAX

/* A flow of a shift that a channel got (+1) or lost. */
struct moved_flow {
	uint32_t shift, chan;
	int add;
};

struct shift_loads {
	const struct fabric *f;
	struct arena *mem; /* of ranks */
	struct job_ranks *ranks;
	uint32_t *rank, *rail; /* by terminal; FAB_NONE: it is none */
	uint32_t n;	       /* shifts */
	uint32_t *at;	       /* by distance of two ranks: its shift, or NOT_ONE */
	uint8_t *class;	       /* by channel */
	float slow[CLASSES];
	uint32_t nclass;
	uint16_t *count; /* [shift * nchan + chan] */
	uint32_t *hist;	 /* [(shift * nclass + class) * cap + flows]: channels with so many */
	uint32_t cap;
	uint16_t *most; /* [shift * nclass + class] */
	double total;	/* of the times of all shifts */
	/* of a try */
	VEC(struct moved_flow) moved;
	uint8_t *new_port; /* by switch, of those with the stamp of the LID */
	uint8_t *old_port;
	uint32_t *stamp, *seen, serial, *list;
	uint64_t *touched; /* by shift: tries */
	VEC(uint32_t) changed;
	uint64_t tries;
	bool lost;
};

/* --- the time of a shift ---------------------------------------------------------------------- */

static uint32_t *shift_loads_hist(const struct shift_loads *x, uint32_t shift, uint32_t class)
{
	return x->hist + ((size_t)shift * x->nclass + class) * x->cap;
}

static double shift_loads_time_of(const struct shift_loads *x, uint32_t shift)
{
	double time = 1;

	for (uint32_t k = 0; k < x->nclass; k++) {
		double v = x->most[(size_t)shift * x->nclass + k] * (double)x->slow[k];

		time = v > time ? v : time;
	}
	return time;
}

static void shift_loads_count(struct shift_loads *x, uint32_t shift, uint32_t chan, int add)
{
	uint16_t *count = &x->count[(size_t)shift * x->f->nchan + chan];
	uint32_t class = x->class[chan];
	uint32_t *hist = shift_loads_hist(x, shift, class);
	uint16_t *most = &x->most[(size_t)shift * x->nclass + class];

	if (*count)
		hist[*count]--;
	*count = (uint16_t)(*count + add);
	if (*count)
		hist[*count]++;
	if (*count > *most)
		*most = *count;
	while (*most && !hist[*most])
		--*most;
}

/* --- flows ------------------------------------------------------------------------------------ */

/* The shift in which one sends to the other; NOT_ONE. */
static uint32_t shift_loads_shift(const struct shift_loads *x, uint32_t src, uint32_t dst)
{
	uint32_t a = x->rank[src], b = x->rank[dst], n = x->ranks->nrank;
	uint32_t rails;

	if (a == FAB_NONE || b == FAB_NONE || a == b)
		return NOT_ONE;
	rails = x->ranks->off[b + 1] - x->ranks->off[b];
	if (x->rank[src] == FAB_NONE || x->rail[src] % rails != x->rail[dst])
		return NOT_ONE;
	return x->at[(b + n - a) % n];
}

/* The entry of a switch, with the changes of the LID in hand or without. */
static uint8_t shift_loads_entry(const struct shift_loads *x, const struct tables *t, uint32_t sw,
				 uint32_t lid, bool after)
{
	if (x->stamp[sw] == x->serial)
		return after ? x->new_port[sw] : x->old_port[sw];
	return tables_row(t, sw)[lid];
}

/* Adds a flow to all channels of its path, or takes it off. */
static void shift_loads_walk(struct shift_loads *x, const struct tables *t, uint32_t shift,
			     uint32_t sw, uint32_t dst, bool after, int add)
{
	const struct fabric *f = x->f;
	uint32_t lid = f->term_lid[dst], to = f->term_sw[dst];

	for (uint32_t left = f->nsw; sw != to; left--) {
		uint32_t c = fabric_chan(f, sw, shift_loads_entry(x, t, sw, lid, after));

		if (c == FAB_NONE || !left) {
			x->lost = true;
			return;
		}
		vec_push(&x->moved, ((struct moved_flow){ shift, c, add }));
		sw = f->chan_dst[c];
	}
}

/* --- made once -------------------------------------------------------------------------------- */

static void shift_loads_number(struct shift_loads *x, uint32_t shifts)
{
	const struct fabric *f = x->f;
	uint32_t all;

	x->mem = arena_new();
	x->ranks = job_ranks_all(x->mem, f);
	all = x->ranks->nrank ? x->ranks->nrank - 1 : 0;
	x->n = shifts && shifts < all ? shifts : all;
	x->rank = xcalloc(f->nend + 1u, sizeof(*x->rank));
	x->rail = xcalloc(f->nend + 1u, sizeof(*x->rail));
	memset(x->rank, 0xff, (f->nend + 1u) * sizeof(*x->rank));
	for (uint32_t r = 0; r < x->ranks->nrank; r++)
		for (uint32_t i = x->ranks->off[r]; i < x->ranks->off[r + 1]; i++) {
			x->rank[x->ranks->term[i]] = r;
			x->rail[x->ranks->term[i]] = i - x->ranks->off[r];
		}
	x->at = xcalloc(all + 1u, sizeof(*x->at));
	memset(x->at, 0xff, (all + 1u) * sizeof(*x->at));
	for (uint32_t i = 0; i < x->n; i++)
		x->at[1 + (uint64_t)i * all / x->n] = i;
}

static void shift_loads_classify(struct shift_loads *x)
{
	struct predict_paths p = { 0 };

	predict_paths_speeds(&p, x->f);
	x->class = xcalloc(x->f->nchan + 1u, sizeof(*x->class));
	for (uint32_t c = 0; c < x->f->nchan; c++) {
		uint32_t k = 0;

		while (k < x->nclass && x->slow[k] != p.slow[c])
			k++;
		if (k == CLASSES)
			k--;
		else if (k == x->nclass)
			x->slow[x->nclass++] = p.slow[c];
		x->class[c] = (uint8_t)k;
	}
	predict_paths_done(&p);
}

static void shift_loads_reserve(struct shift_loads *x)
{
	const struct fabric *f = x->f;
	size_t n = x->n + 1u;

	x->cap = f->nend + 2u;
	x->count = xcalloc(n * f->nchan + 1, sizeof(*x->count));
	x->hist = xcalloc(n * x->nclass * x->cap + 1, sizeof(*x->hist));
	x->most = xcalloc(n * x->nclass + 1, sizeof(*x->most));
	x->new_port = xcalloc(f->nsw, sizeof(*x->new_port));
	x->old_port = xcalloc(f->nsw, sizeof(*x->old_port));
	x->stamp = xcalloc(f->nsw, sizeof(*x->stamp));
	x->seen = xcalloc(f->nsw, sizeof(*x->seen));
	x->list = xcalloc(f->nsw, sizeof(*x->list));
	x->touched = xcalloc(n, sizeof(*x->touched));
	x->serial = 1;
}

static void shift_loads_apply(struct shift_loads *x)
{
	for (size_t i = 0; i < x->moved.n; i++)
		shift_loads_count(x, x->moved.v[i].shift, x->moved.v[i].chan, x->moved.v[i].add);
}

/* All flows to one terminal. */
static void shift_loads_move_to(struct shift_loads *x, const struct tables *t, uint32_t dst,
				int add)
{
	const struct fabric *f = x->f;

	for (uint32_t src = 0; src < f->nterm; src++) {
		uint32_t shift = src == dst ? NOT_ONE : shift_loads_shift(x, src, dst);

		if (shift != NOT_ONE)
			shift_loads_walk(x, t, shift, f->term_sw[src], dst, false, add);
	}
}

int shift_loads_new(struct shift_loads **out, const struct fabric *f, const struct tables *t,
		    uint32_t shifts, struct progress *progress)
{
	struct shift_loads *x = xcalloc(1, sizeof(*x));
	int rc = 0;

	x->f = fabric_get(f);
	shift_loads_number(x, shifts);
	shift_loads_classify(x);
	shift_loads_reserve(x);
	for (uint32_t dst = 0; dst < f->nterm && !rc; dst++) {
		x->moved.n = 0;
		shift_loads_move_to(x, t, dst, 1);
		shift_loads_apply(x);
		if (progress_step(progress, "shifts", dst + 1, f->nterm))
			rc = -ECANCELED;
		if (x->lost)
			rc = -ENETUNREACH;
	}
	for (uint32_t i = 0; i < x->n; i++)
		x->total += shift_loads_time_of(x, i);
	if (rc) {
		shift_loads_free(x);
		return rc;
	}
	*out = x;
	return 0;
}

void shift_loads_free(struct shift_loads *x)
{
	if (!x)
		return;
	arena_free(x->mem);
	free(x->rank);
	free(x->rail);
	free(x->at);
	free(x->class);
	free(x->count);
	free(x->hist);
	free(x->most);
	free(x->new_port);
	free(x->old_port);
	free(x->stamp);
	free(x->seen);
	free(x->list);
	free(x->touched);
	vec_free(&x->moved);
	vec_free(&x->changed);
	fabric_put(x->f);
	free(x);
}

double shift_loads_time(const struct shift_loads *x)
{
	return x->n ? x->total / x->n : 1;
}

/* --- a try ------------------------------------------------------------------------------------ */

/* Those changes of one LID, and all switches whose paths lead over them: into x->list. */
static uint32_t shift_loads_find_moved(struct shift_loads *x, const struct tables *t,
				       const struct entry_change *c, uint32_t run)
{
	const struct fabric *f = x->f;
	uint32_t n = 0;

	x->serial++;
	for (uint32_t i = 0; i < run; i++) {
		x->stamp[c[i].sw] = x->seen[c[i].sw] = x->serial;
		x->new_port[c[i].sw] = c[i].port;
		x->old_port[c[i].sw] = c[i].port_was;
		x->list[n++] = c[i].sw;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = x->list[i];

		for (uint32_t e = f->chan_off[u]; e < f->chan_off[u + 1]; e++) {
			uint32_t v = f->chan_dst[e];

			if (x->seen[v] != x->serial &&
			    tables_row(t, v)[c->lid] == f->chan_rport[e]) {
				x->seen[v] = x->serial;
				x->list[n++] = v;
			}
		}
	}
	return n;
}

static void shift_loads_move_lid(struct shift_loads *x, const struct tables *t,
				 const struct entry_change *c, uint32_t run, uint32_t gone)
{
	const struct fabric *f = x->f;
	uint32_t dst = c->lid <= f->max_lid ? f->lid_end[c->lid] : FAB_NONE, n;

	if (dst >= f->nterm || f->term_lid[dst] != c->lid || f->term_sw[dst] == gone)
		return;
	n = shift_loads_find_moved(x, t, c, run);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = x->list[i];

		for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1] && sw != gone; k++) {
			uint32_t src = f->term_list[k], shift;

			shift = src < f->nterm ? shift_loads_shift(x, src, dst) : NOT_ONE;
			if (shift == NOT_ONE || sw == f->term_sw[dst])
				continue;
			shift_loads_walk(x, t, shift, sw, dst, false, -1);
			shift_loads_walk(x, t, shift, sw, dst, true, 1);
		}
	}
}

/* Whoever is on it neither sends nor receives any more. */
static void shift_loads_silence(struct shift_loads *x, const struct tables *t, uint32_t gone)
{
	const struct fabric *f = x->f;

	x->serial++;
	for (uint32_t k = f->term_off[gone]; k < f->term_off[gone + 1]; k++) {
		uint32_t end = f->term_list[k];

		if (end >= f->nterm)
			continue;
		shift_loads_move_to(x, t, end, -1);
		for (uint32_t dst = 0; dst < f->nterm; dst++) {
			uint32_t shift =
				f->term_sw[dst] == gone ? NOT_ONE : shift_loads_shift(x, end, dst);

			if (shift != NOT_ONE)
				shift_loads_walk(x, t, shift, gone, dst, false, -1);
		}
	}
}

/* Counts what is in moved, or takes it back; the times of the shifts that it is in. */
static double shift_loads_difference(struct shift_loads *x)
{
	double sum = 0;

	x->tries++;
	x->changed.n = 0;
	for (size_t i = 0; i < x->moved.n; i++) {
		uint32_t s = x->moved.v[i].shift;

		if (x->touched[s] == x->tries)
			continue;
		x->touched[s] = x->tries;
		vec_push(&x->changed, s);
		sum -= shift_loads_time_of(x, s);
	}
	shift_loads_apply(x);
	for (size_t i = 0; i < x->changed.n; i++)
		sum += shift_loads_time_of(x, x->changed.v[i]);
	for (size_t i = x->moved.n; i-- > 0;)
		shift_loads_count(x, x->moved.v[i].shift, x->moved.v[i].chan, -x->moved.v[i].add);
	return sum;
}

double shift_loads_try(struct shift_loads *x, const struct tables *t,
		       const struct entry_changes *changes, uint32_t sw_gone)
{
	uint32_t run;

	x->moved.n = 0;
	for (uint32_t i = 0; i < changes->n; i += run) {
		run = entry_changes_run(changes, i);
		shift_loads_move_lid(x, t, &changes->list[i], run, sw_gone);
	}
	if (sw_gone != FAB_NONE)
		shift_loads_silence(x, t, sw_gone);
	return x->n ? (x->total + shift_loads_difference(x)) / x->n : 1;
}
