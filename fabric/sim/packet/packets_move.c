/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/packet/packets_move.h"

static void packets_move_at(struct packets *p, uint64_t when_ps, enum event_kind kind, uint32_t id)
{
	heap_push(&p->events, when_ps, (uint32_t)kind << EVENT_SHIFT | id);
}

/* All cables are equally long: what left first arrives first, in the order of the events. */
static void packets_move_arrives_later(struct packets *p, uint32_t link)
{
	struct arrivals *a = &p->arrivals;

	if (a->n == a->size) {
		uint32_t size = a->size ? 2 * a->size : 256;
		struct event *ring = xcalloc(size, sizeof(*ring));

		for (uint32_t i = 0; i < a->n; i++)
			ring[i] = a->ring[(a->head + i) & (a->size - 1)];
		free(a->ring);
		a->ring = ring;
		a->head = 0;
		a->size = size;
	}
	a->ring[(a->head + a->n++) & (a->size - 1)] =
		(struct event){ p->now_ps + p->o.latency_ns * 1000ULL,
				(uint32_t)EVENT_ARRIVE << EVENT_SHIFT | link };
}

/* ---- packets come and go ---- */

static uint32_t packets_move_packet_new(struct packets *p)
{
	uint32_t k = p->unused;

	if (k != NIL) {
		p->unused = p->pool.v[k].next;
		return k;
	}
	k = (uint32_t)p->pool.n;
	vec_reserve(&p->pool, k + 1u);
	p->pool.n++;
	return k;
}

static void packets_move_packet_gone(struct packets *p, uint32_t k)
{
	struct conn *c = &p->conns.v[p->pool.v[k].conn];

	c->n.in_flight--;
	p->n.in_flight--;
	p->held -= c->hold;
	p->pool.v[k].bytes = 0;
	p->pool.v[k].next = p->unused;
	p->unused = k;
}

static void packets_move_deliver(struct packets *p, uint32_t k)
{
	const struct packet *packet = &p->pool.v[k];
	struct conn *c = &p->conns.v[packet->conn];
	uint32_t payload = packet->bytes - PACKETS_HEADERS;

	if (packet->seq < c->seen) {
		c->n.misordered++;
		p->n.misordered++;
	} else {
		c->seen = packet->seq + 1;
	}
	c->n.delivered++;
	c->n.bytes += payload;
	p->n.delivered++;
	p->n.bytes += payload;
	packets_move_packet_gone(p, k);
}

static void packets_move_drop(struct packets *p, uint32_t k, enum packets_drop why)
{
	p->conns.v[p->pool.v[k].conn].n.dropped++;
	p->n.drops[why]++;
	p->n.dropped++;
	packets_move_packet_gone(p, k);
}

static void packets_move_arrive_at_end(struct packets *p, uint32_t k, uint32_t end)
{
	if (fabric_lid_end(p->f, p->pool.v[k].dlid) == end)
		packets_move_deliver(p, k);
	else
		packets_move_drop(p, k, DROP_WRONG_END);
}

/* ---- who waits at an output: lanes, or a host's connections ---- */

static uint32_t *packets_move_behind(struct packets *p, uint32_t who)
{
	return who < p->nlane ? &p->lane[who].behind : &p->conns.v[who - p->nlane].behind;
}

static void packets_move_line_up(struct packets *p, uint32_t who, uint32_t lane)
{
	struct lane *to = &p->lane[lane];

	*packets_move_behind(p, who) = NIL;
	if (to->first == NIL)
		to->first = who;
	else
		*packets_move_behind(p, to->last) = who;
	to->last = who;
	p->link[lane / p->nvl].want |= (uint16_t)(1u << lane % p->nvl);
}

