/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sar_method: the methods of sar by name: "leafwise", "paper", "patch". */
#ifndef ENGINES_SAR_SAR_METHOD_H
#define ENGINES_SAR_SAR_METHOD_H

/* By enum sar_method; NULL at the end. */
extern const char *const sar_method_names[];

#endif
