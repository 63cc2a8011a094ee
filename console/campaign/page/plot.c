/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/page/plot.h"

#include "console/campaign/page/page.h"
#include "fabric/base/time/stamp.h"

#include <math.h>

#define WIDE   480.0
#define HIGH   300.0
#define LEFT   58.0
#define RIGHT  12.0
#define TOP    26.0
#define BOTTOM 42.0
#define FEW    200 /* dots that may be larger */

static double plot_x(const struct plot *p, double v)
{
	return LEFT + (WIDE - LEFT - RIGHT) * (v - p->x0) / (p->x1 - p->x0);
}

static double plot_y(const struct plot *p, double v)
{
	return HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * (v - p->y0) / (p->y1 - p->y0);
}

void plot_span(double *lo, double *hi, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		*lo = isnan(*lo) || v[i] < *lo ? v[i] : *lo;
		*hi = isnan(*hi) || v[i] > *hi ? v[i] : *hi;
	}
}

static void plot_widen(double *lo, double *hi)
{
	if (isnan(*lo) || isnan(*hi)) {
		*lo = 0;
		*hi = 1;
	}
	if (*hi - *lo < 1e-9 * (fabs(*hi) + 1e-9)) {
		*lo -= fabs(*lo) > 0 ? 0.05 * fabs(*lo) : 0.5;
		*hi += fabs(*hi) > 0 ? 0.05 * fabs(*hi) : 0.5;
	}
}

/* 1, 2 or 5 times a power of ten: about n of them. */
static double plot_step(double span, double n)
{
	double raw = span / n, unit = pow(10, floor(log10(raw)));

	return raw <= unit	 ? unit
	       : raw <= 2 * unit ? 2 * unit
	       : raw <= 5 * unit ? 5 * unit
				 : 10 * unit;
}

static void plot_y_ticks(struct plot *p)
{
	double step = plot_step(p->y1 - p->y0, 5);

	for (double v = ceil(p->y0 / step) * step; v <= p->y1 + step / 1e6; v += step) {
		double y = plot_y(p, v);

		fprintf(p->f,
			"<line class=\"grid\" x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n",
			LEFT, WIDE - RIGHT, y, y, LEFT - 5, y + 4, fabs(v) < step / 1e6 ? 0 : v);
	}
}

static void plot_x_tick(struct plot *p, double v)
{
	char text[STAMP_LEN];

	if (p->x_time)
		stamp_utc(text, sizeof(text), p->x1 - p->x0 > 3 * 86400 ? "%d %b" : "%d. %H:%M",
			  (int64_t)v);
	else
		snprintf(text, sizeof(text), "%.6g", v);
	fprintf(p->f, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n",
		plot_x(p, v), HIGH - BOTTOM + 16, text);
}

static void plot_x_ticks(struct plot *p)
{
	double step = plot_step(p->x1 - p->x0, 5);

	if (p->x_time)
		step = (p->x1 - p->x0) / 4;
	for (int i = 0; p->x_time && i < 4; i++)
		plot_x_tick(p, p->x0 + (i + 0.5) * step);
	for (double v = ceil(p->x0 / step) * step; !p->x_time && v <= p->x1 + step / 1e6; v += step)
		plot_x_tick(p, fabs(v) < step / 1e6 ? 0 : v);
}

void plot_begin(struct plot *p)
{
	plot_widen(&p->x0, &p->x1);
	plot_widen(&p->y0, &p->y1);
	fprintf(p->f, "<figure><svg viewBox=\"0 0 %.0f %.0f\" role=\"img\"><title>", WIDE, HIGH);
	page_text(p->f, p->title);
	fprintf(p->f, "</title>\n<text class=\"head\" x=\"%.0f\" y=\"16\">", LEFT);
	page_text(p->f, p->title);
	fprintf(p->f, "</text>\n");
	plot_y_ticks(p);
	plot_x_ticks(p);
	fprintf(p->f, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">", (LEFT + WIDE) / 2,
		HIGH - 6);
	page_text(p->f, p->x);
	fprintf(p->f,
		"</text>\n<text transform=\"translate(12 %.0f) rotate(-90)\" "
		"text-anchor=\"middle\">",
		(HIGH - BOTTOM + TOP) / 2);
	page_text(p->f, p->y);
	fprintf(p->f, "</text>\n");
	if (p->diagonal) {
		double lo = fmax(p->x0, p->y0), hi = fmin(p->x1, p->y1);

		fprintf(p->f,
			"<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
			plot_x(p, lo), plot_y(p, lo), plot_x(p, hi), plot_y(p, hi));
	}
}

void plot_end(struct plot *p)
{
	fprintf(p->f, "<path class=\"axis\" d=\"M%.0f %.0fV%.0fH%.0f\"/></svg></figure>\n", LEFT,
		TOP, HIGH - BOTTOM, WIDE - RIGHT);
}

void plot_line(struct plot *p, unsigned series, const double *x, const double *y, size_t n)
{
	bool on = false;

	fprintf(p->f, "<path class=\"line s%u\" d=\"", series % 8);
	for (size_t i = 0; i < n; i++) {
		if (!isnan(y[i]))
			fprintf(p->f, "%c%.1f %.1f", on ? 'L' : 'M', plot_x(p, x[i]),
				plot_y(p, y[i]));
		on = !isnan(y[i]);
	}
	fprintf(p->f, "\"/>\n");
}

/* Lines of no length with round ends. */
void plot_dots(struct plot *p, unsigned series, const double *x, const double *y, size_t n)
{
	fprintf(p->f, "<path class=\"dot%s line s%u\" d=\"", n < FEW ? " few" : "", series % 8);
	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]) && !isnan(y[i]))
			fprintf(p->f, "M%.1f %.1fh0", plot_x(p, x[i]), plot_y(p, y[i]));
	fprintf(p->f, "\"/>\n");
}

void plot_band(struct plot *p, unsigned series, const double *x, const double *low,
	       const double *high, size_t n)
{
	const char *move = "M";

	fprintf(p->f, "<path class=\"band s%u\" d=\"", series % 8);
	for (size_t i = 0; i < n; i++)
		if (!isnan(high[i])) {
			fprintf(p->f, "%s%.1f %.1f", move, plot_x(p, x[i]), plot_y(p, high[i]));
			move = "L";
		}
	for (size_t i = n; i--;)
		if (!isnan(low[i]))
			fprintf(p->f, "L%.1f %.1f", plot_x(p, x[i]), plot_y(p, low[i]));
	fprintf(p->f, "Z\"/>\n");
}
