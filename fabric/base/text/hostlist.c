/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/text/hostlist.h"

#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_DIGITS 18u /* of a number in a name: fits 64 bits */
#define MAX_NAME   (HOSTLIST_NAME - 1u)

struct hostlist {
	struct arena *arena;
	VEC(const char *) names;
};

/* "0001-0003": numbers are written with at least width digits */
struct range {
	uint64_t lo, hi;
	unsigned width;
	uint64_t before; /* of a folded list: numbers of its bracket in front of it */
};

/* A piece of one item of the list: text, or the ranges of one bracket. */
struct piece {
	const char *text;
	size_t len;
	size_t first, n; /* ranges; n == 0: text */
	size_t at;	 /* while expanding: the range ... */
	uint64_t value;	 /* ... and the number in it */
};

struct parser {
	const char *text, *p;
	struct err *err;
	struct hostlist *h; /* NULL: they are only counted */
	uint64_t n;	    /* names up to here */
	VEC(struct range) ranges;
	VEC(struct piece) pieces;
};

/* An item of a folded list: its pieces end where the next one's begin. */
struct item {
	size_t piece;
	uint64_t before; /* names in front of it */
};

struct hostlist_folded {
	struct arena *arena; /* the texts */
	struct parser x;     /* its pieces are those of all lists */
	VEC(struct item) items;
	uint64_t n; /* names */
};

static int hostlist_mistake(const struct parser *x, int rc, const char *what)
{
	return err_set(x->err, rc, "node list, position %zu (\"%.20s\"): %s",
		       (size_t)(x->p - x->text) + 1, x->p, what);
}

static int hostlist_read_number(struct parser *x, uint64_t *v, unsigned *width)
{
	*v = 0;
	*width = 0;
	while (*x->p >= '0' && *x->p <= '9') {
		if (++*width > MAX_DIGITS)
			return hostlist_mistake(x, -EINVAL, "the number is too large");
		*v = *v * 10 + (uint64_t)(*x->p++ - '0');
	}
	return *width ? 0 : hostlist_mistake(x, -EINVAL, "a number is expected here");
}

static int hostlist_read_range(struct parser *x)
{
	struct range r;
	unsigned width;
	int rc = hostlist_read_number(x, &r.lo, &r.width);

	if (rc)
		return rc;
	r.hi = r.lo;
	if (*x->p == '-') {
		x->p++;
		rc = hostlist_read_number(x, &r.hi, &width);
		if (rc)
			return rc;
		if (r.hi < r.lo)
			return hostlist_mistake(x, -EINVAL,
						"the range before this ends below its start");
		if (r.hi - r.lo >= HOSTLIST_MAX)
			return hostlist_mistake(x, -E2BIG, "the range before this is too long");
	}
	vec_push(&x->ranges, r);
	return 0;
}

static int hostlist_read_bracket(struct parser *x)
{
	struct piece piece = { .first = x->ranges.n };
	int rc;

	x->p++;
	for (;;) {
		rc = hostlist_read_range(x);
		if (rc)
			return rc;
		if (*x->p == ']')
			break;
		if (!*x->p)
			return hostlist_mistake(x, -EINVAL, "missing closing bracket");
		if (*x->p != ',')
			return hostlist_mistake(x, -EINVAL, "a comma or ] is expected here");
		x->p++;
	}
	x->p++;
	piece.n = x->ranges.n - piece.first;
	vec_push(&x->pieces, piece);
	return 0;
}

static int hostlist_read_item(struct parser *x)
{
	int rc;

	while (*x->p && *x->p != ',') {
		struct piece text = { .text = x->p };

		if (*x->p == '[') {
			rc = hostlist_read_bracket(x);
			if (rc)
				return rc;
			continue;
		}
		if (*x->p == ']')
			return hostlist_mistake(x, -EINVAL,
						"closing bracket without an opening one");
		text.len = strcspn(x->p, ",[] \t");
		if (!text.len)
			return hostlist_mistake(x, -EINVAL, "names contain no blanks");
		x->p += text.len;
		vec_push(&x->pieces, text);
	}
	return 0;
}

static unsigned hostlist_natural_width(uint64_t v)
{
	unsigned n = 1;

	while (v >= 10) {
		v /= 10;
		n++;
	}
	return n;
}

