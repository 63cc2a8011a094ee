/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/sl_maps.h"

#include <string.h>

#define NOT_IN_USE 0xff

/* Rows in a row that are the same are counted: there are millions of pairs, and few rows. */
struct sl_maps_run {
	struct digest_stream *s;
	uint8_t raw[FAB_SLS], row[FAB_SLS]; /* the last one, and what is left of it */
	unsigned vl_mask;
	uint64_t n;
};

static void sl_maps_end_run(struct sl_maps_run *r)
{
	if (!r->n)
		return;
	digest_add_u64(r->s, r->n);
	digest_add(r->s, r->row, sizeof(r->row));
	r->n = 0;
}

static void sl_maps_add(struct sl_maps_run *r, const uint8_t *raw, unsigned vl_mask)
{
	uint8_t row[FAB_SLS];

	if (r->n && r->vl_mask == vl_mask && !memcmp(raw, r->raw, FAB_SLS)) {
		r->n++;
		return;
	}
	for (int sl = 0; sl < FAB_SLS; sl++)
		row[sl] = raw[sl] == VL_DROP ? VL_DROP : raw[sl] & (uint8_t)vl_mask;
	if (!r->n || memcmp(row, r->row, FAB_SLS) != 0)
		sl_maps_end_run(r);
	memcpy(r->raw, raw, FAB_SLS);
	memcpy(r->row, row, FAB_SLS);
	r->vl_mask = vl_mask;
	r->n++;
}

/* By output port: its mask, or NOT_IN_USE. */
static void sl_maps_masks(uint8_t mask[256], const struct fabric *f, uint32_t sw)
{
	for (uint32_t p = 0; p <= f->sw_nports[sw]; p++) {
		const struct port *port = fabric_port(f, sw, (uint8_t)p);
		bool in_use = p && (port->chan != FAB_NONE || port->term != FAB_NONE);

		mask[p] = in_use ? (uint8_t)sl_maps_vl_mask(port->op_vls) : NOT_IN_USE;
	}
}

void sl_maps_hash(struct digest *out, const struct tables *t, const struct fabric *f)
{
	struct sl_maps_run r = { .s = digest_begin() };
	uint8_t mask[256];

	digest_add(r.s, f->fingerprint.b, sizeof(f->fingerprint.b));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		sl_maps_masks(mask, f, sw);
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++) {
			for (uint32_t o = 1; o <= f->sw_nports[sw]; o++)
				if ((!in || mask[in] != NOT_IN_USE) && mask[o] != NOT_IN_USE)
					sl_maps_add(
						&r,
						tables_vl_row(t, f, sw, (uint8_t)in, (uint8_t)o),
						mask[o]);
		}
	}
	sl_maps_end_run(&r);
	digest_end(out, r.s);
}
