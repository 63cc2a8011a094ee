/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/safe_part.h"

#include "engines/verify/route_judge.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/tables_origin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8  /* those that stay may lead to more that have to */
#define TRIES  64 /* mixtures that are judged to find one that passes */

/* The coarsest form that holds the SLs of both. */
static enum sl_kind safe_part_sl_kind(const struct tables *a, const struct tables *b)
{
	if (a->sl_kind == SL_CONST && b->sl_kind == SL_CONST && a->sl_const == b->sl_const)
		return SL_CONST;
	if (a->sl_kind == SL_BY_TERM || b->sl_kind == SL_BY_TERM)
		return SL_BY_TERM;
	if (a->sl_kind == SL_BY_SWITCH || b->sl_kind == SL_BY_SWITCH)
		return SL_BY_SWITCH;
	return SL_BY_DLID;
}

/* Of one row; a row of SL_BY_DLID is that of every source. */
static void safe_part_sl_row(struct tables *out, const struct tables *t, const struct tables *from,
			     const uint8_t *stay, size_t row, uint32_t term, uint32_t sw)
{
	for (uint32_t lid = 0; lid <= out->max_lid; lid++)
		out->sl[row * out->stride + lid] =
			tables_path_sl(stay[lid] ? from : t, term, sw, lid);
}

static void safe_part_sls(struct tables *out, const struct fabric *f, const struct tables *t,
			  const struct tables *from, const uint8_t *stay)
{
	enum sl_kind kind = safe_part_sl_kind(t, from);
	uint32_t rows = (uint32_t)tables_sl_rows(kind, f->nsw, f->nend);

	tables_sl_form(out, kind, f);
	out->sl_const = t->sl_const;
	for (uint32_t i = 0; out->sl && i < rows; i++)
		safe_part_sl_row(out, t, from, stay, i, i, kind == SL_BY_TERM ? f->term_sw[i] : i);
}

static void safe_part_sl2vl(struct tables *out, const struct fabric *f, const struct tables *t)
{
	if (t->sl2vl_kind == SL2VL_IDENTITY)
		return;
	tables_sl2vl_form(out, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint32_t o = 0; o <= f->sw_nports[sw]; o++)
				memcpy(tables_sl2vl_row(out, sw, in, o),
				       tables_vl_row(t, f, sw, (uint8_t)in, (uint8_t)o), FAB_SLS);
}

static struct tables *safe_part_lfts(const struct fabric *f, const struct tables *t,
				     const struct tables *from, const uint8_t *stay)
{
	struct tables *out = tables_new(f, t->engine);

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t lid = 0; lid <= out->max_lid; lid++)
			tables_row(out, sw)[lid] = tables_row(stay[lid] ? from : t, sw)[lid];
	return out;
}

struct tables *safe_part_paths(const struct fabric *f, const struct tables *t,
			       const struct tables *from, const uint8_t *stay)
{
	struct tables *out = safe_part_lfts(f, t, from, stay);

	tables_sl_form(out, from->sl_kind, f);
	out->sl_const = from->sl_const;
	if (out->sl)
		memcpy(out->sl, from->sl, tables_sl_bytes(from));
	safe_part_sl2vl(out, f, from);
	tables_copy_origin(out, from);
	snprintf(out->params, sizeof(out->params), "%s", t->params);
	return out;
}

struct tables *safe_part_tables(const struct fabric *f, const struct tables *t,
				const struct tables *from, const uint8_t *stay)
{
	struct tables *out = safe_part_lfts(f, t, from, stay);

	safe_part_sls(out, f, t, from, stay);
	safe_part_sl2vl(out, f, t);
	tables_copy_origin(out, t);
	if (from->vls > out->vls)
		out->vls = from->vls;
	if (from->sls > out->sls)
		out->sls = from->sls;
	return out;
}

/* Of those that stay, and with them; how many are new. */
static uint32_t safe_part_add(uint8_t *stay, const struct drain *d)
{
	uint32_t more = 0;

	for (uint32_t i = 0; i < d->nlid; i++) {
		more += !stay[d->lid[i].lid];
		stay[d->lid[i].lid] = 1;
	}
	return more;
}

static int safe_part_none(struct err *err, const char *why)
{
	return err_set(err, -ENODATA, "no part of it can do without a drain: %.200s", why);
}

/* What is tried: the new tables but for those that stay, with their SLs or the installed ones. */
struct safe_part {
	const struct route_report *whole;
	const struct route_inputs *in;
	bool paths;    /* LFT entries alone */
	uint8_t *stay; /* by LID */
	unsigned tries;
	struct progress *progress;
};

