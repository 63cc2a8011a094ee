/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/queue.h"

#include "fabric/base/hash/random.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/log.h"

#include <errno.h>
#include <string.h>

#define MS		1000000ull
#define SLICE_NS	(50 * MS) /* longest time without a look at cancel */
#define TIMEOUT_MAX_MS	10000u
#define PAUSE_MAX_NS	(30000 * MS)
#define NONE		UINT32_MAX
#define SLOT_BITS	10
#define WINDOW_MAX	(1u << SLOT_BITS)
#define WAITING_MAX	(8u) /* times the window: places for requests on the wire and silent ones */
#define GENERATION_MASK (UINT32_MAX >> SLOT_BITS)
#define IDS		64 /* asked for at a time: a system call for each would be felt */
#define TRIES_KEPT	8  /* an answer to an earlier one is late */

/* A request between next() and done(): in flight (in a slot), parked at its node, or ready. */
struct item {
	struct queue_request req;
	uint64_t first_ns;    /* first sent; 0 never */
	uint64_t deadline_ns; /* in flight only */
	uint32_t tries;	      /* number of times sent */
	uint32_t slot;
	uint32_t link; /* next in a list */
	bool on_wire;
};

struct list {
	uint32_t head, tail;
};

/* A transaction id is slot | generation << SLOT_BITS; each try takes a new generation at random, so
 * that who has seen one knows nothing of the next, and an answer to any try of the present request
 * will do. */
struct slot {
	uint32_t item; /* NONE: free */
	uint32_t tries;
	uint32_t generation[TRIES_KEPT]; /* of try t: at t % TRIES_KEPT */
	uint32_t link;
};

struct node {
	struct list parked;
	uint32_t in_flight;
	uint64_t answer_ns; /* last answer */
	uint64_t until_ns;  /* not asked before */
	uint32_t fails;	    /* runs in a row that it did not answer in */
	bool doubtful;	    /* has let a request time out since its last answer */
	bool silent;	    /* in this run */
};

struct queue {
	struct mad_port port;
	uint32_t window, nslot, timeout_ms, tries;
	struct slot slot[WINDOW_MAX];
	uint32_t free_slot;
	uint32_t in_flight; /* in slots */
	uint32_t on_wire;   /* of them in their first try */
	uint32_t parked, ready_n;
	struct list ready;
	VEC(struct item) items;
	uint32_t free_item;
	VEC(struct node) nodes;
	uint64_t deadline_ns; /* no item in flight has an earlier one */
	uint64_t finished;    /* in this run */
	struct queue_stats stats;
	const struct queue_source *src;
	uint32_t ids[IDS], nids; /* random, not yet used */
};

static const struct list empty_list = { NONE, NONE };

static void queue_list_add(struct queue *q, struct list *l, uint32_t i)
{
	q->items.v[i].link = NONE;
	if (l->head == NONE)
		l->head = i;
	else
		q->items.v[l->tail].link = i;
	l->tail = i;
}

static uint32_t queue_list_take(struct queue *q, struct list *l)
{
	uint32_t i = l->head;

	if (i != NONE)
		l->head = q->items.v[i].link;
	return i;
}

struct queue *queue_new(const struct mad_port *port, const struct queue_opts *opts)
{
	struct queue *q = xcalloc(1, sizeof(*q));

	q->port = *port;
	q->window = opts && opts->window ? opts->window : 32;
	if (q->window > WINDOW_MAX)
		q->window = WINDOW_MAX;
	q->timeout_ms = opts && opts->timeout_ms ? opts->timeout_ms : 200;
	q->tries = 1 + (opts && opts->retries ? opts->retries : 3); /* UINT32_MAX + 1 is 0 */
	if (!q->tries)
		q->tries = 1;
	q->ready = empty_list;
	q->free_item = NONE;
	q->free_slot = NONE;
	q->nslot = q->window * WAITING_MAX < WINDOW_MAX ? q->window * WAITING_MAX : WINDOW_MAX;
	for (uint32_t s = q->nslot; s-- > 0;) {
		q->slot[s].item = NONE;
		q->slot[s].link = q->free_slot;
		q->free_slot = s;
	}
	q->deadline_ns = UINT64_MAX;
	return q;
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	vec_free(&q->items);
	vec_free(&q->nodes);
	free(q);
}

void queue_forget(struct queue *q)
{
	q->nodes.n = 0;
}

const struct queue_stats *queue_stats(const struct queue *q)
{
	return &q->stats;
}

static uint64_t queue_now(struct queue *q)
{
	return q->port.ops->now_ns(q->port.ctx);
}

static struct node *queue_node_of(struct queue *q, uint32_t n)
{
	if (n == QUEUE_NO_NODE)
		return NULL;
	while (q->nodes.n <= n)
		vec_push(&q->nodes, (struct node){ .parked = { NONE, NONE } });
	return &q->nodes.v[n];
}

