/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tags: what is tagged in the tables of links, switches and jobs, for all other views. */
#ifndef VIEWS_SHELL_TAGS_H
#define VIEWS_SHELL_TAGS_H

#include "views/data/fabric_summary.h"
#include "views/table/table.h"

#include <stdbool.h>
#include <stdint.h>

enum tag_kind { MARK_LINKS, MARK_SWITCHES, MARK_JOBS, MARK_KINDS };

struct tags {
	uint64_t *key[MARK_KINDS]; /* ascending */
	uint32_t n[MARK_KINDS];
	const struct fabric *fabric; /* own reference; of the next two */
	uint8_t *chan, *sw;
	uint64_t serial; /* counts changes */
};

/* Takes the tags of a table when they have changed; of other kinds of rows nothing. */
void tags_take(struct tags *m, const struct table *t, enum row_kind kind);
/* Finds the channels and switches of the tags.  O(channels log tags) when something changed. */
void tags_update(struct tags *m, const struct state *s, const struct fabric_summary *v);
bool tags_job(const struct tags *m, uint64_t id);
void tags_done(struct tags *m);

#endif
