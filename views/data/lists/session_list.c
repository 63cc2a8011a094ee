/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/lists/session_list.h"

#include <stdlib.h>

const char *session_verdict(const struct session_row *row)
{
	return row->told       ? "not verified"
	       : !row->ok      ? "CHANGED"
	       : row->gaps     ? "intact, with gaps"
	       : row->now      ? "in progress, intact"
	       : row->open_end ? "intact, no end"
			       : "intact";
}

bool session_problem(const struct session_row *row)
{
	return !row->told && (!row->ok || row->gaps || (row->open_end && !row->now));
}

void sessions_free(struct sessions *s)
{
	if (!s)
		return;
	free(s->row);
	free(s->action);
	free(s);
}
