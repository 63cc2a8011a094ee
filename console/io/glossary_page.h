/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glossary_page: console/manual/glossary.md, built into the program. */
#pragma once

struct glossary;

/* Its definitions, read at the first call; never freed.  From one thread only until it has
 * returned. */
const struct glossary *glossary_page(void);
