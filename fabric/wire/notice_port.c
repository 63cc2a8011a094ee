/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/notice_port.h"

#include "fabric/base/hash/random.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/log.h"
#include "fabric/ib/bytes.h"
#include "fabric/ib/codec.h"
#include "fabric/update/protocol/phase_seal.h"
#include "fabric/wire/mkeys.h"
#include "fabric/wire/queue.h"
#include "fabric/wire/sa.h"

#include <errno.h>
#include <string.h>

#define WAITING_MAX 65536u /* a power of 2 */
#define TRAP_TID    0x40000000u
#define LOOK_NS	    1000000000ull /* between looks whether another SM has taken over, at keys */
#define QP_GSI	    1

struct notice_port {
	struct mad_port inner, self;
	struct queue *queue; /* over self */
	struct progress *progress;
	uint64_t m_key;
	struct notice_local local;
	struct site_keys *keys;
	uint64_t keys_ns; /* when their file was looked at */
	bool looked; /* at the local port, as a report came that was not its SM's; then when */
	uint64_t looked_ns;
	uint32_t trap_tid;
	struct notice_in *waiting; /* a ring */
	uint32_t head, n, size;
	struct notice_stats stats;
};

static void notice_port_keep(struct notice_port *np, const struct notice_in *in)
{
	if (np->n == np->size) {
		uint32_t size = np->size ? np->size * 2 : 64;
		struct notice_in *ring;

		if (np->n == WAITING_MAX) {
			np->stats.dropped++;
			return;
		}
		ring = xcalloc(size, sizeof(*ring));
		for (uint32_t i = 0; i < np->n; i++)
			ring[i] = np->waiting[(np->head + i) & (np->size - 1)];
		free(np->waiting);
		np->waiting = ring;
		np->head = 0;
		np->size = size;
	}
	np->waiting[(np->head + np->n++) & (np->size - 1)] = *in;
}

/* Answers are lost like any other packet: a failure to send is none of the reader's. */
static void notice_port_answer_sm(struct notice_port *np, const struct mad_packet *p)
{
	np->inner.ops->send(np->inner.ctx, p, NULL);
}

static int notice_port_filter_recv(void *ctx, struct mad_packet *p, uint64_t wait_ns,
				   struct err *err)
{
	struct notice_port *np = ctx;
	struct notice_in in;
	int rc;

	rc = np->inner.ops->recv(np->inner.ctx, p, wait_ns, err);
	if (rc <= 0 || p->status)
		return rc;
	if (!report_read(&in.notice, p)) {
		in.sm_lid = p->addr.qpn <= QP_GSI ? p->addr.lid : 0; /* ibsim says 0 */
		in.at_ns = np->inner.ops->now_ns(np->inner.ctx);
		np->stats.reports++;
		notice_port_keep(np, &in);
		report_answer(p);
		notice_port_answer_sm(np, p);
		return 0;
	}
	return rc;
}

static int notice_port_filter_send(void *ctx, const struct mad_packet *p, struct err *err)
{
	struct notice_port *np = ctx;

	return np->inner.ops->send(np->inner.ctx, p, err);
}

static uint64_t notice_port_filter_now_ns(void *ctx)
{
	return notice_port_now_ns(ctx);
}

static void notice_port_filter_local(void *ctx, struct mad_local *out)
{
	struct notice_port *np = ctx;

	np->inner.ops->local(np->inner.ctx, out);
}

static void notice_port_filter_close(void *ctx)
{
	notice_port_close(ctx);
}

static void notice_port_filter_pace(void *ctx, uint64_t pause_ns)
{
	struct notice_port *np = ctx;

	if (np->inner.ops->pace)
		np->inner.ops->pace(np->inner.ctx, pause_ns);
}

struct notice_port *notice_port_new(const struct mad_port *inner, const struct notice_opts *opts)
{
	static const struct mad_ops ops = { notice_port_filter_send,   notice_port_filter_recv,
					    notice_port_filter_now_ns, notice_port_filter_local,
					    notice_port_filter_close,  notice_port_filter_pace };
	struct queue_opts q = { .timeout_ms = opts->timeout_ms, .retries = opts->retries };
	struct notice_port *np = xcalloc(1, sizeof(*np));
	struct mad_local local;

	np->inner = *inner;
	np->self = (struct mad_port){ &ops, np };
	np->queue = queue_new(&np->self, &q);
	inner->ops->local(inner->ctx, &local);
	np->local.port_guid = local.port_guid;
	random_fill(&np->trap_tid, sizeof(np->trap_tid));
	np->m_key = mkeys_of(opts->m_keys, local.port_guid, opts->m_key);
	return np;
}

int notice_port_open_umad(struct notice_port **out, const struct notice_opts *opts, struct err *err)
{
	static const struct notice_opts none;
	struct mad_port port;
	int rc;

	opts = opts ? opts : &none;
	rc = opts->deaf ? umad_port_open(&port, opts->ca, opts->port, err)
			: umad_port_listen(&port, opts->ca, opts->port, err);
	if (!rc)
		*out = notice_port_new(&port, opts);
	return rc;
}