static void packets_move_step_out(struct packets *p, uint32_t who, uint32_t lane)
{
	struct lane *to = &p->lane[lane];
	uint32_t before = NIL, w = to->first;

	while (w != who) {
		before = w;
		w = *packets_move_behind(p, w);
	}
	if (before == NIL)
		to->first = *packets_move_behind(p, who);
	else
		*packets_move_behind(p, before) = *packets_move_behind(p, who);
	if (to->last == who)
		to->last = before;
	if (to->first == NIL)
		p->link[lane / p->nvl].want &= (uint16_t) ~(1u << lane % p->nvl);
}

/* ---- outputs ---- */

static uint64_t packets_move_sending_ps(const struct link *l, uint32_t bytes)
{
	return bytes * 8000000ULL / l->rate_Mbps;
}

/* The first connection in line makes its next packet; NIL: no credits for it. */
static uint32_t packets_move_take_from_conn(struct packets *p, uint32_t c, uint32_t lane)
{
	struct conn *conn = &p->conns.v[c];
	uint32_t payload = conn->left < p->o.mtu ? (uint32_t)conn->left : p->o.mtu, k;
	struct packet packet = {
		.born = p->now_ps,
		.next = NIL,
		.conn = c,
		.seq = conn->seq,
		.out = lane,
		.dlid = conn->dlid,
		.bytes = (uint16_t)(payload + PACKETS_HEADERS),
		.sl = conn->sl,
		.vl = conn->vl,
	};

	if (!lane_takes(p, lane, &packet))
		return NIL;
	packets_move_step_out(p, p->nlane + c, lane);
	k = packets_move_packet_new(p);
	p->pool.v[k] = packet;
	conn->seq++;
	conn->waiting = false;
	conn->sending = true;
	conn->left -= conn->left == PACKETS_ENDLESS ? 0 : payload;
	conn->n.injected++;
	conn->n.in_flight++;
	p->n.injected++;
	p->n.in_flight++;
	return k;
}

static uint32_t packets_move_take_from_lane(struct packets *p, uint32_t r, uint32_t lane)
{
	struct lane *from = &p->lane[r];
	uint32_t k = from->head;

	if (!lane_takes(p, lane, &p->pool.v[k]))
		return NIL;
	packets_move_step_out(p, r, lane);
	from->head = p->pool.v[k].next;
	from->waiting = false;
	from->sending = true;
	p->pool.v[k].vl = (uint8_t)(lane % p->nvl);
	return k;
}

/* A VL takes its own credits first, and gives back what it has borrowed first. */
static void packets_move_take_credits(struct packets *p, uint32_t lane, uint32_t credits)
{
	struct lane *to = &p->lane[lane];
	uint32_t own = credits < to->credits ? credits : to->credits;

	to->credits -= own;
	to->borrowed += credits - own;
	p->link[lane / p->nvl].credits -= credits - own;
}

static void packets_move_give_credits(struct packets *p, uint32_t lane, uint32_t credits)
{
	struct lane *to = &p->lane[lane];
	uint32_t back = credits < to->borrowed ? credits : to->borrowed;

	to->borrowed -= back;
	to->credits += credits - back;
	p->link[lane / p->nvl].credits += back;
}

static bool packets_move_start_sending(struct packets *p, uint32_t link, uint32_t lane)
{
	struct link *l = &p->link[link];
	uint32_t who = p->lane[lane].first, k;

	k = who < p->nlane ? packets_move_take_from_lane(p, who, lane)
			   : packets_move_take_from_conn(p, who - p->nlane, lane);
	if (k == NIL)
		return false;
	if (l->sw != NIL)
		packets_move_take_credits(p, lane, packet_credits(&p->pool.v[k]));
	p->lane[lane].taken = p->now_ps;
	l->busy = true;
	l->packet = k;
	l->from = who;
	l->last_vl = (uint8_t)(lane % p->nvl);
	packets_move_at(p, p->now_ps + packets_move_sending_ps(l, p->pool.v[k].bytes), EVENT_DONE,
			link);
	return true;
}

