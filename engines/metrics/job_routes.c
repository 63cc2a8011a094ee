/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/job_routes.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	uint32_t chan, routes;
};

struct count {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const struct tables *t;
	uint32_t *weight;  /* per switch: terminals of the job in hand */
	uint32_t *sources; /* those switches */
	uint32_t nsources;
	uint32_t *load; /* per channel, of the job in hand */
	uint32_t *used; /* channels with load */
	uint32_t nused;
	/* of the destination in hand: switches on the paths, each before those that come to it */
	uint32_t *order, norder;
	uint32_t *next;	  /* per switch: channel on from there; FAB_NONE: no path */
	uint32_t *routes; /* per switch: that pass it */
	uint32_t *seen, stamp;
};

/* Goes on from sw until a switch that was met before, and appends what is new to the order from
 * the far end on.  What leads nowhere or in a circle gets no routes. */
static void job_routes_add_path(struct count *k, uint32_t sw, uint32_t lid, uint32_t dsw)
{
	uint32_t first = k->norder, n = 0;
	bool arrives;

	while (sw != dsw && k->seen[sw] != k->stamp) {
		uint32_t c = fabric_chan(k->f, sw, tables_row(k->t, sw)[lid]);

		k->seen[sw] = k->stamp;
		k->next[sw] = c;
		k->routes[sw] = 0;
		k->order[first + n++] = sw;
		if (c == FAB_NONE)
			break;
		sw = k->f->chan_dst[c];
	}
	/* the path so far is marked too: a loop closes on one of its own switches */
	arrives = sw == dsw || (k->seen[sw] == k->stamp && k->next[sw] != FAB_NONE);
	for (uint32_t i = first; arrives && sw != dsw && i < first + n; i++)
		arrives = k->order[i] != sw;
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t far = k->order[first + n - 1 - i];

		k->order[first + n - 1 - i] = k->order[first + i];
		k->order[first + i] = far;
	}
	for (uint32_t i = first; !arrives && i < first + n; i++)
		k->next[k->order[i]] = FAB_NONE;
	k->norder += n;
}

static void job_routes_count_destination(struct count *k, uint32_t term)
{
	uint32_t dsw = k->f->term_sw[term], lid = k->f->term_lid[term];

	if (lid > k->t->max_lid || tables_row(k->t, dsw)[lid] != k->f->term_port[term])
		return;
	k->stamp++;
	k->norder = 0;
	for (uint32_t i = 0; i < k->nsources; i++)
		job_routes_add_path(k, k->sources[i], lid, dsw);
	for (uint32_t i = 0; i < k->nsources; i++)
		if (k->sources[i] != dsw)
			k->routes[k->sources[i]] += k->weight[k->sources[i]];
	for (uint32_t i = k->norder; i-- > 0;) {
		uint32_t sw = k->order[i], c = k->next[sw];

		if (c == FAB_NONE || !k->routes[sw])
			continue;
		if (!k->load[c])
			k->used[k->nused++] = c;
		k->load[c] += k->routes[sw];
		if (k->f->chan_dst[c] != dsw)
			k->routes[k->f->chan_dst[c]] += k->routes[sw];
	}
}

static int job_routes_chan_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

typedef VEC(struct entry) entries;

static void job_routes_count_job(struct count *k, const struct job *j, entries *all)
{
	k->nsources = k->nused = 0;
	for (uint32_t i = 0; j->multi && i < j->nterm; i++) {
		uint32_t sw = k->f->term_sw[j->terms[i]];

		if (!k->weight[sw]++)
			k->sources[k->nsources++] = sw;
	}
	for (uint32_t i = 0; j->multi && i < j->nterm; i++)
		job_routes_count_destination(k, j->terms[i]);
	qsort(k->used, k->nused, sizeof(*k->used), job_routes_chan_cmp);
	for (uint32_t i = 0; i < k->nused; i++) {
		vec_push(all, (struct entry){ k->used[i], k->load[k->used[i]] });
		k->load[k->used[i]] = 0;
	}
	for (uint32_t i = 0; i < k->nsources; i++)
		k->weight[k->sources[i]] = 0;
}

