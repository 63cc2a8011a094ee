/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/native/lid_choice_file.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/file/text_out.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define MAX_QUADRANT 65536u

static void lid_choice_file_put_offsets(struct text_out *o, const char *before, uint32_t set)
{
	for (; set; set &= set - 1, before = ",")
		text_out_fmt(o, "%s%d", before, __builtin_ctz(set));
}

static void lid_choice_file_put_choice(struct text_out *o, const char *word, uint32_t a, uint32_t b,
				       const struct lid_set *lids)
{
	text_out_fmt(o, "%s %u %u", word, a, b);
	lid_choice_file_put_offsets(o, " small ", lids->small);
	lid_choice_file_put_offsets(o, " large ", lids->large);
	text_out_str(o, "\n");
}

int lid_choice_write(FILE *file, const struct fabric *f, const struct lid_choice *c,
		     struct err *err)
{
	struct text_out *o = text_out_new(file);

	text_out_fmt(o,
		     "# LIDs for small and large messages, by the switches of sender and receiver\n"
		     "lid-choice 1\ntopology %s\nlmc %u\n",
		     c->topology, c->lmc);
	for (uint32_t a = 0; a < c->nclass; a++)
		for (uint32_t b = 0; b < c->nclass; b++)
			lid_choice_file_put_choice(o, "pair", a, b,
						   &c->lids[(size_t)a * c->nclass + b]);
	for (uint32_t u = 0; u < f->nsw; u++)
		text_out_fmt(o, "switch %u 0x%016" PRIx64 " %u %u %s\n", u, f->sw_guid[u],
			     c->class[u], c -> quadrant[c->class[u]], f -> sw_name[u]);
	for (uint32_t t = 0; t < f->nterm; t++)
		text_out_fmt(o, "port %u %u %s\n", f->term_lid[t], f->term_sw[t], f->term_name[t]);
	for (uint32_t i = 0; i < c->nexcept; i++)
		lid_choice_file_put_choice(o, "except", c->except[i].src, c->except[i].dst,
					   &c->except[i].lids);
	return text_out_end(o, "the choice of LIDs", err);
}

struct pair_line {
	uint32_t a, b;
	struct lid_set lids;
};

struct reader {
	const struct fabric *f;
	struct lines *l;
	struct read_report *report;
	struct err *err;
	char topology[112];
	bool versioned;
	uint8_t lmc;
	uint32_t nclass;
	VEC(struct pair_line) pairs;
	VEC(struct lid_except) excepts;
	VEC(uint32_t) number; /* by number in the file: switch; FAB_NONE */
	uint32_t *class;      /* by switch; FAB_NONE: not seen */
	uint32_t *quadrant;   /* by class */
};

static int lid_choice_file_mistake(const struct reader *x, const char *what)
{
	return err_set(x->err, -EINVAL, "%s:%llu: %s", lines_path(x->l),
		       (unsigned long long)lines_number(x->l), what);
}

