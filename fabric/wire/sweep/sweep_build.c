/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was found goes into a builder only at the end, because a node without a known LID would
 * make the builder assign all LIDs again: in a fabric that has been configured it is left out.
 */
#include "fabric/wire/sweep/sweep_priv.h"

#include <errno.h>
#include <string.h>

static int sweep_by_guid(const void *a, const void *b)
{
	uint64_t x = ((const struct wire_route *)a)->guid, y = ((const struct wire_route *)b)->guid;

	return (x > y) - (x < y);
}

static void sweep_keep_routes(struct sweep *s)
{
	struct wire *w = s->w;

	wire_forget(w);
	wire_forget_routes(w);
	w->routes = xcalloc(s->node.n, sizeof(*w->routes));
	for (size_t n = 0; n < s->node.n; n++)
		if (s->node.v[n].kind == NODE_SWITCH)
			w->routes[w->nroutes++] =
				(struct wire_route){ s->node.v[n].guid, s->node.v[n].m_key,
						     s->node.v[n].route };
	qsort(w->routes, w->nroutes, sizeof(*w->routes), sweep_by_guid);
}

/* Ports of a CA may have keys of their own. */
static void sweep_keep_keys(struct sweep *s)
{
	VEC(struct wire_lid) lids = { 0 };

	for (size_t n = 0; n < s->node.n && s->w->opts.m_keys; n++) {
		const struct found *x = &s->node.v[n];

		for (uint32_t i = 0; i <= x->nports; i++) {
			const struct found_port *p = &x->port[i];

			if (p->lid && p->guid)
				vec_push(&lids,
					 (struct wire_lid){
						 mkeys_of(s->w->opts.m_keys, p->guid, x->m_key),
						 p->lid, (uint16_t)(1u << p->lmc) });
		}
	}
	wire_keep_keys(s->w, lids.v, (uint32_t)lids.n, s->peers.v, (uint32_t)s->peers.n);
	s->peers.v = NULL;
	s->peers.n = s->peers.cap = 0;
}

/* Whether a port has what a configured fabric's port must have; else it is left out. */
static bool sweep_has_lid(struct sweep *s, uint32_t n, uint8_t port)
{
	const struct found *x = &s->node.v[n];

	if (x->port[port].lid && x->port[port].lid <= FAB_MAX_LID)
		return true;
	sweep_gap_add(s, &s->report->no_answer, x->guid, "%s is ignored: it %s",
		      sweep_label(s, n).text, x->silent ? "does not respond" : "has no LID yet");
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
	else
		builder_set_system(b, x->id, x->system);
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
		if (!rc && p->best[0])
			rc = builder_port_best(b, x->id, i, p->best, err);
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

/* What has no LID in one that was configured is left out. */
static int sweep_build(struct fabric **out, struct sweep *s, struct err *err)
{
	struct freeze_opts fo = {
		.name = s->opts->name, .live = true, .lmc = s->opts->lmc, .names = s->opts->names
	};
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

/* For the next one, which may be of a part. */
static void sweep_keep_nodes(struct sweep *s, bool all)
{
	wire_forget_found(s->w);
	s->w->found = s->node.v;
	s->w->nfound = (uint32_t)s->node.n;
	s->w->found_all = all;
	s->node.v = NULL;
	s->node.n = s->node.cap = 0;
}

int sweep_conclude(struct fabric **out, struct sweep *s, struct err *err)
{
	int rc;

	if (!s->node.n)
		return err_set(
			err, -EHOSTUNREACH,
			"the local port does not respond to subnet management (%s): is it up, may "
			"this user send MADs, and does the fabric require an M_Key?",
			wire_rc_text(s->local_rc));
	if (s->local_down)
		return err_set(err, -ENETDOWN,
			       "the local port is down: check its cable, or select another port");
	if (!s->report->switches)
		return err_set(err, -EHOSTUNREACH,
			       "no switch responds behind the local port%s: there is no fabric to "
			       "discover",
			       s->w->opts.m_keys ? " with any of the possible M_Keys" : "");
	sweep_keep_routes(s);
	sweep_keep_keys(s);
	rc = sweep_build(out, s, err);
	sweep_keep_nodes(s, !rc && !s->report->no_answer && !s->report->clashes);
	return rc;
}
