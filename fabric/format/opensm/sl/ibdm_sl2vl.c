/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/sl/ibdm_sl2vl.h"

#include "fabric/base/file/lines.h"
#include "fabric/base/file/text_out.h"
#include "fabric/format/opensm/sl/sl2vl_text.h"

/* "0x0002c90000000201 5 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xef" */
static bool ibdm_sl2vl_read_row(uint64_t *guid, uint64_t *in, uint64_t *out, uint8_t vl[FAB_SLS],
				const char *s)
{
	uint64_t v;

	scan_blank(&s);
	if (s[0] != '0' || s[1] != 'x' || !scan_hex(guid, &s) || !scan_blank(&s) ||
	    !scan_dec(in, &s) || !scan_blank(&s) || !scan_dec(out, &s))
		return false;
	for (int sl = 0; sl < FAB_SLS; sl += 2) {
		scan_blank(&s);
		if (s[0] != '0' || s[1] != 'x' || !scan_hex(&v, &s) || v > 0xff)
			return false;
		vl[sl] = (uint8_t)(v >> 4);
		vl[sl + 1] = (uint8_t)(v & 15);
	}
	return scan_end(&s);
}

int ibdm_sl2vl_read(struct tables *t, FILE *file, const char *path, const struct fabric *f,
		    struct read_report *report, struct err *err)
{
	struct lines *l = lines_new(file, path, report);
	struct sl2vl_text x;
	uint64_t guid, in, out;
	uint8_t vl[FAB_SLS];
	char *s;
	int rc;

	sl2vl_text_begin(&x, t, f, report);
	while ((s = lines_next_data(l))) {
		if (ibdm_sl2vl_read_row(&guid, &in, &out, vl, s)) {
			sl2vl_text_switch(&x, guid, lines_number(l));
			sl2vl_text_row(&x, in, out, vl, lines_number(l));
		} else {
			read_report_skip(report, lines_number(l), "not understood: %.60s", s);
		}
	}
	rc = sl2vl_text_end(&x, l, "the SL2VL file of ibdmchk", err);
	lines_free(l);
	return rc;
}

static void ibdm_sl2vl_write_row(struct text_out *o, const struct fabric *f, const struct tables *t,
				 uint32_t sw, uint8_t in, uint8_t out)
{
	static const char digits[] = "0123456789abcdef";

	text_out_bytes(o, "0x", 2);
	text_out_hex(o, f->sw_guid[sw], 16);
	text_out_bytes(o, " ", 1);
	text_out_dec(o, in, 1);
	text_out_bytes(o, " ", 1);
	text_out_dec(o, out, 1);
	for (uint8_t sl = 0; sl < FAB_SLS; sl += 2) {
		char pair[5] = { ' ', '0', 'x' };

		pair[3] = digits[tables_vl(t, f, sw, in, out, sl) & 15];
		pair[4] = digits[tables_vl(t, f, sw, in, out, (uint8_t)(sl + 1)) & 15];
		text_out_bytes(o, pair, sizeof(pair));
	}
	text_out_bytes(o, "\n", 1);
}

static void ibdm_sl2vl_write_switch(struct text_out *o, const struct fabric *f,
				    const struct tables *t, uint32_t sw)
{
	for (uint32_t in = 0; in <= f->sw_nports[sw]; in++) {
		if (!sl2vl_text_port_used(f, sw, in))
			continue;
		for (uint32_t out = 1; out <= f->sw_nports[sw]; out++)
			if (sl2vl_text_port_used(f, sw, out))
				ibdm_sl2vl_write_row(o, f, t, sw, (uint8_t)in, (uint8_t)out);
	}
}

int ibdm_sl2vl_write(FILE *file, const struct fabric *f, const struct tables *t, struct err *err)
{
	struct text_out *o = text_out_new(file);

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		ibdm_sl2vl_write_switch(o, f, t, sw);
		if (!text_out_step(o, sw + 1, f->nsw))
			break;
	}
	return text_out_end(o, "The SL2VL file", err);
}
