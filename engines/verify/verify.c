/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify.h"

#include "engines/verify/cdg_builder.h"
#include "engines/verify/verify_columns.h"
#include "engines/verify/verify_graph.h"
#include "engines/verify/verify_walk.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_BYTES   (128u << 20) /* of all workers but the first, for turns */
#define REPORT_LIDS 16
#define DATA_VLS    15
#define SMALL	    (1u << 20) /* LIDs times switches below which threads cost more than they save */

/* What one worker finds out. */
struct worker_result {
	struct walk *walk;
	struct cdg_builder *deps;
	uint64_t pairs, unreachable, looping, hops, routes;
	uint32_t hops_max;
	/* of the counted routes to the LID whose hops were looked at last */
	uint32_t hops_lid;
	uint64_t lid_hops, lid_routes;
	/* the first of its LIDs with a fault */
	enum verdict_fault fault;
	uint32_t bad_sw, bad_lid, bad_at;
};

struct judge {
	const struct fabric *f;
	const struct tables *t;
	const struct verify_opts *opts;
	struct progress *progress;
	uint64_t nsources;
	struct worker_result *result; /* per worker */
	struct equal_columns twins;
	bool *clean; /* by LID: all traffic to it arrives */
};

static bool verify_is_source(const struct fabric *f, uint32_t sw)
{
	return f->term_off[sw] != f->term_off[sw + 1];
}

static void verify_note(const struct judge *j, struct worker_result *k, enum verdict_fault fault,
			uint32_t sw, uint32_t lid, uint32_t at)
{
	if (fault == FAULT_LOOP)
		k->looping++;
	else
		k->unreachable++;
	if (k->fault != FAULT_NONE && k->bad_lid <= lid)
		return;
	k->fault = fault;
	k->bad_sw = sw;
	k->bad_lid = lid;
	k->bad_at = fault == FAULT_DROP ? at : walk_last(j->f, j->t, sw, lid);
}

/* Whether packets of that end reach the LID: the LFT path must exist, SL2VL must let it through.
 * Out: the switch where the path ends.  O(hops). */
static bool verify_path_arrives(uint32_t *at, const struct fabric *f, const struct tables *t,
				uint32_t end, uint32_t lid)
{
	uint32_t sw = f->term_sw[end], dsw, left;
	uint8_t dport = 0, in = f->term_port[end], sl = tables_path_sl(t, end, sw, lid);

	dsw = fabric_lid_switch(f, lid, &dport);
	*at = sw;
	if (fabric_lid_end(f, lid) == end)
		return tables_row(t, sw)[lid] == dport; /* does not leave the adapter */
	for (left = f->nsw; left > 0 && sl < FAB_SLS; left--) {
		uint8_t out = tables_row(t, sw)[lid];
		uint32_t c = fabric_chan(f, sw, out);
		bool here = sw == dsw && out == dport;

		*at = sw;
		if (!here && c == FAB_NONE)
			return false;
		if (here && !out)
			return true; /* port 0 has no VLs */
		if (tables_vl(t, f, sw, in, out, sl) >= DATA_VLS)
			return false;
		if (here)
			return true;
		in = f->chan_rport[c];
		sw = f->chan_dst[c];
	}
	return false;
}

/* The pairs of one LID, one by one: only where something is known to be wrong. */
static void verify_judge_sources(const struct judge *j, struct worker_result *k, uint32_t lid,
				 bool lost)
{
	const struct fabric *f = j->f;
	uint32_t sw, i, at = 0;

	for (sw = 0; sw < f->nsw; sw++) {
		uint32_t hops = k->walk->hops[sw];

		if (!verify_is_source(f, sw))
			continue;
		if (hops == WALK_DEAD || hops == WALK_LOOP) {
			verify_note(j, k, hops == WALK_LOOP ? FAULT_LOOP : FAULT_NO_PATH, sw, lid,
				    0);
			continue;
		}
		for (i = f->term_off[sw]; lost && i < f->term_off[sw + 1]; i++) {
			if (verify_path_arrives(&at, f, j->t, f->term_list[i], lid))
				continue;
			verify_note(j, k, FAULT_DROP, sw, lid, at);
			break;
		}
	}
}

/* Hops of the routes of counted terminals to the LID walked last. */
static void verify_add_hops(const struct judge *j, struct worker_result *k)
{
	const struct fabric *f = j->f;
	const struct walk *w = k->walk;
	uint32_t sw, n;

	k->lid_hops = k->lid_routes = 0;
	for (sw = 0; sw < f->nsw; sw++) {
		n = f->sw_nterm[sw] - (sw == w->dsw);
		if (!n || w->hops[sw] >= f->nsw)
			continue;
		k->lid_routes += n;
		k->lid_hops += (uint64_t)n * w->hops[sw];
		if (w->hops[sw] > k->hops_max)
			k->hops_max = w->hops[sw];
	}
}

