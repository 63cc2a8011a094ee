/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agents_away: agents that are not on their base LIDs, as OpenSM's plugin heard them and as the
 * journals of updates that are unfinished or ended of late say.
 */
#pragma once

#include "fabric/model/topology/fabric.h"
#include "fabric/update/installer/osm_msg.h"
#include "fabric/update/journal/journal.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum away_where {
	AWAY_ESCAPE, /* on its escape LIDs */
	AWAY_MIXED,  /* could not return: some queue pairs may be there */
	AWAY_UNKNOWN /* was asked to go there, and has not said that it is back */
};

struct agent_away {
	uint64_t guid; /* of the node's port */
	uint64_t txn;
	char name[64]; /* of the node; "": not known */
	char id[48];   /* of the update; "": of none of this machine */
	uint16_t lid;
	enum away_where where;
	int64_t since_s; /* Unix time: heard last, or of the update's last step */
};

/* By name.  socket: of the plugin, see osm_link_path(); without one the journals count.  id: only
 * of that update; NULL: all.  The caller frees *out. */
void agents_away_find(struct agent_away **out, uint32_t *n, const char *base, const char *socket,
		      const char *id);
/* The same from what is given: list of the journals below base, and what the plugin said. */
void agents_away_merge(struct agent_away **out, uint32_t *n, const char *base,
		       const struct txn_info *list, uint32_t nlist, const struct osm_agent *heard,
		       uint32_t nheard, int64_t now_s);

/* "2 agents are not on their base LIDs: n0003, n0007, ...", by the names of f; "" where there are
 * none.  Returns buf. */
char *agents_away_text(char *buf, size_t size, const struct agent_away *a, uint32_t n,
		       const struct fabric *f);
void agents_away_print(const struct agent_away *a, uint32_t n); /* nothing where there are none */
json_t *agents_away_json(const struct agent_away *a, uint32_t n);
