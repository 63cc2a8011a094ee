/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Discovery over directed routes, breadth first: each new node's NodeInfo opens questions about
 * the node, each live port of a switch a NodeInfo question to whoever is behind it.
 */
#include "fabric/wire/sweep/sweep_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void sweep_begin(struct sweep *s, struct wire *w, const struct sweep_opts *opts,
		 struct sweep_report *report)
{
	static const struct sweep_opts defaults = { .lmc = -1 };

	s->w = w;
	s->opts = opts ? opts : &defaults;
	s->report = report ? report : &s->own_report;
	*s->report = (struct sweep_report){ 0 };
	s->start_ns = wire_now_ns(w);
	s->sent = queue_stats(w->queue)->sent;
}

void sweep_end(struct sweep *s)
{
	s->report->took_ns = wire_now_ns(s->w) - s->start_ns;
	s->report->mads = queue_stats(s->w->queue)->sent - s->sent;
	found_list_free(s->node.v, s->node.n);
	vec_free(&s->peers);
	free(s->slot);
	vec_free(&s->todo);
	sweep_report_clear(&s->own_report);
}

void sweep_ask(struct sweep *s, uint32_t node, uint16_t attr, uint8_t port)
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
	if (!q->port) /* itself, which has answered to it before */
		*t = (struct wire_tries){ .key = { x->answered_key }, .n = 1, .sure = true };
	else
		wire_tries_behind(t, s->w, sweep_end_guid(x, q->port), q->port, x->m_key);
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
	while (s->nslot <= 2 * s->node.n)
		s->nslot = s->nslot ? s->nslot * 2 : 1024;
	s->slot = xcalloc(s->nslot, sizeof(*s->slot));
	for (size_t n = 0; n < s->node.n; n++)
		*sweep_slot_of(s, s->node.v[n].guid) = (uint32_t)n + 1;
}

uint32_t sweep_find(struct sweep *s, uint64_t guid)
{
	uint32_t slot;

	sweep_grow_slots(s);
	slot = *sweep_slot_of(s, guid);
	return slot ? slot - 1 : NO_NODE;
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
	if (x && q->port)
		out->mad.route.port[++out->mad.route.hops] = q->port;
	else if (x)
		out->tries = 2; /* there may be another way to it */
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

/* One that was known when a part was begun: the way to it that has just been gone, and what may be
 * otherwise since. */
static void sweep_met_again(struct sweep *s, uint32_t n, uint8_t port, const struct mad_route *by)
{
	struct found *x = &s->node.v[n];

	if (n)
		x->route = *by;
	if (x->kind != NODE_SWITCH)
		sweep_ask(s, n, SMP_NODE_DESC, 0);
	else if (x->port[port].state < 2)
		sweep_ask(s, n, SMP_PORT_INFO, port);
}

/* Is it still who is at the end of that route? */
static void sweep_got_self(struct sweep *s, const struct question *q, const uint8_t *d)
{
	struct node_info ni;

	s->odd |= node_info_decode(&ni, d) || ni.node_guid != s->node.v[q->node].guid ||
		  ni.nports != s->node.v[q->node].nports;
}

static void sweep_got_node_info(struct sweep *s, const struct question *q,
				const struct mad_request *by, const uint8_t *d)
{
	struct node_info ni;
	struct found *x;
	uint32_t n;
	bool known;

	if (node_info_decode(&ni, d)) {
		sweep_gap_add(s, &s->report->clashes, 0,
			      "a malformed NodeInfo came from behind %s port "
			      "%u",
			      q->node == NO_NODE ? "the local" : sweep_label(s, q->node).text,
			      q->port);
		return;
	}
	n = sweep_find(s, ni.node_guid);
	known = n != NO_NODE;
	if (!known) {
		n = sweep_new_node(s, &ni, by);
		*sweep_slot_of(s, ni.node_guid) = n + 1;
	}
	x = &s->node.v[n];
	if (x->kind != sweep_kind_of(ni.type) || ni.local_port > x->nports) {
		sweep_gap_add(s, &s->report->clashes, x->guid,
			      "two nodes of different kinds have GUID 0x%016" PRIx64, x->guid);
		return;
	}
	if (s->part && known)
		sweep_met_again(s, n, ni.local_port, &by->route);
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
	p->link[0] = p->best[0] = '\0';
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
	if (q->attr == SMP_NODE_INFO && !q->port) {
		x->silent = true;
	} else if (q->attr == SMP_NODE_INFO) {
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
		if (q.node != NO_NODE && !q.port)
			sweep_got_self(s, &q, a->data);
		else
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

int sweep_run(struct sweep *s, struct progress *progress, struct err *err)
{
	struct queue_source src = {
		.next = sweep_next, .done = sweep_done, .ctx = s, .total = &s->total
	};
	struct queue *q = s->w->queue;
	int rc;

	queue_forget(q);
	rc = queue_run(q, &src, progress, "sweep", err);
	queue_forget(q);
	return rc == -ECANCELED ? err_set(err, rc, "the sweep was cancelled") : rc;
}