static bool lid_choice_file_read_number(uint32_t *out, const char **s, uint64_t below)
{
	uint64_t v;

	scan_blank(s);
	if (!scan_dec(&v, s) || v >= below || (**s && !strchr(" \t,", **s)))
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool lid_choice_file_read_offsets(uint32_t *set, const char **s, const char *word,
					 uint8_t lmc)
{
	uint32_t v;

	*set = 0;
	scan_blank(s);
	if (!scan_word(s, word))
		return false;
	do {
		if (!lid_choice_file_read_number(&v, s, lmc < 5 ? 1u << lmc : 32))
			return false;
		*set |= 1u << v;
	} while (scan_word(s, ","));
	return true;
}

static int lid_choice_file_read_choice(struct reader *x, const char *s, struct pair_line *p,
				       uint64_t below)
{
	if (!lid_choice_file_read_number(&p->a, &s, below) ||
	    !lid_choice_file_read_number(&p->b, &s, below))
		return lid_choice_file_mistake(x,
					       "two numbers of classes or switches are expected");
	if (!lid_choice_file_read_offsets(&p->lids.small, &s, "small ", x->lmc) ||
	    !lid_choice_file_read_offsets(&p->lids.large, &s, "large ", x->lmc) || !scan_end(&s))
		return lid_choice_file_mistake(
			x, "\"small 0,1 large 2,3\" is expected, offsets below 2^lmc");
	return 0;
}

static int lid_choice_file_read_pair(struct reader *x, const char *s)
{
	struct pair_line p;
	int rc = lid_choice_file_read_choice(x, s, &p, x->f->nsw);

	if (rc)
		return rc;
	x->nclass = p.a >= x->nclass ? p.a + 1 : x->nclass;
	x->nclass = p.b >= x->nclass ? p.b + 1 : x->nclass;
	vec_push(&x->pairs, p);
	return 0;
}

static int lid_choice_file_read_switch(struct reader *x, const char *s)
{
	uint32_t n, sw, class, quadrant;
	uint64_t guid;

	if (!lid_choice_file_read_number(&n, &s, FAB_MAX_LID) || !scan_blank(&s) ||
	    !scan_hex(&guid, &s) || !lid_choice_file_read_number(&class, &s, x->nclass) ||
	    !lid_choice_file_read_number(&quadrant, &s, MAX_QUADRANT))
		return lid_choice_file_mistake(
			x, "\"switch NUMBER 0xGUID CLASS QUADRANT NAME\" is expected, with "
			   "a class that has a pair line");
	sw = fabric_switch_by_guid(x->f, guid);
	if (sw == FAB_NONE)
		return lid_choice_file_mistake(x, "the fabric has no switch of that GUID");
	while (x->number.n <= n)
		vec_push(&x->number, FAB_NONE);
	if (x->number.v[n] != FAB_NONE || x->class[sw] != FAB_NONE)
		return lid_choice_file_mistake(x, "a switch appears twice");
	x->number.v[n] = sw;
	x->class[sw] = class;
	x->quadrant[class] = quadrant;
	return 0;
}

static int lid_choice_file_read_except(struct reader *x, const char *s)
{
	struct pair_line p;
	int rc = lid_choice_file_read_choice(x, s, &p, x->number.n);
	struct lid_except e;

	if (rc)
		return rc;
	e = (struct lid_except){ x->number.v[p.a], x->number.v[p.b], p.lids };
	if (e.src == FAB_NONE || e.dst == FAB_NONE)
		return lid_choice_file_mistake(x, "a switch that has no line before");
	vec_push(&x->excepts, e);
	return 0;
}

static int lid_choice_file_read_lmc(struct reader *x, const char *s)
{
	uint32_t lmc;

	if (!lid_choice_file_read_number(&lmc, &s, 8) || !scan_end(&s))
		return lid_choice_file_mistake(x, "\"lmc NUMBER\" is expected, 0 to 7");
	x->lmc = (uint8_t)lmc;
	return 0;
}

static int lid_choice_file_read_line(struct reader *x, const char *s)
{
	uint64_t version;

	scan_blank(&s);
	if (!x->versioned) {
		x->versioned = scan_word(&s, "lid-choice ") && scan_dec(&version, &s) &&
			       version == 1 && scan_end(&s);
		return x->versioned
			       ? 0
			       : lid_choice_file_mistake(x, "not a choice of LIDs of version 1");
	}
	if (scan_word(&s, "topology ")) {
		strncpy(x->topology, s, sizeof(x->topology) - 1);
		return 0;
	}
	if (scan_word(&s, "lmc "))
		return lid_choice_file_read_lmc(x, s);
	if (scan_word(&s, "pair "))
		return lid_choice_file_read_pair(x, s);
	if (scan_word(&s, "switch "))
		return lid_choice_file_read_switch(x, s);
	if (scan_word(&s, "except "))
		return lid_choice_file_read_except(x, s);
	return 0;
}

static int lid_choice_file_by_switches(const void *x, const void *y)
{
	const struct lid_except *a = x, *b = y;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

static int lid_choice_file_fill(struct lid_choice *c, const struct reader *x)
{
	memcpy(c->topology, x->topology, sizeof(c->topology));
	c->lmc = x->lmc;
	memcpy(c->class, x->class, c->nsw * sizeof(*c->class));
	memcpy(c->quadrant, x->quadrant, c->nclass * sizeof(*c->quadrant));
	for (size_t i = 0; i < x->pairs.n; i++)
		c->lids[(size_t)x->pairs.v[i].a * c->nclass + x->pairs.v[i].b] = x->pairs.v[i].lids;
	if (c->nexcept) {
		memcpy(c->except, x->excepts.v, c->nexcept * sizeof(*c->except));
		qsort(c->except, c->nexcept, sizeof(*c->except), lid_choice_file_by_switches);
	}
	for (uint32_t i = 0; i < c->nclass * c->nclass; i++)
		if (!c->lids[i].small)
			return err_set(x->err, -EINVAL, "%s: classes %u and %u have no pair line",
				       lines_path(x->l), i / c->nclass, i % c->nclass);
	for (uint32_t u = 0; u < c->nsw; u++)
		if (c->class[u] == FAB_NONE)
			return err_set(x->err, -EINVAL, "%s: switch %s has no line",
				       lines_path(x->l), x->f->sw_name[u]);
	return 0;
}

int lid_choice_read(struct lid_choice **out, FILE *file, const char *path, const struct fabric *f,
		    struct read_report *report, struct err *err)
{
	struct reader x = { .f = f, .report = report, .err = err };
	struct lid_choice *c;
	char *s;
	int rc = 0;

	x.l = lines_new(file, path, report);
	x.quadrant = xcalloc(f->nsw, sizeof(*x.quadrant));
	x.class = xcalloc(f->nsw, sizeof(*x.class));
	memset(x.class, 0xff, f->nsw * sizeof(*x.class));
	while (!rc && (s = lines_next_data(x.l)))
		rc = lid_choice_file_read_line(&x, s);
	rc = lines_end(x.l, rc, x.nclass ? NULL : "not a choice of LIDs: no pair line in it", err);
	if (!rc) {
		c = lid_choice_new(f->nsw, x.nclass, (uint32_t)x.excepts.n);
		rc = lid_choice_file_fill(c, &x);
		if (rc)
			lid_choice_free(c);
		else
			*out = c;
	}
	lines_free(x.l);
	vec_free(&x.pairs);
	vec_free(&x.excepts);
	vec_free(&x.number);
	free(x.quadrant);
	free(x.class);
	return rc;
}
