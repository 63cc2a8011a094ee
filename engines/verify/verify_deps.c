/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_deps_in.h"
#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool verify_deps_port_leads_somewhere(const struct fabric *f, uint32_t sw, uint32_t p)
{
	const struct port *port = fabric_port(f, sw, (uint8_t)p);

	return port->chan != FAB_NONE || port->term != FAB_NONE;
}

/* Folds full SL2VL tables to one row per kind of input where they say no more than that. */
static bool verify_deps_fold_switch(struct deps *d, uint32_t sw, bool known[2])
{
	uint8_t *row[2] = { d->vl_sent, d->vl_passing };
	uint32_t in, out, nports = d->f->sw_nports[sw];

	for (in = 1; in <= nports; in++) {
		uint32_t k = fabric_chan(d->f, sw, (uint8_t)in) != FAB_NONE;

		for (out = 1; out <= nports && verify_deps_port_leads_somewhere(d->f, sw, in);
		     out++) {
			const uint8_t *vl = tables_sl2vl_row(d->t, sw, in, out);

			if (in == out || !verify_deps_port_leads_somewhere(d->f, sw, out))
				continue;
			if (!known[k])
				memcpy(row[k], vl, FAB_SLS);
			else if (memcmp(row[k], vl, FAB_SLS) != 0)
				return false;
			known[k] = true;
		}
	}
	return true;
}

static bool verify_deps_depends_on_ports(struct deps *d)
{
	bool known[2] = { false, false };
	uint32_t sw;

	if (d->t->sl2vl_kind != SL2VL_FULL)
		return false;
	for (sw = 0; sw < d->f->nsw; sw++) {
		if (!verify_deps_fold_switch(d, sw, known))
			return true;
	}
	return false;
}

static void verify_deps_load_rows(struct deps *d)
{
	uint8_t sl;

	for (sl = 0; sl < FAB_SLS; sl++) {
		if (d->t->sl2vl_kind == SL2VL_IDENTITY) {
			d->vl_sent[sl] = d->vl_passing[sl] = sl;
		} else if (d->t->sl2vl_kind == SL2VL_BY_INPUT) {
			d->vl_sent[sl] = d->t->sl2vl[1 * FAB_SLS + sl];
			d->vl_passing[sl] = d->t->sl2vl[2 * FAB_SLS + sl];
		}
		d->drop_sent |= (uint16_t)((d->vl_sent[sl] >= ALL_VLS) << sl);
		d->drop_passing |= (uint16_t)((d->vl_passing[sl] >= ALL_VLS) << sl);
	}
}

/* What every worker has for itself. */
static void verify_deps_make_own(struct deps *d)
{
	const struct fabric *f = d->f;
	size_t kept = d->turns ? d->nturns : 0;

	d->block = FAB_NONE;
	d->before = 0;
	d->sent_block = xcalloc((size_t)f->nsw * LFT_BLOCK, sizeof(*d->sent_block));
	d->sls = xcalloc((size_t)f->nsw * LFT_BLOCK, sizeof(*d->sls));
	d->changed = xcalloc(f->nsw, sizeof(*d->changed));
	d->last = xcalloc(f->nsw, sizeof(*d->last));
	memset(d->last, 0xff, f->nsw * sizeof(*d->last));
	if (d->by_port) {
		d->last_sls = xcalloc((size_t)f->nsw * d->rows.nwords, sizeof(*d->last_sls));
		d->turn_sls = xcalloc_large(kept * d->rows.nwords, sizeof(*d->turn_sls));
		d->flow = xcalloc((size_t)f->nsw * d->rows.nwords, sizeof(*d->flow));
		d->port_vl = xcalloc(f->nport, sizeof(*d->port_vl));
		arrivals_init(&d->arrivals, f);
		return;
	}
	d->turn = xcalloc_large(kept, sizeof(*d->turn));
	d->passing = xcalloc(f->nsw, sizeof(*d->passing));
	d->delivered = xcalloc(f->nport, sizeof(*d->delivered));
}

struct deps *deps_new(const struct fabric *f, const struct tables *t, bool turns,
		      struct progress *progress)
{
	struct deps *d = xcalloc(1, sizeof(*d));
	uint32_t c;

	d->f = f;
	d->t = t;
	d->turns = turns;
	d->turn_base = xcalloc(f->nchan, sizeof(*d->turn_base));
	for (c = 0; c < f->nchan; c++) {
		uint32_t v = f->chan_dst[c];

		/* may wrap; adding a channel of v brings it back */
		d->turn_base[c] = d->nturns - f->chan_off[v];
		d->nturns += f->chan_off[v + 1] - f->chan_off[v] + 1;
	}
	d->by_port = verify_deps_depends_on_ports(d);
	if (d->by_port)
		rows_init(&d->rows, f, t, d->turn_base, d->nturns, progress,
			  turns ? "verify" : "metrics");
	else
		verify_deps_load_rows(d);
	verify_deps_make_own(d);
	return d;
}

