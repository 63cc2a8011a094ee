/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/ib/link_reports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void link_reports_add(struct link_reports *r, uint16_t lid)
{
	r->lid[r->n++ % LINK_REPORTS] = lid;
}

void link_reports_put(char text[LINK_REPORTS_TEXT], const struct link_reports *r)
{
	uint64_t first = r->n > LINK_REPORTS ? r->n - LINK_REPORTS : 0;
	size_t len = 0;

	text[0] = '\0';
	for (uint64_t i = first; i < r->n; i++)
		len += (size_t)snprintf(text + len, LINK_REPORTS_TEXT - len, "%s%u", len ? " " : "",
					r->lid[i % LINK_REPORTS]);
}

int link_reports_get(uint16_t lid[LINK_REPORTS], const char *text, uint64_t n, uint64_t since)
{
	uint16_t all[LINK_REPORTS];
	uint64_t wanted = n - since, k = 0;

	if (n < since || wanted > LINK_REPORTS)
		return -ENOENT;
	while (*text && k < LINK_REPORTS) {
		char *end;
		unsigned long v = strtoul(text, &end, 10);

		if (*text < '0' || *text > '9' || v > UINT16_MAX || (*end && *end != ' '))
			return -ENOENT;
		all[k++] = (uint16_t)v;
		text = *end ? end + 1 : end;
	}
	if (*text || k < wanted)
		return -ENOENT;
	memcpy(lid, all + (k - wanted), wanted * sizeof(*lid));
	return (int)wanted;
}
