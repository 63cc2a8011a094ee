/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_keep: settings into a configuration file, all else in it as it was. */
#pragma once

#include "fabric/base/message/err.h"

#include <stddef.h>

struct config_pair {
	const char *name, *value; /* "": its line goes */
};

/*
 * Writes them into file (NULL: config_user_file()), for every fabric or into the section of the
 * profile (NULL: none).  The file appears whole or not at all; one that is not there is made, with
 * its folder.  file_out: which it was.  -errno with err set; then nothing has changed.
 */
int config_keep(const char *file, const char *profile, const struct config_pair *pair, size_t n,
		char *file_out, size_t len, struct err *err);