/* Hops of the counted routes: to the base LID of a counted terminal. */
static void verify_count_hops(const struct judge *j, struct worker_result *k, uint32_t lid)
{
	const struct fabric *f = j->f;
	uint32_t end = fabric_lid_end(f, lid);

	if (end >= f->nterm || f->term_lid[end] != lid)
		return;
	/* on the same switch and at the same distances they are those of the LID before */
	if (!k->walk->before || k->walk->before != k->hops_lid)
		verify_add_hops(j, k);
	k->hops_lid = lid;
	k->routes += k->lid_routes;
	k->hops += k->lid_hops;
}

static void verify_judge_lid(struct judge *j, struct worker_result *k, uint32_t lid)
{
	bool lost;

	if (!walk_lid(k->walk, lid))
		return;
	lost = cdg_builder_add(k->deps, k->walk, lid);
	k->pairs += j->nsources;
	j->clean[lid] = !lost && k->walk->norder == j->f->nsw;
	if (!j->clean[lid])
		verify_judge_sources(j, k, lid, lost);
	verify_count_hops(j, k, lid);
}

static bool verify_judge_block(void *ctx, unsigned worker, uint32_t block)
{
	struct judge *j = ctx;
	const struct fabric *f = j->f;
	uint32_t lid, end = (block + 1) * LFT_BLOCK;

	for (lid = block ? block * LFT_BLOCK : 1; lid < end && lid <= f->max_lid; lid++) {
		if (worker == 0 && (lid % REPORT_LIDS == 0 || lid == 1) &&
		    progress_step(j->progress, "verify", lid, f->max_lid))
			return true;
		if (j->opts->terminals_only && fabric_lid_end(f, lid) >= f->nend)
			continue;
		if (!equal_columns_find(&j->twins, f, lid))
			verify_judge_lid(j, &j->result[worker], lid);
	}
	return false;
}

/* Switches' LIDs to which all goes as to a LID that was judged: where all arrives there, it does
 * here, and needs no turn that is not known. */
static bool verify_judge_equal_columns(struct judge *j)
{
	const struct fabric *f = j->f;
	struct worker_result *k = &j->result[0];

	for (uint32_t sw = 0; sw < f->nsw && !j->opts->terminals_only; sw++) {
		uint32_t lid = f->sw_lid[sw], twin = equal_columns_find(&j->twins, f, lid);

		if (!twin)
			continue;
		if (j->clean[twin])
			k->pairs += j->nsources;
		else
			verify_judge_lid(j, k, lid);
		if (!j->clean[twin] && progress_step(j->progress, "verify", f->max_lid, f->max_lid))
			return true;
	}
	return false;
}

/* ---- deadlocks ---- */

struct edge {
	uint32_t chan, next; /* next waits behind chan */
	uint8_t vl, next_vl;
};

/* Follows one packet: does it hold (chan, vl) while it asks for (next, next_vl)? */
static bool verify_witness_path_makes(const struct fabric *f, const struct tables *t, uint32_t end,
				      uint32_t lid, const struct edge *e)
{
	uint32_t sw = f->term_sw[end], last = FAB_NONE, left;
	uint8_t in = f->term_port[end], sl = tables_path_sl(t, end, sw, lid), last_vl = VL_DROP;

	for (left = f->nsw; left > 0 && sl < FAB_SLS; left--) {
		uint8_t out = tables_row(t, sw)[lid], vl;
		uint32_t c = fabric_chan(f, sw, out);

		if (c == FAB_NONE)
			return false;
		vl = tables_vl(t, f, sw, in, out, sl);
		if (vl >= VL_DROP)
			return false;
		if (last == e->chan && last_vl == e->vl)
			return c == e->next && vl == e->next_vl;
		last = c;
		last_vl = vl;
		in = f->chan_rport[c];
		sw = f->chan_dst[c];
	}
	return false;
}

/* Among the ends whose path to the LID goes through chan, one that makes the dependency. */
static uint32_t verify_witness_find_source(const struct walk *w, uint32_t lid, const struct edge *e,
					   bool *through)
{
	const struct fabric *f = w->f;
	uint32_t i, k;

	for (i = w->norder; i-- > 0;) {
		uint32_t sw = w->order[i], c = w->chan[sw];

		through[sw] = sw != w->dsw && (c == e->chan || through[f->chan_dst[c]]);
		for (k = f->term_off[sw]; through[sw] && k < f->term_off[sw + 1]; k++) {
			if (verify_witness_path_makes(f, w->t, f->term_list[k], lid, e))
				return f->term_list[k];
		}
	}
	return FAB_NONE;
}

