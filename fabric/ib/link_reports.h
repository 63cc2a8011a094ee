/* SPDX-License-Identifier: GPL-2.0-or-later */
/* link_reports: whose link state changes (traps 128) the plugin has heard of last. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LINK_REPORTS	  32
#define LINK_REPORTS_TEXT (6 * LINK_REPORTS) /* room for them as text */

struct link_reports {
	uint64_t n; /* all that were heard */
	uint16_t lid[LINK_REPORTS];
};

void link_reports_add(struct link_reports *r, uint16_t lid);
/* Their LIDs, the last one last: "12 7 12"; "": none. */
void link_reports_put(char text[LINK_REPORTS_TEXT], const struct link_reports *r);
/* Of n that were heard the LIDs of those after the first since.  Returns how many, or -ENOENT: the
 * text does not have them all. */
int link_reports_get(uint16_t lid[LINK_REPORTS], const char *text, uint64_t n, uint64_t since);
