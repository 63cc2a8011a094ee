/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link states change by notice: as reports of the SM where the wire takes these, else as OpenSM's
 * plugin counts them.  Then the fabric is discovered at once, and not when it is due by the clock.
 */
#include "console/session/poller_priv.h"

#include "fabric/wire/notice_port.h"

#include <stdio.h>

#define QUIET_S	 0.3  /* a burst is over */
#define BURST_S	 1.5  /* or has to be, to be looked at */
#define LISTEN_S 60.0 /* subscriptions do not outlive a restart of the SM */

static void poller_note_link(struct poller *p)
{
	double now = clock_s();

	if (!p->burst_since)
		p->burst_since = now;
	p->heard_at = now;
	p->heard++;
}

void poller_listen(struct poller *p, uint64_t sm_guid)
{
	struct notice_port *np = wire_notices(p->wire);
	struct err err;
	int rc;

	if (!np || (sm_guid == p->listens_to && clock_s() < p->listen_at))
		return;
	p->listen_at = clock_s() + LISTEN_S;
	rc = notice_port_refresh(np, NULL, &err);
	if (!rc)
		rc = notice_subscribe(np, NOTICE_LINK_STATE, &err);
	if (rc && p->listens_to != sm_guid)
		log_add(LOG_WARN, "sweep",
			"link changes are only seen when they are looked for: %s", err.text);
	p->listens_to = sm_guid;
}

void poller_count_links(struct poller *p, uint64_t events)
{
	if (p->links_known && events != p->link_events && !wire_notices(p->wire))
		poller_note_link(p);
	p->link_events = events;
	p->links_known = true;
}

/* Which switch that was, of the last one. */
static void poller_tell_link(const struct poller *p)
{
	uint32_t sw = FAB_NONE;
	uint8_t last;

	if (p->fabric && p->heard_lid && p->heard_lid <= p->fabric->max_lid)
		sw = fabric_lid_switch(p->fabric, p->heard_lid, &last);
	log_add(LOG_INFO, "sweep", "%u notice%s of link changes%s%s: discovering", p->heard,
		p->heard == 1 ? "" : "s", sw == FAB_NONE ? "" : ", the last of ",
		sw == FAB_NONE ? "" : p->fabric->sw_name[sw]);
}

void poller_hear(struct poller *p)
{
	struct notice_port *np = wire_notices(p->wire);
	struct notice_in in;
	double now;

	while (np && notice_recv(np, &in, 0, NULL) == 1) {
		if (in.notice.trap != NOTICE_LINK_STATE)
			continue;
		p->heard_lid = in.notice.issuer_lid;
		poller_note_link(p);
	}
	now = clock_s();
	if (!p->heard || (now < p->heard_at + QUIET_S && now < p->burst_since + BURST_S))
		return;
	poller_tell_link(p);
	p->heard = 0;
	p->burst_since = 0;
	p->sweep_at = 0;
}

double poller_hears_again(const struct poller *p, double due)
{
	double soon = clock_s() + QUIET_S / 2;

	return p->heard || wire_notices(p->wire) ? fmin(due, soon) : due;
}