/* 0 and *out with ROUTE_VERIFY done, or nothing to be freed. */
static int safe_part_judge(struct route_report *out, const struct safe_part *s, struct err *err)
{
	struct route_inputs part = *s->in;
	int rc;

	part.tables = (s->paths ? safe_part_paths : safe_part_tables)(s->in->f, s->whole->plan->to,
								      s->in->installed, s->stay);
	part.files = NULL;
	part.memo = s->whole->memo;
	route_report_begin(out, &part);
	tables_put(part.tables);
	rc = route_report_steps(out, s->in, ROUTE_VERIFY, s->progress, err);
	if (!rc)
		rc = route_judge_refusal(out->v, s->in->f, err);
	if (rc)
		route_report_free(out);
	return rc;
}

static int safe_part_try(struct route_report *out, const struct safe_part *s, struct err *err)
{
	struct err why = { "" };
	int rc = safe_part_judge(out, s, &why);

	if (rc)
		return rc == -ECANCELED ? err_set(err, rc, "%s", why.text)
					: safe_part_none(err, why.text);
	rc = route_report_steps(out, s->in, ROUTE_PLAN | ROUTE_ORDER, s->progress, &why);
	if (!rc && plan_empty(out->plan))
		rc = err_set(&why, -ENODATA, "all that changes would have to drain");
	if (!rc)
		return 0;
	route_report_free(out);
	return rc == -ECANCELED ? err_set(err, rc, "%s", why.text) : safe_part_none(err, why.text);
}

/* Until nobody has to drain; *rest grows by those that stay. */
static int safe_part_settle(struct route_report *out, uint32_t *rest, const struct safe_part *s,
			    struct err *err)
{
	uint32_t more = 1;
	int rc = 0;

	for (int i = 0; more && !rc; i++) {
		rc = safe_part_try(out, s, err);
		if (rc)
			break;
		more = safe_part_add(s->stay, &out->plan->drain);
		*rest += more;
		if (more)
			route_report_free(out);
		if (more && i + 1 >= ROUNDS)
			rc = safe_part_none(err, "whoever stays makes others drain");
	}
	return rc;
}

/* LIDs whose LFT entries the plan changes, ascending. */
static uint32_t *safe_part_changed(uint32_t *n, const struct fabric *f, const struct tables *from,
				   const struct tables *to)
{
	uint32_t *lid = xcalloc((size_t)f->max_lid + 1, sizeof(*lid));

	*n = 0;
	for (uint32_t l = 1; l <= f->max_lid; l++)
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			if (tables_row(from, sw)[l] != tables_row(to, sw)[l]) {
				lid[(*n)++] = l;
				break;
			}
	return lid;
}

static void safe_part_mark(struct safe_part *s, const uint32_t *lid, uint32_t n, uint8_t stays)
{
	for (uint32_t i = 0; i < n; i++)
		s->stay[lid[i]] = stays;
}

/* Lets as many of these go as pass beside those that go already: all, or of each half. */
static int safe_part_let_go(struct safe_part *s, const uint32_t *lid, uint32_t n, struct err *err)
{
	struct route_report r = { 0 };
	struct err why = { "" };
	int rc;

	if (!n || s->tries >= TRIES)
		return 0;
	s->tries++;
	safe_part_mark(s, lid, n, 0);
	rc = safe_part_judge(&r, s, &why);
	if (!rc) {
		route_report_free(&r);
		return 0;
	}
	safe_part_mark(s, lid, n, 1);
	if (rc == -ECANCELED)
		return err_set(err, rc, "%s", why.text);
	if (n == 1)
		return 0;
	rc = safe_part_let_go(s, lid, n / 2, err);
	return rc ? rc : safe_part_let_go(s, lid + n / 2, n - n / 2, err);
}

static int safe_part_find_paths(struct route_report *out, uint32_t *rest, struct safe_part *s,
				struct err *err)
{
	uint32_t n;
	uint32_t *lid = safe_part_changed(&n, s->in->f, s->in->installed, s->whole->plan->to);
	int rc;

	s->paths = true;
	memset(s->stay, 1, (size_t)s->in->f->max_lid + 1);
	rc = safe_part_let_go(s, lid, n, err);
	*rest = 0;
	for (uint32_t i = 0; i < n; i++)
		*rest += s->stay[lid[i]];
	if (!rc && *rest == n)
		rc = safe_part_none(err, "no new path passes beside the installed ones");
	if (!rc)
		rc = safe_part_settle(out, rest, s, err);
	free(lid);
	return rc;
}

int safe_part_find(struct route_report *out, uint32_t *rest, const struct route_report *whole,
		   const struct route_inputs *in, struct progress *progress, struct err *err)
{
	struct safe_part s = { .whole = whole, .in = in, .progress = progress };
	struct err why = { "" };
	int rc;

	s.stay = xcalloc((size_t)in->f->max_lid + 1, 1);
	*rest = safe_part_add(s.stay, &whole->plan->drain);
	rc = safe_part_settle(out, rest, &s, &why);
	if (rc == -ENODATA)
		rc = safe_part_find_paths(out, rest, &s, err);
	else if (rc)
		err_set(err, rc, "%s", why.text);
	free(s.stay);
	return rc;
}
