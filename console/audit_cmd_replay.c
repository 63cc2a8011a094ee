/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit replay: the recorded screen, played or printed. */
#include "console/audit_cmd.h"

#include "console/cast_screen.h"
#include "console/exits.h"
#include "console/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int dump(const char *path, const char *where, struct err *err)
{
	struct cast_events e = { 0 };
	struct cast_screen s;
	uint32_t n;
	char *text;
	int rc = cast_read_session(&e, path, err);

	if (!rc)
		rc = replay_place(&n, &e, path, where, err);
	/* a mark comes just before the frame that it is about */
	if (!rc && n && n < e.n && e.v[n - 1].code == 'm')
		n++;
	if (!rc) {
		cast_screen_at(&s, &e, n);
		text = cast_screen_text(&s);
		fputs(text, stdout);
		free(text);
		cast_screen_free(&s);
	}
	cast_events_free(&e);
	return rc;
}

int audit_cmd_replay(const struct audit_options *o)
{
	struct err err = { "" };
	int rc = o->dump ? dump(o->names[0], o->dump, &err)
			 : replay_run(o->names[0], o->speed, o->at, &err);

	if (!rc)
		return EXIT_OK;
	fprintf(stderr, "ibroute-top: %s\n", err.text);
	return rc == -ENOTTY ? EXIT_BAD_USAGE : EXIT_UNREADABLE;
}
