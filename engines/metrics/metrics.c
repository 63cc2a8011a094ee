/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/metrics.h"

#include "fabric/model/topology/chan_weight.h"
#include "engines/metrics/length_bound.h"
#include "engines/verify/cdg_builder.h"
#include "engines/verify/verify_walk.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"
#include "fabric/base/memory/tile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Does a route to that LID count?  To base LIDs of counted terminals, or to all traffic LIDs. */
static bool metrics_counts(const struct fabric *f, const struct tables *t,
			   const struct metrics_opts *opts, uint32_t lid)
{
	uint32_t end = fabric_lid_end(f, lid);

	if (end >= f->nterm)
		return false;
	if (opts->all_lids)
		return !t->escape || !fabric_lid_escape(f, lid);
	return f->term_lid[end] == lid;
}

/* --- the routes inside jobs, counted per source switch --------------------------------------- */

#define LARGE	    (1u << 20) /* terminals times switches of a job that all workers share */
#define TURN_SHARE  16 /* entries of a block against paths in it that are worth turning it */
#define TELL_BLOCKS 64 /* of memory that may have to be cleared, between two looks */
#define CHUNK	    64 /* destinations of such a job in one turn */
#define BATCH	    64 /* sources followed side by side, so that cache misses overlap */
#define SHORT_PATH  16 /* channels; longer paths are followed one by one */

/* LFT entries LID by LID, in blocks of LFT_BLOCK that many routes are looked up in; NULL: not
 * worth while. */
struct turned {
	uint8_t **block; /* nsw entries per LID */
	uint32_t nblock;
};

/* What one worker counts with. */
struct count {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct tables *t;
	const struct walk *walk;
	const struct turned *turned;
	const struct jobset *jobs;
	const struct metrics_opts *opts;
	struct job_metrics *result; /* of the job in hand: routes */
	uint64_t *eff;		    /* per channel, over all jobs */
	uint64_t *load;		    /* per channel, of the job in hand */
	uint32_t *used;		    /* channels with load */
	uint32_t nused;
	uint32_t *sources; /* switches with terminals of the job ... */
	uint32_t nsources;
	uint32_t *weight; /* ... and how many; per switch */
	uint32_t *fresh;  /* of them, those whose pair no earlier job has counted */
	uint32_t *mark;	  /* per terminal: serial of the last destination it was met with */
	uint32_t serial;
	uint32_t *path;			    /* nsw */
	uint32_t paths[BATCH * SHORT_PATH]; /* per source of a batch */
	uint32_t from[BATCH], where[BATCH]; /* of a batch: sources and how far they are */
	uint32_t hops[BATCH];		    /* FAB_NONE: there is no path */
	uint32_t active[BATCH], nactive;    /* those still under way */
};

struct team {
	struct metrics *m;
	const struct jobset *jobs;
	struct progress *progress;
	struct count *count; /* per worker */
	struct turned turned;
	uint32_t *list;		  /* jobs that one worker does alone */
	uint32_t large;		  /* the job that all are at */
	struct job_metrics *part; /* of it, per worker */
};

/* The channel from a switch towards the LID, or FAB_NONE. */
static inline uint32_t metrics_next_chan(const struct count *k, uint32_t sw, uint32_t lid)
{
	const uint8_t *block = k->turned->block[lid / LFT_BLOCK];
	uint8_t port = block ? block[(size_t)(lid % LFT_BLOCK) * k->f->nsw + sw]
			     : tables_row(k->t, sw)[lid];

	return walk_chan(k->walk, sw, port);
}

/* The channels from sw to the LID; FAB_NONE when there is no path. */
static uint32_t metrics_follow(struct count *k, uint32_t sw, uint32_t lid, uint32_t dsw)
{
	uint32_t n = 0;

	while (sw != dsw) {
		uint32_t c = metrics_next_chan(k, sw, lid);

		if (c == FAB_NONE || n == k->f->nsw - 1)
			return FAB_NONE;
		k->path[n++] = c;
		sw = k->f->chan_dst[c];
	}
	return n;
}

/* Terminals of job j per switch whose pair with dest no earlier job has: into fresh.  Earlier jobs are
 * looked at until none is left, so that the same hosts in thousands of jobs cost one look each. */
