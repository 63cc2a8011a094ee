/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/wire.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/wire/mkeys.h"
#include "fabric/wire/notice_port.h"
#include "fabric/wire/wire_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN_NS 1000000000ull
#define PACE_NS	 1000000ull
#define REFUSED_NS                                                                                 \
	300000000000ull /* no other keys are tried for this time on a port that accepted none */

static void wire_wipe(void *v, size_t bytes)
{
	if (v)
		explicit_bzero(v, bytes);
	free(v);
}

static void wire_forget_keys(struct wire *w)
{
	wire_wipe(w->lids, w->nlids * sizeof(*w->lids));
	wire_wipe(w->peers, w->npeers * sizeof(*w->peers));
	w->lids = NULL;
	w->peers = NULL;
	w->nlids = w->npeers = 0;
}

void wire_forget_routes(struct wire *w)
{
	wire_wipe(w->routes, w->nroutes * sizeof(*w->routes));
	w->routes = NULL;
	w->nroutes = 0;
}

void wire_forget_found(struct wire *w)
{
	found_list_free(w->found, w->nfound);
	w->found = NULL;
	w->nfound = 0;
}

static void wire_free(struct wire *w)
{
	free(w->known);
	wire_forget_routes(w);
	wire_forget_found(w);
	wire_forget_keys(w);
	wire_forget_counters(w);
	free((char *)w->opts.ca);
	explicit_bzero(&w->m_key, sizeof(w->m_key));
	free(w);
}

/* ---- opening ---- */

static void wire_use_port(struct wire *w, const struct mad_port *port)
{
	struct queue_opts q = { .window = w->opts.window,
				.timeout_ms = w->opts.timeout_ms,
				.retries = w->opts.retries };

	w->port = *port;
	w->queue = queue_new(port, &q);
}

static struct notice_port *wire_notice_port(const struct wire *w, const struct mad_port *port)
{
	struct notice_opts no = { .timeout_ms = w->opts.timeout_ms,
				  .retries = w->opts.retries,
				  .m_key = w->m_key,
				  .m_keys = w->opts.m_keys };
	struct notice_port *np = notice_port_new(port, &no);

	explicit_bzero(&no.m_key, sizeof(no.m_key));
	return np;
}

/* With or without notices, as was asked for.  After an error w has no port. */
static int wire_attach(struct wire *w, bool notices, struct err *err)
{
	struct mad_port port;
	int rc = w->opener.open(&port, w->opener.ctx, &w->opts, notices, err);

	if (rc)
		return rc;
	if (notices)
		w->notices = wire_notice_port(w, &port);
	wire_use_port(w, notices ? notice_port_mad(w->notices) : &port);
	return 0;
}

static struct wire *wire_new(const struct wire_opts *opts)
{
	struct wire *w = xcalloc(1, sizeof(*w));

	if (opts)
		w->opts = *opts;
	w->opts.ca = w->opts.ca ? xstrdup(w->opts.ca) : NULL;
	w->m_key = w->opts.m_key;
	w->opts.m_key = 0; /* once is enough */
	return w;
}

int wire_open(struct wire **out, const struct wire_opener *opener, const struct wire_opts *opts,
	      struct err *err)
{
	struct wire *w = wire_new(opts);
	int rc;

	w->opener = *opener;
	rc = wire_attach(w, w->opts.notices, err);
	if (rc)
		wire_free(w);
	else
		*out = w;
	return rc;
}

void wire_open_port(struct wire **out, const struct mad_port *port, const struct wire_opts *opts)
{
	*out = wire_new(opts);
	wire_use_port(*out, port);
}

static int wire_umad_port(struct mad_port *out, void *ctx, const struct wire_opts *opts,
			  bool notices, struct err *err)
{
	(void)ctx;
	return notices ? umad_port_listen(out, opts->ca, opts->port, err)
		       : umad_port_open(out, opts->ca, opts->port, err);
}

int wire_open_umad(struct wire **out, const struct wire_opts *opts, struct err *err)
{
	return wire_open(out, &(struct wire_opener){ .open = wire_umad_port }, opts, err);
}

struct notice_port *wire_notices(struct wire *w)
{
	return w->notices;
}

/* ---- a port that could not be opened again: nothing gets out ---- */

static int wire_gone_send(void *ctx, const struct mad_packet *p, struct err *err)
{
	(void)ctx;
	(void)p;
	return err_set(err, -ENODEV, "the port could not be opened again");
}

