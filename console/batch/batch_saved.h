/* SPDX-License-Identifier: GPL-2.0-or-later */
/* batch_saved: views that were saved (:view save NAME), for --view and --screen. */
#pragma once

#include "fabric/base/message/err.h"
#include "views/saved/saved_view.h"
#include "views/table/fields.h"

/* What a saved view has, as options have it: "" not said. */
struct batch_saved {
	struct saved_view view; /* name "": none */
	char fields[160], filter[128], sort[64];
	const char *metric; /* NULL: none, or one that is no number */
};

/* The one of that name.  -ENOENT: there is none. */
int batch_saved_find(struct batch_saved *out, const char *name, struct err *err);
/* The rows that it shows, ROW_KINDS: it has no table. */
enum row_kind batch_saved_rows(const struct batch_saved *s);