void notice_port_close(struct notice_port *np)
{
	if (!np)
		return;
	queue_free(np->queue);
	np->inner.ops->close(np->inner.ctx);
	explicit_bzero(&np->m_key, sizeof(np->m_key));
	free(np->waiting);
	free(np);
}

const struct mad_port *notice_port_mad(struct notice_port *np)
{
	return &np->self;
}

uint64_t notice_port_now_ns(struct notice_port *np)
{
	return np->inner.ops->now_ns(np->inner.ctx);
}

const struct notice_stats *notice_stats(const struct notice_port *np)
{
	return &np->stats;
}

static int notice_port_ask(struct notice_port *np, struct queue_answer *a,
			   const struct mad_request *r, struct err *err)
{
	int rc = queue_ask(a, np->queue, r, np->progress, "asking the SM", err);

	return a->rc == -ETIMEDOUT ? err_set(err, rc, "no response from LID %u", r->lid) : rc;
}

void notice_port_progress(struct notice_port *np, struct progress *progress)
{
	np->progress = progress;
}

int notice_port_refresh(struct notice_port *np, struct notice_local *out, struct err *err)
{
	struct mad_request r = { .mgmt_class = MAD_SMP_DIRECTED,
				 .method = MAD_GET,
				 .attr = SMP_PORT_INFO,
				 .m_key = np->m_key };
	struct port_info pi;
	struct queue_answer a;
	int rc = notice_port_ask(np, &a, &r, err);

	explicit_bzero(&r, sizeof(r));
	if (!rc)
		rc = port_info_decode(&pi, a.data);
	if (rc == -ECANCELED)
		return rc;
	if (rc)
		return err_set(err, rc,
			       "the local port does not report its SM; if the fabric uses M_Keys, "
			       "give the right one");
	np->local.lid = pi.lid;
	np->local.lmc = pi.lmc;
	np->local.sm_lid = pi.sm_lid;
	np->local.sm_sl = pi.sm_sl;
	np->local.cap_mask = pi.cap_mask;
	np->local.gid_prefix = pi.gid_prefix;
	if (out)
		*out = np->local;
	if (!pi.sm_lid || !pi.lid)
		return err_set(err, -ENOENT,
			       "no subnet manager has configured the local port: is one running?");
	return 0;
}

static int notice_port_know_sm(struct notice_port *np, struct err *err)
{
	return np->local.sm_lid ? 0 : notice_port_refresh(np, NULL, err);
}

int notice_port_sm(struct notice_port *np, struct sm_info *out, struct err *err)
{
	struct mad_request r = { .mgmt_class = MAD_SMP, .method = MAD_GET, .attr = SMP_SM_INFO };
	struct queue_answer a;
	int rc = notice_port_know_sm(np, err);

	if (rc)
		return rc;
	r.lid = np->local.sm_lid;
	r.sl = np->local.sm_sl;
	rc = notice_port_ask(np, &a, &r, err);
	if (!rc)
		rc = sm_info_decode(out, a.data);
	if (rc)
		return err_set(err, rc, "the subnet manager at LID %u does not identify itself",
			       r.lid);
	return 0;
}

static int notice_port_inform(struct notice_port *np, uint16_t trap, bool subscribe,
			      struct err *err)
{
	struct mad_request r = { .mgmt_class = MAD_SA, .method = MAD_SET, .attr = SA_INFORM_INFO };
	const char *what = subscribe ? "subscribe this port to" : "unsubscribe this port from";
	struct inform_info ii;
	struct queue_answer a;
	int rc = notice_port_know_sm(np, err);

	if (rc)
		return rc;
	inform_info_init(&ii, trap, subscribe);
	inform_info_encode(r.data, &ii);
	r.lid = np->local.sm_lid;
	r.sl = np->local.sm_sl;
	rc = notice_port_ask(np, &a, &r, err);
	if (rc == -ETIMEDOUT)
		return err_set(err, rc,
			       "the subnet manager at LID %u does not respond to the request to "
			       "%s notices %u: is it running?",
			       r.lid, what, trap);
	if (rc == -EPROTO)
		return err_set(err, rc, "the subnet manager at LID %u refuses to %s notices %u: %s",
			       r.lid, what, trap, sa_status_text(a.status));
	return rc;
}

int notice_subscribe(struct notice_port *np, uint16_t trap, struct err *err)
{
	return notice_port_inform(np, trap, true, err);
}

int notice_unsubscribe(struct notice_port *np, uint16_t trap, struct err *err)
{
	return notice_port_inform(np, trap, false, err);
}

/* One record is sent, of several only that there are. */
int notice_subscriptions(struct notice_port *np, struct err *err)
{
	struct mad_request r = { .mgmt_class = MAD_SA,
				 .method = MAD_GET,
				 .attr = SA_INFORM_RECORD,
				 .comp_mask = INFORM_BY_GID };
	struct queue_answer a;
	int rc = notice_port_know_sm(np, err);

	if (rc)
		return rc;
	be64_put(r.data, np->local.gid_prefix);
	be64_put(r.data + 8, np->local.port_guid);
	r.lid = np->local.sm_lid;
	r.sl = np->local.sm_sl;
	rc = notice_port_ask(np, &a, &r, err);
	if (!rc)
		return 1;
	if (rc != -EPROTO)
		return rc;
	return a.status == SA_NO_RECORDS ? 0 : a.status == SA_TOO_MANY_RECORDS ? 2 : -ENOTSUP;
}

