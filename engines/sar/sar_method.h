/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sar_method: the methods of sar by name: "leafwise", "paper", "patch". */
#ifndef ENGINES_SAR_SAR_METHOD_H
#define ENGINES_SAR_SAR_METHOD_H

#include "engines/engine.h"

/* -EINVAL with a sentence that lists the names. */
int sar_method_parse(enum sar_method *out, const char *text, struct err *err);
const char *sar_method_name(enum sar_method method);

#endif
