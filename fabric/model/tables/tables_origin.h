/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables_origin: what tables say of themselves beside their entries. */
#pragma once

#include "fabric/model/tables/tables.h"

/* VLs and SLs in use, escape LIDs, seed and parameters of the engine; not its name. */
void tables_copy_origin(struct tables *to, const struct tables *from);