/* Its names and the bytes of the longest number; more names than any list may have count as that.
 */
static uint64_t hostlist_count_piece(size_t *widest, const struct parser *x, const struct piece *p)
{
	uint64_t n = 0;

	*widest = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct range *r = &x->ranges.v[p->first + i];
		unsigned width = hostlist_natural_width(r->hi);

		n += r->hi - r->lo + 1;
		n = n > HOSTLIST_MAX ? HOSTLIST_MAX + 1 : n;
		width = width > r->width ? width : r->width;
		*widest = width > *widest ? width : *widest;
	}
	return n;
}

/* Counts what the item from that piece on expands to, before anything of it is. */
static int hostlist_count_item(struct parser *x, size_t first)
{
	uint64_t n = 1;
	size_t len = 0;

	for (size_t i = first; i < x->pieces.n; i++) {
		const struct piece *p = &x->pieces.v[i];
		size_t widest = p->len;

		if (p->n)
			n *= hostlist_count_piece(&widest, x, p);
		len += widest;
		if (n > HOSTLIST_MAX)
			break;
	}
	x->n += n;
	if (x->n > HOSTLIST_MAX)
		return hostlist_mistake(x, -E2BIG, "the list has more than a million names");
	return len > MAX_NAME ? hostlist_mistake(x, -EINVAL, "the name before this is too long")
			      : 0;
}

/* Writes the name that the pieces of an item stand at. */
static void hostlist_spell(const struct parser *x, size_t first, size_t end,
			   char name[HOSTLIST_NAME])
{
	size_t len = 0;

	for (size_t i = first; i < end; i++) {
		const struct piece *p = &x->pieces.v[i];

		if (p->n) {
			len += (size_t)snprintf(name + len, HOSTLIST_NAME - len, "%0*" PRIu64,
						(int)x->ranges.v[p->first + p->at].width, p->value);
		} else {
			memcpy(name + len, p->text, p->len);
			len += p->len;
		}
	}
	name[len] = '\0';
}

static void hostlist_rewind_piece(const struct parser *x, struct piece *p)
{
	p->at = 0;
	if (p->n)
		p->value = x->ranges.v[p->first].lo;
}

/* The next combination, the last bracket fastest; false after the last. */
static bool hostlist_step(struct parser *x)
{
	for (size_t i = x->pieces.n; i-- > 0;) {
		struct piece *p = &x->pieces.v[i];

		if (!p->n)
			continue;
		if (p->value < x->ranges.v[p->first + p->at].hi) {
			p->value++;
			return true;
		}
		if (p->at + 1 < p->n) {
			p->at++;
			p->value = x->ranges.v[p->first + p->at].lo;
			return true;
		}
		hostlist_rewind_piece(x, p);
	}
	return false;
}

static void hostlist_expand(struct parser *x)
{
	char name[HOSTLIST_NAME];

	for (size_t i = 0; i < x->pieces.n; i++)
		hostlist_rewind_piece(x, &x->pieces.v[i]);
	do {
		hostlist_spell(x, 0, x->pieces.n, name);
		vec_push(&x->h->names, arena_strdup(x->h->arena, name));
	} while (hostlist_step(x));
}

static int hostlist_do_parse(struct parser *x)
{
	int rc = 0;

	while (!rc && *x->p) {
		if (*x->p == ',') {
			x->p++;
			continue;
		}
		x->pieces.n = x->ranges.n = 0;
		rc = hostlist_read_item(x);
		if (!rc)
			rc = hostlist_count_item(x, 0);
		if (!rc && x->h)
			hostlist_expand(x);
	}
	return rc;
}

static bool hostlist_is_empty(const char *s)
{
	return !*s || !strcmp(s, "(null)") || !strcmp(s, "None assigned");
}

/* The list, without the blanks around it; false: it is empty. */
static bool hostlist_begin(struct parser *x, char *copy)
{
	size_t len = strlen(copy);

	while (len && strchr(" \t\r\n", copy[len - 1]))
		len--;
	copy[len] = '\0';
	x->text = copy;
	x->p = copy + strspn(copy, " \t");
	return !hostlist_is_empty(x->p);
}

/* Into h, where there is one. */
static int hostlist_read(struct parser *x, const char *text)
{
	char *copy = xstrdup(text);
	int rc = hostlist_begin(x, copy) ? hostlist_do_parse(x) : 0;

	vec_free(&x->ranges);
	vec_free(&x->pieces);
	free(copy);
	return rc;
}

