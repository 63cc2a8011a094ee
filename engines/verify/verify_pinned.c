/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_pinned.h"

#include <stdio.h>

struct pair {
	const struct fabric *f;
	const struct tables *from, *to;
	struct pin_verdict *v;
};

static void verify_pinned_note(const struct pair *p, enum pin_fault fault, uint32_t sw,
			       uint32_t end, uint32_t lid)
{
	struct pin_verdict *v = p->v;

	if (!v->changed++) {
		v->fault = fault;
		v->sw = sw;
		v->end = end;
		v->lid = (uint16_t)lid;
	}
}

static void verify_pinned_compare_entries(const struct pair *p, uint32_t end, uint32_t lid)
{
	for (uint32_t sw = 0; sw < p->f->nsw; sw++)
		if (tables_row(p->from, sw)[lid] != tables_row(p->to, sw)[lid])
			verify_pinned_note(p, PIN_ENTRY, sw, end, lid);
}

/* VLs along the old path, which is the new one where no entry differs. */
static void verify_pinned_compare_vls(const struct pair *p, uint32_t src, uint32_t end,
				      uint32_t lid, uint8_t sl)
{
	const struct fabric *f = p->f;
	uint32_t sw = f->term_sw[src], hops = 0;
	uint8_t in = f->term_port[src];

	while (hops++ < f->nsw) {
		uint8_t out = tables_row(p->from, sw)[lid];
		uint32_t chan = fabric_chan(f, sw, out);

		if (chan == FAB_NONE)
			return;
		if (tables_vl(p->from, f, sw, in, out, sl) != tables_vl(p->to, f, sw, in, out, sl))
			verify_pinned_note(p, PIN_VL, sw, end, lid);
		in = f->chan_rport[chan];
		sw = f->chan_dst[chan];
	}
}

static void verify_pinned_compare_source(const struct pair *p, uint32_t src, uint32_t end,
					 uint32_t lid)
{
	uint32_t sw = p->f->term_sw[src];
	uint8_t sl = tables_path_sl(p->from, src, sw, lid);

	if (sl != tables_path_sl(p->to, src, sw, lid))
		verify_pinned_note(p, PIN_SL, sw, end, lid);
	else if (sl < FAB_SLS &&
		 (p->from->sl2vl_kind != SL2VL_IDENTITY || p->to->sl2vl_kind != SL2VL_IDENTITY))
		verify_pinned_compare_vls(p, src, end, lid, sl);
}

void verify_pinned(struct pin_verdict *v, const struct fabric *f, const struct tables *from,
		   const struct tables *to, const struct route_limits *limits)
{
	const bool *pin = limits ? limits->pin : NULL;
	struct pair p = { f, from, to, v };

	*v = (struct pin_verdict){ .hosts = route_limits_pinned(limits, f) };
	for (uint32_t lid = 1; v->hosts && lid <= f->max_lid; lid++) {
		uint32_t end = fabric_lid_end(f, lid);

		if (end >= f->nend || !pin[end] ||
		    (from->escape && to->escape && fabric_lid_escape(f, lid)))
			continue;
		verify_pinned_compare_entries(&p, end, lid);
		for (uint32_t src = 0; src < f->nend; src++)
			if (f->term_sw[src] != f->term_sw[end])
				verify_pinned_compare_source(&p, src, end, lid);
	}
}

const char *pin_verdict_sentence(char *buf, size_t len, const struct pin_verdict *v,
				 const struct fabric *f)
{
	static const char *const what[] = { "", "the entry", "the SL of paths", "the VL" };

	if (!v->changed)
		snprintf(buf, len, "paths to %u pinned host%s unchanged", v->hosts,
			 v->hosts == 1 ? "" : "s");
	else
		snprintf(buf, len,
			 "paths to pinned hosts change: %s at switch %s to LID %u of %s, and %llu "
			 "more",
			 what[v->fault], f->sw_name[v->sw], v->lid, f->term_name[v->end],
			 (unsigned long long)v->changed - 1);
	return buf;
}
