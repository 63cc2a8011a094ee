/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulated SM's administration: subscriptions, traps that become reports, path records.
 * Statuses, the suppression of repeated traps and what makes it sweep are OpenSM's.
 */
#include "fabric/base/memory/vec.h"
#include "fabric/ib/bytes.h"
#include "fabric/ib/codec.h"
#include "fabric/ib/notice.h"
#include "fabric/sim/device/sim_inbox.h"
#include "fabric/sim/device/sim_state.h"
#include "fabric/wire/sa.h"

#include <stdio.h>
#include <string.h>

#define GID_PREFIX    0xfe80000000000000ull
#define SAME_MAX      10 /* times that the same notice of a port is heard */
#define SAME_AGE_NS   5000000000ull
#define SEEN	      4096 /* notices that are remembered: a newer one may push out an older */
#define MTU_4096      5
#define RATE_100      16
#define LIFE_1S	      18
#define REPORT_TID    0x02dab000u
#define LOCAL_CHANGES 5 /* offsets in the details of a notice 144 */
#define LOCAL_CAPS    6
#define LOCAL_FLAGS   10

struct subscription {
	uint32_t term;
	uint8_t sl;
	struct inform_info ii;
};

struct seen {
	uint64_t key, last_ns;
	uint32_t times;
};

struct service {
	struct service_record r;
	uint64_t end_ns; /* UINT64_MAX: never */
};

struct sim_sm {
	VEC(struct subscription) subs;
	VEC(struct service) services;
	struct seen seen[SEEN];
	uint32_t report_tid;
	struct sim_sm_counts counts;
	const struct tables *sls; /* NULL: every path has SL 0 */
};

struct sim_sm *sm_new(void)
{
	struct sim_sm *sm = xcalloc(1, sizeof(*sm));

	sm->report_tid = REPORT_TID;
	return sm;
}

void sm_free(struct sim_sm *sm)
{
	vec_free(&sm->subs);
	vec_free(&sm->services);
	tables_put(sm->sls);
	free(sm);
}

void sm_forget(struct sim_sm *sm)
{
	sm->subs.n = 0;
	sm->services.n = 0;
	memset(sm->seen, 0, sizeof(sm->seen));
}

void sm_path_sls(struct sim_sm *sm, const struct tables *t)
{
	const struct tables *old = sm->sls;

	sm->sls = t ? tables_get(t) : NULL;
	tables_put(old);
}

void sim_sm_counts(struct sim *s, struct sim_sm_counts *out)
{
	pthread_mutex_lock(&s->lock);
	*out = s->sm->counts;
	out->subscriptions = (uint32_t)s->sm->subs.n;
	pthread_mutex_unlock(&s->lock);
}

bool sm_is_at(const struct sim *s, uint32_t end)
{
	return end == s->o.sm_term && !s->sm_stopped;
}

static bool sim_sa_same_subscription(const struct subscription *a, const struct subscription *b)
{
	const struct inform_info *x = &a->ii, *y = &b->ii;

	return a->term == b->term && x->gid_prefix == y->gid_prefix && x->gid_guid == y->gid_guid &&
	       x->lid_begin == y->lid_begin && x->lid_end == y->lid_end &&
	       x->generic == y->generic && x->type == y->type && x->trap == y->trap &&
	       x->qpn == y->qpn && x->resp_time == y->resp_time && x->producer == y->producer;
}

static uint16_t sim_sa_inform(struct sim *s, uint32_t from, const struct mad_request *r, uint8_t *d)
{
	struct sim_sm *sm = s->sm;
	struct subscription sub = { .term = from, .sl = r->sl };
	size_t i = 0;

	memcpy(d, r->data, SMP_DATA);
	d[23] = 0; /* subscribe, of a request that is refused */
	if (inform_info_decode(&sub.ii, r->data))
		return SA_REQ_INVALID;
	if (sub.ii.subscribe)
		sub.ii.qpn = 1; /* where it came from */
	while (i < sm->subs.n && !sim_sa_same_subscription(&sm->subs.v[i], &sub))
		i++;
	if (!sub.ii.subscribe) {
		if (i == sm->subs.n)
			return SA_REQ_INVALID;
		sm->subs.v[i] = sm->subs.v[--sm->subs.n];
		return 0;
	}
	if (sub.ii.lid_begin != INFORM_ALL_LIDS && sub.ii.lid_begin > s->f->max_lid)
		return SA_REQ_INVALID;
	if (i == sm->subs.n)
		vec_push(&sm->subs, sub);
	d[23] = 1;
	return 0;
}

