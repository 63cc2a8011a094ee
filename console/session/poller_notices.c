/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link states change by notice: as reports of the SM where the wire takes these, and as OpenSM's
 * plugin counts them.  Then the fabric is discovered at once, and not when it is due by the clock;
 * only around the switches that reported, when these are known and few.
 */
#include "console/session/poller_priv.h"

#include "fabric/base/message/plural.h"
#include "fabric/wire/notice_port.h"

#include <stdio.h>

#define QUIET_S	 0.3  /* a burst is over */
#define BURST_S	 1.5  /* or has to be, to be looked at */
#define LISTEN_S 60.0 /* subscriptions do not outlive a restart of the SM */
#define SETTLE_S 0.5
#define LINKS_S	 0.3 /* between two questions to the plugin: a local socket */
#define AWAY_S	 5.0 /* before it is asked again when it does not answer */

/* Whom it comes from; 0: nobody knows. */
static void poller_note_switch(struct poller *p, uint16_t lid)
{
	uint32_t end = p->fabric && lid ? fabric_lid_end(p->fabric, lid) : FAB_NONE;
	uint64_t guid;

	if (end == FAB_NONE || end < p->fabric->nend) {
		p->heard_all = true;
		return;
	}
	guid = p->fabric->sw_guid[end - p->fabric->nend];
	for (uint32_t i = 0; i < p->nheard_sw; i++)
		if (p->heard_sw[i] == guid)
			return;
	if (p->nheard_sw == HEARD_MAX)
		p->heard_all = true;
	else
		p->heard_sw[p->nheard_sw++] = guid;
}

bool poller_heard_of_some(const struct poller *p)
{
	return p->nheard_sw && !p->heard_all && 4 * p->nheard_sw <= p->fabric->nsw;
}

void poller_forget_heard(struct poller *p)
{
	p->nheard_sw = 0;
	p->heard_all = false;
	p->part_at = INFINITY;
}

static void poller_note_link(struct poller *p, uint16_t lid)
{
	double now = clock_s();

	if (!p->burst_since)
		p->burst_since = now;
	p->heard_at = now;
	p->heard++;
	poller_note_switch(p, lid);
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

/* Of those that were not heard of by the wire: a report may take the very cable that is lost. */
static void poller_count_reports(struct poller *p, const struct osm_status *s)
{
	uint64_t more = s->link_events - p->link_events;
	uint64_t since = p->link_events + (p->reports < more ? p->reports : more);
	uint16_t lid[LINK_REPORTS];
	int n = link_reports_get(lid, s->link_lids, s->link_events, since);

	if (since == s->link_events)
		return;
	for (int i = 0; i < n; i++)
		poller_note_link(p, lid[i]);
	if (n < 0)
		poller_note_link(p, 0);
}

void poller_count_links(struct poller *p, const struct osm_status *s)
{
	if (p->links_known && s->link_events < p->link_events)
		poller_note_link(p, 0); /* it was started again */
	else if (p->links_known)
		poller_count_reports(p, s);
	p->link_events = s->link_events;
	p->reports = 0;
	if (!s->busy) { /* else it is about to write */
		if (p->links_known && s->routings + s->refused != p->routed)
			p->tables_at = 0; /* after the sweep, where one is to come */
		p->routed = s->routings + s->refused;
	}
	p->links_known = true;
	p->links_at = clock_s() + LINKS_S;
}

void poller_ask_links(struct poller *p)
{
	struct osm_status s;

	if (!p->links_known || clock_s() < p->links_at)
		return;
	if (osm_link_fd(p->osm) < 0 || osm_link_status(p->osm, &s, NULL))
		p->links_at = clock_s() + AWAY_S;
	else
		poller_count_links(p, &s);
}

static void poller_tell_link(const struct poller *p)
{
	uint32_t n = p->nheard_sw, sw = FAB_NONE;
	char of[120] = "", what[40] = "";

	if (n)
		sw = fabric_switch_by_guid(p->fabric, p->heard_sw[n - 1]);
	if (sw != FAB_NONE)
		snprintf(of, sizeof(of), " of %s%s", p->fabric->sw_name[sw],
			 n > 1 || p->heard_all ? " and others" : "");
	if (poller_heard_of_some(p))
		snprintf(what, sizeof(what), " %u switch%s again", n, plural_es(n));
	log_add(LOG_INFO, "sweep", "%u notice%s of link changes%s: discovering%s", p->heard,
		plural(p->heard), of, what);
}

void poller_hear(struct poller *p)
{
	struct notice_port *np = wire_notices(p->wire);
	struct notice_in in;
	double now;

	while (np && notice_recv(np, &in, 0, NULL) == 1) {
		if (in.notice.trap != NOTICE_LINK_STATE)
			continue;
		p->reports++;
		poller_note_link(p, in.notice.issuer_lid);
	}
	now = clock_s();
	if (!p->heard || (now < p->heard_at + QUIET_S && now < p->burst_since + BURST_S))
		return;
	poller_tell_link(p);
	p->heard = 0;
	p->burst_since = 0;
	p->sm_at = fmin(p->sm_at, now + SETTLE_S); /* it routes by then, perhaps otherwise */
	if (poller_heard_of_some(p))
		p->part_at = 0;
	else
		p->sweep_at = 0;
}

double poller_hears_again(const struct poller *p, double due)
{
	double soon = clock_s() + QUIET_S / 2;

	return p->heard || wire_notices(p->wire) ? fmin(due, soon) : due;
}