static void metrics_find_fresh(struct count *k, uint32_t j, uint32_t dest)
{
	const struct jobset *js = k->jobs;
	const struct job *job = &js->jobs[j];
	uint32_t i, o, left = job->nterm;

	k->serial++;
	for (i = 0; i < k->nsources; i++)
		k->fresh[k->sources[i]] = 0;
	for (i = 0; i < job->nterm; i++) {
		k->mark[job->terms[i]] = k->serial;
		k->fresh[k->f->term_sw[job->terms[i]]]++;
	}
	for (o = js->term_off[dest]; left > 0 && js->term_job[o] < j; o++) {
		const struct job *earlier = &js->jobs[js->term_job[o]];

		for (i = 0; i < earlier->nterm; i++) {
			uint32_t term = earlier->terms[i];

			if (k->mark[term] != k->serial)
				continue;
			k->mark[term] = 0;
			k->fresh[k->f->term_sw[term]]--;
			left--;
		}
	}
}

/* Of the routes on a path, known ones were counted for an earlier job.  The sum over jobs gets
 * all of them in the end, so here they are taken off. */
static void metrics_add_path(struct count *k, const uint32_t *path, uint32_t n, uint32_t routes,
			     uint32_t known)
{
	uint32_t h, c;

	for (h = 0; h < n; h++) {
		c = path[h];
		if (!k->load[c])
			k->used[k->nused++] = c;
		k->load[c] += routes;
	}
	for (h = 0; known && h < n; h++)
		k->eff[path[h]] -= known;
	k->result->routes += routes;
}

/* All of a batch one switch further. */
static void metrics_advance(struct count *k, uint32_t hop, uint32_t lid, uint32_t dsw)
{
	uint32_t i, n = 0;

	for (i = 0; i < k->nactive; i++) {
		uint32_t a = k->active[i], sw = k->where[a];
		uint32_t c = metrics_next_chan(k, sw, lid);

		if (c == FAB_NONE) {
			k->hops[a] = FAB_NONE;
			continue;
		}
		k->paths[a * SHORT_PATH + hop] = c;
		k->hops[a] = hop + 1;
		k->where[a] = k->f->chan_dst[c];
		k->active[n] = a;
		n += k->where[a] != dsw;
	}
	k->nactive = n;
}

static void metrics_count_batch(struct count *k, uint32_t n, uint32_t lid, uint32_t dsw,
				const uint32_t *fresh)
{
	uint32_t i, hop, sw, len;

	for (i = 0; i < n; i++) {
		k->where[i] = k->from[i];
		k->active[i] = i;
	}
	k->nactive = n;
	for (hop = 0; hop < SHORT_PATH && k->nactive; hop++)
		metrics_advance(k, hop, lid, dsw);
	for (i = 0; i < k->nactive; i++) {
		uint32_t a = k->active[i];

		sw = k->from[a];
		k->hops[a] = FAB_NONE;
		len = metrics_follow(k, sw, lid, dsw);
		if (len != FAB_NONE)
			metrics_add_path(k, k->path, len, k->weight[sw], k->weight[sw] - fresh[sw]);
	}
	for (i = 0; i < n; i++) {
		sw = k->from[i];
		if (k->hops[i] != FAB_NONE)
			metrics_add_path(k, k->paths + (size_t)i * SHORT_PATH, k->hops[i],
					 k->weight[sw], k->weight[sw] - fresh[sw]);
	}
}

static void metrics_count_lid(struct count *k, uint32_t lid, uint32_t dest, const uint32_t *fresh)
{
	uint32_t i, n = 0, dsw = k->f->term_sw[dest];

	if (tables_row(k->t, dsw)[lid] != k->f->term_port[dest])
		return;
	for (i = 0; i < k->nsources; i++) {
		if (k->sources[i] != dsw)
			k->from[n++] = k->sources[i];
		if (n < BATCH)
			continue;
		metrics_count_batch(k, n, lid, dsw, fresh);
		n = 0;
	}
	metrics_count_batch(k, n, lid, dsw, fresh);
}

static void metrics_count_dest(struct count *k, uint32_t j, uint32_t dest)
{
	const struct fabric *f = k->f;
	const uint32_t *fresh = k->weight;
	uint32_t lid = f->term_lid[dest], end = lid + (1u << f->lmc);

	if (k->jobs->term_off[dest + 1] - k->jobs->term_off[dest] > 1) {
		metrics_find_fresh(k, j, dest);
		fresh = k->fresh;
	}
	for (; lid < end; lid++) {
		if (metrics_counts(f, k->t, k->opts, lid))
			metrics_count_lid(k, lid, dest, fresh);
	}
}

