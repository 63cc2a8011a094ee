/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lid_choice_bytes: a choice of LIDs on its way from the process that read it from a file. */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/model/tables/lid_choice.h"
#include "fabric/model/topology/fabric.h"

void lid_choice_put(bytes_out *out, const struct lid_choice *c);
/* A choice for f, which is the caller's.  -EPROTO: these are not the bytes of one. */
int lid_choice_take(struct lid_choice **out, struct bytes_in *in, const struct fabric *f);
