/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Discovery of a part: the nodes of the last sweep, of which some switches lose all their cables
 * and are then asked as if they were new.  What they find is who it was, or somebody else.
 */
#include "fabric/wire/sweep/sweep_priv.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct spot {
	uint32_t node;
	uint8_t port;
};

enum part_state { PART_OTHER, PART_ASKED, PART_MET };

struct part {
	struct sweep s;
	uint8_t *state;		  /* enum part_state, by node of the last sweep */
	bool *doubtful;		  /* likewise: it may have gone */
	uint32_t nknown;	  /* these */
	VEC(struct spot) far_end; /* of their cables, at other switches */
	uint8_t local_port;
};

static int part_undecided(struct err *err, const char *why)
{
	return err_set(err, -EAGAIN, "only a discovery of the whole fabric can tell: %s", why);
}

/* The local port of a CA: of a switch it would be none of those that are asked. */
static int part_find_local(struct part *p, struct err *err)
{
	const struct found *x = &p->s.node.v[0];
	struct mad_local local;

	wire_local(p->s.w, &local);
	for (uint32_t i = 1; i <= x->nports && x->kind != NODE_SWITCH; i++)
		if (x->port[i].guid == local.port_guid && sweep_is_linked(x, (uint8_t)i)) {
			p->local_port = (uint8_t)i;
			return 0;
		}
	return part_undecided(err, "the local port is another one");
}

static int part_begin(struct part *p, const uint64_t *sw_guid, uint32_t n, struct err *err)
{
	struct sweep *s = &p->s;

	if (!s->w->nfound || !s->w->found_all)
		return part_undecided(err, "not all nodes were known before");
	s->node.v = found_list_copy(s->w->found, s->w->nfound);
	s->node.n = s->node.cap = s->w->nfound;
	p->nknown = s->w->nfound;
	p->state = xcalloc(p->nknown, sizeof(*p->state));
	p->doubtful = xcalloc(p->nknown, sizeof(*p->doubtful));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = sweep_find(s, sw_guid[i]);

		if (node == NO_NODE || s->node.v[node].kind != NODE_SWITCH)
			return part_undecided(err, "a switch was not known before");
		p->state[node] = PART_ASKED;
	}
	return part_find_local(p, err);
}

static void part_unlink(struct part *p, uint32_t n)
{
	struct found *x = &p->s.node.v[n];

	for (uint32_t i = 1; i <= x->nports; i++) {
		struct found_port *far;
		struct found *peer;

		if (!sweep_is_linked(x, (uint8_t)i))
			continue;
		peer = &p->s.node.v[x->port[i].peer];
		far = &peer->port[x->port[i].peer_port];
		if (peer->kind != NODE_SWITCH)
			*far = (struct found_port){ 0 };
		else if (x->port[i].peer < p->nknown && p->state[x->port[i].peer] == PART_OTHER)
			vec_push(&p->far_end,
				 (struct spot){ x->port[i].peer, x->port[i].peer_port });
		far->peer = x->port[i].peer = NO_NODE;
	}
}

/* ---- routes over the cables that are known ---- */

/* The ways of a breadth-first search: a node's place in order, NO_NODE where no cable leads. */
struct ways {
	uint32_t *order, *place, n;
	bool too_far;
};

static void ways_free(struct ways *y)
{
	free(y->order);
	free(y->place);
}

/* Perhaps it is this cable that has gone, or this switch with all of its cables: several of who was
 * at the other ends have something to say, and none has been heard yet. */
static bool part_is_doubtful(const struct part *p, uint32_t a, uint32_t b)
{
	if (p->state[a] == PART_ASKED && p->state[b] == PART_ASKED)
		return true;
	return p->doubtful[a] || p->doubtful[b];
}

