/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Discovery over directed routes, breadth first: each new node's NodeInfo opens questions about
 * the node, each live port of a switch a NodeInfo question to whoever is behind it.
 *
 * What was found goes into a builder only at the end, because a node without a known LID would
 * make the builder assign all LIDs again: in a fabric that has been configured it is left out.
 */
#include "fabric/wire/wire.h"

#include "fabric/base/memory/vec.h"
#include "fabric/model/topology/builder.h"
#include "fabric/model/topology/name_map.h"
#include "fabric/wire/wire_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NO_NODE	 UINT32_MAX
#define GAPS_MAX 1000

struct found_port {
	uint64_t guid;
	uint32_t peer; /* NO_NODE: no cable known */
	uint16_t lid;
	uint8_t peer_port, lmc, state, op_vls;
	char link[12], best[12]; /* what it is and what it could be */
};

struct found {
	uint64_t guid, system;
	enum node_kind kind;
	uint8_t nports;
	bool silent;
	bool ext_speed; /* its ports report extended speeds */
	bool enhanced_sp0;
	bool left_out;
	bool key_old;		      /* the key known of it was not its own any more */
	uint32_t id;		      /* in the builder */
	uint64_t m_key, answered_key; /* answered_key: the key that its NodeInfo was answered to */
	struct found_port *port;
	struct mad_route route;
	char desc[SMP_DATA + 1];
};

struct question {
	uint32_t node; /* asked, or through whose port the asked one is reached; NO_NODE: local */
	uint16_t attr;
	uint8_t port;
	uint8_t nth; /* key that is tried */
};

struct sweep {
	struct wire *w;
	const struct sweep_opts *opts;
	struct sweep_report *report;
	VEC(struct found) node;
	uint32_t *slot, nslot; /* hash of GUIDs: node + 1, or 0 */
	VEC(struct question) todo;
	VEC(struct wire_peer) peers; /* learned, see wire_keep_keys() */
	size_t at;
	uint64_t total;
	int local_rc;
	bool local_down;
};

struct label {
	char text[SMP_DATA + 24];
};

void sweep_report_clear(struct sweep_report *r)
{
	free(r->gaps);
	*r = (struct sweep_report){ 0 };
}

/* A line of the report; counts it, too, as count says. */
static void __attribute__((format(printf, 4, 5)))
sweep_gap_add(struct sweep *s, uint32_t *count, uint64_t guid, const char *fmt, ...)
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

/* Of the line just added: where nobody answers. */
static void __attribute__((format(printf, 2, 3)))
sweep_gap_place(struct sweep *s, const char *fmt, ...)
{
	struct sweep_report *r = s->report;
	va_list ap;

	if (!r->ngaps || r->no_answer + r->clashes > r->ngaps) /* that line was not kept */
		return;
	va_start(ap, fmt);
	vsnprintf(r->gaps[r->ngaps - 1].place, sizeof(r->gaps->place), fmt, ap);
	va_end(ap);
}

/* Of a node, for sentences. */
static struct label sweep_label(const struct sweep *s, uint32_t n)
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

static void sweep_ask(struct sweep *s, uint32_t node, uint16_t attr, uint8_t port)
{
	vec_push(&s->todo, (struct question){ node, attr, port, 0 });
	s->total++;
}

static void sweep_ask_again(struct sweep *s, struct question q)
{
	q.nth++;
	vec_push(&s->todo, q);
	s->total++;
}

/* As which a cable has it: of a switch, port 0's. */
static uint64_t sweep_end_guid(const struct found *x, uint8_t port)
{
	return x->port[x->kind == NODE_SWITCH ? 0 : port].guid;
}

/* The keys to try for a NodeInfo. */
static void sweep_tries_of(struct wire_tries *t, struct sweep *s, const struct question *q)
{
	const struct found *x;

	if (q->node == NO_NODE) {
		wire_tries_local(t, s->w);
		return;
	}
	x = &s->node.v[q->node];
	wire_tries_behind(t, s->w, sweep_end_guid(x, q->port), q->port, x->m_key);
}

