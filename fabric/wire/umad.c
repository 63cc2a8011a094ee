/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seam's backend over libibumad: a real HCA, or ibsim through its preload library (whose
 * descriptors are not real ones and which knows no timeouts: the queue has its own).
 */
#include "fabric/ib/mad.h"

#include <errno.h>

#if !WITH_UMAD

int umad_port_open(struct mad_port *out, const char *ca, uint32_t port, struct err *err)
{
	(void)out;
	(void)ca;
	(void)port;
	return err_set(
		err, -ENOTSUP,
		"this program was built without libibumad (WITH_UMAD=0): it has no access to "
		"a live fabric, only to dumps and the demo");
}

int umad_port_listen(struct mad_port *out, const char *ca, uint32_t port, struct err *err)
{
	return umad_port_open(out, ca, port, err);
}

#else

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/base/time/clock.h"
#include "fabric/ib/codec.h"

#include <fcntl.h>
#include <infiniband/umad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MS	       1000000ull
#define NODE_TYPE_CA   1
#define STATE_DOWN     1
#define STATE_ACTIVE   4
/* The end of a simulated port: of no other question, and how long to wait for its answer. */
#define LAST_TID       0xfffffffeu
#define LAST_ANSWER_MS 1000

struct hca {
	int fd;
	int agent_smp, agent_directed, agent_perf, agent_sa;
	bool simulated; /* the port is one of ibsim's */
	int issm_fd;	/* it poses as a subnet manager, see umad_port_pose_as_sm() */
	uint64_t posed_ns, asked_ns;
	uint64_t pause_ns; /* see umad_port_hca_pace() */
	struct mad_local local;
	void *out, *in;
	int room; /* for a message, behind in's header */
};

static int umad_port_hca_send(void *ctx, const struct mad_packet *p, struct err *err)
{
	struct hca *h = ctx;
	uint8_t mgmt_class = p->data[1];
	int agent = mgmt_class == MAD_PERF	     ? h->agent_perf
		    : mgmt_class == MAD_SA	     ? h->agent_sa
		    : mgmt_class == MAD_SMP_DIRECTED ? h->agent_directed
						     : h->agent_smp;

	memset(h->out, 0, umad_size());
	memcpy(umad_get_mad(h->out), p->data, MAD_BYTES);
	umad_set_addr(h->out, p->addr.lid, (int)p->addr.qpn, p->addr.sl, (int)p->addr.qkey);
	if (!umad_send(h->fd, agent, h->out, MAD_BYTES, (int)p->timeout_ms, 0))
		return 0;
	if (errno == EAGAIN || errno == ENOMEM || errno == EINTR)
		return -EAGAIN;
	return err_set(err, errno ? -errno : -EIO, "sending through %s port %u failed: %s",
		       h->local.ca, h->local.port, strerror(errno));
}

static bool umad_port_asks_sm(const struct mad_packet *p)
{
	struct mad_head m;

	mad_head(&m, p);
	return (m.mgmt_class == MAD_SMP || m.mgmt_class == MAD_SMP_DIRECTED) &&
	       m.method == MAD_GET && m.attr == SMP_SM_INFO;
}

static void umad_port_answer_as_sm(struct hca *h, struct mad_packet *p)
{
	struct sm_info si = { .guid = h->local.port_guid, .state = SM_NOTACTIVE };
	uint8_t data[SMP_DATA];

	h->asked_ns = clock_ns();
	sm_info_encode(data, &si);
	mad_reply(p, 0, data, sizeof(data));
	p->timeout_ms = 0;
	umad_port_hca_send(h, p, NULL);
}

static bool umad_port_nothing_came(int rc)
{
	return rc == -ETIMEDOUT || rc == -EWOULDBLOCK || rc == -EINTR || rc == -ENOSPC;
}

/* The kernel keeps a message until it is read as a whole, before any that came after it. */
static int umad_port_drop_message(struct hca *h, int len)
{
	size_t size = sizeof(ib_user_mad_t) + (size_t)len;
	void *room = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room == MAP_FAILED)
		return -EMSGSIZE;
	umad_recv(h->fd, room, &len, 0);
	munmap(room, size);
	log_add(LOG_WARN, "port",
		"%s port %u: an answer of %d MB was dropped: at most %u MB are read", h->local.ca,
		h->local.port, (len + (1 << 20) - 1) >> 20, MAD_WHOLE_MOST >> 20);
	return -EWOULDBLOCK;
}