/* Sends the next packet of those that can go, VLs in turns. */
static void packets_move_kick(struct packets *p, uint32_t link)
{
	struct link *l = &p->link[link];
	uint32_t behind_last, before;

	if (l->busy || !l->want)
		return;
	behind_last = l->want & (~1u << l->last_vl);
	before = l->want & ~behind_last;
	for (uint32_t left = behind_last; left; left &= left - 1)
		if (packets_move_start_sending(p, link,
					       link * p->nvl + (uint32_t)__builtin_ctz(left)))
			return;
	for (uint32_t left = before; left; left &= left - 1)
		if (packets_move_start_sending(p, link,
					       link * p->nvl + (uint32_t)__builtin_ctz(left)))
			return;
}

/* The first packet of a buffer gets in line at its output. */
static void packets_move_offer_lane(struct packets *p, uint32_t r)
{
	struct lane *lane = &p->lane[r];
	uint32_t out;

	if (lane->head == NIL || lane->waiting || lane->sending)
		return;
	out = p->pool.v[lane->head].out;
	lane->since = p->now_ps;
	lane->waiting = true;
	packets_move_line_up(p, r, out);
	packets_move_kick(p, out / p->nvl);
	if (lane->waiting && p->o.hoq_ns && !lane->timer) {
		lane->timer = true;
		packets_move_at(p, p->now_ps + p->o.hoq_ns * 1000, EVENT_HOQ, r);
	}
}

void packets_offer_conn(struct packets *p, uint32_t c)
{
	struct conn *conn = &p->conns.v[c];
	uint32_t link = packets_host_link(p, conn->src);

	if (!conn->started || conn->hold || conn->waiting || conn->sending || !conn->left)
		return;
	conn->vl = (uint8_t)(conn->sl % p->nvl);
	conn->waiting = true;
	packets_move_line_up(p, p->nlane + c, link * p->nvl + conn->vl);
	packets_move_kick(p, link);
}

void packets_withdraw_conn(struct packets *p, uint32_t c)
{
	struct conn *conn = &p->conns.v[c];

	if (conn->waiting)
		packets_move_step_out(p, p->nlane + c,
				      packets_host_link(p, conn->src) * p->nvl + conn->vl);
	conn->waiting = false;
}

/* ---- events ---- */

static void packets_move_return_credits(struct packets *p, uint32_t lane, uint32_t credits)
{
	packets_move_give_credits(p, lane, credits);
	p->lane[lane].npackets--;
	packets_move_kick(p, lane / p->nvl);
}

static void packets_move_on_done(struct packets *p, uint32_t link)
{
	struct link *l = &p->link[link];
	uint32_t k = l->packet, from = l->from, credits = packet_credits(&p->pool.v[k]);

	l->busy = false;
	if (l->wire_first == NIL)
		l->wire_first = k;
	else
		p->pool.v[l->wire_last].next = k;
	p->pool.v[k].next = NIL;
	l->wire_last = k;
	packets_move_arrives_later(p, link);
	p->n.hops++;
	p->last_ps = p->now_ps;
	if (from < p->nlane) {
		p->lane[from].sending = false;
		packets_move_offer_lane(p, from);
		packets_move_kick(p, link);
		packets_move_return_credits(p, from, credits);
	} else {
		p->conns.v[from - p->nlane].sending = false;
		packets_offer_conn(p, from - p->nlane);
		packets_move_kick(p, link);
	}
}

/* The lane that the packet has to take from this switch, or NIL and why it is dropped. */
static uint32_t packets_move_look_up(const struct packets *p, const struct link *l,
				     const struct packet *k, enum packets_drop *why)
{
	const struct fabric *f = p->f;
	uint8_t out = forwarding_port(&p->fwd, l->sw, k->dlid), vl;
	const struct port *port;

	*why = DROP_NO_ENTRY;
	if (out == FAB_NO_PORT)
		return NIL;
	*why = DROP_BAD_PORT;
	if (!out || out > f->sw_nports[l->sw])
		return NIL;
	port = fabric_port(f, l->sw, out);
	if (port->term != FAB_NONE)
		return (f->port_off[l->sw] + out) * p->nvl;
	if (port->chan == FAB_NONE)
		return NIL;
	vl = forwarding_vl(&p->fwd, l->sw, l->port, out, k->sl);
	*why = DROP_VL;
	return vl < p->nvl ? (f->port_off[l->sw] + out) * p->nvl + vl : NIL;
}