static void metrics_gather(struct count *k, const struct job *job)
{
	uint32_t i;

	for (i = 0; i < job->nterm; i++) {
		uint32_t sw = k->f->term_sw[job->terms[i]];

		if (!k->weight[sw]++)
			k->sources[k->nsources++] = sw;
	}
}

/* Moves the loads of the job in hand to another worker's. */
static void metrics_hand_over(struct count *to, struct count *from)
{
	while (from->nused > 0) {
		uint32_t c = from->used[--from->nused];

		if (!to->load[c])
			to->used[to->nused++] = c;
		to->load[c] += from->load[c];
		from->load[c] = 0;
	}
}

/* Adds the job's loads to the sum, and leaves the scratch empty. */
static void metrics_finish(struct count *k, struct job_metrics *jm)
{
	jm->links = k->nused;
	while (k->nused > 0) {
		uint32_t c = k->used[--k->nused];

		if (k->load[c] > jm->efi_max)
			jm->efi_max = k->load[c];
		k->eff[c] += k->load[c];
		k->load[c] = 0;
	}
}

static void metrics_forget_sources(struct count *k)
{
	while (k->nsources > 0)
		k->weight[k->sources[--k->nsources]] = 0;
}

static bool metrics_count_job(void *ctx, unsigned worker, uint32_t i)
{
	struct team *team = ctx;
	struct count *k = &team->count[worker];
	uint32_t j = team->list[i], n;
	const struct job *job = &team->jobs->jobs[j];

	if (worker == 0 && progress_step(team->progress, "metrics", j, team->jobs->njob))
		return true;
	k->result = &team->m->job[j];
	metrics_gather(k, job);
	for (n = 0; n < job->nterm; n++)
		metrics_count_dest(k, j, job->terms[n]);
	metrics_finish(k, k->result);
	metrics_forget_sources(k);
	return false;
}

static bool metrics_count_chunk(void *ctx, unsigned worker, uint32_t i)
{
	struct team *team = ctx;
	struct count *k = &team->count[worker];
	const struct job *job = &team->jobs->jobs[team->large];
	uint32_t n, end = (i + 1) * CHUNK < job->nterm ? (i + 1) * CHUNK : job->nterm;

	if (worker == 0 && progress_step(team->progress, "metrics", team->large, team->jobs->njob))
		return true;
	k->result = &team->part[worker];
	for (n = i * CHUNK; n < end; n++)
		metrics_count_dest(k, team->large, job->terms[n]);
	return false;
}

static bool metrics_count_large(struct team *team, struct pool *pool, uint32_t j)
{
	const struct job *job = &team->jobs->jobs[j];
	struct job_metrics *result = &team->m->job[j];
	unsigned w, workers = pool_threads(pool);
	bool stopped;

	team->large = j;
	for (w = 0; w < workers; w++) {
		team->part[w] = (struct job_metrics){ 0 };
		metrics_gather(&team->count[w], job);
	}
	stopped = pool_for(pool, (job->nterm + CHUNK - 1) / CHUNK, metrics_count_chunk, team);
	for (w = 0; w < workers; w++) {
		result->routes += team->part[w].routes;
		if (w)
			metrics_hand_over(&team->count[0], &team->count[w]);
		metrics_forget_sources(&team->count[w]);
	}
	metrics_finish(&team->count[0], result);
	return stopped;
}

static bool metrics_count_all(struct team *team, struct pool *pool)
{
	const struct jobset *js = team->jobs;
	uint32_t j, n = 0;

	for (j = 0; j < js->njob; j++) {
		const struct job *job = &js->jobs[j];

		if (!job->multi)
			continue;
		if ((uint64_t)job->nterm * job->nsw < LARGE)
			team->list[n++] = j;
		else if (metrics_count_large(team, pool, j))
			return true;
	}
	return pool_for(pool, n, metrics_count_job, team);
}

/* Paths that are looked up in each block, about. */
static uint64_t *metrics_count_paths(const struct turned *x, const struct fabric *f,
				     const struct jobset *js)
{
	uint64_t *paths = xcalloc(x->nblock, sizeof(*paths));
	uint32_t j, i;

	for (j = 0; j < js->njob; j++) {
		const struct job *job = &js->jobs[j];

		for (i = 0; job->multi && i < job->nterm; i++)
			paths[f->term_lid[job->terms[i]] / LFT_BLOCK] += job->nsw;
	}
	return paths;
}

