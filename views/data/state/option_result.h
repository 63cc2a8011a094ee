/* SPDX-License-Identifier: GPL-2.0-or-later */
/* option_result: what an engine made of its options, in the few metrics that tell two results for
 * the same fabric, jobs and installed tables apart. */
#pragma once

#include "views/data/state/preview_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan_preview;

enum option_metric {
	OPTION_TIME_MAX, /* of jobs */
	OPTION_TIME_MEAN,
	OPTION_JOB_EFI,
	OPTION_EFI, /* where there are no jobs */
	OPTION_VLS,
	OPTION_BLOCKS, /* of LFTs that applying it writes */
	OPTION_METRICS
};

struct option_result {
	bool known;
	uint32_t engine; /* index in state.preview.engines */
	struct preview_options options;
	bool failed;		       /* the engine has no routing with them */
	double metric[OPTION_METRICS]; /* less is better; NAN unknown */
};

void option_result_of(struct option_result *out, const struct plan_preview *x);
/* The options in which they differ, "VLs default -> 2, seed 1 -> 7"; "" none that counts: results
 * do not depend on the number of threads.  Returns buf. */
const char *option_result_options(char *buf, size_t len, const struct preview_options *was,
				  const struct preview_options *now);