/* A message that is longer than there is room for stays where it is: the kernel says how long. */
static int umad_port_take_message(struct hca *h, int *len, int wait_ms)
{
	int rc;

	*len = h->room;
	rc = umad_recv(h->fd, h->in, len, wait_ms);
	if (rc != -ENOSPC || *len <= h->room)
		return rc;
	if (*len > (int)MAD_WHOLE_MOST)
		return umad_port_drop_message(h, *len);
	h->room = *len;
	h->in = xrealloc(h->in, 1, sizeof(ib_user_mad_t) + (size_t)h->room);
	return umad_recv(h->fd, h->in, len, 0);
}

/* The library waits by poll() and then reads: two system calls and a wake-up for each packet. With
 * a pace, queued packets are read without waiting; it sleeps once only when there are none. */
static int umad_port_take_packet(struct hca *h, int *len, uint64_t wait_ns)
{
	struct timespec ts = { 0, (long)h->pause_ns };
	int rc;

	if (h->pause_ns && wait_ns) {
		rc = umad_port_take_message(h, len, 0);
		if (!umad_port_nothing_came(rc))
			return rc;
		if (wait_ns > h->pause_ns) {
			nanosleep(&ts, NULL);
			wait_ns -= h->pause_ns;
		}
		rc = umad_port_take_message(h, len, 0);
		if (!umad_port_nothing_came(rc))
			return rc;
	}
	return umad_port_take_message(h, len, (int)((wait_ns + MS - 1) / MS));
}

static void umad_port_unpack(struct mad_packet *p, const struct hca *h, int len)
{
	const uint8_t *mad = umad_get_mad(h->in);
	const ib_mad_addr_t *from = umad_get_mad_addr(h->in);
	size_t n = len < 0 ? 0 : (size_t)len;

	memset(p, 0, sizeof(*p));
	p->addr.lid = be16toh(from->lid);
	p->addr.qpn = be32toh(from->qpn);
	p->addr.sl = from->sl;
	p->status = umad_status(h->in) ? -ETIMEDOUT : 0;
	memcpy(p->data, mad, n < MAD_BYTES ? n : MAD_BYTES);
	p->whole = mad;
	p->whole_len = n;
}

static int umad_port_hca_recv(void *ctx, struct mad_packet *p, uint64_t wait_ns, struct err *err)
{
	struct hca *h = ctx;
	int len, rc;

	rc = umad_port_take_packet(h, &len, wait_ns);
	if (umad_port_nothing_came(rc))
		return 0;
	if (rc < 0)
		return err_set(err, rc, "receiving from %s port %u failed: %s", h->local.ca,
			       h->local.port, strerror(-rc));
	umad_port_unpack(p, h, len);
	if (h->issm_fd < 0 || p->status || !umad_port_asks_sm(p))
		return 1;
	umad_port_answer_as_sm(h, p);
	return 0;
}

static uint64_t umad_port_hca_now_ns(void *ctx)
{
	(void)ctx;
	return clock_ns();
}

static void umad_port_hca_pace(void *ctx, uint64_t pause_ns)
{
	((struct hca *)ctx)->pause_ns = pause_ns < 1000 * MS ? pause_ns : 1000 * MS - 1;
}

static void umad_port_hca_local(void *ctx, struct mad_local *out)
{
	*out = ((struct hca *)ctx)->local;
}

/* Where nothing times out, a subnet manager waits for ever for a port that posed as one and went
 * before it was asked. */
static void umad_port_stop_posing(struct hca *h)
{
	uint64_t end = clock_ns() + 1000 * MS, now;
	struct mad_packet p;

	while ((now = clock_ns()) < end &&
	       (h->asked_ns ? now - h->asked_ns < 100 * MS : now - h->posed_ns < 500 * MS))
		if (umad_port_hca_recv(h, &p, 20 * MS, NULL) < 0)
			break;
	close(h->issm_fd);
}

/* ibsim's library falls over a datagram that comes for a port that is closed.  The simulator
 * answers in turn: after the answer to a last question to ourselves there is none to come.  False:
 * it does not answer, and will answer all when it does again. */