static uint32_t queue_item_new(struct queue *q, const struct queue_request *req)
{
	uint32_t i = q->free_item;

	if (i != NONE) {
		q->free_item = q->items.v[i].link;
	} else {
		i = (uint32_t)q->items.n;
		vec_push(&q->items, (struct item){ 0 });
	}
	q->items.v[i] = (struct item){ .req = *req, .slot = NONE, .link = NONE };
	return i;
}

/* The item's place is free again before the source hears of it. */
static void queue_item_done(struct queue *q, uint32_t i, int rc, const struct mad_answer *answer)
{
	struct queue_request req = q->items.v[i].req;

	q->items.v[i].link = q->free_item;
	q->free_item = i;
	q->finished++;
	q->src->done(q->src->ctx, &req, rc, answer);
}

static void queue_slot_release(struct queue *q, uint32_t i)
{
	struct item *it = &q->items.v[i];
	struct node *node = queue_node_of(q, it->req.node);

	q->slot[it->slot].item = NONE;
	q->slot[it->slot].link = q->free_slot;
	q->free_slot = it->slot;
	it->slot = NONE;
	q->on_wire -= it->on_wire;
	it->on_wire = false;
	q->in_flight--;
	if (node)
		node->in_flight--;
}

static uint32_t queue_node_limit(const struct queue *q, const struct node *n)
{
	if (n->doubtful || n->fails)
		return 1;
	return q->window / 4 > 4 ? q->window / 4 : 4;
}

/* Lets go what the node may take now. */
static void queue_node_unpark(struct queue *q, struct node *n)
{
	uint32_t room = queue_node_limit(q, n), i;

	if (n->in_flight >= room)
		return;
	for (room -= n->in_flight; room && (i = queue_list_take(q, &n->parked)) != NONE; room--) {
		q->parked--;
		q->ready_n++;
		queue_list_add(q, &q->ready, i);
	}
}

static void queue_node_give_up(struct queue *q, uint32_t n)
{
	struct node *node = &q->nodes.v[n];
	uint64_t pause = q->timeout_ms * MS;
	uint32_t i;

	pause <<= node->fails < 16 ? node->fails : 16;
	node->until_ns = queue_now(q) + (pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS);
	node->fails++;
	node->silent = true;
	while ((i = queue_list_take(q, &q->nodes.v[n].parked)) != NONE) {
		q->parked--;
		q->stats.skipped++;
		queue_item_done(q, i, -EHOSTDOWN, NULL); /* may move the nodes */
	}
}

/* A new or ready item goes to its node's list when the node has enough: true then. */
static bool queue_item_parked(struct queue *q, uint32_t i, uint64_t t)
{
	struct node *n = queue_node_of(q, q->items.v[i].req.node);

	if (!n)
		return false;
	if (n->silent || (n->fails && t < n->until_ns)) {
		q->stats.skipped++;
		queue_item_done(q, i, -EHOSTDOWN, NULL);
		return true;
	}
	if (n->in_flight < queue_node_limit(q, n))
		return false;
	queue_list_add(q, &n->parked, i);
	q->parked++;
	return true;
}

static uint32_t queue_generation(struct queue *q)
{
	if (!q->nids) {
		random_fill(q->ids, sizeof(q->ids));
		q->nids = IDS;
	}
	return q->ids[--q->nids] & GENERATION_MASK;
}

static uint64_t queue_try_timeout_ms(const struct queue *q, const struct queue_request *r,
				     uint32_t tries)
{
	uint64_t ms = (uint64_t)(r->timeout_ms ? r->timeout_ms : q->timeout_ms)
		      << (tries < 16 ? tries : 16);

	return ms < TIMEOUT_MAX_MS ? ms : TIMEOUT_MAX_MS;
}

static int queue_item_send(struct queue *q, uint32_t i, struct err *err)
{
	struct item *it = &q->items.v[i];
	struct node *node = queue_node_of(q, it->req.node);
	uint32_t s = it->slot == NONE ? q->free_slot : it->slot;
	struct slot *slot = &q->slot[s];
	uint32_t gen = queue_generation(q);
	uint64_t ms = queue_try_timeout_ms(q, &it->req, it->tries);
	struct mad_packet p;
	int rc;

	mad_build(&p, &it->req.mad, gen << SLOT_BITS | s);
	p.timeout_ms = (uint32_t)ms;
	rc = q->port.ops->send(q->port.ctx, &p, err);
	if (rc)
		return rc;
	if (it->slot == NONE) {
		q->free_slot = slot->link;
		slot->item = i;
		slot->tries = 0;
		it->slot = s;
		q->in_flight++;
		if (node)
			node->in_flight++;
	}
	slot->generation[slot->tries++ % TRIES_KEPT] = gen;
	it->deadline_ns = queue_now(q) + ms * MS;
	if (!it->first_ns)
		it->first_ns = it->deadline_ns - ms * MS;
	if (it->deadline_ns < q->deadline_ns)
		q->deadline_ns = it->deadline_ns;
	q->stats.sent++;
	q->stats.retried += it->tries > 0;
	q->on_wire += !it->tries;
	it->on_wire = !it->tries;
	it->tries++;
	if (q->on_wire > q->stats.most_on_wire)
		q->stats.most_on_wire = q->on_wire;
	return 0;
}

