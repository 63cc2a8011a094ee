/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/page/page.h"

#include "console/io/html.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"

#include <stdarg.h>
#include <stdlib.h>

/* Okabe and Ito's colours, which people who do not see all colours tell apart, and in the dark
 * lighter ones. */
static const char style[] =
	":root{--bg:#fff;--fg:#1b1b1b;--dim:#5c5c5c;--rule:#ddd;--c0:#0072b2;--c1:#d55e00;"
	"--c2:#009e73;--c3:#aa4499;--c4:#8a6d00;--c5:#3b8fc4;--c6:#882255;--c7:#444}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#161616;--fg:#eaeaea;--dim:#a8a8a8;"
	"--rule:#3a3a3a;--c0:#56b4e9;--c1:#ff9a4d;--c2:#3ddc97;--c3:#e08fd8;--c4:#f0e442;"
	"--c5:#9ad0f5;--c6:#ff8fb0;--c7:#ccc}}\n"
	"@media print{:root{--bg:#fff;--fg:#000;--dim:#333;--rule:#bbb;--c0:#0072b2;--c1:#d55e00;"
	"--c2:#009e73;--c3:#aa4499;--c4:#8a6d00;--c5:#3b8fc4;--c6:#882255;--c7:#444}}\n"
	"body{background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,sans-serif;"
	"margin:0 auto;padding:12px 16px;max-width:1280px}\n"
	"h1{font-size:1.4em;overflow-wrap:anywhere}h2{font-size:1.15em;margin-top:1.6em}\n"
	".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
	"th,td{padding:3px 9px;border-bottom:1px solid var(--rule);text-align:right}"
	"th:first-child,td:first-child{text-align:left}th{font-weight:600;vertical-align:bottom}"
	"td.t{text-align:left}\n"
	".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));"
	"gap:8px 20px}figure{margin:0}svg{width:100%;height:auto;display:block}\n"
	"svg text{fill:var(--dim);font-size:12px}svg .head{fill:var(--fg);font-weight:600;"
	"font-size:13px}.grid{stroke:var(--rule)}.axis{stroke:var(--dim);fill:none}\n"
	/* the first ones are the broadest: lines that lie over each other are all seen */
	".line{fill:none;stroke-width:1.6}.line.s0{stroke-width:6.4}.line.s1{stroke-width:4.8}.line.s2{stroke-width:3.2}\n"
	".band{opacity:.18}.dot.line{stroke-width:5;stroke-linecap:round;stroke-dasharray:none;opacity:.5}"
	".few.line{stroke-width:9;opacity:.9}\n"
	/* paper has no scrollbar: tables get small, and what belongs together stays on a page */
	"@media print{body{margin:0;max-width:none}.wide{overflow:visible}table{font-size:.62em;width:100%}"
	"th,td{padding:1px 3px;white-space:normal}.plots{grid-template-columns:1fr 1fr}"
	"figure,tr{break-inside:avoid}thead{display:table-header-group}h1,h2,p,ul{break-after:avoid}}\n"
	".line.s0{stroke:var(--c0)}.line.s1{stroke:var(--c1)}.line.s2{stroke:var(--c2)}"
	".line.s3{stroke:var(--c3)}.line.s4{stroke:var(--c4)}.line.s5{stroke:var(--c5)}"
	".line.s6{stroke:var(--c6)}.line.s7{stroke:var(--c7)}\n"
	".line.s4{stroke-dasharray:9 3}.line.s5,.line.s6,.line.s7{stroke-dasharray:5 3}\n"
	".band.s0{fill:var(--c0)}.band.s1{fill:var(--c1)}"
	".band.s2{fill:var(--c2)}.band.s3{fill:var(--c3)}"
	".band.s4{fill:var(--c4)}.band.s5{fill:var(--c5)}"
	".band.s6{fill:var(--c6)}.band.s7{fill:var(--c7)}\n"
	".legend{display:flex;flex-wrap:wrap;gap:4px 16px;padding:0;margin:10px 0;list-style:none}"
	".legend i{display:inline-block;width:18px;height:4px;margin-right:6px;vertical-align:middle}\n"
	".k0{background:var(--c0)}.k1{background:var(--c1)}.k2{background:var(--c2)}"
	".k3{background:var(--c3)}.k4{background:var(--c4)}.k5{background:var(--c5)}"
	".k6{background:var(--c6)}.k7{background:var(--c7)}\n";

void page_text(FILE *f, const char *text)
{
	char *copy = plain_text(xstrdup(text), "");

	for (const char *s = copy; *s; s++)
		if (html_escape(*s))
			fputs(html_escape(*s), f);
		else
			fputc(*s, f);
	free(copy);
}

void page_begin(FILE *f, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
	      "<meta name=\"color-scheme\" content=\"light dark\">"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n<title>",
	      f);
	page_text(f, title);
	fputs("</title>\n<style>", f);
	fputs(style, f);
	fputs("</style></head><body>\n<h1>", f);
	page_text(f, title);
	fputs("</h1>\n", f);
}

void page_end(FILE *f)
{
	fputs("</body></html>\n", f);
}

void page_heading(FILE *f, const char *text)
{
	fputs("<h2>", f);
	page_text(f, text);
	fputs("</h2>\n", f);
}

void page_paragraph(FILE *f, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	fputs("<p>", f);
	page_text(f, text ? text : "");
	fputs("</p>\n", f);
	free(text);
}

static void page_cells(FILE *f, const char *tag, size_t n, const char *const *cell)
{
	fputs("<tr>", f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "<%s>", tag);
		page_text(f, cell[i]);
		fprintf(f, "</%s>", tag);
	}
	fputs("</tr>\n", f);
}

void page_table(FILE *f, size_t ncol, const char *const *head)
{
	fputs("<div class=\"wide\"><table>\n<thead>", f);
	page_cells(f, "th", ncol, head);
	fputs("</thead><tbody>\n", f);
}

void page_row(FILE *f, size_t ncol, const char *const *cell)
{
	page_cells(f, "td", ncol, cell);
}

void page_table_end(FILE *f)
{
	fputs("</tbody></table></div>\n", f);
}

void page_plots(FILE *f, size_t nseries, const char *const *series)
{
	fputs("<ul class=\"legend\">", f);
	for (size_t i = 0; i < nseries; i++) {
		fprintf(f, "<li><i class=\"k%zu\"></i>", i % 8);
		page_text(f, series[i]);
		fputs("</li>", f);
	}
	fputs("</ul>\n<div class=\"plots\">\n", f);
}

void page_plots_end(FILE *f)
{
	fputs("</div>\n", f);
}
