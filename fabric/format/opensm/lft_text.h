/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lft_text: what the readers of textual forwarding tables have in common. */
#pragma once

#include "fabric/base/file/lines.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct lft_text {
	const struct fabric *f;
	struct tables *t;
	struct read_report *report;
	uint32_t sw;	   /* the heading last seen, or FAB_NONE */
	bool heading;	   /* one was seen */
	uint32_t switches; /* headings of switches that the fabric has */
	uint32_t strangers;
	bool unowned_reported;
	uint64_t begun;		     /* line of the heading whose table has not ended; 0: it has */
	bool ends;		     /* tables of this file have a last line of their own */
	uint64_t last_lid, most_lid; /* listed last by this table, and most by those before */
	bool *seen;
	bool partial; /* switches of the fabric may be missing */
	bool moved_reported;
};

void lft_text_begin(struct lft_text *x, const struct fabric *f, struct read_report *report);
void lft_text_switch(struct lft_text *x, uint64_t guid, uint64_t line);
/* The LID that the port with that GUID (0: not told) has in the fabric, where it had lid when the
 * dump was written; lid itself where the fabric has no such port, or gives no LIDs of its own. */
uint64_t lft_text_lid(struct lft_text *x, uint64_t lid, uint64_t guid, uint64_t line);
void lft_text_entry(struct lft_text *x, uint64_t lid, uint64_t port, uint64_t line);
/* The line that closes a table: where others have one, a last table without it was cut off. */
void lft_text_close(struct lft_text *x);
/* A LID that the table lists, with a port or without: the last table must not list fewer. */
void lft_text_listed(struct lft_text *x, uint64_t lid);
/* Hands over the tables, or refuses: what is the kind of file for the message. */
int lft_text_end(struct tables **out, struct lft_text *x, const struct lines *l, const char *what,
		 struct err *err);