static uint16_t sim_sa_inform_records(const struct sim *s, const struct mad_request *r)
{
	uint32_t n = 0;

	if (!(r->comp_mask & INFORM_BY_GID))
		return SA_INSUFFICIENT;
	for (size_t i = 0; i < s->sm->subs.n; i++)
		n += s->f->term_guid[s->sm->subs.v[i].term] == be64_get(r->data + 8);
	return !n ? SA_NO_RECORDS : n > 1 ? SA_TOO_MANY_RECORDS : 0;
}

static void sim_sa_gid(const struct sim *s, uint32_t end, uint64_t *prefix, uint64_t *guid)
{
	*prefix = GID_PREFIX;
	*guid = sim_is_switch(s, end) ? s->f->sw_guid[end - s->f->nend] : s->f->term_guid[end];
}

static uint8_t sim_sa_path_sl(const struct sim *s, uint32_t src, uint16_t dlid)
{
	const struct tables *t = s->sm->sls;
	uint32_t sw = sim_is_switch(s, src) ? src - s->f->nend : s->f->term_sw[src];

	if (!t || dlid > t->max_lid || (sim_is_switch(s, src) && t->sl_kind == SL_BY_TERM))
		return 0;
	return tables_path_sl(t, src, sw, dlid);
}

/* pr: with its LIDs, those of these ends. */
void sm_path_record(const struct sim *s, struct path_record *pr, uint32_t src, uint32_t dst)
{
	sim_sa_gid(s, src, &pr->sgid_prefix, &pr->sgid_guid);
	sim_sa_gid(s, dst, &pr->dgid_prefix, &pr->dgid_guid);
	pr->sl = sim_sa_path_sl(s, src, pr->dlid);
	pr->reversible = true;
	pr->pkey = 0xffff;
	pr->mtu_selector = pr->rate_selector = pr->life_selector = PATH_EXACTLY;
	pr->mtu = MTU_4096;
	pr->rate = RATE_100;
	pr->life = LIFE_1S;
}

static uint16_t sim_sa_path_query(const struct sim *s, const struct mad_request *r, uint8_t *d)
{
	const uint64_t want = PATH_BY_DLID | PATH_BY_SLID;
	struct path_record pr;
	uint32_t src, dst;

	path_record_decode(&pr, r->data);
	if ((r->comp_mask & want) != want)
		return SA_INSUFFICIENT;
	src = fabric_lid_end(s->f, pr.slid);
	dst = fabric_lid_end(s->f, pr.dlid);
	if (src == FAB_NONE || dst == FAB_NONE)
		return SA_NO_RECORDS;
	sm_path_record(s, &pr, src, dst);
	path_record_encode(d, &pr);
	return 0;
}

static uint8_t sim_sa_end_port(const struct sim *s, uint32_t end)
{
	return sim_is_switch(s, end) ? 0 : s->f->term_ca_port[end];
}

static uint16_t sim_sa_base_lid(const struct sim *s, uint32_t end)
{
	return sim_is_switch(s, end) ? s->f->sw_lid[end - s->f->nend] : s->f->term_lid[end];
}

/* By what a record is asked for, of what requests here use. */
static uint32_t sim_sa_node_find(const struct sim *s, const struct node_record *like, uint64_t mask,
				 uint32_t *n)
{
	uint32_t found = FAB_NONE;

	*n = 0;
	for (uint32_t end = 0; end < s->f->nend + s->f->nsw; end++) {
		struct node_info ni;

		sim_node_info(s, end, &ni);
		if (((mask & NODE_BY_LID) && fabric_lid_end(s->f, like->lid) != end) ||
		    ((mask & NODE_BY_NODE_GUID) && ni.node_guid != like->info.node_guid) ||
		    ((mask & NODE_BY_PORT_GUID) && ni.port_guid != like->info.port_guid))
			continue;
		found = end;
		++*n;
	}
	return found;
}

static uint16_t sim_sa_node(const struct sim *s, const struct mad_request *r, uint8_t *d)
{
	struct node_record x;
	uint32_t n, end;

	node_record_decode(&x, r->sa); /* what is not asked for is empty */
	end = sim_sa_node_find(s, &x, r->comp_mask, &n);
	if (n != 1)
		return n ? SA_TOO_MANY_RECORDS : SA_NO_RECORDS;
	x.lid = sim_sa_base_lid(s, end);
	sim_node_info(s, end, &x.info);
	x.info.local_port = sim_sa_end_port(s, end);
	snprintf(x.desc, sizeof(x.desc), "%s",
		 sim_is_switch(s, end) ? s->f->sw_desc[end - s->f->nend] : s->f->term_desc[end]);
	node_record_encode(d, &x);
	return 0;
}

