/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of hosts that changed, and those that several hosts may have, are events. */
#include "console/app/app_priv.h"

#include "fabric/base/message/log.h"
#include "fabric/model/topology/host_names.h"

#include <string.h>

#define TELL 3 /* of a kind */

static void app_host_names_tell(const struct fabric *was, const struct fabric *is)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < is->nterm; b++) {
		uint32_t a = fabric_term_by_guid(was, is->term_guid[b]);

		if (a < was->nterm && strcmp(was->term_name[a], is->term_name[b]) != 0 &&
		    n++ < TELL)
			log_add(LOG_WARN, "names", "port 0x%016lx was %.60s and is %.60s now",
				(unsigned long)is->term_guid[b], was->term_name[a],
				is->term_name[b]);
	}
	if (n > TELL)
		log_add(LOG_WARN, "names", "... and %u more ports have other names", n - TELL);
}

static bool app_host_names_knew(const struct fabric *was, const struct fabric *is, uint32_t term)
{
	uint32_t a = was ? fabric_term_by_guid(was, is->term_guid[term]) : FAB_NONE;

	return a != FAB_NONE && was->term_ambiguous[a] &&
	       !strcmp(was->term_name[a], is->term_name[term]);
}

void app_host_names_events(const struct fabric *was, const struct fabric *is)
{
	char text[300];
	uint32_t n = 0;

	if (was)
		app_host_names_tell(was, is);
	for (uint32_t i = 0; (i = host_names_next_ambiguous(is, i)) != FAB_NONE; i++) {
		if (app_host_names_knew(was, is, is->term_by_name[i]) || n++ >= TELL)
			continue;
		host_names_text(text, sizeof(text), is, is->term_by_name[i]);
		log_add(LOG_WARN, "names", "several hosts may be called %s", text);
	}
	if (n > TELL)
		log_add(LOG_WARN, "names", "... and %u more names may be those of several hosts",
			n - TELL);
}

bool app_host_names_same(const struct fabric *a, const struct fabric *b)
{
	for (uint32_t t = 0; t < a->nend; t++)
		if (strcmp(a->term_desc[t], b->term_desc[t]) != 0)
			return false;
	return true;
}
