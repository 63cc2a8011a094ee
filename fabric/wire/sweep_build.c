/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a sweep has found, as a fabric, and what it could not find, in words. */
#include "fabric/model/namemap.h"
#include "fabric/wire/sweep_priv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define GAPS_MAX 1000

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

/* Whether a port has what a configured fabric's port must have; else it is left out. */
static bool sweep_has_lid(struct sweep *s, uint32_t n, uint8_t port)
{
	const struct found *x = &s->node.v[n];

	if (x->port[port].lid && x->port[port].lid <= FAB_MAX_LID)
		return true;
	sweep_gap_add(s, &s->report->no_answer, x->guid, "%s is left out: it %s",
		      sweep_label(s, n).text, x->silent ? "does not answer" : "has no LID yet");
	sweep_gap_place(s, "%s", sweep_label(s, n).text);
	return false;
}

static int sweep_build_node(struct sweep *s, struct builder *b, uint32_t n, bool configured,
			    struct err *err)
{
	struct found *x = &s->node.v[n];
	int rc;

	x->left_out = x->kind == NODE_SWITCH && configured && !sweep_has_lid(s, n, 0);
	if (x->left_out)
		return 0;
	rc = builder_node(&x->id, b, x->kind, x->guid, x->nports, x->desc, err);
	if (rc)
		return rc;
	if (x->kind == NODE_SWITCH)
		builder_set_enhanced_sp0(b, x->id, x->enhanced_sp0);
	for (uint32_t i = 0; i <= x->nports && !rc; i++) {
		const struct found_port *p = &x->port[i];

		if (p->guid)
			rc = builder_port_guid(b, x->id, i, p->guid, err);
		if (!rc && p->lid)
			rc = builder_port_lid(b, x->id, i, p->lid, p->lmc, err);
		if (!rc && p->state)
			rc = builder_port_state(b, x->id, i,
						(enum port_state)(PORT_DOWN + p->state - 1),
						p->op_vls, err);
		if (!rc && p->link[0])
			rc = builder_port_link(b, x->id, i, p->link, err);
	}
	return rc;
}

static int sweep_build_links(struct sweep *s, struct builder *b, uint32_t n, bool configured,
			     struct err *err)
{
	const struct found *x = &s->node.v[n];
	int rc = 0;

	for (uint32_t i = 1; i <= x->nports && !x->left_out && !rc; i++) {
		const struct found_port *p = &x->port[i];

		if (p->peer == NO_NODE || s->node.v[p->peer].left_out)
			continue;
		if (x->kind != NODE_SWITCH && configured && !sweep_has_lid(s, n, (uint8_t)i))
			continue;
		if (x->kind == NODE_SWITCH && s->node.v[p->peer].kind != NODE_SWITCH)
			continue; /* comes from the other side */
		rc = builder_link(b, x->id, i, s->node.v[p->peer].id, p->peer_port, err);
	}
	return rc;
}

int sweep_build(struct fabric **out, struct sweep *s, struct err *err)
{
	struct freeze_opts fo = { .name = s->opts->name,
				  .lmc = s->opts->lmc,
				  .names = s->opts->names };
	struct builder *b = builder_new();
	bool configured = false;
	int rc = 0;

	for (uint32_t p = 0; p <= s->node.v[0].nports; p++)
		configured |= s->node.v[0].port[p].lid != 0;
	for (uint32_t n = 0; n < s->node.n && !rc; n++)
		rc = sweep_build_node(s, b, n, configured, err);
	for (uint32_t n = 0; n < s->node.n && !rc; n++)
		rc = sweep_build_links(s, b, n, configured, err);
	if (!rc)
		rc = builder_freeze(out, b, &fo, err);
	builder_free(b);
	return rc;
}
