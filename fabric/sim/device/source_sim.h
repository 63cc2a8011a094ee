/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_sim: the workload of a simulated fabric as a job source. */
#pragma once

#include "fabric/jobs/source.h"

/* Needs opts->workload. */
extern const struct job_source_type job_source_sim;
