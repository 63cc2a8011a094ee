/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of failures that may come: of each cable and switch. */
#include "views/data/lists/weak_list.h"
#include "views/table/fields/fields_priv.h"

#include <stdio.h>

static const struct weak_part *fields_failures_part(const struct rows *r, uint32_t row)
{
	return &state_weak(r->s)->report->part[row];
}

static bool fields_failures_repaired(const struct rows *r, uint32_t row)
{
	return fields_failures_part(r, row)->end == WEAK_REPAIRED;
}

static const char *fields_failures_kind(const struct weak_part *p)
{
	return p->chan == FAB_NONE ? "switch" : "cable";
}

void failure_label(char *buf, const struct rows *r, uint32_t row)
{
	const struct weak_part *p = fields_failures_part(r, row);
	char name[VALUE_LEN];

	snprintf(buf, VALUE_LEN, "%s %.240s", fields_failures_kind(p),
		 weak_part_label(name, sizeof(name), r->s->fabric, p));
}

GETTER(fields_failures_get_kind, c->text = fields_failures_kind(fields_failures_part(r, row)))
GETTER(fields_failures_get_part, c->text = weak_part_label(c->buf, sizeof(c->buf), r->s->fabric,
							   fields_failures_part(r, row)))
GETTER(fields_failures_get_end, c->text = weak_end_name(fields_failures_part(r, row)->end))
GETTER(fields_failures_get_hosts, c->num = fields_failures_part(r, row)->hosts)
GETTER(fields_failures_get_rise,
       c->num = weak_part_rise(state_weak(r->s)->report, fields_failures_part(r, row)))

/* The figures of one that is repaired. */
enum figure { FIGURE_TIME, FIGURE_VLS, FIGURE_LIDS, FIGURE_CHANGED, FIGURE_NEEDED };

static void fields_failures_get(struct value *c, const struct rows *r, uint32_t row)
{
	const struct weak_part *p = fields_failures_part(r, row);
	const double figures[] = { p->time, p->vls, p->lids, (double)p->changed,
				   (double)p->needed };

	if (fields_failures_repaired(r, row))
		c->num = figures[c->of];
}

/* clang-format off */
const struct field fields_failures[] = {
	{ "kind", NULL, "fails", "", VALUE_TEXT, 0, true, "cable or switch", fields_failures_get_kind, 0, NEED_ALL },
	{ "part", "name", "cable or switch", "", VALUE_TEXT, 0, true, "switch and port at both ends, or the switch", fields_failures_get_part, 0, NEED_ALL },
	{ "hosts", NULL, "hosts", "", VALUE_COUNT, 0, true, "hosts that are cut off, or on the switch", fields_failures_get_hosts, 0, NEED_ALL },
	{ "after", "end", "after", "", VALUE_TEXT, 0, true, "repaired; rerouted: no repair on these VLs; cut off: hosts", fields_failures_get_end, 0, NEED_ALL },
	{ "time", NULL, "time", "", VALUE_NUMBER, 3, true, "time of shifts over all hosts after the repair; 1 is without contention", fields_failures_get, FIGURE_TIME, NEED_ALL },
	{ "rise_pct", "rise", "+%", "%", VALUE_NUMBER, 1, true, "how much longer that is than now", fields_failures_get_rise, 0, NEED_ALL },
	{ "vls", NULL, "VLs", "", VALUE_COUNT, 0, true, "VLs of the repaired routing", fields_failures_get, FIGURE_VLS, NEED_ALL },
	{ "lids", NULL, "LIDs", "", VALUE_COUNT, 0, true, "LIDs to which paths break", fields_failures_get, FIGURE_LIDS, NEED_ALL },
	{ "entries", "changed", "LFT entries", "", VALUE_COUNT, 0, true, "LFT entries that the repair changes", fields_failures_get, FIGURE_CHANGED, NEED_ALL },
	{ "needed", NULL, "needed", "", VALUE_COUNT, 0, false, "LFT entries that have to change for paths as short", fields_failures_get, FIGURE_NEEDED, NEED_ALL },
};
/* clang-format on */
FIELDS_END(fields_failures);
