/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/host_names.h"

#include "fabric/base/memory/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_ENDS 3

char *host_names_of_desc(struct arena *a, const char *desc, uint64_t node_guid)
{
	char buf[24], *w;

	desc += strspn(desc, " \t");
	if (!*desc) {
		snprintf(buf, sizeof(buf), "0x%016lx", (unsigned long)node_guid);
		return arena_strdup(a, buf);
	}
	w = arena_strdup(a, desc);
	w[strcspn(w, " \t")] = '\0';
	return w;
}

/* As files write it. */
static char host_names_file_char(char c)
{
	return c == '"' ? '\'' : iscntrl((unsigned char)c) ? ' ' : c;
}

bool host_names_same_desc(const char *a, const char *b)
{
	a += strspn(a, " \t");
	b += strspn(b, " \t");
	while (*a && *b && host_names_file_char(*a) != ' ' &&
	       host_names_file_char(*a) == host_names_file_char(*b)) {
		a++;
		b++;
	}
	return (!*a || host_names_file_char(*a) == ' ') && (!*b || host_names_file_char(*b) == ' ');
}

struct named {
	const char *name;
	uint32_t at;
};

static int host_names_by_name(const void *x, const void *y)
{
	const struct named *a = x, *b = y;
	int c = strcmp(a->name, b->name);

	return c ? c : (a->at > b->at) - (a->at < b->at);
}

/* The counted ends in the order of their names. */
static void host_names_sort(uint32_t *out, const struct fabric *f)
{
	struct named *list = xcalloc(f->nterm, sizeof(*list));

	for (uint32_t i = 0; i < f->nterm; i++)
		list[i] = (struct named){ f->term_name[i], i };
	qsort(list, f->nterm, sizeof(*list), host_names_by_name);
	for (uint32_t i = 0; i < f->nterm; i++)
		out[i] = list[i].at;
	free(list);
}

/* Behind the last of the name that begins at i. */
static uint32_t host_names_behind(const struct fabric *f, const uint32_t *order, uint32_t i)
{
	const char *name = f->term_name[order[i]];

	while (++i < f->nterm && !strcmp(f->term_name[order[i]], name))
		;
	return i;
}

/* ---- one host or several ---- */

/* One device of a host, with all of its ports. */
struct device {
	uint64_t machine;
	const char *rest; /* of the description, behind the name */
};

static uint64_t host_names_machine(const struct fabric *f, uint32_t term)
{
	return f->term_sys_guid[term] ? f->term_sys_guid[term] : f->term_node_guid[term];
}

static const char *host_names_rest(const char *desc)
{
	desc += strspn(desc, " \t");
	desc += strcspn(desc, " \t");
	return desc + strspn(desc, " \t");
}

static int host_names_by_machine(const void *x, const void *y)
{
	const struct device *a = x, *b = y;

	return (a->machine > b->machine) - (a->machine < b->machine);
}

static int host_names_by_rest(const void *x, const void *y)
{
	return strcmp(((const struct device *)x)->rest, ((const struct device *)y)->rest);
}

/* Are the machines described apart? */
static bool host_names_apart(struct device *d, uint32_t n)
{
	uint32_t same = 0;

	qsort(d, n, sizeof(*d), host_names_by_rest);
	for (uint32_t i = 0; i < n; i++)
		same += !d[i].rest[0] || (i && !strcmp(d[i].rest, d[i - 1].rest) &&
					  d[i].machine != d[i - 1].machine);
	return !same;
}

static bool host_names_is_one(const struct fabric *f, const uint32_t *term, uint32_t n)
{
	struct device *d = xcalloc(n, sizeof(*d));
	bool mapped = true, one;

	for (uint32_t i = 0; i < n; i++) {
		mapped = mapped && f->term_mapped[term[i]];
		d[i] = (struct device){ host_names_machine(f, term[i]),
					host_names_rest(f->term_desc[term[i]]) };
	}
	qsort(d, n, sizeof(*d), host_names_by_machine);
	one = mapped || d[0].machine == d[n - 1].machine || host_names_apart(d, n);
	free(d);
	return one;
}

/* ---- names of the map before those of descriptions ---- */

static bool host_names_maps_machine(const struct fabric *f, const uint32_t *term, uint32_t n,
				    uint32_t of)
{
	for (uint32_t i = 0; i < n; i++)
		if (f->term_mapped[term[i]] &&
		    host_names_machine(f, term[i]) == host_names_machine(f, of))
			return true;
	return false;
}

