/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/sl/sl2vl_form.h"

#include <string.h>

enum input { FROM_SELF, FROM_TERM, FROM_SWITCH, FROM_NOTHING };

static enum input sl2vl_form_input_of(const struct port *p, uint32_t number)
{
	if (!number)
		return FROM_SELF;
	if (p->chan != FAB_NONE)
		return FROM_SWITCH;
	return p->term != FAB_NONE ? FROM_TERM : FROM_NOTHING;
}

static const uint8_t identity[FAB_SLS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

void sl2vl_full_identity(struct tables *t, const struct fabric *f)
{
	tables_sl2vl_form(t, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 0; out <= f->sw_nports[sw]; out++)
				memcpy(tables_sl2vl_row(t, sw, in, out), identity, FAB_SLS);
}

/* Compares the rows of one switch with what is known of their kind of input; learns new kinds. */
static bool sl2vl_form_agrees(const struct tables *t, const struct fabric *f, uint32_t sw,
			      uint8_t kind[FROM_NOTHING][FAB_SLS], bool known[FROM_NOTHING])
{
	for (uint32_t in = 0; in <= f->sw_nports[sw]; in++) {
		enum input k = sl2vl_form_input_of(fabric_port(f, sw, (uint8_t)in), in);

		if (k == FROM_NOTHING)
			continue;
		for (uint32_t out = 1; out <= f->sw_nports[sw]; out++) {
			const uint8_t *row = tables_sl2vl_row(t, sw, in, out);

			if (sl2vl_form_input_of(fabric_port(f, sw, (uint8_t)out), out) ==
				    FROM_NOTHING ||
			    (in == out && in))
				continue;
			if (!known[k])
				memcpy(kind[k], row, FAB_SLS);
			else if (memcmp(kind[k], row, FAB_SLS))
				return false;
			known[k] = true;
		}
	}
	return true;
}

void sl2vl_simplify(struct tables *t, const struct fabric *f)
{
	uint8_t kind[FROM_NOTHING][FAB_SLS];
	bool known[FROM_NOTHING] = { false }, same = true;

	if (t->sl2vl_kind != SL2VL_FULL)
		return;
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (!sl2vl_form_agrees(t, f, sw, kind, known))
			return;
	for (int k = 0; k < FROM_NOTHING; k++) {
		if (!known[k])
			memcpy(kind[k], identity, FAB_SLS);
		same = same && !memcmp(kind[k], identity, FAB_SLS);
	}
	if (same) {
		tables_sl2vl_form(t, SL2VL_IDENTITY, f);
		return;
	}
	tables_sl2vl_form(t, SL2VL_BY_INPUT, f);
	memcpy(t->sl2vl, kind, sizeof(kind));
}
