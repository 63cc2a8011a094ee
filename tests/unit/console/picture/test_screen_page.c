/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A screen as a page and as a picture. */
#include "console/picture/screen_page.h"

#include "views/canvas/theme.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct canvas *small(void)
{
	struct canvas *c = canvas_new(12, 2, false);
	struct rect r = canvas_rect(c);

	canvas_text(c, r, 0, 0, ROLE_TEXT, "a<b & \"c\"");
	canvas_text(c, r, 0, 1, ROLE_BAD, "x");
	canvas_text(c, r, 2, 1, ROLE_STATUS, "\xe4\xb8\xad");
	canvas_style(c, (struct rect){ 8, 1, 2, 1 }, ROLE_TEXT, true);
	return c;
}

static char *written(void (*put)(FILE *, const struct canvas *, const char *))
{
	struct canvas *c = small();
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	put(f, c, "of <hpc1>");
	fclose(f);
	canvas_free(c);
	return text;
}

static void in_theme(const char *name)
{
	struct theme t;

	assert_true(theme_named(&t, name));
	theme_use(&t);
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void a_page_has_text_and_colours(void **state)
{
	char *html;

	(void)state;
	in_theme("dark");
	html = written(screen_page_html);
	has(html, "<title>of &lt;hpc1&gt;</title>");
	has(html, "background: #121212; color: #d4d4d4;");
	has(html, "<pre>a&lt;b &amp; &quot;c&quot;   \n");
	has(html, "<span style=\"color:#ff5f5f;background:#121212;font-weight:bold\">x</span> ");
	has(html, "<span style=\"color:#dadada;background:#005f87\">\xe4\xb8\xad</span>");
	has(html, "<span style=\"color:#121212;background:#d4d4d4\">  </span>  \n</pre>");
	free(html);
}

static void a_picture_has_each_run_in_its_cells(void **state)
{
	char *svg;

	(void)state;
	in_theme("dark");
	svg = written(screen_page_svg);
	has(svg, "viewBox=\"0 0 100.8 34\"");
	has(svg, "<text x=\"0.0\" y=\"13\" textLength=\"100.8\" lengthAdjust=\"spacingAndGlyphs\" "
		 "fill=\"#d4d4d4\">a&lt;b &amp; &quot;c&quot;   </text>");
	has(svg, "<rect x=\"16.8\" y=\"17\" width=\"16.8\" height=\"17\" fill=\"#005f87\"/>\n"
		 "<text x=\"16.8\" y=\"30\" textLength=\"16.8\"");
	/* a background without a letter */
	has(svg, "<rect x=\"67.2\" y=\"17\" width=\"16.8\" height=\"17\" fill=\"#d4d4d4\"/>\n"
		 "</svg>");
	free(svg);
}

static void pages_have_the_theme_in_use(void **state)
{
	char *html;

	(void)state;
	in_theme("light");
	html = written(screen_page_html);
	has(html, "background: #ffffff; color: #1c1c1c;");
	has(html, "<span style=\"color:#000000;background:#afd7ff\">\xe4\xb8\xad</span>");
	free(html);
	in_theme("mono");
	html = written(screen_page_html);
	has(html, "<span style=\"color:#121212;background:#d4d4d4\">\xe4\xb8\xad</span>");
	free(html);
	in_theme("dark");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_has_text_and_colours),
		cmocka_unit_test(a_picture_has_each_run_in_its_cells),
		cmocka_unit_test(pages_have_the_theme_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
