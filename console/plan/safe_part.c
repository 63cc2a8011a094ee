/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/safe_part.h"

#include "engines/verify/route_judge.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/tables_origin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8 /* those that stay may lead to more that have to */

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

struct tables *safe_part_tables(const struct fabric *f, const struct tables *t,
				const struct tables *from, const uint8_t *stay)
{
	struct tables *out = tables_new(f, t->engine);

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t lid = 0; lid <= out->max_lid; lid++)
			tables_row(out, sw)[lid] = tables_row(stay[lid] ? from : t, sw)[lid];
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

static int safe_part_try(struct route_report *out, const struct route_report *whole,
			 const struct route_inputs *in, const uint8_t *stay,
			 struct progress *progress, struct err *err)
{
	struct route_inputs part = *in;
	struct err why = { "" };
	int rc;

	part.tables = safe_part_tables(in->f, whole->plan->to, in->installed, stay);
	part.files = NULL;
	part.memo = whole->memo;
	route_report_begin(out, &part);
	tables_put(part.tables);
	rc = route_report_steps(out, in, ROUTE_VERIFY, progress, &why);
	if (!rc)
		rc = route_judge_refusal(out->v, in->f, &why);
	if (!rc)
		rc = route_report_steps(out, in, ROUTE_PLAN | ROUTE_ORDER, progress, &why);
	if (!rc && plan_empty(out->plan))
		rc = err_set(&why, -ENODATA, "all that changes would have to drain");
	if (!rc)
		return 0;
	route_report_free(out);
	return rc == -ECANCELED ? err_set(err, rc, "%s", why.text) : safe_part_none(err, why.text);
}

int safe_part_find(struct route_report *out, uint32_t *rest, const struct route_report *whole,
		   const struct route_inputs *in, struct progress *progress, struct err *err)
{
	uint8_t *stay = xcalloc((size_t)in->f->max_lid + 1, 1);
	uint32_t more = safe_part_add(stay, &whole->plan->drain);
	int rc = 0;

	*rest = 0;
	for (int i = 0; more && !rc; i++) {
		*rest += more;
		rc = safe_part_try(out, whole, in, stay, progress, err);
		if (rc)
			break;
		more = safe_part_add(stay, &out->plan->drain);
		if (more)
			route_report_free(out);
		if (more && i + 1 >= ROUNDS)
			rc = safe_part_none(err, "whoever stays makes others drain");
	}
	free(stay);
	return rc;
}