static bool verify_witness_fill(struct witness *out, struct walk *w, const struct edge *e,
				bool *through, bool terminals_only)
{
	const struct fabric *f = w->f;
	const uint8_t *row = tables_row(w->t, f->chan_src[e->chan]);
	const uint8_t *next_row = tables_row(w->t, f->chan_dst[e->chan]);
	uint32_t lid, end;

	for (lid = 1; lid <= f->max_lid; lid++) {
		if (row[lid] != f->chan_port[e->chan] || next_row[lid] != f->chan_port[e->next])
			continue;
		if (terminals_only && fabric_lid_end(f, lid) >= f->nend)
			continue;
		if (!walk_lid(w, lid))
			continue;
		end = verify_witness_find_source(w, lid, e, through);
		if (end == FAB_NONE)
			continue;
		out->chan = e->chan;
		out->vl = e->vl;
		out->src_term = end;
		out->dlid = (uint16_t)lid;
		out->sl = tables_path_sl(w->t, end, f->term_sw[end], lid);
		return true;
	}
	return false;
}

/* For each dependency of the cycle (n vertices chan * nvl + vl) a path that makes it.  Caller
 * frees. */
static struct witness *verify_find_witnesses(const struct fabric *f, const struct tables *t,
					     const uint32_t *cycle, uint32_t n, uint32_t nvl,
					     bool terminals_only)
{
	struct witness *list = xcalloc(n, sizeof(*list));
	bool *through = xcalloc(f->nsw, sizeof(*through));
	struct walk *w = walk_new(f, t);
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t v = cycle[i], u = cycle[(i + 1) % n];
		struct edge e = { v / nvl, u / nvl, (uint8_t)(v % nvl), (uint8_t)(u % nvl) };

		if (!verify_witness_fill(&list[i], w, &e, through, terminals_only))
			abort(); /* every edge of the graph was put there by such a path */
	}
	walk_free(w);
	free(through);
	return list;
}

/* Says why packets can deadlock.  True when cancelled. */
static bool verify_find_cycle(const struct judge *j, struct verdict *v, const struct depgraph *g,
			      const uint32_t *order)
{
	uint32_t *cycle = NULL;
	int rc = depgraph_cycle(&cycle, &v->ncycle, g, order, j->progress);

	if (!rc)
		v->cycle = verify_find_witnesses(j->f, j->t, cycle, v->ncycle, g->nvl,
						 j->opts->terminals_only);
	free(cycle);
	return rc != 0;
}

static bool verify_judge_deadlock(const struct judge *j, struct verdict *v)
{
	struct depgraph *g = cdg_builder_graph(j->result[0].deps, j->progress);
	uint32_t *order = xcalloc(g->n, sizeof(*order));
	bool stopped = progress_step(j->progress, "verify", j->f->max_lid, j->f->max_lid);

	v->nvl = g->nvl;
	v->vertices = g->nused;
	v->edges = g->off[g->n];
	v->deadlock_free = !stopped && depgraph_order(g, order, j->progress, &stopped);
	if (!stopped && !v->deadlock_free)
		stopped = verify_find_cycle(j, v, g, order);
	if (v->deadlock_free && j->opts->certificate)
		v->order = order;
	else
		free(order);
	stopped = stopped || progress_step(j->progress, "verify", j->f->max_lid, j->f->max_lid);
	depgraph_free(g);
	return stopped;
}

/* Sums up what the workers found; whether a fault is the first goes by LID. */
static void verify_add_up(const struct judge *j, struct verdict *v, unsigned workers)
{
	uint64_t hops = 0, routes = 0;
	unsigned w;

	for (w = 0; w < workers; w++) {
		const struct worker_result *k = &j->result[w];

		if (w)
			cdg_builder_merge(j->result[0].deps, k->deps);
		v->pairs += k->pairs;
		v->unreachable += k->unreachable;
		v->looping += k->looping;
		hops += k->hops;
		routes += k->routes;
		v->hops_max = k->hops_max > v->hops_max ? k->hops_max : v->hops_max;
		if (k->fault == FAULT_NONE || (v->fault != FAULT_NONE && v->bad_lid < k->bad_lid))
			continue;
		v->fault = k->fault;
		v->bad_sw = k->bad_sw;
		v->bad_lid = (uint16_t)k->bad_lid;
		v->bad_at = k->bad_at;
	}
	v->hops_mean = routes ? (double)hops / (double)routes : 0;
}