int hostlist_parse(struct hostlist **out, const char *text, struct err *err)
{
	struct hostlist *h = xcalloc(1, sizeof(*h));
	struct parser x = { .err = err, .h = h };
	int rc;

	h->arena = arena_new();
	rc = hostlist_read(&x, text);
	if (rc)
		hostlist_free(h);
	else
		*out = h;
	return rc;
}

int hostlist_measure(uint32_t *n, const char *text, struct err *err)
{
	struct parser x = { .err = err };
	int rc = hostlist_read(&x, text);

	*n = rc ? 0 : (uint32_t)x.n;
	return rc;
}

void hostlist_free(struct hostlist *h)
{
	if (!h)
		return;
	vec_free(&h->names);
	arena_free(h->arena);
	free(h);
}

uint32_t hostlist_count(const struct hostlist *h)
{
	return (uint32_t)h->names.n;
}

const char *const *hostlist_names(const struct hostlist *h)
{
	return h->names.v;
}

struct hostlist_folded *hostlist_folded_new(void)
{
	struct hostlist_folded *h = xcalloc(1, sizeof(*h));

	h->arena = arena_new();
	return h;
}

void hostlist_folded_free(struct hostlist_folded *h)
{
	if (!h)
		return;
	vec_free(&h->items);
	vec_free(&h->x.ranges);
	vec_free(&h->x.pieces);
	arena_free(h->arena);
	free(h);
}

static void hostlist_number_ranges(struct parser *x, size_t first)
{
	for (size_t i = first; i < x->pieces.n; i++) {
		const struct piece *p = &x->pieces.v[i];
		uint64_t before = 0;

		for (struct range *r = x->ranges.v + p->first; r < x->ranges.v + p->first + p->n;
		     r++) {
			r->before = before;
			before += r->hi - r->lo + 1;
		}
	}
}

static int hostlist_fold_item(struct hostlist_folded *h)
{
	struct parser *x = &h->x;
	struct item item = { .piece = x->pieces.n, .before = h->n + x->n };
	int rc = hostlist_read_item(x);

	if (!rc)
		rc = hostlist_count_item(x, item.piece);
	if (rc)
		return rc;
	hostlist_number_ranges(x, item.piece);
	vec_push(&h->items, item);
	return 0;
}

int hostlist_fold(struct hostlist_folded *h, uint32_t *n, const char *text, struct err *err)
{
	struct parser *x = &h->x;
	bool more = hostlist_begin(x, arena_strdup(h->arena, text));
	int rc = 0;

	x->err = err;
	x->n = 0;
	while (!rc && more && *x->p) {
		if (*x->p == ',')
			x->p++;
		else
			rc = hostlist_fold_item(h);
	}
	*n = rc ? 0 : (uint32_t)x->n;
	h->n += *n;
	return rc;
}

/* The last of n things of that size with at most v in front of it. */
static size_t hostlist_find(const uint64_t *before, size_t n, size_t size, uint64_t v)
{
	size_t low = 0;

	while (n > 1) {
		size_t half = n / 2;
		const uint64_t *at = (const void *)((const char *)before + (low + half) * size);

		low += *at <= v ? half : 0;
		n = *at <= v ? n - half : half;
	}
	return low;
}

/* A combination of the item's ranges, the last bracket fastest. */
static void hostlist_stand_at(struct parser *x, size_t first, size_t end, uint64_t i)
{
	for (size_t k = end; k-- > first;) {
		struct piece *p = &x->pieces.v[k];
		const struct range *r = &x->ranges.v[p->first], *last = r + p->n - 1;
		uint64_t n, v;

		if (!p->n)
			continue;
		n = last->before + (last->hi - last->lo + 1);
		v = i % n;
		i /= n;
		p->at = hostlist_find(&r->before, p->n, sizeof(*r), v);
		p->value = r[p->at].lo + (v - r[p->at].before);
	}
}

void hostlist_folded_name(struct hostlist_folded *h, uint64_t i, char name[HOSTLIST_NAME])
{
	size_t k = hostlist_find(&h->items.v->before, h->items.n, sizeof(*h->items.v), i);
	const struct item *item = &h->items.v[k];
	size_t end = k + 1 < h->items.n ? item[1].piece : h->x.pieces.n;

	hostlist_stand_at(&h->x, item->piece, end, i - item->before);
	hostlist_spell(&h->x, item->piece, end, name);
}

