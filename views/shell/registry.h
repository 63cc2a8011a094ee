/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry: the views there are. */
#pragma once

#include "views/view.h"

const struct view *view_find(enum view_id id);
