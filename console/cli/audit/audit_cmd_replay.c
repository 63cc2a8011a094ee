/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit replay: the recorded screen, played or printed. */
#include "console/cli/audit/audit_cmd.h"

#include "console/config/exits.h"
#include "console/io/progress_line.h"
#include "console/record/recording/cast_read.h"
#include "console/record/recording/cast_screen.h"
#include "console/record/recording/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int audit_cmd_replay_print_at(const struct cast_events *e, uint32_t n, const char *path,
				     struct err *err)
{
	struct progress_line watch;
	struct cast_screen s;
	char *text;
	int rc;

	progress_line_files(&watch);
	rc = cast_screen_at(&s, e, n);
	progress_line_files_end(&watch);
	if (rc) {
		cast_screen_free(&s);
		return err_set(err, rc, "%s: replay cancelled", path);
	}
	text = cast_screen_text(&s);
	fputs(text, stdout);
	free(text);
	cast_screen_free(&s);
	return 0;
}

static int audit_cmd_replay_dump(const char *path, const char *where, struct err *err)
{
	struct cast_events e = { 0 };
	uint32_t n;
	int rc = cast_read_session(&e, path, err);

	if (!rc)
		rc = replay_place(&n, &e, path, where, err);
	/* a mark comes just before the frame that it is about */
	if (!rc && n && n < e.n && e.v[n - 1].code == 'm')
		n++;
	if (!rc)
		rc = audit_cmd_replay_print_at(&e, n, path, err);
	cast_events_free(&e);
	return rc;
}

int audit_cmd_replay(const struct audit_options *o)
{
	struct err err = { "" };
	int rc = o->dump ? audit_cmd_replay_dump(o->names[0], o->dump, &err)
			 : replay_run(o->names[0], o->speed, o->at, &err);

	if (!rc)
		return EXIT_OK;
	fprintf(stderr, "ibroute-top: %s\n", err.text);
	return rc == -ENOTTY ? EXIT_BAD_USAGE : EXIT_UNREADABLE;
}
