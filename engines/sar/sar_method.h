/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sar_method: the methods of sar by name: "time", "leafwise", "paper", "patch". */
#pragma once

/* By enum sar_method; NULL at the end. */
extern const char *const sar_method_names[];
