/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/chan_weight.h"
#include "engines/metrics/job_demand.h"
#include "engines/metrics/metrics.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- capacities ----------------------------------------------------------------------------- */

#define CAPACITY (1ull << 20) /* of a channel of the fastest rate */

/* By channel, rounded up, so that bounds stay such. */
static uint64_t *metrics_bound_capacities(struct arena *mem, const struct fabric *f,
					  bool ignore_rates)
{
	uint64_t *cap = arena_alloc(mem, f->nchan, sizeof(*cap));
	struct chan_weights w;

	chan_weights_init(&w, f, ignore_rates);
	for (uint32_t c = 0; c < f->nchan; c++)
		cap[c] = (CAPACITY * w.unit + chan_weight(&w, c) - 1) / chan_weight(&w, c);
	chan_weights_done(&w);
	return cap;
}

/* The least that the fullest of these channels carries of a sum. */
static uint64_t metrics_bound_spread(uint64_t sum, uint64_t cap)
{
	return cap ? (sum * CAPACITY + cap - 1) / cap : 0;
}

/* --- a bound from many cuts ----------------------------------------------------------------- */

#define WORK_MAX (1ull << 25) /* about 50 ms */

struct member {
	uint32_t job;
	uint32_t n; /* terminals on the switch */
};

struct cuts {
	const struct fabric *f;
	const struct jobset *jobs;
	const uint64_t *cap; /* by channel */
	uint32_t *off;	     /* by switch: members ... */
	struct member *member;
	uint32_t *inside; /* by job */
	bool *in;	  /* by switch */
	uint32_t *queue;
	bool *met;
	uint64_t crossing, edge; /* edge: capacity of the channels out of the set */
	uint64_t best;
};

/* Notes the used jobs of a terminal; the list has n members, those of its switch last. */
static uint32_t metrics_bound_note_jobs(struct cuts *c, const bool *use, uint32_t term, uint32_t n)
{
	const struct jobset *js = c->jobs;

	for (uint32_t k = js->term_off[term]; k < js->term_off[term + 1]; k++) {
		uint32_t job = js->term_job[k];

		if (!use[job])
			continue;
		if (!c->inside[job]) {
			c->member[n++].job = job;
			c->inside[job] = n; /* its place, for now */
		}
		c->member[c->inside[job] - 1].n++;
	}
	return n;
}

static void metrics_bound_find_members(struct cuts *c, const bool *use)
{
	const struct fabric *f = c->f;
	uint32_t n = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		c->off[u] = n;
		for (uint32_t i = f->term_off[u]; i < f->term_off[u + 1]; i++)
			if (f->term_list[i] < f->nterm)
				n = metrics_bound_note_jobs(c, use, f->term_list[i], n);
		for (uint32_t k = c->off[u]; k < n; k++)
			c->inside[c->member[k].job] = 0;
	}
	c->off[f->nsw] = n;
}

/* Takes a switch into the set. */
static void metrics_bound_add(struct cuts *c, uint32_t u)
{
	const struct fabric *f = c->f;
	uint64_t least;

	c->in[u] = true;
	for (uint32_t e = f->chan_off[u]; e < f->chan_off[u + 1]; e++) {
		if (f->chan_dst[e] != u)
			c->edge += c->in[f->chan_dst[e]] ? -c->cap[f->chan_rev[e]] : c->cap[e];
	}
	for (uint32_t k = c->off[u]; k < c->off[u + 1]; k++) {
		const struct member *m = &c->member[k];
		uint64_t size = c->jobs->jobs[m->job].nterm, k0 = c->inside[m->job], k1 = k0 + m->n;

		c->crossing += k1 * (size - k1) - k0 * (size - k0);
		c->inside[m->job] = (uint32_t)k1;
	}
	least = metrics_bound_spread(c->crossing, c->edge);
	c->best = least > c->best ? least : c->best;
}