static void packets_move_on_arrive(struct packets *p, uint32_t link)
{
	struct link *l = &p->link[link];
	uint32_t k = l->wire_first, r = link * p->nvl + p->pool.v[k].vl;
	struct packet *packet = &p->pool.v[k];
	struct lane *lane = &p->lane[r];
	enum packets_drop why = DROP_LIFE;
	uint32_t credits = packet_credits(packet), out = NIL;
	bool home = false;

	l->wire_first = packet->next;
	packet->next = NIL;
	if (l->sw == NIL) {
		packets_move_arrive_at_end(p, k, l->term);
		return;
	}
	lane->npackets++;
	if (!p->o.life_ns || p->now_ps - packet->born <= p->o.life_ns * 1000) {
		home = !forwarding_port(&p->fwd, l->sw, packet->dlid);
		out = home ? NIL : packets_move_look_up(p, l, packet, &why);
	}
	if (out == NIL) {
		if (home)
			packets_move_arrive_at_end(p, k, p->f->nend + l->sw);
		else
			packets_move_drop(p, k, why);
		packets_move_return_credits(p, r, credits);
		return;
	}
	packet->out = out;
	if (lane->head == NIL)
		lane->head = k;
	else
		p->pool.v[lane->tail].next = k;
	lane->tail = k;
	packets_move_offer_lane(p, r);
}

/* A packet that was first for too long; or the timer of one that has left since. */
static void packets_move_on_hoq(struct packets *p, uint32_t r)
{
	struct lane *lane = &p->lane[r];
	uint64_t due = lane->since + p->o.hoq_ns * 1000;
	uint32_t k = lane->head, credits;

	lane->timer = false;
	if (!lane->waiting)
		return;
	if (p->now_ps < due) {
		lane->timer = true;
		packets_move_at(p, due, EVENT_HOQ, r);
		return;
	}
	packets_move_step_out(p, r, p->pool.v[k].out);
	lane->waiting = false;
	lane->head = p->pool.v[k].next;
	credits = packet_credits(&p->pool.v[k]);
	packets_move_drop(p, k, DROP_HOQ);
	packets_move_offer_lane(p, r);
	packets_move_return_credits(p, r, credits);
}

static struct event packets_move_next_event(struct packets *p)
{
	struct arrivals *a = &p->arrivals;
	const struct event *first = a->n ? &a->ring[a->head] : NULL;
	struct heap *e = &p->events;
	uint64_t at;

	if (first && (!e->n || heap_before(first->at, first->what, e->key[0], e->item[0]))) {
		a->head = (a->head + 1) & (a->size - 1);
		a->n--;
		return *first;
	}
	at = e->key[0];
	return (struct event){ at, heap_pop(e) };
}

void packets_step(struct packets *p)
{
	struct event e = packets_move_next_event(p);
	uint32_t id = e.what & ((1u << EVENT_SHIFT) - 1);

	p->now_ps = e.at;
	switch ((enum event_kind)(e.what >> EVENT_SHIFT)) {
	case EVENT_DONE:
		packets_move_on_done(p, id);
		break;
	case EVENT_ARRIVE:
		packets_move_on_arrive(p, id);
		break;
	case EVENT_START:
		p->conns.v[id].started = true;
		packets_offer_conn(p, id);
		break;
	case EVENT_HOQ:
		packets_move_on_hoq(p, id);
		break;
	}
}
