/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/frame/tabs.h"

#include <stddef.h>

const struct tab tabs[VIEW_COUNT] = {
	{ VIEW_OVERVIEW, '1', "Over", "Overview", NULL },
	{ VIEW_HEATMAP, '2', "Heat", "Heatmap", NULL },
	{ VIEW_LINKS, '3', "Links", "Links", NULL },
	{ VIEW_SWITCHES, '4', "Switch", "Switches", NULL },
	{ VIEW_JOBS, '5', "Jobs", "Jobs", NULL },
	{ VIEW_PREVIEW, '6', "Eng", "Engines", "Engines and preview" },
	{ VIEW_APPLY, '7', "Apply", "Apply", NULL },
	{ VIEW_EVENTS, '8', "Event", "Events", NULL },
	{ VIEW_AUDIT, '9', "Audit", "Audit", NULL },
	{ VIEW_PATHS, '0', "Paths", "Paths", NULL },
	{ VIEW_TOPOLOGY, 't', "Topo", "Topology", NULL },
	{ VIEW_WEAK, 'W', "Weak", "Weak", "What failures would cost" },
	{ VIEW_CAMPAIGN, 'K', "Camp", "Campaign", NULL },
	{ VIEW_HELP, '?', "Help", "Help", NULL },
};

const char *tab_title(enum view_id view)
{
	size_t i = 0;

	while (i < VIEW_COUNT - 1 && tabs[i].view != view)
		i++;
	return tabs[i].title ? tabs[i].title : tabs[i].name;
}

bool tab_is_shown(const struct tab *t, enum view_id view, bool wide)
{
	bool rare = view == VIEW_WEAK || view == VIEW_CAMPAIGN;

	if (t->view == VIEW_WEAK || t->view == VIEW_CAMPAIGN)
		return view == t->view;
	return t->view != VIEW_HELP || !rare || wide;
}