static bool metrics_turn_block(void *ctx, unsigned worker, uint32_t i)
{
	struct team *team = ctx;
	const struct count *k = &team->count[worker];
	uint32_t nsw = k->f->nsw;

	if (worker == 0 && progress_step(team->progress, "metrics", 0, team->jobs->njob))
		return true;
	if (!team->turned.block[i])
		return false;
	tile_turn(team->turned.block[i], nsw, k->t->lft + (size_t)i * LFT_BLOCK, k->t->stride, nsw,
		  LFT_BLOCK);
	return false;
}

/* Blocks where that costs less than it saves.  True when cancelled. */
static bool metrics_turn_blocks(struct team *team, const struct fabric *f, struct pool *pool)
{
	uint64_t *paths = metrics_count_paths(&team->turned, f, team->jobs);
	bool stopped = false;
	uint32_t i;

	for (i = 0; i < team->turned.nblock && !stopped; i++) {
		if (paths[i] > (uint64_t)f->nsw * LFT_BLOCK / TURN_SHARE)
			team->turned.block[i] = xcalloc((size_t)f->nsw * LFT_BLOCK, 1);
		stopped = i % TELL_BLOCKS == 0 &&
			  progress_step(team->progress, "metrics", 0, team->jobs->njob);
	}
	free(paths);
	return stopped || pool_for(pool, team->turned.nblock, metrics_turn_block, team);
}

/* Much memory takes long to give back, too.  True when stopped or cancelled; all is given back. */
static bool metrics_turned_done(struct turned *x, struct progress *progress, bool stopped)
{
	uint32_t i;

	for (i = 0; i < x->nblock; i++) {
		free(x->block[i]);
		if (i % TELL_BLOCKS == 0)
			stopped = stopped || progress_step(progress, "metrics", 1, 1);
	}
	free(x->block);
	return stopped;
}

static void metrics_count_init(struct count *k, const struct fabric *f, uint64_t *eff)
{
	k->mem = arena_new();
	k->eff = eff;
	k->load = arena_alloc(k->mem, f->nchan, sizeof(*k->load));
	k->used = arena_alloc(k->mem, f->nchan, sizeof(*k->used));
	k->sources = arena_alloc(k->mem, f->nsw, sizeof(*k->sources));
	k->weight = arena_alloc(k->mem, f->nsw, sizeof(*k->weight));
	k->fresh = arena_alloc(k->mem, f->nsw, sizeof(*k->fresh));
	k->mark = arena_alloc(k->mem, f->nterm, sizeof(*k->mark));
	k->path = arena_alloc(k->mem, f->nsw, sizeof(*k->path));
}

/* Fills eff_efi and job of m.  0 or -ECANCELED. */
static int metrics_jobs(struct metrics *m, const struct fabric *f, const struct tables *t,
			const struct jobset *jobs, const struct metrics_opts *opts,
			struct pool *pool, struct progress *progress)
{
	struct team team = { .m = m, .jobs = jobs, .progress = progress };
	struct walk *walk = walk_new(f, t);
	unsigned w, workers = pool_threads(pool);
	uint32_t c;
	bool stopped;

	team.turned.nblock = tables_blocks(t);
	team.turned.block = xcalloc(team.turned.nblock, sizeof(*team.turned.block));
	team.list = xcalloc(jobs->njob, sizeof(*team.list));
	team.part = xcalloc(workers, sizeof(*team.part));
	team.count = xcalloc(workers, sizeof(*team.count));
	for (w = 0; w < workers; w++) {
		team.count[w] = (struct count){ .f = f,
						.t = t,
						.walk = walk,
						.turned = &team.turned,
						.jobs = jobs,
						.opts = opts };
		metrics_count_init(&team.count[w], f,
				   w ? xcalloc(f->nchan, sizeof(*m->eff_efi)) : m->eff_efi);
	}
	stopped = progress_step(progress, "metrics", 0, jobs->njob) ||
		  metrics_turn_blocks(&team, f, pool) || metrics_count_all(&team, pool);
	for (w = 0; w < workers; w++) {
		for (c = 0; w && c < f->nchan; c++)
			m->eff_efi[c] += team.count[w].eff[c];
		if (w)
			free(team.count[w].eff);
		arena_free(team.count[w].mem);
	}
	free(team.count);
	free(team.part);
	free(team.list);
	stopped = metrics_turned_done(&team.turned, progress, stopped);
	walk_free(walk);
	return stopped ? -ECANCELED : 0;
}

/* --- all routes ----------------------------------------------------------------------------- */

#define SMALL (1u << 20) /* LIDs times switches below which threads cost more than they save */