/* The next item to send, or NONE. */
static uint32_t queue_item_next(struct queue *q)
{
	struct queue_request req;
	uint64_t t = queue_now(q);
	uint32_t i;

	for (;;) {
		i = queue_list_take(q, &q->ready);
		if (i != NONE) {
			q->ready_n--;
		} else {
			memset(&req, 0, sizeof(req));
			if (!q->src->next(q->src->ctx, &req))
				return NONE;
			i = queue_item_new(q, &req);
		}
		if (!queue_item_parked(q, i, t))
			return i;
	}
}

static int queue_fill(struct queue *q, struct err *err)
{
	while (q->on_wire < q->window && q->in_flight < q->nslot) {
		uint32_t i = queue_item_next(q);
		int rc;

		if (i == NONE)
			return 0;
		rc = queue_item_send(q, i, err);
		if (!rc)
			continue;
		/* not sent: first in line next time */
		q->items.v[i].link = q->ready.head;
		if (q->ready.head == NONE)
			q->ready.tail = i;
		q->ready.head = i;
		q->ready_n++;
		return rc == -EAGAIN ? 0 : rc;
	}
	return 0;
}

/* One try has had no answer. */
static int queue_item_expired(struct queue *q, uint32_t i, struct err *err)
{
	struct item *it = &q->items.v[i];
	struct node *node = queue_node_of(q, it->req.node);
	bool probe = node && node->fails;
	uint32_t tries = it->req.tries ? it->req.tries : q->tries;
	bool last = it->tries >= tries || probe || (node && node->silent);
	int rc;

	q->on_wire -= it->on_wire;
	it->on_wire = false;
	if (node)
		node->doubtful = true;
	if (!last && (!node || node->in_flight == 1)) {
		rc = queue_item_send(q, i, err);
		if (rc == -EAGAIN) {
			it->deadline_ns = queue_now(q) + MS;
			if (it->deadline_ns < q->deadline_ns)
				q->deadline_ns = it->deadline_ns;
			rc = 0;
		}
		return rc;
	}
	queue_slot_release(q, i);
	if (!last) {
		queue_list_add(q, &node->parked, i);
		q->parked++;
		return 0;
	}
	q->stats.timed_out++;
	if (node && !node->silent) {
		if (node->answer_ns < it->first_ns || probe)
			queue_node_give_up(q, it->req.node);
		else
			queue_node_unpark(q, node);
	}
	queue_item_done(q, i, -ETIMEDOUT, NULL);
	return 0;
}

static int queue_expire(struct queue *q, struct err *err)
{
	uint64_t t = queue_now(q);
	int rc = 0;

	if (t < q->deadline_ns)
		return 0;
	q->deadline_ns = UINT64_MAX;
	for (uint32_t s = 0; s < q->nslot && !rc; s++)
		if (q->slot[s].item != NONE && q->items.v[q->slot[s].item].deadline_ns <= t)
			rc = queue_item_expired(q, q->slot[s].item, err);
	for (uint32_t s = 0; s < q->nslot; s++)
		if (q->slot[s].item != NONE &&
		    q->items.v[q->slot[s].item].deadline_ns < q->deadline_ns)
			q->deadline_ns = q->items.v[q->slot[s].item].deadline_ns;
	return rc;
}

/* The item that a packet belongs to, or NONE. */
static uint32_t queue_item_of(struct queue *q, const struct mad_packet *p, bool only_last_try)
{
	uint32_t tid = mad_tid(p), s = tid & (WINDOW_MAX - 1), gen = tid >> SLOT_BITS;
	const struct slot *slot;
	uint32_t kept;

	if (s >= q->nslot || q->slot[s].item == NONE)
		return NONE;
	slot = &q->slot[s];
	kept = only_last_try ? 1 : slot->tries < TRIES_KEPT ? slot->tries : TRIES_KEPT;
	for (uint32_t k = 1; k <= kept; k++)
		if (slot->generation[(slot->tries - k) % TRIES_KEPT] == gen)
			return slot->item;
	return NONE;
}

/* Somebody has hit the id of a request to somebody else, or a node answers from a LID that was not
 * asked: none of its answers will count then. */
