/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/racks.h"

#include "fabric/base/mem.h"
#include "views/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RACK_LEN 32
#define MOST_PCT 60 /* switches that must have one */

static size_t count_digits(const char *s)
{
	size_t n = 0;

	while (isdigit((unsigned char)s[n]))
		n++;
	return n;
}

/* Length of the rack that begins at s, where a word begins; 0: none does. */
static size_t rack_at(const char *s)
{
	static const char *const words[] = { "rack", "cabinet", "cab", "r", "x" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]), digits;

		if (strncasecmp(s, words[i], n) != 0)
			continue;
		if (n > 2 && s[n] && strchr("-_ ", s[n]))
			n++;
		digits = count_digits(s + n);
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
		n = rack_at(s);
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
static int tagged_cmp(const void *pa, const void *pb)
{
	const struct tagged *a = pa, *b = pb;
	int d;

	if (!a->rack[0] != !b->rack[0])
		return a->rack[0] ? -1 : 1;
	d = text_natural_cmp(a->rack, b->rack);
	return d ? d : a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* The rack that most hosts of a switch say. */
static void rack_of_hosts(char buf[RACK_LEN], const struct fabric *f, uint32_t sw)
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

static bool take_tags(struct racks *r, const struct fabric *f, struct tagged *all, bool hosts)
{
	uint32_t with = 0, of = 0, n = 0;

	for (uint32_t i = 0; i < f->nsw; i++) {
		with += all[i].rack[0] != '\0';
		of += !hosts || f->sw_nterm[all[i].sw];
	}
	if (!with || with * 100ull < of * (uint64_t)MOST_PCT)
		return false;
	qsort(all, f->nsw, sizeof(*all), tagged_cmp);
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
static void tag(struct tagged *all, const struct fabric *f, bool hosts)
{
	memset(all, 0, f->nsw * sizeof(*all));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		all[sw].sw = sw;
		if (hosts)
			rack_of_hosts(all[sw].rack, f, sw);
		else if (!rack_in_name(all[sw].rack, sizeof(all[sw].rack), f->sw_name[sw]))
			all[sw].rack[0] = '\0';
	}
}

struct racks *racks_new(const struct fabric *f)
{
	struct racks *r = xcalloc(1, sizeof(*r));
	struct tagged *all = xcalloc(f->nsw, sizeof(*all));

	r->arena = arena_new();
	r->name = arena_array(r->arena, char *, f->nsw + 1ull);
	r->of = arena_array(r->arena, uint32_t, f->nsw + 1ull);
	r->from = "switch names";
	tag(all, f, false);
	if (!take_tags(r, f, all, false)) {
		r->from = "host names";
		tag(all, f, true);
		if (!take_tags(r, f, all, true))
			r->n = 0;
	}
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
