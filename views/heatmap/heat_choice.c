/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_choice.h"

#include <string.h>
#include <strings.h>

/* Does text begin a word of name, with all that follows? */
static bool heat_window_begins(const char *name, const char *text)
{
	size_t n = strlen(text);

	for (const char *at = name; n && at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (!strncasecmp(at, text, n))
			return true;
	}
	return false;
}

uint32_t heat_metric_named(const char *text)
{
	for (uint32_t i = 0; i < CHAN_METRICS; i++)
		if (heat_window_begins(chan_metric_name((enum chan_metric)i), text))
			return i;
	return HEAT_NO_CHOICE;
}

uint32_t heat_plane_named(const struct heat_layout *l, const char *text)
{
	for (uint32_t i = 0; i < l->nplane; i++)
		if (heat_window_begins(l->plane[i].title, text))
			return i;
	return HEAT_NO_CHOICE;
}

uint32_t heat_sort_named(const char *text)
{
	if (heat_window_begins("place", text) || heat_window_begins("name", text))
		return HEAT_BY_PLACE;
	for (uint32_t i = 1; i < HEAT_SORTS; i++)
		if (heat_window_begins(heat_sort_name((enum heat_sort)i), text))
			return i;
	return HEAT_NO_CHOICE;
}
