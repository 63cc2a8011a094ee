/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/state/racks.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/text/natural.h"
#include "fabric/format/slurm/slurm_topology.h"
#include "views/data/state/state.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RACK_LEN 32
#define MOST_PCT 60 /* switches that must have one */

static size_t racks_count_digits(const char *s)
{
	size_t n = 0;

	while (isdigit((unsigned char)s[n]))
		n++;
	return n;
}

/* Length of the rack that begins at s, where a word begins; 0: none does. */
static size_t racks_at(const char *s)
{
	static const char *const words[] = { "rack", "cabinet", "cab", "r", "x" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]), digits;

		if (strncasecmp(s, words[i], n) != 0)
			continue;
		if (n > 2 && s[n] && strchr("-_ ", s[n]))
			n++;
		digits = racks_count_digits(s + n);
		/* x1000c2 is a place in a cabinet, x12 any name */
		if (!digits || (words[i][0] == 'x' && s[n + digits] != 'c'))
			continue;
		return n + digits;
	}
	return 0;
}

bool rack_in_name(char *buf, size_t len, const char *name)
{
	for (const char *s = name; *s; s++) {
		size_t n;

		if (s > name && isalpha((unsigned char)s[-1]))
			continue;
		n = racks_at(s);
		if (!n)
			continue;
		snprintf(buf, len, "%.*s", (int)n, s);
		return true;
	}
	return false;
}

struct tagged {
	char rack[RACK_LEN]; /* "" none */
	uint32_t sw;
};

/* Those without a rack last. */
static int racks_tagged_cmp(const void *pa, const void *pb)
{
	const struct tagged *a = pa, *b = pb;
	int d;

	if (!a->rack[0] != !b->rack[0])
		return a->rack[0] ? -1 : 1;
	d = natural_cmp(a->rack, b->rack);
	return d ? d : a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* The rack that most hosts of a switch say. */
static void racks_of_hosts(char buf[RACK_LEN], const struct fabric *f, uint32_t sw)
{
	uint32_t best = 0;

	for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++) {
		char rack[RACK_LEN], other[RACK_LEN];
		uint32_t n = 0;

		if (!rack_in_name(rack, sizeof(rack), f->term_name[f->term_list[i]]))
			continue;
		for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++)
			n += rack_in_name(other, sizeof(other), f->term_name[f->term_list[k]]) &&
			     !strcmp(rack, other);
		if (n <= best)
			continue;
		best = n;
		snprintf(buf, RACK_LEN, "%s", rack);
	}
}

static bool racks_take_tags(struct racks *r, const struct fabric *f, struct tagged *all, bool hosts)
{
	uint32_t with = 0, of = 0, n = 0;

	for (uint32_t i = 0; i < f->nsw; i++) {
		with += all[i].rack[0] != '\0';
		of += !hosts || f->sw_nterm[all[i].sw];
	}
	if (!with || with * 100ull < of * (uint64_t)MOST_PCT)
		return false;
	qsort(all, f->nsw, sizeof(*all), racks_tagged_cmp);
	for (uint32_t i = 0; i < f->nsw; i++) {
		if (!i || strcmp(all[i].rack, all[i - 1].rack) != 0)
			r->name[n++] =
				arena_strdup(r->arena, all[i].rack[0] ? all[i].rack : "elsewhere");
		r->of[all[i].sw] = n - 1;
	}
	r->n = n >= 2 ? n : 0;
	return r->n > 0;
}

/* Hosts know only of the switches that they are on: the others, spines, are elsewhere. */
static void racks_tag(struct tagged *all, const struct fabric *f, bool hosts)
{
	memset(all, 0, f->nsw * sizeof(*all));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		all[sw].sw = sw;
		if (hosts)
			racks_of_hosts(all[sw].rack, f, sw);
		else if (!rack_in_name(all[sw].rack, sizeof(all[sw].rack), f->sw_name[sw]))
			all[sw].rack[0] = '\0';
	}
}

/* --- from a file ----------------------------------------------------------------------------- */

/* A name of the file, and the block that it is in. */
struct member {
	const char *name;
	uint32_t block;
};

struct blocks {
	const struct slurm_topology *file;
	uint32_t n;	     /* blocks */
	struct member *node; /* hosts, by name */
	struct member *sw;   /* blocks themselves, by name */
	uint32_t nnode;
	uint32_t *above; /* by block: the first that names it; FAB_NONE */
	uint32_t *of;	 /* by switch of the fabric: block; FAB_NONE */
};

static int racks_member_cmp(const void *pa, const void *pb)
{
	return strcmp(((const struct member *)pa)->name, ((const struct member *)pb)->name);
}

static uint32_t racks_block_of(const struct member *all, uint32_t n, const char *name)
{
	struct member key = { name, 0 };
	const struct member *m = n ? bsearch(&key, all, n, sizeof(*all), racks_member_cmp) : NULL;

	return m ? m->block : FAB_NONE;
}

