/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/metrics.h"

#include "engines/metrics/metrics_jobs.h"
#include "engines/verify/verify_deps.h"
#include "engines/verify/verify_walk.h"
#include "fabric/base/mem.h"
#include "fabric/base/pool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL (1u << 20) /* LIDs times switches below which threads cost more than they save */

/* What a switch adds to the loads: all routes through it go to that channel. */
struct branch {
	uint32_t chan, next;
	uint64_t routes;
	uint32_t since; /* LIDs that were counted when that became so */
};

/* What one worker counts: the figures over all pairs, one LID at a time. */
struct sample_summary {
	struct walk *walk;
	struct deps *deps;
	uint64_t *efi; /* per channel */
	uint64_t hops, pairs, unreachable;
	uint32_t hops_max;
	struct branch *tree; /* per switch: of the LIDs of one switch ... */
	uint32_t root;	     /* ... that one ... */
	uint32_t lid;	     /* ... the last of which is this; 0: none */
	uint32_t counted;    /* LIDs of that switch so far */
	uint64_t tree_hops;  /* of the routes to one of them */
	uint32_t tree_hops_max;
};

struct sweep {
	const struct fabric *f;
	const struct tables *t;
	const struct metrics_opts *opts;
	struct progress *progress;
	struct sample_summary *tally; /* per worker */
};

/* Adds what a switch has carried since it was looked at last. */
static inline void metrics_settle(struct sample_summary *s, struct branch *b)
{
	s->efi[b->chan] += b->routes * (s->counted - b->since);
	b->since = s->counted;
}

/* The LIDs of the switch at hand are through. */
static void metrics_close_tree(const struct fabric *f, struct sample_summary *s, uint32_t root)
{
	uint32_t u;

	for (u = 0; s->lid && u < f->nsw; u++) {
		if (u != root)
			metrics_settle(s, &s->tree[u]);
	}
	s->lid = 0;
	s->counted = 0;
}

/* Routes of all counted terminals, collected down the tree of a LID that all switches reach. */
static void metrics_open_tree(const struct fabric *f, struct sample_summary *s, uint32_t lid)
{
	const struct walk *w = s->walk;
	uint32_t i;

	for (i = 0; i < f->nsw; i++)
		s->tree[i] = (struct branch){ .chan = w->chan[i], .routes = f->sw_nterm[i] };
	s->tree_hops = s->tree_hops_max = 0;
	for (i = 0; i + 1 < w->norder; i++) {
		uint32_t u = w->order[i];
		struct branch *b = &s->tree[u];

		b->next = f->chan_dst[b->chan];
		s->tree[b->next].routes += b->routes;
		s->tree_hops += (uint64_t)f->sw_nterm[u] * w->hops[u];
		if (f->sw_nterm[u] && w->hops[u] > s->tree_hops_max)
			s->tree_hops_max = w->hops[u];
	}
	s->lid = lid;
}

/* Takes the routes of a switch off the way from its next one on, or adds them there. */
static void metrics_carry(struct sample_summary *s, uint32_t u, uint64_t routes)
{
	for (; u != s->walk->dsw; u = s->tree[u].next) {
		metrics_settle(s, &s->tree[u]);
		s->tree[u].routes += routes;
	}
}

/* From the LID before to this one, over the same distances: where few have moved, most of the tree
 * stays, and what it carries is added up later. */
static void metrics_move_tree(const struct fabric *f, struct sample_summary *s, uint32_t lid)
{
	const struct walk *w = s->walk;
	uint32_t i;

	for (i = 0; i < w->nmoved; i++) {
		struct branch *b = &s->tree[w->moved[i]];

		metrics_settle(s, b);
		metrics_carry(s, b->next, -b->routes);
		b->chan = w->chan[w->moved[i]];
		b->next = f->chan_dst[b->chan];
		metrics_carry(s, b->next, b->routes);
	}
	s->lid = lid;
}

/* A LID that not all switches reach: counted alone. */
static void metrics_sweep_broken(const struct fabric *f, struct sample_summary *s)
{
	const struct walk *w = s->walk;
	uint64_t arrived = 0;
	uint32_t i;

	for (i = 0; i < f->nsw; i++)
		s->tree[i].routes = f->sw_nterm[i];
	for (i = 0; i < w->norder; i++) {
		uint32_t u = w->order[i], c = w->chan[u];
		uint64_t n = s->tree[u].routes;

		if (u == w->dsw) {
			arrived = n - 1; /* all but the destination itself */
			break;
		}
		s->efi[c] += n;
		s->tree[f->chan_dst[c]].routes += n;
		s->hops += (uint64_t)f->sw_nterm[u] * w->hops[u];
		if (f->sw_nterm[u] && w->hops[u] > s->hops_max)
			s->hops_max = w->hops[u];
	}
	s->pairs += arrived;
	s->unreachable += f->nterm - 1 - arrived;
}