static int wire_gone_recv(void *ctx, struct mad_packet *p, uint64_t wait_ns, struct err *err)
{
	(void)ctx;
	(void)p;
	(void)wait_ns;
	return err_set(err, -ENODEV, "the port could not be opened again");
}

static uint64_t wire_gone_now_ns(void *ctx)
{
	(void)ctx;
	return clock_ns();
}

static void wire_gone_local(void *ctx, struct mad_local *out)
{
	(void)ctx;
	*out = (struct mad_local){ 0 };
}

static void wire_gone_close(void *ctx)
{
	(void)ctx;
}

static const struct mad_port gone = {
	.ops = &(const struct mad_ops){ .send = wire_gone_send,
					.recv = wire_gone_recv,
					.now_ns = wire_gone_now_ns,
					.local = wire_gone_local,
					.close = wire_gone_close },
};

/* The old one goes first: ibsim's library gives what comes to one of both only. */
int wire_listen(struct wire *w, struct err *err)
{
	int rc;

	if (w->notices)
		return 0;
	if (!w->opener.open)
		return err_set(err, -ENOTSUP, "no notices are received on this port");
	queue_free(w->queue);
	w->port.ops->close(w->port.ctx);
	rc = wire_attach(w, true, err);
	if (rc && wire_attach(w, false, NULL))
		wire_use_port(w, &gone);
	return rc;
}

void wire_close(struct wire *w)
{
	if (!w)
		return;
	queue_free(w->queue);
	w->port.ops->close(w->port.ctx);
	wire_free(w);
}

const struct queue_stats *wire_stats(const struct wire *w)
{
	return queue_stats(w->queue);
}

void wire_pace(struct wire *w, bool calm)
{
	if (w->port.ops->pace)
		w->port.ops->pace(w->port.ctx, calm ? PACE_NS : 0);
}

/* ---- M_Keys: of what a sweep has not met yet, and what it has learned about them ---- */

static uint64_t wire_local_key(struct wire *w)
{
	struct mad_local local;

	wire_local(w, &local);
	return mkeys_of(w->opts.m_keys, local.port_guid, w->m_key);
}

static int wire_by_spot(const void *a, const void *b)
{
	const struct wire_peer *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port - y->port;
}

static const struct wire_peer *wire_find_peer(const struct wire *w, uint64_t guid, uint8_t port)
{
	struct wire_peer want = { .guid = guid, .port = port };

	return w->npeers ? bsearch(&want, w->peers, w->npeers, sizeof(want), wire_by_spot) : NULL;
}

void wire_tries_behind(struct wire_tries *out, struct wire *w, uint64_t guid, uint8_t port,
		       uint64_t near)
{
	const struct mkeys *k = w->opts.m_keys;
	const struct wire_peer *p = wire_find_peer(w, guid, port);
	uint64_t peer = 0;

	if (p && p->peer)
		peer = p->peer;
	else
		mkeys_peer(&peer, k, guid, port);
	/* without keys of ports there is nothing to choose from */
	out->n = mkeys_tries(out->key, &out->sure, k, peer, w->m_key, k ? near : 0);
	if (p && p->peer && !out->sure) { /* the one that it took */
		out->key[0] = p->m_key;
		out->n = 1;
		out->sure = true;
	}
	out->refused_ns = 0;
	if (p && !p->peer && wire_now_ns(w) - p->ns < REFUSED_NS) {
		out->refused_ns = p->ns;
		out->n = 1;
	}
}

void wire_tries_local(struct wire_tries *out, struct wire *w)
{
	struct mad_local local;

	wire_local(w, &local);
	out->refused_ns = 0;
	out->n = mkeys_tries(out->key, &out->sure, w->opts.m_keys, local.port_guid, w->m_key, 0);
}

uint8_t wire_tries_times(const struct wire_tries *t, uint32_t nth)
{
	if (!nth && !t->refused_ns && (t->sure || t->n == 1))
		return 0;
	return nth || t->refused_ns ? 1 : 2;
}

bool wire_key_given(const struct wire *w, uint64_t key)
{
	return key == w->m_key || mkeys_has(w->opts.m_keys, key);
}

static int wire_by_lid(const void *a, const void *b)
{
	return ((const struct wire_lid *)a)->lid - ((const struct wire_lid *)b)->lid;
}

void wire_keep_keys(struct wire *w, struct wire_lid *lids, uint32_t nlids, struct wire_peer *peers,
		    uint32_t npeers)
{
	if (nlids)
		qsort(lids, nlids, sizeof(*lids), wire_by_lid);
	if (npeers)
		qsort(peers, npeers, sizeof(*peers), wire_by_spot);
	wire_forget_keys(w);
	w->lids = lids;
	w->nlids = nlids;
	w->peers = peers;
	w->npeers = npeers;
}

