/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cell_dump: a damaged fabric of a campaign with its tables, to be looked at. */
#pragma once

#include "console/campaign/failures/failures.h"

/* which: "SEED,ENGINE,STEP".  Writes the fabric and the tables into a folder, which --load takes.
 * -EINVAL: there is no such cell; -ENOEXEC: the engine refuses that fabric, which is written
 * without tables; -errno of the disk. */
int cell_dump(const char *dir, const struct failures *x, const char *which, struct err *err);
