/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/tables.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/tables_origin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* kinds of input in the BY_INPUT form */
enum { IN_SELF, IN_TERMINAL, IN_SWITCH, IN_KINDS };

struct tables *tables_new_blank(const struct fabric *f, const char *engine)
{
	struct arena *a = arena_new();
	struct tables *t = arena_alloc(a, 1, sizeof(*t));

	t->arena = a;
	t->refs = 1;
	t->nsw = f->nsw;
	t->nend = f->nend;
	t->max_lid = f->max_lid;
	t->stride = (f->max_lid / LFT_BLOCK + 1) * LFT_BLOCK;
	t->lft = arena_alloc(a, f->nsw, t->stride);
	t->fingerprint = f->fingerprint;
	snprintf(t->engine, sizeof(t->engine), "%s", engine);
	return t;
}

struct tables *tables_new(const struct fabric *f, const char *engine)
{
	struct tables *t = tables_new_blank(f, engine);

	memset(t->lft, FAB_NO_PORT, (size_t)f->nsw * t->stride);
	return t;
}

const struct tables *tables_get(const struct tables *t)
{
	if (t)
		__atomic_add_fetch(&((struct tables *)t)->refs, 1, __ATOMIC_RELAXED);
	return t;
}

void tables_put(const struct tables *t)
{
	const struct tables *lender = t ? t->lender : NULL;

	if (!t || __atomic_sub_fetch(&((struct tables *)t)->refs, 1, __ATOMIC_ACQ_REL))
		return;
	arena_free(t->arena);
	tables_put(lender);
}

int tables_check_fabric(const struct tables *t, const struct fabric *f, struct err *err)
{
	if (!digest_equal(&t->fingerprint, &f->fingerprint) || t->nsw != f->nsw ||
	    t->nend != f->nend || t->max_lid != f->max_lid)
		return err_set(err, -EINVAL, "the tables (%s) were made for a fabric other than %s",
			       t->engine, f->name);
	return 0;
}

size_t tables_sl_rows(enum sl_kind kind, uint32_t nsw, uint32_t nend)
{
	switch (kind) {
	case SL_CONST:
		return 0;
	case SL_BY_DLID:
		return 1;
	case SL_BY_SWITCH:
		return nsw;
	case SL_BY_TERM:
		return nend;
	}
	return 0;
}

void tables_sl_form(struct tables *t, enum sl_kind kind, const struct fabric *f)
{
	size_t rows = tables_sl_rows(kind, f->nsw, f->nend);

	t->sl_kind = kind;
	t->sl_const = 0;
	t->sl = rows ? arena_alloc(t->arena, rows, t->stride) : NULL;
}

void tables_sl2vl_form(struct tables *t, enum sl2vl_kind kind, const struct fabric *f)
{
	uint32_t rows = 0;

	t->sl2vl_kind = kind;
	t->sl2vl = NULL;
	if (kind == SL2VL_IDENTITY || kind == SL2VL_UNREAD)
		return;
	if (kind == SL2VL_BY_INPUT) {
		t->sl2vl = arena_alloc(t->arena, IN_KINDS, FAB_SLS);
		return;
	}
	t->sl2vl_off = arena_array(t->arena, uint32_t, f->nsw + 1);
	t->sl2vl_nports = arena_array(t->arena, uint8_t, f->nsw);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t ports = f->sw_nports[sw] + 1u;

		t->sl2vl_nports[sw] = f->sw_nports[sw];
		t->sl2vl_off[sw] = rows;
		rows += ports * ports;
	}
	t->sl2vl_off[f->nsw] = rows;
	t->sl2vl = arena_alloc(t->arena, rows, FAB_SLS);
}

void tables_weighted_form(struct tables *t, const struct fabric *f)
{
	t->weighted = arena_array(t->arena, uint16_t, f->nport);
}

void tables_weighted_take(struct tables *t, const struct tables *from, const struct fabric *f)
{
	if (!from->weighted)
		return;
	tables_weighted_form(t, f);
	memcpy(t->weighted, from->weighted, f->nport * sizeof(*t->weighted));
}

