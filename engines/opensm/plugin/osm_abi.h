/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_abi: whether the structures of the OpenSM that loads the plugin are those it was built for.
 *
 * OpenSM itself compares nothing but its version's name, and a distributor may build the same
 * version with other options (its debug mode, without the performance manager) or with a member
 * more.  Many of its objects know each other, and some values are known before its first sweep:
 * where they are not found, nothing else would be.
 */
#pragma once

#include "fabric/base/message/err.h"

struct osm_log;
struct osm_opensm;
struct osm_switch;

/* While OpenSM loads its plugins, before the first sweep: 0, or -ENOEXEC with what differs. */
int osm_abi_check(const struct osm_opensm *osm, struct err *err);
/* Once there is a switch, which knows its node and its ports.  With OpenSM's lock held. */
int osm_abi_check_switch(const struct osm_switch *sw, struct err *err);

/* Its log, wherever it is; NULL: not found. */
struct osm_log *osm_abi_log(const struct osm_opensm *osm);
