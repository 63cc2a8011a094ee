/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfdn/dfdn_tight.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TURNS (4u << 20) /* in all paths together */
#define NO_PATH	  UINT32_MAX
#define CHOICES	  17 /* 0 .. 16 SLs left */

struct dfdn_paths {
	uint32_t n, nturns; /* paths; turns of the fabric */
	uint32_t *off;	    /* n+1 */
	uint32_t *turn;
	/* while they are listed */
	uint32_t *hash, nhash; /* path + 1; a power of two */
	bool *behind;	       /* by position: a source was seen there */
	bool full;
};

static uint64_t dfdn_tight_hash_of(const uint32_t *turn, uint32_t n)
{
	uint64_t h = n;

	for (uint32_t i = 0; i < n; i++)
		h = (h ^ turn[i]) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static bool dfdn_tight_same_path(const struct dfdn_paths *l, uint32_t path, const uint32_t *turn,
				 uint32_t n)
{
	return l->off[path + 1] - l->off[path] == n &&
	       !memcmp(l->turn + l->off[path], turn, n * sizeof(*turn));
}

/* The path is at the end of the list already: keeps it there unless it is known. */
static void dfdn_tight_keep(struct dfdn_paths *l, uint32_t n)
{
	const uint32_t *turn = l->turn + l->off[l->n];
	uint32_t at = (uint32_t)dfdn_tight_hash_of(turn, n) & (l->nhash - 1);

	for (; l->hash[at]; at = (at + 1) & (l->nhash - 1))
		if (dfdn_tight_same_path(l, l->hash[at] - 1, turn, n))
			return;
	l->hash[at] = l->n + 1;
	l->off[l->n + 1] = l->off[l->n] + n;
	l->n++;
}

static bool dfdn_tight_list_tree(void *ctx, const struct dfdn_tree *x, uint32_t k)
{
	struct dfdn_paths *l = ctx;

	(void)k;
	for (uint32_t a = 0; a < x->nnews; a++)
		l->behind[x->news[a]] = false;
	for (uint32_t a = x->nnews; a-- && !l->full;) {
		uint32_t i = x->news[a], n;
		bool leaf = x->source[i] && !l->behind[i];

		if (!x->source[i] && !l->behind[i])
			continue;
		l->behind[x->parent[i]] = true;
		if (!leaf)
			continue;
		n = dfdn_tree_path(x, i, l->turn + l->off[l->n]);
		if (n >= 2)
			dfdn_tight_keep(l, n);
		l->full = l->off[l->n] > MAX_TURNS;
	}
	return l->full;
}

int dfdn_paths_list(struct dfdn_paths **out, struct dfdn_tree *tree, struct pace *p)
{
	struct dfdn_paths *l = xcalloc(1, sizeof(*l));
	struct dfdn_visit v = { .tree = dfdn_tight_list_tree, .ctx = l };
	int rc;

	l->nturns = tree->turns.n;
	l->turn = xcalloc(MAX_TURNS + 2 * (size_t)tree->n, sizeof(*l->turn));
	l->off = xcalloc(MAX_TURNS / 2 + 2, sizeof(*l->off));
	l->nhash = MAX_TURNS;
	l->hash = xcalloc(l->nhash, sizeof(*l->hash));
	l->behind = xcalloc(tree->n, sizeof(*l->behind));
	rc = dfdn_tree_visit(tree, &v, p);
	free(l->hash);
	free(l->behind);
	l->hash = NULL;
	l->behind = NULL;
	*out = l;
	if (rc || l->full) {
		dfdn_paths_free(l);
		*out = NULL;
	}
	return rc;
}

void dfdn_paths_free(struct dfdn_paths *l)
{
	if (!l)
		return;
	free(l->off);
	free(l->turn);
	free(l);
}

/* Lists of paths by SLs left, the paths that use a turn, and what is placed. */
struct queue {
	struct arena *mem; /* owns the arrays */
	const struct dfdn_paths *paths;
	const struct dfdn_levels *levels;
	uint32_t head[CHOICES], *next, *prev;
	uint16_t *fits; /* by path: SLs left */
	bool *placed;
	uint32_t *user_off, *user;
};

static uint32_t dfdn_tight_path_len(const struct dfdn_paths *l, uint32_t path)
{
	return l->off[path + 1] - l->off[path];
}

static unsigned dfdn_tight_choices(const struct queue *q, uint32_t path)
{
	return (unsigned)__builtin_popcount(q->fits[path]);
}

static void dfdn_tight_unlink_path(struct queue *q, uint32_t path)
{
	if (q->prev[path] != NO_PATH)
		q->next[q->prev[path]] = q->next[path];
	else
		q->head[dfdn_tight_choices(q, path)] = q->next[path];
	if (q->next[path] != NO_PATH)
		q->prev[q->next[path]] = q->prev[path];
}

static void dfdn_tight_link_path(struct queue *q, uint32_t path)
{
	uint32_t *head = &q->head[dfdn_tight_choices(q, path)];

	q->prev[path] = NO_PATH;
	q->next[path] = *head;
	if (*head != NO_PATH)
		q->prev[*head] = path;
	*head = path;
}

static void dfdn_tight_list_users(struct queue *q)
{
	const struct dfdn_paths *l = q->paths;
	uint32_t *fill = xcalloc(l->nturns + 1, sizeof(*fill));

	q->user_off = arena_alloc(q->mem, l->nturns + 1, sizeof(*q->user_off));
	q->user = arena_alloc(q->mem, l->off[l->n], sizeof(*q->user));
	for (uint32_t i = 0; i < l->off[l->n]; i++)
		q->user_off[l->turn[i] + 1]++;
	for (uint32_t t = 0; t < l->nturns; t++) {
		q->user_off[t + 1] += q->user_off[t];
		fill[t] = q->user_off[t];
	}
	for (uint32_t path = 0; path < l->n; path++)
		for (uint32_t i = l->off[path]; i < l->off[path + 1]; i++)
			q->user[fill[l->turn[i]]++] = path;
	free(fill);
}

/* Long paths come first where nothing else distinguishes them. */
static void dfdn_tight_queue_init(struct queue *q, const struct dfdn_paths *l,
				  const struct dfdn_levels *levels)
{
	uint32_t longest = 0;

	*q = (struct queue){ .mem = arena_new(), .paths = l, .levels = levels };
	q->next = arena_alloc(q->mem, l->n, sizeof(*q->next));
	q->prev = arena_alloc(q->mem, l->n, sizeof(*q->prev));
	q->fits = arena_alloc(q->mem, l->n, sizeof(*q->fits));
	q->placed = arena_alloc(q->mem, l->n, sizeof(*q->placed));
	memset(q->head, 0xff, sizeof(q->head));
	memset(q->fits, 0xff, l->n * sizeof(*q->fits));
	for (uint32_t path = 0; path < l->n; path++)
		longest = dfdn_tight_path_len(l, path) > longest ? dfdn_tight_path_len(l, path)
								 : longest;
	for (uint32_t len = 2; len <= longest; len++)
		for (uint32_t path = l->n; path--;)
			if (dfdn_tight_path_len(l, path) == len)
				dfdn_tight_link_path(q, path);
	dfdn_tight_list_users(q);
}

/* Looks again whether the paths that share a turn with the one just placed in that SL still fit
 * it; returns how many did before. */
static uint64_t dfdn_tight_update(struct queue *q, uint32_t placed, unsigned sl)
{
	const struct dfdn_paths *l = q->paths;
	uint64_t work = 0;

	for (uint32_t i = l->off[placed]; i < l->off[placed + 1]; i++) {
		uint32_t t = l->turn[i];

		for (uint32_t k = q->user_off[t]; k < q->user_off[t + 1]; k++) {
			uint32_t path = q->user[k];

			if (q->placed[path] || !(q->fits[path] >> sl & 1))
				continue;
			work++;
			if (dfdn_levels_fits(q->levels, l->turn + l->off[path],
					     dfdn_tight_path_len(l, path), sl))
				continue;
			dfdn_tight_unlink_path(q, path);
			q->fits[path] &= (uint16_t) ~(1u << sl);
			dfdn_tight_link_path(q, path);
		}
	}
	return work;
}

/* The path with the fewest SLs to choose from. */
static uint32_t dfdn_tight_next_path(struct queue *q)
{
	uint32_t path;
	unsigned left = 0;

	while (q->head[left] == NO_PATH)
		left++;
	path = q->head[left];
	dfdn_tight_unlink_path(q, path);
	q->placed[path] = true;
	return path;
}

int dfdn_paths_place(const struct dfdn_paths *paths, struct dfdn_levels *l, enum dfdn_align align,
		     bool *misfit, unsigned *sls, struct pace *p)
{
	struct queue q;
	int rc = 0;

	*misfit = false;
	*sls = 1;
	dfdn_tight_queue_init(&q, paths, l);
	for (uint32_t placed = 0; placed < paths->n && !rc && !*misfit; placed++) {
		uint32_t path = dfdn_tight_next_path(&q), taken = 0;
		unsigned sl =
			dfdn_levels_place(l, paths->turn + paths->off[path],
					  dfdn_tight_path_len(paths, path), 16, align, &taken);
		uint64_t work = 1;

		*misfit = sl == 16;
		*sls = sl >= *sls ? sl + 1 : *sls;
		if (!*misfit && taken)
			work += dfdn_tight_update(&q, path, sl);
		rc = pace_tick(p, p->total - 1, 16 * work) ? -ECANCELED : 0;
	}
	arena_free(q.mem);
	return rc;
}

uint32_t dfdn_paths_turns(const struct dfdn_paths *l)
{
	return l->off[l->n];
}