static bool umad_port_answered_all(struct hca *h)
{
	struct mad_request ask = { .mgmt_class = MAD_SMP_DIRECTED,
				   .method = MAD_GET,
				   .attr = SMP_NODE_INFO };
	uint64_t end = clock_ns() + LAST_ANSWER_MS * MS;
	struct mad_packet p;

	mad_build(&p, &ask, LAST_TID);
	p.timeout_ms = 0;
	if (umad_port_hca_send(h, &p, NULL))
		return true; /* nobody is there */
	while (clock_ns() < end) {
		int rc = umad_port_hca_recv(h, &p, 20 * MS, NULL);

		if (rc < 0)
			return true;
		if (rc > 0 && mad_tid(&p) == LAST_TID)
			return true;
	}
	return false;
}

static void umad_port_hca_close(void *ctx)
{
	struct hca *h = ctx;

	if (h->issm_fd >= 0)
		umad_port_stop_posing(h);
	/* the agents go with it */
	if (h->fd >= 0 && (!h->simulated || h->agent_sa < 0 || umad_port_answered_all(h)))
		umad_close_port(h->fd);
	umad_done();
	free(h->out);
	free(h->in);
	free(h);
}

static bool umad_port_is_simulated(const char *link_layer)
{
	return !strcmp(link_layer, "IB");
}

/* The kernel says "InfiniBand" or "Ethernet", old ones nothing, ibsim's library "IB". */
static bool umad_port_is_infiniband(const char *link_layer)
{
	return !*link_layer || !strcmp(link_layer, "InfiniBand") ||
	       umad_port_is_simulated(link_layer);
}

/* The port that was asked for, or the best one: active before only up. */
static int umad_port_choose(struct hca *h, const char *ca, uint32_t port, struct err *err)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, UMAD_MAX_DEVICES);
	unsigned best = STATE_DOWN;
	bool seen = false;

	for (int i = 0; i < n; i++) {
		umad_ca_t c;

		if ((ca && strcmp(ca, names[i])) || umad_get_ca(names[i], &c) < 0)
			continue;
		for (int k = 0; k < UMAD_CA_MAX_PORTS; k++) {
			const umad_port_t *p = c.ports[k];

			if (!p || (port && (int)port != p->portnum) ||
			    !umad_port_is_infiniband(p->link_layer))
				continue;
			seen = true;
			if (p->state <= best)
				continue;
			best = p->state;
			h->simulated = umad_port_is_simulated(p->link_layer);
			snprintf(h->local.ca, sizeof(h->local.ca), "%.19s", names[i]);
			h->local.port = (uint32_t)p->portnum;
			h->local.port_guid = be64toh(p->port_guid);
			h->local.lid = (uint16_t)p->base_lid;
			h->local.sm_lid = (uint16_t)p->sm_lid;
			h->local.sm_sl = (uint8_t)p->sm_sl;
		}
		umad_release_ca(&c);
		if (best == STATE_ACTIVE)
			break;
	}
	if (best > STATE_DOWN)
		return 0;
	if (n <= 0)
		return err_set(err, -ENODEV,
			       "this machine has no InfiniBand adapter (or its driver and the "
			       "ib_umad module are not loaded)");
	if (!seen && ca && port)
		return err_set(err, -ENODEV, "%s has no InfiniBand port %u here (see ibstat)", ca,
			       port);
	if (!seen && ca)
		return err_set(err, -ENODEV,
			       "%s is not an InfiniBand adapter of this machine (see ibstat)", ca);
	if (!seen && port)
		return err_set(err, -ENODEV,
			       "no adapter of this machine has an InfiniBand port %u (see ibstat)",
			       port);
	if (!seen)
		return err_set(err, -ENODEV,
			       "no adapter of this machine has an InfiniBand port (see ibstat)");
	return err_set(err, -ENETDOWN,
		       "every matching InfiniBand port is down: check the cable, or select "
		       "another one (see ibstat)");
}

#define METHOD_LONGS (16 / sizeof(long))

static void umad_port_method_add(long mask[METHOD_LONGS], uint8_t method)
{
	mask[method / (8 * sizeof(long))] |= 1l << method % (8 * sizeof(long));
}

