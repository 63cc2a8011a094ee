/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prom: a record as Prometheus text (exposition format 0.0.4). */
#ifndef CONSOLE_BATCH_PROM_H
#define CONSOLE_BATCH_PROM_H

#include "console/batch/batch.h"
#include "console/batch/batch_record.h"

#include <stdio.h>

/* Counters as the switches report them, rates as gauges; of ports those in r->rows where the
 * options have a filter.  What is unknown has no line. */
void prom_print(FILE *out, const struct batch_record *r);
/* What is served while the port to the fabric is lost; the caller frees. */
char *prom_down(void);

#endif