static uint16_t sim_sa_link(const struct sim *s, const struct mad_request *r, uint8_t *d)
{
	const uint64_t want = LINK_BY_FROM_LID | LINK_BY_FROM_PORT;
	struct link_record x;
	uint32_t end, to;

	link_record_decode(&x, r->sa);
	if ((r->comp_mask & want) != want)
		return SA_INSUFFICIENT;
	end = fabric_lid_end(s->f, x.from_lid);
	if (end == FAB_NONE || !sim_step(s, end, x.from_port, &to, &x.to_port))
		return SA_NO_RECORDS;
	x.to_lid = sim_sa_base_lid(s, to);
	link_record_encode(d, &x);
	return 0;
}

static bool sim_sa_service_is(const struct service_record *a, const struct service_record *b,
			      uint64_t mask)
{
	return (!(mask & SERVICE_BY_ID) || a->id == b->id) &&
	       (!(mask & SERVICE_BY_GID) || a->gid_guid == b->gid_guid) &&
	       (!(mask & SERVICE_BY_NAME) || !memcmp(a->name, b->name, SERVICE_TEXT));
}

/* The first that is like that; n: how many are.  Those whose lease is over are gone. */
static size_t sim_sa_find_service(struct sim *s, const struct service_record *like, uint64_t mask,
				  uint32_t *n)
{
	struct sim_sm *sm = s->sm;
	size_t first = 0;

	*n = 0;
	for (size_t i = 0; i < sm->services.n; i++)
		if (sm->services.v[i].end_ns <= sim_now_ns(s))
			sm->services.v[i--] = sm->services.v[--sm->services.n];
	for (size_t i = sm->services.n; i-- > 0;)
		if (sim_sa_service_is(&sm->services.v[i].r, like, mask)) {
			first = i;
			++*n;
		}
	return first;
}

static uint16_t sim_sa_service(struct sim *s, const struct mad_request *r, uint8_t *d)
{
	const uint64_t id = SERVICE_BY_ID | SERVICE_BY_GID;
	struct sim_sm *sm = s->sm;
	struct service x = { .end_ns = UINT64_MAX };
	uint32_t n;
	size_t i;

	service_record_decode(&x.r, r->sa);
	if (r->method == MAD_SET && (r->comp_mask & id) != id)
		return SA_REQ_INVALID;
	i = sim_sa_find_service(s, &x.r, r->method == MAD_GET ? r->comp_mask : id, &n);
	if (r->method == MAD_SET) {
		if (x.r.lease_s != UINT32_MAX)
			x.end_ns = sim_now_ns(s) + x.r.lease_s * 1000000000ull;
		if (n)
			sm->services.v[i] = x;
		else
			vec_push(&sm->services, x);
	} else if (n != 1) {
		return n ? SA_TOO_MANY_RECORDS : SA_NO_RECORDS;
	} else {
		x = sm->services.v[i];
	}
	if (r->method == MAD_DELETE)
		sm->services.v[i] = sm->services.v[--sm->services.n];
	service_record_encode(d, &x.r);
	return 0;
}

bool sm_answer(struct sim *s, uint32_t end, uint32_t from, const struct mad_request *r,
	       uint16_t *status, uint8_t *d)
{
	if (!sm_is_at(s, end))
		return false;
	if (r->method == MAD_SET && r->attr == SA_INFORM_INFO)
		*status = sim_sa_inform(s, from, r, d);
	else if (r->method == MAD_GET && r->attr == SA_INFORM_RECORD)
		*status = sim_sa_inform_records(s, r);
	else if (r->method == MAD_GET && r->attr == SA_PATH_RECORD)
		*status = sim_sa_path_query(s, r, d);
	else if (r->method == MAD_GET && r->attr == SA_NODE_RECORD)
		*status = sim_sa_node(s, r, d);
	else if (r->method == MAD_GET && r->attr == SA_LINK_RECORD)
		*status = sim_sa_link(s, r, d);
	else if (r->attr == SA_SERVICE_RECORD)
		*status = sim_sa_service(s, r, d);
	else
		*status = MAD_STATUS_ATTRIBUTE;
	return true;
}

