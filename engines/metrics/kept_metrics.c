/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/kept_metrics.h"

#include "engines/verify/kept/moved_paths.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_LIDS 16

struct kept_metrics {
	const struct fabric *f;
	struct moved_paths moved;
	uint64_t *efi, *count; /* by channel; scratch, by switch */
	uint64_t *at_hops;     /* pairs by hops */
	uint64_t hops, pairs;
	bool *down, *gone; /* by channel, by switch */
	uint32_t *run;	   /* by LID: its first change, plus 1 */
	bool broken;
};

static bool kept_metrics_counts(const struct kept_metrics *k, uint32_t lid)
{
	uint32_t end = fabric_lid_end(k->f, lid);

	return end < k->f->nterm && k->f->term_lid[end] == lid;
}

/* --- routes that come or go ------------------------------------------------------------------- */

static void kept_metrics_add_hops(struct kept_metrics *k, uint32_t hops, uint64_t n, int sign)
{
	n = sign > 0 ? n : -n;
	k->pairs += n;
	k->hops += n * hops;
	k->at_hops[hops] += n;
}

/* n routes over the channel of a switch, and over those behind it that nobody else adds. */
static void kept_metrics_pass(struct kept_metrics *k, uint32_t sw, uint64_t n, int sign)
{
	const struct moved_paths *m = &k->moved;

	for (; sw != m->dsw; sw = k->f->chan_dst[m->chan[sw]]) {
		uint32_t c = m->chan[sw], v = k->f->chan_dst[c];

		k->efi[c] += sign > 0 ? n : -n;
		if (v == m->dsw || m->mark[v] != m->round)
			continue;
		k->count[v] += n;
		return;
	}
}

/* Those of the switches in hand, and where own is set of the LID's own. */
static void kept_metrics_count(struct kept_metrics *k, bool before, bool own, int sign)
{
	struct moved_paths *m = &k->moved;
	const struct fabric *f = k->f;

	moved_paths_follow(m, before);
	for (uint32_t i = 0; m->norder < m->n && i < m->n; i++)
		k->broken |= m->hops[m->sw[i]] == FAB_NONE && f->sw_nterm[m->sw[i]] &&
			     !k->gone[m->sw[i]];
	for (uint32_t i = 0; i < m->norder; i++) {
		uint32_t sw = m->order[i];
		uint64_t ends = k->gone[sw] ? 0 : f->sw_nterm[sw], n = k->count[sw] + ends;

		k->count[sw] = 0;
		if (ends)
			kept_metrics_add_hops(k, m->hops[sw], ends, sign);
		if (n)
			kept_metrics_pass(k, sw, n, sign);
	}
	if (own && f->sw_nterm[m->dsw] > 1)
		kept_metrics_add_hops(k, 0, f->sw_nterm[m->dsw] - 1u, sign);
	k->broken |= sign > 0 && tables_row(m->t, m->dsw)[m->lid] != m->dport;
}

/* --- made once -------------------------------------------------------------------------------- */

static int kept_metrics_count_all(struct kept_metrics *k, const struct tables *t,
				  struct progress *progress, struct err *err)
{
	for (uint32_t lid = 1; lid <= k->f->max_lid; lid++) {
		if (lid % REPORT_LIDS == 1 &&
		    progress_step(progress, "metrics", lid, k->f->max_lid))
			return err_set(err, -ECANCELED, "measuring the tables was cancelled");
		if (!kept_metrics_counts(k, lid))
			continue;
		moved_paths_find(&k->moved, t, lid, NULL, 0);
		moved_paths_take(&k->moved, FAB_NONE);
		kept_metrics_count(k, false, true, 1);
	}
	return k->broken ? err_set(err, -EDOM, "the tables leave paths out") : 0;
}

int kept_metrics_new(struct kept_metrics **out, const struct fabric *f, const struct tables *t,
		     struct progress *progress, struct err *err)
{
	struct kept_metrics *k;
	int rc = tables_check_fabric(t, f, err);

	*out = NULL;
	if (rc)
		return rc;
	k = xcalloc(1, sizeof(*k));
	k->f = fabric_get(f);
	moved_paths_init(&k->moved, f);
	k->efi = xcalloc(f->nchan, sizeof(*k->efi));
	k->count = xcalloc(f->nsw, sizeof(*k->count));
	k->at_hops = xcalloc(f->nsw + 1u, sizeof(*k->at_hops));
	k->down = xcalloc(f->nchan, sizeof(*k->down));
	k->gone = xcalloc(f->nsw, sizeof(*k->gone));
	k->run = xcalloc(f->max_lid + 1u, sizeof(*k->run));
	rc = kept_metrics_count_all(k, t, progress, err);
	if (rc)
		kept_metrics_free(k);
	else
		*out = k;
	return rc;
}

void kept_metrics_free(struct kept_metrics *k)
{
	if (!k)
		return;
	moved_paths_done(&k->moved);
	free(k->efi);
	free(k->count);
	free(k->at_hops);
	free(k->down);
	free(k->gone);
	free(k->run);
	fabric_put(k->f);
	free(k);
}

