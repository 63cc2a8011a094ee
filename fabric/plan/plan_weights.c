/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/plural.h"
#include "fabric/plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct starved {
	uint32_t sw, ports; /* the first switch; how many ports */
	uint8_t port;
	uint16_t vls; /* of the first port */
};

/* Packets of the switch itself are management and left out, as in a verdict. */
static uint16_t plan_weights_used(const struct plan *p, uint32_t sw, uint8_t out, uint16_t sls)
{
	const struct fabric *f = p->fabric;
	uint16_t used = 0;

	for (uint32_t in = 1; in <= f->sw_nports[sw]; in++) {
		const struct port *port = fabric_port(f, sw, (uint8_t)in);

		if (in == out || (port->chan == FAB_NONE && port->term == FAB_NONE))
			continue;
		for (uint8_t sl = 0; sl < FAB_SLS; sl++)
			if (sls >> sl & 1)
				used |= (uint16_t)(1u << tables_vl(p->to, f, sw, (uint8_t)in, out,
								   sl));
	}
	return used & (uint16_t)((1u << (p->vls_needed < VL_DROP ? p->vls_needed : VL_DROP)) - 1);
}

static void plan_weights_find(struct starved *out, const struct plan *p, const uint16_t *weighted)
{
	const struct fabric *f = p->fabric;
	uint16_t sls = tables_sl_mask(p->to, f), vls;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t port = 1; port <= f->sw_nports[sw]; port++) {
			uint16_t has = weighted[f->port_off[sw] + port];

			vls = has ? plan_weights_used(p, sw, (uint8_t)port, sls) & (uint16_t)~has
				  : 0;
			if (vls && !out->ports++) {
				out->sw = sw;
				out->port = (uint8_t)port;
				out->vls = vls;
			}
		}
}

static void plan_weights_list(char *buf, size_t size, uint16_t vls, const char *each)
{
	size_t n = 0;

	for (unsigned vl = 0; vl < VL_DROP && n < size; vl++)
		if (vls >> vl & 1)
			n += (size_t)snprintf(buf + n, size - n, "%s%u%s", n ? "," : "", vl, each);
}

int plan_check_weights(const struct plan *p, const struct tables *read, struct err *err)
{
	struct starved s = { 0 };
	char vls[40] = "", low[100] = "", more[40] = "";

	if (read->weighted)
		plan_weights_find(&s, p, read->weighted);
	if (!s.ports)
		return 0;
	plan_weights_list(vls, sizeof(vls), s.vls, "");
	plan_weights_list(low, sizeof(low), (uint16_t)((1u << p->vls_needed) - 1), ":4");
	if (s.ports > 1)
		snprintf(more, sizeof(more), " and %u other port%s", s.ports - 1,
			 plural(s.ports - 1));
	return err_set(
		err, -ERANGE,
		"plan %s puts packets on VL%s %s, which ha%s no weight in the VL arbitration of "
		"%s port %u%s: they would never be sent. Put \"qos_swe_vlarb_low %s\" into "
		"opensm.conf, or give the engine fewer VLs (--vls)",
		p->id, plural(__builtin_popcount(s.vls)), vls,
		__builtin_popcount(s.vls) > 1 ? "ve" : "s", p->fabric->sw_name[s.sw], s.port, more,
		low);
}
