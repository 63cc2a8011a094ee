/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_install: the installer that lets OpenSM write, through our plugin inside it.
 *
 * For each wave OpenSM is given the tables as they are to be after it, and writes the blocks that
 * differ; so its path records and its cache know what is in the switches all the time.  Paths
 * have their old service levels until the last wave, and again from the first write of the way
 * back on (see engines/transition/transition.h).  Blocks are read back from the switches
 * themselves.  A wave that is written a second time is written in full, in case somebody else has
 * been there.
 *
 * An OpenSM that died or is not the master any more cannot take anything back.  Then another SM
 * does, which routes as it wants, or, if there is none for a quarter of a minute, SMPs do.
 */
#ifndef FABRIC_UPDATE_INSTALLER_OSM_INSTALL_H
#define FABRIC_UPDATE_INSTALLER_OSM_INSTALL_H

#include "fabric/update/installer/installer.h"
#include "fabric/update/installer/osm_link.h"

struct osm_install;

/* link must outlive it; reader: who reads what is in the switches. */
struct osm_install *osm_install_new(struct osm_link *link, struct installer reader);
void osm_install_free(struct osm_install *i); /* NULL is fine */
struct installer osm_installer(struct osm_install *i);

/* An update from tables to tables (of f).  Without this, in a recovery, the plugin is asked what
 * it routes by, and what was before; what is loaded is then a step until all is as before. */
void osm_install_plan(struct osm_install *i, const struct fabric *f, const struct tables *from,
		      const struct tables *to);

/* What SM answers, asked twice a second on the way back; without this the plugin is all there is.
 * MASTER: another one than the plugin's. */
enum osm_seen { OSM_SEEN_NOBODY, OSM_SEEN_SOMEBODY, OSM_SEEN_MASTER };

void osm_install_sm(struct osm_install *i, enum osm_seen (*look)(void *ctx), void *ctx);
/* All waiting on the way back goes so many times as fast: for tests. */
void osm_install_time_scale(struct osm_install *i, uint32_t times);

#endif
