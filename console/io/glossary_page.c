/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/io/glossary_page.h"

#include "views/data/state/glossary.h"

__asm__(".pushsection .rodata\n"
	".global glossary_page_text\n"
	"glossary_page_text:\n"
	".incbin \"console/manual/glossary.md\"\n"
	".byte 0\n"
	".popsection\n");
extern const char glossary_page_text[];

const struct glossary *glossary_page(void)
{
	static struct glossary page;

	if (!page.n)
		glossary_parse(&page, glossary_page_text);
	return &page;
}