uint64_t wire_lid_key(const struct wire *w, uint16_t lid)
{
	uint32_t lo = 0, hi = w->nlids;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (w->lids[mid].lid <= lid)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && lid - w->lids[lo - 1].lid < w->lids[lo - 1].n)
		return w->lids[lo - 1].m_key;
	return mkeys_of(w->opts.m_keys, 0, w->m_key);
}

/* ---- one switch ---- */

const char *wire_rc_text(int rc)
{
	switch (rc) {
	case 0:
		return "done";
	case -ETIMEDOUT:
		return "no response";
	case -EHOSTUNREACH:
		return "no path to it is known";
	case -EPROTO:
		return "it refused";
	case -ESTALE:
		return "another switch responds there now: sweep again";
	case -EIO:
		return "it responded with values other than those written";
	case -ECANCELED:
		return "cancelled";
	}
	return strerror(-rc);
}

void wire_smp(const struct wire *w, struct mad_request *r, uint8_t method, uint16_t attr,
	      uint32_t mod)
{
	memset(r, 0, sizeof(*r));
	r->method = method;
	r->attr = attr;
	r->mod = mod;
	r->m_key = w->m_key;
}

static const struct wire_route *wire_find_route(const struct wire *w, uint64_t guid)
{
	uint32_t lo = 0, hi = w->nroutes;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (w->routes[mid].guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < w->nroutes && w->routes[lo].guid == guid ? &w->routes[lo] : NULL;
}

void wire_smp_get(const struct wire *w, struct mad_request *r, uint16_t attr, uint16_t lid)
{
	wire_smp(w, r, MAD_GET, attr, 0);
	r->mgmt_class = MAD_SMP;
	r->lid = lid;
	r->m_key = wire_lid_key(w, r->lid);
}

bool wire_address(const struct wire *w, const struct fabric *f, uint32_t sw, enum wire_via via,
		  struct mad_request *r)
{
	const struct wire_route *route = wire_find_route(w, f->sw_guid[sw]);

	r->m_key = route ? route->m_key : mkeys_of(w->opts.m_keys, f->sw_guid[sw], w->m_key);
	if (via == VIA_LID) {
		r->mgmt_class = MAD_SMP;
		r->lid = f->sw_lid[sw];
		return f->lids_given && r->lid;
	}
	if (!route)
		return false;
	r->mgmt_class = MAD_SMP_DIRECTED;
	r->route = route->route;
	return true;
}

/* One SMP to the local port or to a LID (0: local). */
static int wire_ask(struct queue_answer *out, struct wire *w, struct mad_request *r,
		    struct err *err)
{
	r->mgmt_class = r->lid ? MAD_SMP : MAD_SMP_DIRECTED;
	r->m_key = r->lid ? wire_lid_key(w, r->lid) : wire_local_key(w);
	return queue_ask(out, w->queue, r, NULL, "ask", err);
}

int wire_sm_info(struct wire_sm *out, struct wire *w, struct err *err)
{
	struct mad_request r;
	struct port_info pi;
	struct sm_info si;
	struct queue_answer a;
	int rc;

	wire_smp(w, &r, MAD_GET, SMP_PORT_INFO, 0);
	rc = wire_ask(&a, w, &r, err);
	if (rc || port_info_decode(&pi, a.data))
		return err_set(err, rc ? rc : -EPROTO,
			       "the local port does not report its SM (%s); if the fabric uses "
			       "M_Keys, give the right one",
			       wire_rc_text(rc ? rc : -EPROTO));
	if (!pi.sm_lid)
		return err_set(err, -ENOENT,
			       "no subnet manager has configured the local port: is one running?");
	wire_smp(w, &r, MAD_GET, SMP_SM_INFO, 0);
	r.lid = pi.sm_lid;
	r.sl = pi.sm_sl;
	rc = wire_ask(&a, w, &r, err);
	if (!rc)
		rc = sm_info_decode(&si, a.data);
	if (rc)
		return err_set(err, rc, "the subnet manager at LID %u: %s", pi.sm_lid,
			       wire_rc_text(rc));
	*out = (struct wire_sm){ .lid = pi.sm_lid,
				 .sl = pi.sm_sl,
				 .guid = si.guid,
				 .act_count = si.act_count,
				 .priority = si.priority,
				 .state = si.state };
	return 0;
}

const char *wire_sm_state_name(uint8_t state)
{
	return sm_state_name(state);
}

struct identify {
	struct wire *w;
	const struct fabric *f;
	const bool *want;
	enum wire_via by;
	uint32_t at;
	uint8_t *via;
	int *rc;
	uint32_t answered, silent; /* in this pass */
	uint64_t total;
};

static bool wire_identify_next(void *ctx, struct queue_request *out)
{
	struct identify *x = ctx;

	for (; x->at < x->f->nsw; x->at++) {
		if (!x->want[x->at] || x->via[x->at] != VIA_NONE)
			continue;
		if (wire_via_broken(x->answered, x->silent)) {
			x->rc[x->at] = -ETIMEDOUT;
			continue;
		}
		wire_smp(x->w, &out->mad, MAD_GET, SMP_NODE_INFO, 0);
		if (!wire_address(x->w, x->f, x->at, x->by, &out->mad))
			continue;
		out->tag = out->node = x->at++;
		return true;
	}
	return false;
}

static void wire_identify_done(void *ctx, const struct queue_request *req, int rc,
			       const struct mad_answer *a)
{
	struct identify *x = ctx;
	uint32_t sw = (uint32_t)req->tag;
	struct node_info ni;

	x->answered += rc == 0;
	x->silent += rc == -ETIMEDOUT;
	if (!rc)
		rc = node_info_decode(&ni, a->data);
	if (!rc && ni.node_guid != x->f->sw_guid[sw])
		rc = -ESTALE;
	x->rc[sw] = rc;
	x->w->known[sw].via = VIA_NONE;
	if (rc)
		return;
	x->via[sw] = (uint8_t)x->by;
	x->w->known[sw] = (struct wire_known){ .guid = ni.node_guid,
					       .ns = wire_now_ns(x->w),
					       .lid = x->f->lids_given ? x->f->sw_lid[sw] : 0,
					       .via = (uint8_t)x->by };
}

void wire_forget(struct wire *w)
{
	w->nknown = 0;
}

/* Places for n switches, those that are new without anything. */
static void wire_known_room(struct wire *w, uint32_t n)
{
	if (n <= w->nknown)
		return;
	w->known = xrealloc(w->known, n, sizeof(*w->known));
	memset(w->known + w->nknown, 0, (n - w->nknown) * sizeof(*w->known));
	w->nknown = n;
}

static enum wire_via wire_known_via(const struct wire *w, const struct fabric *f, uint32_t sw,
				    uint64_t now_ns)
{
	const struct wire_known *k = &w->known[sw];

	if (k->via == VIA_NONE || k->guid != f->sw_guid[sw] || now_ns - k->ns > KNOWN_NS)
		return VIA_NONE;
	if (k->via == VIA_LID && (!f->lids_given || k->lid != f->sw_lid[sw]))
		return VIA_NONE;
	return k->via;
}

int wire_identify(struct wire *w, const struct fabric *f, const bool *want, uint8_t *via, int *rc,
		  struct progress *progress, struct err *err)
{
	struct identify x = { .w = w, .f = f, .want = want, .via = via, .rc = rc };
	struct queue_source src = {
		.next = wire_identify_next, .done = wire_identify_done, .ctx = &x, .total = &x.total
	};
	int ret = 0;

	wire_known_room(w, f->nsw);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		via[sw] = VIA_NONE;
		rc[sw] = -EHOSTUNREACH;
		x.total += want[sw];
	}
	for (int pass = 0; pass < 2 && !ret; pass++) {
		x.by = pass ? VIA_LID : VIA_ROUTE;
		x.at = x.answered = x.silent = 0;
		queue_forget(w->queue);
		ret = queue_run(w->queue, &src, progress, "identify switches", err);
	}
	queue_forget(w->queue);
	return ret;
}

int wire_recall(struct wire *w, const struct fabric *f, bool *want, uint8_t *via, int *rc,
		struct progress *progress, struct err *err)
{
	uint8_t *known = xcalloc(f->nsw, 1);
	uint64_t now_ns = wire_now_ns(w);
	bool any = false;
	int ret = 0;

	wire_known_room(w, f->nsw);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		if (want[sw])
			known[sw] = (uint8_t)wire_known_via(w, f, sw, now_ns);
		want[sw] = want[sw] && !known[sw];
		any = any || want[sw];
	}
	if (any)
		ret = wire_identify(w, f, want, via, rc, progress, err);
	else
		queue_forget(w->queue);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (known[sw]) {
			via[sw] = known[sw];
			rc[sw] = 0;
		}
	free(known);
	return ret;
}
