/* SPDX-License-Identifier: GPL-2.0-or-later */
/* osm_foreign: whether the switches hold what OpenSM with our plugin has written into them. */
#pragma once

#include "fabric/update/installer/osm_link.h"

/* read: as the switches hold it (of f). 0: *known is the same with the service levels of OpenSM,
 * the caller's reference; -EUCLEAN: another writer has changed tables, err says how much and
 * where, or OpenSM is about to; -ENOENT: it does not route by our tables; else as
 * osm_link_tables(). */
int osm_foreign(struct tables **known, struct osm_link *l, const struct fabric *f,
		const struct tables *read, struct err *err);