static bool verify_conclude(const struct judge *j, struct verdict *v)
{
	const struct cdg_builder *deps = j->result[0].deps;
	struct vl_misfit misfit = { 0 };

	v->connected = !v->unreachable && !v->looping;
	v->loop_free = !v->looping;
	v->vls_fit = cdg_builder_vls_fit(deps, &misfit);
	v->misfit_sw = misfit.sw;
	v->misfit_port = misfit.port;
	v->misfit_vl = misfit.vl;
	v->misfit_op_vls = misfit.op_vls;
	v->vl_mask = (uint16_t)cdg_builder_vls(deps);
	v->vls_used = (uint32_t)__builtin_popcount(v->vl_mask);
	v->sls_used = (uint32_t)__builtin_popcount(cdg_builder_sls(deps));
	return verify_judge_deadlock(j, v);
}

/* Threads that pay: not for small fabrics, and not more than there is memory for. */
static struct pool *verify_make_pool(const struct judge *j, const struct cdg_builder *deps)
{
	size_t own = cdg_builder_own_bytes(deps);
	struct pool *pool;
	unsigned most;

	if ((uint64_t)j->f->max_lid * j->f->nsw < SMALL)
		return pool_new(1);
	pool = pool_new(j->opts->threads);
	most = own ? 1 + (unsigned)(OWN_BYTES / own) : UINT32_MAX;
	if (pool_threads(pool) <= most)
		return pool;
	pool_free(pool);
	return pool_new(most);
}

/* True when cancelled. */
static bool verify_judge_all(struct judge *j, struct verdict *v)
{
	struct cdg_builder *deps = cdg_builder_new(j->f, j->t, true, j->progress);
	struct pool *pool = verify_make_pool(j, deps);
	unsigned w, workers = pool_threads(pool);
	bool stopped;

	j->result = xcalloc(workers, sizeof(*j->result));
	for (w = 0; w < workers; w++) {
		j->result[w].walk = walk_new(j->f, j->t);
		j->result[w].deps = w ? cdg_builder_share(deps) : deps;
	}
	j->clean = xcalloc(j->f->max_lid + 1u, sizeof(*j->clean));
	stopped = equal_columns_init(&j->twins, j->f, j->t, j->progress) ||
		  pool_for(pool, j->f->max_lid / LFT_BLOCK + 1u, verify_judge_block, j) ||
		  verify_judge_equal_columns(j);
	pool_free(pool);
	free(j->clean);
	equal_columns_done(&j->twins);
	if (!stopped) {
		verify_add_up(j, v, workers);
		stopped = verify_conclude(j, v);
	}
	for (w = workers; w-- > 0;) {
		walk_free(j->result[w].walk);
		cdg_builder_free(j->result[w].deps);
		stopped = stopped ||
			  progress_step(j->progress, "verify", j->f->max_lid, j->f->max_lid);
	}
	free(j->result);
	return stopped;
}

static bool verify_judge_exclusion(const struct judge *j, struct verdict *v)
{
	const struct route_limits *l = j->opts->limits;

	if (!route_limits_excludes(l))
		return false;
	snprintf(v->excluded, sizeof(v->excluded), "%s", l->exclude_text);
	if (strlen(l->exclude_text) >= sizeof(v->excluded))
		memcpy(v->excluded + sizeof(v->excluded) - 4, "...", 4);
	return verify_exclusion(&v->passes, j->f, j->t, l, j->progress);
}

/* True when cancelled. */
static bool verify_judge_limits(const struct judge *j, struct verdict *v)
{
	if (j->opts->limits && j->opts->installed)
		verify_pinned(&v->pinned, j->f, j->opts->installed, j->t, j->opts->limits);
	return verify_judge_exclusion(j, v);
}

/* Were the limits, and what is installed, said of this fabric? */
static int verify_check_limits(const struct judge *j, struct err *err)
{
	const struct route_limits *l = j->opts->limits;
	const struct tables *from = j->opts->installed;

	if (route_limits_excludes(l) && (l->nsw != j->f->nsw || l->nchan != j->f->nchan))
		return err_set(err, -EINVAL, "the exclude list is for a fabric other than %s",
			       j->f->name);
	if (!l || !l->pin)
		return 0;
	if (l->nend != j->f->nend)
		return err_set(err, -EINVAL, "the pinned hosts are of a fabric other than %s",
			       j->f->name);
	if (from && !digest_equal(&from->fingerprint, &j->f->fingerprint))
		return err_set(err, -EINVAL, "the installed tables are of a fabric other than %s",
			       j->f->name);
	return 0;
}

