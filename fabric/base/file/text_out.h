/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text_out: writes lines of numbers and names much faster than printf, for files of millions.  The
 * first error is kept until the end; what is written after it goes nowhere. */
#pragma once

#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct text_out;

/* f stays the caller's. */
struct text_out *text_out_new(FILE *f);
void text_out_bytes(struct text_out *o, const char *s, size_t len);
void text_out_str(struct text_out *o, const char *s);
/* Hex digits without 0x, at least width of them (at most 16). */
void text_out_hex(struct text_out *o, uint64_t v, unsigned width);
/* Decimal, at least width digits (at most 20), filled up with zeros. */
void text_out_dec(struct text_out *o, uint64_t v, unsigned width);
/* As slow as printf: for lines of which there are few. */
void text_out_fmt(struct text_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* done of total switches or nodes are written, as file_progress_write() has it.  False: nobody
 * wants the rest, or it cannot be written. */
bool text_out_step(struct text_out *o, uint32_t done, uint32_t total);
/* Flushes up to the file and frees o.  -ECANCELED, or -EIO (or errno of the write) with a sentence
 * naming what. */
int text_out_end(struct text_out *o, const char *what, struct err *err);