static bool sweep_is_linked(const struct found *x, uint8_t port)
{
	return x->port[port].peer != NO_NODE;
}

/* Slot of a GUID, or the empty one where it belongs. */
static uint32_t *sweep_slot_of(const struct sweep *s, uint64_t guid)
{
	uint32_t i = (uint32_t)((guid * 0x9e3779b97f4a7c15u) >> 32) & (s->nslot - 1);

	while (s->slot[i] && s->node.v[s->slot[i] - 1].guid != guid)
		i = (i + 1) & (s->nslot - 1);
	return &s->slot[i];
}

static void sweep_grow_slots(struct sweep *s)
{
	if (s->nslot > 2 * s->node.n)
		return;
	free(s->slot);
	s->nslot = s->nslot ? s->nslot * 2 : 1024;
	s->slot = xcalloc(s->nslot, sizeof(*s->slot));
	for (size_t n = 0; n < s->node.n; n++)
		*sweep_slot_of(s, s->node.v[n].guid) = (uint32_t)n + 1;
}

static bool sweep_next(void *ctx, struct queue_request *out)
{
	struct sweep *s = ctx;
	const struct question *q;
	struct wire_tries t;
	struct found *x;

	for (;; s->at++) {
		if (s->at == s->todo.n)
			return false;
		q = &s->todo.v[s->at];
		x = q->node == NO_NODE ? NULL : &s->node.v[q->node];
		/* found from its other side by now, or silent */
		if (!x || !((q->attr == SMP_NODE_INFO && sweep_is_linked(x, q->port)) || x->silent))
			break;
		s->total--;
	}
	out->tag = s->at++;
	out->node = QUEUE_NO_NODE;
	wire_smp(s->w, &out->mad, MAD_GET, q->attr, q->attr == SMP_PORT_INFO ? q->port : 0);
	out->mad.mgmt_class = MAD_SMP_DIRECTED;
	if (x)
		out->mad.route = x->route;
	if (q->attr != SMP_NODE_INFO) {
		out->mad.m_key = x->m_key;
		/* the queue takes a node for silent that was asked with a wrong key */
		out->node = x->key_old || q->nth ? QUEUE_NO_NODE : q->node;
		return true;
	}
	sweep_tries_of(&t, s, q);
	out->mad.m_key = t.key[q->nth];
	out->tries = wire_tries_times(&t, q->nth);
	if (x)
		out->mad.route.port[++out->mad.route.hops] = q->port;
	return true;
}

static enum node_kind sweep_kind_of(uint8_t type)
{
	return type == 2 ? NODE_SWITCH : type == 3 ? NODE_ROUTER : NODE_CA;
}

/* A node seen for the first time: what else there is to know about it. */
static uint32_t sweep_new_node(struct sweep *s, const struct node_info *ni,
			       const struct mad_request *by)
{
	uint32_t n = (uint32_t)s->node.n;
	struct found x = { .guid = ni->node_guid,
			   .system = ni->system_guid,
			   .kind = sweep_kind_of(ni->type),
			   .nports = ni->nports,
			   .port = xcalloc(ni->nports + 1u, sizeof(*x.port)),
			   .route = by->route,
			   .m_key = by->m_key,
			   .answered_key = by->m_key };

	mkeys_find(&x.m_key, s->w->opts.m_keys, ni->port_guid);
	for (uint32_t p = 0; p <= x.nports; p++)
		x.port[p].peer = NO_NODE;
	vec_push(&s->node, x);
	sweep_ask(s, n, SMP_NODE_DESC, 0);
	if (x.kind == NODE_SWITCH) {
		s->report->switches++;
		x.port[0].guid = ni->port_guid;
		sweep_ask(s, n, SMP_SWITCH_INFO, 0);
		sweep_ask(s, n, SMP_PORT_INFO, 0);
	} else if (x.kind == NODE_CA) {
		s->report->cas++;
	} else {
		s->report->routers++;
	}
	return n;
}

