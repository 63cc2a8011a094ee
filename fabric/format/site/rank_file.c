/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/site/rank_file.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/text/hostlist.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct reader {
	struct lines *l;
	struct arena *arena;
	VEC(const char *) node;
	struct err *err;
};

static int rank_file_mistake(const struct reader *x, const char *what, const char *text)
{
	return err_set(x->err, -EINVAL, "%s:%llu: %s: %.80s", lines_path(x->l),
		       (unsigned long long)lines_number(x->l), what, text);
}

static int rank_file_set_rank(struct reader *x, uint64_t rank, const char *name)
{
	while (x->node.n <= rank)
		vec_push(&x->node, NULL);
	if (x->node.v[rank])
		return err_set(x->err, -EINVAL, "%s:%llu: rank %llu appears twice, on %s and on %s",
			       lines_path(x->l), (unsigned long long)lines_number(x->l),
			       (unsigned long long)rank, x->node.v[rank], name);
	x->node.v[rank] = name;
	return 0;
}

static int rank_file_set_ranks(struct reader *x, uint64_t first, uint64_t last, const char *text)
{
	struct err why = { "" };
	struct hostlist *h;
	const char *const *names, *name = NULL;
	uint32_t n;
	int rc = 0;

	if (hostlist_parse(&h, text, &why))
		return rank_file_mistake(x, why.text, text);
	n = hostlist_count(h);
	names = hostlist_names(h);
	if (n != 1 && n != last - first + 1)
		rc = err_set(x->err, -EINVAL,
			     "%s:%llu: %llu ranks and %u nodes; as many nodes as ranks are "
			     "expected, or one for all of them",
			     lines_path(x->l), (unsigned long long)lines_number(x->l),
			     (unsigned long long)(last - first + 1), n);
	for (uint64_t r = first; !rc && r <= last; r++) {
		if (!name || n > 1)
			name = arena_strdup(x->arena, names[n > 1 ? r - first : 0]);
		rc = rank_file_set_rank(x, r, name);
	}
	hostlist_free(h);
	return rc;
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
	return rank_file_set_ranks(x, first, last, text);
}

int rank_file_read(struct rank_file **out, FILE *file, const char *path, struct read_report *report,
		   struct err *err)
{
	struct reader x = { .arena = arena_new(), .err = err };
	struct rank_file *r;
	char *s;
	int rc = 0;

	x.l = lines_new(file, path, report);
	while (!rc && (s = lines_next_data(x.l)))
		rc = rank_file_read_line(&x, s);
	rc = lines_end(x.l, rc, x.node.n ? NULL : "not a rank file: no rank in it", err);
	lines_free(x.l);
	if (rc) {
		arena_free(x.arena);
	} else {
		r = arena_alloc(x.arena, 1, sizeof(*r));
		r->arena = x.arena;
		r->n = (uint32_t)x.node.n;
		r->node = arena_alloc(x.arena, r->n, sizeof(*r->node));
		memcpy(r->node, x.node.v, r->n * sizeof(*r->node));
		if (report)
			report->records = r->n;
		*out = r;
	}
	vec_free(&x.node);
	return rc;
}

void rank_file_free(struct rank_file *r)
{
	if (r)
		arena_free(r->arena);
}
