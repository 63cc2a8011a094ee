/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saved_file: the views that were saved, in a file that people may write, too:
 *
 *	# what is hot between leaves and spines
 *	[hot]
 *	view = links
 *	filter = util>80 tier~spine
 *	columns = util,wait,a,b
 *	sort = -util_pct
 *	problems = yes
 */
#pragma once

#include "views/saved/saved_view.h"

/* $XDG_CONFIG_HOME/ibroute-top/views (default: ~/.config); NULL: there is no HOME.  To be freed. */
char *saved_file_path(void);
/* Nothing of it is believed: what is wrong in a view is told to the log with file and line, and the
 * view is left out.  A file that is not there has none. */
int saved_file_read(struct saved_views *out, const char *path, struct err *err);
/* Puts one in, or takes the one of that name out where v is NULL; other lines stay as they are.
 * Whoever else does so meanwhile is waited for. */
int saved_file_change(const char *path, const char *name, const struct saved_view *v,
		      struct err *err);
