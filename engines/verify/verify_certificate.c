/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_certificate.h"

#include <errno.h>

static bool verify_certificate_rises(const struct fabric *f, const struct tables *t, uint32_t nvl,
				     const uint32_t *order, uint32_t end, uint32_t lid)
{
	uint32_t sw = f->term_sw[end];
	uint8_t in = f->term_port[end], sl = tables_path_sl(t, end, sw, lid);
	int64_t last = -1;

	while (sl < FAB_SLS) {
		uint8_t out = tables_row(t, sw)[lid], vl;
		uint32_t chan = fabric_chan(f, sw, out), here;

		if (chan == FAB_NONE)
			break; /* delivered or lost: waits for nothing */
		vl = tables_vl(t, f, sw, in, out, sl);
		if (vl >= VL_DROP)
			break;
		if (vl >= nvl)
			return false;
		here = order[chan * nvl + vl];
		if (here == UINT32_MAX || here <= last)
			return false;
		last = here;
		in = f->chan_rport[chan];
		sw = f->chan_dst[chan];
	}
	return true;
}

int certificate_check(const struct fabric *f, const struct tables *t, uint32_t nvl,
		      const uint32_t *order, bool terminals_only, struct err *err)
{
	bool alike = t->sl_kind != SL_BY_TERM && t->sl2vl_kind != SL2VL_FULL;
	uint32_t lid, end, owner;

	for (lid = 1; lid <= f->max_lid; lid++) {
		owner = fabric_lid_end(f, lid);
		if (owner == FAB_NONE || (terminals_only && owner >= f->nend))
			continue;
		for (end = 0; end < f->nend; end++) {
			if (alike && f->term_list[f->term_off[f->term_sw[end]]] != end)
				continue;
			if (verify_certificate_rises(f, t, nvl, order, end, lid))
				continue;
			return err_set(err, -EINVAL,
				       "the order does not increase along the path from %s to LID "
				       "%u",
				       f->term_name[end], lid);
		}
	}
	return 0;
}
