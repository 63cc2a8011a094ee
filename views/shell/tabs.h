/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tabs: keys and names of the views. */
#pragma once

#include "views/data/state/request.h"

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
