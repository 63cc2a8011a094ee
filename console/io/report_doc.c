/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/io/report_doc.h"

#include "console/io/html.h"
#include "console/io/output_file.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"

#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CELL_PX	 12
#define LABEL_PX 130
#define TITLE_PX 44

/* Also of texts that were cut, perhaps within a character. */
static void report_doc_put(FILE *f, enum audit_format format, const char *text)
{
	char *clean = plain_text(xstrdup(text), "\n\r");

	for (const char *s = clean; *s; s++) {
		if (html_escape(*s) && (*s != '"' || format == AUDIT_HTML))
			fputs(html_escape(*s), f);
		else if (format == AUDIT_MARKDOWN && strchr("|\\`*_[]", *s))
			fprintf(f, "\\%c", *s);
		else
			fputc(*s == '\n' || *s == '\r' ? ' ' : *s, f);
	}
	free(clean);
}

void doc_begin(struct report_doc *d, const char *title)
{
	if (d->format == AUDIT_HTML) {
		fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>",
		      d->f);
		report_doc_put(d->f, d->format, title);
		fputs("</title>\n<style>body{font:14px sans-serif;max-width:70em;margin:2em auto}"
		      "table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:2px "
		      "8px;text-align:left}th{background:#eee}svg{margin:4px}</style></head>"
		      "<body>\n<h1>",
		      d->f);
		report_doc_put(d->f, d->format, title);
		fputs("</h1>\n", d->f);
		return;
	}
	fputs("# ", d->f);
	report_doc_put(d->f, d->format, title);
	fputs("\n\n", d->f);
}

void doc_end(struct report_doc *d)
{
	if (d->format == AUDIT_HTML)
		fputs("</body></html>\n", d->f);
}

void doc_heading(struct report_doc *d, const char *text)
{
	fputs(d->format == AUDIT_HTML ? "<h2>" : "## ", d->f);
	report_doc_put(d->f, d->format, text);
	fputs(d->format == AUDIT_HTML ? "</h2>\n" : "\n\n", d->f);
}

