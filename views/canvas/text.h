/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text: UTF-8 as columns on a screen, and figures as people read them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Columns of a code point: 0 (combining), 1 or 2. */
int text_char_width(uint32_t ch);
/* Columns that a string takes. */
int text_width(const char *text);
/* At most width columns; what is too long loses its middle, shown as "..".  Returns buf. */
const char *text_shorten(char *buf, size_t len, const char *text, int width);
/* The same for a cable, "a -> b": both ends lose their middle, the longer one first. */
const char *text_shorten_ends(char *buf, size_t len, const char *text, int width);
/* The same with that many columns before the "..", which are fewer than width - 2. */
const char *text_shorten_at(char *buf, size_t len, const char *text, int width, int head);
/* The same for sentences: loses whole words of its middle, shown as " .. ", where words are not
 * longer than a third of the width. */
const char *text_shorten_words(char *buf, size_t len, const char *text, int width);
/* The same for lists, the most important first: loses whole words of its end, shown as " ..". */
const char *text_shorten_list(char *buf, size_t len, const char *text, int width);
/* Appends " | " and as much of a note as fits into width columns, or nothing if that is little. */
void text_note(char *buf, size_t len, const char *note, int width);
/* Appends a code point to a UTF-8 string when it fits; false when not. */
bool text_append(char *buf, size_t len, uint32_t ch);
/* Writes a code point as UTF-8. */
void text_put(FILE *f, uint32_t ch);
/* w * h code points, each stride bytes behind the one before, as lines without blanks at their
 * ends; 0 is the right half of a wide one.  The caller frees. */
char *text_lines(const uint32_t *ch, size_t stride, int w, int h);
/* Removes the last code point. */
void text_chop(char *buf);

/* Figures.  All return buf; unknown (NAN) is "-". */
#define FIGURE_LEN 32
const char *figure_count(char buf[FIGURE_LEN], uint64_t v); /* 1,234,567 */
const char *figure_short(char buf[FIGURE_LEN], uint64_t v); /* 1234, 12k, 3.4M: 5 columns */
const char *figure_pct(char buf[FIGURE_LEN], double v);	    /* "4.1", "97", without a sign */
const char *figure_percent(char buf[FIGURE_LEN], double v); /* with it: "4.1%"; "-" unknown */
const char *figure_rate(char buf[FIGURE_LEN], double Bps, bool bits); /* "12.1" in GB/s or Gb/s */
const char *figure_age(char buf[FIGURE_LEN], double s);	       /* 0.8s, 42s, 12m, 3h12m, 5d */
const char *figure_clock(char buf[FIGURE_LEN], double s);      /* 00:12:41 */
const char *figure_time(char buf[FIGURE_LEN], int64_t unix_s); /* 23:19:02 local time */
const char *figure_utc(char buf[FIGURE_LEN], int64_t unix_s);  /* 2026-11-20T23:19:51Z */
