/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pin_hosts: hosts whose paths the next preview leaves as they are, chosen where one looks at them.
 */
#pragma once

#include "views/data/context.h"

/* Both tell the operator what came of it.  Hosts by name, jobs as "job:1234", "none": nobody. */
void pin_hosts_named(struct context *ctx, const struct state *s, const char *text);
/* host: by term; pinned, or no longer where all of them were. */
void pin_hosts_toggle(struct context *ctx, const struct state *s, const bool *host);