/* What a switch adds to the loads: all routes through it go to that channel. */
struct branch {
	uint32_t chan, next;
	uint64_t routes;
	uint32_t since; /* LIDs that were counted when that became so */
};

/* What one worker counts: the figures over all pairs, one LID at a time. */
struct worker_sum {
	struct walk *walk;
	struct cdg_builder *deps;
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
	struct worker_sum *sum; /* per worker */
};

/* Adds what a switch has carried since it was looked at last. */
static inline void metrics_settle(struct worker_sum *s, struct branch *b)
{
	s->efi[b->chan] += b->routes * (s->counted - b->since);
	b->since = s->counted;
}

/* The LIDs of the switch at hand are through. */
static void metrics_close_tree(const struct fabric *f, struct worker_sum *s, uint32_t root)
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
static void metrics_open_tree(const struct fabric *f, struct worker_sum *s, uint32_t lid)
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

/* Takes the routes of a switch off the path from its next one on, or adds them there. */
static void metrics_carry(struct worker_sum *s, uint32_t u, uint64_t routes)
{
	for (; u != s->walk->dsw; u = s->tree[u].next) {
		metrics_settle(s, &s->tree[u]);
		s->tree[u].routes += routes;
	}
}

/* From the LID before to this one, over the same distances: where few have moved, most of the tree
 * stays, and what it carries is added up later. */
static void metrics_move_tree(const struct fabric *f, struct worker_sum *s, uint32_t lid)
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
static void metrics_sweep_broken(const struct fabric *f, struct worker_sum *s)
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
static void metrics_sweep_lid(const struct fabric *f, struct worker_sum *s, uint32_t lid,
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
	struct worker_sum *k = &s->sum[worker];
	const struct fabric *f = s->f;
	uint32_t lid, end = (block + 1) * LFT_BLOCK;

	if (worker == 0 &&
	    progress_step(s->progress, "metrics", (uint64_t)block * LFT_BLOCK, f->max_lid))
		return true;
	for (lid = block ? block * LFT_BLOCK : 1; lid < end && lid <= f->max_lid; lid++) {
		bool counts = metrics_counts(f, s->t, s->opts, lid);

		if (!counts && !cdg_builder_wants(k->deps, lid))
			continue;
		if (!walk_lid(k->walk, lid))
			continue;
		cdg_builder_add(k->deps, k->walk, lid);
		metrics_sweep_lid(f, k, lid, counts);
	}
	return false;
}

/* By rate, rounded up. */
static uint64_t metrics_greatest_by_rate(const struct metrics *m, const struct fabric *f)
{
	struct chan_weights w;
	uint64_t max = 0;

	chan_weights_init(&w, f, false);
	for (uint32_t c = 0; c < m->nchan; c++) {
		uint64_t v = m->eff_efi[c] * chan_weight(&w, c);

		max = v > max ? v : max;
	}
	max = (max + w.unit - 1) / w.unit;
	chan_weights_done(&w);
	return max;
}

