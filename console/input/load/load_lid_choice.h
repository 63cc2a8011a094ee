/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_lid_choice: lid-choice.txt as route writes it for parx; "-" is stdin. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/lid_choice.h"
#include "fabric/model/topology/fabric.h"

/* The caller owns *out. */
int load_lid_choice(struct lid_choice **out, const char *path, const struct fabric *f,
		    struct err *err);
