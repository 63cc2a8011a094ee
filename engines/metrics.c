/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics.h"

#include "engines/metrics_jobs.h"
#include "engines/verify_deps.h"
#include "engines/verify_walk.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The figures over all pairs, one LID at a time. */
struct sweep {
	const struct fabric *f;
	struct metrics *m;
	struct walk *walk;
	struct deps *deps;
	uint64_t *routes; /* per switch: that come through it; 0 between LIDs */
	uint64_t hops, pairs;
};

/* Routes of all counted terminals to the LID of one of them, collected down its tree. */
static void sweep_tree(struct sweep *s)
{
	const struct walk *w = s->walk;
	const uint32_t *nterm = s->f->sw_nterm, *dst = s->f->chan_dst;
	uint64_t *efi = s->m->efi, *routes = s->routes, arrived = 0;
	uint32_t i;

	for (i = 0; i < w->norder; i++) {
		uint32_t u = w->order[i], c = w->chan[u];
		uint64_t n = routes[u] + nterm[u];

		routes[u] = 0;
		if (u == w->dsw) {
			arrived = n - 1; /* all but the destination itself */
			break;
		}
		efi[c] += n;
		routes[dst[c]] += n;
		s->hops += (uint64_t)nterm[u] * w->hops[u];
		if (nterm[u] && w->hops[u] > s->m->hops_max)
			s->m->hops_max = w->hops[u];
	}
	s->pairs += arrived;
	s->m->unreachable += s->f->nterm - 1 - arrived;
}

static int sweep_lids(struct sweep *s, struct progress *progress)
{
	const struct fabric *f = s->f;
	uint32_t lid, end;

	for (lid = 1; lid <= f->max_lid; lid++) {
		if (lid % LFT_BLOCK == 1 && progress_step(progress, "metrics", lid, f->max_lid))
			return -ECANCELED;
		if (!walk_lid(s->walk, lid))
			continue;
		deps_add(s->deps, s->walk, lid);
		end = fabric_lid_end(f, lid);
		if (end < f->nterm && f->term_lid[end] == lid)
			sweep_tree(s);
	}
	return 0;
}

static void summarise(struct metrics *m)
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

static void summarise_jobs(struct metrics *m)
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

static uint64_t count_blocks(const struct tables *t)
{
	uint8_t none[LFT_BLOCK];
	uint32_t sw, b, nblock = tables_blocks(t);
	uint64_t n = 0;

	memset(none, FAB_NO_PORT, sizeof(none));
	for (sw = 0; sw < t->nsw; sw++) {
		const uint8_t *row = tables_row(t, sw);

		for (b = 0; b < nblock; b++)
			n += memcmp(row + (size_t)b * LFT_BLOCK, none, LFT_BLOCK) != 0;
	}
	return n;
}

static int compute(struct metrics *m, const struct fabric *f, const struct tables *t,
		   const struct jobset *jobs, struct progress *progress)
{
	struct sweep s = { .f = f, .m = m };
	int rc;

	s.walk = walk_new(f, t);
	s.deps = deps_new(f, t, false);
	s.routes = xcalloc(f->nsw, sizeof(*s.routes));
	rc = sweep_lids(&s, progress);
	if (!rc && jobs)
		rc = metrics_jobs(m, s.walk, jobs, progress);
	m->hops_mean = s.pairs ? (double)s.hops / (double)s.pairs : 0;
	m->vls_used = (uint32_t)__builtin_popcount(deps_vls(s.deps));
	m->sls_used = (uint32_t)__builtin_popcount(deps_sls(s.deps));
	free(s.routes);
	deps_free(s.deps);
	walk_free(s.walk);
	return rc;
}

int metrics_compute(struct metrics **out, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, struct progress *progress, struct err *err)
{
	struct metrics *m;
	int rc;

	*out = NULL;
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
	rc = compute(m, f, t, jobs, progress);
	if (rc) {
		metrics_free(m);
		return err_set(err, rc, "measuring the tables was cancelled");
	}
	summarise(m);
	summarise_jobs(m);
	m->lft_blocks = count_blocks(t);
	m->eff_efi_bound = metrics_eff_efi_bound(f, jobs);
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
