/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packets_installer: writes tables under the packets, through the seam that real switches are
 * behind, so that an update can be carried out with traffic under way. */
#pragma once

#include "fabric/sim/packet/packets.h"
#include "fabric/update/installer/installer.h"

struct packets_installer {
	struct packets *p;
	uint64_t item_ns; /* virtual time that passes before each item is written or read */
};

/* ctx and its packets must outlive it. */
struct installer packets_installer(struct packets_installer *ctx);