static void metrics_bound_clear(struct cuts *c)
{
	memset(c->in, 0, c->f->nsw * sizeof(*c->in));
	memset(c->inside, 0, c->jobs->njob * sizeof(*c->inside));
	c->crossing = c->edge = 0;
}

static void metrics_bound_sweep_nearest_first(struct cuts *c, uint32_t root)
{
	const struct fabric *f = c->f;
	uint32_t head = 0, tail = 0;

	metrics_bound_clear(c);
	memset(c->met, 0, f->nsw * sizeof(*c->met));
	c->met[root] = true;
	c->queue[tail++] = root;
	while (head < tail) {
		uint32_t u = c->queue[head++];

		metrics_bound_add(c, u);
		for (uint32_t e = f->chan_off[u]; e < f->chan_off[u + 1]; e++) {
			uint32_t v = f->chan_dst[e];

			if (!c->met[v])
				c->queue[tail++] = v;
			c->met[v] = true;
		}
	}
}

static void metrics_bound_sweep_in_order(struct cuts *c, uint32_t root)
{
	metrics_bound_clear(c);
	for (uint32_t i = 0; i < c->f->nsw; i++)
		metrics_bound_add(c, (root + i) % c->f->nsw);
}

/*
 * Whatever set of switches is taken, the routes of a job with one end inside and one outside
 * cross its edge: of n terminals with k inside, k (n - k) in either direction.  With channels of
 * capacity m leading out, one of them carries at least the m-th part of the sum over jobs.  The
 * sets tried: for every switch those that grow from it one by one in the order of a breadth-first
 * search, and in that of the switches.
 *
 * use: jobs that count; no two of them may share more than one terminal, so that no pair counts
 * twice.  0 when the fabric is so large that this would take long.
 * Time O(switches * (channels + terminals)).
 */
static uint64_t metrics_bound_cuts(const struct fabric *f, const struct jobset *jobs,
				   const uint64_t *cap, const bool *use)
{
	struct cuts c = { .f = f, .jobs = jobs, .cap = cap };
	struct arena *mem;

	if ((uint64_t)f->nsw * (2ull * f->nchan + jobs->term_off[f->nterm]) > WORK_MAX)
		return 0;
	mem = arena_new();
	c.off = arena_alloc(mem, f->nsw + 1ull, sizeof(*c.off));
	c.member = arena_alloc(mem, jobs->term_off[f->nterm], sizeof(*c.member));
	c.inside = arena_alloc(mem, jobs->njob, sizeof(*c.inside));
	c.in = arena_alloc(mem, f->nsw, sizeof(*c.in));
	c.met = arena_alloc(mem, f->nsw, sizeof(*c.met));
	c.queue = arena_alloc(mem, f->nsw, sizeof(*c.queue));
	metrics_bound_find_members(&c, use);
	for (uint32_t u = 0; u < f->nsw; u++) {
		metrics_bound_sweep_nearest_first(&c, u);
		metrics_bound_sweep_in_order(&c, u);
	}
	arena_free(mem);
	return c.best;
}

/* --- a bound from what each switch, and each group of switches, sends and receives ---------- */

#define TELL_SWITCHES 256 /* between two reports of progress */

struct weight_count {
	uint32_t n, switches;
};

struct bound {
	const struct fabric *f;
	const struct jobset *jobs;
	const uint64_t *cap; /* by channel */
	bool *use;	     /* per job */
	bool dropped;	     /* there is a job of several switches that is not used */
	uint32_t *alone;     /* per job: terminals that are in no other used job */
	uint32_t *shared;    /* terminals in two used jobs or more */
	uint32_t nshared;
	uint32_t *here; /* scratch per job: terminals inside the set in hand, 0 between uses */
	uint32_t *alone_here;
	uint32_t *touched; /* jobs with here != 0 */
	uint32_t ntouched;
	uint64_t *count, *count_out; /* scratch: items by weight */
	uint32_t *own;		     /* scratch per job: terminals on one switch, 0 between uses */
	uint32_t *own_jobs, nown;
	uint32_t *hist_off; /* by job: switches by the job's terminals on them */
	struct weight_count *hist;
	uint32_t heaviest; /* weight in hist */
};

