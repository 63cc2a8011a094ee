/* SPDX-License-Identifier: GPL-2.0-or-later */
/* param_check: values of parameters of engines, as people write them, before there is a fabric. */
#pragma once

#include "engines/param.h"

/* Is that a value, also one that takes another back?  Names in lists are looked up later.  -EINVAL
 * with a sentence that begins with the option's name. */
int param_check(const struct param *p, const char *text, struct err *err);
