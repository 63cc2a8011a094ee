/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/bench/quality_jobs.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAIL	 1.25 /* sizes above s are as many as s to the power of minus that */
#define ARRIVALS 4000 /* of sparse jobs, one in a unit of time ... */
#define DURATION 40   /* ... which last so long on average ... */
#define OCCUPIED 0.6  /* ... on so much of the nodes at most */

const char *const quality_placements[PLACEMENTS] = { "random", "heavy-tailed", "contiguous",
						     "sparse" };

/* Names of nodes in their order, each once; the caller frees the list. */
static const char **nodes_of(const struct fabric *f, uint32_t *n)
{
	const char **names = xcalloc(f->nterm + 1u, sizeof(*names));

	*n = 0;
	for (uint32_t i = 0; i < f->nterm; i++) {
		const char *name = f->term_name[f->term_by_name[i]];

		if (!*n || strcmp(names[*n - 1], name))
			names[(*n)++] = name;
	}
	return names;
}

/* Of n nodes. */
static uint32_t size_of_job(enum placement how, uint32_t n, struct rng *r)
{
	uint32_t most = how == RANDOM ? 20 : how == CONTIGUOUS ? 30 : n / 4;
	double size = how == HEAVY ? 2 * pow(1 - rng_unit(r), -1 / TAIL)
				   : 2 + (double)rng_below(r, most - 1);

	most = most > 2 ? most : 2;
	return size < most ? (uint32_t)size : most;
}

/* Who has a node: a job's number, 0 for nobody; until when. */
struct tenant {
	uint32_t job;
	double end;
};

/* Gives a new job the first free nodes, unless too many are taken. */
static void let_in(struct tenant *node, uint32_t n, uint32_t job, double now, struct rng *r)
{
	static const uint32_t sizes[] = { 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 64, 128 };
	uint32_t want = sizes[rng_below(r, sizeof(sizes) / sizeof(*sizes))], taken = 0;
	double end = now - DURATION * log(1 - rng_unit(r));

	for (uint32_t i = 0; i < n; i++) {
		if (node[i].end <= now)
			node[i].job = 0;
		taken += node[i].job > 0;
	}
	if (taken + want > OCCUPIED * n)
		return;
	for (uint32_t i = 0; i < n && want; i++) {
		if (node[i].job)
			continue;
		node[i] = (struct tenant){ job, end };
		want--;
	}
}

/* What runs at last. */
static struct jobset *place_sparse_jobs(const struct fabric *f, uint64_t draw)
{
	struct jobset_builder *b = jobset_builder_new(f, "bench");
	uint32_t n;
	const char **nodes = nodes_of(f, &n), **names = xcalloc(n + 1u, sizeof(*names));
	struct tenant *node = xcalloc(n, sizeof(*node));
	struct rng r;

	rng_seed(&r, 7 + draw);
	for (uint32_t k = 1; k <= ARRIVALS; k++)
		let_in(node, n, k, k, &r);
	for (uint32_t k = 1; k <= ARRIVALS; k++) {
		struct job head = { .id = k };
		uint32_t size = 0;

		for (uint32_t i = 0; i < n; i++)
			if (node[i].job == k)
				names[size++] = nodes[i];
		if (size > 1)
			jobset_builder_add(b, &head, names, size);
	}
	free(node);
	free(names);
	free(nodes);
	return jobset_build(b);
}

struct jobset *quality_place_jobs(const struct fabric *f, enum placement how, uint64_t draw)
{
	struct jobset_builder *b = jobset_builder_new(f, "bench");
	uint32_t n, *order, at = 0;
	const char **nodes, **names;
	struct rng r;

	if (how == SPARSE) {
		jobset_put(jobset_build(b));
		return place_sparse_jobs(f, draw);
	}
	nodes = nodes_of(f, &n);
	names = xcalloc(n + 1u, sizeof(*names));
	rng_seed(&r, 100 + (uint64_t)how + 1000 * draw);
	order = xcalloc(n + 1u, sizeof(*order));
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (how != CONTIGUOUS)
		rng_shuffle_u32(&r, order, n);
	for (uint64_t id = 1; at + 1 < n; id++) {
		struct job head = { .id = id };
		uint32_t size = size_of_job(how, n, &r);

		size = size < n - at ? size : n - at;
		for (uint32_t i = 0; i < size; i++)
			names[i] = nodes[order[at++]];
		jobset_builder_add(b, &head, names, size);
	}
	free(order);
	free(names);
	free(nodes);
	return jobset_build(b);
}

void quality_check_names(const char *net, const struct fabric *f)
{
	uint32_t n;

	free(nodes_of(f, &n));
	if (n * 16 < f->nterm)
		fprintf(stderr, "%s: its hosts have no names of their own, and so no jobs\n", net);
}