static void part_doubt(struct part *p)
{
	for (size_t n = 0; n < p->s.node.n; n++) {
		const struct found *x = &p->s.node.v[n];
		uint32_t asked = 0, cables = 0;

		for (uint32_t i = 1; i <= x->nports && x->kind == NODE_SWITCH; i++) {
			uint32_t peer = x->port[i].peer;

			if (peer == NO_NODE || p->s.node.v[peer].kind != NODE_SWITCH)
				continue;
			cables++;
			asked += peer < p->nknown && p->state[peer] == PART_ASKED;
		}
		if (n < p->nknown)
			p->doubtful[n] =
				p->state[n] == PART_OTHER && asked > 1 && 2 * asked > cables;
	}
}

/* Goes on from what y has, over cables that are in doubt or not. */
static void part_search(struct part *p, struct ways *y, bool sure)
{
	struct found *node = p->s.node.v;

	for (uint32_t at = 0; at < y->n; at++) {
		uint32_t n = y->order[at];
		const struct found *x = &node[n];

		for (uint32_t i = 1; i <= x->nports; i++) {
			uint32_t peer = x->port[i].peer;

			if (peer == NO_NODE || y->place[peer] != NO_NODE ||
			    (at ? x->kind != NODE_SWITCH : i != p->local_port) ||
			    (sure && n < p->nknown && peer < p->nknown &&
			     part_is_doubtful(p, n, peer)))
				continue;
			y->too_far |= x->route.hops == ROUTE_HOPS;
			if (y->too_far)
				return;
			node[peer].route = x->route;
			node[peer].route.port[++node[peer].route.hops] = (uint8_t)i;
			y->order[y->n] = peer;
			y->place[peer] = y->n++;
		}
	}
}

static void part_find_ways(struct part *p, struct ways *y)
{
	size_t n = p->s.node.n;

	*y = (struct ways){ .order = xcalloc(n, sizeof(*y->order)),
			    .place = xcalloc(n, sizeof(*y->place)) };
	memset(y->place, 0xff, n * sizeof(*y->place));
	y->place[0] = 0;
	y->n = 1;
	p->s.node.v[0].route = (struct mad_route){ 0 };
	part_doubt(p);
	part_search(p, y, true);
	part_search(p, y, false);
}

/* ---- questions ---- */

static bool part_is_clear(const struct sweep *s)
{
	return !s->odd && !s->report->no_answer && !s->report->clashes;
}

static int part_run(struct part *p, struct progress *progress, struct err *err)
{
	struct sweep *s = &p->s;
	int rc = sweep_run(s, progress, err);

	if (!rc && !part_is_clear(s))
		rc = part_undecided(err, s->report->ngaps ? s->report->gaps[0].text
							  : "a switch is another one");
	return rc;
}

/* Who it is, at the end of the route that is known.  False: there is nobody left to ask. */
static bool part_ask_selves(struct part *p)
{
	struct ways y;
	bool any = false;

	part_find_ways(p, &y);
	for (uint32_t n = 0; n < p->nknown; n++)
		if (p->state[n] == PART_ASKED && y.place[n] != NO_NODE) {
			p->s.node.v[n].silent = false;
			sweep_ask(&p->s, n, SMP_NODE_INFO, 0);
			any = true;
		}
	ways_free(&y);
	return any;
}

/* Those who answered: everything about them.  False: nobody did. */
static bool part_ask_met(struct part *p)
{
	bool any = false;

	for (uint32_t n = 0; n < p->nknown; n++)
		if (p->state[n] == PART_ASKED && !p->s.node.v[n].silent) {
			p->state[n] = PART_MET;
			part_unlink(p, n);
			sweep_ask(&p->s, n, SMP_NODE_DESC, 0);
			sweep_ask(&p->s, n, SMP_SWITCH_INFO, 0);
			sweep_ask(&p->s, n, SMP_PORT_INFO, 0);
			any = true;
		}
	return any;
}

