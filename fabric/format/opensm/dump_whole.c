/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/opensm/dump_whole.h"

#include <errno.h>

int dump_whole(const bool *seen, const struct fabric *f, const char *what, const char *path,
	       struct err *err)
{
	uint32_t missing = FAB_NONE, n = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		n += seen[sw];
		if (!seen[sw] && missing == FAB_NONE)
			missing = sw;
	}
	if (missing == FAB_NONE)
		return 0;
	return err_set(err, -ENODATA,
		       "%s: %s of only %u of the fabric's %u switches (none of %s): the file is "
		       "truncated, or a switch did not respond when it was written. Write it again",
		       path, what, n, f->nsw, f->sw_name[missing]);
}
