/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tags: what is tagged in the tables of links, switches and jobs, for all views. */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

enum tag_kind { TAG_LINKS, TAG_SWITCHES, TAG_JOBS, TAG_KINDS };

struct tags {
	uint64_t *key[TAG_KINDS]; /* ascending */
	uint32_t n[TAG_KINDS];
	const struct fabric *fabric; /* own reference; of the next two */
	uint8_t *chan, *sw;
	uint64_t serial; /* counts changes */
};

/* Left of what is tagged, where '+' would be a level. */
#define TAG_POINT '>'

/* Takes n keys, ascending, when they have changed: of links the keys of their sending ports, of
 * switches GUIDs, of jobs ids.  tags_update() then finds what they mean. */
void tags_take(struct tags *m, enum tag_kind kind, const uint64_t *key, uint32_t n);
/* Finds the channels and switches of the tags; f may be NULL.  O(channels log tags) when something
 * changed. */
void tags_update(struct tags *m, const struct fabric *f);
void tags_done(struct tags *m);

/* A cable is tagged with either of its directions. */
bool tags_chan(const struct tags *m, uint32_t chan);
bool tags_switch(const struct tags *m, uint32_t sw);
bool tags_job(const struct tags *m, uint64_t id);
bool tags_any(const struct tags *m); /* link or switch */
