/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry: the views there are. */
#ifndef VIEWS_SHELL_REGISTRY_H
#define VIEWS_SHELL_REGISTRY_H

#include "views/data/view.h"

const struct view *view_find(enum view_id id);

#endif
