/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plot: a diagram as SVG inside a page (page.h), whose colours it takes: series 0 to 7. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct plot {
	FILE *f;
	const char *title, *x, *y; /* of the diagram and its axes */
	double x0, x1, y0, y1;
	bool x_time;   /* Unix seconds */
	bool diagonal; /* where both are equal */
};

/* Axes with their ticks; x1 > x0 and y1 > y0 are made so. */
void plot_begin(struct plot *p);
void plot_end(struct plot *p);

/* NAN: nothing there, and a line is broken. */
void plot_line(struct plot *p, unsigned series, const double *x, const double *y, size_t n);
void plot_dots(struct plot *p, unsigned series, const double *x, const double *y, size_t n);
/* Between two lines. */
void plot_band(struct plot *p, unsigned series, const double *x, const double *low,
	       const double *high, size_t n);

/* The smallest and largest value that is one, taken into *lo and *hi. */
void plot_span(double *lo, double *hi, const double *v, size_t n);
