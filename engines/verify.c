/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify.h"

#include "engines/verify_deps.h"
#include "engines/verify_graph.h"
#include "engines/verify_walk.h"
#include "engines/verify_witness.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct judge {
	const struct fabric *f;
	const struct tables *t;
	const struct verify_opts *opts;
	struct verdict *v;
	struct walk *walk;
	struct deps *deps;
	uint64_t nsources, hops, routes;
};

static bool is_source(const struct fabric *f, uint32_t sw)
{
	return f->term_off[sw] != f->term_off[sw + 1];
}

static void note(struct judge *j, enum verdict_fault fault, uint32_t sw, uint32_t lid, uint32_t at)
{
	struct verdict *v = j->v;

	if (fault == FAULT_LOOP)
		v->looping++;
	else
		v->unreachable++;
	if (v->fault != FAULT_NONE)
		return;
	v->fault = fault;
	v->bad_sw = sw;
	v->bad_lid = (uint16_t)lid;
	v->bad_at = fault == FAULT_DROP ? at : walk_last(j->f, j->t, sw, lid);
}

/* The pairs of one LID, one by one: only where something is known to be wrong. */
static void judge_sources(struct judge *j, uint32_t lid, bool lost)
{
	const struct fabric *f = j->f;
	uint32_t sw, i, at = 0;

	for (sw = 0; sw < f->nsw; sw++) {
		uint32_t hops = j->walk->hops[sw];

		if (!is_source(f, sw))
			continue;
		if (hops == WALK_DEAD || hops == WALK_LOOP) {
			note(j, hops == WALK_LOOP ? FAULT_LOOP : FAULT_NO_WAY, sw, lid, 0);
			continue;
		}
		for (i = f->term_off[sw]; lost && i < f->term_off[sw + 1]; i++) {
			if (path_arrives(&at, f, j->t, f->term_list[i], lid))
				continue;
			note(j, FAULT_DROP, sw, lid, at);
			break;
		}
	}
}

/* Hops of the counted routes: to the base LID of a counted terminal. */
static void count_hops(struct judge *j, uint32_t lid)
{
	const struct walk *w = j->walk;
	uint32_t i, end = fabric_lid_end(j->f, lid);

	if (end >= j->f->nterm || j->f->term_lid[end] != lid)
		return;
	for (i = 0; i < w->norder; i++) {
		uint32_t sw = w->order[i], n = j->f->sw_nterm[sw] - (sw == w->dsw);

		j->routes += n;
		j->hops += (uint64_t)n * w->hops[sw];
		if (n && w->hops[sw] > j->v->hops_max)
			j->v->hops_max = w->hops[sw];
	}
}

static int judge_lids(struct judge *j, struct progress *progress)
{
	const struct fabric *f = j->f;
	uint32_t lid;

	for (lid = 1; lid <= f->max_lid; lid++) {
		bool lost;

		if (lid % LFT_BLOCK == 1 && progress_step(progress, "verify", lid, f->max_lid))
			return -ECANCELED;
		if (j->opts->terminals_only && fabric_lid_end(f, lid) >= f->nend)
			continue;
		if (!walk_lid(j->walk, lid))
			continue;
		lost = deps_add(j->deps, j->walk, lid);
		j->v->pairs += j->nsources;
		if (lost || j->walk->norder < f->nsw)
			judge_sources(j, lid, lost);
		count_hops(j, lid);
	}
	return progress_step(progress, "verify", f->max_lid, f->max_lid) ? -ECANCELED : 0;
}

static void judge_deadlock(struct judge *j)
{
	struct depgraph *g = deps_graph(j->deps);
	uint32_t *order = xcalloc(g->n, sizeof(*order)), *cycle = NULL;
	struct verdict *v = j->v;

	v->nvl = g->nvl;
	v->vertices = g->nused;
	v->edges = g->off[g->n];
	v->deadlock_free = depgraph_order(g, order);
	if (!v->deadlock_free) {
		v->ncycle = depgraph_cycle(&cycle, g, order);
		v->cycle =
			witness_find(j->f, j->t, cycle, v->ncycle, g->nvl, j->opts->terminals_only);
		free(cycle);
	}
	if (v->deadlock_free && j->opts->certificate)
		v->order = order;
	else
		free(order);
	depgraph_free(g);
}