static void sweep_add_link(struct sweep *s, uint32_t a, uint8_t pa, uint32_t b, uint8_t pb)
{
	struct found_port *x = &s->node.v[a].port[pa], *y = &s->node.v[b].port[pb];
	bool taken = (sweep_is_linked(&s->node.v[a], pa) && (x->peer != b || x->peer_port != pb)) ||
		     (sweep_is_linked(&s->node.v[b], pb) && (y->peer != a || y->peer_port != pa));

	if (taken || x == y || !pb) {
		sweep_gap_add(s, &s->report->clashes, s->node.v[b].guid,
			      "%s port %u: cable to %s port %u ignored, %s", sweep_label(s, a).text,
			      pa, sweep_label(s, b).text, pb,
			      taken ? "there is another one: are GUIDs used twice?"
				    : "a port cannot be cabled to itself");
		return;
	}
	x->peer = b;
	x->peer_port = pb;
	y->peer = a;
	y->peer_port = pa;
}

static void sweep_learn_peer(struct sweep *s, uint32_t node, uint8_t port, uint64_t peer,
			     uint64_t key)
{
	if (!s->w->opts.m_keys || port > s->node.v[node].nports)
		return;
	vec_push(&s->peers, (struct wire_peer){ .guid = sweep_end_guid(&s->node.v[node], port),
						.peer = peer,
						.m_key = key,
						.port = port });
}

/* A port that took none of the keys keeps the time of that while it takes no more of them. */
static void sweep_learn_refusal(struct sweep *s, const struct question *q, uint64_t since_ns)
{
	if (q->node == NO_NODE || !s->w->opts.m_keys)
		return;
	sweep_learn_peer(s, q->node, q->port, 0, 0);
	s->peers.v[s->peers.n - 1].ns = since_ns ? since_ns : wire_now_ns(s->w);
}

static void sweep_got_node_info(struct sweep *s, const struct question *q,
				const struct mad_request *by, const uint8_t *d)
{
	struct node_info ni;
	struct found *x;
	uint32_t n;

	if (node_info_decode(&ni, d)) {
		sweep_gap_add(s, &s->report->clashes, 0,
			      "a malformed NodeInfo came from behind %s port "
			      "%u",
			      q->node == NO_NODE ? "the local" : sweep_label(s, q->node).text,
			      q->port);
		return;
	}
	sweep_grow_slots(s);
	n = *sweep_slot_of(s, ni.node_guid);
	if (n--) {
		x = &s->node.v[n];
	} else {
		n = sweep_new_node(s, &ni, by);
		*sweep_slot_of(s, ni.node_guid) = n + 1;
		x = &s->node.v[n];
	}
	if (x->kind != sweep_kind_of(ni.type) || ni.local_port > x->nports) {
		sweep_gap_add(s, &s->report->clashes, x->guid,
			      "two nodes of different kinds have GUID 0x%016" PRIx64, x->guid);
		return;
	}
	if (x->kind != NODE_SWITCH) {
		x->port[ni.local_port].guid = ni.port_guid;
		sweep_ask(s, n, SMP_PORT_INFO, ni.local_port);
	}
	if (q->node == NO_NODE)
		return;
	sweep_learn_peer(s, q->node, q->port, ni.port_guid, by->m_key);
	sweep_learn_peer(s, n, ni.local_port, sweep_end_guid(&s->node.v[q->node], q->port),
			 s->node.v[q->node].answered_key);
	sweep_add_link(s, q->node, q->port, n, ni.local_port);
}