struct deps *deps_share(const struct deps *parent)
{
	struct deps *d = xcalloc(1, sizeof(*d));

	*d = *parent;
	d->parent = parent;
	d->seen = 0;
	memset(d->all, 0, sizeof(d->all));
	verify_deps_make_own(d);
	return d;
}

size_t deps_own_bytes(const struct deps *d)
{
	size_t turn = d->by_port ? d->rows.nwords * sizeof(*d->turn_sls) : sizeof(*d->turn);

	return d->turns ? d->nturns * turn : 0;
}

void deps_merge(struct deps *into, const struct deps *from)
{
	size_t i, kept = into->turns ? into->nturns : 0;

	into->seen |= from->seen;
	for (i = 0; i < ROWS_MAX_WORDS; i++)
		into->all[i] |= from->all[i];
	if (into->by_port) {
		for (i = 0; i < kept * into->rows.nwords; i++)
			into->turn_sls[i] |= from->turn_sls[i];
		for (i = 0; i < into->f->nport; i++)
			into->port_vl[i] |= from->port_vl[i];
		return;
	}
	for (i = 0; i < kept; i++)
		into->turn[i] |= from->turn[i];
	for (i = 0; i < into->f->nport; i++)
		into->delivered[i] |= from->delivered[i];
}

void deps_free(struct deps *d)
{
	if (!d)
		return;
	if (!d->parent) {
		free(d->turn_base);
		rows_done(&d->rows);
	}
	free(d->turn);
	free(d->sent_block);
	free(d->sls);
	free(d->changed);
	free(d->last);
	free(d->last_sls);
	free(d->passing);
	free(d->delivered);
	free(d->turn_sls);
	free(d->flow);
	free(d->port_vl);
	arrivals_done(&d->arrivals);
	free(d);
}

/* Without turns there is nothing to learn from SLs that were seen both sent and passing. */
static bool verify_deps_knows_all(const struct deps *d, uint32_t sls)
{
	return !d->turns && !(sls & (d->drop_sent | d->drop_passing)) &&
	       !((sls | sls << 16) & ~d->seen);
}

/* The same where SL2VL depends on the ports: all SLs and VLs that there can be were seen. */
static bool verify_deps_knows_all_by_port(const struct deps *d)
{
	return !d->turns && deps_sls(d) == d->rows.sls && deps_vls(d) == d->rows.vls;
}

bool deps_wants(struct deps *d, uint32_t lid)
{
	if (d->by_port)
		return !verify_deps_knows_all_by_port(d);
	if (d->block != lid / LFT_BLOCK)
		deps_load_block(d, lid / LFT_BLOCK);
	return !verify_deps_knows_all(d, d->any_sl[lid % LFT_BLOCK]);
}

bool deps_add(struct deps *d, struct walk *w, uint32_t lid)
{
	uint32_t k = lid % LFT_BLOCK;

	if (d->by_port && verify_deps_knows_all_by_port(d))
		return false;
	if (d->block != lid / LFT_BLOCK)
		deps_load_block(d, lid / LFT_BLOCK);
	d->sent = d->sent_block + (size_t)k * d->f->nsw;
	if (d->by_port)
		return deps_add_by_port(d, w, lid) || d->bad_sl[k];
	if (verify_deps_knows_all(d, d->any_sl[k]))
		return d->bad_sl[k];
	return deps_add_by_sl(d, w, lid) || d->bad_sl[k];
}

bool path_arrives(uint32_t *at, const struct fabric *f, const struct tables *t, uint32_t end,
		  uint32_t lid)
{
	uint32_t sw = f->term_sw[end], dsw, left;
	uint8_t dport = 0, in = f->term_port[end], sl = tables_path_sl(t, end, sw, lid);

	dsw = fabric_lid_switch(f, lid, &dport);
	*at = sw;
	if (fabric_lid_end(f, lid) == end)
		return tables_row(t, sw)[lid] == dport; /* does not leave the adapter */
	for (left = f->nsw; left > 0 && sl < FAB_SLS; left--) {
		uint8_t out = tables_row(t, sw)[lid];
		uint32_t c = fabric_chan(f, sw, out);
		bool here = sw == dsw && out == dport;

		*at = sw;
		if (!here && c == FAB_NONE)
			return false;
		if (here && !out)
			return true; /* port 0 has no VLs */
		if (tables_vl(t, f, sw, in, out, sl) >= ALL_VLS)
			return false;
		if (here)
			return true;
		in = f->chan_rport[c];
		sw = f->chan_dst[c];
	}
	return false;
}
