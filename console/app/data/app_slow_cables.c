/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cables have become slower than they should be, when a fabric has been discovered. */
#include "console/app/app_priv.h"

#include "fabric/base/message/log.h"
#include "views/data/summary/slow_cables.h"

#define TELL 8 /* one by one */

static uint32_t app_slow_cables_port(const struct fabric *f, uint32_t c)
{
	return f->port_off[f->chan_src[c]] + f->chan_port[c];
}

/* Was it told of this port already? */
static bool app_slow_cables_known(const struct fabric_shape *was, const struct fabric *f,
				  uint32_t sw, uint32_t p, uint32_t Mbps)
{
	uint32_t old = was ? fabric_switch_by_guid(was->fabric, f->sw_guid[sw]) : FAB_NONE, at;

	if (old == FAB_NONE || p > was->fabric->sw_nports[old])
		return false;
	at = was->fabric->port_off[old] + p;
	return slow_cables_is_slow(&was->fabric->port[at], was->reference.expect[at]) &&
	       was->fabric->port[at].rate_Mbps <= Mbps;
}

static void app_slow_cables_tell(const struct fabric_shape *now, uint32_t sw, uint32_t p)
{
	const struct fabric *f = now->fabric;
	uint32_t port = f->port_off[sw] + p;
	char label[256];

	log_add(LOG_WARN, "links", "%s: %g of %g Gb/s (%ux%.6s), slower than it should be",
		port_label(label, sizeof(label), f, sw, (uint8_t)p), f->port[port].rate_Mbps / 1e3,
		now->reference.expect[port] / 1e3, f->port[port].width, f->port[port].speed);
}

void app_slow_cables_events(const struct fabric_shape *was, const struct fabric_shape *now)
{
	const struct fabric *f = now->fabric;
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t p = 1; p <= f->sw_nports[sw]; p++) {
			const struct port *x = fabric_port(f, sw, (uint8_t)p);
			uint32_t port = f->port_off[sw] + p;

			/* a cable between switches is told once */
			if (!slow_cables_is_slow(x, now->reference.expect[port]) ||
			    (x->chan != FAB_NONE &&
			     app_slow_cables_port(f, f->chan_rev[x->chan]) < port) ||
			    app_slow_cables_known(was, f, sw, p, x->rate_Mbps))
				continue;
			if (n++ < TELL)
				app_slow_cables_tell(now, sw, p);
		}
	if (n > TELL)
		log_add(LOG_WARN, "links", "%u more cables are slower than they should be",
			n - TELL);
}