static void job_routes_take_jobs(struct job_routes *r, const entries *all)
{
	r->chan = arena_alloc(r->mem, all->n + 1, sizeof(*r->chan));
	r->routes = arena_alloc(r->mem, all->n + 1, sizeof(*r->routes));
	for (size_t i = 0; i < all->n; i++) {
		r->chan[i] = all->v[i].chan;
		r->routes[i] = all->v[i].routes;
	}
}

/* The same by channel. */
static void job_routes_transpose(struct job_routes *r)
{
	uint64_t n = r->off[r->njob], *at;

	r->chan_off = arena_alloc(r->mem, r->nchan + 2ull, sizeof(*r->chan_off));
	r->job = arena_alloc(r->mem, n + 1, sizeof(*r->job));
	r->job_routes = arena_alloc(r->mem, n + 1, sizeof(*r->job_routes));
	for (uint64_t i = 0; i < n; i++)
		r->chan_off[r->chan[i] + 1]++;
	for (uint32_t c = 0; c < r->nchan; c++)
		r->chan_off[c + 1] += r->chan_off[c];
	at = xcalloc(r->nchan + 1ull, sizeof(*at));
	memcpy(at, r->chan_off, r->nchan * sizeof(*at));
	for (uint32_t j = 0; j < r->njob; j++) {
		for (uint64_t i = r->off[j]; i < r->off[j + 1]; i++) {
			uint32_t c = r->chan[i], routes = r->routes[i];
			uint64_t to = at[c]++;

			for (; to > r->chan_off[c] && r->job_routes[to - 1] < routes; to--) {
				r->job[to] = r->job[to - 1];
				r->job_routes[to] = r->job_routes[to - 1];
			}
			r->job[to] = j;
			r->job_routes[to] = routes;
		}
	}
	free(at);
}

static void job_routes_count_begin(struct count *k)
{
	uint32_t nsw = k->f->nsw;

	k->mem = arena_new();
	k->weight = arena_alloc(k->mem, nsw, sizeof(*k->weight));
	k->sources = arena_alloc(k->mem, nsw, sizeof(*k->sources));
	k->load = arena_alloc(k->mem, k->f->nchan + 1ull, sizeof(*k->load));
	k->used = arena_alloc(k->mem, k->f->nchan + 1ull, sizeof(*k->used));
	k->order = arena_alloc(k->mem, nsw, sizeof(*k->order));
	k->next = arena_alloc(k->mem, nsw, sizeof(*k->next));
	k->routes = arena_alloc(k->mem, nsw, sizeof(*k->routes));
	k->seen = arena_alloc(k->mem, nsw, sizeof(*k->seen));
}

int job_routes_compute(struct job_routes **out, const struct fabric *f, const struct tables *t,
		       const struct jobset *jobs, struct progress *progress, struct err *err)
{
	struct count k = { .f = f, .t = t };
	entries all = { 0 };
	struct arena *mem;
	struct job_routes *r;
	int rc = 0;

	*out = NULL;
	if (t->nsw != f->nsw || t->nend != f->nend || jobs->nterm != f->nterm)
		return err_set(err, -EINVAL, "the tables or the jobs are of another fabric");
	mem = arena_new();
	r = arena_alloc(mem, 1, sizeof(*r));
	r->mem = mem;
	r->njob = jobs->njob;
	r->nchan = f->nchan;
	r->off = arena_alloc(r->mem, r->njob + 1ull, sizeof(*r->off));
	job_routes_count_begin(&k);
	for (uint32_t j = 0; !rc && j < r->njob; j++) {
		job_routes_count_job(&k, &jobs->jobs[j], &all);
		r->off[j + 1] = all.n;
		if (progress_step(progress, "job routes", j + 1, r->njob))
			rc = -ECANCELED;
	}
	if (!rc) {
		job_routes_take_jobs(r, &all);
		job_routes_transpose(r);
		*out = r;
	} else {
		job_routes_free(r);
	}
	vec_free(&all);
	arena_free(k.mem);
	return rc;
}

void job_routes_free(struct job_routes *r)
{
	if (r)
		arena_free(r->mem);
}

uint32_t job_routes_on(const struct job_routes *r, uint32_t job, uint32_t chan)
{
	uint64_t low = r->off[job], high = r->off[job + 1];

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (r->chan[mid] == chan)
			return r->routes[mid];
		if (r->chan[mid] < chan)
			low = mid + 1;
		else
			high = mid;
	}
	return 0;
}
