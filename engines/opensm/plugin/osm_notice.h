/* SPDX-License-Identifier: GPL-2.0-or-later */
/* osm_notice: a notice to all of OpenSM's subscribers. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/ib/notice.h"

#include <stdint.h>

struct osm_opensm;
struct site_keys;

/* Signed by keys, if there are any; in the name of the port that OpenSM is bound to: its LID and
 * GUID are filled in.  OpenSM's lock is to be held, shared, as OpenSM itself does when it passes
 * traps on.  -ENODEV: the port has no LID yet. */
int osm_notice_report(struct osm_opensm *osm, const uint8_t d[NOTICE_SA_DATA],
		      const struct site_keys *keys, struct err *err);

/* GUIDs of the ports that have subscribed to that notice; the lock held as above.  The caller frees
 * *guid. */
void osm_notice_listeners(struct osm_opensm *osm, uint16_t trap, uint64_t **guid, uint32_t *n);
