/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/repairer.h"

#include "engines/repair/moved_entries.h"
#include "engines/repair/needed_entries.h"
#include "engines/repair/path_fit.h"
#include "engines/repair/reattach.h"
#include "engines/repair/regrow.h"
#include "engines/repair/repair_state.h"
#include "engines/repair/standing.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEST_SHIFT 32

/* Where paths break: destination << DEST_SHIFT | switch. */
struct breaks {
	uint64_t *list;
	uint32_t n, cap;
};

struct repairer {
	const struct fabric *f;
	struct engine_params params;
	struct repair_state state;
	struct reattach *reattach;
	struct regrow *regrow;
	struct needed_entries entries;
	struct moved_entries moved;
	uint32_t *dest_of; /* by LID; FAB_NONE: nobody's */
	struct breaks breaks;
	uint32_t *at;	/* switches of one destination */
	bool *returned; /* by switch: it was gone until now */
	bool forgot;	/* repairer_look_again() */
	bool failed;
};

/* --- made once -------------------------------------------------------------------------------- */

static int repairer_check(const struct fabric *f, const struct engine_params *params,
			  struct err *err)
{
	const struct tables *t = params->current;
	int rc = tables_check_fabric(t, f, err);

	if (rc)
		return rc;
	if (!tables_know_vls(t))
		return err_set(err, -EINVAL,
			       "repair has to know the VLs of the installed paths, and their SL2VL "
			       "tables were not read");
	if (t->escape || t->sl_kind == SL_BY_TERM)
		return err_set(err, -ENOTSUP, "installed tables with %s cannot be kept for repair",
			       t->escape ? "escape LIDs" : "SLs by source");
	return 0;
}

static int repairer_look(struct repairer *x, struct progress *progress, struct err *err)
{
	struct repair_state *r = &x->state;
	struct pace p;
	int rc;

	r->deps = dependencies_new(x->f, r->nvl);
	rc = pace_begin(&p, progress, "paths", r->ndest) ? -ECANCELED : standing_find(r, &p);
	if (rc)
		return err_set(err, rc, "repair was cancelled");
	for (uint32_t i = 0; i < r->ndest; i++)
		if (r->broken[i])
			return err_set(err, -ENETUNREACH,
				       "%u switches have no path to LID %u by the installed tables",
				       r->broken[i], r->dests[i].lid);
	if (r->beyond || !dependencies_order(r->deps))
		return err_set(err, -EDEADLK, "installed paths %s",
			       r->beyond ? "are dropped, or are on VLs that must not be used"
					 : "can deadlock");
	return 0;
}

static void repairer_number(struct repairer *x)
{
	x->dest_of = xcalloc(x->f->max_lid + 1u, sizeof(*x->dest_of));
	memset(x->dest_of, 0xff, (x->f->max_lid + 1u) * sizeof(*x->dest_of));
	for (uint32_t i = 0; i < x->state.ndest; i++)
		x->dest_of[x->state.dests[i].lid] = i;
}

int repairer_new(struct repairer **out, const struct fabric *f, const struct engine_params *params,
		 struct progress *progress, struct err *err)
{
	struct repairer *x;
	int rc = repairer_check(f, params, err);

	*out = NULL;
	if (rc)
		return rc;
	x = xcalloc(1, sizeof(*x));
	x->f = fabric_get(f);
	x->params = *params;
	x->params.notes = NULL;
	repair_state_init(&x->state, f, &x->params);
	snprintf(x->state.t->engine, sizeof(x->state.t->engine), "%s", params->current->engine);
	snprintf(x->state.t->params, sizeof(x->state.t->params), "%s", params->current->params);
	x->state.t->seed = params->current->seed;
	x->state.was = x->params.current = x->state.t;
	x->reattach = reattach_new(&x->state);
	x->regrow = regrow_new(&x->state);
	needed_entries_init(&x->entries, f);
	repairer_number(x);
	x->at = xcalloc(f->nsw, sizeof(*x->at));
	x->returned = xcalloc(f->nsw, sizeof(*x->returned));
	rc = repairer_look(x, progress, err);
	if (rc) {
		repairer_free(x);
		return rc;
	}
	repair_state_count_vls(&x->state); /* switches do not tell how many the tables need */
	*out = x;
	return 0;
}

