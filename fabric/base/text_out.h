/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text_out: writes lines of numbers and names much faster than printf, for files of millions. */
#ifndef FABRIC_BASE_TEXT_OUT_H
#define FABRIC_BASE_TEXT_OUT_H

#include "fabric/base/err.h"

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
void text_out_HEX(struct text_out *o, uint64_t v, unsigned width); /* capitals */
/* Decimal, at least width digits (at most 20), filled up with zeros. */
void text_out_dec(struct text_out *o, uint64_t v, unsigned width);
/* Flushes up to the file and frees o.  -EIO (or errno of the write) with a sentence naming what. */
int text_out_end(struct text_out *o, const char *what, struct err *err);

#endif
