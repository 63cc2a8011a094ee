/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_list_bytes: what a job source saw, on its way to another process; but not when, so that
 * lists that say the same are the same bytes. */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/jobs/job_list.h"

void job_list_bytes_put(bytes_out *out, const struct job_list *l);
/* -EPROTO: these are not the bytes of a list.  The caller owns one reference. */
int job_list_bytes_take(const struct job_list **out, struct bytes_in *in, int64_t time_s);
