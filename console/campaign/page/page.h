/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page: one HTML file that needs nothing else, light and dark, wide and narrow, and to print. */
#pragma once

#include <stddef.h>
#include <stdio.h>

void page_begin(FILE *f, const char *title);
void page_end(FILE *f);
void page_text(FILE *f, const char *text); /* escaped, and plain (plain.h) */
void page_heading(FILE *f, const char *text);
void page_paragraph(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A table: cells are text; those behind the first column stand to the right, as numbers do. */
void page_table(FILE *f, size_t ncol, const char *const *head);
void page_row(FILE *f, size_t ncol, const char *const *cell);
void page_table_end(FILE *f);

/* Diagrams side by side where there is room; the names of their series, in their order. */
void page_plots(FILE *f, size_t nseries, const char *const *series);
void page_plots_end(FILE *f);
