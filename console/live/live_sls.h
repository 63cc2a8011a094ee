/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_sls: the service levels of paths, which no switch holds, from the subnet manager. */
#pragma once

#include "console/live/live_fabric.h"

/* Puts what its path records say into l's tables, which nobody else has yet, where our plugin has
 * not told: 64 paths by chance, and all of them where these differ from SL 0.  Of a collector's
 * tables too, over a port of its own.  Where they are not known then, SL 0 is assumed: a warning,
 * if there is a subnet manager. */
void live_sls_ask(struct live *l, struct live_opts *o);