/* First come, first served: leaves out a job that shares two terminals with an earlier one. */
static void metrics_bound_choose_jobs(struct bound *b)
{
	const struct jobset *js = b->jobs;
	uint32_t *met = xcalloc(js->njob, sizeof(*met)); /* terminals shared with each job ... */
	uint32_t *stamp = xcalloc(js->njob, sizeof(*stamp)); /* ... by this job + 1 */
	uint32_t j, i, k;

	for (j = 0; j < js->njob; j++) {
		const struct job *job = &js->jobs[j];

		b->use[j] = job->multi;
		for (i = 0; b->use[j] && i < job->nterm; i++) {
			uint32_t term = job->terms[i];

			for (k = js->term_off[term]; k < js->term_off[term + 1]; k++) {
				uint32_t o = js->term_job[k];

				if (o >= j || !b->use[o])
					continue;
				met[o] = stamp[o] == j + 1 ? met[o] + 1 : 1;
				stamp[o] = j + 1;
				b->use[j] &= met[o] < 2;
			}
		}
		b->dropped |= job->multi && !b->use[j];
	}
	free(met);
	free(stamp);
}

static uint32_t metrics_bound_used_jobs(const struct bound *b, uint32_t term, uint32_t *first)
{
	const struct jobset *js = b->jobs;
	uint32_t k, n = 0;

	for (k = js->term_off[term + 1]; k-- > js->term_off[term];) {
		if (b->use[js->term_job[k]]) {
			*first = js->term_job[k];
			n++;
		}
	}
	return n;
}

static void metrics_bound_sort_terms(struct bound *b)
{
	uint32_t term, first = 0, n;

	for (term = 0; term < b->f->nterm; term++) {
		n = metrics_bound_used_jobs(b, term, &first);
		if (n == 1)
			b->alone[first]++;
		else if (n > 1)
			b->shared[b->nshared++] = term;
	}
}

/* Counts the job terminals of a switch into here[]. */
static void metrics_bound_gather(struct bound *b, uint32_t sw)
{
	const struct jobset *js = b->jobs;
	uint32_t i, k, first = 0;

	for (i = b->f->term_off[sw]; i < b->f->term_off[sw + 1]; i++) {
		uint32_t term = b->f->term_list[i];

		if (term >= b->f->nterm)
			continue;
		for (k = js->term_off[term]; k < js->term_off[term + 1]; k++) {
			uint32_t j = js->term_job[k];

			if (b->use[j] && !b->here[j]++)
				b->touched[b->ntouched++] = j;
		}
		if (metrics_bound_used_jobs(b, term, &first) == 1)
			b->alone_here[first]++;
	}
}

static void metrics_bound_forget(struct bound *b)
{
	while (b->ntouched > 0) {
		uint32_t j = b->touched[--b->ntouched];

		b->here[j] = b->alone_here[j] = 0;
	}
}

/* Destinations elsewhere, by how many terminals of switch sw send to them; returns the
 * largest weight. */
static uint32_t metrics_bound_count_items(struct bound *b, uint32_t sw)
{
	const struct jobset *js = b->jobs;
	uint32_t i, k, w, max = 0;

	for (i = 0; i < b->ntouched; i++) {
		uint32_t j = b->touched[i];

		w = b->here[j];
		b->count[w] += b->alone[j] - b->alone_here[j];
		max = w > max ? w : max;
	}
	for (i = 0; i < b->nshared; i++) {
		uint32_t term = b->shared[i];

		if (b->f->term_sw[term] == sw)
			continue;
		for (w = 0, k = js->term_off[term]; k < js->term_off[term + 1]; k++)
			w += b->here[js->term_job[k]];
		b->count[w]++;
		max = w > max ? w : max;
	}
	b->count[0] = 0;
	return max;
}

