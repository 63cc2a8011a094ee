/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a sweep has not found, in sentences. */
#include "fabric/wire/sweep/sweep_priv.h"

#include "fabric/model/topology/name_map.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define GAPS_MAX 1000

void sweep_report_clear(struct sweep_report *r)
{
	free(r->gaps);
	*r = (struct sweep_report){ 0 };
}

void sweep_gap_add(struct sweep *s, uint32_t *count, uint64_t guid, const char *fmt, ...)
{
	struct sweep_report *r = s->report;
	struct sweep_gap *g;
	va_list ap;

	++*count;
	if (r->ngaps == GAPS_MAX)
		return;
	r->gaps = xrealloc(r->gaps, r->ngaps + 1u, sizeof(*r->gaps));
	g = &r->gaps[r->ngaps++];
	g->guid = guid;
	g->place[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(g->text, sizeof(g->text), fmt, ap);
	va_end(ap);
}

void sweep_gap_place(struct sweep *s, const char *fmt, ...)
{
	struct sweep_report *r = s->report;
	va_list ap;

	if (!r->ngaps || r->no_answer + r->clashes > r->ngaps) /* that line was not kept */
		return;
	va_start(ap, fmt);
	vsnprintf(r->gaps[r->ngaps - 1].place, sizeof(r->gaps->place), fmt, ap);
	va_end(ap);
}

struct label sweep_label(const struct sweep *s, uint32_t n)
{
	const struct found *x = &s->node.v[n];
	const char *name = name_map_find(s->opts->names, x->guid);
	struct label l;

	if (name || x->desc[0])
		snprintf(l.text, sizeof(l.text), "%s", name ? name : x->desc);
	else
		snprintf(l.text, sizeof(l.text), "%s 0x%016" PRIx64,
			 x->kind == NODE_SWITCH ? "switch" : "node", x->guid);
	return l;
}