const uint8_t *tables_vl_row(const struct tables *t, const struct fabric *f, uint32_t sw,
			     uint8_t in, uint8_t out)
{
	static const uint8_t same[FAB_SLS] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	};
	static const uint8_t none[FAB_SLS] = { [0 ... FAB_SLS - 1] = VL_DROP };
	uint32_t kind;

	switch (t->sl2vl_kind) {
	case SL2VL_IDENTITY:
		return same;
	case SL2VL_BY_INPUT:
		if (!in)
			kind = IN_SELF;
		else
			kind = fabric_chan(f, sw, in) != FAB_NONE ? IN_SWITCH : IN_TERMINAL;
		return &t->sl2vl[kind * FAB_SLS];
	case SL2VL_FULL:
		return tables_sl2vl_row(t, sw, in, out);
	case SL2VL_UNREAD:
		break;
	}
	return none;
}

uint8_t tables_vl(const struct tables *t, const struct fabric *f, uint32_t sw, uint8_t in,
		  uint8_t out, uint8_t sl)
{
	/* also of an SL above 15 */
	return t->sl2vl_kind == SL2VL_IDENTITY ? sl : tables_vl_row(t, f, sw, in, out)[sl];
}

/* True when traffic can enter (or leave) the switch by that port. */
static bool tables_port_in_use(const struct fabric *f, uint32_t sw, uint32_t p)
{
	const struct port *port = fabric_port(f, sw, (uint8_t)p);

	return port->chan != FAB_NONE || port->term != FAB_NONE;
}

/* A call for each input port, not for each pair of ports: there are millions. */
static void tables_hash_sl2vl(struct digest_stream *s, const struct tables *t,
			      const struct fabric *f)
{
	uint8_t rows[256][FAB_SLS], outs[256];

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t n = 0;

		for (uint32_t out = 1; out <= f->sw_nports[sw]; out++)
			if (fabric_port(f, sw, (uint8_t)out)->chan != FAB_NONE)
				outs[n++] = (uint8_t)out;
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++) {
			if (!tables_port_in_use(f, sw, in))
				continue;
			for (uint32_t i = 0; i < n; i++)
				memcpy(rows[i], tables_vl_row(t, f, sw, (uint8_t)in, outs[i]),
				       FAB_SLS);
			digest_add(s, rows, (size_t)n * FAB_SLS);
		}
	}
}

/* SLs of one source towards every LID in use; returns their number. */
static uint32_t tables_sl_row(uint8_t *row, const struct tables *t, const struct fabric *f,
			      uint32_t term)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid <= t->max_lid; lid++)
		if (f->lid_end[lid] != FAB_NONE)
			row[n++] = tables_path_sl(t, term, f->term_sw[term], lid);
	return n;
}

/* One row per switch with terminals; a terminal that differs from the first adds its own. */
static bool tables_hash_sl(struct digest_stream *s, const struct tables *t, const struct fabric *f,
			   struct span *p)
{
	uint8_t *row = xcalloc(2, t->stride), *other = row + t->stride;
	bool stopped = false;

	for (uint32_t sw = 0; sw < f->nsw && !stopped; sw++) {
		uint32_t first = FAB_NONE, n = 0;

		stopped = span_at(p, f->nsw + sw);

		for (uint32_t i = f->term_off[sw]; i < f->term_off[sw + 1]; i++) {
			uint32_t term = f->term_list[i];

			if (first == FAB_NONE) {
				first = term;
				n = tables_sl_row(row, t, f, term);
				digest_add(s, row, n);
				if (t->sl_kind != SL_BY_TERM)
					break;
				continue;
			}
			tables_sl_row(other, t, f, term);
			if (memcmp(row, other, n)) {
				digest_add_u64(s, f->term_guid[term]);
				digest_add(s, other, n);
			}
		}
	}
	free(row);
	return stopped;
}

bool tables_hash_with_progress(struct digest *out, const struct tables *t, const struct fabric *f,
			       struct span *p)
{
	struct digest_stream *s = digest_begin();
	bool stopped = false;