static void racks_blocks_read(struct blocks *b, const struct slurm_topology *file)
{
	uint32_t n = 0;

	b->file = file;
	b->n = slurm_topology_count(file);
	for (uint32_t i = 0; i < b->n; i++)
		b->nnode += slurm_topology_switch(file, i)->nnodes;
	b->node = xcalloc(b->nnode + 1ull, sizeof(*b->node));
	b->sw = xcalloc(b->n + 1ull, sizeof(*b->sw));
	b->above = xcalloc(b->n + 1ull, sizeof(*b->above));
	memset(b->above, 0xff, (b->n + 1ull) * sizeof(*b->above));
	for (uint32_t i = 0; i < b->n; i++) {
		const struct slurm_switch *s = slurm_topology_switch(file, i);

		b->sw[i] = (struct member){ s->name, i };
		for (uint32_t k = 0; k < s->nnodes; k++)
			b->node[n++] = (struct member){ s->nodes[k], i };
		for (uint32_t k = 0; k < s->nbelow; k++)
			if (b->above[s->below[k]] == FAB_NONE)
				b->above[s->below[k]] = i;
	}
	qsort(b->sw, b->n, sizeof(*b->sw), racks_member_cmp);
	qsort(b->node, b->nnode, sizeof(*b->node), racks_member_cmp);
}

/* "n001 mlx5_0" is host n001. */
static uint32_t racks_block_of_host(const struct blocks *b, const char *name)
{
	char host[128];

	snprintf(host, sizeof(host), "%.*s", (int)strcspn(name, " "), name);
	return racks_block_of(b->node, b->nnode, host);
}

/* The block that most hosts of a switch are in; else the one of its own name. */
static uint32_t racks_block_of_switch(const struct blocks *b, const struct fabric *f, uint32_t sw,
				      uint32_t *votes)
{
	uint32_t best = FAB_NONE;
	char name[NAME_LEN];

	for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++) {
		uint32_t k = racks_block_of_host(b, f->term_name[f->term_list[i]]);

		if (k != FAB_NONE && (++votes[k], best == FAB_NONE || votes[k] > votes[best]))
			best = k;
	}
	for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++) {
		uint32_t k = racks_block_of_host(b, f->term_name[f->term_list[i]]);

		if (k != FAB_NONE)
			votes[k] = 0;
	}
	return best != FAB_NONE
		       ? best
		       : racks_block_of(b->sw, b->n, switch_label(name, sizeof(name), f, sw));
}

/* How many blocks the switches are in; with: switches that are in any. */
static uint32_t racks_count_blocks(const uint32_t *of, uint32_t nsw, uint32_t nblock,
				   uint32_t *with)
{
	uint8_t *seen = xcalloc(nblock + 1ull, 1);
	uint32_t n = 0;

	*with = 0;
	for (uint32_t sw = 0; sw < nsw; sw++) {
		if (of[sw] == FAB_NONE)
			continue;
		++*with;
		n += !seen[of[sw]];
		seen[of[sw]] = 1;
	}
	free(seen);
	return n;
}

/* A switch each: what is above them, as long as this is more than one. */
static void racks_climb(struct blocks *b, const struct fabric *f)
{
	uint32_t *up = xcalloc(f->nsw, sizeof(*up)), with, n, above;

	n = racks_count_blocks(b->of, f->nsw, b->n, &with);
	while (n * 3ull > with * 2ull) {
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			up[sw] = b->of[sw] == FAB_NONE ? FAB_NONE : b->above[b->of[sw]];
		above = racks_count_blocks(up, f->nsw, b->n, &with);
		if (above < 2 || above >= n)
			break;
		memcpy(b->of, up, f->nsw * sizeof(*up));
		n = above;
	}
	free(up);
}

static void racks_tag_by_file(struct tagged *all, const struct fabric *f,
			      const struct slurm_topology *file)
{
	struct blocks b = { 0 };
	uint32_t *votes;

	racks_blocks_read(&b, file);
	votes = xcalloc(b.n + 1ull, sizeof(*votes));
	b.of = xcalloc(f->nsw, sizeof(*b.of));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		b.of[sw] = racks_block_of_switch(&b, f, sw, votes);
	racks_climb(&b, f);
	memset(all, 0, f->nsw * sizeof(*all));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		all[sw].sw = sw;
		if (b.of[sw] != FAB_NONE)
			snprintf(all[sw].rack, sizeof(all[sw].rack), "%s",
				 slurm_topology_switch(file, b.of[sw])->name);
	}
	free(votes);
	free(b.of);
	free(b.node);
	free(b.sw);
	free(b.above);
}

static bool racks_by_file(struct racks *r, const struct fabric *f, struct tagged *all,
			  const struct slurm_topology *file, const char *path)
{
	const char *slash = strrchr(path, '/');
	uint32_t with = 0;

	r->from = arena_strdup(r->arena, slash ? slash + 1 : path);
	racks_tag_by_file(all, f, file);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		with += all[sw].rack[0] != '\0';
	if (racks_take_tags(r, f, all, true))
		return true;
	r->n = 0;
	log_add(LOG_WARN, "racks",
		"%s: its blocks hold %u of %u switches; at least two blocks and most switches "
		"with hosts are needed: racks are read from names instead",
		path, with, f->nsw);
	return false;
}

struct racks *racks_new(const struct fabric *f, const struct slurm_topology *file, const char *path)
{
	struct racks *r = xcalloc(1, sizeof(*r));
	struct tagged *all = xcalloc(f->nsw, sizeof(*all));

	r->arena = arena_new();
	r->name = arena_array(r->arena, char *, f->nsw + 1ull);
	r->of = arena_array(r->arena, uint32_t, f->nsw + 1ull);
	if (file && racks_by_file(r, f, all, file, path))
		goto out;
	r->from = "switch names";
	racks_tag(all, f, false);
	if (!racks_take_tags(r, f, all, false)) {
		r->from = "host names";
		racks_tag(all, f, true);
		if (!racks_take_tags(r, f, all, true))
			r->n = 0;
	}
out:
	free(all);
	return r;
}

void racks_free(struct racks *r)
{
	if (!r)
		return;
	arena_free(r->arena);
	free(r);
}
