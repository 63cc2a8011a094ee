/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vec: a growing array.  Declare "VEC(struct foo) list = {0};", end with vec_free(). */
#pragma once

#include "fabric/base/memory/mem.h"

#include <stdlib.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n, cap;                                                                     \
	}

#define vec_reserve(x, want)                                                                       \
	do {                                                                                       \
		if ((x)->cap < (size_t)(want)) {                                                   \
			(x)->cap = (x)->cap * 2 > (size_t)(want) ? (x)->cap * 2 : (size_t)(want);  \
			(x)->v = xrealloc((x)->v, (x)->cap, sizeof(*(x)->v));                      \
		}                                                                                  \
	} while (0)

#define vec_push(x, ...)                                                                           \
	do {                                                                                       \
		vec_reserve(x, (x)->n + 1);                                                        \
		(x)->v[(x)->n++] = __VA_ARGS__;                                                    \
	} while (0)

#define vec_free(x)                                                                                \
	do {                                                                                       \
		free((x)->v);                                                                      \
		(x)->v = NULL;                                                                     \
		(x)->n = (x)->cap = 0;                                                             \
	} while (0)
