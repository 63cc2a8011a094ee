/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/message/plural.h"
#include "fabric/plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct starved {
	uint32_t sw, ports; /* the first switch; how many ports */
	uint8_t port;
	uint16_t vls; /* of the first port */
};

static void plan_weights_find(struct starved *out, const struct plan *p, const uint16_t *weighted)
{
	const struct fabric *f = p->fabric;
	uint16_t sls = tables_sl_mask(p->to, f), vls;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t port = 1; port <= f->sw_nports[sw]; port++) {
			uint16_t has = weighted[f->port_off[sw] + port];

			vls = has ? tables_port_vls(p->to, f, sw, (uint8_t)port, sls) &
					      (uint16_t)~has
				  : 0;
			if (vls && !out->ports++) {
				out->sw = sw;
				out->port = (uint8_t)port;
				out->vls = vls;
			}
		}
}

int plan_check_weights(const struct plan *p, const struct tables *read, struct err *err)
{
	struct starved s = { 0 };
	char vls[40], low[100], more[40] = "";

	if (read->weighted)
		plan_weights_find(&s, p, read->weighted);
	if (!s.ports)
		return 0;
	tables_vls_text(vls, sizeof(vls), s.vls, "");
	tables_vls_text(low, sizeof(low), (uint16_t)((1u << p->vls_needed) - 1), ":4");
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
