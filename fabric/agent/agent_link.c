/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/agent/agent_link.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/wire/notice_port.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TELL_NS 60000000000ull

struct by_notices {
	struct notice_port *np;
	struct site_keys *keys;
	uint64_t told, tell_ns; /* doubts */
	bool own;
	uint16_t sm_lid; /* when it last listened */
};

static int agent_link_notices_listen(void *ctx, struct progress *progress, struct err *err)
{
	struct by_notices *b = ctx;
	struct notice_local local;
	uint16_t was = b->sm_lid;
	bool moved;
	int rc;

	notice_port_progress(b->np, progress);
	rc = notice_port_refresh(b->np, &local, err);
	moved = !rc && was && was != local.sm_lid;
	if (!rc)
		rc = notice_subscribe(b->np, NOTICE_LOCAL_CHANGES, err);
	if (!rc)
		b->sm_lid = local.sm_lid;
	if (moved)
		rc = err_set(err, -ESTALE,
			     "another subnet manager has taken over: LID %u, it was LID %u",
			     local.sm_lid, was);
	notice_port_progress(b->np, NULL);
	return rc;
}

static int agent_link_notices_send(void *ctx, const struct phase_notice *n, struct err *err)
{
	struct by_notices *b = ctx;

	return notice_send_phase(b->np, n, false, err);
}

/* What anybody can send is logged once in a while. */
static void agent_link_tell_doubts(struct by_notices *b)
{
	const struct notice_stats *s = notice_stats(b->np);
	uint64_t n = s->strangers + s->unsealed + s->forged, now = notice_port_now_ns(b->np);

	if (n == b->told || now < b->tell_ns)
		return;
	log_add(LOG_WARN, "apply",
		"ignored: %" PRIu64 " reports that were not the subnet manager's (last: LID %u), "
		"%" PRIu64 " notices without a seal (LID %u), %" PRIu64 " with one of no key of "
		"this site (LID %u)",
		s->strangers, s->stranger_lid, s->unsealed, s->unsealed_lid, s->forged,
		s->forged_lid);
	b->told = n;
	b->tell_ns = now + TELL_NS;
}

static int agent_link_notices_recv(void *ctx, struct agent_answer *out, uint64_t wait_ns,
				   struct err *err)
{
	struct by_notices *b = ctx;
	struct notice_phase p;
	int rc = notice_recv_phase(b->np, &p, wait_ns, err);

	agent_link_tell_doubts(b);
	if (rc != 1)
		return rc;
	if (p.rc || !p.answer)
		return 0;
	out->notice = p.said;
	out->lid = p.in.notice.issuer_lid;
	out->guid = p.in.notice.issuer_guid;
	out->at_ns = p.in.at_ns;
	return 1;
}

static bool agent_link_notices_sealed(void *ctx)
{
	return ((struct by_notices *)ctx)->keys;
}

static uint64_t agent_link_notices_now_ns(void *ctx)
{
	struct by_notices *b = ctx;

	return notice_port_now_ns(b->np);
}

static void agent_link_notices_close(void *ctx)
{
	struct by_notices *b = ctx;

	notice_port_keys(b->np, NULL);
	if (b->own)
		notice_port_close(b->np);
	free(b);
}

void agent_link_over(struct agent_link *out, struct notice_port *np)
{
	static const struct agent_link_ops ops = {
		.name = "notices through the SM",
		.listen = agent_link_notices_listen,
		.send = agent_link_notices_send,
		.recv = agent_link_notices_recv,
		.sealed = agent_link_notices_sealed,
		.now_ns = agent_link_notices_now_ns,
		.close = agent_link_notices_close,
	};
	struct by_notices *b = xcalloc(1, sizeof(*b));

	b->np = np;
	*out = (struct agent_link){ &ops, b };
}

void agent_link_keys(struct agent_link *l, struct site_keys *keys)
{
	struct by_notices *b = l->ctx;

	b->keys = keys;
	notice_port_keys(b->np, keys);
}

void agent_link_notices(struct agent_link *out, struct notice_port *np)
{
	agent_link_over(out, np);
	((struct by_notices *)out->ctx)->own = true;
}

void agent_link_close(struct agent_link *l)
{
	if (!l || !l->ops)
		return;
	if (l->ops->close)
		l->ops->close(l->ctx);
	*l = (struct agent_link){ 0 };
}
