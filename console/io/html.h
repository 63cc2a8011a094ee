/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html: what has to be escaped in the text of HTML and SVG. */
#pragma once

/* What stands for the character in text and in attributes; NULL: it stands for itself. */
const char *html_escape(char c);