/* --- kept up ---------------------------------------------------------------------------------- */

static void kept_metrics_find(struct kept_metrics *k, const struct tables *t,
			      const struct entry_changes *c, uint32_t lid)
{
	uint32_t first = k->run[lid] - 1, n = k->run[lid] ? entry_changes_run(c, first) : 0;

	moved_paths_find(&k->moved, t, lid, n ? c->list + first : NULL, n);
}

/* All routes to the terminals of a switch (to), or from them to those that are not gone. */
static void kept_metrics_count_switch(struct kept_metrics *k, const struct tables *t,
				      const struct entry_changes *c, uint32_t sw, bool to, int sign)
{
	for (uint32_t lid = 1; lid <= k->f->max_lid; lid++) {
		uint8_t port;
		uint32_t dst = fabric_lid_switch(k->f, lid, &port);

		if (!kept_metrics_counts(k, lid) || (dst == sw) != to || (!to && k->gone[dst]))
			continue;
		kept_metrics_find(k, t, c, lid);
		moved_paths_take(&k->moved, to ? FAB_NONE : sw);
		kept_metrics_count(k, sign < 0, to, sign);
	}
}

static bool kept_metrics_is_cut_off(const struct kept_metrics *k, uint32_t sw)
{
	const struct fabric *f = k->f;

	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
		if (!k->down[c])
			return false;
	return f->chan_off[sw] != f->chan_off[sw + 1];
}

/* Switches one after the other: to one that goes everybody who is there sends until then, and it
 * to them. */
static void kept_metrics_turn(struct kept_metrics *k, const struct tables *t,
			      const struct entry_changes *c, const bool *touched, bool gone)
{
	for (uint32_t sw = 0; sw < k->f->nsw; sw++) {
		if (!touched[sw] || k->gone[sw] == gone || kept_metrics_is_cut_off(k, sw) != gone)
			continue;
		k->gone[sw] = false;
		kept_metrics_count_switch(k, t, c, sw, true, gone ? -1 : 1);
		kept_metrics_count_switch(k, t, c, sw, false, gone ? -1 : 1);
		k->gone[sw] = gone;
	}
}

static void kept_metrics_count_changes(struct kept_metrics *k, const struct tables *t,
				       const struct entry_changes *c, int sign)
{
	for (uint32_t i = 0; i < c->n; i += entry_changes_run(c, i)) {
		if (!kept_metrics_counts(k, c->list[i].lid))
			continue;
		kept_metrics_find(k, t, c, c->list[i].lid);
		if (!k->gone[k->moved.dsw])
			kept_metrics_count(k, sign < 0, false, sign);
	}
}

bool kept_metrics_update(struct kept_metrics *k, const struct tables *t, const bool *down,
			 const struct entry_changes *changes)
{
	bool *touched;

	if (k->broken)
		return false;
	touched = xcalloc(k->f->nsw, sizeof(*touched));
	for (uint32_t c = 0; c < k->f->nchan; c++)
		touched[k->f->chan_src[c]] |= k->down[c] != down[c];
	memcpy(k->down, down, k->f->nchan * sizeof(*down));
	for (uint32_t i = 0; i < changes->n; i += entry_changes_run(changes, i))
		k->run[changes->list[i].lid] = i + 1;
	kept_metrics_turn(k, t, changes, touched, true);
	kept_metrics_count_changes(k, t, changes, -1);
	kept_metrics_count_changes(k, t, changes, 1);
	kept_metrics_turn(k, t, changes, touched, false);
	for (uint32_t i = 0; i < changes->n; i += entry_changes_run(changes, i))
		k->run[changes->list[i].lid] = 0;
	for (uint32_t c = 0; c < k->f->nchan; c++)
		k->broken |= k->down[c] && k->efi[c];
	free(touched);
	return !k->broken;
}

void kept_metrics_get(const struct kept_metrics *k, struct kept_figures *out)
{
	double sum = 0, square = 0;
	uint32_t n = 0;

	*out = (struct kept_figures){ .efi = k->efi };
	for (uint32_t c = 0; c < k->f->nchan; c++) {
		n += !k->down[c];
		sum += (double)k->efi[c];
		out->efi_max = k->efi[c] > out->efi_max ? k->efi[c] : out->efi_max;
	}
	out->efi_mean = n ? sum / n : 0;
	for (uint32_t c = 0; c < k->f->nchan; c++) {
		double d = (double)k->efi[c] - out->efi_mean;

		square += k->down[c] ? 0 : d * d;
	}
	out->efi_stddev = n ? sqrt(square / n) : 0;
	for (uint32_t h = 0; h <= k->f->nsw; h++)
		if (k->at_hops[h])
			out->hops_max = h;
	out->hops_mean = k->pairs ? (double)k->hops / (double)k->pairs : 0;
}
