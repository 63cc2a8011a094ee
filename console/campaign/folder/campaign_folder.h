/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * campaign_folder: what replay, failures or campaign has written, as the campaign view shows it;
 * read by a process that can do nothing else (apart_read()).
 */
#pragma once

#include "fabric/base/message/err.h"
#include "views/data/lists/campaign_list.h"

#include <stdbool.h>

/* Whether there is one of them: its replay.json, failures.json or campaign.json. */
bool campaign_folder_is(const char *dir);
/* -ENOENT: no such folder, or its lines are still to be made; -EINVAL: damaged, with file and line.
 */
int campaign_folder_read(struct campaign_list **out, const char *dir, struct err *err);