	digest_add(s, f->fingerprint.b, DIGEST_BYTES);
	for (uint32_t sw = 0; sw < t->nsw && !stopped; sw++) {
		stopped = span_at(p, sw);
		digest_add(s, tables_row(t, sw), t->max_lid + 1u);
	}
	stopped = stopped || tables_hash_sl(s, t, f, p);
	if (!stopped)
		tables_hash_sl2vl(s, t, f);
	digest_end(out, s);
	return stopped;
}

void tables_hash(struct digest *out, const struct tables *t, const struct fabric *f)
{
	tables_hash_with_progress(out, t, f, NULL);
}

uint16_t tables_port_vls(const struct tables *t, const struct fabric *f, uint32_t sw, uint8_t out,
			 uint16_t sls)
{
	uint8_t sl[FAB_SLS], n = 0;
	uint16_t used = 0;

	for (uint8_t i = 0; i < FAB_SLS; i++)
		if (sls >> i & 1)
			sl[n++] = i;
	for (uint32_t in = 1; in <= f->sw_nports[sw]; in++) {
		const uint8_t *row;

		if (in == out || !tables_port_in_use(f, sw, in))
			continue;
		row = tables_vl_row(t, f, sw, (uint8_t)in, out);
		for (uint8_t i = 0; i < n; i++)
			used |= (uint16_t)(1u << row[sl[i]]);
	}
	return used & (uint16_t)((1u << (t->vls ? t->vls : VL_DROP)) - 1);
}

const char *tables_vls_text(char *buf, size_t size, uint16_t vls, const char *each)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned vl = 0; vl < FAB_SLS && n < size; vl++)
		if (vls >> vl & 1)
			n += (size_t)snprintf(buf + n, size - n, "%s%u%s", n ? "," : "", vl, each);
	return buf;
}

size_t tables_sl_bytes(const struct tables *t)
{
	return tables_sl_rows(t->sl_kind, t->nsw, t->nend) * t->stride;
}

size_t tables_sl2vl_bytes(const struct tables *t)
{
	switch (t->sl2vl_kind) {
	case SL2VL_IDENTITY:
	case SL2VL_UNREAD:
		return 0;
	case SL2VL_BY_INPUT:
		return (size_t)IN_KINDS * FAB_SLS;
	case SL2VL_FULL:
		return (size_t)t->sl2vl_off[t->nsw] * FAB_SLS;
	}
	return 0;
}

bool tables_same(const struct tables *a, const struct tables *b, const struct fabric *f)
{
	struct digest da, db;

	if (!digest_equal(&a->fingerprint, &b->fingerprint) ||
	    tables_know_vls(a) != tables_know_vls(b) ||
	    memcmp(a->lft, b->lft, (size_t)a->nsw * a->stride))
		return false;
	if (a->sl_kind == b->sl_kind && a->sl2vl_kind == b->sl2vl_kind &&
	    a->sl_const == b->sl_const && (!a->sl || !memcmp(a->sl, b->sl, tables_sl_bytes(a))) &&
	    (!a->sl2vl || !memcmp(a->sl2vl, b->sl2vl, tables_sl2vl_bytes(a))))
		return true;
	tables_hash(&da, a, f);
	tables_hash(&db, b, f);
	return digest_equal(&da, &db);
}

bool tables_as_found(const struct tables *t)
{
	return !strcmp(t->engine, TABLES_WIRE) || !strcmp(t->engine, TABLES_FILE);
}

bool tables_know_sls(const struct tables *t)
{
	return t->sl_kind != SL_CONST || t->sls_told || !tables_as_found(t);
}

/* SLs above 15, which tables of others may hold, have no bit. */
static uint16_t tables_sl_bit(uint8_t sl)
{
	return sl < FAB_SLS ? (uint16_t)(1u << sl) : 0;
}