/* A name in three parts: what is before its last number, the number, what is behind. */
struct parts {
	const char *name, *suffix;
	size_t prefix;	 /* bytes */
	unsigned digits; /* 0: no number, or one too long to count with */
	uint64_t value;
};

static struct parts hostlist_split(const char *name)
{
	struct parts p = { .name = name };
	size_t end = strlen(name), start;

	while (end && (name[end - 1] < '0' || name[end - 1] > '9'))
		end--;
	for (start = end; start && name[start - 1] >= '0' && name[start - 1] <= '9';)
		start--;
	if (start == end || end - start > MAX_DIGITS) {
		p.prefix = strlen(name);
		p.suffix = name + p.prefix;
		return p;
	}
	p.prefix = start;
	p.suffix = name + end;
	p.digits = (unsigned)(end - start);
	for (size_t i = start; i < end; i++)
		p.value = p.value * 10 + (uint64_t)(name[i] - '0');
	return p;
}

static int hostlist_compare_group(const struct parts *a, const struct parts *b)
{
	size_t n = a->prefix < b->prefix ? a->prefix : b->prefix;
	int c = memcmp(a->name, b->name, n);

	if (c)
		return c;
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	if (!a->digits != !b->digits)
		return a->digits ? 1 : -1;
	return strcmp(a->suffix, b->suffix);
}

/* Within a group by number; the same number with other leading zeros is another name. */
static int hostlist_by_parts(const void *x, const void *y)
{
	const struct parts *a = x, *b = y;
	int c = hostlist_compare_group(a, b);

	if (c)
		return c;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return (int)a->digits - (int)b->digits;
}

/* b can follow in the range that began with lo and now ends with a. */
static bool hostlist_follows(const struct parts *lo, const struct parts *a, const struct parts *b)
{
	unsigned width = hostlist_natural_width(b->value);

	return b->value == a->value + 1 && b->digits == (width > lo->digits ? width : lo->digits);
}

static void hostlist_print_number(FILE *f, const struct parts *p)
{
	fprintf(f, "%.*s", (int)p->digits, p->name + p->prefix);
}

/* Names first .. end - 1 differ only in their number. */
static void hostlist_print_group(FILE *f, const struct parts *p, size_t n)
{
	fprintf(f, "%.*s", (int)p->prefix, p->name);
	if (p->digits) {
		fputs(n > 1 ? "[" : "", f);
		for (size_t i = 0, k; i < n; i = k) {
			for (k = i + 1; k < n && hostlist_follows(&p[i], &p[k - 1], &p[k]); k++)
				;
			fputs(i ? "," : "", f);
			hostlist_print_number(f, &p[i]);
			if (k > i + 1) {
				fputs("-", f);
				hostlist_print_number(f, &p[k - 1]);
			}
		}
		fputs(n > 1 ? "]" : "", f);
	}
	fputs(p->suffix, f);
}

char *hostlist_compress(const char *const *names, uint32_t n)
{
	struct parts *p = xcalloc(n, sizeof(*p));
	char *text = NULL;
	size_t len = 0, m = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		guard_give_up(-ENOMEM, "out of memory for a list of hosts");
	for (uint32_t i = 0; i < n; i++)
		p[i] = hostlist_split(names[i]);
	qsort(p, n, sizeof(*p), hostlist_by_parts);
	for (uint32_t i = 0; i < n; i++)
		if (!i || strcmp(p[i].name, p[m - 1].name))
			p[m++] = p[i];
	for (size_t i = 0, k; i < m; i = k) {
		for (k = i + 1; k < m && p[i].digits && !hostlist_compare_group(&p[i], &p[k]); k++)
			;
		fputs(i ? "," : "", f);
		hostlist_print_group(f, &p[i], k - i);
	}
	fclose(f);
	free(p);
	return text;
}

char *hostlist_again(const char *text, struct err *err)
{
	struct hostlist *h;
	char *again;

	if (hostlist_parse(&h, text, err))
		return NULL;
	again = hostlist_compress(hostlist_names(h), hostlist_count(h));
	hostlist_free(h);
	return again;
}
