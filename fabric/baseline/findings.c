/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/baseline/findings.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/fabric_diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *finding_kind_name(enum finding_kind k)
{
	static const char *const names[FINDING_KINDS] = { "gone",   "slower", "moved", "renamed",
							  "errors", "new",    "faster" };

	return names[k];
}

bool finding_counts(const struct finding *f)
{
	return f->kind < FINDING_NEW;
}

struct findings *findings_new(void)
{
	struct findings *l = xcalloc(1, sizeof(*l));

	l->refs = 1;
	return l;
}

const struct findings *findings_get(const struct findings *l)
{
	if (l)
		__atomic_add_fetch(&((struct findings *)l)->refs, 1, __ATOMIC_RELAXED);
	return l;
}

void findings_put(const struct findings *l)
{
	if (!l || __atomic_sub_fetch(&((struct findings *)l)->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].subject);
		free(l->v[i].before);
		free(l->v[i].after);
	}
	fabric_put(l->expected);
	error_set_put(l->errors);
	free(l->path);
	free(l->v);
	free((void *)l);
}

static struct finding *findings_add(struct findings *l, enum finding_kind kind, const char *what,
				    char *subject)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 16;
		l->v = xrealloc(l->v, l->cap, sizeof(*l->v));
	}
	l->v[l->n] = (struct finding){ .kind = kind, .what = what, .subject = subject };
	return &l->v[l->n++];
}

/* --- the fabric ------------------------------------------------------------------------------ */

static bool findings_same_end(uint64_t guid, uint8_t port, const struct fabric_diff_row *r)
{
	return (r->guid == guid && r->port == port) || (r->guid_b == guid && r->port_b == port);
}

/* The new cable at one of the ends of the one that is gone: somebody has plugged it elsewhere. */
static struct fabric_diff_row *findings_moved_to(const struct fabric_diff *d,
						 const struct fabric_diff_row *gone)
{
	for (size_t i = 0; i < d->n; i++) {
		struct fabric_diff_row *r = &d->row[i];

		if (r->change == FDIFF_NEW && r->guid_b && r->subject &&
		    (findings_same_end(gone->guid_b, gone->port_b, r) ||
		     findings_same_end(gone->guid, gone->port, r)))
			return r;
	}
	return NULL;
}

static enum finding_kind findings_kind_of(const struct fabric_diff_row *r)
{
	if (r->change != FDIFF_CHANGED)
		return r->change == FDIFF_GONE ? FINDING_GONE : FINDING_NEW;
	if (!strcmp(r->what, "name"))
		return FINDING_RENAMED;
	return r->slower ? FINDING_SLOWER : FINDING_FASTER;
}

/* A file has ' for " and blanks for what is no text. */
static char findings_plain(char c)
{
	return c == '"' ? '\'' : (unsigned char)c < ' ' || c == 127 ? ' ' : c;
}

static bool findings_same_desc(const char *a, const char *b)
{
	while (*a && findings_plain(*a) == findings_plain(*b)) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Takes the row's texts. */
static struct finding *findings_take_row(struct findings *l, struct fabric_diff_row *r)
{
	struct finding *f = findings_add(l, findings_kind_of(r), r->what, r->subject);

	f->before = r->before;
	f->after = r->after;
	f->guid = r->guid;
	f->guid_b = r->guid_b;
	f->port = r->port;
	r->subject = r->before = r->after = NULL;
	return f;
}

static void findings_take_all(struct findings *l, struct fabric_diff *d)
{
	for (size_t i = 0; i < d->n; i++) {
		struct fabric_diff_row *r = &d->row[i], *to = NULL;
		struct finding *f;

		/* the SM gives LIDs as it likes */
		if (!r->subject || !strcmp(r->what, "lid") ||
		    (!strcmp(r->what, "name") && findings_same_desc(r->before, r->after)))
			continue;
		if (r->change == FDIFF_GONE && r->guid_b)
			to = findings_moved_to(d, r);
		f = findings_take_row(l, r);
		if (to) {
			f->kind = FINDING_MOVED;
			f->before = xstrdup(f->subject);
			f->after = to->subject;
			to->subject = NULL;
		}
	}
}

static int findings_cmp(const void *x, const void *y)
{
	const struct finding *a = x, *b = y;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	return strcmp(a->what, b->what);
}

static void findings_sort(struct findings *l)
{
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), findings_cmp);
}

