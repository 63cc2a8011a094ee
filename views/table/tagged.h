/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tagged: what is done with all tagged rows of a table at once, also with those that a filter
 * hides. */
#pragma once

#include "views/table/table.h"

/* Switches and cables of them are excluded from the next preview, or no longer, where all of them
 * were; the operator is told.  false: no row is tagged. */
bool tagged_exclude(const struct table *t, enum row_kind kind, struct context *ctx,
		    const struct state *s);

/* The hosts of tagged rows, jobs or switches or hosts, or else of the row under the cursor, are
 * pinned for the next preview, or no longer; the operator is told.  false: these rows have no
 * hosts. */
bool tagged_pin(const struct table *t, enum row_kind kind, struct context *ctx,
		const struct state *s);

/* What a row is called where it is copied: as commands take it.  Returns buf, of VALUE_LEN. */
const char *tagged_name(char *buf, const struct rows *r, uint32_t row);
/* A line for each; NULL: no row is tagged.  The caller frees. */
char *tagged_names(uint32_t *n, const struct table *t, enum row_kind kind, struct context *ctx,
		   const struct state *s);