static void sweep_port_facts(struct sweep *s, const struct question *q, const struct port_info *pi)
{
	struct found *x = &s->node.v[q->node];
	struct found_port *p = &x->port[q->port];
	bool ext = x->kind == NODE_SWITCH ? x->ext_speed : pi->cap_mask & PORT_CAP_EXT_SPEED;

	p->state = pi->state;
	p->op_vls = (uint8_t)port_info_vls(pi->op_vls);
	if (pi->state > 1 && q->port)
		port_info_link(p->link, pi, ext);
	if (q->port)
		port_info_best_link(p->best, pi, ext);
	if (x->kind != NODE_SWITCH || !q->port) {
		p->lid = pi->lid;
		p->lmc = pi->lmc;
	}
}

/* A switch that shows its M_Key says which of the given keys to write with; one that hides it
 * shows that this was a wrong one, without counting it (protection level 1).  True: asked again. */
static bool sweep_other_key(struct sweep *s, const struct question *q, const struct port_info *pi)
{
	struct found *x = &s->node.v[q->node];
	struct wire_tries t;

	if (!s->w->opts.m_keys || pi->m_key == x->m_key)
		return false;
	if (pi->m_key) {
		if (wire_key_given(s->w, pi->m_key))
			x->m_key = pi->m_key;
		return false;
	}
	t.n = mkeys_tries(t.key, &t.sure, s->w->opts.m_keys, x->port[0].guid, s->w->m_key,
			  x->answered_key);
	if (pi->m_key_protect != 1 || q->nth > t.n)
		return false;
	x->m_key = t.key[q->nth < t.n ? q->nth : 0];
	if (q->nth == t.n)
		return false;
	sweep_ask_again(s, *q);
	return true;
}

static void sweep_got_port_info(struct sweep *s, const struct question *q, const uint8_t *d)
{
	struct found *x = &s->node.v[q->node];
	struct port_info pi;
	bool local = !q->node && !x->route.hops;

	if (port_info_decode(&pi, d) || (!pi.state && q->port)) {
		sweep_gap_add(s, &s->report->clashes, x->guid, "%s port %u: a malformed PortInfo",
			      sweep_label(s, q->node).text, q->port);
		return;
	}
	if (x->kind == NODE_SWITCH && !q->port && sweep_other_key(s, q, &pi))
		return;
	if (x->kind == NODE_SWITCH && !q->port) {
		x->ext_speed = pi.cap_mask & PORT_CAP_EXT_SPEED;
		sweep_port_facts(s, q, &pi);
		if (local)
			s->report->sm_lid = pi.sm_lid;
		for (uint32_t p = 1; p <= x->nports; p++)
			sweep_ask(s, q->node, SMP_PORT_INFO, (uint8_t)p);
		return;
	}
	sweep_port_facts(s, q, &pi);
	if (x->kind != NODE_SWITCH && !local)
		return;
	if (x->kind != NODE_SWITCH) {
		s->report->sm_lid = pi.sm_lid;
		s->local_down = pi.state < 2;
	} else if (pi.state < 2) {
		s->report->links_down++;
	}
	if (pi.state >= 2 && x->route.hops < ROUTE_HOPS && !sweep_is_linked(x, q->port))
		sweep_ask(s, q->node, SMP_NODE_INFO, q->port);
}

/* A NodeInfo with the next key; another attribute with the key that its NodeInfo was answered
 * to, when the configured key was out of date.  True: asked again. */
static bool sweep_next_key(struct sweep *s, const struct question *q, uint64_t by)
{
	struct wire_tries t;
	struct found *x;

	if (q->attr == SMP_NODE_INFO) {
		sweep_tries_of(&t, s, q);
		if (q->nth + 1u < t.n)
			sweep_ask_again(s, *q);
		else
			sweep_learn_refusal(s, q, t.refused_ns);
		return q->nth + 1u < t.n;
	}
	x = &s->node.v[q->node];
	if (by == x->answered_key || x->silent)
		return false;
	x->m_key = x->answered_key;
	x->key_old = true;
	sweep_ask_again(s, *q);
	return true;
}

