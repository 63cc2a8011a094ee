/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_certificate: checks a topological order against the tables, slowly and simply.
 *
 * Knows nothing of how verify works: it walks the paths one by one and looks the order up.
 */
#pragma once

#include "engines/verify/verify.h"

/* 0: along every path positions only rise, so that no packets can wait for each other in a
 * circle.  -EINVAL, naming the path, where they do not.  For tables that are connected.
 * nvl and order as in struct verdict.  O(ends * LIDs * hops), by source switch where ends
 * of a switch cannot differ. */
int certificate_check(const struct fabric *f, const struct tables *t, uint32_t nvl,
		      const uint32_t *order, bool terminals_only, struct err *err);
