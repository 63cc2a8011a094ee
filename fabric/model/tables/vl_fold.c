/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/vl_fold.h"

#include <string.h>

static uint8_t vl_fold_fold(uint8_t vl, unsigned vls)
{
	return vl < VL_DROP ? (uint8_t)(vl % vls) : vl;
}

static void vl_fold_copy_sl(struct tables *to, const struct tables *t, const struct fabric *f)
{
	size_t rows = 1;

	tables_sl_form(to, t->sl_kind, f);
	to->sl_const = t->sl_const;
	if (t->sl_kind == SL_CONST)
		return;
	if (t->sl_kind == SL_BY_SWITCH)
		rows = f->nsw;
	else if (t->sl_kind == SL_BY_TERM)
		rows = f->nend;
	memcpy(to->sl, t->sl, rows * t->stride);
}

struct tables *vl_fold(const struct fabric *f, const struct tables *t, unsigned vls)
{
	struct tables *to = tables_new(f, t->engine);
	size_t n;

	memcpy(to->lft, t->lft, (size_t)f->nsw * t->stride);
	vl_fold_copy_sl(to, t, f);
	tables_sl2vl_form(to, t->sl2vl_kind == SL2VL_IDENTITY ? SL2VL_BY_INPUT : t->sl2vl_kind, f);
	n = tables_sl2vl_bytes(to);
	for (size_t i = 0; i < n; i++) {
		uint8_t vl = t->sl2vl_kind == SL2VL_IDENTITY ? (uint8_t)(i % FAB_SLS) : t->sl2vl[i];

		to->sl2vl[i] = vl_fold_fold(vl, vls);
	}
	to->vls = t->vls < vls ? t->vls : (uint8_t)vls;
	to->sls = t->sls;
	to->seed = t->seed;
	memcpy(to->params, t->params, sizeof(to->params));
	return to;
}