/* Sum of the heaviest n items; at and rest remember where the last call stopped. */
struct heaviest {
	const uint64_t *count;
	uint32_t weight;
	uint64_t left, n, sum; /* left of this weight */
};

static uint64_t metrics_bound_heaviest_sum(struct heaviest *h, uint64_t n)
{
	while (h->n < n) {
		uint64_t take = n - h->n < h->left ? n - h->n : h->left;

		h->sum += take * h->weight;
		h->n += take;
		h->left -= take;
		if (!h->left && h->n < n)
			h->left = h->count[--h->weight];
	}
	return h->sum;
}

/*
 * Items on m channels, the fullest holds at least: the mean; and of the heaviest q*m + 1 items
 * some channel holds q + 1, which weigh no less than the lightest q + 1 among them, and on a slow
 * channel only more.
 */
static uint64_t metrics_bound_pack(const uint64_t *count, uint32_t max, uint64_t m, uint64_t cap)
{
	struct heaviest all = { count, max, count[max], 0, 0 }, head = all;
	uint64_t items = 0, sum = 0, best, q, x;
	uint32_t w;

	for (w = 1; w <= max; w++) {
		items += count[w];
		sum += count[w] * w;
	}
	best = metrics_bound_spread(sum, cap);
	for (q = 0; q * m < items; q++) {
		x = metrics_bound_heaviest_sum(&all, q * m + 1) -
		    metrics_bound_heaviest_sum(&head, q * m - q);
		best = x > best ? x : best;
	}
	return best;
}

static uint64_t metrics_bound_switch(struct bound *b, uint32_t sw)
{
	uint64_t links = b->f->chan_off[sw + 1] - b->f->chan_off[sw], cap = 0, best = 0;
	uint32_t max;

	for (uint32_t c = b->f->chan_off[sw]; c < b->f->chan_off[sw + 1]; c++)
		cap += b->cap[c];
	metrics_bound_gather(b, sw);
	max = metrics_bound_count_items(b, sw);
	if (links && max)
		best = metrics_bound_pack(b->count, max, links, cap);
	memset(b->count, 0, (max + 1) * sizeof(*b->count));
	metrics_bound_forget(b);
	return best;
}

/* Terminals of the used jobs on a switch, job by job. */
static void metrics_bound_count_own(struct bound *b, uint32_t sw)
{
	const struct jobset *js = b->jobs;
	uint32_t i, k;

	b->nown = 0;
	for (i = b->f->term_off[sw]; i < b->f->term_off[sw + 1]; i++) {
		uint32_t term = b->f->term_list[i];

		for (k = term < b->f->nterm ? js->term_off[term] : 0;
		     term < b->f->nterm && k < js->term_off[term + 1]; k++) {
			uint32_t j = js->term_job[k];

			if (b->use[j] && !b->own[j]++)
				b->own_jobs[b->nown++] = j;
		}
	}
}

/*
 * Routes from one switch inside to one destination outside cross the edge of the set together,
 * and so do those from one switch outside to one destination inside.  here[] is that of the set.
 * Returns the bound for either direction.
 */
static uint64_t metrics_bound_pack_edge(struct bound *b, const uint32_t *sws, uint32_t n,
					uint64_t links, uint64_t cap)
{
	uint64_t out, in;
	uint32_t i, k, w, max = 0;

	for (i = 0; i < b->ntouched; i++)
		for (k = b->hist_off[b->touched[i]]; k < b->hist_off[b->touched[i] + 1]; k++)
			b->count[b->hist[k].n] +=
				(uint64_t)b->hist[k].switches * b->here[b->touched[i]];
	for (i = 0; i < n; i++) {
		metrics_bound_count_own(b, sws[i]);
		while (b->nown) {
			uint32_t j = b->own_jobs[--b->nown];

			w = b->own[j];
			b->count[w] -= b->here[j];
			b->count_out[w] += b->jobs->jobs[j].nterm - b->here[j];
			b->own[j] = 0;
		}
	}
	for (w = 1; w <= b->heaviest; w++)
		max = b->count[w] || b->count_out[w] ? w : max;
	in = max ? metrics_bound_pack(b->count, max, links, cap) : 0;
	out = max ? metrics_bound_pack(b->count_out, max, links, cap) : 0;
	memset(b->count, 0, (b->heaviest + 1) * sizeof(*b->count));
	memset(b->count_out, 0, (b->heaviest + 1) * sizeof(*b->count_out));
	return in > out ? in : out;
}