/* The LID walked last, which counts or not. */
static void metrics_sweep_lid(const struct fabric *f, struct sample_summary *s, uint32_t lid,
			      bool counts)
{
	const struct walk *w = s->walk;

	if (s->lid && s->lid == w->before) {
		metrics_move_tree(f, s, lid);
	} else {
		metrics_close_tree(f, s, s->root);
		s->root = w->dsw;
		if (w->norder == f->nsw)
			metrics_open_tree(f, s, lid);
		else if (counts)
			metrics_sweep_broken(f, s);
	}
	if (!counts || !s->lid)
		return;
	s->counted++;
	s->hops += s->tree_hops;
	s->pairs += f->nterm - 1;
	if (s->tree_hops_max > s->hops_max)
		s->hops_max = s->tree_hops_max;
}

static bool metrics_sweep_block(void *ctx, unsigned worker, uint32_t block)
{
	struct sweep *s = ctx;
	struct sample_summary *k = &s->tally[worker];
	const struct fabric *f = s->f;
	uint32_t lid, end = (block + 1) * LFT_BLOCK;

	if (worker == 0 &&
	    progress_step(s->progress, "metrics", (uint64_t)block * LFT_BLOCK, f->max_lid))
		return true;
	for (lid = block ? block * LFT_BLOCK : 1; lid < end && lid <= f->max_lid; lid++) {
		bool counts = metrics_counts(f, s->t, s->opts, lid);

		if (!counts && !deps_wants(k->deps, lid))
			continue;
		if (!walk_lid(k->walk, lid))
			continue;
		deps_add(k->deps, k->walk, lid);
		metrics_sweep_lid(f, k, lid, counts);
	}
	return false;
}

static void metrics_summarise(struct metrics *m)
{
	double sum = 0, square = 0, eff = 0;
	uint32_t c;

	for (c = 0; c < m->nchan; c++) {
		sum += (double)m->efi[c];
		eff += (double)m->eff_efi[c];
		m->dark += m->eff_efi[c] == 0;
		if (m->efi[c] > m->efi_max)
			m->efi_max = m->efi[c];
		if (m->eff_efi[c] > m->eff_efi_max)
			m->eff_efi_max = m->eff_efi[c];
	}
	m->bucket_width = m->efi_max / METRICS_BUCKETS + 1;
	if (!m->nchan)
		return;
	m->efi_mean = sum / m->nchan;
	m->eff_efi_mean = eff / m->nchan;
	m->dark_fiber_pct = 100.0 * m->dark / m->nchan;
	for (c = 0; c < m->nchan; c++) {
		double d = (double)m->efi[c] - m->efi_mean;

		square += d * d;
		m->efi_hist[m->efi[c] / m->bucket_width]++;
		m->eff_hist[m->eff_efi[c] / m->bucket_width]++;
	}
	m->efi_stddev = sqrt(square / m->nchan);
}

static void metrics_summarise_jobs(struct metrics *m)
{
	uint32_t j, n = 0;

	for (j = 0; j < m->njob; j++) {
		if (!m->job[j].routes)
			continue;
		m->job_efi_max_mean += (double)m->job[j].efi_max;
		m->links_per_job_mean += m->job[j].links;
		n++;
	}
	if (n) {
		m->job_efi_max_mean /= n;
		m->links_per_job_mean /= n;
	}
}

#define TELL_SWITCHES 256 /* between two reports of progress */

static uint64_t metrics_count_blocks(const struct tables *t, struct progress *progress)
{
	uint8_t none[LFT_BLOCK];
	uint32_t sw, b, nblock = tables_blocks(t);
	uint64_t n = 0;

	memset(none, FAB_NO_PORT, sizeof(none));
	for (sw = 0; sw < t->nsw; sw++) {
		const uint8_t *row = tables_row(t, sw);

		if (sw % TELL_SWITCHES == 0 && progress_step(progress, "metrics", 1, 1))
			break;
		for (b = 0; b < nblock; b++)
			n += memcmp(row + (size_t)b * LFT_BLOCK, none, LFT_BLOCK) != 0;
	}
	return n;
}

