/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/sl/sl2vl_text.h"

#include "fabric/format/opensm/dump_whole.h"
#include "fabric/format/opensm/sl/sl2vl_form.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void sl2vl_text_begin(struct sl2vl_text *x, struct tables *t, const struct fabric *f,
		      struct read_report *report)
{
	*x = (struct sl2vl_text){ .f = f, .t = t, .report = report, .sw = FAB_NONE };
	x->seen = xcalloc(f->nsw + 1ull, sizeof(*x->seen));
	sl2vl_full_identity(t, f);
}

void sl2vl_text_switch(struct sl2vl_text *x, uint64_t guid, uint64_t line)
{
	if (guid == x->guid && x->sw != FAB_NONE)
		return;
	x->guid = guid;
	x->sw = fabric_switch_by_guid(x->f, guid);
	if (x->sw == FAB_NONE) {
		x->strangers++;
		read_report_skip(
			x->report, line,
			"switch 0x%016" PRIx64 " is not in the fabric; its rows are ignored", guid);
	}
}

void sl2vl_text_row(struct sl2vl_text *x, uint64_t in, uint64_t out, const uint8_t vl[FAB_SLS],
		    uint64_t line)
{
	uint8_t ports;

	if (x->sw == FAB_NONE) {
		if (!x->strangers)
			read_report_skip(x->report, line, "row before the first switch");
		else if (x->report)
			x->report->skipped++;
		return;
	}
	ports = x->f->sw_nports[x->sw];
	if (in > ports || out > ports) {
		read_report_skip(x->report, line,
				 "switch %s has ports 0 to %u, not %" PRIu64 " to %" PRIu64,
				 x->f->sw_name[x->sw], ports, in, out);
		return;
	}
	memcpy(tables_sl2vl_row(x->t, x->sw, (uint32_t)in, (uint32_t)out), vl, FAB_SLS);
	x->rows++;
	x->seen[x->sw] = true;
	if (x->report)
		x->report->records++;
}

int sl2vl_text_end(struct sl2vl_text *x, const struct lines *l, const char *what, struct err *err)
{
	const char *path = lines_path(l);
	const char *none = "none of its switches is in the fabric; it is of another one";
	int rc = lines_end(l, 0, !x->rows && x->strangers ? none : NULL, err);

	if (!rc && !x->rows)
		rc = err_set(err, -EINVAL, "%s: not a dump of SL2VL tables (%s): no row in it",
			     path, what);
	if (!rc)
		rc = lines_whole(l, err);
	if (!rc)
		/* where rows are missing nobody knows which VL a packet takes */
		rc = dump_whole(x->seen, x->f, "rows", path, err);
	free(x->seen);
	if (rc)
		tables_sl2vl_form(x->t, SL2VL_IDENTITY, x->f);
	else
		sl2vl_simplify(x->t, x->f);
	return rc;
}

bool sl2vl_text_port_used(const struct fabric *f, uint32_t sw, uint32_t port)
{
	const struct port *p = fabric_port(f, sw, (uint8_t)port);

	return !port || p->chan != FAB_NONE || p->term != FAB_NONE;
}