/* Best bound over the sets of switches with equal, valid label (below nsw). */
static uint64_t metrics_bound_sets(struct bound *b, const uint32_t *label)
{
	const struct fabric *f = b->f;
	uint32_t *off = xcalloc((size_t)f->nsw + 2, sizeof(*off)), *list, sw, s, i, c;
	uint64_t best = 0, q;

	list = xcalloc(f->nsw, sizeof(*list));
	for (sw = 0; sw < f->nsw; sw++) {
		if (label[sw] < f->nsw)
			off[label[sw] + 2]++;
	}
	for (s = 2; s <= f->nsw + 1; s++)
		off[s] += off[s - 1];
	for (sw = 0; sw < f->nsw; sw++) {
		if (label[sw] < f->nsw)
			list[off[label[sw] + 1]++] = sw;
	}
	for (s = 0; s < f->nsw; s++) {
		uint64_t links = 0, cap = 0;

		for (i = off[s]; i < off[s + 1]; i++) {
			metrics_bound_gather(b, list[i]);
			for (c = f->chan_off[list[i]]; c < f->chan_off[list[i] + 1]; c++) {
				links += label[f->chan_dst[c]] != s;
				cap += label[f->chan_dst[c]] != s ? b->cap[c] : 0;
			}
		}
		q = links && b->ntouched ? metrics_bound_pack_edge(b, list + off[s],
								   off[s + 1] - off[s], links, cap)
					 : 0;
		best = q > best ? q : best;
		metrics_bound_forget(b);
	}
	free(off);
	free(list);
	return best;
}

/* For every used job, how many switches have how many of its terminals. */
static void metrics_bound_count_hist(struct bound *b)
{
	const struct jobset *js = b->jobs;
	uint32_t *on = xcalloc(b->f->nsw, sizeof(*on)), *at, j, i, n = 0;

	at = xcalloc(b->f->nterm + 1, sizeof(*at));
	for (j = 0; j < js->njob; j++) {
		const struct job *job = &js->jobs[j];
		uint32_t first = n;

		b->hist_off[j] = n;
		for (i = 0; b->use[j] && i < job->nterm; i++)
			on[b->f->term_sw[job->terms[i]]]++;
		for (i = 0; b->use[j] && i < job->nterm; i++) {
			uint32_t w = on[b->f->term_sw[job->terms[i]]];

			on[b->f->term_sw[job->terms[i]]] = 0;
			if (!w)
				continue;
			if (at[w] < first || at[w] >= n || b->hist[at[w]].n != w) {
				at[w] = n;
				b->hist[n++] = (struct weight_count){ .n = w };
			}
			b->hist[at[w]].switches++;
			b->heaviest = w > b->heaviest ? w : b->heaviest;
		}
	}
	b->hist_off[js->njob] = n;
	free(on);
	free(at);
}

/* Labels the components over channels with keep[], among switches with level below limit. */
static void metrics_bound_components(const struct fabric *f, const uint32_t *level, uint32_t limit,
				     const bool *keep, uint32_t *label)
{
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue)), start, c;

	memset(label, 0xff, f->nsw * sizeof(*label));
	for (start = 0; start < f->nsw; start++) {
		uint32_t head = 0, tail = 0;

		if (label[start] != FAB_NONE || level[start] >= limit)
			continue;
		label[start] = start;
		queue[tail++] = start;
		while (head < tail) {
			uint32_t u = queue[head++];

			for (c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
				uint32_t v = f->chan_dst[c];

				if (!keep[c] || label[v] != FAB_NONE || level[v] >= limit)
					continue;
				label[v] = start;
				queue[tail++] = v;
			}
		}
	}
	free(queue);
}