/* Has this port sent just that too often of late? */
static bool sim_sa_noisy(struct sim *s, uint32_t from, const struct mad_packet *p)
{
	const uint8_t *d = mad_data((struct mad_packet *)p);
	uint64_t key = 14695981039346656037ull ^ from, now = sim_now_ns(s);
	struct seen *x;

	for (int i = 0; i < NOTICE_SMP_DATA; i++)
		key = (key ^ d[i]) * 1099511628211ull;
	x = &s->sm->seen[(key ^ key >> 32) % SEEN];
	if (x->key != key || now - x->last_ns > SAME_AGE_NS)
		x->times = 0;
	x->key = key;
	x->last_ns = now;
	return x->times++ >= SAME_MAX;
}

static void sim_sa_count_sweep(struct sim *s, uint32_t from, const struct notice *n)
{
	const uint8_t *d = n->details;

	if (n->trap == NOTICE_LOCAL_CHANGES && d[LOCAL_CHANGES] == 1 &&
	    be16_get(d + LOCAL_FLAGS) == 1 && be32_get(d + LOCAL_CAPS) == sim_cap_mask(s, from))
		return; /* only asks for the node's name */
	if (n->trap == NOTICE_LOCAL_CHANGES || n->trap == NOTICE_LINK_STATE)
		s->sm->counts.heavy_sweeps++;
	else
		s->sm->counts.light_sweeps++;
}

static bool sim_sa_wanted(const struct inform_info *ii, const struct notice *n)
{
	if (ii->gid_guid && ii->gid_guid != n->issuer_guid)
		return false;
	if (!ii->gid_guid && ii->lid_begin != INFORM_ALL_LIDS &&
	    (n->issuer_lid < ii->lid_begin || n->issuer_lid > ii->lid_end))
		return false;
	return ii->generic && (ii->trap == 0xffff || ii->trap == n->trap) &&
	       (ii->type == INFORM_ALL_TYPES || ii->type == n->type) &&
	       (ii->producer == INFORM_ALL_PRODUCERS || ii->producer == n->producer);
}

static void sim_sa_report(struct sim *s, const struct subscription *sub, const struct notice *n)
{
	uint16_t lid = s->f->term_lid[sub->term];
	struct mad_packet p;
	uint8_t in;

	s->sm->counts.reports++;
	if (sim_walk_lid(s, s->o.sm_term, lid, sub->sl, false, &in) != sub->term)
		return;
	report_build(&p, lid, sub->sl, sub->ii.qpn, n, s->sm->report_tid++);
	p.addr.lid = s->f->term_lid[s->o.sm_term];
	sim_deliver(s, sub->term, &p);
}

static void sim_sa_take_trap(struct sim *s, uint32_t from, const struct mad_packet *p)
{
	struct sim_sm *sm = s->sm;
	struct notice n;

	if (trap_read(&n, p))
		return;
	sm->counts.traps++;
	if (sim_sa_noisy(s, from, p)) {
		sm->counts.suppressed++;
		return;
	}
	sim_sa_count_sweep(s, from, &n);
	sim_sa_gid(s, from, &n.issuer_prefix, &n.issuer_guid); /* whatever LID it tells */
	for (size_t i = 0; i < sm->subs.n; i++)
		if (sim_sa_wanted(&sm->subs.v[i].ii, &n))
			sim_sa_report(s, &sm->subs.v[i], &n);
}

/* Nothing but its source tells it from one of the SM. */
static void sim_sa_pass_report(struct sim *s, uint32_t from, const struct mad_packet *p)
{
	struct mad_packet there = *p;
	uint8_t in;
	uint32_t at = sim_walk_lid(s, from, p->addr.lid, p->addr.sl, false, &in);

	if (at == FAB_NONE || sim_is_switch(s, at))
		return;
	there.addr.lid = s->f->term_lid[from];
	there.whole = NULL;
	sim_deliver(s, at, &there);
}

void sm_take(struct sim *s, uint32_t from, const struct mad_packet *p)
{
	struct mad_head h;
	uint8_t in;

	mad_head(&h, p);
	if (h.mgmt_class == MAD_SA && h.method == MAD_REPORT) {
		sim_sa_pass_report(s, from, p);
		return;
	}
	if ((h.mgmt_class != MAD_SMP || h.method != MAD_TRAP) &&
	    (h.mgmt_class != MAD_SA || h.method != MAD_REPORT_RESP))
		return;
	if (!sm_is_at(s,
		      sim_walk_lid(s, from, p->addr.lid, p->addr.sl, h.mgmt_class == MAD_SMP, &in)))
		return;
	if (h.method == MAD_TRAP)
		sim_sa_take_trap(s, from, p);
	else
		s->sm->counts.answered++;
}