void repairer_free(struct repairer *x)
{
	if (!x)
		return;
	reattach_free(x->reattach);
	regrow_free(x->regrow);
	needed_entries_done(&x->entries);
	moved_entries_done(&x->moved);
	repair_state_done(&x->state);
	free(x->dest_of);
	free(x->breaks.list);
	free(x->at);
	free(x->returned);
	fabric_put(x->f);
	free(x);
}

const struct tables *repairer_tables(const struct repairer *x)
{
	return x->state.t;
}

/* --- what breaks ------------------------------------------------------------------------------ */

static void repairer_add_break(struct repairer *x, uint32_t dest, uint32_t sw)
{
	struct breaks *b = &x->breaks;

	if (b->n == b->cap) {
		b->cap = b->cap ? 2 * b->cap : 4096;
		b->list = xrealloc(b->list, b->cap, sizeof(*b->list));
	}
	b->list[b->n++] = (uint64_t)dest << DEST_SHIFT | sw;
}

/* Are paths to it kept up? */
static bool repairer_cares(const struct repairer *x, uint32_t dest)
{
	uint32_t sw = x->state.dests[dest].sw;

	return !x->state.gone[sw] && !x->returned[sw];
}

/* All destinations for which a switch forwards to that port. */
static void repairer_break_channel(struct repairer *x, uint32_t c)
{
	const struct repair_state *r = &x->state;
	uint32_t sw = x->f->chan_src[c];
	const uint8_t *row = tables_row(r->t, sw), *end = row + x->f->max_lid + 1;
	const uint8_t *p = row;

	if (r->gone[sw])
		return;
	while (p < end && (p = memchr(p, x->f->chan_port[c], (size_t)(end - p)))) {
		uint32_t dest = x->dest_of[p++ - row];

		if (dest != FAB_NONE && r->dests[dest].sw != sw && repairer_cares(x, dest))
			repairer_add_break(x, dest, sw);
	}
}

/* Its own paths may lead over what is down now, or over others' that have changed meanwhile. */
static void repairer_break_returned(struct repairer *x, uint32_t sw)
{
	const struct repair_state *r = &x->state;

	for (uint32_t i = 0; i < r->ndest; i++)
		if (repairer_cares(x, i) && !reattach_stands(x->reattach, i, sw))
			repairer_add_break(x, i, sw);
}

static bool repairer_is_cut_off(const struct repairer *x, uint32_t sw)
{
	const struct fabric *f = x->f;

	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
		if (!x->state.down[c])
			return false;
	return f->chan_off[sw] != f->chan_off[sw + 1];
}

/* Marks what is down, gone and returned now. */
static void repairer_mark(struct repairer *x, const bool *down, bool *flipped)
{
	struct repair_state *r = &x->state;
	const struct fabric *f = x->f;

	memset(x->returned, 0, f->nsw * sizeof(*x->returned));
	for (uint32_t c = 0; c < f->nchan; c++) {
		if (r->down[c] == down[c])
			continue;
		flipped[c] = true;
		r->down[c] = down[c];
		r->out[f->port_off[f->chan_src[c]] + f->chan_port[c]] = down[c] ? FAB_NONE : c;
	}
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t sw = f->chan_src[c];
		bool gone = flipped[c] && repairer_is_cut_off(x, sw);

		if (!flipped[c] || gone == r->gone[sw])
			continue;
		r->gone[sw] = gone;
		x->returned[sw] = !gone;
	}
}

