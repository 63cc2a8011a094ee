/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notice_port: notices to and from the SM over an open port.
 *
 * It sits on a mad_port and is one itself: whoever uses that (a wire) sees everything but
 * reports.  Those are answered as soon as they come in and kept until they are asked for, so none
 * is missed while the same thread reads or writes switches.  A report may come twice, late, or
 * in another order than it was sent; nothing here repeats a notice.
 *
 * Reports are believed from where they can come: QP1 of the LID that the local port has as its
 * SM's.  Any node can send one to any other; such are answered, counted and dropped.
 *
 * A node's port can have one listener at a time: the first program that asks for reports.
 * On ibsim, which gives reports to subnet managers only, the port says that it is one, not active.
 */
#pragma once

#include "fabric/base/message/progress.h"
#include "fabric/ib/mad.h"
#include "fabric/update/protocol/phase_codec.h"

struct mkeys;
struct site_keys;
struct notice_port;
struct sm_info;

struct notice_opts {
	const char *ca;		    /* umad: as in umad_port_open() */
	uint32_t port;		    /* umad */
	uint32_t timeout_ms;	    /* of the first try of a request to the SM; 0: 200 */
	uint32_t retries;	    /* 0: 3; UINT32_MAX: none */
	uint64_t m_key;		    /* to read the local port */
	const struct mkeys *m_keys; /* where that has another; only used while it is opened */
	uint32_t term;		    /* sim: terminal that it is on */
	bool deaf; /* umad: leaves the reports to others; notice_recv() gets none */
};

/* opts may be NULL.  As umad_port_open(); -EBUSY: another program here listens already. */
int notice_port_open_umad(struct notice_port **out, const struct notice_opts *opts,
			  struct err *err);
/* Over a port that is open, and np's from now on. */
struct notice_port *notice_port_new(const struct mad_port *inner, const struct notice_opts *opts);
/* Closes the port under it as well, and so does the close of notice_port_mad().  Does not
 * unsubscribe.  NULL is fine. */
void notice_port_close(struct notice_port *np);

/* What else goes over the port, see above; lives as long as np. */
const struct mad_port *notice_port_mad(struct notice_port *np);

/* The local port as its PortInfo has it now. */
struct notice_local {
	uint16_t lid, sm_lid;
	uint8_t lmc, sm_sl;
	uint32_t cap_mask;
	uint64_t gid_prefix, port_guid;
};

/* Of all requests to the SM from now on, which then end with -ECANCELED within 50 ms of
 * its cancel; NULL: none. */
void notice_port_progress(struct notice_port *np, struct progress *progress);

/* Asks the local port.  Everything below uses its last answer; call it again when the SM may
 * have changed.  -ENOENT: no SM has configured the port. */
int notice_port_refresh(struct notice_port *np, struct notice_local *out, struct err *err);
/* Asks the SM of the local port for its SMInfo (codec.h).  -ETIMEDOUT: no answer. */
int notice_port_sm(struct notice_port *np, struct sm_info *out, struct err *err);

/* All notices of that number, of the whole fabric.  Again is fine, and needed after the SM was
 * restarted or another took over.  -ETIMEDOUT: no answer; -EPROTO: refused, with the reason. */
int notice_subscribe(struct notice_port *np, uint16_t trap, struct err *err);
/* How many subscriptions of this port the SM knows: 0, 1, 2 for more.  -ENOTSUP: it does not say;
 * -ETIMEDOUT. */
int notice_subscriptions(struct notice_port *np, struct err *err);
/* -EPROTO also when there is no such subscription (any more). */
int notice_unsubscribe(struct notice_port *np, uint16_t trap, struct err *err);

/* With these keys notices of the five phases are signed, and believed only when they are.  They
 * stay the caller's, outlive np or the next call, and are read again when their file has changed.
 * NULL: none, everybody is believed. */
void notice_port_keys(struct notice_port *np, struct site_keys *keys);

/* Sends a trap, once, without a receipt.  The issuer is filled in.  -EAGAIN: not sent, the port is
 * full; -ENOENT as refresh. */
int notice_send(struct notice_port *np, const struct notice *n, struct err *err);
int notice_send_phase(struct notice_port *np, const struct phase_notice *a, bool answer,
		      struct err *err);

struct notice_in {
	struct notice notice; /* issuer_lid and issuer_guid say whose it is */
	uint16_t sm_lid;      /* who reported it */
	uint64_t at_ns;	      /* by the port's clock */
};

/* The next report of the SM: 1, 0 when none came within wait_ns, or -errno of the port. */
int notice_recv(struct notice_port *np, struct notice_in *out, uint64_t wait_ns, struct err *err);

/* One of the five phases. */
struct notice_phase {
	struct notice_in in;
	struct phase_notice said;
	bool answer;
	int rc; /* 0, or -EPROTO: of another version, and said is not filled in */
};

/* The next notice of the five phases that is believed; as notice_recv(). */
int notice_recv_phase(struct notice_port *np, struct notice_phase *out, uint64_t wait_ns,
		      struct err *err);

struct notice_stats {
	uint64_t reports, dropped; /* dropped: more than 65,536 were waiting */
	uint64_t traps;
	uint64_t strangers;    /* reports that were not the SM's */
	uint64_t unsealed;     /* of the five phases, without a seal though there are keys */
	uint64_t forged;       /* with one of no key that is known, or of something else */
	uint16_t stranger_lid, unsealed_lid, forged_lid; /* who sent the last one */
};

const struct notice_stats *notice_stats(const struct notice_port *np);
uint64_t notice_port_now_ns(struct notice_port *np);