void doc_text(struct report_doc *d, const char *fmt, ...)
{
	char buf[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	fputs(d->format == AUDIT_HTML ? "<p>" : "", d->f);
	report_doc_put(d->f, d->format, buf);
	fputs(d->format == AUDIT_HTML ? "</p>\n" : "\n\n", d->f);
}

static void report_doc_row(struct report_doc *d, const char *const *cell, const char *tag)
{
	fputs(d->format == AUDIT_HTML ? "<tr>" : "|", d->f);
	for (uint32_t i = 0; i < d->ncol; i++) {
		if (d->format == AUDIT_HTML)
			fprintf(d->f, "<%s>", tag);
		else
			fputc(' ', d->f);
		report_doc_put(d->f, d->format, cell[i] ? cell[i] : "");
		if (d->format == AUDIT_HTML)
			fprintf(d->f, "</%s>", tag);
		else
			fputs(" |", d->f);
	}
	fputs(d->format == AUDIT_HTML ? "</tr>\n" : "\n", d->f);
}

void doc_table(struct report_doc *d, uint32_t ncol, const char *const *head)
{
	d->ncol = ncol;
	if (d->format == AUDIT_HTML)
		fputs("<table>\n", d->f);
	report_doc_row(d, head, "th");
	if (d->format == AUDIT_HTML)
		return;
	for (uint32_t i = 0; i < ncol; i++)
		fputs("|---", d->f);
	fputs("|\n", d->f);
}

void doc_row(struct report_doc *d, const char *const *cell)
{
	report_doc_row(d, cell, "td");
}

void doc_table_end(struct report_doc *d)
{
	fputs(d->format == AUDIT_HTML ? "</table>\n" : "\n", d->f);
}

/* --- pictures ---------------------------------------------------------------------------- */

/* viridis in 7 steps, as the heatmap's */
static const char *const ramp[] = { "#440154", "#443983", "#31688e", "#21918c",
				    "#35b779", "#90d743", "#fde725" };

static const char *report_doc_colour(double v, double top)
{
	int i = top > 0 ? (int)(v / top * 7) : 0;

	return ramp[i < 0 ? 0 : i > 6 ? 6 : i];
}

static void report_doc_svg_rows(FILE *f, const json_t *heat, const json_t *cells, double top)
{
	const json_t *names = json_object_get(heat, "rows"), *cols = json_object_get(heat, "cols");
	size_t y, x;
	json_t *line, *v;

	json_array_foreach(cells, y, line)
	{
		const char *name = json_string_value(json_array_get(names, y));

		fprintf(f, "<text x=\"%d\" y=\"%zu\" font-size=\"9\" text-anchor=\"end\">",
			LABEL_PX - 4, TITLE_PX + y * CELL_PX + 9);
		report_doc_put(f, AUDIT_HTML, name ? name : "");
		fputs("</text>\n", f);
		json_array_foreach(line, x, v)
		{
			const char *col = json_string_value(json_array_get(cols, x));

			if (!json_is_integer(v))
				continue;
			fprintf(f,
				"<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\" "
				"fill=\"%s\"><title>",
				LABEL_PX + x * CELL_PX, TITLE_PX + y * CELL_PX, CELL_PX - 1,
				CELL_PX - 1, report_doc_colour((double)json_integer_value(v), top));
			report_doc_put(f, AUDIT_HTML, name ? name : "");
			fputs(" - ", f);
			report_doc_put(f, AUDIT_HTML, col ? col : "");
			fprintf(f, ": %lld</title></rect>\n", (long long)json_integer_value(v));
		}
	}
}

/* Names of the columns, below them, read downwards. */
static void report_doc_svg_columns(FILE *f, const json_t *heat, size_t rows, size_t cols)
{
	const json_t *names = json_object_get(heat, "cols");

	for (size_t x = 0; x < cols; x++) {
		const char *name = json_string_value(json_array_get(names, x));

		fprintf(f, "<text transform=\"translate(%zu %zu) rotate(60)\" font-size=\"9\">",
			LABEL_PX + x * CELL_PX + 2, TITLE_PX + rows * CELL_PX + 8);
		report_doc_put(f, AUDIT_HTML, name ? name : "");
		fputs("</text>\n", f);
	}
}

static void report_doc_svg(FILE *f, const json_t *heat, const char *which, double top)
{
	const json_t *cells = json_object_get(heat, which);
	size_t rows = json_array_size(cells), cols = json_array_size(json_array_get(cells, 0));
	const char *title = json_string_value(json_object_get(heat, "title"));
	const char *metric = json_string_value(json_object_get(heat, "metric"));
	size_t w = LABEL_PX + cols * CELL_PX + LABEL_PX / 2;
	size_t h = TITLE_PX + rows * CELL_PX + LABEL_PX;

	w = w < 360 ? 360 : w;
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
		"font-family=\"sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" "
		"fill=\"#ffffff\"/>\n<text x=\"4\" y=\"14\" font-size=\"12\">",
		w, h);
	report_doc_put(f, AUDIT_HTML, which);
	fputs(": ", f);
	report_doc_put(f, AUDIT_HTML, metric ? metric : "");
	fputs(" of ", f);
	report_doc_put(f, AUDIT_HTML, title ? title : "");
	fputs("</text>\n", f);
	for (int i = 0; i < 7; i++)
		fprintf(f, "<rect x=\"%d\" y=\"22\" width=\"14\" height=\"10\" fill=\"%s\"/>\n",
			4 + i * 14, ramp[i]);
	fprintf(f, "<text x=\"108\" y=\"31\" font-size=\"10\">0 to %.0f</text>\n", top);
	report_doc_svg_rows(f, heat, cells, top);
	report_doc_svg_columns(f, heat, rows, cols);
	fputs("</svg>\n", f);
}

/* Beside the Markdown: FILE-1.svg. */
static void report_doc_picture_file(struct report_doc *d, const json_t *heat, const char *which,
				    double top)
{
	char *copy = xstrdup(d->path), *name = xasprintf("%s-%u.svg", d->path, ++d->pictures);
	char *name_copy = xstrdup(name);
	struct output_file o;
	int rc = output_file_open(&o, name, &d->err);

	if (!rc) {
		report_doc_svg(o.file, heat, which, top);
		rc = output_file_end(&o, 0, &d->err);
	}
	if (rc)
		d->rc = rc;
	else
		fprintf(d->f, "![%s](%s)\n\n", which, basename(name_copy));
	free(copy);
	free(name_copy);
	free(name);
}

void doc_heat(struct report_doc *d, const json_t *heat, const char *which, double top)
{
	if (d->format == AUDIT_HTML)
		report_doc_svg(d->f, heat, which, top);
	else if (d->path && !d->rc)
		report_doc_picture_file(d, heat, which, top);
}