int verify_tables(struct verdict **out, const struct fabric *f, const struct tables *t,
		  const struct verify_opts *opts, struct progress *progress, struct err *err)
{
	static const struct verify_opts none;
	struct judge j = { .f = f, .t = t, .opts = opts ? opts : &none, .progress = progress };
	struct verdict *v;
	uint32_t sw;
	int rc;

	*out = NULL;
	rc = tables_check_fabric(t, f, err);
	if (rc)
		return rc;
	if (!tables_know_vls(t))
		return err_set(err, -EAGAIN,
			       "the SL2VL tables (%s) are unknown: no verdict without them",
			       t->engine);
	for (sw = 0; sw < f->nsw; sw++)
		j.nsources += verify_is_source(f, sw);
	rc = verify_check_limits(&j, err);
	if (rc)
		return rc;
	v = xcalloc(1, sizeof(*v));
	v->terminals_only = opts && opts->terminals_only;
	if (verify_judge_all(&j, v) || verify_judge_limits(&j, v)) {
		verdict_free(v);
		return err_set(err, -ECANCELED, "checking the tables was cancelled");
	}
	*out = v;
	return 0;
}

void verdict_free(struct verdict *v)
{
	if (!v)
		return;
	free(v->order);
	free(v->cycle);
	free(v);
}

static const char *verify_lid_name(const struct fabric *f, uint32_t lid)
{
	uint32_t end = fabric_lid_end(f, lid);

	if (end == FAB_NONE)
		return "nobody";
	return end < f->nend ? f->term_name[end] : f->sw_name[end - f->nend];
}

static const char *verify_fault_text(enum verdict_fault fault)
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

const char *verdict_exclusion_text(char *buf, size_t len, const struct verdict *v,
				   const struct fabric *f)
{
	const struct excluded_paths *p = &v->passes;
	char at[140];

	buf[0] = '\0';
	if (!v->excluded[0])
		return buf;
	if (!p->n) {
		snprintf(buf, len, "nothing passes %s", v->excluded);
		return buf;
	}
	if (p->chan != FAB_NONE)
		snprintf(at, sizeof(at), "%s/%u", f->sw_name[f->chan_src[p->chan]],
			 f->chan_port[p->chan]);
	else
		snprintf(at, sizeof(at), "%s", f->sw_name[p->sw]);
	snprintf(buf, len,
		 "%" PRIu64 " path%s what is excluded; the first, from switch %s to LID %u (%s), "
		 "passes %s",
		 p->n, p->n == 1 ? " passes" : "s pass", f->sw_name[p->from], p->lid,
		 verify_lid_name(f, p->lid), at);
	return buf;
}

void verdict_sentence(char *buf, size_t len, const struct verdict *v, const struct fabric *f)
{
	char more[400];

	if (v->fault != FAULT_NONE)
		snprintf(buf, len,
			 "%" PRIu64 " of %" PRIu64 " paths are missing and %" PRIu64
			 " loop; the first, from switch %s to LID %u (%s), %s switch %s.",
			 v->unreachable, v->pairs, v->looping, f->sw_name[v->bad_sw], v->bad_lid,
			 verify_lid_name(f, v->bad_lid), verify_fault_text(v->fault),
			 f->sw_name[v->bad_at]);
	else if (!v->deadlock_free)
		snprintf(buf, len,
			 "Connected and loop-free, but packets can deadlock: a cycle of %u "
			 "channels.",
			 v->ncycle);
	else if (!v->vls_fit)
		snprintf(buf, len,
			 "Connected, loop-free and deadlock-free, but VL %u is used on %s port "
			 "%u, which has only %u VL%s.",
			 v->misfit_vl, f->sw_name[v->misfit_sw], v->misfit_port, v->misfit_op_vls,
			 v->misfit_op_vls == 1 ? "" : "s");
	else if (v->pinned.changed)
		snprintf(buf, len, "Connected, loop-free and deadlock-free, but %s.",
			 pin_verdict_sentence(more, sizeof(more), &v->pinned, f));
	else if (v->passes.n)
		snprintf(buf, len, "Connected, loop-free and deadlock-free, but %s.",
			 verdict_exclusion_text(more, sizeof(more), v, f));
	else
		snprintf(buf, len,
			 "Connected, loop-free and deadlock-free, with %u VL%s, %u SL%s and at "
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
