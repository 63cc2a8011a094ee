/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tabs: keys and names of the views. */
#pragma once

#include "views/data/state/request.h"

#include <stdbool.h>

struct tab {
	enum view_id view;
	char key;
	const char *brief; /* name that fits a tab of 80 columns */
	const char *name;
	const char *title; /* in the help; NULL: the name */
};

/* In the order of their keys. */
extern const struct tab tabs[VIEW_COUNT];

const char *tab_title(enum view_id view);
/* That of failures only while it is open; there is room for one of it and the help where the screen
 * is not wide. */
bool tab_is_shown(const struct tab *t, enum view_id view, bool wide);