uint16_t tables_sl_mask_at(const struct tables *t, const struct fabric *f, uint32_t sw)
{
	uint32_t first = f->term_off[sw], end = f->term_off[sw + 1];
	uint16_t mask = 0;

	if (t->sl_kind != SL_BY_TERM && end > first)
		end = first + 1; /* the others of this switch have the same */
	for (uint32_t i = first; i < end; i++)
		for (uint32_t lid = 1; lid <= t->max_lid; lid++)
			if (f->lid_end[lid] != FAB_NONE)
				mask |= tables_sl_bit(tables_path_sl(t, f->term_list[i], sw, lid));
	return mask;
}

uint16_t tables_sl_mask(const struct tables *t, const struct fabric *f)
{
	uint16_t mask = 0;

	if (t->sl_kind == SL_CONST)
		return tables_sl_bit(t->sl_const);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		mask |= tables_sl_mask_at(t, f, sw);
		if (t->sl_kind == SL_BY_DLID && mask)
			break; /* all switches have the same */
	}
	return mask;
}

static void tables_lft_onto(struct tables *out, const struct fabric *f,
			    const struct tables *installed, const struct tables *wanted)
{
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint8_t *to = tables_row(out, sw);
		const uint8_t *old = tables_row(installed, sw), *new = tables_row(wanted, sw);

		for (uint32_t lid = 0; lid <= out->max_lid; lid++)
			to[lid] = f->lid_end[lid] == FAB_NONE ? old[lid] : new[lid];
	}
}

static void tables_sl2vl_onto(struct tables *out, const struct fabric *f,
			      const struct tables *installed, const struct tables *wanted)
{
	uint16_t mask = tables_sl_mask(wanted, f);

	if (installed->sl2vl_kind == SL2VL_IDENTITY && wanted->sl2vl_kind == SL2VL_IDENTITY)
		return;
	tables_sl2vl_form(out, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint32_t o = 0; o <= f->sw_nports[sw]; o++) {
				uint8_t *row = tables_sl2vl_row(out, sw, in, o);
				const uint8_t *new =
					tables_vl_row(wanted, f, sw, (uint8_t)in, (uint8_t)o);
				const uint8_t *old =
					tables_vl_row(installed, f, sw, (uint8_t)in, (uint8_t)o);

				for (uint8_t sl = 0; sl < FAB_SLS; sl++)
					row[sl] = mask >> sl & 1 ? new[sl] : old[sl];
			}
}

struct tables *tables_borrow_sl2vl(const struct fabric *f, const struct tables *t,
				   const struct tables *like)
{
	struct tables *out;

	if (t->sl2vl_kind != SL2VL_FULL || like->sl2vl_kind != SL2VL_FULL ||
	    tables_check_fabric(t, f, NULL) || tables_check_fabric(like, f, NULL) ||
	    memcmp(t->sl2vl, like->sl2vl, tables_sl2vl_bytes(t)) != 0)
		return NULL;
	out = tables_new_blank(f, t->engine);
	memcpy(out->lft, t->lft, (size_t)t->nsw * t->stride);
	tables_sl_form(out, t->sl_kind, f);
	out->sl_const = t->sl_const;
	if (t->sl)
		memcpy(out->sl, t->sl, tables_sl_bytes(t));
	tables_weighted_take(out, t, f);
	out->lender = tables_get(like->lender ? like->lender : like);
	out->sl2vl_kind = SL2VL_FULL;
	out->sl2vl = like->sl2vl;
	out->sl2vl_off = like->sl2vl_off;
	out->sl2vl_nports = like->sl2vl_nports;
	tables_copy_origin(out, t);
	return out;
}

struct tables *tables_onto(const struct fabric *f, const struct tables *installed,
			   const struct tables *wanted)
{
	struct tables *out = tables_new(f, wanted->engine);

	tables_lft_onto(out, f, installed, wanted);
	tables_sl_form(out, wanted->sl_kind, f);
	out->sl_const = wanted->sl_const;
	if (out->sl)
		memcpy(out->sl, wanted->sl, tables_sl_bytes(wanted));
	tables_sl2vl_onto(out, f, installed, wanted);
	tables_copy_origin(out, wanted);
	return out;
}