static void metrics_summarise(struct metrics *m, const struct fabric *f)
{
	double sum = 0, square = 0, eff = 0;
	uint32_t c;

	for (c = 0; c < m->nchan; c++) {
		sum += (double)m->efi[c];
		eff += (double)m->eff_efi[c];
		m->dark += m->eff_efi[c] == 0;
		if (m->efi[c] > m->efi_max)
			m->efi_max = m->efi[c];
	}
	m->eff_efi_max = metrics_greatest_by_rate(m, f);
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

static void metrics_add_up(struct metrics *m, const struct worker_sum *sum, unsigned workers)
{
	struct cdg_builder *deps = sum[0].deps;
	uint64_t hops = 0, pairs = 0;
	uint32_t c;
	unsigned w;

	for (w = 0; w < workers; w++) {
		const struct worker_sum *k = &sum[w];

		for (c = 0; w && c < m->nchan; c++)
			m->efi[c] += k->efi[c];
		if (w)
			cdg_builder_merge(deps, k->deps);
		hops += k->hops;
		pairs += k->pairs;
		m->unreachable += k->unreachable;
		m->hops_max = k->hops_max > m->hops_max ? k->hops_max : m->hops_max;
	}
	m->hops_mean = pairs ? (double)hops / (double)pairs : 0;
	m->vls_used = (uint32_t)__builtin_popcount(cdg_builder_vls(deps));
	m->sls_used = (uint32_t)__builtin_popcount(cdg_builder_sls(deps));
}

static bool metrics_tell_end(const struct sweep *s)
{
	return progress_step(s->progress, "metrics", s->f->max_lid, s->f->max_lid);
}

/* True when cancelled. */
static bool metrics_sweep_all(struct metrics *m, struct sweep *s, struct pool *pool)
{
	struct cdg_builder *deps = cdg_builder_new(s->f, s->t, false, s->progress);
	unsigned w, workers = pool_threads(pool);
	bool stopped;

	s->sum = xcalloc(workers, sizeof(*s->sum));
	for (w = 0; w < workers; w++) {
		s->sum[w].walk = walk_new(s->f, s->t);
		s->sum[w].deps = w ? cdg_builder_share(deps) : deps;
		s->sum[w].efi = w ? xcalloc(m->nchan, sizeof(*m->efi)) : m->efi;
		s->sum[w].tree = xcalloc(s->f->nsw, sizeof(*s->sum[w].tree));
	}
	stopped = pool_for(pool, s->f->max_lid / LFT_BLOCK + 1u, metrics_sweep_block, s) ||
		  metrics_tell_end(s);
	for (w = 0; w < workers; w++)
		metrics_close_tree(s->f, &s->sum[w], s->sum[w].root);
	if (!stopped)
		metrics_add_up(m, s->sum, workers);
	stopped = stopped || metrics_tell_end(s);
	for (w = workers; w-- > 0;) {
		walk_free(s->sum[w].walk);
		cdg_builder_free(s->sum[w].deps);
		free(s->sum[w].tree);
		if (w)
			free(s->sum[w].efi);
	}
	free(s->sum);
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

/* Loads are whole numbers of routes times weights; what rounding may have added is taken off. */
static uint64_t metrics_round_bound(double bound, uint64_t least)
{
	uint64_t v = (uint64_t)ceil(bound * (1 - 1e-6));

	return v > least ? v : least;
}

#define PAIRS_MAX (1u << 20) /* of switches */

static int metrics_length_bounds(struct metrics *m, const struct fabric *f,
				 const struct jobset *jobs, uint64_t work,
				 struct progress *progress)
{
	/* where they could not be afforded anyhow, pairs are not even counted */
	bool large = (uint64_t)f->nsw * f->nsw > work;
	struct job_demand *d = large ? NULL : job_demand_new(f, jobs, PAIRS_MAX);
	struct length_bound any = { 0, 0 }, minimal = { 0, 0 };
	struct chan_weights w;
	int rc = 0;

	if (!d)
		return 0;
	chan_weights_init(&w, f, false);
	m->lengths = xcalloc(f->nchan + 1ull, sizeof(*m->lengths));
	rc = length_bound_compute(&any, m->lengths, f, &w, d, LENGTH_ANY, work, progress,
				  "metrics");
	if (!rc)
		rc = length_bound_compute(&minimal, NULL, f, &w, d, LENGTH_SHORTEST, work, progress,
					  "metrics");
	m->eff_efi_bound = metrics_round_bound(any.lower, m->eff_efi_bound);
	if (minimal.lower > 0)
		m->eff_efi_bound_minimal = metrics_round_bound(minimal.lower, m->eff_efi_bound);
	if (!(any.lower > 0)) {
		free(m->lengths);
		m->lengths = NULL;
	}
	chan_weights_done(&w);
	job_demand_free(d);
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
	rc = tables_check_fabric(t, f, err);
	if (!rc)
		rc = jobset_check_fabric(jobs, f, err);
	if (rc)
		return rc;
	m = xcalloc(1, sizeof(*m));
	m->nchan = f->nchan;
	m->njob = jobs ? jobs->njob : 0;
	m->efi = xcalloc(m->nchan, sizeof(*m->efi));
	m->eff_efi = xcalloc(m->nchan, sizeof(*m->eff_efi));
	m->job = xcalloc(m->njob, sizeof(*m->job));
	rc = metrics_do_compute(m, f, t, jobs, opts, progress);
	if (!rc) {
		metrics_summarise(m, f);
		metrics_summarise_jobs(m);
		m->lft_blocks = metrics_count_blocks(t, progress);
		if (!opts->all_lids || !f->lmc)
			m->eff_efi_bound = metrics_eff_efi_bound_with_progress(
				f, jobs, false, progress, "metrics", 1);
		if (m->eff_efi_bound && opts->bound_work)
			rc = metrics_length_bounds(m, f, jobs, opts->bound_work, progress);
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
	free(m->lengths);
	free(m->job);
	free(m);
}
