/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/demand_file.h"

#include "fabric/base/file/lines.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define MAX_RAILS 64u

struct node {
	uint32_t n;
	uint32_t term[MAX_RAILS];
};

struct reader {
	struct demand_builder *b;
	const struct fabric *f;
	const struct rank_file *ranks;
	struct read_report *report;
	struct lines *l;
	struct err *err;
	uint64_t npair;
};

static int demand_file_mistake(const struct reader *x, const char *what, const char *text)
{
	return err_set(x->err, -EINVAL, "%s:%llu: %s: %.80s", lines_path(x->l),
		       (unsigned long long)lines_number(x->l), what, text);
}

static int demand_file_rank_node(const struct reader *x, char name[HOSTLIST_NAME], const char *word)
{
	const char *s = word;
	uint64_t rank;

	if (!scan_dec(&rank, &s) || *s)
		return demand_file_mistake(x, "not a rank", word);
	if (!rank_file_node(x->ranks, rank, name))
		return demand_file_mistake(x, "the rank file has no such rank", word);
	return 0;
}

/* The terminals of a node; none (with a warning) when the fabric does not have it. */
static int demand_file_find_node(const struct reader *x, struct node *out, const char *word)
{
	char node[HOSTLIST_NAME];
	const char *name = x->ranks ? node : word;
	int rc = x->ranks ? demand_file_rank_node(x, node, word) : 0;

	if (rc)
		return rc;
	out->n = fabric_terms_by_name(x->f, name, out->term, MAX_RAILS);
	if (out->n > MAX_RAILS)
		out->n = MAX_RAILS;
	if (!out->n)
		read_report_warn(x->report, lines_number(x->l), "%s is not in the fabric", name);
	return 0;
}

static void demand_file_add(struct reader *x, const struct node *src, const struct node *dst,
			    uint64_t bytes)
{
	bool pairs = src->n == dst->n;
	uint64_t shares = pairs ? src->n : (uint64_t)src->n * dst->n;

	for (uint32_t i = 0; i < src->n; i++)
		for (uint32_t k = 0; k < dst->n; k++)
			if (!pairs || i == k)
				demand_builder_add(x->b, src->term[i], dst->term[k],
						   bytes / shares + !!(bytes % shares));
	x->npair += shares > 0;
}

/* Takes a word up to one of the characters of end, or up to a blank before it. */
static bool demand_file_take_word(char word[HOSTLIST_NAME], const char **s, const char *end)
{
	size_t len;

	scan_blank(s);
	len = strcspn(*s, " \t:=,");
	if (!len || len >= HOSTLIST_NAME)
		return false;
	memcpy(word, *s, len);
	word[len] = '\0';
	*s += len;
	scan_blank(s);
	if (!**s || !strchr(end, **s))
		return false;
	(*s)++;
	return true;
}

static int demand_file_read_pair(struct reader *x, const struct node *src, const char **s)
{
	char word[HOSTLIST_NAME];
	const char *begin = *s;
	struct node dst;
	uint64_t bytes;
	int rc;

	if (!demand_file_take_word(word, s, "="))
		return demand_file_mistake(x, "\"destination=bytes\" is expected", begin);
	scan_blank(s);
	if (!scan_dec(&bytes, s))
		return demand_file_mistake(x, "not a number of bytes", *s);
	scan_blank(s);
	if (**s && **s != ',')
		return demand_file_mistake(x, "not a number of bytes", begin);
	rc = demand_file_find_node(x, &dst, word);
	if (!rc)
		demand_file_add(x, src, &dst, bytes);
	return rc;
}

static int demand_file_read_line(struct reader *x, const char *line)
{
	const char *s = line;
	char word[HOSTLIST_NAME];
	struct node src;
	int rc;

	if (!demand_file_take_word(word, &s, ":"))
		return demand_file_mistake(x, "\"source: destination=bytes,...\" is expected",
					   line);
	rc = demand_file_find_node(x, &src, word);
	while (!rc && !scan_end(&s)) {
		rc = demand_file_read_pair(x, &src, &s);
		if (*s == ',')
			s++;
	}
	if (!rc && x->report)
		x->report->records++;
	return rc;
}

int demand_file_read(struct demand **out, FILE *file, const char *path,
		     const struct rank_file *ranks, const struct fabric *f,
		     struct read_report *report, struct err *err)
{
	struct reader x = { .f = f, .ranks = ranks, .report = report, .err = err };
	char *s;
	int rc = 0;

	x.b = demand_builder_new(f);
	x.l = lines_new(file, path, report);
	while (!rc && (s = lines_next_data(x.l)))
		rc = demand_file_read_line(&x, s);
	rc = lines_end(
		x.l, rc,
		x.npair ? NULL : "no demand: no line names two nodes that are in this fabric", err);
	lines_free(x.l);
	if (rc)
		demand_builder_free(x.b);
	else
		*out = demand_build(x.b);
	return rc;
}