static void metrics_add_up(struct metrics *m, const struct sample_summary *tally, unsigned workers)
{
	struct deps *deps = tally[0].deps;
	uint64_t hops = 0, pairs = 0;
	uint32_t c;
	unsigned w;

	for (w = 0; w < workers; w++) {
		const struct sample_summary *k = &tally[w];

		for (c = 0; w && c < m->nchan; c++)
			m->efi[c] += k->efi[c];
		if (w)
			deps_merge(deps, k->deps);
		hops += k->hops;
		pairs += k->pairs;
		m->unreachable += k->unreachable;
		m->hops_max = k->hops_max > m->hops_max ? k->hops_max : m->hops_max;
	}
	m->hops_mean = pairs ? (double)hops / (double)pairs : 0;
	m->vls_used = (uint32_t)__builtin_popcount(deps_vls(deps));
	m->sls_used = (uint32_t)__builtin_popcount(deps_sls(deps));
}

static bool metrics_tell_end(const struct sweep *s)
{
	return progress_step(s->progress, "metrics", s->f->max_lid, s->f->max_lid);
}

/* True when cancelled. */
static bool metrics_sweep_all(struct metrics *m, struct sweep *s, struct pool *pool)
{
	struct deps *deps = deps_new(s->f, s->t, false, s->progress);
	unsigned w, workers = pool_threads(pool);
	bool stopped;

	s->tally = xcalloc(workers, sizeof(*s->tally));
	for (w = 0; w < workers; w++) {
		s->tally[w].walk = walk_new(s->f, s->t);
		s->tally[w].deps = w ? deps_share(deps) : deps;
		s->tally[w].efi = w ? xcalloc(m->nchan, sizeof(*m->efi)) : m->efi;
		s->tally[w].tree = xcalloc(s->f->nsw, sizeof(*s->tally[w].tree));
	}
	stopped = pool_for(pool, s->f->max_lid / LFT_BLOCK + 1u, metrics_sweep_block, s) ||
		  metrics_tell_end(s);
	for (w = 0; w < workers; w++)
		metrics_close_tree(s->f, &s->tally[w], s->tally[w].root);
	if (!stopped)
		metrics_add_up(m, s->tally, workers);
	stopped = stopped || metrics_tell_end(s);
	for (w = workers; w-- > 0;) {
		walk_free(s->tally[w].walk);
		deps_free(s->tally[w].deps);
		free(s->tally[w].tree);
		if (w)
			free(s->tally[w].efi);
	}
	free(s->tally);
	return stopped;
}

static int metrics_do_compute(struct metrics *m, const struct fabric *f, const struct tables *t,
			      const struct jobset *jobs, const struct metrics_opts *opts,
			      struct progress *progress)
{
	struct sweep s = { .f = f, .t = t, .opts = opts, .progress = progress };
	bool small = (uint64_t)f->max_lid * f->nsw < SMALL;
	struct pool *pool = pool_new(small ? 1 : opts->threads);
	int rc = metrics_sweep_all(m, &s, pool) || metrics_tell_end(&s) ? -ECANCELED : 0;

	if (!rc && jobs)
		rc = metrics_jobs(m, f, t, jobs, opts, pool, progress);
	pool_free(pool);
	return rc;
}

int metrics_compute(struct metrics **out, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, const struct metrics_opts *opts,
		    struct progress *progress, struct err *err)
{
	static const struct metrics_opts none;
	struct metrics *m;
	int rc;

	*out = NULL;
	opts = opts ? opts : &none;
	if (!digest_equal(&t->fingerprint, &f->fingerprint) || t->nsw != f->nsw ||
	    t->nend != f->nend || t->max_lid != f->max_lid)
		return err_set(err, -EINVAL, "the tables (%s) were made for another fabric than %s",
			       t->engine, f->name);
	if (jobs && jobs->nterm != f->nterm)
		return err_set(err, -EINVAL, "the jobs (%s) belong to another fabric than %s",
			       jobs->source, f->name);
	m = xcalloc(1, sizeof(*m));
	m->nchan = f->nchan;
	m->njob = jobs ? jobs->njob : 0;
	m->efi = xcalloc(m->nchan, sizeof(*m->efi));
	m->eff_efi = xcalloc(m->nchan, sizeof(*m->eff_efi));
	m->job = xcalloc(m->njob, sizeof(*m->job));
	rc = metrics_do_compute(m, f, t, jobs, opts, progress);
	if (!rc) {
		metrics_summarise(m);
		metrics_summarise_jobs(m);
		m->lft_blocks = metrics_count_blocks(t, progress);
		if (!opts->all_lids || !f->lmc)
			m->eff_efi_bound = metrics_eff_efi_bound_with_progress(f, jobs, progress,
									       "metrics", 1);
		if (progress_step(progress, "metrics", 1, 1))
			rc = -ECANCELED;
	}
	if (rc) {
		metrics_free(m);
		return err_set(err, rc, "measuring the tables was cancelled");
	}
	*out = m;
	return 0;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	free(m->efi);
	free(m->eff_efi);
	free(m->job);
	free(m);
}
