/* SPDX-License-Identifier: GPL-2.0-or-later */
/* osm_grant: the plugin grants updates, one at a time, whatever writes their tables. */
#pragma once

#include "fabric/update/executor.h"
#include "fabric/update/installer/osm_link.h"

/* As executor_opts.grant wants it; l NULL: there is no plugin, 0. */
int osm_grant(struct osm_link *l, const struct executor_grant *g, struct err *err);
