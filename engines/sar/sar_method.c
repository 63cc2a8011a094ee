/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/sar_method.h"

#include "engines/engine.h"

const char *const sar_method_names[] = { [SAR_TIME] = "time",
					 [SAR_LEAFWISE] = "leafwise",
					 [SAR_PAPER] = "paper",
					 [SAR_PATCH] = "patch",
					 NULL };
