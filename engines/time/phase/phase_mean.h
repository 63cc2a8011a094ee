/* SPDX-License-Identifier: GPL-2.0-or-later */
/* phase_mean: the mean of what was measured in each of some phases, and how sure it is. */
#pragma once

#include <math.h>
#include <stdint.h>

#define PHASE_MIB_MBIT 8.388608 /* Mbit in a MiB */

struct phase_mean {
	double mean;
	double error; /* standard error; 0 where nothing was drawn */
};

static inline struct phase_mean phase_mean_of(const double *v, uint32_t n)
{
	struct phase_mean out = { 0, 0 };
	double square = 0;

	for (uint32_t i = 0; i < n; i++)
		out.mean += v[i] / n;
	for (uint32_t i = 0; i < n; i++)
		square += (v[i] - out.mean) * (v[i] - out.mean);
	if (n > 1)
		out.error = sqrt(square / (n - 1) / n);
	return out;
}
