/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prom_effect: what jobs sent before the update that was confirmed last, and what they send since,
 * as an exporter that has seen both has measured it, whoever made the update.
 */
#pragma once

#include "console/collect/update_watch.h"
#include "views/data/summary/fabric_summary.h"

#include <stdbool.h>

struct prom_effect;

struct prom_effect *prom_effect_new(void);
void prom_effect_free(struct prom_effect *x); /* NULL is fine */

/* With each sample; u NULL: updates are not known. */
void prom_effect_sample(struct prom_effect *x, const struct update_counts *u,
			const struct fabric_summary *v);
/* Bytes per second, of the jobs that suffered most before it and run still; false: not measured. */
bool prom_effect_rates(const struct prom_effect *x, double *before, double *after);