void findings_add_fabric(struct findings *l, const struct fabric *expected,
			 const struct fabric *now)
{
	struct fabric_diff *d = fabric_diff_new(expected, now);

	findings_take_all(l, d);
	fabric_diff_free(d);
	findings_sort(l);
}

/* --- counters -------------------------------------------------------------------------------- */

static void findings_add_port(struct findings *l, const struct port_errors *was,
			      const struct port_errors *now, const uint64_t limit[ERROR_COUNT],
			      const struct fabric *f)
{
	for (unsigned c = 0; c < ERROR_COUNT; c++) {
		uint64_t rise = port_errors_rise(was, now, c);
		struct finding *found;
		char name[160];

		if (rise <= limit[c])
			continue;
		found = findings_add(l, FINDING_ERRORS, error_counter_name(c),
				     xstrdup(port_errors_name(name, sizeof(name), now, f)));
		found->before = xasprintf("%" PRIu64, was->v[c]);
		found->after = xasprintf("%" PRIu64, now->v[c]);
		found->guid = now->guid;
		found->port = now->port;
		found->rise = rise;
	}
}

void findings_add_errors(struct findings *l, const struct error_set *was,
			 const struct error_set *now, const uint64_t limit[ERROR_COUNT],
			 const struct fabric *f)
{
	for (uint32_t i = 0; i < now->n; i++) {
		const struct port_errors *p = &now->port[i];
		const struct port_errors *before = error_set_find(was, p->guid, p->port);

		if (before)
			findings_add_port(l, before, p, limit, f);
	}
	findings_sort(l);
}

static char *findings_copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static void findings_copy(struct findings *l, const struct findings *from, bool errors)
{
	for (size_t i = 0; from && i < from->n; i++) {
		const struct finding *f = &from->v[i];
		struct finding *to;

		if ((f->kind == FINDING_ERRORS) != errors)
			continue;
		to = findings_add(l, f->kind, f->what, xstrdup(f->subject));
		to->before = findings_copy_text(f->before);
		to->after = findings_copy_text(f->after);
		to->guid = f->guid;
		to->guid_b = f->guid_b;
		to->port = f->port;
		to->rise = f->rise;
	}
}

struct findings *findings_joined(const struct findings *fabric, const struct findings *counters)
{
	struct findings *l = findings_new();

	findings_copy(l, fabric, false);
	findings_copy(l, counters, true);
	findings_sort(l);
	if (counters)
		l->errors = error_set_get(counters->errors);
	if (!fabric)
		return l;
	l->expected = fabric->expected ? fabric_get(fabric->expected) : NULL;
	l->path = findings_copy_text(fabric->path);
	l->accepted = fabric->accepted;
	l->since_s = fabric->since_s;
	return l;
}

uint32_t findings_count(const struct findings *l)
{
	uint32_t n = 0;

	for (size_t i = 0; l && i < l->n; i++)
		n += finding_counts(&l->v[i]);
	return n;
}

char *finding_text(const struct finding *f)
{
	const char *kind = finding_kind_name(f->kind);

	if (f->kind == FINDING_ERRORS)
		return xasprintf("%s: %s rose by %" PRIu64 " to %s", f->subject, f->what, f->rise,
				 f->after);
	if (f->kind == FINDING_MOVED)
		return xasprintf("cable moved: %s -> %s", f->before, f->after);
	if (f->kind == FINDING_RENAMED)
		return xasprintf("renamed: %s -> %s", f->before, f->after);
	if (f->after)
		return xasprintf("%s %s: %s: %s -> %s", f->what, kind, f->subject, f->before,
				 f->after);
	return xasprintf("%s %s: %s", f->what, kind, f->subject);
}