static void conclude(struct judge *j)
{
	struct verdict *v = j->v;
	struct vl_misfit misfit = { 0 };

	v->connected = !v->unreachable && !v->looping;
	v->loop_free = !v->looping;
	v->vls_fit = deps_vls_fit(j->deps, &misfit);
	v->misfit_sw = misfit.sw;
	v->misfit_port = misfit.port;
	v->misfit_vl = misfit.vl;
	v->misfit_op_vls = misfit.op_vls;
	v->vls_used = (uint32_t)__builtin_popcount(deps_vls(j->deps));
	v->sls_used = (uint32_t)__builtin_popcount(deps_sls(j->deps));
	v->hops_mean = j->routes ? (double)j->hops / (double)j->routes : 0;
	judge_deadlock(j);
}

int verify_tables(struct verdict **out, const struct fabric *f, const struct tables *t,
		  const struct verify_opts *opts, struct progress *progress, struct err *err)
{
	static const struct verify_opts none;
	struct judge j = { .f = f, .t = t, .opts = opts ? opts : &none };
	uint32_t sw;
	int rc;

	*out = NULL;
	if (!digest_equal(&t->fingerprint, &f->fingerprint) || t->nsw != f->nsw ||
	    t->nend != f->nend || t->max_lid != f->max_lid)
		return err_set(err, -EINVAL, "the tables (%s) were made for another fabric than %s",
			       t->engine, f->name);
	j.v = xcalloc(1, sizeof(*j.v));
	j.walk = walk_new(f, t);
	j.deps = deps_new(f, t, true);
	for (sw = 0; sw < f->nsw; sw++)
		j.nsources += is_source(f, sw);
	rc = judge_lids(&j, progress);
	if (rc) {
		verdict_free(j.v);
		err_set(err, rc, "checking the tables was cancelled");
	} else {
		conclude(&j);
		*out = j.v;
	}
	walk_free(j.walk);
	deps_free(j.deps);
	return rc;
}

void verdict_free(struct verdict *v)
{
	if (!v)
		return;
	free(v->order);
	free(v->cycle);
	free(v);
}

static const char *lid_name(const struct fabric *f, uint32_t lid)
{
	uint32_t end = fabric_lid_end(f, lid);

	if (end == FAB_NONE)
		return "nobody";
	return end < f->nend ? f->term_name[end] : f->sw_name[end - f->nend];
}

static const char *fault_text(enum verdict_fault fault)
{
	switch (fault) {
	case FAULT_LOOP:
		return "circles through";
	case FAULT_DROP:
		return "is dropped by SL2VL or SL at";
	default:
		return "ends at";
	}
}

void verdict_sentence(char *buf, size_t len, const struct verdict *v, const struct fabric *f)
{
	if (v->fault != FAULT_NONE)
		snprintf(buf, len,
			 "%" PRIu64 " of %" PRIu64 " ways are missing and %" PRIu64
			 " loop; the first, from switch %s to LID %u (%s), %s switch %s.",
			 v->unreachable, v->pairs, v->looping, f->sw_name[v->bad_sw], v->bad_lid,
			 lid_name(f, v->bad_lid), fault_text(v->fault), f->sw_name[v->bad_at]);
	else if (!v->deadlock_free)
		snprintf(buf, len,
			 "Connected and free of loops, but packets can deadlock: %u channels wait "
			 "for each other in a circle.",
			 v->ncycle);
	else if (!v->vls_fit)
		snprintf(buf, len,
			 "Connected, free of loops and of deadlocks, but VL %u is used on %s port "
			 "%u, which has only %u VL%s.",
			 v->misfit_vl, f->sw_name[v->misfit_sw], v->misfit_port, v->misfit_op_vls,
			 v->misfit_op_vls == 1 ? "" : "s");
	else
		snprintf(buf, len,
			 "Connected, free of loops and of deadlocks, with %u VL%s, %u SL%s and at "
			 "most %u hop%s.",
			 v->vls_used, v->vls_used == 1 ? "" : "s", v->sls_used,
			 v->sls_used == 1 ? "" : "s", v->hops_max, v->hops_max == 1 ? "" : "s");
}

void witness_line(char *buf, size_t len, const struct witness *w, const struct fabric *f)
{
	uint32_t c = w->chan;

	snprintf(buf, len, "%s/%u -> %s/%u VL %u  because %s -> LID %u (SL %u)",
		 f->sw_name[f->chan_src[c]], f->chan_port[c], f->sw_name[f->chan_dst[c]],
		 f->chan_rport[c], w->vl, f->term_name[w->src_term], w->dlid, w->sl);
}