/* Distance from the nearest switch with counted terminals; returns the largest. */
static uint32_t metrics_bound_find_levels(const struct fabric *f, uint32_t *level)
{
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue)), n = 0, max;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (f->sw_nterm[sw])
			queue[n++] = sw;
	n = fabric_hops(level, queue, f, n);
	max = n ? level[queue[n - 1]] : 0;
	free(queue);
	return max;
}

/* keep[c]: the two switches of c have a common neighbour. */
static void metrics_bound_find_triangles(const struct fabric *f, bool *keep)
{
	uint32_t *mark = xcalloc(f->nsw, sizeof(*mark)), sw, c, e;

	for (sw = 0; sw < f->nsw; sw++) {
		for (c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
			mark[f->chan_dst[c]] = sw + 1;
		for (c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			keep[c] = false;
			for (e = f->chan_off[v]; !keep[c] && e < f->chan_off[v + 1]; e++)
				keep[c] = mark[f->chan_dst[e]] == sw + 1 && f->chan_dst[e] != v &&
					  f->chan_dst[e] != sw;
		}
	}
	free(mark);
}

static uint64_t metrics_bound_groups(struct bound *b)
{
	const struct fabric *f = b->f;
	uint32_t *level = xcalloc(f->nsw, sizeof(*level)), *label, r, max;
	bool *keep = xcalloc(f->nchan, sizeof(*keep));
	uint64_t best = 0, q;

	label = xcalloc(f->nsw, sizeof(*label));
	memset(keep, true, f->nchan * sizeof(*keep));
	for (r = 0; r < f->nsw; r++)
		label[r] = r;
	best = metrics_bound_sets(b, label);
	max = metrics_bound_find_levels(f, level);
	for (r = 1; r <= max; r++) {
		metrics_bound_components(f, level, r, keep, label);
		q = metrics_bound_sets(b, label);
		best = q > best ? q : best;
	}
	metrics_bound_find_triangles(f, keep);
	metrics_bound_components(f, level, FAB_NONE, keep, label);
	q = metrics_bound_sets(b, label);
	free(level);
	free(label);
	free(keep);
	return q > best ? q : best;
}

/* --- jobs that share nodes ------------------------------------------------------------------- */

#define PAIRS_MAX (16u << 20) /* of switches */

/* All pairs of the jobs, those of the ones left out above too, each once: the mean over the
 * channels out of a set of switches.  Sets: each switch, and growing ones from every switch. */
struct shared_cut {
	const struct fabric *f;
	struct job_demand *d;
	const uint64_t *cap;
	bool *in;
	uint64_t crossing, edge, best;
};

static void metrics_bound_shared_add(struct shared_cut *c, uint32_t u)
{
	const struct fabric *f = c->f;
	uint64_t least;

	c->in[u] = true;
	for (uint32_t e = f->chan_off[u]; e < f->chan_off[u + 1]; e++)
		if (f->chan_dst[e] != u)
			c->edge += c->in[f->chan_dst[e]] ? -c->cap[f->chan_rev[e]] : c->cap[e];
	for (uint64_t k = c->d->off[u]; k < c->d->off[u + 1]; k++)
		c->crossing += c->in[c->d->dst[k]] ? -c->d->pairs[k] : c->d->pairs[k];
	least = metrics_bound_spread(c->crossing, c->edge);
	c->best = least > c->best ? least : c->best;
}

static void metrics_bound_shared_sweep(struct shared_cut *c, uint32_t root, uint32_t *queue,
				       uint32_t *hops, uint32_t most)
{
	uint32_t n;

	queue[0] = root;
	n = fabric_hops(hops, queue, c->f, 1);
	memset(c->in, 0, c->f->nsw * sizeof(*c->in));
	c->crossing = c->edge = 0;
	for (uint32_t i = 0; i < n && i < most; i++)
		metrics_bound_shared_add(c, queue[i]);
}

static uint64_t metrics_bound_shared(const struct fabric *f, const struct jobset *jobs,
				     const uint64_t *cap)
{
	struct shared_cut c = { .f = f, .d = job_demand_new(f, jobs, PAIRS_MAX), .cap = cap };
	struct arena *mem;
	uint32_t *queue, *hops, most;

	if (!c.d)
		return 0;
	mem = arena_new();
	c.in = arena_alloc(mem, f->nsw, sizeof(*c.in));
	queue = arena_alloc(mem, f->nsw, sizeof(*queue));
	hops = arena_alloc(mem, f->nsw, sizeof(*hops));
	most = f->nsw * (2ull * f->nchan + c.d->off[f->nsw]) > WORK_MAX ? 1 : f->nsw;
	for (uint32_t u = 0; u < f->nsw; u++)
		metrics_bound_shared_sweep(&c, u, queue, hops, most);
	arena_free(mem);
	job_demand_free(c.d);
	return c.best;
}

uint64_t metrics_eff_efi_bound(const struct fabric *f, const struct jobset *jobs)
{
	return metrics_eff_efi_bound_with_progress(f, jobs, false, NULL, "", 0);
}

uint64_t metrics_eff_efi_bound_with_progress(const struct fabric *f, const struct jobset *jobs,
					     bool ignore_rates, struct progress *progress,
					     const char *step, unsigned done)
{
	struct bound b = { .f = f, .jobs = jobs };
	struct arena *mem;
	uint64_t best = 0, q;
	uint32_t sw;

	if (!jobs || !jobs->nmulti || progress_step(progress, step, done, 1))
		return 0;
	mem = arena_new();
	b.cap = metrics_bound_capacities(mem, f, ignore_rates);
	b.use = arena_alloc(mem, jobs->njob, sizeof(*b.use));
	b.alone = arena_alloc(mem, jobs->njob, sizeof(*b.alone));
	b.here = arena_alloc(mem, jobs->njob, sizeof(*b.here));
	b.alone_here = arena_alloc(mem, jobs->njob, sizeof(*b.alone_here));
	b.touched = arena_alloc(mem, jobs->njob, sizeof(*b.touched));
	b.shared = arena_alloc(mem, f->nterm, sizeof(*b.shared));
	b.count = arena_alloc(mem, f->nterm + 1, sizeof(*b.count));
	b.count_out = arena_alloc(mem, f->nterm + 1, sizeof(*b.count_out));
	b.own = arena_alloc(mem, jobs->njob, sizeof(*b.own));
	b.own_jobs = arena_alloc(mem, jobs->njob, sizeof(*b.own_jobs));
	b.hist_off = arena_alloc(mem, jobs->njob + 1ull, sizeof(*b.hist_off));
	b.hist = arena_alloc(mem, jobs->term_off[f->nterm], sizeof(*b.hist));
	metrics_bound_choose_jobs(&b);
	metrics_bound_sort_terms(&b);
	metrics_bound_count_hist(&b);
	if (progress_step(progress, step, done, 1))
		goto out;
	best = metrics_bound_groups(&b);
	if (progress_step(progress, step, done, 1))
		goto out;
	q = metrics_bound_cuts(f, jobs, b.cap, b.use);
	best = q > best ? q : best;
	q = b.dropped ? metrics_bound_shared(f, jobs, b.cap) : 0;
	best = q > best ? q : best;
	for (sw = 0; sw < f->nsw; sw++) {
		if (sw % TELL_SWITCHES == 0 && progress_step(progress, step, done, 1))
			break;
		q = f->sw_nterm[sw] ? metrics_bound_switch(&b, sw) : 0;
		best = q > best ? q : best;
	}
out:
	arena_free(mem);
	return best;
}
