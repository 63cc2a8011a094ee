/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alerts: what is worth telling, told to all that the options name: findings against the baseline
 * that come and go, lines of the log, and what somebody else says.
 *
 * Any thread may call these, but for alerts_findings(), new and free; none of them waits for
 * whoever is told.
 */
#pragma once

#include "console/alert/alert.h"
#include "console/alert/alert_opts.h"

#include <stdint.h>

struct alerts;
struct findings;

/* NULL where the options name nobody.  o must outlive it. */
struct alerts *alerts_new(const struct alert_opts *o);
/* Waits at most so long until all is delivered.  NULL is fine, as below. */
void alerts_free(struct alerts *a, uint64_t wait_ms);

/* The name of the fabric from here on. */
void alerts_fabric(struct alerts *a, const char *name);
void alerts_tell(struct alerts *a, const struct alert *one);
/* One of the lines that the options want, but for those about alerts. */
void alerts_line(struct alerts *a, const struct log_line *line);
/* What is raised and cleared since the last call; NULL: nothing is known. */
void alerts_findings(struct alerts *a, const struct findings *l);
