/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept_metrics: EFI and hops of tables, kept up while a few of their entries change and cables go
 * and come back, in proportion to what changes (as kept_verdict.h, which says what arrives).
 *
 * Figures are those of metrics_compute() to the last bit: routes between counted terminals, to base
 * LIDs.  What goes by jobs is not among them.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/entry_changes.h"
#include "fabric/model/tables/tables.h"

#include <stdbool.h>
#include <stdint.h>

struct kept_metrics;

/* As in struct metrics; over the channels that are there. */
struct kept_figures {
	const uint64_t *efi; /* by channel of the fabric; borrowed */
	uint64_t efi_max;
	double efi_mean, efi_stddev;
	uint32_t hops_max;
	double hops_mean;
};

/* -EDOM: not every terminal reaches every other; -EINVAL: tables of another fabric; -ECANCELED.
 * Progress step: "metrics". */
int kept_metrics_new(struct kept_metrics **out, const struct fabric *f, const struct tables *t,
		     struct progress *progress, struct err *err);
void kept_metrics_free(struct kept_metrics *k); /* NULL is fine */

/* The tables are t now, by these changes and no others, and the cables are down as down says.
 * False: some route does not arrive, and it has to be made again. */
bool kept_metrics_update(struct kept_metrics *k, const struct tables *t, const bool *down,
			 const struct entry_changes *changes);

void kept_metrics_get(const struct kept_metrics *k, struct kept_figures *out);
