/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LIDs asked for their NodeInfo over the tables that are installed. */
#include "fabric/wire/wire.h"

#include "fabric/wire/wire_priv.h"

#include <errno.h>

struct pings {
	struct wire *w;
	struct wire_ping *p;
	uint32_t n, at;
	uint64_t total;
};

static bool wire_ping_next(void *ctx, struct queue_request *out)
{
	struct pings *s = ctx;

	if (s->at == s->n)
		return false;
	wire_smp_get(s->w, &out->mad, SMP_NODE_INFO, s->p[s->at].lid);
	out->node = QUEUE_NO_NODE;
	out->tries = s->p[s->at].tries;
	out->tag = s->at++;
	return true;
}

/* Any answer is one, also a refusal. */
static void wire_ping_done(void *ctx, const struct queue_request *req, int rc,
			   const struct mad_answer *a)
{
	struct pings *s = ctx;

	(void)a;
	s->p[req->tag].rc = rc == -EPROTO ? 0 : rc;
}

int wire_ping(struct wire *w, struct wire_ping *p, uint32_t n, struct progress *progress,
	      struct err *err)
{
	struct pings s = { .w = w, .p = p, .n = n, .total = n };
	struct queue_source src = {
		.next = wire_ping_next, .done = wire_ping_done, .ctx = &s, .total = &s.total
	};

	for (uint32_t i = 0; i < n; i++)
		p[i].rc = -ECANCELED;
	return queue_run(w->queue, &src, progress, "ask hosts", err);
}
