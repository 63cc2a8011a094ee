/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_reading: one sample with all that is made from it once, by the thread that read it: rates,
 * sums, history, and its bytes for the past.  The thread that draws only takes it over.
 */
#pragma once

#include "fabric/model/traffic/sample.h"
#include "views/data/summary/fabric_shape.h"
#include "views/data/summary/sample_summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample_reading {
	const struct sample *sample;
	const struct sample *before; /* that rates and code are from; NULL: it is the first */
	const struct rates *rates;   /* NULL: none yet */
	const struct sample_summary *sample_summary;
	uint8_t *code; /* of sample_code_encode(): to before, or whole */
	size_t len;
	bool whole;
	double cpu_s; /* of the thread that made all this */
};

/* Makes readings of samples that come one after the other; of one thread. */
struct readings;

struct readings *sample_readings_new(void);
void sample_readings_free(struct readings *r); /* NULL is fine */

/* Takes the sample, which is of that fabric.  O(ports). */
struct sample_reading *sample_reading_new(struct readings *r, const struct fabric_shape *of,
					  const struct sample *s);
void sample_reading_free(struct sample_reading *r); /* NULL is fine */
