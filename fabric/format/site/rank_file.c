/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/rank_file.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ranks of one line. */
struct span {
	uint32_t first, last;
	uint32_t line;
	uint32_t at;	  /* in the lists: the node of first ... */
	const char *name; /* ... or the one of all */
};

struct rank_file {
	struct arena *arena;
	struct hostlist_folded *lists;
	VEC(struct span) spans; /* by first, once the file is read */
	uint32_t listed;	/* names in the lists */
	uint32_t last;		/* the highest rank */
};

struct reader {
	struct lines *l;
	struct rank_file *r;
	struct err *err;
};

static int rank_file_mistake(const struct reader *x, const char *what, const char *text)
{
	return err_set(x->err, -EINVAL, "%s:%llu: %s: %.80s", lines_path(x->l),
		       (unsigned long long)lines_number(x->l), what, text);
}

/* The only name of a list. */
static int rank_file_name(struct reader *x, const char **name, const char *text, struct err *why)
{
	struct hostlist *h;
	int rc = hostlist_parse(&h, text, why);

	if (rc)
		return rc;
	*name = arena_strdup(x->r->arena, hostlist_names(h)[0]);
	hostlist_free(h);
	return 0;
}

static int rank_file_set_ranks(struct reader *x, struct span s, const char *text)
{
	uint64_t ranks = (uint64_t)s.last - s.first + 1;
	struct err why = { "" };
	uint32_t n;
	int rc = hostlist_measure(&n, text, &why);

	if (!rc && n != 1 && n != ranks)
		return err_set(x->err, -EINVAL,
			       "%s:%llu: %llu ranks and %u nodes; as many nodes as ranks are "
			       "expected, or one for all of them",
			       lines_path(x->l), (unsigned long long)lines_number(x->l),
			       (unsigned long long)ranks, n);
	if (!rc && n == 1) {
		rc = rank_file_name(x, &s.name, text, &why);
	} else if (!rc) {
		s.at = x->r->listed;
		rc = hostlist_fold(x->r->lists, &n, text, &why);
		x->r->listed += n;
	}
	if (rc)
		return rank_file_mistake(x, why.text, text);
	vec_push(&x->r->spans, s);
	return 0;
}

static int rank_file_read_line(struct reader *x, char *line)
{
	const char *s = line;
	uint64_t first, last;
	char *text;

	scan_blank(&s);
	if (scan_word(&s, "rank"))
		scan_blank(&s);
	if (!scan_dec(&first, &s))
		return rank_file_mistake(x, "\"rank: node\" is expected", line);
	last = first;
	if (scan_word(&s, "-") && !scan_dec(&last, &s))
		return rank_file_mistake(x, "not a range of ranks", line);
	scan_blank(&s);
	if (!scan_word(&s, ":") && !scan_word(&s, "="))
		return rank_file_mistake(x, "\"rank: node\" is expected", line);
	if (first > last || last > RANK_MAX)
		return rank_file_mistake(x, "not a range of ranks", line);
	scan_blank(&s);
	text = line + (s - line);
	text[strcspn(text, " \t")] = '\0';
	x->r->last = last > x->r->last ? (uint32_t)last : x->r->last;
	return rank_file_set_ranks(x,
				   (struct span){ .first = (uint32_t)first,
						  .last = (uint32_t)last,
						  .line = (uint32_t)lines_number(x->l) },
				   text);
}

static int rank_file_by_first(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static const char *rank_file_span_node(const struct rank_file *r, const struct span *s,
				       uint32_t rank, char name[HOSTLIST_NAME])
{
	if (s->name)
		snprintf(name, HOSTLIST_NAME, "%s", s->name);
	else
		hostlist_folded_name(r->lists, s->at + (rank - s->first), name);
	return name;
}

static int rank_file_twice(const struct reader *x, const struct span *a, const struct span *b)
{
	const struct span *early = a->line < b->line ? a : b, *late = early == a ? b : a;
	char one[HOSTLIST_NAME], other[HOSTLIST_NAME];

	return err_set(x->err, -EINVAL, "%s:%u: rank %u appears twice, on %s and on %s",
		       lines_path(x->l), late->line, b->first,
		       rank_file_span_node(x->r, early, b->first, one),
		       rank_file_span_node(x->r, late, b->first, other));
}

/* Sorts the ranks; each may be there once. */
static int rank_file_order(const struct reader *x)
{
	struct span *s = x->r->spans.v;

	qsort(s, x->r->spans.n, sizeof(*s), rank_file_by_first);
	for (size_t i = 1; i < x->r->spans.n; i++)
		if (s[i].first <= s[i - 1].last)
			return rank_file_twice(x, &s[i - 1], &s[i]);
	return 0;
}

static struct rank_file *rank_file_new(void)
{
	struct arena *arena = arena_new();
	struct rank_file *r = arena_alloc(arena, 1, sizeof(*r));

	*r = (struct rank_file){ .arena = arena, .lists = hostlist_folded_new() };
	return r;
}

int rank_file_read(struct rank_file **out, FILE *file, const char *path, struct read_report *report,
		   struct err *err)
{
	struct reader x = { .r = rank_file_new(), .err = err };
	char *s;
	int rc = 0;

	x.l = lines_new(file, path, report);
	while (!rc && (s = lines_next_data(x.l)))
		rc = rank_file_read_line(&x, s);
	if (!rc && x.r->spans.n)
		rc = rank_file_order(&x);
	rc = lines_end(x.l, rc, x.r->spans.n ? NULL : "not a rank file: no rank in it", err);
	lines_free(x.l);
	if (rc) {
		rank_file_free(x.r);
		return rc;
	}
	if (report)
		report->records = x.r->last + 1;
	*out = x.r;
	return 0;
}

void rank_file_free(struct rank_file *r)
{
	if (!r)
		return;
	vec_free(&r->spans);
	hostlist_folded_free(r->lists);
	arena_free(r->arena);
}

bool rank_file_node(const struct rank_file *r, uint64_t rank, char name[HOSTLIST_NAME])
{
	size_t low = 0, high = r->spans.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct span *s = &r->spans.v[mid];

		if (rank >= s->first && rank <= s->last) {
			rank_file_span_node(r, s, (uint32_t)rank, name);
			return true;
		}
		low = rank > s->last ? mid + 1 : low;
		high = rank < s->first ? mid : high;
	}
	return false;
}
