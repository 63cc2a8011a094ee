/* SPDX-License-Identifier: GPL-2.0-or-later */
/* random: numbers that nobody can guess, from the kernel; reproducible ones are in rng.h. */
#pragma once

#include <stddef.h>

void random_fill(void *out, size_t n); /* n: at most 256 bytes */
