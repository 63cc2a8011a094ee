/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rerun_page: report.html of a replay: costs beside gains, series over time, jobs. */
#pragma once

#include "console/campaign/replay/table1.h"

/* From the lines in that folder. */
int rerun_page_write(const char *dir, const json_t *meta, const struct table1 *t, struct err *err);