/* Each round takes away cables that have gone, and so finds ways to those who did not answer. */
static int part_ask_switches(struct part *p, struct progress *progress, struct err *err)
{
	int rc = 0;

	while (!rc && part_ask_selves(p)) {
		rc = part_run(p, progress, err);
		if (!rc && !part_ask_met(p))
			rc = part_undecided(err, "a switch does not respond");
		if (!rc)
			rc = part_run(p, progress, err);
	}
	return rc;
}

static int part_ask(struct part *p, struct progress *progress, struct err *err)
{
	struct sweep *s = &p->s;
	struct ways y;
	int rc;

	sweep_ask(s, NO_NODE, SMP_NODE_INFO, 0);
	rc = part_ask_switches(p, progress, err);
	if (rc)
		return rc;
	part_find_ways(p, &y);
	for (size_t i = 0; i < p->far_end.n; i++)
		if (y.place[p->far_end.v[i].node] != NO_NODE)
			sweep_ask(s, p->far_end.v[i].node, SMP_PORT_INFO, p->far_end.v[i].port);
	ways_free(&y);
	return part_run(p, progress, err);
}

/* ---- who is left ---- */

/* In the order in which they are reached, without the others. */
static void part_reorder(struct part *p, const uint32_t *order, uint32_t n, const uint32_t *to)
{
	struct found *all = p->s.node.v, *left = xcalloc(n, sizeof(*left));

	for (uint32_t k = 0; k < n; k++) {
		left[k] = all[order[k]];
		all[order[k]].port = NULL;
		for (uint32_t i = 0; i <= left[k].nports; i++)
			if (left[k].port[i].peer != NO_NODE)
				left[k].port[i].peer = to[left[k].port[i].peer];
	}
	found_list_free(all, p->s.node.n);
	p->s.node.v = left;
	p->s.node.n = p->s.node.cap = n;
}

static int part_settle(struct part *p, struct err *err)
{
	struct ways y;

	part_find_ways(p, &y);
	if (!y.too_far)
		part_reorder(p, y.order, y.n, y.place);
	ways_free(&y);
	return y.too_far ? part_undecided(err, "a node is too far away") : 0;
}

static void part_count(struct sweep *s)
{
	struct sweep_report *r = s->report;

	r->switches = r->cas = r->routers = r->links_down = 0;
	for (size_t n = 0; n < s->node.n; n++) {
		const struct found *x = &s->node.v[n];

		r->switches += x->kind == NODE_SWITCH;
		r->cas += x->kind == NODE_CA;
		r->routers += x->kind == NODE_ROUTER;
		for (uint32_t i = 1; i <= x->nports && x->kind == NODE_SWITCH; i++)
			r->links_down += x->port[i].state < 2;
	}
}

static int part_by_spot(const void *a, const void *b)
{
	const struct wire_peer *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port - y->port;
}

/* What was learned of keys elsewhere still holds. */
static void part_keep_peers(struct sweep *s)
{
	size_t new = s->peers.n;

	if (new)
		qsort(s->peers.v, new, sizeof(*s->peers.v), part_by_spot);
	for (uint32_t i = 0; i < s->w->npeers; i++)
		if (!new ||
		    !bsearch(&s->w->peers[i], s->peers.v, new, sizeof(*s->peers.v), part_by_spot))
			vec_push(&s->peers, s->w->peers[i]);
}

int wire_sweep_part(struct fabric **out, struct sweep_report *report, struct wire *w,
		    const struct sweep_opts *opts, const uint64_t *sw_guid, uint32_t n,
		    struct progress *progress, struct err *err)
{
	struct part p = { .s.part = true };
	int rc;

	sweep_begin(&p.s, w, opts, report);
	rc = part_begin(&p, sw_guid, n, err);
	if (!rc)
		rc = part_ask(&p, progress, err);
	if (!rc)
		rc = part_settle(&p, err);
	if (!rc) {
		part_count(&p.s);
		part_keep_peers(&p.s);
		rc = sweep_conclude(out, &p.s, err);
	}
	sweep_end(&p.s);
	free(p.state);
	free(p.doubtful);
	vec_free(&p.far_end);
	return rc;
}