static int repairer_ascending(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static void repairer_find_breaks(struct repairer *x, const bool *down)
{
	const struct fabric *f = x->f;
	bool *flipped = xcalloc(f->nchan, sizeof(*flipped));
	uint32_t n = 0;

	repairer_mark(x, down, flipped);
	x->breaks.n = 0;
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (x->returned[sw])
			repairer_break_returned(x, sw);
	for (uint32_t c = 0; c < f->nchan; c++)
		if (flipped[c] && down[c])
			repairer_break_channel(x, c);
	if (x->breaks.n)
		qsort(x->breaks.list, x->breaks.n, sizeof(*x->breaks.list), repairer_ascending);
	for (uint32_t i = 0; i < x->breaks.n; i++)
		if (!i || x->breaks.list[i] != x->breaks.list[i - 1])
			x->breaks.list[n++] = x->breaks.list[i];
	x->breaks.n = n;
	free(flipped);
}

/* --- new paths -------------------------------------------------------------------------------- */

/* Of one destination: those switches and all that lies below them. */
static bool repairer_repair(struct repairer *x, uint32_t dest, uint32_t n, struct repair_report *s)
{
	struct repair_state *r = &x->state;
	uint32_t first = r->changes->n;
	bool near = reattach_lid(x->reattach, dest, x->at, n);
	bool found = near || regrow_lid(x->regrow, dest, x->at, n);

	s->lids++;
	needed_entries_add(&x->entries, r, &r->dests[dest],
			   near ? reattach_tree(x->reattach) : regrow_tree(x->regrow), first);
	r->broken[dest] = 0;
	return found;
}

static bool repairer_repair_breaks(struct repairer *x, struct repair_report *s)
{
	struct repair_state *r = &x->state;
	const struct breaks *b = &x->breaks;
	bool found = true;

	for (uint32_t i = 0; i < b->n; i++)
		r->broken[b->list[i] >> DEST_SHIFT] = 1;
	for (uint32_t i = 0; i < b->n && found;) {
		uint32_t dest = (uint32_t)(b->list[i] >> DEST_SHIFT), n = 0;

		for (; i < b->n && b->list[i] >> DEST_SHIFT == dest; i++)
			x->at[n++] = (uint32_t)b->list[i];
		found = repairer_repair(x, dest, n, s);
	}
	return found;
}

/* Paths to the LIDs of switches that came back, which nobody has kept up: others may have come back
 * before, and lead over what is not as it was. */
static bool repairer_repair_to_returned(struct repairer *x, struct repair_report *s)
{
	struct repair_state *r = &x->state;
	bool found = true;

	for (uint32_t i = 0; i < r->ndest; i++)
		r->broken[i] = x->returned[r->dests[i].sw]; /* no other one goes their way */
	for (uint32_t i = 0; i < r->ndest && found; i++) {
		uint32_t n = 0;

		if (!x->returned[r->dests[i].sw])
			continue;
		for (uint32_t sw = 0; sw < x->f->nsw; sw++)
			if (!r->gone[sw] && !reattach_stands(x->reattach, i, sw))
				x->at[n++] = sw;
		r->broken[i] = n;
		if (n)
			found = repairer_repair(x, i, n, s);
	}
	return found;
}

/* Why some path could not be found. */
static int repairer_explain(const struct repairer *x, struct err *err)
{
	const struct repair_state *r = &x->state;
	uint32_t *queue = xcalloc(x->f->nsw, sizeof(*queue)), n = 0, gone = 0;
	bool *seen = xcalloc(x->f->nsw, sizeof(*seen));

	for (uint32_t sw = 0; sw < x->f->nsw; sw++) {
		gone += r->gone[sw];
		if (!n && !r->gone[sw])
			seen[queue[n++] = sw] = true;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t c = x->f->chan_off[queue[i]]; c < x->f->chan_off[queue[i] + 1]; c++)
			if (!r->down[c] && !seen[x->f->chan_dst[c]])
				seen[queue[n++] = x->f->chan_dst[c]] = true;
	free(queue);
	free(seen);
	if (n + gone < x->f->nsw)
		return err_set(err, -ENETUNREACH,
			       "%u switches do not reach the others over the cables that are left",
			       x->f->nsw - gone - n < n ? x->f->nsw - gone - n : n);
	return err_set(err, -ENOSPC, "new paths beside those that stand can deadlock on %u VLs",
		       r->nvl);
}

static void repairer_undo(struct repairer *x, uint32_t first)
{
	struct repair_state *r = &x->state;

	while (r->changes->n > first) {
		const struct entry_change *e = &r->changes->list[--r->changes->n];

		tables_row(r->t, e->sw)[e->lid] = e->port_was;
		if (e->sl != e->sl_was)
			path_fit_set(r, e->sw, e->lid, e->sl_was);
	}
}

/* Of what breaks; false: there is no way, and what was found until then is in r->changes. */
static bool repairer_repair_all(struct repairer *x, struct repair_report *s)
{
	x->entries.changed = x->entries.needed = 0;
	s->lids = 0;
	if (!repairer_repair_breaks(x, s) || !repairer_repair_to_returned(x, s))
		return false;
	repair_state_count_vls(&x->state);
	s->changed = x->entries.changed;
	s->needed = x->entries.needed;
	s->vls = x->state.t->vls;
	return true;
}

static bool repairer_find(struct repairer *x, const bool *down, struct entry_changes *out,
			  struct repair_report *report)
{
	struct repair_state *r = &x->state;

	r->changes = out;
	needed_entries_forget(&x->entries);
	r->deps->nadded = r->deps->settled = 0; /* nothing of before is taken back */
	repairer_find_breaks(x, down);
	return repairer_repair_all(x, report);
}

/* Forgets what paths depended on that are no more, in a pass over all LIDs. */
static bool repairer_look_again(struct repairer *x)
{
	struct repair_state *r = &x->state;
	struct pace p;
	bool acyclic;

	dependencies_free(r->deps);
	r->deps = dependencies_new(x->f, r->nvl);
	memset(r->load, 0, x->f->nchan * sizeof(*r->load));
	r->sls = r->vls = 0;
	pace_begin(&p, NULL, "paths", r->ndest);
	standing_find(r, &p);
	acyclic = dependencies_order(r->deps);
	x->forgot = true;
	memset(r->broken, 0, r->ndest * sizeof(*r->broken));
	return acyclic;
}

int repairer_update(struct repairer *x, const bool *down, struct entry_changes *out,
		    struct repair_report *report, struct err *err)
{
	uint32_t first = out->n;

	*report = (struct repair_report){ 0 };
	if (x->failed)
		return err_set(err, -EINVAL,
			       "a repair failed before: the tables have to be read "
			       "again");
	if (!repairer_find(x, down, out, report)) {
		repairer_undo(x, first);
		x->failed = !repairer_look_again(x) || !repairer_repair_all(x, report);
	}
	if (x->failed) {
		repairer_undo(x, first);
		return repairer_explain(x, err);
	}
	moved_entries_add(&x->moved, out, first);
	report->away = x->moved.n;
	report->forgot = x->forgot;
	return 0;
}

/* --- asked only ------------------------------------------------------------------------------- */

/* What a try changes and entries do not tell. */
struct repairer_kept {
	uint64_t *load;
	bool *down;
	uint32_t *siblings;
	unsigned sls, vls;
	uint8_t t_sls, t_vls;
};

static void repairer_keep(struct repairer_kept *k, const struct repairer *x)
{
	const struct repair_state *r = &x->state;
	size_t n = x->f->nchan + 1u;

	*k = (struct repairer_kept){
		.sls = r->sls, .vls = r->vls, .t_sls = r->t->sls, .t_vls = r->t->vls
	};
	k->load = xcalloc(n, sizeof(*k->load));
	k->down = xcalloc(n, sizeof(*k->down));
	k->siblings = xcalloc(r->ndest + 1u, sizeof(*k->siblings));
	memcpy(k->load, r->load, x->f->nchan * sizeof(*k->load));
	memcpy(k->down, r->down, x->f->nchan * sizeof(*k->down));
	memcpy(k->siblings, regrow_siblings(x->regrow), r->ndest * sizeof(*k->siblings));
}

static void repairer_restore(struct repairer *x, struct repairer_kept *k)
{
	struct repair_state *r = &x->state;
	bool *flipped = xcalloc(x->f->nchan + 1u, sizeof(*flipped));

	dependencies_undo_settled(r->deps, 0);
	repair_state_forget_led(r);
	memcpy(r->load, k->load, x->f->nchan * sizeof(*k->load));
	memcpy(regrow_siblings(x->regrow), k->siblings, r->ndest * sizeof(*k->siblings));
	r->sls = k->sls;
	r->vls = k->vls;
	r->t->sls = k->t_sls;
	r->t->vls = k->t_vls;
	repairer_mark(x, k->down, flipped);
	memset(r->broken, 0, r->ndest * sizeof(*r->broken));
	free(flipped);
	free(k->load);
	free(k->down);
	free(k->siblings);
}

int repairer_try(struct repairer *x, const bool *down, struct entry_changes *out,
		 struct repair_report *report, struct err *err)
{
	struct entry_changes undo;
	struct repairer_kept kept;
	uint32_t first = out->n;
	int rc = 0;

	*report = (struct repair_report){ .away = x->moved.n };
	if (x->failed)
		return err_set(err, -EINVAL,
			       "a repair failed before: the tables have to be read again");
	repairer_keep(&kept, x);
	if (!repairer_find(x, down, out, report))
		rc = repairer_explain(x, err);
	undo = *out;
	repairer_undo(x, first);
	out->n = rc ? first : undo.n;
	repairer_restore(x, &kept);
	return rc;
}

/* --- back ------------------------------------------------------------------------------------- */

/* Of one LID, those whose cables are there again: to the front. Returns how many. */
static uint32_t repairer_ready(const struct repairer *x, struct entry_change *m, uint32_t n)
{
	uint32_t ready = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct entry_change e = m[i];

		if (x->state.gone[e.sw] ||
		    (repair_state_chan(&x->state, e.sw, e.port_was) == FAB_NONE &&
		     e.sw != x->state.dests[x->dest_of[e.lid]].sw))
			continue;
		m[i] = m[ready];
		m[ready++] = e;
	}
	return ready;
}

