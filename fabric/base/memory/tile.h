/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tile: a matrix of bytes turned on its side, in tiles that stay in registers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* to[k * to_stride + i] = from[i * from_stride + k] for i < rows and k < cols; nothing else is
 * written or read.  Both must not overlap. */
void tile_turn(uint8_t *to, size_t to_stride, const uint8_t *from, size_t from_stride,
	       uint32_t rows, uint32_t cols);