static void queue_tell_foreign(struct queue *q, const struct mad_packet *p)
{
	if (!q->stats.foreign++)
		log_add(LOG_WARN, "wire",
			"dropped a response from LID %u, which was not the one asked; further ones are "
			"dropped without a message",
			p->addr.lid);
}

static int queue_take(struct queue *q, const struct mad_packet *p, struct err *err)
{
	struct mad_answer a;
	struct node *node;
	uint32_t i;

	if (p->status) { /* given back by the driver: its timer ran out before ours */
		i = queue_item_of(q, p, true);
		return i == NONE ? 0 : queue_item_expired(q, i, err);
	}
	i = mad_parse(&a, p) ? NONE : queue_item_of(q, p, false);
	if (i == NONE) {
		q->stats.late++;
		return 0;
	}
	if (!mad_answers(p, &q->items.v[i].req.mad)) {
		queue_tell_foreign(q, p);
		return 0;
	}
	if (a.status & MAD_STATUS_BUSY)
		return 0;
	q->stats.answered++;
	queue_slot_release(q, i);
	node = queue_node_of(q, q->items.v[i].req.node);
	if (node) {
		node->answer_ns = queue_now(q);
		node->doubtful = node->silent = false;
		node->fails = 0;
		queue_node_unpark(q, node);
	}
	queue_item_done(q, i, a.status ? -EPROTO : 0, &a);
	return 0;
}

/* After a cancel or a failure of the port: everything that was taken is given back. */
static void queue_abandon(struct queue *q)
{
	uint32_t i;

	for (uint32_t s = 0; s < q->nslot; s++)
		if ((i = q->slot[s].item) != NONE) {
			queue_slot_release(q, i);
			queue_item_done(q, i, -ECANCELED, NULL);
		}
	while ((i = queue_list_take(q, &q->ready)) != NONE)
		queue_item_done(q, i, -ECANCELED, NULL);
	for (size_t n = 0; n < q->nodes.n; n++)
		while ((i = queue_list_take(q, &q->nodes.v[n].parked)) != NONE)
			queue_item_done(q, i, -ECANCELED, NULL);
	q->parked = q->ready_n = 0;
	q->deadline_ns = UINT64_MAX;
}

static int queue_turn(struct queue *q, struct err *err)
{
	struct mad_packet p;
	uint64_t t = queue_now(q), wait = SLICE_NS;
	int rc;

	if (q->deadline_ns <= t)
		wait = 0;
	else if (q->deadline_ns - t < wait)
		wait = q->deadline_ns - t;
	rc = q->port.ops->recv(q->port.ctx, &p, wait, err);
	if (rc < 0)
		return rc;
	if (rc)
		rc = queue_take(q, &p, err);
	return rc ? rc : queue_expire(q, err);
}

int queue_run(struct queue *q, const struct queue_source *src, struct progress *progress,
	      const char *step, struct err *err)
{
	uint64_t next_report = 0, t;
	int rc = 0;

	q->src = src;
	q->finished = 0;
	for (size_t n = 0; n < q->nodes.n; n++) {
		q->nodes.v[n].silent = false;
		q->nodes.v[n].doubtful = false;
	}
	for (;;) {
		t = queue_now(q);
		if (t >= next_report) {
			next_report = t + SLICE_NS;
			if (progress_step(progress, step, q->finished,
					  src->total ? *src->total : 0))
				rc = -ECANCELED;
		}
		if (!rc)
			rc = queue_fill(q, err);
		if (!rc && !q->in_flight && !q->parked && !q->ready_n)
			break;
		if (!rc)
			rc = queue_turn(q, err);
		if (rc)
			break;
	}
	if (rc)
		queue_abandon(q);
	q->src = NULL;
	return rc;
}

struct queue_single {
	const struct mad_request *r; /* NULL: sent */
	struct queue_answer *out;
};

static bool queue_single_next(void *ctx, struct queue_request *out)
{
	struct queue_single *x = ctx;

	if (!x->r)
		return false;
	out->node = QUEUE_NO_NODE;
	out->mad = *x->r;
	x->r = NULL;
	return true;
}

static void queue_single_done(void *ctx, const struct queue_request *req, int rc,
			      const struct mad_answer *a)
{
	struct queue_single *x = ctx;

	(void)req;
	x->out->rc = rc;
	if (!a)
		return;
	x->out->status = a->status;
	memcpy(x->out->data, a->data, a->mgmt_class == MAD_SA ? SA_DATA : SMP_DATA);
}

int queue_ask(struct queue_answer *out, struct queue *q, const struct mad_request *r,
	      struct progress *progress, const char *step, struct err *err)
{
	struct queue_single x = { .r = r, .out = out };
	struct queue_source src = { .next = queue_single_next,
				    .done = queue_single_done,
				    .ctx = &x };
	int rc;

	*out = (struct queue_answer){ 0 };
	rc = queue_run(q, &src, progress, step, err);
	return rc ? rc : out->rc;
}
