/* SPDX-License-Identifier: GPL-2.0-or-later */
/* user_path: names of files as people type them, and how they go on. */
#pragma once

#include <stddef.h>

/* "~" and "~name" at the beginning become that user's folder, where there is such a user and it
 * fits. */
void user_path_expand(char *path, size_t size);

/* Names of the folder that path is in which begin as it ends, in order; folders have a / behind
 * them.  Hidden ones only when they are begun with their dot.  None where it cannot be read. */
void user_path_names(const char *path, void (*name)(void *to, const char *name), void *to);