/* LID by LID, until that many entries have changed. */
static void repairer_move_some(struct repairer *x, uint32_t most, struct repair_report *report)
{
	struct repair_state *r = &x->state;
	struct entry_changes all = { xcalloc(x->moved.n, sizeof(*all.list)), x->moved.n, 0 };
	uint32_t first = r->changes->n;

	memcpy(all.list, x->moved.list, all.n * sizeof(*all.list));
	r->deps->nadded = r->deps->settled = 0;
	for (uint32_t i = 0, run; i < all.n && (!most || r->changes->n - first < most); i += run) {
		uint32_t dest = x->dest_of[all.list[i].lid], n;

		run = entry_changes_run(&all, i);
		n = r->gone[r->dests[dest].sw] ? 0 : repairer_ready(x, &all.list[i], run);
		if (n)
			report->lids += reattach_move_back(x->reattach, dest, &all.list[i], n);
	}
	free(all.list);
	moved_entries_add(&x->moved, r->changes, first);
}

void repairer_move_back(struct repairer *x, uint32_t most, struct entry_changes *out,
			struct repair_report *report)
{
	uint32_t first = out->n;

	*report = (struct repair_report){ .away = x->moved.n, .forgot = x->forgot };
	if (x->failed || !x->moved.n)
		return;
	x->state.changes = out;
	repairer_move_some(x, most, report);
	/* what was forgotten once may be in the way of what would be fine */
	if (out->n == first && x->forgot) {
		x->failed = !repairer_look_again(x);
		if (!x->failed)
			repairer_move_some(x, most, report);
	}
	for (uint32_t i = first; i < out->n; i++)
		report->changed += out->list[i].port != out->list[i].port_was;
	report->away = x->moved.n;
}
