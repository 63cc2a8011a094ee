/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pin_text: hosts whose routes stay as they are installed, from what an operator types. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/route_limits.h"
#include "fabric/model/traffic/jobset.h"

/*
 * Adds what a text names to *l, which is made where it is NULL; the caller owns it, also after an
 * error.  Items are separated by commas or blanks: host lists as SLURM writes them
 * ("n[0001-0016]"), all ports of each host; one of several ends of a name as end_name() has it
 * ("n031/2"); and running jobs ("job:81234"), all their hosts.
 * An empty text names nobody.  jobs may be NULL where no text speaks of them.  -EINVAL: a mistake
 * in the list; a host, or a job, that there is not.
 */
int route_limits_pin(struct route_limits **l, const struct fabric *f, const struct jobset *jobs,
		     const char *text, struct err *err);

/* Such a text of these ends (nend flags), as short as it can be.  The caller frees it.
 * O(nterm log nterm), and the ends of each name squared. */
char *pin_text_hosts(const bool *host, const struct fabric *f);

/* What can be found in such a text without a fabric and its jobs: mistakes of writing. */
int pin_text_check(const char *text, struct err *err);

/* The same text without jobs that do not run: for who reads it again and again.  jobs: NULL for
 * none. The caller frees it. */
char *pin_text_of_now(const char *text, const struct jobset *jobs);