int notice_send(struct notice_port *np, const struct notice *n, struct err *err)
{
	struct notice mine = *n;
	struct mad_packet p;
	int rc = notice_port_know_sm(np, err);

	if (rc)
		return rc;
	mine.issuer_lid = np->local.lid;
	trap_build(&p, np->local.sm_lid, &mine, TRAP_TID | (np->trap_tid++ & (TRAP_TID - 1)));
	p.addr.sl = np->local.sm_sl;
	rc = np->inner.ops->send(np->inner.ctx, &p, err);
	np->stats.traps += !rc;
	return rc;
}

void notice_port_keys(struct notice_port *np, struct site_keys *keys)
{
	np->keys = keys;
	np->keys_ns = 0;
}

/* Now and then; a damaged file leaves the keys as they were. */
static void notice_port_new_keys(struct notice_port *np)
{
	uint64_t now = notice_port_now_ns(np);
	struct err err = { "" };
	int rc;

	if (np->keys_ns && now - np->keys_ns < LOOK_NS)
		return;
	np->keys_ns = now ? now : 1;
	rc = site_keys_refresh(np->keys, &err);
	if (rc == 1)
		log_add(LOG_INFO, "notice", "the keys of the agents have changed: signs with %04x",
			site_keys_id(np->keys));
	else if (rc)
		log_add(LOG_WARN, "notice", "%s; the keys of before are used", err.text);
}

int notice_send_phase(struct notice_port *np, const struct phase_notice *a, bool answer,
		      struct err *err)
{
	struct notice_sender from;
	struct notice n;
	int rc = notice_port_know_sm(np, err);

	if (rc)
		return rc;
	from = (struct notice_sender){ .lid = np->local.lid, .cap_mask = np->local.cap_mask };
	phase_codec_encode(&n, a, answer, &from);
	if (np->keys) {
		notice_port_new_keys(np);
		rc = phase_seal_put(&n, np->local.port_guid, np->keys);
	}
	if (rc)
		return err_set(err, rc, "the key of another node cannot sign for this port");
	return notice_send(np, &n, err);
}

static bool notice_port_believes(struct notice_port *np, const struct notice *n)
{
	if (!np->keys)
		return true;
	notice_port_new_keys(np);
	if (!phase_seal_check(n, np->keys))
		return true;
	if (phase_seal_there(n)) {
		np->stats.forged++;
		np->stats.forged_lid = n->issuer_lid;
	} else {
		np->stats.unsealed++;
		np->stats.unsealed_lid = n->issuer_lid;
	}
	return false;
}

int notice_recv_phase(struct notice_port *np, struct notice_phase *out, uint64_t wait_ns,
		      struct err *err)
{
	uint64_t until = notice_port_now_ns(np) + wait_ns, now;
	int rc;

	do {
		now = notice_port_now_ns(np);
		rc = notice_recv(np, &out->in, now < until ? until - now : 0, err);
		if (rc != 1)
			return rc;
		out->rc = phase_codec_decode(&out->said, &out->answer, &out->in.notice);
	} while (out->rc == -ENOENT || !notice_port_believes(np, &out->in.notice));
	return 1;
}

/* Another SM may have taken over since the local port was looked at. */
static bool notice_port_is_sm(struct notice_port *np, uint16_t lid)
{
	uint64_t now = notice_port_now_ns(np);

	if (lid && lid == np->local.sm_lid)
		return true;
	if (!lid || (np->looked && now - np->looked_ns < LOOK_NS))
		return false;
	np->looked = true;
	np->looked_ns = now;
	notice_port_refresh(np, NULL, NULL);
	return lid == np->local.sm_lid;
}

/* The next that waits and is the SM's. */
static bool notice_port_take(struct notice_port *np, struct notice_in *out)
{
	while (np->n) {
		struct notice_in in = np->waiting[np->head];

		np->head = (np->head + 1) & (np->size - 1);
		np->n--;
		if (notice_port_is_sm(np, in.sm_lid)) {
			*out = in;
			return true;
		}
		np->stats.strangers++;
		np->stats.stranger_lid = in.sm_lid;
	}
	return false;
}

int notice_recv(struct notice_port *np, struct notice_in *out, uint64_t wait_ns, struct err *err)
{
	uint64_t now = notice_port_now_ns(np), until = now + wait_ns;
	struct mad_packet p;
	int rc;

	for (;;) {
		if (notice_port_take(np, out))
			return 1;
		/* anything else is a late answer that nobody waits for any more */
		rc = notice_port_filter_recv(np, &p, now < until ? until - now : 0, err);
		if (rc < 0)
			return rc;
		now = notice_port_now_ns(np);
		if (now >= until && !np->n)
			return 0;
	}
}
