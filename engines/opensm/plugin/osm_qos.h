/* SPDX-License-Identifier: GPL-2.0-or-later */
/* osm_qos: VLs and service levels of OpenSM's configuration, beside those of a routing.  OpenSM's
 * lock is to be held. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stddef.h>

struct osm_opensm;

/* Would the ports of switches, hosts and routers send from all VLs that t, of f, puts packets on,
 * with the VL arbitration that OpenSM is configured to set?  Hosts keep the SL2VL map of the site,
 * which must not drop SLs of t (sls: all of them).  0, or -EINVAL with the VLs, the port and the setting. */
int osm_qos_check(struct osm_opensm *osm, const struct fabric *f, const struct tables *t,
		  uint16_t sls, struct err *err);

/* Which of the site's own settings a routing of ours takes the place of: the SL2VL map of switches,
 * and service levels of QoS policy and partitions.  "": none.  Returns buf. */
const char *osm_qos_replaced(char *buf, size_t size, struct osm_opensm *osm);
