/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_install: the installer that lets OpenSM write, through our plugin inside it.
 *
 * For each wave OpenSM is given the tables as they are to be after it, and writes the blocks
 * that differ; so its path records and its cache know what is in the switches all the time.
 *  Paths have their old service levels until the last wave, and again from the first write of a
 * rollback on (see engines/transition/transition.h).  Blocks are read back from the switches
 * themselves.  A wave that is written a second time is written in full, in case of another
 * writer.  Before the first wave the plugin gets the tables of all of them, and judges them: while
 * jobs stand still it is only told which ones are next.
 *
 * An OpenSM that died or is not the master any more cannot take anything back.  Then another SM
 * does, with a routing of its own, or, if there is none for 15 seconds, SMPs do.
 */
#pragma once

#include "fabric/update/installer/installer.h"
#include "fabric/update/installer/osm_link.h"

struct osm_install;

/* link must outlive it; reader: who reads what is in the switches. */
struct osm_install *osm_install_new(struct osm_link *link, struct installer reader);
void osm_install_free(struct osm_install *i); /* NULL is fine */
struct installer osm_installer(struct osm_install *i);

/* An update from tables to tables (of f).  Without this, in a recovery, the plugin leads back
 * through the steps that it was given. */
void osm_install_plan(struct osm_install *i, const struct fabric *f, const struct tables *from,
		      const struct tables *to);

/* State of the SM, asked twice a second in a rollback; without this only the plugin is used.
 *  MASTER: another SM than the plugin's. */
enum osm_seen { OSM_SEEN_NOBODY, OSM_SEEN_SOMEBODY, OSM_SEEN_MASTER };

void osm_install_sm(struct osm_install *i, enum osm_seen (*look)(void *ctx), void *ctx);
/* Divides all waiting times of a rollback by this: for tests. */
void osm_install_time_scale(struct osm_install *i, uint32_t times);