static void sweep_no_answer(struct sweep *s, const struct question *q, int rc, uint64_t by)
{
	struct found *x;

	if (rc != -EPROTO && sweep_next_key(s, q, by))
		return;
	if (q->node == NO_NODE) {
		s->local_rc = rc;
		return;
	}
	x = &s->node.v[q->node];
	if (q->attr == SMP_NODE_INFO) {
		sweep_gap_add(s, &s->report->no_answer, 0, "%s behind %s port %u%s",
			      wire_rc_text(rc), sweep_label(s, q->node).text, q->port,
			      s->w->opts.m_keys ? ", with none of the possible M_Keys" : "");
		sweep_gap_place(s, "%s/%u", sweep_label(s, q->node).text, q->port);
	} else if (rc == -EPROTO) {
		sweep_gap_add(s, &s->report->clashes, x->guid,
			      "%s refused to report attribute "
			      "0x%x",
			      sweep_label(s, q->node).text, q->attr);
	} else if (!x->silent) {
		x->silent = true;
		sweep_gap_add(s, &s->report->no_answer, x->guid, "no more responses from %s",
			      sweep_label(s, q->node).text);
		sweep_gap_place(s, "%s", sweep_label(s, q->node).text);
	}
}

static void sweep_done(void *ctx, const struct queue_request *req, int rc,
		       const struct mad_answer *a)
{
	struct sweep *s = ctx;
	struct question q = s->todo.v[req->tag];
	struct switch_info si;

	if (rc == -ECANCELED)
		return;
	if (rc) {
		sweep_no_answer(s, &q, rc, req->mad.m_key);
		return;
	}
	switch (q.attr) {
	case SMP_NODE_INFO:
		sweep_got_node_info(s, &q, &req->mad, a->data);
		break;
	case SMP_NODE_DESC:
		node_desc_decode(s->node.v[q.node].desc, a->data);
		break;
	case SMP_SWITCH_INFO:
		if (!switch_info_decode(&si, a->data))
			s->node.v[q.node].enhanced_sp0 = si.enhanced_sp0;
		break;
	case SMP_PORT_INFO:
		sweep_got_port_info(s, &q, a->data);
		break;
	}
}

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

/* ---- what was found, as a fabric ---- */

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

static int sweep_conclude(struct fabric **out, struct sweep *s, struct err *err)
{
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
	return sweep_build(out, s, err);
}

int wire_sweep(struct fabric **out, struct sweep_report *report, struct wire *w,
	       const struct sweep_opts *opts, struct progress *progress, struct err *err)
{
	static const struct sweep_opts defaults = { .lmc = -1 };
	struct sweep_report own = { 0 };
	struct sweep s = { .w = w,
			   .opts = opts ? opts : &defaults,
			   .report = report ? report : &own };
	struct queue_source src = {
		.next = sweep_next, .done = sweep_done, .ctx = &s, .total = &s.total
	};
	uint64_t start = wire_now_ns(w), sent = queue_stats(w->queue)->sent;
	int rc;

	*s.report = (struct sweep_report){ 0 };
	queue_forget(w->queue);
	sweep_ask(&s, NO_NODE, SMP_NODE_INFO, 0);
	rc = queue_run(w->queue, &src, progress, "sweep", err);
	queue_forget(w->queue);
	if (rc == -ECANCELED)
		err_set(err, rc, "the sweep was cancelled");
	if (!rc)
		rc = sweep_conclude(out, &s, err);
	s.report->took_ns = wire_now_ns(w) - start;
	s.report->mads = queue_stats(w->queue)->sent - sent;
	for (size_t n = 0; n < s.node.n; n++)
		free(s.node.v[n].port);
	if (s.node.n)
		explicit_bzero(s.node.v, s.node.n * sizeof(*s.node.v));
	vec_free(&s.peers);
	free(s.slot);
	vec_free(&s.node);
	vec_free(&s.todo);
	sweep_report_clear(&own);
	return rc;
}
