/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures_page: report.html of a failure campaign. */
#pragma once

#include "console/campaign/failures/failures_table.h"

int failures_page_write(const char *dir, const json_t *meta, const struct failures_table *t,
			struct err *err);
