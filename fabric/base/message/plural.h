/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plural: "1 wave", "2 waves": the end of a noun behind its number. */
#pragma once

#include <stdint.h>

static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Of nouns such as switch: "switches". */
static inline const char *plural_es(uint64_t n)
{
	return n == 1 ? "" : "es";
}
