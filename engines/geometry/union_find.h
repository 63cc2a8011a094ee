/* SPDX-License-Identifier: GPL-2.0-or-later */
/* union_find: sets of numbers that are joined; the smallest of a set stands for it.  of[i] == i to
 * begin with. */
#pragma once

#include <stdint.h>

static inline uint32_t union_find_root(uint32_t *of, uint32_t i)
{
	while (of[i] != i)
		i = of[i] = of[of[i]];
	return i;
}

static inline void union_find_join(uint32_t *of, uint32_t a, uint32_t b)
{
	if (of[a] == of[b]) /* mostly they are joined, and near the root */
		return;
	a = union_find_root(of, a);
	b = union_find_root(of, b);
	of[a > b ? a : b] = a < b ? a : b;
}