static bool host_names_any_mapped(const struct fabric *f, const uint32_t *term, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (f->term_mapped[term[i]])
			return true;
	return false;
}

/* Returns how many got another name. */
static uint32_t host_names_yield(struct fabric *f, const uint32_t *term, uint32_t n)
{
	uint32_t changed = 0;

	if (n < 2 || !host_names_any_mapped(f, term, n))
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		char *s;

		if (f->term_mapped[term[i]] || host_names_maps_machine(f, term, n, term[i]))
			continue;
		s = xasprintf("%s-%06lx", f->term_name[term[i]],
			      (unsigned long)(f->term_node_guid[term[i]] & 0xffffff));
		f->term_name[term[i]] = arena_strdup(f->arena, s);
		free(s);
		changed++;
	}
	return changed;
}

void host_names_index(struct fabric *f)
{
	uint32_t *order = arena_array(f->arena, uint32_t, f->nterm), changed = 0;

	f->term_by_name = order;
	f->term_ambiguous = arena_array(f->arena, bool, f->nend);
	f->nambiguous = 0;
	host_names_sort(order, f);
	for (uint32_t i = 0, j; i < f->nterm; i = j) {
		j = host_names_behind(f, order, i);
		changed += host_names_yield(f, order + i, j - i);
	}
	if (changed)
		host_names_sort(order, f);
	for (uint32_t i = 0, j; i < f->nterm; i = j) {
		j = host_names_behind(f, order, i);
		if (j - i < 2 || host_names_is_one(f, order + i, j - i))
			continue;
		f->nambiguous++;
		for (uint32_t k = i; k < j; k++)
			f->term_ambiguous[order[k]] = true;
	}
}

/* ---- other names ---- */

struct fabric *fabric_renamed(const struct fabric *f, char *const *desc)
{
	struct arena *a = arena_new();
	struct fabric *to = arena_array(a, struct fabric, 1);

	*to = *f;
	to->arena = a;
	to->refs = 1;
	to->base = fabric_get(f);
	to->term_name = arena_array(a, char *, f->nend);
	to->term_desc = arena_array(a, char *, f->nend);
	for (uint32_t t = 0; t < f->nend; t++) {
		bool same = !desc[t] || !strcmp(desc[t], f->term_desc[t]);

		to->term_name[t] = f->term_name[t];
		to->term_desc[t] = same ? f->term_desc[t] : arena_strdup(a, desc[t]);
		if (!same && !f->term_mapped[t])
			to->term_name[t] = host_names_of_desc(a, desc[t], f->term_node_guid[t]);
	}
	host_names_index(to);
	return to;
}

struct name_map *host_names_map(const struct fabric *f)
{
	struct name_map *m = name_map_new();

	for (uint32_t t = 0; t < f->nend; t++)
		if (f->term_mapped[t])
			name_map_add(m, f->term_node_guid[t], f->term_name[t]);
	return m;
}

/* ---- looking up ---- */

uint32_t host_names_twins(const struct fabric *f, uint32_t term, uint32_t *first)
{
	uint32_t lo = 0, hi = f->nterm;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (strcmp(f->term_name[f->term_by_name[mid]], f->term_name[term]) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = lo;
	return host_names_behind(f, f->term_by_name, lo) - lo;
}

void host_names_text(char *buf, size_t size, const struct fabric *f, uint32_t term)
{
	uint32_t first, n = host_names_twins(f, term, &first), shown = n > TEXT_ENDS ? 2 : n;
	size_t len = (size_t)snprintf(buf, size, "%s: ports", f->term_name[term]);

	for (uint32_t i = 0; i < shown && len < size; i++) {
		uint32_t t = f->term_by_name[first + i];

		len += (size_t)snprintf(buf + len, size - len, "%s 0x%016lx at %s/%u",
					!i	     ? ""
					: i + 1 == n ? " and"
						     : ",",
					(unsigned long)f->term_guid[t], f->sw_short[f->term_sw[t]],
					f->term_port[t]);
	}
	if (shown < n && len < size)
		snprintf(buf + len, size - len, " and %u more", n - shown);
}

uint32_t host_names_next_ambiguous(const struct fabric *f, uint32_t i)
{
	if (!f->nambiguous)
		return FAB_NONE;
	for (; i < f->nterm; i++)
		if (f->term_ambiguous[f->term_by_name[i]] &&
		    (!i || strcmp(f->term_name[f->term_by_name[i]],
				  f->term_name[f->term_by_name[i - 1]]) != 0))
			return i;
	return FAB_NONE;
}
