/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/tables_bytes.h"

#include "fabric/base/message/plain.h"

#include <errno.h>
#include <string.h>

struct tables_head {
	uint32_t nsw, nend, max_lid, stride;
	uint64_t seed;
	struct digest fingerprint;
	char engine[sizeof(((struct tables *)0)->engine)];
	char params[sizeof(((struct tables *)0)->params)];
	uint8_t vls, sls, escape, sls_told;
};

struct sl_head {
	uint8_t kind, constant;
};

static bool tables_bytes_at_most(const uint8_t *v, size_t n, uint8_t most)
{
	uint8_t top = 0;

	for (size_t i = 0; i < n; i++)
		top = v[i] > top ? v[i] : top;
	return top <= most;
}

void tables_bytes_put_sl(bytes_out *out, const struct tables *t)
{
	struct sl_head h = { (uint8_t)t->sl_kind, t->sl_const };

	bytes_put(out, &h, sizeof(h));
	if (t->sl)
		bytes_put(out, t->sl, tables_sl_bytes(t));
}

int tables_bytes_take_sl(struct tables *t, struct bytes_in *in, const struct fabric *f)
{
	struct sl_head h;

	bytes_take(in, &h, sizeof(h));
	if (in->bad || h.kind > SL_BY_TERM || h.constant >= FAB_SLS)
		return -EPROTO;
	tables_sl_form(t, (enum sl_kind)h.kind, f);
	t->sl_const = h.constant;
	if (t->sl)
		bytes_take(in, t->sl, tables_sl_bytes(t));
	return !in->bad && tables_bytes_at_most(t->sl, tables_sl_bytes(t), FAB_SLS - 1) ? 0
											: -EPROTO;
}

void tables_bytes_put_sl2vl(bytes_out *out, const struct tables *t)
{
	uint8_t kind = (uint8_t)t->sl2vl_kind;

	bytes_put(out, &kind, sizeof(kind));
	if (t->sl2vl)
		bytes_put(out, t->sl2vl, tables_sl2vl_bytes(t));
}

int tables_bytes_take_sl2vl(struct tables *t, struct bytes_in *in, const struct fabric *f)
{
	uint8_t kind;

	bytes_take(in, &kind, sizeof(kind));
	if (in->bad || kind > SL2VL_UNREAD)
		return -EPROTO;
	tables_sl2vl_form(t, (enum sl2vl_kind)kind, f);
	if (t->sl2vl)
		bytes_take(in, t->sl2vl, tables_sl2vl_bytes(t));
	return !in->bad && tables_bytes_at_most(t->sl2vl, tables_sl2vl_bytes(t), VL_DROP) ? 0
											  : -EPROTO;
}

void tables_bytes_put(bytes_out *out, const struct tables *t)
{
	struct tables_head h = { 0 };

	h.nsw = t->nsw;
	h.nend = t->nend;
	h.max_lid = t->max_lid;
	h.stride = t->stride;
	h.seed = t->seed;
	h.fingerprint = t->fingerprint;
	memcpy(h.engine, t->engine, sizeof(h.engine));
	memcpy(h.params, t->params, sizeof(h.params));
	h.vls = t->vls;
	h.sls = t->sls;
	h.escape = t->escape;
	h.sls_told = t->sls_told;
	vec_reserve(out, out->n + sizeof(h) + (size_t)t->nsw * t->stride + tables_sl_bytes(t) +
				 tables_sl2vl_bytes(t) + 64);
	bytes_put(out, &h, sizeof(h));
	bytes_put(out, t->lft, (size_t)t->nsw * t->stride);
	tables_bytes_put_sl(out, t);
	tables_bytes_put_sl2vl(out, t);
}

static bool tables_bytes_ports_exist(const struct tables *t, const struct fabric *f)
{
	for (uint32_t sw = 0; sw < t->nsw; sw++) {
		const uint8_t *row = tables_row(t, sw);

		for (uint32_t lid = 0; lid < t->stride; lid++)
			if (row[lid] > f->sw_nports[sw] && row[lid] != FAB_NO_PORT)
				return false;
	}
	return true;
}

static void tables_bytes_take_words(struct tables *t, struct tables_head *h)
{
	h->engine[sizeof(h->engine) - 1] = '\0';
	h->params[sizeof(h->params) - 1] = '\0';
	memcpy(t->engine, plain_text(h->engine, ""), sizeof(t->engine));
	memcpy(t->params, plain_text(h->params, ""), sizeof(t->params));
	t->seed = h->seed;
	t->vls = h->vls;
	t->sls = h->sls;
	t->escape = h->escape;
	t->sls_told = h->sls_told;
}

int tables_bytes_take(struct tables **out, struct bytes_in *in, const struct fabric *f)
{
	struct tables *t = tables_new_blank(f, TABLES_FILE);
	struct tables_head h;
	int rc = 0;

	*out = NULL;
	bytes_take(in, &h, sizeof(h));
	if (in->bad || h.nsw != t->nsw || h.nend != t->nend || h.max_lid != t->max_lid ||
	    h.stride != t->stride || !digest_equal(&h.fingerprint, &t->fingerprint) ||
	    h.vls > FAB_SLS || h.sls > FAB_SLS || h.escape > 1 || h.sls_told > 1)
		rc = -EPROTO;
	if (!rc) {
		tables_bytes_take_words(t, &h);
		bytes_take(in, t->lft, (size_t)t->nsw * t->stride);
		rc = in->bad || !tables_bytes_ports_exist(t, f) ? -EPROTO : 0;
	}
	if (!rc)
		rc = tables_bytes_take_sl(t, in, f);
	if (!rc)
		rc = tables_bytes_take_sl2vl(t, in, f);
	if (rc)
		tables_put(t);
	else
		*out = t;
	return rc;
}
