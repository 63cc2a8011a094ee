/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/registry.h"

static const struct view *const views[VIEW_COUNT] = {
	[VIEW_OVERVIEW] = &view_overview, [VIEW_HEATMAP] = &view_heatmap,
	[VIEW_LINKS] = &view_links,	  [VIEW_JOBS] = &view_jobs,
	[VIEW_PREVIEW] = &view_preview,	  [VIEW_APPLY] = &view_apply,
	[VIEW_EVENTS] = &view_events,	  [VIEW_HELP] = &view_help,
	[VIEW_TOPOLOGY] = &view_topology, [VIEW_SWITCHES] = &view_switches,
	[VIEW_PATHS] = &view_paths,	  [VIEW_AUDIT] = &view_sessions,
	[VIEW_WEAK] = &view_weak,	  [VIEW_CAMPAIGN] = &view_campaign,
};

const struct view *view_find(enum view_id id)
{
	return views[id];
}
