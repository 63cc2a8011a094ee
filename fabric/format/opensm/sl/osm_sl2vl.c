/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/sl/osm_sl2vl.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/file/text_out.h"
#include "fabric/format/opensm/osm_order.h"
#include "fabric/format/opensm/sl/sl2vl_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RULE "#--------------------------------------------------------\n"

/* 'Switch 0x..., base LID 4, "name"'; 1 for a switch, 0 for another node, -1 else */
static int osm_sl2vl_read_heading(uint64_t *guid, const char *s)
{
	int is_switch = scan_word(&s, "Switch 0x");

	if (!is_switch && !scan_word(&s, "Channel Adapter 0x") && !scan_word(&s, "Router 0x"))
		return -1;
	return scan_hex(guid, &s) && *s == ',' ? is_switch : -1;
}

/* "0   1   : 0  1  2 ... 15" */
static bool osm_sl2vl_read_row(uint64_t *in, uint64_t *out, uint8_t vl[FAB_SLS], const char *s)
{
	uint64_t v;

	scan_blank(&s);
	if (!scan_dec(in, &s) || !scan_blank(&s) || !scan_dec(out, &s))
		return false;
	scan_blank(&s);
	if (!scan_word(&s, ":"))
		return false;
	for (int sl = 0; sl < FAB_SLS; sl++) {
		scan_blank(&s);
		if (!scan_dec(&v, &s) || v > VL_DROP)
			return false;
		vl[sl] = (uint8_t)v;
	}
	return scan_end(&s);
}

int osm_sl2vl_read(struct tables *t, FILE *file, const char *path, const struct fabric *f,
		   struct read_report *report, struct err *err)
{
	struct lines *l = lines_new(file, path, report);
	struct sl2vl_text x;
	uint64_t guid, in, out;
	uint8_t vl[FAB_SLS];
	bool skip = false;
	char *s;
	int rc, kind;

	sl2vl_text_begin(&x, t, f, report);
	while ((s = lines_next_data(l))) {
		kind = osm_sl2vl_read_heading(&guid, s);
		if (kind >= 0)
			skip = !kind;
		if (kind == 1)
			sl2vl_text_switch(&x, guid, lines_number(l));
		else if (kind < 0 && osm_sl2vl_read_row(&in, &out, vl, s)) {
			if (!skip)
				sl2vl_text_row(&x, in, out, vl, lines_number(l));
		} else if (kind < 0)
			read_report_skip(report, lines_number(l), "not understood: %.60s", s);
	}
	rc = sl2vl_text_end(&x, l, "opensm-sl2vl.dump", err);
	lines_free(l);
	return rc;
}

static void osm_sl2vl_left(struct text_out *o, unsigned v, unsigned width)
{
	text_out_dec(o, v, 1);
	for (unsigned n = v >= 100 ? 3 : v >= 10 ? 2 : 1; n < width; n++)
		text_out_bytes(o, " ", 1);
}

static void osm_sl2vl_write_row(struct text_out *o, const struct fabric *f, const struct tables *t,
				uint32_t sw, uint8_t in, uint8_t out)
{
	char vls[3 * FAB_SLS + 1];

	osm_sl2vl_left(o, in, 4);
	osm_sl2vl_left(o, out, 4);
	text_out_bytes(o, ":", 1);
	for (uint8_t sl = 0; sl < FAB_SLS; sl++) {
		uint8_t vl = tables_vl(t, f, sw, in, out, sl);
		char *s = vls + 3 * sl;

		s[0] = ' ';
		s[1] = vl < 10 ? (char)('0' + vl) : '1';
		s[2] = vl < 10 ? ' ' : (char)('0' + vl - 10);
	}
	vls[3 * FAB_SLS] = '\n';
	text_out_bytes(o, vls, sizeof(vls));
}

static void osm_sl2vl_write_switch(struct text_out *o, const struct fabric *f,
				   const struct tables *t, uint32_t sw)
{
	text_out_fmt(o,
		     "Switch 0x%016" PRIx64 ", base LID %u, \"%s\"\n"
		     "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n" RULE,
		     f->sw_guid[sw], f->sw_lid[sw], f->sw_desc[sw]);
	for (uint32_t out = 1; out <= f->sw_nports[sw]; out++) {
		if (!sl2vl_text_port_used(f, sw, out))
			continue;
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			osm_sl2vl_write_row(o, f, t, sw, (uint8_t)in, (uint8_t)out);
	}
	text_out_str(o, RULE "\n");
}

int osm_sl2vl_write(FILE *file, const struct fabric *f, const struct tables *t, struct err *err)
{
	struct text_out *o = text_out_new(file);
	uint32_t *order = osm_order_new(f->sw_guid, f->nsw);

	for (uint32_t i = 0; i < f->nsw; i++) {
		osm_sl2vl_write_switch(o, f, t, order[i]);
		if (!text_out_step(o, i + 1, f->nsw))
			break;
	}
	free(order);
	return text_out_end(o, "The dump of SL2VL tables", err);
}