static int umad_port_register_agents(struct hca *h, bool listen, struct err *err)
{
	long reports[METHOD_LONGS] = { 0 }, asks[METHOD_LONGS] = { 0 };
	bool sm = listen && h->simulated;

	umad_port_method_add(reports, MAD_REPORT);
	umad_port_method_add(asks, MAD_GET);
	h->agent_smp = umad_register(h->fd, MAD_SMP, 1, 0, sm ? asks : NULL);
	h->agent_directed = umad_register(h->fd, MAD_SMP_DIRECTED, 1, 0, sm ? asks : NULL);
	h->agent_perf = umad_register(h->fd, MAD_PERF, 1, 0, NULL);
	if (h->agent_smp < 0 || h->agent_directed < 0 || h->agent_perf < 0)
		return err_set(err, -EIO,
			       "%s port %u accepts no more management clients (umad_register "
			       "failed)",
			       h->local.ca, h->local.port);
	h->agent_sa = umad_register(h->fd, MAD_SA, 2, MAD_RMPP_VERSION, listen ? reports : NULL);
	if (h->agent_sa >= 0)
		return 0;
	return err_set(err, -EBUSY,
		       "%s port %u already gives its reports to another program: only one on a "
		       "port can listen to notices",
		       h->local.ca, h->local.port);
}

/* ibsim has unsolicited datagrams for subnet managers only, and knows them by this; to be done
 * after the agents were registered. */
static int umad_port_pose_as_sm(struct hca *h, struct err *err)
{
	char path[256];

	if (!umad_get_issm_path(h->local.ca, (int)h->local.port, path, sizeof(path)))
		h->issm_fd = open(path, O_NONBLOCK);
	h->posed_ns = clock_ns();
	if (h->issm_fd >= 0)
		return 0;
	return err_set(err, -EIO, "the simulated port %s %u cannot receive reports: %s",
		       h->local.ca, h->local.port, strerror(errno));
}

static int umad_port_start(struct mad_port *out, const char *ca, uint32_t port, bool listen,
			   struct err *err)
{
	static const struct mad_ops ops = { umad_port_hca_send,	  umad_port_hca_recv,
					    umad_port_hca_now_ns, umad_port_hca_local,
					    umad_port_hca_close,  umad_port_hca_pace };
	struct hca *h;
	int rc;

	if (umad_init() < 0)
		return err_set(err, -ENODEV,
			       "there is no InfiniBand management interface: load the ib_umad "
			       "module (modprobe ib_umad)");
	h = xcalloc(1, sizeof(*h));
	h->fd = h->issm_fd = h->agent_sa = -1;
	/* umad_size() is the smaller one of the old interface until a port is open */
	h->out = xcalloc(1, sizeof(ib_user_mad_t) + MAD_BYTES);
	h->room = MAD_BYTES;
	h->in = xcalloc(1, sizeof(ib_user_mad_t) + MAD_BYTES);
	rc = umad_port_choose(h, ca, port, err);
	if (rc)
		goto out;
	h->fd = umad_open_port(h->local.ca, (int)h->local.port);
	if (h->fd == -EACCES || h->fd == -EPERM || (h->fd < 0 && errno == EACCES)) {
		rc = err_set(
			err, -EACCES,
			"no permission to send management datagrams on %s port %u: run as "
			"root, or give this user read and write access to /dev/infiniband/umad*",
			h->local.ca, h->local.port);
		goto out;
	}
	if (h->fd < 0) {
		rc = err_set(err, -EIO, "%s port %u cannot be opened: %s", h->local.ca,
			     h->local.port, strerror(errno));
		goto out;
	}
	rc = umad_port_register_agents(h, listen, err);
	if (!rc && listen && h->simulated)
		rc = umad_port_pose_as_sm(h, err);
out:
	if (rc)
		umad_port_hca_close(h);
	else
		*out = (struct mad_port){ &ops, h };
	return rc;
}

int umad_port_open(struct mad_port *out, const char *ca, uint32_t port, struct err *err)
{
	return umad_port_start(out, ca, port, false, err);
}

int umad_port_listen(struct mad_port *out, const char *ca, uint32_t port, struct err *err)
{
	return umad_port_start(out, ca, port, true, err);
}

#endif
